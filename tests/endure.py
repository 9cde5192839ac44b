"""endure.py -- mixed load through the wire with two compute processes, for an hour: memory, descriptors and latencies stay level.

For tests/life.py (proof `endure`). Each session does one thing after another that a program may do: short queries, transfers, texts that
differ each time, tables and indexes made and dropped, COPY, cursors and portals that are left unfinished, errors, cancels, statements
that are prepared and forgotten, connections that end without a word. It rests between two of them: the load is a part of one core.
"""
import os
import random
import socket
import struct
import threading
import time

from aging import own_memory
from house import Compute, House, check
from wire import Wire, fields

ACCOUNTS, SESSIONS = 100000, 6  # sessions of each process


class Session(threading.Thread):
    def __init__(self, p, number, port, until):
        super().__init__(daemon=True)
        self.p, self.number, self.port, self.until = p, number, port, until
        self.dice = random.Random(number)
        self.w, self.took, self.done, self.states, self.failed = None, [], {}, {}, None

    def ask(self, sql, *allowed):
        got = self.w.query(sql)
        for m in got:
            if m[0] == "E":
                state = fields(m[1])["C"]
                self.states[state] = self.states.get(state, 0) + 1
                if state not in allowed + ("40001", "40P01"):
                    raise AssertionError("%s: %s" % (sql[:200], fields(m[1])["M"]))
                return None
        return got

    def raw(self, *messages):
        self.w.raw(b"".join(messages))
        return self.w.until("Z")

    # ---- what a program does ----

    def lookup(self):
        k, t = self.dice.randrange(ACCOUNTS), time.monotonic()
        self.ask("SELECT balance FROM accounts WHERE id = %d" % k)
        self.took.append((t, time.monotonic() - t))

    def transfer(self):
        a, b, x = self.dice.randrange(ACCOUNTS), self.dice.randrange(ACCOUNTS), self.dice.randrange(100)
        self.ask("BEGIN")
        for sql in ("UPDATE accounts SET balance = balance - %d WHERE id = %d" % (x, min(a, b)),
                    "UPDATE accounts SET balance = balance + %d WHERE id = %d" % (x, max(a, b)),
                    "INSERT INTO log (a, b, x) VALUES (%d, %d, %d)" % (a, b, x)):
            if self.ask(sql) is None:
                self.ask("ROLLBACK")
                return
        self.ask("COMMIT")

    def text(self):
        self.ask("SELECT count(*), '%s' FROM accounts WHERE id BETWEEN %d AND %d" % (
            self.dice.random(), *sorted(self.dice.randrange(ACCOUNTS) for _ in range(2))))

    def tables(self):
        n = "t%d_%d" % (self.number, self.dice.randrange(1000000))
        self.ask("CREATE TABLE %s (id serial PRIMARY KEY, b text, c int CHECK (c > 0))" % n)
        self.ask("INSERT INTO %s (b, c) SELECT md5(g::text), g FROM generate_series(1, 300) g" % n)
        self.ask("CREATE INDEX ON %s (b)" % n)
        self.ask("ALTER TABLE %s ADD COLUMN d int DEFAULT 7" % n)
        self.ask("TRUNCATE %s" % n)
        self.ask("DROP TABLE %s" % n)

    def temporary(self):
        self.ask("CREATE TEMPORARY TABLE own (a int PRIMARY KEY, b text)")
        self.ask("INSERT INTO own SELECT g, repeat('x', 100) FROM generate_series(1, 1000) g")
        self.ask("SELECT sum(length(b)) FROM own")
        self.ask("DROP TABLE own")

    def copy(self):
        self.ask("DELETE FROM loaded WHERE whose = %d" % self.number)
        self.w.send("Q", b"COPY loaded FROM STDIN\0")
        self.w.until("G", "E")
        lines = "".join("%d\t%d\t%s\n" % (self.number, k, "y" * self.dice.randrange(3000)) for k in range(500))
        self.w.raw(Wire.message("d", lines.encode()) + Wire.message("c"))
        self.w.until("Z")

    def portals(self):
        name = "s%d" % self.dice.randrange(1000000)
        self.raw(Wire.parse("SELECT id, balance FROM accounts WHERE id > $1 ORDER BY id", name, (23,)), Wire.SYNC)
        self.ask("BEGIN")
        for k in range(5):
            self.raw(Wire.bind((k * 100,), name, "p%d" % k), Wire.execute("p%d" % k, 10), Wire.SYNC)
        self.ask("COMMIT" if self.dice.randrange(2) else "ROLLBACK")
        if self.dice.randrange(4):
            self.raw(Wire.close_of("S", name), Wire.SYNC)

    def cursor(self):
        self.ask("BEGIN")
        self.ask("DECLARE c CURSOR FOR SELECT * FROM accounts")
        self.ask("FETCH 500 FROM c")
        self.ask("ROLLBACK")

    def mistakes(self):
        self.ask("SELECT no_column FROM accounts", "42703")
        self.ask("INSERT INTO accounts VALUES (1, 1)", "23505")
        self.ask("SELECT 1 / 0", "22012")
        self.ask("SELEC 1", "42601")

    def values(self):
        self.ask("""SELECT jsonb_agg(jsonb_build_object('a', id, 'b', md5(id::text))), string_agg(md5(id::text), ','),
                           count(*) FILTER (WHERE md5(id::text) ~ '^[a-f]+[0-9]')
                    FROM accounts WHERE id < %d""" % self.dice.randrange(3000))

    def cancel(self):
        self.w.send("Q", b"SELECT count(*) FROM accounts a, accounts b WHERE a.balance < b.balance + 1\0")
        time.sleep(0.05)
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            s.sendall(struct.pack("!IIII", 16, 80877102, self.w.pid, self.w.key))
        got = self.w.until("Z")
        check(any(m[0] == "E" and fields(m[1])["C"] == "57014" for m in got), "the statement is cancelled")

    def bulk(self):
        if self.number % SESSIONS == 0:
            self.ask("UPDATE loaded SET t = t || 'z' WHERE k < 100")
            self.ask("DELETE FROM log WHERE id < (SELECT max(id) FROM log) - 20000")
            self.ask("ANALYZE accounts")

    def again(self):
        """Another connection; the old one ends as the dice say."""
        if self.w is not None and self.dice.randrange(2):
            self.w.send("X")
        elif self.w is not None and self.dice.randrange(2):
            self.w.send("Q", b"SELECT * FROM accounts\0")
        if self.w is not None:
            self.w.s.close()
        self.w = Wire(self.port, timeout=120)

    WAYS = (("lookup", 200), ("transfer", 40), ("text", 10), ("tables", 1), ("temporary", 1), ("copy", 1), ("portals", 4), ("cursor", 4),
            ("mistakes", 4), ("values", 3), ("cancel", 1), ("bulk", 1), ("again", 2))

    def run(self):
        try:
            self.again()
            ways = [w for w, n in self.WAYS for _ in range(n)]
            while time.monotonic() < self.until and self.failed is None:
                way = self.dice.choice(ways)
                getattr(self, way)()
                self.done[way] = self.done.get(way, 0) + 1
                time.sleep(0.03)
        except (OSError, EOFError, AssertionError, struct.error) as e:
            self.failed = "session %d: %s" % (self.number, e)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def look(p):
    return own_memory(p), len(os.listdir("/proc/%d/fd" % p.p.pid)), len(os.listdir("/proc/%d/task" % p.p.pid))


