#!/usr/bin/env python3
"""The bench runs, its figures are there, and the data is right at its end. Speed is not judged here."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

METRICS = ("throughput_tps", "p50_us", "p99_us", "p999_us", "aborts_per_txn", "verbs_per_txn",
           "round_trips_per_txn", "bytes_per_txn", "check_errors")
FLOOR = ("floor_tps", "floor_ratio")


def bench(h, *args, more=()):
    r = run("bench", "tpcw", "--seconds", str(house.rounds(1, 0.2)), "--products", "2000", "--json", *args, timeout=120, env=h.env)
    check(r.rc == 0, r)
    check("\r" not in r.err, "progress that moves the cursor is for terminals:", r.err)
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


def test_questions_beside_checkouts():
    """At one snapshot every answer is the first one; what a worker beside the clients' does is in no way of theirs."""
    more = ("beside_tps", "beside_ratio", "beside_p99_us", "beside_cpu_ratio", "worker_cpu_us_per_txn", "beside_worker_cpu_us_per_txn")
    with House() as h:
        for load in ("products", "sales", "all", "snapshot", "memory"):
            got = bench(h, "--api", "sql", "--transactions", str(house.rounds(3000, 1000)), "--runs", "2", "--clients", "4", "--beside", load, more=more)
            m = got["metrics"]
            same(got["params"]["beside"], load)
            check(m["beside_ratio"] > 0 and m["beside_cpu_ratio"] > 0, m)
            same("query_p50_ms" in m, load not in ("snapshot", "memory"), m)
            if "queries" in m:
                check(m["queries"] >= 2 and 0 < m["query_p50_ms"] <= m["query_p99_ms"], m)
        for bad in (("--beside", "products"), ("--api", "sql", "--beside", "everything")):
            same(run("bench", "tpcw", *bad, timeout=20, env=h.env).rc, 2, str(bad))


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
    if house.SANITIZE == "thread":
        house.skip("minutes of one worker's sums: nothing for this sanitizer that other tests have not")
    with House() as h:
        # Most of the time is SQLite's, over the joins; sql/test_real_data.py asks such questions too.
        lists = house.rounds(("joins", "singles"), ("singles",))
        r = run("bench", "sql", "--data", house.DATA, "--list", house.rounds("all", "singles"), "--runs", "1", "--json", timeout=300, env=h.env)
        check(r.rc == 0, r)
        got = json.loads(r.out)
        same([got["metrics"][l]["check_errors"] for l in lists], [0] * len(lists), r.err)
        same({q["list"] for q in got["questions"]}, set(lists))
        same(len([q for q in got["questions"] if q["list"] == "joins"]), house.rounds(20, 0))
        check(all(got["metrics"][l]["questions"] == len([q for q in got["questions"] if q["list"] == l]) > 0 for l in lists), r.out)
        check(all(q["ratio"] > 0 and q["rows"] > 0 for q in got["questions"]), r.out)
        for args in ((), ("--data", "/nowhere"), ("--data", house.DATA, "--runs", "0"),
                     ("--data", house.DATA, "--list", "some")):
            same(run("bench", "sql", *args, timeout=20, env=h.env).rc, 2, str(args))


OPS = ("read", "write", "cas", "fetch_add", "message", "rpc")


def verbs(h, *args, code=0):
    r = run("bench", "verbs", "--seconds", "0.05", "--runs", "1", "--json", *args, timeout=120, env=h.env)
    same(r.rc, code, r)
    got = json.loads(r.out)
    same(got["bench"], "verbs")
    same(got["metrics"]["check_errors"], 0, r.out)
    check(all(v > 0 for k, v in got["metrics"].items() if k != "check_errors"), r.out)
    for p in got["points"]:
        check(p["ops_per_s"] > 0 and p["client_ns_per_op"] > 0 and 0 < p["p50_us"] <= p["p99_us"], p)
        check(abs(p["mb_per_s"] - p["ops_per_s"] * p["bytes"] / 1e6) <= 1e-3 * p["mb_per_s"], p)
    return got


def shape(got):
    """What was measured, in this order."""
    return [(p["op"], p["bytes"], p["depth"]) for p in got["points"]]


