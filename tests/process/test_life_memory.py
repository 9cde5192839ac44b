#!/usr/bin/env python3
"""Small nodes under updates, DROP TABLE, crashes and an open snapshot: memory in use does not grow. The long form is tests/life.py memory."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import life
from house import same


def part(name, share, slow):
    f = life.memory(share=share if house.SLOW == 1 else slow, only=name)
    f.table()
    same(f["wrong"], [], "what is wrong")


def test_updates_of_many_rows():
    part("updates", 0.1, 0.03)


def test_updates_of_one_value():
    part("value", 0.15, 0.03)


def test_tables_come_and_go():
    part("tables", 0.5, 0.05)


if __name__ == "__main__":
    house.main()
