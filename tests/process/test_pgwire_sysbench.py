#!/usr/bin/env python3
"""sysbench's oltp_* and its other SQL loads at `namdb compute`, by the pgsql driver: prepare, run, cleanup, each with statements
prepared in the server and in the client; the tables hold what the loads leave."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same, skip
from wire import Wire, texts

TABLES, ROWS, EVENTS = 2, 500, 120
shared = None


def server():
    global shared
    if shared is None:
        if shutil.which("sysbench") is None:
            skip("there is no sysbench here")
        shared = Compute(House(nodes=1, size="512m"))
    return shared


def sysbench(load, phase, *more, tables=TABLES, threads=4):
    """One phase of a load; what it printed."""
    p = subprocess.run(["sysbench", "--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-port=%d" % server().port, "--pgsql-user=sb",
                        "--pgsql-db=sb", "--threads=%d" % threads, *(["--tables=%d" % tables, "--table-size=%d" % ROWS] if tables else []),
                        *more, load, phase], capture_output=True, text=True, timeout=120 * house.SLOW)
    out = p.stdout + p.stderr
    check(p.returncode == 0 and "FATAL" not in out, "sysbench %s %s:" % (load, phase), out)
    return out


def run(load, *more, events=EVENTS, **how):
    out = sysbench(load, "run", "--time=0", "--events=%d" % events, *more, **how)
    same(int(re.search(r"total number of events: +(\d+)", out).group(1)), events, "%s: events" % load)
    return out


def value(sql):
    w = Wire(server().port)
    got = texts(w.query(sql))[0]
    w.close()
    return got[0]


def both_ways(load, **how):
    """With statements prepared in the server, and with texts."""
    sysbench(load, "prepare", **how)
    for mode in ("auto", "disable"):
        run(load, "--db-ps-mode=" + mode, **how)


def test_reads():
    both_ways("oltp_read_only")
    for mode in ("auto", "disable"):
        run("oltp_point_select", "--db-ps-mode=" + mode)
    same(value("SELECT count(*) FROM sbtest1"), str(ROWS), "reads change nothing")
    sysbench("oltp_read_only", "cleanup")
    for load in ("select_random_points", "select_random_ranges"):
        both_ways(load, tables=1)
        sysbench(load, "cleanup", tables=1)


def test_updates():
    for load in ("oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index"):
        both_ways(load)
        for t in range(1, TABLES + 1):
            # Each transaction deletes a row and inserts one with the same key.
            same(value("SELECT count(*) || ' ' || min(id) || ' ' || max(id) FROM sbtest%d" % t), "%d 1 %d" % (ROWS, ROWS), load)
            same(value("SELECT count(*) FROM sbtest%d WHERE k > 0" % t), str(ROWS), "%s: by the index on k" % load)
        sysbench(load, "cleanup")


def test_inserts_and_deletes():
    both_ways("oltp_insert")
    rows = sum(int(value("SELECT count(*) FROM sbtest%d" % t)) for t in range(1, TABLES + 1))
    same(rows, TABLES * ROWS + 2 * EVENTS, "oltp_insert")
    sysbench("oltp_insert", "cleanup")
    both_ways("oltp_delete")
    rows = sum(int(value("SELECT count(*) FROM sbtest%d" % t)) for t in range(1, TABLES + 1))
    check(TABLES * ROWS - 2 * EVENTS <= rows < TABLES * ROWS, "oltp_delete leaves", rows)
    sysbench("oltp_delete", "cleanup")


def test_bulk_insert():
    """Texts of 512 KiB."""
    sysbench("bulk_insert", "prepare", tables=0, threads=2)
    run("bulk_insert", events=100000, tables=0, threads=2)
    rows = [int(value("SELECT count(*) FROM sbtest%d" % t)) for t in (1, 2)]
    same(sum(rows), 100000, "rows %s" % rows)
    same(value("SELECT max(id) FROM sbtest1"), str(rows[0]))
    sysbench("bulk_insert", "cleanup", tables=0, threads=2)


def test_options():
    """Keys that the client chooses, statements outside transaction blocks, no index on k, ranges of a thousand rows."""
    for load, *option in (("oltp_insert", "--auto-inc=off"), ("oltp_read_write", "--skip-trx=on"),
                          ("oltp_read_only", "--create-secondary=off", "--range-size=1000")):
        sysbench(load, "prepare", *option)
        run(load, *option)
        sysbench(load, "cleanup", *option)


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            try:
                shared.terminate()
            finally:
                shared.house.__exit__(None, None, None)
