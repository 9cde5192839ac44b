#!/usr/bin/env python3
"""What people do to a living cluster by mistake: lists of nodes that are short or wrong."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same


def one_line(r, *parts):
    lines = [l for l in r.err.splitlines() if l.strip()]
    same(len(lines), 1, "one line that says what to do: " + r.err)
    contains(r.err, *parts)
    same(r.out, "")


# ---- lists of storage nodes ----

def lists(fabric):
    with House(nodes=3) as h:
        a = h.shell(fabric=fabric)
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        a.ok("INSERT INTO t SELECT i, repeat('v', 300) FROM generate_series(1, 3000) i")
        at = [n.address for n in h.nodes]

        def undisturbed(what):
            same(a.value("SELECT count(*) FROM t WHERE length(v) = 300"), "3000", what)
            a.ok("UPDATE t SET v = repeat('w', 300) WHERE id % 7 = 0")
            same(h.do("SELECT count(*) FROM t", fabric=fabric).value(), "3000", what + ": newcomers with the right list")
        # One too few, whichever it is; home alone; all but home.
        for given in ([0, 1], [0, 2], [1, 2], [0], [2]):
            r = h.do("CREATE TABLE never (id integer PRIMARY KEY)", storage=",".join(at[i] for i in given), fabric=fabric).fails(1)
            one_line(r)
            # Node ids are 1 to 3: a missing one is named, or, where the one that knows them all is missing, that one.
            missing = [i + 1 for i in range(3) if i not in given]
            check(any(re.search(r"\b%d\b" % m, r.err) for m in missing), "it names a node of", missing, r.err)
            undisturbed("a list of %s" % given)
        # A node that belongs to none, beside and in place of one.
        stranger = house.Node(h, 4)
        h.nodes.remove(stranger)
        try:
            for given in (at + [stranger.address], at[:2] + [stranger.address]):
                one_line(h.do("SELECT 1", storage=",".join(given), fabric=fabric).fails(1))
                undisturbed("a stranger in the list")
            # Named twice, another order: no harm.
            same(h.do("SELECT count(*) FROM t", storage=",".join(at[::-1]), fabric=fabric).value(), "3000", "another order")
            r = h.do("SELECT count(*) FROM t", storage=",".join(at + at[:1]), fabric=fabric)
            check(r.rc == 0 or len(r.err.splitlines()) == 1, "one of them twice:", r)
            undisturbed("one of them twice")
        finally:
            stranger.kill()
            stranger.log.close()
        a.close(0)


def test_short_and_wrong_lists_tcp():
    lists("tcp")


def test_short_and_wrong_lists_shm():
    lists("shm")


if __name__ == "__main__":
    house.main()
