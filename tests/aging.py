"""aging.py -- proofs of life.py about processes that have made and dropped much: none slows down with its age, or keeps what is gone.

age      changes of the schema, thousands of each kind, in one process; then its statements on another table, turn by turn with those of
         a fresh process; what an idle second costs each; the memory of both
names    thousands of prepared statements in one session, by PREPARE and by message: the last ones cost what the first ones do, and what
         all of them took goes back when they are gone
tables   thousands of tables made by one session: the last ones cost what the first ones do; what a new process and psql's list need; what an
         empty table takes of a node's memory
schema   writers at three levels beside sessions that make and drop constraints and indexes of their table and truncate it, in two
         processes, of which one is killed now and then: no error of class XX or 58, the table stays small, the writers stay as fast
"""
import random
import re
import threading
import time

import house
from house import Compute, House, check, same
from wire import Wire, error, texts

# What is done, and undone; {} is a number.
CHANGES = {
    "truncate": ["INSERT INTO work VALUES ({}, 1, 'x')", "TRUNCATE work"],
    "table": ["CREATE TABLE t_{} (id integer PRIMARY KEY, a integer, b text)", "INSERT INTO t_{} VALUES (1, 2, 'x')", "DROP TABLE t_{}"],
    "temporary table": ["CREATE TEMPORARY TABLE tt_{} (id integer PRIMARY KEY)", "INSERT INTO tt_{} VALUES (1)", "DROP TABLE tt_{}"],
    "index": ["CREATE INDEX ix_{} ON work (a)", "DROP INDEX ix_{}"],
    "unique constraint": ["ALTER TABLE work ADD CONSTRAINT u_{} UNIQUE (a)", "ALTER TABLE work DROP CONSTRAINT u_{}"],
    "check constraint": ["ALTER TABLE work ADD CONSTRAINT c_{} CHECK (id >= 0)", "ALTER TABLE work DROP CONSTRAINT c_{}"],
    "foreign key": ["ALTER TABLE work ADD CONSTRAINT f_{} FOREIGN KEY (id) REFERENCES other (id)",
                    "ALTER TABLE work DROP CONSTRAINT f_{}"],
    "column": ["ALTER TABLE work ADD COLUMN c{} integer DEFAULT 1", "ALTER TABLE work DROP COLUMN c{}"],
    "role": ["CREATE ROLE r_{}", "DROP ROLE r_{}"],
    "grant": ["GRANT SELECT ON work TO reader", "REVOKE SELECT ON work FROM reader"],
    "sequence": ["CREATE SEQUENCE s_{}", "SELECT nextval('s_{}')", "DROP SEQUENCE s_{}"],
    "view": ["CREATE VIEW v_{} AS SELECT * FROM work", "SELECT * FROM v_{}", "DROP VIEW v_{}"],
    "type": ["CREATE TYPE e_{} AS ENUM ('a', 'b')", "DROP TYPE e_{}"],
    "domain": ["CREATE DOMAIN d_{} AS integer", "DROP DOMAIN d_{}"],
    "schema": ["CREATE SCHEMA n_{}", "CREATE TABLE n_{}.t (id integer PRIMARY KEY)", "DROP SCHEMA n_{} CASCADE"],
    "analyze": ["ANALYZE work"],
}
# How often in all: those that the long form does most, and the rest.
LONG = {"truncate": 20000, "table": 10000, "index": 5000, "unique constraint": 5000, "check constraint": 5000, "foreign key": 5000}
REST = 1500


def ask(w, sql):
    got = w.query(sql)
    bad = [m for m in got if m[0] == "E"]
    check(not bad, "%s:" % sql, error(got) if bad else "")
    return got


def own_memory(p):
    """Bytes of a process that are no mapped file: storage memory is mapped too."""
    with open("/proc/%d/status" % p.p.pid) as f:
        return 1024 * int(re.search(r"RssAnon:\s+([0-9]+)", f.read()).group(1))


