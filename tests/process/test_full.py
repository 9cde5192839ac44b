#!/usr/bin/env python3
"""A cluster whose memory is all taken: newcomers get in, and TRUNCATE, DROP and small DELETEs work, so that there is a way out."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same, until


def fill(s, table, at):
    """Rows into a table until not one more fits; gives how many there are."""
    n, step = at, 2000
    while step:
        out = s.do("INSERT INTO %s SELECT i, repeat('x', 300) FROM generate_series(%d, %d) i" % (table, n, n + step - 1), timeout=60)
        if "ERROR" in out:
            contains(out, "53100")
            step //= 5
        else:
            n += step
    return n


def ways_out(fabric, nodes):
    with House(nodes=nodes, size="%dm" % (32 // nodes)) as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE a (k integer PRIMARY KEY, v text); CREATE TABLE b (k integer PRIMARY KEY, v text)")
        n = 0
        for turn in range(3):
            n = fill(s, "a", n)
            check(n > 10000, "rows:", n)
            # An empty table may have a place, where another one was. Its first row takes an extent.
            contains(s.do("CREATE TABLE more (k integer); INSERT INTO more VALUES (1)"), "53100")
            s.do("DROP TABLE IF EXISTS more")
            # Newcomers, several side by side, read and delete.
            same(h.do("SELECT count(*) FROM a", fabric=fabric).value(), s.value("SELECT count(*) FROM a"))
            others = [h.shell(fabric=fabric) for _ in range(3)]
            for i, o in enumerate(others):
                o.ok("DELETE FROM a WHERE k = %d" % (n - 1 - i))
            # A shell that has just come, and the one that filled it, by turns.
            who = (others[0], s, others[1])[turn]
            who.ok("TRUNCATE a" if turn < 2 else "DROP TABLE a", timeout=60)
            for o in others:
                o.close()
            until(lambda: "ERROR" not in s.do("INSERT INTO b SELECT i, repeat('x', 300) FROM generate_series(1, 8000) i",
                                              timeout=60), 20, "the memory is free again")
            same(s.value("SELECT count(*) FROM b"), "8000")
            s.ok("TRUNCATE b")
            n = 0
        s.close()


def test_ways_out_shm():
    ways_out("shm", 1)


def test_ways_out_tcp():
    ways_out("tcp", 2)


def test_one_node_is_full():
    """A table may have its anchor on a full node: its index and its rows go to another one."""
    with House(0) as h:
        h.node(1, size="16m")
        h.node(2, size="200m")
        s = h.shell()
        s.ok("CREATE TABLE early (k integer PRIMARY KEY, v integer UNIQUE)")
        s.ok("CREATE TABLE big (k integer PRIMARY KEY, v text)")
        n = 0
        while h.status()[1]["in_use"] < 15 << 20:
            s.ok("INSERT INTO big SELECT g, repeat('x', 1000) FROM generate_series(%d, %d) g" % (n, n + 1999), timeout=60)
            n += 2000
            check(n < 100000, "rows, and node 1 is not full:", h.status())
        for i in range(20):
            s.ok("CREATE TABLE e%d (k integer PRIMARY KEY, v integer UNIQUE); INSERT INTO e%d VALUES (1, 1)" % (i, i))
        s.ok("INSERT INTO early VALUES (1, 1); CREATE INDEX ON big (k, v)", timeout=60)
        same(s.value("SELECT v FROM early WHERE v = 1"), "1")
        s.close()


if __name__ == "__main__":
    house.main()
