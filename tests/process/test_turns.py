#!/usr/bin/env python3
"""How long a statement keeps its worker from the other sessions: the CPU time of turns, which the process measures itself."""
import os
import re
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, fields

# What does not give way often enough yet, and the milliseconds that its turns may take.
LONG = {"IN of 5,000 that are no constants": 500, "10,000 conditions with OR": 500, "10,000 conditions with AND": 500,
        "a row of 200,000 constants in VALUES": 500, "a clique of 60 tables": 500, "sums of 1,600 columns": 500,
        "('[' || repeat('1,', length(x) / 2) || '1]')::jsonb -> 5 of 8 MB": 500,
        "jsonb_array_length(('[' || repeat('{},', length(x) / 4) || '1]')::jsonb) of 8 MB": 500}

# CPU time, but of a machine that others share: a turn may be charged for cold caches and for a millisecond before it.
MOST_MS = 100
MB = 1 << 20

shared = None


def error(got):
    """The fields of the first error among these messages, or None."""
    return next((fields(m[1]) for m in got if m[0] == "E"), None)


def server():
    global shared
    if shared is None:
        shared = Compute(House(nodes=1, size="2g"), "--metrics", "0", "--workers", "2", "--max-statement", "64m")
        w = Wire(shared.port, timeout=300)
        for sql in (
                "CREATE TABLE t (id int PRIMARY KEY, n int, s text)",
                "INSERT INTO t SELECT g, g % 100, md5(g::text) FROM generate_series(1, 20000) g",
                "CREATE TABLE wide (%s)" % ", ".join("c%d int" % k for k in range(1600)),
                "CREATE TABLE texts (id int PRIMARY KEY, s text)",
                "INSERT INTO texts SELECT g, repeat(md5(g::text), 32768) FROM generate_series(1, 20) g"):
            same(error(w.query(sql)), None, sql[:60])
        w.close()
    return shared


def turns(c):
    """at least so many milliseconds -> how often."""
    address = re.search(r"metrics at (http://127\.0\.0\.1:[0-9]+/metrics)", c.text()).group(1)
    with urllib.request.urlopen(address, timeout=60 * house.SLOW) as r:
        text = r.read().decode()
    return {int(k): int(v) for k, v in re.findall(r'namdb_long_turns_total\{at_least_ms="([0-9]+)"\} ([0-9]+)', text)}


def longest(before, after):
    return max([k for k in after if after[k] > before[k]], default=0)


def hold(statements, most=MOST_MS):
    """Runs each, and says of all that kept a worker for too long how long they did."""
    c = server()
    w = Wire(c.port, timeout=300)
    bad = []
    verbose = os.environ.get("NAM_VERBOSE")
    for name, sql in statements:
        was = turns(c)
        begun = time.time()
        got = sql(w) if callable(sql) else w.query(sql)
        ms = longest(was, turns(c))
        if verbose:
            e = error(got)
            print("%5d ms %6.2f s  %s  %s" % (ms, time.time() - begun, name, e["C"] + " " + e["M"][:60] if e else ""), flush=True)
        if ms >= LONG.get(name, most):
            bad.append((name, ms))
    w.close()
    check(not bad, "a turn of so many milliseconds of CPU time:", bad)


