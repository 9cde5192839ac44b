"""beside.py -- 50 clients of pgbench's select-only beside one session with a long statement: the 99th percentile of their latencies.

For tests/life.py (proof `turns`). The latencies are pgbench's own, from its log of transactions.
"""
import glob
import os
import subprocess
import threading
import time

from house import Compute, House, check, skip
from wire import Wire, fields

MB = 1 << 20


def columns(n):
    return "CREATE TABLE wide (%s)" % ", ".join("c%d int" % k for k in range(n))


def sums(n):
    return "SELECT " + ", ".join("sum(c%d)" % k for k in range(n)) + " FROM wide"


def clique(n):
    return "SELECT {} FROM %s WHERE %s" % (", ".join("one t%d" % k for k in range(n)),
                                          " AND ".join("t%d.id = t%d.id" % (k - 1, k) for k in range(1, n)))


PREPARED = (columns(1600), "CREATE TABLE one (id int PRIMARY KEY)", "CREATE TABLE u (id int PRIMARY KEY, x int)",
            "CREATE TABLE big (id int PRIMARY KEY, v int, t text)",
            "INSERT INTO big SELECT g, g, md5(g::text) FROM generate_series(1, 1000000) g",
            "CREATE TABLE texts (s text)", "INSERT INTO texts SELECT repeat(md5(g::text), 32768) FROM generate_series(1, 20) g")

# name -> statements in turn; a number k in {} differs each time.
LONG = {
    "nothing": ["SELECT {}"],
    "sums of 1,600 columns": [sums(1600)],
    "87,000 new rows by ON CONFLICT": ["INSERT INTO u SELECT g + 87000 * {}, g FROM generate_series(1, 87000) g ON CONFLICT DO NOTHING"],
    "texts of 1 MB, each of them new": ["SELECT '{}" + "x" * MB + "' < 'a'"],
    "a text of 40 MB": ["SELECT length('{}" + "x" * (40 * MB) + "')"],
    "jsonb of 17 MB of text": ["SELECT length((jsonb_agg(g)::text)::jsonb::text) FROM generate_series(1, 2000000) g"],
    "string_agg to 600 MB": ["SELECT length(string_agg(s, ',')) FROM texts, generate_series(1, 30)"],
    "UPDATE of 1,000,000 rows": ["UPDATE big SET v = v + 1"],
    "DELETE of 1,000,000 rows, undone": ["BEGIN", "DELETE FROM big", "ROLLBACK"],
    "numeric of 60,000 digits squared": ["SELECT length((repeat('7', 60000 + {})::numeric * repeat('7', 60000)::numeric)::text)"],
    "a clique of 100 tables": [clique(100)],
    "sort of 1,000,000 rows": ["SELECT count(*) FROM (SELECT t FROM big ORDER BY t OFFSET 999999) s"],
    "regular expression over 20 MB": ["SELECT length(regexp_replace(s, '[a-f]+([0-9])', '\\1', 'g')) FROM texts LIMIT 3"],
}


class Beside(threading.Thread):
    """A session that runs the statements again and again."""

    def __init__(self, port, statements):
        super().__init__(daemon=True)
        self.wire, self.statements, self.over, self.done, self.states = Wire(port, timeout=600), statements, False, 0, {}

    def run(self):
        while not self.over:
            for sql in self.statements:
                got = self.wire.query(sql.replace("{}", str(self.done), 1))
                for m in got:
                    if m[0] == "E":
                        state = fields(m[1])["C"]
                        self.states[state] = self.states.get(state, 0) + 1
            self.done += 1


def percentile(ns, share):
    return sorted(ns)[min(len(ns) - 1, int(len(ns) * share))] / 1000


def pgbench(h, port, clients, seconds):
    """Milliseconds of each transaction."""
    for old in glob.glob(os.path.join(h.dir, "lat.*")):
        os.unlink(old)
    args = ["pgbench", "-h", "127.0.0.1", "-p", str(port), "-U", "namdb", "-n", "-S", "-M", "prepared", "-c", str(clients), "-j", "1",
            "-T", str(seconds), "-s", "1", "-l", "--log-prefix", os.path.join(h.dir, "lat"), "namdb"]
    p = subprocess.run(args, capture_output=True, text=True, timeout=seconds + 120)
    check(p.returncode == 0, "pgbench:", p.stderr[-300:])
    took = []
    for path in glob.glob(os.path.join(h.dir, "lat.*")):
        with open(path) as f:
            took += [int(line.split()[2]) for line in f if not line.startswith("#")]
    return took


def turns(f, seconds=8, clients=50, most=50.0, only=None):
    """most: milliseconds, of the 99th percentile."""
    if subprocess.run(["which", "pgbench"], capture_output=True).returncode != 0:
        skip("there is no pgbench here")
    with House(nodes=1, size="4g", lease_ms=None) as h:
        c = Compute(h, "--workers", "2", "--max-statement", "64m")
        w = Wire(c.port, timeout=600)
        for sql in PREPARED:
            for m in w.query(sql):
                check(m[0] != "E", sql[:60], m)
        p = subprocess.run(["pgbench", "-h", "127.0.0.1", "-p", str(c.port), "-U", "namdb", "-i", "-q", "namdb"], capture_output=True,
                           text=True, timeout=300)
        check(p.returncode == 0, "pgbench -i:", p.stderr[-300:])
        check(only is None or any(only in name for name in LONG), "no statement has that name:", ", ".join(LONG))
        for name, statements in LONG.items():
            if only is not None and only not in name:
                continue
            beside = Beside(c.port, statements)
            beside.start()
            time.sleep(1)
            done, took = beside.done, pgbench(h, c.port, clients, seconds)
            done = beside.done - done
            beside.over = True
            beside.join(300)
            p50, p99, last = percentile(took, 0.5), percentile(took, 0.99), max(took) / 1000
            f[name] = {"per second": len(took) / seconds, "p50 ms": p50, "p99 ms": p99, "max ms": last, "long ones": done,
                       **({"states": beside.states} if beside.states else {})}
            if p99 > most:
                f.wrong("beside %s the 99th percentile is %.1f ms" % (name, p99))
