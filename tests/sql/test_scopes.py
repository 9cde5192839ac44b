#!/usr/bin/env python3
"""Which query a name and an aggregate belong to: the statements of scopes.sql, answered by namdb and by a real PostgreSQL 15.
Rows, names of columns and SQLSTATEs must be equal. Then random statements (scoped.py): NAM_QUERIES of them, by NAM_SEED.
"""
import collections
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scoped
import test_postgres
import peer  # noqa: F401 (the path to house)
import house
from house import check


def statements(name):
    """[(section, statement)]: one statement a line; a line that begins with -- names what comes behind it."""
    out, section = [], None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("--"):
                section = line[2:].strip()
            elif line:
                out.append((section, line))
    return out


def in_order(text, rows):
    """Rows whose order the statement does not say, in an order of their own."""
    return rows if not rows or "order by" in text.lower() else rows[:1] + sorted(rows[1:], key=repr)


def ask_postgres(texts):
    pg = test_postgres.Postgres()
    try:
        return pg.script(texts)
    finally:
        pg.close()


def test_statements():
    asked = statements("scopes.sql")
    texts = [t for _, t in asked]
    wrong, errors = [], 0
    for (section, text), (rows, state), (our_rows, our_state, said) in zip(asked, ask_postgres(texts), test_postgres.ask_namdb(texts)):
        errors += state is not None
        if our_state != state or in_order(text, our_rows) != in_order(text, rows):
            wrong.append("[%s] %s\n    namdb      %s %s\n    PostgreSQL %s" % (
                section, text, test_postgres.shown(our_rows, our_state), said, test_postgres.shown(rows, state)))
    print("  %d statements, %d of them errors" % (len(asked), errors))
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong)))


QUERIES = 700
LONG = "57014"  # PostgreSQL asks a few of them for too long: those are not compared
# Of a statement that is right.
NOT_YET = ["correlated subqueries over the table that is changed are not supported here yet", "whole-row references are not supported yet"]


def test_random():
    seed = int(os.environ.get("NAM_SEED", "20261128"))
    maker = scoped.Maker(random.Random(seed))
    # JIT would compile most of them
    texts = scoped.SETUP + ["SET statement_timeout = '5s'", "SET jit = off"]
    asked = []
    for _ in range(int(os.environ.get("NAM_QUERIES", house.rounds(QUERIES, QUERIES, QUERIES // 5)))):
        text = maker.statement()
        changes = not test_postgres.is_question(text)
        asked.append(len(texts) + changes)
        texts += ["BEGIN", text, "ROLLBACK"] if changes else [text]
    want, got = ask_postgres(texts), test_postgres.ask_namdb(texts)
    wrong, rows, states, not_yet = [], 0, collections.Counter(), 0
    for k in asked:
        (their_rows, state), (our_rows, our_state, said) = want[k], got[k]
        states[state] += 1
        rows += their_rows is not None and len(their_rows) > 1
        if our_state == "0A000" and state != our_state and said in NOT_YET:
            not_yet += 1
        elif state != LONG and (our_state != state or in_order("", our_rows) != in_order("", their_rows)):
            wrong.append("%s\n    namdb      %s %s\n    PostgreSQL %s" % (
                texts[k], test_postgres.shown(our_rows, our_state), said, test_postgres.shown(their_rows, state)))
    print("  seed %d: %d statements, %d answers with rows, %d not yet; errors: %s" % (
        seed, len(asked), rows, not_yet, {s: n for s, n in states.items() if s}))
    check(rows * 3 > len(asked), "too few of them answer anything: %d" % rows)
    check(states[LONG] * 50 < len(asked), "too many of them take PostgreSQL too long")
    check(not_yet * 50 < len(asked), "too many of them are not supported: %d" % not_yet)
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(sorted(wrong, key=len)[:8])))


WIDE = 40  # columns of a table, which were more than a subquery's set could have

# Conditions that must be a semijoin or an antijoin, however many columns and conditions there are.
JOINED = [
    "EXISTS (SELECT * FROM wide WHERE c0 = a)", "NOT EXISTS (SELECT * FROM wide WHERE c0 = a)",
    "EXISTS (SELECT * FROM wide WHERE c0 = a AND c1 > b)", "EXISTS (SELECT *, * FROM wide x WHERE x.c0 = narrow.a AND b < c2)",
    "EXISTS (SELECT * FROM wide WHERE c0 = a AND %(positive)s)", "NOT EXISTS (SELECT 1 FROM wide WHERE c0 = a AND %(positive)s)",
    "EXISTS (SELECT * FROM wide WHERE %(equal)s)", "EXISTS (SELECT b FROM wide WHERE c0 = a)", "EXISTS (SELECT 1 / 0 FROM wide WHERE c0 = a)",
    "EXISTS (SELECT c1 FROM wide WHERE c0 = a GROUP BY c1)", "EXISTS (SELECT DISTINCT * FROM wide WHERE c0 = a ORDER BY c5)",
    "EXISTS (SELECT c1, * FROM wide WHERE c0 = a LIMIT NULL)", "EXISTS (SELECT DISTINCT ON (c1) c2 FROM wide WHERE c0 = a)",
    "EXISTS (SELECT row_number() OVER () FROM wide WHERE c0 = a)", "EXISTS (SELECT random() FROM wide WHERE c0 = a)",
    "a IN (SELECT c0 FROM wide WHERE c1 = a + 1 AND %(positive)s)", "(%(outer)s) IN (SELECT %(inner)s FROM wide)",
]


def test_wide_subqueries():
    columns = ["c%d" % k for k in range(WIDE)]
    words = {"positive": " AND ".join("%s > 0" % c for c in columns), "equal": " AND ".join("%s = a + %d" % (c, k) for k, c in enumerate(columns)),
             "outer": ", ".join("a + %d" % k for k in range(WIDE)), "inner": ", ".join(columns)}
    setup = ["CREATE TABLE wide (id int PRIMARY KEY, %s)" % ", ".join(c + " int" for c in columns),
             "INSERT INTO wide SELECT g, %s FROM generate_series(1, 2000) g" % ", ".join("g + %d" % k for k in range(WIDE)),
             "CREATE TABLE narrow (a int, b int)", "INSERT INTO narrow SELECT g, g % 7 FROM generate_series(1, 3000) g", "ANALYZE"]
    asked = ["SELECT count(*), sum(a) FROM narrow WHERE " + c % words for c in JOINED]
    branches = [" OR ".join("(a = c0 AND c1 = %d)" % (k + 2) for k in range(50)), " OR ".join("(a = c0 AND c1 = %d AND %s)" % (k, words["positive"]) for k in (3, 5))]
    asked += ["SELECT count(*), sum(a) FROM narrow, wide WHERE " + x for x in branches]
    want = ask_postgres(setup + asked)[len(setup):]
    got = test_postgres.ask_namdb(setup + [x for q in asked for x in (q, "EXPLAIN " + q)])[len(setup):]
    for k, q in enumerate(asked):
        check(got[2 * k][:2] == want[k], q[:300], got[2 * k], want[k])
        plan = "\n".join(r[0] for r in got[2 * k + 1][0])
        wanted = "Hash Join" if k >= len(JOINED) else "Hash Anti Join" if " NOT EXISTS" in q else "Hash Semi Join"
        check(wanted in plan and "SubPlan" not in plan, q[:300], plan)


if __name__ == "__main__":
    house.main()
