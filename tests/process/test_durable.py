#!/usr/bin/env python3
"""A cluster with --data: what was committed is there when all its processes have been killed and started again."""
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, Node, check, contains, same, until


class Cluster:
    """Storage nodes of which the first keeps the database in a directory."""

    def __init__(self, h, nodes=1, size="128m"):
        self.h, self.n, self.size = h, nodes, size
        self.data = os.path.join(h.dir, "data")
        self.start()

    def start(self):
        self.node = [Node(self.h, i + 1, self.size, more=("--data", self.data) if i == 0 else ()) for i in range(self.n)]
        self.storage = ",".join(n.address for n in self.node)

    def kill(self):
        for n in self.node:
            n.kill()

    def stop(self):
        for n in self.node:
            same(n.terminate(), 0, "storage node's exit code")

    def shell(self, fabric="shm"):
        """The first one restores the database, and says so."""
        s = self.h.shell(fabric=fabric, storage=self.storage)
        s.ok("SELECT 1", timeout=120)
        return s


def all_of(s, table, columns="*"):
    return s.ok("SELECT %s FROM %s ORDER BY 1" % (columns, table))


SCHEMA = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS integer CHECK (VALUE < 100);
CREATE SCHEMA other;
CREATE SEQUENCE numbers START 10 INCREMENT 5;
CREATE SEQUENCE down START -1 INCREMENT -1 MINVALUE -1000000;
CREATE TABLE parent (id integer PRIMARY KEY, name text UNIQUE);
CREATE TABLE child (id serial PRIMARY KEY, p integer REFERENCES parent ON DELETE CASCADE, m mood DEFAULT 'ok', s small, t text);
CREATE INDEX child_t ON child (t);
CREATE INDEX child_pm ON child (p, m DESC);
CREATE TABLE other.plain (a numeric(12,3), b timestamptz, c uuid, d jsonb, e bytea, f int[]);
CREATE VIEW happy AS SELECT c.id, p.name FROM child c JOIN parent p ON p.id = c.p WHERE c.m = 'happy';
CREATE TABLE dropped (x integer);
CREATE TABLE emptied (x integer PRIMARY KEY);
CREATE TEMPORARY TABLE temporary (x integer);
INSERT INTO temporary VALUES (1);
INSERT INTO dropped VALUES (1), (2);
INSERT INTO emptied SELECT generate_series(1, 100);
INSERT INTO parent SELECT i, 'parent ' || i FROM generate_series(1, 200) i;
INSERT INTO child (p, m, s, t) SELECT 1 + i % 200, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood, i % 100, repeat(chr(97 + i % 26), i % 300)
  FROM generate_series(1, 1000) i;
INSERT INTO other.plain VALUES (1.5, '2024-02-03 04:05:06+00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": [1, 2]}', '\\xdeadbeef', '{1,2,NULL}'),
  (NULL, NULL, NULL, NULL, NULL, NULL);
