#!/usr/bin/env python3
"""A compute process outlives its storage nodes: its clients are told, and it serves them again when the nodes are back."""
import json
import os
import random
import re
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, Node, check, contains, same, until
import wire
from wire import Wire


class Place:
    """A storage node with a directory, at one port, and a compute process."""

    def __init__(self, h, *more, fabric="shm", size="256m", data=True):
        self.h, self.size = h, size
        self.more = ("--data", os.path.join(h.dir, "data")) if data else ()
        self.node = Node(h, 1, size, more=self.more)
        self.port = self.node.port()
        h.storage = lambda: "127.0.0.1:%d" % self.port
        self.compute = Compute(h, *more, fabric=fabric)

    def start(self):
        self.node = Node(self.h, 1, self.size, listen="127.0.0.1:%d" % self.port, more=self.more)

    def knock(self):
        """A client that comes: None, or the SQLSTATE and the text that it is told."""
        w = Wire(self.compute.port, start=False)
        w.startup(user="namdb", database="namdb")
        try:
            got = w.until("Z", "E")
        except (OSError, EOFError, AssertionError) as e:
            return ("08006", str(e))
        finally:
            w.close()
        f = wire.fields(got[-1][1]) if got[-1][0] == "E" else None
        return f and (f["C"], f["M"])

    def serves(self, seconds=60):
        until(lambda: self.knock() is None, seconds, "clients are served again")
        return Wire(self.compute.port)


