#!/usr/bin/env python3
"""One unique key, deleted and inserted again and again by real processes. The long form is tests/life.py again."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import life
from house import same


def test_again():
    f = life.again(rounds=300, seconds=0.5)
    f.table()
    same(f["wrong"], [], "what is wrong")


if __name__ == "__main__":
    house.main()
