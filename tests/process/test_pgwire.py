#!/usr/bin/env python3
"""PostgreSQL's protocol at `namdb compute`, message by message: what drivers send, and what strangers may send."""
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, same, until
from wire import Wire, columns, error, fields, kinds, rows, tags, texts

shared = None


def server():
    """One compute node for all tests of this file; each makes its own tables."""
    global shared
    if shared is None:
        h = House(nodes=1, size="256m")
        shared = Compute(h, "--pg-message", "1m", "--pg-sessions", "2200")
        w = Wire(shared.port)
        tags(w.query("CREATE TABLE t (a integer PRIMARY KEY, b varchar(10))"))
        tags(w.query("INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 100) g"))
        w.close()
    return shared


def wire(**settings):
    return Wire(server().port, **settings)


# ---- start ---------------------------------------------------------------------------------


def test_start():
    w = wire(start=False)
    for code in (80877103, 80877104):  # TLS, GSSAPI: not here
        w.raw(struct.pack("!II", 8, code))
        same(w.bytes(1), b"N", "the answer to %d" % code)
    got = w.start(application_name="test", client_encoding="UTF8", extra_float_digits="2", options="-c statement_timeout=5s")
    check(kinds(got).startswith("R") and kinds(got).endswith("KZ"), "the order:", kinds(got))
    same(got[0][1], b"\0\0\0\0", "AuthenticationOk")
    for name in ("server_version", "client_encoding", "server_encoding", "DateStyle", "integer_datetimes",
                 "standard_conforming_strings", "TimeZone", "application_name", "is_superuser", "session_authorization"):
        check(name in w.status, "ParameterStatus of", name)
    same(w.status["application_name"], "test")
    check(w.status["server_version"].startswith("15."), w.status)
    same(texts(w.query("SHOW statement_timeout")), [("5s",)])
    w.query("SET application_name = 'other'")
    same(w.status["application_name"], "other", "ParameterStatus after SET")
    w.close()


def test_reset_gives_what_the_session_began_with():
    """As PostgreSQL: settings of the first message are what RESET, SET ... TO DEFAULT and DISCARD ALL give."""
    w = wire(application_name="first", extra_float_digits="0", options="-c statement_timeout=5s -c my.own=here -c search_path=a,public")
    names = ("application_name", "extra_float_digits", "statement_timeout", "my.own", "search_path", "lock_timeout")
    begun = ["first", "0", "5s", "here", "a,public", "0"]

    def shown():
        return [texts(w.query("SHOW %s" % n))[0][0].replace(", ", ",") for n in names]

    def change():
        for n, v in zip(names, ("second", "1", "7s", "there", "b", "9s")):
            w.query("SET %s = '%s'" % (n, v))
        same(shown(), ["second", "1", "7s", "there", "b", "9s"], "changed")
    same(shown(), begun, "as it began")
    for how in (["RESET %s" % n for n in names], ["SET %s TO DEFAULT" % n for n in names], ["RESET ALL"], ["DISCARD ALL"],
                ["SELECT set_config('%s', NULL, false)" % n for n in names]):
        change()
        for text in how:
            w.query(text)
        same(shown(), begun, how[0])
    same(texts(w.query("SELECT 0.1::float8 + 0.2"))[0][0], "0.3")
    w.close()


def test_start_refused():
    for version, state in ((2 << 16, "0A000"), (4 << 16, "0A000")):
        w = wire(start=False)
        w.startup(version)
        same(error(w.ended())["C"], state, "protocol %d" % (version >> 16))
    w = wire(start=False)
    w.startup(user="x", replication="database")
    same(error(w.ended())["C"], "0A000", "replication")
    w = wire(start=False)
    w.startup(user=None, database="x")
    same(error(w.ended())["C"], "28000", "no user")
    w = wire(start=False)
    w.startup(user="x", no_such_setting="1")
    same(error(w.ended())["C"], "42704", "an unknown setting")
    w = wire(start=False)
    w.startup(3 << 16 | 1, user="x")
    check("v" in kinds(w.until_ready()), "NegotiateProtocolVersion for 3.1")
    for first in (b"\0\0\0\3", b"\0\0\0\0", b"\xff\xff\xff\xff", struct.pack("!I", 20000), b"GET / HTTP/1.1\r\n\r\n",
                  struct.pack("!II", 9, 196608) + b"x", struct.pack("!IIII", 16, 80877102, 1, 2)):
        w = wire(start=False)
        w.raw(first)
        got = w.ended()
        check(not got or got[0][0] == "E", "a bad start gets an error or nothing:", first, got)
    w = wire(start=False)
    w.raw(struct.pack("!II", 5000, 196608))
    w.s.shutdown(socket.SHUT_WR)
    same(w.ended(), [], "a start that ends early")


