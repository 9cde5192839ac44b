#!/usr/bin/env python3
"""Sessions of `namdb compute` under trouble: cancels, limits, slow and silent clients, thousands of them, the server's end."""
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, same, until
from wire import Wire, error, fields, kinds, row, rows, tags, texts

shared = None


def server():
    """One compute node for all tests of this file but the last ones; each makes its own tables."""
    global shared
    if shared is None:
        h = House(nodes=1, size="512m")
        shared = Compute(h, "--workers", "2", "--pg-sessions", "2100")
        w = Wire(shared.port)
        w.query("CREATE TABLE t (a integer PRIMARY KEY, b text)")
        w.query("INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 1000) g")
        w.close()
    return shared


def wire(**settings):
    return Wire(server().port, **settings)


def sessions():
    """Connections that the server has: its sockets."""
    n = 0
    for f in os.listdir("/proc/%d/fd" % server().p.pid):
        try:
            n += os.readlink("/proc/%d/fd/%s" % (server().p.pid, f)).startswith("socket:")
        except OSError:
            pass
    return n


SLOW_SQL = "SELECT count(*) FROM generate_series(1, 100000000) a WHERE a % 7 = 3"


# ---- COPY ----------------------------------------------------------------------------------


def test_copy_in():
    w = wire()
    w.query("CREATE TABLE c (a int PRIMARY KEY, b text)")
    w.send("Q", b"COPY c FROM STDIN\0")
    got = w.until("G", "E")
    same(got[-1], ("G", b"\0\0\2\0\0\0\0"), "CopyInResponse")
    for piece in (b"1\tx", b"\n2", b"", b"\t\\N\n", b"3\ta\\tb\n"):
        w.send("d", piece)
    w.raw(Wire.message("c") + Wire.message("Q", b"SELECT a, b FROM c ORDER BY a\0"))
    same(tags(w.until_ready()), ["COPY 3"])
    same(texts(w.until_ready()), [("1", "x"), ("2", None), ("3", "a\tb")])
    # The client gives up; a bad row; a wrong message; and CSV by the extended protocol.
    w.send("Q", b"COPY c FROM STDIN\0")
    w.raw(Wire.message("d", b"4\tx\n") + Wire.message("f", b"no more\0"))
    e = error(w.until_ready())
    same((e["C"], e["M"]), ("57014", "COPY from stdin failed: no more"))
    w.send("Q", b"COPY c FROM STDIN\0")
    w.raw(Wire.message("d", b"5\n") + Wire.message("d", b"6\tx\n" * 1000) + Wire.message("c"))
    same(error(w.until_ready())["C"], "22P04")
    w.send("Q", b"COPY c FROM STDIN\0")
    w.raw(Wire.message("d", b"7\tx\n") + Wire.message("Q", b"SELECT 1\0"))
    same(error(w.until_ready())["C"], "08P01")
    w.raw(w.parse("COPY c FROM STDIN (FORMAT csv)") + w.bind() + w.execute() + Wire.message("d", b'8,"q,\n"\n') + Wire.message("c") + w.SYNC)
    got = w.until_ready()
    same((kinds(got), tags(got)), ("12GCZ", ["COPY 1"]))
    same(texts(w.query("SELECT a, b FROM c WHERE a > 3")), [("8", "q,\n")])
    w.query("BEGIN")
    w.send("Q", b"COPY c FROM STDIN; SELECT 5\0")
    w.raw(Wire.message("d", b"9\tx\n") + Wire.message("c"))
    got = w.until_ready()
    same((tags(got), texts(got), w.state), (["COPY 1", "SELECT 1"], [("5",)], "T"), "COPY among other statements")
    w.query("ROLLBACK")
    # The client is gone in the middle: nothing of it stays.
    v = wire()
    v.send("Q", b"COPY c FROM STDIN\0")
    v.raw(Wire.message("d", b"10\tx\n"))
    v.until("G")
    v.s.close()
    until(lambda: texts(w.query("SELECT count(*) FROM c WHERE a = 10")) == [("0",)], 5, "COPY of a lost client")
    same(error(w.query("COPY c FROM '/etc/passwd'"))["C"], "42501")
    same(error(w.query("COPY c TO '/tmp/namdb-must-not-be'"))["C"], "42501")
    check(not os.path.exists("/tmp/namdb-must-not-be"), "no file was written")
    w.close()


