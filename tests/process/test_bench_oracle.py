#!/usr/bin/env python3
"""One client of several is stopped for two seconds: the others' snapshots, under both ways to hand out commit ids.

In virtual time the bounds are bench/oracle_test.c's. Here are real processes on a machine that may be busy: the
lease is longer, so that only the stopped process loses it, and bounds leave room.
"""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

PAUSE_S = 2
LEASE_MS = 500
ROOM_MS = 900  # for recovery, and for a machine that does something else
TRIES = 3      # a process that was not stopped may still have had no turn for a lease, or the watching ones not enough turns


def oracle(h, *args):
    r = run("bench", "oracle", "--json", *args, timeout=120, env=h.env)
    check("\r" not in r.err, "progress that moves the cursor is for terminals:", r.err)
    got = json.loads(r.out)
    same(got["bench"], "oracle")
    return r, got


def row_at(got, scheme, to_s):
    return [r for r in got["rows"] if r["scheme"] == scheme and r["to_s"] == to_s][0]


def stopped(h, fabric, moment):
    for left in reversed(range(TRIES)):
        r, got = oracle(h, "--fabric", fabric, "--moment", moment, "--pause", str(PAUSE_S), "--lease", str(LEASE_MS),
                        "--clients", "3", "--rate", "200", "--before", "0.3", "--after", "0.5")
        m = got["metrics"]
        fits = m["fetch_add_%s_age_ms" % moment] < LEASE_MS + ROOM_MS
        if r.rc == 0 and fits and row_at(got, "fetch_add", PAUSE_S)["shut_out"] == (moment == "claim") or left == 0:
            break
    same((r.rc, m["check_errors"]), (0, 0), r.err)
    same(got["provider"], fabric)
    check(m["fetch_add_%s_age_ms" % moment] < LEASE_MS + ROOM_MS, got)
    check(m["fetch_add_%s_missing_ms" % moment] < LEASE_MS + ROOM_MS, got)
    # To the very end of the pause: it ends when its client comes back, and not before. Where clients have had fewer turns than
    # the one that is stopped, they first use up the ids before its next one: that is missing already, and not yet old.
    last = row_at(got, "preassigned", PAUSE_S)
    check(last["missing_ms"] > PAUSE_S * 1000 - 100 and last["age_ms"] > PAUSE_S * 1000 - 900, last)
    check(not last["shut_out"], last)
    last = row_at(got, "fetch_add", PAUSE_S)
    check(last["commits_per_s"] > 0, last)
    same(last["shut_out"], moment == "claim", last)
    return m


def test_stopped_with_a_claim_over_shm():
    """The stopped process maps the node's memory, so it is killed."""
    with House() as h:
        m = stopped(h, "shm", "claim")
        check(m["fetch_add_claim_age_ms"] > LEASE_MS * 0.7, "it was in the way until its lease was over", m)


def test_stopped_with_a_claim_over_tcp():
    """It wakes, and finds that it is fenced."""
    with House() as h:
        m = stopped(h, "tcp", "claim")
        check(m["fetch_add_claim_age_ms"] > LEASE_MS * 0.7, "it was in the way until its lease was over", m)


def test_stopped_while_idle():
    """It holds nothing, and comes back as if nothing had been."""
    with House() as h:
        stopped(h, "tcp", "idle")


def test_simulated():
    """The same seed tells the same, and the picture is drawn."""
    if house.SANITIZE == "thread":
        house.skip("the simulated fabric has one thread: nothing for this sanitizer")
    with House() as h, tempfile.TemporaryDirectory() as dir:
        args = ("--fabric", "sim", "--pause", "10", "--rate", "100", "--seed", "7")
        r, got = oracle(h, *args)
        same((r.rc, got["metrics"]["check_errors"]), (0, 0), r.err)
        same(oracle(h, *args)[1], got)
        for moment in ("claim", "commit", "idle"):
            check(got["metrics"]["fetch_add_%s_age_ms" % moment] < 150, got)
            check(got["metrics"]["preassigned_%s_age_ms" % moment] >= 9900, got)
        same([r["to_s"] for r in got["rows"] if r["scheme"] == "fetch_add" and r["moment"] == "claim"],
             [0, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 11])
        text = run("bench", "oracle", *args, "--moment", "idle", timeout=60, env=h.env)
        contains(text.out, "claimed by FETCH_ADD", "dealt out beforehand", "100 - 200 ms", "5 - 10 s", "after")
        if shutil.which("gnuplot") is None:
            house.skip("gnuplot is not here")
        plot = os.path.join(dir, "it's.svg")
        same(run("bench", "oracle", *args, "--plot", plot, "--plot-data", timeout=60, env=h.env).rc, 0)
        same(sorted(os.listdir(dir)), ["it's.svg", "it's.svg.dat"])
        with open(plot, encoding="utf-8") as f:
            contains(f.read(), "<svg", "preassigned", "fetch_add")


def test_bad_arguments():
    with House() as h:
        for args in (("--pause", "0.1"), ("--pause", "x"), ("--moment", "never"), ("--moment", ""), ("--clients", "2"),
                     ("--clients", "17"), ("--rate", "-1"), ("--lease", "9"), ("--before", "0"), ("--fabric", "auto"),
                     ("--fabric", "pigeon"), ("--plot", "a.gif"), ("--plot-data",), ("--nonsense",), ("more",)):
            r = run("bench", "oracle", *args, timeout=20, env=h.env)
            same((r.rc, r.out), (2, ""), str(r))


if __name__ == "__main__":
    house.main()
