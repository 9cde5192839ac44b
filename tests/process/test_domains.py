#!/usr/bin/env python3
"""Domains at several compute nodes: once a change of a domain is committed, no row breaks it, whatever the writers at other nodes
have planned, begun or cached; a domain that is dropped is left by nothing."""
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, error, kinds, tags, texts


def state(answer):
    """The SQLSTATE of an answer; "" = it is no error."""
    return error(answer)["C"] if "E" in kinds(answer) else ""


def rows(w, text):
    answer = w.query(text)
    check(state(answer) == "", text, error(answer) if "E" in kinds(answer) else "")
    return texts(answer)


def test_seen_elsewhere():
    """Cached plans of the other node follow a change at once."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b = Wire(one.port), Wire(two.port)
        a.query("CREATE DOMAIN d AS int DEFAULT 1; CREATE DOMAIN over_d AS d; CREATE TABLE t (id int PRIMARY KEY, x d, y over_d)")
        for w in (a, b):
            w.query("PREPARE put (int, int) AS INSERT INTO t (id, x, y) VALUES ($1, $2, $2); PREPARE make (int) AS SELECT $1::over_d")
        n = 0
        for i in range(12):
            here, there = (a, b) if i % 2 else (b, a)
            n += 1
            same(state(there.query("EXECUTE put(%d, 50)" % n)), "")
            same(state(there.query("EXECUTE make(50)")), "")
            same(state(here.query("ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 50) NOT VALID")), "")
            for w in (there, here):
                same(state(w.query("EXECUTE put(%d, 50)" % (n + 1))), "23514")
                same(state(w.query("EXECUTE make(50)")), "23514")
                same(state(w.query("UPDATE t SET y = 50 WHERE id = %d" % n)), "23514")
            same(state(here.query("ALTER DOMAIN d VALIDATE CONSTRAINT c")), "23514")
            same(state(there.query("UPDATE t SET x = 7, y = NULL WHERE id = %d" % n)), "")
            same(state(there.query("ALTER DOMAIN d VALIDATE CONSTRAINT c")), "")
            same(state(here.query("ALTER DOMAIN d DROP CONSTRAINT c; ALTER DOMAIN d SET DEFAULT %d" % i)), "")
            n += 1
            same(texts(there.query("INSERT INTO t (id) VALUES (%d) RETURNING x" % n)), [(str(i),)])
        same(state(a.query("ALTER DOMAIN over_d RENAME TO other")), "")
        same(state(b.query("SELECT 1::over_d")), "42704")
        same(state(b.query("SELECT 1::other; EXECUTE put(1000, 5)")), "")
        for w in (a, b):
            w.close()


def test_old_snapshots():
    """A transaction that has begun before the change does not commit rows that break it."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b = Wire(one.port), Wire(two.port)
        a.query("CREATE DOMAIN d AS int; CREATE DOMAIN e AS d; CREATE TABLE t (id int PRIMARY KEY, x d, y e); INSERT INTO t VALUES (-1, 1, 1)")
        for i, (level, text) in enumerate([(level, text) for level in ("REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE") for text in (
                "INSERT INTO t VALUES (%d, 5, NULL)", "INSERT INTO t VALUES (%d, NULL, 5)", "CREATE TABLE u%d (x d); INSERT INTO u%d VALUES (5)",
                "CREATE TABLE u%d (x e); INSERT INTO u%d VALUES (5)", "CREATE TABLE u%d AS SELECT 5::e AS x", "ALTER TABLE t ADD COLUMN n%d e DEFAULT 5")]):
            n = text.count("%d")
            b.query("BEGIN ISOLATION LEVEL %s; SELECT count(*) FROM t" % level)
            same(state(a.query("ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 5)")), "")
            got = state(b.query(text % ((i,) * n)))
            got = got or state(b.query("COMMIT"))
            check(got in ("40001", "23514"), level, text, got)
            b.query("ROLLBACK")
            same(rows(a, "SELECT count(*) FROM t WHERE x = 5 OR y = 5"), [("0",)])
            same(state(a.query("ALTER DOMAIN d DROP CONSTRAINT c")), "")
        # What has been written before, and is not committed, is waited for.
        for i, text in enumerate(("INSERT INTO t VALUES (%d, 5, NULL)", "INSERT INTO t VALUES (%d, NULL, 5)", "CREATE TABLE w%d (x e); INSERT INTO w%d VALUES (5)")):
            n, out = text.count("%d"), {}
            same(state(b.query("BEGIN; " + text % ((100 + i,) * n))), "")

            def alter():
                out["alter"] = state(a.query("ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 5)"))

            t = threading.Thread(target=alter)
            t.start()
            t.join(0.5)
            check(t.is_alive(), "it does not wait", text)
            same(state(b.query("COMMIT")), "")
            t.join()
            same(out["alter"], "23514", text)
            a.query("DELETE FROM t; DROP TABLE IF EXISTS w2")
        for w in (a, b):
            w.close()


