#!/usr/bin/env python3
"""More workers of compute processes than there is memory for message rings: all of them insert into an indexed table, also while
some processes are killed, one is stopped and others come; nothing is refused, lost or called corrupt."""
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, fields

WORKERS = 8


def error(got):
    """The fields of the first error, None = there is none."""
    return next((fields(body) for kind, body in got if kind == "E"), None)


class Process:
    """A compute process, and a session on each of its workers."""

    def __init__(self, h, number):
        self.number = number
        self.compute = Compute(h, "--workers", WORKERS)
        self.sessions = [Wire(self.compute.port, timeout=60) for _ in range(WORKERS)]

    def write(self, at, statements, rows, trouble):
        """Statements on all sessions at once, by one thread: what each of them inserts is its own."""
        try:
            for i in range(statements):
                for k, s in enumerate(self.sessions):
                    first = at + ((self.number * WORKERS + k) * statements + i) * rows
                    s.send("Q", ("INSERT INTO t SELECT i, i %% 7, md5(i::text) FROM generate_series(%d, %d) i\0"
                                  % (first, first + rows - 1)).encode())
                for s in self.sessions:
                    e = error(s.until_ready())
                    if e:
                        trouble.append("process %d: %s" % (self.number, e))
        except Exception as e:  # told by the thread that waits
            trouble.append("process %d: %s" % (self.number, e))


def write_all(processes, at, statements, rows):
    trouble = []
    threads = [threading.Thread(target=p.write, args=(at, statements, rows, trouble)) for p in processes]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not trouble, "%d statements failed: %s" % (len(trouble), trouble[:3]))
    return len(processes) * WORKERS * statements * rows


def crowd(nodes, size, processes, kills):
    with House(nodes=nodes, size=size) as h:
        all = [Process(h, i) for i in range(processes)]
        one = all[0].sessions[0]
        for sql in ["CREATE TABLE t (id int PRIMARY KEY, k int, v text)", "CREATE INDEX ON t (k, v)", "CREATE UNIQUE INDEX ON t (v)"]:
            same(error(one.query(sql)), None, sql)
        n = write_all(all, 0, 2, 1)
        n += write_all(all, 1000000, 1, 10)
        # Some are killed, one is stopped; others come.
        for p in all[1:1 + kills]:
            p.compute.kill()
        os.kill(all[-1].compute.p.pid, signal.SIGSTOP)
        late = [Process(h, processes + i) for i in range(kills)]
        n += write_all(all[:1] + late, 2000000, 1, 2)
        os.kill(all[-1].compute.p.pid, signal.SIGCONT)
        for sql in ["SELECT count(*) FROM t", "SELECT count(*) FROM t WHERE k = id % 7 AND v = md5(id::text)"]:
            got = one.query(sql)
            check(("%d" % n).encode() in b"".join(body for _, body in got), "%s: not %d: %s" % (sql, n, got))


def test_three_nodes():
    crowd(3, "256m", 12, 3)


def test_small_nodes():
    crowd(3, "16m", 4, 1)


if __name__ == "__main__":
    house.main()