def test_copy_out():
    w = wire()
    w.query("CREATE TABLE o (a int PRIMARY KEY, b text)")
    w.query("INSERT INTO o VALUES (1, 'x'), (2, E'a\\nb'), (3, NULL)")
    got = w.query("COPY (SELECT * FROM o ORDER BY a) TO STDOUT")
    same(kinds(got), "HdddcCZ")
    same([m[1] for m in got if m[0] == "d"], [b"1\tx\n", b"2\ta\\nb\n", b"3\t\\N\n"], "one message for each row")
    got = w.query("COPY (SELECT * FROM o ORDER BY a) TO STDOUT (FORMAT csv, HEADER)")
    same([m[1] for m in got if m[0] == "d"], [b"a,b\n", b"1,x\n", b'2,"a\nb"\n', b"3,\n"])
    got = w.query("COPY (SELECT g, 'text of row ' || g FROM generate_series(1, 200000) g) TO STDOUT")
    same(sum(1 for m in got if m[0] == "d"), 200000)
    same(tags(got), ["COPY 200000"])
    w.close()


# ---- cancels and limits on time -------------------------------------------------------------------


def cancel(w, key=None):
    s = socket.create_connection(("127.0.0.1", server().port))
    s.sendall(struct.pack("!IIII", 16, 80877102, w.pid, w.key if key is None else key))
    same(s.recv(1), b"", "the server closes")
    s.close()


def test_cancel():
    w = wire()
    for protocol in ("simple", "extended", "simple"):
        t0 = time.monotonic()
        threading.Timer(0.3, cancel, [w]).start()
        got = w.query(SLOW_SQL) if protocol == "simple" else w.extended(SLOW_SQL)
        same(error(got)["C"], "57014")
        check(time.monotonic() - t0 < 5 * house.SLOW, "it is soon over:", time.monotonic() - t0)
        same(texts(w.query("SELECT 1")), [("1",)])
    cancel(w)  # of an idle session: means nothing
    same(texts(w.query("SELECT 1")), [("1",)])
    cancel(w, w.key ^ 1)
    # While it waits for a lock.
    v = wire()
    v.query("BEGIN; UPDATE t SET b = 'w' WHERE a = 1")
    threading.Timer(0.3, cancel, [w]).start()
    same(error(w.query("UPDATE t SET b = 'x' WHERE a = 1"))["C"], "57014")
    v.query("ROLLBACK")
    v.close()
    w.close()


def test_limits_on_time():
    w = wire()
    w.query("SET statement_timeout = '300ms'")
    e = error(w.query(SLOW_SQL))
    same((e["C"], "statement timeout" in e["M"]), ("57014", True), e)
    w.query("RESET ALL")
    w.query("SET idle_in_transaction_session_timeout = '400ms'")
    w.query("BEGIN; UPDATE t SET b = 'gone' WHERE a = 2")
    time.sleep(0.1)
    same(texts(w.query("SELECT 1")), [("1",)], "a session that works lives on")
    e = error(w.ended())
    same((e["S"], e["C"]), ("FATAL", "25P03"))
    w = wire(options="-c idle_session_timeout=400")
    same(texts(w.query("UPDATE t SET b = 'here' WHERE a = 2 RETURNING b")), [("here",)], "its lock is free")
    e = error(w.ended())
    same((e["S"], e["C"]), ("FATAL", "57P05"))


# ---- clients that vanish, and that do not read ----------------------------------------------------