def test_writers_beside_alter():
    """Sessions at two nodes write values, some of which a third session forbids from time to time: while a constraint holds, no row
    breaks it."""
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        boss = Wire(nodes[0].port)
        boss.query("CREATE DOMAIN d AS int; CREATE DOMAIN e AS d; CREATE TABLE t (id int PRIMARY KEY, x d); CREATE TABLE u (id int PRIMARY KEY, x e)")
        done, wrong, count = threading.Event(), [], [0, 0]

        def work(k):
            w = Wire(nodes[k % 2].port)
            w.query("PREPARE put_t (int, int) AS INSERT INTO t VALUES ($1, $2); PREPARE put_u (int, int) AS INSERT INTO u VALUES ($1, $2);"
                    "PREPARE set_t (int, int) AS UPDATE t SET x = $2 WHERE id = $1")
            i = 0
            while not done.is_set():
                i += 1
                text = ["EXECUTE put_t(%d, %d)", "EXECUTE put_u(%d, %d)", "BEGIN; EXECUTE put_t(%d, %d); COMMIT"][i % 3] % (k * 1000000 + i, i % 4)
                got = state(w.query(text))
                w.query("ROLLBACK")
                count[got == "23514"] += 1
                if got not in ("", "23514", "40001", "40P01"):
                    wrong.append((text, got))
                if i % 5 == 0:
                    got = state(w.query("EXECUTE set_t(%d, %d)" % (k * 1000000 + i - 2, i % 4)))
                    if got not in ("", "23514", "40001", "40P01"):
                        wrong.append(("set_t", got))
            w.close()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        made = 0
        for _ in range(400):
            if made == (20 if not house.SLOW > 1 else 5):
                break
            boss.query("UPDATE t SET x = 0 WHERE x = 3; UPDATE u SET x = 0 WHERE x = 3")
            got = state(boss.query("ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 3)"))
            check(got in ("", "23514", "40001", "40P01"), got)
            if got:
                continue
            made += 1
            for _ in range(3):
                same(rows(boss, "SELECT (SELECT count(*) FROM t WHERE x = 3) + (SELECT count(*) FROM u WHERE x = 3)"), [("0",)])
            for _ in range(20):
                got = state(boss.query("ALTER DOMAIN d DROP CONSTRAINT c"))
                if got == "":
                    break
            same(got, "")
        done.set()
        for t in threads:
            t.join()
        check(not wrong, wrong[:3])
        check(made > 0 and min(count) > 0, "nothing has raced:", made, count)
        print("  %d constraints; %d rows written, %d refused" % (made, count[0], count[1]))
        boss.close()


