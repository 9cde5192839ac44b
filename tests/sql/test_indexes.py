#!/usr/bin/env python3
"""Indexes, and primary keys that are kept in order: the statements of indexes.sql, random schemas, and two sessions that lock
rows, answered by namdb and by a real PostgreSQL 15."""
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_postgres
import test_foreign
import peer  # noqa: F401 (the path to house)
import house
from house import check

MARK = test_postgres.MARK + "end"
HERE = os.path.dirname(os.path.abspath(__file__))


def of_postgres(texts):
    """How a key is kept is namdb's own."""
    plain = [re.sub(r"\(primary_key( = \w+)?\)$", lambda m: "(fillfactor%s)" % (" = 90" if m.group(1) else ""),
                    re.sub(r" WITH \(primary_key = \w+\)", "", t)) for t in texts]
    return test_foreign.of_postgres(plain)


def statements():
    """[(section, statement)]"""
    out, section = [], None
    with open(os.path.join(HERE, "indexes.sql"), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("-- "):
                section = line[3:]
            elif line:
                out.append((section, line))
    return out


def test_statements():
    asked = statements()
    texts = [t for _, t in asked]
    want, got = of_postgres(texts), test_foreign.of_namdb(texts)
    wrong = ["%s: %s\n    namdb      %s\n    PostgreSQL %s" % (section, text, ours, theirs)
             for (section, text), theirs, ours in zip(asked, want, got) if theirs != ours]
    errors = sum(1 for _, e in want if e is not None)
    print("  %d statements, %d of them errors" % (len(asked), errors))
    check(len(asked) >= 200 and errors >= 55, "only %d statements, %d errors" % (len(asked), errors))
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong)))


# ---- random schemas ----------------------------------------------------------------------------

TYPES = {"i": "int", "j": "bigint", "n": "numeric(8,1)", "s": "text", "v": "varchar(12)", "d": "date", "h": "smallint", "b": "boolean",
         "f": "float8"}


