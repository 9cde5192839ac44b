#!/usr/bin/env python3
"""Backups of a running cluster, and what is restored from them: all of one moment, up to its end or to a time."""
import bisect
import calendar
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import test_durable as durable
import test_embedded
from house import House, Node, check, contains, same, until


def stamp(t):
    """A moment as --until wants it."""
    us = round(t * 1e6)
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(us // 1000000)) + ".%06d+00" % (us % 1000000)


def moment(text):
    """Microseconds count."""
    whole, _, part = text[:-3].partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + float("0." + (part or "0"))


def backup(c, path, timeout=120):
    return house.run("backup", "--storage", c.storage, "--secret-file", c.h.secret, path, timeout=timeout)


def copies(text):
    """Records of a directory, as namdb log prints them."""
    return [json.loads(line) for line in house.run("log", "--json", text, timeout=120).ok().out.splitlines()]


class Restored(durable.Cluster):
    """A cluster of its own, on a data directory that was restored."""

    def __init__(self, h, source, *args, nodes=1, size="128m"):
        self.h, self.n, self.size = h, nodes, size
        self.data = os.path.join(h.dir, "restored-%d" % len(h.nodes))
        self.said = house.run("restore", "--data", self.data, *args, source, timeout=120).ok().out
        self.start()


class Bank(threading.Thread):
    """Transfers between accounts, rows of its own, numbers; notes when each was sent and answered."""

    def __init__(self, c, number, accounts, shell=None):
        super().__init__(daemon=True)
        self.s, self.number, self.accounts = shell or c.shell(), number, accounts
        self.sent, self.answered, self.stop, self.drawn, self.attempts = [], [], False, 0, 0
        self.dice = random.Random(number)

    def run(self):
        k = 1
        try:
            while not self.stop:
                a, b = self.dice.sample(range(self.accounts), 2)
                if len(self.sent) < k:
                    self.sent.append(time.time())
                self.attempts += 1
                end = "ROLLBACK" if self.dice.randrange(10) == 0 else "COMMIT"
                out = self.s.do("BEGIN; UPDATE account SET n = n - 1 WHERE id = %d; UPDATE account SET n = n + 1 WHERE id = %d; "
                                "INSERT INTO done VALUES (%d, %d, repeat('x', %d), %d); %s" % (
                                    a, b, self.number, k, self.dice.choice([10, 700, 3000, 90000]), self.attempts, end), 60)
                there = "ERROR" not in out and end == "COMMIT"
                while "ERROR" in out:
                    # Its outcome may not be known.
                    self.s.do("ROLLBACK")
                    out = self.s.do("SELECT count(*) AS there FROM done WHERE who = %d AND k = %d" % (self.number, k))
                    there = "there\n1\n" in out
                if there:
                    self.answered.append(time.time())
                    k += 1
                if self.dice.randrange(5) == 0:
                    out = self.s.do("SELECT nextval('drawn')")
                    self.drawn = max([self.drawn] + [int(x) for x in re.findall(r"^[0-9]+$", out, re.M)])
        except (AssertionError, OSError, ValueError):
            pass

    def bounds(self, t):
        """How many rows there are at least, and at most, at that time."""
        return bisect.bisect_right(self.answered, t), bisect.bisect_right(self.sent, t)


def schema(s, accounts=50):
    s.ok("CREATE TABLE account (id integer PRIMARY KEY, n bigint)")
    s.ok("CREATE TABLE done (who integer, k integer, v text, attempt integer, PRIMARY KEY (who, k))")
    s.ok("CREATE INDEX done_k ON done (k)")
    s.ok("CREATE SEQUENCE drawn")
    s.ok("INSERT INTO account SELECT i, 100 FROM generate_series(0, %d) i" % (accounts - 1))


def attempts(s):
    return set(s.ok("SELECT who, k, attempt FROM done", timeout=60).split()[1:])


def judge(s, banks, bounds, final, accounts=50):
    """The database is one of a moment. Rows of attempts that were undone are not among the final ones."""
    check(attempts(s) <= final, "an attempt that was undone is there:", attempts(s) - final)
    same(s.value("SELECT sum(n) FROM account"), str(100 * accounts), "the total")
    all_of = 0
    for b in banks:
        low, high = bounds[b.number]
        got = int(s.value("SELECT coalesce(max(k), 0) FROM done WHERE who = %d" % b.number))
        check(low <= got <= high, "client %d: %d to %d rows, there are" % (b.number, low, high), got)
        same(s.value("SELECT count(*) FROM done WHERE who = %d" % b.number), str(got), "rows of a client")
        all_of += got
    same(s.value("SELECT count(*) FROM done WHERE k >= 0"), str(all_of), "rows by the index")
    same(s.value("SELECT count(*) FROM done WHERE length(v) NOT IN (10, 700, 3000, 90000) OR v <> repeat('x', length(v))"), "0", "values")
    return all_of


def test_whole():
    """Every kind of object, behind a begin that was cut off and before; twice restored, two nodes; it lives on its own."""
    with House() as h:
        c = durable.Cluster(h, nodes=2)
        s = c.shell()
        for line in durable.SCHEMA.strip().split(";\n"):
            s.ok(line)
        before = durable.answers(s)
        number = int(s.value("SELECT nextval('numbers')"))
        first, second = os.path.join(h.dir, "first"), os.path.join(h.dir, "second")
        os.mkdir(second, 0o700)
        out = backup(c, first).ok().out
        contains(out, "records, in", "it has all that was committed up to 20", "+00")
        s.ok("CHECKPOINT; CREATE TABLE later (x integer)")
        backup(c, second).ok()
        s.ok("CREATE TABLE too_late (x integer)")
        # Two at once: one after the other.
        both = [subprocess.Popen([house.NAMDB, "backup", "--storage", c.storage, "--secret-file", h.secret, first + str(i)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=house.clean_env(h.env)) for i in range(2)]
        for p in both:
            err = p.communicate(timeout=60 * house.SLOW)[1].decode()
            same(p.returncode, 0, err)
        same(copies(first + "0"), copies(first + "1"))
        for path in (first, second):
            same(stat.S_IMODE(os.stat(path).st_mode), 0o700)
            for f in os.listdir(path):
                same(stat.S_IMODE(os.stat(os.path.join(path, f)).st_mode), 0o600, f)
        # As the original, record for record.
        lines = copies(first)
        same(lines[0]["position"], 0)
        check(all(re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$", x["time"]) for x in lines), "times")
        kept = copies(second)
        check(kept[0]["position"] > lines[-1]["position"] and kept[0]["kind"] == "kept", "the begin was cut off")
        was = {f: os.stat(os.path.join(second, f)).st_mtime_ns for f in os.listdir(second)}
        content = {f: open(os.path.join(second, f), "rb").read() for f in os.listdir(second)}
        for path, is_later in ((first, False), (second, True), (second, True)):
            # Beside the original, which runs on.
            r = Restored(h, path, nodes=2)
            contains(r.said, "start it with: namdb storage --id 1 --data " + r.data)
            t = r.shell()
            for a, b in zip(before, durable.answers(t)):
                if not is_later or "too_late" not in a and "later" not in b:
                    same(b, a)
            check(("42P01" in t.do("SELECT * FROM later")) != is_later, "the later table")
            contains(t.do("SELECT * FROM too_late"), "42P01")
            check(int(t.value("SELECT nextval('numbers')")) > number, "a number was given out twice")
            t.ok("INSERT INTO emptied VALUES (1000); CHECKPOINT")
            t = durable.again(r, t)
            same(t.value("SELECT count(*) FROM emptied WHERE y = 1000"), "1")
            t.drop()
            r.kill()
        same({f: os.stat(os.path.join(second, f)).st_mtime_ns for f in os.listdir(second)}, was, "the backup was changed")
        same({f: open(os.path.join(second, f), "rb").read() for f in os.listdir(second)}, content, "the backup was changed")
        same(s.value("SELECT count(*) FROM emptied WHERE y = 1000"), "0", "the original")
        s.ok("CHECKPOINT")
        s = durable.again(c, s, "stop")
        same(durable.answers(s)[0], before[0])
        s.close(0)


def test_load():
    """Backups beside transfers, rollbacks, long values, tables that come and go, checkpoints without a pause, processes that are killed."""
    with House() as h:
        c = durable.Cluster(h, size="512m")
        s = c.shell()
        schema(s)
        banks = [Bank(c, i, 50) for i in range(3)]
        for b in banks:
            b.start()
        counts, ends = {"checkpoints": 0}, []

        def loop(statements, note):
            shell = c.shell()

            def go():
                try:
                    while not ends:
                        for text in statements:
                            note(shell.do(text, 120))
                except (AssertionError, OSError, ValueError):
                    pass
            t = threading.Thread(target=go, daemon=True)
            t.start()
            return t

        def counted(out):
            counts["checkpoints"] += out.strip() == "CHECKPOINT"
        threads = [loop(["CHECKPOINT"], counted), loop(["CHECKPOINT"], counted),
                   loop(["CREATE TABLE passing AS SELECT * FROM account", "DROP TABLE passing",
                         "BEGIN; INSERT INTO done SELECT 77, i, 'y' FROM generate_series(1, 2000) i; ROLLBACK"], lambda out: None)]
        dice = random.Random(3)
        made = []
        for turn in range(house.rounds(5, 3, 1)):
            victim = h.shell(storage=c.storage)
            victim.ok("SELECT 1")
            victim.send("INSERT INTO account SELECT 1000 + i, 0 FROM generate_series(1, 3000) i; DELETE FROM account WHERE id >= 1000;\n" * 20)
            time.sleep(0.3 + 0.3 * dice.random())
            low = {b.number: len(b.answered) for b in banks}
            drawn = max(b.drawn for b in banks)
            was = counts["checkpoints"]
            path = os.path.join(h.dir, "b%d" % turn)
            p = subprocess.Popen([house.NAMDB, "backup", "--storage", c.storage, "--secret-file", h.secret, path],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=house.clean_env(h.env))
            time.sleep(0.05 * dice.random())
            victim.drop()
            out = p.communicate(timeout=120 * house.SLOW)[0].decode()
            same(p.returncode, 0, out)
            high = {b.number: len(b.sent) for b in banks}
            made.append((path, {i: (low[i], high[i]) for i in low}, drawn))
            until(lambda: counts["checkpoints"] > was + 1, 30, "checkpoints go on")
        ends.append(1)
        for b in banks:
            b.stop = True
        for t in banks + threads:
            t.join(120)
        total, final = 0, attempts(s)
        for path, bounds, drawn in made:
            r = Restored(h, path, size="512m")
            t = r.shell()
            t.ok("DROP TABLE IF EXISTS passing")
            same(t.value("SELECT count(*) FROM account WHERE id >= 1000 HAVING count(*) IN (0, 3000)"),
                 t.value("SELECT count(*) FROM account WHERE id >= 1000"), "a transaction by half")
            t.ok("DELETE FROM account WHERE id >= 1000")
            same(t.value("SELECT count(*) FROM done WHERE who = 77"), "0", "what was rolled back")
            total = judge(t, banks, bounds, final)
            check(int(t.value("SELECT nextval('drawn')")) > drawn, "a number was given out twice")
            t.drop()
            r.kill()
            shutil.rmtree(r.data)
        check(total > house.rounds(30, 20, 5), "too little work:", total)
        s.close(0)


def test_moment():
    """--until between two commits seconds apart; what was rolled back around it; from a stopped cluster's own directory."""
    with House() as h:
        c = durable.Cluster(h)
        s, other = c.shell(), c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        s.ok("INSERT INTO t VALUES (1, 'first'), (3, repeat('long', 50000))")
        other.ok("BEGIN; INSERT INTO t VALUES (50, 'open')")
        time.sleep(0.6)
        between = time.time()
        time.sleep(0.6)
        other.ok("COMMIT")
        s.ok("BEGIN; INSERT INTO t VALUES (60, 'undone'); ROLLBACK")
        s.ok("INSERT INTO t VALUES (2, 'second')")
        path = os.path.join(h.dir, "b")
        backup(c, path).ok()
        s.ok("DROP TABLE t")
        other.close(0)
        s.close(0)
        c.stop()
        for source in (path, c.data):
            for text in (stamp(between), stamp(between)[:-3].replace(" ", "T"), stamp(between)[:-3],
                         time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(between + 7200)) + stamp(between)[19:-3] + "+02"):
                r = Restored(h, source, "--until", text)
                t = r.shell()
                same(t.ok("SELECT id, length(v) FROM t ORDER BY id"), "id,length\n1,5\n3,200000\n", text)
                t.drop()
                r.kill()
                if source == c.data:
                    break
        # A moment behind the end is the end.
        r = Restored(h, path, "--until", stamp(time.time() + 100))
        contains(r.said, "and none is later")
        t = r.shell()
        same(t.ok("SELECT id FROM t ORDER BY id"), "id\n1\n2\n3\n50\n")
        t.drop()
        r.kill()
        r = Restored(h, c.data)
        t = r.shell()
        contains(t.do("SELECT * FROM t"), "42P01")
        t.drop()
        r.kill()
        # Of what was restored up to a moment a backup can be made, and so on.
        r = Restored(h, c.data, "--until", stamp(between))
        t = r.shell()
        backup(r, path + "2").ok()
        t.drop()
        r.kill()
        r = Restored(h, path + "2")
        t = r.shell()
        same(t.ok("SELECT id FROM t ORDER BY id"), "id\n1\n3\n")
        t.drop()


def test_moments_of_a_load():
    """A log of transfers, restored up to moments by dice: each is what the clients had been told by then, and no more."""
    with House() as h:
        c = durable.Cluster(h, nodes=2, size="256m")
        s = c.shell()
        schema(s)
        began = time.time()
        # Commits whose records are in the log, and which do not reach the other node, are undone.
        way = house.Proxy(c.node[1])
        banks = [Bank(c, i, 50, h.shell(fabric="tcp", storage=c.node[0].address + "," + way.address)) for i in range(4)]
        for b in banks:
            b.start()
        dice = random.Random(11)
        end = time.monotonic() + 60 * house.SLOW
        for _ in range(house.rounds(120, 70, 50)):
            # Work goes on, and is in the middle of something.
            was = sum(len(b.answered) for b in banks)
            while sum(len(b.answered) for b in banks) == was and time.monotonic() < end:
                time.sleep(0.005)
            time.sleep(0.04 * dice.random())
            way.cut()
        for b in banks:
            b.stop = True
        for b in banks:
            b.join(120)
        ended = time.time()
        path = os.path.join(h.dir, "b")
        backup(c, path).ok()
        final = attempts(s)
        s.close(0)
        c.stop()
        log = copies(path)
        undone = {(x["lock"], x["check"]) for x in log if x["kind"] == "undone"}
        print("records: %d, %d attempts undone" % (len(log), len(undone)))
        # Right behind the records of an attempt which is undone later.
        late = [moment(x["time"]) for x in log if x["kind"] == "commit" and x["last"] and (x["lock"], x["check"]) in undone]
        turns, undones = house.rounds((6, 3), (4, 2), (2, 1))
        check(len(late) >= undones, "too few attempts were undone:", len(late))
        seen = set()
        for t in [began + (ended - began) * (turn + dice.random()) / turns for turn in range(turns)] + dice.sample(late, undones):
            r = Restored(h, path, "--until", stamp(t), nodes=2, size="256m")
            shell = r.shell()
            seen.add(judge(shell, banks, {b.number: b.bounds(t) for b in banks}, final))
            shell.drop()
            r.kill()
            shutil.rmtree(r.data)
        check(len(seen) >= turns, "moments differ:", seen)


def test_too_early():
    """The earliest moment is that of the start, then of the checkpoint; it is told, and can be reached."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)")
        path = os.path.join(h.dir, "b")
        time.sleep(0.05)
        middle = time.time()
        backup(c, path + "0").ok()
        time.sleep(0.05)
        s.ok("INSERT INTO t VALUES (2); CHECKPOINT")
        time.sleep(0.05)
        s.ok("INSERT INTO t VALUES (3)")
        backup(c, path).ok()
        s.close(0)
        c.stop()
        data = os.path.join(h.dir, "d")
        for source, early, rows in ((path + "0", 1e9, "id\n"), (path, middle, "id\n1\n2\n"), (c.data, middle, "id\n1\n2\n")):
            err = house.run("restore", "--data", data, "--until", stamp(early), source).fails(1).err
            same(err.count("\n"), 1, err)
            contains(err, "does not reach back to " + stamp(early))
            least = re.search(r"the earliest --until is '([^']+)'", err).group(1)
            check(not os.path.exists(data), "it makes nothing")
            r = Restored(h, source, "--until", least)
            t = r.shell()
            same(t.ok("SELECT id FROM t ORDER BY id"), rows)
            t.drop()
            r.kill()


def large(s, thousands):
    """A table whose backup takes a while."""
    s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
    for i in range(thousands // 10):
        s.ok("INSERT INTO t SELECT %d + i, (SELECT string_agg(md5(random()::text || g || i), '') FROM generate_series(1, 25) g) "
             "FROM generate_series(1, 10000) i" % (i * 10000), timeout=120)


def started(h, c, path):
    """A backup, and that it has written something and is at work."""
    p = subprocess.Popen([house.NAMDB, "backup", "--storage", c.storage, "--secret-file", h.secret, path],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=house.clean_env(h.env))
    until(lambda: os.path.exists(os.path.join(path, "log-00000001-00000001")) or p.poll() is not None, 30, "it writes")
    return p


def half(h, c, path, sig):
    """A backup that is ended half way."""
    for _ in range(20):
        p = started(h, c, path)
        p.send_signal(sig)
        out, err = p.communicate(timeout=60 * house.SLOW)
        if p.returncode != 0:
            return p.returncode, err.decode()
        shutil.rmtree(path)
    raise AssertionError("it was too fast each time")


def test_killed():
    """A backup that is killed half way is refused, by each command; one that is told to end leaves nothing. The cluster goes on."""
    with House() as h:
        c = durable.Cluster(h, size="1g")
        s = c.shell()
        large(s, house.rounds(80, 80, 30))
        path, data = os.path.join(h.dir, "b"), os.path.join(h.dir, "d")
        same(half(h, c, path, signal.SIGKILL)[0], -9)
        for args in (("restore", "--data", data, path), ("log", path),
                     ("storage", "--id", "1", "--listen", "127.0.0.1:0", "--secret-file", h.secret, "--data", path)):
            err = house.run(*args).fails(1).err
            contains(err, "has not come to its end")
            same(err.count("\n"), 1, err)
        contains(backup(c, path).fails(1).err, "is not empty")
        check(not os.path.exists(data), "it makes nothing")
        # The round of the dead one passes.
        began = time.monotonic()
        s.ok("INSERT INTO t VALUES (-1, 'x'); CHECKPOINT", timeout=60)
        check(time.monotonic() - began < 10 * house.SLOW, "a checkpoint waits for long")
        code, err = half(h, c, path + "2", signal.SIGINT)
        same(code, 1)
        contains(err, "it was ended")
        check(not os.path.exists(path + "2"), "it leaves nothing")
        same(s.ok("CHECKPOINT", timeout=60).strip(), "CHECKPOINT")
        backup(c, path + "2").ok()
        want = s.ok("SELECT count(*), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60)
        # A restore that is killed half way is refused as well.
        for _ in range(20):
            p = subprocess.Popen([house.NAMDB, "restore", "--data", data, path + "2"], env=house.clean_env(h.env),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: os.path.exists(os.path.join(data, "log-00000001-00000001")) or p.poll() is not None, 30, "it writes")
            p.kill()
            if p.wait() != 0:
                break
            shutil.rmtree(data)
        contains(house.run("storage", "--id", "1", "--listen", "127.0.0.1:0", "--secret-file", h.secret, "--data", data).fails(1).err,
                 "has not come to its end")
        r = Restored(h, path + "2", size="1g")
        t = r.shell()
        same(t.ok("SELECT count(*), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60), want)
        t.drop()
        s.close(0)


def test_stalled():
    """A backup that was silent for so long that a checkpoint has cut off the begin under it begins again. Its storage node dies: a line."""
    with House(lease_ms=120000) as h:
        c = durable.Cluster(h, size="1g")
        s = c.shell()
        large(s, house.rounds(80, 80, 30))
        again = 0
        for turn in range(5):
            path = os.path.join(h.dir, "b%d" % turn)
            p = started(h, c, path)
            p.send_signal(signal.SIGSTOP)
            s.ok("INSERT INTO t VALUES (%d, 'x')" % (-1 - turn))
            s.ok("CHECKPOINT", timeout=60)
            want = s.ok("SELECT count(*), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60)
            p.send_signal(signal.SIGCONT)
            out, err = p.communicate(timeout=120 * house.SLOW)
            same(p.returncode, 0, err)
            if "log-00000001-" in " ".join(os.listdir(path)):
                continue # it had its records already
            again += 1
            check(copies(path)[0]["position"] > 0, "the begin is the new one")
            r = Restored(h, path, size="1g")
            t = r.shell()
            same(t.ok("SELECT count(*), md5(string_agg(md5(b), '' ORDER BY id)) FROM t", timeout=60), want)
            t.drop()
            r.kill()
            break
        check(again > 0, "none began again")
        for _ in range(10):
            p = started(h, c, path + "x")
            c.kill()
            out, err = p.communicate(timeout=120 * house.SLOW)
            if p.returncode == 0:
                shutil.rmtree(path + "x")
                c.start()
                s = c.shell()
                continue
            same(p.returncode, 1)
            contains(err.decode(), "namdb backup: the log of storage node 1 cannot be read")
            check(not os.path.exists(path + "x"), "it leaves nothing")
            break
        s.drop()


def test_terminal():
    """At a terminal a long backup, and a long restore, say how far they are; ^C ends them, and they leave nothing."""
    if house.SANITIZE and not house.LONG:
        house.skip("the bytes are those of the other tests, and a hundred MiB of them take minutes")
    with House(lease_ms=60000) as h:
        c = durable.Cluster(h, size="1g")
        s = c.shell()
        large(s, 120)
        path, data = os.path.join(h.dir, "b"), os.path.join(h.dir, "d")
        commands = (("backup", path, ["backup", "--storage", c.storage, "--secret-file", h.secret, path], "it was ended; there is no backup"),
                    ("restore", data, ["restore", "--data", data, path + "whole"], "it was ended; nothing was restored"))
        backup(c, path + "whole").ok()
        for word, into, args, last in commands:
            for ends in (False, True):
                for _ in range(20):
                    t = h.terminal(*args)
                    until(lambda: os.path.exists(os.path.join(into, "log-00000001-00000001")), 30, "it writes")
                    os.kill(t.pid, signal.SIGSTOP)
                    time.sleep(1.3)
                    if os.path.exists(os.path.join(into, "log-00000001-00000006")):
                        os.kill(t.pid, signal.SIGCONT)
                        t.expect(" records, in ")
                        t.end()
                        shutil.rmtree(into)
                        continue # too late
                    if ends:
                        t.send("\x03")
                    os.kill(t.pid, signal.SIGCONT)
                    t.expect(last if ends else word + r": [0-9]+ % of 1[0-9][0-9]\.[0-9] MiB")
                    if not ends:
                        t.expect(" records, in ")
                    same(t.end(), 1 if ends else 0)
                    break
                else:
                    raise AssertionError("it was too fast each time")
                check(os.path.exists(into) != ends, "what is left of it")
                shutil.rmtree(into, ignore_errors=True)
        s.close(0)


def test_damaged():
    """A byte that has flipped, a file that is missing or short: named with its offset, and nothing is made."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text)")
        for i in range(6):
            s.ok("INSERT INTO t SELECT %d + i, md5(i::text) || repeat('x', 500) FROM generate_series(1, 2000) i" % (i * 2000))
        good, bad, data = (os.path.join(h.dir, x) for x in ("good", "bad", "d"))
        backup(c, good).ok()
        # The log of the running cluster: its memory is whole, so a checkpoint helps.
        name = sorted(f for f in os.listdir(c.data) if f.startswith("log-"))[0]
        with open(os.path.join(c.data, name), "r+b") as f:
            f.seek(4096 + 200)
            f.write(b"\xff\xfe\xfd")
        err = backup(c, data).fails(1).err
        contains(err.splitlines()[-1], "it is damaged", "CHECKPOINT")
        contains(c.node[0].text(), name + " is damaged at offset 4096")
        check(not os.path.exists(data), "it makes nothing")
        s.ok("CHECKPOINT")
        backup(c, data).ok()
        shutil.rmtree(data)
        s.close(0)
        dice = random.Random(1)
        name = sorted(f for f in os.listdir(good) if f.startswith("log-"))[0]
        with open(os.path.join(good, name), "rb") as f:
            content = f.read()
        blocks = [at for at in range(4096, len(content), 4096) if content[at:at + 8] == b"NWALBLK1"]
        check(len(blocks) >= 1, "blocks")
        for at in blocks[:2] + blocks[-2:]:
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(good, bad)
            with open(os.path.join(bad, name), "r+b") as f:
                f.seek(at + dice.randrange(64, 1000))
                byte = f.read(1)
                f.seek(-1, 1)
                f.write(bytes([byte[0] ^ 1 << dice.randrange(8)]))
            err = house.run("restore", "--data", data, bad).fails(1).err
            contains(err, bad, "%s is damaged at offset %d" % (name, at))
            same(err.count("\n"), 1, err)
            check(not os.path.exists(data), "it makes nothing")
        with open(os.path.join(bad, name), "r+b") as f:
            f.truncate(blocks[-1])
        contains(house.run("restore", "--data", data, bad).fails(1).err, "damaged at offset %d" % blocks[-1])
        os.remove(os.path.join(bad, name))
        contains(house.run("restore", "--data", data, bad).fails(1).err, name + " is missing")
        with open(os.path.join(bad, "manifest"), "r+b") as f:
            f.seek(40)
            f.write(b"\x01")
        contains(house.run("restore", "--data", data, bad).fails(1).err, "manifest is damaged")
        # A copy on a medium: what is no part of it is not made there.
        os.remove(os.path.join(good, "lock"))
        was = sorted(os.listdir(good))
        for d in (data, data + "2"):
            house.run("restore", "--data", d, good).ok()
        same(sorted(os.listdir(good)), was)


def test_refused():
    """What both commands refuse: one line each, nothing made, nothing lost."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)")
        path, data, full = (os.path.join(h.dir, x) for x in ("b", "d", "full"))
        os.mkdir(full)
        open(os.path.join(full, "mine"), "w").close()

        def one(result, code, *words):
            err = result.fails(code).err
            same(err.count("\n"), 1, err)
            contains(err, *words)
        one(backup(c, full), 1, "is not empty")
        one(backup(c, os.path.join(h.dir, "none", "b")), 1, "make the directory above it first")
        one(backup(c, h.secret), 1, "Not a directory")
        same(os.listdir(full), ["mine"])
        one(house.run("backup", "--storage", "127.0.0.1:%d" % house.free_port(), "--secret-file", h.secret, path), 1, "127.0.0.1:")
        one(house.run("backup", "--storage", c.storage, "--secret-file", full + "/mine", path), 1, "")
        check(not os.path.exists(path), "it makes nothing")
        for args in ([], [path, path], ["--color", path], ["--fabric", "x", path], ["--storage"]):
            one(house.run("backup", *args), 2, "see namdb backup --help")
        backup(c, path).ok()
        for args in ([], [path], ["--data", data], ["--data", data, path, path], ["--data", data, "--until", "soon", path],
                     ["--data", data, "--until", "infinity", path], ["--data", data, "--until", "2026-02-30 10:00", path],
                     ["--data", data, "--until", "now", path], ["--data", data, "--id", "0", path], ["--color", path]):
            one(house.run("restore", *args), 2, "see namdb restore --help")
        one(house.run("restore", "--data", full, path), 1, "is not empty")
        one(house.run("restore", "--data", path, path), 1, "is not empty")
        one(house.run("restore", "--data", data, c.data), 1, "is used by another process")
        one(house.run("restore", "--data", data, full), 1, "is no backup")
        one(house.run("restore", "--data", data, h.secret), 1, "is no backup")
        one(house.run("restore", "--data", data, os.path.join(h.dir, "none")), 1, "No such file or directory")
        one(house.run("restore", "--data", os.path.join(h.dir, "none", "d"), path), 1, "make the directory above it first")
        check(not os.path.exists(data) and not os.path.exists(os.path.join(h.dir, "none")), "it makes nothing")
        house.run("restore", "--data", data, "--id", "7", path).ok()
        one(house.run("storage", "--id", "1", "--listen", "127.0.0.1:0", "--secret-file", h.secret, "--data", data), 1, "storage node 7")
        node = Node(h, 7, "64m", more=("--data", data))
        t = h.shell(storage=node.address)
        t.ok("SELECT 1", 60)
        same(t.value("SELECT id FROM t"), "1")
        t.drop()
        for command in ("backup", "restore"):
            contains(house.run(command, "--help").ok().out, "usage: namdb " + command)
            contains(house.run("help").ok().out, "  " + command)
        s.close(0)
    with House(nodes=1) as h:
        s = h.shell()
        s.ok("SELECT 1")
        one(house.run("backup", "--storage", h.storage(), "--secret-file", h.secret, os.path.join(h.dir, "b")), 1, "keeps no log", "--data")
        check(not os.path.exists(os.path.join(h.dir, "b")), "it makes nothing")
        s.close(0)


def test_not_opened():
    """A backup is no database: neither a shell, nor a library's handle, nor a storage node takes it, and nothing is written into it."""
    with House() as h:
        c = durable.Cluster(h)
        s = c.shell()
        s.ok("CREATE TABLE t (x integer); INSERT INTO t VALUES (1)")
        path, back = os.path.join(h.dir, "b"), os.path.join(h.dir, "r")
        backup(c, path).ok()
        s.close(0)
        c.stop()

        def files():
            return {f: open(os.path.join(path, f), "rb").read() for f in os.listdir(path)}
        was = files()
        err = house.run("sql", path, "-c", "SELECT 1", env=h.env).fails(1).err
        contains(err, path + " is a backup", "namdb restore --data")
        same(err.count("\n"), 1, err)
        same(files(), was, "files of the backup")
        node = house.Node(h, 1, "64m", expect=False, more=("--data", path))
        same(node.p.wait(timeout=20 * house.SLOW), 1)
        contains(node.text(), "is that of a backup", "namdb restore")
        same(len(node.text().splitlines()), 1, node.text())
        same({f: b for f, b in files().items() if f != "lock"}, {f: b for f, b in was.items() if f != "lock"}, "files of the backup")
        # What is made out of it is one, also of a data directory, and it is not a backup again.
        house.run("restore", "--data", back, path).ok()
        again = os.path.join(h.dir, "again")
        house.run("restore", "--data", again, back).ok()
        contains(house.run("log", path).ok().out, "records")
        for d in (back, again):
            same(house.run("sql", d, "--csv", "--end-when-idle", "1", "-c", "SELECT x FROM t", env=h.env).value(), "1")
            test_embedded.gone(d)


def test_no_space():
    """The disk of the backup, or of what is restored, is full: a line, nothing is left, and the cluster does not notice."""
    with House() as h:
        c = durable.Cluster(h, size="512m")
        s = c.shell()
        large(s, 40)
        path = os.path.join(h.dir, "b")
        backup(c, path).ok()
        place = os.path.join(h.dir, "small")
        os.mkdir(place)

        def tried(prefix, *args):
            p = subprocess.run(prefix + [house.NAMDB] + list(args), capture_output=True, timeout=120 * house.SLOW, env=house.clean_env(h.env))
            return p.returncode, p.stderr.decode()
        limited = ["bash", "-c", 'ulimit -f 8000; exec "$@"', "bash"]
        small = ["unshare", "-rm", "bash", "-c",
                 'mount -t tmpfs -o size=40m none "$0" || exit 77; "$@"; code=$?; [ -z "$(ls "$0")" ] || echo "left: $(ls -a "$0")" >&2; exit $code', place]
        kinds = [(limited, os.path.join(h.dir, "limited"), "File too large")]
        if shutil.which("unshare") and subprocess.run(small + ["true"], capture_output=True).returncode == 0:
            kinds.append((small, os.path.join(place, "x"), "No space left on device"))
        for prefix, into, word in kinds:
            code, err = tried(prefix, "backup", "--storage", c.storage, "--fabric", "tcp", "--secret-file", h.secret, into)
            same(code, 1, err)
            contains(err, word)
            same(err.count("\n"), 1, err)
            code, err = tried(prefix, "restore", "--data", into, path)
            same(code, 1, err)
            contains(err, word)
            same(err.count("\n"), 1, err)
            check(not os.path.exists(into), "nothing is left of it")
        same(s.value("SELECT count(*) FROM t"), "40000")
        s.ok("CHECKPOINT", timeout=60)
        s.close(0)


if __name__ == "__main__":
    house.main()
