#!/usr/bin/env python3
"""kills.py -- compute processes are killed (kill -9) and stopped (SIGSTOP, SIGCONT) under load: what do the others notice?

usage: tests/kills.py [options]

  --fabric F         shm or tcp (default tcp)
  --minutes M        how long in all (default 1)
  --round S          a new cluster, with the next load and level, every S seconds (default 60)
  --processes N      compute processes at a time (default 3)
  --sessions N       clients of each (default 2)
  --seed N           of the faults: which process, when, for how long (default: the time)
  --long S           the longest pause, once a round if it is long enough (default 10)
  --lease MS         of the cluster (default 100)
  --json             the figures as one JSON object instead of the table
  --keep DIR         leave histories that do not hold there
  --holders N        instead: N processes that hold a row's lock are killed one after the other, each with another process waiting for
                     that row; and --pauses N of them are stopped (default 10). No other load: on a quiet machine

Exit code 0: histories hold and all is within bounds; 1: not so; 2: it could not be run.

Measured, not believed (tests/record/probe.h):
locks gone    from the moment a process is killed, or stopped for longer than its lease, with a row locked by an open transaction,
              until another process has updated that row, in leases. Bound: 2 leases.
snapshot age  from the moment a count is answered in one process until a snapshot of another one shows it; what a reader had to
              wait is in it. Bound: 2 leases (a lease, and a recovery that takes no longer), and what looking itself takes: the 99th percentile of
              quiet times.
"around faults" is whatever overlaps the time from a kill or stop (a stopped process: until it goes on) to half a second later.
With --holders, in ms from kill(2) or SIGSTOP to the answer of the process that waits. Bounds: 50 ms for the 99th percentile of the killed;
1.2 leases for each of the stopped.
A process stopped for less than half a lease must not notice; one stopped for three leases or more must find out what happened and end,
or be dead (on shm, where it has the memory mapped).
"""
import argparse
import bisect
import json
import os
import random
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import histories
import house
from house import House, check

AFTER = 0.5  # what still counts as around a fault
# Pauses in leases: below one, about one, above it.
SHORT, MEDIUM, LONG = [0.1, 0.3, 0.45], [0.7, 1, 1.5], [3.5, 6, 15]
THINK_MS = 30  # at most, between transactions
MS = 1000000
LOADS = [("list", "rr", False), ("bank", "rr", False), ("checkout", "rr", False), ("list", "rc", False), ("register", "rr", True),
         ("list", "ser", False), ("bank", "rc", False), ("register", "ser", False), ("list", "rr", True), ("bank", "ser", True),
         ("checkout", "rc", False)]