def test_disconnect_anywhere():
    rng = random.Random(7)
    w = wire()
    conversation = (b"".join([Wire.parse("UPDATE t SET b = $1 WHERE a = $2", "u"), Wire.bind(["z", 3], "u"), Wire.execute(), Wire.SYNC,
                              Wire.message("Q", b"BEGIN; UPDATE t SET b = 'y' WHERE a = 4; SELECT * FROM t\0"),
                              Wire.message("Q", b"COPY t FROM STDIN\0"), Wire.message("d", b"100000\tq\n")]))
    before = sessions()
    start = struct.pack("!II", 18, 196608) + b"user\0tst\0\0"
    for k in range(150):
        s = socket.create_connection(("127.0.0.1", server().port))
        data = start + conversation
        s.sendall(data[:rng.randrange(1, len(data) + 1)])
        if k % 3 == 0:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        elif k % 3 == 1:
            time.sleep(rng.random() / 50)
        s.close()
    same(tags(w.query("UPDATE t SET b = 'mine' WHERE a IN (3, 4)")), ["UPDATE 2"], "no lock has stayed:")
    same(texts(w.query("SELECT count(*) FROM t WHERE a = 100000")), [("0",)])
    until(lambda: sessions() <= before, 10, "the sessions of lost clients end")
    w.close()


def test_a_client_that_never_reads():
    clients = []
    for k in range(8):
        s = wire()
        s.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.send("Q", b"SELECT g, repeat('x', 1000) FROM generate_series(1, 1000000) g\0")
        clients.append(s)
    time.sleep(1)
    memory = server().memory()
    others = [wire() for _ in range(4)]
    t0 = time.monotonic()
    for _ in range(50):
        for w in others:
            same(texts(w.query("SELECT b FROM t WHERE a = 5")), [("v5",)])
    check(time.monotonic() - t0 < 5 * house.SLOW, "others are served meanwhile:", time.monotonic() - t0)
    check(server().memory() - memory < 64 << 20, "answers that nobody reads are not kept:", server().memory() - memory)
    cancel(clients[0])
    for s in clients:
        s.s.close()
    # Pipelined questions without reading: the server stops reading as well.
    s = wire()
    s.s.setblocking(False)
    sent, piece = 0, Wire.message("Q", b"SELECT repeat('y', 100000)\0") * 100
    try:
        while sent < 200 << 20:
            sent += s.s.send(piece)
    except BlockingIOError:
        pass
    check(sent < 100 << 20, "the server takes no questions whose answers nobody reads:", sent)
    same(texts(others[0].query("SELECT 1")), [("1",)])
    s.s.close()
    for w in others:
        w.close()


# ---- many ------------------------------------------------------------------------------------------