def comes_back(fabric):
    with House() as h:
        p = Place(h, "--metrics", "0", fabric=fabric)
        page = re.search(r"metrics at (http://[^ ]+)/metrics", p.compute.text()).group(1)
        w = Wire(p.compute.port)
        w.query("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        w.query("CREATE SEQUENCE q")
        w.query("INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 5000) i")
        number = 0
        for turn in range(3):
            w.query("CREATE TEMPORARY TABLE mine (x integer)")
            w.query("PREPARE p AS SELECT count(*) FROM t")
            w.query("LISTEN news")
            number = int(wire.texts(w.query("SELECT nextval('q')"))[0][0])
            w.query("BEGIN")
            w.query("UPDATE t SET v = 'never' WHERE id = 1")
            w.query("DECLARE c CURSOR FOR SELECT * FROM t")
            p.node.kill()
            until(lambda: "starting up" in (p.knock() or ("", ""))[1], 30, "the node is away")
            same(p.knock()[0], "57P03")
            try:
                urllib.request.urlopen(page + "/health", timeout=20 * house.SLOW)
                check(False, "/health while the node is away")
            except urllib.error.HTTPError as e:
                same(e.code, 503)
                contains(e.read().decode(), "the database is not open yet")
            with urllib.request.urlopen(page + "/metrics", timeout=20 * house.SLOW) as r:
                contains(r.read().decode(), "\nnamdb_open 0\n", "\nnamdb_restored_ratio ")
            check("127.0.0.1" not in p.knock()[1], "no address is told to strangers")
            check(w.ended(), "the session has ended")
            p.start()
            w = p.serves()
            same(wire.texts(w.query("SELECT count(*), min(v) FROM t WHERE id < 5001")), [("5000", "row 1")])
            same(wire.error(w.query("EXECUTE p"))["C"], "26000")
            same(wire.error(w.query("SELECT * FROM mine"))["C"], "42P01")
            check(int(wire.texts(w.query("SELECT nextval('q')"))[0][0]) > number, "numbers are not given out again")
            w.query("INSERT INTO t VALUES (%d, 'more')" % (6000 + turn))
            same(wire.texts(w.query("SELECT count(*) FROM t WHERE id >= 6000")), [(str(turn + 1),)])
            with urllib.request.urlopen(page + "/health", timeout=20 * house.SLOW) as r:
                same(r.status, 200)
        w.close()
        contains(p.compute.text(), "connected to the cluster again")
        p.compute.terminate()


def test_comes_back_shm():
    comes_back("shm")


def test_comes_back_tcp():
    comes_back("tcp")


def test_without_data():
    """A cluster without a log comes back empty, and the process says so."""
    with House() as h:
        p = Place(h, data=False)
        w = Wire(p.compute.port)
        w.query("CREATE TABLE t (id integer PRIMARY KEY)")
        p.node.kill()
        p.start()
        w = p.serves()
        same(wire.error(w.query("SELECT * FROM t"))["C"], "42P01")
        w.query("CREATE TABLE t (id integer PRIMARY KEY)")
        w.query("INSERT INTO t VALUES (1)")
        same(wire.texts(w.query("SELECT * FROM t")), [("1",)])
        w.close()
        p.compute.terminate()


def test_ended_while_away():
    """SIGTERM ends a process that waits for its nodes."""
    with House() as h:
        p = Place(h)
        p.node.kill()
        until(lambda: "cannot connect to the cluster again yet" in p.compute.text(), 30, "it waits")
        p.compute.terminate()


def test_fenced():
    """A process that was stopped for longer than its lease, and recovered by another one, is a new process afterwards."""
    with House(lease_ms=1000) as h:
        p = Place(h, fabric="tcp") # one that has the node's memory mapped would be killed
        other = Compute(h)
        w = Wire(p.compute.port)
        w.query("CREATE TABLE t (id integer PRIMARY KEY, n integer)")
        w.query("INSERT INTO t VALUES (1, 0)")
        w.query("BEGIN")
        w.query("UPDATE t SET n = 1")
        p.compute.p.send_signal(signal.SIGSTOP)
        o = Wire(other.port, timeout=60)
        w2 = o.query("UPDATE t SET n = n + 10")
        check(wire.tags(w2) == ["UPDATE 1"], "the other process recovers the row:", w2)
        p.compute.p.send_signal(signal.SIGCONT)
        until(lambda: "connected to the cluster again" in p.compute.text(), 60, "it comes back")
        check(w.ended(), "its session has ended")
        w = p.serves()
        same(wire.texts(w.query("SELECT n FROM t")), [("10",)])
        w.query("UPDATE t SET n = n + 1")
        # Another process sees a commit a moment later.
        until(lambda: wire.texts(o.query("SELECT n FROM t")) == [("11",)], 10, "the other process sees it")
        w.close()
        o.close()
        p.compute.terminate()
        other.terminate()


def large(h):
    """A database whose restore takes a while; a sanitizer's build takes as long for fewer rows."""
    rows = int(30 / house.SLOW) * 20000
    p = Place(h, size="1g")
    w = Wire(p.compute.port, timeout=300)
    w.query("CREATE TABLE big (id integer PRIMARY KEY, a bigint, b text)")
    w.query("CREATE INDEX big_a ON big (a)")
    for i in range(0, rows, 20000):
        same(wire.tags(w.query("INSERT INTO big SELECT i, i * 7, 'text ' || i FROM generate_series(%d, %d) i" % (i, i + 19999))),
             ["INSERT 0 20000"])
    w.close()
    return p, rows


def test_percentage():
    """Clients that come during a restore are told how far it is, by the process that restores and by one that waits for it."""
    with House() as h:
        p, rows = large(h)
        other = Compute(h)
        p.node.kill()
        told, words = {p.compute.port: set(), other.port: set()}, re.compile("starting up: ([0-9]+) % of the database is restored")
        p.start()
        ports = list(told)
        deadline = time.monotonic() + 120 * house.SLOW
        while ports and time.monotonic() < deadline:
            for port in list(ports):
                p.compute.port = port
                said = p.knock()
                if said is None:
                    ports.remove(port)
                elif words.search(said[1]):
                    same(said[0], "57P03")
                    told[port].add(int(words.search(said[1]).group(1)))
            time.sleep(0.01)
        same(ports, [], "both serve")
        check(any(len(v) >= 2 for v in told.values()), "a percentage that rises:", told)
        w = Wire(other.port, timeout=120)
        same(wire.texts(w.query("SELECT count(*), sum(a) FROM big")), [(str(rows), str(7 * rows * (rows - 1) // 2))])
        w.close()


def test_ended_while_it_restores():
    """A restore that is ended, by SIGTERM, by ^C or by kill -9, is begun again by the next process."""
    with House() as h:
        p, rows = large(h)
        p.compute.terminate()

        def used():
            return json.loads(house.run("status", "--storage", h.storage(), "--secret-file", h.secret, "--json").ok().out)[0]["in_use"]
        p.node.kill()
        p.start()
        s = h.shell()
        s.ok("SELECT 1", timeout=120)
        s.close(0)
        whole = used()
        for how in ("term", "int", "kill"):
            p.node.kill()
            p.start()
            begun = time.monotonic()
            if how == "int":
                s = house.Terminal(house.NAMDB, "sql", "--storage", h.storage(), "--secret-file", h.secret)
                time.sleep(0.3 * house.SLOW)
                s.send("\x03")
                s.end()
            else:
                c = Compute(h, expect=False)
                c.port = 0
                time.sleep(0.3 * house.SLOW)
                if how == "term":
                    c.terminate(seconds=5)
                else:
                    c.kill()
            check(time.monotonic() - begun < 10 * house.SLOW, how, "ends it soon")
            s = h.shell()
            s.ok("SELECT 1", timeout=120) # what is said of the restore
            same(s.value("SELECT count(*) FROM big"), str(rows))
            same(s.value("SELECT count(*) FROM big WHERE a BETWEEN 700 AND 1400"), "101")
            # What the one that was ended had made has gone back.
            until(lambda: used() < 1.1 * whole, 20, "memory in use after " + how)
            s.close(0)


class Payer(threading.Thread):
    """Moves money, and connects again whenever it is told to."""

    def __init__(self, port, number, accounts):
        super().__init__(daemon=True)
        self.port, self.number, self.accounts = port, number, accounts
        self.dice, self.done, self.stop, self.odd = random.Random(number), [], False, []

    def run(self):
        w, n = None, 0
        while not self.stop:
            try:
                if w is None:
                    w = Wire(self.port)
                n += 1
                a, b = self.dice.sample(range(self.accounts), 2)
                got = w.query("BEGIN; UPDATE account SET n = n - 1 WHERE id = %d; UPDATE account SET n = n + 1 WHERE id = %d; "
                              "INSERT INTO done VALUES (%d, %d); COMMIT" % (a, b, self.number, n))
                if "COMMIT" in wire.tags(got):
                    self.done.append(n)
                elif wire.error(got)["C"] not in ("40001", "40P01", "57P01", "58030", "08007"):
                    self.odd.append(wire.error(got))
                else:
                    w.query("ROLLBACK")
            except (OSError, AssertionError, EOFError, TypeError, KeyError, IndexError):
                if w is not None:
                    w.close()
                w = None
                time.sleep(0.05)
        if w is not None:
            w.close()


def test_storm():
    """The storage node is killed again and again under load; the compute processes stay the same."""
    rounds, accounts = 6, 40
    with House() as h:
        p = Place(h)
        other = Compute(h, fabric="tcp")
        w = Wire(p.compute.port)
        w.query("CREATE TABLE account (id integer PRIMARY KEY, n bigint)")
        w.query("CREATE TABLE done (who integer, k integer, PRIMARY KEY (who, k))")
        w.query("INSERT INTO account SELECT i, 100 FROM generate_series(0, %d) i" % (accounts - 1))
        w.close()
        payers = [Payer(p.compute.port if i % 2 == 0 else other.port, i, accounts) for i in range(4)]
        for x in payers:
            x.start()
        dice = random.Random(7)
        for _ in range(rounds):
            had = [len(x.done) for x in payers]
            until(lambda: all(len(x.done) > n for x, n in zip(payers, had)), 90, "all go on")
            time.sleep(dice.random())
            p.node.kill()
            time.sleep(dice.random())
            p.start()
        had = [len(x.done) for x in payers]
        until(lambda: all(len(x.done) > n for x, n in zip(payers, had)), 90, "all go on")
        for x in payers:
            x.stop = True
        for x in payers:
            x.join(30 * house.SLOW)
            same(x.odd, [])
        w = p.serves()
        same(wire.texts(w.query("SELECT sum(n), count(*) FROM account")), [(str(100 * accounts), str(accounts))])
        for x in payers:
            there = {int(r[0]) for r in wire.texts(w.query("SELECT k FROM done WHERE who = %d" % x.number))}
            same(set(x.done) - there, set(), "what was answered is there")
        w.close()
        p.compute.terminate()
        other.terminate()


if __name__ == "__main__":
    house.main()
