#!/usr/bin/env python3
"""Enum types at several compute nodes: labels added at one are known at the others, whatever they have cached; a type that is
being dropped is left by nothing; rows keep their labels over a node's end; the wire has them as texts under the type's oid."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same, until
from wire import Wire, error, kinds, tags, texts


def state(answer):
    """The SQLSTATE of an answer; "" = it is no error."""
    return error(answer)["C"] if "E" in kinds(answer) else ""


def soon(w, text):
    """What another node has committed shows a moment later."""
    for _ in range(200):
        answer = w.query(text)
        if state(answer) != "22P02":
            break
        time.sleep(0.01)
    return answer


def rows(w, text):
    answer = soon(w, text)
    check(state(answer) == "", text, error(answer) if "E" in kinds(answer) else "")
    return texts(answer)


def test_labels_elsewhere():
    """Sessions with cached plans at two nodes, and labels that the other one adds, renames and uses."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b = Wire(one.port), Wire(two.port)
        a.query("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t (id int PRIMARY KEY, m mood, ms mood[]);"
                "INSERT INTO t VALUES (1, 'sad', '{happy}')")
        for w in (a, b):
            w.query("PREPARE get AS SELECT m, ms FROM t ORDER BY m, id; PREPARE put (int, mood) AS INSERT INTO t VALUES ($1, $2, ARRAY[$2])")
            same(rows(w, "EXECUTE get"), [("sad", "{happy}")])
        want = ["sad", "happy"]
        for i in range(20):
            here, there = (a, b) if i % 2 else (b, a)
            same(state(here.query("ALTER TYPE mood ADD VALUE 'l%d' BEFORE '%s'" % (i, want[0]))), "")
            want.insert(0, "l%d" % i)
            same(state(soon(there, "EXECUTE put(%d, 'l%d')" % (10 + i, i))), "", "a label of the other node's")
            for w in (a, b):
                same([r[0] for r in rows(w, "EXECUTE get")], [x for x in want if x != "happy"], i)
                same(rows(w, "SELECT enum_range(NULL::mood)"), [("{%s}" % ",".join(want),)])
        same(state(a.query("ALTER TYPE mood RENAME VALUE 'l0' TO 'first'")), "")
        for w in (a, b):
            same(rows(w, "SELECT id, m, ms FROM t WHERE m = 'first'"), [("10", "first", "{first}")])
            same(state(w.query("SELECT 'l0'::mood")), "22P02")
        # An old snapshot reads on.
        b.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t")
        for text in ("ALTER TYPE mood ADD VALUE 'last'", "UPDATE t SET m = 'last' WHERE id = 1"):
            same(state(a.query(text)), "", text)
        same(rows(b, "SELECT m FROM t WHERE id = 1"), [("sad",)])
        b.query("COMMIT")
        for _ in range(200):
            if rows(b, "SELECT m FROM t WHERE id = 1") == [("last",)]:
                break
            time.sleep(0.01)
        same(rows(b, "SELECT m FROM t WHERE id = 1"), [("last",)])
        for w in (a, b):
            w.close()