# ---- simple --------------------------------------------------------------------------------


def test_simple():
    w = wire()
    got = w.query("SELECT a, b FROM t WHERE a <= 2 ORDER BY a; ; SELECT 1")
    same(kinds(got), "TDDCTDCZ")
    same(texts(got), [("1", "v1"), ("2", "v2"), ("1",)])
    same(tags(got), ["SELECT 2", "SELECT 1"])
    same(columns(got), [("a", 23, 4, -1, 0), ("b", 1043, -1, 14, 0)])
    for empty in ("", ";", "-- nothing", " /* x */ ;;"):
        same(kinds(w.query(empty)), "IZ", repr(empty))
    got = w.query("SELECT 1; SELECT nothing; SELECT 2")
    same(kinds(got), "TDCEZ", "nothing after the error")
    e = error(got)
    same((e["S"], e["V"], e["C"], e["P"]), ("ERROR", "ERROR", "42703", "18"))
    got = w.query("BEGIN; SELECT 1")
    same(w.state, "T")
    w.query("SELECT 1/0")
    same(w.state, "E")
    same(error(w.query("SELECT 1"))["C"], "25P02")
    same(tags(w.query("COMMIT")), ["ROLLBACK"])
    same(w.state, "I")
    got = w.query("DROP TABLE IF EXISTS nowhere")
    same(kinds(got), "NCZ")
    same((fields(got[0][1])["S"], fields(got[0][1])["C"]), ("NOTICE", "00000"))
    w.query("SET client_min_messages = warning")
    same(kinds(w.query("DROP TABLE IF EXISTS nowhere")), "CZ", "no notice")
    # Several statements of one text are one transaction.
    w.query("CREATE TABLE several (a int)")
    w.query("INSERT INTO several VALUES (1); SELECT 1/0")
    same(texts(w.query("SELECT count(*) FROM several")), [("0",)])
    w.close()


def test_types_in_text():
    w = wire()
    sql = ("SELECT true, 1::smallint, -7, 8000000000, 1.5::real, 'NaN'::float8, 12.340::numeric(8,3), 'a'::text, 'b'::char(3), "
           "'c'::varchar(5), '\\x00ff'::bytea, '2020-02-29'::date, '12:34:56.5'::time, '2020-01-02 03:04:05'::timestamp, "
           "'2020-01-02 03:04:05+00'::timestamptz, '1 year 2 days 03:00'::interval, "
           "'0b8c1f7e-9d1e-4d6b-8a64-2b6d7a3e2c11'::uuid, '{\"a\": 1}'::json, ARRAY[1,NULL,3], NULL::int, -9223372036854775808")
    got = w.query(sql)
    same(texts(got), [("t", "1", "-7", "8000000000", "1.5", "NaN", "12.340", "a", "b  ", "c", "\\x00ff", "2020-02-29", "12:34:56.5",
                       "2020-01-02 03:04:05", "2020-01-02 03:04:05+00", "1 year 2 days 03:00:00",
                       "0b8c1f7e-9d1e-4d6b-8a64-2b6d7a3e2c11", '{"a": 1}', "{1,NULL,3}", None, "-9223372036854775808")])
    same([c[1] for c in columns(got)][:20], [16, 21, 23, 20, 700, 701, 1700, 25, 1042, 1043, 17, 1082, 1083, 1114, 1184, 1186, 2950,
                                             114, 1007, 23])
    same([columns(got)[k][3] for k in (6, 8, 9)], [(8 << 16 | 3) + 4, 7, 9], "typmods")
    w.close()


# ---- extended ------------------------------------------------------------------------------


