#!/usr/bin/env python3
"""Outside suites over the wire: the files of ../shared/suites/sqllogictest. A record of them is a statement, or a query with its
answer; PostgreSQL passes all that are not skipped for it but a few, which are asked of a PostgreSQL here. Skipped where the folder is
not there."""
import glob
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, skip
from test_postgres import Postgres
from wire import Wire, row

SUITES = os.path.join(os.path.dirname(house.DATA), "suites", "sqllogictest")
LABEL = "postgresql"


class Record:
    """kind: "ok", "error" or "query"; for a query the types of its columns, its order, and what must come."""

    def __init__(self, line, kind, sql, types="", order="nosort", want=()):
        self.line, self.kind, self.sql, self.types, self.order, self.want = line, kind, sql, types, order, want


def records(path):
    """The records of a file that are meant for PostgreSQL."""
    with open(path, encoding="utf-8") as f:
        paragraphs, first, lines = [], 0, []
        for n, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line.strip() and not (line.startswith("#") and not lines):
                first = first if lines else n
                lines.append(line)
            elif lines and not line.startswith("#"):
                paragraphs.append((first, lines))
                lines = []
        paragraphs.append((first, lines))
    for first, lines in paragraphs:
        meant = True
        while lines and lines[0].split()[0] in ("skipif", "onlyif"):
            which, label = lines.pop(0).split()[:2]
            meant &= (label == LABEL) == (which == "onlyif")
        if not lines or not meant:
            continue
        head = lines[0].split("#")[0].split()
        if head[0] == "halt":
            return
        cut = lines.index("----") if "----" in lines else len(lines)
        sql = "\n".join(lines[1:cut])
        if head[0] == "statement":
            yield Record(first, head[1], sql)
        elif head[0] == "query":
            yield Record(first, "query", sql, head[1], head[2] if len(head) > 2 else "nosort", lines[cut + 1:])


def shown(value, kind):
    """A value as the suite writes it."""
    if value is None:
        return "NULL"
    text = value.decode()
    if kind == "I":
        return str(int(float(text))) if "." in text else text
    if kind == "R":
        return "%.3f" % float(text)
    return "".join(c if " " <= c <= "~" else "@" for c in text) or "(empty)"


def outcome(w, r):
    """None: the record passes; else what is wrong."""
    got = w.query(r.sql)
    failed = [m for m in got if m[0] == "E"]
    if r.kind != "query":
        return None if bool(failed) == (r.kind == "error") else "%r" % (failed or "no error")
    if failed:
        return "%r" % failed
    rows = [[shown(v, k) for v, k in zip(row(m[1]), r.types)] for m in got if m[0] == "D"]
    if r.order == "rowsort":
        rows.sort()
    values = [v for one in rows for v in one]
    if r.order == "valuesort":
        values.sort()
    if len(r.want) == 1 and " values hashing to " in r.want[0]:
        count, md5 = r.want[0].split(" values hashing to ")
        same = int(count) == len(values) and hashlib.md5("".join(v + "\n" for v in values).encode()).hexdigest() == md5
    else:
        same = list(r.want) == values
    return None if same else "want %s, got %s" % (r.want[:4], values[:4])


def fails_in_postgres(path, lines):
    """Of these records, the ones that a real PostgreSQL does not pass; None: there is none here."""
    try:
        server = Postgres()
    except house.Skip:
        return None
    try:
        w = Wire(5432, host=server.dir, user="judge", database="postgres")
        failing = set()
        for r in records(path):
            if (r.kind != "query" or r.line in lines) and outcome(w, r) is not None and r.line in lines:
                failing.add(r.line)
        w.close()
        return failing
    finally:
        server.close()


def one_file(path):
    with House(nodes=1, size="256m") as h:
        c = Compute(h)
        w = Wire(c.port, timeout=60)
        done, wrong = 0, {}
        for r in records(path):
            why = outcome(w, r)
            done += 1
            if why is not None:
                wrong[r.line] = "line %d: %s\n    %s" % (r.line, r.sql[:300], why[:300])
        w.close()
        c.terminate()
    if wrong:
        excused = fails_in_postgres(path, set(wrong))
        if excused is not None:
            wrong = {line: why for line, why in wrong.items() if line not in excused}
    print("   %s: %d records, %d wrong" % (os.path.basename(path), done, len(wrong)))
    check(done > 500, "there are many records in", path)
    check(not wrong, "%d records:\n%s" % (len(wrong), "\n".join(list(wrong.values())[:10])))


def make(path):
    def test():
        one_file(path)
    test.__name__ = "test_" + os.path.basename(path)[:-len(".test")].replace("-", "_")
    return test


def test_suites_are_there():
    if not os.path.isdir(SUITES):
        skip("there is no %s" % SUITES)


for file in sorted(glob.glob(os.path.join(SUITES, "*.test"))):
    if not house.SANITIZE or os.path.basename(file).startswith("select"):
        globals()["test_" + os.path.basename(file)] = make(file)

if __name__ == "__main__":
    house.main()
