#!/usr/bin/env python3
"""life.py -- troubles of real processes: which others are disturbed, which die, and is all memory found again?

usage: tests/life.py PROOF [options]

  busy        a machine that is busy with other work: busy loops beside idle and working shells, and a shell that holds a lock is killed
              now and then. No other process ends, or is refused with 57P01
  memory      a small node under updates, DROP TABLE, crashes, and a snapshot that stays open: memory in use does not grow, 53100 never comes
  sweep       an idle shell is killed beside a large table, another shell inserts: it lives, and is served
  resets      over tcp one connection after the other breaks under load, also the home node's: no process is recovered, none ends
  silence     over tcp no message of some processes arrives for 2 s, as behind a firewall that forgot them: no process is recovered
  leave       a shell deletes a million rows and ends, with all their memory at hand: it ends soon, disturbs no other, and others
              can use the memory
  drop        ten shells delete and update the rows of a table that another drops; the rows that its memory then holds are all read
  value       a value of 200 MB on a node that has only single extents free
  age         a process makes and drops tables, indexes, constraints, roles, truncates, thousands of each: it works as fast as a fresh
              one afterwards, and has no more memory
  names       many prepared statements in one session: the last ones cost what the first ones do, and what they took goes back
  tables      thousands of tables: what the last ones cost, what an empty one takes, how long a process joins and psql's list takes
  turns       50 clients with short statements beside one session with a long one: the short ones' 99th percentile stays below 50 ms
  endure      an hour of mixed load through the wire with two processes: memory, descriptors and the 99th percentile of a look-up stay
  schema      changes of the schema beside writers, in two processes that are killed now and then: no error says that data is
              damaged, and the table takes no more memory
  asleep      idle shells stall for 20 s beside a load that commits as fast as it can; they see a table made meanwhile
  room        a million rows in a transaction, a thousand portals and cursors, 100,000 plans, large results, sorts and values in one process:
              its private memory comes back to what it was after the first hundred of each
  starve      busy loops beside compute processes: how long the kernel's own threads wait for a core (starve.py)
  again       one unique key is deleted and inserted a million times by one shell: no 40001, flat memory, as fast at the end as at the
              begin; also under a snapshot that stays open, after the writer was killed, by shells of one statement each

  --seconds N     how long (busy: 600; resets: 120; asleep: 20; again: 60 under a snapshot; starve: 10
                  for each load)
  --table-mb N    the large table (busy: 2048; sweep: 1536)
  --fabric F      auto, shm or tcp (busy, sweep, memory; default auto)
  --every S       seconds from kill to kill (busy: 20)
  --rounds N      how often (sweep: 3; drop: 30; silence: 5; again: 1,000,000)
  --rows N        leave, names, tables: how many (default 1,000,000; 100,000; 10,000)
  --node-mb N     value: of the node (default 700)
  --value-mb N    value: of the value (default 200)
  --minutes N     schema, endure: how long (default 10; 60)
  --kinds K,K     schema: only these changes: constraint, truncate, index, "unique index", "concurrent index", column, delete
                  room: only this work: rows, blocks, portals, plans, cursors, results, sorts, values, sessions
  --share X       memory, age, room: this share of the full count of updates and so on (default 1)
  --only NAME     memory: only this part of it; turns: only the statements whose name has it
  --lease MS      of the cluster (default: the program's own; sweep: 500)
  --seed N        of resets and schema
  --json          the figures as one JSON object instead of the table

Exit code 0: nothing is wrong; 1: something is wrong, and is printed; 2: it could not run. tests/process/test_life_*.py are the short forms.
"""
import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import aging
import beside
import endure as enduring
import house
import room as rooms
import starve as starving
from house import House, Proxy, check

CONFLICTS = {"40001", "40P01", "55P03"}


class Figures(dict):
    """The measurements, by name, and `wrong`: the violations, in words."""

    def __init__(self, proof):
        super().__init__(proof=proof, wrong=house.Wrong())

    def wrong(self, *words):
        self["wrong"].add(*words)

    def table(self):
        print("\n" + self["proof"])
        for name, value in self.items():
            if name in ("proof", "wrong"):
                continue
            if isinstance(value, dict):
                value = ", ".join("%s %s" % (k, number(v)) for k, v in value.items())
            print("  %-34s %s" % (name.replace("_", " "), number(value)))
        for w in self["wrong"]:
            print("  WRONG: " + w)
        print("  nothing is wrong" if not self["wrong"] else "  %d WRONG" % len(self["wrong"]))


def number(v):
    return "%.2f" % v if isinstance(v, float) else str(v)