DROP TABLE dropped;
TRUNCATE emptied;
INSERT INTO emptied VALUES (7);
UPDATE parent SET name = 'renamed ' || id WHERE id % 10 = 0;
DELETE FROM parent WHERE id % 50 = 0;
ALTER TABLE parent ADD COLUMN extra text DEFAULT 'none';
UPDATE parent SET extra = repeat('long value ', 20000) WHERE id = 3;
UPDATE parent SET extra = NULL WHERE id = 4;
ALTER TABLE child DROP COLUMN s;
ALTER TABLE emptied RENAME COLUMN x TO y;
CREATE ROLE reader LOGIN;
GRANT SELECT ON parent TO reader;
COMMENT ON TABLE parent IS 'those who are referred to';
"""
QUERIES = ["SELECT * FROM parent ORDER BY id", "SELECT * FROM child ORDER BY id", "SELECT * FROM other.plain ORDER BY 1",
           "SELECT * FROM happy ORDER BY 1", "SELECT * FROM emptied", "SELECT rolname FROM pg_roles ORDER BY 1",
           "SELECT relname, relkind FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'other')) ORDER BY 1",
           "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
           "SELECT conname, contype FROM pg_constraint ORDER BY 1",
           "SELECT count(*) FROM child WHERE t = repeat('c', 2)", "SELECT id FROM child WHERE p = 7 AND m = 'happy' ORDER BY 1",
           "SELECT relacl FROM pg_class WHERE relname = 'parent'", "SELECT obj_description('parent'::regclass)"]


def answers(s):
    return [s.do(q) for q in QUERIES]


def whole(end, fabric):
    with House() as h:
        c = Cluster(h, nodes=2)
        s = c.shell(fabric)
        for line in SCHEMA.strip().split(";\n"):
            s.ok(line)
        before = answers(s)
        numbers = [int(s.value("SELECT nextval('numbers')")) for _ in range(3)]
        same(numbers, [10, 15, 20])
        for _ in range(40):
            low = int(s.value("SELECT nextval('down')"))
        s.ok("SELECT setval('child_id_seq', 5000)")
        s.ok("SELECT nextval('child_id_seq')")
        if end == "kill":
            c.kill()
            s.drop()
        else:
            s.close(0)
            c.stop()
        for turn in range(2):
            c.start()
            s = c.shell(fabric)
            after = answers(s)
            for q, a, b in zip(QUERIES, before, after):
                same(b, a, q)
            # Numbers that were given out are not given out again; those of the last setval go on.
            check(int(s.value("SELECT nextval('numbers')")) > numbers[-1], "numbers")
            check(int(s.value("SELECT nextval('down')")) < low, "down")
            low = int(s.value("SELECT nextval('down')"))
            numbers.append(int(s.value("SELECT nextval('numbers')")))
            check(5001 < int(s.value("SELECT nextval('child_id_seq')")) < 5200, "child_id_seq")
            # It is a database like any other.
            s.fails("INSERT INTO parent VALUES (1, 'one')", "23505")
            s.fails("INSERT INTO child (p) VALUES (50)", "23503")
            s.fails("INSERT INTO parent VALUES (1000, 'parent 1')", "23505")
            s.fails("SELECT 200::small", "23514")
            s.fails("SELECT * FROM temporary", "42P01")
            s.fails("SELECT * FROM dropped", "42P01")
            s.ok("BEGIN; DELETE FROM parent WHERE id = 7; ROLLBACK")
            s.ok("INSERT INTO parent VALUES (%d, 'new %d')" % (2000 + turn, turn))
            s.ok("DELETE FROM parent WHERE id = %d" % (2000 + turn))
            s.ok("CREATE TABLE made_%d (x integer PRIMARY KEY)" % turn)
            s.ok("DROP TABLE made_%d" % turn)
            c.kill()
            s.drop()


def test_whole_killed_shm():
    whole("kill", "shm")


def test_whole_stopped_tcp():
    whole("stop", "tcp")


class Bank(threading.Thread):
    """Transfers between accounts, and rows of its own; notes what was answered."""

    def __init__(self, c, number, accounts):
        super().__init__(daemon=True)
        self.s, self.number, self.accounts = c.shell(), number, accounts
        self.answered, self.sent, self.dice = 0, 0, random.Random(number)

    def run(self):
        try:
            while True:
                a, b = self.dice.sample(range(self.accounts), 2)
                self.sent = self.answered + 1
                out = self.s.do("BEGIN; UPDATE account SET n = n - 1 WHERE id = %d; UPDATE account SET n = n + 1 WHERE id = %d; "
                                "INSERT INTO done VALUES (%d, %d, '%s'); COMMIT" % (
                                    a, b, self.number, self.sent, "x" * self.dice.randint(0, 2000)))
                if "ERROR" in out:
                    self.s.do("ROLLBACK")
                else:
                    self.answered = self.sent
        except (AssertionError, OSError, ValueError):
            pass


def test_load_killed():
    """Kill -9 of everything under load: what was answered is there, nothing is there by half."""
    rounds, clients, accounts = house.rounds(4, 2), 3, 50
    with House() as h:
        c = Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE account (id integer PRIMARY KEY, n bigint)")
        s.ok("CREATE TABLE done (who integer, k integer, v text, PRIMARY KEY (who, k))")
        s.ok("CREATE INDEX done_k ON done (k)")
        s.ok("INSERT INTO account SELECT i, 100 FROM generate_series(0, %d) i" % (accounts - 1))
        had = [0] * clients
        for turn in range(rounds):
            banks = [Bank(c, i, accounts) for i in range(clients)]
            for b in banks:
                b.answered = had[b.number]
                b.start()
            time.sleep(1.0 + 0.3 * turn)
            c.kill()
            for b in banks:
                b.s.drop()
                b.join(20)
            s.drop()
            c.start()
            s = c.shell()
            same(s.value("SELECT sum(n) FROM account"), str(100 * accounts), "the total")
            for b in banks:
                got = int(s.value("SELECT coalesce(max(k), 0) FROM done WHERE who = %d" % b.number))
                check(b.answered <= got <= b.sent, "client %d was answered %d, sent %d; there are" % (b.number, b.answered, b.sent), got)
                same(s.value("SELECT count(*) FROM done WHERE who = %d" % b.number), str(got), "rows of a client")
                had[b.number] = got
            same(s.value("SELECT count(*) FROM done WHERE k >= 0"), str(sum(had)), "rows by the index")
        check(sum(had) > house.rounds(20, 10), "work was done:", had)


def test_not_waiting():
    """synchronous_commit off: a clean end loses nothing."""
    with House() as h:
        c = Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY)")
        s.ok("SET synchronous_commit = off")
        for i in range(200):
            s.ok("INSERT INTO t VALUES (%d)" % i)
        s.close(0)
        c.stop()
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "200")


def test_large():
    """Transactions and values longer than a message."""
    with House() as h:
        c = Cluster(h, size="512m")
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        s.ok("INSERT INTO t SELECT i, repeat('v', i % 500) FROM generate_series(1, 100000) i", timeout=120)
        s.ok("UPDATE t SET b = b || 'w' WHERE id % 2 = 0", timeout=120)
        s.ok("INSERT INTO t VALUES (0, repeat('0123456789', 1000000))", timeout=120)
        s.ok("BEGIN; DELETE FROM t; ROLLBACK", timeout=120)
        s.ok("DELETE FROM t WHERE id % 5 = 0 AND id > 0", timeout=120)
        want = s.ok("SELECT count(*), sum(length(b)), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60)
        c.kill()
        s.drop()
        c.start()
        s = c.shell()
        same(s.ok("SELECT count(*), sum(length(b)), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60), want)


def test_restorer_killed():
    """A process that restores is killed in the middle: the next one begins again."""
    with House() as h:
        c = Cluster(h, size="512m")
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text, c integer); CREATE INDEX t_c ON t (c)")
        s.ok("INSERT INTO t SELECT i, repeat('v', 100), i % 1000 FROM generate_series(1, 200000) i", timeout=120)
        c.kill()
        s.drop()
        c.start()
        for ms in (150, 400, 800):
            p = subprocess.Popen([house.NAMDB, "sql", "--storage", c.storage, "--secret-file", h.secret, "--lease", "1000"],
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=house.clean_env(h.env))
            time.sleep(ms / 1000 * house.SLOW)
            p.kill()
            p.wait()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t", timeout=120), "200000")
        same(s.value("SELECT count(*) FROM t WHERE c = 77"), "200")
        s.close(0)


def again(c, s, end="kill"):
    """The cluster ends and is started again; a shell."""
    if end == "kill":
        s.drop()
        c.kill()
    else:
        s.close(0)
        c.stop()
    c.start()
    return c.shell()


def test_sequences():
    """Sequences whose relation is made again keep their numbers; setval down, CYCLE, CACHE."""
    with House() as h:
        c = Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id serial PRIMARY KEY, v text); CREATE TABLE a (id serial PRIMARY KEY, v text)")
        s.ok("CREATE SEQUENCE round MAXVALUE 5 CYCLE; CREATE SEQUENCE few CACHE 20")
        for i in range(20):
            s.ok("INSERT INTO t (v) VALUES ('x'); INSERT INTO a (v) VALUES ('x'); "
                 "SELECT nextval('round'); SELECT nextval('few')")
        s.ok("TRUNCATE t")
        s.ok("ALTER TABLE a ALTER COLUMN id TYPE bigint")
        for i in range(3):
            s.ok("INSERT INTO t (v) VALUES ('y'); INSERT INTO a (v) VALUES ('y')")
        s.ok("SELECT setval('few', 3)")
        s = again(c, s)
        check(int(s.ok("INSERT INTO t (v) VALUES ('z') RETURNING id").splitlines()[1]) > 23, "a truncated table's numbers go on")
        check(int(s.ok("INSERT INTO a (v) VALUES ('z') RETURNING id").splitlines()[1]) > 23, "a rewritten table's numbers go on")
        check(4 <= int(s.value("SELECT nextval('few')")) < 1000, "setval")
        check(1 <= int(s.value("SELECT nextval('round')")) <= 5, "CYCLE")


def test_names():
    """What is only named like a temporary relation stays."""
    with House() as h:
        c = Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE pg_temp_p (id integer PRIMARY KEY); CREATE TABLE child (p integer REFERENCES pg_temp_p)")
        s.ok("CREATE INDEX pg_temp_i ON child (p); CREATE TYPE pg_temp_e AS ENUM ('a'); CREATE TABLE e (x pg_temp_e)")
        s.ok("INSERT INTO pg_temp_p VALUES (1); INSERT INTO child VALUES (1); INSERT INTO e VALUES ('a'); CREATE TABLE \"x.y\" (a integer)")
        s = again(c, s)
        same(s.value("SELECT count(*) FROM child JOIN pg_temp_p ON p = id"), "1")
        same(s.value("SELECT x FROM e"), "a")
        same(s.value("SELECT count(*) FROM \"x.y\""), "0")
        s.fails("INSERT INTO child VALUES (2)", "23503")


def test_index_in_the_making():
    """An index whose builder dies over rows that are no set of keys is left out."""
    with House() as h:
        c = Cluster(h, size="512m")
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, a integer)")
        s.ok("INSERT INTO t SELECT i, i FROM generate_series(1, 300000) i; UPDATE t SET a = 5 WHERE id = 299999", timeout=120)
        for moment in house.rounds((0.1, 0.2, 0.3), (0.1, 0.3)):
            builder = c.shell()
            builder.send("CREATE UNIQUE INDEX t_a ON t (a);")
            time.sleep(moment * house.SLOW)
            builder.drop()
            s = again(c, s)
            same(s.value("SELECT count(*) FROM t"), "300000")
            s.ok("CREATE INDEX t_a ON t (a)", timeout=60)
            same(s.value("SELECT count(*) FROM t WHERE a = 5"), "2")
            s.ok("DROP INDEX t_a")


def test_started_at_once():
    """Several processes come to an empty cluster, and to one that is to be restored, at the same time."""
    with House() as h:
        c = Cluster(h)
        for turn in range(3):
            shells = [h.shell(fabric="shm", storage=c.storage) for _ in range(4)]
            for i, s in enumerate(shells):
                s.ok("CREATE TABLE t_%d_%d (x integer)" % (turn, i), timeout=60)
            for s in shells:
                s.drop()
            c.kill()
            c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "12")


def test_shard_stalls():
    """A storage node stands still for longer than a message waits: what is sent twice counts once."""
    with House(lease_ms=20000) as h:
        c = Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        s.send("INSERT INTO t VALUES (1, repeat('v', 200000)), (2, repeat('w', 300000));")
        c.node[0].p.send_signal(signal.SIGSTOP)
        time.sleep(14)
        c.node[0].p.send_signal(signal.SIGCONT)
        s.send("\\echo over")
        s.read_until(b"over\n", 60)
        n = s.value("SELECT count(*) FROM t")
        s = again(c, s)
        same(s.value("SELECT count(*) FROM t"), n)


def test_refused():
    """Directories that are not this node's."""
    with House() as h:
        c = Cluster(h)
        second = Node(h, 1, "64m", expect=False, more=("--data", c.data))
        same(second.p.wait(timeout=20 * house.SLOW), 1, "a directory in use")
        contains(second.text(), c.data, "used by another process")
        s = c.shell()
        s.ok("CREATE TABLE t (x integer)")
        for i in range(20):
            s.ok("INSERT INTO t VALUES (%d)" % i)
        s.close(0)
        c.stop()
        other = Node(h, 2, "64m", expect=False, more=("--data", c.data))
        same(other.p.wait(timeout=20 * house.SLOW), 1, "another node's directory")
        contains(other.text(), "node 1")
        nowhere = Node(h, 1, "64m", expect=False, more=("--data", "/nowhere/at/all"))
        same(nowhere.p.wait(timeout=20 * house.SLOW), 1, "no directory")
        contains(nowhere.text(), "/nowhere/at/all")
        # A byte in the middle is damaged: that is told, and nothing is cut off.
        segments = sorted(f for f in os.listdir(c.data) if f.startswith("log-"))
        check(segments, "segments")
        path = os.path.join(c.data, segments[0])
        copy = path + ".copy"
        shutil.copyfile(path, os.path.join(h.dir, "copy"))
        with open(path, "r+b") as f:
            f.seek(4096 + 100)
            byte = f.read(1)
            f.seek(4096 + 100)
            f.write(bytes([byte[0] ^ 0x55]))
        bad = Node(h, 1, "64m", expect=False, more=("--data", c.data))
        same(bad.p.wait(timeout=20 * house.SLOW), 1, "a damaged log")
        contains(bad.text(), segments[0])
        shutil.copyfile(os.path.join(h.dir, "copy"), path)
        c.start()
        s = c.shell()
        same(s.value("SELECT count(*) FROM t"), "20")


if __name__ == "__main__":
    house.main()
