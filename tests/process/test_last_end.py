#!/usr/bin/env python3
"""The last process of a cluster with a log ends cleanly: it makes a checkpoint before, if the log has grown by much; nothing holds its end up."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import test_durable as durable
from house import Compute, House, check, contains, same, skip
from test_checkpoint import begin
from test_embedded import home
from wire import Wire

ROWS = 2000


def make(s):
    s.ok("CREATE TABLE t (id integer PRIMARY KEY, n integer, b text)")
    s.ok("INSERT INTO t SELECT i, 0, repeat('x', 900) FROM generate_series(1, %d) i" % ROWS)


def grow(s, times=10):
    """The log grows by 18 MiB, and the database by nothing."""
    for _ in range(times):
        s.ok("UPDATE t SET n = n + 1", timeout=60)


def test_shell():
    """It is made if the log has grown by much, and not else; what is restored behind it is what was there."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        make(s)
        grow(s, 2)
        s.close(0)
        same(begin(c), 0, "the log has grown by little")
        s = c.shell()
        grow(s)
        s.close(0)
        first = begin(c)
        check(first > 0, "the log begins later")
        s = c.shell()
        s.ok("UPDATE t SET n = n - 1 WHERE id = 7")
        s.close(0)
        same(begin(c), first, "nothing was worth it")
        c.stop()
        c.start()
        s = c.shell()
        same(s.ok("SELECT n, count(*) FROM t GROUP BY n ORDER BY n").split(), ["n,count", "11,1", "12,%d" % (ROWS - 1)])
        s.close(0)


def test_directory():
    """The last shell on a directory; its node ends by itself behind it."""
    with home() as (h, d):
        s = d.shell()
        make(s)
        grow(s)
        s.close(0)
        d.data = d.path
        check(begin(d) > 0, "the log begins later")
        d.kill()
        same(d.sql("SELECT count(*) FROM t WHERE n = 10").value(), "2000")


def test_not_the_last():
    """Another process goes on, so none is made; the last one makes it."""
    with House() as h:
        c = durable.Cluster(h)
        s, other = c.shell(), c.shell()
        make(s)
        grow(s)
        s.close(0)
        same(begin(c), 0, "another process is there")
        other.close(0)
        check(begin(c) > 0, "the last one has made it")


def test_compute():
    """SIGTERM ends a compute node, and its open transaction is not in the checkpoint."""
    with House() as h:
        c = durable.Cluster(h)
        h.storage = lambda: c.storage
        s = c.shell()
        make(s)
        grow(s)
        node = Compute(h)
        s.close(0)
        same(begin(c), 0, "the compute node is there")
        w = Wire(node.port)
        w.query("BEGIN")
        w.query("UPDATE t SET n = -1")
        node.terminate()
        check(begin(c) > 0, "the compute node has made it")
        c.kill()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t WHERE n = 10"), str(ROWS))
        s.close(0)


def test_together():
    """Compute nodes that are told to end at the same moment: one of them is the last."""
    with House() as h:
        c = durable.Cluster(h)
        h.storage = lambda: c.storage
        s = c.shell()
        make(s)
        for turn in range(4):
            was = begin(c)
            nodes = [Compute(h) for _ in range(3)]
            grow(s)
            s.close(0)
            same(begin(c), was, "the compute nodes are there")
            for n in nodes:
                n.p.send_signal(signal.SIGTERM)
            for n in nodes:
                same(n.p.wait(timeout=20 * house.SLOW), 0)
            check(begin(c) > was, "one of them has made it")
            s = c.shell()
        s.close(0)


def test_by_checkpoint_alone():
    """--checkpoint-size 0: none but CHECKPOINT's."""
    with House() as h:
        c = durable.Cluster(h)
        c.kill()
        c.node = [house.Node(h, 1, "128m", more=("--data", c.data, "--checkpoint-size", "0"))]
        c.storage = c.node[0].address
        s = c.shell()
        make(s)
        grow(s)
        s.close(0)
        same(begin(c), 0)


