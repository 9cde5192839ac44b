#!/usr/bin/env python3
"""A cluster whose log has copies on several storage nodes: what was committed is there on each; a copy that may be old is not taken by itself."""
import os
import shutil
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, Node, check, contains, run, same


class Copies:
    """Storage nodes that each keep a copy in a directory."""

    def __init__(self, h, nodes=2):
        self.h, self.n = h, nodes
        self.data = [os.path.join(h.dir, "data-%d" % (i + 1)) for i in range(nodes)]
        self.start()

    def start(self, *only):
        """All nodes, or those."""
        self.h.nodes.clear()
        self.node = [Node(self.h, i + 1, "128m", more=("--data", self.data[i])) for i in range(self.n)
                     if not only or i + 1 in only]
        self.storage = ",".join(n.address for n in self.node)

    def kill(self):
        for n in self.node:
            n.kill()

    def stop(self):
        for n in self.node:
            same(n.terminate(), 0, "storage node's exit code")

    def shell(self, fabric="shm"):
        s = self.h.shell(fabric=fabric, storage=self.storage)
        s.ok("SELECT 1", timeout=120)
        return s

    def refuses(self, *what):
        r = self.h.do("SELECT 1", storage=self.storage)
        r.fails()
        contains(r.err, *what)


def writes(c, s, done, number):
    """Until the cluster is gone. done: what was answered."""
    i = 0
    while True:
        i += 1
        try:
            out = s.do("INSERT INTO t VALUES (%d, %d)" % (number, i))
        except (AssertionError, OSError):
            return
        if "ERROR" in out:
            return
        done.append((number, i))


def test_killed():
    """All processes are killed under load, again and again."""
    with House() as h:
        c = Copies(h)
        s = c.shell()
        s.ok("CREATE TABLE t (w integer, i integer, PRIMARY KEY (w, i))")
        home = h.status()[1]
        same((home["log_node"], home["log_nodes"]), (1, [1, 2]), "the log's copies")
        s.close(0)
        done = []
        for turn in range(3):
            shells = [c.shell(fabric) for fabric in ("shm", "tcp", "shm")]
            threads = [threading.Thread(target=writes, args=(c, s, done, 3 * turn + k)) for k, s in enumerate(shells)]
            for t in threads:
                t.start()
            before = len(done)
            house.until(lambda: len(done) > before + 200, 60, "some commits")
            for n in c.node[::1 if turn % 2 else -1]:
                n.kill()
            for t in threads:
                t.join()
            for s in shells:
                s.close()
            c.start()
            s = c.shell()
            there = set(tuple(int(x) for x in line.split(",")) for line in s.ok("SELECT w, i FROM t").split()[1:])
            check(set(done) <= there, "answered, and not there:", sorted(set(done) - there)[:10])
            check(len(there) <= len(done) + 3 * (turn + 1), "too many rows", len(there), len(done))
            s.close(0)
        c.stop()


def test_stalls():
    """One of the nodes stands still for a while: commits wait, and none is lost."""
    with House(lease_ms=20000) as h:
        c = Copies(h, 3)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY)")
        for i, n in enumerate(c.node):
            n.p.send_signal(signal.SIGSTOP)
            s.send("INSERT INTO t VALUES (%d);" % i)
            s.send("\\echo over")
            time.sleep(2)
            n.p.send_signal(signal.SIGCONT)
            check("ERROR" not in s.read_until(b"over\n", 60), "an INSERT beside node %d" % (i + 1))
        c.kill()
        s.drop()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "3")
        s.close(0)


def test_missing():
    """One copy alone may be an old one: it is refused. A new disk gets a copy when an operator has said that the old one is lost."""
    with House() as h:
        c = Copies(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY)")
        s.ok("INSERT INTO t SELECT generate_series(1, 1000)")
        s.close(0)
        c.kill()
        for there, missing in ((1, 2), (2, 1)):
            c.start(there)
            c.refuses("storage node %d has a copy of the database of node %d" % (missing, there), "start it",
                      "namdb node lost %d" % missing)
            c.stop()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "1000")
        s.ok("INSERT INTO t VALUES (1001)")
        s.close(0)
        c.kill()
        for broken in (0, 1):
            shutil.rmtree(c.data[broken])
            c.start()
            c.refuses("was started without it: start it with the --data that it had", "namdb node lost %d" % (broken + 1))
            c.kill()
            c.start(2 - broken)
            house.run("node", "lost", str(broken + 1), "--storage", h.storage(), "--secret-file", h.secret, env=h.env).ok()
            c.kill()
            c.start()
            s = c.shell()
            same(s.value("SELECT count(*) FROM t"), "%d" % (1001 + broken))
            s.ok("INSERT INTO t VALUES (%d)" % (1002 + broken))
            s.close(0)
            c.kill()


def test_databases():
    """Directories of two databases; copies of one that have each gone on by themselves."""
    with House() as h:
        c = Copies(h)
        c.stop()
        for i in (1, 2):
            c.start(i)
            s = c.shell()
            s.ok("CREATE TABLE t%d (x integer)" % i)
            s.close(0)
            c.stop()
        c.start()
        c.refuses("both have a database")
        c.stop()
        # A copy of a directory is no copy of the log: its node has another id.
        shutil.rmtree(c.data[1])
        shutil.copytree(c.data[0], c.data[1])
        other = Node(h, 2, "64m", expect=False, more=("--data", c.data[1]))
        same(other.p.wait(timeout=20 * house.SLOW), 1, "another node's directory")


def test_checkpoint_and_backup():
    """A checkpoint cuts both copies off; a backup is made of one, and restored for one node."""
    with House() as h:
        c = Copies(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        s.ok("INSERT INTO t SELECT i, repeat('x', 900) FROM generate_series(1, 2000) i")
        for _ in range(3):
            s.ok("UPDATE t SET b = b || 'y'")
        s.ok("CHECKPOINT", timeout=60)
        for i in (1, 2):
            check(h.status()[i]["log"]["begin"] > 0, "the copy of node %d begins later" % i, h.status())
        s.ok("INSERT INTO t VALUES (2001, 'z')")
        to = os.path.join(h.dir, "backup")
        run("backup", "--storage", c.storage, "--secret-file", h.secret, to, env=h.env).ok()
        s.ok("INSERT INTO t VALUES (2002, 'z')")
        s.close(0)
        c.stop()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "2002")
        s.close(0)
        c.stop()
        restored = os.path.join(h.dir, "restored")
        run("restore", "--id", "1", "--data", restored, to, env=h.env).ok()
        c.data[0] = restored
        # It is a database of its own: an older copy of what it was made of does not belong to it.
        c.start()
        c.refuses("both have a database")
        c.stop()
        shutil.rmtree(c.data[1])
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "2001")
        s.close(0)
        c.stop()


if __name__ == "__main__":
    house.main()
