#!/usr/bin/env python3
"""Cursors: DECLARE, FETCH, MOVE and CLOSE, statement by statement, at namdb and at a real PostgreSQL 15: rows, tags, SQLSTATEs and the
state of the transaction must be equal. Then random walks of a SCROLL cursor; and what a cursor keeps in memory."""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_postgres import Postgres
import peer  # noqa: F401 (the path to house)
import house
from house import Compute, House, check, same
from wire import Wire, error, fields, kinds, row, rows, tags, texts

SCRIPT = """
CREATE TABLE cu (a int PRIMARY KEY, b text); INSERT INTO cu SELECT g, 'v' || g FROM generate_series(1, 3000) g
DECLARE c CURSOR FOR SELECT a FROM cu
FETCH c
CLOSE c
MOVE c
BEGIN
DECLARE c CURSOR FOR SELECT a, b FROM cu ORDER BY a
FETCH c
FETCH NEXT FROM c
FETCH FORWARD 3 IN c
MOVE 10 FROM c
FETCH 2 c
FETCH RELATIVE 3 FROM c
FETCH ABSOLUTE 100 FROM c
MOVE FORWARD 0 FROM c; SELECT 1
ROLLBACK
BEGIN
DECLARE c NO SCROLL CURSOR FOR SELECT a FROM cu ORDER BY a
FETCH 5 FROM c
SAVEPOINT s
FETCH PRIOR FROM c
ROLLBACK TO s
FETCH BACKWARD 2 FROM c
ROLLBACK TO s
FETCH ABSOLUTE 2 FROM c
ROLLBACK TO s
FETCH FIRST FROM c
ROLLBACK TO s
FETCH LAST FROM c
ROLLBACK TO s
FETCH 1 FROM c
ROLLBACK TO s
DECLARE c CURSOR FOR SELECT 1
ROLLBACK TO s
DECLARE d CURSOR FOR SELECT 1 AS one
FETCH d
ROLLBACK TO s
FETCH d
ROLLBACK TO s
DECLARE e CURSOR FOR VALUES (1), (2)
RELEASE s
FETCH ALL e
FETCH ALL e
COMMIT
FETCH e
BEGIN
DECLARE c CURSOR FOR SELECT a, b FROM cu ORDER BY a
FETCH 2 FROM c
UPDATE cu SET b = 'changed'
DELETE FROM cu WHERE a = 4
INSERT INTO cu VALUES (0, 'new')
FETCH 3 FROM c
SELECT count(*), max(b) FROM cu
MOVE FORWARD ALL FROM c
FETCH c
CLOSE c
ROLLBACK
BEGIN
DECLARE s SCROLL CURSOR FOR SELECT a FROM cu ORDER BY a DESC
FETCH LAST FROM s
FETCH PRIOR FROM s
FETCH FIRST FROM s
FETCH PRIOR FROM s
FETCH NEXT FROM s
FETCH ABSOLUTE -2 FROM s
FETCH ABSOLUTE 0 FROM s
FETCH RELATIVE 0 FROM s
FETCH RELATIVE 5 FROM s
FETCH RELATIVE -2 FROM s
FETCH RELATIVE 0 FROM s
FETCH BACKWARD ALL FROM s
MOVE FORWARD 2990 FROM s
FETCH ALL FROM s
FETCH BACKWARD 3 FROM s
FETCH FORWARD -2 FROM s
FETCH BACKWARD -2 FROM s
MOVE ABSOLUTE 5000 FROM s
FETCH BACKWARD 1 FROM s
MOVE LAST IN s
MOVE RELATIVE 0 IN s
CLOSE ALL
FETCH s
ROLLBACK
BEGIN
DECLARE h CURSOR WITH HOLD FOR SELECT a FROM cu WHERE a <= 6 ORDER BY a
DECLARE g SCROLL CURSOR WITH HOLD FOR SELECT b FROM cu WHERE a <= 3 ORDER BY a
DECLARE n CURSOR FOR SELECT 1
FETCH 2 FROM h
FETCH 2 FROM g
COMMIT
FETCH n
FETCH h
FETCH 2 FROM g
FETCH BACKWARD ALL FROM g
DELETE FROM cu WHERE a = 4
FETCH 2 FROM h
BEGIN
FETCH h
ROLLBACK
FETCH ALL FROM h
FETCH h
CLOSE h
CLOSE h
CLOSE ALL
DECLARE h CURSOR WITH HOLD FOR SELECT 7 AS seven
FETCH h
BEGIN
DECLARE gone CURSOR WITH HOLD FOR SELECT 1
ROLLBACK
FETCH gone
CLOSE h
BEGIN
DECLARE z CURSOR FOR SELECT 10 / (3 - a) AS q FROM cu WHERE a < 10 ORDER BY a
FETCH 4 FROM z
FETCH 1 FROM z
ROLLBACK
BEGIN
SAVEPOINT s
DECLARE y CURSOR FOR SELECT 10 / (3 - a) AS q FROM cu WHERE a < 10 ORDER BY a
SAVEPOINT t
FETCH ALL FROM y
ROLLBACK TO t
FETCH y
ROLLBACK TO t
CLOSE y
CLOSE y
ROLLBACK
BEGIN
DECLARE z CURSOR WITH HOLD FOR SELECT 10 / (3 - a) AS q FROM cu WHERE a < 10 ORDER BY a
COMMIT
FETCH z
DECLARE x SCROLL NO SCROLL CURSOR FOR SELECT 1
BEGIN
DECLARE x SCROLL CURSOR FOR SELECT a FROM cu FOR UPDATE
ROLLBACK
DECLARE x CURSOR WITH HOLD FOR SELECT a FROM cu FOR UPDATE
BEGIN
DECLARE x CURSOR FOR SELECT a FROM cu WHERE a < 4 ORDER BY a FOR UPDATE
FETCH ALL FROM x
COMMIT
BEGIN READ ONLY
DECLARE r CURSOR FOR SELECT a FROM cu ORDER BY a
FETCH 2 FROM r
DECLARE "Quoted Name" INSENSITIVE CURSOR WITHOUT HOLD FOR SELECT count(*) FROM cu
FETCH ALL FROM "Quoted Name"
FETCH FROM r
COMMIT
BEGIN
DECLARE one CURSOR FOR SELECT a FROM cu ORDER BY a
DECLARE two CURSOR FOR SELECT a FROM cu ORDER BY a DESC
FETCH 2 FROM one
FETCH 2 FROM two
FETCH 2 FROM one
FETCH 2 FROM two
DECLARE bad CURSOR FOR SELECT nothing FROM cu
FETCH one
ROLLBACK
BEGIN ISOLATION LEVEL SERIALIZABLE
DECLARE c CURSOR FOR SELECT a FROM cu WHERE a IN (SELECT a FROM cu WHERE a % 500 = 0) ORDER BY a
FETCH 2 FROM c
INSERT INTO cu VALUES (5000, 'x')
FETCH ALL FROM c
COMMIT
DROP TABLE cu
"""