class Client:
    """Statements on a table that nothing else touches; CPU time of its process for each, in microseconds."""

    def __init__(self, process):
        self.process = process
        self.w = Wire(process.port)
        ask(self.w, "PREPARE look AS SELECT n FROM other WHERE id = $1")
        ask(self.w, "PREPARE more AS UPDATE other SET n = n + 1 WHERE id = $1")
        self.took = []

    def work(self, n):
        cpu = self.process.cpu()
        for i in range(n // 2):
            ask(self.w, "EXECUTE look(%d)" % random.randint(1, 1000))
            ask(self.w, "EXECUTE more(%d)" % random.randint(1, 1000))
        self.took.append((self.process.cpu() - cpu) / n * 1e6)


def idle_share(p, seconds):
    """Of a core, while no client asks."""
    cpu = p.cpu()
    time.sleep(seconds)
    return (p.cpu() - cpu) / seconds


def grow_old(w, share):
    n = {}
    for kind, steps in CHANGES.items():
        n[kind] = max(20, int(LONG.get(kind, REST) * share))
        for i in range(n[kind]):
            for s in steps:
                ask(w, s.format(i))
    return n


def settles(holds, seconds):
    """Waits until it holds, at most so many seconds: the caller judges it."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.5)


def age(f, share=1.0, slower=1.05, fatter=1.2, idle=0.03, rest=25):
    """rest: seconds in which memory goes back, at most. slower: an old process may need so many times a fresh one's CPU time; fatter: and its memory; idle: so much more of a core
    while it has nothing to do."""
    with House(nodes=1, size="1g", lease_ms=None) as h:
        old = Compute(h, "--workers", "2")
        w = Wire(old.port, timeout=300)
        ask(w, "CREATE TABLE other (id integer PRIMARY KEY, n integer)")
        ask(w, "INSERT INTO other SELECT i, 0 FROM generate_series(1, 1000) i")
        ask(w, "CREATE TABLE work (id integer, a integer, b text)")
        ask(w, "CREATE ROLE reader")
        f["changes"] = grow_old(w, share)
        fresh = Compute(h, "--workers", "2")
        a, b = Client(old), Client(fresh)
        for c in (a, b):
            c.work(2000)
            c.took = []
        # The others' work on this machine disturbs each turn: the least of several is the process's own.
        for _ in range(10):
            a.work(2000)
            b.work(2000)
        f["cpu_us"] = {"old": min(a.took), "fresh": min(b.took)}
        settles(lambda: own_memory(old) <= fatter * own_memory(fresh), rest)
        f["idle"] = {"old": min(idle_share(old, 1) for _ in range(3)), "fresh": min(idle_share(fresh, 1) for _ in range(3))}
        f["memory_mib"] = {"old": own_memory(old) / (1 << 20), "fresh": own_memory(fresh) / (1 << 20)}
        if min(a.took) > slower * min(b.took):
            f.wrong("statements of the old process need %.1f us, those of a fresh one %.1f" % (min(a.took), min(b.took)))
        if f["idle"]["old"] > f["idle"]["fresh"] + idle:
            f.wrong("an idle old process takes %.3f of a core, a fresh one %.3f" % (f["idle"]["old"], f["idle"]["fresh"]))
        if f["memory_mib"]["old"] > fatter * f["memory_mib"]["fresh"]:
            f.wrong("the old process has %.1f MiB, a fresh one %.1f" % (f["memory_mib"]["old"], f["memory_mib"]["fresh"]))


# ---- many prepared statements ---------------------------------------------------------------

def names(f, n=100000, dearer=2.0, fatter=1.2, rest=25):
    """dearer: the last tenth of the statements may need so many times the first tenth's CPU time; fatter: the process afterwards so
    many times the memory it had with the first hundred. Texts that were parsed are forgotten after ten seconds."""
    with House(nodes=1, size="256m", lease_ms=None) as h:
        p = Compute(h, "--workers", "2")
        w = Wire(p.port, timeout=300)
        ask(w, "CREATE TABLE named (id integer PRIMARY KEY, b text)")
        took, cpu, early = [], p.cpu(), 0
        for i in range(n):
            text = "SELECT b FROM named WHERE id = $1 AND b <> 'x%d'" % i
            if i % 2 == 0:
                ask(w, "PREPARE p%d AS %s" % (i, text))
            else:
                w.raw(w.parse(text, "p%d" % i) + w.message("S"))
                bad = [m for m in w.until_ready() if m[0] == "E"]
                check(not bad, "statement %d:" % i, error(bad) if bad else "")
            if i == 100:
                early = own_memory(p)
            if (i + 1) % (n // 10) == 0:
                took.append(p.cpu() - cpu)
                cpu = p.cpu()
        same(len(texts(ask(w, "EXECUTE p%d(1)" % (n - 2)))), 0, "rows of the last statement")
        f["cpu_s"] = {"first tenth": took[0], "last tenth": took[-1]}
        full = own_memory(p)
        ask(w, "DEALLOCATE ALL")
        settles(lambda: own_memory(p) <= fatter * early + (3 << 20), rest)
        f["memory_mib"] = {"of a hundred": early / (1 << 20), "of all": full / (1 << 20), "afterwards": own_memory(p) / (1 << 20)}
        if took[-1] > dearer * took[0]:
            f.wrong("the first tenth of the statements needs %.2f s, the last %.2f" % (took[0], took[-1]))
        # What the first hundred took may have been measured behind a trim: that is a few pages of many arenas.
        if own_memory(p) > fatter * early + (3 << 20):
            f.wrong("the process had %.1f MiB with a hundred statements, and has %.1f when they are gone" % (
                early / (1 << 20), own_memory(p) / (1 << 20)))


# ---- many tables ----------------------------------------------------------------------------

# Each takes a node's memory for a table that has no rows: at most so many bytes.
EMPTY = {"a table": ("CREATE TABLE {} (id bigint PRIMARY KEY, b text)", 16384),
         "a table without a key": ("CREATE TABLE {} (id bigint, b text)", 16384),
         "a table with a serial": ("CREATE TABLE {} (id serial PRIMARY KEY, b text)", 16384),
         "a table with two indexes": ("CREATE TABLE {} (id bigint PRIMARY KEY, b text UNIQUE, c date, UNIQUE (c, b))", 24576)}


def in_use(h):
    return sum(n["in_use"] for n in h.status().values())


def tables(f, n=10000, dearer=1.5, seconds=1.0, joining=1.0):
    """dearer: the last tenth may need so many times the second tenth's CPU time. seconds: of CPU that the compute process needs for
    psql's \\d. joining: of CPU, for a process to join and answer."""
    with House(nodes=1, size="%dm" % (128 + n * 20000 // 1000000), lease_ms=None) as h:
        p = Compute(h, "--workers", "2")
        w = Wire(p.port, timeout=300)
        ask(w, "CREATE TABLE first (id integer PRIMARY KEY)")
        took, room, k = [], {}, 0
        for name, (sql, _) in EMPTY.items():
            before, each = in_use(h), 50
            for i in range(each):
                ask(w, sql.format("e%d_%d" % (k, i)))
            room[name], k = (in_use(h) - before) / each, k + 1
        for tenth in range(10):
            cpu = p.cpu()
            for i in range(n // 10):
                ask(w, "CREATE TABLE t%d_%d (id bigint PRIMARY KEY, b text)" % (tenth, i))
            took.append(p.cpu() - cpu)
        f["cpu_s"] = {"all": sum(took), "second tenth": took[1], "last tenth": took[-1]}
        f["bytes"] = room
        f["bytes"]["all of them"] = in_use(h)
        fresh = Compute(h, "--workers", "2")
        same(len(texts(Wire(fresh.port, timeout=60).query("SELECT * FROM t9_0"))), 0, "rows of the last table")
        f["joining_cpu_s"] = fresh.cpu()
        listed = []
        for q, what in ((p, "\\d"), (fresh, "\\d"), (p, "\\d t7_7"), (fresh, "\\d t7_8")):
            cpu = q.cpu()
            q.psql("-A", "-t", "-c", what, timeout=300).ok()
            listed.append(q.cpu() - cpu)
        f["listed_cpu_s"], f["described_cpu_s"] = max(listed[:2]), max(listed[2:])
        if took[-1] > dearer * took[1]:
            f.wrong("the second tenth of the tables needs %.2f s, the last %.2f" % (took[1], took[-1]))
        if f["joining_cpu_s"] > joining:
            f.wrong("a process that joins needs %.2f s" % f["joining_cpu_s"])
        if max(listed) > seconds:
            f.wrong("\\d needs %.2f s" % max(listed))
        for name, (_, most) in EMPTY.items():
            if room[name] > most:
                f.wrong("%s takes %d bytes" % (name, room[name]))


# ---- changes of the schema beside writers --------------------------------------------------

SCHEMA = {
    "constraint": ["ALTER TABLE xu DROP CONSTRAINT IF EXISTS xukey", "ALTER TABLE xu ADD CONSTRAINT xukey UNIQUE (x, y)"],
    "truncate": ["TRUNCATE xu"],
    "index": ["DROP INDEX IF EXISTS xi", "CREATE INDEX xi ON xu (x)"],
    "unique index": ["DROP INDEX IF EXISTS xq", "CREATE UNIQUE INDEX xq ON xu (x, y)"],
    "concurrent index": ["DROP INDEX IF EXISTS xc", "CREATE INDEX CONCURRENTLY xc ON xu (y)"],
    "column": ["ALTER TABLE xu ADD COLUMN more text DEFAULT 'm'", "ALTER TABLE xu DROP COLUMN more"],
    "delete": ["DELETE FROM xu"],
}
LEVELS = ("read committed", "repeatable read", "serializable")


class Session(threading.Thread):
    """Statements until the end; after a connection broke, over a new one. Errors of class XX and 58 are wrong."""

    def __init__(self, proof, number, level=None):
        super().__init__(daemon=True)
        self.proof, self.number, self.level = proof, number, level
        self.dice = random.Random(proof.seed * 1000 + number)
        self.done, self.w = 0, None
        self.states = {}

    def connect(self):
        while self.w is None and not self.proof.over():
            try:
                self.w = Wire(self.proof.processes[self.number % 2].port, timeout=60)
                if self.level is not None:
                    ask(self.w, "SET default_transaction_isolation = '%s'" % self.level)
            except (OSError, EOFError, AssertionError, TypeError):
                self.w = None
                time.sleep(0.05)

    def do(self, sql):
        self.connect()
        if self.w is None:
            return
        try:
            got = self.w.query(sql)
        except (OSError, EOFError, AssertionError):
            self.w = None
            return
        if any(m[0] == "E" for m in got):
            e = error(got)
            state = e["C"]
            self.states[state] = self.states.get(state, 0) + 1
            if state[:2] in ("XX", "58"):
                self.proof.f.wrong("%s %s: %s" % (state, e["M"], sql))
            if state[:2] in ("57", "08"):
                self.w = None
        self.done += 1

    def statement(self):
        i, x, y = self.dice.randint(1, 40), self.dice.randint(1, 6), self.dice.randint(1, 6)
        return self.dice.choice((
            "INSERT INTO xu VALUES (%d, %d, %d, '%d') ON CONFLICT (x, y) DO UPDATE SET z = excluded.z" % (i, x, y, i),
            "INSERT INTO xu VALUES (%d, %d, %d, '%d') ON CONFLICT (z) DO UPDATE SET x = excluded.x" % (i, x, y, i),
            "INSERT INTO xu VALUES (%d, %d, %d, NULL)" % (i, x, y),
            "INSERT INTO xu VALUES (%d, %d, %d, '%d') ON CONFLICT DO NOTHING" % (i, x, y, i),
            "INSERT INTO xu VALUES (%d, %d, %d, repeat('v%d', 500)) ON CONFLICT DO NOTHING" % (i, x, y, i),
            "UPDATE xu SET x = %d WHERE id = %d" % (x, i), "UPDATE xu SET y = y + 1 WHERE x = %d" % x,
            "DELETE FROM xu WHERE id = %d" % i, "SELECT * FROM xu WHERE x = %d AND y = %d" % (x, y),
            "DELETE FROM xu WHERE x = %d AND y > %d" % (x, y)))

    def run(self):
        while not self.proof.over():
            if self.level is not None:
                self.do(self.statement())
                continue
            for s in SCHEMA[self.dice.choice(self.proof.kinds)]:
                self.do(s)
                time.sleep(self.dice.random() * 0.05)


class Schema:
    def __init__(self, f, seconds, kinds, seed):
        self.f, self.kinds, self.seed = f, kinds, seed
        self.end = time.monotonic() + seconds
        self.processes = [None, None]

    def over(self):
        return time.monotonic() > self.end


def size_of(w):
    return int(texts(ask(w, "SELECT pg_total_relation_size('xu')"))[0][0])


def schema(f, minutes=10.0, kinds=None, kills=True, seed=1, most=None, every=8):
    """most: bytes of the table. What a killed process had at hand of it stays with it until the next sweep."""
    most = most or (4 << 20 if kills else 2 << 20)
    kinds = kinds.split(",") if kinds else list(SCHEMA)
    with House(nodes=2, size="1g", lease_ms=None) as h:
        p = Schema(f, 60 * minutes, kinds, seed)
        p.processes = [Compute(h, "--workers", "2"), Compute(h, "--workers", "2")]
        w = Wire(p.processes[0].port)
        ask(w, "CREATE TABLE xu (id integer PRIMARY KEY, x integer, y integer, z text, CONSTRAINT xukey UNIQUE (x, y), "
               "UNIQUE NULLS NOT DISTINCT (z))")
        writers = [Session(p, i, LEVELS[i % 3]) for i in range(8)]
        changers = [Session(p, 100 + i) for i in range(2)]
        for s in writers + changers:
            s.start()
        sizes, rates, last, dice, killed = [], [], 0, random.Random(seed), 0
        look, kill = time.monotonic() + every, time.monotonic() + every
        while not p.over():
            time.sleep(0.1)
            if time.monotonic() > look:
                look += every
                done = sum(s.done for s in writers)
                rates.append((done - last) / every)
                last = done
                try:
                    sizes.append(size_of(w))
                except (OSError, EOFError, AssertionError):
                    try:
                        w = Wire(p.processes[0].port)
                    except (OSError, EOFError, AssertionError, TypeError):
                        pass
            if kills and time.monotonic() > kill:
                kill = time.monotonic() + every * (0.5 + dice.random())
                i = dice.randint(0, 1)
                p.processes[i].kill()
                p.processes[i] = Compute(h, "--workers", "2")
                killed += 1
        for s in writers + changers:
            s.join(60 * house.SLOW)
            if s.is_alive():
                f.wrong("a session hangs")
        f["kills"], f["statements"], f["changes"] = killed, sum(s.done for s in writers), sum(s.done for s in changers)
        f["sizes_mib"] = ", ".join("%.2f" % (s / (1 << 20)) for s in sizes)
        f["rates"] = ", ".join("%d" % r for r in rates)
        f["states"] = {}
        for s in writers + changers:
            for k, n in s.states.items():
                f["states"][k] = f["states"].get(k, 0) + n
        if sizes and max(sizes) > most:
            f.wrong("the table takes %.2f MiB" % (max(sizes) / (1 << 20)))
