#!/usr/bin/env python3
"""One storage node of several is lost: a cluster with a log restores itself when the node is back, without a hand."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import wire
from house import Compute, House, Node, check, contains, same, until
from wire import Wire

ROWS = 3000
WHOLE = [(str(ROWS), str(ROWS * (ROWS + 1) // 2))]


class Place:
    """Three storage nodes at ports that stay; the first ones have copies of the log."""

    def __init__(self, h, copies=1):
        self.h = h
        self.data = [os.path.join(h.dir, "data%d" % i) if i < copies else None for i in range(3)]
        self.node, self.ports = [None] * 3, [0] * 3
        for i in range(3):
            self.start(i)
        h.storage = lambda: ",".join("127.0.0.1:%d" % p for p in self.ports)

    def start(self, i, data=None):
        more = ("--data", data or self.data[i]) if self.data[i] else ()
        self.node[i] = Node(self.h, i + 1, "128m", listen="127.0.0.1:%d" % self.ports[i], more=more)
        self.ports[i] = self.node[i].port()

    def resets(self):
        return sum(n.text().count("the node resets its memory") for n in self.h.nodes)


def fill(port):
    w = Wire(port)
    wire.texts(w.query("CREATE TABLE t (id integer PRIMARY KEY, v text)"))
    wire.texts(w.query("CREATE INDEX t_v ON t (v)"))
    same(wire.tags(w.query("INSERT INTO t SELECT i, 'v' || i FROM generate_series(1, %d) i" % ROWS)), ["INSERT 0 %d" % ROWS])
    return w


def whole(port):
    """Is the database there? A process that has not seen the loss yet may answer an error."""
    try:
        w = Wire(port, timeout=60)
        got = wire.texts(w.query("SELECT count(*), sum(id) FROM t WHERE id + 0 > 0 AND id <= %d" % ROWS))
        same(got, WHOLE)
        same(wire.texts(w.query("SELECT id FROM t WHERE v = 'v77'")), [("77",)])
        w.close()
        return True
    except (OSError, EOFError):
        return False
    except AssertionError as e:
        check(any(c in str(e) for c in ("58030", "57P01", "57P03")), str(e))
        return False


def comes_back(fabric):
    with House() as h:
        p = Place(h)
        some = [Compute(h, fabric=fabric), Compute(h, fabric=fabric)]
        w = fill(some[0].port)
        for i in (2, 0, 1):
            before = p.resets()
            p.node[i].kill()
            p.start(i)
            for c in some:
                until(lambda c=c: whole(c.port) and "connected to the cluster again" in c.text(), 60, "it is restored")
            check(p.resets() - before >= 2, "the other two nodes reset their memory")
            check(w.ended() is not None, "the session of the life before has ended")
            w = Wire(some[0].port, timeout=60)
            wire.texts(w.query("INSERT INTO t VALUES (%d, 'more')" % (ROWS + 1 + i)))
        until(lambda: wire.texts(w.query("SELECT count(*) FROM t WHERE v = 'more'")) == [("3",)], 10, "what came between")
        w.close()
        for c in some:
            c.terminate()


def test_shm():
    comes_back("shm")


def test_tcp():
    comes_back("tcp")


def lost(p, i, *among):
    """An operator says it of node i + 1."""
    nodes = ",".join("127.0.0.1:%d" % p.ports[k] for k in (among or range(3)))
    return house.run("node", "lost", str(i + 1), "--storage", nodes, "--secret-file", p.h.secret, env=p.h.env)


def goes_on(copies, order, fabric="shm"):
    """Nodes are lost for good, one after the other, while clients pay; two copies are left of three, then one."""
    with House() as h:
        p = Place(h, copies=copies)
        c = Compute(h, fabric=fabric)
        w = fill(c.port)
        told, living = set(), {0, 1, 2}
        for turn, i in enumerate(order):
            n = 0
            try:
                for n in range(10 ** 6 * (turn + 1), 10 ** 6 * (turn + 2)):
                    if n % 10 ** 6 == 200:
                        p.node[i].kill()
                    if wire.tags(w.query("INSERT INTO t VALUES (%d, 'paid')" % n)) != ["INSERT 0 1"]:
                        break
                    told.add(n)
            except (OSError, EOFError):
                pass
            check(n % 10 ** 6 >= 200, "clients paid until the node ended")
            until(lambda: "cannot connect to the cluster again yet" in c.text(), 30, "the process waits")
            living.discard(i)
            r = lost(p, i).ok()
            contains(r.out, "has noted that node %d is lost for good" % (i + 1))
            until(lambda: whole(c.port), 60, "it goes on with %s" % living)
            w = Wire(c.port, timeout=60)
            there = {int(r[0]) for r in wire.texts(w.query("SELECT id FROM t WHERE v = 'paid'"))}
            same(told - there, set(), "what the client was told is there")
        among = ",".join("127.0.0.1:%d" % p.ports[k] for k in sorted(living))
        same(h.do("SELECT count(*), sum(id) FROM t WHERE id <= %d" % ROWS, storage=among).ok().rows(), WHOLE)
        w.close()
        c.terminate()


def test_two_copies():
    for i in (0, 1, 2):
        goes_on(2, [i])


def test_three_copies():
    goes_on(3, [0, 2], "tcp")


def test_old_copy():
    """A copy that was left behind is not taken for the database, and is brought up to it."""
    with House() as h:
        p = Place(h, copies=2)
        c = Compute(h)
        fill(c.port).close()
        p.node[1].kill()
        until(lambda: "cannot connect" in c.text(), 30, "the process waits")
        lost(p, 1).ok()
        until(lambda: whole(c.port), 60, "it goes on")
        w = Wire(c.port, timeout=60)
        same(wire.tags(w.query("INSERT INTO t VALUES (100000, 'later')")), ["INSERT 0 1"])
        w.close()
        # It is back, but not of this cluster.
        p.start(1)
        r = h.do("SELECT 1", storage=h.storage())
        r.fails()
        contains(r.err, "not part of the cluster", "node 2", "leave that out of --storage")
        c.kill()
        for n in p.node:
            n.kill()
        p.start(1)
        r = h.do("SELECT 1", storage=p.node[1].address)
        r.fails()
        contains(r.err, "storage node 1 has a copy of the database of node 2", "namdb node lost 1")
        p.start(0)
        p.start(2)
        same(h.do("SELECT v FROM t WHERE id = 100000", storage=h.storage()).ok().value(), "later")
        # Now the second copy has it as well.
        for n in p.node:
            n.kill()
        p.start(1)
        lost(p, 0, 1).ok()
        same(h.do("SELECT v FROM t WHERE id = 100000", storage=p.node[1].address).ok().value(), "later")


def test_said_of_a_node_that_is_not():
    with House() as h:
        p = Place(h, copies=2)
        r = lost(p, 2)
        r.fails()
        contains(r.err, "answers at")
        p.node[2].kill()
        r = lost(p, 2)
        r.fails()
        contains(r.err, "no node that answers has the database")
        p.start(2)
        c = Compute(h)
        fill(c.port).close()
        p.node[2].kill()
        for words, code in ((["node", "lost", "9"], 1), (["node", "lost"], 2), (["node", "lost", "x"], 2), (["node", "found", "2"], 2),
                            (["node", "lost", "0"], 2), (["node", "lost", "1024"], 2)):
            house.run(*words, "--storage", h.storage(), "--secret-file", h.secret, env=h.env).fails(code)
        contains(lost(p, 2).ok().out, "storage node 1", "storage node 2")
        lost(p, 2).ok()  # said twice, it is true once
        until(lambda: whole(c.port), 60, "it goes on")
        c.terminate()


def test_first_process():
    """No process lived through it: the first one that comes has the nodes reset their memory."""
    with House() as h:
        p = Place(h)
        c = Compute(h)
        fill(c.port).close()
        c.kill()
        p.node[1].kill()
        p.start(1)
        same(h.do("SELECT count(*), sum(id) FROM t", storage=h.storage()).ok().rows(), WHOLE)


def test_stopped_process():
    """A process that stands still meanwhile is a process of the life before: its sessions end, its open work is gone."""
    with House() as h:
        p = Place(h)
        stopped, other = Compute(h, fabric="tcp"), Compute(h, fabric="tcp")
        w = fill(stopped.port)
        wire.texts(w.query("BEGIN"))
        wire.texts(w.query("UPDATE t SET v = 'never' WHERE id = 77"))
        stopped.p.send_signal(signal.SIGSTOP)
        p.node[2].kill()
        p.start(2)
        until(lambda: whole(other.port) and "connected to the cluster again" in other.text(), 60, "the other one restores")
        stopped.p.send_signal(signal.SIGCONT)
        got = w.query("COMMIT") if not w_ended(w) else []
        check(not any(m[0] == "C" for m in got), "its transaction is gone:", got)
        until(lambda: whole(stopped.port) and "connected to the cluster again" in stopped.text(), 60, "it comes back")
        stopped.terminate()
        other.terminate()


def test_stopped_process_and_lost_node():
    """A process that stands still while a node is lost, and the others go on, finds them later."""
    with House() as h:
        p = Place(h, copies=2)
        stopped, other = Compute(h, fabric="tcp"), Compute(h, fabric="tcp")
        fill(stopped.port).close()
        stopped.p.send_signal(signal.SIGSTOP)
        p.node[0].kill()
        until(lambda: "cannot connect" in other.text(), 30, "the other process waits")
        lost(p, 0).ok()
        until(lambda: whole(other.port), 60, "the other one goes on")
        stopped.p.send_signal(signal.SIGCONT)
        until(lambda: whole(stopped.port), 60, "it comes back")
        contains(stopped.text(), "storage node 1", "is lost for good")
        stopped.terminate()
        other.terminate()


def w_ended(w):
    """Waits for a second whether the session ends by itself."""
    w.s.settimeout(1)
    try:
        while True:
            w.get()
    except (EOFError, ConnectionResetError):
        return True
    except OSError:
        w.s.settimeout(60)
        return False


def test_other_directory():
    """The node of the log comes back with an empty directory: nothing is thrown away, and the right one is asked for."""
    with House() as h:
        p = Place(h)
        c = Compute(h)
        fill(c.port).close()
        before = p.resets()
        p.node[0].kill()
        p.start(0, data=os.path.join(h.dir, "other"))
        r = h.do("SELECT count(*) FROM t", storage=h.storage())
        r.fails()
        contains(r.err, "came back without the database", "start it with the --data that it had")
        same(p.resets(), before, "no node reset its memory")
        p.node[0].kill()
        p.start(0)
        until(lambda: whole(c.port), 60, "the database is restored")
        c.terminate()


def test_home_dies_while_it_restores():
    """The home, which has the log, is killed again in the middle of the restore: the next start restores."""
    with House() as h:
        p = Place(h)
        c = Compute(h)
        w = fill(c.port)
        for i in range(1, int(6 / house.SLOW) + 2):
            wire.texts(w.query("INSERT INTO t SELECT i + %d, 'more' FROM generate_series(1, 50000) i" % (i * 100000)))
        w.close()
        p.node[0].kill()
        p.start(0)
        until(lambda: len({f[:12] for f in os.listdir(p.data[0]) if f.startswith("log-")}) > 1, 60, "a new life is written")
        p.node[0].kill()
        p.start(0)
        until(lambda: whole(c.port), 120, "the database is restored")
        c.terminate()


def test_a_node_of_others_is_named():
    """A node with a member's id at another address: another cluster's, or an empty one. Nothing is reset."""
    with House() as h:
        p = Place(h)
        c = Compute(h)
        fill(c.port).close()
        mine = h.storage()
        other = Node(h, 3, "128m")
        short = ",".join(mine.split(",")[:2] + [other.address])
        r = h.do("SELECT 1", storage=short)
        r.fails()
        contains(r.err, "storage node 3", "is empty, and the cluster's node 3 was at")
        # Also beside a member that did come back empty, while nobody with the right list looks.
        c.p.send_signal(signal.SIGSTOP)
        p.node[1].kill()
        p.start(1)
        r = h.do("SELECT 1", storage=short)
        r.fails()
        contains(r.err, "storage node 3", "is empty, and the cluster's node 3 was at")
        same(p.resets(), 0)
        c.p.send_signal(signal.SIGCONT)
        until(lambda: "connected to the cluster again" in c.text() and whole(c.port), 60, "the process with the right list restores")
        before = p.resets()
        h.do("CREATE TABLE theirs (x integer)", storage=other.address).ok()
        r = h.do("SELECT 1", storage=short)
        r.fails()
        contains(r.err, "belong to different clusters")
        same(p.resets(), before)
        check(whole(c.port), "nothing has happened to the cluster")
        h.do("SELECT * FROM theirs", storage=other.address).ok()
        c.terminate()


def test_said_to_some():
    """Each copy has to note the loss, also if it is not named; a running node is not lost, also if it is not named."""
    with House() as h:
        p = Place(h, copies=3)
        c = Compute(h)
        fill(c.port).close()
        r = lost(p, 2, 0, 1)
        r.fails()
        contains(r.err, "storage node 3 answers at")
        p.node[0].kill()
        r = lost(p, 0, 2)
        r.fails()
        contains(r.err, "storage node 2 has a copy of the database, too")
        lost(p, 0, 1, 2).ok()
        until(lambda: whole(c.port), 60, "it goes on")
        c.terminate()


def test_without_log():
    """Without a log no node resets its memory: what the others have stays."""
    with House() as h:
        p = Place(h, copies=0)
        c = Compute(h)
        fill(c.port).close()
        p.node[2].kill()
        p.start(2)
        time.sleep(1)
        contains(h.do("SELECT 1", storage=h.storage()).err, "came back empty: what lay there is lost")
        same(p.resets(), 0)


def test_told_to_end_meanwhile():
    """SIGTERM ends a node also while it resets its memory."""
    with House() as h:
        for turn in range(3):
            p = Place(h)
            c = Compute(h)
            w = Wire(c.port)
            w.query("CREATE TABLE IF NOT EXISTS t (id integer PRIMARY KEY)")
            w.close()
            p.node[2].kill()
            p.start(2)
            until(lambda: p.resets() > 0 or "connected to the cluster again" in c.text(), 60, "it begins")
            time.sleep(0.01 * turn)
            for n in p.node:
                same(n.terminate(20), 0)
            c.kill()
            h.nodes.clear()


if __name__ == "__main__":
    house.main()
