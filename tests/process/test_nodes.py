#!/usr/bin/env python3
"""Storage nodes that are absent, wrong, killed, doubled, back from the dead; and noise at their door."""
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, Proxy, check, contains, free_port, run, same, until


def one_line(r, *parts):
    lines = [l for l in r.err.splitlines() if l.strip()]
    same(len(lines), 1, "one line that says what to do: " + r.err)
    contains(r.err, *parts)
    same(r.out, "")


def test_nobody_there():
    with House() as h:
        port = free_port()
        for fabric in ("shm", "tcp", "auto"):
            t0 = time.monotonic()
            r = h.do("SELECT 1", storage="127.0.0.1:%d" % port, fabric=fabric).fails(1)
            one_line(r, "127.0.0.1:%d" % port)
            check(time.monotonic() - t0 < 10 * house.SLOW, "it says so soon")
        r = run("status", "--storage", "127.0.0.1:%d" % port, "--secret-file", h.secret, env=h.env)
        check(r.rc == 1, r)
        one_line(h.do("SELECT 1", storage="no-such-host.invalid:7411").fails(1), "no-such-host.invalid")
        one_line(h.do("SELECT 1", storage="127.0.0.1:notaport").fails(1), "notaport")


def test_one_of_two_is_missing():
    with House(nodes=1) as h:
        r = h.do("SELECT 1", storage=h.storage() + ",127.0.0.1:%d" % free_port()).fails(1)
        one_line(r)


def test_short_or_wrong_lists_touch_nothing():
    """A list that is not exactly the cluster's is refused, says which nodes it lacks, and the cluster goes on."""
    with House(nodes=3) as h:
        one, two, three = [n.address for n in h.nodes]
        full = h.storage()
        stranger = h.node(9).address
        s = h.shell(storage=full)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)")
        for fabric in ("shm", "tcp"):
            for there, missing in (((two, three), (one,)), ((one, three), (two,)), ((one, two), (three,)),
                                   ((two,), (one, three)), ((three,), (one, two)), ((one,), (two, three))):
                r = h.do("SELECT 1", storage=",".join(there), fabric=fabric).fails(1)
                one_line(r, *["node %d (%s)" % ((one, two, three).index(m) + 1, m) for m in missing])
                check(not any(a in r.err for a in there), "only those that are missing:", r)
                r = h.do("SELECT 1", storage=",".join(there + (stranger,)), fabric=fabric).fails(1)
                one_line(r, "not part of it: node 9 (%s)" % stranger, *missing)
            one_line(h.do("SELECT 1", storage=full + "," + stranger, fabric=fabric).fails(1), "node 9 (%s)" % stranger,
                     "leave")
            same(h.do("SELECT count(*) FROM t", storage=full, fabric=fabric).value(), "1", "the cluster goes on")
        s.ok("INSERT INTO t VALUES (2)")
        # The stranger is still free, and a cluster by itself when it is asked to be one.
        same(h.do("SELECT count(*) FROM nam_tables WHERE name = 't'", storage=stranger).value(), "0")
        one_line(h.do("SELECT 1", storage=full + "," + stranger).fails(1), "9")
        # If the other nodes of a cluster are gone for good, the rest can be made a new cluster.
        for n in h.nodes[:2]:
            n.kill()
        one_line(h.do("SELECT 1", storage=three).fails(1), one, two, "restart")
        h.nodes[2].terminate()
        same(h.do("SELECT 1", storage=h.node(3).address).value(), "1")
        s.p.kill()


