#!/usr/bin/env python3
"""The bench runs, its figures are there, and the data is right at its end. Speed is not judged here."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

METRICS = ("throughput_tps", "p50_us", "p99_us", "p999_us", "aborts_per_txn", "verbs_per_txn",
           "round_trips_per_txn", "bytes_per_txn", "check_errors")
FLOOR = ("floor_tps", "floor_ratio")


def bench(h, *args, more=()):
    r = run("bench", "tpcw", "--seconds", "1", "--products", "2000", "--json", *args, timeout=120, env=h.env)
    check(r.rc == 0, r)
    got = json.loads(r.out)
    same(got["bench"], "tpcw")
    for m in METRICS + tuple(more):
        check(isinstance(got["metrics"].get(m), (int, float)), "the figure %s is a number:" % m, r.out)
    same(got["metrics"]["check_errors"], 0, r.err)
    check(got["metrics"]["throughput_tps"] > 0)
    return got


def test_native():
    with House() as h:
        got = bench(h, more=FLOOR)
        same(got["provider"], "shm")
        # 2 round trips to the answer, and what lies behind it; far from one per verb.
        check(got["metrics"]["round_trips_per_txn"] < 12, got)


def test_sql():
    with House() as h:
        bench(h, "--api", "sql", "--clients", "4")


def test_two_workers_beside_sqlite():
    if house.SANITIZE == "thread":
        house.skip("the floor's threads copy shared products plainly, on purpose: it measures memory, not a protocol")
    with House() as h:
        bench(h, "--workers", "2", "--peer", "sqlite", more=("peer_sqlite_tps", "peer_sqlite_ratio"))


def test_on_storage_nodes_over_tcp():
    with House(nodes=2, size="256m") as h:
        got = bench(h, "--storage", h.storage(), "--fabric", "tcp", "--secret-file", h.secret)
        same(got["provider"], "tcp")


def test_questions_beside_sqlite():
    """SQLite's answers, question by question; where the real files are."""
    if not os.path.isdir(house.DATA):
        house.skip("the CSV files are not there: " + house.DATA)
    with House() as h:
        r = run("bench", "sql", "--data", house.DATA, "--list", "all", "--runs", "1", "--json", timeout=300, env=h.env)
        check(r.rc == 0, r)
        got = json.loads(r.out)
        same([got["metrics"][l]["check_errors"] for l in ("joins", "singles")], [0, 0], r.err)
        same(len([q for q in got["questions"] if q["list"] == "joins"]), 20)
        same(got["metrics"]["joins"]["questions"], 20)
        check(all(q["ratio"] > 0 and q["rows"] > 0 for q in got["questions"]), r.out)
        for args in ((), ("--data", "/nowhere"), ("--data", house.DATA, "--runs", "0"),
                     ("--data", house.DATA, "--list", "some")):
            same(run("bench", "sql", *args, timeout=20, env=h.env).rc, 2, str(args))


def test_bad_arguments():
    with House() as h:
        for args in (("--workers", "0"), ("--api", "pigeon"), ("--seconds", "x"), ("--nonsense",), ("more",)):
            r = run("bench", "tpcw", *args, timeout=20, env=h.env)
            same(r.rc, 2, str(r))
        same(run("bench", "nothing", timeout=20, env=h.env).rc, 2)


if __name__ == "__main__":
    house.main()
