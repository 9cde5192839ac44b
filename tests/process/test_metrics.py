#!/usr/bin/env python3
"""What a compute node tells of itself: Prometheus's figures, pg_stat_activity and pg_stat_database, the log of slow statements."""
import os
import re
import socket
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, run, same, until
from wire import Wire, error, texts

shared = None


def server():
    global shared
    if shared is None:
        shared = Compute(House(nodes=1, size="256m"), "--metrics", "0", "--workers", "2")
        w = Wire(shared.port)
        w.query("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1), (2, 2)")
        w.close()
    return shared


def address(c):
    return re.search(r"metrics at (http://127\.0\.0\.1:[0-9]+/metrics)", c.text()).group(1)


def figures(c):
    """Every sample of an answer: name with labels -> value. The format is checked on the way."""
    with urllib.request.urlopen(address(c), timeout=20 * house.SLOW) as r:
        same((r.status, r.headers["Content-Type"].split(";")[0]), (200, "text/plain"))
        text = r.read().decode()
    kinds, out = {}, {}
    for line in text.splitlines():
        m = re.fullmatch(r"# TYPE ([a-z_]+) (counter|gauge|histogram)", line)
        if m:
            check(m.group(1) not in kinds, "one TYPE for each name:", line)
            kinds[m.group(1)] = m.group(2)
            continue
        if line.startswith("# HELP "):
            continue
        m = re.fullmatch(r'([a-z_]+)(\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? (-?[0-9.]+)', line)
        check(m, "a sample:", line)
        check(m.group(1) in kinds or re.sub("_(bucket|sum|count)$", "", m.group(1)) in kinds, "a TYPE before it:", line)
        key = m.group(1) + (m.group(2) or "")
        check(key not in out, "once only:", line)
        out[key] = float(m.group(3))
    return out


def rows(w, sql):
    return texts(w.query(sql))


def test_figures_move_with_the_work():
    c = server()
    before = figures(c)
    w = Wire(c.port)
    for _ in range(50):
        w.query("SELECT n FROM t WHERE id = 1")
    for i in range(10):
        w.query("UPDATE t SET n = n + 1 WHERE id = 2")
    w.query("INSERT INTO t VALUES (1, 1)")
    w.query("SELECT 1/0")
    w.query("SELEC")
    w.query("BEGIN")
    w.query("SELECT 1")
    w.query("ROLLBACK")
    after = figures(c)

    def grew(key):
        return after[key] - before[key]

    same(grew('namdb_failures_total{cause="constraint"}'), 1)
    same(grew('namdb_failures_total{cause="data"}'), 1)
    same(grew('namdb_failures_total{cause="syntax"}'), 1)
    same(grew("namdb_statement_seconds_count"), 66)
    same(grew("namdb_transaction_seconds_count"), 64)
    check(60 <= grew('namdb_transactions_total{end="commit"}') <= 61, "commits:", grew('namdb_transactions_total{end="commit"}'))
    check(grew('namdb_transactions_total{end="rollback"}') >= 3, "rollbacks")
    check(grew('namdb_verbs_total{verb="read"}') >= 50, "READs")
    check(grew('namdb_verbs_total{verb="cas"}') >= 10, "CASes")
    check(grew("namdb_round_trips_total") >= 50, "round trips")
    check(grew('namdb_verb_bytes_total{direction="in"}') > 1000, "bytes")
    check(after["namdb_snapshot_cid"] > before["namdb_snapshot_cid"], "the snapshot")
    check(after["namdb_watermark_cid"] <= after["namdb_snapshot_cid"], "the watermark")
    same(after['namdb_region_up{region="1"}'], 1)
    parts = [after['namdb_region_bytes{region="1",use="%s"}' % p] for p in ("in_use", "given_back", "never_used")]
    same(sum(parts), 256 << 20)
    check(parts[0] > 0, "memory in use")
    same((after["namdb_workers"], after["namdb_workers_silent"], after["namdb_member"]), (2, 0, 1))
    buckets = [v for k, v in after.items() if k.startswith("namdb_statement_seconds_bucket")]
    check(buckets == sorted(buckets) and buckets[-1] == after["namdb_statement_seconds_count"], "buckets add up:", buckets)
    check(after["namdb_statement_seconds_sum"] > before["namdb_statement_seconds_sum"], "time")
    w.close()


