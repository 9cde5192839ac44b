#!/usr/bin/env python3
"""COPY FROM: files by dice, with every way to end lines, to quote, to escape, to say NULL, with broken and half lines, read by namdb
and by a real PostgreSQL 15: rows, SQLSTATEs, messages, details, hints and context must be equal."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import test_postgres
import peer  # noqa: F401 (the path to house)
import house
from house import check

MARK = test_postgres.MARK
SETUP = ["CREATE TABLE cp (a int, b text, c text)",
         "CREATE TABLE strict (a int NOT NULL, b varchar(3), c date DEFAULT '2000-01-01' CHECK (c > '1990-01-01'))"]


def literal(s):
    for plain, written in (("\\", "\\\\"), ("'", "''"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        s = s.replace(plain, written)
    return "E'%s'" % s


class File:
    """One file and how it is to be read."""

    def __init__(self, dice):
        self.dice = dice
        self.csv = dice.random() < .55
        odd = dice.random() < .3
        self.delimiter = dice.choice([",", "\t", "|", ";", ":", " "]) if odd else "," if self.csv else "\t"
        self.quote = dice.choice(['"', "'", '"'])
        self.escape = dice.choice([self.quote, self.quote, "\\", "~"])
        self.null = dice.choice(["", "\\N", "NULL", "-", "x"]) if dice.random() < .3 else "" if self.csv else "\\N"
        self.columns = ["a", "b", "c"] if dice.random() < .8 else dice.choice([["b", "a"], ["c"], ["a", "b"]])
        self.header = dice.choice([None] * 8 + ["header", "header match"])
        self.ends = [dice.choice(["\n", "\r\n", "\r"])] + [dice.choice(["\n", "\r\n", "\r"])] * (dice.random() < .2)

    def options(self):
        out = ["delimiter %s" % literal(self.delimiter), "null %s" % literal(self.null)]
        if self.csv:
            out += ["format csv", "quote %s" % literal(self.quote), "escape %s" % literal(self.escape)]
            for name in ("force_null", "force_not_null"):
                if self.dice.random() < .2:
                    out.append("%s (%s)" % (name, self.dice.choice(["a", "b", "c", "b, c"])))
        return ", ".join(out + [self.header] * (self.header is not None))

    def value(self, column):
        pick, r, q, e = self.dice.choice, self.dice.random(), self.quote, self.escape
        if column == "a" and r < .85:
            return pick(["0", "1", "7", "-3", "42"])
        if r < .5:
            return pick(["x", "abc", "hello world", "2001-02-03", "", "1985-01-01", "é", "日本"])
        if r < .6:
            return self.null
        if self.csv and r < .85:
            return q + pick(["q", "a%sb" % self.delimiter, "a\nb", "a\rb", "a\r\nb", e + q, "x" + q + q + "y", self.null, "",
                             e + e, "\\.", "z" + e]) + q
        if self.csv:
            return pick(["a" + q + "b" + q + "c", "\\.", "\\n", "x\\", "\\", "a b", q + "open", "x\ry", "a" + e + "b", "\\.z"])
        if r < .9:
            return pick(["\\n", "\\t", "\\x41", "\\101", "\\\\", "\\x", "\\N", "\\.", "a\\\nb", "\\8", "\\xg", "\\b\\f\\v",
                         "a\\" + self.delimiter + "b", "\\xc3\\xa9", "x\\"])
        return pick(["\\xff", "\\0", "a\\.b", "x\ry", "\\377", "\\xe2("])

    def text(self):
        pick, out, n = self.dice.choice, [], len(self.columns)
        if self.header is not None:
            out.append(self.delimiter.join(pick([self.columns] * 3 + [["a", "b"], ["a", self.null, "c"], ["a", "b", "z"]])))
        for _ in range(pick([0, 1, 1, 2, 3, 4])):
            fields = n + pick([0] * 12 + [1, -1])
            out.append(self.delimiter.join(self.value(self.columns[i % n]) for i in range(fields)))
        if self.dice.random() < .25:
            out.insert(self.dice.randint(0, len(out)), pick(["\\.", "\\.", "\\.x", "", "", "x\\."]))
        text = "".join(line + pick(self.ends) for line in out)
        return text.rstrip("\r\n") if self.dice.random() < .2 else text


def answer(part):
    """What a statement printed, without what only one of the two prints."""
    part = re.sub(r"^psql:<stdin>:\d+: ", "", part, flags=re.M)
    return re.sub(r"^(LOCATION|SCHEMA NAME|TABLE NAME|COLUMN NAME|CONSTRAINT NAME|DATATYPE NAME):.*\n", "", part, flags=re.M)


def of_postgres(texts, files):
    pg = test_postgres.Postgres()
    try:
        if pg.who:
            os.chown(files, pg.who["user"], pg.who["group"])
        lines = ["\\set VERBOSITY verbose", "\\pset format csv"]
        for n, t in enumerate(texts):
            lines += ["\\echo '%s%d'" % (MARK, n), t + " ;"]
        p = subprocess.run([pg.bin + "/psql", "-X", "-q", "-h", pg.dir, "-U", "judge", "-d", "postgres", "-f", "-"],
                           input=("\n".join(lines) + "\n").encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                           cwd="/", env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "PGCLIENTENCODING": "UTF8"}, **pg.who)
        return [answer(x) for x in test_postgres.pieces(p.stdout.decode(), len(texts))]
    finally:
        pg.close()


def of_namdb(texts):
    return [answer(x) for x in test_foreign.said_by_namdb(texts)]


def test_copy():
    # NAM_SEED and NAM_RANDOM: other dice, and how many files
    dice = random.Random(int(os.environ.get("NAM_SEED", 5)))
    count = int(os.environ.get("NAM_RANDOM", house.rounds(500, 500, 100)))
    files = tempfile.mkdtemp(prefix="nam-copy-")
    try:
        asked = []
        for k in range(count):
            f = File(dice)
            path = os.path.join(files, str(k))
            with open(path, "wb") as out:
                out.write(f.text().encode())
            os.chmod(path, 0o644)
            table = dice.choice(["cp", "cp", "cp", "strict"])
            asked += ["COPY %s (%s) FROM '%s' (%s)" % (table, ", ".join(f.columns), path, f.options()),
                      "SELECT a, b, coalesce(c::text, 'none') AS c, b IS NULL AS n FROM %s" % table, "TRUNCATE %s" % table]
        want, got = of_postgres(SETUP + asked, files)[len(SETUP):], of_namdb(SETUP + asked)[len(SETUP):]
        wrong, errors = [], 0
        for k in range(0, len(asked), 3):
            errors += "ERROR" in want[k]
            pairs = [(w, g.replace('""', "")) for w, g in zip(want[k:k + 2], got[k:k + 2])]  # psql writes '' as nothing
            if any(w.replace('""', "") != g for w, g in pairs):
                with open(os.path.join(files, str(k // 3)), "rb") as f:
                    wrong.append("%s\n    %r\n    PostgreSQL, namdb: %r" % (asked[k], f.read(), pairs))
        check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong[:10])))
        check(count // 4 < errors < count - count // 8, "PostgreSQL refuses", errors)
        print("  %d files, %d of them refused" % (count, errors))
    finally:
        shutil.rmtree(files, ignore_errors=True)


if __name__ == "__main__":
    house.main()
