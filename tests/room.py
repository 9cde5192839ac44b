"""room.py -- proof `room` of life.py: the memory of a compute process depends on what is open in it, not on what has been.

A first hundred of each kind of work, some idle seconds, and the private memory of the process is noted. Then much of each kind, one
after the other, in the same process, and after each some idle seconds: private memory has come back to what it was.

rows          one transaction after the other changes as many rows: INSERT ... SELECT, UPDATE, an UPDATE that is rolled back, DELETE, COPY
blocks        the same statements in one transaction, and savepoints
portals       portals that a row limit has left unfinished: their session ends, or their transaction does
plans         texts that no session has sent before, by each protocol; prepared statements made and closed
cursors       in a transaction, and WITH HOLD
results       a result of many megabytes, which its client reads slowly
sorts         sort, aggregate, join and DISTINCT over many rows
values        values of many megabytes, written and read
sessions      sessions at once
"""
import time

from aging import ask, own_memory
from house import Compute, House, check
from wire import Wire, error, texts


def no_error(got, what):
    bad = [m for m in got if m[0] == "E"]
    check(not bad, "%s:" % what, error(got) if bad else "")
    return got


def copy_in(w, table, first, n, piece=2000):
    w.send("Q", b"COPY %s FROM STDIN\0" % table.encode())
    no_error(w.until("G", "E"), "COPY")
    for at in range(first, first + n, piece):
        w.send("d", "".join("%d\t%d\tcopied %d\n" % (i, i, i) for i in range(at, min(at + piece, first + n))).encode())
    w.send("c")
    no_error(w.until_ready(), "COPY")


# ---- the kinds of work: do(process, n) -----------------------------------------------------

def rows(p, n):
    w = Wire(p.port, timeout=300)
    ask(w, "CREATE TABLE r (id integer PRIMARY KEY, a integer, b text); CREATE INDEX r_a ON r (a)")
    ask(w, "INSERT INTO r SELECT i, i, 'row ' || i FROM generate_series(1, %d) i" % n)
    ask(w, "UPDATE r SET a = a + 1, b = b || '.'")
    ask(w, "BEGIN; UPDATE r SET b = 'gone'; ROLLBACK")
    ask(w, "DELETE FROM r")
    copy_in(w, "r", n + 1, n)
    ask(w, "DROP TABLE r")
    w.close()


def blocks(p, n):
    w = Wire(p.port, timeout=300)
    ask(w, "CREATE TABLE s (id integer PRIMARY KEY, a integer)")
    ask(w, "BEGIN; INSERT INTO s SELECT i, i FROM generate_series(1, %d) i; SAVEPOINT x; UPDATE s SET a = a + 1; ROLLBACK TO x" % n)
    ask(w, "SAVEPOINT y; DELETE FROM s WHERE id % 2 = 0; RELEASE y; UPDATE s SET a = 7; COMMIT")
    ask(w, "DROP TABLE s")
    w.close()


