#!/usr/bin/env python3
"""Who may connect to `namdb compute`: roles, passwords by SCRAM-SHA-256, TLS; and what strangers try."""
import base64
import hashlib
import hmac
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, same, skip
from wire import Wire, error, fields, kinds, tags, texts

place = {}


def servers():
    """Two compute nodes on one cluster: one trusts this machine, the other trusts nobody and has TLS."""
    if not place:
        h = House(nodes=1, size="128m")
        if shutil.which("openssl") is None:
            skip("there is no openssl here")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-keyout",
                        h.dir + "/key.pem", "-out", h.dir + "/cert.pem"], check=True, capture_output=True)
        os.chmod(h.dir + "/key.pem", 0o600)
        place["house"] = h
        place["open"] = Compute(h)
        place["shut"] = Compute(h, "--pg-auth", "scram", "--pg-cert", h.dir + "/cert.pem", "--pg-key", h.dir + "/key.pem")
        w = Wire(place["open"].port)
        same(tags(w.query("CREATE USER ann PASSWORD 'secret'; CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'b'; CREATE ROLE group1 PASSWORD 'g'; "
                          "CREATE USER bare; GRANT CREATE ON SCHEMA public TO ann")), ["CREATE ROLE"] * 4 + ["GRANT"])
        w.close()
    return place["open"], place["shut"]


def psql(password, *args, user="ann", mode="disable"):
    return servers()[1].psql(*args, user=user, env={"PGPASSWORD": password, "PGSSLMODE": mode})


def test_roles():
    w = Wire(servers()[0].port, user="boss")
    same(texts(w.query("SELECT current_user, session_user")), [("boss", "boss")])
    same(w.status["is_superuser"], "on")
    same(error(w.query("CREATE ROLE ann"))["C"], "42710")
    same(error(w.query("ALTER ROLE nobody LOGIN"))["C"], "42704")
    same(error(w.query("DROP ROLE nobody"))["C"], "42704")
    same(kinds(w.query("DROP ROLE IF EXISTS nobody")), "NCZ")
    same(error(w.query("CREATE ROLE pg_x"))["C"], "42939")
    same(error(w.query("CREATE ROLE x CREATEDB"))["C"], "0A000")
    same(error(w.query("CREATE ROLE x PASSWORD 'md5%s'" % ("0" * 32)))["C"], "0A000")
    same(error(w.query("SELECT * FROM nam_roles"))["C"], "42P01", "SQL reads no secrets")
    w.query("BEGIN; CREATE ROLE undone; ROLLBACK")
    same(error(w.query("ALTER ROLE undone LOGIN"))["C"], "42704", "it is part of its transaction")
    same(tags(w.query("BEGIN READ ONLY")), ["BEGIN"])
    same(error(w.query("DROP ROLE ann"))["C"], "25006")
    w.query("ROLLBACK")
    w.close()
    w = Wire(servers()[0].port, user="group1", start=False)
    w.startup(user="group1")
    same(error(w.ended())["C"], "28000", "NOLOGIN")
    w = Wire(servers()[0].port, user="ann")
    same(w.status["is_superuser"], "off")
    same(error(w.query("CREATE ROLE other"))["C"], "42501")
    same(error(w.query("ALTER ROLE ann SUPERUSER"))["C"], "42501")
    same(error(w.query("ALTER ROLE boss PASSWORD 'x'"))["C"], "42501")
    same(tags(w.query("ALTER ROLE ann PASSWORD 'secret'")), ["ALTER ROLE"], "one's own password")
    same(tags(w.query("ALTER USER current_user PASSWORD 'secret'")), ["ALTER ROLE"])
    w.close()


