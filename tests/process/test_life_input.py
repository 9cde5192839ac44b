#!/usr/bin/env python3
"""What people do to a living cluster by mistake: lists of nodes that are short or wrong, strangers at the door, secrets that are none,
sockets of the dead, a fork."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, free_port, run, same, skip, until

ROOT = house.ROOT


def one_line(r, *parts):
    lines = [l for l in r.err.splitlines() if l.strip()]
    same(len(lines), 1, "one line that says what to do: " + r.err)
    contains(r.err, *parts)
    same(r.out, "")


# ---- lists of storage nodes ----

def lists(fabric):
    with House(nodes=3) as h:
        a = h.shell(fabric=fabric)
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        a.ok("INSERT INTO t SELECT i, repeat('v', 300) FROM generate_series(1, 3000) i")
        at = [n.address for n in h.nodes]

        def undisturbed(what):
            same(a.value("SELECT count(*) FROM t WHERE length(v) = 300"), "3000", what)
            a.ok("UPDATE t SET v = repeat('w', 300) WHERE id % 7 = 0")
            same(h.do("SELECT count(*) FROM t", fabric=fabric).value(), "3000", what + ": newcomers with the right list")
        # One too few, whichever it is; home alone; all but home.
        for given in ([0, 1], [0, 2], [1, 2], [0], [2]):
            r = h.do("CREATE TABLE never (id integer PRIMARY KEY)", storage=",".join(at[i] for i in given), fabric=fabric).fails(1)
            one_line(r)
            # Node ids are 1 to 3: a missing one is named, or, where the one that knows them all is missing, that one.
            missing = [i + 1 for i in range(3) if i not in given]
            check(any(re.search(r"\b%d\b" % m, r.err) for m in missing), "it names a node of", missing, r.err)
            undisturbed("a list of %s" % given)
        # A node that belongs to none, beside and in place of one.
        stranger = house.Node(h, 4)
        h.nodes.remove(stranger)
        try:
            for given in (at + [stranger.address], at[:2] + [stranger.address]):
                one_line(h.do("SELECT 1", storage=",".join(given), fabric=fabric).fails(1))
                undisturbed("a stranger in the list")
            # Named twice, another order: no harm.
            same(h.do("SELECT count(*) FROM t", storage=",".join(at[::-1]), fabric=fabric).value(), "3000", "another order")
            r = h.do("SELECT count(*) FROM t", storage=",".join(at + at[:1]), fabric=fabric)
            check(r.rc == 0 or len(r.err.splitlines()) == 1, "one of them twice:", r)
            undisturbed("one of them twice")
        finally:
            stranger.kill()
            stranger.log.close()
        a.close(0)


def test_short_and_wrong_lists_tcp():
    lists("tcp")


def test_short_and_wrong_lists_shm():
    lists("shm")


# ---- strangers at the door ----

def test_silent_strangers():
    """Silent connections do not keep out a process that knows the secret."""
    with House(nodes=1) as h:
        h.do("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)").ok()
        strangers = []
        try:
            for n in (128, 300):
                while len(strangers) < n:
                    strangers.append(socket.create_connection(("127.0.0.1", h.nodes[0].port())))
                for fabric in ("shm", "tcp"):
                    t0 = time.monotonic()
                    same(h.do("SELECT count(*) FROM t", fabric=fabric, timeout=30).value(), "1", "%d strangers, %s" % (n, fabric))
                    took = time.monotonic() - t0
                    print("  %d strangers: joined and answered over %s in %.2f s" % (n, fabric, took))
                    check(took < 4 * house.SLOW, "it does not wait until they lose patience:", took)
            s = h.shell(fabric="tcp")
            for i in range(20):
                s.ok("INSERT INTO t VALUES (%d)" % (10 + i))
            s.close(0)
        finally:
            for s in strangers:
                s.close()
        same(h.do("SELECT count(*) FROM t", fabric="tcp").value(), "21", "afterwards")


# ---- secrets ----

def test_secrets_that_are_none():
    with House(nodes=1) as h:
        def refused(path, *parts):
            one_line(h.do("SELECT 1", secret=path).fails(1), *parts)
            r = run("status", "--storage", h.storage(), "--secret-file", path, env=h.env, timeout=20)
            check(r.rc == 1, "status:", r)
            r = run("storage", "--id", "2", "--size", "64m", "--listen", "127.0.0.1:0", "--secret-file", path, env=h.env, timeout=20)
            check(r.rc == 1, "storage:", r)
            one_line(r, *parts)
        # Others can read it.
        for mode in (0o644, 0o640, 0o604):
            path = h.file("open", open(h.secret).read())
            os.chmod(path, mode)
            refused(path, path, "chmod 600")
        os.chmod(path, 0o600)
        same(h.do("SELECT 1", secret=path).value(), "1", "with mode 0600 it is one")
        # Too short: less than 128 bits.
        for text in ("x\n", "secret\n", "fifteen letters\n"[:15] + "\n", "\n", ""):
            path = h.file("short", text)
            os.chmod(path, 0o600)
            refused(path, path)
        same(h.do("SELECT 1").value(), "1")


# ---- sockets of the dead ----

def test_socket_of_a_dead_node():
    """A node that was killed leaves its UNIX socket behind; the next one at that port has one of its own, and others clear it away."""
    with House() as h:
        h.env["NAMDB_RUN"] = os.path.join(h.dir, "run")
        os.mkdir(h.env["NAMDB_RUN"], 0o700)
        port = free_port()
        old = h.node(1, listen="127.0.0.1:%d" % port)
        h.do("CREATE TABLE t (id integer PRIMARY KEY)", fabric="shm").ok()
        left = os.listdir(h.env["NAMDB_RUN"])
        check(left, "it has a socket")
        old.kill()
        same(os.listdir(h.env["NAMDB_RUN"]), left, "kill -9 leaves it")
        one_line(h.do("SELECT 1", storage="127.0.0.1:%d" % port, fabric="shm").fails(1))
        h.node(1, listen="127.0.0.1:%d" % port)
        same(h.do("SELECT 1", fabric="shm").value(), "1", "the next one serves over shm")
        same(run("status", "--storage", h.storage(), "--secret-file", h.secret, "--fabric", "shm", env=h.env).rc, 0)
        # One at another port clears away what a dead one left.
        third = h.node(2)
        third.kill()
        gone = [f for f in os.listdir(h.env["NAMDB_RUN"]) if str(third.port()) in f]
        check(gone, "the third has left its socket")
        h.node(3)
        until(lambda: not [f for f in os.listdir(h.env["NAMDB_RUN"]) if f in gone], 3, "sockets of the dead are removed")
        same(h.do("SELECT 1", storage=h.nodes[1].address, fabric="shm").value(), "1", "and not those of the living")


# ---- a process that forks ----

FORKER = r"""
#include <namdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
must(namdb *db, const char *sql)
{
	if (namdb_exec(db, sql) == NAMDB_OK)
		return;
	printf("%s: %s: %s\n", sql, namdb_sqlstate(db), namdb_message(db));
	exit(3);
}

