#!/usr/bin/env python3
"""The library as a stranger gets it: installed, found by pkg-config, compiled against, run embedded and remote."""
import os
import re
import shutil
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
    pc = [d for d, _, files in os.walk(prefix) if "namdb.pc" in files]
    check(pc, "namdb.pc is installed")
    env = dict(os.environ, PKG_CONFIG_PATH=pc[0], LD_LIBRARY_PATH=os.path.dirname(pc[0]))
    flags = subprocess.run(["pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "namdb"],
                           capture_output=True, text=True, env=env)
    same(flags.returncode, 0, flags.stderr)
    out = os.path.join(h.dir, "stock")
    r = subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", os.path.join(root, "examples", "stock.c")] +
                       flags.stdout.split() + ["-o", out], capture_output=True, text=True, env=env)
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
    for fabric in ("shm", "tcp"):
        where = "%s?fabric=%s&secret=%s" % (h.storage(), fabric, h.secret)
        r = subprocess.run([stock, where], capture_output=True, text=True,
                           env=dict(env, NAMDB_RUN=h.dir), timeout=60)
        same((r.returncode, r.stdout, r.stderr), (0, WANT, ""), "remote over " + fabric)
    same(h.do("SELECT sum(n) FROM stock").ok().value(), "579", "the shell sees what the program wrote")


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


def test_readme_shows_this_program():
    text = open(os.path.join(root, "README.md")).read()
    shown = [b for b in re.findall(r"```c\n(.*?)```", text, re.S) if "namdb_open" in b]
    same(shown, [open(os.path.join(root, "examples", "stock.c")).read()], "README.md shows examples/stock.c as it is")


if __name__ == "__main__":
    try:
        house.main()
    finally:
        h.__exit__(None, None, None)