def test_verbs():
    """Every verb of every provider that needs no device; the answers of all are checked by the bench itself."""
    small = [(op, 8, d) for d in (1, 16) for op in OPS]
    large = [(op, 65536, d) for d in (1, 16) for op in ("read", "write", "message", "rpc")]
    with House() as h:
        for args, provider, served in ((("--fabric", "tcp"), "tcp", True), (("--fabric", "shm"), "shm", True),
                                       ((), "shm", True), (("--embedded",), "shm", False)):
            got = verbs(h, "--size", "8,64k", *args)
            same(got["provider"], provider)
            same(shape(got), small + large)
            for p in got["points"]:
                same("server_ns_per_op" in p, served or p["op"] in ("rpc", "message"), p)
                check(p["op"] != "rpc" and provider != "tcp" or p["server_ns_per_op"] > 0, p)
            same(("read8_%s_ratio" % provider) in got["metrics"], True, got)


def join(*args, code=0):
    r = run("bench", "join", "--rows", "30000,50000", "--runs", "1", "--json", *args, timeout=120)
    same(r.rc, code, r)
    got = json.loads(r.out)
    same(got["bench"], "join")
    for p in got.get("points", [got]):
        m = p["metrics"]
        same(m["check_errors"], 0, r)
        check(m["join_s"] > 0 and m["floor_s"] > 0 and m["c_mem_ns_per_byte"] > 0, m)
    return got


def test_join():
    """Every algorithm, on mapped memory and over sockets; the bench knows how many pairs there are."""
    same(join()["metrics"]["pairs"], 50000)
    same(join("--algorithm", "rdma-ghj", "--workers", "2")["metrics"]["pairs"], 50000)
    same(join("--algorithm", "broadcast", "--payload", "24")["metrics"]["pairs"], 50000)
    got = join("--selectivity", "0,0.5,1", "--skew", "1.2", "--workers", "2", "--bits", "4")
    pairs = [p["metrics"]["pairs"] for p in got["points"]]
    check(pairs[0] == 0 and 24000 < pairs[1] < 26000 and pairs[2] == 50000, pairs)
    got = join("--fabric", "tcp", "--workers", "2")
    same(got["provider"], "tcp")
    check(got["metrics"]["estimate_network_s"] > 0 and got["metrics"]["estimate_s"] > 0, got)
    same(join("--rows", "100,900000", "--algorithm", "auto")["params"]["algorithm"], "broadcast")
    got = join("--processes", "3", "--workers", "2")
    same((got["params"]["processes"], got["provider"]), (3, "shm"), got)
    got = join("--processes", "2", "--rows", "400000", "--runs", "2", "--late", "--kill")
    m = got["metrics"]
    check(all(m[k] > 0 for k in ("one_s", "one_ratio", "late_s", "late_one_ratio", "killed_s", "killed_ratio", "killed_one_ratio")), m)
    check(0 <= m["late_share"] < 1, m)
    got = join("--processes", "2", "--rows", "100000", "--fabric", "tcp", "--kill")
    same(got["provider"], "tcp")
    r = run("bench", "join", "--rows", "1000", "--runs", "1", "--peer", "duckdb", timeout=60, env=dict(os.environ, NAMDB_DUCKDB="/nowhere"))
    same(r.rc, 0, r)
    contains(r.err, "duckdb is skipped")
    for bad in (("--rows", "0"), ("--payload", "9"), ("--kill",), ("--late",), ("--pin", "0,1"), ("--pin", "x"),
                ("--processes", "2", "--pin", "0"), ("--workers", "32", "--processes", "3"), ("--selectivity", "2"), ("--algorithm", "sort"), ("--peer", "mysql")):
        same(run("bench", "join", *bad, timeout=20).rc, 2, str(bad))


def test_join_with_a_late_process():
    """It comes in the middle, and does a part of the work; the cores are those that are asked for."""
    mine = sorted(os.sched_getaffinity(0))
    pin = ",".join(str(c) for c in (mine * 2)[:2])
    for rows in ("400000", "2000000", "4000000", "8000000"): # on a busy machine it may come when all is taken
        got = join("--processes", "2", "--late", "--rows", rows, "--pin", pin)
        same(got["params"]["pinned"], True, got)
        if got["metrics"]["late_share"] > 0:
            break
    check(0 < got["metrics"]["late_share"] < 1, got)
    same(join("--processes", "2", "--pin", "none")["params"]["pinned"], False)
    same(join("--processes", "2")["params"]["pinned"], len(mine) > 1)
    same(join("--pin", str(mine[0]))["params"]["pinned"], True)
    none = next(c for c in range(1024) if c not in mine)
    r = run("bench", "join", "--rows", "1000", "--pin", str(none), timeout=20)
    same(r.rc, 1, r)
    contains(r.err, "core %d is not ours to run on" % none)