def test_newer_than_the_snapshot():
    """READ COMMITTED waits for a row, and finds in it a label that is newer than its own snapshot."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b = Wire(one.port), Wire(two.port)
        a.query("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t (id int PRIMARY KEY, m mood, ms mood[], n int);"
                "INSERT INTO t VALUES (1, 'sad', '{sad}', 0)")
        for i, text in enumerate(("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING m::text, ms", "SELECT m::text, ms FROM t WHERE id = 1 FOR UPDATE",
                                  "INSERT INTO t VALUES (1, 'sad', '{}', 0) ON CONFLICT (id) DO UPDATE SET n = 7 RETURNING t.m::text, t.ms",
                                  "DELETE FROM t WHERE id = 1 RETURNING m::text, ms")):
            same(rows(b, "SELECT count(*) FROM t"), [("1",)])
            got = {}
            a.query("BEGIN; UPDATE t SET n = -1 WHERE id = 1")

            def other():
                got["answer"] = b.query("BEGIN; " + text)

            waits = threading.Thread(target=other)
            waits.start()
            time.sleep(0.3)
            c = Wire(one.port)
            same(state(c.query("ALTER TYPE mood ADD VALUE 'n%d' AFTER 'sad'" % i)), "")
            c.close()
            a.query("COMMIT")
            waits.join()
            same(state(got["answer"]), "", text)
            b.query("ROLLBACK")
            # the row itself has the label now, while b's statement waits for it
            a.query("BEGIN")
            same(state(a.query("UPDATE t SET m = 'n%d', ms = ARRAY['n%d'::mood] WHERE id = 1" % (i, i))), "")
            waits = threading.Thread(target=other)
            waits.start()
            time.sleep(0.3)
            a.query("COMMIT")
            waits.join()
            same(texts(got["answer"])[-1:], [("n%d" % i, "{n%d}" % i)], text)
            b.query("ROLLBACK")
        for w in (a, b):
            w.close()


def test_dropped_type():
    """DROP TYPE beside what uses the type: either the type is gone and nothing has it, or it is there."""
    uses = {"CREATE TABLE u (m brief)": "u", "CREATE TABLE u AS SELECT 'a'::brief AS m": "u", "CREATE VIEW u AS SELECT 'a'::brief::text AS m": "u",
            "ALTER TABLE t ADD COLUMN m brief": None, "ALTER TABLE t ALTER COLUMN c TYPE brief USING 'a'": None,
            "ALTER TABLE t ALTER COLUMN d SET DEFAULT 'a'::brief::text": None, "ALTER TABLE t ADD CHECK (d::brief <> 'b')": None}
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        a, b = Wire(nodes[0].port), Wire(nodes[1].port)
        seen = set()
        for i in range(42 if not house.SLOW > 1 else 14):
            text = list(uses)[i % len(uses)]
            a.query("CREATE TABLE t (id int, c text, d text); CREATE TYPE brief AS ENUM ('a', 'b')")
            level = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; " if i % 3 == 2 else ""
            out = {}

            def other():
                out["drop"] = state(b.query(level + "DROP TYPE brief" + ("; COMMIT" if level else "")))
                b.query("ROLLBACK")

            t = threading.Thread(target=other)
            t.start()
            out["use"] = state(a.query(text))
            t.join()
            there = rows(a, "SELECT count(*) FROM pg_type WHERE typname = 'brief'") == [("1",)]
            seen.add((out["drop"], out["use"]))
            check(there == (out["drop"] != ""), "the type:", there, out, text)
            check(there or out["use"] != "", "something has a type that is gone:", i, out, text)
            for w in (a, b):
                for name in ("t", "u"):
                    check(state(w.query("SELECT * FROM %s" % name)) in ("", "42P01"), "unreadable:", name, out, text)
                check(state(w.query("INSERT INTO t (id) VALUES (1)")) in ("", "42P01"), "unwritable:", out, text)
            for clean in ("DROP VIEW IF EXISTS u", "DROP TABLE IF EXISTS u", "DROP TABLE t", "DROP TYPE IF EXISTS brief"):
                a.query(clean)
            same(rows(a, "SELECT count(*) FROM pg_type WHERE typname = 'brief'"), [("0",)])
        check(seen <= {("2BP01", ""), ("", "42704"), ("40001", ""), ("", "40001")}, "outcomes:", seen)
        for w in (a, b):
            w.close()


def test_renamed_type():
    """RENAME of a type and of a label beside definitions that say them: what is made can be used afterwards."""
    makes = ("CREATE TABLE u (id int, m text DEFAULT 'a'::brief::text, n brief DEFAULT 'a')", "CREATE VIEW u AS SELECT 'a'::brief::text AS m",
             "CREATE VIEW u AS SELECT m FROM t WHERE m = 'b'::brief", "ALTER TABLE t ALTER COLUMN m SET DEFAULT 'a'::brief", "ALTER TABLE t ADD CHECK (d::brief <> 'b'::brief)",
             "ALTER TABLE t ADD COLUMN n brief DEFAULT 'a'")
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        a, b = Wire(nodes[0].port), Wire(nodes[1].port)
        seen = set()
        for i in range(48 if not house.SLOW > 1 else 12):
            text, out = makes[i % len(makes)], {}
            for made in ("CREATE TYPE brief AS ENUM ('a', 'b')", "CREATE TABLE t (id int, m brief, d text)"):
                same(state(a.query(made)), "")

            def other():
                out["rename"] = state(b.query("ALTER TYPE brief RENAME TO briefer" if i % 4 < 2 else "ALTER TYPE brief RENAME VALUE 'a' TO 'c'"))

            t = threading.Thread(target=other)
            t.start()
            out["make"] = state(a.query(text))
            t.join()
            seen.add((out["make"], out["rename"]))
            time.sleep(0.02)
            for w in (a, b):
                check(state(w.query("SELECT * FROM t")) == "" and state(w.query("SELECT * FROM u")) in ("", "42P01"), "unreadable:", out, text)
                answer = state(w.query("INSERT INTO t (id, d) VALUES (1, 'b'), (2, 'c')"))
                check(answer in ("", "23514", "22P02"), "unwritable:", answer, i, out, text)
                if text.startswith("CREATE TABLE") and out["make"] == "":
                    same(state(w.query("INSERT INTO u VALUES (1)")), "", out)
            for clean in ("DROP VIEW IF EXISTS u", "DROP TABLE IF EXISTS u", "DROP TABLE t", "DROP TYPE IF EXISTS brief, briefer"):
                a.query(clean)
            same(rows(a, "SELECT count(*) FROM pg_type WHERE typname ~ 'brief'"), [("0",)])
        check(all(make in ("", "42704", "22P02", "40001") and rename in ("", "40001", "42704") for make, rename in seen), "outcomes:", seen)
        print("  outcomes", sorted(seen))
        for w in (a, b):
            w.close()


def test_label_renamed_under_a_maker():
    """A statement that waits for RENAME VALUE does not keep a text with the label's old name."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b = Wire(one.port), Wire(two.port)
        a.query("CREATE TYPE mood AS ENUM ('x', 'y')")
        now, out = "x", {}
        for text in ("CREATE TABLE u (m mood DEFAULT '%s', n int)", "CREATE TABLE u (m mood CHECK (m <> '%s'), n int)",
                     "CREATE DOMAIN d AS mood DEFAULT '%s'", "CREATE DOMAIN d AS mood CHECK (value <> '%s'::mood)",
                     "CREATE VIEW v AS SELECT '%s'::mood AS m"):
            then = "x" if now == "z" else "z"
            soon(b, "SELECT '%s'::mood" % now)
            a.query("BEGIN; ALTER TYPE mood RENAME VALUE '%s' TO '%s'" % (now, then))

            def other():
                out["made"] = state(b.query(text % now))

            t = threading.Thread(target=other)
            t.start()
            time.sleep(0.3)
            check(t.is_alive(), "it does not wait:", text)
            same(state(a.query("COMMIT")), "", text)
            t.join()
            same(out["made"], "22P02", text)
            now = then
        same(state(b.query("CREATE TABLE u (m mood DEFAULT '%s', n int); INSERT INTO u (n) VALUES (1)" % now)), "")
        for w in (a, b):
            w.close()