def test_many_begin_at_once():
    """Processes that form a cluster at one moment, with one list or with two that overlap: one cluster, and clear words to the others."""
    for lists in (((0, 1, 2),), ((0, 1), (1, 2)), ((0, 1, 2), (1, 2))):
        with House(nodes=3) as h:
            ps = [subprocess.Popen([house.NAMDB, "sql", "--storage", ",".join(h.nodes[i].address for i in lists[k % len(lists)]),
                                    "--secret-file", h.secret, "--csv", "-c", "SELECT 7 AS n"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=house.clean_env(h.env))
                  for k in range(8)]
            said = [p.communicate(timeout=60 * house.SLOW) for p in ps]
            won = {k % len(lists) for k, p in enumerate(ps) if p.returncode == 0}
            same(len(won), 1, "one list has won: %r" % said)
            for k, p in enumerate(ps):
                if k % len(lists) in won:
                    same((p.returncode, said[k][0]), (0, "n\n7\n"), said[k][1])
                else:
                    same(p.returncode, 1)
                    contains(said[k][1], "missing" if "missing" in said[k][1] else "not part of")
            winner = lists[won.pop()]
            same(h.do("SELECT 1", storage=",".join(h.nodes[i].address for i in winner)).value(), "1", "and it lives on")


def test_wrong_secret():
    with House(nodes=1) as h:
        wrong = h.file("wrong", "another secret, as long as it has to be\n")
        os.chmod(wrong, 0o600)
        for fabric in ("shm", "tcp"):
            one_line(h.do("SELECT 1", secret=wrong, fabric=fabric).fails(1), "secret")
        r = run("status", "--storage", h.storage(), "--secret-file", wrong, env=h.env)
        check(r.rc == 1, r)
        contains(r.out + r.err, "secret")
        one_line(h.do("SELECT 1", secret=os.path.join(h.dir, "not-there")).fails(1), "not-there")
        # A secret that others may read, or that can be guessed, is refused by both ends before anything is opened.
        os.chmod(wrong, 0o644)
        one_line(h.do("SELECT 1", secret=wrong).fails(1), "chmod 600 " + wrong)
        one_line(run("storage", "--id", "2", "--secret-file", wrong, env=h.env).fails(1), "chmod 600 " + wrong)
        weak = h.file("weak", "sesame\n")
        os.chmod(weak, 0o600)
        one_line(h.do("SELECT 1", secret=weak).fails(1), "/dev/urandom")
        same(h.do("SELECT 1").value(), "1", "with the right one it works")


def test_open_door():
    """A node that others can reach says that nothing is encrypted; one that only this host can does not."""
    with House(nodes=1) as h:
        check("encryption" not in h.nodes[0].text(), h.nodes[0].text())
        node = h.node(2, listen="0.0.0.0:0")
        contains(node.text(), "beyond this host, without encryption")


def test_wrong_cluster():
    with House() as h:
        h.node(1, cluster="blue")
        r = h.do("SELECT 1").fails(1)
        one_line(r, "cluster")
        same(h.sql("--cluster", "blue", "-c", "SELECT 1").value(), "1")


def flip(offset):
    def change(data):
        if len(data) > offset:
            data[offset] ^= 0x55
        return data
    return change


def test_another_layout():
    """A peer whose formats differ is refused by the node, kindly; so is a node by a peer."""
    with House(nodes=1) as h:
        layout = 16  # net_hello.layout and net_welcome.layout both lie there, see net/wire.h
        p = Proxy(h.nodes[0], to_node=flip(layout))
        r = h.do("SELECT 1", storage=p.address, fabric="tcp").fails(1)
        one_line(r, "layout")
        p.close()
        p = Proxy(h.nodes[0], to_peer=flip(layout))
        one_line(h.do("SELECT 1", storage=p.address, fabric="tcp").fails(1))
        p.close()
        p = Proxy(h.nodes[0], to_node=flip(8))  # the version
        one_line(h.do("SELECT 1", storage=p.address, fabric="tcp").fails(1), "version")
        p.close()
        p = Proxy(h.nodes[0])  # untouched, it works
        same(h.do("SELECT 1", storage=p.address, fabric="tcp").value(), "1")
        p.close()


def test_somebody_else_at_that_port():
    """A server of another kind, and one that says nothing."""
    with House() as h:
        for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n" + b"x" * 200, b"", None):
            door = socket.create_server(("127.0.0.1", 0))

            def serve(door=door, answer=answer):
                held = []
                while True:
                    try:
                        s, _ = door.accept()
                    except OSError:
                        return
                    if answer is None:
                        held.append(s)  # holds its tongue
                    else:
                        s.sendall(answer)
                        s.close()
            threading.Thread(target=serve, daemon=True).start()
            t0 = time.monotonic()
            one_line(h.do("SELECT 1", storage="127.0.0.1:%d" % door.getsockname()[1]).fails(1))
            check(time.monotonic() - t0 < 15 * house.SLOW, "it gives up soon")
            door.close()


def test_second_node_with_the_same_id():
    with House() as h:
        h.node(1)
        h.node(1)
        one_line(h.do("SELECT 1").fails(1), "id")
        r = run("status", "--storage", h.storage(), "--secret-file", h.secret, env=h.env)
        check(r.rc == 1, r)


def test_port_in_use():
    with House(nodes=1) as h:
        n = h.node(2, listen="127.0.0.1:%d" % h.nodes[0].port(), expect=False)
        rc = n.p.wait(timeout=20 * house.SLOW)
        same(rc, 1)
        contains(n.text(), "%d" % h.nodes[0].port(), "in use")
        same(len(n.text().splitlines()), 1, "one line: " + n.text())
        same(h.do("SELECT 1").value(), "1", "the first one goes on")


def test_bad_command_lines():
    with House() as h:
        for args in (["storage"], ["storage", "--id", "0"], ["storage", "--id", "1024"],
                     ["storage", "--id", "1", "--size", "lots"], ["storage", "--id", "1", "extra"],
                     ["storage", "--id", "1", "--frobnicate"], ["sql", "--fabric", "pigeon"],
                     ["status", "--nonsense"], ["nonsense"], ["sql", "--frobnicate"]):
            r = run(*args, env=h.env, timeout=20)
            check(r.rc == 2, "bad usage is exit 2:", r)
            check(0 < len(r.err.splitlines()) <= 30, "it says what is wrong:", r)
        for verb in ("storage", "sql", "status", "demo", "bench"):
            r = run(verb, "--help", env=h.env, timeout=20).ok()
            contains(r.out, "usage")
        contains(run("--help", env=h.env).ok().out, "storage", "sql", "demo", "status")
        r = run("storage", "--id", "1", "--listen", "127.0.0.1:0", "--size", "400t", "--secret-file", h.secret,
                env=h.env, timeout=20)
        check(r.rc in (1, 2), "memory that is not there:", r)


def test_garbage_at_the_control_port():
    with House(nodes=1) as h:
        node = h.nodes[0]
        dice = random.Random(int(os.environ.get("NAM_SEED", "7")))
        h.do("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)").ok()
        magic = b"NAMDBNET"
        noise = [b"", b"\0", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", magic, magic + b"\xff" * 56, b"\xff" * 4096,
                 magic + b"\1\0\0\0\3\0\0\0" + b"\0" * 48, b"\0" * 64, magic + b"\1\0\0\0" + b"\xff" * 52 + b"\0" * 32]
        noise += [dice.randbytes(dice.randrange(1, 5000)) for _ in range(60)]
        noise += [magic + b"\1\0\0\0" + bytes([dice.randrange(5)]) + b"\0\0\0" + dice.randbytes(dice.randrange(48, 2000))
                  for _ in range(60)]
        silent = []
        for i, bytes_ in enumerate(noise):
            s = socket.create_connection(("127.0.0.1", node.port()))
            s.settimeout(2)
            try:
                s.sendall(bytes_)
                if i % 3 == 0:
                    s.recv(4096)
            except (OSError, socket.timeout):
                pass
            if i % 7 == 0:
                silent.append(s)  # stays connected, says nothing more
            else:
                s.close()
        check(node.p.poll() is None, "the node lives:", node.text())
        same(h.do("SELECT count(*) FROM t").value(), "1")
        same(h.do("SELECT count(*) FROM t", fabric="tcp").value(), "1")
        for s in silent:
            s.close()
        same(node.terminate(), 0)


def test_garbage_after_a_good_handshake():
    """A peer that knows the secret may still be broken: bad frames drop it, and nothing else."""
    with House(nodes=1) as h:
        h.do("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)").ok()
        dice = random.Random(11)

        for round_ in range(12):
            state = {"n": 0}
            door = socket.create_server(("127.0.0.1", 0))

            def serve():
                while True:
                    try:
                        peer, _ = door.accept()
                    except OSError:
                        return
                    up = socket.create_connection(("127.0.0.1", h.nodes[0].port()))
                    threading.Thread(target=Proxy.pump, args=(up, peer, None), daemon=True).start()
                    threading.Thread(target=corrupt, args=(peer, up), daemon=True).start()

            def corrupt(peer, up):
                total = 0
                try:
                    while True:
                        got = bytearray(peer.recv(65536))
                        if not got:
                            break
                        # 96 bytes are the handshake; behind them, now and then, a byte changes.
                        for i in range(len(got)):
                            if total + i >= 96 and dice.random() < 0.01:
                                got[i] ^= 1 << dice.randrange(8)
                                state["n"] += 1
                        total += len(got)
                        up.sendall(got)
                except OSError:
                    pass
                for s in (peer, up):
                    try:
                        s.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
            threading.Thread(target=serve, daemon=True).start()
            try:
                # Only reads are sent: a flipped bit in a WRITE is a write like any other.
                run("status", "--storage", "127.0.0.1:%d" % door.getsockname()[1], "--fabric", "tcp",
                    "--secret-file", h.secret, env=h.env, timeout=15)
            except AssertionError as e:
                check("did not end" in str(e), e)
            door.close()
            check(h.nodes[0].p.poll() is None, "the node lives:", h.nodes[0].text())
        same(h.do("SELECT 1").value(), "1", "the node serves others")


def killed_node(fabric):
    with House(nodes=2) as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        path = h.file("r.csv", "".join("%d,%s\n" % (i, "k" * 200) for i in range(20000)))
        s.ok("COPY t FROM '%s' WITH (FORMAT csv)" % path, timeout=60)
        same(s.value("SELECT count(*) FROM t"), "20000")
        h.nodes[1].kill()
        t0 = time.monotonic()
        # Over shm its memory stays mapped until the news has come: an answer before that is a right one.
        until(lambda: "58030" in s.do("SELECT count(v) FROM t"), 3, "the node's death is noticed")
        took = time.monotonic() - t0
        print("  %s: 58030 after %.2f s" % (fabric, took))
        check(took < 20 * house.SLOW, "it does not hang")
        same(s.value("SELECT 1 + 1"), "2", "a statement without tables needs no node")
        s.fails("SELECT count(v) FROM t", "58030")
        s.do("ROLLBACK")
        s.close()


def test_kill_9_of_a_storage_node_shm():
    killed_node("shm")


def test_kill_9_of_a_storage_node_tcp():
    killed_node("tcp")


def killed_under_an_index(fabric):
    """An index lies on two nodes, half of its keys on each, and one is killed. Rows whose entry and record lie on
    the other are still found; all others answer 58030, and never a wrong row or none."""
    rows, key = 1600000, "%048d"
    with House(nodes=2, size="768m") as h:
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, k varchar(48) NOT NULL)")
        path = h.file("r.csv", "".join(("%d," + key + "\n") % (i, i) for i in range(rows)))
        s.ok("COPY t FROM '%s' WITH (FORMAT csv); CREATE INDEX t_k ON t (k)" % path, timeout=120 * house.SLOW)
        contains(s.do("EXPLAIN SELECT id FROM t WHERE k = 'x'"), "Index Scan using t_k")

        def ask(i):
            out = s.do(("SELECT id FROM t WHERE k = '" + key + "'") % i)
            if "58030" in out:
                return None
            # The word that the node is gone may come between, at any time.
            out = "\n".join(line for line in out.split("\n") if not line.startswith(("namdb: storage node", "namdb: the rings to storage node")))
            same(out.split(), ["id", str(i)], "row %d" % i)
            return i

        def found(sample):
            return len([i for i in sample if ask(i) is not None])

        low = range(0, rows // 4, rows // 4 // 60)
        high = range(7 * rows // 8, rows, rows // 8 // 60)
        # Half of the first partition moves in the background.
        time.sleep(3 * house.SLOW)
        for sample in low, high:
            same(found(sample), len(sample), "all before the node dies")
        h.nodes[1].kill()
        until(lambda: found(low) < len(low) or found(high) < len(high), 5, "the node's death is noticed")
        n = found(low), found(high)
        print("  %s: of %d and %d rows of two partitions %d and %d" % (fabric, len(low), len(high), n[0], n[1]))
        same(min(n), 0, "one partition was on the lost node")
        check(len(low) // 4 < max(n) < 3 * len(low) // 4, "half of the other one's rows are on the living node: %r" % (n,))
        s.fails("SELECT count(*) FROM t WHERE k > ''", "58030")
        s.fails(("INSERT INTO t VALUES (-1, '" + key + "')") % (0 if n[0] == 0 else rows), "58030")
        s.close()


def test_kill_9_under_an_index_shm():
    if house.SLOW > 4:
        house.skip("its memory and the sanitizer's shadow of it: more than the machine may have")
    killed_under_an_index("shm")


def test_kill_9_under_an_index_tcp():
    if not house.LONG or house.SLOW > 1:
        house.skip("a million rows over tcp are for the long form")
    killed_under_an_index("tcp")


def test_kill_9_in_the_middle_of_a_copy():
    with House(nodes=2, size="256m") as h:
        s = h.shell(fabric="tcp")
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        path = h.file("r.csv", "".join("%d,%s\n" % (i, "k" * 100) for i in range(300000)))
        timer = threading.Timer(0.3 * house.SLOW, h.nodes[1].kill)
        timer.start()
        out = s.do("COPY t FROM '%s' WITH (FORMAT csv)" % path, timeout=120)
        timer.join()
        check("58030" in out or "COPY 300000" in out, out)
        if "COPY 300000" in out:
            until(lambda: "58030" in s.do("SELECT count(v) FROM t"), 3, "the node's death is noticed")
        else:  # rolled back: nothing of it, or nothing to be had; never a part of it
            out = s.do("SELECT count(v) AS n FROM t")
            check("58030" in out or "n\n0\n" in out, out)
        s.close()


def test_home_node_killed():
    with House(nodes=1) as h:
        s = h.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)")
        h.nodes[0].kill()
        until(lambda: "58030" in s.do("SELECT * FROM t", timeout=40), 3, "the node's death is noticed")
        s.fails("INSERT INTO t VALUES (2)", "58030", timeout=40)
        s.close()


def came_back_empty(fabric):
    with House(nodes=2) as h:
        storage = h.storage()
        s = h.shell(fabric=fabric)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, v text)")
        path = h.file("r.csv", "".join("%d,%s\n" % (i, "k" * 200) for i in range(20000)))
        s.ok("COPY t FROM '%s' WITH (FORMAT csv)" % path, timeout=60)
        old = h.nodes[1]
        old.kill()
        back = h.node(2, listen=old.address)
        until(lambda: "58030" in s.do("SELECT count(v) FROM t", timeout=40), 3, "the node's death is noticed")
        # A new process may start or refuse to; what it must not do is answer from the empty node.
        r = h.do("SELECT count(v) FROM t", storage=storage, fabric=fabric)
        check(r.rc == 1, "refused:", r)
        check("58030" in r.err or "incarnation" in r.err or "empty" in r.err, "it says why:", r)
        same(r.out, "")
        # And the reverse: the home node back, empty, under its old id.
        s.close()
        h.nodes[0].kill()
        check(back.p.poll() is None, "the node lives")


def test_node_back_empty_shm():
    came_back_empty("shm")


def test_node_back_empty_tcp():
    came_back_empty("tcp")


def test_home_back_empty_is_noticed_by_who_knew_it():
    with House(nodes=2) as h:
        s = h.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY)")
        old = h.nodes[0]
        old.kill()
        h.node(1, listen=old.address)
        until(lambda: "58030" in s.do("SELECT * FROM t", timeout=40), 3, "the node's death is noticed")
        s.fails("INSERT INTO t VALUES (1)", "58030", timeout=40)
        s.close()


