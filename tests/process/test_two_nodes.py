#!/usr/bin/env python3
"""Two storage nodes and two SQL processes: what one commits the other sees, and nothing is lost."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, same, until


def visibility(fabric):
    with House(nodes=2) as h:
        a, b = h.shell(fabric=fabric), h.shell(fabric=fabric)
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, v text NOT NULL)")
        until(lambda: "ERROR" not in b.do("SELECT count(*) FROM t"), 1, "the other process sees the table")

        # A session sees its own at once; the other one soon after.
        slowest = 0
        for i in range(40):
            a.ok("INSERT INTO t VALUES (%d, 'row %d')" % (i, i))
            t0 = time.monotonic()
            same(a.value("SELECT v FROM t WHERE id = %d" % i), "row %d" % i, "own row at once")
            while b.value("SELECT count(*) FROM t WHERE id = %d" % i) != "1":
                check(time.monotonic() - t0 < 2 * house.SLOW, "row %d stays invisible to the other process" % i)
            slowest = max(slowest, time.monotonic() - t0)
        print("  %s: the slowest commit was seen by the other process after %.1f ms" % (fabric, slowest * 1000))

        # With visibility = cluster the answer itself is the promise.
        a.ok("SET namdb.visibility = 'cluster'")
        for i in range(100, 140):
            a.ok("INSERT INTO t VALUES (%d, 'x')" % i)
            same(b.value("SELECT count(*) FROM t WHERE id = %d" % i), "1", "visible at once with cluster")
            a.ok("UPDATE t SET v = 'y' WHERE id = %d" % i)
            same(b.value("SELECT v FROM t WHERE id = %d" % i), "y", "update visible at once with cluster")
            a.ok("DELETE FROM t WHERE id = %d" % i)
            same(b.value("SELECT count(*) FROM t WHERE id = %d" % i), "0", "delete visible at once with cluster")

        # An open snapshot stays what it was; the next one moves on.
        b.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
        same(b.value("SELECT count(*) FROM t"), "40")
        a.ok("INSERT INTO t VALUES (1000, 'late')")
        same(b.value("SELECT count(*) FROM t"), "40", "a snapshot does not move")
        b.ok("COMMIT")
        same(b.value("SELECT count(*) FROM t"), "41", "the next one does")

        # Another process does not see uncommitted rows.
        a.ok("BEGIN; INSERT INTO t VALUES (2000, 'never'); UPDATE t SET v = 'dirty' WHERE id = 1")
        same(a.value("SELECT v FROM t WHERE id = 1"), "dirty", "a transaction sees its own")
        same(b.value("SELECT v FROM t WHERE id = 1"), "row 1", "others do not")
        same(b.value("SELECT count(*) FROM t"), "41")
        a.ok("ROLLBACK")
        same(a.value("SELECT v FROM t WHERE id = 1"), "row 1")
        same(a.value("SELECT count(*) FROM t"), "41")
        a.close(0)
        b.close()  # its first look at t may have come too early: exit code 1


def test_visibility_shm():
    visibility("shm")


def test_visibility_tcp():
    visibility("tcp")


def test_fabrics_mix():
    """One process over shm, one over tcp, one cluster."""
    with House(nodes=2) as h:
        a, b = h.shell(fabric="shm"), h.shell(fabric="tcp")
        a.ok("SET namdb.visibility = 'cluster'")
        b.ok("SET namdb.visibility = 'cluster'")
        a.ok("CREATE TABLE t (id integer PRIMARY KEY, n integer)")
        a.ok("INSERT INTO t VALUES (1, 0)")
        for i in range(20):
            for s, other in ((a, b), (b, a)):
                s.ok("UPDATE t SET n = n + 1 WHERE id = 1")
                same(other.value("SELECT n FROM t"), s.value("SELECT n FROM t"))
        same(a.value("SELECT n FROM t"), "40")


def test_tables_lie_on_both_nodes():
    with House(nodes=2) as h:
        before = h.status()
        same(sorted(before), [1, 2])
        path = h.file("rows.csv", "".join("%d,%s\n" % (i, "x" * 150) for i in range(60000)))
        h.do("CREATE TABLE big (id integer PRIMARY KEY, v text)").ok()
        h.do("COPY big FROM '%s' WITH (FORMAT csv)" % path, timeout=120).ok()
        same(h.do("SELECT count(*), count(v) FROM big").ok().rows(), [("60000", "60000")])
        after = h.status()
        grew = {i: after[i]["in_use"] - before[i]["in_use"] for i in after}
        print("  memory in use grew by", grew)
        for i in after:
            s = after[i]
            same(s["in_use"] + s["given_back"] + s["never_used"], s["size"])
        total = sum(grew.values())
        check(total > 60000 * 150, "the rows must lie somewhere", grew)
        for i in grew:
            check(grew[i] > total / 5, "node %d holds its share" % i, grew)


def increments(fabric, isolation):
    clients, each = 8, 120 if house.SLOW == 1 else 25
    with House(nodes=2) as h:
        h.do("CREATE TABLE c (id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO c VALUES (1, 0), (2, 0)").ok()
        script = h.file("inc.sql", ("UPDATE c SET n = n + 1 WHERE id = 1;\n") * each)
        args = [house.NAMDB, "sql", "--storage", h.storage(), "--fabric", fabric, "--secret-file", h.secret]
        env = house.clean_env(h.env)
        if isolation:
            script = h.file("inc.sql", "SET default_transaction_isolation = '%s';\n" % isolation +
                            "UPDATE c SET n = n + 1 WHERE id = 1;\n" * each)
        running = []
        for _ in range(clients):
            with open(script, "rb") as f:
                p = subprocess.Popen(args, stdin=f, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
            running.append(p)
        done, conflicts = 0, 0
        for p in running:
            out, err = p.communicate(timeout=120 * house.SLOW)
            house.no_sanitizer_report(err.decode())
            done += len(re.findall(r"^UPDATE 1$", out.decode(), re.M))
            states = re.findall(r"ERROR:\s+([0-9A-Z]{5}):", err.decode())
            conflicts += len(states)
            check(set(states) <= {"40001"}, "only conflicts may fail an increment:", err.decode()[-2000:])
        n = int(h.do("SELECT n FROM c WHERE id = 1").value())
        print("  %s, %s: %d increments, %d conflicts" % (fabric, isolation or "read committed", done, conflicts))
        same(n, done, "every answered increment is there, and no other")
        same(done + conflicts, clients * each, "every statement was answered")
        if not isolation:
            same(conflicts, 0, "READ COMMITTED waits instead of failing")
        check(done >= clients, "some client gets through")
        same(h.do("SELECT n FROM c WHERE id = 2").value(), "0")


def test_increments_shm():
    increments("shm", None)


def test_increments_tcp():
    increments("tcp", None)


def test_increments_repeatable_read():
    increments("shm", "repeatable read")


def test_transfers_keep_the_sum():
    """Clients move money between accounts; a reader's every snapshot shows the same sum."""
    with House(nodes=2) as h:
        h.do("CREATE TABLE acc (id integer PRIMARY KEY, b integer NOT NULL)").ok()
        h.do("INSERT INTO acc VALUES " + ",".join("(%d, 100)" % i for i in range(10))).ok()
        each = 60 if house.SLOW == 1 else 12
        args = [house.NAMDB, "sql", "--storage", h.storage(), "--fabric", "shm", "--secret-file", h.secret]
        running = []
        for c in range(4):
            text = ""
            for i in range(each):
                x, y = (c * 3 + i) % 10, (c + i * 7 + 1) % 10
                if x == y:
                    y = (y + 1) % 10
                text += "BEGIN ISOLATION LEVEL REPEATABLE READ;\nUPDATE acc SET b = b - 5 WHERE id = %d;\n" % x
                text += "UPDATE acc SET b = b + 5 WHERE id = %d;\nCOMMIT;\n" % y
            path = h.file("t%d.sql" % c, text)
            with open(path, "rb") as f:
                running.append(subprocess.Popen(args, stdin=f, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                env=house.clean_env(h.env)))
        reader = h.shell()
        looks = 0
        while any(p.poll() is None for p in running) or looks < 5:
            same(reader.value("SELECT sum(b) FROM acc", timeout=60), "1000", "sum in one snapshot")
            looks += 1
        commits = 0
        for p in running:
            out, err = p.communicate(timeout=120 * house.SLOW)
            house.no_sanitizer_report(err.decode())
            commits += len(re.findall(r"^COMMIT$", out.decode(), re.M))
            states = set(re.findall(r"ERROR:\s+([0-9A-Z]{5}):", err.decode()))
            check(states <= {"40001", "40P01", "25P02"}, "only conflicts:", states, err.decode()[-2000:])
        print("  %d commits, %d looks" % (commits, looks))
        check(commits > 0)
        same(reader.value("SELECT sum(b) FROM acc"), "1000")
        same(reader.value("SELECT count(*) FROM acc"), "10")


if __name__ == "__main__":
    house.main()
