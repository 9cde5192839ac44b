#!/usr/bin/env python3
"""A process that holds a row's lock is killed, or stopped: how long others wait for it. The long form is tests/kills.py --holders 300."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import kills
from house import check, same

LEASE_MS = 3000


def holders(fabric):
    n = 20 if house.SLOW == 1 else 5
    got = kills.Holders(kills.options(["--fabric", fabric, "--holders", str(n), "--pauses", "1", "--lease", str(LEASE_MS), "--seed", "1"])).go()
    got.table()
    f = got.figures()
    same(got.bad, [], "what is wrong")
    # A busy machine delays the slowest; but no process waits for the lease of one whose death is known.
    check(f["killed_ms"]["p50"] <= 50 * house.SLOW, "locks of the killed are free within 50 ms:", f["killed_ms"])
    check(f["killed_ms"]["max"] < LEASE_MS * 0.8, "no process waits for the lease of a dead one:", f["killed_ms"])
    check(0.85 * LEASE_MS <= f["stopped_ms"]["p50"] <= 2 * LEASE_MS, "a stopped process has a lease:", f["stopped_ms"])


def test_shm():
    holders("shm")


def test_tcp():
    holders("tcp")


if __name__ == "__main__":
    house.main()