class Table:
    def __init__(self, r, name):
        self.r, self.name = r, name
        letters = r.sample(sorted(TYPES), r.randrange(3, 7))
        self.columns = [(c + "1", c) for c in letters]
        self.key = r.sample([c for c, _ in self.columns], r.choice([1, 1, 2, 2, 3]))
        self.indexes, self.serial = [], 0

    def kind(self, column):
        return dict(self.columns)[column]

    def value(self, column, null=0.15):
        r, t = self.r, self.kind(column)
        if r.random() < null:
            return "NULL"
        n = r.randrange(1, 14)
        return {"i": str(n), "j": str(n * 1000000007), "h": str(n - 7), "n": "%.1f" % (n / 2), "f": "%s" % (n / 4),
                "s": r.choice(["''", "'a%d'" % (n % 4), "'%s'" % ("long " * 14 + str(n)), "'b%d'" % n]), "v": "'v%d'" % n,
                "d": "DATE '2024-03-%02d'" % n, "b": r.choice(["true", "false"])}[t]

    def row(self, null=0.15):
        return "(%s)" % ", ".join(self.value(c, 0.01 if c in self.key else null) for c, _ in self.columns)

    def create(self):
        r = self.r
        out = "CREATE TABLE %s (%s, PRIMARY KEY (%s)%s" % (
            self.name, ", ".join("%s %s" % (c, TYPES[t]) for c, t in self.columns), ", ".join(self.key),
            r.choice([" WITH (primary_key = ordered)"] * 3 + [" WITH (primary_key = hash)"]))
        if r.randrange(3) == 0:
            out += ", UNIQUE%s (%s)" % (r.choice(["", " NULLS NOT DISTINCT"]), ", ".join(r.sample([c for c, _ in self.columns], 2)))
        return out + ")"

    def index(self):
        r = self.r
        self.serial += 1
        name = "%s_i%d" % (self.name, self.serial)
        on = ", ".join(c + r.choice(["", "", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST"])
                       for c, _ in r.sample(self.columns, r.choice([1, 1, 2, 3])))
        include = " INCLUDE (%s)" % r.choice(self.columns)[0] if r.randrange(4) == 0 else ""
        self.indexes.append(name)
        return "CREATE %sINDEX %s%s ON %s (%s)%s" % (*r.choice([("", ""), ("", "CONCURRENTLY "), ("UNIQUE ", "")]), name, self.name, on, include)

    def one(self, column):
        """A condition on a column."""
        r, v = self.r, lambda: self.value(column, 0.03)
        if self.kind(column) in "sv" and r.randrange(3) == 0:
            return "%s LIKE '%s%%'" % (column, r.choice(["a", "b1", "v1", "long ", "", "b"]))
        low, high = v(), v()
        return r.choice(["%s = %s" % (column, v()), "%s IN (%s, %s, %s)" % (column, v(), v(), v()), "%s > %s" % (column, v()),
                         "%s <= %s" % (column, v()), "%s BETWEEN %s AND %s" % (column, low, high), "%s IS NULL" % column,
                         "%s IS NOT NULL" % column, "%s >= %s AND %s < %s" % (column, low, column, high)])

    def where(self):
        r = self.r
        columns = self.key if r.randrange(2) else [c for c, _ in self.columns]
        said = [self.one(c) for c in r.sample(columns, min(len(columns), r.choice([1, 1, 2, 2, 3])))]
        return "(%s)" % r.choice([" AND ", " AND ", " AND ", " OR "]).join(said)

    def order(self):
        """A total one."""
        r = self.r
        first = r.sample([c for c, _ in self.columns], r.randrange(0, 2))
        down = r.choice(["", " DESC"])
        return ", ".join([c + r.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]) for c in first] + [c + down for c in self.key])

    def select(self, other):
        r, c = self.r, self.r.choice(self.columns)[0]
        lock = r.choice(["", "", "", " FOR UPDATE", " FOR UPDATE SKIP LOCKED", " FOR SHARE NOWAIT"])
        if c in [k for k, t in self.columns if t == "b"]:
            c = self.key[0]
        agg = "count" if self.kind(c) == "b" else r.choice(["min", "max"])
        return r.choice([
            "SELECT * FROM %s WHERE %s ORDER BY %s%s" % (self.name, self.where(), self.order(), lock),
            "SELECT * FROM %s ORDER BY %s LIMIT %d%s" % (self.name, self.order(), r.randrange(1, 6), lock),
            "SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d OFFSET %d" % (
                ", ".join(self.key), self.name, self.where(), self.order(), r.randrange(1, 9), r.randrange(3)),
            "SELECT %s(%s), count(*) FROM %s WHERE %s" % (agg, c, self.name, self.where()),
            "SELECT %s(%s) FROM %s" % (agg, c, self.name),
            "SELECT count(*), count(y.%s) FROM %s x %s JOIN %s y ON y.%s = x.%s" % (
                (self.key[0], other.name, r.choice(["", "LEFT"]), self.name) + self.shared(other))])

    def shared(self, other):
        """Columns to be joined by."""
        same = [(c, d) for c, t in self.columns for d, u in other.columns if t == u or t + u in ("ij", "ji", "ih", "hi")]
        return self.r.choice(same) if same else (self.key[0], other.key[0])

    def change(self):
        r = self.r
        c = r.choice(self.columns)[0]
        insert = "INSERT INTO %s VALUES %s" % (self.name, self.row())
        many = "INSERT INTO %s VALUES %s" % (self.name, ", ".join(self.row(0.1).replace("NULL", "DEFAULT") for _ in range(4)))
        return r.choice([
            insert, insert, insert,
            many + " ON CONFLICT DO NOTHING",
            insert + " ON CONFLICT (%s) DO UPDATE SET %s = excluded.%s" % (", ".join(self.key), c, c),
            "DELETE FROM %s WHERE %s" % (self.name, self.where()),
            "UPDATE %s SET %s = %s WHERE %s" % (self.name, c, self.value(c), self.where()),
            "UPDATE %s SET %s WHERE %s" % (self.name, ", ".join("%s = %s" % (k, self.value(k, 0.02)) for k in self.key),
                                           " AND ".join("%s = %s" % (k, self.value(k, 0)) for k in self.key))])

    def define(self):
        r = self.r
        if self.indexes and r.randrange(3) == 0:
            return "DROP INDEX IF EXISTS " + self.indexes.pop(r.randrange(len(self.indexes)))
        return r.choice([
            self.index(), self.index(),
            "ALTER TABLE %s SET (primary_key = %s)" % (self.name, r.choice(["ordered", "hash"])),
            "TRUNCATE %s" % self.name,
            "ANALYZE %s" % self.name,
            "ALTER TABLE %s ADD UNIQUE (%s)" % (self.name, ", ".join(r.sample([c for c, _ in self.columns], 2)))])