def answer(w, sql):
    """Everything a client sees of a text."""
    got = w.query(sql)
    if "E" in kinds(got):
        got = [m for m in got if m[0] not in "TD"]  # rows of a statement that fails later
    return [(k, row(b) if k == "D" else b[:-1].decode() if k == "C" else fields(b)["C"] if k == "E" else None)
            for k, b in got if k in "DCET"], w.state


def test_beside_postgres():
    with House(nodes=1, size="256m") as h:
        c, pg = Compute(h), Postgres()
        try:
            ours, theirs = Wire(c.port), Wire(5432, host=pg.dir, user="judge", database="postgres")
            wrong = []
            for sql in SCRIPT.strip().split("\n"):
                got, want = answer(ours, sql), answer(theirs, sql)
                if got != want:
                    wrong.append("%s\n   namdb      %s\n   PostgreSQL %s" % (sql, str(got)[:300], str(want)[:300]))
            check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
            walk(ours, theirs)
        finally:
            pg.close()
        ours.close()
        c.terminate()


def walk(ours, theirs):
    """Random fetches of SCROLL cursors of a few rows, other statements between them."""
    rng = random.Random(int(os.environ.get("NAM_SEED", "11")))
    for n in (0, 1, 7, 2500):
        for w in (ours, theirs):
            w.query("BEGIN")
            w.query("DECLARE c SCROLL CURSOR FOR SELECT g, repeat('x', g %% 50) FROM generate_series(1, %d) g" % n)
        for k in range(150):
            count = rng.choice(("%d" % rng.randint(-n - 2, n + 2), "%d" % rng.randint(-3, 3), "ALL"))
            how = rng.choice(("FORWARD %s", "BACKWARD %s", "ABSOLUTE %s", "RELATIVE %s")) % count if count != "ALL" else rng.choice(
                ("FORWARD ALL", "BACKWARD ALL", "NEXT", "PRIOR", "FIRST", "LAST"))
            sql = "%s %s FROM c" % (rng.choice(("FETCH", "MOVE")), how)
            if rng.random() < 0.2:
                sql = "SELECT 1; " + sql
            got, want = answer(ours, sql), answer(theirs, sql)
            check(got == want, "%d rows, step %d, %s:" % (n, k, sql), str(got)[:300], str(want)[:300])
        for w in (ours, theirs):
            w.query("COMMIT")


