#!/usr/bin/env python3
"""A database in a directory: `namdb sql DIR` starts its storage node, finds it, and starts it again."""
import contextlib
import fcntl
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same, skip, until

MISUSE, FAILED = 2, 1


def nodes_of(path):
    """Process numbers of the storage nodes whose --data is that directory."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                words = f.read().split(b"\0")
        except (OSError, ValueError):
            continue
        at = words.index(b"--data") if b"--data" in words else -1
        if pid.isdigit() and b"storage" in words and at > 0 and words[at + 1] == os.path.realpath(path).encode():
            found.append(int(pid))
    return found


def is_free(path):
    """No process has the log's lock. A process that ends loses its memory, and its command line, before its locks."""
    try:
        with open(os.path.join(path, "lock"), "r+b") as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(f, fcntl.LOCK_UN)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def gone(path, seconds=20):
    until(lambda: not nodes_of(path) and is_free(path), seconds, "the node of %s ends" % path)


class Dir:
    """A database's directory in a house; its node ends with the test."""

    def __init__(self, h, name="a.db", idle=1):
        self.h, self.path, self.idle = h, os.path.join(h.dir, name), idle

    def args(self, *more, where=None):
        return ["sql", where or self.path, "--csv", "--end-when-idle", str(self.idle)] + list(more)

    def sql(self, text, *more, where=None, cwd=None, timeout=60, env=None):
        return run(*self.args("-c", text, *more, where=where), env=dict(self.h.env, **(env or {})), cwd=cwd, timeout=timeout)

    def shell(self, *more):
        """A session that stays open."""
        s = house.Shell.__new__(house.Shell)
        s.args = [house.NAMDB] + self.args(*more)
        s.p = subprocess.Popen(s.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=house.clean_env(self.h.env))
        self.h.shells.append(s)
        s.n, s.rest, s.history = 0, b"", ""
        return s

    def kill(self):
        for pid in nodes_of(self.path):
            os.kill(pid, signal.SIGKILL)
        gone(self.path)

    def log(self):
        with open(os.path.join(self.path, "storage.log"), errors="replace") as f:
            return f.read()


@contextlib.contextmanager
def home(*names, idle=1):
    """A house and databases in it."""
    with House() as h:
        dirs = [Dir(h, n, idle) for n in names or ("a.db",)]
        try:
            yield [h] + dirs
            for d in dirs:
                if os.path.exists(os.path.join(d.path, "storage.log")):
                    house.no_sanitizer_report(d.log())
        except BaseException:
            for d in dirs:
                if os.path.exists(os.path.join(d.path, "storage.log")):
                    sys.stdout.write("-- %s/storage.log --\n%s" % (d.path, d.log()[-3000:]))
            raise
        finally:
            for s in h.shells:
                s.drop()
            for d in dirs:
                d.kill()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_rows_stay():
    """Opened, filled, closed; the node ends by itself; opened again: the rows are there."""
    with home() as (h, d):
        same(d.sql("CREATE TABLE t (a integer PRIMARY KEY, b text)").ok().err, "", "nothing but answers is said")
        d.sql("INSERT INTO t SELECT i, repeat('x', i) FROM generate_series(1, 500) i").ok()
        same(len(nodes_of(d.path)), 1)
        same(mode(d.path), 0o700)
        for f in os.listdir(d.path):
            same(mode(os.path.join(d.path, f)), 0o600, f)
        gone(d.path)
        check(not os.path.exists(os.path.join(d.path, "address")), "the address is taken back")
        for turn in range(2):
            same(d.sql("SELECT count(*), sum(length(b)) FROM t").ok().rows(), [(str(500 + turn), "125250")])
            d.sql("INSERT INTO t VALUES (%d, '')" % (1000 + turn)).ok()
            gone(d.path)
        with open(os.path.join(d.path, "secret")) as f:
            check(re.fullmatch("[0-9a-f]{64}\n", f.read()), "a secret of 256 bits")


