#!/usr/bin/env python3
"""One client of several is stopped for two seconds, or idle, slow or dead: the others' snapshots, under both ways to hand out
commit ids.

In virtual time the bounds are bench/oracle/oracle_test.c's. Here are real processes on a machine that may be busy: the
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
    if house.SANITIZE:
        house.skip("the code is that of the other scenes, and these seconds are waits")
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


def others(h, fabric):
    """All clients that are not paused, in one run: the storage node is told of the dead one, so nothing waits for its lease."""
    lease_ms, open_ms, pause_s = 3000, 200, 1
    for left in reversed(range(TRIES)):
        r, got = oracle(h, "--fabric", fabric, "--client", "none,idle,rare,slow,dead", "--pause", str(pause_s), "--lease",
                        str(lease_ms), "--open", str(open_ms), "--clients", "3", "--rate", "200", "--before", "0.3", "--after", "0.5")
        m = got["metrics"]
        if (r.rc == 0 and m["fetch_add_client_dead_age_ms"] < ROOM_MS and m["fetch_add_client_slow_age_ms"] < open_ms + ROOM_MS) or left == 0:
            break
    same((r.rc, m["check_errors"]), (0, 0), r.err)
    same(sorted(set(r["client"] for r in got["rows"])), ["dead", "idle", "none", "rare", "slow"])
    for client in ("none", "idle", "rare", "dead"):
        for what in ("age_ms", "missing_ms"):
            check(m["fetch_add_client_%s_%s" % (client, what)] < ROOM_MS, client, what, m)
    # The slow one stands in the way for as long as its claim is open.
    check(open_ms <= m["fetch_add_client_slow_age_ms"] < open_ms + ROOM_MS, m)
    check(m["fetch_add_client_slow_mean_age_ms"] > m["fetch_add_client_none_mean_age_ms"], m)
    for client in ("idle", "rare", "slow", "dead"):
        check(m["preassigned_client_%s_missing_ms" % client] > pause_s * 1000 * 0.9, client, m)
        check(m["preassigned_client_%s_after_mean_missing_ms" % client] > pause_s * 1000 * 0.8, "nor does it end", client, m)
    check(m["preassigned_client_none_missing_ms"] < ROOM_MS, m)
    # It stays dead under both, and the others commit under both.
    for scheme in ("fetch_add", "preassigned"):
        same(set(r["shut_out"] for r in got["rows"] if r["scheme"] == scheme and r["client"] == "dead"), {True})
        same(set(r["shut_out"] for r in got["rows"] if r["scheme"] == scheme and r["client"] != "dead"), {False})
        for client in ("none", "idle", "rare", "slow", "dead"):
            check(m["%s_client_%s_commits_per_s" % (scheme, client)] > 0, m)
            check(m["%s_client_%s_after_commits_per_s" % (scheme, client)] > 0, m)


def test_other_clients_over_shm():
    if not house.LONG:
        house.skip("the code is that of the clients over tcp, and these seconds are waits")
    with House() as h:
        others(h, "shm")


def test_other_clients_over_tcp():
    with House() as h:
        others(h, "tcp")


def test_all_clients_simulated():
    """In one table, and in one picture; on a model as fast as its machines."""
    if house.SANITIZE == "thread":
        house.skip("the simulated fabric has one thread: nothing for this sanitizer")
    with House() as h, tempfile.TemporaryDirectory() as dir:
        args = ("--fabric", "sim", "--pause", "2", "--rate", "100", "--client", "all")
        text = run("bench", "oracle", *args, timeout=60, env=h.env)
        same(text.rc, 0, text.err)
        contains(text.out, "claimed by FETCH_ADD", "dealt out beforehand", "none", "idle: it lives", "rare:", "slow:", "dead,",
                 "paused, while it had nothing to do", "during", "after", "check_errors")
        r, got = oracle(h, *args)
        same((r.rc, len([n for n in got["metrics"] if n.endswith("_mean_age_ms")])), (0, 16))
        same([r for r in got["rows"] if ("moment" in r) != (r["client"] == "paused")], [])
        args = ("--sim", "fdr4x", "--client", "none,dead", "--pause", "0.2", "--clients", "3")
        r, got = oracle(h, *args)
        same((r.rc, got["provider"], got["params"]["sim"], got["params"]["rate"]), (0, "sim", "fdr4x", 0), r.err)
        same(oracle(h, *args)[1], got)
        check(got["metrics"]["fetch_add_client_none_commits_per_s"] > 50000, got)
        check(got["metrics"]["preassigned_client_dead_after_age_ms"] > 200, got)
        check(got["metrics"]["fetch_add_client_dead_after_age_ms"] < 10, got)
        if shutil.which("gnuplot") is None:
            house.skip("gnuplot is not here")
        plot = os.path.join(dir, "all.svg")
        same(run("bench", "oracle", "--fabric", "sim", "--pause", "1", "--rate", "100", "--client", "all", "--plot", plot,
                 timeout=60, env=h.env).rc, 0)
        with open(plot, encoding="utf-8") as f:
            contains(f.read(), "<svg", "idle: it lives", "dead, with a commit id claimed")


def test_bad_arguments():
    with House() as h:
        for args in (("--pause", "0.1"), ("--pause", "x"), ("--moment", "never"), ("--moment", ""), ("--clients", "2"),
                     ("--clients", "17"), ("--rate", "-1"), ("--lease", "9"), ("--before", "0"), ("--fabric", "auto"),
                     ("--fabric", "pigeon"), ("--plot", "a.gif"), ("--plot-data",), ("--client", "ill"),
                     ("--client", ""), ("--open", "0"), ("--open", "5"), ("--client", "dead", "--moment", "claim"),
                     ("--sim", "fdr5x"), ("--sim", "cx6", "--fabric", "tcp"), ("--nonsense",), ("more",)):
            r = run("bench", "oracle", *args, timeout=20, env=h.env)
            same((r.rc, r.out), (2, ""), str(r))


if __name__ == "__main__":
    house.main()