W = Wire
PORTALS = [  # texts; or messages, with a Sync behind them
    "CREATE TABLE po (a int PRIMARY KEY, b text); INSERT INTO po SELECT g, 'v' || g FROM generate_series(1, 20) g",
    [W.parse("SELECT a, b FROM po ORDER BY a", "q"), W.parse("INSERT INTO po VALUES ($1, 'n'), ($1 + 1, 'm'), ($1 + 2, 'l') RETURNING a", "i"),
     W.parse("INSERT INTO po VALUES ($1, 'x')", "n"), W.parse("UPDATE po SET b = b || '!' WHERE a <= $1 RETURNING *", "u"), W.parse("SHOW datestyle", "sh"),
     W.parse("FETCH 3 FROM p", "f"), W.parse("COMMIT", "c"), W.parse("", "nothing"), W.parse("SELECT count(*) FROM po WHERE a > $1", "k"),
     W.parse("CLOSE ALL", "all"), W.parse("CLOSE me", "cme"), W.parse("FETCH me", "fme"), W.parse("SELECT a FROM po ORDER BY a FOR UPDATE", "l")],
    # a portal and FETCH, by turns
    "BEGIN", [W.bind([], "q", "p"), W.execute("p", 2)], "FETCH 2 FROM p", [W.execute("p", 1)], "MOVE 3 IN p", [W.execute("p", 2), W.describe("P", "p")],
    "FETCH 0 FROM p", "SAVEPOINT s", "FETCH BACKWARD 1 FROM p", "ROLLBACK TO s", "FETCH ALL p", "ROLLBACK TO s", [W.execute("p", 1)], "ROLLBACK",
    "FETCH p", [W.execute("p")], [W.bind([], "q", "p")], "FETCH p", "MOVE p", "CLOSE p", [W.close_of("P", "p")],
    # names are taken
    "BEGIN", [W.bind([], "q", "p")], [W.bind([], "q", "p")], "ROLLBACK", "BEGIN", [W.bind([], "q", "p")], "DECLARE p CURSOR FOR SELECT 1", "ROLLBACK",
    "BEGIN", "DECLARE p CURSOR FOR SELECT 1", [W.bind([], "q", "p")], "ROLLBACK", "BEGIN", [W.bind([], "q", "p")], "CLOSE p", [W.execute("p")], "ROLLBACK",
    "BEGIN", [W.bind([], "q", "p")], "CLOSE p", [W.bind([], "q", "p"), W.execute("p", 1)], "CLOSE ALL", "FETCH p", "ROLLBACK",
    "BEGIN", [W.bind([], "q", "p")], "CLOSE p", "DECLARE p CURSOR FOR SELECT 7", [W.describe("P", "p"), W.execute("p")], [W.close_of("P", "p")], "FETCH p", "ROLLBACK",
    # rows of the moment of Bind; by Execute or by FETCH
    "BEGIN", [W.bind([], "q", "p"), W.bind([100], "n", ""), W.execute("")], "MOVE ALL p", [W.bind([99], "k", "z")], "DELETE FROM po WHERE a = 100", "FETCH z", "COMMIT",
    [W.bind([], "q", "p"), W.bind([101], "n", "w"), W.execute("w"), W.execute("p")], "DELETE FROM po WHERE a > 20",
    # other statements than queries
    "BEGIN", [W.bind([30], "i", "r"), W.execute("r", 2), W.execute("r", 2), W.execute("r", 2)], "FETCH r", "ROLLBACK",
    "BEGIN", [W.bind([30], "i", "r")], "SELECT count(*) FROM po", "FETCH r", "SELECT count(*) FROM po", [W.execute("r")], "MOVE ALL r", "COMMIT", "DELETE FROM po WHERE a > 20",
    "BEGIN", [W.bind([1], "i", "r")], "SAVEPOINT s", "FETCH r", "ROLLBACK TO s", "FETCH r", [W.execute("r")], "ROLLBACK",
    "BEGIN", [W.bind([3], "u", "r"), W.execute("r")], "FETCH r", [W.execute("r")], "ROLLBACK", "BEGIN", [W.bind([], "sh", "r")], "MOVE 1 r", [W.execute("r")], "ROLLBACK",
    "BEGIN", [W.bind([], "sh", "r")], "FETCH 5 r", "ROLLBACK", "BEGIN", [W.bind([], "q", "p"), W.bind([], "f", "r"), W.execute("r", 2)], "FETCH r", "FETCH p", [W.execute("r", 2)], "ROLLBACK",
    "BEGIN", [W.bind([50], "n", "r")], "FETCH r", "ROLLBACK", "BEGIN", [W.bind([50], "n", "r"), W.execute("r")], "FETCH r", "ROLLBACK", "BEGIN", [W.bind([50], "n", "r"), W.execute("r"), W.execute("r")], "ROLLBACK",
    "BEGIN", [W.bind([], "nothing", "r"), W.execute("r")], "ROLLBACK", "BEGIN", [W.bind([], "l", "r"), W.execute("r", 2)], "FETCH 2 r", "COMMIT",
    # without a name
    [W.bind([30], "i"), W.execute("", 2), W.execute("", 2), W.execute("", 2)], "DELETE FROM po WHERE a > 20", [W.bind([30], "i"), W.execute(), W.execute()], "DELETE FROM po WHERE a > 20",
    [W.bind([2], "u"), W.execute("", 1), W.execute("", 9), W.execute("")], [W.bind([], "sh"), W.execute("", 1), W.execute("", 1)], [W.bind([], "q"), W.execute("", 3), W.execute("", 30), W.execute()],
    [W.bind([], "q"), W.execute("", 20), W.execute("", 2)], [W.bind([50], "n"), W.execute(), W.execute()], "DELETE FROM po WHERE a > 20",
    # the end of a transaction, of a savepoint, of a portal by itself
    [W.bind([], "q", "p"), W.bind([], "c", "end"), W.execute("p", 1), W.execute("end"), W.execute("p", 1)], [W.bind([], "c", "end"), W.execute("end"), W.execute("end")],
    [W.bind([], "q", "p"), W.execute("p", 1)], [W.execute("p", 1)], "BEGIN", "SAVEPOINT s", [W.bind([], "q", "p"), W.bind([40], "i", "r")], "ROLLBACK TO s", "FETCH p", "ROLLBACK",
    "BEGIN", "SAVEPOINT s", [W.bind([], "q", "p")], "RELEASE s", "FETCH p", "SELECT 1/0", "FETCH p", [W.execute("p")], [W.bind([], "q", "p2")], [W.bind([], "c", "end"), W.execute("end")], "FETCH p",
    "BEGIN", [W.bind([], "all", "me"), W.bind([], "q", "p"), W.execute("me"), W.execute("p")], "ROLLBACK", "BEGIN", [W.bind([], "cme", "me"), W.execute("me")], "ROLLBACK",
    "BEGIN", [W.bind([], "fme", "me"), W.execute("me")], "ROLLBACK", "BEGIN", [W.bind([], "q", "p"), W.bind([], "all", "me"), W.execute("me"), W.execute("p")], "ROLLBACK",
    # formats are Execute's own
    "BEGIN", [W.bind([], "q", "p", results=[1]), W.execute("p", 1)], "FETCH p", [W.execute("p", 1)], "COMMIT",
    # what is shown
    "BEGIN", [W.bind([], "q", "p"), W.bind([60], "i", "r"), W.bind([], "c", "o")], "DECLARE d NO SCROLL CURSOR FOR SELECT 1", "DECLARE h NO SCROLL CURSOR WITH HOLD FOR SELECT 2",
    "SELECT name, statement, is_holdable, is_binary, is_scrollable, creation_time BETWEEN now() - interval '1 min' AND now() + interval '1 min' FROM pg_cursors WHERE statement !~ 'now' ORDER BY 1", "FETCH r", "CLOSE p",
    "SELECT name FROM pg_catalog.pg_cursors WHERE name > '' ORDER BY 1", "COMMIT", "SELECT name, is_holdable FROM pg_cursors", "CLOSE h", "SELECT count(*) FROM pg_cursors WHERE name > ''",
    "DROP TABLE po"]