def ends_beside(c, p, what, most):
    """p ends within `most` seconds while the storage node stands still behind `what`."""
    c.node[0].p.send_signal(signal.SIGSTOP)
    try:
        begun = time.monotonic()
        what()
        p.wait(timeout=60 * house.SLOW)
        took = time.monotonic() - begun
    finally:
        c.node[0].p.send_signal(signal.SIGCONT)
    check(took < most * house.SLOW or house.SANITIZE, "it took", took)
    return took


def test_node_hangs():
    """The storage node stands still: the processes end all the same, a compute node within five seconds, and nothing is lost."""
    for kind in ("shell", "compute"):
        with House(lease_ms=60000) as h:
            c = durable.Cluster(h)
            h.storage = lambda: c.storage
            s = c.shell("tcp")
            make(s)
            grow(s)
            if kind == "shell":
                ends_beside(c, s.p, lambda: s.p.stdin.close(), 9)
                s.drop()
            else:
                node = Compute(h, fabric="tcp")
                s.close(0)
                ends_beside(c, node.p, lambda: node.p.send_signal(signal.SIGTERM), 6)
                same(node.p.returncode, 0)
            c.kill()
            c.start()
            s = c.shell()
            same(s.value("SELECT count(*) FROM t WHERE n = 10"), str(ROWS))
            s.close(0)


def test_told_again():
    """A second signal gives the checkpoint up: the process ends soon, with 0, and the log begins where it did."""
    with House() as h:
        c = durable.Cluster(h, size="1g")
        h.storage = lambda: c.storage
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        s.ok("INSERT INTO t SELECT i, repeat(md5(i::text), 90) FROM generate_series(1, 40000) i", timeout=120)
        node = Compute(h)
        s.close(0)
        node.p.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        node.p.send_signal(signal.SIGINT)
        same(node.p.wait(timeout=20 * house.SLOW), 0)
        same(begin(c), 0, "it was given up")
        # So much is written within the time that there is.
        node = Compute(h)
        node.terminate()
        check(begin(c) > 0 or house.SANITIZE, "without the second one it is made")
        c.kill()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "40000")
        s.close(0)


def test_joined_meanwhile():
    """Processes come and go beside a last one that ends: none is disturbed, no row is lost."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        make(s)
        want = 0
        for turn in range(6):
            grow(s)
            want += 10
            s.p.stdin.close()
            time.sleep(0.01 * turn)
            other = c.shell()
            other.ok("UPDATE t SET n = n + 100 WHERE id = %d" % (turn + 1))
            same(s.p.wait(timeout=30 * house.SLOW), 0)
            s.drop()
            s = other
        same(s.value("SELECT count(*) FROM t WHERE n = %d" % want), str(ROWS - 6))
        s.close(0)
        check(begin(c) > 0, "one of them made one")
        c.kill()
        c.start()
        s = c.shell()
        same(s.value("SELECT sum(n) FROM t"), str(ROWS * want + 600))
        s.close(0)


def test_full_disk():
    """No room for the checkpoint: the shell ends soon, and the database is whole."""
    with House() as h:
        place = os.path.join(h.dir, "data")
        os.mkdir(place)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "none", place], capture_output=True).returncode != 0:
            skip("this user cannot mount a file system")
        try:
            c = durable.Cluster(h)
            s = c.shell()
            make(s)
            grow(s)
            with open(os.path.join(place, "ballast"), "wb") as f:
                try:
                    while True:
                        f.write(bytes(1 << 20))
                        f.flush()
                except OSError:
                    pass
            # What does not become shorter when it is compressed.
            full = "UPDATE t SET b = (SELECT string_agg(md5(random()::text || t.id || g), '') FROM generate_series(1, 29) g)"
            check(any("53100" in s.do(full, 60) for _ in range(150)), "the disk is full")
            begun = time.monotonic()
            s.close(1)  # a statement has failed
            check(time.monotonic() - begun < 4 * house.SLOW, "the end was held up")
            c.kill()
            os.unlink(os.path.join(place, "ballast"))
            c.start()
            s = c.shell()
            same(s.value("SELECT count(*) FROM t WHERE n = 10"), str(ROWS))
            s.close(0)
        finally:
            for n in h.nodes:
                n.kill()
            subprocess.run(["umount", "-l", place], capture_output=True)


if __name__ == "__main__":
    house.main()