def test_password():
    same(psql("secret", "-Atc", "SELECT current_user").ok().out, "ann\n")
    for user, password in (("ann", "Secret"), ("ann", "secret "), ("nobody", "secret"), ("bare", "x"), ("group1", "x")):
        r = psql(password, "-c", "SELECT 1", user=user).fails(2)
        contains(r.err, 'password authentication failed for user "%s"' % user)
    contains(psql("g", "-c", "SELECT 1", user="group1").fails(2).err, "not permitted to log in")
    w = Wire(servers()[0].port)
    w.query("ALTER ROLE ann PASSWORD 'pässword'")
    same(psql("pässword", "-Atc", "SELECT 1").ok().out, "1\n")
    contains(psql("secret", "-c", "SELECT 1").fails(2).err, "password authentication failed")
    w.query("ALTER ROLE ann PASSWORD NULL")
    contains(psql("", "-w", "-c", "SELECT 1").fails(2).err, "no password supplied")
    # A client may have computed the keys itself, as psql's \password does.
    salt = b"0123456789abcdef"
    salted = hashlib.pbkdf2_hmac("sha256", b"own", salt, 4096)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    keys = [base64.b64encode(x).decode() for x in (salt, stored, hmac.digest(salted, b"Server Key", "sha256"))]
    same(tags(w.query("ALTER ROLE ann PASSWORD 'SCRAM-SHA-256$4096:%s$%s:%s'" % tuple(keys))), ["ALTER ROLE"])
    same(psql("own", "-Atc", "SELECT 1").ok().out, "1\n")
    w.query("ALTER ROLE ann PASSWORD 'secret'")
    w.close()


def sasl(w, mechanism, first):
    w.send("p", mechanism.encode() + b"\0" + struct.pack("!I", len(first)) + first.encode())


def test_bad_scram():
    """Each wrong exchange ends with FATAL, and the server lives."""
    port = servers()[1].port

    def begin():
        w = Wire(port, start=False)
        w.startup(user="ann")
        same(w.get(), ("R", b"\0\0\0\x0aSCRAM-SHA-256\0\0"))
        return w

    for mechanism, first in (("PLAIN", "x"), ("SCRAM-SHA-256", ""), ("SCRAM-SHA-256", "n,,"), ("SCRAM-SHA-256", "n,,n=,r="),
                             ("SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=abc"), ("SCRAM-SHA-256", "n,a=x,n=,r=abc"),
                             ("SCRAM-SHA-256", "n,,n=,r=" + "x" * 600), ("SCRAM-SHA-256", "n,,n=,r=a,b"), ("SCRAM-SHA-256", "n,,m=,n=,r=a")):
        w = begin()
        sasl(w, mechanism, first)
        same(error(w.ended())["S"], "FATAL", first)
    w = begin()
    w.send("Q", b"SELECT 1\0")
    same(error(w.ended())["C"], "08P01", "a question without a password")
    w = begin()
    w.raw(b"p" + struct.pack("!I", 1 << 20))
    same(error(w.ended())["C"], "08P01")
    for last in ("", "c=biws", "c=biws,r=%s,p=", "c=biws,r=%s,p=AAAA", "c=biws,r=other,p=" + "A" * 43 + "=", "c=eSws,r=%s,p=" + "A" * 43 + "="):
        w = begin()
        sasl(w, "SCRAM-SHA-256", "n,,n=,r=abc")
        nonce = w.get()[1][4:].decode().split(",")[0][2:]
        check(nonce.startswith("abc") and len(nonce) > 20, nonce)
        w.send("p", (last.replace("%s", nonce)).encode())
        same(error(w.ended())["C"], "08P01", last)
    w = begin()
    sasl(w, "SCRAM-SHA-256", "n,,n=,r=abc")
    nonce = w.get()[1][4:].decode().split(",")[0][2:]
    w.send("p", ("c=biws,r=%s,p=" % nonce + "A" * 43 + "=").encode())
    same(error(w.ended())["C"], "28P01")
    # What the server says of a user that is not there is the same each time.
    salts = set()
    for _ in range(2):
        w = Wire(port, start=False)
        w.startup(user="nobody-here")
        w.get()
        sasl(w, "SCRAM-SHA-256", "n,,n=,r=abc")
        salts.add(w.get()[1].split(b",")[1])
        w.close()
    same(len(salts), 1)
    same(psql("secret", "-Atc", "SELECT 1").ok().out, "1\n")


