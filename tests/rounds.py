#!/usr/bin/env python3
"""rounds.py -- a cluster with a log is killed again and again under load, and what was answered is held against what is there.

usage: tests/rounds.py [--rounds N] [--images N] [--seed N] [--seconds S] [--copies N]

A round: two compute processes (shm, tcp) serve clients that pay, refer, count and change the schema, for up to S seconds; then both
storage nodes are killed, or one of them, or everything; what was killed is started again, and judged:

  totals      the accounts have as much as they had; what a client was answered is there, and nothing is there by half
  keys        no key is there twice, no row refers to one that is not there
  indexes     each index finds what a look at all rows finds
  sequences   no number was given out twice
  schema      tables whose CREATE was answered are there, those whose DROP was answered are not

With --copies 2 both storage nodes have a copy of the log.

An image (root only): the log is in an ext4 of its own, in a file; that is frozen and copied under load, and a cluster is started on the copy.
It has all that was answered before the copy began.

Exit code 0: nothing is wrong; 1: something is wrong, and is printed.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import wire
from house import Compute, House, Node, check, same, until
from wire import Wire

ACCOUNTS, PARENTS = 40, 30
# What a client may be told when its cluster dies, or when it loses a race.
EXPECTED = {"40001", "40P01", "57P01", "57P03", "58030", "08007", "23503", "23505", "55P03", "42P01"}


class Lost(Exception):
    """The statement was not answered."""


class Client(threading.Thread):
    """One kind of work, on a connection that is opened again whenever it ends."""

    def __init__(self, port, number, seed):
        super().__init__(daemon=True)
        self.port, self.number, self.dice = port, number, random.Random("%s %s" % (seed, number))
        self.w, self.stop, self.odd, self.n, self.turns = None, False, [], 0, 0

    def ask(self, text):
        """The answer's messages, or Lost. An error is counted, and rolled back."""
        try:
            if self.w is None:
                self.w = Wire(self.port, timeout=60)
            got = self.w.query(text)
        except (OSError, EOFError, AssertionError):
            self.drop()
            time.sleep(0.02)
            raise Lost()
        errors = [wire.fields(m[1]) for m in got if m[0] == "E"]
        if not errors:
            return got
        if errors[0]["C"] not in EXPECTED:
            self.odd.append((text, errors[0]))
        try:
            self.w.query("ROLLBACK")
        except (OSError, EOFError, AssertionError):
            self.drop()
        raise Lost()

    def drop(self):
        if self.w is not None:
            self.w.close()
        self.w = None

    def run(self):
        while not self.stop:
            try:
                self.turn()
                self.turns += 1
            except Lost:
                pass
        self.drop()


class Payer(Client):
    def __init__(self, *more):
        super().__init__(*more)
        self.done = set()

    def turn(self):
        self.n += 1
        n = self.n
        a, b = self.dice.sample(range(ACCOUNTS), 2)
        self.ask("BEGIN; UPDATE account SET n = n - 1 WHERE id = %d; UPDATE account SET n = n + 1 WHERE id = %d; "
                 "INSERT INTO done VALUES (%d, %d, '%s'); COMMIT" % (a, b, self.number, n, "x" * self.dice.choice((0, 10, 100, 300, 9000 if n % 50 == 0 else 20))))
        self.done.add(n)


class Referrer(Client):
    """Children come and go; parents do, when they have none."""

    def turn(self):
        p = self.dice.randrange(PARENTS)
        if self.dice.random() < 0.3:
            self.ask("DELETE FROM child WHERE p = %d; DELETE FROM parent WHERE id = %d" % (p, p))
        elif self.dice.random() < 0.5:
            self.ask("INSERT INTO parent VALUES (%d, 'name %d')" % (p, p))
        else:
            self.ask("INSERT INTO child (p, v) VALUES (%d, %d)" % (p, self.dice.randrange(1000)))


class Counter(Client):
    def __init__(self, *more):
        super().__init__(*more)
        self.numbers = []

    def turn(self):
        self.numbers.append(int(wire.texts(self.ask("SELECT nextval('numbers')"))[0][0]))