def of_text(mb, *calls):
    """The functions over a text of so many megabytes; only a short answer goes to the client."""
    out = []
    for call in calls:
        sql = "SELECT length((%s)::text) FROM (SELECT repeat('abcdefg,', %d) AS x) q" % (call, mb * MB // 8)
        out.append(("%s of %d MB" % (call, mb), sql))
    return out


TEXTS = ("md5(x)", "sha256(x::bytea)", "upper(x)", "lower(x)", "initcap(x)", "length(x)", "reverse(x)", "replace(x, 'c', 'dd')",
         "translate(x, 'abc', 'xyz')", "x || x", "substr(x, 1000000, 1000000)", "left(x, -3)", "right(x, -3)", "lpad(x, 9000000)",
         "rpad(x, 9000000, 'ab')", "trim(x)", "ltrim(x, 'abc')", "btrim(x, 'gfedcba,')", "split_part(x, ',', 100000)",
         "string_to_array(x, ',')", "array_length(string_to_array(x, ','), 1)", "strpos(x, 'zz')", "position('zz' in x)",
         "encode(x::bytea, 'hex')", "encode(x::bytea, 'base64')", "encode(x::bytea, 'escape')",
         "decode(encode(x::bytea, 'base64'), 'base64')", "quote_literal(x)", "quote_ident(x)", "to_json(x)", "to_jsonb(x)",
         "ascii(x)", "octet_length(x)", "bit_length(x)", "x like '%zz%'", "x ilike '%zz%'", "x ~ 'zz'", "x = x || 'a'", "x < x || 'a'",
         "starts_with(x, 'abd')", "overlay(x placing 'zz' from 1000)", "concat(x, x)", "concat_ws(',', x, x)", "format('%s', x)",
         "format('%L', x)", "regexp_replace(x, 'c', 'd', 'g')", "regexp_match(x, 'zz')", "x::bytea", "('\"' || x || '\"')::json",
         "('\"' || x || '\"')::jsonb", "('[' || repeat('1,', length(x) / 2) || '1]')::jsonb",
         "('[' || repeat('1,', length(x) / 2) || '1]')::jsonb -> 5", "jsonb_array_length(('[' || repeat('{},', length(x) / 4) || '1]')::jsonb)",
         "('{' || repeat('1,', length(x) / 2) || '1}')::int[]", "array_to_string(('{' || repeat('1,', length(x) / 2) || '1}')::int[], '-')")

NUMBERS = (
    ("a numeric of 60,000 digits squared", "SELECT length((x * x)::text) FROM (SELECT repeat('7', 60000)::numeric AS x) q"),
    ("a literal of 100,000 digits", "SELECT length((%s)::text)" % ("7" * 100000)),
    ("division", "SELECT length((x / y)::text) FROM (SELECT repeat('7', 100000)::numeric AS x, repeat('3', 50000)::numeric AS y) q"),
    ("mod", "SELECT length((x % y)::text) FROM (SELECT repeat('7', 100000)::numeric AS x, repeat('3', 50000)::numeric AS y) q"),
    ("factorial", "SELECT length(factorial(30000)::text)"),
    ("power", "SELECT length(power(7::numeric, 100000)::text)"),
    ("power with places", "SELECT length(power(1.00001::numeric, 100000.5)::text)"),
    ("^", "SELECT length((2::numeric ^ 400000)::text)"),
    ("sqrt", "SELECT length(sqrt(repeat('7', 100000)::numeric)::text)"),
    ("exp", "SELECT length(exp(5000.5::numeric)::text)"),
    ("ln", "SELECT length(ln(repeat('7', 1000)::numeric)::text)"),
    ("log", "SELECT length(log(3.5::numeric, repeat('7', 1000)::numeric)::text)"),
    ("round", "SELECT length(round(repeat('7', 100000)::numeric, -50)::text)"),
    ("to_char", "SELECT length(to_char(repeat('7', 1000)::numeric, repeat('9', 1200)))"),
    ("sum", "SELECT length(sum(x)::text) FROM (SELECT (repeat('7', 30000) || g)::numeric AS x FROM generate_series(1, 100) g) q"),
    ("products of a batch", "SELECT sum(length((x * x)::text)) FROM (SELECT (repeat('7', 5000) || g)::numeric AS x FROM generate_series(1, 500) g) q"),
    ("gcd", "SELECT length(gcd(repeat('7', 20000)::numeric, repeat('3', 20000)::numeric)::text)"),
)

MADE = (
    ("repeat", "SELECT length(repeat('ab', 20000000))"),
    ("lpad", "SELECT length(lpad('ab', 40000000, 'xyz'))"),
    ("rpad", "SELECT length(rpad('ab', 40000000))"),
    ("array_fill", "SELECT array_length(array_fill(7, ARRAY[1000000]), 1)"),
    ("string_agg", "SELECT length(string_agg(s, ',')) FROM texts"),
    ("string_agg of many", "SELECT length(string_agg(s, ',')) FROM t, generate_series(1, 20) g"),
    ("array_agg", "SELECT array_length(array_agg(g), 1) FROM generate_series(1, 1000000) g"),
    ("json_agg", "SELECT length(json_agg(s)::text) FROM t"),
    ("jsonb_agg", "SELECT length(jsonb_agg(s)::text) FROM t"),
    ("jsonb_object_agg", "SELECT length(jsonb_object_agg(id, s)::text) FROM t"),
    ("to the client", "SELECT repeat('ab', 10000000)"),
    ("twenty of them to the client", "SELECT s FROM texts"),
    ("md5 of each", "SELECT max(md5(s)) FROM texts"),
    ("ordered", "SELECT s FROM texts ORDER BY s LIMIT 1"),
    ("grouped", "SELECT count(*) FROM (SELECT s, count(*) FROM texts GROUP BY s) q"),
    ("joined", "SELECT count(*) FROM texts a JOIN texts b ON a.s = b.s"),
    ("distinct", "SELECT count(DISTINCT s) FROM texts"),
    ("length of each", "SELECT sum(length(s)) FROM texts"),
    ("unnest", "SELECT count(*) FROM unnest(string_to_array(repeat('a,', 500000), ',')) u"),
    ("percentile", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 500000) g"),
)

ROWS = (
    ("a series", "SELECT count(*) FROM generate_series(1, 3000000)"),
    ("sorted", "SELECT g FROM generate_series(1, 300000) g ORDER BY md5(g::text) LIMIT 1"),
    ("a hash", "SELECT count(*) FROM generate_series(1, 300000) a JOIN generate_series(1, 300000) b ON a = b"),
    ("groups", "SELECT count(*) FROM (SELECT g FROM generate_series(1, 300000) g GROUP BY g) q"),
    ("windows", "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY g DESC) AS r FROM generate_series(1, 200000) g) q"),
    ("a million rows updated", "UPDATE t SET n = n + 1"),
    ("inserted", "INSERT INTO t SELECT g, 1, 'x' FROM generate_series(100001, 200000) g"),
    ("on conflict", "INSERT INTO t SELECT g, 1, 'x' FROM generate_series(200001, 287000) g ON CONFLICT DO NOTHING"),
    ("deleted", "DELETE FROM t WHERE id > 100000"),
)


def numbers(low, high, form="%d"):
    return ", ".join(form % k for k in range(low, high))


STATEMENTS = (
    ("a text of 1 MB", "SELECT length('%s')" % ("x" * MB)),
    ("a text of 40 MB", "SELECT length('%s')" % ("x" * (40 * MB))),
    ("a row of 200,000 constants in VALUES", "SELECT count(*) FROM (VALUES %s) v" % numbers(0, 200000, "(%d)")),
    ("IN of 90,000", "SELECT count(*) FROM t WHERE id IN (%s)" % numbers(0, 90000)),
    ("IN of 5,000 that are no constants", "SELECT count(*) FROM t WHERE id IN (%s)" % numbers(0, 5000, "n + %d")),
    ("1,600 columns", "SELECT * FROM wide"),
    ("1,600 targets", "SELECT %s FROM t LIMIT 1" % numbers(0, 1600, "n + %d")),
    ("sums of 1,600 columns", "SELECT %s FROM wide" % numbers(0, 1600, "sum(c%d)")),
    ("1,600 columns ordered", "SELECT * FROM wide ORDER BY %s" % numbers(0, 1600, "c%d")),
    ("1,600 columns inserted", "INSERT INTO wide VALUES (%s)" % numbers(0, 1600)),
    ("1,600 columns updated", "UPDATE wide SET " + numbers(0, 1600, "c%d = 1")),
    ("a deep nest", "SELECT %s1%s" % ("(" * 250, ")" * 250)),
    ("a long sum", "SELECT %s" % " + ".join(["1"] * 290)),
    ("10,000 conditions with OR", "SELECT count(*) FROM t WHERE " + " OR ".join("id = %d" % k for k in range(10000))),
    ("10,000 conditions with AND", "SELECT count(*) FROM t WHERE " + " AND ".join("id <> %d" % k for k in range(10000))),
    ("1,000 in UNION ALL", " UNION ALL ".join("SELECT %d" % k for k in range(200))),
    ("a CASE of 5,000", "SELECT CASE n %s END FROM t LIMIT 1" % " ".join("WHEN %d THEN %d" % (k, k) for k in range(5000))),
    ("a clique of 12 tables", "SELECT count(*) FROM %s WHERE %s" % (
        ", ".join("t t%d" % k for k in range(12)), " AND ".join("t%d.id = t%d.id AND t%d.id = 1" % (a, b, a) for a in range(12) for b in range(a)))),
    ("a chain of 60 tables", "SELECT count(*) FROM t t0 %s WHERE t0.id = 1" % " ".join("JOIN t t%d ON t%d.id = t%d.id" % (k, k, k - 1) for k in range(1, 60))),
    ("a clique of 60 tables", "SELECT count(*) FROM %s WHERE %s" % (
        ", ".join("t t%d" % k for k in range(60)), " AND ".join("t%d.id = t%d.id" % (a, b) for a in range(60) for b in range(a)))),
    ("20,000 statements in a text", ";".join(["SELECT 1"] * 20000)),
    ("an array of 100,000 constants", "SELECT array_length(ARRAY[%s], 1)" % numbers(0, 50000)),
    ("10,000 rows inserted", "INSERT INTO texts VALUES %s" % numbers(1000, 11000, "(%d, 'x')")),
)


def test_functions_over_long_texts():
    hold(of_text(8, *TEXTS))


def test_numbers_of_many_digits():
    hold(NUMBERS)


def test_long_values():
    hold(MADE)


def test_many_rows():
    hold(ROWS)


def test_long_statements():
    hold(STATEMENTS)


if __name__ == "__main__":
    house.main()
