#!/usr/bin/env python3
"""The library as a stranger gets it: installed, found by pkg-config, compiled against, run embedded and remote."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same, skip

build = os.path.dirname(os.path.abspath(os.environ["NAMDB"]))
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
made = {}


def example(h):
    """Installs into a directory of its own and builds examples/stock.c there."""
    if "path" in made:
        return made["path"], made["env"]
    if os.environ.get("NAM_SANITIZE"):
        skip("a program without the sanitizer cannot load a library with it")
    for tool in ("cmake", "pkg-config", "cc"):
        if shutil.which(tool) is None:
            skip(tool + " is not installed")
    prefix = os.path.join(h.dir, "prefix")
    r = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
    same(r.returncode, 0, "cmake --install: " + r.stdout + r.stderr)
    os.rename(prefix, prefix + " moved")  # what is installed may be moved
    prefix += " moved"
    pc = [d for d, _, files in os.walk(prefix) if "namdb.pc" in files]
    check(pc, "namdb.pc is installed")
    env = dict(os.environ, PKG_CONFIG_PATH=pc[0], LD_LIBRARY_PATH=os.path.dirname(pc[0]))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "namdb"],
                           capture_output=True, text=True, env=env)
    same(flags.returncode, 0, flags.stderr)
    out = os.path.join(h.dir, "stock")
    r = subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", os.path.join(root, "examples", "stock.c")] +
                       shlex.split(flags.stdout) + ["-o", out], capture_output=True, text=True, env=env)
    same(r.returncode, 0, "the example compiles: " + r.stderr)
    made["path"], made["env"] = out, env
    made["lib"] = os.path.join(os.path.dirname(pc[0]), "libnamdb.so")
    return out, env


WANT = "bolt   93\nnut    193\n"
h = House(nodes=2)


def test_embedded_and_remote():
    stock, env = example(h)
    r = subprocess.run([stock], capture_output=True, text=True, env=env, timeout=60)
    same((r.returncode, r.stdout, r.stderr), (0, WANT, ""), "embedded")
    h.do("CREATE TABLE stock AS SELECT 579 AS n").ok()
    for fabric in ("shm", "tcp"):
        where = "%s?fabric=%s&secret=%s" % (h.storage(), fabric, h.secret)
        r = subprocess.run([stock, where], capture_output=True, text=True,
                           env=dict(env, NAMDB_RUN=h.dir, NAMDB_LOG=os.environ.get("NAMDB_LOG", "warn")), timeout=60)
        same((r.returncode, r.stdout, r.stderr), (0, WANT, ""), "remote over " + fabric)
    same(h.do("SELECT sum(n) FROM stock").ok().value(), "579", "a table of that name stays what it was")
    same(h.do("SELECT count(*) FROM stock_example").fails(1).sqlstate(), "42P01")
    # Where there is such a table it says so, and leaves it alone.
    h.do("CREATE TABLE stock_example AS SELECT 7 AS n").ok()
    r = subprocess.run([stock, where], capture_output=True, text=True, env=dict(env, NAMDB_RUN=h.dir), timeout=60)
    same(r.returncode, 1, r.stdout)
    contains(r.stderr, "42P07")
    same(h.do("SELECT n FROM stock_example").ok().value(), "7")
    h.do("DROP TABLE stock_example").ok()


def test_readme_as_written():
    """The commands of README.md's section, in a home of their own, after ./go build."""
    example(h)
    text = open(os.path.join(root, "README.md")).read()
    block = re.search(r"\n## As a library\n[\s\S]*?\n((?:    [^\n]*\n)+)", text).group(1)
    lines = [l.strip() for l in block.splitlines()]
    same(lines[0].split("#")[0].strip(), "./go build", block)
    contains(lines[-1], "127.0.0.1:7411,127.0.0.1:7412")
    home = os.path.join(h.dir, "home")
    os.mkdir(home)
    os.symlink(build, os.path.join(home, "build"))
    os.symlink(os.path.join(root, "examples"), os.path.join(home, "examples"))
    r = subprocess.run(["sh", "-e", "-c", "\n".join(lines[1:-1])], cwd=home, capture_output=True, text=True, timeout=120,
                       env={"PATH": os.environ["PATH"], "HOME": home})
    same(r.returncode, 0, r.stderr)
    same(r.stdout[-len(WANT):], WANT, r.stdout)
    r = subprocess.run([os.path.join(home, "namdb", "bin", "namdb"), "--version"], capture_output=True, text=True)
    same(r.returncode, 0, r.stderr)


