#!/usr/bin/env python3
"""What a review of sql found wrong, statement by statement (reviewed.sql), answered by namdb and by a real PostgreSQL 15:
rows, names and types of columns, and SQLSTATEs must be equal. 0A000 is counted, not failed, but where it is not expected.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_postgres
import peer  # noqa: F401 (the path to house)
import house
from house import check

SETUP = [
    "CREATE TABLE rt (i int PRIMARY KEY, j int)",
    "INSERT INTO rt VALUES (1, 2), (2, 2), (3, 4), (4, NULL)",
    "CREATE TABLE rempty (a int, b text, c numeric)",
    "CREATE TABLE rtext (id int PRIMARY KEY, s text)",
    "INSERT INTO rtext VALUES (1, 'b'), (2, 'a'), (3, NULL), (4, 'B')",
    "CREATE TABLE rvc (f varchar(4), w varchar, c char(4), n numeric(6,2), tx text, fa varchar(4)[], wa varchar[])",
    "INSERT INTO rvc VALUES ('a', 'w', 'c', 1.25, 't', '{x,y}', '{z}'), ('long', 'wide', 'char', 22, 'text', '{}', NULL)",
    "CREATE VIEW rvc_view AS SELECT f, w AS x, 'lit' AS lit, c AS cc, coalesce(f, 'x') AS cf, f || 'x' AS fx, n FROM rvc",
    "CREATE VIEW rview AS SELECT i, j FROM rt",
    "CREATE TABLE rser (id serial PRIMARY KEY, s text)",
    "CREATE TABLE rbig (a int)",
    "INSERT INTO rbig VALUES (2147483647)",
    "CREATE TABLE rdup (a int PRIMARY KEY, b int NOT NULL)",
    "CREATE TABLE rrel (id int PRIMARY KEY, ts timestamp, tz timestamptz, t text)",
    "INSERT INTO rrel VALUES (1, '2020-01-01', '2020-01-01 00:00+00', 'a'), (2, '2020-01-02', '2020-01-01 00:00+02', 'a '), "
    "(3, NULL, NULL, 'b'), (4, '2020-01-01', '2020-01-02 00:00+00', NULL)",
    "CREATE TABLE rbp (f varchar(5), c char(3), t text)",
    "INSERT INTO rbp VALUES ('a ', 'a', 'a '), ('a', 'a', 'a'), ('b', 'a', 'b  '), (NULL, 'b', NULL)",
    "CREATE TABLE rbpk (c char(3) PRIMARY KEY)",
    "INSERT INTO rbpk VALUES ('a'), ('b'), ('c')",
    "CREATE TABLE rbpv (v varchar PRIMARY KEY)",
    "INSERT INTO rbpv VALUES ('a'), ('a '), ('b')",
    "CREATE TABLE rchk (a int PRIMARY KEY, b int CHECK (b > 0))",
]


def reviewed(name="reviewed.sql"):
    """[(feature, statement)]"""
    out, feature = [], None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("-- "):
                feature = line[3:]
            elif line:
                out.append((feature, line))
    return out


def in_order(text, rows):
    """Rows whose order the statement does not say, in an order of their own."""
    return rows if not rows or "ORDER BY" in text else rows[:1] + sorted(rows[1:], key=repr)


def compare(setup, asked, whole=False):
    """Both answer the same list. whole: nothing of it is unsupported. Prints how it went."""
    texts = setup + [t for _, t in asked]
    pg = test_postgres.Postgres()
    try:
        want = pg.script(texts)
    finally:
        pg.close()
    got = test_postgres.ask_namdb(texts)
    for k, t in enumerate(setup):
        check(want[k][1] is None and got[k][1] is None, "setting up: %s: %s %s" % (t, want[k][1], got[k][1:]))
    equal, later, wrong = 0, [], []
    for (feature, text), (rows, state), (our_rows, our_state, said) in zip(asked, want[len(setup):], got[len(setup):]):
        if our_state == state and in_order(text, our_rows) == in_order(text, rows):
            equal += 1
        elif our_state == "0A000" and not whole:
            later.append("%s: %s (PostgreSQL: %s)" % (text, said, state or "rows"))
        else:
            wrong.append("%s: %s\n    namdb      %s\n    PostgreSQL %s" % (
                feature, text, test_postgres.shown(our_rows, our_state) + (" " + said if our_state else ""),
                test_postgres.shown(rows, state)))
    print("  %d statements: %d equal, %d not supported yet, %d differ" % (len(asked), equal, len(later), len(wrong)))
    if os.environ.get("NAM_DIFFS"):
        print("\n".join("  not yet: " + x for x in later))
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong)))


def test_reviewed():
    compare(SETUP, reviewed())


# What CREATE TABLE AS makes of a query's columns, asked in each one's catalog.
OF_POSTGRES = ("CREATE FUNCTION columns_of(t text) RETURNS TABLE (name text, type text) LANGUAGE sql AS $$SELECT attname::text, "
               "format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = t::regclass AND attnum > 0 ORDER BY attnum$$")
OF_NAMDB = "SELECT name, type FROM nam_columns WHERE table_id = (SELECT id FROM nam_tables WHERE name = '%s') ORDER BY number"


def test_types_of_columns():
    queries = [(n, t) for n, (f, t) in enumerate(reviewed()) if f == "W6: types of columns"]
    made, names = list(SETUP), []
    pg = test_postgres.Postgres()
    try:
        widths = [len(rows[0]) if rows else 0 for rows, _ in pg.script(SETUP + [t for _, t in queries])[len(SETUP):]]
        for (n, text), width in zip(queries, widths):
            if width == 0:
                continue  # an error: the other test compares it
            columns = ", ".join("c%d" % (k + 1) for k in range(width))
            made.append("CREATE TABLE z%d AS SELECT * FROM (%s) q(%s) WITH NO DATA" % (n, text, columns))
            names.append(("z%d" % n, text))
        want = pg.script(made[len(SETUP):] + [OF_POSTGRES] + ["SELECT * FROM columns_of('%s')" % z for z, _ in names])[-len(names):]
    finally:
        pg.close()
    got = test_postgres.ask_namdb(made + [OF_NAMDB % z for z, _ in names])[-len(names):]
    check(len(names) >= 35, "only %d queries" % len(names))
    wrong = ["%s\n    namdb      %s\n    PostgreSQL %s" % (text, [r[1] for r in ours[0] or [ours]], [r[1] for r in rows])
             for (_, text), (rows, _), ours in zip(names, want, got) if ours[0] != rows]
    print("  %d queries, %d columns" % (len(names), sum(len(rows) - 1 for rows, _ in want)))
    check(not wrong, "types of %d of %d queries' columns differ:\n%s" % (len(wrong), len(names), "\n".join(wrong)))


if __name__ == "__main__":
    house.main()
