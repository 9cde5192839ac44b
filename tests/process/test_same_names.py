#!/usr/bin/env python3
"""Sessions of several processes run the same CREATE ... IF NOT EXISTS or DROP ... IF EXISTS at once: one does it, the others say so in a NOTICE."""
import collections
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import wire
from house import Compute, House, check, same
from wire import Wire

CLIENTS, TURNS = 6, 12
# What makes something, and what drops it.
PAIRS = [
    ("CREATE TABLE IF NOT EXISTS t%d (x integer PRIMARY KEY, y text UNIQUE, z serial)", "DROP TABLE IF EXISTS t%d"),
    ("CREATE TABLE IF NOT EXISTS a%d AS SELECT 1 AS a", "DROP TABLE IF EXISTS a%d"),
    ("CREATE SEQUENCE IF NOT EXISTS q%d", "DROP SEQUENCE IF EXISTS q%d"),
    ("CREATE SCHEMA IF NOT EXISTS s%d", "DROP SCHEMA IF EXISTS s%d"),
    ("CREATE INDEX IF NOT EXISTS i%d ON base (x)", "DROP INDEX IF EXISTS i%d"),
]
# These have no IF NOT EXISTS.
DROPS = [
    ("CREATE VIEW v%d AS SELECT 1", "DROP VIEW IF EXISTS v%d"),
    ("CREATE ROLE r%d", "DROP ROLE IF EXISTS r%d"),
    ("CREATE TYPE e%d AS ENUM ('a')", "DROP TYPE IF EXISTS e%d"),
    ("CREATE DOMAIN d%d AS integer", "DROP DOMAIN IF EXISTS d%d"),
]


def at_once(clients, text):
    """What each of them was answered."""
    got, gate = [None] * len(clients), threading.Barrier(len(clients))

    def run(i):
        gate.wait()
        got[i] = clients[i].query(text)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(clients))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return got


def judge(text, got):
    """No error, and all but one have a NOTICE."""
    kinds = collections.Counter(k for answer in got for k, _ in answer)
    errors = [wire.fields(b)["M"] for answer in got for k, b in answer if k == "E"]
    same(errors, [], text)
    same(kinds["N"], len(got) - 1, "notices of " + text)


def test_alone():
    with House(nodes=1) as h:
        nodes = [Compute(h) for _ in range(2)]
        clients = [Wire(nodes[i % 2].port, timeout=60) for i in range(CLIENTS)]
        clients[0].query("CREATE TABLE base (x integer)")
        for i in range(TURNS):
            for make, drop in PAIRS:
                judge(make % i, at_once(clients, make % i))
                judge(drop % i, at_once(clients, drop % i))
            for make, drop in DROPS:
                clients[0].query(make % i)
                judge(drop % i, at_once(clients, drop % i))
        for w in clients:
            w.close()


def test_first_of_a_transaction():
    """As the first statement of a block, and of a text of several."""
    with House(nodes=1) as h:
        nodes = [Compute(h) for _ in range(2)]
        clients = [Wire(nodes[i % 2].port, timeout=60) for i in range(CLIENTS)]
        for i in range(TURNS):
            for form in ("CREATE TABLE IF NOT EXISTS t%d (x integer); INSERT INTO t%d VALUES (1)",
                         "BEGIN; CREATE TABLE IF NOT EXISTS t%d (x integer); INSERT INTO t%d VALUES (1); COMMIT"):
                text = form % (i, i)
                judge(text, at_once(clients, text))
                same(wire.texts(clients[0].query("SELECT count(*) FROM t%d" % i)), [(str(CLIENTS),)], "rows of " + text)
                clients[0].query("DROP TABLE t%d" % i)
        for w in clients:
            w.close()


def test_what_is_no_race():
    """A name that is in the way for good is still said, and soon."""
    with House(nodes=1) as h:
        s = h.shell()
        s.ok("CREATE TABLE taken (x integer); CREATE VIEW v AS SELECT 1 AS a")
        s.fails("CREATE TABLE taken (x integer)", "42P07")
        s.fails("CREATE TABLE IF NOT EXISTS other (x integer CONSTRAINT taken UNIQUE)", "42P07")
        s.fails("DROP TABLE IF EXISTS v", "42809")
        s.fails("CREATE TABLE IF NOT EXISTS other (x nothing)", "42704")
        check("NOTICE" in s.ok("CREATE TABLE IF NOT EXISTS taken (y text)"), "a notice")
        s.close()


if __name__ == "__main__":
    house.main()