def test_join_of_tables():
    """Rows of namdb's tables, at one snapshot: their blocks, and columns kept of them."""
    def tables(*args):
        r = run("bench", "join", "--from", "tables", "--rows", "30000,50000", "--runs", "1", "--json", *args, timeout=120)
        same(r.rc, 0, r)
        got = json.loads(r.out)
        same(got["params"]["from"], "tables", got)
        for p in got.get("points", [got]):
            same(p["metrics"]["check_errors"], 0, r)
            check(p["metrics"]["cold_s"] > 0 and p["metrics"]["kept_s"] > 0, r.out)
        return [p["metrics"]["pairs"] for p in got.get("points", [got])]
    same(tables("--workers", "2"), [50000])
    none, half = tables("--selectivity", "0,0.5", "--algorithm", "rdma-ghj", "--payload", "24", "--skew", "1.1")
    check(none == 0 and 24000 < half < 26000, (none, half))
    for bad in (("--processes", "2"), ("--algorithm", "broadcast"), ("--algorithm", "ghj"), ("--storage", "localhost:1"), ("--kill",), ("--pin", "0")):
        same(run("bench", "join", "--from", "tables", *bad, timeout=20).rc, 2, str(bad))
    same(run("bench", "join", "--from", "files", timeout=20).rc, 2)


def test_join_by_messages():
    """Processes that share nothing: the same pairs, with filters and without; filters keep tuples out, and the model chooses them."""
    def ghj(*args):
        r = run("bench", "join", "--rows", "30000,50000", "--runs", "2", "--json", *args, timeout=120)
        same(r.rc, 0, r)
        got = json.loads(r.out)
        same(got["provider"], "sockets")
        return [p["metrics"] for p in got.get("points", [got])]
    for processes in ("1", "2", "5"):
        plain, = ghj("--algorithm", "ghj", "--processes", processes)
        same((plain["check_errors"], plain["pairs"], plain["kept_out_share"], plain["filter_bytes"]), (0, 50000, 0, 0), plain)
        none, half = ghj("--algorithm", "ghj-bloom", "--processes", processes, "--selectivity", "0,0.5", "--payload", "16")
        same((none["check_errors"], none["pairs"], half["check_errors"]), (0, 0, 0))
        check(24000 < half["pairs"] < 26000 and none["kept_out_share"] > 0.7 > half["kept_out_share"] > 0.3, (none, half))
        same(processes == "1", half["filter_bytes"] == 0, half)
    # One node sends nothing: a filter is more work for no byte less, if every tuple has a partner.
    same(ghj("--algorithm", "ghj-auto", "--processes", "1")[0]["filters"], 0)
    for bad in (("--workers", "2"), ("--kill", "--processes", "2"), ("--peer", "duckdb"), ("--bits", "3"), ("--storage", "localhost:1")):
        same(run("bench", "join", "--algorithm", "ghj", *bad, timeout=20).rc, 2, str(bad))


def test_agg():
    """Few groups and many, even and skewed; the bench knows each group's sum."""
    for args, provider in (((), "shm"), (("--algorithm", "classic", "--workers", "2"), "shm"), (("--fabric", "tcp", "--hint"), "tcp")):
        r = run("bench", "agg", "--rows", "90000", "--groups", "1,70,40000", "--runs", "1", "--json", *args, timeout=120)
        same(r.rc, 0, r)
        got = json.loads(r.out)
        same((got["bench"], got["provider"]), ("agg", provider), got)
        same([p["metrics"]["check_errors"] for p in got["points"]], [0, 0, 0], r)
        same([p["metrics"]["groups"] for p in got["points"]][:2], [1, 70], got)
    r = run("bench", "agg", "--rows", "50000", "--groups", "20000", "--skew", "1.5", "--runs", "1", timeout=60)
    same(r.rc, 0, r)
    for bad in (("--groups", "0"), ("--skew", "-1"), ("--algorithm", "sort"), ("--peer", "mysql")):
        same(run("bench", "agg", *bad, timeout=20).rc, 2, str(bad))