def test_killed_and_started_again():
    """kill -9 of the node, at rest and under a client; what was answered is there."""
    with home() as (h, d):
        d.sql("CREATE TABLE t (a integer PRIMARY KEY)").ok()
        for turn in range(3):
            d.sql("INSERT INTO t VALUES (%d)" % turn).ok()
            d.kill()
            check(os.path.exists(os.path.join(d.path, "address")), "a node that is killed leaves its address")
            same(d.sql("SELECT count(*) FROM t").value(), str(turn + 1))
        s = d.shell()
        s.ok("INSERT INTO t VALUES (100)")
        s.ok("BEGIN; INSERT INTO t VALUES (101)")
        d.kill()
        said = s.do_or_end("COMMIT")
        contains(said, "ERROR:  ", "the database's storage node has ended")
        check(s.ends(20), "a script's shell ends:", said)
        same(s.p.returncode, FAILED)
        same(d.sql("SELECT max(a) FROM t").value(), "100")


def test_opened_while_it_dies():
    """kill -9, and at once the next process: the sockets of the dying one may still be there, and its locks."""
    with home() as (h, d):
        d.sql("CREATE TABLE t AS SELECT i, repeat('x', 500) AS b FROM generate_series(1, 20000) i").ok()
        for turn in range(house.rounds(15, 6)):
            pid, = nodes_of(d.path)
            p = subprocess.Popen([house.NAMDB] + d.args("-c", "INSERT INTO t VALUES (0)"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 env=house.clean_env(h.env)) if turn % 3 == 0 else None
            time.sleep(0.002 * (turn % 5))
            os.kill(pid, signal.SIGKILL)
            same(d.sql("SELECT count(*) > 19999 FROM t").value(), "t")
            if p:
                p.communicate()


def test_killed_again_and_again():
    """Processes come and go while nodes are killed by dice: each process is served, or its statement fails; what was
    answered is there."""
    dice = random.Random(int(os.environ.get("NAM_SEED", "1")))
    with home() as (h, d):
        d.sql("CREATE TABLE t (a integer PRIMARY KEY)").ok()
        end, lock, next_one, answered, wrong = time.monotonic() + house.rounds(12, 6), threading.Lock(), iter(range(1 << 30)), set(), house.Wrong()

        def come():
            while time.monotonic() < end:
                with lock:
                    k = next(next_one)
                r = d.sql("INSERT INTO t VALUES (%d)" % k, timeout=150)
                with lock:
                    if r.rc == 0:
                        answered.add(k)
                    elif r.rc != FAILED or "ERROR:  " not in r.err or "namdb sql: " in r.err:
                        wrong.add(r.rc, r.err)
                time.sleep(dice.random() * 0.3)

        threads = [threading.Thread(target=come) for _ in range(3)]
        for t in threads:
            t.start()
        kills = 0
        while time.monotonic() < end:
            time.sleep(0.3 + dice.random())
            for pid in nodes_of(d.path):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
        for t in threads:
            t.join()
        same(wrong, [], "after %d kills" % kills)
        there = {int(a) for a, in d.sql("SELECT a FROM t").ok().rows()}
        check(kills > house.rounds(3, 1) and answered, kills, len(answered))
        same(sorted(answered - there), [], "answered, and not there")


def test_killed_under_a_terminal():
    """A shell at a terminal says what happened and opens the database again."""
    with home() as (h, d):
        d.sql("CREATE TABLE t AS SELECT 42 AS a").ok()
        t = h.terminal("sql", d.path, "--end-when-idle", "1")
        t.expect("namdb=> ")
        d.kill()
        # A SELECT may still read the dead node's memory, which is mapped; a COMMIT needs its log.
        t.send("INSERT INTO t VALUES (7);\r")
        t.expect("Attempting reset: ", 30)
        t.expect("Succeeded.", 60)
        t.expect("namdb=> ", 30)
        t.send("SELECT max(a) + 1 AS b FROM t;\r")
        t.expect("\n *43", 30)
        t.send("\\q\r")
        same(t.end(), 0)


def test_hint():
    """A script whose node is killed is told where the node's words are."""
    with home() as (h, d):
        s = d.shell("--fabric", "tcp")
        s.ok("CREATE TABLE t AS SELECT 42 AS a")
        for pid in nodes_of(d.path):
            os.kill(pid, signal.SIGKILL)
        out = s.do_or_end("SELECT * FROM t")
        contains(out, "58030", "HINT:  The database's storage node says why in %s/storage.log." % os.path.realpath(d.path))
        check("namdb status" not in out, out)
        s.drop()


def test_two_at_once_on_a_new_directory():
    """Several processes open a directory that is not there: one node, all are served."""
    with home(*["new%d" % i for i in range(5)], idle=3) as (h, *dirs):
        for d in dirs:
            got = [None] * 4
            def one(i):
                got[i] = d.sql("CREATE TABLE t%d (a integer); INSERT INTO t%d VALUES (%d)" % (i, i, i))
            threads = [threading.Thread(target=one, args=(i,)) for i in range(len(got))]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            for r in got:
                r.ok()
            same(len(nodes_of(d.path)), 1, "storage nodes")
            same(d.log().count("\nready\n"), 1, d.log())
            same(d.sql(" UNION ALL ".join("SELECT a FROM t%d" % i for i in range(len(got))) + " ORDER BY 1").ok().rows(),
                 [(str(i),) for i in range(len(got))])


def test_while_it_is_ending():
    """Processes that come at the moment when the node ends: each is served, nothing is lost. All around the moment, and
    by several at once."""
    with home() as (h, d):
        d.sql("CREATE TABLE t (a integer PRIMARY KEY)").ok()
        want, first = 0, house.rounds(20, 8)
        for turn in range(60):
            if turn >= first and d.log().count("\nready\n") > 1:
                break
            # The node ends a second after the last peer has left, or at its next tick; later on a machine that is busy.
            time.sleep(0.97 * d.idle + 0.04 / first * turn + 0.02 * max(turn - first, 0))
            got = []
            threads = [threading.Thread(target=lambda k=k: got.append(d.sql("INSERT INTO t VALUES (%d)" % k)))
                       for k in range(want, want + 5)]
            for t in threads:
                t.start()
                time.sleep(0.002)
            for t in threads:
                t.join()
            want += len(threads)
            for r in got:
                r.ok()
            check(len(nodes_of(d.path)) <= 1, "one node at a time")
        same(d.sql("SELECT count(*), max(a) FROM t").ok().rows(), [(str(want), str(want - 1))])
        starts = d.log().count("\nready\n")
        check(starts > 1, "no node has ended meanwhile: the test saw nothing")


def test_stale_address():
    """The node was killed; its port is another program's now, and its file says so or has garbage."""
    with home() as (h, d):
        d.sql("CREATE TABLE t AS SELECT 1 AS a").ok()
        at = os.path.join(d.path, "address")
        with open(at) as f:
            port = int(f.read().split()[0].split(":")[1])
        d.kill()
        # A program that takes connections and never answers.
        def take():
            try:
                return socket.create_server(("127.0.0.1", port))
            except OSError:
                return None
        with until(take, 10, "the port is free"):
            t0 = time.monotonic()
            same(d.sql("SELECT a FROM t").value(), "1")
            check(time.monotonic() - t0 < 10 * house.SLOW, "it did not ask that program")
            d.kill()
        for junk in (b"", b"\0" * 4096, b"127.0.0.1:1 own 0000000000000000\n", b"x" * 100000):
            with open(at, "wb") as f:
                f.write(junk)
            same(d.sql("SELECT a FROM t").value(), "1")
            d.kill()
        # What a killed process has left half made.
        for name in ("address.new", "secret.new"):
            with open(os.path.join(d.path, name), "wb") as f:
                f.write(b"half")
        same(d.sql("SELECT a FROM t").value(), "1")


def test_names():
    """Paths with signs in them, relative ones, symbolic links, a slash at the end; two directories are two databases."""
    names = ["with space", "what? really=1", "per%20cent", "semi;colon & 'quote\"", "ünï", "-dash", "b.db"]
    with home(*names) as (h, *dirs):
        for i, d in enumerate(dirs):
            same(d.sql("CREATE TABLE t AS SELECT %d AS a" % i).ok().out, "SELECT 1\n")
        for i, d in enumerate(dirs):
            same(d.sql("SELECT a FROM t").value(), str(i))
            same(d.sql("SELECT a FROM t", where="./" + names[i] + "/", cwd=h.dir).value(), str(i))
        # The same one by other names: one node.
        b = dirs[-1]
        os.symlink("b.db", os.path.join(h.dir, "link"))
        os.makedirs(os.path.join(h.dir, "sub"))
        for where, cwd in (("b.db", h.dir), ("../b.db", os.path.join(h.dir, "sub")), (os.path.join(h.dir, "link"), None),
                           ("./link", h.dir), ("link", h.dir), (".", b.path), ("sub/../link/", h.dir)):
            same(b.sql("SELECT a FROM t", where=where, cwd=cwd).value(), str(len(names) - 1), where)
            same(len(nodes_of(b.path)), 1, where)
        os.symlink("nothing", os.path.join(h.dir, "dangling"))
        contains(b.sql("SELECT 1", where=os.path.join(h.dir, "dangling")).fails(FAILED).err, "there is no directory")
        same(run("sql", "ON_ERROR_STOP=1", b.path, "-c", "SELECT 1/0; SELECT 5", env=h.env).fails(FAILED).out, "")


def test_long_path():
    """Longer than a UNIX socket's address."""
    with home("/".join(["d" * 100] * 8) + "/x.db") as (h, d):
        os.makedirs(os.path.dirname(d.path))
        d.sql("CREATE TABLE t AS SELECT 1 AS a").ok()
        s = d.shell()
        contains(s.ok("\\conninfo"), "over shm")
        s.close(0)
        d.kill()
        same(d.sql("SELECT a FROM t").value(), "1")
        r = d.sql("SELECT 1", where="/" + "y/" * 3000).fails(FAILED)
        check(len(r.err.splitlines()) == 1, r)


def test_nobody_waits_for_the_node():
    """The node holds no pipe of the process that started it, is no member of its session, and ^C, the end of the terminal
    and a signal to the group do not end it."""
    with home(idle=3) as (h, d):
        t0 = time.monotonic()
        out = subprocess.run(["sh", "-c", 'x=$("$0" sql "$1" --csv --end-when-idle 60 -c "SELECT 7 AS a" 2>&1); echo "got $x"', house.NAMDB, d.path],
                             capture_output=True, text=True, env=house.clean_env(h.env), timeout=60 * house.SLOW)
        same(out.stdout, "got a\n7\n", out.stderr)
        check(time.monotonic() - t0 < 20 * house.SLOW, "the script did not wait for the node")
        pid, = nodes_of(d.path)
        same(os.getsid(pid), pid, "a session of its own")
        fds = {os.readlink("/proc/%d/fd/%s" % (pid, f)) for f in ("0", "1", "2")}
        same(fds, {"/dev/null", os.path.join(os.path.realpath(d.path), "storage.log")})
        same(os.readlink("/proc/%d/cwd" % pid), "/")
        for f in os.listdir("/proc/%d/fd" % pid):
            target = os.readlink("/proc/%d/fd/%s" % (pid, f))
            check(not target.startswith("pipe:"), "the node has a pipe:", f, target)
        d.kill()
        # From a shell at a terminal.
        t = h.terminal("sql", d.path, "--end-when-idle", "60")
        t.expect("namdb=> ")
        pid, = nodes_of(d.path)
        t.send("SELECT pg_sleep(20);\r")
        time.sleep(0.5)
        t.send("\x03")
        t.expect("57014", 20)
        t.send("\x03\x1a")
        t.kill()
        os.close(t.fd)
        time.sleep(0.5)
        same(nodes_of(d.path), [pid], "the terminal has gone, the node stays")


def test_interrupted():
    """^C while another process is at the door, or has the log and says nothing."""
    with home() as (h, d):
        d.sql("CREATE TABLE t AS SELECT 1 AS a").ok()
        gone(d.path)
        for name in ("door", "lock"):
            with open(os.path.join(d.path, name), "r+b") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                p = subprocess.Popen([house.NAMDB] + d.args("-c", "SELECT 1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     env=house.clean_env(h.env))
                time.sleep(0.5 * house.SLOW)
                same(p.poll(), None, "it waits")
                t0 = time.monotonic()
                p.send_signal(signal.SIGINT)
                out, err = p.communicate(timeout=20 * house.SLOW)
                check(time.monotonic() - t0 < 5 * house.SLOW, "it ends soon")
                same((p.returncode, out), (FAILED, ""), err)
                contains(err, "interrupted while opening")
        same(d.sql("SELECT a FROM t").value(), "1")


def test_umask_and_closed_descriptors():
    """Odd circumstances of the process that opens the directory."""
    with home("masked", "closed", "ignored") as (h, masked, closed, ignored):
        for d, start in ((masked, "umask 0777"), (closed, "exec <&- "), (ignored, "trap '' HUP INT TERM PIPE CHLD")):
            out = subprocess.run(["bash", "-c", start + '; "$0" sql "$1" --end-when-idle 1 --csv -c "CREATE TABLE t AS SELECT 3 AS a"',
                                  house.NAMDB, d.path], capture_output=True, text=True, env=house.clean_env(h.env), timeout=60 * house.SLOW)
            same((out.returncode, out.stdout), (0, "SELECT 1\n"), start + out.stderr)
            same(mode(d.path), 0o700, start)
            for f in os.listdir(d.path):
                same(mode(os.path.join(d.path, f)), 0o600, start + f)
            gone(d.path)
            same(d.sql("SELECT a FROM t").value(), "3")


def refused(d, code, *parts, where=None, more=(), cwd=None, env=None):
    """One line that has these parts, that exit code."""
    r = d.sql("SELECT 1", *more, where=where, cwd=cwd, env=env).fails(code)
    same(r.out, "")
    same(len(r.err.splitlines()), 1, r.err)
    contains(r.err, *parts)
    return r


def test_what_is_refused():
    with home() as (h, d):
        file = h.file("file", "text")
        refused(d, FAILED, "is a file", "name another one", where=file)
        refused(d, FAILED, "is a file", where=file + "/x.db")
        refused(d, FAILED, "its parent is not there", where=os.path.join(h.dir, "no", "such.db"))
        refused(d, MISUSE, "unexpected argument nowhere", "has a / in its name", where="nowhere", cwd=h.dir)
        refused(d, MISUSE, "unexpected argument file", where="file", cwd=h.dir)
        refused(d, MISUSE, "one directory", more=(os.path.join(h.dir, "other.db"),))
        refused(d, MISUSE, "--storage names a cluster", more=("--storage", "127.0.0.1:1"))
        refused(d, MISUSE, "--secret-file goes with --storage", more=("--secret-file", h.secret))
        refused(d, MISUSE, "--cluster goes with --storage", more=("--cluster", "x"))
        refused(d, MISUSE, "--fabric is auto, shm or tcp", more=("--fabric", "verbs"))
        for bad in ("0", "x", "-1", "1e3", "86401"):
            refused(d, MISUSE, "--end-when-idle", more=("--end-when-idle", bad))
        for bad in ("0", "x", "100", "-5m"):
            refused(d, MISUSE, "--size", more=("--size", bad))
        contains(run("sql", "--size", "1g", "-c", "SELECT 1", env=h.env).fails(MISUSE).err, "--size goes with a directory")
        contains(run("storage", "--id", "1", "--end-when-idle", "0", env=h.env).fails(MISUSE).err, "--end-when-idle")
        same(sorted(os.listdir(h.dir)), ["file", "secret"], "nothing was made")
        r = run("sql", "-c", "SELECT 1", env=h.env)
        check(r.rc == 0 or "or name a directory for a database: namdb sql ./my.db" in r.err, r)
        # The node's own line says why it does not start.
        refused(d, FAILED, "did not start: ", "GiB is more than the", "give a smaller --size", more=("--size", "1023g"))
        refused(d, FAILED, "did not start: ", "TiB is more than a region can have", more=("--size", "100t"))
        same(d.sql("SELECT 1 AS a", "--size", "64m").value(), "1", "and a later one does")


def test_too_small():
    """The database does not fit into the node's memory: the line says what to do, and doing it helps."""
    with home() as (h, d):
        d.sql("CREATE TABLE t AS SELECT i, repeat('x', 1000) AS b FROM generate_series(1, 30000) i").ok()
        gone(d.path)
        r = refused(d, FAILED, "less memory than the database needs", "larger --size", "the one that runs now ends", more=("--size", "16m"))
        gone(d.path)
        same(d.sql("SELECT count(*) FROM t", "--size", "256m").value(), "30000", r)


def test_a_directory_with_other_things():
    with home() as (h, d):
        for name in ("notes.txt", ".hidden", "secret", "address", "storage.log"):
            os.mkdir(d.path, 0o755)
            with open(os.path.join(d.path, name), "w") as f:
                f.write("mine")
            refused(d, FAILED, "is no database, and has other things in it (%s)" % name, "name an empty")
            same(os.listdir(d.path), [name], "nothing was put there")
            same(mode(d.path), 0o755)
            with open(os.path.join(d.path, name)) as f:
                same(f.read(), "mine")
            shutil.rmtree(d.path)
        # Where there is a database, other files do no harm.
        d.sql("CREATE TABLE t AS SELECT 1 AS a").ok()
        gone(d.path)
        with open(os.path.join(d.path, "notes.txt"), "w") as f:
            f.write("mine")
        same(d.sql("SELECT a FROM t").value(), "1")
        d.kill()
        # An empty one is taken, and closed to others.
        shutil.rmtree(d.path)
        os.mkdir(d.path, 0o755)
        d.sql("CREATE TABLE t AS SELECT 2 AS a").ok()
        same(mode(d.path), 0o700)
        d.kill()
        os.chmod(d.path, 0o770)
        refused(d, FAILED, "others may write in the directory", "chmod 700")
        os.chmod(d.path, 0o755)
        same(d.sql("SELECT a FROM t").value(), "2")
        d.kill()
        os.chmod(os.path.join(d.path, "secret"), 0o644)
        refused(d, FAILED, "chmod 600")
        os.chmod(os.path.join(d.path, "secret"), 0o600)
        # A log that is damaged: what the node says of it.
        with open(os.path.join(d.path, "manifest"), "r+b") as f:
            f.write(b"damage")
        refused(d, FAILED, "did not start: ", "manifest is damaged")


def test_in_use_by_hand():
    """A storage node that was started by hand has the directory: the line says how to join it. Afterwards it is a database
    like any other; and one that was opened can be given to a node by hand."""
    with home() as (h, d):
        n = h.node(1, more=("--data", d.path))
        h.do("CREATE TABLE t AS SELECT 5 AS a").ok()
        r = refused(d, FAILED, "in use by a storage node that was started by hand", "--storage " + n.address)
        same(n.p.poll(), None)
        same(n.terminate(), 0)
        same(d.sql("SELECT a FROM t").value(), "5")
        # Now the other way round.
        n = h.node(1, more=("--data", d.path), expect=False)
        same(n.p.wait(timeout=20 * house.SLOW), 1)
        contains(n.text(), "is used by another process")
        gone(d.path)
        n = h.node(1, more=("--data", d.path))
        same(h.do("SELECT a FROM t").value(), "5")
        n.kill()
        same(d.sql("SELECT a FROM t").value(), "5", "its address is stale, its lock free")
        d.kill()
        # Of a node with another number.
        other = Dir(h, "other.db")
        n5 = h.node(5, more=("--data", other.path))
        h.sql("-c", "CREATE TABLE t AS SELECT 8 AS a", storage=n5.address).ok()
        same(n5.terminate(), 0)
        same(other.sql("SELECT a FROM t").value(), "8")
        other.kill()
        # With the directory's secret it may be joined.
        n = h.node(1, secret=os.path.join(d.path, "secret"), more=("--data", d.path))
        same(d.sql("SELECT a FROM t").value(), "5")
        same(n.terminate(), 0)


def test_no_right():
    """Directories that this user may not write in. Root may, so this is another user's test."""
    if os.geteuid() == 0:
        try:
            subprocess.run([house.NAMDB, "--version"], user=65534, group=65534, extra_groups=[], check=True, capture_output=True)
        except (OSError, subprocess.SubprocessError):
            skip("the user nobody cannot run %s" % house.NAMDB)
    with home() as (h, d):
        os.chmod(h.dir, 0o755)
        mine = os.path.join(h.dir, "mine")
        os.mkdir(mine)
        who = {}
        if os.geteuid() == 0:
            who = dict(user=65534, group=65534, extra_groups=[])
            os.chown(mine, 65534, 65534)

        def sql(where, code, *parts):
            p = subprocess.run([house.NAMDB, "sql", where, "--csv", "--end-when-idle", "1", "-c", "SELECT 1 AS a"], capture_output=True, text=True,
                               env=house.clean_env({"HOME": mine, "NAMDB_RUN": os.path.join(mine, "run")}), timeout=60 * house.SLOW, **who)
            same(p.returncode, code, p.stderr)
            contains(p.stderr, *parts)
            same(len(p.stderr.splitlines()), 1 if code else 0, p.stderr)

        sql(mine + "/x.db", 0)
        gone(mine + "/x.db")
        os.chmod(mine + "/x.db", 0o500)
        sql(mine + "/x.db", 1, "no right to use the directory", "give it to this user")
        os.chmod(mine + "/x.db", 0o000)
        sql(mine + "/x.db", 1, "no right to use the directory")
        os.chmod(mine + "/x.db", 0o700)
        os.mkdir(mine + "/read-only")
        if who:
            os.chown(mine + "/read-only", 65534, 65534)
        os.chmod(mine + "/read-only", 0o500)
        sql(mine + "/read-only", 1, "no right to use the directory")
        sql(mine + "/read-only/new.db", 1, "no right to use the directory")
        same(os.listdir(mine + "/read-only"), [])
        if who:
            sql(h.dir + "/new.db", 1, "no right to use the directory")
            os.mkdir(h.dir + "/root.db")
            sql(h.dir + "/root.db", 1, "belongs to another user (0)")
            r = d.sql("SELECT 1", where=mine + "/x.db").fails(FAILED)
            contains(r.err, "belongs to another user (65534)")
        os.chmod(mine + "/read-only", 0o700)


def test_demo():
    """namdb demo --data: the sample data is loaded once, as a whole or not at all, and is a database like any other."""
    with home() as (h, d):
        demo = ("demo", "--nodes", "2", "--data", d.path, "--csv", "-c", "SELECT count(*) FROM customers")
        # Killed while it loads.
        p = subprocess.Popen([house.NAMDB, *demo], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=house.clean_env(h.env))
        until(lambda: os.path.exists(os.path.join(d.path, "manifest")) or p.poll() is not None, 60, "the demo has begun")
        p.kill()
        p.wait()
        gone(d.path)
        first = run(*demo, env=h.env, timeout=180).ok()
        check(int(first.value()) > 0)
        r = run(*demo[:-1], "DELETE FROM order_lines; SELECT count(*) FROM customers", env=h.env, timeout=180).ok()
        same(r.out.splitlines()[-1], first.value())
        check("sample data" not in r.err, "it is not loaded again:", r)
        same(run(*demo[:-1], "SELECT count(*) FROM order_lines", env=h.env, timeout=180).value(), "0")
        same(d.sql("SELECT count(*) FROM customers").value(), first.value())


def test_background():
    """`namdb storage --background`: the exit code says whether the node is ready."""
    with House() as h:
        data = os.path.join(h.dir, "d")
        args = ("storage", "--id", "1", "--size", "64m", "--listen", "127.0.0.1:0", "--secret-file", h.secret, "--data", data,
                "--background", "--end-when-idle", "1")
        err = open(os.path.join(h.dir, "err"), "w+b")
        p = subprocess.run([house.NAMDB, *args], stdout=subprocess.DEVNULL, stderr=err, env=house.clean_env(h.env), timeout=30 * house.SLOW)
        same(p.returncode, 0)
        same(len(nodes_of(data)), 1)
        p = subprocess.run([house.NAMDB, *args], stdout=subprocess.DEVNULL, stderr=err, env=house.clean_env(h.env), timeout=30 * house.SLOW)
        same(p.returncode, 1)
        gone(data)
        with open(os.path.join(h.dir, "err")) as f:
            text = f.read()
        contains(text, "ready\n", "is used by another process")
        house.no_sanitizer_report(text)


def test_a_starter_that_is_killed():
    """The process that starts the node is killed at any moment: the next one finds the node, or starts it."""
    with home() as (h, d):
        for ms in (0, 2, 5, 8, 12, 16, 20, 30, 40, 60, 90):
            p = subprocess.Popen([house.NAMDB] + d.args("-c", "SELECT 1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=house.clean_env(h.env))
            time.sleep(ms / 1000)
            p.kill()
            p.wait()
            d.sql("CREATE TABLE IF NOT EXISTS t (a integer); INSERT INTO t VALUES (%d)" % ms).ok()
            check(len(nodes_of(d.path)) == 1, "one node")
            d.kill()
        same(d.sql("SELECT count(*) FROM t").value(), "11")


def test_files_that_may_not_grow():
    """ulimit -f, for the node's memory and for its log: a line that says so; without it the database is made."""
    with home("a.db", "b.db") as (h, memory, log):
        for d, kib, more in ((memory, 2000, ()), (log, 40000, ("--size", "32m"))):
            begun = time.monotonic()
            p = subprocess.run(["bash", "-c", 'ulimit -f %d; exec "$@"' % kib, "bash", house.NAMDB] + d.args("-c", "SELECT 1", *more),
                               capture_output=True, timeout=60 * house.SLOW, env=house.clean_env(h.env))
            same(p.returncode, 1)
            contains(p.stderr.decode(), "ulimit -f")
            same(p.stderr.decode().count("\n"), 1, p.stderr.decode())
            check(time.monotonic() - begun < 20 * house.SLOW, "soon")
            contains(d.log(), "File too large", "ulimit -f")
            gone(d.path)
            same(d.sql("SELECT 41 + 1").value(), "42")


def test_disk_that_is_full():
    """A new database on a disk with too little room: a line, soon, each time; SIGINT ends the wait; with room it is made."""
    with home() as (h, d):
        place = os.path.join(h.dir, "small")
        os.mkdir(place)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "none", place], capture_output=True).returncode != 0:
            skip("this user cannot mount a file system")
        try:
            full = Dir(h, "small/b.db")
            for _ in range(2):
                begun = time.monotonic()
                contains(full.sql("SELECT 1").fails(FAILED).err, "full")
                check(time.monotonic() - begun < 15 * house.SLOW, "it does not wait for ever")
            p = subprocess.Popen([house.NAMDB] + full.args("-c", "SELECT 1"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 env=house.clean_env(h.env))
            time.sleep(0.5 * house.SLOW)
            p.send_signal(signal.SIGINT)
            p.communicate(timeout=20 * house.SLOW)
            check(p.returncode != 0, "it was interrupted")
            subprocess.run(["mount", "-o", "remount,size=400m", place], check=True, capture_output=True)
            until(lambda: full.sql("CREATE TABLE IF NOT EXISTS t (x integer); INSERT INTO t VALUES (1)").rc == 0, 30, "with room it is made")
            full.kill()
            check(int(full.sql("SELECT count(*) FROM t").value()) >= 1, "it is kept")
            full.kill()
        finally:
            subprocess.run(["umount", "-l", place], capture_output=True)


if __name__ == "__main__":
    house.main()
