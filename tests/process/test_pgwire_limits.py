#!/usr/bin/env python3
"""How much a client may ask of `namdb compute` at once: columns, parameters, elements of IN, statements; and statements that are
accepted, or refused, for what they would do."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, same
from wire import Wire, error, kinds, rows, tags, texts

shared = None


def wire():
    global shared
    if shared is None:
        shared = Compute(House(nodes=1, size="256m"))
        w = Wire(shared.port)
        w.query("CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t SELECT g, 'v' FROM generate_series(1, 1000) g")
        w.close()
    return Wire(shared.port, timeout=60)


def numbers(low, high, form="%d"):
    return ", ".join(form % k for k in range(low, high))


def test_columns():
    w = wire()
    same(error(w.query("CREATE TABLE wide (%s)" % numbers(0, 1601, "c%d int")))["C"], "54011")
    same(tags(w.query("CREATE TABLE wide (%s)" % numbers(0, 1600, "c%d int"))), ["CREATE TABLE"])
    same(error(w.query("ALTER TABLE wide ADD COLUMN more int"))["C"], "54011")
    same(tags(w.query("INSERT INTO wide VALUES (%s)" % numbers(0, 1600))), ["INSERT 0 1"])
    same(tags(w.query("UPDATE wide SET " + ", ".join("c%d = c%d + 1" % (k, k) for k in range(1600)))), ["UPDATE 1"])
    same(texts(w.query("SELECT * FROM wide")), [tuple(str(k) for k in range(1, 1601))])
    got = rows(w.extended("SELECT * FROM wide WHERE c5 = $1", [6], results=[1]))
    same(got, [tuple(k.to_bytes(4, "big") for k in range(1, 1601))], "in binary")
    same(error(w.query("SELECT wide.*, %s FROM wide" % numbers(0, 100)))["C"], "54011", "PostgreSQL has 1664")
    w.query("DROP TABLE wide")
    w.close()


def test_elements_of_in():
    w = wire()
    for n in (1000, 10000):
        same(texts(w.query("SELECT count(*) FROM t WHERE a IN (%s)" % numbers(1, n + 1))), [("1000",)])
    same(error(w.query("SELECT count(*) FROM t WHERE a IN (%s)" % numbers(1, 100001)))["C"], "54000")
    same(texts(w.query("SELECT count(*) FROM t WHERE a IN (%s)" % numbers(0, 5000, "1000 - %d"))), [("1000",)])
    many = list(range(1, 30001))
    same(texts(w.extended("SELECT count(*) FROM t WHERE a IN (%s)" % numbers(1, 30001, "$%d"), many, types=[23] * 30000)), [("1000",)])
    array = "{%s}" % ",".join(map(str, range(200000)))
    same(texts(w.extended("SELECT count(*) FROM t WHERE a = ANY ($1::int[])", [array])), [("1000",)])
    same(texts(w.query("SELECT 1")), [("1",)])
    w.close()


def test_parameters():
    w = wire()
    same(error(w.extended("SELECT $65536", [1]))["C"], "42P02")
    same(error(w.extended("SELECT $65535::int", [1] * 65535))["C"], "42P18", "those between have no type")
    same(texts(w.extended("SELECT $65535::int", [7] * 65535, types=[23] * 65535)), [("7",)])
    w.close()


def test_statements_of_a_text():
    w = wire()
    t0 = time.monotonic()
    got = w.query("SELECT 1;" * 5000)
    same(len(texts(got)), 5000)
    check(time.monotonic() - t0 < 20 * house.SLOW, "soon")
    for k in range(300):
        w.raw(w.parse("SELECT %d" % k, "s%d" % k) + w.bind([], "s%d" % k, "p%d" % k))
    w.raw(w.execute("p299") + w.SYNC)
    same(texts(w.until_ready()), [("299",)])
    w.close()


def test_maintenance():
    w = wire()
    for sql, tag in (("VACUUM", "VACUUM"), ("VACUUM ANALYZE t", "VACUUM"), ("VACUUM FULL t", "VACUUM"), ("VACUUM (VERBOSE, ANALYZE) t", "VACUUM"),
                     ("ANALYZE", "ANALYZE"), ("ANALYZE t (a)", "ANALYZE")):
        same(tags(w.query(sql)), [tag], sql)
    w.query("BEGIN")
    same(error(w.query("VACUUM t"))["C"], "25001")
    w.query("ROLLBACK")
    for sql in ("LISTEN x", "NOTIFY x, 'y'"):
        e = error(w.query(sql))
        same(e["C"], "0A000")
        contains(e["M"], "LISTEN and NOTIFY are not supported")
    w.close()


def test_discard():
    """What pools of connections send between two users."""
    w = wire()
    w.query("SET application_name = 'one'; SET statement_timeout = '5s'; PREPARE p AS SELECT 1")
    w.query("DECLARE h CURSOR WITH HOLD FOR SELECT 1; CREATE SEQUENCE sq; SELECT nextval('sq')")
    same(tags(w.query("DISCARD PLANS")), ["DISCARD PLANS"])
    same(texts(w.query("EXECUTE p")), [("1",)])
    same(tags(w.query("DISCARD SEQUENCES")), ["DISCARD SEQUENCES"])
    same(error(w.query("SELECT currval('sq')"))["C"], "55000")
    w.query("BEGIN")
    same(error(w.query("DISCARD ALL"))["C"], "25001")
    w.query("ROLLBACK")
    same(tags(w.query("DISCARD ALL")), ["DISCARD ALL"])
    same(w.status["application_name"], "", "ParameterStatus")
    same(texts(w.query("SHOW statement_timeout")), [("0",)])
    same(error(w.query("EXECUTE p"))["C"], "26000")
    same(error(w.query("FETCH h"))["C"], "34000")
    same(tags(w.query("UNLISTEN *")), ["UNLISTEN"])
    w.query("DROP SEQUENCE sq")
    w.close()


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            try:
                shared.terminate()
            finally:
                shared.house.__exit__(None, None, None)