def test_connections_break_and_the_session_goes_on():
    """The node and its data are there all the time; only a process in the middle of a statement is told."""
    with House(nodes=2) as h:
        p = Proxy(h.nodes[1])
        s = h.shell(fabric="tcp", storage=h.nodes[0].address + "," + p.address)
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, n integer NOT NULL, fill text)")
        s.ok("INSERT INTO t SELECT i, 0, repeat('x', 200) FROM generate_series(1, 5000) AS i")
        moved = told = 0
        for _ in range(6):
            until(lambda: len(p.pairs) >= 2, 5, "the node has connections through the proxy")
            p.cut()
            for _ in range(20):
                out = s.do("UPDATE t SET n = n + 1; SELECT 'all ' || count(*) FROM t", timeout=40)
                if "ERROR" not in out:
                    break
                contains(out, "58030")
                told += 1
                time.sleep(0.05)
            contains(out, "all 5000")
            # Each UPDATE was for all of the rows or for none, and those that were answered are there.
            lowest, highest = [int(s.value("SELECT %s(n) FROM t" % f)) for f in ("min", "max")]
            same(lowest, highest, "all rows or none")
            check(lowest > moved, "what was answered is there:", lowest, moved)
            moved = lowest
        check(told <= 6 * 3, "the first statements after a break may fail, no more:", told)
        # In the middle of a transaction: that one is over, and what it locked is free.
        s.ok("BEGIN")
        s.ok("UPDATE t SET n = -1")
        p.cut()
        s.do("SELECT count(*) FROM t", timeout=40)
        s.do("ROLLBACK")
        until(lambda: "ERROR" not in s.do("UPDATE t SET n = 7", timeout=40), 3, "it goes on")
        same(h.do("SELECT min(n) + max(n) FROM t", storage=h.storage(), fabric="tcp").value(), "14")
        s.close()
        p.close()


