"""starve.py -- how long the kernel's threads wait for a core beside compute processes and busy loops.

For tests/life.py (proof `starve`). A byte goes through a pseudo terminal every 2 ms: a kernel worker carries it, so the time it takes
is the time that the worker waits for a core. Each load is measured twice: with the kernel's autogroups (each session of processes is
scheduled as one entity) and without them (each thread is scheduled by itself). Only the second is judged: with groups, Linux 6.18 lets
any program that sleeps and wakes often starve the threads outside groups, see docs/PERFORMANCE.md, "Beside threads that compute".
"""
import os
import pty
import signal
import subprocess
import sys
import time
import tty

from house import Compute, House, check
from wire import Wire, texts

AUTOGROUPS = "/proc/sys/kernel/sched_autogroup_enabled"
LOOP = "while :; do :; done"
BOUND_MS = 30  # of one wait; 14 busy loops on two cores make it 10

# Eight pairs of processes that hand a byte to each other as fast as they can, for ever: what any clients and any server do.
PING_PONG = """
import os
for _ in range(7):
    if os.fork() == 0:
        break
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    while True:
        os.write(b[1], os.read(a[0], 1))
while True:
    os.write(a[1], b"x")
    os.read(b[0], 1)
"""


def waits(seconds):
    """Milliseconds that each byte took, sorted."""
    master, slave = pty.openpty()
    took = []
    try:
        tty.setraw(slave)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            t0 = time.perf_counter()
            os.write(master, b"x")
            os.read(slave, 1)
            took.append((time.perf_counter() - t0) * 1000)
            time.sleep(0.002)
    finally:
        os.close(master)
        os.close(slave)
    return sorted(took)


class Load:
    """Processes that run until the end of the block, in this session, so in one autogroup with the probe."""

    def __init__(self, commands):
        self.commands, self.procs = commands, []

    def __enter__(self):
        for c in self.commands:
            self.procs.append(subprocess.Popen(c, process_group=0))
        return self

    def __exit__(self, *_):
        for p in self.procs:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()


def loops(n):
    return Load([["sh", "-c", LOOP]] * n)


def client(port, number):
    """In a process of its own: one update after the other, for ever."""
    w = Wire(port, timeout=600)
    while True:
        w.query("UPDATE t SET v = v + 1 WHERE a = %d" % number)


class Working:
    """One client of each compute process, each a process."""

    def __init__(self, computes):
        self.computes, self.pids = computes, []

    def __enter__(self):
        for k, c in enumerate(self.computes):
            pid = os.fork()
            if pid == 0:
                try:
                    client(c.port, k + 1)
                finally:
                    os._exit(1)
            self.pids.append(pid)
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def autogroups(on=None):
    """What they were; None = this machine has none, or does not let us change them."""
    try:
        with open(AUTOGROUPS, "r+") as f:
            was = f.read().strip() == "1"
            if on is not None:
                f.seek(0)
                f.write("1" if on else "0")
        return was
    except OSError:
        return None


def spread(took):
    return {"n": len(took), "p50": took[len(took) // 2], "p99": took[len(took) * 99 // 100], "max": took[-1]}


def measured(f, suffix, seconds):
    """The figures of each load by name."""
    out = {}

    def note(name):
        out[name] = f[name + suffix] = spread(waits(seconds))
    note("nothing")
    with loops(14):
        note("14 loops")
    with loops(6), Load([[sys.executable, "-c", PING_PONG]] * 4):
        time.sleep(0.5)
        note("6 loops, 32 ping-pongs")
    with House(nodes=2, size="128m") as h:
        computes = [Compute(h) for _ in range(4)]
        w = Wire(computes[0].port)
        w.query("CREATE TABLE t (a int PRIMARY KEY, v int)")
        w.query("INSERT INTO t SELECT g, 0 FROM generate_series(1, 100) g")
        with loops(6):
            note("6 loops, 4 idle compute processes")
            before = int(texts(w.query("SELECT sum(v) FROM t"))[0][0])
            with Working(computes):
                note("6 loops, 4 working compute processes")
            done = int(texts(w.query("SELECT sum(v) FROM t"))[0][0]) - before
            check(done > 10 * seconds, "too few updates:", done)
            f["updates_per_second" + suffix] = done / (seconds + 0.5)
    return out


def starve(f, seconds):
    was = autogroups()
    if was is None:
        measured(f, "", seconds)
        f["not judged"] = "%s cannot be changed here" % AUTOGROUPS
        return
    try:
        autogroups(True)
        measured(f, ", groups", seconds)
        autogroups(False)
        for name, took in measured(f, "", seconds).items():
            if took["max"] > BOUND_MS:
                f.wrong("beside", name, "a kernel thread waited for %.1f ms" % took["max"])
    finally:
        autogroups(was)
