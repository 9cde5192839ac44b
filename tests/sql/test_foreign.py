#!/usr/bin/env python3
"""Foreign keys: the statements of foreign.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs, messages and
details must be equal."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_postgres
import peer  # noqa: F401 (the path to house)
import house
from house import check

MARK = test_postgres.MARK


def statements():
    """[(section, statement)]"""
    out, section = [], None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign.sql"), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("-- "):
                section = line[3:]
            elif line:
                out.append((section, line))
    return out


def answer(part, null):
    """(rows or None, error or None): an error is its SQLSTATE, message and detail; the rest of such an answer counts for nothing."""
    m = re.search(r"ERROR:  ([0-9A-Z]{5}): (.*)", part)
    if m is None:
        rows = re.sub(r"^(psql:\S* )?(NOTICE:|WARNING:|DETAIL:|LOCATION:|HINT:|drop cascades to ).*\n", "", part, flags=re.M)
        return sorted(map(repr, test_postgres.records(rows, null))), None
    detail = re.search(r"^DETAIL:  (.*)", part, re.M)
    return None, (m.group(1), m.group(2), detail.group(1) if detail else "")


def of_postgres(texts):
    pg = test_postgres.Postgres()
    try:
        lines = ["\\set VERBOSITY verbose", "\\pset format csv", "\\pset null '\\\\N'"]
        for n, t in enumerate(texts):
            lines += ["\\echo '%s%d'" % (MARK, n), t + " ;"]
        p = subprocess.run(["stdbuf", "-oL", pg.bin + "/psql", "-X", "-q", "-h", pg.dir, "-U", "judge", "-d", "postgres", "-f", "-"],
                           input=("\n".join(lines) + "\n").encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                           cwd="/", env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "PGCLIENTENCODING": "UTF8"}, **pg.who)
        return [answer(part, "\\N") for part in test_postgres.pieces(p.stdout.decode(), len(texts))]
    finally:
        pg.close()


def of_namdb(texts):
    lines = []
    for n, t in enumerate(texts):
        lines += ["\\echo %s%d" % (MARK, n), t + " ;"]
    p = subprocess.run([house.NAMDB, "demo", "--empty", "--nodes", "1", "--csv", "-q"],
                       input=("\n".join(lines) + "\n").encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=300 * house.SLOW, env=house.clean_env())
    out = p.stdout.decode("utf-8", "replace")
    house.no_sanitizer_report(out)
    return [answer(part, "") for part in test_postgres.pieces(out, len(texts))]


# Answers that differ on purpose: the part of the statement, and the SQLSTATE that namdb gives.
OURS = [("DEFERRABLE INITIALLY IMMEDIATE NOT", "0A000")]


def test_foreign():
    asked = statements()
    texts = [t for _, t in asked]
    want, got = of_postgres(texts), of_namdb(texts)
    equal, wrong = 0, []
    for (section, text), theirs, ours in zip(asked, want, got):
        if theirs == ours or any(part in text and ours[1] is not None and ours[1][0] == state for part, state in OURS):
            equal += 1
        else:
            wrong.append("%s: %s\n    namdb      %s\n    PostgreSQL %s" % (section, text, ours, theirs))
    errors = sum(1 for _, e in want if e is not None)
    print("  %d statements, %d of them errors: %d equal" % (len(asked), errors, equal))
    check(len(asked) >= 200 and errors >= 60, "only %d statements, %d errors" % (len(asked), errors))
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong)))


if __name__ == "__main__":
    house.main()
