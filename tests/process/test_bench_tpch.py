#!/usr/bin/env python3
"""TPC-H at scale 0.01: the data are loaded, all 22 questions answered; beside PostgreSQL 15, where there is one, alike.

At that size a few questions find nothing; that all find what PostgreSQL finds is what counts.
"""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

SMALL = ["--scale", "0.01", "--pool", "4", "--runs", "1"]


def has_postgres():
    return any(os.access(d + "/initdb", os.X_OK) for d in ("/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin"))


def test_questions():
    h = House()
    peer = ["--peer", "postgres"] if has_postgres() else []
    r = run("bench", "tpch", "--json", *SMALL, *peer, timeout=300, env=h.env)
    got = json.loads(r.out)
    same(got["bench"], "tpch")
    same([q["number"] for q in got["questions"]], list(range(1, 23)))
    same(got["metrics"]["check_errors"], 0)
    rows = sum(q["rows"] > 0 for q in got["questions"])
    check(rows >= 16, "only %d questions found rows" % rows)
    same("ratio_max" in got["metrics"], bool(peer))
    if peer:
        check(all(q["same_answer"] for q in got["questions"]), got["questions"])
    else:
        print("  no PostgreSQL 15 on this machine: nothing to compare with")


def test_data_alone():
    h = House()
    d = tempfile.mkdtemp(prefix="nam-tpch-")
    try:
        run("bench", "tpch", *SMALL, "--out", d, "--only-data", env=h.env).ok()
        first = {f: open(os.path.join(d, f), "rb").read() for f in os.listdir(d)}
        same(sorted(first), sorted(t + ".tbl" for t in (
            "region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem")))
        same([first[t + ".tbl"].count(b"\n") for t in ("supplier", "part", "partsupp", "customer", "orders")],
             [100, 2000, 8000, 1500, 15000])
        run("bench", "tpch", *SMALL, "--out", d, "--only-data", env=h.env).ok()
        check(all(open(os.path.join(d, f), "rb").read() == b for f, b in first.items()), "another run, other data")
        run("bench", "tpch", *SMALL, "--seed", "2", "--out", d, "--only-data", env=h.env).ok()
        check(open(os.path.join(d, "orders.tbl"), "rb").read() != first["orders.tbl"], "another seed, the same data")
    finally:
        shutil.rmtree(d)


def test_bad_use():
    h = House()
    for args, why in ((["--scale", "0.005"], "0.005"), (["--scale", "x"], "x"), (["--queries", "23"], "23"),
                      (["--only-data"], "--out"), (["--peer", "oracle"], "oracle")):
        r = run("bench", "tpch", *args, env=h.env).fails(2)
        contains(r.err, why)


if __name__ == "__main__":
    house.main()
