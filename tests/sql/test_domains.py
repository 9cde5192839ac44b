#!/usr/bin/env python3
"""Domains: the statements of domains.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs, messages and details
must be equal."""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import peer  # noqa: F401 (the path to house)
import house
from house import check


def test_statements():
    asked = test_foreign.statements("domains.sql")
    texts = [t for _, t in asked]
    pg, own = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    bad = ["[%s] %s\n    namdb      %r\n    PostgreSQL %r" % (section, text, b, a) for (section, text), a, b in zip(asked, pg, own) if a != b]
    check(not bad, "%d of %d answers differ:\n%s" % (len(bad), len(asked), "\n".join(bad)))
    errors = sum(1 for _, e in pg if e is not None)
    check(len(asked) >= 250 and errors >= 100, "only %d statements, %d errors" % (len(asked), errors))
    print("  %d statements, %d of them errors" % (len(asked), errors))


CHECKS = ["VALUE > %d", "VALUE <> %d", "VALUE < 20 - %d", "VALUE %% 5 <> %d", "VALUE IS NOT NULL OR %d > 5", "VALUE IN (1, 2, 3, %d, 7)", "VALUE + 1 > %d"]


def changes(r):
    """Domains over domains, tables of them, values, and changes of the domains between them; then all is dropped."""
    out = []
    check_ = lambda: "CHECK (%s)" % (r.choice(CHECKS) % r.randrange(8))  # noqa: E731
    for _ in range(25):
        out += ["CREATE DOMAIN d0 AS int %s" % r.choice(["", check_(), "NOT NULL", "DEFAULT 3"]),
                "CREATE DOMAIN d1 AS d0 %s" % r.choice(["", check_(), "CONSTRAINT named " + check_(), "NOT NULL", "DEFAULT 5 " + check_()]),
                "CREATE DOMAIN d2 AS bigint %s %s" % (r.choice(["", "DEFAULT 1"]), check_()),
                "CREATE TABLE t (id int PRIMARY KEY, a d0, b d1, c d2 %s)" % r.choice(["", "DEFAULT 2", "NOT NULL", "DEFAULT NULL"])]
        for n in range(40):
            d, v, w, col = "d%d" % r.randrange(3), r.randrange(-1, 9), r.randrange(-1, 9), r.choice("abc")
            v, w = ("NULL" if x < 0 else str(x) for x in (v, w))
            out.append(r.choice([
                "INSERT INTO t VALUES (%d, %s, %s, %s)" % (n, v, w, v), "INSERT INTO t (id, %s) VALUES (%d, %s)" % (col, n, v),
                "INSERT INTO t (id, %s) VALUES (%d, %s), (%d, %s)" % (col, n, v, n + 100, w), "INSERT INTO t (id) VALUES (%d)" % n,
                "INSERT INTO t SELECT id + 200, b, a, c + %s FROM t WHERE id < 100" % w, "INSERT INTO t SELECT id + 300, a, b, c FROM t WHERE id < 100",
                "UPDATE t SET %s = %s WHERE id %% 3 = 0" % (col, v), "UPDATE t SET a = a + 1, b = b - 1", "UPDATE t SET %s = DEFAULT WHERE id > 5" % col,
                "INSERT INTO t VALUES (%d, %s, %s, 1) ON CONFLICT (id) DO UPDATE SET %s = excluded.a + 1" % (r.randrange(20), v, w, col),
                "SELECT %s::%s, pg_typeof(%s::%s), %s::d0::d1" % (v, d, v, d, w), "DELETE FROM t WHERE id > 99",
                "SELECT id, a + b, pg_typeof(a), pg_typeof(coalesce(a, b)), pg_typeof(coalesce(a, a)) FROM t WHERE a::%s > 2" % d,
                "ALTER DOMAIN %s ADD CONSTRAINT x%d %s %s" % (d, n % 3, check_(), r.choice(["", "", "NOT VALID"])),
                "ALTER DOMAIN %s DROP CONSTRAINT IF EXISTS x%d" % (d, r.randrange(3)), "ALTER DOMAIN %s VALIDATE CONSTRAINT x%d" % (d, r.randrange(3)),
                "ALTER DOMAIN %s SET NOT NULL" % d, "ALTER DOMAIN %s DROP NOT NULL" % d, "ALTER DOMAIN %s SET DEFAULT %s" % (d, v),
                "ALTER DOMAIN %s DROP DEFAULT" % d, "ALTER DOMAIN %s RENAME CONSTRAINT x%d TO x%d" % (d, r.randrange(3), r.randrange(3)),
                "ALTER TABLE t ALTER %s TYPE %s" % (col, d), "ALTER TABLE t ALTER %s TYPE %s USING id" % (col, r.choice(["int", d])),
                "ALTER TABLE t ADD COLUMN n%d %s %s" % (n, d, r.choice(["", "DEFAULT 4"])),
                "SELECT conname, convalidated FROM pg_constraint WHERE contypid = '%s'::regtype" % d,
                "SELECT typnotnull, typdefault IS NULL FROM pg_type WHERE typname = '%s'" % d, "DROP DOMAIN %s" % d]))
            if " NOT NULL" in out[-1] and out[-1].startswith("ALTER"):
                # PostgreSQL keeps what it knows of a domain over that one until some constraint changes.
                out += ["ALTER DOMAIN d2 ADD CONSTRAINT z CHECK (true)", "ALTER DOMAIN d2 DROP CONSTRAINT z"]
            if n % 4 == 3:
                out.append("SELECT * FROM t")
        out += ["SELECT * FROM t", "DROP TABLE t", "DROP DOMAIN d1, d0, d2"]
    return out


def test_random_changes():
    """Of two errors that one statement may give, either one will do."""
    seed = int(os.environ.get("NAM_RANDOM", "1"))
    texts = changes(random.Random(seed))
    want, got = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    errors, bad = 0, []
    for text, theirs, ours in zip(texts, want, got):
        errors += theirs[1] is not None
        if theirs[0] != ours[0] or (theirs[1] is None) != (ours[1] is None):
            bad.append("%s\n    namdb      %s\n    PostgreSQL %s" % (text, ours, theirs))
    print("  seed %d: %d statements, %d of them errors" % (seed, len(texts), errors))
    check(not bad, "%d of %d answers differ:\n%s" % (len(bad), len(texts), "\n".join(bad[:20])))


if __name__ == "__main__":
    house.main()