def test_parallel():
    """Workers that share a query see labels as the session does."""
    with House(nodes=1, size="256m") as h:
        c = Compute(h)
        w = Wire(c.port)
        w.query("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TABLE t (id int PRIMARY KEY, m mood, ms mood[])")
        w.query("INSERT INTO t SELECT i, (ARRAY['sad', 'ok', 'happy']::mood[])[1 + i % 3], ARRAY['ok'::mood] FROM generate_series(1, 30000) i")
        asks = ("SELECT m, count(*), min(m), max(m) FROM t GROUP BY m ORDER BY m", "SELECT m, array_agg(DISTINCT m ORDER BY m) FROM t GROUP BY m ORDER BY m", "SELECT id, m FROM t ORDER BY m DESC, id LIMIT 5",
                "SELECT count(*) FROM t a JOIN t b ON a.m = b.m AND b.id < 10", "SELECT m::text, ms, count(*) FROM t WHERE m > 'sad' GROUP BY 1, 2 ORDER BY 1")
        w.query("SET namdb.parallel = 1")
        alone = [rows(w, q) for q in asks]
        w.query("SET namdb.parallel = 2; SET namdb.parallel_rows = 100")
        for q, want in zip(asks, alone):
            same(rows(w, q), want, q)
        check(any("Workers Planned" in r[0] for r in rows(w, "EXPLAIN " + asks[0])), "nothing was shared")
        w.close()


