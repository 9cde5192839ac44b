#!/usr/bin/env python3
"""TPC-C by several processes on one cluster, one of which is killed (SIGKILL) again and again; its twelve conditions at the end.

    tests/tpcc_kills.py [--seconds S] [--every S] [--fabric F] [--processes N] [--warehouses N] [--pause MS] [--node SIZE]
                        [--api native|sql] [--json]

A process that is killed is followed by another. All others must end by themselves, with exit code 0. One more process then
scans the tables. Exit code 0: the conditions hold, nothing is locked, and there were kills.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
from house import House, check, same

READY = 60  # seconds that a process may take to attach and read the rows, or to end


class Process:
    def __init__(self, h, o, number, seconds):
        self.out, self.err = h.file("out-%d" % number, ""), h.file("err-%d" % number, "")
        args = ["bench", "tpcc", "--only", "run", *cluster(h, o), "--clients", o.clients, "--pause", o.pause, "--seed", number + 1,
                "--seconds", max(round(seconds, 2), 0.05), "--json"]
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.p = subprocess.Popen([house.NAMDB] + [str(a) for a in args], stdout=out, stderr=err, env=house.clean_env(h.env))
        self.killed = False

    def said(self):
        with open(self.out) as out, open(self.err) as err:
            return out.read(), err.read()


def cluster(h, o):
    return ["--storage", h.storage(), "--fabric", o.fabric, "--secret-file", h.secret, "--api", o.api]


def one(h, o, *args, timeout=600):
    r = house.run("bench", "tpcc", *cluster(h, o), *args, timeout=timeout, env=h.env)
    check(r.rc == 0, r)
    return r


def kills(o):
    """Figures of the run."""
    dice = random.Random(o.seed)
    f = {"fabric": o.fabric, "api": o.api, "seconds": o.seconds, "seed": o.seed, "processes": 0, "kills": 0, "commits": 0, "aborts": 0}
    with House(nodes=2, size=o.node) as h:
        one(h, o, "--only", "load", "--warehouses", o.warehouses, "--size", o.size)
        end = time.monotonic() + o.seconds
        ps = [Process(h, o, i, o.seconds) for i in range(o.processes)]
        try:
            next_at = time.monotonic() + o.every
            while time.monotonic() < end:
                time.sleep(0.05)
                for p in ps:
                    check(p.p.poll() in (None, 0) or p.killed, "a process ended by itself:", *p.said())
                if time.monotonic() < next_at or end - time.monotonic() < min(o.every, 3):
                    continue
                next_at += o.every
                victim = dice.choice([p for p in ps if p.p.poll() is None])
                victim.killed = True
                victim.p.kill()
                victim.p.wait()
                f["kills"] += 1
                ps.append(Process(h, o, len(ps), end - time.monotonic()))
            for p in ps:
                p.p.wait(timeout=READY * house.SLOW)
        finally:
            for p in ps:
                if p.p.poll() is None:
                    p.p.kill()
                    p.p.wait()
        f["processes"] = len(ps)
        for p in ps:
            if p.killed:
                continue
            out, err = p.said()
            same(p.p.returncode, 0, err)
            m = json.loads(out)["metrics"]
            same(m["check_errors"], 0, err)
            f["commits"] += int(m["commits"])
            f["aborts"] += round(m["aborts_per_txn"] * m["commits"])
        r = one(h, o, "--only", "check", "--json")
        m = json.loads(r.out)["metrics"]
        same((m["conditions_failed"], m["check_errors"]), (0, 0), r.err)
        f["orders"] = int(r.err.split("check: ")[-1].split()[0])
        one(h, o, "--only", "drop")
        gone = house.run("bench", "tpcc", *cluster(h, o), "--only", "check", env=h.env)
        same((gone.rc, gone.out), (1, ""), gone)
    check(f["kills"] > 0, "there were no kills")
    check(f["commits"] > 0, "nothing was committed")
    return f


def options(args=None):
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--seconds", type=float, default=600)
    a.add_argument("--every", type=float, default=20)
    a.add_argument("--fabric", default="shm")
    a.add_argument("--api", default="native")
    a.add_argument("--processes", type=int, default=3)
    a.add_argument("--clients", type=int, default=4)
    a.add_argument("--warehouses", type=int, default=2)
    a.add_argument("--size", default="small")
    a.add_argument("--pause", type=float, default=5)
    a.add_argument("--node", default="3g")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--json", action="store_true")
    return a.parse_args(args)


def main():
    o = options()
    f = kills(o)
    if o.json:
        print(json.dumps(f))
    else:
        print("TPC-C (%(api)s API) over %(fabric)s for %(seconds)g s: %(kills)d of %(processes)d processes killed, %(orders)d orders, %(commits)d "
              "transactions of the processes that were not, %(aborts)d of their attempts lost to a conflict; all 12 conditions hold" % f)


if __name__ == "__main__":
    main()
