#!/usr/bin/env python3
"""Histories of real processes with all of life around them: kills, stops, connections that break, tables that come and go. The long
form is tests/histories.py --life."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import histories
import house
from house import check, same

SEED = int(os.environ.get("NAM_SEED", "1"))
SECONDS = house.rounds(20, 14)


def rounds(fabric, loads):
    kills = 0
    for i, load in enumerate(loads):
        f = histories.life(fabric, load, SECONDS / 4, SEED + i, 500 * house.SLOW)
        print("  ", {k: v for k, v in f.items() if k != "wrong"})
        same(f["wrong"], [], "what is wrong")
        kills += f["kills"]
        # Kill or stop: dice. On a slow build there are few of both in one round.
        check(f["ok"] >= 50 and f["kills"] + f["stops"] >= 1 and (f["resets"] >= 1 or fabric == "shm"), "too little happened:", f)
    check(kills >= 1, "no process was killed")


def test_tcp():
    rounds("tcp", [("list", "rr", False), ("bank", "ser", True)])


def test_shm():
    rounds("shm", [("checkout", "rr", False), ("list", "ser", False)])


if __name__ == "__main__":
    house.main()
