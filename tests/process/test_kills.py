#!/usr/bin/env python3
"""Compute processes that are killed and stopped under load: the short form of tests/kills.py, with margins for a busy machine. And
what a process finds that was stopped for so long that it has been fenced."""
import os
import re
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import house
import kills
from house import House, check, contains, same, until

SEED = int(os.environ.get("NAM_SEED", "1"))
SECONDS = house.rounds(15, 10)
LEASE_MS = 300 * house.SLOW  # on a busy machine processes may stall for more than 0.1 s


def one_form(fabric, seed):
    """Its figures, and what there was too little of to say anything."""
    o = kills.options(["--fabric", fabric, "--seed", str(seed), "--minutes", str(SECONDS / 60.0), "--round", str(SECONDS),
                       "--lease", str(LEASE_MS), "--long", "3"])
    total = kills.rounds(o)
    total.table()
    f = total.figures()
    same(total.bad, [], "what is wrong")
    # The test may get no processor for a while: the bound of the slowest has a margin, that of the median has none.
    same(total.beyond(10), [], "beyond ten times the bounds")
    locks, few = f["locks_gone_leases"], []
    # Under sanitizers the leases are seconds: there it is the sanitizer that judges, and the histories.
    if house.SLOW == 1:
        if locks["n"] < 2:
            few.append("killed with a lock held")
        else:
            check(locks["p50"] <= 2, "locks of the dead are gone within two leases:", locks)
        stopped = f["locks_gone_stopped_leases"]
        check(stopped["n"] == 0 or stopped["p50"] >= 0.8, "a stopped process has its lease:", stopped)
    if f["kills"] < 2 or f["stops"] < 2:
        few.append("faults")
    if f["transactions"]["ok"] < 500:
        few.append("transactions")
    if f["snapshot_age_ms"]["quiet"]["n"] < 100:
        few.append("snapshots")
    return f, few


def short_form(fabric):
    """Each fault takes leases, so on a slow machine one round may have too few of them: then there is another."""
    for seed in (SEED, SEED + 1000, SEED + 2000):
        f, few = one_form(fabric, seed)
        if not few:
            return
    check(False, "too few:", few, f)


def test_tcp():
    short_form("tcp")


def test_shm():
    short_form("shm")


def stopped(h, shell, seconds):
    shell.p.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    shell.p.send_signal(signal.SIGCONT)


def lock_of(fabric, h):
    """A shell with a row locked and changed, and another one."""
    a = h.shell("--lease", LEASE_MS, fabric=fabric)
    a.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer)")
    b = h.shell(fabric=fabric)
    a.ok("INSERT INTO t VALUES (1, 1), (2, 2)")
    a.ok("SET lock_timeout = '20s'")
    b.ok("BEGIN")
    b.ok("UPDATE t SET v = 5 WHERE k = 1")
    return a, b


def test_short_pause_is_no_news():
    for fabric in ("tcp", "shm"):
        with House(nodes=2) as h:
            a = h.shell("--lease", 2000, fabric=fabric)
            a.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer)")
            b = h.shell(fabric=fabric)
            a.ok("INSERT INTO t VALUES (1, 1)")
            b.ok("BEGIN")
            b.ok("UPDATE t SET v = 5 WHERE k = 1")
            stopped(h, b, 0.3)
            b.ok("COMMIT")
            until(lambda: a.value("SELECT v FROM t") == "5", 5, fabric + ": what it committed is seen")