def test_dropped_domain():
    """DROP DOMAIN beside what uses the domain: either the domain is gone and nothing has it, or it is there."""
    uses = ["CREATE TABLE u (m d)", "CREATE TABLE u AS SELECT 1::d AS m", "CREATE VIEW u AS SELECT 1::d::text AS m", "CREATE DOMAIN e AS d",
            "ALTER TABLE t ADD COLUMN m d", "ALTER TABLE t ALTER COLUMN c TYPE d", "CREATE VIEW u AS SELECT 1::d AS m",
            "ALTER TABLE t ALTER COLUMN c SET DEFAULT 1::d", "ALTER TABLE t ADD CHECK (c::d < 9)", "CREATE TABLE u (m int DEFAULT 1::d)"]
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        a, b = Wire(nodes[0].port), Wire(nodes[1].port)
        seen = set()
        for i in range(60 if not house.SLOW > 1 else 20):
            text = uses[i % len(uses)]
            a.query("CREATE TABLE t (id int, c int); CREATE DOMAIN d AS int CHECK (VALUE > 0)")
            level = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; " if i % 3 == 2 else ""
            out = {}

            def other():
                out["drop"] = state(b.query(level + "DROP DOMAIN d" + ("; COMMIT" if level else "")))
                b.query("ROLLBACK")

            t = threading.Thread(target=other)
            t.start()
            out["use"] = state(a.query(text))
            t.join()
            there = rows(a, "SELECT count(*) FROM pg_type WHERE typname = 'd'") == [("1",)]
            seen.add((out["drop"], out["use"]))
            check(there == (out["drop"] != ""), "the domain:", there, out, text)
            check(there or out["use"] != "", "something has a domain that is gone:", out, text)
            for w in (a, b):
                for name in ("t", "u"):
                    check(state(w.query("SELECT * FROM %s" % name)) in ("", "42P01"), "unreadable:", name, out, text)
                check(state(w.query("INSERT INTO t (id) VALUES (1)")) in ("", "42P01"), "unwritable:", out, text)
                check(state(w.query("SELECT 1::e")) in ("", "42704"), "no base:", out, text)
            for clean in ("DROP DOMAIN IF EXISTS e", "DROP VIEW IF EXISTS u", "DROP TABLE IF EXISTS u", "DROP TABLE t", "DROP DOMAIN IF EXISTS d"):
                a.query(clean)
            same(rows(a, "SELECT count(*) FROM pg_type WHERE typname = 'd'"), [("0",)])
        # A snapshot that is older than the use.
        for text in uses[:1] + uses[2:]:
            a.query("CREATE TABLE t (id int, c int); CREATE DOMAIN d AS int CHECK (VALUE > 0)")
            b.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t")
            same(state(a.query(text)), "", text)
            same(state(b.query("DROP DOMAIN d")), "40001", text)
            b.query("ROLLBACK; BEGIN; SELECT count(*) FROM t")
            same(state(b.query("DROP DOMAIN d")), "2BP01", text)
            b.query("ROLLBACK; DROP DOMAIN IF EXISTS e")
            for clean in ("DROP VIEW IF EXISTS u", "DROP TABLE IF EXISTS u", "DROP TABLE t", "DROP DOMAIN d"):
                a.query(clean)
        check(seen <= {("2BP01", ""), ("", "42704"), ("40001", ""), ("", "40001")}, "outcomes:", seen)
        for w in (a, b):
            w.close()