def quantiles(values):
    """p50, p99 and the greatest; None of nothing."""
    v = sorted(values)
    return {"n": len(v), "p50": v[len(v) // 2] if v else None, "p99": v[len(v) * 99 // 100] if v else None,
            "max": v[-1] if v else None}


class Fault:
    def __init__(self, what, client, pause=0.0):
        self.what, self.client, self.pause, self.asked = what, client, pause, pause
        self.at = time.monotonic_ns()
        self.until = None if pause else self.at  # when it went on


class Faults(histories.Run):
    """A run whose processes probe, and are killed and stopped."""

    def __init__(self, *args, long=10.0, lease=0.1, **how):
        super().__init__(*args, window_ms=2000, **how)
        self.long, self.lease = long, lease
        self.faults, self.wronged, self.unaware, self.odd = [], [], [], []
        self.env = dict(self.env, NAMDB_LOG="info")

    def place(self, number):
        free = set(range(self.processes)) - {c.place for c in self.clients if c.running() and c.killed_at is None}
        return min(free) if free else number % self.processes

    def start_client(self, seconds):
        number = len(self.clients)
        place = self.place(number)
        # They think, so that a machine of two cores has time for all of them.
        c = histories.Client(self, number, seconds, "--row", number, "--place", place, "--think", THINK_MS)
        c.number, c.place, c.frozen = number, place, None
        self.clients.append(c)

    def go(self, kills=True, stops=True):
        dice = random.Random(self.seed)
        self.once("setup", 0, "--place", 0)
        self.start = time.monotonic_ns()
        end = time.monotonic() + self.seconds
        for _ in range(self.processes):
            self.start_client(self.seconds)
        time.sleep(1)
        next_at = time.monotonic()
        long_at = end - self.seconds * 2 / 3 if self.seconds > 3 * self.long else None
        while end - time.monotonic() > 2:
            time.sleep(0.004)
            self.wake()
            for c in [c for c in self.clients if not c.running() and not getattr(c, "followed", False)]:
                c.followed = True
                self.start_client(max(end - time.monotonic(), 1))
            now = time.monotonic()
            if now < next_at:
                continue
            running = [c for c in self.clients if c.running() and c.frozen is None]
            # One process always goes on, so that the faults can hold it up.
            if len(running) < 2 or end - now < 3:
                continue
            next_at = now + dice.uniform(0.3, 1.8)
            c = dice.choice(running)
            if long_at is not None and now > long_at:
                long_at = None
                self.stop(c, self.long)
            elif kills and (not stops or dice.random() < 0.5):
                self.kill(c)
            elif stops:
                self.stop(c, self.lease * dice.choice(dice.choice([SHORT, MEDIUM, LONG])))
        for f in self.faults:
            f.pause = 0
        self.wake()
        self.wait(end)
        self.judge_ends()
        parts = [c.part for c in self.clients]
        parts.append(self.once("final", 1000000))
        self.join(parts)

    def errand(self, victim):
        """Another process asks for the row that it has locked."""
        for c in self.clients:
            if c is not victim and c.running() and c.frozen is None:
                try:
                    c.p.stdin.write(b"%d\n" % victim.number)
                    c.p.stdin.flush()
                    return
                except OSError:
                    pass

    def kill(self, c):
        f = Fault("kill", c)
        c.killed_at = f.at
        c.p.kill()
        self.faults.append(f)
        self.errand(c)

    def stop(self, c, pause):
        f = Fault("stop", c, pause)
        c.p.send_signal(signal.SIGSTOP)
        c.frozen = f
        self.faults.append(f)
        if pause >= 3 * self.lease:
            self.errand(c)
            return
        time.sleep(pause)
        self.wake()

    def wake(self):
        now = time.monotonic_ns()
        for c in self.clients:
            f = c.frozen
            if f is not None and (now - f.at >= f.pause * 1e9 or not c.running()):
                c.p.send_signal(signal.SIGCONT)
                f.until = time.monotonic_ns()
                c.frozen = None

    def wait(self, end):
        self.stops = 1  # ends are judged below
        super().wait(end)

    @staticmethod
    def begun(c):
        """When it had joined, at the latest: the first time in its probes. A process that is stopped before is fenced by nobody."""
        try:
            with open(c.part + ".probe") as f:
                w = f.readline().split()
        except OSError:
            return float("inf")
        return int(w[2] if w[0] == "p" else w[1]) if len(w) > 2 or (len(w) > 1 and w[0] != "p") else float("inf")

    def judge_ends(self):
        by_client = {}
        for f in self.faults:
            by_client.setdefault(f.client, []).append(f)
        for c in self.clients:
            if c.killed_at is not None:
                continue
            mine = by_client.get(c, [])
            longest = max([(f.until - f.at) / 1e9 for f in mine] + [0])
            begun = self.begun(c)
            joined = max([(f.until - f.at) / 1e9 for f in mine if f.at > begun] + [0])
            said, rc = c.said(), c.p.returncode
            told = re.search(r"\b(57P01|08007)\b|has fenced this process", said) is not None
            if longest < self.lease / 2 and rc != 0:
                self.wronged.append("paused for %.0f ms at most, exit code %d: %s" % (longest * 1000, rc, said[-500:]))
            if joined >= 3 * self.lease and not (rc == -signal.SIGKILL or (rc == 1 and told)):
                self.unaware.append("paused for %.1f s, exit code %d: %s" % (joined, rc, said[-500:]))
            if rc not in (0, 1, -signal.SIGKILL) or (rc == 1 and not told):
                self.odd.append("exit code %d: %s" % (rc, said[-1000:]))

    # ---- figures ----

    def probes(self):
        """Per client: its own lock's times, its samples [(begin, end, {place: count})], and all counts and errands."""
        counts, errands = {}, []
        for c in self.clients:
            c.held, c.samples = [], []
            try:
                text = open(c.part + ".probe").read()
            except OSError:
                continue
            for line in text[:text.rfind("\n") + 1].splitlines():
                w = line.split()
                if w[0] in "hH":
                    c.held.append((int(w[1]), w[0]))
                elif w[0] == "p":
                    counts.setdefault(int(w[1]), []).append((int(w[2]), int(w[3]), c))
                elif w[0] == "s":
                    c.samples.append((int(w[1]), int(w[2]), {int(k): int(n) for k, n in (x.split(":") for x in w[3:])}))
                else:
                    errands.append((w[0], int(w[1]), int(w[2]), int(w[3]), w[4], c))
        return counts, errands

    def locks(self, errands):
        """How long until the locks of stopped processes were gone, in ms; and how often that is not known."""
        gone, later, unknown = {"kill": [], "stop": []}, [], 0
        for f in self.faults:
            if f.what != "kill" and (f.until - f.at) / 1e9 < 3 * self.lease:
                continue
            before = [what for t, what in f.client.held if t <= f.at]
            if not before or before[-1] != "h":
                continue  # it held nothing
            # A process that was sent for the lock does not count if it stalled itself meanwhile, or was only starting.
            got = sorted(end - f.at for kind, row, begin, end, state, c in errands
                         if row == f.client.number and f.at <= begin <= f.at + self.lease / 2 * 1e9 and state == "00000"
                         and not any(g.client is c and g.at <= end and g.until >= f.at for g in self.faults))
            if got:
                gone[f.what].append(got[0] / MS)
                later += [g / MS for g in got[1:2]]
            else:
                unknown += 1
        return gone, later, unknown

    def ages(self, counts):
        """How long until what was answered here was seen there, in ms: in quiet times, and around faults."""
        spans = sorted((f.at, f.until + AFTER * 1e9) for f in self.faults)
        merged = []
        for a, b in spans:
            if merged and a <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], b)
            else:
                merged.append([a, b])
        starts = [m[0] for m in merged]
        pauses = {}
        for f in self.faults:
            pauses.setdefault(f.client, []).append((f.at, f.until if f.what == "stop" else float("inf")))
        quiet, around, long_, worst = [], [], [], None
        # On shm it is ended by then; the others are looked at for as long.
        pause = [(f.at, f.at + self.long * 1e9) for f in self.faults if f.what == "stop" and f.asked >= self.long]
        for c in self.clients:
            if not c.samples:
                continue
            for place, list_ in counts.items():
                if place == c.place:
                    continue
                at = 0
                for n, answered, _ in sorted(list_, key=lambda x: x[:2]):
                    if answered < c.samples[0][0]:
                        continue
                    while at < len(c.samples) and c.samples[at][2].get(place, 0) < n:
                        at += 1
                    if at == len(c.samples):
                        break  # it ended before it could see that
                    seen = c.samples[at][1]
                    if any(a <= seen and b >= answered for a, b in pauses.get(c, [])):
                        continue
                    age = max(seen - answered, 0) / MS
                    i = bisect.bisect_right(starts, seen) - 1
                    near = i >= 0 and merged[i][1] >= answered
                    (around if near else quiet).append(age)
                    if any(a <= answered < b for a, b in pause):
                        long_.append(age)
                    if worst is None or age > worst[0]:
                        worst = (age, answered, seen, c.number, place, n)
        return quiet, around, long_, worst

    def recoveries(self):
        """What the recoverers of dead processes log: ms without a beat, to fence, to recover."""
        got = []
        for c in self.clients:
            got += [tuple(float(x) for x in m) for m in re.findall(
                r"was silent for ([0-9.]+) ms, fenced in ([0-9.]+) ms, recovered in ([0-9.]+) ms", c.said())]
        return got