def test_wrong_place():
    stock, env = example(h)
    r = subprocess.run([stock, "127.0.0.1:1?connect_ms=100"], capture_output=True, text=True, env=env, timeout=60)
    same(r.returncode, 1, r.stderr)
    contains(r.stderr, "08")
    r = subprocess.run([stock, "memory:?size=1"], capture_output=True, text=True, env=env, timeout=60)
    same(r.returncode, 1, r.stderr)
    contains(r.stderr, "size")


def test_only_our_names_are_shown():
    example(h)
    r = subprocess.run(["nm", "-D", "--defined-only", made["lib"]], capture_output=True, text=True)
    names = [l.split()[-1] for l in r.stdout.splitlines()]
    header = open(os.path.join(root, "lib", "namdb.h")).read()
    want = sorted(set(re.findall(r"\b(namdb_[a-z0-9_]+)\(", header)))
    same(sorted(n for n in names), want, "the library shows what the header says, and nothing else")


def test_loaded_at_run_time():
    """As bindings of other languages do it: dlopen gives a library little thread-local room."""
    _, env = example(h)
    code = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
db, st = ctypes.c_void_p(), ctypes.c_void_p()
lib.namdb_column_text.restype = ctypes.c_char_p
lib.namdb_column_text.argtypes = [ctypes.c_void_p, ctypes.c_uint]
assert lib.namdb_open(b"memory:?size=64m", ctypes.byref(db)) == 0
assert lib.namdb_prepare(db, b"SELECT 6 * 7", ctypes.byref(st)) == 0
assert lib.namdb_step(st) == 1
print(lib.namdb_column_text(st, 0).decode())
lib.namdb_finalize(st)
lib.namdb_close(db)
"""
    r = subprocess.run([sys.executable, "-c", code, made["lib"]], capture_output=True, text=True, env=env, timeout=60)
    same((r.returncode, r.stdout, r.stderr), (0, "42\n", ""), "a library loaded by dlopen")


PRELUDE = """
import ctypes, os, re, signal, sys, time
lib = ctypes.CDLL(sys.argv[1])
for f in ("namdb_message", "namdb_sqlstate"):
    getattr(lib, f).restype = ctypes.c_char_p
def caught():
    # but for 32 and 33, which are the C library's own, for threads
    return int(re.search(r"SigCgt:\\s*(\\w+)", open("/proc/self/status").read()).group(1), 16) & ~(3 << 31)
def opened():
    db = ctypes.c_void_p()
    rc = lib.namdb_open(sys.argv[2].encode(), ctypes.byref(db))
    assert rc == 0, lib.namdb_message(db)
    return db
def run(db, sql):
    rc = lib.namdb_exec(db, sql.encode())
    return rc, lib.namdb_sqlstate(db).decode(), lib.namdb_message(db).decode()
"""


def python(code, where, env, **more):
    return subprocess.Popen([sys.executable, "-u", "-c", PRELUDE + code, made["lib"], where], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(env, NAMDB_RUN=h.dir, NAMDB_LOG=os.environ.get("NAMDB_LOG", "warn")), **more)


def test_the_host_is_told_of_the_end():
    """If a program stalls for longer than the lease, its callback is called, and its statements end with 57P01."""
    _, env = example(h)
    h.do("CREATE TABLE told (k integer PRIMARY KEY, v integer); INSERT INTO told VALUES (1, 1)").ok()
    code = """
before = caught()
db, other, third = opened(), opened(), opened()
print("handlers", before == caught())
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
said = []
def lost(arg, why):
    said.append((arg, why.decode(), lib.namdb_exec(db, b"SELECT 1"), lib.namdb_on_end(db, CALL(), None)))
lost = CALL(lost)
print(lib.namdb_on_end(db, lost, ctypes.c_void_p(7)), lib.namdb_on_end(other, lost, ctypes.c_void_p(8)),
      lib.namdb_on_end(third, lost, ctypes.c_void_p(9)), lib.namdb_on_end(third, CALL(), None))
print(run(db, "BEGIN; UPDATE told SET v = 5"))
print("ready")
sys.stdin.readline()
end = time.monotonic() + 20
while len(said) < 2 and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.1)
for s in sorted(said):
    print(s)
