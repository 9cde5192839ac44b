#!/usr/bin/env python3
"""Crowds at the door of `namdb compute`: honest clients are served beside silent ones, slow ones, bursts of cancel requests and of
connections that reset; what is refused is told. NAM_CLIENTS=2000 is the long form."""
import hashlib
import hmac
import base64
import os
import resource
import selectors
import socket
import struct
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, same, until
from wire import Wire, error, fields, texts

N = int(os.environ.get("NAM_CLIENTS", "250"))
# Of the long form: all honest clients are served within this. A machine that other tests share takes longer.
SECONDS = 2 if N >= 2000 else 20
STARTUP = struct.pack("!II", 8 + len(b"user\0namdb\0\0"), 196608) + b"user\0namdb\0\0"
SSL = struct.pack("!II", 8, 80877103)

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connect(port, data=b"", address="127.0.0.1"):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.settimeout(60 * house.SLOW)
    if address != "127.0.0.1":
        s.bind((address, 0))
    s.connect(("127.0.0.1", port))
    if data:
        s.sendall(data)
    return s


def close(sockets):
    for s in sockets:
        s.close()


class Honest:
    """A client that begins a session, with a password if the server asks for one, asks one question, and stays until close."""

    def __init__(self, port, startup=STARTUP):
        self.s = socket.socket()
        self.s.setblocking(False)
        self.s.connect_ex(("127.0.0.1", port))
        self.startup, self.buf, self.state, self.ended = startup, b"", "connect", None

    def turn(self):
        """Goes on as far as it can. True: it is done."""
        if self.state == "connect":
            e = self.s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if e:
                return self.end("connect: " + os.strerror(e))
            self.s.sendall(self.startup)
            self.state = "start"
            return False
        try:
            got = self.s.recv(65536)
        except BlockingIOError:
            return False
        except OSError as e:
            return self.end("recv: %s" % e)
        if got == b"":
            return self.end("closed without a word" if not self.buf else "cut")
        self.buf += got
        while len(self.buf) >= 5:
            n = struct.unpack("!I", self.buf[1:5])[0] + 1
            if len(self.buf) < n:
                break
            kind, body, self.buf = self.buf[:1], self.buf[5:n], self.buf[n:]
            if kind == b"E":
                return self.end(fields(body)["C"])
            if kind == b"R":
                self.password(body)
            if kind == b"Z" and self.state == "start":
                self.s.sendall(Wire.message("Q", b"SELECT 1\0"))
                self.state = "asked"
            elif kind == b"Z":
                return self.end("served")
        return False

    def password(self, body):
        what = struct.unpack("!I", body[:4])[0]
        if what == 10:
            self.first = "n=,r=abcdef"
            first = ("n,," + self.first).encode()
            self.s.sendall(Wire.message("p", b"SCRAM-SHA-256\0" + struct.pack("!I", len(first)) + first))
        elif what == 11:
            text = body[4:].decode()
            nonce, salt, rounds = (part[2:] for part in text.split(","))
            salted = salted_password(base64.b64decode(salt), int(rounds))
            key = hmac.digest(salted, b"Client Key", "sha256")
            last = "c=biws,r=" + nonce
            signed = hmac.digest(hashlib.sha256(key).digest(), (self.first + "," + text + "," + last).encode(), "sha256")
            proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signed))).decode()
            self.s.sendall(Wire.message("p", (last + ",p=" + proof).encode()))

    def end(self, how):
        self.ended = how
        return True


known = {}


def salted_password(salt, rounds):
    if (salt, rounds) not in known:
        known[salt, rounds] = hashlib.pbkdf2_hmac("sha256", b"secret", salt, rounds)
    return known[salt, rounds]


def serve(port, n, startup=STARTUP, beside=None):
    """n honest clients at once. What became of each, and after how many seconds the last one was served."""
    t0 = time.monotonic()
    all_, s = [Honest(port, startup) for _ in range(n)], selectors.DefaultSelector()
    for c in all_:
        s.register(c.s, selectors.EVENT_WRITE, c)
    left = n
    while left > 0 and time.monotonic() - t0 < 60 * house.SLOW:
        if beside is not None:
            beside()
        for key, _ in s.select(0.05 if beside else 1):
            c = key.data
            was = c.state
            if c.turn():
                s.unregister(c.s)
                left -= 1
            elif was == "connect":
                s.modify(c.s, selectors.EVENT_READ, c)
    took = time.monotonic() - t0
    s.close()
    ends = {}
    for c in all_:
        ends[c.ended] = ends.get(c.ended, 0) + 1
    close(c.s for c in all_)
    return ends, took


