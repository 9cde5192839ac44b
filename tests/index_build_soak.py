#!/usr/bin/env python3
"""CREATE INDEX over many rows while clients update them: the index then shows exactly the table.

The judge: one pass over the table without the index groups the rows by slices of the key; then each slice is asked for by the
index. Count, sum and a sum of squares of the rows' keys must agree, slice by slice. Called by `./go soak --index`.
"""
import os
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
from house import House, check, contains, same

ROWS = int(os.environ.get("ROWS", "10000000"))
CLIENTS = int(os.environ.get("CLIENTS", "4"))
SLICES = 1000
SUMS = "count(*), sum(id), sum(id::numeric * id)"


class Client(threading.Thread):
    """Updates keys at random through a shell of its own, until it is told to end."""

    def __init__(self, h, seed, ended):
        super().__init__()
        self.shell, self.dice, self.ended = h.shell(), random.Random(seed), ended
        self.done = self.failed = 0
        self.wrong = None

    def run(self):
        while not self.ended.is_set():
            many = "; ".join("UPDATE t SET a = %d WHERE id = %d" % (self.dice.randrange(ROWS), self.dice.randrange(ROWS))
                             for _ in range(20))
            out = self.shell.do(many, timeout=120)
            self.done += out.count("UPDATE 1")
            # Another client has the row: an honest answer.
            self.failed += out.count("40001")
            if out.count("ERROR") != out.count("40001"):
                self.wrong = out
                return


def main():
    width = ROWS // SLICES
    with House(nodes=1, size="8g") as h:
        s = h.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, a integer NOT NULL)")
        t0 = time.monotonic()
        path = os.path.join(h.dir, "rows.csv")
        with open(path, "w") as f:
            for i in range(0, ROWS, 100000):
                f.write("".join("%d,%d\n" % (k, k * 7919 % ROWS) for k in range(i, min(i + 100000, ROWS))))
        s.ok("COPY t FROM '%s' WITH (FORMAT csv)" % path, timeout=1200)
        os.unlink(path)
        print("%d rows after %.0f s" % (ROWS, time.monotonic() - t0), flush=True)
        ended = threading.Event()
        clients = [Client(h, seed, ended) for seed in range(CLIENTS)]
        for c in clients:
            c.start()
        time.sleep(1)
        before = sum(c.done for c in clients)
        t0 = time.monotonic()
        s.ok("CREATE INDEX t_a ON t (a)", timeout=3600)
        took = time.monotonic() - t0
        during = sum(c.done for c in clients) - before
        print("built in %.1f s; meanwhile %d updates by %d clients" % (took, during, CLIENTS), flush=True)
        time.sleep(1)
        ended.set()
        for c in clients:
            c.join()
            check(c.wrong is None, "a client's answer: %s" % c.wrong)
        check(before > 0 and during > 0, "updates before and during")
        seq = "SELECT a / %d AS slice, %s FROM t GROUP BY 1 ORDER BY 1" % (width, SUMS)
        check("t_a" not in s.do("EXPLAIN " + seq), "the judge does not use the index")
        want = {}
        for line in s.do(seq, timeout=1200).splitlines()[1:]:
            if line.strip():
                at, rest = line.split(",", 1)
                want[int(at)] = rest
        of_slice = "SELECT " + SUMS + " FROM t WHERE a >= %d AND a < %d"
        contains(s.do("EXPLAIN " + of_slice % (0, width)), "t_a")
        differ = 0
        for i in range(SLICES):
            got = s.do(of_slice % (i * width, (i + 1) * width), timeout=120).splitlines()[1]
            if got != want.get(i, "0,,"):
                differ += 1
                print("slice %d: by the index %s, by the table %s" % (i, got, want.get(i)), flush=True)
        same(sum(int(w.split(",")[0]) for w in want.values()), ROWS, "no row is lost")
        print("%d slices, %d differ; %d updates in all, %d gave way to another" %
              (SLICES, differ, sum(c.done for c in clients), sum(c.failed for c in clients)))
        s.close()
        return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
