#!/usr/bin/env python3
"""Waits for other processes end: by statement_timeout, by ^C, and by themselves if the process in the way cannot be recovered."""
import os
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, same, until
from wire import Wire, error, fields, texts


def interrupted(shell, sql, slow=3):
    """^C ends the statement, and with it a shell that has no terminal. slow: s until the statement has begun, of a sanitizer's build."""
    shell.send(sql + ";")
    time.sleep(0.6 if house.SLOW == 1 else slow)  # a ^C that comes before the statement has begun does not count
    check(shell.p.poll() is None, "it waits")
    shell.p.send_signal(signal.SIGINT)
    try:
        shell.p.wait(timeout=5 * house.SLOW)
    except subprocess.TimeoutExpired:
        raise AssertionError("^C does not end it: " + sql)
    contains((shell.rest + shell.p.stdout.read()).decode(), "57014", "user request")


def test_sleeps():
    """pg_sleep parks: the worker serves others, and cancel and statement_timeout end it. now() is the time of BEGIN."""
    with House(nodes=1) as h:
        c = Compute(h, "--workers", "1")
        w, other = Wire(c.port), Wire(c.port)

        def took(sql):
            began = time.monotonic()
            got = w.query(sql)
            return time.monotonic() - began, got
        for sql, rows, least in (("SELECT pg_sleep(0.2)", [("",)], 0.2), ("SELECT pg_sleep_for('200 ms')", [("",)], 0.2),
                                 ("SELECT pg_sleep_until(clock_timestamp() + interval '0.2 s')", [("",)], 0.19), ("SELECT pg_sleep(-1)", [("",)], 0),
                                 ("SELECT pg_sleep('nan')", [("",)], 0), ("SELECT pg_sleep(NULL)", [(None,)], 0),
                                 ("SELECT pg_sleep(0.1), g FROM generate_series(1, 2) g", [("", "1"), ("", "2")], 0.2)):
            seconds, got = took(sql)
            same(texts(got), rows, sql)
            check(seconds >= least, sql, seconds)
        w.query("SET statement_timeout = 200")
        same(error(w.query("SELECT pg_sleep(1000)"))["C"], "57014")
        w.query("SET statement_timeout = 0")
        w.send("Q", b"SELECT pg_sleep(1000)\0")
        same(texts(other.query("SELECT 1")), [("1",)], "beside one that sleeps")
        until(lambda: texts(other.query("SELECT pg_cancel_backend(%d)" % w.pid)) == [("t",)] and
              select.select([w.s], [], [], 0.1)[0], 10, "the cancel request ends it")
        same([fields(b)["C"] for k, b in w.until_ready() if k == "E"], ["57014"])
        w.query("BEGIN")
        time.sleep(0.3)
        same(texts(w.query("SELECT clock_timestamp() - now() >= interval '0.25 s'")), [("t",)], "now() of a block")
        was = texts(w.query("SELECT now()"))
        same(texts(w.query("SELECT pg_sleep(0.01), now()"))[0][1], was[0][0], "and it stays")
        w.query("COMMIT")
        same(texts(w.query("SELECT pg_sleep(0.2); SELECT clock_timestamp() - now() >= interval '0.15 s'"))[1], ("t",), "of a text")
        w.close()
        other.close()


def test_alter_table_at_statement_timeout():
    """Where a change of a table waits for a row's lock, statement_timeout is 57014, lock_timeout 55P03."""
    with House(nodes=1) as h:
        a, b = h.shell(), h.shell()
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, v integer)")
        a.ok("INSERT INTO t VALUES (1, 1)")
        until(lambda: "ERROR" not in b.do("SELECT count(*) FROM t"), 2, "the other process sees the table")
        a.ok("BEGIN; UPDATE t SET v = 2")
        changes = ("ALTER TABLE t ADD COLUMN w integer", "UPDATE t SET v = 3", "SELECT * FROM t FOR UPDATE",
                   "ALTER TABLE t DROP COLUMN v", "TRUNCATE t")
        for what in changes:
            b.ok("SET statement_timeout = '300ms'")
            t0 = time.monotonic()
            said = b.fails(what, "57014")
            took = time.monotonic() - t0
            contains(said, "statement timeout")
            check(0.25 < took < 3 * house.SLOW, what, "took %.2f s" % took)
            b.ok("SET statement_timeout = 0; SET lock_timeout = '300ms'")
            contains(b.fails(what, "55P03"), "lock timeout")
            b.ok("SET lock_timeout = 0")
        for what in changes[:2]:
            c = h.shell()
            c.ok("SELECT 1")  # it has begun
            interrupted(c, what)
        # In a block each statement has its time; COMMIT has its own.
        b.ok("SET statement_timeout = '1s'; CREATE TABLE other (id integer PRIMARY KEY)")
        b.ok("BEGIN; INSERT INTO other VALUES (1)")
        time.sleep(1.2)
        b.ok("INSERT INTO other VALUES (2)")
        time.sleep(1.2)
        b.ok("COMMIT")
        same(b.value("SELECT count(*) FROM other"), "2")
        a.ok("COMMIT")
        b.ok("ALTER TABLE t ADD COLUMN w integer")
        a.close(0)
        b.close()