def test_extended():
    w = wire()
    got = w.extended("SELECT a, b FROM t WHERE a = $1", [7], results=[0])
    same(kinds(got), "12TDCZ")
    same(texts(got), [("7", "v7")])
    # A named statement, described, bound twice; a named portal.
    w.raw(w.parse("SELECT b FROM t WHERE a = $1 OR b = $2", "s1", [23, 1043]) + w.describe("S", "s1") + w.FLUSH)
    got = w.until("T", "n", "E")
    same(kinds(got), "1tT")
    same(got[1][1], struct.pack("!HII", 2, 23, 25), "ParameterDescription")
    w.raw(w.bind([1, "v2"], "s1", "p1") + w.bind([3, None], "s1") + w.execute("p1") + w.execute() + w.SYNC)
    got = w.until_ready()
    same(kinds(got), "22DDCDCZ")
    same(texts(got), [("v1",), ("v2",), ("v3",)])
    same(error(w_send(w, w.execute("p1")))["C"], "34000", "Sync has ended the portal")
    same(error(w_send(w, w.parse("SELECT 1", "s1")))["C"], "42P05")
    same(error(w_send(w, w.bind([], "nowhere")))["C"], "26000")
    # SQL knows the protocol's names.
    same(texts(w.query("EXECUTE s1(5, 'v6')")), [("v5",), ("v6",)])
    same(tags(w.query("DEALLOCATE s1")), ["DEALLOCATE"])
    same(error(w_send(w, w.bind([1, 1], "s1")))["C"], "26000")
    same(kinds(w_send(w, w.close_of("S", "s1") + w.close_of("P", "none"))), "33Z", "Close of what is not there")
    # Statements without rows, and an empty one.
    same(kinds(w.extended("CREATE TABLE ext (a int)")), "12nCZ")
    same(tags(w.extended("INSERT INTO ext VALUES ($1), ($2)", [1, None])), ["INSERT 0 2"])
    same(kinds(w.extended("")), "12nIZ")
    same(texts(w.extended("SHOW server_encoding")), [("UTF8",)])
    same(kinds(w.extended("EXPLAIN SELECT 1"))[:3], "12T")
    same(texts(w.extended("INSERT INTO ext VALUES ($1) RETURNING a", ["12"])), [("12",)])
    w.close()


def w_send(w, data):
    w.raw(data + w.SYNC)
    return w.until_ready()


def test_skip_until_sync():
    w = wire()
    w.raw(w.parse("SELECT nothing") + w.bind() + w.execute() + w.parse("SELECT 1") + w.SYNC)
    got = w.until_ready()
    same(kinds(got), "EZ", "what follows an error is skipped")
    w.query("BEGIN")
    e = error(w.extended("SELECT $1::int", ["abc"]))
    same((e["C"], w.state), ("22P02", "E"), "a bad parameter fails the block")
    same(error(w.extended("SELECT 1"))["C"], "25P02")
    same(tags(w.extended("ROLLBACK")), ["ROLLBACK"])
    same(error(w.extended("SELECT 1; SELECT 2"))["C"], "42601")
    w.close()


def test_pipeline_is_one_transaction():
    w = wire()
    w.query("CREATE TABLE pipe (a int PRIMARY KEY)")

    def one(sql, *values):
        return w.parse(sql) + w.bind(values) + w.execute()

    w.raw(one("INSERT INTO pipe VALUES (1)") + one("INSERT INTO pipe VALUES (2)") + one("INSERT INTO pipe VALUES (1)") + w.SYNC)
    same(error(w.until_ready())["C"], "23505")
    same(texts(w.query("SELECT count(*) FROM pipe")), [("0",)], "the first two are undone:")
    w.raw(one("INSERT INTO pipe VALUES (1)") + one("INSERT INTO pipe VALUES ($1)", 2) + w.SYNC + one("INSERT INTO pipe VALUES (1)") +
          w.SYNC + one("SELECT count(*) FROM pipe") + w.SYNC)
    same(tags(w.until_ready()), ["INSERT 0 1", "INSERT 0 1"])
    same(error(w.until_ready())["C"], "23505")
    same(texts(w.until_ready()), [("2",)])
    w.raw(one("BEGIN") + one("INSERT INTO pipe VALUES (3)") + w.SYNC)
    w.until_ready()
    same(w.state, "T")
    w.raw(one("COMMIT") + one("INSERT INTO pipe VALUES (4)") + one("SELECT 1/0") + w.SYNC)
    same(error(w.until_ready())["C"], "22012")
    same(texts(w.query("SELECT a FROM pipe ORDER BY a")), [("1",), ("2",), ("3",)])
    # Execute whose Sync comes later by itself.
    w.raw(one("INSERT INTO pipe VALUES (5)") + w.FLUSH)
    same(kinds(w.until("C")), "12C")
    other = wire()
    same(texts(other.query("SELECT count(*) FROM pipe WHERE a = 5")), [("0",)], "not yet committed")
    w.raw(w.SYNC)
    same(kinds(w.until_ready()), "Z")
    same(texts(other.query("SELECT count(*) FROM pipe WHERE a = 5")), [("1",)])
    other.close()
    w.close()


