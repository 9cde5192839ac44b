#!/usr/bin/env python3
"""Bulk changes of real processes: ten times the rows are ten times the work, and they stop when they are told to. The long form is
tests/bulk.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bulk
import house
from house import same, skip


def growth(kinds, changes, few=2000):
    if house.SLOW != 1:
        skip("it judges CPU time")
    _, f = bulk.run(["growth", "--rows", "%d,%d" % (few, 10 * few), "--kinds", kinds, "--lengths", "text", "--changes", changes, "--node-mb", "600", "--json"])
    for cell in f["growth"]:
        print(bulk.line_of(cell, [few, 10 * few]))
    same(f["wrong"], [], "what is wrong")


def test_growth_of_own_rows():
    growth("second", "copy;insert;update twice;insert, delete, insert;savepoints;serializable")


def test_growth_of_keys():
    growth("hash", "upsert new;upsert half;move keys")


def test_growth_of_cascades():
    growth("foreign", "cascade delete;cascade update", 1000)


def test_stops():
    _, f = bulk.run(["stop", "--rows", "30000", "--kinds", "second", "--lengths", "text", "--changes", "commit of inserts;update;rollback",
                     "--parts", "0.02", "--node-mb", "600", "--json"])
    for one in f["stop"]:
        print("%(what)s: %(s).2f s, %(state)s" % one)
    same(f["wrong"], [], "what is wrong")


if __name__ == "__main__":
    house.main()