def test_twopc_for_real():
    """Over sockets, and over message rings of storage nodes: every checkout is checked by the bench itself."""
    for args in (("2pc-tcp",), ("2pc-messages",), ("2pc-messages", "--fabric", "tcp")):
        r = run("bench", "tpcw", "--protocol", *args, "--clients", "1,3", "--nodes", "1+2", "--products", "200", "--seconds", "0.3",
                "--json", timeout=60)
        same(r.rc, 0, r)
        got = json.loads(r.out)
        same((got["protocol"], got["resource_managers"], [p["clients"] for p in got["points"]]), (args[0], 2, [1, 3]), got)
        for p in got["points"]:
            same(p["check_errors"], 0, p)
            check(p["throughput_tps"] > 0 and 0 < p["p50_us"] <= p["p99_us"] and p["cpu_us_per_txn"] > 0, p)
        # 200 products: they meet
        check(got["points"][1]["aborts_per_txn"] > 0, got)
    for bad in (("--protocol", "2pc-tcp", "--sim", "fdr4x"), ("--protocol", "2pc-messages", "--fabric", "sim"),
                ("--sim", "fdr4x", "--protocol", "pigeon")):
        r = run("bench", "tpcw", *bad, timeout=20)
        same((r.rc, r.out), (2, ""), bad)


def test_verbs_longest():
    """Longer than one verb may be, and so few at once that buffers stay of a sane size."""
    if house.SANITIZE == "thread":
        house.skip("minutes of one worker's copies: the threads are those of test_verbs")
    with House() as h:
        for fabric in ("tcp", "shm"):
            got = verbs(h, "--size", "32m", "--op", "write,read,rpc", "--depth", "16", "--fabric", fabric)
            same(shape(got), [("read", 32 << 20, 2), ("write", 32 << 20, 2), ("rpc", 32 << 20, 2)])
            check("read32m_mb_per_s" in got["metrics"], got)


def test_verbs_on_storage_nodes():
    """Two nodes that are not ours: what they spend is not known, and the memory is given back."""
    if house.SANITIZE == "thread":
        house.skip("258 MiB emptied word by word under this sanitizer take longer than a client's patience")
    with House(nodes=2, size="256m") as h:
        on = ("--storage", h.storage(), "--secret-file", h.secret, "--op", "read,cas", "--size", "8")
        for _ in range(3):  # 128 MiB of each node's 256, each time
            got = verbs(h, "--fabric", "tcp", *on)
            same(got["provider"], "tcp")
            same([("server_ns_per_op" in p) for p in got["points"]], [False] * 4)
        r = run("bench", "verbs", "--storage", "127.0.0.1:1", "--secret-file", h.secret, timeout=20, env=h.env)
        same((r.rc, r.out), (1, ""), r)
        contains(r.err, "127.0.0.1:1")


