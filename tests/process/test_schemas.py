#!/usr/bin/env python3
"""Schemas at two compute nodes: DROP SCHEMA beside statements that put something into the schema leaves nothing without one;
tables are made side by side in one schema; prepared statements follow search_path, and what other nodes make in it."""
import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, error, kinds, texts


def state(answer):
    """The SQLSTATE of an answer; "" = it is no error."""
    return error(answer)["C"] if "E" in kinds(answer) else ""


# Relations whose schema is gone.
STRAYS = "SELECT count(*) FROM pg_class WHERE relnamespace NOT IN (SELECT oid FROM pg_namespace)"
# What may be said to a statement that loses.
LOST = {"", "3F000", "40001", "42703", "42P01", "42P07", "2BP01", "40P01", "55P03"}


def test_drop_beside_create():
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss, other = Wire(one.port, user="boss"), Wire(two.port, user="boss")
        boss.query("CREATE TABLE base (a int)")
        stop, seen, renamed, wrong = threading.Event(), {}, {}, []

        def fill(seed):
            dice, w, n = random.Random(seed), Wire(two.port if seed % 2 else one.port, user="boss"), 0
            while not stop.is_set():
                n += 1
                name = "s%d.r%d_%d" % (dice.randrange(2), seed, n)
                text = dice.choice(["CREATE TABLE %s (id serial PRIMARY KEY, b text UNIQUE)", "CREATE VIEW %s AS SELECT a FROM base",
                                    "CREATE SEQUENCE %s", "CREATE TABLE %s AS SELECT 1 AS a"]) % name
                got = state(w.query(text))
                if got == "" and "TABLE" in text and dice.randrange(2):
                    text = dice.choice(["ALTER TABLE %s RENAME TO again_%d_%d", "CREATE SEQUENCE s0.again_%d_%d OWNED BY %s.id"])
                    text = text % (name, seed, n) if text[0] == "A" else text.replace("s0", name[:2]) % (seed, n, name)
                    got = state(w.query(text))
                    renamed[got] = renamed.get(got, 0) + 1
                seen[got] = seen.get(got, 0) + 1
                if got not in LOST:
                    wrong.append((text, got))
            w.close()

        fillers = [threading.Thread(target=fill, args=(k,)) for k in range(2)]
        for f in fillers:
            f.start()
        dice, dropped = random.Random(7), 0
        for k in range(400):
            name = "s%d" % dice.randrange(2)
            boss.query("CREATE SCHEMA IF NOT EXISTS " + name)
            for text in ("DROP SCHEMA " + name, "DROP SCHEMA %s CASCADE" % name):
                got = state(other.query(text))
                dropped += got == ""
                if got not in LOST:
                    wrong.append((text, got))
            same(texts(boss.query(STRAYS)), [("0",)], "after %d" % k)
        stop.set()
        for f in fillers:
            f.join()
        check(not wrong, wrong)
        check(seen.get("", 0) > 50 and seen.get("3F000", 0) > 0 and dropped > 20, "what was seen:", seen, dropped)
        for w in (boss, other):
            same(texts(w.query(STRAYS)), [("0",)])
            w.query("DROP SCHEMA IF EXISTS s0, s1 CASCADE")
            same(texts(w.query("SELECT count(*) FROM pg_class WHERE relname ~ '^(r|again_)[01]_'")), [("0",)], "all is gone")
            w.close()
        print("  %s, renamed %s, %d drops" % (seen, renamed, dropped))


def test_side_by_side():
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss = Wire(one.port, user="boss")
        boss.query("CREATE SCHEMA app")
        wrong = []

        def make(seed):
            w = Wire(two.port if seed % 2 else one.port, user="boss")
            w.query("SET search_path = app")
            for n in range(15):
                got = state(w.query("CREATE TABLE t%d_%d (a int PRIMARY KEY)" % (seed, n)))
                if got:
                    wrong.append(got)
            w.close()

        makers = [threading.Thread(target=make, args=(k,)) for k in range(3)]
        for m in makers:
            m.start()
        for m in makers:
            m.join()
        same(wrong, [], "nobody is told to try again")
        same(texts(boss.query("SELECT count(*) FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind = 'r'")), [("45",)])
        boss.close()


def test_followed():
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss, w = Wire(one.port, user="boss"), Wire(two.port, user="boss")
        boss.query("CREATE TABLE t (a int); INSERT INTO t VALUES (1); CREATE SCHEMA app")
        w.query("SET search_path = app, public; PREPARE p AS SELECT a FROM t; PREPARE i AS INSERT INTO t VALUES (5)")
        same(texts(w.query("EXECUTE p")), [("1",)])
        boss.query("CREATE TABLE app.t (a int); INSERT INTO app.t VALUES (2)")
        same(texts(w.query("EXECUTE p")), [("2",)], "a table that came before it in search_path")
        w.query("EXECUTE i")
        same(texts(boss.query("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM app.t)")), [("1", "2")])
        w.query("SET search_path = public")
        same(texts(w.query("EXECUTE p")), [("1",)], "the path has changed")
        w.query("SET search_path = app, public")
        boss.query("DROP SCHEMA app CASCADE")
        same(texts(w.query("EXECUTE p")), [("1",)], "it has gone again")
        # Rights on a schema hold at once, also for prepared statements.
        boss.query("CREATE ROLE ann LOGIN; CREATE SCHEMA app; CREATE TABLE app.t (a int); INSERT INTO app.t VALUES (3);"
                   "GRANT SELECT ON app.t TO ann; GRANT USAGE ON SCHEMA app TO ann; GRANT SELECT ON t TO ann")
        ann = Wire(two.port, user="ann")
        ann.query("SET search_path = app, public; PREPARE q AS SELECT a FROM t; PREPARE r AS SELECT a FROM app.t")
        same([texts(ann.query("EXECUTE q")), texts(ann.query("EXECUTE r"))], [[("3",)], [("3",)]])
        boss.query("REVOKE USAGE ON SCHEMA app FROM ann")
        same(texts(ann.query("EXECUTE q")), [("1",)], "a schema that it may not use is passed over")
        same(state(ann.query("EXECUTE r")), "42501")
        # A snapshot of before sees what it saw.
        w.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT a FROM app.t")
        boss.query("DROP SCHEMA app CASCADE")
        same(texts(w.query("SELECT a FROM app.t")), [("3",)])
        w.query("COMMIT")
        same(state(w.query("SELECT a FROM app.t")), "42P01")
        for c in (boss, w, ann):
            c.close()


if __name__ == "__main__":
    house.main()
