#!/usr/bin/env python3
"""Checkpoints of a cluster's log: what is restored behind one is what was there, and the log has become shorter."""
import json
import os
import random
import re
import signal
import struct
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import test_durable as durable
from house import Compute, House, check, contains, same, until
from wire import Wire


def begin(c):
    """Where the log's published life begins, as the manifest says (wal_format.h)."""
    with open(os.path.join(c.data, "manifest"), "rb") as f:
        return struct.unpack_from("<Q", f.read(), 40)[0]


def checkpoint(c, s):
    """CHECKPOINT moves the begin."""
    was = begin(c)
    same(s.ok("CHECKPOINT", timeout=120).strip(), "CHECKPOINT")
    check(begin(c) > was, "the log begins later than", was)


def test_whole():
    """Every kind of object, and changes of all of them before, between and behind two checkpoints; restored twice."""
    with House() as h:
        c = durable.Cluster(h, nodes=2)
        s = c.shell()
        for line in durable.SCHEMA.strip().split(";\n"):
            s.ok(line)
        s.ok("SELECT nextval('numbers'), nextval('down') FROM generate_series(1, 50)")
        checkpoint(c, s)
        s.ok("SELECT nextval('numbers') FROM generate_series(1, 50)")
        s.ok("SELECT setval('down', -7)")
        s.ok("UPDATE child SET t = t || '!' WHERE id % 3 = 0; DELETE FROM child WHERE id % 7 = 0")
        s.ok("INSERT INTO parent SELECT i, 'late ' || i FROM generate_series(300, 400) i")
        s.ok("UPDATE parent SET extra = repeat('another ', 30000) WHERE id = 3; UPDATE parent SET extra = NULL WHERE id = 2")
        s.ok("TRUNCATE emptied; INSERT INTO emptied VALUES (8)")
        s.ok("CREATE TABLE gone (x integer); INSERT INTO gone VALUES (1)")
        checkpoint(c, s)
        s.ok("DROP TABLE gone; DELETE FROM parent WHERE id BETWEEN 310 AND 320; UPDATE parent SET name = 'changed' WHERE id = 305")
        s.ok("ALTER TABLE other.plain ADD COLUMN more integer DEFAULT 4; INSERT INTO other.plain (a) VALUES (9)")
        want = durable.answers(s)
        for _ in range(2):
            s = durable.again(c, s)
            for q, a, b in zip(durable.QUERIES, want, durable.answers(s)):
                same(b, a, q)
            check(int(s.value("SELECT nextval('numbers')")) >= 510, "numbers go on")
            check(-200 < int(s.value("SELECT nextval('down')")) <= -8, "setval")
            s.fails("SELECT * FROM gone", "42P01")
            s.fails("INSERT INTO parent VALUES (1, 'one')", "23505")
            checkpoint(c, s)
        s.drop()


def test_files_go():
    """Segments before the begin are removed, by one checkpoint after the other."""
    with House() as h:
        c = durable.Cluster(h, size="512m")
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        s.ok("INSERT INTO t SELECT i, '' FROM generate_series(1, 6000) i")

        def names():
            return sorted(f for f in os.listdir(c.data) if f.startswith("log-"))
        for _ in range(house.rounds(8, 4, 4)):  # 60 MB each: less is one segment
            for _ in range(4):
                s.ok("UPDATE t SET b = (SELECT string_agg(md5(random()::text || t.id || g), '') FROM generate_series(1, 40) g)", timeout=120)
            s.ok("CHECKPOINT", timeout=120)
            until(lambda: len(names()) <= 4, 20, "segments go")
        check(not names()[0].endswith("-00000000"), "segments are", names())
        want = s.value("SELECT md5(string_agg(b, '' ORDER BY id)) FROM t")
        s = durable.again(c, s)
        same(s.value("SELECT md5(string_agg(b, '' ORDER BY id)) FROM t"), want)
        s.close(0)