def all_served(port, n, what, startup=STARTUP, beside=None):
    ends, took = serve(port, n, startup, beside)
    same(ends, {"served": n}, what)
    check(took < SECONDS * house.SLOW, what, "took %.1f s" % took)
    print("  %s: %d served in %.2f s" % (what, n, took))


def told(s):
    """What a refused connection reads: its SQLSTATE, or nothing."""
    s.settimeout(5 * house.SLOW)
    buf = b""
    try:
        while True:
            got = s.recv(4096)
            if got == b"":
                break
            buf += got
    except (ConnectionResetError, TimeoutError):
        pass
    return fields(buf[5:])["C"] if buf[:1] == b"E" else buf


def test_crowds():
    with House(nodes=1, size="128m") as h:
        # Places for all of them: nothing is refused here.
        c = Compute(h, "--pg-sessions", str(5 * N))
        all_served(c.port, 2 * N if N < 2000 else N, "alone")
        silent = [connect(c.port) for _ in range(N)]
        all_served(c.port, N, "beside silent ones")
        slow = [connect(c.port) for _ in range(N)]
        sent = [0]

        def one_byte():
            if sent[0] < len(STARTUP) - 1:
                for s in slow:
                    s.sendall(STARTUP[sent[0]:sent[0] + 1])
                sent[0] += 1
        all_served(c.port, N, "beside ones that send a byte at a time", beside=one_byte)
        halfway = [connect(c.port, SSL) for _ in range(N)]
        all_served(c.port, N, "beside ones that ask for TLS and fall silent")
        for s in slow:  # they are still welcome
            s.sendall(STARTUP[sent[0]:])
        for s in slow:
            check(s.recv(1) == b"R", "a slow one")
        for s in silent[-10:]:
            s.sendall(STARTUP)
            check(s.recv(1) == b"R", "a silent one that speaks")
        close(silent + slow + halfway)


def test_cancel_bursts():
    """Cancel requests beside newcomers, where strangers have all the places."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h, "--pg-sessions", str(2 * N))
        w = Wire(c.port)
        silent = [connect(c.port) for _ in range(max(512, 2 * N))]
        request = struct.pack("!IIII", 16, 80877102, w.pid, w.key ^ 1)
        burst = max(500, 5000 * N // 2000) // 50
        kept = []

        def cancels():
            if len(kept) < 50 * burst:
                kept.extend(connect(c.port, request) for _ in range(burst))
        all_served(c.port, N, "beside cancel requests", beside=cancels)
        close(kept)
        same(texts(w.query("SELECT 1")), [("1",)])
        gone = [s for s in silent if ended(s)]
        check(len(gone) <= N + 100, "cancel requests cost no places", len(gone))
        same({told(s) for s in gone} - {"53300"}, set(), "those that gave way were told")
        close(silent)


def ended(s):
    s.setblocking(False)
    try:
        return len(s.recv(1, socket.MSG_PEEK)) >= 0
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_resets():
    with House(nodes=1, size="128m") as h:
        c = Compute(h)

        def reset():
            for _ in range(20):
                for data in (b"", STARTUP[:5], STARTUP, SSL):
                    s = connect(c.port, data)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    s.close()
        all_served(c.port, N, "beside resets", beside=reset)
        until(lambda: sessions(c) == 0, 20, "no session is left")
        c.terminate()


def sessions(c):
    w = Wire(c.port)
    n = int(texts(w.query("SELECT count(*) FROM pg_stat_activity"))[0][0])
    w.close()
    return n - 1


def test_one_address_of_many():
    """A flood from one address costs those of another nothing; each that goes is told."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h, "--pg-sessions", "512")
        others = [connect(c.port, address="127.0.0.%d" % k) for k in range(2, 12)]
        flood = []
        for _ in range(10000 if N >= 2000 else 1200):
            s = connect(c.port)
            flood.append(s)
        all_served(c.port, 200, "in a flood of one address")
        for s in others:
            s.sendall(STARTUP)
            check(s.recv(1) == b"R", "another address's stranger")
        same(told(flood[0]), "53300")
        same(told(flood[len(flood) - 1000]), "53300")
        check(not ended(flood[-1]), "the youngest stays")
        # Those that wait for a password, or to be answered, are strangers, too.
        close(flood + others)


