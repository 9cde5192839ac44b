#!/usr/bin/env python3
"""pgbench's tpcb-like load by eight clients at two compute nodes over one store; one of them is killed (kill -9) in the middle, its
clients connect to the other one and go on. No transaction fails; what was answered is there, and the balances agree."""
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, error, tags, texts

CLIENTS, BEFORE, AFTER = 8, 2.0, 3.0
BRANCHES, TELLERS, ACCOUNTS = 4, 40, 4000

TABLES = """CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88));
CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84));
CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgbench_branches SELECT g, 0 FROM generate_series(1, %d) g;
INSERT INTO pgbench_tellers SELECT g, (g - 1) / 10 + 1, 0 FROM generate_series(1, %d) g;
INSERT INTO pgbench_accounts SELECT g, (g - 1) / 1000 + 1, 0 FROM generate_series(1, %d) g;""" % (BRANCHES, TELLERS, ACCOUNTS)

STATEMENTS = {
    "ua": "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
    "sa": "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
    "ut": "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
    "ub": "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
    # filler carries the transaction's own name: which ones are there can be asked afterwards
    "ih": "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP, $5)",
}
GONE = (EOFError, OSError)


class Client(threading.Thread):
    """One client of pgbench: it reconnects to any living node when its connection breaks."""

    def __init__(self, n, ports):
        super().__init__()
        self.n, self.ports, self.rng = n, ports, random.Random(n)
        self.at = ports[n % len(ports)]
        self.answered, self.unknown, self.failed, self.broken, self.moved = [], [], [], [], 0
        self.stop, self.w = False, None

    def connect(self):
        end = time.monotonic() + 20 * house.SLOW
        while True:
            try:
                self.w = Wire(self.at, timeout=30)
                for name, sql in STATEMENTS.items():
                    self.w.raw(Wire.parse(sql, name))
                self.w.raw(Wire.SYNC)
                self.w.until_ready()
                return
            except GONE:
                check(time.monotonic() < end, "no node takes the client")
                self.at = next(p for p in self.ports if p != self.at)
                self.moved += 1
                time.sleep(0.05)

    def do(self, name, *values):
        self.w.raw(Wire.bind(values, name) + Wire.execute() + Wire.SYNC)
        return self.w.until_ready()

    def one(self, k):
        name = "%d-%d" % (self.n, k)
        aid, tid, bid = self.rng.randint(1, ACCOUNTS), self.rng.randint(1, TELLERS), self.rng.randint(1, BRANCHES)
        delta = self.rng.randint(-5000, 5000)
        committing = False
        try:
            for got in (self.w.query("BEGIN"), self.do("ua", delta, aid), self.do("sa", aid), self.do("ut", delta, tid),
                        self.do("ub", delta, bid), self.do("ih", tid, bid, aid, delta, name)):
                if any(m[0] == "E" for m in got):
                    self.failed.append(error(got))
                    self.w.query("ROLLBACK")
                    return
            committing = True
            got = self.w.query("COMMIT")
            if any(m[0] == "E" for m in got) or tags(got) != ["COMMIT"]:
                self.failed.append(got)
                return
            self.answered.append(name)
        except GONE:
            if committing:
                self.unknown.append(name)
            self.w = None

    def run(self):
        try:
            k = 0
            while not self.stop:
                if self.w is None:
                    self.connect()
                self.one(k)
                k += 1
            self.w.close()
        except BaseException as e:
            self.broken.append(repr(e))


def load(computes, kill):
    """Eight clients; kill(): the node that dies in the middle, or None."""
    w = Wire(computes[0].port, timeout=60)
    tags(w.query(TABLES))
    clients = [Client(n, [c.port for c in computes]) for n in range(CLIENTS)]
    for c in clients:
        c.start()
    time.sleep(BEFORE)
    if kill is not None:
        kill.kill()
        t0 = time.monotonic()
        before = sum(len(c.answered) for c in clients)
    time.sleep(AFTER * house.SLOW)
    for c in clients:
        c.stop = True
    for c in clients:
        c.join(60 * house.SLOW)
        check(not c.is_alive(), "a client hangs")
    same([c.broken for c in clients if c.broken], [])
    failed = [e for c in clients for e in c.failed]
    check(not failed, "%d transactions failed; the first: %r" % (len(failed), failed[:1]))
    sums = texts(w.query("SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), "
                         "(SELECT sum(bbalance) FROM pgbench_branches), (SELECT sum(delta) FROM pgbench_history)"))[0]
    same(len(set(sums)), 1, "the balances agree: %s" % (sums,))
    there = [t.strip() for (t,) in texts(w.query("SELECT filler FROM pgbench_history"))]
    same(len(there), len(set(there)), "no transaction is there twice")
    answered = {name for c in clients for name in c.answered}
    check(not answered - set(there), "answered, and gone:", sorted(answered - set(there))[:5])
    extra = set(there) - answered - {name for c in clients for name in c.unknown}
    check(not extra, "there, and never committed:", sorted(extra)[:5])
    print("   %d transactions, %d of them with an unknown end, none failed" % (len(there), sum(len(c.unknown) for c in clients)))
    if kill is not None:
        check(sum(c.moved for c in clients) >= CLIENTS // 2, "the dead node's clients moved")
        check(len(answered) > before, "the others went on")
        print("   %d after the kill" % (len(answered) - before))
        check(time.monotonic() - t0 < 60 * house.SLOW, "soon")
    w.close()


def test_eight_clients():
    with House(nodes=1, size="512m") as h:
        c = Compute(h)
        load([c], None)
        c.terminate()


def test_a_killed_node():
    with House(nodes=1, size="512m", lease_ms=1000 if not house.SANITIZE else 5000) as h:
        first, second = Compute(h), Compute(h)
        load([first, second], second)
        first.terminate()


if __name__ == "__main__":
    house.main()
