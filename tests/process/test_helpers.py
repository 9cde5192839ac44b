#!/usr/bin/env python3
"""Queries that idle compute processes help with: answers are those of one process, whoever helps, stalls or dies in the middle."""
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, SLOW, check, contains, same, skip, until
from wire import Wire, error, kinds, texts

ROWS = 40000
MAKE = ["CREATE TABLE big (k int PRIMARY KEY, g int, v numeric(12,2), t text, d date, f double precision)",
        "INSERT INTO big SELECT i, CASE WHEN i %% 11 = 0 THEN NULL ELSE i %% 7 END, i * 0.25, 'text ' || (i %% 100), "
        "date '2020-01-01' + (i %% 400), i * 0.5 FROM generate_series(1, %d) i" % ROWS,
        "CREATE TABLE small (id int PRIMARY KEY, name text)", "INSERT INTO small SELECT i, 'name ' || i FROM generate_series(0, 6) i",
        "CREATE VIEW seen AS SELECT g, v FROM big WHERE t LIKE '%7'", "CREATE SCHEMA app", "CREATE TABLE app.big (k int)",
        "INSERT INTO app.big SELECT i FROM generate_series(1, 5000) i", "ANALYZE big"]
ASKED = ["SELECT count(*), sum(k), sum(v), avg(v), min(t), max(d) FROM big",
         "SELECT g, count(*), sum(v), count(DISTINCT t) FROM big GROUP BY g ORDER BY g",
         "SELECT name, count(*), sum(v) FROM big JOIN small ON g = id GROUP BY name ORDER BY name",
         "SELECT count(*) FROM big LEFT JOIN small ON g = id WHERE name IS NULL",
         "SELECT k, v FROM big ORDER BY v DESC LIMIT 5",
         "SELECT count(*) FROM big WHERE g IN (SELECT id FROM small WHERE name <> 'name 3')",
         "SELECT count(*) FROM big WHERE v > (SELECT avg(v) FROM big)",
         "SELECT g, sum(v) FROM seen GROUP BY g ORDER BY g",
         "SELECT a.g, count(*) FROM big a JOIN big b ON a.k = b.k + 1 WHERE b.g = 3 GROUP BY a.g ORDER BY 1",
         "WITH w AS (SELECT g, sum(v) s FROM big GROUP BY g) SELECT x.g, y.s FROM w x JOIN w y ON x.g = y.g + 1 ORDER BY 1",
         "SELECT g, count(*) FROM big GROUP BY ROLLUP (g) ORDER BY g NULLS FIRST, 2",
         "SELECT count(*) FROM big WHERE d < now() AND t <> current_user",
         "SELECT sum(1 / (k - 100)) FROM big"]
SLOWLY = "SELECT count(*), sum(a.k) FROM big a JOIN big b ON a.g = b.g AND a.k %% 10 = b.k %% 10 WHERE a.k + b.k > %d"


def told(answer):
    return error(answer)["C"] if "E" in kinds(answer) else texts(answer)


def ask(w, text):
    return told(w.query(text))


def two(h, workers=1):
    """Two compute processes, the first one's session, which asks the second for help."""
    if len(os.sched_getaffinity(0)) < 2:
        skip("one core: a process of this machine has no room to help another")
    one, other = Compute(h, "--workers", workers), Compute(h, "--workers", workers)
    w = Wire(one.port)
    for text in MAKE:
        same(kinds(w.query(text))[-1], "Z", text)
    ask(w, "SET namdb.parallel_rows = 0; SET namdb.help = wait")
    return one, other, w


def helped(w, text):
    """By how many processes a query was answered, its own among them."""
    plan = "\n".join(r[0] for r in ask(w, "EXPLAIN ANALYZE " + text))
    found = re.findall(r"Workers: \d+ of (\d+) processes", plan)
    return max([int(n) for n in found], default=1)