int
main(int argc, char **argv)
{
	namdb *db, *own;
	int status;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 3 || namdb_open(argv[1], &db) != NAMDB_OK)
		return 2;
	must(db, "UPDATE t SET n = n + 1 WHERE id = 1");
	if (strcmp(argv[2], "children") == 0) {
		for (int how = 0; how < 5; how++) {
			pid_t child = fork();
			if (child == 0) {
				switch (how) {
				case 0:
					exit(0); /* with what the library has for the end of a process */
				case 1:
					_exit(0);
				case 2:
					raise(SIGKILL);
				case 3: /* what must not be done: an error, and no harm */
					_exit(namdb_exec(db, "UPDATE t SET n = n + 1000 WHERE id = 1") == NAMDB_OK ? 9 : 0);
				default: /* a handle of its own */
					if (namdb_open(argv[1], &own) != NAMDB_OK) {
						printf("the child's own: %s\n", namdb_message(own));
						_exit(8);
					}
					must(own, "UPDATE t SET n = n + 100 WHERE id = 2");
					namdb_close(own);
					_exit(0);
				}
			}
			if (waitpid(child, &status, 0) != child)
				return 4;
			printf("child %d: %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
			for (int i = 0; i < 20; i++) {
				must(db, "UPDATE t SET n = n + 1 WHERE id = 1");
				usleep(10000);
			}
		}
		namdb_close(db);
		return 0;
	}
	/* A lock is held, and a child that has every descriptor outlives us. */
	must(db, "BEGIN");
	must(db, "UPDATE t SET n = n + 1000 WHERE id = 1");
	pid_t child = fork();
	if (child == 0) {
		sleep(60);
		_exit(0);
	}
	printf("child is %d\n", (int)child);
	sleep(60);
	return 0;
}
"""
built = {}


def forker(h):
    """The program, against the library as it is installed."""
    if house.SANITIZE:
        skip("a program without the sanitizer cannot load a library with it")
    for tool in ("cmake", "pkg-config", "cc"):
        if shutil.which(tool) is None:
            skip(tool + " is not installed")
    prefix = os.path.join(h.dir, "prefix")
    r = subprocess.run(["cmake", "--install", os.path.dirname(os.path.abspath(house.NAMDB)), "--prefix", prefix], capture_output=True, text=True)
    same(r.returncode, 0, r.stdout + r.stderr)
    pc = [d for d, _, files in os.walk(prefix) if "namdb.pc" in files]
    env = dict(house.clean_env(h.env), PKG_CONFIG_PATH=pc[0], LD_LIBRARY_PATH=os.path.dirname(pc[0]))
    flags = subprocess.run(["pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "namdb"], capture_output=True,
                           text=True, env=env)
    source, out = h.file("forker.c", FORKER), os.path.join(h.dir, "forker")
    r = subprocess.run(["cc", "-Wall", source] + flags.stdout.split() + ["-o", out], capture_output=True, text=True, env=env)
    same(r.returncode, 0, r.stderr)
    return out, env


def forks(fabric):
    with House(nodes=2, lease_ms=None) as h:
        program, env = forker(h)
        a = h.shell(fabric=fabric)
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, n integer NOT NULL)")
        a.ok("INSERT INTO t VALUES (1, 0), (2, 0)")
        where = "%s?fabric=%s&secret=%s" % (h.storage(), fabric, h.secret)
        p = subprocess.Popen([program, where, "children"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                             start_new_session=True)
        hangs = threading.Timer(30, os.killpg, (p.pid, signal.SIGKILL))
        hangs.start()
        out, err = p.communicate()
        hangs.cancel()
        said = "%s\n%s\nnode: %s" % (out, err, h.nodes[0].text()[-1000:])
        same(p.returncode, 0, "the parent lives, whatever its children do: " + said)
        same(out.split("\n")[:5], ["child 0: 0", "child 1: 0", "child 2: -9", "child 3: 0", "child 4: 0"], said)
        same(a.value("SELECT n FROM t WHERE id = 1"), "101", "what the parent did, and nothing of the child that used its handle")
        same(a.value("SELECT n FROM t WHERE id = 2"), "100", "what the child with its own handle did")
        # The parent is killed; its child has all its descriptors, and lives.
        p = subprocess.Popen([program, where, "lock"], stdout=subprocess.PIPE, text=True, env=env)
        child = None
        try:
            child = int(p.stdout.readline().split()[-1])
            time.sleep(0.1)
            p.kill()
            p.wait()
            t0 = time.monotonic()
            a.ok("SET lock_timeout = '30s'")
            a.ok("UPDATE t SET n = n + 1 WHERE id = 1", 40)
            took = time.monotonic() - t0
            print("  %s: the lock of a dead parent with a living child was free after %.0f ms" % (fabric, took * 1000))
            check(took < 8, "free within two leases")
            same(a.value("SELECT n FROM t WHERE id = 1"), "103", "each of both runs, the second one's open transaction not, and ours")
        finally:
            p.kill()
            p.stdout.close()
            if child is not None:
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        a.ok("UPDATE t SET n = n + 1 WHERE id = 1", 40)
        a.close(0)


def test_fork_tcp():
    forks("tcp")


def test_fork_shm():
    forks("shm")


if __name__ == "__main__":
    house.main()
