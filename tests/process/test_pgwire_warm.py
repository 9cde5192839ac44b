#!/usr/bin/env python3
"""The second run of a prepared point statement allocates nothing: so it does not parse (libpg_query allocates), plan (a plan has an
arena) or read the catalog either. A library that is loaded before malloc's counts the calls of all threads in a file that this test
reads; a statement that is not prepared shows that it can see."""
import mmap
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same, skip
from wire import Wire, kinds, tags, texts

COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static _Atomic unsigned long here, *count = &here;
__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("NAM_COUNT");
	int fd = path ? open(path, O_RDWR) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		count = at;
}
void *malloc(size_t n) { ++*count; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { ++*count; return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { ++*count; return __libc_realloc(p, n); }
"""
RUNS = 2000


def counted(run, runs):
    """Calls of malloc and its kin while run(0 .. runs - 1) run."""
    before = struct.unpack("L", COUNT[:8])[0]
    for k in range(runs):
        run(k)
    return struct.unpack("L", COUNT[:8])[0] - before


def test_a_warm_statement_allocates_nothing():
    global COUNT
    if house.SANITIZE:
        skip("a sanitizer has a malloc of its own")
    cc = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if cc is None:
        skip("there is no C compiler here")
    with House(nodes=1, size="256m") as h:
        library, path = os.path.join(h.dir, "count.so"), h.file("count", b"\0" * 4096)
        p = subprocess.run([cc, "-O1", "-w", "-shared", "-fPIC", "-o", library, h.file("count.c", COUNTER), "-ldl"], capture_output=True, text=True)
        same(p.returncode, 0, p.stderr)
        h.env.update(LD_PRELOAD=library, NAM_COUNT=path)
        c = Compute(h, "--workers", "1")
        COUNT = mmap.mmap(os.open(path, os.O_RDWR), 4096)
        check(struct.unpack("L", COUNT[:8])[0] > 100, "the library counts")
        w = Wire(c.port)
        tags(w.query("CREATE TABLE t (a int PRIMARY KEY, b int, c text)"))
        tags(w.query("INSERT INTO t SELECT g, g, 'text ' || g FROM generate_series(1, 1000) g"))
        for name, sql, types in (("select", "SELECT b, c FROM t WHERE a = $1", [23]), ("update", "UPDATE t SET b = b + 1 WHERE a = $1", [23])):
            w.raw(Wire.parse(sql, name, types) + Wire.SYNC)
            same(kinds(w.until_ready()), "1Z")

        def prepared(name, results=()):
            def run(k):
                w.raw(Wire.bind([1 + k % 1000], name, results=results) + Wire.execute() + Wire.SYNC)
                got = w.until_ready()
                check(kinds(got) in ("2DCZ", "2CZ"), got)
            return run

        for name, run in (("a prepared SELECT", prepared("select")), ("the same in binary", prepared("select", [1])),
                          ("a prepared UPDATE", prepared("update"))):
            counted(run, RUNS)  # arenas grow, and keys come into the cache
            calls = counted(run, RUNS)
            print("   %s: %d allocations in %d runs" % (name, calls, RUNS))
            check(calls < RUNS // 20, "%s allocates: %d times in %d runs" % (name, calls, RUNS))
        calls = counted(lambda k: w.query("SELECT b FROM t WHERE a = 1 AND b > -%d" % k), 100)
        check(calls > 100, "a text that is new is parsed, which this test sees:", calls)
        same(texts(w.query("SELECT count(*) FROM t")), [("1000",)])
        w.close()
        c.terminate()


COUNT = None

if __name__ == "__main__":
    house.main()
