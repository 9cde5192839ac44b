#!/usr/bin/env python3
"""Signals, health and the log: SIGHUP reads certificates and the log's level again and ends nothing; a compute node that cannot serve
says so (57P03, /health) and serves again by itself; a stderr that nobody reads stops nothing."""
import os
import re
import shutil
import signal
import ssl
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import NAMDB, Compute, House, check, clean_env, contains, same, skip, until
from wire import Wire, error, texts


def certificate(folder, name):
    if shutil.which("openssl") is None:
        skip("there is no openssl here")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-days", "2", "-keyout",
                    folder + "/key.pem", "-out", folder + "/cert.pem"], check=True, capture_output=True)
    os.chmod(folder + "/key.pem", 0o600)


def subject(port):
    """Of the certificate that the server shows."""
    s = socket.create_connection(("127.0.0.1", port), timeout=20)
    s.sendall(struct.pack("!II", 8, 80877103))
    same(s.recv(1), b"S")
    how = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    how.check_hostname, how.verify_mode = False, ssl.CERT_NONE
    with how.wrap_socket(s) as t:
        return re.search(rb"(first|second)\.test", t.getpeercert(True)).group(0).decode()


def asked(port, path="/health"):
    try:
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=20) as r:
            return r.status, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def metrics_port(c):
    return int(re.search(r"metrics at http://127.0.0.1:([0-9]+)/", c.text()).group(1))


def test_hup():
    with House(nodes=1, size="128m") as h:
        certificate(h.dir, "first.test")
        level = os.path.join(h.dir, "level")
        open(level, "w").write("warn\n")
        c = Compute(h, "--pg-cert", h.dir + "/cert.pem", "--pg-key", h.dir + "/key.pem", "--log-level", level)
        w = Wire(c.port)
        w.query("CREATE TABLE t (a int PRIMARY KEY)")
        w.query("INSERT INTO t VALUES (1)")
        same(subject(c.port), "first.test")
        node = h.nodes[0].p
        node.send_signal(signal.SIGHUP)
        certificate(h.dir, "second.test")
        open(level, "w").write("info\n")
        c.p.send_signal(signal.SIGHUP)
        until(lambda: "SIGHUP: the certificate and the log's level are read again" in c.text(), 10, "the level is info")
        same(subject(c.port), "second.test")
        open(h.dir + "/key.pem", "w").write("nonsense")
        open(level, "w").write("loud\n")
        c.p.send_signal(signal.SIGHUP)
        until(lambda: "the certificate stays as it was" in c.text() and "it stays as it was" in c.text(), 10, "what is wrong is told")
        same(subject(c.port), "second.test")
        for _ in range(20):
            node.send_signal(signal.SIGHUP)
            c.p.send_signal(signal.SIGHUP)
        same(texts(w.query("SELECT a FROM t")), [("1",)])
        check(node.poll() is None and c.p.poll() is None, "SIGHUP ends nothing")
        w.close()
        c.terminate()


def test_health():
    with House(nodes=1, size="128m") as h:
        c = Compute(h, "--metrics", "0", fabric="tcp")
        port = metrics_port(c)
        same(asked(port), (200, "clients are served\n"))
        same(asked(port, "/else")[0], 404)
        node = h.nodes[0].p
        node.send_signal(signal.SIGSTOP)
        until(lambda: asked(port)[0] == 503, 20, "a storage node hangs")
        node.send_signal(signal.SIGCONT)
        until(lambda: asked(port)[0] == 200, 20, "it serves again")
        w = Wire(c.port)
        same(texts(w.query("SELECT 1")), [("1",)])
        node.kill()
        node.wait()
        until(lambda: asked(port)[0] == 503, 20, "it does not serve")
        code, why = asked(port)
        check(code == 503 and len(why) > 20, code, why)
        lost = Wire(c.port, start=False)
        lost.startup(user="namdb", database="namdb")
        got = error(lost.ended())
        same((got["S"], got["C"]), ("FATAL", "57P03"), got)
        check(len(got["D"]) > 10, got)


def test_log_that_nobody_reads():
    """Of a pipe, and of a socket: lines are dropped and counted, and no statement waits."""
    with House(nodes=1, size="128m") as h:
        for kind in "pipe", "socket":
            if kind == "pipe":
                ours, theirs = os.pipe()
            else:
                a, b = socket.socketpair()
                ours, theirs = a.detach(), b.detach()
            p = subprocess.Popen([NAMDB, "compute", "--storage", h.storage(), "--fabric", "shm", "--secret-file", h.secret, "--pg", "127.0.0.1:0",
                                  "--metrics", "0", "--log-slow", "0", "--log-level", "info"], stderr=theirs, env=clean_env(h.env))
            os.close(theirs)
            try:
                said = b""
                while b"\nready\n" not in said:
                    said += os.read(ours, 4096)
                port = int(re.search(rb"PostgreSQL at [0-9.]+:([0-9]+)", said).group(1))
                figures = int(re.search(rb"metrics at http://127.0.0.1:([0-9]+)/", said).group(1))
                w = Wire(port, timeout=60)
                for k in range(1500):
                    same(texts(w.query("SELECT '%s%d'" % ("x" * 900, k))), [("x" * 900 + str(k),)])
                n = int(re.search(r"\nnamdb_log_lines_dropped_total (\d+)", asked(figures, "/metrics")[1]).group(1))
                check(n > 100, kind, "lines were dropped:", n)
                os.set_blocking(ours, False)
                try:
                    while os.read(ours, 65536):
                        pass
                except BlockingIOError:
                    pass
                w.query("SELECT 2")
                time.sleep(0.1)
                contains(os.read(ours, 65536).decode(), "lines of the log were dropped: nothing read them")
                w.close()
            finally:
                p.kill()
                p.wait()
                os.close(ours)


if __name__ == "__main__":
    house.main()
