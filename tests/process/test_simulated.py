#!/usr/bin/env python3
"""Histories of the simulated cluster, with its timestamps, before `namdb check`: the judge that shares no code with them."""
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import house
import subprocess
from house import House, check, contains, same

SIM = os.environ.get("NAM_SIM", os.path.join(os.path.dirname(house.NAMDB), "tests", "sim", "sim_txn"))
SEEDS = 16 if house.SLOW == 1 else 4


def recorded(h, seed):
    path = os.path.join(h.dir, "%d.jsonl" % seed)
    p = subprocess.run([SIM, "--seed", str(seed), "--history", path], capture_output=True, text=True, timeout=120 * house.SLOW,
                       env=house.clean_env(h.env))
    check(p.returncode == 0, p.stdout[-2000:] + p.stderr[-2000:])
    return path


def judged(h, path, *more):
    r = house.run("check", "--json", *more, path, env=h.env, timeout=120)
    check(r.rc in (0, 1), r)
    return json.loads(r.out)


def test_seeds():
    levels, ok = {}, 0
    with House() as h:
        for seed in range(1, SEEDS + 1):
            path = recorded(h, seed)
            what = judged(h, path)
            check(what["clean"], "seed %d:" % seed, house.run("check", path, env=h.env).out[:3000])
            check(what["timestamps"], "the simulator tells its timestamps")
            levels[what["level"]] = levels.get(what["level"], 0) + 1
            ok += what["ok"]
    print("  %d seeds, %d transactions, levels %s" % (SEEDS, ok, levels))
    check(ok > SEEDS * 100)
    if house.SLOW == 1:
        same(sorted(levels), ["read-committed", "session-serializable", "session-snapshot"], "all levels were there")


def changed(path, to, change):
    """Writes a copy in which change(transaction) was done to one that it takes. Which one it was."""
    lines = open(path).read().splitlines()
    order = list(range(1, len(lines) - 1))
    random.Random(7).shuffle(order)
    for i in order:
        t = json.loads(lines[i])
        if change(t):
            lines[i] = json.dumps(t)
            with open(to, "w") as f:
                f.write("\n".join(lines) + "\n")
            return t["id"]
    raise AssertionError("nothing to change")


def first_reads(t):
    own = set()
    for op in t["ops"]:
        if op[0] == "w":
            own.add(op[1])
        elif op[0] == "r" and op[1] not in own:
            yield op


def forget(t):
    for op in first_reads(t):
        if op[2] is not None and t["status"] == "ok":
            op[2] = None
            return True
    return False


def invent(t):
    for op in first_reads(t):
        op[2] = 7
        return True
    return False


def move_back(t):
    """Its commit is said to be older than what it had seen."""
    if "commit_ts" in t and t["start_ts"] > 0:
        t["commit_ts"] = t["start_ts"]
        return True
    return False


def test_changes_are_seen():
    with House() as h:
        for seed in range(1, min(SEEDS, 6) + 1):
            path = recorded(h, seed)
            for change, names in ((forget, {"wrong version", "non-repeatable read", "internal"}),
                                  (invent, {"garbage", "wrong version", "non-repeatable read"}),
                                  (move_back, {"commit before start", "commit timestamp given twice"})):
                other = os.path.join(h.dir, "changed.jsonl")
                who = changed(path, other, change)
                what = judged(h, other, "--witnesses", "100")
                check(not what["clean"], "seed %d: %s is not seen" % (seed, change.__name__))
                told = {f["anomaly"] for f in what["findings"] if who in [t["id"] for t in f["transactions"]]}
                check(told & names, "seed %d, %s, transaction %d:" % (seed, change.__name__, who), what["findings"][:3])


if __name__ == "__main__":
    house.main()