def test_shut_out_over_tcp_is_told():
    """If a shell stalls for longer than its lease, it prints one line and one error, and ends with code 1."""
    with House(nodes=2) as h:
        a, b = lock_of("tcp", h)
        b.p.send_signal(signal.SIGSTOP)
        a.ok("UPDATE t SET v = v + 10 WHERE k = 1", 30)
        b.p.send_signal(signal.SIGCONT)
        b.send("COMMIT;")
        b.send("SELECT 'not reached';")
        until(lambda: b.p.poll() is not None, 20, "the shell ends")
        same(b.p.returncode, 1, "its exit code")
        said = b.p.stdout.read().decode()
        same(said.count("ERROR:  57P01: this process "), 1, said)
        # It was fenced while it stalled, or was asked when it woke: each has its own words.
        check(re.search("was silent for longer than its lease|its heart had not beaten for too long", said), said)
        contains(said, "HINT:  Uncommitted work has been rolled back. Connect again")
        same(said.splitlines()[-1], "namdb: this shell ends, because its process has been fenced from the cluster")
        for never in ("is gone", "not reached", "cannot be freed", "58030"):
            check(never not in said, never, "is said:", said)
        same(a.value("SELECT v FROM t WHERE k = 1"), "11", "what it had not committed is not there")
        c = h.shell(fabric="tcp")
        same(c.value("SELECT v FROM t WHERE k = 1"), "11", "a new shell")


def test_typed_at_it_connects_again():
    """A shell at a terminal hears it once, takes a new place in the cluster, and goes on with what is typed next."""
    with House(nodes=2) as h:
        a, b = lock_of("tcp", h)
        t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret, "--fabric", "tcp")
        t.expect(r"=> ?$")
        b.ok("ROLLBACK")
        t.send("BEGIN; UPDATE t SET v = 7 WHERE k = 1;\n")
        t.expect(r"UPDATE 1\n")
        t.expect(r"\*> ?$")
        os.kill(t.pid, signal.SIGSTOP)
        a.ok("UPDATE t SET v = v + 10 WHERE k = 1", 30)
        os.kill(t.pid, signal.SIGCONT)
        t.send("COMMIT;\n")
        t.expect(r"57P01: this process [^\n]+\n")
        t.expect(r"The connection to the cluster was lost. Attempting reset: Succeeded.\n", 30)
        t.expect(r"=> ?$")
        t.send("SELECT 'v is ' || v AS s FROM t WHERE k = 1;\n")
        t.expect(r"v is 11\n")
        t.expect(r"=> ?$")
        # And when there is nothing to connect to, it ends.
        t.send("BEGIN; UPDATE t SET v = 7 WHERE k = 1;\n")
        t.expect(r"\*> ?$")
        os.kill(t.pid, signal.SIGSTOP)
        a.ok("UPDATE t SET v = v + 10 WHERE k = 1", 30)
        h.nodes[1].terminate()
        os.kill(t.pid, signal.SIGCONT)
        t.send("COMMIT;\n")
        t.expect(r"Attempting reset: Failed.\nnamdb: this shell ends: [^\n]*%s" % h.nodes[1].address, 30)
        same(t.end(), 1)
        a.drop()
        b.drop()


def test_shut_out_with_memory_mapped_is_killed():
    with House(nodes=2) as h:
        a, b = lock_of("shm", h)
        b.p.send_signal(signal.SIGSTOP)
        a.ok("UPDATE t SET v = v + 10 WHERE k = 1", 30)
        until(lambda: b.p.poll() is not None, 20, "the process is ended")
        same(b.p.returncode, -signal.SIGKILL)
        same(a.value("SELECT v FROM t WHERE k = 1"), "11")


def test_who_is_at_rest_may_sleep():
    for fabric in ("tcp", "shm"):
        with House(nodes=2) as h:
            a, b = lock_of(fabric, h)
            b.ok("COMMIT")
            time.sleep(0.5 if house.SLOW == 1 else 2)
            stopped(h, b, (10 if house.SLOW == 1 else 1.5) * LEASE_MS / 1000)
            same(b.value("SELECT v FROM t WHERE k = 1"), "5", fabric)


def test_gone_node_is_told_as_before():
    with House(nodes=2) as h:
        a = h.shell(fabric="tcp")
        a.ok("CREATE TABLE t (k integer PRIMARY KEY)")
        for n in h.nodes:
            n.kill()
        contains(a.fails("SELECT * FROM t", "58030"), "a storage node or its memory is gone")
        a.drop()


if __name__ == "__main__":
    house.main()
