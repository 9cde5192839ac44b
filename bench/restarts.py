#!/usr/bin/env python3
"""restarts.py [options] -- how long a database takes to answer again after a kill -9, beside PostgreSQL and Redis.

Each server gets the same rows and is killed (kill -9, all its processes) behind the load, before it has made a checkpoint of them, so that
each reads its log: PostgreSQL with checkpoints far apart, Redis from its append-only file without a rewrite. Then it is started again and asked until it
answers. The files are in the kernel's cache. namdb's storage node and compute process share the machine's cores.

  --rows N        rows of two bigints with a primary key; keys with a value of Redis (default 10000000; 0: none)
  --tpch DIR      TPC-H as well, from DIR/NAME.tbl (namdb bench tpch --only-data --out DIR); not of Redis
  --dir DIR       the servers' files (default: the present folder)
  --size S        memory of the storage node (default 12g)
  --peers LIST    of postgres, redis (default both)
  --runs N        kills of each server, the median is told (default 3)
  --json          one object on stdout

NAMDB names the program (else build/namdb). Exit code 0: all answered what was loaded; 1: one did not; 2: it could not run.
"""
import argparse
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import house
from house import House

LONG_S = 900
TPCH = {
    "region": "r_regionkey int PRIMARY KEY, r_name char(25), r_comment varchar(152)",
    "nation": "n_nationkey int PRIMARY KEY, n_name char(25), n_regionkey int, n_comment varchar(152)",
    "supplier": "s_suppkey int PRIMARY KEY, s_name char(25), s_address varchar(40), s_nationkey int, s_phone char(15), "
                "s_acctbal decimal(15,2), s_comment varchar(101)",
    "part": "p_partkey int PRIMARY KEY, p_name varchar(55), p_mfgr char(25), p_brand char(10), p_type varchar(25), p_size int, "
            "p_container char(10), p_retailprice decimal(15,2), p_comment varchar(23)",
    "partsupp": "ps_partkey int, ps_suppkey int, ps_availqty int, ps_supplycost decimal(15,2), ps_comment varchar(199), "
                "PRIMARY KEY (ps_partkey, ps_suppkey)",
    "customer": "c_custkey int PRIMARY KEY, c_name varchar(25), c_address varchar(40), c_nationkey int, c_phone char(15), "
                "c_acctbal decimal(15,2), c_mktsegment char(10), c_comment varchar(117)",
    "orders": "o_orderkey bigint PRIMARY KEY, o_custkey int, o_orderstatus char(1), o_totalprice decimal(15,2), o_orderdate date, "
              "o_orderpriority char(15), o_clerk char(15), o_shippriority int, o_comment varchar(79)",
    "lineitem": "l_orderkey bigint, l_partkey int, l_suppkey int, l_linenumber int, l_quantity decimal(15,2), "
                "l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag char(1), "
                "l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), "
                "l_shipmode char(10), l_comment varchar(44), PRIMARY KEY (l_orderkey, l_linenumber)",
}


class Trouble(Exception):
    pass


def say(text):
    print("restarts: " + text, file=sys.stderr, flush=True)


def until(answers, what, pause=0.01):
    """Seconds until it does."""
    begin = time.monotonic()
    while not answers():
        if time.monotonic() - begin > LONG_S:
            raise Trouble("%s did not answer in %d s" % (what, LONG_S))
        time.sleep(pause)
    return time.monotonic() - begin


def size_of(folder):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(folder) for f in files)


def warm(folder):
    """Its files come into the kernel's cache."""
    for d, _, files in os.walk(folder):
        for path in (os.path.join(d, name) for name in files):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    while f.read(1 << 24):
                        pass


class Load:
    """Tables with their rows as files for COPY, and a question whose answer tells that all is there."""

    def __init__(self, name, tables, separator):
        self.name, self.tables, self.separator = name, tables, separator  # table -> columns, file, rows
        self.rows = sum(t[2] for t in tables.values())
        self.question = "SELECT " + " + ".join("(SELECT count(*) FROM %s)" % t for t in tables)

    def statements(self):
        for name, (columns, file, _) in self.tables.items():
            yield "CREATE TABLE %s (%s)" % (name, columns)
            yield "\\copy %s FROM '%s' WITH (DELIMITER '%s')" % (name, file, self.separator)