class Sum:
    """What all rounds had."""

    def __init__(self, o):
        self.o = o
        self.seconds = 0
        self.kills = self.stops = self.stuck = self.unknown_locks = 0
        self.killed, self.stopped, self.later, self.quiet, self.around, self.long, self.recovered = [], [], [], [], [], [], []
        self.bad, self.wronged = [], []
        self.outcomes = {"ok": 0, "fail": 0, "info": 0}

    def add(self, run, name, rc, what, words):
        counts, errands = run.probes()
        gone, later, unknown = run.locks(errands)
        quiet, around, long_, worst = run.ages(counts)
        self.seconds += run.seconds
        self.kills += sum(f.what == "kill" for f in run.faults)
        self.stops += sum(f.what == "stop" for f in run.faults)
        self.stuck += run.stuck
        self.unknown_locks += unknown
        self.killed += gone["kill"]
        self.stopped += gone["stop"]
        self.later += later
        self.quiet += quiet
        self.around += around
        self.long += long_
        self.recovered += run.recoveries()
        for k in self.outcomes:
            self.outcomes[k] += what[k]
        bad = ["the history does not hold: " + words[-1500:]] if rc else []
        bad += ["did not find out that it was fenced: " + x for x in run.unaware]
        bad += ["ended oddly: " + x for x in run.odd]
        bad += ["%d clients did not come to an end" % run.stuck] if run.stuck else []
        self.bad += [name + ": " + b for b in bad]
        self.wronged += [name + ": " + b for b in run.wronged]
        if not self.o.json:
            print("%s: %d kills, %d stops; %s; locks gone within %s, snapshots at most %s ms old; %s" % (
                name, sum(f.what == "kill" for f in run.faults), sum(f.what == "stop" for f in run.faults),
                ", ".join("%d %s" % (what[k], k) for k in self.outcomes),
                "%.2f leases" % (max(gone["kill"] + gone["stop"]) / self.o.lease) if gone["kill"] + gone["stop"] else "-",
                "%.0f" % max(quiet + around + [0]), "holds" if rc == 0 else "DOES NOT HOLD"), flush=True)
            if worst is not None and worst[0] > 2 * self.o.lease:
                near = [(f.what, f.client.number, round((f.at - worst[1]) / MS), round((f.until - f.at) / MS)) for f in run.faults
                        if abs(f.at - worst[1]) < 1e9]
                print("  the oldest: count %d of place %d, seen by process %d after %.0f ms; faults (process, ms from then, ms long): %s" % (
                    worst[5], worst[4], worst[3], worst[0], near))

    def figures(self):
        lease = self.o.lease
        recovery = quantiles([shut + settle for _, shut, settle in self.recovered])
        f = {
            "fabric": self.o.fabric, "seed": self.o.seed, "seconds": self.seconds, "lease_ms": lease,
            "kills": self.kills, "stops": self.stops,
            "locks_gone_leases": quantiles([g / lease for g in self.killed + self.stopped]),
            "locks_gone_killed_ms": quantiles(self.killed),
            "locks_gone_stopped_leases": quantiles([g / lease for g in self.stopped]),
            "locks_gone_second_leases": quantiles([g / lease for g in self.later]),
            "locks_not_measured": self.unknown_locks,
            "recovery_ms": recovery,
            "snapshot_age_ms": {"quiet": quantiles(self.quiet), "around_faults": quantiles(self.around),
                                "during_the_longest_pause": quantiles(self.long)},
            "shut_out_without_reason": len(self.wronged),
            "transactions": self.outcomes, "stuck": self.stuck, "holds": not self.bad, "bad": self.bad,
        }
        return f

    def beyond(self, factor=1.0):
        """What is not within bounds, in words."""
        f, said = self.figures(), []
        locks, ages = f["locks_gone_leases"], f["snapshot_age_ms"]
        if locks["max"] is not None and locks["max"] > 2 * factor:
            said.append("locks of the dead stayed for %.2f leases" % locks["max"])
        oldest = max(ages["quiet"]["max"] or 0, ages["around_faults"]["max"] or 0)
        if oldest > (2 * f["lease_ms"] + (ages["quiet"]["p99"] or 0)) * factor:
            said.append("a snapshot was %.0f ms behind" % oldest)
        if self.wronged and factor == 1:
            said.append("%d processes were fenced that had not stalled for half a lease" % len(self.wronged))
        return said

    def table(self):
        f = self.figures()

        def line(what, q, unit):
            n = "%d" % q["n"]
            print("%-34s %9s %9s %9s %9s  %s" % ((what, n) + tuple(
                "-" if q[k] is None else "%.2f" % q[k] for k in ("p50", "p99", "max")) + (unit,)))
        print("\n%s, seed %d: %d s, %d kills, %d stops" % (f["fabric"], f["seed"], f["seconds"], f["kills"], f["stops"]))
        print("%-34s %9s %9s %9s %9s" % ("", "n", "p50", "p99", "max"))
        line("locks gone", f["locks_gone_leases"], "leases of %.0f ms" % f["lease_ms"])
        line("  of the killed", f["locks_gone_killed_ms"], "ms")
        line("  of the stopped", f["locks_gone_stopped_leases"], "leases")
        line("  for the second waiter", f["locks_gone_second_leases"], "leases")
        line("fenced and recovered in", f["recovery_ms"], "ms")
        line("snapshot age, quiet", f["snapshot_age_ms"]["quiet"], "ms")
        line("snapshot age, around faults", f["snapshot_age_ms"]["around_faults"], "ms")
        line("snapshot age, pause of %.0f s" % self.o.long, f["snapshot_age_ms"]["during_the_longest_pause"], "ms")
        t = f["transactions"]
        print("transactions: %d committed, %d refused, %d unknown" % (t["ok"], t["fail"], t["info"]))
        print("histories: %s" % ("all hold" if not self.bad else "SOMETHING IS WRONG"))
        for b in self.bad:
            print("  " + b)
        print("fenced without a fault of this test: %d" % len(self.wronged))
        for b in self.wronged:
            print("  " + b)