def seen(w, step):
    if isinstance(step, str):
        return answer(w, step)
    w.raw(b"".join(step) + w.SYNC)
    got = w.until_ready()
    return [(k, row(b) if k == "D" else b[:-1].decode() if k == "C" else (fields(b)["C"], fields(b)["M"]) if k == "E" else None)
            for k, b in got if k in "DCETsnI123"], w.state


def test_portals_beside_postgres():
    """Portals of Bind are cursors: FETCH, MOVE and CLOSE know them, Execute goes on where FETCH has left off."""
    with House(nodes=1, size="256m") as h:
        c, pg = Compute(h), Postgres()
        try:
            ours, theirs = Wire(c.port), Wire(5432, host=pg.dir, user="judge", database="postgres")
            wrong = []
            for k, step in enumerate(PORTALS):
                got, want = (str(seen(w, step)) for w in (ours, theirs))
                if got != want:
                    wrong.append("%d %s\n   namdb      %s\n   PostgreSQL %s" % (k, step, got[:600], want[:600]))
            check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
        finally:
            pg.close()
        ours.close()
        c.terminate()


def few_more(c, before, what):
    """A sanitizer keeps freed memory for a while, so it says nothing."""
    if not house.SANITIZE:
        check(c.memory() - before < 32 << 20, what, "keeps no rows:", c.memory() - before)