def portals(p, n):
    """A tenth of them at once in each session, half of which end and half of which go on."""
    few = max(1, n // 10)
    stays = Wire(p.port, timeout=300)
    for i in range(10):
        w = Wire(p.port, timeout=300) if i % 2 == 0 else stays
        ask(w, "BEGIN")
        for k in range(few):
            sql = "SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i ORDER BY i %% %d" % (3 + k % 7)
            w.raw(w.parse(sql, "s") + w.bind(name="s", portal="p%d" % k) + w.execute("p%d" % k, 5) + w.close_of("S", "s"))
        w.raw(w.SYNC)
        no_error(w.until_ready(), "portals")
        if i % 2 == 0:
            w.close()
        else:
            ask(stays, "COMMIT" if i % 4 == 1 else "ROLLBACK")
    return stays


def plans(p, n):
    w = Wire(p.port, timeout=300)
    for i in range(n // 4):
        ask(w, "SELECT b, a + %d AS c%d FROM small WHERE id = %d" % (i, i, i))
        w.raw(w.parse("SELECT b FROM small WHERE id = $1 AND a <> %d AND b <> 'm%d'" % (i, i)) + w.bind(["1"]) + w.execute() +
              w.parse("UPDATE small SET a = a + %d WHERE id = $1 AND b = 'n%d'" % (i, i), "p%d" % i) + w.close_of("S", "p%d" % i) +
              w.SYNC)
        no_error(w.until_ready(), "plans")
        ask(w, "PREPARE q%d AS SELECT a FROM small WHERE id = $1 AND a <> %d; EXECUTE q%d(1); DEALLOCATE q%d" % (i, i, i, i))
    return w


def cursors(p, n):
    w = Wire(p.port, timeout=300)
    for hold in ("", " WITH HOLD"):
        ask(w, "BEGIN")
        for i in range(n // 2):
            ask(w, "DECLARE c%d SCROLL CURSOR%s FOR SELECT i, repeat('y', 100) FROM generate_series(1, 500) i; FETCH 3 FROM c%d" % (
                i, hold, i))
        ask(w, "COMMIT")
        if hold:
            ask(w, "CLOSE ALL")
    return w


def results(p, n):
    """n rows of 10,000 bytes."""
    w = Wire(p.port, timeout=300)
    w.send("Q", b"SELECT i, repeat('z', 10000) FROM generate_series(1, %d) i\0" % n)
    time.sleep(0.5)
    seen = 0
    while True:
        kind, _ = w.get()
        check(kind != "E", "a result")
        seen += kind == "D"
        if kind == "Z":
            break
    check(seen == n, "rows of the result: %d" % seen)
    return w


def sorts(p, n):
    w = Wire(p.port, timeout=300)
    series = "generate_series(1, %d)" % n
    ask(w, "SELECT * FROM (SELECT i, repeat('s', 20) FROM %s i ORDER BY -i) x OFFSET %d" % (series, n - 1))
    ask(w, "SELECT count(*) FROM (SELECT i %% 100000, string_agg(i::text, ',') FROM %s i GROUP BY 1) x" % series)
    ask(w, "SELECT count(*) FROM (SELECT DISTINCT i FROM %s i) x" % series)
    ask(w, "SELECT count(*) FROM %s a JOIN %s b ON a = b" % (series, series))
    return w


def values(p, n):
    """A value of n bytes."""
    w = Wire(p.port, timeout=300)
    ask(w, "CREATE TABLE v (id integer PRIMARY KEY, b text)")
    for i in range(3):
        ask(w, "INSERT INTO v VALUES (%d, repeat('%d', %d))" % (i, i, n))
    check(len(texts(ask(w, "SELECT b FROM v WHERE id = 1"))[0][0]) == n, "the value")
    ask(w, "DROP TABLE v")
    return w


def sessions(p, n):
    many = [Wire(p.port, timeout=300) for _ in range(n)]
    for i, w in enumerate(many):
        ask(w, "SELECT count(*) FROM small WHERE a > %d" % i)
    for w in many:
        w.close()


# What of each kind is few, and what is many.
KINDS = {"rows": (rows, 100, 1000000), "blocks": (blocks, 100, 300000), "portals": (portals, 100, 1000), "plans": (plans, 100, 100000),
         "cursors": (cursors, 100, 1000), "results": (results, 100, 20000), "sorts": (sorts, 100, 1000000),
         "values": (values, 10000, 50 << 20),
         "sessions": (sessions, 100, 500)}


def settled(p, most, rest):
    """Private memory once it is at most so much, or after so many seconds."""
    end = time.monotonic() + rest
    while own_memory(p) > most and time.monotonic() < end:
        time.sleep(0.5)
    return own_memory(p)


def room(f, share=1.0, fatter=1.2, rest=40, first_rest=15, kinds=None, together=False):
    """fatter: of private memory after the first hundred of each kind, so much may be left after many. together: memory has time to come
    back behind all kinds, not behind each."""
    some = {k: KINDS[k] for k in (kinds.split(",") if kinds else KINDS)}
    with House(nodes=1, size="%dm" % int(256 + 3000 * share), lease_ms=None) as h:
        p = Compute(h, "--workers", "2")
        w = Wire(p.port, timeout=300)
        ask(w, "CREATE TABLE small (id integer PRIMARY KEY, a integer, b text)")
        ask(w, "INSERT INTO small SELECT i, i, 'small' FROM generate_series(1, 1000) i")
        for do, few, _ in some.values():
            do(p, few)
        time.sleep(first_rest)
        before = own_memory(p)
        f["first_hundred_mib"] = before / (1 << 20)
        full, last = before, list(some)[-1]
        for name, (do, few, many) in some.items():
            was, t0 = own_memory(p), time.monotonic()
            open_still = do(p, max(few, int(many * share)))
            took, full = time.monotonic() - t0, max(full, own_memory(p))
            if together and name != last:
                continue
            after = settled(p, fatter * before if together else before, rest)
            f["all_mib" if together else name + "_mib"] = {"before": was / (1 << 20), "at its end": full / (1 << 20),
                                                           "afterwards": after / (1 << 20), "s": took}
            if together and full < 2 * before:
                f.wrong("%.1f MiB at the end are too few to prove anything" % (full / (1 << 20)))
            if after > fatter * before:
                f.wrong("%s: the process had %.1f MiB after the first hundred, and keeps %.1f after many" % (
                    "all" if together else name, before / (1 << 20), after / (1 << 20)))
            full = after
            del open_still
