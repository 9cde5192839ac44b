#!/usr/bin/env python3
"""`namdb bench pgbench`: a short run beside PostgreSQL, its figures, its refusals, and what it leaves behind."""
import glob
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import check, contains, run, same, skip

POSTGRES = "/usr/lib/postgresql/15/bin"


def leftovers():
    return set(glob.glob("/tmp/namdb-pgbench-*") + glob.glob("/dev/shm/namdb-pg*") + glob.glob("/var/tmp/namdb-*"))


def need():
    if not os.access(POSTGRES + "/pgbench", os.X_OK):
        skip("there is no pgbench of PostgreSQL 15 here")


def test_figures():
    need()
    before = leftovers()
    r = run("bench", "pgbench", "--seconds", "1", "--runs", "1", "--scale", "1", "--clients", "1,4", "--json", timeout=170).ok()
    got = json.loads(r.out)
    same((got["bench"], got["params"]["scale"], got["params"]["mode"]), ("pgbench", 1, "prepared"))
    for script in ("select", "tpcb"):
        for clients in (1, 4):
            m = {k: got["metrics"]["%s_prepared_%d_%s" % (script, clients, k)] for k in (
                "ratio", "tps", "p99_us", "postgres_tps", "postgres_p99_us", "failed_percent_max")}
            check(all(v > 0 for k, v in m.items() if k != "failed_percent_max"), m)
            same(m["failed_percent_max"], 0, "%s %d" % (script, clients))
            check(abs(m["ratio"] - m["tps"] / m["postgres_tps"]) < 0.01 * m["ratio"], "the ratio of one run:", m)
    check(leftovers() <= before, "nothing is left:", leftovers() - before)


def test_alone():
    need()
    r = run("bench", "pgbench", "--seconds", "1", "--runs", str(house.rounds(2, 1)), "--scale", "1", "--clients", "2", "--scripts", "tpcb", "--mode", "simple",
            "--workers", "1", "--alone", timeout=170).ok()
    contains(r.out, "tpcb_simple_2_tps", "tpcb_simple_2_p99_us")
    check("postgres" not in r.out and "select_" not in r.out, r.out)


def test_durable():
    need()
    before = leftovers()
    for level in ("on", "off"):
        r = run("bench", "pgbench", "--seconds", "1", "--runs", "1", "--scale", "1", "--clients", "2", "--scripts", "tpcb", "--sync", level,
                "--json", timeout=170).ok()
        m = json.loads(r.out)["metrics"]
        check(m["sync_us"] > 0 and m["tpcb_prepared_2_cpu_us"] > 0 and m["tpcb_prepared_2_ratio"] > 0, level, m)
    check(leftovers() <= before, "nothing is left:", leftovers() - before)


def test_refusals():
    for words in (["--seconds", "0.5"], ["--clients", "x"], ["--clients", "0"], ["--mode", "fast"], ["--scripts", "tpcc"], ["--sync", "often"], ["--scale", "0"],
                  ["more"]):
        r = run("bench", "pgbench", *words).fails(2)
        same(r.out, "")
    contains(run("bench", "pgbench", "--help").ok().out, "usage: namdb bench pgbench", "--json")


def test_interrupted():
    """SIGTERM in the middle: servers and folders go."""
    need()
    before = leftovers()
    p = subprocess.Popen([house.NAMDB, "bench", "pgbench", "--seconds", "30", "--scale", "1"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, env=house.clean_env())
    try:
        house.until(lambda: len(leftovers() - before) >= 3, 60, "its servers start")
        time.sleep(1)
        p.send_signal(signal.SIGTERM)
        same(p.wait(timeout=60 * house.SLOW), 1)
    finally:
        if p.poll() is None:
            p.kill()
            p.wait()
    check(leftovers() <= before, "nothing is left:", leftovers() - before)


if __name__ == "__main__":
    house.main()