def endure(f, minutes=60.0, parts=6):
    """The time is cut into so many parts; the last one is held against the second, when all has been used once."""
    with House(nodes=2, size="512m", lease_ms=None) as h:
        processes = [Compute(h, "--workers", "2"), Compute(h, "--workers", "2")]
        w = Wire(processes[0].port, timeout=120)
        for sql in ("CREATE TABLE accounts (id int PRIMARY KEY, balance bigint)",
                    "INSERT INTO accounts SELECT g, 1000 FROM generate_series(0, %d) g" % (ACCOUNTS - 1),
                    "CREATE TABLE log (id bigserial PRIMARY KEY, a int, b int, x int)",
                    "CREATE TABLE loaded (whose int, k int, t text)", "CREATE INDEX ON loaded (whose, k)"):
            check(all(m[0] != "E" for m in w.query(sql)), sql)
        begun = time.monotonic()
        until, part = begun + 60 * minutes, 60 * minutes / parts
        sessions = [Session(p, k * SESSIONS + i, p.port, until) for k, p in enumerate(processes) for i in range(SESSIONS)]
        for s in sessions:
            s.start()
        rows = []
        for k in range(parts):
            most, fds, threads, held = [0, 0], [0, 0], [0, 0], 0
            while time.monotonic() < min(begun + (k + 1) * part, until) and not any(s.failed for s in sessions):
                time.sleep(min(5, part / 4))
                for i, p in enumerate(processes):
                    m, d, t = look(p)
                    most[i], fds[i], threads[i] = max(most[i], m), max(fds[i], d), max(threads[i], t)
                held = max(held, sum(n["in_use"] for n in h.status().values()))
            took = [ms for s in sessions for t, ms in list(s.took) if begun + k * part <= t < begun + (k + 1) * part]
            rows.append({"memory": max(most), "fds": max(fds), "threads": max(threads), "cluster": held, "p50": percentile(took, 0.5),
                         "p99": percentile(took, 0.99), "lookups": len(took)})
            f["part %d" % (k + 1)] = {"memory MiB": max(most) / (1 << 20), "descriptors": max(fds), "threads": max(threads),
                                      "cluster MiB": held / (1 << 20), "p50 ms": 1000 * rows[-1]["p50"],
                                      "p99 ms": 1000 * rows[-1]["p99"], "lookups": len(took)}
            if any(s.failed for s in sessions):
                break
        for s in sessions:
            s.join(300)
            if s.is_alive():
                f.wrong("session %d hangs" % s.number)
            elif s.failed:
                f.wrong(s.failed)
        f["done"], f["states"] = {}, {}
        for s in sessions:
            for into, of in ((f["done"], s.done), (f["states"], s.states)):
                for k, n in of.items():
                    into[k] = into.get(k, 0) + n
        total = [m[1][6:] for m in w.query("SELECT sum(balance) FROM accounts") if m[0] == "D"]
        check(total == [str(1000 * ACCOUNTS).encode()], "the accounts' sum:", total)
        if len(rows) == parts and parts > 2:
            first, last = rows[1], rows[-1]
            for what, factor, more in (("memory", 1.2, 0), ("fds", 1.0, 2), ("threads", 1.0, 2), ("cluster", 1.2, 0), ("p99", 1.5, 0.002)):
                if last[what] > first[what] * factor + more:
                    f.wrong("%s: %.4g in the second part, %.4g in the last" % (what, first[what], last[what]))
