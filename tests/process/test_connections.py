#!/usr/bin/env python3
"""Connections that are reset one at a time, all at once, or silent for a while, home's included: no process is recovered, none ends."""
import os
import random
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, Proxy, check, same, until


class Worker(threading.Thread):
    """A shell that adds one to its own row again and again, and notes what it was told."""

    def __init__(self, h, number, storage):
        super().__init__(daemon=True)
        self.s, self.number = h.shell(fabric="tcp", storage=storage), number
        self.stop, self.ok, self.errors, self.failed = False, 0, [], None
        self.longest = 0

    def run(self):
        try:
            while not self.stop:
                t0 = time.monotonic()
                out = self.s.do("UPDATE t SET n = n + 1 WHERE id = %d" % self.number, timeout=60)
                self.longest = max(self.longest, time.monotonic() - t0)
                m = re.search(r"ERROR:\s+([0-9A-Z]{5}):", out)
                if m is None:
                    self.ok += 1
                else:
                    self.errors.append(m.group(1))
        except BaseException as e:
            self.failed = e


def load(h, n, disturb):
    """n shells at work, each over wires of its own, while disturb(wires) goes on; then all is as it was told."""
    wires = [[Proxy(node) for node in h.nodes] for _ in range(n)]
    h.do("CREATE TABLE t (id integer PRIMARY KEY, n integer NOT NULL)", fabric="tcp").ok()
    h.do("INSERT INTO t SELECT i, 0 FROM generate_series(0, 99) i", fabric="tcp").ok()
    workers = [Worker(h, i, ",".join(w.address for w in wires[i])) for i in range(n)]
    for w in workers:
        until(lambda: "ERROR" not in w.s.do("SELECT count(*) FROM t"), 3, "the table is seen")
        w.start()
    disturb(wires)
    time.sleep(0.5)
    for w in workers:
        w.stop = True
    for w in workers:
        w.join(timeout=90 * house.SLOW)
        check(w.failed is None, "shell %d: %s" % (w.number, w.failed))
        check(w.s.p.poll() is None, "shell %d lives" % w.number)
        # It goes on, without an error now.
        until(lambda: "ERROR" not in w.s.do("UPDATE t SET n = n + 0 WHERE id = %d" % w.number), 3,
              "it goes on; it says: " + w.s.history[-1500:])
        same(int(w.s.value("SELECT n FROM t WHERE id = %d" % w.number)), w.ok, "what was answered, and nothing else")
        check(set(w.errors) <= {"58030", "40001"}, "clear errors:", sorted(set(w.errors)))
    for node in h.nodes:
        check("is fenced" not in node.text(), "no process is recovered:", node.text())
    print("  %d commits, %d errors; the longest statement took %.2f s" % (
        sum(w.ok for w in workers), sum(len(w.errors) for w in workers), max(w.longest for w in workers)))
    for w in workers:
        w.s.close()
    for each in wires:
        for w in each:
            w.close()
    return workers


def test_one_connection_at_a_time():
    dice = random.Random(int(os.environ.get("NAM_SEED", "5")))

    def disturb(wires):
        end = time.monotonic() + 8
        while time.monotonic() < end:
            dice.choice(dice.choice(wires)).cut_one(dice)
            time.sleep(0.1)
    with House(nodes=2, lease_ms=3000) as h:
        workers = load(h, 3, disturb)
        check(sum(w.ok for w in workers) > 300, "they went on meanwhile")
        check(sum(len(w.errors) for w in workers) > 3, "some statements were hit")


def test_home_alone():
    """All connections of one process to home, at once."""
    def disturb(wires):
        for i in range(12):
            wires[i % 2][0].cut()
            time.sleep(0.4)
    with House(nodes=2, lease_ms=3000) as h:
        load(h, 2, disturb)


def test_silence():
    """Like a NAT that forgets for two seconds: shorter than the lease."""
    def disturb(wires):
        for wire in wires[0]:
            threading.Thread(target=wire.silence, args=(2,), daemon=True).start()
        time.sleep(2.5)
        wires[1][0].silence(2)
    with House(nodes=2, lease_ms=3000) as h:
        workers = load(h, 2, disturb)
        same(sum(len(w.errors) for w in workers), 0, "silence is no error")


