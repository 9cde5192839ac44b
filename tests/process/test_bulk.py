#!/usr/bin/env python3
"""Bulk changes of real processes: ten times the rows are ten times the work, and they stop when they are told to. The long form is
tests/bulk.py."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bulk
import house
import wire
from house import House, check, same, skip


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


def test_moved_keys_are_inserted_together():
    with House(1, size="100m") as h:
        c = house.Compute(h, fabric="tcp")
        w = wire.Wire(c.port, timeout=60)
        bulk.do(w, "create table b (id bigint primary key, k bigint, check (id < 50000))")
        bulk.do(w, "insert into b select i, i from generate_series(1, 1000) i")
        plan = wire.texts(bulk.do(w, "explain (analyze, format json) update b set id = id + 10000"))[0][0]
        trips = int(re.search(r'"Operators": {[^}]*"Round Trips": ([0-9]+)', plan).group(1))
        check(trips < 2000, "round trips for 1,000 keys:", trips)
        # Of several rows that cannot move, the first says why.
        bulk.do(w, "insert into b values (5, 5), (9, 9)")
        got = w.query("update b set id = case when id in (5, 9) then 10001 when id = 10900 then 60000 else id + 1000 end")
        same([wire.fields(b)["C"] for k, b in got if k == "E"], ["23514"])
        got = w.query("update b set id = case when id in (5, 9) then 7 else id + 1000 end")
        same([(wire.fields(b)["C"], wire.fields(b)["D"]) for k, b in got if k == "E"], [("23505", "Key (id)=(7) already exists.")])
        bulk.do(w, "update b set id = id - 1 where id > 10000")
        bulk.do(w, "update b set id = 14 - id where id in (5, 9)")  # they change places
        same(wire.texts(bulk.do(w, "select count(*), sum(id), sum(k) from b")), [("1002", "10499514", "500514")])
        w.close()
        c.terminate()


if __name__ == "__main__":
    house.main()