class Builder(Client):
    """Makes and drops tables. What was not answered may have happened, until a later DROP is answered."""

    def __init__(self, *more):
        super().__init__(*more)
        self.there, self.gone, self.doubt = set(), set(), set()

    def turn(self):
        if self.doubt or self.dice.random() < (0.3 if len(self.there) < 20 else 0.9):
            if not self.doubt and not self.there:
                return
            name = self.dice.choice(sorted(self.doubt or self.there))
            self.there.discard(name)
            self.doubt.add(name)
            self.ask("DROP TABLE IF EXISTS %s" % name)
            self.gone.add(name)
            self.doubt.discard(name)
            return
        self.n += 1
        name = "made_%d_%d" % (self.number, self.n)
        self.doubt.add(name)
        self.ask("BEGIN; CREATE TABLE %s (id serial PRIMARY KEY, v text); INSERT INTO %s (v) SELECT 'v' || i FROM generate_series(1, 20) i; "
                 "CREATE INDEX ON %s (v); COMMIT" % (name, name, name))
        self.doubt.discard(name)
        self.there.add(name)


SCHEMA = ["CREATE TABLE account (id integer PRIMARY KEY, n bigint)",
          "CREATE TABLE done (who integer, k integer, v text, PRIMARY KEY (who, k))", "CREATE INDEX done_k ON done (k)",
          "CREATE TABLE parent (id integer PRIMARY KEY, name text UNIQUE)",
          "CREATE TABLE child (id bigserial PRIMARY KEY, p integer NOT NULL REFERENCES parent, v integer)",
          "CREATE INDEX child_p ON child (p)", "CREATE INDEX child_v ON child (v)", "CREATE SEQUENCE numbers",
          "INSERT INTO account SELECT i, 100 FROM generate_series(0, %d) i" % (ACCOUNTS - 1)]


def rows(w, text):
    return wire.texts(w.query(text))


def judge(w, payers, counters, builders):
    """What there is, held against what was answered. No client is at work on w's cluster."""
    same(rows(w, "SELECT sum(n), count(*) FROM account"), [(str(100 * ACCOUNTS), str(ACCOUNTS))], "totals")
    for p, done in payers:
        there = {int(r[0]) for r in rows(w, "SELECT k FROM done WHERE who = %d" % p.number)}
        same(done - there, set(), "what payer %d was answered" % p.number)
    # `+ 0` and `|| ''` keep an index out.
    same(rows(w, "SELECT id + 0 FROM account GROUP BY id + 0 HAVING count(*) > 1"), [], "accounts twice")
    same(rows(w, "SELECT who + 0, k + 0 FROM done GROUP BY 1, 2 HAVING count(*) > 1"), [], "payments twice")
    same(rows(w, "SELECT name || '' FROM parent GROUP BY 1 HAVING count(*) > 1"), [], "names twice")
    same(rows(w, "SELECT c.id FROM child c LEFT JOIN parent p ON p.id + 0 = c.p + 0 WHERE p.id IS NULL"), [], "orphans")
    for table, key in (("done", "k"), ("child", "p"), ("child", "v"), ("child", "id"), ("parent", "id"), ("account", "id")):
        found = rows(w, "SELECT count(*), sum(%s) FROM %s WHERE %s BETWEEN 5 AND 400" % (key, table, key))
        same(found, rows(w, "SELECT count(*), sum(%s) FROM %s WHERE %s + 0 BETWEEN 5 AND 400" % (key, table, key)), "an index of " + table)
    given = [n for c, numbers in counters for n in numbers]
    same(len(given), len(set(given)), "numbers are given out once")
    if given:
        check(int(rows(w, "SELECT nextval('numbers')")[0][0]) > max(given), "the sequence goes on behind", max(given))
    names = {r[0] for r in rows(w, "SELECT relname FROM pg_class WHERE relname LIKE 'made%' AND relkind = 'r'")}
    for b, there, gone in builders:
        same(there - names, set(), "tables that were made")
        same(gone & names, set(), "tables that were dropped")
        for name in sorted(there):
            same(rows(w, "SELECT count(*), min(v) FROM %s WHERE v >= 'v1'" % name), [("20", "v1")], name)


def answered(clients):
    """What they have been told so far. What a client is told afterwards is not in it."""
    return ([(c, set(c.done)) for c in clients if isinstance(c, Payer)], [(c, list(c.numbers)) for c in clients if isinstance(c, Counter)],
            [(c, set(c.there), set(c.gone)) for c in clients if isinstance(c, Builder)])