def test_row_limits():
    w = wire()
    w.query("BEGIN")
    w.raw(w.parse("SELECT a FROM t ORDER BY a LIMIT 10") + w.bind(portal="c") + w.execute("c", 4) + w.SYNC)
    got = w.until_ready()
    same(kinds(got), "12DDDDsZ")
    # Other statements run while the portal is suspended.
    same(texts(w.query("SELECT count(*) FROM t")), [("100",)])
    w.raw(w.execute("c", 4) + w.execute("c", 4) + w.execute("c", 4) + w.SYNC)
    got = w.until_ready()
    same(kinds(got), "DDDDsDDCCZ")
    same(tags(got), ["SELECT 2", "SELECT 0"])
    same([r[0] for r in texts(got)], ["5", "6", "7", "8", "9", "10"])
    w.raw(w.parse("SELECT a FROM t WHERE a < 3 ORDER BY a") + w.bind() + w.execute("", 2) + w.execute("", 0) + w.SYNC)
    same(kinds(w.until_ready()), "12DDsCZ", "exactly as many rows as asked for")
    w.query("COMMIT")
    same(error(w_send(w, w.execute("c")))["C"], "34000", "COMMIT has ended the portal")
    w.close()


def test_binary():
    w = wire()
    cases = [  # OID, PostgreSQL's binary form, SQL that says the same
        (16, b"\1", "true"), (21, b"\xff\xfe", "(-2)::smallint"), (23, b"\0\0\1\0", "256"),
        (20, struct.pack("!q", -2**40), "(-1099511627776)"), (700, struct.pack("!f", 1.5), "1.5::real"),
        (701, struct.pack("!d", -2.25), "(-2.25)::float8"), (25, "äx".encode(), "'äx'::text"), (17, b"\0\1\xff", "'\\x0001ff'::bytea"),
        (1700, struct.pack("!hhHhhhh", 3, 1, 0, 3, 1, 2345, 6780), "12345.678"),
        (1700, struct.pack("!hhHhh", 1, -1, 0x4000, 2, 500), "(-0.05)"),
        (1700, struct.pack("!hhHh", 0, 0, 0, 2), "0.00"), (1700, struct.pack("!hhHh", 0, 0, 0xc000, 0), "'NaN'::numeric"),
        (1700, struct.pack("!hhHhh", 1, 2, 0, 0, 7), "700000000::numeric"), (1700, struct.pack("!hhHhh", 1, -2, 0, 8, 9), "0.00000009"),
        (1082, struct.pack("!i", 7000), "'2019-03-02'::date"), (1082, struct.pack("!i", 2**31 - 1), "'infinity'::date"),
        (1083, struct.pack("!q", 45296500000), "'12:34:56.5'::time"), (1114, struct.pack("!q", -1), "'1999-12-31 23:59:59.999999'::timestamp"),
        (1184, struct.pack("!q", 2**63 - 1), "'infinity'::timestamptz"), (1186, struct.pack("!qii", 3000000, 4, 14), "'1 year 2 mons 4 days 00:00:03'::interval"),
        (2950, bytes(range(16)), "'00010203-0405-0607-0809-0a0b0c0d0e0f'::uuid"), (114, b'{"a":[1]}', "'{\"a\":[1]}'::json"),
        (1007, struct.pack("!iiiiiiiii", 1, 1, 23, 2, 1, 4, 5, -1, 0)[:-4], "ARRAY[5, NULL]"),
        (1009, struct.pack("!iiiiii", 1, 0, 25, 1, 1, 2) + b"xy", "ARRAY['xy']"), (1016, struct.pack("!iii", 0, 0, 20), "'{}'::bigint[]"),
        (22, struct.pack("!iiiiiihih", 1, 0, 21, 2, 0, 2, 7, 2, -8), "'7 -8'::int2vector"),
        (30, struct.pack("!iiiiiiI", 1, 0, 26, 1, 0, 4, 4000000000), "'4000000000'::oidvector"),
    ]
    for oid, form, sql in cases:
        as_text = "" if oid == 114 else ", $1 IS NOT DISTINCT FROM %s" % sql
        got = w.extended("SELECT $1%s, %s" % (as_text, sql), [form], types=[oid], formats=[1], results=[1])
        r = rows(got)[0]
        same(r[0], form, "%s comes back as it went" % sql)
        same(r[-1], form, sql)
        if as_text:
            same(r[1], b"\1", "%s arrives as the value" % sql)
        same(columns(got)[0][4], 1, "RowDescription says binary")
    got = w.extended("SELECT a, b FROM t WHERE a = $1", [struct.pack("!i", 9)], formats=[1], results=[1, 0])
    same(rows(got), [(struct.pack("!i", 9), b"v9")])
    for oid, form, state in ((23, b"\0\0\0", "22P03"), (1700, b"\0\1\0\0\0\0\0\0", "22P03"), (1700, struct.pack("!hhHhh", 1, 0, 0, 0, 10000), "22P03"),
                             (2950, b"short", "22P03"), (1007, struct.pack("!iiiii", 1, 0, 23, 2**30, 1), "22P03"), (25, b"\xff", "22021"),
                             (25, b"a\0b", "22021"), (1007, struct.pack("!iiiii", 2, 0, 23, 1, 1), "0A000"), (1082, struct.pack("!i", 2**31 - 5), "22008"),
                             (22, struct.pack("!iiiiii", 1, 1, 21, 1, 0, -1), "22P03"), (22, struct.pack("!iiiiiih", 1, 0, 21, 1, 1, 2, 7), "22P03"),
                             (22, struct.pack("!iiiiiii", 1, 0, 23, 1, 0, 4, 7), "42804"), (22, struct.pack("!iiiiiii", 1, 0, 21, 1, 0, 4, 7), "22P03")):
        same(error(w.extended("SELECT $1", [form], types=[oid], formats=[1]))["C"], state, "%d %r" % (oid, form))
    same(error(w.extended("SELECT $1", [b"1"], formats=[2]))["C"], "22023", "no such format")
    w.close()