def test_answers():
    with House(nodes=2, size="256m") as h:
        one, other, w = two(h)
        alone = {}
        ask(w, "SET namdb.parallel = 1")
        for text in ASKED:
            alone[text] = ask(w, text)
        ask(w, "SET namdb.parallel = 0")
        for again in range(2):
            for text in ASKED:
                same(ask(w, text), alone[text], text)
        for text in ASKED[:4] + ["SELECT g, v, t FROM big ORDER BY g, v"]:
            until(lambda: helped(w, text) == 2, 20, "help with: " + text)
        # A prepared statement with parameters; names by search_path; an old snapshot; another role.
        w.query("PREPARE p(int, text, numeric) AS SELECT g, count(*) FROM big WHERE k < $1 AND t <> $2 AND v > $3 GROUP BY g ORDER BY g")
        want = [(str(g) if g is not None else None, str(n)) for g, n in counted()]
        for k in range(3):
            same(ask(w, "EXECUTE p(30000, 'text 7', 100.5)"), want)
        ask(w, "SET search_path = app, public")
        same(ask(w, "SELECT count(*), sum(k) FROM big"), [("5000", str(5000 * 5001 // 2))])
        ask(w, "RESET search_path")
        ask(w, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM small LIMIT 1")
        v = Wire(other.port)
        ask(v, "UPDATE big SET v = v + 1 WHERE k %% 3 = 0".replace("%%", "%"))
        ask(v, "ALTER TABLE small ADD COLUMN more int")
        for text in ASKED:
            same(ask(w, text), alone[text], text)
            if alone[text] == "22012":
                ask(w, "ROLLBACK")
        ask(w, "ROLLBACK")
        check(ask(w, ASKED[0]) != alone[ASKED[0]])
        # Off: nobody comes.
        ask(w, "SET namdb.help = off")
        same([helped(w, text) for text in ASKED[:3]], [1, 1, 1])
        same(ask(w, "SHOW namdb.help"), [("off",)])
        same(ask(w, "SET namdb.help = perhaps"), "22023")
        ask(w, "RESET namdb.help")
        same(ask(w, "SHOW namdb.help"), [("on",)])
        w.close()
        v.close()
        one.terminate()
        other.terminate()


def counted():
    n = {}
    for k in range(1, 30000):
        if k % 100 != 7 and k * 0.25 > 100.5:
            g = None if k % 11 == 0 else k % 7
            n[g] = n.get(g, 0) + 1
    return sorted(((g, c) for g, c in n.items()), key=lambda x: (x[0] is None, x[0] or 0))


# What a fragment looks into comes out otherwise in another process, so no other process is asked.
OWN = ["SELECT count(DISTINCT r) FROM big JOIN (SELECT id, random() r FROM small) x ON g = id WHERE id = 1",
       "SELECT count(DISTINCT r) FROM big JOIN (SELECT id, nextval('s') r FROM small) x ON g = id WHERE id = 1",
       "SELECT count(DISTINCT x) FROM (SELECT (SELECT nextval('s')) x FROM big) y",
       "SELECT count(DISTINCT r) FROM big JOIN (SELECT id, clock_timestamp() r FROM small) x ON g = id WHERE id = 1",
       "SELECT count(DISTINCT id) FROM big JOIN (SELECT id FROM small LIMIT 1) x ON g = id",
       "SELECT count(DISTINCT k % 7) FROM big WHERE g = (SELECT id FROM small WHERE id > 0 LIMIT 1)",
       "SELECT count(DISTINCT n) FROM big JOIN (SELECT id, row_number() OVER () n FROM small) x ON g = id WHERE id = 1",
       "SELECT count(DISTINCT n) FROM big JOIN (SELECT a id, array_agg(b) n FROM (VALUES (1, 2), (1, 3)) v (a, b) GROUP BY a) x ON g = id",
       "SELECT count(DISTINCT n) FROM big JOIN (SELECT id, row_number() OVER (ORDER BY b) n FROM (VALUES (1, 2)) v (id, b)) x ON g = id"]


def test_own():
    with House(nodes=1, size="256m") as h:
        one, other, w = two(h)
        ask(w, "CREATE SEQUENCE s")
        until(lambda: helped(w, ASKED[0]) == 2, 20, "help")
        for text in OWN:
            same(ask(w, text), [("1",)], text)
            same(helped(w, text), 1, text)
        # A sequence is drawn from once for each row, here only: the asker has come as far as it has drawn.
        ask(w, "SELECT setval('s', 1000)")
        same(ask(w, OWN[2]), [("1",)])
        same(ask(w, "SELECT nextval('s')"), [("1002",)])
        until(lambda: helped(w, "SELECT count(*) FROM big WHERE EXISTS (SELECT 1 FROM small WHERE id = g)") == 2, 20, "help again")
        w.close()
        one.terminate()
        other.terminate()


def meanwhile(other, w, act):
    """Asks a long question; calls act when the other process works for it. The answer."""
    got = []
    before = other.cpu()
    t = threading.Thread(target=lambda: got.append(ask(w, SLOWLY % 0)))
    t.start()
    for i in range(100):
        time.sleep(0.05)
        if got or other.cpu() - before > 0.2:
            break
    act()
    t.join(120 * SLOW)
    check(got, "the query is stuck")
    return got[0]


def in_the_middle(other, w, act):
    """The answer of meanwhile, and that of one process."""
    ask(w, "SET namdb.parallel = 1")
    want = ask(w, SLOWLY % 0)
    ask(w, "SET namdb.parallel = 0")
    return meanwhile(other, w, act), want


def test_helper_dies():
    with House(nodes=1, size="256m") as h:
        one, other, w = two(h)
        got, want = in_the_middle(other, w, other.kill)
        same(got, want)
        same(ask(w, ASKED[0]), ask(w, ASKED[0]))
        third = Compute(h, "--workers", 1)
        until(lambda: helped(w, ASKED[0]) == 2, 20, "help by a process that comes later")
        third.terminate()
        w.close()
        one.terminate()


def test_helper_stalls():
    with House(nodes=1, size="256m", lease_ms=2000) as h:
        one, other, w = two(h)
        got, want = in_the_middle(other, w, lambda: other.p.send_signal(signal.SIGSTOP))
        same(got, want)
        # It was fenced, or it goes on: in both cases the next answers are right.
        other.p.send_signal(signal.SIGCONT)
        ask(w, "SET namdb.parallel = 1")
        want = ask(w, ASKED[1])
        ask(w, "SET namdb.parallel = 0")
        for i in range(5):
            same(ask(w, ASKED[1]), want)
        w.close()
        one.terminate()


def lost(w, text):
    """Asks a server that dies meanwhile."""
    try:
        w.query(text)
    except (EOFError, OSError):
        pass


def test_asker_dies():
    with House(nodes=1, size="256m") as h:
        one, other, w = two(h)
        v = Wire(other.port)
        ask(v, "SET namdb.parallel = 1")
        want = [ask(v, text) for text in ASKED]
        t = threading.Thread(target=lambda: lost(w, SLOWLY % 0), daemon=True)
        before = other.cpu()
        t.start()
        for i in range(100):
            time.sleep(0.05)
            if other.cpu() - before > 0.2:
                break
        one.kill()
        # The helper leaves the dead process's query, and has its own work.
        for text, a in zip(ASKED, want):
            same(ask(v, text), a, text)
        three = Compute(h, "--workers", 1)
        x = Wire(three.port)
        ask(x, "SET namdb.parallel_rows = 0; SET namdb.help = wait")
        for text, a in zip(ASKED, want):
            same(ask(x, text), a, text)
        v.close()
        x.close()
        other.terminate()
        three.terminate()


def test_ends():
    with House(nodes=1, size="256m") as h:
        one, other, w = two(h)
        ask(w, "SET statement_timeout = 400")
        same(ask(w, SLOWLY % 0), "57014")
        ask(w, "SET statement_timeout = 0; SET namdb.statement_memory = '1MB'")
        same(ask(w, "SELECT k, t, v, max(d) FROM big GROUP BY k, t, v"), "53200")
        ask(w, "SET namdb.statement_memory = 0")
        same(ask(w, "SELECT count(*) FROM big"), [(str(ROWS),)])
        # A helper that is told to end in the middle leaves at once.
        got, want = in_the_middle(other, w, other.terminate)
        same(got, want)
        w.close()
        one.terminate()


if __name__ == "__main__":
    house.main()
