#!/usr/bin/env python3
"""RowDescription: of which relation's which column a column of a result is, statement by statement, at namdb and at a real
PostgreSQL 15. Relations are compared by their names; types, lengths and typmods as they are."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_postgres import Postgres
import peer  # noqa: F401 (the path to house)
from house import Compute, House, check
import house
from wire import Wire, fields, texts

SCHEMA = """CREATE TABLE oa (id int PRIMARY KEY, n varchar(20), x numeric(8,2), t timestamp);
CREATE TABLE ob (id int PRIMARY KEY, oa_id int, c char(3), d date);
CREATE VIEW ov AS SELECT n AS name, id + 1 AS more, t FROM oa;
CREATE VIEW ow AS SELECT * FROM ov JOIN ob ON more = ob.id;
CREATE DOMAIN od AS int CHECK (VALUE > 0);
CREATE TABLE oe (k od PRIMARY KEY, "Odd Name" text[])"""

QUERIES = """SELECT * FROM oa
SELECT id, n AS other, x + 1, x, 1, t FROM oa
SELECT oa.*, b.c FROM oa JOIN ob b ON b.oa_id = oa.id
SELECT * FROM oa JOIN ob USING (id)
SELECT * FROM oa LEFT JOIN ob USING (id)
SELECT * FROM oa RIGHT JOIN ob USING (id)
SELECT * FROM oa FULL JOIN ob USING (id)
SELECT id FROM oa NATURAL JOIN ob
SELECT j.* FROM (oa JOIN ob ON true) AS j (a, b, c)
SELECT * FROM ov
SELECT name, more + 1, more FROM ov
SELECT * FROM ow
SELECT * FROM (SELECT id, n AS m FROM oa) q
SELECT * FROM (SELECT DISTINCT id, n FROM oa) q
SELECT m FROM (SELECT * FROM (SELECT n AS m FROM oa LIMIT 1) p ORDER BY 1) q
SELECT * FROM (SELECT name FROM ov) q
SELECT id, count(*), max(x) FROM oa GROUP BY id
SELECT n AS g FROM oa GROUP BY 1
SELECT n, x FROM oa GROUP BY ROLLUP (n, x)
SELECT DISTINCT n FROM oa
SELECT DISTINCT ON (n) n, id FROM oa ORDER BY n, id
SELECT id FROM oa UNION SELECT id FROM ob
SELECT id FROM oa UNION ALL SELECT oa_id FROM ob ORDER BY 1
SELECT id FROM oa EXCEPT SELECT id FROM oa
SELECT * FROM (SELECT id FROM oa UNION SELECT id FROM ob) u
WITH w AS (SELECT id, n FROM oa) SELECT * FROM w
WITH w AS MATERIALIZED (SELECT id, n FROM oa) SELECT * FROM w
WITH w AS (SELECT id, n FROM oa) SELECT a.id, b.n FROM w a, w b
WITH RECURSIVE w AS (SELECT id FROM oa UNION ALL SELECT id + 1 FROM w WHERE id < 3) SELECT * FROM w
SELECT * FROM (VALUES (1, 'a')) v
VALUES (1)
SELECT (SELECT n FROM oa LIMIT 1), id FROM oa
SELECT id::int, n::text, n::varchar(20), id::bigint, (id), -id FROM oa
SELECT * FROM generate_series(1, 2) g, oa
SELECT q.* FROM oa, LATERAL (SELECT ob.c, ob.id FROM ob WHERE ob.oa_id = oa.id) q
SELECT row_number() OVER (ORDER BY id), id FROM oa
SELECT coalesce(id, 0), CASE WHEN true THEN id END, id FROM oa
SELECT * FROM oe
SELECT k, k + 0, "Odd Name" FROM oe
SELECT relname, oid FROM pg_class
SELECT nspname, oid FROM pg_catalog.pg_namespace
SELECT attname FROM pg_attribute a JOIN pg_class c ON a.attrelid = c.oid
SELECT n FROM oa FOR UPDATE
SELECT p.n FROM (oa AS p CROSS JOIN ob)
SELECT id FROM ONLY oa
TABLE ob
SELECT e.id FROM oa e WHERE e.id IN (SELECT id FROM ob)
INSERT INTO oa VALUES (1, 'a', 2) RETURNING *
INSERT INTO oa VALUES (2, 'b', 2) RETURNING id AS one, n || 'x', x
UPDATE oa SET n = 'c' WHERE id = 1 RETURNING oa.n, id
UPDATE oa SET n = c FROM ob WHERE ob.id = oa.id RETURNING *
DELETE FROM oa USING ob WHERE ob.id = oa.id RETURNING ob.c, oa.id
WITH i AS (INSERT INTO ob VALUES (1, 1, 'q') RETURNING id, c) SELECT * FROM i
DELETE FROM oa RETURNING *"""


def described(w, sql, names):
    got = w.extended(sql)
    errors = [fields(b)["M"] for k, b in got if k == "E"]
    out = []
    for body in [b for k, b in got if k == "T"]:
        n, at = struct.unpack("!H", body[:2])[0], 2
        for _ in range(n):
            end = body.index(b"\0", at)
            table, number, oid, size, typmod, _ = struct.unpack("!IHIhiH", body[end + 1:end + 19])
            if table not in names and table != 0:
                names.update({int(o): r for o, r in texts(w.query("SELECT oid, relname FROM pg_class"))})
            out.append((body[at:end].decode(), names.get(table, table), number, oid if oid < 16384 else "made", size, typmod))
            at = end + 19
    return errors or out


def random_query(rng, deep=0):
    """A query, and the names of its columns."""
    tables = {"oa": ["id", "n", "x", "t"], "ob": ["id", "oa_id", "c", "d"], "ov": ["name", "more", "t"]}
    froms, cols = [], []
    for k in range(rng.randint(1, 3)):
        alias = "f%d_%d" % (deep, k)
        if deep < 3 and rng.random() < 0.4:
            text, names = random_query(rng, deep + 1)
            froms.append("(%s) AS %s" % (text, alias))
        else:
            name = rng.choice(sorted(tables))
            names = tables[name]
            froms.append("%s AS %s" % (name, alias))
        cols += ["%s.%s" % (alias, n) for n in names]
    some = rng.sample(cols, min(len(cols), rng.randint(1, 5)))
    items = ["%s%s AS o%d" % (c, rng.choice(("", "", "", "::text")), k) for k, c in enumerate(some)]
    text = "SELECT %s%s FROM %s" % (rng.choice(("", "", "DISTINCT ")), ", ".join(items), rng.choice((", ", " CROSS JOIN ")).join(froms))
    return text + rng.choice(("", "", " LIMIT 3")), ["o%d" % k for k in range(len(some))]


def test_origins():
    rng = random.Random(int(os.environ.get("NAM_SEED", "5")))
    queries = QUERIES.split("\n") + [random_query(rng)[0] for _ in range(int(os.environ.get("NAM_QUERIES", house.rounds(150, 150, 50))))]
    with House(nodes=1, size="256m") as h:
        c, pg = Compute(h), Postgres()
        try:
            ours, theirs = Wire(c.port), Wire(5432, host=pg.dir, user="judge", database="postgres")
            for w in ours, theirs:
                for sql in SCHEMA.split(";\n"):
                    w.query(sql)
            mine, yours, wrong = {}, {}, []
            for sql in queries:
                got, want = described(ours, sql, mine), described(theirs, sql, yours)
                if got != want:
                    wrong.append("%s\n   namdb      %s\n   PostgreSQL %s" % (sql, got, want))
            check(not wrong, "%d of %d differ:\n%s" % (len(wrong), len(queries), "\n".join(wrong[:20])))
        finally:
            pg.close()
        ours.close()
        c.terminate()


if __name__ == "__main__":
    house.main()
