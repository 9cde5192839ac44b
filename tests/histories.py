#!/usr/bin/env python3
"""histories.py -- real processes under load, their history, and `namdb check` as its judge.

usage: tests/histories.py [options]

  --seconds S        how long (default 10)
  --backend B        namdb, or postgres, which is started in a temporary directory (default namdb)
  --fabric F         shm or tcp (default shm)
  --workload W       list, bank, register or checkout (default list)
  --level L          rc, rr or ser (default rr)
  --cluster          namdb.visibility = cluster: a commit is answered when all see it
  --processes N      compute processes (default 2)
  --sessions N       clients of each (default 4)
  --check L          the level it is judged by (default: what the backend promises)
  --seed N           which keys, kinds, kills and stops (default: the time)
  --kills            processes are killed at random, and others started
  --stops            processes are stopped for a while at random
  --life             instead: kills, stops, over tcp connections that break one at a time, and shells beside it that make, fill, empty
                     and drop tables, and are killed as well; in rounds of 30 s, over both fabrics, with all workloads and levels
  --lease MS         --life: of the cluster (default: the program's own)
  --json             --life: the figures as one JSON object
  --keep FILE        leave the history there (--life: a directory, for those that do not hold)

Exit code 0: it holds; 1: it does not; 2: it could not be run. With kills and stops it says how long others were held up:
until a key that a dead process had its hands on is written again, and how far behind the snapshots of others were.

tests/record/ is what runs in the processes. Each of them writes its own part; a process that is killed leaves what it was about to
do as transactions of status info.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
from house import House, Proxy, check

RECORD = os.environ.get("NAM_RECORD", os.path.join(os.path.dirname(house.NAMDB), "tests", "record", "record"))
BANK_KEYS, HOT = 10, 8
TOTAL = {"bank": 100, "checkout": 1000000}  # of each key
MODEL = {"list": "list-append", "bank": "bank", "register": "register", "checkout": "bank"}
PROMISED = {  # (backend, level, cluster): what `namdb check` shall hold it to
    ("namdb", "rc", False): "read-committed", ("namdb", "rc", True): "read-committed",
    ("namdb", "rr", False): "session-snapshot", ("namdb", "rr", True): "strong-snapshot",
    ("namdb", "ser", False): "session-serializable", ("namdb", "ser", True): "strict-serializable",
    ("postgres", "rc", False): "read-committed", ("postgres", "rr", False): "strong-snapshot",
    ("postgres", "ser", False): "serializable",
}


class Client:
    """One process of tests/record."""

    def __init__(self, run, number, seconds, *more):
        self.first = 1 + number * 100  # its sessions
        self.part = os.path.join(run.dir, "part-%d" % number)
        self.log = open(self.part + ".log", "w+b")
        self.killed_at = None
        self.stopped = False
        self.disturbed = False  # ever stopped
        self.stopped_until = None
        self.p = subprocess.Popen(
            run.command(self.part, "--sessions", run.sessions, "--first", self.first, "--ms", int(seconds * 1000), *more),
            stdin=subprocess.PIPE if more else subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=house.clean_env(run.env))

    def running(self):
        return self.p.poll() is None

    def said(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")


class Run:
    """One workload against one database; `history` is where its parts were put together."""

    def __init__(self, backend, where, directory, env, workload="list", level="rr", cluster=False, seconds=2, processes=2,
                 sessions=4, seed=1, window_ms=300, patient=False):
        self.backend, self.where, self.dir, self.env = backend, where, directory, env
        self.workload, self.level, self.cluster = workload, level, cluster
        self.seconds, self.processes, self.sessions, self.seed = seconds, processes, sessions, seed
        self.window_ms, self.patient = window_ms, patient
        self.keys = BANK_KEYS if workload in TOTAL else HOT + int(seconds * 1000 / window_ms) + 1
        self.start = time.monotonic_ns()
        self.clients, self.stuck, self.kills, self.stops = [], 0, 0, 0
        self.history = os.path.join(directory, "history.jsonl")

    def command(self, part, *more):
        return [RECORD, "--backend", self.backend, "--where", self.where, "--workload", self.workload, "--level", self.level,
                "--keys", str(self.keys), "--seed", str(self.seed), "--start", str(self.start),
                "--window", str(self.window_ms), "--out", part] + (
                    ["--cluster"] if self.cluster else []) + (["--patient"] if self.patient else []) + [str(m) for m in more]

    def once(self, what, number, *more, timeout=60):
        part = os.path.join(self.dir, "part-" + what)
        p = subprocess.run(self.command(part, "--" + what, "--first", number, *more), stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=timeout * house.SLOW, env=house.clean_env(self.env))
        said = (p.stdout + p.stderr).decode("utf-8", "replace")
        house.no_sanitizer_report(said)
        check(p.returncode == 0, "record --%s:" % what, said[-2000:])
        return part

    def go(self, kills=False, stops=False, beside=None):
        """beside(dice): other trouble, at each turn."""
        dice = random.Random(self.seed)
        self.once("setup", 0)
        self.start = time.monotonic_ns()
        end = time.monotonic() + self.seconds
        for i in range(self.processes):
            self.clients.append(Client(self, i, self.seconds))
        while kills or stops or beside:
            time.sleep(dice.uniform(0.1, 0.8))
            left = end - time.monotonic()
            if left < 1:
                break
            if beside is not None:
                beside(dice)
            if kills or stops:
                self.disturb(dice, kills, stops, left)
        self.wait(end)
        parts = [c.part for c in self.clients]
        parts.append(self.once("final", 1000000))
        self.join(parts)

    def disturb(self, dice, kills, stops, left):
        for c in self.clients:
            if c.stopped_until is not None and time.monotonic() > c.stopped_until:
                c.p.send_signal(signal.SIGCONT)
                c.stopped_until = None
        # A process that was stopped for long may have been fenced: another one replaces it.
        for c in self.clients:
            if c.stopped and not c.running() and c.killed_at is None:
                c.stopped = False
                self.clients.append(Client(self, len(self.clients), left))
        running = [c for c in self.clients if c.running() and c.stopped_until is None]
        # One process always goes on, so that the faults can hold it up.
        if len(running) < 2:
            return
        c = dice.choice(running)
        if kills and (not stops or dice.random() < 0.5):
            c.killed_at = time.monotonic_ns()
            c.p.kill()
            self.kills += 1
            self.clients.append(Client(self, len(self.clients), left))
        elif stops:
            c.p.send_signal(signal.SIGSTOP)
            c.stopped = c.disturbed = True
            c.stopped_until = time.monotonic() + dice.choice([0.05, 0.3, 1.5, 4])
            self.stops += 1

    def wait(self, end):
        """Every process must end; one that does not is counted as stuck, and killed."""
        for c in self.clients:
            if c.stopped_until is not None:
                c.p.send_signal(signal.SIGCONT)
        for c in self.clients:
            try:
                c.p.wait(timeout=max(1, end + 20 * house.SLOW - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.stuck += 1
                c.p.kill()
                c.p.wait()
            said = c.said()
            house.no_sanitizer_report(said)
            check(c.killed_at is not None or c.p.returncode == 0 or self.stuck or self.stops, "a client failed:", said[-2000:])

    def stop_all(self):
        for c in self.clients:
            if c.running():
                c.p.kill()
                c.p.wait()
            c.log.close()

    def join(self, parts):
        lines = []
        for part in parts:
            text = open(part).read() if os.path.exists(part) else ""
            lines += text[:text.rfind("\n") + 1].splitlines()  # a killed process may have left half a line
        head = {"history": 1, "model": MODEL[self.workload],
                "level": PROMISED[(self.backend, self.level, self.cluster)]}
        if self.workload in TOTAL:
            head["total"] = BANK_KEYS * TOTAL[self.workload]
        with open(self.history, "w") as f:
            f.write("\n".join([json.dumps(head)] + lines + [json.dumps({"end": len(lines)})]) + "\n")

    def judge(self, level=None):
        """What `namdb check` says of it: (exit code, its JSON, its words)."""
        args = ["check"] + (["--level", level] if level else [])
        said = house.run(*args, self.history, env=self.env, timeout=120)
        check(said.rc in (0, 1), said)
        return said.rc, json.loads(house.run(*args, "--json", self.history, env=self.env, timeout=120).out), said.out

    def records(self):
        """The last word on each transaction."""
        last = {}
        with open(self.history) as f:
            for line in f.readlines()[1:-1]:
                r = json.loads(line)
                last[r["id"]] = r
        return list(last.values())

    def states(self):
        """SQLSTATEs of those that did not commit: how often each."""
        got = {}
        for r in self.records():
            if r.get("note"):
                got[r["note"]] = got.get(r["note"], 0) + 1
        return got

    def figures(self):
        """How long the dead held others up, and how old snapshots were; in ms. Of list histories."""
        records = self.records()
        writes = {}  # key -> ends of what others committed to it, with their session
        ended = {}  # (key, value) -> end of an append that was answered
        order = {}
        for r in records:
            for op in r["ops"]:
                if op[0] == "append" and r["status"] == "ok":
                    writes.setdefault(op[1], []).append((r["end"], r["session"]))
                    ended[(op[1], op[2])] = r["end"]
                elif op[0] == "r" and r["status"] == "ok" and len(op[2]) > len(order.get(op[1], [])):
                    order[op[1]] = op[2]
        free, never = [], 0
        for c in self.clients:
            if c.killed_at is None:
                continue
            mine = range(c.first, c.first + 100)
            for r in records:
                if r["session"] not in mine or r["status"] != "info" or "end" in r:
                    continue
                for key in {op[1] for op in r["ops"]}:
                    later = [e for e, s in writes.get(key, []) if e > c.killed_at and s not in mine]
                    if later:
                        free.append((min(later) - c.killed_at) / 1e6)
                    else:
                        never += 1
        ends = sorted(e for w in writes.values() for e, s in w)
        silence = max([b - a for a, b in zip(ends, ends[1:])] + [0]) / 1e6
        oldest = {}  # key -> of each place in its order: when the first of those from there on was answered
        for key, values in order.items():
            first = [float("inf")]
            for v in reversed(values):
                first.append(min(first[-1], ended.get((key, v), first[-1])))
            oldest[key] = first[::-1]
        ages = []
        for r in records:
            for op in r["ops"]:
                if op[0] == "r" and r["status"] == "ok" and len(op[2]) < len(oldest.get(op[1], [])):
                    ages.append(max(r["begin"] - oldest[op[1]][len(op[2])], 0) / 1e6)
        ages.sort()
        return {"locks_free_ms": sorted(free), "never_written_again": never, "silence_ms": silence,
                "snapshot_age_ms": {"median": ages[len(ages) // 2], "99%": ages[len(ages) * 99 // 100],
                                    "max": ages[-1]} if ages else {}}


class Side:
    """A shell that makes, fills, empties and drops tables, some of its own and some that it shares, beside a history."""
    SHARED = {"42P01", "42P07", "40001", "40P01", "55P03", "23505", "25P02"}  # what others' DROP, CREATE and rows may cause

    def __init__(self, h, fabric, storage, number, resets):
        self.h, self.fabric, self.storage, self.number, self.resets = h, fabric, storage, number, resets
        self.dice = random.Random(number)
        self.stop, self.shell, self.killing = threading.Event(), None, False
        self.turns = self.kills = self.full = 0
        self.wrong, self.made = house.Wrong(), 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def allowed(self, out):
        got = set(re.findall(r"ERROR:\s+([0-9A-Z]{5}):", out))
        return got <= self.SHARED | ({"58030"} if self.resets else set())

    def do(self, sql):
        out = self.shell.do(sql, 60)
        if "53100" in out:
            # A process that stalls keeps memory of tables dropped meanwhile from being used, for a lease. life()
            # looks afterwards.
            self.full += 1
            time.sleep(0.1)
        elif not self.allowed(out):
            self.wrong.add("%s: %s" % (sql[:100], out.strip()[-300:]))
        return out, "ERROR" not in out

    def own(self):
        """Rows that no other process touches must be there to the last one."""
        self.made += 1
        t = "side_%d_%d" % (self.number, self.made)
        n = self.dice.choice([20, 300, 2000])
        _, ok = self.do("CREATE TABLE %s (id integer PRIMARY KEY, v text)" % t)
        if not ok:
            return
        _, ok = self.do("INSERT INTO %s SELECT i, repeat('s', i %% 300) FROM generate_series(1, %d) i" % (t, n))
        for _ in range(self.dice.randrange(3)):
            if not ok:
                break
            what = self.dice.choice(["delete", "truncate", "update", "count"])
            if what == "delete":
                _, ok = self.do("DELETE FROM %s WHERE id %% 2 = 0" % t)
                if ok:
                    _, ok = self.do("INSERT INTO %s SELECT i, 'again' FROM generate_series(2, %d, 2) i" % (t, n))
            elif what == "truncate":
                _, ok = self.do("TRUNCATE %s" % t)
                if ok:
                    _, ok = self.do("INSERT INTO %s SELECT i, 'new' FROM generate_series(1, %d) i" % (t, n))
            elif what == "update":
                _, ok = self.do("UPDATE %s SET v = v || 'u'" % t)
            out, seen = self.do("SELECT 'rows=' || count(*) FROM %s" % t)
            if ok and seen and "rows=%d\n" % n not in out:
                self.wrong.add("%s has %s, not %d rows" % (t, out.strip()[-200:], n))
        self.do("DROP TABLE %s" % t)

    def shared(self):
        t = "common_%d" % self.dice.randrange(2)
        what = self.dice.randrange(6)
        if what == 0:
            self.do("DROP TABLE %s" % t)
        elif what == 1:
            self.do("TRUNCATE %s" % t)
        elif what == 2:
            self.do("DELETE FROM %s" % t)
        else:
            self.do("CREATE TABLE IF NOT EXISTS %s (id integer PRIMARY KEY, v text)" % t)
            at = self.dice.randrange(1000000)
            self.do("INSERT INTO %s SELECT i, repeat('c', 40) FROM generate_series(%d, %d) i" % (t, at, at + 500))

    def run(self):
        while not self.stop.is_set():
            try:
                if self.shell is None:
                    shell = self.h.shell(fabric=self.fabric, storage=self.storage)
                    shell.ok("SET lock_timeout = '5s'", 60)
                    self.shell = shell
                (self.own if self.dice.random() < 0.5 else self.shared)()
                self.turns += 1
                time.sleep(0.02)
            except (AssertionError, OSError, ValueError) as e:
                if not self.killing and not self.stop.is_set():
                    self.wrong.add("a shell beside it ended: %s" % str(e)[-600:])
                    if len(self.wrong) > 3:
                        return
                    time.sleep(0.2)
                self.killing, self.shell = False, None

    def kill(self):
        shell = self.shell
        if shell is not None:
            self.killing = True
            self.kills += 1
            shell.p.kill()

    def end(self):
        self.stop.set()
        self.thread.join(90 * house.SLOW)
        if self.thread.is_alive():
            self.wrong.add("a shell beside it hangs")


def memory_comes_back(h, fabric):
    """No process stalls any more: the memory of dropped tables can be used again."""
    end = time.monotonic() + 15 * house.SLOW
    while True:
        r = h.do("CREATE TABLE after (id integer PRIMARY KEY, v text); "
                 "INSERT INTO after SELECT i, repeat('a', 300) FROM generate_series(1, 5000) i; DROP TABLE after", fabric=fabric)
        if r.rc == 0:
            return []
        if time.monotonic() > end:
            return ["15 s after all others have ended memory is still full: " + r.err.strip()[-300:]]
        h.do("DROP TABLE after", fabric=fabric)
        time.sleep(0.3)


LIFE = [("list", "rr", False), ("bank", "rc", False), ("list", "ser", False), ("checkout", "rr", False), ("register", "rr", True),
        ("bank", "ser", True), ("list", "rc", False), ("checkout", "ser", False), ("list", "rr", True), ("register", "ser", False)]


def life(fabric, load, seconds, seed, lease, processes=3, sessions=3, keep=None):
    """One round of a history with kills, stops, resets, and tables that come and go. Figures, with what is wrong in words."""
    workload, level, cluster = load
    f = {"fabric": fabric, "workload": workload, "level": level, "cluster": cluster, "seed": seed, "wrong": house.Wrong()}
    with House(nodes=2, size="256m", lease_ms=lease) as h:
        # Connections of shm are sockets of this host, which nothing in between can break.
        proxies = [Proxy(n) for n in h.nodes] if fabric == "tcp" else []
        storage = ",".join(p.address for p in proxies) or h.storage()
        where = "%s?fabric=%s&secret=%s&workers=2%s" % (storage, fabric, h.secret, "&lease_ms=%d" % lease if lease else "")
        run = Run("namdb", where, h.dir, h.env, workload=workload, level=level, cluster=cluster, seconds=seconds,
                  processes=processes, sessions=sessions, seed=seed, window_ms=2000, patient=fabric == "tcp")
        sides, cuts = [], [0]

        def beside(dice):
            if not sides:
                sides.extend(Side(h, fabric, storage, i + 1, bool(proxies)) for i in range(2))
            if proxies:
                cuts[0] += dice.choice(proxies).cut_one(dice)
            if dice.random() < 0.15:
                dice.choice(sides).kill()
        try:
            run.go(kills=True, stops=True, beside=beside)
            for s in sides:
                s.end()
            rc, what, words = run.judge()
            f["in_use_mib"] = sum(n["in_use"] for n in h.status().values()) >> 20
            full = sum(s.full for s in sides)
            if full:
                f["wrong"] += memory_comes_back(h, fabric)
            f.update(told_53100=full, kills=run.kills + sum(s.kills for s in sides), stops=run.stops, resets=cuts[0],
                     tables=sum(s.made for s in sides), stuck=run.stuck, seconds=seconds, states=run.states(), **{k: what[k] for k in ("ok", "fail", "info")})
            if rc:
                f["wrong"].add("the history does not hold: " + words[-1500:])
                if keep:
                    shutil.copy(run.history, os.path.join(keep, "history-%s-%d.jsonl" % (fabric, seed)))
            f["wrong"] += [w for s in sides for w in s.wrong]
            if run.stuck:
                f["wrong"].add("%d clients did not come to an end" % run.stuck)
            for c in run.clients:
                no_room = full and "fixed table is full" in c.said()  # for a newcomer
                if c.killed_at is None and not c.disturbed and c.p.returncode != 0 and not no_room:
                    f["wrong"].add("a client that was neither killed nor stopped ended with code %s: %s" % (c.p.returncode, c.said()[-600:]))
        finally:
            for s in sides:
                s.stop.set()
            run.stop_all()
            for p in proxies:
                p.close()
    return f


def life_rounds(minutes, seed, lease, round_s=30, fabrics=("shm", "tcp"), say=print, keep=None):
    """LIFE's loads in turn, over each fabric; gives the figures of each round."""
    rounds, left, i = [], minutes * 60, 0
    round_s = min(round_s, left / len(fabrics))  # each has a turn
    while left > 0:
        seconds = round_s if left >= round_s * 1.5 else left
        f = life(fabrics[i % len(fabrics)], LIFE[i // len(fabrics) % len(LIFE)], seconds, seed + i, lease, keep=keep)
        say("%-4s %-9s %-4s%-8s seed %d: %6d ok %5d fail %4d info, %3d kills %3d stops %3d resets %4d tables, %d MiB in use, %d times full: %s" % (
            f["fabric"], f["workload"], f["level"], " cluster" if f["cluster"] else "", f["seed"], f["ok"], f["fail"], f["info"],
            f["kills"], f["stops"], f["resets"], f["tables"], f["in_use_mib"], f["told_53100"], "holds" if not f["wrong"] else "WRONG"))
        for w in f["wrong"]:
            say("  " + w)
        rounds.append(f)
        left -= seconds
        i += 1
    return rounds


def with_namdb(fabric, use, nodes=2, size="64m", **how):
    """Storage nodes, a run against them over fabric, and use(run) after it."""
    disturb = {k: how.pop(k) for k in ("kills", "stops") if k in how}
    with House(nodes=nodes, size=size) as h:
        run = Run("namdb", "%s?fabric=%s&secret=%s&workers=2" % (h.storage(), fabric, h.secret), h.dir, h.env, **how)
        try:
            run.go(**disturb)
            return use(run)
        finally:
            run.stop_all()


def with_postgres(server, use, **how):
    """The same against a server of tests/sql/test_postgres.py."""
    with House() as h:
        run = Run("postgres", "host=%s user=judge dbname=postgres" % server.dir, h.dir, h.env, **how)
        try:
            run.go()
            return use(run)
        finally:
            run.stop_all()
            server.run("psql", "-X", "-q", "-h", server.dir, "-U", "judge", "-d", "postgres", "-c",
                       "DROP TABLE IF EXISTS la; DROP TABLE IF EXISTS acct")


def main():
    a = argparse.ArgumentParser(add_help=False, usage=__doc__.split("\n\n", 1)[1])
    for name, kind, default in (("seconds", int, 10), ("processes", int, 2), ("sessions", int, 4), ("check", str, None),
                                ("seed", int, int(time.time())), ("keep", str, None), ("lease", int, None)):
        a.add_argument("--" + name, type=kind, default=default)
    for name, choices in (("backend", ["namdb", "postgres"]), ("fabric", ["shm", "tcp"]), ("workload", ["list", "bank", "register", "checkout"]),
                          ("level", ["rr", "rc", "ser"])):
        a.add_argument("--" + name, choices=choices, default=choices[0])
    for name in ("cluster", "kills", "stops", "life", "json", "help"):
        a.add_argument("--" + name, action="store_true")
    o = a.parse_args()
    if o.help:
        print(__doc__)
        return 0

    if o.life:
        try:
            got = life_rounds(o.seconds / 60, o.seed, o.lease, say=(lambda *_: None) if o.json else print, keep=o.keep)
        except (AssertionError, OSError) as e:
            print("seed %d: %s" % (o.seed, e))
            return 2
        total = {k: sum(f[k] for f in got) for k in ("ok", "fail", "info", "kills", "stops", "resets", "tables", "stuck", "seconds")}
        total["wrong"] = [w for f in got for w in f["wrong"]]
        print(json.dumps(dict(total, rounds=got)) if o.json else
              "%(seconds)d s: %(ok)d committed, %(fail)d refused, %(info)d unknown; %(kills)d kills, %(stops)d stops, %(resets)d resets, "
              "%(tables)d tables" % total + ("; all hold" if not total["wrong"] else "; %d WRONG" % len(total["wrong"])))
        return 1 if total["wrong"] else 0

    def use(run):
        rc, what, words = run.judge(o.check)
        print("seed %d: %s, %s, %s, %s%s" % (o.seed, o.backend, o.fabric, o.workload, o.level,
                                             ", cluster" if o.cluster else ""))
        print(words, end="")
        print("not committed:", run.states())
        if o.kills or o.stops:
            print("%d kills, %d stops, %d clients stuck" % (run.kills, run.stops, run.stuck))
        if o.workload == "list":
            f = run.figures()
            free = f["locks_free_ms"]
            if o.kills:
                print("keys a dead process had its hands on: %d written again, the slowest after %.0f ms; %d never" % (
                    len(free), free[-1] if free else 0, f["never_written_again"]))
            print("longest time without any commit: %.0f ms" % f["silence_ms"])
            print("age of snapshots, ms:", {k: round(v, 1) for k, v in f["snapshot_age_ms"].items()})
        if o.keep:
            with open(run.history, "rb") as src, open(o.keep, "wb") as to:
                to.write(src.read())
        return 1 if rc or run.stuck else 0

    how = dict(workload=o.workload, level=o.level, cluster=o.cluster, seconds=o.seconds, processes=o.processes,
               sessions=o.sessions, seed=o.seed,
               # Keys stay longer if a process may have to wait for one.
               window_ms=2000 if o.kills or o.stops else 300)
    try:
        if o.backend == "namdb":
            return with_namdb(o.fabric, use, kills=o.kills, stops=o.stops, **how)
        if o.kills or o.stops or o.cluster:
            print("--kills, --stops and --cluster are for namdb")
            return 2
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "sql"))
        import test_postgres
        server = test_postgres.Postgres()
        try:
            return with_postgres(server, use, **how)
        finally:
            server.close()
    except (AssertionError, house.Skip) as e:
        print("seed %d: %s" % (o.seed, e))
        return 2


if __name__ == "__main__":
    sys.exit(main())