def test_deadlock_and_names():
    """Two changes that wait for each other: one ends. Two domains of one name: one is made."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b = Wire(one.port), Wire(two.port)
        a.query("CREATE DOMAIN d AS int; CREATE TABLE t (id int, x d, n int)")
        out = {}

        def run(who, w, text):
            out[who] = state(w.query(text))

        same(state(b.query("BEGIN; ALTER TABLE t ALTER n SET NOT NULL")), "")
        t = threading.Thread(target=run, args=("a", a, "ALTER DOMAIN d ADD CHECK (VALUE > 1)"))
        t.start()
        t.join(0.4)
        run("b", b, "ALTER TABLE t ADD COLUMN y d")
        b.query("ROLLBACK")
        t.join()
        check(sorted(out.values()) == ["", "40P01"], "a deadlock:", out)
        for _ in range(20):
            both = [threading.Thread(target=run, args=(k, w, "CREATE DOMAIN twin AS int")) for k, w in enumerate((a, b))]
            for t in both:
                t.start()
            for t in both:
                t.join()
            same(sorted((out[0], out[1])), ["", "42710"])
            a.query("DROP DOMAIN twin")
        for w in (a, b):
            w.close()


def test_change_that_dies():
    """The node of an open change is killed, or stops for longer than its lease: the change has not been, and holds nothing."""
    with House(nodes=1, size="128m") as h:
        one = Compute(h)
        a = Wire(one.port)
        a.query("CREATE DOMAIN d AS int; CREATE TABLE t (id int, x d)")
        for i, how in enumerate((signal.SIGKILL, signal.SIGSTOP)):
            two = Compute(h)
            b = Wire(two.port)
            same(state(b.query("BEGIN; ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 77)")), "")
            two.p.send_signal(how)
            same(state(a.query("INSERT INTO t VALUES (1, 77)")), "", how)
            same(state(a.query("ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 77)")), "23514")
            if how == signal.SIGSTOP:
                two.p.send_signal(signal.SIGCONT)
                try:
                    got = state(b.query("COMMIT"))
                except (OSError, EOFError):
                    got = "closed"
                check(got != "", "the change has been, though its node was fenced")
            same(rows(a, "SELECT count(*) FROM pg_constraint WHERE conname = 'c'"), [("0",)])
            same(state(a.query("DELETE FROM t; ALTER DOMAIN d ADD CONSTRAINT c CHECK (VALUE <> 77)")), "")
            same(state(a.query("INSERT INTO t VALUES (1, 77)")), "23514")
            same(state(a.query("ALTER DOMAIN d DROP CONSTRAINT c")), "")
            two.kill()
        a.close()


def test_copy_and_wire():
    """COPY checks each value; parameters and rows have the base type on the wire."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h)
        w = Wire(c.port)
        w.query("CREATE DOMAIN d AS int DEFAULT 9 CHECK (VALUE > 0); CREATE DOMAIN n AS text NOT NULL; CREATE TABLE t (id int, x d, y n DEFAULT 'q')")
        for text, want in ((b"1\t5\tone\n2\t6\ttwo\n", ""), (b"3\t5\tone\n4\t0\ttwo\n", "23514"), (b"5\t5\t\\N\n", "23502"), (b"6\t\\N\tx\n", "")):
            w.raw(w.message("Q", b"COPY t FROM STDIN\0"))
            w.raw(w.message("d", text) + w.message("c"))
            same(state(w.until_ready()), want, text)
        w.raw(w.message("Q", b"COPY t (id) FROM STDIN\0") + w.message("d", b"7\n") + w.message("c"))
        same(state(w.until_ready()), "")
        w.query("ALTER TABLE t ALTER y DROP DEFAULT")
        w.raw(w.message("Q", b"COPY t (id) FROM STDIN\0") + w.message("d", b"8\n") + w.message("c"))
        same(state(w.until_ready()), "23502")
        same(rows(w, "SELECT * FROM t ORDER BY id"), [("1", "5", "one"), ("2", "6", "two"), ("6", None, "x"), ("7", "9", "q")])
        w.raw(w.parse("SELECT x FROM t WHERE x = $1") + w.message("D", b"S\0"))
        w.raw(w.bind([b"6"]) + w.message("E", b"\0\0\0\0\0") + w.message("S"))
        kind = dict((m[0], m[1]) for m in w.until_ready())
        same(kind["t"], b"\0\1\0\0\0\x17", "the parameter's type")
        check(b"\0\0\0\x17\0\4" in kind["T"], "the column's type", kind["T"])
        w.close()


if __name__ == "__main__":
    house.main()
