#!/usr/bin/env python3
"""CREATE INDEX, UNIQUE and an ordered primary key in a cluster whose memory is all taken: 53100, nothing is left behind, and the
memory that the tries took comes back."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same, until

ROWS = 20000
LEFT = "SELECT count(*) FROM nam_extras WHERE kind = 120"
TRIES = ["CREATE INDEX i ON t (b, a)", "CREATE UNIQUE INDEX u ON t (b)", "ALTER TABLE t ADD UNIQUE (b, a)",
         "ALTER TABLE t SET (primary_key = ordered)", "BEGIN; CREATE INDEX i ON t (b, a); COMMIT"]
UNDO = "DROP INDEX IF EXISTS i, u; ALTER TABLE t DROP CONSTRAINT IF EXISTS t_b_a_key, SET (primary_key = hash)"


def fill(s, at):
    """Rows into `ballast` until not one more fits; gives how many there are."""
    n, step = at, 4000
    while step:
        out = s.do("INSERT INTO ballast SELECT i, repeat('x', 300) FROM generate_series(%d, %d) i" % (n, n + step - 1), timeout=60)
        if "ERROR" in out:
            contains(out, "53100")
            step //= 8
        else:
            n += step
    return n


def test_full():
    with House(nodes=1, size="48m") as h:
        s = h.shell()
        s.ok("CREATE TABLE t (id int PRIMARY KEY, a int, b text); CREATE TABLE ballast (k int PRIMARY KEY, v text)")
        s.ok("INSERT INTO t SELECT i, i %% 100, 'row ' || i FROM generate_series(1, %d) i" % ROWS, timeout=60)
        fits = []
        for turn in range(3):
            n, before = fill(s, 0), -1
            while n > before:  # what a failed INSERT took comes back a moment later
                time.sleep(0.5)
                before, n = n, fill(s, n)
            fits.append(n)
            failed = 0
            for t in TRIES:
                out = s.do(t, timeout=60)
                if "ERROR" in out:
                    contains(out, "53100")
                    s.do("ROLLBACK")
                    failed += 1
                else:
                    s.ok(UNDO)  # a small tree may find room
                same(s.value(LEFT), "0")
                same(s.value("SELECT count(*) FROM pg_indexes WHERE tablename = 't'"), "1")
            check(failed >= 3, "only %d failed" % failed)
            contains(s.do("EXPLAIN SELECT id FROM t WHERE b = 'row 5'"), "Seq Scan")
            # Rows that are there can be changed, as far as memory goes, and found.
            same(s.value("SELECT id FROM t WHERE b = 'row 77'"), "77")
            s.ok("TRUNCATE ballast", timeout=60)
            for t in TRIES[:4]:
                until(lambda: "ERROR" not in s.do(t, timeout=60), 20, "there is memory for " + t)
            same(s.value(LEFT), "4")
            same(s.value("SELECT id FROM t WHERE b = 'row 77'"), "77")
            same(s.value("SELECT count(*) FROM t WHERE id BETWEEN 10 AND 19"), "10")
            s.ok(UNDO)
            same(s.value(LEFT), "0")

            def as_much():
                """What fits now; the memory of dropped trees comes back when no snapshot can see them."""
                n = fill(s, 0)
                s.ok("TRUNCATE ballast", timeout=60)
                return n > 0.97 * fits[0]
            until(as_much, 30, "the memory is free again")
        print("  rows that fitted: %s" % fits)
        check(min(fits) > 0.9 * max(fits), "less and less fits:", fits)


if __name__ == "__main__":
    house.main()
