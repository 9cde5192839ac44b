#!/usr/bin/env python3
"""The disk of the log does not answer: what waits for it can be cancelled, is told the truth, and no process hangs."""
import contextlib
import ctypes
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import test_durable as durable
import wire
from house import Compute, House, check, contains, same, skip, until
from wire import Wire

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, ALL = 0x4206, 0x4207, 17, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


@contextlib.contextmanager
def hung(node):
    """The thread that syncs the log stands still, as in a sync that does not return; the node's other threads go on.
    Both steps are of this thread: a tracer is one."""
    tids = []
    for tid in os.listdir("/proc/%d/task" % node.p.pid):
        with open("/proc/%d/task/%s/comm" % (node.p.pid, tid)) as f:
            tids += [int(tid)] if f.read().strip() == "namdb-flusher" else []
    same(len(tids), 1, "threads that flush")
    if libc.ptrace(PTRACE_SEIZE, tids[0], None, None) != 0:
        skip("this user may not trace a process")
    check(libc.ptrace(PTRACE_INTERRUPT, tids[0], None, None) == 0, "it is interrupted")
    os.waitpid(tids[0], ALL)

    def kill():
        """The node, which has no end for its parent before the thread has one for its tracer."""
        node.p.kill()
        os.waitpid(tids[0], ALL)
        node.p.wait()
    try:
        yield kill
    finally:
        libc.ptrace(PTRACE_DETACH, tids[0], None, None)


def place(h):
    """A cluster, a compute process, a table."""
    c = durable.Cluster(h)
    h.storage = lambda: c.storage
    node = Compute(h)
    w = Wire(node.port, timeout=60)
    w.query("CREATE TABLE t (id integer PRIMARY KEY, n integer)")
    w.query("INSERT INTO t VALUES (1, 0)")
    w.query("CREATE SEQUENCE q")
    return c, node, w


def later(seconds, fn):
    t = threading.Timer(seconds, fn)
    t.start()
    return t


def warned(got):
    """The SQLSTATE and text of its WARNING."""
    for kind, body in got:
        if kind == "N":
            f = wire.fields(body)
            return f["S"], f["C"], f["M"]
    return None


def test_cancelled():
    """A cancel ends the wait of COMMIT: with a WARNING, and the answer that it has committed; its rows are there at once."""
    with House() as h:
        c, node, w = place(h)
        other = Wire(node.port, timeout=60)
        with hung(c.node[0]):
            for i, text in enumerate(("INSERT INTO t VALUES (10, 0)", "BEGIN; UPDATE t SET n = n + 1; COMMIT", "CREATE TABLE made (x integer)",
                                      "INSERT INTO t SELECT i, 0 FROM generate_series(100, 2000) i")):
                begun = time.monotonic()
                t = later(0.5, lambda: other.query("SELECT pg_cancel_backend(%d)" % w.pid))
                got = w.query(text)
                t.join()
                took = time.monotonic() - begun
                check(0.4 < took < 5 * house.SLOW, text, "took", took)
                same(warned(got)[:2], ("WARNING", "57014"), text)
                contains(warned(got)[2], "has committed", "is lost if")
                same([k for k, _ in got if k == "E"], [], text)
                # So its session sees it, and another one of its process.
                for s in (w, other):
                    same(wire.texts(s.query("SELECT count(*) FROM t")), [(str((2, 2, 2, 1903)[i]),)])
            same(wire.texts(other.query("SELECT n FROM t WHERE id = 1")), [("1",)])
        same(wire.tags(w.query("INSERT INTO made VALUES (1)")), ["INSERT 0 1"])
        w.close()
        other.close()
        node.terminate()
        c.kill()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "1903")
        same(s.value("SELECT count(*) FROM made"), "1")
        s.close(0)


def test_two_wait():
    """While two wait, a cancel of one ends its wait alone: the other one waits on, and what reads goes on."""
    with House() as h:
        c, node, w = place(h)
        first, other = Wire(node.port, timeout=60), Wire(node.port, timeout=60)
        with hung(c.node[0]):
            got = []
            t = threading.Thread(target=lambda: got.extend(first.query("INSERT INTO t VALUES (10, 0)")))
            t.start()
            time.sleep(0.3)
            k = later(0.5, lambda: other.query("SELECT pg_cancel_backend(%d)" % w.pid))
            check(warned(w.query("INSERT INTO t VALUES (11, 0)")) is not None, "warned")
            k.join()
            begun = time.monotonic()
            for s in (other, w):
                same(wire.texts(s.query("SELECT n FROM t WHERE id = 1")), [("0",)])
            check(time.monotonic() - begun < 3 * house.SLOW, "reads go on")
            same(got, [])
        t.join()
        same(wire.tags(got), ["INSERT 0 1"])
        until(lambda: wire.texts(other.query("SELECT count(*) FROM t")) == [("3",)], 10, "all of it shows")
        for s in (w, first, other):
            s.close()
        node.terminate()