print(run(db, "COMMIT"))
print(lib.namdb_on_end(other, lost, ctypes.c_void_p(10)), said[-1][0])
for d in (db, other, third):
    lib.namdb_close(d)
db = opened()
print(run(db, "UPDATE told SET v = v + 1"))
lib.namdb_close(db)
print("end")
"""
    p = python(code, "%s?fabric=tcp&secret=%s" % (h.storage(), h.secret), env)
    said = ""
    while not said.endswith("ready\n"):
        line = p.stdout.readline()
        check(line, said, p.stderr.read() if not line else "")
        said += line
    same(said, "handlers True\n0 0 0 0\n(0, '00000', '')\nready\n")
    p.send_signal(signal.SIGSTOP)
    h.do("UPDATE told SET v = v + 10", timeout=60).ok()
    p.send_signal(signal.SIGCONT)
    out, err = p.communicate("go\n", timeout=60)
    same(p.returncode, 0, out + err)
    lines = out.splitlines()
    same(len(lines), 6, out)
    for line, arg in zip(lines[:2], (7, 8)):
        check(re.fullmatch(r"\(%d, 'this process [^\n']+', 4, 4\)" % arg, line), line)
    contains(lines[2], "(3, '57P01', 'this process ")
    same(lines[3:], ["0 10", "(0, '00000', '')", "end"])
    same(h.do("SELECT v FROM told").value(), "12")


def test_fork():
    """A child gets a clear error and harms no other process; it may open its own handle."""
    _, env = example(h)
    h.do("CREATE TABLE forked (k integer)").ok()
    other = h.shell(fabric="tcp")  # a process that stays, and recovers the killed child
    same(other.value("SELECT count(*) FROM forked"), "0")
    code = """
db, st = opened(), ctypes.c_void_p()
print(run(db, "INSERT INTO forked VALUES (1)"))
assert lib.namdb_prepare(db, b"SELECT k FROM forked", ctypes.byref(st)) == 0
assert lib.namdb_step(st) == 1
print(run(db, "BEGIN; INSERT INTO forked VALUES (2)"))
for end in ("_exit", "exit", "kill"):
    pid = os.fork()
    if pid == 0:
        print(run(db, "COMMIT"))
        print(lib.namdb_step(st), lib.namdb_prepare(db, b"SELECT 1", ctypes.byref(ctypes.c_void_p())), lib.namdb_cancel(db) and 0)
        lib.namdb_finalize(st)
        lib.namdb_close(db)
        mine = opened()
        print(run(mine, "INSERT INTO forked VALUES (10)"))
        if end == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        lib.namdb_close(mine)
        getattr(os if end == "_exit" else sys, end)(0)
    print("child", os.waitpid(pid, 0)[1])
print(run(db, "INSERT INTO forked VALUES (3); COMMIT"))
lib.namdb_finalize(st)
lib.namdb_close(db)
"""
    for fabric in ("tcp", "shm"):
        h.do("DELETE FROM forked").ok()
        p = python(code, "%s?fabric=%s&secret=%s" % (h.storage(), fabric, h.secret), env)
        out, err = p.communicate(timeout=60)
        same((p.returncode, err), (0, ""), out)
        lines = out.splitlines()
        good = "(0, '00000', '')"
        same([lines[i] for i in (0, 1, -1)], [good] * 3, out)
        for i in range(3):
            contains(lines[2 + 4 * i], "(4, '08003', ", "fork")
            same(lines[4 + 4 * i:6 + 4 * i], [good, "child %d" % (9 if i == 2 else 0)], out)
        # The killed child is recovered first.
        house.until(lambda: sorted(r[0] for r in h.do("SELECT k FROM forked").rows()) == ["1", "10", "10", "10", "2", "3"],
                    20, fabric + ": what all of them have committed is there")
    other.close()


def test_readme_shows_this_program():
    text = open(os.path.join(root, "README.md")).read()
    shown = [b for b in re.findall(r"```c\n(.*?)```", text, re.S) if "namdb_open" in b]
    same(shown, [open(os.path.join(root, "examples", "stock.c")).read()], "README.md shows examples/stock.c as it is")


if __name__ == "__main__":
    try:
        house.main()
    finally:
        h.__exit__(None, None, None)