def test_sigterm_is_a_clean_end():
    for sig in (signal.SIGTERM, signal.SIGINT):
        with House(nodes=1) as h:
            h.do("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)").ok()
            shm, tcp = h.shell(fabric="shm"), h.shell(fabric="tcp")
            same(shm.value("SELECT count(*) FROM t"), "1")
            same(tcp.value("SELECT count(*) FROM t"), "1")
            node = h.nodes[0]
            node.p.send_signal(sig)
            same(node.p.wait(timeout=10 * house.SLOW), 0, "exit code with peers connected")
            until(lambda: "58030" in shm.do("SELECT count(*) FROM t", timeout=40), 3, "its end is noticed")
            until(lambda: "58030" in tcp.do("SELECT count(*) FROM t", timeout=40), 3, "its end is noticed")
            shm.close()
            tcp.close()
            # The address is free again at once.
            again = h.node(1, listen=node.address)
            same(again.terminate(), 0)


def test_sigterm_ends_a_shell_and_the_cluster_goes_on():
    with House(nodes=1) as h:
        s, other = h.shell(), h.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, n integer)")
        s.ok("INSERT INTO t VALUES (1, 0)")
        until(lambda: "ERROR" not in other.do("SELECT * FROM t"), 2, "the table is seen")
        s.ok("BEGIN; UPDATE t SET n = 1 WHERE id = 1")
        s.p.send_signal(signal.SIGTERM)
        s.p.wait(timeout=20 * house.SLOW)
        check(s.p.returncode in (0, 1, 143, -signal.SIGTERM), "exit", s.p.returncode)
        other.ok("UPDATE t SET n = n + 10 WHERE id = 1", timeout=30)
        same(other.value("SELECT n FROM t"), "10", "its transaction was rolled back")
        other.close(0)


def test_a_killed_shell_harms_nobody_else():
    """kill -9 of a compute process that holds no lock: others read and write on."""
    with House(nodes=1) as h:
        s, other = h.shell(), h.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, n integer)")
        s.ok("INSERT INTO t VALUES (1, 0)")
        until(lambda: "ERROR" not in other.do("SELECT * FROM t"), 2, "the table is seen")
        s.p.kill()
        s.p.wait()
        for i in range(10):
            other.ok("UPDATE t SET n = n + 1 WHERE id = 1", timeout=30)
        same(other.value("SELECT n FROM t"), "10")
        other.close(0)


def test_nodes_outlive_many_peers():
    with House(nodes=1) as h:
        h.do("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)").ok()
        for i in range(12 if house.SLOW == 1 else 4):
            same(h.do("SELECT count(*) FROM t", fabric=("shm", "tcp")[i % 2]).value(), "1")
        until(lambda: h.status()[1]["peers"] <= 1, 5, "peers that left are forgotten")


if __name__ == "__main__":
    house.main()
