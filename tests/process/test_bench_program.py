#!/usr/bin/env python3
"""`namdb bench` becomes namdb-bench: beside namdb's file or in PATH; one process; a clear word where it is in neither."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import check, contains, same

BENCH = os.path.join(os.path.dirname(house.NAMDB), "namdb-bench")


def go(program, *args, path="/usr/bin:/bin", **env):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=60 * house.SLOW, check=False,
                          env=house.clean_env(dict(env, PATH=path)))


def test_it_is_found():
    with tempfile.TemporaryDirectory() as dir:
        alone, other, pair = (os.path.join(dir, d) for d in ("alone", "other", "pair"))
        for d in (alone, other, pair):
            os.mkdir(d)
        mine = os.path.join(alone, "namdb")
        shutil.copy(house.NAMDB, mine)
        # In neither place: one line, on stderr; a file that cannot be run, a folder, and an empty item of PATH are none.
        os.mkdir(os.path.join(alone, "namdb-bench"))
        shutil.copy(BENCH, other)
        os.chmod(os.path.join(other, "namdb-bench"), 0o644)
        for words in (("--help",), ("tpcw",), ()):
            r = go(mine, "bench", *words, path=":" + other + ":" + alone)
            same((r.returncode, r.stdout, r.stderr.count("\n")), (1, "", 1), r)
            contains(r.stderr, "namdb bench: ", "namdb-bench", "./go build")
        # All the rest of namdb is there without it.
        contains(go(mine, "help", "bench").stdout, "  bench ")
        same(go(mine, "--version").returncode, 0)
        # In PATH.
        os.chmod(os.path.join(other, "namdb-bench"), 0o755)
        r = go(mine, "bench", "--help", path=other)
        same((r.returncode, r.stderr), (0, ""), r)
        contains(r.stdout, "usage: namdb bench tpcw|")
        # Beside the file that a link leads to; before that of PATH.
        for program in (house.NAMDB, BENCH):
            shutil.copy(program, pair)
        with open(os.path.join(other, "namdb-bench"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexit 3\n")
        os.symlink(os.path.join(pair, "namdb"), os.path.join(dir, "link"))
        same(go(os.path.join(dir, "link"), "bench", "nothing", path=other).returncode, 2)
        same(go(mine, "bench", "nothing", path=other).returncode, 3)
        # It cannot be started.
        with open(os.path.join(other, "namdb-bench"), "w", encoding="utf-8") as f:
            f.write("#!/nowhere/sh\n")
        r = go(mine, "bench", path=other)
        same((r.returncode, r.stdout, r.stderr.count("\n")), (1, "", 1), r)


def test_it_starts_the_namdb_that_was_called():
    """A namdb elsewhere, with the bench of PATH: the servers are of that namdb, and without NAMDB_PROGRAM of the one beside the bench."""
    with tempfile.TemporaryDirectory() as dir:
        mine, told = os.path.join(dir, "namdb"), os.path.join(dir, "told")
        shutil.copy(house.NAMDB, mine)
        bench = os.path.join(dir, "bin")
        os.mkdir(bench)
        with open(os.path.join(bench, "namdb-bench"), "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\necho "$NAMDB_PROGRAM $*" >%s\n' % told)
        os.chmod(os.path.join(bench, "namdb-bench"), 0o755)
        same(go(mine, "bench", "a", "b c", path=bench, NAMDB_PROGRAM="/nowhere").returncode, 0)
        same(open(told, encoding="utf-8").read(), "%s a b c\n" % os.path.realpath(mine))
    r = go(BENCH, "pgbench", "--seconds", "1", NAMDB_PROGRAM="/nowhere/namdb")
    check(r.returncode == 1 and r.stdout == "", r)
    check("NAMDB_PROGRAM is /nowhere/namdb" in r.stderr or "apt install" in r.stderr, r)


def test_one_process():
    """Its number stays, so kill and ^C reach the bench, and its end is told as its own."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        p = subprocess.Popen([house.NAMDB, "bench", "verbs", "--seconds", "5", "--runs", "99"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env=house.clean_env())
        house.until(lambda: os.path.realpath("/proc/%d/exe" % p.pid) == os.path.realpath(BENCH), 10, "it is the bench")
        time.sleep(0.2)
        p.send_signal(sig)
        same(p.wait(timeout=20 * house.SLOW), -sig)


def test_the_server_has_nothing_of_it():
    if house.SANITIZE:
        house.skip("the release build says it")
    needs = subprocess.run(["readelf", "-d", house.NAMDB], capture_output=True, text=True, check=True).stdout
    check(not re.search("sqlite", needs), needs)
    with open(house.NAMDB, "rb") as f:
        check(b"SmallBank" not in f.read(), "words of a bench are in namdb")


if __name__ == "__main__":
    house.main()