# ---- limits and nonsense ---------------------------------------------------------------------


def test_malformed_messages():
    for kind in "PBDEC":
        for body in (b"", b"\0", b"x", b"name\0", b"\0\0\xff\xff", b"S", b"Xname\0", b"\0\0\0\1\0\1\0\2\xff\xff\xff\xf0", b"\0" * 300):
            w = wire()
            w.send(kind, body)
            w.raw(w.SYNC)
            got = w.until_ready()
            check(got[-1][0] in "ZE", kind, body, got)
            if got[-1][0] == "Z":
                same(texts(w.query("SELECT 1")), [("1",)], "the session goes on after %s %r" % (kind, body))
            w.close()
    for data, state in ((b"Q\0\0\0\6x", None), (Wire.message("Q", b"no end"), "08P01"), (Wire.message("Q", b"SELECT 1\0junk\0"), "08P01"),
                        (b"y\0\0\0\4", "08P01"), (b"Q\0\0\0\0", "08P01"), (b"Q\xff\xff\xff\xff", "08P01"), (b"Q\x7f\xff\xff\xff", "08P01"),
                        (b"S\0\0\xff\xff", "08P01"), (Wire.message("p", b"secret\0"), "08P01")):
        w = wire()
        w.raw(data)
        w.s.shutdown(socket.SHUT_WR)
        got = w.ended()
        if state is None:
            same(got, [], "a message that ends early")
        else:
            e = error(got)
            same((e["S"], e["C"]), ("FATAL", state), repr(data))
    w = wire()
    same(error(w_message(w, "F", b"\0\0\0\1"))["C"], "0A000")
    w.raw(Wire.message("d", b"stray") + Wire.message("c") + Wire.message("f", b"x\0"))
    same(texts(w.query("SELECT 1")), [("1",)], "stray COPY messages mean nothing")
    w.close()


def w_message(w, kind, body):
    w.send(kind, body)
    return w.until_ready()


def test_giant_messages():
    w = wire()
    same(error(w.query("SELECT '" + "x" * (1 << 19) + "' || nothing"))["C"], "42703", "half a MiB is a statement")
    w.raw(b"Q" + struct.pack("!I", (1 << 20) + 100))
    e = error(w.ended())
    same((e["S"], e["C"]), ("FATAL", "08P01"), "longer than --pg-message")
    w = wire()
    big = "x" * 900000
    same(rows(w.extended("SELECT length($1), $1", [big])), [(b"900000", big.encode())])
    w.close()


def test_many_parameters():
    w = wire()
    n = 65535
    values = b"".join(struct.pack("!i", 1) + b"1" for _ in range(n))
    same(error(w_send(w, w.parse("SELECT $1::int") + Wire.message("B", b"\0\0\0\0" + struct.pack("!H", n) + values + b"\0\0")))["C"], "08P01")
    got = w.extended("SELECT $1::int", [1], types=[23] * 3)
    check(kinds(got)[-1] == "Z", kinds(got))
    sql = "SELECT " + "+".join("$%d" % k for k in range(1, 251))
    same(texts(w.extended(sql, [1] * 250, types=[20] * 250)), [("250",)])
    got = w.extended("SELECT $65536", [1])
    same(w.state, "I")
    check(error(got)["C"] in ("42P02", "42601", "54000", "42P18"), error(got))
    got = w.extended("SELECT $65535::int", [1] * 65535)
    check(texts(got) == [("1",)] if "E" not in kinds(got) else error(got)["C"] in ("54000", "42P18"), kinds(got))
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