def one_round(o, total, load, seconds, seed):
    workload, level, cluster = load
    name = "%s %s %s%s, seed %d" % (o.fabric, workload, level, " cluster" if cluster else "", seed)
    with House(nodes=2, size="256m") as h:
        where = "%s?fabric=%s&secret=%s&workers=2&lease_ms=%d" % (h.storage(), o.fabric, h.secret, o.lease)
        run = Faults("namdb", where, h.dir, h.env, workload=workload, level=level, cluster=cluster, seconds=seconds,
                     processes=o.processes, sessions=o.sessions, seed=seed, long=o.long, lease=o.lease / 1000)
        try:
            run.go()
            rc, what, words = run.judge()
            total.add(run, name, rc, what, words)
            if rc and o.keep:
                shutil.copy(run.history, os.path.join(o.keep, "history-%d.jsonl" % seed))
        finally:
            run.stop_all()


def rounds(o, loads=LOADS):
    """All of it. Fails with AssertionError only if it could not be run."""
    total = Sum(o)
    left, i = o.minutes * 60, 0
    while left > 0:
        seconds = min(o.round, left)
        if left - seconds < 10:
            seconds = left
        one_round(o, total, loads[i % len(loads)], seconds, o.seed + i)
        left -= seconds
        i += 1
    return total


