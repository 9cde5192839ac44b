#!/usr/bin/env python3
"""TPC-C: the twelve conditions hold after a run, in this process, over a network, on a model, beside SQLite, and where processes
are killed. Speed is not judged here."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import tpcc_kills
from house import House, check, contains, run, same

FIGURES = ("throughput_tps", "new_order_tpm", "aborts_per_txn", "round_trips_per_new_order", "p50_us", "p99_us", "conditions_failed",
           "check_errors")


def tpcc(h, *args, more=()):
    r = run("bench", "tpcc", "--seconds", "0.3", "--json", *args, timeout=300, env=h.env)
    same(r.rc, 0, r)
    check("\r" not in r.err, "progress that moves the cursor is for terminals:", r.err)
    got = json.loads(r.out)
    same(got["bench"], "tpcc")
    m = got["metrics"]
    for k in FIGURES + tuple(more):
        check(isinstance(m.get(k), (int, float)), "the figure %s is a number:" % k, r.out)
    same((m["conditions_failed"], m["check_errors"]), (0, 0), r)
    check(m["throughput_tps"] > 0 and m["new_order_tpm"] > 0 and 0 < m["p50_us"] <= m["p99_us"], r.out)
    check(m["round_trips_per_new_order"] >= 5, r.out)
    return got


def test_native():
    with House() as h:
        got = tpcc(h)
        same((got["provider"], got["params"]["customers"], got["params"]["items"]), ("shm", 300, 10000))
        check("peer_sqlite_ratio" not in got["metrics"], got)


def test_sql():
    with House() as h:
        got = tpcc(h, "--api", "sql", "--workers", "2", "--clients", "2", "--warehouses", "2", "--peer", "sqlite",
                   more=("peer_sqlite_tps", "peer_sqlite_ratio"))
        same((got["provider"], got["params"]["api"], got["params"]["items"]), ("shm", "sql", 10000))


def test_two_workers_beside_sqlite():
    with House() as h:
        tpcc(h, "--workers", "2", "--clients", "3", "--warehouses", "2", "--runs", "2", "--peer", "sqlite",
             more=("peer_sqlite_tps", "peer_sqlite_ratio"))


def test_on_storage_nodes_over_tcp():
    with House(nodes=2, size="512m") as h:
        got = tpcc(h, "--storage", h.storage(), "--fabric", "tcp", "--secret-file", h.secret)
        same((got["provider"], got["params"]["embedded"]), ("tcp", False))


def test_sql_on_storage_nodes_over_tcp():
    with House(nodes=2, size="512m") as h:
        got = tpcc(h, "--api", "sql", "--storage", h.storage(), "--fabric", "tcp", "--secret-file", h.secret)
        same((got["provider"], got["params"]["embedded"]), ("tcp", False))
        same(h.do("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'tpcc%'").ok().out, "count\n0\n")


def test_steps_of_several_processes():
    steps("native")


def test_steps_of_several_processes_over_sql():
    steps("sql")


def steps(api):
    with House(nodes=1, size="512m") as h:
        at = ("--storage", h.storage(), "--secret-file", h.secret, "--api", api)
        for step in ("run", "check", "drop"):
            r = run("bench", "tpcc", "--only", step, *at, env=h.env)
            same((r.rc, r.out), (1, ""), r)
            contains(r.err, "no TPC-C tables are loaded here: --only load makes them")
        run("bench", "tpcc", "--only", "load", "--warehouses", "2", *at, env=h.env).ok()
        got = json.loads(run("bench", "tpcc", "--only", "run", "--seconds", "0.3", "--json", *at, env=h.env).ok().out)
        same(got["params"]["warehouses"], 2)
        check(got["metrics"]["commits"] > 0 and "conditions_failed" not in got["metrics"], got)
        got = json.loads(run("bench", "tpcc", "--only", "check", "--json", *at, env=h.env).ok().out)
        same(got["metrics"], {"conditions_failed": 0, "check_errors": 0})
        # A second load replaces what is told of the first.
        run("bench", "tpcc", "--only", "load", *at, env=h.env).ok()
        same(json.loads(run("bench", "tpcc", "--only", "check", "--json", *at, env=h.env).ok().out)["params"]["warehouses"], 1)
        run("bench", "tpcc", "--only", "drop", *at, env=h.env).ok()
        same(run("bench", "tpcc", "--only", "check", *at, env=h.env).rc, 1)


def test_on_a_model():
    r = run("bench", "tpcc", "--sim", "cx6", "--clients", "1,4", "--warehouses", "2", "--seconds", "0.002", "--json", timeout=120)
    same(r.rc, 0, r)
    got = json.loads(r.out)
    same([p["clients"] for p in got["points"]], [1, 4], got)
    for p in got["points"]:
        same(p["check_errors"], 0, p)
        check(p["throughput_tps"] > 0, p)


def test_processes_are_killed():
    """A SIGKILL every few seconds; ./go soak does it for 10 minutes, every 20 s."""
    if house.SANITIZE:
        house.skip("under a sanitizer three processes read their rows for longer than they live: tests/process/test_kills.py is for those")
    f = tpcc_kills.kills(tpcc_kills.options(["--seconds", house.rounds("30", "13"), "--every", house.rounds("5", "4"), "--pause", "2", "--node", "1g"]))
    check(f["kills"] >= house.rounds(4, 2) and f["orders"] > house.rounds(6000, 2000), f)


def test_processes_are_killed_over_sql():
    """Likewise, with prepared statements: rows have secondary indexes and foreign keys."""
    if house.SANITIZE:
        house.skip("see test_processes_are_killed")
    f = tpcc_kills.kills(tpcc_kills.options(["--seconds", house.rounds("16", "10"), "--every", house.rounds("4", "3"), "--pause", "2", "--node", "1g", "--api", "sql"]))
    check(f["kills"] >= house.rounds(3, 2) and f["orders"] > house.rounds(6000, 1500), f)


def test_bad_use():
    for args, why in (
            (("--warehouses", "0"), "--warehouses 0: that is not a value for this option"),
            (("--warehouses", "1001"), "that is not a value for this option"),
            (("--size", "large"), "that is not a value for this option"),
            (("--api", "rest"), "that is not a value for this option"),
            (("--peer", "oracle"), "that is not a value for this option"),
            (("--only", "everything"), "that is not a value for this option"),
            (("--workers", "0"), "that is not a value for this option"),
            (("--clients", "x"), "that is not a value for this option"),
            (("--seconds", "-1"), "that is not a value for this option"),
            (("--pause", "fast"), "that is not a value for this option"),
            (("more",), "there is a word too many"),
            (("--fabric", "tcp"), "--fabric tcp needs --storage"),
            (("--only", "run"), "--only needs --storage"),
            (("--only", "run", "--storage", "h:1", "--size", "spec"), "are those of --only load"),
            (("--only", "load", "--storage", "h:1", "--peer", "sqlite"), "--peer goes with a whole run"),
            (("--sim", "abacus"), ""),
            (("--sim", "cx6", "--warehouses", "0"), "")):
        r = run("bench", "tpcc", *args, timeout=20)
        same((r.rc, r.out), (2, ""), args)
        contains(r.err, why)
        same(len(r.err.strip().splitlines()), 1, r.err)
    contains(run("bench", "tpcc", "--help").ok().out, "--warehouses N", "--only STEP", "--peer sqlite")
    contains(run("bench", "tpcc", "--sim", "cx6", "--help").ok().out, "--warehouses N", "--clients")


if __name__ == "__main__":
    house.main()