def test_two_thousand_idle():
    warm = [wire() for _ in range(20)]
    for w in warm:
        w.query("SELECT b FROM t WHERE a = 1")
    before = server().memory()
    n = 2000
    many = []
    for _ in range(n):
        many.append(wire())
    for w in many:
        w.extended("SELECT b FROM t WHERE a = $1", [7])
    each = (server().memory() - before) / n
    print("   %.1f KiB of resident memory each" % (each / 1024))
    if not house.SANITIZE:
        check(each < 64 << 10, "an idle session takes", each)
    time.sleep(0.5)
    cpu = server().cpu()
    time.sleep(2)
    used = (server().cpu() - cpu) / 2
    print("   %.1f %% of a core while all are idle" % (used * 100))
    check(used < 0.1 * house.SLOW, "idle sessions take no CPU time:", used)
    w = many[n // 2]
    t0 = time.monotonic()
    same(texts(w.query("SELECT b FROM t WHERE a = 8")), [("v8",)])
    check(time.monotonic() - t0 < 1 * house.SLOW, "one of them is served soon")
    # Too many of them: told so.
    more = []
    e = None
    for _ in range(200):
        x = wire(start=False)
        x.startup()
        got = x.until_ready()
        more.append(x)
        if got[-1][0] == "E":
            e = error(got)
            break
    check(e is not None and (e["S"], e["C"]) == ("FATAL", "53300"), e)
    for w in many + warm + more:
        w.s.close()
    until(lambda: sessions() < 100, 20, "all sessions end")


def test_fair_shares():
    """200 active sessions: each gets its share."""
    n, seconds = 200, 4
    conns = [wire() for _ in range(n)]
    done = [0] * n
    question = Wire.parse("SELECT b FROM t WHERE a = $1", "s")
    for w in conns:
        w.raw(question + Wire.SYNC)
        w.until_ready()
    ask = [Wire.bind([1 + k], "s") + Wire.execute() + Wire.SYNC for k in range(n)]
    import selectors
    sel = selectors.DefaultSelector()
    for k, w in enumerate(conns):
        sel.register(w.s, selectors.EVENT_READ, k)
        w.raw(ask[k])
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in sel.select(0.5):
            k = key.data
            got = conns[k].s.recv(65536)
            if got.endswith(b"Z\0\0\0\5I"):
                done[k] += 1
                conns[k].raw(ask[k])
    check(min(done) > 0, "every session was served")
    check(max(done) / min(done) < 3, "shares are fair:", min(done), max(done))
    for w in conns:
        w.s.close()


def test_long_statements_give_way():
    long = [wire() for _ in range(4)]
    for w in long:
        w.send("Q", SLOW_SQL.encode() + b"\0")
    time.sleep(0.2)
    took = []
    w = wire()
    for k in range(40):
        t0 = time.monotonic()
        same(texts(w.query("SELECT b FROM t WHERE a = %d" % (k + 10))), [("v%d" % (k + 10),)])
        took.append(time.monotonic() - t0)
    took.sort()
    print("   a look-up beside two long statements on each worker: %.1f ms (median), %.1f ms (worst)" % (
        took[20] * 1000, took[-1] * 1000))
    check(took[20] < 0.1 * house.SLOW, "look-ups do not wait for long statements:", took)
    for x in long:
        cancel(x)
        same(error(x.until_ready())["C"], "57014")
        x.close()
    w.close()


# ---- the end ------------------------------------------------------------------------------------------


def test_unix_socket_and_shutdown():
    with House(nodes=1, size="256m") as h:
        c = Compute(h, "--pg-socket", h.dir)
        path = os.path.join(h.dir, ".s.PGSQL.%d" % c.port)
        check(os.path.exists(path), "the socket is there")
        r = c.psql("-h", h.dir, "-Atc", "SELECT 'over ' || 'unix'").ok()
        same(r.out, "over unix\n")
        w, v, b, stranger = (Wire(c.port, start=k < 3) for k in range(4))
        w.query("CREATE TABLE t (a int PRIMARY KEY, b text)")
        w.query("INSERT INTO t VALUES (1, 'x')")
        v.query("BEGIN; UPDATE t SET b = 'y' WHERE a = 1")
        b.send("Q", SLOW_SQL.encode() + b"\0")
        never = Wire(c.port)
        never.send("Q", b"SELECT g, repeat('x', 1000) FROM generate_series(1, 1000000) g\0")
        time.sleep(0.5)
        t0 = time.monotonic()
        c.terminate()
        check(time.monotonic() - t0 < 5 * house.SLOW, "it ends soon:", time.monotonic() - t0)
        for x in (w, v, b):
            e = error(x.ended())
            same((e["S"], e["C"]), ("FATAL", "57P01"))
        same(fields(stranger.ended()[0][1])["C"], "57P03")
        check(not os.path.exists(path), "the socket is gone")
        c = Compute(h, "--pg-socket", h.dir)
        same(c.psql("-Atc", "SELECT b FROM t").ok().out, "x\n")
        c.kill()
        c = Compute(h, "--pg-socket", h.dir, pg="127.0.0.1:%d" % c.port)
        c.psql("-h", h.dir, "-Atc", "SELECT 1").ok()
        c.terminate()


def test_command_line():
    with House(nodes=1) as h:
        def refused(code, *args):
            r = house.run("compute", "--storage", h.storage(), "--secret-file", h.secret, *args, timeout=30)
            return r.fails(code)
        contains(refused(1, "--pg", "nonsense").err, "nonsense")
        refused(2, "--pg-sessions", "0")
        refused(2, "--unknown")
        refused(2, "word")
        refused(2, "--pg")
        contains(house.run("compute", "--help").ok().out, "--pg HOST:PORT")
        c = Compute(h)
        contains(refused(1, "--pg", "127.0.0.1:%d" % c.port).err, "another port")
        c.terminate()


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            try:
                shared.terminate()
            finally:
                shared.house.__exit__(None, None, None)