class Place:
    """Two storage nodes, of which the first, or both, have a copy of the log, at ports that stay; two compute processes."""

    def __init__(self, h, data, copies=1):
        self.h, self.data, self.copies, self.ports, self.node, self.compute = h, data, copies, None, [None, None], [None, None]
        self.start()

    def start(self):
        at = ["127.0.0.1:%d" % p for p in self.ports] if self.ports else ["127.0.0.1:0"] * 2
        for i in range(2):
            if self.node[i] is None or self.node[i].p.poll() is not None:
                self.node[i] = Node(self.h, i + 1, "512m", listen=at[i], more=self.log_of(i))
        self.ports = [n.port() for n in self.node]
        self.h.storage = lambda: ",".join("127.0.0.1:%d" % p for p in self.ports)
        for i, fabric in enumerate(("shm", "tcp")):
            if self.compute[i] is None or self.compute[i].p.poll() is not None:
                old = self.compute[i]
                self.compute[i] = Compute(self.h, fabric=fabric, pg="127.0.0.1:%d" % (old.port if old else 0))

    def log_of(self, i):
        rings = ("--log-rings",) if os.environ.get("NAM_RINGS") else ()
        return ("--data", self.data + "-%d" % i) + rings if i < self.copies else ()

    def kill(self, what):
        for i, n in enumerate(self.node):
            if what != "node %d" % (2 - i):
                n.kill()
        for c in self.compute:
            if what == "everything" or (what == "one process" and c is self.compute[0]):
                c.kill()

    def connect(self):
        def comes():
            try:
                self.w = Wire(self.compute[0].port, timeout=120)
                return True
            except (OSError, EOFError, AssertionError):
                return False
        until(comes, 120, "clients are served")
        return self.w


    def serves(self):
        """A connection to the database that is there behind a kill. A process that has not seen the loss yet answers 58030."""
        def whole():
            w = self.connect()
            try:
                for pause in (0.3, 0):
                    for table in ("account", "done", "parent", "child"):
                        rows(w, "SELECT count(*) FROM " + table)
                    time.sleep(pause)
                return True
            except (OSError, EOFError, AssertionError) as e:
                check(isinstance(e, (OSError, EOFError)) or any(c in str(e) for c in ("58030", "57P01")), str(e))
                w.close()
                return False
        until(whole, 120, "the database is there")
        return self.w


def clients_of(p, seed):
    kinds = [Payer, Payer, Payer, Referrer, Counter, Builder]
    return [k(p.compute[i % 2].port, i, seed) for i, k in enumerate(kinds)]


def begin(p, seed):
    """The tables, and clients at work."""
    w = p.connect()
    for text in SCHEMA:
        wire.texts(w.query(text))
    w.close()
    clients = clients_of(p, seed)
    for c in clients:
        c.start()
    return clients


def keep(p):
    """NAM_KEEP names a directory for the logs as a kill leaves them."""
    into = os.environ.get("NAM_KEEP")
    for i in range(p.copies if into else 0):
        subprocess.run(["rm", "-rf", "%s/%d-%d" % (into, os.getpid(), i)], check=False)
        subprocess.run(["cp", "-a", "--sparse=always", p.log_of(i)[1], "%s/%d-%d" % (into, os.getpid(), i)], check=False)


def evidence(p, who, lost):
    """What was lost: is it there at a second look, by an index, at the other process?"""
    for c in p.compute:
        w = Wire(c.port, timeout=60)
        for how in ("who = %d" % who, "who + 0 = %d" % who, *("who = %d AND k = %d" % (who, k) for k in lost), *("k = %d" % k for k in lost)):
            found = {int(r[1]) for r in rows(w, "SELECT who, k FROM done WHERE " + how) if int(r[0]) == who}
            print("at port %d, WHERE %s: %d rows of payer %d, of the lost ones %s, the last is %s" % (
                c.port, how, len(found), who, sorted(lost & found), max(found, default=None)), flush=True)
        w.close()