INDEXES = "SELECT tablename, replace(indexdef, 'hash', 'btree') FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"


def schemas(r):
    out = []
    for _ in range(25):
        tables = [Table(r, "t%d" % k) for k in range(2)]
        for t in tables:
            out.append(t.create())
            rows = ", ".join(t.row(0.1) for _ in range(r.randrange(2, 60)))
            out.append("INSERT INTO %s VALUES %s ON CONFLICT DO NOTHING" % (t.name, rows.replace("NULL", "DEFAULT")))
            out += [t.index() for _ in range(r.randrange(3))]
        block = False
        for _ in range(40):
            t, other = r.sample(tables, 2)
            if not block and r.randrange(8) == 0:
                out.append(t.define())
            elif r.randrange(12) == 0:
                out.append(r.choice(["COMMIT", "ROLLBACK"]) if block else r.choice(["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"]))
                block = not block
            else:
                out.append(t.change() if r.randrange(2) else t.select(other))
        if block:
            out.append(r.choice(["COMMIT", "ROLLBACK"]))
        out += ["SELECT * FROM %s ORDER BY %s" % (t.name, ", ".join(t.key)) for t in tables]
        out += [INDEXES, "DROP TABLE t0, t1"]
    return out


def test_random_schemas():
    seed = int(os.environ.get("NAM_RANDOM", "1"))
    texts = schemas(random.Random(seed))
    want, got = of_postgres(texts), test_foreign.of_namdb(texts)
    errors, wrong = 0, []
    for text, theirs, ours in zip(texts, want, got):
        errors += theirs[1] is not None
        state = [e and e[0] for e in (theirs[1], ours[1])]
        if theirs[0] != ours[0] or state[0] != state[1]:
            wrong.append("%s\n    namdb      %s\n    PostgreSQL %s" % (text, ours, theirs))
    print("  seed %d: %d statements, %d of them errors" % (seed, len(texts), errors))
    check(errors > 60, "only %d errors" % errors)
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(texts), "\n".join(wrong[:20])))


# ---- two sessions that lock rows --------------------------------------------------------------

class Psql:
    """A session of PostgreSQL: one statement at a time."""

    def __init__(self, pg):
        self.p = subprocess.Popen([pg.bin + "/psql", "-X", "-q", "-h", pg.dir, "-U", "judge", "-d", "postgres", "-f", "-"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
                                  env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}, **pg.who)
        self.do("\\set VERBOSITY verbose\n\\pset format csv")

    def do(self, text):
        self.p.stdin.write((text + ("" if text.startswith("\\") else " ;") + "\n\\echo " + MARK + "\n").encode())
        self.p.stdin.flush()
        out = b""
        while not out.endswith(MARK.encode() + b"\n"):
            got = os.read(self.p.stdout.fileno(), 65536)
            check(got != b"", "psql ended:", out)
            out += got
        return out.decode()[:-len(MARK) - 1]

    def close(self):
        self.p.stdin.close()
        self.p.wait(timeout=30)
        self.p.stdout.close()


