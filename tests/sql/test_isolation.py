#!/usr/bin/env python3
"""Isolation, case by case: the same steps of the same sessions, in the same order, at namdb and at a real PostgreSQL 15, at all three
levels: what each session read, whether it committed, and what is in the tables at the end. Where namdb's outcome differs, DIFFERENT
says which it is, and why. A step that waits for another session is seen by its silence."""
import os
import select
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_postgres import Postgres
import peer  # noqa: F401 (the path to house)
import house
from house import Compute, House, check
from wire import Wire, fields, row

LEVELS = ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
SILENT = 0.25  # seconds: a step without an answer waits for another session
LOSES = ("40001", "40P01")

SETUP = """DROP TABLE IF EXISTS c, t; CREATE TABLE t (k int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);"""
CHILDREN = "CREATE TABLE c (k int PRIMARY KEY, v int REFERENCES t)"

# name: [(session, statement)]. Every session begins at the level, and what is not ended at the end is committed, in the
# order of the sessions.
CASES = {
    "lost update": [(1, "SELECT v FROM t WHERE k = 1"), (2, "SELECT v FROM t WHERE k = 1"), (1, "UPDATE t SET v = 11 WHERE k = 1"),
                    (1, "COMMIT"), (2, "UPDATE t SET v = 12 WHERE k = 1"), (2, "COMMIT")],
    "lost update, the second one waits": [(1, "UPDATE t SET v = v + 1 WHERE k = 1"), (2, "SELECT v FROM t WHERE k = 1"),
                                          (2, "UPDATE t SET v = v + 1 WHERE k = 1"), (1, "COMMIT"), (2, "COMMIT")],
    "a wait for a transaction that rolls back": [(1, "UPDATE t SET v = 0 WHERE k = 1"), (2, "SELECT v FROM t WHERE k = 2"),
                                                 (2, "UPDATE t SET v = v + 1 WHERE k = 1"), (1, "ROLLBACK"), (2, "COMMIT")],
    "dirty read": [(1, "UPDATE t SET v = 0 WHERE k = 1"), (2, "SELECT v FROM t WHERE k = 1"), (1, "ROLLBACK"),
                   (2, "SELECT v FROM t WHERE k = 1")],
    "intermediate read": [(1, "UPDATE t SET v = 1 WHERE k = 1"), (2, "SELECT v FROM t WHERE k = 1"), (1, "UPDATE t SET v = 2 WHERE k = 1"),
                          (1, "COMMIT"), (2, "SELECT v FROM t WHERE k = 1")],
    "read that is not repeatable": [(1, "SELECT v FROM t WHERE k = 1"), (2, "UPDATE t SET v = 99 WHERE k = 1"), (2, "COMMIT"),
                                    (1, "SELECT v FROM t WHERE k = 1")],
    "phantom": [(1, "SELECT count(*) FROM t WHERE v > 5"), (2, "INSERT INTO t VALUES (4, 40)"), (2, "COMMIT"),
                (1, "SELECT count(*) FROM t WHERE v > 5")],
    "read skew": [(1, "SELECT v FROM t WHERE k = 1"), (2, "UPDATE t SET v = 11 WHERE k = 1"), (2, "UPDATE t SET v = 21 WHERE k = 2"),
                  (2, "COMMIT"), (1, "SELECT v FROM t WHERE k = 2")],
    "read skew by a condition": [(1, "SELECT k FROM t WHERE v % 7 = 0"), (2, "UPDATE t SET v = 14 WHERE k = 1"), (2, "COMMIT"),
                                 (1, "SELECT k FROM t WHERE v % 7 = 0 ORDER BY k")],
    "write skew": [(1, "SELECT sum(v) FROM t WHERE k IN (1, 2)"), (2, "SELECT sum(v) FROM t WHERE k IN (1, 2)"),
                   (1, "UPDATE t SET v = v - 25 WHERE k = 1"), (2, "UPDATE t SET v = v - 25 WHERE k = 2"), (1, "COMMIT"), (2, "COMMIT")],
    "write skew by a phantom": [(1, "SELECT count(*) FROM t WHERE v = 7"), (2, "SELECT count(*) FROM t WHERE v = 7"),
                                (1, "INSERT INTO t VALUES (4, 7)"), (2, "INSERT INTO t VALUES (5, 7)"), (1, "COMMIT"), (2, "COMMIT")],
    "write skew over the whole table": [(1, "SELECT sum(v) FROM t"), (2, "SELECT sum(v) FROM t"), (1, "INSERT INTO t VALUES (4, 60)"),
                                        (2, "INSERT INTO t VALUES (5, 60)"), (1, "COMMIT"), (2, "COMMIT")],
    "anomaly of a reader": [(1, "SELECT v FROM t WHERE k = 1"), (1, "SELECT v FROM t WHERE k = 2"), (2, "SELECT v FROM t WHERE k = 2"),
                            (2, "UPDATE t SET v = 25 WHERE k = 2"), (2, "COMMIT"), (3, "SELECT v FROM t WHERE k IN (1, 2) ORDER BY k"),
                            (3, "COMMIT"), (1, "UPDATE t SET v = -1 WHERE k = 1"), (1, "COMMIT")],
    "a reader between, without the anomaly": [(3, "SELECT v FROM t WHERE k IN (1, 2) ORDER BY k"), (2, "UPDATE t SET v = 25 WHERE k = 2"),
                                              (2, "COMMIT"), (1, "SELECT v FROM t WHERE k = 2"), (1, "UPDATE t SET v = 0 WHERE k = 1"),
                                              (1, "COMMIT"), (3, "SELECT v FROM t WHERE k IN (1, 2) ORDER BY k"), (3, "COMMIT")],
    "deadlock": [(1, "UPDATE t SET v = 1 WHERE k = 1"), (2, "UPDATE t SET v = 2 WHERE k = 2"), (1, "UPDATE t SET v = 1 WHERE k = 2"),
                 (2, "UPDATE t SET v = 2 WHERE k = 1"), (1, "COMMIT"), (2, "COMMIT")],
    "deadlock of three": [(1, "UPDATE t SET v = 1 WHERE k = 1"), (2, "UPDATE t SET v = 2 WHERE k = 2"), (3, "UPDATE t SET v = 3 WHERE k = 3"),
                          (1, "UPDATE t SET v = 1 WHERE k = 2"), (2, "UPDATE t SET v = 2 WHERE k = 3"), (3, "UPDATE t SET v = 3 WHERE k = 1"),
                          (1, "COMMIT"), (2, "COMMIT"), (3, "COMMIT")],
    "locks in one order": [(1, "SELECT v FROM t WHERE k = 1 FOR UPDATE"), (2, "SELECT v FROM t WHERE k = 1 FOR UPDATE"),
                           (1, "UPDATE t SET v = v + 1 WHERE k = 1"), (1, "COMMIT"), (2, "UPDATE t SET v = v + 1 WHERE k = 1"), (2, "COMMIT")],
    "SKIP LOCKED": [(1, "SELECT k FROM t ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED"), (2, "SELECT k FROM t ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED"),
                    (3, "SELECT k FROM t ORDER BY k FOR UPDATE SKIP LOCKED"), (1, "COMMIT"), (2, "COMMIT")],
    "NOWAIT": [(1, "SELECT v FROM t WHERE k = 1 FOR UPDATE"), (2, "SELECT v FROM t WHERE k = 1 FOR UPDATE NOWAIT"), (1, "COMMIT")],
    "a condition that the wait makes false": [(1, "UPDATE t SET v = 100 WHERE k = 1"), (2, "UPDATE t SET v = v + 1 WHERE v < 50"), (1, "COMMIT"),
                                              (2, "SELECT k, v FROM t ORDER BY k"), (2, "COMMIT")],
    "a row that goes during the wait": [(1, "DELETE FROM t WHERE k = 1"), (2, "UPDATE t SET v = v + 1 WHERE k = 1"), (1, "COMMIT"),
                                        (2, "SELECT count(*) FROM t"), (2, "COMMIT")],
    "delete against delete": [(1, "DELETE FROM t WHERE k = 1"), (2, "DELETE FROM t WHERE k = 1"), (1, "COMMIT"), (2, "COMMIT")],
    "a key twice": [(1, "INSERT INTO t VALUES (9, 1)"), (2, "INSERT INTO t VALUES (9, 2)"), (1, "COMMIT"), (2, "COMMIT")],
    "a key twice, the first rolls back": [(1, "INSERT INTO t VALUES (9, 1)"), (2, "INSERT INTO t VALUES (9, 2)"), (1, "ROLLBACK"), (2, "COMMIT")],
    "DO NOTHING beside an insert": [(1, "INSERT INTO t VALUES (9, 1)"), (2, "INSERT INTO t VALUES (9, 2) ON CONFLICT DO NOTHING"),
                                    (1, "COMMIT"), (2, "COMMIT")],
    "DO UPDATE beside an insert": [(1, "INSERT INTO t VALUES (9, 1)"),
                                   (2, "INSERT INTO t VALUES (9, 2) ON CONFLICT (k) DO UPDATE SET v = t.v + 10"), (1, "COMMIT"), (2, "COMMIT")],
    "a savepoint gives its locks back": [(1, "SAVEPOINT s"), (1, "UPDATE t SET v = 0 WHERE k = 1"), (1, "ROLLBACK TO s"),
                                         (2, "UPDATE t SET v = 5 WHERE k = 1"), (2, "COMMIT"), (1, "SELECT v FROM t WHERE k = 1"), (1, "COMMIT")],
    "the second one commits first": [(1, "UPDATE t SET v = 1 WHERE k = 1"), (2, "UPDATE t SET v = 2 WHERE k = 1"), (2, "COMMIT"), (1, "COMMIT")],
    "an update of a row that was only read": [(1, "SELECT v FROM t WHERE k = 1"), (2, "UPDATE t SET v = 50 WHERE k = 1"), (2, "COMMIT"),
                                              (1, "UPDATE t SET v = 60 WHERE k = 2"), (1, "COMMIT")],
    "own changes": [(1, "UPDATE t SET v = v + 1"), (1, "SELECT v FROM t ORDER BY k"), (2, "SELECT v FROM t ORDER BY k"),
                    (1, "DELETE FROM t WHERE k = 2"), (1, "SELECT k FROM t ORDER BY k"), (1, "COMMIT"), (2, "SELECT v FROM t ORDER BY k")],
    "an insert behind a look": [(1, "SELECT count(*) FROM t WHERE k = 9"), (2, "SELECT count(*) FROM t WHERE k = 9"),
                                (1, "INSERT INTO t VALUES (9, 1)"), (1, "COMMIT"), (2, "INSERT INTO t VALUES (9, 2)"), (2, "COMMIT")],
    "an insert without a look": [(2, "SELECT v FROM t WHERE k = 1"), (1, "INSERT INTO t VALUES (9, 1)"), (1, "COMMIT"),
                                 (2, "INSERT INTO t VALUES (9, 2)"), (2, "COMMIT")],
    "two inserts behind looks": [(1, "SELECT count(*) FROM t WHERE k = 9"), (2, "SELECT count(*) FROM t WHERE k = 9"),
                                 (1, "INSERT INTO t VALUES (9, 1)"), (2, "INSERT INTO t VALUES (9, 2)"), (1, "COMMIT"), (2, "COMMIT")],
    "a parent goes beside a child that comes, and the child commits": [(1, "INSERT INTO c VALUES (1, 1)"), (2, "DELETE FROM t WHERE k = 1"),
                                                                       (1, "COMMIT"), (2, "COMMIT")],
    "a child comes beside a parent that goes": [(2, "DELETE FROM t WHERE k = 1"), (1, "INSERT INTO c VALUES (1, 1)"), (2, "COMMIT"), (1, "COMMIT")],
    "a child comes beside a parent that goes and comes back": [(2, "DELETE FROM t WHERE k = 1"), (1, "INSERT INTO c VALUES (1, 1)"),
                                                               (2, "ROLLBACK"), (1, "COMMIT")],
    "a child goes back, its parent goes": [(1, "INSERT INTO c VALUES (1, 1)"), (2, "DELETE FROM t WHERE k = 1"), (1, "ROLLBACK"), (2, "COMMIT")],
    "two children of one parent": [(1, "INSERT INTO c VALUES (1, 1)"), (2, "INSERT INTO c VALUES (2, 1)"), (2, "COMMIT"), (1, "COMMIT")],
    "a child comes, another column of its parent changes": [(1, "INSERT INTO c VALUES (1, 1)"), (2, "UPDATE t SET v = 5 WHERE k = 1"),
                                                            (2, "COMMIT"), (1, "COMMIT")],
    "long fork": [(1, "UPDATE t SET v = 1 WHERE k = 1"), (2, "UPDATE t SET v = 2 WHERE k = 2"), (1, "COMMIT"),
                  (3, "SELECT v FROM t WHERE k IN (1, 2) ORDER BY k"), (2, "COMMIT"), (3, "SELECT v FROM t WHERE k IN (1, 2) ORDER BY k")],
}

