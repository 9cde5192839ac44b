#!/usr/bin/env python3
"""Compute processes that are killed (kill -9), stopped, or asleep: the others recover them, with their locks and open transactions, and an
answered commit stays."""
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, same, until

ACCOUNTS, TOTAL = 6, 6000
LEASE = 0.1 if house.SLOW == 1 else 0.5  # no working process is to lose it


class Mover:
    """A process that moves money about as fast as it can, and says what was answered."""

    def __init__(self, h, fabric, seed):
        self.p = subprocess.Popen([house.NAMDB, "sql", "--storage", h.storage(), "--fabric", fabric, "--secret-file", h.secret],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=house.clean_env(h.env))
        self.dice = random.Random(seed)
        self.said = b""
        self.n = 0
        self.threads = [threading.Thread(target=self.feed, daemon=True), threading.Thread(target=self.listen, daemon=True)]
        for t in self.threads:
            t.start()

    def feed(self):
        try:
            while True:
                self.n += 1
                a, b = self.dice.sample(range(ACCOUNTS), 2)
                begin = self.dice.choice(["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"])
                self.p.stdin.write(("%s; UPDATE acc SET n = n - %d WHERE id = %d; UPDATE acc SET n = n + %d WHERE id = %d; "
                                    "INSERT INTO log VALUES (%d, %d); COMMIT; SELECT 'done ' || max(k) FROM log WHERE who = %d;\n"
                                    % (begin, self.n % 7, a, self.n % 7, b, self.p.pid, self.n, self.p.pid)).encode())
                self.p.stdin.flush()
        except (BrokenPipeError, OSError):
            pass

    def listen(self):
        while True:
            got = os.read(self.p.stdout.fileno(), 65536)
            if not got:
                return
            self.said += got

    def answered(self):
        """The number of the last transaction that it is known to have committed."""
        done = [int(w.split()[1]) for w in self.said.decode().splitlines() if w.strip().startswith("done ")]
        return max(done) if done else 0

    def kill(self):
        self.p.kill()
        self.p.wait()
        self.threads[1].join()


def killed(fabric, rounds):
    with House(nodes=2, lease_ms=int(LEASE * 1000)) as h:
        a = h.shell(fabric=fabric)
        a.ok("CREATE TABLE acc (id integer PRIMARY KEY, n integer)")
        a.ok("CREATE TABLE log (who integer, k integer, PRIMARY KEY (who, k))")
        a.ok("INSERT INTO acc SELECT i, %d FROM generate_series(0, %d) i" % (TOTAL // ACCOUNTS, ACCOUNTS - 1))
        a.ok("SET lock_timeout = '10s'")
        slowest = 0
        moved = 0
        for i in range(rounds):
            m = Mover(h, fabric, i)
            until(lambda: m.answered() > 3, 10, "the mover moves")
            time.sleep(random.random() * 0.05)
            m.kill()
            t0 = time.monotonic()
            while True: # 40001: a lock of the dead that is not free yet
                r = a.do("UPDATE acc SET n = n + 0")
                if "ERROR" not in r:
                    break
                check(time.monotonic() - t0 < 20 * LEASE * house.SLOW, "round %d:" % i, r)
            slowest = max(slowest, time.monotonic() - t0)
            same(a.value("SELECT sum(n) FROM acc"), str(TOTAL), "round %d: money" % i)
            k = int(a.value("SELECT coalesce(max(k), 0) FROM log WHERE who = %d" % m.p.pid))
            check(k >= m.answered(), "round %d: %d was answered, %d is there" % (i, m.answered(), k))
            moved += k
        check(slowest < 10 * LEASE * house.SLOW, "the slowest wait behind a killed process: %.3f s" % slowest)
        print("  %s: %d processes killed after %d transactions; the next writer waited %.0f ms at most" %
              (fabric, rounds, moved, slowest * 1000))
        a.close(None)


def test_killed_shm():
    killed("shm", 12)


def test_killed_tcp():
    killed("tcp", 12)


if __name__ == "__main__":
    house.main()