def test_crash():
    """A compute node is killed while its sessions make, change and drop types: each definition is there as a whole, or not at all."""
    with House(nodes=1, size="128m") as h:
        watch = Compute(h)
        w = Wire(watch.port)
        w.query("CREATE TYPE kept AS ENUM ('k0'); CREATE TABLE rows (id int PRIMARY KEY, k kept)")
        for turn in range(4 if not house.SLOW > 1 else 2):
            victim = Compute(h)

            def work(n):
                try:
                    v = Wire(victim.port)
                    for i in range(100000):
                        v.query("CREATE TYPE e%d AS ENUM ('a', 'b'); CREATE TABLE t%d (e e%d DEFAULT 'a'::e%d, es e%d[])" % ((n,) * 5))
                        v.query("INSERT INTO t%d VALUES ('b', '{a,b}')" % n)
                        v.query("ALTER TYPE e%d ADD VALUE 'c%d' BEFORE 'b'" % (n, i))
                        v.query("ALTER TYPE kept ADD VALUE 'k%d.%d.%d'" % (turn, n, i))
                        v.query("INSERT INTO rows VALUES (%d, 'k%d.%d.%d')" % (turn * 1000000 + n * 100000 + i, turn, n, i))
                        v.query("ALTER TYPE e%d RENAME VALUE 'a' TO 'z'" % n)
                        v.query("ALTER TYPE e%d RENAME TO f%d" % (n, n))
                        v.query("DROP TYPE f%d CASCADE" % n if i % 2 else "DROP TABLE t%d; DROP TYPE f%d" % (n, n))
                        v.query("DROP TABLE IF EXISTS t%d" % n)
                        v.query("DROP TYPE IF EXISTS e%d, f%d" % (n, n))
                except (OSError, EOFError):
                    pass

            threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
            for t in threads:
                t.start()
            time.sleep(0.7 + turn * 0.05)
            victim.kill()
            for t in threads:
                t.join()
            for n in range(3):  # this waits for the recovery of what the victim had locked
                for text in ("SELECT * FROM t%d" % n, "INSERT INTO t%d DEFAULT VALUES" % n, "SELECT e::text, es FROM t%d" % n):
                    check(state(w.query(text)) in ("", "42P01", "42703"), text, w.query(text))

            def only_kept():
                # A commit of the victim that is decided may become visible when it is recovered, after these.
                for n in range(3):
                    for text in ("DROP TABLE IF EXISTS t%d" % n, "DROP TYPE IF EXISTS e%d, f%d" % (n, n)):
                        same(state(w.query(text)), "", text)
                return rows(w, "SELECT typname FROM pg_type WHERE typtype = 'e' ORDER BY 1") == [("kept",)]

            until(only_kept, 20, "what the victim left can be dropped")
            labels = {r[0] for r in rows(w, "SELECT enumlabel FROM pg_enum")}
            found = [r[0] for r in rows(w, "SELECT k FROM rows")]
            check(set(found) <= labels and len(found) == len(set(found)) and "" not in found, "labels of rows", found[:5])
            check(len(found) > 3 * turn, "the victim did next to nothing", len(found))
        print("  %d labels, %d rows" % (len(labels), len(found)))
        w.close()