def test_verbs_interrupted():
    """^C: what was measured is told, and told to be cut."""
    with House() as h:
        p = subprocess.Popen([house.NAMDB, "bench", "verbs", "--seconds", "0.02", "--runs", "99", "--json"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=house.clean_env(h.env))
        time.sleep(2 * house.SLOW)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        same(p.returncode, 0, err)
        got = json.loads(out)
        same(got["params"]["interrupted"], True)
        check(0 < len(got["points"]), out)
        check(all(q["runs"] > 0 for q in got["points"]), out)


def test_verbs_picture():
    if house.SANITIZE == "thread":
        house.skip("the threads are those of test_verbs; a picture has none")
    with House() as h, tempfile.TemporaryDirectory() as dir:
        plot = os.path.join(dir, "it's.svg")
        args = ("bench", "verbs", "--seconds", "0.01", "--size", "8,64", "--plot", plot)
        r = run(*args, timeout=60, env=dict(h.env, PATH=dir))
        same((r.rc, r.out), (1, ""), r)
        contains(r.err, "gnuplot-nox")
        if shutil.which("gnuplot") is None:
            house.skip("gnuplot is not here")
        for more, left in (((), ["it's.svg"]), (("--plot-data",), ["it's.svg", "it's.svg.dat"])):
            r = run(*args, *more, timeout=60, env=h.env)
            same(r.rc, 0, r)
            same(sorted(os.listdir(dir)), left)
            with open(plot, encoding="utf-8") as f:
                contains(f.read(), "<svg", "fetch_add", "throughput, depth 16")
            os.unlink(plot)
        with open(plot + ".dat", encoding="utf-8") as f:
            rows = [l.split() for l in f if l.strip() and not l.startswith("#")]
        same([r[0] for r in rows], (["8", "64"] * 2 + ["8"] * 2 + ["8", "64"] * 2) * 2)


def test_verbs_bad_arguments():
    with House() as h:
        for args in (("--op", "pigeon"), ("--op", ""), ("--size", "7"), ("--size", "12"), ("--size", "33m"),
                     ("--size", "8,"), ("--depth", "0"), ("--depth", "1025"), ("--depth", "1,2,3,4,5,6,7,8,9"),
                     ("--seconds", "x"), ("--seconds", "nan"), ("--runs", "0"), ("--fabric", "sim"),
                     ("--pin", "0"), ("--pin", "0,1,2"), ("--plot", "a.gif"), ("--plot-data",), ("--nonsense",),
                     ("more",), ("--embedded", "--fabric", "tcp"), ("--embedded", "--storage", "127.0.0.1:1")):
            r = run("bench", "verbs", *args, timeout=20, env=h.env)
            same((r.rc, r.out), (2, ""), str(r))


def messages(h, *args):
    r = run("bench", "messages", "--seconds", "0.05", "--runs", "1", "--json", *args, timeout=120, env=h.env)
    same(r.rc, 0, r)
    got = json.loads(r.out)
    same((got["bench"], got["metrics"]["check_errors"]), ("messages", 0), r.out)
    for p in got["points"]:
        check(p["calls_per_s"] > 0 and 0 < p["p50_us"] <= p["p99_us"], p)
    return got


def test_messages():
    with House() as h:
        for fabric in ("shm", "tcp"):
            got = messages(h, "--clients", "1,3", "--fabric", fabric, "--bytes", "16k", "--out", "4")
            same(got["provider"], fabric)
            same([(p["mode"], p["clients"]) for p in got["points"]],
                 [("polling", 1), ("events", 1), ("polling", 3), ("events", 3)])
            check(all(p["node_cores"] > 0 for p in got["points"]), got)
            check(got["metrics"]["events_idle_node_cores"] < 0.05, got)
        got = messages(h, "--clients", "2,16", "--mode", "polling")
        check(got["metrics"]["polling_p50_16_over_2"] > 0 and "events_idle_node_cores" not in got["metrics"], got)


def test_messages_on_a_storage_node():
    """Daemons host the echo, unless they are told not to."""
    with House(nodes=1, size="64m") as h:
        for fabric in ("shm", "tcp"):
            got = messages(h, "--storage", h.storage(), "--secret-file", h.secret, "--clients", "2", "--fabric", fabric)
            check(all("node_cores" not in p for p in got["points"]), got)


def test_messages_bad_arguments():
    with House() as h:
        for args in (("--clients", "0"), ("--clients", "65"), ("--clients", ""), ("--mode", "pigeon"), ("--bytes", "7"),
                     ("--bytes", "17k"), ("--out", "0"), ("--out", "65"), ("--seconds", "x"), ("--runs", "0"),
                     ("--fabric", "sim"), ("--plot", "a.gif"), ("--plot-data",), ("--nonsense",), ("more",)):
            r = run("bench", "messages", *args, timeout=20, env=h.env)
            same((r.rc, r.out), (2, ""), str(r))


def test_bad_arguments():
    with House() as h:
        for args in (("--workers", "0"), ("--api", "pigeon"), ("--seconds", "x"), ("--nonsense",), ("more",)):
            r = run("bench", "tpcw", *args, timeout=20, env=h.env)
            same(r.rc, 2, str(r))
        same(run("bench", "nothing", timeout=20, env=h.env).rc, 2)


if __name__ == "__main__":
    house.main()
