"""wire.py -- PostgreSQL's protocol 3.0 over a plain socket, message by message: what drivers hide, tests can see."""
import socket
import struct

import house


class Wire:
    """One connection. Messages that came are (type, body)."""

    def __init__(self, port, start=True, timeout=20, host="127.0.0.1", **settings):
        """host: an address, or the folder of a UNIX socket."""
        if host.startswith("/"):
            self.s = socket.socket(socket.AF_UNIX)
            self.s.settimeout(timeout * house.SLOW)
            self.s.connect("%s/.s.PGSQL.%d" % (host, port))
        else:
            self.s = socket.create_connection((host, port), timeout=timeout * house.SLOW)
            self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buf = b""
        self.status = {}
        self.pid = self.key = None
        if start:
            self.start(**settings)

    # ---- sending ----

    def raw(self, data):
        self.s.sendall(data)

    def startup(self, version=196608, **settings):
        settings.setdefault("user", "namdb")
        body = b"".join(k.encode() + b"\0" + str(v).encode() + b"\0" for k, v in settings.items() if v is not None) + b"\0"
        self.raw(struct.pack("!II", len(body) + 8, version) + body)

    def start(self, **settings):
        self.startup(**settings)
        got = self.until_ready()
        errors = [m for m in got if m[0] == "E"]
        house.check(not errors, "the session begins:", errors)
        return got

    @staticmethod
    def message(kind, body=b""):
        return kind.encode() + struct.pack("!I", len(body) + 4) + body

    def send(self, kind, body=b""):
        self.raw(self.message(kind, body))

    @staticmethod
    def parse(text, name="", types=()):
        return Wire.message("P", name.encode() + b"\0" + text.encode() + b"\0" + struct.pack("!H", len(types)) +
                            b"".join(struct.pack("!I", t) for t in types))

    @staticmethod
    def bind(values=(), name="", portal="", formats=(), results=()):
        body = portal.encode() + b"\0" + name.encode() + b"\0"
        body += struct.pack("!H", len(formats)) + b"".join(struct.pack("!H", f) for f in formats)
        body += struct.pack("!H", len(values))
        for v in values:
            if v is None:
                body += struct.pack("!i", -1)
            else:
                v = v if isinstance(v, bytes) else str(v).encode()
                body += struct.pack("!i", len(v)) + v
        body += struct.pack("!H", len(results)) + b"".join(struct.pack("!H", f) for f in results)
        return Wire.message("B", body)

    @staticmethod
    def describe(what, name=""):
        return Wire.message("D", what.encode() + name.encode() + b"\0")

    @staticmethod
    def execute(portal="", rows=0):
        return Wire.message("E", portal.encode() + b"\0" + struct.pack("!i", rows))

    @staticmethod
    def close_of(what, name=""):
        return Wire.message("C", what.encode() + name.encode() + b"\0")

    SYNC = b"S\0\0\0\4"
    FLUSH = b"H\0\0\0\4"

    # ---- receiving ----

    def bytes(self, n):
        while len(self.buf) < n:
            got = self.s.recv(65536)
            if not got:
                raise EOFError("the server closed the connection; %r is left" % self.buf)
            self.buf += got
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def get(self):
        kind = self.bytes(1).decode("latin-1")
        body = self.bytes(struct.unpack("!I", self.bytes(4))[0] - 4)
        if kind == "S":
            k, v = body[:-1].split(b"\0")
            self.status[k.decode()] = v.decode()
        elif kind == "K":
            self.pid, self.key = struct.unpack("!II", body)
        return kind, body

    def until(self, *kinds):
        got = []
        while not got or got[-1][0] not in kinds:
            got.append(self.get())
        return got

    def until_ready(self):
        """All messages up to ReadyForQuery; an error that ends the session is the last one then."""
        got = []
        while not got or got[-1][0] != "Z":
            try:
                got.append(self.get())
            except (EOFError, ConnectionResetError):
                if got and got[-1][0] == "E":
                    return got
                raise
        self.state = got[-1][1].decode()
        return got

    def ended(self):
        """Reads to the end; what came before it."""
        got = []
        try:
            while True:
                got.append(self.get())
        except (EOFError, ConnectionResetError):
            return got

    # ---- the two protocols ----

    def query(self, text):
        self.send("Q", text.encode() + b"\0")
        return self.until_ready()

    def extended(self, text, values=(), types=(), formats=(), results=(), rows=0):
        self.raw(self.parse(text, types=types) + self.bind(values, formats=formats, results=results) +
                 self.describe("P") + self.execute(rows=rows) + self.SYNC)
        return self.until_ready()

    def close(self):
        try:
            self.send("X")
        except OSError:
            pass
        self.s.close()


def fields(body):
    """Of an ErrorResponse or a NoticeResponse: {'C': '42601', ...}"""
    return {f[:1].decode(): f[1:].decode() for f in body.rstrip(b"\0").split(b"\0")}


def error(got):
    """The fields of the one error among these messages."""
    errors = [m for m in got if m[0] == "E"]
    house.same(len(errors), 1, "one error in %r:" % got)
    return fields(errors[0][1])


def row(body):
    n, at, out = struct.unpack("!H", body[:2])[0], 2, []
    for _ in range(n):
        size = struct.unpack("!i", body[at:at + 4])[0]
        at += 4
        out.append(None if size < 0 else body[at:at + size])
        at += max(size, 0)
    house.same(at, len(body), "a whole row")
    return tuple(out)


def rows(got):
    errors = [fields(m[1]) for m in got if m[0] == "E"]
    house.check(not errors, "no error:", errors)
    return [row(m[1]) for m in got if m[0] == "D"]


def texts(got):
    """Rows as texts."""
    return [tuple(v if v is None else v.decode() for v in r) for r in rows(got)]


def columns(got):
    """[(name, OID, length, typmod, format)] of the one RowDescription."""
    body = [m[1] for m in got if m[0] == "T"][0]
    n, at, out = struct.unpack("!H", body[:2])[0], 2, []
    for _ in range(n):
        end = body.index(b"\0", at)
        _, _, oid, size, typmod, form = struct.unpack("!IHIhiH", body[end + 1:end + 19])
        out.append((body[at:end].decode(), oid, size, typmod, form))
        at = end + 19
    return out


def tags(got):
    return [m[1][:-1].decode() for m in got if m[0] == "C"]


def kinds(got):
    return "".join(m[0] for m in got)