def test_writers_beside_alter():
    """Sessions at two nodes write and read while a third adds labels: nothing is lost, and each value has its label."""
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        boss = Wire(nodes[0].port)
        boss.query("CREATE TYPE step AS ENUM ('s0'); CREATE TABLE t (id int PRIMARY KEY, s step, said text); CREATE INDEX ON t (s)")
        last, wrong, written, done = [0], [], [0] * 4, threading.Event()

        def work(k):
            w = Wire(nodes[k % 2].port)
            i = 0
            while not done.is_set() or i < 20:
                label = "s%d" % last[0]
                answer = soon(w, "INSERT INTO t VALUES (%d, '%s', '%s')" % (k * 100000 + i, label, label))
                if state(answer):
                    wrong.append(error(answer))
                    break
                i += 1
                if i % 10 == 0:
                    bad = texts(w.query("SELECT id, s, said FROM t WHERE s::text <> said"))
                    if bad:
                        wrong.append(bad)
            written[k] = i
            w.close()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for i in range(1, 25):
            same(state(boss.query("ALTER TYPE step ADD VALUE 's%d' %s" % (i, "BEFORE 's%d'" % (i - 1) if i % 2 else ""))), "")
            last[0] = i
        done.set()
        for t in threads:
            t.join()
        check(not wrong, wrong[:3])
        for c in nodes:
            w = Wire(c.port)
            same(rows(w, "SELECT count(*), count(*) FILTER (WHERE s::text = said) FROM t"), [(str(sum(written)),) * 2])
            order = rows(w, "SELECT DISTINCT s FROM t ORDER BY s")
            labels = rows(w, "SELECT unnest(enum_range(NULL::step))")
            same(order, [x for x in labels if x in order])
            w.close()
        # A node that begins later, when those have ended.
        for c in nodes:
            c.kill()
        late = Compute(h)
        w = Wire(late.port)
        same(rows(w, "SELECT count(*) FILTER (WHERE s::text = said) FROM t"), [(str(sum(written)),)])
        w.close()


def test_wire():
    """RowDescription has the type's oid; texts and binary are the label; parameters have the type."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h)
        w = Wire(c.port)
        w.query("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t (id int PRIMARY KEY, m mood, ms mood[]);"
                "INSERT INTO t VALUES (1, 'sad', '{happy,sad}')")
        (oid, array), = rows(w, "SELECT oid, typarray FROM pg_type WHERE typname = 'mood'")
        w.raw(w.parse("SELECT m, ms FROM t WHERE m = $1") + w.message("D", b"S\0"))
        w.raw(w.bind([b"sad"], results=(1, 1)) + w.message("E", b"\0\0\0\0\0") + w.message("S"))
        got = w.until_ready()
        kind = dict((m[0], m[1]) for m in got)
        same(kind["t"], b"\0\1" + int(oid).to_bytes(4, "big"), "the parameter's type")
        for number in (oid, array):
            check(int(number).to_bytes(4, "big") in kind["T"], "the column's type", number)
        row = kind["D"]
        same(row[2:9], b"\0\0\0\3sad")
        check(row.endswith(b"\0\0\0\5happy\0\0\0\3sad") and int(oid).to_bytes(4, "big") in row, row)
        # binary, and with the type's number, in
        w.raw(w.parse("INSERT INTO t VALUES (2, $1, $2) RETURNING m, ms", types=(int(oid), int(array))))
        elements = b"".join(n.to_bytes(4, "big") for n in (1, 0, int(oid), 1, 1, 5)) + b"happy"
        w.raw(w.bind([b"happy", elements], formats=(1, 1)) + w.message("E", b"\0\0\0\0\0") + w.message("S"))
        got = w.until_ready()
        same(texts(got), [("happy", "{happy}")])
        w.raw(w.parse("SELECT $1::mood") + w.bind([b"bad"]) + w.message("E", b"\0\0\0\0\0") + w.message("S"))
        same(state(w.until_ready()), "22P02")
        w.close()


if __name__ == "__main__":
    house.main()