def test_cancelled_in_vain():
    """A disk that answers within 200 ms does so before a cancel counts: no WARNING, and what failed has left nothing."""
    with House() as h:
        c, node, w = place(h)
        other, stop = Wire(node.port, timeout=60), []

        def cancels():
            while not stop:
                other.query("SELECT pg_cancel_backend(%d)" % w.pid)
        t = threading.Thread(target=cancels)
        t.start()
        there, perhaps = [], []
        for i in range(100, 400):
            begun = time.monotonic()
            got = w.query("INSERT INTO t VALUES (%d, 0)" % i)
            slow = time.monotonic() - begun >= 0.2
            check(warned(got) is None or slow, "a warning:", warned(got))
            failed = [wire.fields(b)["C"] for k, b in got if k == "E"]
            check(failed in ([], ["57014"]), failed)
            (perhaps if warned(got) else [] if failed else there).append(i)
        stop.append(1)
        t.join()
        c.kill()
        node.kill()
        c.start()
        s = c.shell()
        got = [int(x) for x in s.ok("SELECT id FROM t WHERE id >= 100 ORDER BY id").split()[1:]]
        same([i for i in got if i not in perhaps], there)
        s.close(0)


def test_lost():
    """What the WARNING says may come true, and what was answered without one stays."""
    with House() as h:
        c, node, w = place(h)
        other = Wire(node.port, timeout=60)
        with hung(c.node[0]) as kill:
            t = later(0.5, lambda: other.query("SELECT pg_cancel_backend(%d)" % w.pid))
            check(warned(w.query("INSERT INTO t VALUES (10, 0)")) is not None, "warned")
            t.join()
            kill()
        node.kill()
        c.start()
        s = c.shell()
        same(s.ok("SELECT id FROM t ORDER BY id").split(), ["id", "1"])
        s.close(0)


def test_timeout():
    """statement_timeout does not end the wait of COMMIT, as in PostgreSQL; it ends that of nextval."""
    with House() as h:
        c, node, w = place(h)
        w.query("SET statement_timeout = 300")
        with hung(c.node[0]):
            begun = time.monotonic()
            t = later(1.5, lambda: None)
            got = w.query("SELECT nextval('q') FROM generate_series(1, 500)")
            same(wire.error(got)["C"], "57014")
            contains(wire.error(got)["M"], "statement timeout")
            check(time.monotonic() - begun < 1.4 * house.SLOW, "it ended in time")
            t.join()
            answered = []
            w.send("Q", b"INSERT INTO t VALUES (10, 0)\0")
            waiter = threading.Thread(target=lambda: answered.append(w.until("Z")))
            waiter.start()
            time.sleep(1)
            same(answered, [], "the answer waits for the disk")
        waiter.join(20 * house.SLOW)
        same(wire.tags(answered[0]), ["INSERT 0 1"])
        check(warned(answered[0]) is None, "no warning")
        w.close()


def test_terminated():
    """pg_terminate_backend ends a session that waits; SIGTERM ends the compute process within five seconds, with 0."""
    with House() as h:
        c, node, w = place(h)
        other = Wire(node.port, timeout=60)
        with hung(c.node[0]):
            w.send("Q", b"INSERT INTO t VALUES (10, 0)\0")
            time.sleep(0.3)
            begun = time.monotonic()
            other.query("SELECT pg_terminate_backend(%d)" % w.pid)
            got = w.until("E")
            check(time.monotonic() - begun < 3 * house.SLOW, "it ends soon")
            same(warned(got), None)
            same(wire.fields(got[-1][1])["C"], "08007", "no success without its disk")
            same(wire.fields(w.until("E")[-1][1])["C"], "57P01")
            other.send("Q", b"INSERT INTO t VALUES (11, 0)\0")
            time.sleep(0.3)
            begun = time.monotonic()
            node.terminate(seconds=6)
            same(wire.fields(other.until("E")[-1][1])["C"], "08007", "no success without its disk")
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "3")
        s.close(0)


def test_shell():
    """^C at the terminal."""
    with House() as h:
        c = durable.Cluster(h)
        h.storage = lambda: c.storage
        t = h.terminal("sql", "--storage", c.storage, "--secret-file", h.secret)
        t.expect("namdb=> ")
        t.send("CREATE TABLE t (x integer);\n")
        t.expect("CREATE TABLE\n")
        with hung(c.node[0]):
            t.send("INSERT INTO t VALUES (1);\n")
            time.sleep(0.7)
            t.send("\x03")
            t.expect("WARNING: .*has committed", seconds=5)
            t.expect("INSERT 0 1")
            t.send("SELECT count(*) AS there FROM t;\n")
            t.expect("there(.|\n)* 1\n")
        t.send("\\q\n")
        same(t.end(), 0)


def test_node_stands_still():
    """The whole storage node stands still under a COMMIT: SIGTERM ends the compute process; later the row is there, or is not."""
    with House(lease_ms=60000) as h:
        c, node, w = place(h)
        c.node[0].p.send_signal(signal.SIGSTOP)
        w.send("Q", b"INSERT INTO t VALUES (10, 10), (11, -10)\0")
        time.sleep(0.5)
        try:
            begun = time.monotonic()
            node.p.send_signal(signal.SIGTERM)
            same(node.p.wait(timeout=60 * house.SLOW), 0)
            check(time.monotonic() - begun < 6 or house.SANITIZE, "it ends within five seconds")
        finally:
            c.node[0].p.send_signal(signal.SIGCONT)
        w.close()
        s = c.shell()
        check(s.value("SELECT count(*) FROM t WHERE id > 1") in ("0", "2"), "half of it")
        s.close(0)


if __name__ == "__main__":
    house.main()
