#!/usr/bin/env python3
"""Foreign keys: the statements of foreign.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs, messages and
details must be equal."""
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_postgres
import peer  # noqa: F401 (the path to house)
import house
from house import check

MARK = test_postgres.MARK


def statements(name="foreign.sql"):
    """[(section, statement)]"""
    out, section = [], None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("-- "):
                section = line[3:]
            elif line:
                out.append((section, line))
    return out


def answer(part, null, ordered=False):
    """(rows or None, error or None): an error is its SQLSTATE, message and detail; the rest of such an answer counts for nothing."""
    m = re.search(r"ERROR:  ([0-9A-Z]{5}): (.*)", part)
    if m is None:
        rows = re.sub(r"^(psql:\S* )?(NOTICE:|WARNING:|DETAIL:|LOCATION:|HINT:|drop cascades to ).*\n", "", part, flags=re.M)
        found = list(map(repr, test_postgres.records(rows, null)))
        return found if ordered else sorted(found), None
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
        return [answer(part, "\\N", " ORDER BY " in t) for t, part in zip(texts, test_postgres.pieces(p.stdout.decode(), len(texts)))]
    finally:
        pg.close()


def said_by_namdb(texts):
    """What namdb says to each text."""
    lines = []
    for n, t in enumerate(texts):
        lines += ["\\echo %s%d" % (MARK, n), t + " ;"]
    p = subprocess.run([house.NAMDB, "demo", "--empty", "--nodes", "1", "--csv", "-q"],
                       input=("\n".join(lines) + "\n").encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=300 * house.SLOW, env=house.clean_env())
    out = p.stdout.decode("utf-8", "replace")
    house.no_sanitizer_report(out)
    return test_postgres.pieces(out, len(texts))


def of_namdb(texts):
    return [answer(part, "", " ORDER BY " in t) for t, part in zip(texts, said_by_namdb(texts))]


# Answers that differ on purpose: the part of the statement, and the SQLSTATE that namdb gives.
OURS = [("DEFERRABLE INITIALLY IMMEDIATE NOT", "0A000")]


def compare(name, ours, least):
    """The statements of a file, answered alike but for ours: a statement, and the SQLSTATE that namdb gives on purpose. least: more
    errors than that are PostgreSQL's."""
    asked = statements(name)
    texts = [t for _, t in asked]
    want, got = of_postgres(texts), of_namdb(texts)
    wrong, errors = [], 0
    for (section, text), pg, own in zip(asked, want, got):
        errors += pg[1] is not None
        if pg != own and not (own[1] is not None and ours.get(text) == own[1][0]):
            wrong.append("%s: %s\n    namdb      %s\n    PostgreSQL %s" % (section, text, own, pg))
    check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
    check(errors > least, "PostgreSQL refuses only", errors)
    print("  %d statements, %d of them refused" % (len(asked), errors))


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


ACTIONS = ["", "NO ACTION", "RESTRICT", "CASCADE", "CASCADE", "SET NULL", "SET DEFAULT"]


def schemas(r):
    """Tables, each of which refers to one before it or to itself, and changes of their rows; then all is dropped."""
    out = []
    for s in range(30):
        tables = r.randrange(2, 6)
        for t in range(tables):
            columns = "id int PRIMARY KEY, x int UNIQUE, y int, up int DEFAULT %s" % r.choice(["NULL", "3"])
            if t > 0 or r.randrange(3) == 0:
                to = r.choice([t, max(t - 1, 0), r.randrange(t + 1)])
                action = "".join(" ON %s %s" % (what, a) for what in ("DELETE", "UPDATE") for a in [r.choice(ACTIONS)] if a)
                if r.randrange(3) == 0:
                    columns += ", y2 int, FOREIGN KEY (up, y2) REFERENCES t%d (x, y)%s" % (to, action)
                else:
                    columns += ", FOREIGN KEY (up) REFERENCES t%d%s%s" % (to, r.choice(["", " (x)"]), action)
            out.append("CREATE TABLE t%d (%s, UNIQUE (x, y))" % (t, columns))
            if r.randrange(2):
                out.append("CREATE INDEX ON t%d (up)" % t)
            if r.randrange(4) == 0:
                out.append("INSERT INTO t%d SELECT i, i, i, CASE WHEN i > 1 THEN %s END FROM generate_series(1, 9) i" % (
                    t, r.choice(["i", "i - 1", "10 - i", "3"])))
        for _ in range(45):
            t, key = r.randrange(tables), r.randrange(1, 12)
            out.append(r.choice([
                "INSERT INTO t%d (id, x, y, up) VALUES (%d, %d, %d, %s)" % (t, key, key, key, r.choice(["NULL", "3", str(key)])),
                "INSERT INTO t%d (id, x, y) SELECT i, i, i FROM generate_series(%d, %d) i ON CONFLICT DO NOTHING" % (t, key, key + 4),
                "INSERT INTO t%d (id, x, y) VALUES (%d, %d, 5) ON CONFLICT (id) DO UPDATE SET up = %d" % (t, key, key, key),
                "DELETE FROM t%d WHERE id = %d" % (t, key),
                "DELETE FROM t%d WHERE id BETWEEN %d AND %d" % (t, key, key + 2),
                "UPDATE t%d SET up = %d WHERE id = %d" % (t, r.randrange(12), key),
                "UPDATE t%d SET up = id WHERE id > %d" % (t, key),
                "UPDATE t%d SET id = id + 100 WHERE id = %d" % (t, key),
                "UPDATE t%d SET id = id - 100, x = x + 100 WHERE id > 100 AND id < 112" % t,
                "UPDATE t%d SET x = x + 50, y = y + 1 WHERE x BETWEEN %d AND %d" % (t, key, key + 1),
                "UPDATE t%d SET x = NULL WHERE id = %d" % (t, key),
                "DELETE FROM t%d USING t0 WHERE t%d.up = t0.id AND t0.id = %d" % (t, t, key) if t else "DELETE FROM t0 WHERE x = %d" % key]))
            out += ["SELECT * FROM t%d" % k for k in range(tables)]
        out.append("DROP TABLE " + ", ".join("t%d" % k for k in range(tables)))
    return out


def test_random_schemas():
    """Of two errors that one statement may give, either one will do."""
    seed = int(os.environ.get("NAM_RANDOM", "1"))
    texts = schemas(random.Random(seed))
    want, got = of_postgres(texts), of_namdb(texts)
    errors, wrong = 0, []
    for text, theirs, ours in zip(texts, want, got):
        errors += theirs[1] is not None
        if theirs[0] != ours[0] or (theirs[1] is None) != (ours[1] is None):
            wrong.append("%s\n    namdb      %s\n    PostgreSQL %s" % (text, ours, theirs))
    print("  seed %d: %d statements, %d of them errors" % (seed, len(texts), errors))
    check(errors > 60, "only %d errors" % errors)
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(texts), "\n".join(wrong[:20])))


if __name__ == "__main__":
    house.main()