# (case, level): why the outcome differs.
FIRST = "in the two stricter levels no row is locked before COMMIT: the first transaction that commits wins, not the first that updated"
READ = "SERIALIZABLE lets no row that was read be changed by others before COMMIT; PostgreSQL fails only when two such edges meet"
PARENT = "a row that refers to a parent does not lock it: the deletion does not wait, and ends with 40001 where PostgreSQL's gets 23503"
DIFFERENT = {
    ("the second one commits first", "REPEATABLE READ"): FIRST,
    ("the second one commits first", "SERIALIZABLE"): FIRST,
    ("an update of a row that was only read", "SERIALIZABLE"): READ,
    ("a child comes, another column of its parent changes", "SERIALIZABLE"): READ,
    ("a parent goes beside a child that comes, and the child commits", "READ COMMITTED"): PARENT,
    ("a parent goes beside a child that comes, and the child commits", "REPEATABLE READ"): PARENT,
    ("a parent goes beside a child that comes, and the child commits", "SERIALIZABLE"): PARENT,
}


class Session:
    def __init__(self, wire, level):
        self.w, self.lost, self.ended = wire, None, None
        self.reads, self.waiting, self.queue = [], None, []
        self.w.query("BEGIN ISOLATION LEVEL " + level)

    def answered(self, seconds):
        """True if the statement that runs has answered within so long."""
        end = time.monotonic() + seconds
        while not self.w.buf.endswith(b"Z\0\0\0\5" + self.w.buf[-1:]) or len(self.w.buf) < 6:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.w.s], [], [], left)[0]:
                return False
            got = self.w.s.recv(65536)
            check(got, "the server closed the connection")
            self.w.buf += got
        got = self.w.until_ready()
        failed = [fields(m[1])["C"] for m in got if m[0] == "E"]
        sql, self.waiting = self.waiting, None
        if failed:
            self.lost = self.lost or failed[0]
        elif sql.startswith("SELECT"):
            self.reads.append([tuple(int(v) for v in row(m[1])) for m in got if m[0] == "D"])
        if sql in ("COMMIT", "ROLLBACK"):
            tag = [m[1][:-1].decode() for m in got if m[0] == "C"]
            self.ended = "committed" if tag == ["COMMIT"] else "rolled back"
        return True

    def go_on(self, seconds):
        """Sends what is queued, until a statement waits."""
        while self.waiting or self.queue:
            if self.waiting is None:
                self.waiting = self.queue.pop(0)
                self.w.send("Q", self.waiting.encode() + b"\0")
            if not self.answered(seconds):
                return False
        return True