# ---- holders of locks, one after the other ----

class Holders:
    """What became of the rows that processes had locked when they were killed or stopped."""

    def __init__(self, o):
        self.o, self.bad = o, []
        self.killed, self.stopped, self.fate = [], [], {}
        self.slept = []

    def one(self, h, waiter, what, i):
        victim = h.shell(fabric=self.o.fabric)
        victim.ok("BEGIN")
        victim.ok("UPDATE held SET n = n + 1000 WHERE k = %d" % (i % 10))
        waiter.send("UPDATE held SET n = n + 1 WHERE k = %d;" % (i % 10))
        waiter.send("\\echo waited-%d" % i)
        time.sleep(0.02 + self.dice.random() * 0.03)
        before = time.monotonic()
        time.sleep(0.002)
        self.slept.append((time.monotonic() - before) * 1000 - 2)
        at = time.monotonic()
        victim.p.send_signal(what)
        said = waiter.read_until(b"waited-%d\n" % i, 20 + 2 * self.o.lease / 1000)
        took = (time.monotonic() - at) * 1000
        if "ERROR" in said:
            self.bad.append("round %d: the waiter was told: %s" % (i, said.strip()[-300:]))
        if what == signal.SIGKILL:
            self.killed.append(took)
        else:
            self.stopped.append(took)
            victim.p.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            how = "killed" if victim.p.poll() == -signal.SIGKILL else "told"
            if how == "told":
                said = victim.do_or_end("COMMIT")
                if not re.search(r"\b57P01\b|\b08007\b|fenced", said):
                    self.bad.append("round %d: stopped for %.0f ms, and then: %s" % (i, took, said.strip()[-300:]))
            self.fate[how] = self.fate.get(how, 0) + 1
        victim.drop()
        victim.p.stdin.close()
        victim.p.stdout.close()
        h.shells.remove(victim)

    def go(self):
        o = self.o
        self.dice = random.Random(o.seed)
        with House(nodes=2, size="64m", lease_ms=o.lease) as h:
            first, waiter = h.shell(fabric=o.fabric), h.shell(fabric=o.fabric)
            first.ok("CREATE TABLE held (k integer PRIMARY KEY, n bigint NOT NULL)")
            first.ok("INSERT INTO held SELECT i, 0 FROM generate_series(0, 9) i")
            waiter.ok("SET lock_timeout = '60s'")
            for i in range(o.holders):
                self.one(h, waiter, signal.SIGKILL, i)
            for i in range(o.pauses):
                self.one(h, waiter, signal.SIGSTOP, o.holders + i)
            total = first.value("SELECT sum(n) FROM held")
            if total != str(o.holders + o.pauses):
                self.bad.append("the rows hold %s; %d updates were answered, and no other process committed" % (total, o.holders + o.pauses))
        return self

    def figures(self):
        lease = self.o.lease or 0
        return {"fabric": self.o.fabric, "lease_ms": lease, "killed_ms": quantiles(self.killed), "stopped_ms": quantiles(self.stopped),
                "stopped_leases": quantiles([s / lease for s in self.stopped]) if lease else None, "stopped_were": self.fate,
                "machine_late_ms": quantiles(self.slept), "bad": self.bad}

    def beyond(self):
        f, said = self.figures(), []
        if self.killed and f["killed_ms"]["p99"] > 50:
            said.append("locks of the killed were free after %.1f ms (p99)" % f["killed_ms"]["p99"])
        if self.stopped and f["stopped_leases"]["max"] > 1.2:
            said.append("a lock of a stopped process was free after %.2f leases" % f["stopped_leases"]["max"])
        return said

    def table(self):
        f = self.figures()
        print("\n%s, lease %d ms" % (f["fabric"], f["lease_ms"]))
        print("%-34s %9s %9s %9s %9s" % ("", "n", "p50", "p99", "max"))
        for what, key in (("killed: locks free after, ms", "killed_ms"), ("stopped: locks free after, ms", "stopped_ms"),
                          ("  in leases", "stopped_leases"), ("the machine is late by, ms", "machine_late_ms")):
            q = f[key]
            if q is not None and q["n"]:
                print("%-34s %9d %9.2f %9.2f %9.2f" % (what, q["n"], q["p50"], q["p99"], q["max"]))
        if self.fate:
            print("those that were stopped: %s" % ", ".join("%d %s" % (n, k) for k, n in sorted(self.fate.items())))
        for b in self.bad:
            print("WRONG: " + b)


