#!/usr/bin/env python3
"""A process dies while it builds an index: no plan uses what it leaves, writers go on, and the next CREATE INDEX on the
table drops it."""
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, same, until

ROUNDS = 6
ROWS = 30000
LEFT = "SELECT count(*) FROM nam_extras WHERE kind = 120"


def other(shell):
    """An index beside what the dead builder has left: then that is gone."""
    shell.ok("CREATE INDEX other ON t (a)", 30)
    if shell.value(LEFT) == "1":
        return True
    shell.ok("DROP INDEX other")
    return False


def test_builder_dies():
    dice = random.Random(7)
    built = died = 0
    with House(nodes=1, size="256m", lease_ms=1000) as h:
        stays = h.shell()
        stays.ok("CREATE TABLE t (id int PRIMARY KEY, a int, b text)")
        stays.ok("INSERT INTO t SELECT i, i %% 1000, 'row ' || i FROM generate_series(1, %d) i" % ROWS)
        for k in range(ROUNDS):
            builder = h.shell()
            builder.ok("SELECT count(*) FROM t")
            builder.send("CREATE UNIQUE INDEX lost ON t (b);\n")
            time.sleep(dice.uniform(0.002, 0.15))
            builder.drop()  # SIGKILL
            # Writers go on, also while the builder's death is not yet known.
            until(lambda: "ERROR" not in stays.do("UPDATE t SET a = a + 1 WHERE id = %d" % (k + 1)), 20, "a writer goes on")
            left = stays.value(LEFT)
            if left == "1":
                plan = stays.do("EXPLAIN SELECT id FROM t WHERE b = 'row 5'")
                whole = "Index Scan" in plan
                built += whole
                died += not whole
            same(stays.value("SELECT id FROM t WHERE b = 'row 5'"), "5")
            if left == "1" and whole:
                stays.ok("DROP INDEX lost")
            # Until the death is known, the index is a living process's.
            until(lambda: other(stays), 20, "CREATE INDEX drops what is left")
            same(stays.value("SELECT count(*) FROM t WHERE a = 77"), stays.value("SELECT count(*) FROM t WHERE a + 0 = 77"))
            stays.ok("DROP INDEX other")
            same(stays.value(LEFT), "0")
    print("  %d builders died in the middle, %d were through" % (died, built))


if __name__ == "__main__":
    house.main()