def test_memory():
    """The process's own memory, as the kernel tells it; what an open cursor holds, and that it goes back with the cursor."""
    c = server()
    w = Wire(c.port)

    def held():
        return figures(c)['namdb_process_memory_bytes{part="statements"}']

    same(figures(c)["namdb_process_memory_limit_bytes"], 0)
    w.query("SET namdb.process_memory = '512MB'")
    same(figures(c)["namdb_process_memory_limit_bytes"], 512 << 20)
    w.query("RESET namdb.process_memory")
    before = held()
    w.query("BEGIN")
    w.query("DECLARE much SCROLL CURSOR FOR SELECT i, repeat('x', 100) FROM generate_series(1, 200000) i")
    w.query("FETCH LAST FROM much")
    check(held() > before + (10 << 20), "the cursor's rows are counted: %d, then %d" % (before, held()))
    w.query("COMMIT")
    check(held() < before + (4 << 20), "and go back: %d, then %d" % (before, held()))
    now = figures(c)
    with open("/proc/%d/status" % c.p.pid) as f:
        is_now = 1024 * int(re.search(r"RssAnon:\s+([0-9]+)", f.read()).group(1))
    told = now['namdb_process_memory_bytes{part="resident"}']
    check(0.5 * told < is_now < 2 * told, "resident: %d told, %d" % (told, is_now))
    if not house.SANITIZE:
        check(now['namdb_process_memory_bytes{part="allocated"}'] > 1 << 20 and
              now['namdb_process_memory_bytes{part="freed"}'] > 0, "the allocator's figures")
    w.close()


def test_sessions():
    c = server()
    until(lambda: figures(c)['namdb_sessions{state="idle"}'] == 0, 20, "no session")
    idle, block, failed = Wire(c.port), Wire(c.port), Wire(c.port)
    block.query("BEGIN")
    block.query("SELECT * FROM t")
    failed.query("BEGIN")
    failed.query("SELECT 1/0")
    time.sleep(0.2)
    f = figures(c)
    same([f['namdb_sessions{state="%s"}' % s] for s in ("active", "idle", "idle_in_transaction", "failed_transaction")], [0, 1, 1, 1])
    check(0.2 <= f["namdb_snapshot_age_seconds"] < 100 * house.SLOW, "the age of the oldest transaction:", f["namdb_snapshot_age_seconds"])
    for w in (idle, block, failed):
        w.close()
    until(lambda: figures(c)["namdb_snapshot_age_seconds"] == 0, 20, "no transaction")