def test_half_let_in():
    """Clients that have named a role, and keep silent where a password is due, are no sessions."""
    with House(nodes=1, size="128m") as h:
        one = Compute(h)
        Wire(one.port).query("CREATE USER ann PASSWORD 'secret'")
        c = Compute(h, "--pg-auth", "scram", "--pg-sessions", "20")
        start = struct.pack("!II", 8 + len(b"user\0ann\0\0"), 196608) + b"user\0ann\0\0"
        silent = [connect(c.port, start) for _ in range(700)]
        all_served(c.port, 20, "with a password, beside 700 without one", start)
        same(told_of(silent[0]), "53300")
        close(silent)
        # As many sessions as are allowed, and one more.
        honest = []
        for _ in range(20):
            h1 = Honest(c.port, start)
            h1.s.setblocking(True)
            while not h1.turn():
                pass
            same(h1.ended, "served")
            honest.append(h1)
        ends, _ = serve(c.port, 3, start)
        same(ends, {"53300": 3})
        close(x.s for x in honest)


def told_of(s):
    """The error behind the question for a password."""
    s.settimeout(10 * house.SLOW)
    buf = b""
    while True:
        got = s.recv(4096)
        if got == b"":
            break
        buf += got
    n = struct.unpack("!I", buf[1:5])[0] + 1
    return fields(buf[n + 5:])["C"]


def test_passwords_at_once():
    with House(nodes=1, size="128m") as h:
        one = Compute(h)
        Wire(one.port).query("CREATE USER ann PASSWORD 'secret'")
        c = Compute(h, "--pg-auth", "scram")
        start = struct.pack("!II", 8 + len(b"user\0ann\0\0"), 196608) + b"user\0ann\0\0"
        all_served(c.port, N, "with a password", start)


def test_few_descriptors():
    """Where the system gives few descriptors, the program says so, newcomers are served as long as strangers can go, and else told."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h)
        resource.prlimit(c.p.pid, resource.RLIMIT_NOFILE, (200, 200))
        silent = [connect(c.port) for _ in range(400)]
        all_served(c.port, 40, "with few descriptors")
        close(silent)
        held = []
        for _ in range(220):
            w = Wire(c.port, start=False)
            w.startup()
            got = w.get()
            held.append(w)
            if got[0] == "E":
                break
        same((got[0], error([got])["C"]), ("E", "53300"))
        contains(c.text(), "ulimit -n")
        for w in held:
            w.s.close()
        until(lambda: served(c.port), 20, "a place is free")


def served(port):
    return serve(port, 1)[0] == {"served": 1}


def test_metrics_door():
    """Silent connections keep no one from the figures."""
    with House(nodes=1, size="64m") as h:
        c = Compute(h, "--metrics", "0")
        url = "http://" + c.text().split("metrics at http://")[1].split("\n")[0]
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        silent = [connect(port) for _ in range(300)]
        half = [connect(port, b"GET /met") for _ in range(20)]
        t0 = time.monotonic()
        for _ in range(10):
            with urllib.request.urlopen(url, timeout=20) as r:
                contains(r.read().decode(), "namdb_sessions")
        check(time.monotonic() - t0 < 5 * house.SLOW, "soon")
        contains(silent[0].recv(1000).decode(), "503")
        half[-1].sendall(b"rics HTTP/1.0\r\n\r\n")
        contains(half[-1].recv(1000).decode(), "200 OK")
        # One that does not read its answer holds up nobody.
        lazy = [connect(port, b"GET /metrics HTTP/1.0\r\n\r\n") for _ in range(50)]
        with urllib.request.urlopen(url, timeout=20) as r:
            same(r.status, 200)
        close(silent + half + lazy)
        c.terminate()


if __name__ == "__main__":
    house.main()