def play(connect, steps, level):
    """What came of it: {session: (how it ended, its first SQLSTATE, what it read)}, and the table."""
    control = connect()
    control.query(SETUP)
    tables = ["t"]
    if any(" c " in sql for _, sql in steps):
        control.query(CHILDREN)
        tables.append("c")
    sessions = {n: Session(connect(), level) for n in sorted({n for n, _ in steps})}
    for n, sql in steps:
        sessions[n].queue.append(sql)
        for s in [sessions[n]] + [s for s in sessions.values() if s is not sessions[n]]:
            s.go_on(SILENT * min(house.SLOW, 2))
    for s in sessions.values():
        if s.ended is None and not (s.queue and s.queue[-1] in ("COMMIT", "ROLLBACK")) and s.waiting not in ("COMMIT", "ROLLBACK"):
            s.queue.append("COMMIT")
    end = time.monotonic() + 10 * house.SLOW
    while not all([s.go_on(SILENT) for s in sessions.values()]):
        check(time.monotonic() < end, "a session waits for ever:", [(n, s.waiting) for n, s in sessions.items()])
    table = [tuple(int(v) for v in row(m[1])) for name in tables for m in control.query("SELECT k, v FROM %s ORDER BY k" % name) if m[0] == "D"]
    out = {n: (s.ended, s.lost, s.reads) for n, s in sessions.items()}
    for s in sessions.values():
        s.w.close()
    control.close()
    return out, table