def options(args):
    a = argparse.ArgumentParser(add_help=False, usage=__doc__.split("\n\n", 1)[1])
    for name, kind, default in (("minutes", float, 1.0), ("round", float, 60.0), ("processes", int, 3), ("sessions", int, 2),
                                ("seed", int, int(time.time())), ("long", float, 10.0), ("lease", int, 100), ("keep", str, None),
                                ("holders", int, 0), ("pauses", int, 10)):
        a.add_argument("--" + name, type=kind, default=default)
    a.add_argument("--fabric", choices=["shm", "tcp"], default="tcp")
    for name in ("json", "help"):
        a.add_argument("--" + name, action="store_true")
    return a.parse_args(args)


def main():
    o = options(sys.argv[1:])
    if o.help:
        print(__doc__)
        return 0
    try:
        total = Holders(o).go() if o.holders else rounds(o)
    except (AssertionError, OSError) as e:
        print("kills.py: %s" % e, file=sys.stderr)
        return 2
    beyond = total.beyond()
    if o.json:
        print(json.dumps(dict(total.figures(), beyond=beyond)))
    else:
        total.table()
        for b in beyond:
            print("beyond bounds: " + b)
    return 1 if total.bad or beyond else 0


if __name__ == "__main__":
    sys.exit(main())