def test_load():
    """Checkpoints by two processes at once, beside transfers, large transactions, tables that come and go; kill -9 of everything."""
    with House() as h:
        c = durable.Cluster(h, size="512m")
        s = c.shell()
        s.ok("CREATE TABLE account (id integer PRIMARY KEY, n bigint)")
        s.ok("CREATE TABLE done (who integer, k integer, v text, PRIMARY KEY (who, k))")
        s.ok("CREATE INDEX done_k ON done (k)")
        s.ok("CREATE TABLE large (id integer PRIMARY KEY, v text)")
        s.ok("CREATE SEQUENCE drawn")
        s.ok("INSERT INTO account SELECT i, 100 FROM generate_series(0, 49) i")
        had, last, made = [0] * 3, 0, 0
        for turn in range(house.rounds(4, 2, 1)):
            banks = [durable.Bank(c, i, 50) for i in range(3)]
            for b in banks:
                b.answered = had[b.number]
                b.start()
            said = {"checkpoints": 0, "drawn": last}

            def loop(shell, statements, note):
                try:
                    while True:
                        for text in statements:
                            note(shell.do(text, 60))
                except (AssertionError, OSError, ValueError):
                    pass

            def counted(out):
                said["checkpoints"] += out.strip() == "CHECKPOINT"

            def drawn(out):
                said["drawn"] = max([said["drawn"]] + [int(x) for x in re.findall(r"^\d+$", out, re.M)])
            others = []
            for statements, note in ((["CHECKPOINT"], counted), (["CHECKPOINT"], counted), (["SELECT nextval('drawn')"], drawn),
                                     (["INSERT INTO large SELECT i, repeat('x', 900) FROM generate_series(1, 3000) i",
                                       "UPDATE large SET v = v || 'y'", "DELETE FROM large",
                                       "CREATE TABLE passing AS SELECT * FROM account", "DROP TABLE passing"], lambda out: None)):
                shell = c.shell()
                others.append((shell, threading.Thread(target=loop, args=(shell, statements, note), daemon=True)))
                others[-1][1].start()
            time.sleep((2 + 0.4 * turn) * min(house.SLOW, 3))
            c.kill()
            for b in banks:
                b.s.drop()
                b.join(20)
            for shell, thread in others:
                shell.drop()
                thread.join(20)
            s.drop()
            c.start()
            s = c.shell()
            made += said["checkpoints"]
            same(s.value("SELECT sum(n) FROM account"), "5000", "the total")
            for b in banks:
                got = int(s.value("SELECT coalesce(max(k), 0) FROM done WHERE who = %d" % b.number))
                check(b.answered <= got <= b.sent, "client %d was answered %d, sent %d; there are" % (b.number, b.answered, b.sent), got)
                same(s.value("SELECT count(*) FROM done WHERE who = %d" % b.number), str(got), "rows of a client")
                had[b.number] = got
            same(s.value("SELECT count(*) FROM done WHERE k >= 0"), str(sum(had)), "rows by the index")
            check(s.value("SELECT count(*) FROM large") in ("0", "3000"), "a transaction by half")
            check(s.value("SELECT count(DISTINCT length(v)) FROM large") in ("0", "1"), "a transaction by half")
            last = said["drawn"]
            check(int(s.value("SELECT nextval('drawn')")) > last, "a number was given out twice, after", last)
            s.ok("DROP TABLE IF EXISTS passing; DELETE FROM large")
        check(made >= house.rounds(8, 3, 1), "too few checkpoints:", made)
        check(sum(had) > house.rounds(20, 10, 3), "too little work:", had)
        s.close(0)


def test_by_itself():
    """The log grows by --checkpoint-size, and a compute process makes a checkpoint."""
    with House() as h:
        c = durable.Cluster(h)
        c.kill()
        c.node = [house.Node(h, 1, "128m", more=("--data", c.data, "--checkpoint-size", "1m"))]
        c.storage = c.node[0].address
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text); INSERT INTO t SELECT i, repeat('x', 900) FROM generate_series(1, 500) i")
        until(lambda: (s.ok("UPDATE t SET b = b WHERE id % 2 = 0"), begin(c) > 0)[1], 60, "a checkpoint")
        was = begin(c)
        until(lambda: (s.ok("UPDATE t SET b = b WHERE id % 2 = 0"), begin(c) > was)[1], 60, "another one")
        # At rest there is none.
        time.sleep(2.5)
        was = begin(c)
        time.sleep(2.5)
        same(begin(c), was, "nothing has changed")
        s.close(0)