def spread(values):
    """n, p50, p99 and the greatest."""
    v = sorted(values)
    return {"n": len(v), "p50": v[len(v) // 2], "p99": v[len(v) * 99 // 100], "max": v[-1]} if v else {"n": 0}


class Worker(threading.Thread):
    """A shell that works, turn after turn, until it is told to stop or ends."""

    def __init__(self, name, shell, turn, patience=120):
        super().__init__(daemon=True)
        self.name, self.shell, self.turn, self.patience = name, shell, turn, patience
        self.stop = threading.Event()
        self.turns, self.took, self.states, self.ended = 0, [], {}, None
        self.said = ""

    def do(self, sql):
        """What it said, and whether there was no error."""
        out = self.shell.do(sql, self.patience)
        states = re.findall(r"ERROR:\s+([0-9A-Z]{5}):", out)
        for s in states:
            self.states[s] = self.states.get(s, 0) + 1
            self.said = out[-600:]
        return out, not states

    def run(self):
        try:
            while not self.stop.is_set():
                t0 = time.monotonic()
                self.turn(self)
                self.took.append(time.monotonic() - t0)
                self.turns += 1
        except (AssertionError, OSError, ValueError) as e:
            self.ended = str(e)[-1500:]

    def end(self):
        self.stop.set()
        self.join(self.patience * house.SLOW + 10)
        if self.is_alive():
            self.ended = "it hangs"


def judge_workers(f, workers, allowed=CONFLICTS):
    """Those that ended, or were told what they must not hear."""
    for w in workers:
        w.end()
        if w.ended is not None:
            f.wrong("%s ended (exit code %s): %s" % (w.name, w.shell.p.poll(), w.ended))
        odd = set(w.states) - allowed
        if odd:
            f.wrong("%s was told %s: %s" % (w.name, sorted(odd), w.said))


def fill(shell, name, megabytes):
    """A table of about so many megabytes of storage, and rows 1 to n; gives n."""
    shell.ok("CREATE TABLE %s (id integer PRIMARY KEY, n integer NOT NULL, v text)" % name)
    rows = max(1000, megabytes * 1000000 // 1310)
    for first in range(1, rows + 1, 50000):
        shell.ok("INSERT INTO %s SELECT i, 0, repeat('x', 900) FROM generate_series(%d, %d) i" % (
            name, first, min(first + 49999, rows)), 120)
    return rows


def in_use(h):
    """Bytes of all nodes that are neither given back nor have never been used."""
    return sum(n["in_use"] for n in h.status().values())


def settled_in_use(h):
    """What is given back comes back a little later."""
    least = in_use(h)
    for _ in range(2):
        time.sleep(0.1)
        least = min(least, in_use(h))
    return least


def mib(n):
    return round(n / (1 << 20), 2)


# ---- a busy machine ----

def busy(seconds=600, table_mb=2048, every=20, loops=8, idle=6, working=4, fabric="auto", lease=None):
    f = Figures("busy")
    f.update(seconds=seconds, table_mb=table_mb, busy_loops=loops, idle=idle, working=working, fabric=fabric, cores=os.cpu_count())
    spinning = []
    with House(lease_ms=lease) as h:
        try:
            h.node(1, size="%dm" % (table_mb * 3 // 2 + 512))
            first = h.shell(fabric=fabric)
            rows = fill(first, "big", table_mb)
            first.ok("CREATE TABLE shared (k integer PRIMARY KEY, n bigint NOT NULL)")
            first.ok("INSERT INTO shared SELECT i, 0 FROM generate_series(0, 15) i")
            idlers = [h.shell(fabric=fabric) for _ in range(idle)]
            for s in idlers:
                s.ok("SELECT count(*) FROM shared", 60)
            counted = [0] * working

            def turn(me):
                w = me.number
                _, ok = me.do("UPDATE shared SET n = n + 1 WHERE k = %d" % (me.turns % 16))
                counted[w] += ok
                me.do("UPDATE big SET n = n + 1 WHERE id = %d" % (1 + (me.turns * 7919 + w * 104729) % rows))
                me.do("INSERT INTO big VALUES (%d, 1, repeat('y', 900))" % (rows + 1 + me.turns * working + w))
                me.do("SELECT sum(n) FROM shared")
                if me.turns % 3 == 0:
                    me.do("DELETE FROM big WHERE id = %d" % (rows + 1 + me.turns // 3 * 3 * working + w))
            workers = [Worker("working shell %d" % i, h.shell(fabric=fabric), turn) for i in range(working)]
            for i, w in enumerate(workers):
                w.number = i
                w.shell.ok("SELECT 1", 60)
            first.close()
            for _ in range(loops):
                spinning.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            for w in workers:
                w.start()
            end = time.monotonic() + seconds
            kills, gone = 0, {}

            def look():
                for i, s in enumerate(idlers):
                    if s.p.poll() is not None and i not in gone:
                        gone[i] = s.p.returncode
                        f.wrong("idle shell %d ended with code %d after %.0f s" % (i, s.p.returncode, seconds - (end - time.monotonic())))
            while time.monotonic() < end:
                victim = h.shell(fabric=fabric)
                victim.ok("BEGIN", 60)
                victim.do("UPDATE shared SET n = n + 1000000 WHERE k = %d" % (kills % 16), 120)
                victim.p.kill()
                victim.p.wait()
                kills += 1
                until = min(end, time.monotonic() + every)
                while time.monotonic() < until:
                    time.sleep(0.2)
                    look()
                    if len(gone) == len(idlers) and all(w.ended for w in workers):
                        end = 0
                        break
            judge_workers(f, workers)
            for p in spinning:
                p.kill()
                p.wait()
            for i, s in enumerate(idlers):
                if i not in gone:
                    try:
                        got = int(s.value("SELECT sum(n) FROM shared", 60))
                        if got != sum(counted):
                            f.wrong("idle shell %d reads %d where %d were answered" % (i, got, sum(counted)))
                        s.close()
                    except AssertionError as e:
                        f.wrong("idle shell %d is not served any more: %s" % (i, str(e)[-600:]))
            f.update(kills=kills, others_ended=len(gone) + sum(w.ended is not None for w in workers),
                     turns=sum(w.turns for w in workers), turn_s=spread([t for w in workers for t in w.took]),
                     refused={k: sum(w.states.get(k, 0) for w in workers) for k in sorted({k for w in workers for k in w.states})})
            if kills < 2 or f["turns"] < 10:
                f.wrong("too little happened to prove anything")
        finally:
            for p in spinning:
                if p.poll() is None:
                    p.kill()
                    p.wait()
    return f


# ---- memory ----

def flat(f, what, used, room):
    """used: bytes in use from the end of the warm-up on. Growth between the first and the last third's greatest is what counts."""
    n = max(1, len(used) // 3)
    before, after = max(used[:n]), max(used[-n:])
    f[what + "_mib"] = {"first third": mib(before), "last third": mib(after), "greatest": mib(max(used))}
    if after > before + room:
        f.wrong("%s: memory in use grew from %.2f to %.2f MiB" % (what, before / (1 << 20), after / (1 << 20)))


def repeated(f, what, h, count, turn, room, looks=15):
    """turn(i) count times, looking at the memory in between; the first sixth is the warm-up."""
    used, t0 = [], time.monotonic()
    for i in range(count):
        out = turn(i)
        if "ERROR" in out:
            f.wrong("%s: turn %d of %d was told: %s" % (what, i, count, out.strip()[-300:]))
            f[what + "_mib"] = {"at the error": mib(in_use(h))}
            return
        if i >= count // 6 and (i % max(1, count // looks) == 0 or i == count - 1):
            used.append(settled_in_use(h))
    flat(f, what, used, room)
    f[what + "_s"] = time.monotonic() - t0


def memory_updates(f, share, fabric):
    """20,000 rows updated by one statement, again and again, on a node of 64 MB."""
    with House(nodes=1, size="64m", lease_ms=None) as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL)")
        s.ok("INSERT INTO t SELECT i, 0 FROM generate_series(1, 20000) i", 60)
        count = max(30, int(1000 * share))
        repeated(f, "updates_of_20000_rows", h, count, lambda i: s.do("UPDATE t SET v = v + 1", 60), 4 << 20)
        if not f["wrong"]:
            house.same(s.value("SELECT min(v) + max(v) FROM t", 60), str(2 * count), "each update is there")
        f["updates"] = count


def memory_value(f, share, fabric):
    """One value of 40 KB, again and again."""
    with House(nodes=1, size="64m", lease_ms=None) as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        s.ok("INSERT INTO t VALUES (1, '')")
        count = max(300, int(10000 * share))
        # Values as they come, so that nothing can be shared or compressed.
        repeated(f, "updates_of_40_kb", h, count,
                 lambda i: s.do("UPDATE t SET v = repeat('%08d', 5000) WHERE id = 1" % i, 60), 4 << 20)
        if not f["wrong"]:
            house.same(s.value("SELECT length(v) FROM t"), "40000")
        f["values"] = count


def memory_tables(f, share, fabric):
    """CREATE TABLE, some rows, DROP TABLE, again and again; another shell looks on."""
    with House(nodes=1, size="64m", lease_ms=None) as h:
        s, other = h.shell(fabric=fabric), h.shell(fabric=fabric)
        other.ok("SELECT 1")
        count = max(50, int(1000 * share))
        repeated(f, "tables", h, count, lambda i: s.do(
            "CREATE TABLE c (id integer PRIMARY KEY, v text); "
            "INSERT INTO c SELECT i, 'row ' || i FROM generate_series(1, 200) i; DROP TABLE c", 60), 4 << 20)
        out = other.do("CREATE TABLE d (id integer PRIMARY KEY); SELECT count(*) FROM d; DROP TABLE d", 60)
        if "ERROR" in out:
            f.wrong("tables: the shell that looked on was told: " + out.strip()[-300:])
        f["tables"] = count


def memory_crashes(f, share, fabric):
    """Shells that are killed as they write, on three nodes of 24 MiB with six tables of 90 rows: 87 in 34 s."""
    with House(nodes=3, size="24m", lease_ms=None) as h:
        s = h.shell(fabric=fabric)
        for t in range(6):
            s.ok("CREATE TABLE t%d (id integer PRIMARY KEY, n integer NOT NULL, v text)" % t)
            s.ok("INSERT INTO t%d SELECT i, 0, repeat('v', 50) FROM generate_series(1, 90) i" % t)
        count, used, dice = max(24, int(87 * share)), [], random.Random(87)
        for i in range(count):
            text = "".join("UPDATE t%d SET n = n + 1, v = repeat('w', %d) WHERE id %% 3 = %d;\n"
                           "INSERT INTO t%d VALUES (%d, 0, 'new'); DELETE FROM t%d WHERE id = %d;\n" % (
                               t, 40 + i % 30, k % 3, t, 1000 + k, t, 1000 + k) for k in range(400) for t in range(6))
            with open(h.file("crash.sql", text), "rb") as script:
                victim = subprocess.Popen(s.args, stdin=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          env=house.clean_env(h.env))
            first_words = victim.stdout.read(7)  # it has begun to write
            time.sleep(0.05 + dice.random() * 0.2)
            victim.kill()
            last_words = (first_words + victim.stdout.read()).decode("utf-8", "replace")
            victim.wait()
            victim.stdout.close()
            if "UPDATE" not in last_words:
                f.wrong("crashes: a newcomer could not write after %d: %s" % (i, last_words.strip()[-300:]))
                break
            out = s.do("UPDATE t%d SET n = n + 1 WHERE id = %d" % (i % 6, 1 + i % 90), 60)
            bad = re.findall(r"ERROR:\s+([0-9A-Z]{5}):", out)
            if set(bad) - CONFLICTS:
                f.wrong("crashes: after %d the shell that lives was told: %s" % (i + 1, out.strip()[-300:]))
                break
            if i >= count // 5:
                used.append(in_use(h))
        if used:
            # 0.65 MiB each would be what a crash leaves for good.
            flat(f, "crashes", used, 3 << 20)
        f["crashes"] = count


def memory_snapshot(f, share, fabric):
    """A snapshot stays open under hot updates until memory may be used up. When it is closed all go on."""
    with House(nodes=3, size="48m", lease_ms=None) as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE hot (id integer PRIMARY KEY, v text)")
        s.ok("CREATE TABLE side (id integer PRIMARY KEY, v text)")
        s.ok("INSERT INTO hot SELECT i, repeat('v', 500) FROM generate_series(1, 500) i")
        s.ok("INSERT INTO side SELECT i, repeat('s', 500) FROM generate_series(1, 500) i")
        old = h.shell(fabric=fabric)
        old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
        old.ok("SELECT count(*) FROM hot")

        def turn(me):
            me.do("UPDATE hot SET v = repeat('%s', 500) WHERE id %% 4 = %d" % ("abcdefgh"[me.turns % 8], me.turns % 4))
        workers = [Worker("writer %d" % i, h.shell(fabric=fabric), turn) for i in range(2)]
        for w in workers:
            w.start()
        time.sleep(max(5, 20 * share))
        full = sum(w.states.get("53100", 0) for w in workers)
        out = old.do("SELECT count(*), min(v) = max(v), min(left(v, 1)) FROM hot", 60)
        if "500,t,v" not in out:
            f.wrong("snapshot: it moved, or was told: " + out.strip()[-300:])
        old.do("COMMIT", 60)
        for w in workers:
            w.end()
            if w.ended is not None:
                f.wrong("snapshot: %s ended: %s" % (w.name, w.ended))
            if set(w.states) - CONFLICTS - {"53100"}:
                f.wrong("snapshot: %s was told: %s" % (w.name, w.said))
        f["snapshot_was_told_53100"] = full
        f["snapshot_in_use_mib"] = mib(in_use(h))
        late = []

        def goes_on(what, shell, sql):
            t0 = time.monotonic()
            while True:
                out = shell.do(sql, 60)
                if "ERROR" not in out:
                    late.append(time.monotonic() - t0)
                    return
                if time.monotonic() - t0 > 10 * house.SLOW:
                    f.wrong("snapshot: 10 s after it was closed, %s is told: %s" % (what, out.strip()[-300:]))
                    return
                time.sleep(0.2)
        for w in workers:
            goes_on(w.name, w.shell, "UPDATE hot SET v = repeat('z', 500) WHERE id <= 100")
        goes_on("the process that had it open", old, "INSERT INTO side SELECT i, repeat('n', 500) FROM generate_series(1001, 2500) i")
        goes_on("a process that made no garbage", s, "INSERT INTO side SELECT i, repeat('m', 500) FROM generate_series(3001, 4500) i")
        goes_on("TRUNCATE", s, "TRUNCATE side")
        t0 = time.monotonic()
        while True:
            r = h.do("INSERT INTO side SELECT i, 'new' FROM generate_series(1, 1500) i; SELECT count(*) FROM side", fabric=fabric)
            if r.rc == 0:
                break
            if time.monotonic() - t0 > 10 * house.SLOW:
                f.wrong("snapshot: a newcomer is refused:", r.err.strip()[-300:])
                break
        f["snapshot_goes_on_after_s"] = max(late) if late else None


PARTS = {"updates": memory_updates, "value": memory_value, "tables": memory_tables, "crashes": memory_crashes,
         "snapshot": memory_snapshot}


def memory(share=1.0, fabric="auto", only=None):
    f = Figures("memory")
    if only is not None and only not in PARTS:
        raise AssertionError("there is no part %s: %s" % (only, ", ".join(PARTS)))
    for name, part in PARTS.items():
        if only in (None, name):
            part(f, share, fabric)
    return f


# ---- a sweep beside life ----

def sweep(table_mb=1536, rounds=3, lease=500, fabric="auto"):
    """Where a sweep kept its own process from its heartbeat, the inserter was killed each time."""
    f = Figures("sweep")
    f.update(table_mb=table_mb, lease_ms=lease, fabric=fabric)
    took, lived = [], 0
    with House(lease_ms=lease) as h:
        h.node(1, size="%dm" % (table_mb * 3 // 2 + 512))
        first = h.shell(fabric=fabric)
        rows = fill(first, "big", table_mb)
        watcher = h.shell(fabric=fabric)  # it fences and recovers others that stall
        watcher.ok("SELECT count(*) FROM big WHERE id < 10")

        def turn(me):
            me.do("UPDATE big SET n = n + 1 WHERE id = %d" % (1 + me.turns % 50))
            time.sleep(0.01)
        other = Worker("the other shell", watcher, turn)
        other.start()
        at = rows
        for i in range(rounds):
            victim, inserter = h.shell(fabric=fabric), h.shell(fabric=fabric)
            victim.ok("SELECT count(*) FROM big WHERE id < 10")
            inserter.ok("SELECT count(*) FROM big WHERE id < 10")
            time.sleep(0.2)
            victim.p.kill()
            victim.p.wait()
            end = time.monotonic() + 4 * lease / 1000 + 2
            try:
                while time.monotonic() < end:
                    t0 = time.monotonic()
                    inserter.ok("INSERT INTO big SELECT i, 1, repeat('z', 900) FROM generate_series(%d, %d) i" % (at + 1, at + 200), 60)
                    took.append(time.monotonic() - t0)
                    at += 200
                    time.sleep(0.05)
                lived += 1
                inserter.close()
            except AssertionError as e:
                f.wrong("round %d: the inserter ended (exit code %s): %s" % (i + 1, inserter.p.poll(), str(e)[-500:]))
        judge_workers(f, [other])
        if not f["wrong"]:
            first.value("SELECT 1")
            got = int(first.value("SELECT count(*) FROM big", 120))
            if got != at:
                f.wrong("%d rows are there, %d were answered" % (got, at))
        f.update(rounds=rounds, inserters_lived=lived, insert_of_200_s=spread(took), others_turn_s=spread(other.took))
    return f


# ---- one connection after the other breaks ----

def resets(seconds=120, lease=None, seed=1, every=0.5):
    f = Figures("resets")
    dice = random.Random(seed)
    with House(nodes=2, size="256m", lease_ms=lease) as h:
        proxies = [Proxy(n) for n in h.nodes]
        through = ",".join(p.address for p in proxies)
        first = h.shell(fabric="tcp")
        first.ok("CREATE TABLE acc (id integer PRIMARY KEY, n bigint NOT NULL)")
        first.ok("INSERT INTO acc SELECT i, 0 FROM generate_series(0, 19) i")
        h.env["NAMDB_LOG"] = "info"  # recoverers log each recovery
        low, high = [0] * 4, [0] * 4

        def turn(me):
            out, ok = me.do("UPDATE acc SET n = n + 1 WHERE id = %d" % ((me.turns * 7 + me.number) % 20))
            low[me.number] += ok
            # A commit whose answer was lost may be there or not.
            high[me.number] += ok or ("40001" not in out and "40P01" not in out and "55P03" not in out)
        workers = []
        for i in range(4):
            w = Worker("shell %d" % i, h.shell(fabric="tcp", storage=through), turn)
            w.number = i
            w.shell.ok("SELECT count(*) FROM acc", 30)
            workers.append(w)
        for w in workers:
            w.start()
        cuts, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(every * (0.5 + dice.random()))
            cuts += dice.choice(proxies).cut_one(dice)
        judge_workers(f, workers, CONFLICTS | {"58030"})
        total = int(first.value("SELECT sum(n) FROM acc", 60))
        if not sum(low) <= total <= sum(high):
            f.wrong("%d updates are there, %d were answered, %d may be" % (total, sum(low), sum(high)))
        told = sum(w.states.get("58030", 0) for w in workers)
        f.update(seconds=seconds, resets=cuts, turns=sum(w.turns for w in workers), answered=sum(low), told_58030=told,
                 turn_s=spread([t for w in workers for t in w.took]))
        words = "".join(w.shell.history for w in workers) + "".join(n.text() for n in h.nodes)
        settled = settled_lines(words)
        f["recovered"] = len(settled)
        if settled:
            f.wrong("a process was recovered that was not killed:", settled[0])
        for w in workers:
            if w.shell.p.poll() is None:
                w.shell.close()
        for p in proxies:
            p.close()
    return f


# ---- nothing arrives for a while ----

def silence(rounds=5, seconds=2.0, lease=None):
    f = Figures("silence")
    with House(nodes=2, size="128m", lease_ms=lease) as h:
        proxies = [Proxy(n) for n in h.nodes]
        through = ",".join(p.address for p in proxies)
        first = h.shell(fabric="tcp")
        first.ok("CREATE TABLE acc (id integer PRIMARY KEY, n bigint NOT NULL)")
        first.ok("INSERT INTO acc SELECT i, 0 FROM generate_series(0, 3) i")
        h.env["NAMDB_LOG"] = "info"

        def turn(me):
            # Own rows: no process must wait for one that hears nothing.
            me.do("UPDATE acc SET n = n + 1 WHERE id = %d" % me.number)
            time.sleep(0.005)
        workers = [Worker(("behind" if i < 2 else "beside") + " the silence, %d" % i,
                          h.shell(fabric="tcp", storage=through if i < 2 else None), turn) for i in range(4)]
        for i, w in enumerate(workers):
            w.number = i
            w.shell.ok("SELECT count(*) FROM acc", 30)
        for w in workers:
            w.start()
        for _ in range(rounds):
            time.sleep(0.7)
            threads = [threading.Thread(target=p.silence, args=(seconds,)) for p in proxies]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        time.sleep(0.3)
        judge_workers(f, workers, set())
        total, answered = int(first.value("SELECT sum(n) FROM acc", 60)), sum(w.turns for w in workers)
        if total != answered:
            f.wrong("%d updates are there, %d were answered" % (total, answered))
        settled = settled_lines("".join(w.shell.history for w in workers) + "".join(n.text() for n in h.nodes))
        f.update(rounds=rounds, silent_for_s=seconds, turns=answered, recovered=len(settled),
                 turn_behind_s=spread([t for w in workers[:2] for t in w.took]), turn_beside_s=spread([t for w in workers[2:] for t in w.took]))
        if settled:
            f.wrong("a process was recovered that lived:", settled[0])
        if max(workers[0].took + [0]) < seconds * 0.8 and not f["wrong"]:
            f.wrong("no process noticed the silence, so this proves nothing")
        for p in proxies:
            p.close()
    return f


# ---- a clean end with much in its hands ----

def leave(rows=1000000, fabric="auto", lease=None):
    f = Figures("leave")
    with House(lease_ms=lease) as h:
        h.node(1, size="%dm" % (256 + rows * 3 // 4000))
        other, leaver = h.shell(fabric=fabric), h.shell(fabric=fabric)
        other.ok("CREATE TABLE big (id integer PRIMARY KEY, v text)")
        other.ok("CREATE TABLE small (id integer PRIMARY KEY, n integer NOT NULL)")
        other.ok("INSERT INTO small SELECT i, 0 FROM generate_series(1, 100) i")
        for first in range(1, rows + 1, 50000):
            leaver.ok("INSERT INTO big SELECT i, repeat('x', 100) FROM generate_series(%d, %d) i" % (first, min(first + 49999, rows)), 120)
        full = in_use(h)

        def turn(me):
            me.do("UPDATE small SET n = n + 1 WHERE id = %d" % (1 + me.turns % 100))
            time.sleep(0.002)
        w = Worker("the other shell", other, turn)
        w.start()
        t0 = time.monotonic()
        leaver.ok("DELETE FROM big", 600)
        f["delete_s"] = time.monotonic() - t0
        time.sleep(1)  # what it deleted is collected meanwhile
        t0 = time.monotonic()
        leaver.p.stdin.close()
        if not leaver.ends(120):
            f.wrong("it has not ended after 120 s")
        f["ends_after_s"] = time.monotonic() - t0
        if f["ends_after_s"] > (5 + rows / 50000) * house.SLOW:
            f.wrong("it took %.1f s to end" % f["ends_after_s"])
        judge_workers(f, [w])
        if leaver.p.poll() not in (0, None):
            f.wrong("it ended with code %d" % leaver.p.poll())
        f["others_turn_s"] = spread(w.took)
        left = in_use(h)
        grown = None
        try:
            for first in range(1, rows + 1, 50000):
                other.ok("INSERT INTO big SELECT i, repeat('y', 100) FROM generate_series(%d, %d) i" % (first, min(first + 49999, rows)), 120)
            house.same(other.value("SELECT count(*) FROM big WHERE v = repeat('y', 100)", 120), str(rows))
            grown = in_use(h)
        except AssertionError as e:
            f.wrong("others cannot use the memory: " + str(e)[-300:])
        f["in_use_mib"] = {"full": mib(full), "after it left": mib(left), "filled again": mib(grown) if grown else None}
        if grown and grown > full * 1.25 + (8 << 20):
            f.wrong("filled again it takes %.1f MiB where it took %.1f" % (grown / (1 << 20), full / (1 << 20)))
    return f


# ---- a table is dropped beside its collectors ----

def drop(rounds=30, fabric="auto", lease=None, shells=10):
    f = Figures("drop")
    gone_table = {"42P01", "40001", "40P01", "55P03", "0A000"}
    with House(nodes=2, size="256m", lease_ms=lease) as h:
        owner = h.shell(fabric=fabric)
        others = [h.shell(fabric=fabric) for _ in range(shells)]
        rows, lost = 4000, 0

        def turn(me):
            i = (me.turns * 37 + me.number * 401) % rows
            me.do("DELETE FROM victim WHERE id BETWEEN %d AND %d" % (i, i + 20))
            me.do("DELETE FROM victim WHERE id BETWEEN %d AND %d" % (rows + i, rows + i + 20))
            me.do("INSERT INTO victim SELECT i, repeat('n', 100) FROM generate_series(%d, %d) i" % (rows + i, rows + i + 20))
            me.do("UPDATE victim SET v = repeat('u', 90) WHERE id %% %d = %d" % (shells * 8, me.number))
        f["drops"] = 0
        workers = []
        owner.ok("CREATE TABLE kept (id integer PRIMARY KEY, sum text, v text)")
        kept = 0
        for i in range(rounds):
            owner.ok("CREATE TABLE victim (id integer PRIMARY KEY, v text)")
            owner.ok("INSERT INTO victim SELECT i, repeat('v', 100) FROM generate_series(0, %d) i" % (rows - 1), 60)
            if not workers:
                workers = [Worker("shell %d" % k, s, turn) for k, s in enumerate(others)]
                for k, w in enumerate(workers):
                    w.number = k
                    w.start()
            time.sleep(0.3)
            until_gone = time.monotonic() + 30 * house.SLOW
            while True:  # DROP never waits for ever
                out = owner.do("DROP TABLE victim", 60)
                if "ERROR" not in out:
                    break
                if time.monotonic() > until_gone:
                    f.wrong("the table cannot be dropped: " + out.strip()[-300:])
                    break
            f["drops"] += 1
            # Its memory goes round: what comes to lie there must stay as it is.
            owner.ok("INSERT INTO kept SELECT i, md5(i::text), repeat(md5(i::text), 6) FROM generate_series(%d, %d) i" % (kept, kept + 1499), 60)
            kept += 1500
            seen = owner.do("SELECT 'whole=' || count(*) FROM kept WHERE sum = md5(id::text) AND v = repeat(md5(id::text), 6)", 60)
            if "whole=%d\n" % kept not in seen:
                lost += 1
                f.wrong("after drop %d: %s, and %d rows were committed" % (i + 1, seen.strip()[-300:], kept))
            if i % 10 == 9:
                owner.ok("DELETE FROM kept WHERE id < %d" % kept, 60)
                owner.ok("DROP TABLE kept", 60)
                owner.ok("CREATE TABLE kept (id integer PRIMARY KEY, sum text, v text)")
                kept = 0
        judge_workers(f, workers, gone_table | {"23505"})
        f.update(turns=sum(w.turns for w in workers), shells=shells, wrong_looks=lost, in_use_mib=mib(in_use(h)))
    return f


# ---- a long value where only single extents are free ----

def value(node_mb=700, value_mb=200, fabric="auto"):
    f = Figures("value")
    with House(lease_ms=None) as h:
        h.node(1, size="%dm" % node_mb)
        s = h.shell(fabric=fabric)
        made = 0
        # Two tables grow by turns, so that their extents lie among each other.
        while True:
            n = h.status()[1]
            if n["never_used"] < max(24, node_mb // 20) << 20 or made > 4000:
                break
            for k in range(2):
                s.ok("CREATE TABLE f%d (id integer PRIMARY KEY, v text)" % (made + k))
            for _ in range(4):
                for k in range(2):
                    s.ok("INSERT INTO f%d SELECT i, repeat('x', 900) FROM generate_series(%d, %d) i" % (made + k, _ * 500, _ * 500 + 499))
            made += 2
        f["tables"] = made
        f["in_use_full_mib"] = mib(in_use(h))
        for k in range(0, made, 2):
            s.ok("DROP TABLE f%d" % k)
        time.sleep(1)
        f["in_use_half_mib"] = mib(in_use(h))
        n = value_mb * 1000000
        s.ok("CREATE TABLE long (id integer PRIMARY KEY, v text)")
        t0 = time.monotonic()
        out = s.do("INSERT INTO long VALUES (1, repeat('0123456789', %d))" % (n // 10), 300)
        f["insert_s"] = time.monotonic() - t0
        f["node_mib"] = {k.replace("_", " "): mib(n[k]) for n in h.status().values() for k in ("in_use", "given_back", "never_used")}
        if "ERROR" in out:
            f.wrong("%.0f MiB of extents had been given back, and a value of %d MB was told: %s" % (
                f["in_use_full_mib"] - f["in_use_half_mib"], value_mb, out.strip()[-300:]))
            return f
        other = h.shell(fabric=fabric)
        t0 = time.monotonic()
        out = other.do("SELECT 'right=' || (v = repeat('0123456789', %d)) || length(v) FROM long" % (n // 10), 300)
        f["read_s"] = time.monotonic() - t0
        if "right=true%d\n" % n not in out:
            f.wrong("it reads back as: " + out.strip()[-300:])
        for k in (1, made // 2 | 1, made - 1):
            if s.value("SELECT count(*) FROM f%d WHERE v = repeat('x', 900)" % k) != "2000":
                f.wrong("rows of table f%d are gone" % k)
        full = in_use(h)
        s.ok("DELETE FROM long", 300)
        t0 = time.monotonic()
        while in_use(h) > full - n // 2 and time.monotonic() - t0 < 10:
            s.ok("SELECT 1")
            time.sleep(0.3)
        f["in_use_mib"] = {"with it": mib(full), "when it was deleted": mib(in_use(h))}
    return f


# ---- asleep beside a load ----

def asleep(seconds=20, fabric="auto", lease=None, node_mb=32):
    f = Figures("asleep")
    f.update(seconds=seconds, fabric=fabric)
    with House(nodes=1, size="%dm" % node_mb, lease_ms=lease) as h:
        first = h.shell(fabric=fabric)
        first.ok("CREATE TABLE hot (id integer PRIMARY KEY, n integer NOT NULL)")
        first.ok("INSERT INTO hot SELECT i, 0 FROM generate_series(0, 199) i")
        sleepers = [h.shell(fabric=x) for x in (("shm", "tcp", "shm", "tcp") if fabric == "auto" else (fabric,) * 4)]
        for s in sleepers:
            s.ok("SELECT count(*) FROM hot")
        args = [a for a in first.args if a != "--csv"] + ["-q"]
        scripts = [h.file("load%d.sql" % i, "".join("UPDATE hot SET n = n + 1 WHERE id = %d;\n" % (k % 100 + 100 * i) for k in range(20000)))
                   for i in range(2)]
        running, done, stop = [], [0, 0], threading.Event()

        def load(i):
            p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=house.clean_env(h.env))
            running.append(p)
            text = open(scripts[i], "rb").read()
            try:
                while not stop.is_set():
                    p.stdin.write(text)
                    done[i] += 20000
                p.stdin.close()
            except OSError:
                f.wrong("a shell of the load ended with code %s: %s" % (p.wait(), p.stderr.read()[-300:]))
                return
            if p.wait() != 0:
                f.wrong("a shell of the load ended with code %s: %s" % (p.returncode, p.stderr.read()[-300:]))
        threads = [threading.Thread(target=load, args=(i,)) for i in range(2)]
        for t in threads:
            t.start()
        time.sleep(2)  # they are at rest by now
        for s in sleepers:
            s.p.send_signal(signal.SIGSTOP)
        t0, made = time.monotonic(), 0
        while time.monotonic() - t0 < seconds:
            time.sleep(seconds / 8)
            first.ok("CREATE TABLE made_%d (id integer PRIMARY KEY); INSERT INTO made_%d VALUES (%d); ALTER TABLE hot ADD COLUMN c%d integer" % (
                made, made, made, made), 60)
            made += 1
        for s in sleepers:
            s.p.send_signal(signal.SIGCONT)
        for i, s in enumerate(sleepers):
            out = s.do_or_end("SELECT 'sum=' || " + " + ".join("(SELECT id FROM made_%d)" % k for k in range(made)) +
                              "; SELECT 'columns=' || (count(c%d) + 1) FROM hot" % (made - 1), 60)
            if "sum=%d\n" % (made * (made - 1) // 2) not in out or "columns=1\n" not in out:
                f.wrong("sleeper %d (exit code %s): %s" % (i, s.p.poll(), out.strip()[-300:]))
        stop.set()
        for t in threads:
            t.join(60 * house.SLOW)
        for p in running:
            if p.poll() is None:
                p.kill()
                p.wait()
        n = int(first.value("SELECT sum(n) FROM hot", 60))
        if not f["wrong"] and n != sum(done):
            f.wrong("%d updates are there, %d were answered" % (n, sum(done)))
        f.update(tables_made=made, commits=n, commits_per_s=n / (time.monotonic() - t0))
    return f


# ---- one unique key, again and again ----

def rss_kib(pid):
    with open("/proc/%d/status" % pid) as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))


def cpu_s(pid):
    with open("/proc/%d/stat" % pid) as stat:
        ticks = stat.read().rsplit(")", 1)[1].split()
    return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


# What takes the key away and gives it to another row, number i.
PASS_ON = {
    "delete and insert": "DELETE FROM u WHERE email = 'a'; INSERT INTO u VALUES (%(i)d, 'a');\n",
    "move": "UPDATE u SET email = 'b%(i)d' WHERE email = 'a'; INSERT INTO u VALUES (%(i)d, 'a');\n",
    "on conflict": "DELETE FROM u WHERE email = 'a'; INSERT INTO u VALUES (%(i)d, 'a') ON CONFLICT (email) DO UPDATE SET id = -1;\n",
    "block": "BEGIN; DELETE FROM u WHERE email = 'a'; INSERT INTO u VALUES (%(i)d, 'a'); COMMIT;\n",
}
LEVELS = ["read committed", "repeatable read", "serializable"]


def passes_on(f, what, shell, way, first, n):
    """n times; all errors are wrong, and so is a key that two rows have, or none."""
    out = shell.do("".join(PASS_ON[way] % {"i": i} for i in range(first, first + n)), 300)
    states = re.findall(r"ERROR:\s+([0-9A-Z]{5}):", out)
    if states:
        f.wrong("%s: %s: %d errors, the first: %s" % (what, way, len(states), states[0]))
    house.same(shell.value("SELECT count(*) FROM u WHERE email = 'a'"), "1", "%s: rows with the key" % what)
    return first + n


def again(rounds=1000000, seconds=60.0, fabric="auto"):
    f = Figures("again")
    chunk = min(500, rounds)
    with House(nodes=1, size="512m", lease_ms=None) as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE u (id bigint PRIMARY KEY, email text UNIQUE)")
        s.ok("CREATE TABLE c (email text REFERENCES u (email))")
        s.ok("INSERT INTO u VALUES (0, 'a')")
        at, took, used, rss = 1, [], [], []
        while at <= rounds:
            c0 = cpu_s(s.p.pid)
            at = passes_on(f, "alone", s, "delete and insert", at, chunk)
            took.append(cpu_s(s.p.pid) - c0)
            rss.append(rss_kib(s.p.pid) << 10)
            if len(took) % max(1, rounds // chunk // 30) == 0:
                used.append(settled_in_use(h))
        f["rounds"] = at - 1
        if len(took) >= 12:
            early, late = min(took[2:6]), min(took[-4:])
            f["cpu_us_a_round"] = {"early": 1e6 * early / chunk, "late": 1e6 * late / chunk}
            if late > 1.5 * early + 0.02:
                f.wrong("the last rounds take %.0f us of CPU each, the early ones %.0f" % (1e6 * late / chunk, 1e6 * early / chunk))
        flat(f, "node", used[len(used) // 6:], 4 << 20)
        flat(f, "process", rss[len(rss) // 6:], 12 << 20)
        # Other ways, at each level.
        for level in LEVELS:
            s.ok("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + level)
            for way in PASS_ON:
                at = passes_on(f, level, s, way, at, 100)
        s.ok("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL read committed")
        # A snapshot stays open.
        old = h.shell(fabric=fabric)
        old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
        held = old.value("SELECT id FROM u WHERE email = 'a'")
        t0, first = time.monotonic(), at
        while at == first or time.monotonic() - t0 < seconds:
            for way in PASS_ON:
                at = passes_on(f, "under a snapshot", s, way, at, 30)
        f["rounds_under_a_snapshot"] = at - first
        s.ok("INSERT INTO c VALUES ('a')")
        contains = s.do("DELETE FROM u WHERE email = 'a'")
        check("23503" in contains, "the key is referred to:", contains)
        s.ok("DELETE FROM c")
        house.same(old.value("SELECT id FROM u WHERE email = 'a'"), held, "what the old snapshot shows")
        # Its writer is killed; shells of one statement each go on.
        os.kill(s.p.pid, signal.SIGKILL)
        s.p.wait()
        for i in range(5):
            for sql in ("DELETE FROM u WHERE email = 'a'", "INSERT INTO u VALUES (%d, 'a')" % (at + i)):
                r = h.do(sql, fabric=fabric)
                if r.rc != 0:
                    f.wrong("a shell of one statement was told:", r.err.strip()[-300:])
        old.ok("COMMIT")
        house.same(old.value("SELECT count(*) FROM u WHERE email = 'a'"), "1", "rows with the key at the end")
    return f


# ---- what was made and dropped (aging.py) ----

def age(share=1.0):
    f = Figures("age")
    aging.age(f, share)
    return f


def tables(rows=10000):
    f = Figures("tables")
    aging.tables(f, rows)
    return f


def names(rows=100000):
    f = Figures("names")
    aging.names(f, rows)
    return f


def endure(minutes=60.0):
    f = Figures("endure")
    enduring.endure(f, minutes)
    return f


def turns(seconds=8, only=None):
    f = Figures("turns")
    beside.turns(f, seconds, only=only)
    return f


def room(share=1.0, kinds=None):
    f = Figures("room")
    rooms.room(f, share, kinds=kinds)
    return f


def starve(seconds=10.0):
    f = Figures("starve")
    starving.starve(f, seconds)
    return f


def schema(minutes=10.0, kinds=None, seed=1):
    f = Figures("schema")
    aging.schema(f, minutes, kinds, seed=seed)
    return f


PROOFS = {"busy": busy, "memory": memory, "sweep": sweep, "resets": resets, "silence": silence, "leave": leave, "drop": drop,
          "value": value, "asleep": asleep, "again": again, "age": age, "names": names, "tables": tables, "schema": schema, "turns": turns,
          "endure": endure, "room": room, "starve": starve}


def settled_lines(text):
    """The lines which say that a process was fenced or recovered."""
    return [line for line in text.splitlines() if re.search(r"is fenced|was fenced|been fenced|recovered in|taken for dead", line)]


def options(args):
    a = argparse.ArgumentParser(add_help=False, usage=__doc__.split("\n\n", 1)[1])
    a.add_argument("proof", nargs="?", choices=list(PROOFS))
    for name, kind in (("seconds", float), ("table-mb", int), ("rows", int), ("node-mb", int), ("value-mb", int), ("every", float), ("rounds", int), ("share", float), ("minutes", float), ("kinds", str), ("lease", int), ("seed", int)):
        a.add_argument("--" + name, type=kind)
    a.add_argument("--fabric", choices=["auto", "shm", "tcp"])
    a.add_argument("--only", metavar="NAME")
    for name in ("json", "help"):
        a.add_argument("--" + name, action="store_true")
    return a.parse_args(args)


def main():
    o = options(sys.argv[1:])
    if o.help or o.proof is None:
        print(__doc__)
        return 0 if o.help else 2
    proof = PROOFS[o.proof]
    takes = proof.__code__.co_varnames[:proof.__code__.co_argcount]
    given = {k: v for k, v in vars(o).items() if v is not None and k not in ("proof", "json", "help")}
    for k in given:
        if k not in takes:
            print("life.py: %s takes no --%s" % (o.proof, k.replace("_", "-")), file=sys.stderr)
            return 2
    try:
        f = proof(**given)
    except (AssertionError, OSError) as e:
        print("life.py: %s" % e, file=sys.stderr)
        return 2
    if o.json:
        print(json.dumps(f))
    else:
        f.table()
    return 1 if f["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