def read_some(shell):
    while select.select([shell.p.stdout], [], [], 0)[0]:
        if not os.read(shell.p.stdout.fileno(), 65536):
            break


def stop_in_a_commit(h, a):
    """A shell that commits, stopped between its CID and that CID's mark: then a's snapshots wait for it."""
    c = h.shell(fabric="tcp")
    c.ok("SELECT count(*) FROM t")
    for i in range(400):
        c.p.send_signal(signal.SIGCONT)
        c.send("UPDATE t SET v = v + 1 WHERE id > 100;" * 5)
        time.sleep(0.002 + 0.0007 * (i % 30))
        c.p.send_signal(signal.SIGSTOP)
        a.ok("UPDATE t SET v = v + 1 WHERE id = 1")
        said = a.do("SELECT 1")
        if "ERROR" in said:
            contains(said, "57014", "statement timeout")
            return c
        c.p.send_signal(signal.SIGCONT)
        read_some(c)
    raise AssertionError("never met in the middle of a commit")


def test_a_commit_that_stands_still():
    """No process has died: others wait no longer than their timeouts, and get no OK for a commit in doubt."""
    with House(nodes=1, lease_ms=60000) as h:
        a = h.shell(fabric="tcp")
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, v integer)")
        a.ok("INSERT INTO t SELECT i, 0 FROM generate_series(1, 130) i")
        a.ok("SET statement_timeout = '400ms'")
        c = stop_in_a_commit(h, a)
        b = h.shell(fabric="tcp")  # it has answered nothing yet, so it begins with what is there
        b.ok("SET statement_timeout = '400ms'; SET namdb.visibility = 'cluster'")
        said = b.fails("UPDATE t SET v = -1 WHERE id = 2", "40003")
        contains(said, "committed and stays")
        for i in range(3):
            t0 = time.monotonic()
            contains(a.fails("SELECT count(*) FROM t", "57014"), "statement timeout")
            check(time.monotonic() - t0 < 2 * house.SLOW, "in time")
        a.ok("SET statement_timeout = 0")
        interrupted(a, "SELECT count(*) FROM t")
        c.p.send_signal(signal.SIGCONT)
        b.ok("SET statement_timeout = 0")
        same(b.value("SELECT v FROM t WHERE id = 2"), "-1", "what was committed stays")
        b.ok("UPDATE t SET v = -2 WHERE id = 2")
        same(h.do("SELECT v FROM t WHERE id = 2").value(), "-2")
        c.drop()
        b.close()


def test_a_node_is_lost_and_a_client_dies_in_a_commit():
    """No process can be sure that a dead one is dead: no hang, errors that say so, and a line each on stderr, not thousands."""
    with House(nodes=2, lease_ms=5000) as h:
        a = h.shell(fabric="tcp")
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, v integer)")
        a.ok("INSERT INTO t SELECT i, 0 FROM generate_series(1, 130) i")
        a.ok("SET statement_timeout = '400ms'")
        c = stop_in_a_commit(h, a)
        h.nodes[1].kill()
        c.drop()
        end = time.monotonic() + 12
        said = ""
        while time.monotonic() < end:
            t0 = time.monotonic()
            said += a.do("SELECT 1")
            check(time.monotonic() - t0 < 2 * house.SLOW, "statement_timeout holds")
            time.sleep(0.1)
        contains(said, "57014")
        check("55P03" not in said, "no lock is meant:", said)
        a.ok("SET statement_timeout = 0")
        t0 = time.monotonic()
        said += a.fails("SELECT 1", "58030", timeout=60)
        took = time.monotonic() - t0
        print("  SELECT 1 ended with 58030 after %.1f s" % took)
        contains(said, "has stopped in the middle of a commit", "owner slot", "storage node 2")
        t0 = time.monotonic()
        said += a.fails("SELECT 1", "58030", timeout=60)
        check(time.monotonic() - t0 < 3 * house.SLOW, "once known it is said soon")
        for word in ("cannot be freed yet", "is gone"):
            check(len(re.findall(word, said)) <= 3, "a line for each:", said)
        interrupted(a, "SELECT 1", slow=1)  # after 3 s it would end with 58030


if __name__ == "__main__":
    house.main()
