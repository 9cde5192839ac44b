#!/usr/bin/env python3
"""Statements whose parameters have no type, described and run here and in a real PostgreSQL 15: the types of parameters and answers,
values and SQLSTATEs must be equal.

NAM_QUERIES (300) statements of seed NAM_SEED (1). What namdb says it cannot do yet (0A000) is counted, not failed.
"""
import collections
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parameters
import peer  # noqa: F401 (the path to house)
import house
from house import Compute, House, check
from test_postgres import Postgres
from wire import Wire


# Where an answer may differ, and why: (statement, reason).
UNLIKE = [
    (r"union|intersect|except", "a column of json is refused when a set is made of it, not before"),
    (r"nextval|currval|setval", "a relation that is no sequence"),
    (r"\(i, t\)|overlaps|\) [=<] \(|\) in \(\(", "a parameter twice in rows that are compared"),
    (r" as b from pt|select .*, i, ", "two errors of one select list: which of them comes first"),
    (r"(lag|lead)\(", "a parameter of a domain by its company"),
    (r"insert into pu", "a parameter twice in one row, once of a domain"),
    (r"limit .* offset", "both are negative"), (r"setseed|[ (]\+ |collate|\+ iv", "void; unary plus; COLLATE of a parameter"),
    (r"case .* when", "CASE x WHEN y WHEN z"),
]


class Asked:
    """One server: what it says about a statement."""

    def __init__(self, wire):
        self.w = wire
        self.names = {}
        for text in parameters.TYPES:
            self.do(text)
        self.do(parameters.TABLES)
        self.do("CREATE SEQUENCE sq")
        for kind, rows in (("mood", "'mood', '_mood'"), ("posint", "'posint'"), ("short", "'short'")):
            for oid, name in self.rows("SELECT oid, typname FROM pg_type WHERE typname IN (%s)" % rows):
                self.names[int(oid)] = name

    def do(self, text):
        got = self.w.query(text)
        errors = [m for m in got if m[0] == "E"]
        check(not errors, text, errors)

    def rows(self, text):
        out = []
        for kind, body in self.w.query(text):
            if kind == "D":
                out.append(self.row(body))
        return out

    @staticmethod
    def row(body):
        n, at, out = struct.unpack("!H", body[:2])[0], 2, []
        for _ in range(n):
            size = struct.unpack("!i", body[at:at + 4])[0]
            at += 4
            out.append(None if size < 0 else body[at:at + size].decode())
            at += max(size, 0)
        return tuple(out)

    def type(self, oid):
        return self.names.get(oid, oid)

    @staticmethod
    def state(body):
        return {f[:1].decode(): f[1:].decode(errors="replace") for f in body.split(b"\0") if f}

    def describe(self, text):
        """(types of parameters, types of columns, None, SQLSTATE, message)"""
        self.w.raw(Wire.parse(text) + Wire.describe("S") + Wire.SYNC)
        return self.read(self.w.until_ready())

    def run(self, text, values):
        """Likewise, with the rows; in a block that is rolled back."""
        self.w.raw(self.w.message("Q", b"BEGIN\0"))
        self.w.until_ready()
        self.w.raw(Wire.parse(text) + Wire.describe("S") + Wire.bind(values) + Wire.execute() + Wire.SYNC)
        got = self.w.until_ready()
        self.w.raw(self.w.message("Q", b"ROLLBACK\0"))
        self.w.until_ready()
        return self.read(got)

    def read(self, got):
        params = cols = None
        rows, state, words = [], "", ""
        for kind, body in got:
            if kind == "t":
                n = struct.unpack("!H", body[:2])[0]
                params = tuple(self.type(o) for o in struct.unpack("!%dI" % n, body[2:2 + 4 * n]))
            elif kind == "T":
                cols = self.columns(body)
            elif kind == "n":
                cols = ()
            elif kind == "D":
                rows.append(self.row(body))
            elif kind == "E":
                fields = self.state(body)
                state, words = fields["C"], fields["M"]
        return params, cols, rows if not state else None, state, words

    def columns(self, body):
        n, at, out = struct.unpack("!H", body[:2])[0], 2, []
        for _ in range(n):
            end = body.index(b"\0", at)
            oid = struct.unpack("!I", body[end + 7:end + 11])[0]
            out.append((body[at:end].decode(), self.type(oid)))
            at = end + 19
        return tuple(out)


def differs(ours, theirs):
    """In which words; "" = they are equal."""
    if ours[3] == "0A000" and theirs[3] != "0A000":
        return "unsupported"
    for what, k in (("parameters", 0), ("state", 3), ("columns", 1)):
        if ours[k] != theirs[k]:
            return what
    x, y = ours[2], theirs[2]
    if x is not None and sorted(map(repr, x)) != sorted(map(repr, y)):
        return "rows"
    return ""


def test_random():
    many, seed = int(os.environ.get("NAM_QUERIES", "300")), int(os.environ.get("NAM_SEED", "1"))
    pg = Postgres()
    try:
        with House(nodes=1, size="128m") as h:
            c = Compute(h)
            ours = Asked(Wire(c.port))
            theirs = Asked(Wire(5432, host=pg.dir, user="judge", database="postgres"))
            maker = parameters.Maker(random.Random(seed))
            counts, wrong = collections.Counter(), []
            for _ in range(many):
                text = maker.statement()
                x, y = ours.describe(text), theirs.describe(text)
                what, values = differs(x, y), None
                if not what and not y[3]:
                    values = maker.values(y[0])
                    x, y = ours.run(text, values), theirs.run(text, values)
                    what = differs(x, y)
                if what and any(re.search(pattern, text) for pattern, _ in UNLIKE):
                    what = "unlike"
                counts[what or ("equal, " + ("an error" if y[3] else "an answer"))] += 1
                if what and what not in ("unsupported", "unlike"):
                    wrong.append("%s: %s  %r\n    ours   %r\n    theirs %r" % (what, text, values, x, y))
                elif what == "unsupported" and os.environ.get("NAM_UNSUPPORTED"):
                    print("0A000: %s: %s" % (text, x[4]))
            print("  ", dict(counts))
            shown = wrong if os.environ.get("NAM_DIFFS") else wrong[:10]
            check(not wrong, "%d of %d differ:\n%s" % (len(wrong), many, "\n".join(shown)))
    finally:
        pg.close()


if __name__ == "__main__":
    house.main()