def storm(rounds, seconds, seed, copies=1):
    dice = random.Random(seed)
    with House() as h:
        p = Place(h, os.path.join(h.dir, "data"), copies)
        clients = begin(p, seed)
        for turn in range(rounds):
            had = [c.turns for c in clients]
            until(lambda: all(c.turns > n for c, n in zip(clients, had)), 120, "all clients go on")
            time.sleep(seconds * dice.random())
            if dice.random() < 0.15:
                Wire(p.compute[1].port, timeout=120).query("CHECKPOINT")
            p.kill(dice.choice(["storage", "node 1", "node 2", "everything", "one process"]))
            told = answered(clients)
            keep(p)
            p.start()
            # Clients are at work again; what is judged held before they began, and holds at any moment.
            w = p.serves()
            if turn % 5 == 4 or turn == rounds - 1:
                for c in clients:
                    c.stop = True
                for c in clients:
                    c.join(120)
                    check(not c.is_alive(), "a client hangs")
                    same(c.odd, [], "errors of a client")
                judge(w, *answered(clients))
                again = clients_of(p, "%s %d" % (seed, turn))
                for new, old in zip(again, clients):
                    new.__dict__.update({k: v for k, v in old.__dict__.items() if k in ("n", "done", "numbers", "there", "gone", "doubt")})
                    new.start()
                clients = again
            else:
                for c, done in told[0]:
                    there = {int(r[0]) for r in rows(w, "SELECT k FROM done WHERE who = %d" % c.number)}
                    if done - there:
                        evidence(p, c.number, done - there)
                    same(done - there, set(), "what payer %d was answered" % c.number)
            w.close()
            print("round %d of %d: %d payments, %d numbers, %d tables" % (
                turn + 1, rounds, sum(len(d) for _, d in told[0]), sum(len(n) for _, n in told[1]), len(told[2][0][1])), flush=True)
        for c in clients:
            c.stop = True
        for c in clients:
            c.join(120)


def run(*args):
    subprocess.run(args, check=True, capture_output=True)


def can_mount():
    """Tries it: a container's root may be allowed less than it looks."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as dir:
        tries = "truncate -s 16M %s/f && mkfs.ext4 -q -F %s/f && mkdir %s/m && mount -o loop %s/f %s/m && fsfreeze -f %s/m && fsfreeze -u %s/m"
        ok = subprocess.run(["sh", "-c", tries.replace("%s", dir)], capture_output=True).returncode == 0
        subprocess.run(["umount", "-l", os.path.join(dir, "m")], capture_output=True)
        return ok


class Loop:
    """An ext4 in a file."""

    def __init__(self, h, name, copy_of=None):
        self.file, self.at = os.path.join(h.dir, name + ".img"), os.path.join(h.dir, name)
        if copy_of is None:
            with open(self.file, "wb") as f:
                f.truncate(1 << 30)
            run("mkfs.ext4", "-q", "-F", self.file)
        else:
            run("fsfreeze", "-f", copy_of.at)
            try:
                run("cp", "--sparse=always", copy_of.file, self.file)
            finally:
                run("fsfreeze", "-u", copy_of.at)
        os.mkdir(self.at)
        run("mount", "-o", "loop", self.file, self.at)

    def close(self):
        subprocess.run(["umount", "-l", self.at], capture_output=True)
        os.unlink(self.file)


def images(count, seconds, seed):
    if not can_mount():
        print("images: skipped, this user cannot mount a file system", flush=True)
        return
    dice = random.Random("images %s" % seed)
    with House() as h:
        loops = [Loop(h, "disk")]
        try:
            p = Place(h, os.path.join(loops[0].at, "data"))
            clients = begin(p, seed)
            for turn in range(count):
                had = [c.turns for c in clients]
                until(lambda: all(c.turns > n for c, n in zip(clients, had)), 120, "all clients go on")
                time.sleep(seconds * dice.random())
                told = answered(clients)
                loops.append(Loop(h, "copy%d" % turn, copy_of=loops[0]))
                storage = h.storage
                q = Place(h, os.path.join(loops[-1].at, "data"))
                h.storage = storage
                w = q.connect()
                # The builder went on: what it was told afterwards may be there or not.
                judge(w, told[0], told[1], [])
                w.close()
                q.kill("everything")
                loops.pop().close()
                print("image %d of %d: %d payments" % (turn + 1, count, sum(len(d) for _, d in told[0])), flush=True)
            for c in clients:
                c.stop = True
            for c in clients:
                c.join(120)
                same(c.odd, [], "errors of a client")
            p.kill("everything")
        finally:
            for x in loops:
                x.close()


def main(args=None):
    a = argparse.ArgumentParser(usage=__doc__.split("\n")[2])
    a.add_argument("--rounds", type=int, default=200)
    a.add_argument("--images", type=int, default=20)
    a.add_argument("--copies", type=int, default=1)
    a.add_argument("--seconds", type=float, default=1.0)
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args(args)
    begin = time.monotonic()
    if a.rounds > 0:
        storm(a.rounds, a.seconds, a.seed, a.copies)
    if a.images > 0:
        images(a.images, a.seconds, a.seed)
    print("%d rounds, %d images in %.0f s: nothing is wrong" % (a.rounds, a.images, time.monotonic() - begin))
    return 0


if __name__ == "__main__":
    sys.exit(main())