LOCKS = ["", " FOR UPDATE SKIP LOCKED", " FOR UPDATE NOWAIT", " FOR NO KEY UPDATE SKIP LOCKED", " FOR UPDATE SKIP LOCKED"]


def locking(r):
    """[(session, statement)]: no statement waits for another session. The lowest ids by an index are taken first."""
    out = [(0, "CREATE TABLE q (id int, part int, prio int, t text, PRIMARY KEY (part, id)%s)" % r.choice(
        [" WITH (primary_key = ordered)"] * 2 + [""])),
        (0, "INSERT INTO q SELECT i, i % 3, (i * 7) % 10, 't' || i % 4 FROM generate_series(1, 40) i"),
        (0, "CREATE INDEX ON q (prio DESC, id)"), (0, "CREATE INDEX ON q (t, id)"), (0, "ANALYZE q"), (0, "BEGIN"), (1, "BEGIN")]
    for _ in range(30):
        s, part, n = r.randrange(2), r.randrange(3), r.randrange(1, 5)
        where, order = r.choice([("part = %d" % part, "id"), ("part = %d AND id > %d" % (part, 10 * n), "id DESC"),
                                 ("part IN (0, 2) AND id BETWEEN %d AND %d" % (n, n + 15), "part, id"), ("true", "prio DESC, id"),
                                 ("prio >= %d" % (2 * n), "prio DESC, id"), ("t LIKE 't%d%%'" % part, "t, id"),
                                 ("t = 't1' AND part = %d" % part, "id")])
        # With a LIMIT, PostgreSQL and namdb lock what they give.
        limit = r.choice(["", " LIMIT %d" % n])
        out.append((s, "SELECT part, id FROM q WHERE %s ORDER BY %s%s%s" % (where, order, limit, r.choice(LOCKS))))
        if r.randrange(6) == 0:
            out += [(s, r.choice(["COMMIT", "ROLLBACK"])), (s, "BEGIN")]
    out += [(0, "COMMIT"), (1, "COMMIT"), (1, "DROP TABLE q")]
    return out


def in_order(part, null):
    """As test_foreign's answer, but rows in the order in which they came."""
    rows, error = test_foreign.answer(part, null)
    if error is None:
        rows = test_postgres.records(re.sub(r"^(psql:\S* )?(NOTICE|WARNING|DETAIL|LOCATION|HINT):.*\n", "", part, flags=re.M), null)
    return rows, error and error[0]


def test_two_sessions():
    seed = int(os.environ.get("NAM_RANDOM", "1"))
    asked = [x for k in range(8) for x in locking(random.Random("%d %d" % (seed, k)))]
    pg = test_postgres.Postgres()
    try:
        s = [Psql(pg), Psql(pg)]
        want = []
        for who, text in asked:
            want.append(in_order(s[who].do(re.sub(r" WITH \(primary_key = \w+\)", "", text)), ""))
            if want[-1][1] is not None:  # 55P03 ends the block: the statement counts, its locks do not
                s[who].do("ROLLBACK")
                s[who].do("BEGIN")
        for x in s:
            x.close()
    finally:
        pg.close()
    wrong = []
    with house.House(nodes=1, size="64m") as h:
        s = [h.shell("-q"), h.shell("-q")]
        for (who, text), theirs in zip(asked, want):
            ours = in_order(s[who].do(text), "")
            if ours != theirs:
                wrong.append("%d: %s\n    namdb      %s\n    PostgreSQL %s" % (who, text, ours, theirs))
            if theirs[1] is not None:
                s[who].do("ROLLBACK")
                s[who].do("BEGIN")
    locked = sum(1 for _, state in want if state == "55P03")
    print("  %d statements of two sessions, %d of them met a lock" % (len(asked), locked))
    check(locked >= 5, "only %d met a lock" % locked)
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong[:20])))


if __name__ == "__main__":
    house.main()