def judged(outcome, case):
    """What is compared: a transaction that lost is lost however far it came; of a deadlock only how many lost."""
    sessions, table = outcome
    plain = {n: (how, reads) if how == "committed" else (how, "lost" if state in LOSES else state) for n, (how, state, reads) in sessions.items()}
    if case.startswith("deadlock"):
        return sorted("%s" % how for how, _ in plain.values())
    return plain, table


def serial(connect, steps, outcome):
    """True if the committed transactions, one after the other in some order, read and leave the same."""
    import itertools
    sessions, table = outcome
    committed = [n for n, (how, _, _) in sessions.items() if how == "committed"]
    for order in itertools.permutations(committed):
        one_by_one = [(n, sql) for n in order for m, sql in steps if m == n and sql != "COMMIT"]
        again = []
        for n in order:
            again += [(m, sql) for m, sql in one_by_one if m == n] + [(n, "COMMIT")]
        got, left = play(connect, again, "READ COMMITTED")
        if left == table and all(got[n][2] == sessions[n][2] for n in order):
            return True
    return False


def test_isolation():
    wrong, used, differ = [], set(), 0
    with House(nodes=1, size="256m") as h:
        c = Compute(h)
        pg = Postgres()

        def ours():
            return Wire(c.port)

        def theirs():
            w = Wire(5432, host=pg.dir, user="judge", database="postgres")
            w.query("SET deadlock_timeout = '20ms'")
            return w

        try:
            for case, steps in CASES.items():
                loosest = None
                for level in LEVELS:
                    got, want = play(ours, steps, level), play(theirs, steps, level)
                    if level == "SERIALIZABLE" and not house.SANITIZE and not any("SKIP" in sql for _, sql in steps):
                        check(serial(ours, steps, got), "%s: no order of the transactions gives %r" % (case, got))
                    loosest = loosest or judged(got, case)
                    differ += judged(got, case) != loosest
                    if judged(got, case) == judged(want, case):
                        continue
                    if (case, level) in DIFFERENT:
                        used.add((case, level))
                        continue
                    wrong.append("%s, %s:\n   namdb      %r\n   PostgreSQL %r" % (case, level, got, want))
        finally:
            pg.close()
        c.terminate()
    check(not wrong, "%d outcomes differ:\n%s" % (len(wrong), "\n".join(wrong)))
    check(differ >= 15, "the levels differ, or these cases are blind:", differ)
    check(used == set(DIFFERENT), "these do not differ:", set(DIFFERENT) - used)
    print("   %d cases at %d levels, %d of them differ as documented" % (len(CASES), len(LEVELS), len(DIFFERENT)))


if __name__ == "__main__":
    house.main()