def test_activity():
    c = server()
    until(lambda: figures(c)['namdb_sessions{state="idle"}'] == 0, 20, "no session")
    me, other = Wire(c.port, application_name="first"), Wire(c.port, user="ann", application_name="sécond")
    other.query("BEGIN")
    other.query("SELECT 'über' AS x")
    same(rows(me, "SELECT pid = %d, usename, application_name, client_addr, client_port > 0, state, query, backend_type, datname, "
              "xact_start <= query_start, query_start <= state_change, backend_start <= xact_start, wait_event "
              "FROM pg_stat_activity WHERE pid <> pg_backend_pid()" % other.pid),
         [("t", "ann", "sécond", "127.0.0.1", "t", "idle in transaction", "SELECT 'über' AS x", "client backend", "namdb", "t", "t", "t",
           "ClientRead")])
    mine = "SELECT pid, state, query, xact_start = query_start FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()"
    same(rows(me, mine), [(str(me.pid), "active", mine, "t")])
    other.query("COMMIT")
    # A prepared statement sees what is so when it runs, not when it was prepared.
    me.query("PREPARE p AS SELECT state, query, xact_start IS NULL FROM pg_stat_activity WHERE pid = %d" % other.pid)
    same(rows(me, "EXECUTE p"), [("idle", "COMMIT", "t")])
    other.query("SELECT 'changed'")
    same(rows(me, "EXECUTE p"), [("idle", "SELECT 'changed'", "t")])
    other.query("SET application_name = 'third'")
    same(rows(me, "SELECT application_name FROM pg_stat_activity WHERE pid = %d" % other.pid), [("third",)])
    # Texts are cut at 1,023 bytes, between letters.
    other.query("SELECT '" + "é" * 3000 + "'")
    kept = rows(me, "SELECT query FROM pg_stat_activity WHERE pid = %d" % other.pid)[0][0]
    check(kept.startswith("SELECT 'éé") and 1000 < len(kept.encode()) <= 1023, "cut off:", len(kept))
    same(rows(me, "SELECT numbackends, xact_commit > 0, xact_rollback >= 0 FROM pg_stat_database WHERE datname = current_database()"),
         [("2", "t", "t")])
    me.query("CREATE VIEW acts AS SELECT pid FROM pg_stat_activity")
    same(rows(me, "SELECT count(*) FROM acts"), [("2",)])
    same(rows(me, "SELECT count(*) FROM (SELECT 1 FROM pg_stat_activity a JOIN pg_stat_activity b USING (pid)) x"), [("2",)])
    same(error(me.query("DELETE FROM pg_stat_activity"))["C"], "42501")
    other.close()
    until(lambda: rows(me, "SELECT count(*) FROM acts") == [("1",)], 20, "its row goes with a session")
    me.query("DROP VIEW acts")
    me.close()