class Net:
    """Two hosts, and a router between them that can drop everything: network namespaces, so for root only."""

    def __init__(self):
        self.name = ["nam%d%s" % (os.getpid() % 10000, x) for x in "arb"]
        a, r, b = self.name
        if os.geteuid() != 0 or self.ip("netns", "add", r, may_fail=True) != 0:
            house.skip("no network namespaces")

    def open(self):
        a, r, b = self.name
        for n in (a, b):
            self.ip("netns", "add", n)
        for i, n in enumerate((a, b)):
            self.ip("-n", n, "link", "add", "wire", "type", "veth", "peer", "name", "to" + str(i), "netns", r)
            self.ip("-n", n, "addr", "add", "10.97.%d.1/24" % i, "dev", "wire")
            self.ip("-n", r, "addr", "add", "10.97.%d.2/24" % i, "dev", "to" + str(i))
            for where, dev in ((n, "lo"), (n, "wire"), (r, "to" + str(i))):
                self.ip("-n", where, "link", "set", dev, "up")
            self.ip("-n", n, "route", "add", "default", "via", "10.97.%d.2" % i)
        self.forward(True)

    @staticmethod
    def ip(*args, may_fail=False):
        rc = subprocess.run(["ip", *args], capture_output=True).returncode
        check(may_fail or rc == 0, "ip", *args)
        return rc

    def on(self, host):
        return ["ip", "netns", "exec", self.name[0 if host == "a" else 2]]

    def forward(self, yes):
        subprocess.run(["ip", "netns", "exec", self.name[1], "sh", "-c",
                        "echo %d > /proc/sys/net/ipv4/ip_forward" % yes], check=True)

    def close(self):
        for n in self.name:
            self.ip("netns", "del", n, may_fail=True)


def test_silence_of_a_network():
    """Packets are lost for two seconds, and TCP sends them again later still. The default lease is 3 s; no process is fenced."""
    with House() as h:
        net, started = Net(), []
        try:
            net.open()
            def start(host, *args):
                out = open(os.path.join(h.dir, "out-%d" % len(started)), "w+b")
                p = subprocess.Popen(net.on(host) + [house.NAMDB, *args, "--secret-file", h.secret], stdin=subprocess.PIPE,
                                     stdout=out, stderr=out, env=house.clean_env(h.env))
                started.append((p, out))
                return p

            def said(i):
                with open(os.path.join(h.dir, "out-%d" % i)) as f:
                    return f.read()
            start("b", "storage", "--id", "1", "--size", "64m", "--listen", "10.97.1.1:7411")
            until(lambda: "\nready\n" in said(0), 10, "the node")
            sql = ("sql", "--storage", "10.97.1.1:7411", "--fabric", "tcp", "--lease", "3000", "--csv")
            near, far = start("b", *sql), start("a", *sql)
            near.stdin.write(b"CREATE TABLE t (id integer PRIMARY KEY, n integer); INSERT INTO t VALUES (1, 0), (2, 0);\n")
            near.stdin.flush()
            until(lambda: "INSERT 0 2" in said(1), 10, "the table")
            over = time.monotonic() + 14
            silences = [over - 12, over - 8, over - 4]
            dark = False
            while time.monotonic() < over:
                for i, p in enumerate((near, far)):
                    check(p.poll() is None, "shell %d has ended:" % i, said(1 + i)[-2000:], said(0)[-1000:])
                    p.stdin.write(b"UPDATE t SET n = n + 1 WHERE id = %d;\n" % (i + 1))
                    p.stdin.flush()
                is_dark = any(s <= time.monotonic() < s + 2 for s in silences)
                if is_dark != dark:
                    net.forward(not is_dark)
                    dark = is_dark
                time.sleep(0.02)
            for p in (near, far):
                p.stdin.close()
                p.wait(timeout=30 * house.SLOW)
            check("is fenced" not in said(0), said(0))
            check(said(2).count("UPDATE 1") > 50, "it went on:", said(2)[-2000:])
            print("  %d and %d commits" % (said(1).count("UPDATE 1"), said(2).count("UPDATE 1")))
        finally:
            for p, out in started:
                p.kill()
                p.wait()
                out.close()
            net.close()


if __name__ == "__main__":
    house.main()
