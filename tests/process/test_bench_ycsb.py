#!/usr/bin/env python3
"""YCSB: every workload ends with the data that it should have, in this process, over a network, on a model and beside its peers. Speed is
not judged here."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

SMALL = ("--records", "3000", "--seconds", "0.05", "--runs", "1")
INDEX = ("index_reads_per_lookup", "fallbacks_per_op", "retrains_per_s", "cache_bytes", "table_bytes", "inner_bytes")
FIGURES = ("operations", "throughput_ops", "p50_us", "p99_us", "p999_us", "aborts_per_op", "not_yet_seen_per_op", "verbs_per_op",
           "round_trips_per_op", "check_errors")


def ycsb(h, *args, more=()):
    r = run("bench", "ycsb", *SMALL, "--json", *args, timeout=120, env=h.env)
    same(r.rc, 0, r)
    got = json.loads(r.out)
    same(got["bench"], "ycsb")
    for m in FIGURES + tuple(more):
        check(isinstance(got["metrics"].get(m), (int, float)), "the figure %s is a number:" % m, r.out)
    m = got["metrics"]
    same(m["check_errors"], 0, r)
    check(m["throughput_ops"] > 0 and 0 < m["p50_us"] <= m["p99_us"] <= m["p999_us"], r.out)
    return got, r


def test_workloads():
    with House() as h:
        for w in "abcdf":
            got, r = ycsb(h, "--workload", w, "--cache", "hash")
            check("cache_bytes" not in got["metrics"], r.out)
            same(got["params"]["distribution"], "latest" if w == "d" else "zipf")
            new = int(r.err.split("check: ")[1].split("records, ")[1].split()[0])
            check((new > 0) == (w == "d"), r.err)
            # only writes take a second round trip, or more than one verb
            check((got["metrics"]["verbs_per_op"] > 1.2) == (w != "c"), r.out)


def test_caches():
    """The ordered index: what a client has of it decides how many READs a lookup takes, and never what it finds."""
    with House() as h:
        for cache in ("learned", "models", "ondemand", "tree", "none", "messages"):
            for w in "acde" if cache == "learned" else "cde" if house.LONG or (cache in ("tree", "none") and not house.SANITIZE) else "de":
                got, r = ycsb(h, "--workload", w, "--cache", cache, more=INDEX)
                same((got["params"]["cache"], got["params"]["through"]), (cache, "txn"))
                m = got["metrics"]
                new = int(r.err.split("check: ")[1].split("records, ")[1].split()[0])
                check((new > 0) == (w in "de"), r.err)
                if cache == "messages":
                    same(m["index_reads_per_lookup"], 0, r.out)
                if w == "c" and cache == "tree":
                    check(0.99 < m["index_reads_per_lookup"] < 1.05 and m["fallbacks_per_op"] == 0 and m["cache_bytes"] > 0, r.out)
                if w == "c" and cache == "none":
                    check(m["index_reads_per_lookup"] > 1.9 and m["cache_bytes"] == 0, r.out)
        two, _ = ycsb(h, "--workload", "c", "--cache", "tree", "--levels", "1", "--records", "20000", more=INDEX)
        check(two["metrics"]["index_reads_per_lookup"] > 1.9, two)
        for w in "cde":
            got, _ = ycsb(h, "--workload", w, "--through", "index", "--cache", "tree", "--parts", "7", "--fill", "60", "--workers", "2", more=INDEX)
            same(got["params"]["through"], "index")


def test_keys_and_values():
    with House() as h:
        for keys in ("linear", "noised", "lognormal", "osm"):
            for value in ("8", "32", "1024") if house.LONG or keys == "noised" else ("32",):
                got, _ = ycsb(h, "--workload", "a", "--keys", keys, "--value", value, "--distribution", "uniform")
                same((got["params"]["keys"], got["params"]["value"]), (keys, int(value)))
        with tempfile.TemporaryDirectory() as dir:
            path = os.path.join(dir, "keys")
            with open(path, "wb") as f:
                f.write(struct.pack("<5001Q", 5000, *range(1 << 40, (1 << 40) + 5000 * 977, 977)))
            ycsb(h, "--keys", "osm", "--keys-file", path)
            r = run("bench", "ycsb", *SMALL, "--keys", "osm", "--keys-file", path, "--records", "5001", timeout=60, env=h.env)
            same((r.rc, r.out), (1, ""), r)
            contains(r.err, "fewer keys than --records")
            r = run("bench", "ycsb", *SMALL, "--keys", "osm", "--keys-file", dir + "/none", timeout=60, env=h.env)
            same((r.rc, r.out), (1, ""), r)
            contains(r.err, "No such file")


def test_batches_and_workers():
    with House() as h:
        one, _ = ycsb(h, "--workload", "c", "--clients", "1")
        eight, _ = ycsb(h, "--workload", "c", "--clients", "1", "--batch", "8", "--workers", "2")
        # the reads of a batch share a doorbell
        check(eight["metrics"]["round_trips_per_op"] < 0.5 * one["metrics"]["round_trips_per_op"], (one, eight))
        r = run("bench", "ycsb", *SMALL, "--clients", "1,4", "--json", timeout=60, env=h.env)
        same(r.rc, 0, r)
        same([p["clients"] for p in json.loads(r.out)["points"]], [1, 4])


def test_over_tcp():
    with House(nodes=2, size="256m") as h:
        for w in "ad":
            got, _ = ycsb(h, "--cache", "learned", "--workload", w, "--storage", h.storage(), "--fabric", "tcp", "--secret-file", h.secret)
            same((got["provider"], got["params"]["embedded"]), ("tcp", False))


def test_array():
    with House() as h:
        got, _ = ycsb(h, "--workload", "c", "--peer", "array", more=("peer_array_ops", "peer_array_ratio", "peer_array_interleaved_ops"))
        check(got["metrics"]["peer_array_ops"] > 0, got)
        for bad in (("--workload", "a"), ("--workload", "c", "--value", "32")):
            r = run("bench", "ycsb", *SMALL, "--peer", "array", *bad, timeout=20, env=h.env)
            same((r.rc, r.out, r.err.count("\n")), (2, "", 1), r)


def servers():
    return subprocess.run(["pgrep", "-f", "/namdb-redis-"], capture_output=True, text=True, check=False).stdout.split()


def test_redis():
    with House() as h, tempfile.TemporaryDirectory() as dir:
        r = run("bench", "ycsb", *SMALL, "--peer", "redis", timeout=20, env=dict(h.env, PATH=dir))
        same((r.rc, r.out, r.err.count("\n")), (1, "", 1), r)
        contains(r.err, "apt install redis-server")
        same(run("bench", "ycsb", *SMALL, "--peer", "redis", "--workload", "e", timeout=20, env=h.env).rc, 2)
        # a redis-server that does not serve
        with open(os.path.join(dir, "redis-server"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexit 1\n")
        os.chmod(os.path.join(dir, "redis-server"), 0o755)
        r = run("bench", "ycsb", *SMALL, "--peer", "redis", timeout=20, env=dict(h.env, PATH=dir + ":/usr/bin:/bin"))
        same((r.rc, r.out), (1, ""), r)
        contains(r.err, "ended before it served")
        if shutil.which("redis-server") is None:
            house.skip("redis-server is not here")
        before = servers()
        for w in "abcdf":
            got, _ = ycsb(h, "--workload", w, "--peer", "redis", "--value", "32", more=("peer_redis_ops", "peer_redis_ratio"))
            check(got["metrics"]["peer_redis_ops"] > 0, got)
        ycsb(h, "--peer", "redis,array", "--workers", "2", more=("peer_redis_ratio", "peer_array_ratio"))
        same(set(servers()) - set(before), set(), "no server is left")


def test_model():
    if os.environ.get("NAM_SANITIZE") == "thread":
        house.skip("one thread plays each run")
    args = ("bench", "ycsb", "--sim", "cx6", "--records", "3000", "--seconds", "0.001", "--clients", "1,8", "--nodes", "2+2", "--json")
    for w, more in (("a", ("--cache", "hash")), ("c", ("--cache", "tree")), ("d", ("--cache", "tree")), ("e", ("--cache", "messages")),
                    ("c", ("--cache", "none", "--through", "index"))):
        first = run(*args, "--workload", w, *more, timeout=60)
        same(first.rc, 0, first)
        points = json.loads(first.out)["points"]
        same([(p["clients"], p["check_errors"]) for p in points], [(1, 0), (8, 0)])
        check(points[1]["throughput_tps"] > 3 * points[0]["throughput_tps"], points)
        same(run(*args, "--workload", w, *more, timeout=60).out, first.out, "one seed, one run")


def test_paper_model():
    """XStore's figure 10, C: READs of cached leaves are limited by the node's ports, messages by its cores at 20 to 28 M/s."""
    if os.environ.get("NAM_SANITIZE") == "thread":
        house.skip("one thread plays each run")
    rates = {}
    for cache in ("tree", "messages", "none"):
        r = run("bench", "ycsb", "--sim", "xstore", "--workload", "c", "--distribution", "uniform", "--through", "index", "--records", "20000",
                "--nodes", "15+1", "--parts", "24", "--coroutines", "4", "--clients", "720", "--seconds", "0.001", "--json", "--cache", cache,
                timeout=120)
        same(r.rc, 0, r)
        point, = json.loads(r.out)["points"]
        same((point["check_errors"], point["limit"]), (0, "the node's cores" if cache == "messages" else "the node's port, out"), r.out)
        check(point["utilisation"] > 0.95, r.out)
        rates[cache] = point["throughput_tps"]
    check(65e6 < rates["tree"] < 82e6 and 20e6 < rates["messages"] < 28e6 and rates["none"] < 0.5 * rates["tree"], rates)


def test_picture():
    with House() as h, tempfile.TemporaryDirectory() as dir:
        if shutil.which("gnuplot") is None:
            house.skip("gnuplot is not here")
        plot = os.path.join(dir, "ycsb.svg")
        same(run("bench", "ycsb", *SMALL, "--clients", "1,2", "--plot", plot, timeout=60, env=h.env).rc, 0)
        with open(plot, encoding="utf-8") as f:
            contains(f.read(), "<svg", "YCSB C, 3000 linear keys, zipf", "clients on each worker")


def test_bad_arguments():
    for bad in (("--workload", "g"), ("--workload", "ab"), ("--workload", ""), ("--records", "15"), ("--records", "x"),
                ("--distribution", "normal"), ("--distribution", "latest"), ("--keys", "random"), ("--keys-file", "x"),
                ("--value", "16"), ("--value", "0"), ("--batch", "0"), ("--batch", "9"), ("--cache", "all"), ("--peer", "mysql"),
                ("--workers", "0"), ("--clients", "0"), ("--clients", "1,x"), ("--seconds", "0"), ("--fabric", "tcp"),
                ("--workload", "e", "--cache", "hash"), ("--levels", "2"), ("--cache", "hash", "--levels", "2"), ("--parts", "0"), ("--fill", "49"),
                ("--through", "sql"), ("--through", "index", "--workload", "a"), ("--through", "index", "--value", "32"),
                ("--through", "index", "--cache", "hash"), ("--plot", "x.gif"), ("--plot-data",), ("more",), ("--nonsense",),
                ("--sim", "none"), ("--sim", "cx6", "--workload", "g"), ("--sim", "cx6", "--peer", "redis"), ("--sim", "cx6", "more")):
        r = run("bench", "ycsb", *bad, timeout=20)
        same((r.rc, r.out), (2, ""), (bad, r))
        check(len(r.err.splitlines()) == 1, (bad, r))
    r = run("bench", "ycsb", "--help", timeout=20)
    same((r.rc, r.err), (0, ""), r)
    contains(r.out, "usage: namdb bench ycsb", "--workload", "--peer", "--sim", "redis")


if __name__ == "__main__":
    house.main()