def test_signals():
    c = server()
    me, other, ann = Wire(c.port), Wire(c.port), None
    same(rows(me, "SELECT pg_cancel_backend(%d), pg_cancel_backend(1000000)" % other.pid), [("t", "f")])
    same(rows(other, "SELECT 1"), [("1",)])  # it was idle: nothing to cancel
    other.send("Q", b"SELECT count(*) FROM generate_series(1, 10000000000)\0")
    until(lambda: rows(me, "SELECT state FROM pg_stat_activity WHERE pid = %d" % other.pid) == [("active",)], 20, "it runs")
    same(rows(me, "SELECT pg_cancel_backend(%d)" % other.pid), [("t",)])
    same(error(other.until_ready())["C"], "57014")
    same(rows(other, "SELECT 2"), [("2",)])
    me.query("CREATE ROLE weak LOGIN")
    me.query("CREATE ROLE ann LOGIN")
    ann, weak = Wire(c.port, user="ann"), Wire(c.port, user="weak")
    for call in ("pg_cancel_backend", "pg_terminate_backend"):
        for pid in (other.pid, ann.pid):
            same(error(weak.query("SELECT %s(%d)" % (call, pid)))["C"], "42501")
    own = weak.query("SELECT pg_cancel_backend(%d)" % weak.pid)  # it may be over before it sees that it is cancelled
    if any(m[0] == "E" for m in own):
        same(error(own)["C"], "57014")
    same(rows(weak, "SELECT 3"), [("3",)])  # never the next statement
    same(rows(me, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'"), [("t",)])
    same(error(ann.ended())["C"], "57P01")
    other.query("BEGIN")
    other.query("INSERT INTO t VALUES (77, 7)")
    same(rows(me, "SELECT pg_terminate_backend(%d)" % other.pid), [("t",)])
    same(error(other.ended())["C"], "57P01")
    same(rows(me, "SELECT * FROM t WHERE id = 77"), [])
    same([m for m in me.query("SELECT pg_terminate_backend(%d)" % other.pid) if m[0] == "N"][0][1][:0], b"")
    for w in (me, weak):
        w.close()


def test_slow_statements():
    c = server()
    w = Wire(c.port)
    same(rows(w, "SHOW log_min_duration_statement"), [("-1",)])
    w.query("SET log_min_duration_statement = '10s'")
    w.query("SELECT 'this is fast'")
    same(rows(w, "SHOW log_min_duration_statement"), [("10s",)])
    w.query("SET log_min_duration_statement = 0")
    w.query("SELECT 'this\nis logged'")
    w.query("RESET log_min_duration_statement")
    w.query("SELECT 'this is not'")
    until(lambda: "this is logged" in c.text(), 10, "the log")
    check(re.search(r"namdb: \[%d\] namdb LOG:  duration: [0-9]+\.[0-9]{3} ms  statement: SELECT 'this is logged'\n" % w.pid, c.text()),
          "the line:", c.text())
    check("this is fast" not in c.text() and "this is not" not in c.text(), "no others:", c.text())
    same(error(w.query("SET log_min_duration_statement = 'soon'"))["C"], "22023")
    w.query("CREATE ROLE plain LOGIN")
    p = Wire(c.port, user="plain")
    same(error(p.query("SET log_min_duration_statement = 0"))["C"], "42501")
    p.close()
    w.close()


def test_slow_statements_of_all_sessions():
    c = Compute(House(nodes=1, size="64m"), "--log-slow", "0", "--log-level", "error")
    w = Wire(c.port)
    w.raw(Wire.parse("SELECT $1::text || 'prepared'") + Wire.bind(["is "]) + Wire.execute() + Wire.SYNC)
    w.until_ready()
    until(lambda: "statement: SELECT $1::text || 'prepared'" in c.text(), 10, "the log")
    same(rows(w, "SHOW log_min_duration_statement"), [("0",)])
    w.close()
    c.terminate()


def test_http():
    c = server()
    port = int(address(c).rsplit(":", 1)[1].split("/")[0])
    for path, code in (("/", 404), ("/metricsx", 404), ("/metrics?x=1", 200)):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=20) as r:
                same(r.status, code)
        except urllib.error.HTTPError as e:
            same(e.code, code, path)

    def ask(data, shut=True):
        s = socket.create_connection(("127.0.0.1", port), timeout=20 * house.SLOW)
        try:
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
            out = b""
            while True:
                more = s.recv(4096)
                if not more:
                    return out
                out += more
        except OSError:  # the server has closed it
            return b""
        finally:
            s.close()

    check(ask(b"POST /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 405 "), "POST")
    same(ask(b""), b"")
    same(ask(b"GET /metr"), b"")
    same(ask(b"x" * 100000), b"")
    check(ask(b"\0\xff\r\n\r\n").startswith(b"HTTP/1.1 405 "), "nonsense")
    silent = socket.create_connection(("127.0.0.1", port))  # it says nothing, and is given up
    check(figures(c)["namdb_workers"] == 2, "a silent client does not stop the others")
    silent.close()
    r = run("compute", "--storage", c.house.storage(), "--secret-file", c.house.secret, "--pg", "127.0.0.1:0", "--metrics", str(port))
    same(r.rc, 1)
    check("choose another port with --metrics" in r.err, r.err)
    for bad in ("--metrics=x:y:z", "--log-level=loud", "--log-slow=-1"):
        r = run("compute", "--storage", c.house.storage(), "--secret-file", c.house.secret, "--pg", "127.0.0.1:0", bad)
        check(r.rc in (1, 2) and "namdb compute: " in r.err, r.err)


def test_a_node_that_is_lost():
    h = House(nodes=2, size="64m")
    c = Compute(h, "--metrics", "127.0.0.1:0")
    same([figures(c)['namdb_region_up{region="%d"}' % k] for k in (1, 2)], [1, 1])
    h.nodes[1].kill()
    until(lambda: figures(c)['namdb_region_up{region="2"}'] == 0, 30, "the lost node is told")
    f = figures(c)
    same(f['namdb_region_up{region="1"}'], 1)
    check('namdb_region_bytes{region="2",use="in_use"}' not in f, "nothing is made up of a lost node")


if __name__ == "__main__":
    house.main()