class Namdb:
    name, log = "namdb", ""

    def __init__(self, folder, size):
        self.house = House(lease_ms=None)
        self.data, self.size = os.path.join(folder, "namdb"), size

    def start(self):
        self.house.nodes.clear()
        return self.house.node(1, size=self.size, more=("--data", self.data, "--checkpoint-size", "0"))

    def load(self, load):
        self.start()
        compute = house.Compute(self.house)
        for text in load.statements():
            compute.psql("-v", "ON_ERROR_STOP=1", "-c", text, timeout=LONG_S).ok()
        self.compute = compute

    def kill(self):
        for c in self.house.computes:
            c.kill()
        self.house.computes.clear()
        for n in self.house.nodes:
            n.kill()

    def answer(self, load):
        """Seconds from the start until the first answer, the answer."""
        begin = time.monotonic()
        self.start()
        compute = house.Compute(self.house, expect=False)
        until(lambda: "\nready\n" in compute.text() or compute.p.poll() is not None, "namdb compute")
        compute.port = int(compute.text().split(" at 127.0.0.1:")[1].split()[0])
        until(lambda: compute.psql("-Atc", "SELECT 1").rc == 0, self.name)
        return time.monotonic() - begin, int(compute.psql("-Atc", load.question, timeout=LONG_S).ok().out)

    def end(self):
        self.kill()
        self.house.__exit__(None, None, None)


class Postgres:
    name, log = "PostgreSQL", "pg_wal"

    def __init__(self, folder, _):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs:
            raise Trouble("PostgreSQL's programs are not in /usr/lib/postgresql")
        self.bin, self.data = programs[-1], os.path.join(folder, "postgres")
        self.folder = folder
        os.mkdir(self.data, 0o700)
        self.user = {}
        if os.getuid() == 0:
            shutil.chown(self.data, "postgres", "postgres")
            self.user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self.p = None
        subprocess.run([self.bin + "/initdb", "-D", self.data, "-U", "judge", "-A", "trust"], check=True, stdout=subprocess.DEVNULL,
                       cwd="/", **self.user)
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.write("listen_addresses = ''\nunix_socket_directories = '%s'\nmax_wal_size = '100GB'\ncheckpoint_timeout = '1d'\n"
                    "shared_buffers = '2GB'\n" % self.data)

    def start(self):
        log = open(os.path.join(self.folder, "postgres.log"), "ab")
        self.p = subprocess.Popen([self.bin + "/postgres", "-D", self.data], stdout=log, stderr=log, cwd="/", **self.user)

    def psql(self, *args):
        return subprocess.run(["psql", "-X", "-h", self.data, "-U", "judge", "-d", "postgres", "-v", "ON_ERROR_STOP=1", *args],
                              capture_output=True, text=True, check=False)

    def load(self, load):
        self.start()
        until(lambda: self.psql("-c", "SELECT 1").returncode == 0, self.name)
        for text in load.statements():
            r = self.psql("-c", text)
            if r.returncode != 0:
                raise Trouble(r.stderr)

    def kill(self):
        """Its children see that the postmaster has died, and end."""
        if self.p is not None and self.p.poll() is None:
            children = subprocess.run(["pgrep", "-P", str(self.p.pid)], capture_output=True, text=True, check=False).stdout.split()
            self.p.kill()
            for c in children:
                try:
                    os.kill(int(c), signal.SIGKILL)
                except OSError:
                    pass
            self.p.wait()
            until(lambda: not any(os.path.exists("/proc/" + c) for c in children), "the end of PostgreSQL's processes")

    def answer(self, load):
        try:
            os.unlink(os.path.join(self.data, "postmaster.pid"))
        except OSError:
            pass
        begin = time.monotonic()
        self.start()
        until(lambda: self.psql("-c", "SELECT 1").returncode == 0, self.name)
        took = time.monotonic() - begin
        r = self.psql("-Atc", load.question)
        return took, int(r.stdout or -1)

    def end(self):
        self.kill()


