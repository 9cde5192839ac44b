#!/usr/bin/env python3
"""Temporary relations: a session's own, gone with it, however it ends; with the process, if that is killed, as soon as another
session looks."""
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same, until
from wire import Wire, error, kinds, texts


def state(answer):
    """The SQLSTATE of an answer; "" = it is no error."""
    return error(answer)["C"] if "E" in kinds(answer) else ""


SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg_temp%' ORDER BY 1"
RELATIONS = "SELECT count(*) FROM pg_class WHERE relpersistence = 't'"


def schemas(w):
    return [r[0] for r in texts(w.query(SCHEMAS))]


def test_of_one_session():
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        a, b, c = Wire(one.port), Wire(one.port), Wire(two.port)
        a.query("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        for n, w in enumerate((a, b, c)):
            w.query("CREATE TEMP TABLE t (a int, id serial); INSERT INTO t (a) SELECT %d FROM generate_series(1, %d)" % (n, n + 5))
        for n, w in enumerate((a, b, c)):
            same(texts(w.query("SELECT count(*), min(a) FROM t")), [(str(n + 5), str(n))])
            same(texts(w.query("SELECT count(*) FROM public.t")), [("1",)])
        same(len(schemas(a)), 3)
        mine = texts(a.query("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()"))[0][0]
        for w in (b, c):
            check(mine in schemas(w))
            for text in ("SELECT * FROM %s.t", "INSERT INTO %s.t VALUES (1)", "DROP TABLE %s.t", "TRUNCATE %s.t",
                         "ALTER TABLE %s.t ADD x int", "SELECT nextval('%s.t_id_seq')"):
                same(state(w.query(text % mine)), "0A000", text)
        # A big answer is found by helpers of the session's plan, too.
        a.query("SET namdb.parallel_rows = 10; SET namdb.parallel = 2; INSERT INTO t (a) SELECT i FROM generate_series(1, 5000) i")
        same(texts(a.query("SELECT count(*), sum(a) FROM t")), [("5005", str(5000 * 5001 // 2))])
        a.close()
        until(lambda: len(schemas(b)) == 2, 10, "the first session's relations are dropped")
        # A client that ends without a word; one that is in the middle of a transaction.
        b.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        b.s.close()
        until(lambda: len(schemas(c)) == 1, 10, "the second session's are, too")
        d = Wire(one.port)
        d.query("CREATE TEMP TABLE kept (a int)")
        d.query("BEGIN; CREATE TEMP TABLE more (a int); INSERT INTO kept VALUES (1)")
        same(len(schemas(c)), 2)
        d.close()
        until(lambda: len(schemas(c)) == 1, 10, "the third one's are, too")
        # pg_terminate_backend
        e = Wire(two.port)
        e.query("CREATE TEMP TABLE short (a int); INSERT INTO short VALUES (1)")
        same(len(schemas(c)), 2)
        same(texts(c.query("SELECT pg_terminate_backend(%d)" % e.pid)), [("t",)])
        until(lambda: len(schemas(c)) == 1, 10, "a session that is told to end drops its own")
        c.close()
        last = Wire(one.port)
        until(lambda: texts(last.query(RELATIONS)) == [("0",)], 10, "nothing is left")
        last.query("CREATE TEMP TABLE at_the_end (a int)")
        one.terminate()
        w = Wire(two.port)
        same(schemas(w), [], "a compute node that stops")
        w.close()


def test_killed():
    """A process that is killed leaves its sessions' relations: they are dropped by the next session that uses some."""
    with House(nodes=1, size="256m", lease_ms=1000) as h:
        one, two = Compute(h), Compute(h)
        killed = [Wire(one.port) for _ in range(3)]
        stays = Wire(two.port)
        stays.query("CREATE TEMP TABLE mine (a int); INSERT INTO mine VALUES (1)")
        for n, w in enumerate(killed):
            w.query("CREATE TEMP TABLE lost (a serial PRIMARY KEY, b text UNIQUE); INSERT INTO lost (b) SELECT i::text FROM "
                    "generate_series(1, 500) i; CREATE TEMP VIEW v AS SELECT b FROM lost")
        killed[0].query("BEGIN; INSERT INTO lost (b) VALUES ('open')")
        same(len(schemas(stays)), 4)
        one.kill()

        def swept():
            w = Wire(two.port)
            w.query("CREATE TEMP TABLE own (a int)")
            n = len(schemas(w))
            w.close()
            return n == 2

        until(swept, 30, "the killed process's are dropped")
        until(lambda: len(schemas(stays)) == 1, 10, "and those of who swept")
        same(texts(stays.query("SELECT a FROM mine")), [("1",)], "those of a living process stay")
        same(texts(stays.query("SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'")), [("mine",)])
        stays.close()


def test_rolled_back():
    with House(nodes=1, size="128m") as h:
        one = Compute(h)
        a, b = Wire(one.port), Wire(one.port)
        a.query("BEGIN; CREATE TEMP TABLE t (a int) ON COMMIT DELETE ROWS; INSERT INTO t VALUES (1)")
        same(schemas(b), [])
        a.query("ROLLBACK")
        same(schemas(b), [])
        same(state(a.query("SELECT * FROM t")), "42P01")
        a.query("CREATE TEMP TABLE t (a int) ON COMMIT DELETE ROWS")
        same(len(schemas(b)), 1)
        # What fails at COMMIT leaves the rows' end to the rollback.
        a.query("CREATE TABLE p (a int PRIMARY KEY)")
        a.query("BEGIN; INSERT INTO t VALUES (1); INSERT INTO p VALUES (1)")
        same(texts(a.query("SELECT count(*) FROM t")), [("1",)])
        a.query("COMMIT")
        same(texts(a.query("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM p)")), [("0", "1")])
        same(state(a.query("BEGIN READ ONLY; SELECT count(*) FROM t; COMMIT")), "")
        for w in (a, b):
            w.close()


STRAYS = "SELECT relname FROM pg_class WHERE relnamespace NOT IN (SELECT oid FROM pg_namespace)"


def test_of_others():
    """The schema of another session: nothing is made there, nothing is read there, and DROP SCHEMA waits for what is."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss, other = Wire(one.port), Wire(two.port)
        boss.query("CREATE TABLE prices (a int); INSERT INTO prices VALUES (100); CREATE ROLE ann")
        boss.query("CREATE TEMP TABLE secret (a int); INSERT INTO secret VALUES (42)")
        its = texts(boss.query("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()"))[0][0]
        # A role, even a superuser, in another session makes nothing that this one would find.
        for role in ("SET ROLE ann", "RESET ROLE"):
            other.query(role)
            for text in ("CREATE VIEW %s.prices AS SELECT 1 AS a", "CREATE TABLE %s.prices (a int)", "CREATE TABLE %s.p AS SELECT 1 AS a",
                         "CREATE SEQUENCE %s.prices", "CREATE TEMP TABLE %s.prices (a int)"):
                same(state(other.query(text % its)), "42P16", text)
            for text in ("GRANT USAGE ON SCHEMA %s TO ann", "ALTER SCHEMA %s OWNER TO ann", "GRANT USAGE ON SCHEMA pg_temp TO ann"):
                check(state(other.query(text % its if "%" in text else text)) in ("0A000", "3F000"), text)
            # Nor does search_path lead there, in this session or in a view.
            other.query("SET search_path = %s, public" % its)
            same(state(other.query("SELECT * FROM secret")), "42P01")
            same(state(other.query("SELECT * FROM %s.secret" % its)), "0A000")
            same(state(other.query("CREATE TEMP VIEW peek AS SELECT * FROM %s.secret" % its)), "0A000")
            other.query("CREATE TEMP TABLE own (a int); INSERT INTO own VALUES (7)")
            same(texts(other.query("SELECT a FROM own")), [("7",)])
            same(state(other.query("SELECT * FROM secret")), "42P01")
            other.query("RESET search_path; DROP TABLE own")
        same(texts(boss.query("SELECT a FROM prices")), [("100",)])
        other.query("REASSIGN OWNED BY namdb TO ann; RESET ROLE")
        same(texts(boss.query("SELECT a FROM secret")), [("42",)])
        # DROP SCHEMA beside a transaction that makes a relation there: one of the two fails, nothing is left over.
        boss.query("BEGIN; CREATE TEMP TABLE late (a int)")
        other.query("SET lock_timeout = '200ms'")
        check(state(other.query("DROP SCHEMA %s CASCADE" % its)) in ("55P03", "40001"))
        same(state(boss.query("COMMIT")), "")
        same(texts(other.query(STRAYS)), [])
        same(state(other.query("DROP SCHEMA %s CASCADE" % its)), "")
        same(state(boss.query("SELECT * FROM secret")), "42P01")
        same(state(boss.query("CREATE TEMP TABLE secret (a int)")), "")
        # A default that names a sequence as it is written keeps no temporary one.
        boss.query("CREATE SEQUENCE shared; CREATE TABLE uses (a bigint DEFAULT 1 + nextval('shared'))")
        boss.query("CREATE TEMP SEQUENCE shared; CREATE TEMP SEQUENCE tq")
        same(state(boss.query("CREATE TABLE perm (a int DEFAULT nextval('tq'))")), "0A000")
        boss.close()
        until(lambda: its not in schemas(other), 10, "the session's schema goes")
        same(texts(other.query(STRAYS)), [])
        other.close()


if __name__ == "__main__":
    house.main()