def test_open_sequence():
    """A sequence of a transaction that commits behind the checkpoint; numbers of a setval before it."""
    with House() as h:
        c = durable.Cluster(h)
        s, other = c.shell(), c.shell()
        s.ok("CREATE SEQUENCE back")
        s.ok("SELECT nextval('back') FROM generate_series(1, 1000)")
        s.ok("SELECT setval('back', 5)")
        s.ok("BEGIN; CREATE SEQUENCE q; CREATE TABLE t (id serial, v text)")
        s.ok("SELECT nextval('q') FROM generate_series(1, 100)")
        s.ok("INSERT INTO t (v) SELECT 'x' FROM generate_series(1, 77)")
        other.ok("CHECKPOINT")
        s.ok("COMMIT")
        other.drop()
        s = durable.again(c, s)
        check(100 < int(s.value("SELECT nextval('q')")) < 300, "q")
        check(77 < int(s.ok("INSERT INTO t (v) VALUES ('y') RETURNING id").splitlines()[1]) < 300, "t.id")
        check(5 < int(s.value("SELECT nextval('back')")) < 200, "setval")
        s.close(0)


def test_large():
    """Values longer than a message, and a transaction of many messages beside checkpoints."""
    with House() as h:
        c = durable.Cluster(h, size="1g")
        s, other = c.shell(), c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        s.ok("INSERT INTO t SELECT i, repeat('v', i %% 500) FROM generate_series(1, %d) i" % house.rounds(50000, 50000, 10000), timeout=120)
        s.ok("INSERT INTO t VALUES (0, repeat('0123456789', 2000000)), (-1, repeat('abc', 100000))", timeout=120)
        stop = []

        def again():
            while not stop:
                other.ok("CHECKPOINT", timeout=120)
        thread = threading.Thread(target=again)
        thread.start()
        for _ in range(house.rounds(3, 2, 1)):
            s.ok("UPDATE t SET b = b || 'w' WHERE id % 2 = 0", timeout=120)
            s.ok("BEGIN; DELETE FROM t; ROLLBACK", timeout=120)
        s.ok("DELETE FROM t WHERE id % 5 = 0 AND id > 0", timeout=120)
        stop.append(1)
        thread.join()
        want = s.ok("SELECT count(*), sum(length(b)), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60)
        other.drop()
        s = durable.again(c, s)
        same(s.ok("SELECT count(*), sum(length(b)), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60), want)
        s.close(0)


def test_killed_and_stalled():
    """The process that makes a checkpoint dies, or stalls for longer than its lease: nothing is lost, and the next one is made."""
    with House() as h:
        c = durable.Cluster(h, size="512m")
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        s.ok("INSERT INTO t SELECT i, repeat('x', 500) FROM generate_series(1, 60000) i", timeout=120)
        turns = house.rounds(4, 2)  # one is killed, one stalls
        dice = random.Random(5)
        for turn in range(turns):
            other = c.h.shell("--lease", "1000", fabric="tcp", storage=c.storage)
            other.ok("SELECT 1")
            other.send("CHECKPOINT;")
            time.sleep(0.05 + 0.1 * dice.random())
            if turn % 2:
                other.p.kill()
            else:
                other.p.send_signal(signal.SIGSTOP)
            s.ok("DELETE FROM t WHERE id %% 60 = %d" % turn, timeout=60)
            checkpoint(c, s)
            if turn % 2 == 0:
                other.p.send_signal(signal.SIGCONT)
            other.drop()
        left = 60000 - turns * 1000
        same(s.value("SELECT count(*) FROM t"), str(left))
        s = durable.again(c, s)
        same(s.value("SELECT count(*) FROM t"), str(left))
        same(s.value("SELECT count(*) FROM t WHERE id %% 60 < %d" % turns), "0")
        s.close(0)


def test_said():
    """Without a log it does nothing; it is a superuser's; it can be cancelled by time; it may stand in a block."""
    with House(nodes=1) as h:
        node = Compute(h)
        w = Wire(node.port)
        got = w.query("CHECKPOINT")
        contains(str(got), "CHECKPOINT")
        w.query("CREATE ROLE low LOGIN")
        low = Wire(node.port, user="low")
        contains(str(low.query("CHECKPOINT")), "42501")
        low.close()
        w.close()
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        s.ok("BEGIN; CREATE TABLE t (x integer); CHECKPOINT; INSERT INTO t VALUES (1); COMMIT")
        s = durable.again(c, s)
        same(s.value("SELECT x FROM t"), "1")
        s.close(0)


def test_printed():
    """namdb log: every record of a directory, before and behind a checkpoint; what it refuses."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text); CREATE SEQUENCE q; SELECT nextval('q')")
        s.ok("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 5) i")
        s.ok("INSERT INTO t VALUES (6, repeat('long', 200000)), (7, 'short'); INSERT INTO t VALUES (8, repeat('long', 5000))")
        s.ok("DELETE FROM t WHERE id = 3")
        contains(house.run("log", c.data).fails(1).err, "another process")
        s.close(0)
        c.stop()
        out = house.run("log", "--items", c.data).ok().out
        for word in ("commit", "numbers", "row of table", "deleted of table", "value of table", "part 1", "positions 0 to"):
            contains(out, word)
        lines = [json.loads(line) for line in house.run("log", "--json", c.data).ok().out.splitlines()]
        same(re.search(r"^(\d+) records", out, re.M).group(1), str(len(lines)))
        check(all(a["position"] < b["position"] for a, b in zip(lines, lines[1:])), "positions rise")
        rows = [i for x in lines for i in x.get("items", []) if i["kind"] == "row"]
        check(len(rows) > 5, "rows:", len(rows))
        # A second life, and a checkpoint.
        c.start()
        s = c.shell()
        s.ok("CHECKPOINT")
        s.close(0)
        c.stop()
        kept = [json.loads(line) for line in house.run("log", "--json", c.data).ok().out.splitlines()]
        same(kept[0]["position"], begin(c))
        items = [i for x in kept if x["kind"] == "kept" for i in x.get("items", [])]
        check(len([i for i in items if i["kind"] == "row" and i["cid"] > 0]) > 5 and any(i["kind"] == "since" for i in items), "kept:", items)
        some = house.run("log", "--from", str(kept[1]["position"]), "--count", "1", "--json", c.data).ok().out
        same(json.loads(some), kept[1])
        contains(house.run("log", os.path.join(h.dir, "none")).fails(1).err, "No such file or directory")
        check(not os.path.exists(os.path.join(h.dir, "none")), "it makes no directory")
        for args in ([], [c.data, c.data], ["--from", "x", c.data], ["--color", c.data]):
            contains(house.run("log", *args).fails(2).err, "see namdb log --help")
        with open(os.path.join(c.data, sorted(f for f in os.listdir(c.data) if f.startswith("log-"))[0]), "r+b") as f:
            f.seek(4096 + 70)
            f.write(b"\xff\xfe\xfd")
        contains(house.run("log", c.data).fails(1).err, "is damaged at offset 4096")


def test_figures():
    """Metrics say what the log holds, and what has come since the last checkpoint."""
    with House() as h:
        c = durable.Cluster(h)
        h.storage = lambda: c.storage
        node = Compute(h, "--metrics", "0")
        page = re.search(r"metrics at (http://[^ ]+/metrics)", node.text()).group(1)

        def held(part):
            with urllib.request.urlopen(page, timeout=20 * house.SLOW) as r:
                return int(re.search(r'^namdb_log_bytes\{part="%s"\} ([0-9]+)$' % part, r.read().decode(), re.M).group(1))
        w = Wire(node.port)
        w.query("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        w.query("INSERT INTO t VALUES (1, '')")
        for _ in range(50):
            w.query("UPDATE t SET b = repeat('x', 900)")
        many = held("since_checkpoint")
        check(many > 50 * 900 and held("held") >= many, "since the begin:", many)
        w.query("CHECKPOINT")
        until(lambda: held("since_checkpoint") < 1000, 10, "nothing since the checkpoint")
        check(held("held") < many, "the log holds less")
        w.close()


if __name__ == "__main__":
    house.main()