def test_tls():
    r = psql("secret", "-Atc", "\\conninfo", mode="require").ok()
    contains(r.out, "SSL connection (protocol: TLSv1.3")
    same(psql("secret", "-Atc", "SELECT length(string_agg(repeat('x', 1000), '')) FROM generate_series(1, 5000)", mode="require").ok().out, "5000000\n")
    script = "\\copy (SELECT g, repeat('y', 50) FROM generate_series(1, 50000) g) to '%s/out'\nCREATE TABLE tls (a int, b text);\n" \
             "\\copy tls from '%s/out'\nSELECT count(*), sum(a) FROM tls;\nDROP TABLE tls;\n" % ((place["house"].dir,) * 2)
    r = servers()[1].psql("-At", stdin=script, user="ann", env={"PGPASSWORD": "secret", "PGSSLMODE": "require"}).ok()
    contains(r.out, "COPY 50000\nCREATE TABLE\nCOPY 50000\n50000|1250025000\n")
    same(psql("secret", "-Atc", "SELECT 1", mode="verify-ca").fails(2).rc, 2, "the certificate is its own authority")
    contains(servers()[0].psql("-c", "SELECT 1", env={"PGSSLMODE": "require"}).fails(2).err, "server does not support SSL")
    # Raw: bytes before the handshake, no handshake at all, a handshake that stops.
    port = servers()[1].port
    ask = struct.pack("!II", 8, 80877103)
    w = Wire(port, start=False)
    w.raw(ask + b"early")
    same(error(w.ended())["C"], "08P01")
    for data in (b"GET / HTTP/1.0\r\n\r\n", b"", b"\x16\x03\x01\x02\x00\x01\x00"):
        w = Wire(port, start=False)
        w.raw(ask)
        same(w.bytes(1), b"S")
        w.raw(data)
        try:  # the server may have ended it by now
            w.s.shutdown(socket.SHUT_WR)
            w.s.recv(1000)
        except OSError:
            pass
        w.s.close()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for data in (b"", b"\0\0\0\3", struct.pack("!IIII", 16, 80877102, 1, 2), struct.pack("!II", 8, 80877103), struct.pack("!II", 8, 80877104)):
        w = Wire(port, start=False)
        w.raw(ask)
        same(w.bytes(1), b"S")
        t = context.wrap_socket(w.s, server_hostname="localhost")
        t.sendall(data)
        t.close()
    same(psql("secret", "-Atc", "SELECT 2", mode="require").ok().out, "2\n")


def test_pgbench_over_tls():
    program = shutil.which("pgbench", path="/usr/lib/postgresql/15/bin:" + os.environ.get("PATH", ""))
    if program is None:
        skip("there is no pgbench here")
    for args in (["-i", "-s", "1", "-q"], ["-n", "-M", "prepared", "-c", "4", "-j", "2", "-t", "200"]):
        p = subprocess.run([program, "-h", "127.0.0.1", "-p", str(servers()[1].port), "-U", "boss", *args, "db"], capture_output=True, text=True,
                           timeout=120 * house.SLOW, env=dict(os.environ, PGPASSWORD="b", PGSSLMODE="require"))
        check(p.returncode == 0, args, p.stdout, p.stderr)
    contains(p.stdout, "800/800", "number of failed transactions: 0 ")


def test_command_line():
    h = place["house"] if place else servers() and place["house"]
    os.chmod(h.file("open-key.pem", open(h.dir + "/key.pem").read()), 0o644)

    def refused(code, *args):
        return house.run("compute", "--storage", h.storage(), "--secret-file", h.secret, "--pg", "127.0.0.1:0", *args, timeout=30).fails(code)
    refused(1, "--pg-cert", h.dir + "/cert.pem")
    contains(refused(1, "--pg-cert", "/nowhere", "--pg-key", h.dir + "/key.pem").err, "certificate")
    contains(refused(1, "--pg-cert", h.dir + "/cert.pem", "--pg-key", h.dir + "/cert.pem").err, "key")
    contains(refused(1, "--pg-cert", h.dir + "/cert.pem", "--pg-key", h.dir + "/open-key.pem").err, "chmod")
    refused(2, "--pg-auth", "md5")


def test_the_end():
    for c in servers():
        c.terminate()


def test_warned_of_the_clear():
    """Other machines can connect: without TLS the program says so, with it or on loopback it does not."""
    at, _ = servers()
    h = place["house"]
    tls = ("--pg-cert", h.dir + "/cert.pem", "--pg-key", h.dir + "/key.pem")
    for pg, more, warned in (("0.0.0.0:0", (), True), ("0.0.0.0:0", tls, False)):
        c = Compute(h, *more, pg=pg)
        same("there is no TLS" in c.text(), warned, c.text())
        c.kill()
    check("there is no TLS" not in at.text(), at.text())


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if place:
            place["house"].__exit__(None, None, None)