def test_memory():
    """Rows are not kept: neither by a cursor nor by a portal; unless another statement runs meanwhile."""
    with House(nodes=1, size="256m") as h:
        c = Compute(h)
        w = Wire(c.port)
        w.query("BEGIN; DECLARE c CURSOR FOR SELECT g, repeat('x', 200) FROM generate_series(1, 100000000) g")
        before = c.memory()
        for _ in range(100):
            same(len(rows(w.query("FETCH 1000 FROM c"))), 1000)
        same(tags(w.query("MOVE 1000000 FROM c")), ["MOVE 1000000"])
        same(texts(w.query("FETCH c"))[0][0], "1100001")
        few_more(c, before, "a cursor")
        w.query("CLOSE c; COMMIT")
        w.raw(w.parse("SELECT g, repeat('x', 200) FROM generate_series(1, 100000000) g") + w.bind() + w.execute(rows=1000) + w.FLUSH)
        for _ in range(100):
            w.until("s", "E")
            w.raw(w.execute(rows=1000) + w.FLUSH)
        w.until("s", "E")
        w.raw(w.SYNC)
        same(kinds(w.until_ready()), "Z")
        few_more(c, before, "a portal")
        # Two portals by turns, a statement between them, in one transaction.
        w.query("CREATE TABLE t (a int PRIMARY KEY)")
        w.query("INSERT INTO t SELECT g FROM generate_series(1, 10) g")
        w.query("BEGIN")
        w.raw(w.parse("SELECT a FROM t ORDER BY a", "s") + w.bind([], "s", "p") + w.bind([], "s", "q") + w.execute("p", 2) + w.execute("q", 3) +
              w.execute("p", 2) + w.SYNC)
        same(texts(w.until_ready()), [(str(k),) for k in (1, 2, 1, 2, 3, 3, 4)])
        w.query("UPDATE t SET a = a + 100")
        w.raw(w.execute("q", 2) + w.execute("p", 0) + w.execute("p", 1) + w.SYNC)
        got = w.until_ready()
        same(texts(got), [(str(k),) for k in (4, 5, 5, 6, 7, 8, 9, 10)])
        same(tags(got), ["SELECT 6", "SELECT 0"])
        w.query("SELECT 1/0")
        w.raw(w.execute("q", 1) + w.SYNC)
        same(error(w.until_ready())["C"], "25P02")
        w.query("ROLLBACK")
        w.raw(w.execute("q", 1) + w.SYNC)
        same(error(w.until_ready())["C"], "34000")
        # Too many rows to keep.
        w.query("SET namdb.statement_memory = '20MB'")
        w.query("BEGIN; DECLARE c CURSOR FOR SELECT g, repeat('x', 200) FROM generate_series(1, 100000000) g")
        same(len(rows(w.query("FETCH 10 FROM c"))), 10)
        same(error(w.query("SELECT 1"))["C"], "53200")
        w.query("ROLLBACK")
        same(texts(w.query("SELECT 1")), [("1",)])
        # DECLARE with parameters, FETCH described.
        w.query("BEGIN")
        w.extended("DECLARE c CURSOR FOR SELECT a, $2::text FROM t WHERE a > $1 ORDER BY a", [7, "x"])
        got = w.extended("FETCH 2 FROM c")
        same((kinds(got), texts(got)), ("12TDDCZ", [("8", "x"), ("9", "x")]))
        w.raw(w.describe("P", "c") + w.execute("c", 1) + w.execute("c", 1) + w.close_of("P", "c") + w.execute("c", 1) + w.SYNC)
        got = w.until_ready()
        same((kinds(got), error(got)["C"]), ("TDsC3EZ", "34000"), "a cursor is a portal")
        w.query("COMMIT")
        w.close()
        c.terminate()


if __name__ == "__main__":
    house.main()
