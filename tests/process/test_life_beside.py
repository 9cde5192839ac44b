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


def test_sweep():
    if not FAST:
        skip("a table large enough takes minutes to fill under sanitizers")
    nothing_wrong(life.sweep(table_mb=house.rounds(1200, 800), lease=250, rounds=house.rounds(2, 1)))


def test_resets():
    nothing_wrong(life.resets(seconds=house.rounds(8, 5)))


def test_silence():
    nothing_wrong(life.silence(rounds=1, lease=None if FAST else 20000))


def test_leave():
    nothing_wrong(life.leave(rows=house.rounds(200000, 100000, 20000)))


def test_drop():
    nothing_wrong(life.drop(rounds=house.rounds(5, 3, 2), lease=None if FAST else 20000))


def test_value():
    if not FAST:
        skip("it is the amount that counts")
    nothing_wrong(life.value(node_mb=350, value_mb=100))


def test_asleep():
    nothing_wrong(life.asleep(seconds=4, lease=None if FAST else 20000))


if __name__ == "__main__":
    house.main()
