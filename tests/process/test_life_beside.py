#!/usr/bin/env python3
"""Life beside sweeps, broken and silent connections, tables that are dropped, a process that leaves with much in its hands. The long
forms are those of tests/life.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import life
from house import same, skip

FAST = house.SLOW == 1


def nothing_wrong(f):
    f.table()
    same(f["wrong"], [], "what is wrong")


def test_leave():
    nothing_wrong(life.leave(rows=200000 if FAST else 20000))


def test_drop():
    nothing_wrong(life.drop(rounds=5 if FAST else 2, lease=None if FAST else 20000))


def test_value():
    if not FAST:
        skip("it is the amount that counts")
    nothing_wrong(life.value())


def test_asleep():
    nothing_wrong(life.asleep(seconds=6, lease=None if FAST else 20000))


if __name__ == "__main__":
    house.main()
