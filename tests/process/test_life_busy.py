#!/usr/bin/env python3
"""A machine that is busy with other work for half a minute: no process is killed for it. The long form is tests/life.py busy."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import life
from house import same, skip


def test_busy_machine():
    if house.SLOW != 1:
        skip("under sanitizers a second of the machine is a tenth of one")
    f = life.busy(seconds=25, table_mb=100, every=5)
    f.table()
    same(f["wrong"], [], "what is wrong")


if __name__ == "__main__":
    house.main()
