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
    growth("foreign", "cascade delete;cascade update", house.rounds(6000, 3000))


def dearer(c, w, prepare, one, other, rounds=house.rounds(5, 3)):
    """The median of how many times the CPU time of `one` the statements of `other` need, in turn, each order as often."""
    took = ([], [])
    for i in range(rounds):
        for sql in prepare:
            bulk.do(w, sql)
        for k in ((0, 1), (1, 0))[i % 2]:
            before = [c.cpu()]
            for sql in (one, other)[k]:
                bulk.do(w, sql)
                before.append(c.cpu())
            # The last statement before COMMIT is what is compared.
            took[k].append(before[-1] - before[-2] if len(before) == 2 else before[-2] - before[-3])
    return sorted(took[1])[rounds // 2] / sorted(took[0])[rounds // 2]


def test_new_rows_of_on_conflict():
    if house.SLOW != 1:
        skip("it judges CPU time")
    with House(1, size="600m") as h:
        c = house.Compute(h)
        w = wire.Wire(c.port, timeout=120)
        rows = "select g, 'x' from generate_series(1, 87000) g"
        times = dearer(c, w, ["drop table if exists a", "drop table if exists b", "create table a (id int primary key, t text)",
                              "create table b (id int primary key, t text)"],
                       ["insert into a " + rows], ["insert into b " + rows + " on conflict do nothing"])
        check(times <= 2.5, "an insert with ON CONFLICT needs so many times the CPU time of one without:", times)


def test_delete_behind_an_update():
    if house.SLOW != 1:
        skip("it judges CPU time")
    with House(1, size="1g") as h:
        c = house.Compute(h)
        w = wire.Wire(c.port, timeout=120)

        def block(t):
            return ["begin", "update %s set k = k + 1" % t, "delete from %s" % t, "commit"]
        times = dearer(c, w, ["drop table if exists a", "drop table if exists b"] + [
            s % t for t in "ab" for s in ("create table %s (id int primary key, k int)",
                                          "insert into %s select g, g from generate_series(1, 50000) g")] + ["create index on b (k)"],
                       block("a"), block("b"))
        check(times <= 2.5, "a DELETE behind an UPDATE of an indexed column needs so many times one without the index:", times)


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


# ---- memory ----

ROWS = 60000


def used(h):
    return h.status()[1]["in_use"]


def sizes(kind, length, rows):
    """Memory of a node without the table, and what the table takes, in bytes."""
    with House(1, size="400m") as h:
        c = house.Compute(h)
        w = wire.Wire(c.port, timeout=60)
        bulk.do(w, "create table other (id bigint primary key)")
        was = used(h)
        for text in bulk.create(kind, length)[0] + [bulk.fill(kind, length, rows)]:
            bulk.do(w, text)
        now = used(h)
        w.close()
        c.terminate()
        return was, now - was


def comes_back(kind, length, change, tables=1.5, rows=ROWS, rounds=house.rounds(4, 3), made=True):
    """A node that holds so many tables like this one: the change, again and again, always finds memory."""
    base, table = sizes(kind, length, rows)
    with House(1, size="%dk" % ((base + tables * table) // 1024 + 1024)) as h:
        c = house.Compute(h)
        w = wire.Wire(c.port, timeout=120)
        if made:
            for text in bulk.create(kind, length)[0]:
                bulk.do(w, text)
        for i in range(rounds):
            change(w, i)
        w.close()
        c.terminate()


def filled(kind, length, before):
    def change(w, i):
        for text in (before, bulk.fill(kind, length, ROWS)):
            bulk.do(w, text)
        same(wire.texts(bulk.do(w, "select count(*) from b")), [(str(ROWS),)])
    return change


def test_memory_of_dropped_tables():
    for kind, length in (("second", "text"), ("hash", "short"), ("none", "long")):
        made, dropped = bulk.create(kind, length)
        rows = ROWS if length != "long" else 10000

        def change(w, i):
            for text in made:
                bulk.do(w, text)
            bulk.do(w, bulk.fill(kind, length, rows))
            for text in dropped:
                bulk.do(w, text)
        comes_back(kind, length, change, rows=rows, made=False)


def test_memory_of_dropped_tables_by_copy():
    made, dropped = bulk.create("second", "text")

    def change(w, i):
        for text in made:
            bulk.do(w, text)
        bulk.copy_in(w, "second", "text", ROWS)
        for text in dropped:
            bulk.do(w, text)
    comes_back("second", "text", change, made=False)


def test_memory_of_truncate():
    comes_back("second", "text", filled("second", "text", "truncate b"))


def test_memory_of_deleted_rows():
    comes_back("second", "text", filled("second", "text", "delete from b"))


def test_memory_of_first_statements_in_blocks():
    def change(w, i):
        for text in ["truncate b", "begin", bulk.fill("hash", "text", ROWS), "commit"]:
            bulk.do(w, text)
        same(wire.texts(bulk.do(w, "select count(*) from b")), [(str(ROWS),)])
    comes_back("hash", "text", change)


def test_memory_of_cancelled_copy():
    def change(w, i):
        w.send("Q", b"copy b from stdin\0")
        w.until("G", "E")
        w.send("d", b"".join(b"%d\t%d\t%s\n" % (k, k % 1000, b"x%07d" % k * 13) for k in range(ROWS)))
        w.send("f", b"no\0")
        same([wire.fields(b)["C"] for k, b in w.until_ready() if k == "E"], ["57014"])
    comes_back("second", "text", change)


def test_memory_of_updates():
    def change(w, i):
        if i == 0:
            bulk.do(w, bulk.fill("second", "text", ROWS))
        bulk.do(w, "update b set k = k + 1000, v = %s" % bulk.value("text", "id + %d" % i))
    comes_back("second", "text", change, tables=3.5)


if __name__ == "__main__":
    house.main()