class Redis:
    name, log = "Redis", ""

    def __init__(self, folder, _):
        if shutil.which("redis-server") is None:
            raise Trouble("there is no redis-server")
        self.folder, self.data = folder, os.path.join(folder, "redis")
        os.mkdir(self.data)
        self.socket = os.path.join(folder, "s")
        self.p = None

    def start(self):
        log = open(os.path.join(self.folder, "log"), "ab")
        self.p = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.data, "--appendonly", "yes",
                                   "--appendfsync", "everysec", "--save", "", "--auto-aof-rewrite-percentage", "0"], stdout=log, stderr=log)

    def cli(self, *args, **more):
        return subprocess.run(["redis-cli", "-s", self.socket, *args], capture_output=True, check=False, **more)

    def answers(self):
        return self.cli("PING").stdout.strip() == b"PONG"

    def load(self, load):
        self.start()
        until(self.answers, self.name)
        (_, file, _), = load.tables.values()
        pipe = subprocess.Popen(["redis-cli", "-s", self.socket, "--pipe"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        with open(file, encoding="ascii") as f:
            for line in f:
                pipe.stdin.write(b"SET %s %s\r\n" % tuple(w.encode() for w in line.split()))
        pipe.stdin.close()
        pipe.wait()
        time.sleep(1.5)  # everysec

    def kill(self):
        if self.p is not None and self.p.poll() is None:
            self.p.kill()
            self.p.wait()

    def answer(self, _):
        begin = time.monotonic()
        self.start()
        until(self.answers, self.name)
        return time.monotonic() - begin, int(self.cli("DBSIZE").stdout.split()[-1])

    def end(self):
        self.kill()


def measure(server, load, runs):
    server.load(load)
    server.kill()
    log = size_of(os.path.join(server.data, server.log))
    times = []
    try:
        for _ in range(runs):
            # A restart may end with a checkpoint: each run begins with the files of the kill.
            kept = server.data + ".kept"
            if not os.path.exists(kept):
                os.rename(server.data, kept)
            shutil.rmtree(server.data, ignore_errors=True)
            subprocess.run(["cp", "-a", kept, server.data], check=True)
            os.sync()
            warm(server.data)
            took, rows = server.answer(load)
            server.kill()
            if rows != load.rows:
                raise Trouble("%s has %d of %d rows" % (server.name, rows, load.rows))
            times.append(took)
            say("%s, %s: %.2f s" % (load.name, server.name, took))
    finally:
        server.end()
    return {"load": load.name, "server": server.name, "rows": load.rows, "log_bytes": log, "seconds": statistics.median(times),
            "all": [round(t, 2) for t in times]}


def loads(a, folder):
    if a.rows > 0:
        file = os.path.join(folder, "pairs")
        with open(file, "w", encoding="ascii") as f:
            for i in range(a.rows):
                f.write("%d\t%d\n" % (i, i * 7))
        yield Load("pairs", {"pairs": ("k bigint PRIMARY KEY, v bigint", file, a.rows)}, "\t")
    if a.tpch:
        tables = {}
        for name, columns in TPCH.items():
            file = os.path.abspath(os.path.join(a.tpch, name + ".tbl"))
            with open(file, "rb") as f:
                tables[name] = (columns, file, sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 24), b"")))
        yield Load("tpch", tables, "|")


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--rows", type=int, default=10000000)
    p.add_argument("--tpch")
    p.add_argument("--dir", default=".")
    p.add_argument("--size", default="12g")
    p.add_argument("--peers", default="postgres,redis")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--json", action="store_true")
    a = p.parse_args()
    figures = []
    folder = tempfile.mkdtemp(prefix="restarts-", dir=os.path.abspath(a.dir))
    os.chmod(folder, 0o755)
    try:
        for load in loads(a, folder):
            for kind in (Namdb, Postgres, Redis):
                if (kind is Postgres and "postgres" not in a.peers) or (kind is Redis and ("redis" not in a.peers or load.name == "tpch")):
                    continue
                place = tempfile.mkdtemp(dir=folder)
                os.chmod(place, 0o755)
                say("%s: %s is loaded" % (load.name, kind.name))
                figures.append(measure(kind(place, a.size), load, a.runs))
                shutil.rmtree(place)
    except (Trouble, AssertionError) as e:
        print("restarts: %s" % e, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if a.json:
        print(json.dumps({"restarts": figures}))
        return 0
    print("%-8s %-12s %12s %10s %10s" % ("load", "server", "rows", "log, MB", "seconds"))
    for f in figures:
        print("%-8s %-12s %12d %10.0f %10.2f" % (f["load"], f["server"], f["rows"], f["log_bytes"] / 1e6, f["seconds"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
