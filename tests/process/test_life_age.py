#!/usr/bin/env python3
"""Much is made and dropped in a process, also beside writers: it does not slow down, and nothing stays. The long forms are tests/life.py age, names, tables, schema."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import aging
import house
import life
from house import same


def judge(f):
    f.table()
    same(f["wrong"], [], "what is wrong")


def test_much_is_made_and_dropped():
    # Wide bounds: other work on this machine must not fail it. What it is about costs three times as much, and half a core.
    f = life.Figures("age")
    aging.age(f, share=house.rounds(0.1, 0.04, 0.02), slower=1.7, fatter=1.5 if house.SLOW == 1 else 2.2, idle=0.25,
              rest=22 if house.SLOW == 1 else 6)
    judge(f)


def test_many_statements_are_prepared():
    f = life.Figures("names")
    aging.names(f, n=house.rounds(11000, 5000, 1000), dearer=4.0, fatter=1.2 if house.SLOW == 1 else 9.0, rest=22 if house.SLOW == 1 else 2)
    judge(f)


def test_many_tables():
    f = life.Figures("tables")
    aging.tables(f, n=house.rounds(2000, 1000, 300), dearer=2.5, seconds=0.25 * house.SLOW, joining=1.0 * house.SLOW)
    judge(f)


def test_constraints_come_and_go_beside_writers():
    f = life.Figures("schema")
    aging.schema(f, minutes=house.rounds(0.17, 0.1) * house.SLOW, kinds="constraint", kills=False, every=3)
    judge(f)


def test_changes_of_the_schema_beside_writers_and_kills():
    f = life.Figures("schema")
    aging.schema(f, minutes=house.rounds(0.25, 0.17) * house.SLOW, most=8 << 20, every=4)
    judge(f)


if __name__ == "__main__":
    house.main()
