"""statements.py -- SQL for two databases to answer alike: (feature, statement), the same list for the same seed.

Values come from pools with the edges in them; templates put them together. Whatever is not certain to have one
answer (the order of rows, the time, randomness) stays out.
"""
import os
import random

import queries as whole

INTS = ["0", "1", "-1", "2", "7", "-7", "10", "42", "100", "32767", "65536", "2147483647", "-2147483648", "NULL::int"]
BIGS = ["0::bigint", "3::bigint", "-3::bigint", "4294967296", "9223372036854775807", "-9223372036854775808",
        "1000000007::bigint", "NULL::bigint"]
FLOATS = ["0::float8", "'-0'::float8", "1.5::float8", "-2.5::float8", "0.1::float8", "1e100::float8", "1e-300::float8",
          "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "123456.789::float8", "2::float8", "NULL::float8"]
NUMERICS = ["0.0", "1.0", "-1.50", "2.5", "0.5", "-0.5", "3.14159", "123456789012345678901234567890.123", "0.0000001",
            "99.995", "1e10", "'NaN'::numeric", "100::numeric", "7.00", "NULL::numeric"]
TEXTS = ["''", "'a'", "'abc'", "'ABC'", "'Hello, World'", "'  lead and trail  '", "'aXbXc'", "'über Straße'", "'日本語テキスト'",
         "'a,b,,c'", "'100%'", "'under_score'", "'tab\there'", "'xxabcxx'", "'The quick brown fox'", "NULL::text",
         "'back\\slash'", "'12345'", "'😀 ok'"]
BOOLS = ["true", "false", "NULL::boolean"]
DATES = ["DATE '2000-01-01'", "DATE '2024-02-29'", "DATE '1999-12-31'", "DATE '1970-01-01'", "DATE '0001-01-01'",
         "DATE '9999-12-31'", "DATE '2023-07-04'", "DATE '1900-03-01'", "DATE '2020-12-28'", "NULL::date"]
STAMPS = ["TIMESTAMP '2000-01-01 00:00:00'", "TIMESTAMP '2024-02-29 23:59:59.999999'", "TIMESTAMP '1969-07-20 20:17:40'",
          "TIMESTAMP '2023-07-04 12:34:56.789'", "TIMESTAMP '1999-12-31 11:00:01'", "TIMESTAMP '2010-05-15 00:30:00'",
          "NULL::timestamp"]
NUMBERS = INTS + BIGS + FLOATS + NUMERICS
POOLS = {"int": INTS, "bigint": BIGS, "float8": FLOATS, "numeric": NUMERICS, "text": TEXTS, "boolean": BOOLS,
         "date": DATES, "timestamp": STAMPS}

# The table every query may use: rows with NULLs, ties and edges.
SETUP = [
    "CREATE TABLE t (id integer PRIMARY KEY, i integer, l bigint, f double precision, n numeric, m numeric(8,2), "
    "s text, v varchar(12), b boolean, d date, ts timestamp)",
    "CREATE TABLE u (k integer PRIMARY KEY, i integer, s text)",
    "CREATE TABLE e (x integer, y text)",
    "CREATE INDEX ON t (i)",
    "CREATE INDEX ON t (s DESC, n)",
    "CREATE INDEX ON t (d NULLS FIRST)",
    "CREATE INDEX ON t (m, f)",
    "CREATE INDEX ON u (i, s)",
]


def table_rows(dice):
    rows = []
    for k in range(1, 41):
        def maybe(v):
            return "NULL" if dice.random() < 0.15 else v
        rows.append("(%d, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)" % (
            k, maybe(str(dice.choice([0, 1, 2, 3, 5, -4, 10, 100, 2147483647]))),
            maybe(str(dice.choice([0, 7, -7, 2 ** 40, 12]))), maybe(dice.choice(["0", "1.5", "-2.25", "1e10", "0.1"])),
            maybe(dice.choice(["0", "1.10", "-3.333", "100", "2.5", "12345.678"])),
            maybe("%.2f" % dice.uniform(-999, 999)),
            maybe(dice.choice(["'apple'", "'Apple'", "'banana'", "'cherry pie'", "''", "'über'", "'a_b'", "'50%'"])),
            maybe(dice.choice(["'x'", "'yy'", "'zzz'", "'Long enough'"])), maybe(dice.choice(["true", "false"])),
            maybe("'%04d-%02d-%02d'" % (dice.choice([1999, 2000, 2024]), dice.randrange(1, 13), dice.randrange(1, 29))),
            maybe("'2020-%02d-%02d %02d:%02d:00'" % (dice.randrange(1, 13), dice.randrange(1, 29), dice.randrange(24),
                                                     dice.randrange(60)))))
    more = ["(%d, %s, %s)" % (k, dice.choice(["0", "1", "2", "3", "9", "NULL"]),
                              dice.choice(["'apple'", "'banana'", "'x'", "NULL"])) for k in range(1, 16)]
    return ["INSERT INTO t VALUES " + ", ".join(rows), "INSERT INTO u VALUES " + ", ".join(more)]


class Maker:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.out, self.seen = [], set()

    def add(self, feature, text):
        if text in self.seen:
            return False
        self.seen.add(text)
        self.out.append((feature, text))
        return True

    def some(self, feature, n, make):
        """n different statements; fewer when there are no more."""
        tries = 0
        while n > 0 and tries < 40 * n + 400:
            tries += 1
            if self.add(feature, make(self.dice.choice)):
                n -= 1

    def calls(self, feature, n, name, *pools):
        self.some(feature, n, lambda pick: "SELECT %s(%s)" % (name, ", ".join(pick(p) for p in pools)))


def arithmetic(m):
    for a in ("int", "bigint", "float8", "numeric"):
        for b in ("int", "bigint", "float8", "numeric"):
            m.some("arithmetic", 14, lambda pick: "SELECT %s %s %s" % (
                pick(POOLS[a]), pick(["+", "-", "*", "/"]), pick(POOLS[b])))
    for a in ("int", "bigint", "numeric"):
        for b in ("int", "bigint", "numeric"):
            m.some("modulo", 6, lambda pick: "SELECT %s %% %s" % (pick(POOLS[a]), pick(POOLS[b])))
    small = ["0", "1", "2", "3", "-2", "0.5", "2.5", "-1.5", "10", "2::float8", "0.5::float8", "-3::float8"]
    m.some("power", 40, lambda pick: "SELECT %s ^ %s" % (pick(small), pick(small)))
    m.some("unary", 30, lambda pick: "SELECT %s (%s)" % (pick(["-", "+", "@ "]), pick(NUMBERS)))
    m.some("precedence", 40, lambda pick: "SELECT %s %s %s %s %s" % (
        pick(["2", "3.5", "7"]), pick("+-*/%"), pick(["4", "1.5", "9"]), pick("+-*/%^"), pick(["2", "3", "0.5"])))


def bits(m):
    small = ["0", "1", "5", "12", "-1", "255", "2147483647", "-2147483648", "6::bigint", "1099511627776", "NULL::int"]
    m.some("bits", 60, lambda pick: "SELECT %s %s %s" % (pick(small), pick(["&", "|", "#"]), pick(small)))
    m.some("bits", 30, lambda pick: "SELECT %s %s %s" % (pick(small), pick(["<<", ">>"]), pick(["0", "1", "4", "31", "33"])))
    m.some("bits", 8, lambda pick: "SELECT ~ (%s)" % pick(small))


def comparisons(m):
    ops = ["=", "<>", "<", "<=", ">", ">=", "!="]
    for kind, pool in POOLS.items():
        m.some("compare", 16, lambda pick: "SELECT %s %s %s" % (pick(pool), pick(ops), pick(pool)))
        m.some("distinct from", 6, lambda pick: "SELECT %s IS %sDISTINCT FROM %s" % (
            pick(pool), pick(["", "NOT "]), pick(pool)))
        m.some("between", 6, lambda pick: "SELECT %s %sBETWEEN %s%s AND %s" % (
            pick(pool), pick(["", "NOT "]), pick(["", "", "SYMMETRIC "]), pick(pool), pick(pool)))
        m.some("in", 6, lambda pick: "SELECT %s %sIN (%s, %s, %s)" % (
            pick(pool), pick(["", "NOT "]), pick(pool), pick(pool), pick(pool)))
        m.some("is null", 2, lambda pick: "SELECT (%s) IS %sNULL" % (pick(pool), pick(["", "NOT "])))
        m.some("greatest", 8, lambda pick: "SELECT %s(%s, %s, %s)" % (
            pick(["greatest", "least"]), pick(pool), pick(pool), pick(pool)))
        m.some("coalesce", 4, lambda pick: "SELECT coalesce(%s, %s), nullif(%s, %s)" % (
            pick(pool), pick(pool), pick(pool), pick(pool)))
    m.some("compare", 60, lambda pick: "SELECT %s %s %s" % (pick(NUMBERS), pick(ops), pick(NUMBERS)))
    m.some("compare mixed", 40, lambda pick: "SELECT %s %s %s" % (
        pick(POOLS[pick(list(POOLS))]), pick(ops), pick(POOLS[pick(list(POOLS))])))
    m.some("greatest", 20, lambda pick: "SELECT greatest(%s, %s), least(%s, %s, %s)" % tuple(pick(NUMBERS) for _ in range(5)))
    m.some("logic", 60, lambda pick: "SELECT %s %s %s %s NOT %s" % (
        pick(BOOLS), pick(["AND", "OR"]), pick(BOOLS), pick(["AND", "OR"]), pick(BOOLS)))
    m.some("logic", 15, lambda pick: "SELECT (%s) IS %s%s" % (pick(BOOLS), pick(["", "NOT "]), pick(["TRUE", "FALSE", "UNKNOWN"])))
    m.some("case", 30, lambda pick: "SELECT CASE WHEN %s THEN %s WHEN %s THEN %s ELSE %s END" % (
        pick(BOOLS), pick(NUMBERS), pick(BOOLS), pick(NUMBERS), pick(NUMBERS)))
    m.some("case", 16, lambda pick: "SELECT CASE %s WHEN %s THEN 'one' WHEN %s THEN %s END" % (
        pick(INTS), pick(INTS), pick(INTS), pick(TEXTS)))


LITERALS = {
    "int": ["1", " 42 ", "-7", "+7", "2147483648", "1.5", "abc", "", "1e3", "0x10", "--1", "1 2"],
    "bigint": ["9223372036854775807", "9223372036854775808", "-9223372036854775808", " 5", "5x"],
    "float8": ["1e5", "nan", "inf", "-infinity", "1e400", "1e-400", ".5", "5.", "x", "1.5e", " 2.5 ", "123456789.123456789"],
    "numeric": ["1.50", "1e5", "NaN", "infinity", "1.2.3", "", ".5", "5.", "1e-5", "000.100", "-0"],
    "numeric(5,2)": ["123.456", "999.995", "1234", "-0.005", "1e2", "NaN"],
    "text": ["plain", ""],
    "varchar(3)": ["abcdef", "ab", "日本語テ"],
    "boolean": ["t", "true", "YES", "on", "0", "1", "2", "fal", "of", "o", " f ", "", "tru"],
    "date": ["2024-02-29", "2023-02-29", "2024-13-01", "20240115", "Jan 5 2021", "5 January 2021", "1/2/2003", "2024-1-5",
             "infinity", "-infinity", "epoch", "bogus", "", "0044-03-15 BC", "99-01-01", "2024-02-30", "January 8, 1999",
             "1999.008", "J2451187", "2024-060"],
    "timestamp": ["2024-02-29 12:34:56", "2024-02-29T12:34:56.5", "2024-02-29 24:00:00", "2024-02-29 25:00:00",
                  "2024-02-29 12:60:00", "2024-02-29", "20240229 123456", "2024-02-29 1:02 PM", "infinity", "x",
                  "2024-02-29 12:34:56.1234567", "2024-02-29 12:34", "0001-01-01 00:00:00 BC", "epoch",
                  "2024-02-29 12:34:56+02"],
}


def casts(m):
    for to, texts in LITERALS.items():
        for t in texts:
            m.add("literals", "SELECT '%s'::%s" % (t, to))
            m.add("cast text", "SELECT CAST(CAST('%s' AS text) AS %s)" % (t, to))
    for a, pool in POOLS.items():
        for b in list(POOLS) + ["varchar(4)", "numeric(6,1)"]:
            m.some("cast", 6, lambda pick: "SELECT CAST(%s AS %s)" % (pick(pool), b))
    m.some("cast", 60, lambda pick: "SELECT (%s)::%s" % (
        pick(["0.5", "1.5", "2.5", "-0.5", "-1.5", "2147483647.4", "2147483647.5", "9e18", "1e19", "0.49999999", "1e-20"]) +
        pick(["", "::float8", "::numeric"]), pick(["int", "bigint", "float8", "numeric", "text", "numeric(4,1)", "boolean"])))
    m.some("unknown literals", 40, lambda pick: "SELECT %s %s %s" % (
        pick(["'1'", "'abc'", "'2024-01-01'", "'1.5'", "NULL"]), pick(["=", "<", "+", "||", "-", "*"]),
        pick(["1", "1.5", "'x'", "DATE '2024-01-01'", "'abc'::text", "2::bigint", "NULL", "true"])))


def strings(m):
    small = ["0", "1", "2", "3", "5", "-1", "-2", "100", "NULL::int"]
    bits_ = ["''", "'a'", "'b'", "'X'", "'xx'", "'abc'", "'o'", "','", "' '", "'ü'", "'本'", "NULL::text"]
    for f in ("length", "char_length", "octet_length", "bit_length", "upper", "lower", "initcap", "reverse", "md5", "ascii",
              "btrim", "ltrim", "rtrim", "quote_literal", "quote_ident", "quote_nullable"):
        for v in TEXTS:
            m.add(f, "SELECT %s(%s)" % (f, v))
    for f in ("left", "right", "repeat", "substr"):
        m.calls(f, 20, f, TEXTS, small)
    m.calls("substr", 30, "substr", TEXTS, small, small)
    m.some("substring", 30, lambda pick: "SELECT substring(%s from %s for %s)" % (pick(TEXTS), pick(small), pick(small)))
    m.some("substring", 12, lambda pick: "SELECT substring(%s %s %s)" % (pick(TEXTS), pick(["from", "for"]), pick(small)))
    m.some("position", 25, lambda pick: "SELECT position(%s in %s), strpos(%s, %s)" % (
        pick(bits_), pick(TEXTS), pick(TEXTS), pick(bits_)))
    for f in ("lpad", "rpad"):
        m.calls(f, 14, f, TEXTS, small)
        m.calls(f, 20, f, TEXTS, ["0", "3", "7", "12", "20", "-1"], bits_)
    for f in ("btrim", "ltrim", "rtrim"):
        m.calls(f, 10, f, TEXTS, bits_)
    m.some("trim", 25, lambda pick: "SELECT trim(%s %s from %s)" % (pick(["both", "leading", "trailing", ""]), pick(bits_), pick(TEXTS)))
    m.calls("replace", 30, "replace", TEXTS, bits_, bits_)
    m.calls("translate", 25, "translate", TEXTS, ["'abc'", "'lo'", "'xX'", "''", "'üß本'"], ["'123'", "'1'", "''", "'本x'"])
    m.calls("split_part", 30, "split_part", TEXTS, bits_, ["1", "2", "3", "-1", "-2", "0"])
    m.calls("starts_with", 15, "starts_with", TEXTS, bits_)
    m.calls("chr", 14, "chr", ["65", "0", "-1", "228", "8364", "128512", "1114112", "55296", "10", "NULL::int"])
    m.calls("to_hex", 12, "to_hex", ["0", "255", "-1", "2147483647", "4294967296", "-1::bigint", "NULL::int"])
    m.some("overlay", 25, lambda pick: "SELECT overlay(%s placing %s from %s%s)" % (
        pick(TEXTS), pick(bits_), pick(["1", "2", "4", "0", "-1", "50"]), pick(["", " for 0", " for 2", " for 99", " for -1"])))
    anything = TEXTS + ["1", "2.50", "true", "NULL", "DATE '2024-01-02'", "1.5::float8"]
    m.some("concat", 30, lambda pick: "SELECT concat(%s, %s, %s)" % (pick(anything), pick(anything), pick(anything)))
    m.some("concat_ws", 25, lambda pick: "SELECT concat_ws(%s, %s, %s, %s)" % (
        pick(["','", "''", "'--'", "NULL"]), pick(anything), pick(anything), pick(anything)))
    m.some("||", 40, lambda pick: "SELECT %s || %s" % (pick(anything), pick(TEXTS)))
    m.some("format", 50, lambda pick: "SELECT format(%s, %s, %s)" % (
        pick(["'%s and %s'", "'%2$s %1$s'", "'%I %L'", "'[%10s] [%-10s]'", "'%%'", "'%s'", "'%L'", "'%3$s'", "'%x'", "'%'",
              "'%1$s %s'", "'%*s|%s'", "'%-5s|%I'", "'plain'", "NULL", "'%0$s'", "'%-*s'"]), pick(anything), pick(anything)))


def patterns(m):
    pats = ["'%'", "'a%'", "'%c'", "'_'", "'___'", "'%b%'", "''", "'A%'", "'%\\%'", "'%\\_%'", "'_b_'", "'%日%'", "'Hello%'",
            "'%x%x%'", "NULL::text", "'a\\'", "'über%'"]
    m.some("like", 60, lambda pick: "SELECT %s %s %s" % (pick(TEXTS), pick(["LIKE", "NOT LIKE"]), pick(pats)))
    m.some("ilike", 40, lambda pick: "SELECT %s %s %s" % (pick(TEXTS), pick(["ILIKE", "NOT ILIKE"]), pick(pats)))
    m.some("like escape", 25, lambda pick: "SELECT %s LIKE %s ESCAPE %s" % (
        pick(TEXTS), pick(["'100!%'", "'%!_%'", "'a%'", "'%\\%'", "'!!'", "'a#%'"]), pick(["'!'", "''", "'#'", "'ab'", "'%'"])))
    m.some("similar to", 50, lambda pick: "SELECT %s %s %s" % (
        pick(TEXTS), pick(["SIMILAR TO", "NOT SIMILAR TO"]),
        pick(["'abc'", "'a%'", "'%(b|d)%'", "'[a-z]+'", "'_{3}'", "'(a|b|c)+'", "'%[0-9]%'", "'[^a-z]*'", "'a.c'", "'ABC|abc'",
              "'100\\%'", "'x*abcx{2}'", "''", "NULL::text"])))
    res = ["'b'", "'^a'", "'c$'", "'^abc$'", "'[a-c]+'", "'[0-9]{2,}'", "'(quick|slow)'", "'x*'", "'^$'", "'.'", "'a.c'",
           "'[[:digit:]]+'", "'[^a-z]'", "'l+'", "'(a)(b)?'", "'\\\\'", "'o.*o'", "NULL::text", "''", "'a|b|'", "'\\d+'",
           "'\\w+\\s'", "'[[:upper:]]'", "'('", "'[a'", "'a{2'", "'*a'"]
    m.some("regex ~", 100, lambda pick: "SELECT %s %s %s" % (pick(TEXTS), pick(["~", "~*", "!~", "!~*"]), pick(res)))
    m.some("regexp_replace", 60, lambda pick: "SELECT regexp_replace(%s, %s, %s%s)" % (
        pick(TEXTS), pick(res), pick(["''", "'_'", "'<\\&>'", "'[\\1]'", "'\\\\'", "'$1'"]),
        pick(["", ", 'g'", ", 'i'", ", 'gi'", ", 'q'"])))
    m.some("substring regex", 25, lambda pick: "SELECT substring(%s from %s)" % (pick(TEXTS), pick(res)))
    m.some("regexp_like", 20, lambda pick: "SELECT regexp_like(%s, %s%s)" % (pick(TEXTS), pick(res), pick(["", ", 'i'"])))
    m.some("regexp_count", 20, lambda pick: "SELECT regexp_count(%s, %s)" % (pick(TEXTS), pick(res)))
    m.some("regexp_substr", 20, lambda pick: "SELECT regexp_substr(%s, %s)" % (pick(TEXTS), pick(res)))
    m.some("regexp_instr", 20, lambda pick: "SELECT regexp_instr(%s, %s)" % (pick(TEXTS), pick(res)))


def maths(m):
    for f in ("abs", "ceil", "ceiling", "floor", "round", "trunc", "sign", "sqrt", "cbrt", "exp", "ln", "log", "log10",
              "degrees", "radians", "sin", "cos", "tan", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "scale",
              "min_scale", "trim_scale", "factorial", "asinh", "acosh", "atanh", "sind", "cosd", "tand"):
        m.calls(f, 16, f, [v for v in NUMBERS if f not in ("exp", "factorial") or len(v) < 8])
    m.some("round to", 40, lambda pick: "SELECT %s(%s, %s)" % (
        pick(["round", "trunc"]), pick(NUMERICS + ["1234.5678", "-0.05", "15", "25"]), pick(["0", "1", "2", "-1", "-2", "5"])))
    small = ["0", "1", "2", "3", "-2", "0.5", "2.5", "10", "2::float8", "-1.5::float8", "NULL::numeric", "4::bigint"]
    for f in ("power", "mod", "div", "gcd", "lcm", "atan2", "log", "pow"):
        m.calls(f, 20, f, small, small)
    m.calls("gcd", 10, "gcd", INTS + BIGS, INTS + BIGS)
    m.calls("lcm", 10, "lcm", INTS + BIGS, INTS + BIGS)
    m.calls("width_bucket", 25, "width_bucket", ["5", "0", "10", "-3", "3.5", "5::float8", "'NaN'::float8", "NULL::numeric"],
            ["0", "10", "1.0", "2::float8"], ["10", "0", "20.0", "10::float8"], ["5", "1", "0", "-1"])
    m.add("pi", "SELECT pi()")


FIELDS = ["year", "month", "day", "hour", "minute", "second", "quarter", "week", "dow", "isodow", "doy", "isoyear", "century",
          "decade", "millennium", "epoch", "milliseconds", "microseconds", "julian", "bogus", "timezone"]


def dates(m):
    for f in FIELDS:
        m.some("extract", 4, lambda pick: "SELECT extract(%s from %s)" % (f, pick(STAMPS)))
        m.some("extract", 3, lambda pick: "SELECT extract(%s from %s)" % (f, pick(DATES)))
        m.some("date_part", 3, lambda pick: "SELECT date_part('%s', %s)" % (f, pick(STAMPS)))
        m.some("date_trunc", 4, lambda pick: "SELECT date_trunc('%s', %s)" % (f, pick(STAMPS)))
    m.some("date arithmetic", 40, lambda pick: "SELECT %s %s %s" % (pick(DATES), pick("+-"), pick(["0", "1", "-1", "31", "365", "100000"])))
    m.some("date arithmetic", 20, lambda pick: "SELECT %s - %s" % (pick(DATES), pick(DATES)))
    m.calls("make_date", 16, "make_date", ["2024", "2023", "0", "-44", "1"], ["2", "12", "13", "0"], ["29", "28", "31", "0"])
    m.calls("make_timestamp", 16, "make_timestamp", ["2024", "2023", "0"], ["2", "12", "13"], ["28", "29"], ["0", "23", "24", "25"],
            ["0", "59", "60"], ["0", "59.999999", "60", "1.5", "61", "-1"])
    m.some("isfinite", 6, lambda pick: "SELECT isfinite(%s)" % pick(DATES + STAMPS + ["DATE 'infinity'", "TIMESTAMP '-infinity'"]))
    fmts = ["YYYY-MM-DD", "DD/MM/YY", "HH24:MI:SS", "HH12:MI AM", "Month", "FMMonth DD, YYYY", "Mon", "MON", "mon", "Day", "FMDay",
            "DY", "Dy", "D", "DDD", "WW", "IW", "IYYY", "ID", "Q", "J", "CC", "YYYY-MM-DD HH24:MI:SS.MS", "US", "SSSS", "\"Year: \"YYYY",
            "Y,YYY", "RM", "FMDDth", "a.m.", "HH:MI:SS pm", "YYYYMMDD", "\"it is\" DD", "YYY Y", "MONTH", "month", "DAY", "day",
            "FF3", "IYY", "BC", "FMHH24:FMMI", "W"]
    for f in fmts:
        m.some("to_char date", 3, lambda pick: "SELECT to_char(%s, '%s')" % (pick(STAMPS), f))
    for t, f in [("2024-02-29", "YYYY-MM-DD"), ("29/02/24", "DD/MM/YY"), ("20240229", "YYYYMMDD"), ("29 Feb 2024", "DD Mon YYYY"),
                 ("February 29, 2024", "Month DD, YYYY"), ("2024-13-01", "YYYY-MM-DD"), ("2023-02-29", "YYYY-MM-DD"), ("x", "YYYY"),
                 ("2024", "YYYY"), ("2024-060", "YYYY-DDD"), ("1 3 2020", "DD MM YYYY"), ("70-01-01", "YY-MM-DD"),
                 ("2024/02/29", "YYYY-MM-DD"), ("", "YYYY-MM-DD"), ("5-1-2", "YYYY-MM-DD")]:
        m.add("to_date", "SELECT to_date('%s', '%s')" % (t, f))


def number_formats(m):
    for f in ["999", "9999.99", "0000", "9,999,999.00", "FM999.99", "S999", "999MI", "$999.99", "99.9", "FM0.00", "L99", "999PR", "9.99EEEE",
              "RN", "FM9,999", "000.000", "SG99", "99V99", "FM990.0099", "9G999D99"]:
        m.some("to_char number", 5, lambda pick: "SELECT to_char(%s, '%s')" % (
            pick(["0", "1", "-1", "12", "123.456", "-1234.5", "0.5", "1234567.891", "NULL::numeric", "99.95", "-0.1"]), f))


COLUMNS = {"i": INTS, "l": ["0", "7", "-7"], "f": ["0", "1.5"], "n": ["1.1", "100"], "m": ["0", "10.5"], "s": ["'apple'", "'b'", "''"],
           "v": ["'x'", "'yy'"], "b": ["true"], "d": ["'2000-06-01'", "DATE '2024-01-01'"], "ts": ["'2020-06-01'"]}


def condition(pick):
    c = pick(list(COLUMNS))
    return pick(["%s %s %s" % (c, pick(["=", "<>", "<", ">", "<=", ">="]), pick(COLUMNS[c])), "%s IS NULL" % c, "%s IS NOT NULL" % c,
                 "%s IN (%s, %s)" % (c, pick(COLUMNS[c]), pick(COLUMNS[c])), "s LIKE '%a%'", "NOT b", "i + l > 3", "length(s) > 4",
                 "coalesce(i, 0) = 0", "m BETWEEN -100 AND 100", "id % 3 = 1", "d < ts", "s < v"])


def queries(m):
    m.some("where", 150, lambda pick: "SELECT id FROM t WHERE %s%s ORDER BY id" % (
        condition(pick), pick(["", " AND " + condition(pick), " OR " + condition(pick), " AND NOT (%s)" % condition(pick)])))
    m.some("order by", 60, lambda pick: "SELECT id, %s FROM t ORDER BY %s %s %s, id %s LIMIT %d OFFSET %d" % (
        ", ".join(c for c in ("i", "s")), pick(list(COLUMNS)), pick(["", "DESC", "ASC"]), pick(["", "NULLS FIRST", "NULLS LAST"]),
        pick(["", "DESC"]), pick([0, 1, 5, 100]), pick([0, 2, 50])))
    for c in COLUMNS:
        m.add("columns", "SELECT id, %s FROM t ORDER BY id" % c)
        m.add("distinct", "SELECT DISTINCT %s FROM t ORDER BY %s" % (c, c))
        m.add("group by", "SELECT %s, count(*), count(i), min(id), max(id) FROM t GROUP BY %s ORDER BY %s" % (c, c, c))
        for f in ("count", "min", "max", "sum", "avg"):
            m.add("aggregates", "SELECT %s(%s) FROM t" % (f, c))
            m.add("aggregates", "SELECT %s(%s) FROM t WHERE id > 1000" % (f, c))
        m.add("aggregates", "SELECT b, sum(i), avg(n), max(%s) FROM t GROUP BY b ORDER BY b" % c)
        for f in ("bool_and", "bool_or", "every", "stddev", "variance", "stddev_pop", "var_pop", "var_samp", "bit_and", "bit_or"):
            m.add("more aggregates", "SELECT %s(%s) FROM t WHERE f IS NULL OR f < 1e5" % (f, c))
        m.add("more aggregates", "SELECT count(DISTINCT %s) FROM t" % c)
        m.add("more aggregates", "SELECT string_agg(%s::text, ',' ORDER BY id) FROM t" % c)
    m.some("having", 30, lambda pick: "SELECT i, count(*), sum(m) FROM t GROUP BY i HAVING %s %s %s ORDER BY i" % (
        pick(["count(*)", "sum(m)", "max(id)", "avg(f)"]), pick(["<", ">", "="]), pick(["1", "4", "20"])))
    m.some("joins", 60, lambda pick: "SELECT t.id, u.k FROM t %sJOIN u ON %s%s ORDER BY t.id NULLS FIRST, u.k NULLS FIRST" % (
        pick(["", "", "INNER ", "LEFT ", "RIGHT ", "FULL "]), pick(["t.i = u.i", "t.s = u.s", "t.id = u.k"]),
        pick(["", " AND t.b", " AND u.k > 4", " AND t.m > 0 AND u.i < 3"])))
    m.some("subqueries", 30, lambda pick: "SELECT id FROM t WHERE %s ORDER BY id" % pick([
        "i IN (SELECT i FROM u)", "i NOT IN (SELECT i FROM u WHERE i IS NOT NULL)", "i NOT IN (SELECT i FROM u)",
        "EXISTS (SELECT 1 FROM u WHERE u.k = t.id)", "NOT EXISTS (SELECT 1 FROM u WHERE u.s = t.s)", "i > (SELECT avg(i) FROM u)",
        "i = (SELECT max(i) FROM u WHERE u.k < t.id)", "i = ANY (SELECT i FROM u)", "i > ALL (SELECT i FROM u WHERE k < 3)",
        "s = (SELECT s FROM u)", "(SELECT count(*) FROM e) = 0", "i IN (SELECT x FROM e)", "i NOT IN (SELECT x FROM e)"]))
    m.some("derived tables", 16, lambda pick: "SELECT * FROM (SELECT %s AS g, count(*) AS n FROM t GROUP BY 1) q WHERE n %s ORDER BY 1" % (
        pick(["i", "b", "s", "id % 4", "d"]), pick(["> 1", "= 1", "< 10"])))
    m.some("set operations", 30, lambda pick: "SELECT %s FROM t WHERE id < 20 %s SELECT %s FROM u ORDER BY 1" % (
        *(("i",) if pick([1, 0]) else ("s",)), pick(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"]),
        pick(["i", "s", "k"])))
    m.some("with", 10, lambda pick: "WITH q AS (SELECT i, s FROM t WHERE %s) SELECT * FROM q ORDER BY i, s" % condition(pick))
    m.some("windows", 40, lambda pick: "SELECT id, %s OVER (%s ORDER BY id) FROM t ORDER BY id" % (
        pick(["row_number()", "rank()", "dense_rank()", "sum(i)", "count(*)", "lag(i)", "lead(s)", "first_value(m)", "last_value(id)",
              "max(d)", "ntile(4)", "percent_rank()", "cume_dist()", "nth_value(i, 2)", "avg(n)", "lag(i, 2, 0)"]),
        pick(["", "PARTITION BY b", "PARTITION BY i", "PARTITION BY s"])))
    m.some("from nothing", 16, lambda pick: "SELECT %s(%s) FROM e" % (pick(["count", "sum", "min", "max", "avg"]), pick(["x", "y", "1", "NULL"])))
    for c in COLUMNS:
        for f in ("abs(%s)", "length(%s)", "upper(%s)", "-%s", "%s || ''", "%s + 1", "%s::text", "%s::int", "round(%s)",
                  "NOT %s", "%s = '1'", "coalesce(%s, 0)", "to_hex(%s)", "%s LIKE '1%%'", "date_trunc('month', %s)"):
            m.add("over columns", "SELECT id, %s AS x FROM t ORDER BY id LIMIT 12" % (f % c))


# Queries of three columns to stand in FROM, from those a condition goes into to those it must stay above.
INNER = [
    "SELECT id, s, i FROM t", "SELECT id, s, i % 7 FROM t WHERE b", "SELECT id, upper(s), 7 FROM t", "SELECT i, max(s), count(*) FROM t GROUP BY i",
    "SELECT i, s, count(*) FROM t GROUP BY i, s HAVING count(*) < 3", "SELECT i % 7, s, sum(id) FROM t GROUP BY s, i % 7",
    "SELECT i, s, count(*) FROM t GROUP BY ROLLUP (i, s)", "SELECT i, s, count(*) FROM t GROUP BY GROUPING SETS ((i), (s))",
    "SELECT count(*), max(s), min(i) FROM t", "SELECT count(*), 'x', 3 FROM t HAVING count(*) > 1", "SELECT DISTINCT i, s, 1 FROM t",
    "SELECT DISTINCT ON (i) i, s, id FROM t ORDER BY i, id", "SELECT DISTINCT ON (i, s) i, s, id FROM t ORDER BY i, s, id DESC",
    "SELECT id, s, i FROM t ORDER BY id LIMIT 10", "SELECT id, s, i FROM t ORDER BY id DESC OFFSET 5",
    "SELECT id, s, row_number() OVER (PARTITION BY i ORDER BY id) FROM t", "SELECT i, s, rank() OVER (PARTITION BY i ORDER BY id) FROM t",
    "SELECT i, s, count(*) OVER (PARTITION BY i, s) + row_number() OVER (PARTITION BY i ORDER BY id) FROM t",
    "SELECT i, max(s), count(*) OVER (PARTITION BY i) FROM t GROUP BY i", "SELECT i, s, id FROM t UNION ALL SELECT k, s, i FROM u",
    "SELECT i, s, 1 FROM t UNION SELECT i, s, 1 FROM u", "SELECT i, s, 1 FROM t INTERSECT SELECT i, s, 1 FROM u",
    "SELECT i, s, 1 FROM t INTERSECT ALL SELECT i, s, 1 FROM u", "SELECT i, s, 1 FROM t EXCEPT SELECT i, s, 1 FROM u",
    "SELECT i, s, 1 FROM t EXCEPT ALL SELECT i, s, 1 FROM u", "SELECT id, 'p', 1 FROM t UNION ALL SELECT k, 'x', 2 FROM u",
    "SELECT id, s, i FROM t UNION ALL SELECT l, s, id FROM t", "SELECT n, s, i FROM t UNION SELECT m, v, k FROM t, u WHERE k < 3",
    "(SELECT i, s, id FROM t ORDER BY id LIMIT 4) UNION ALL SELECT k, s, i FROM u", "SELECT i, s, 1 FROM t UNION ALL VALUES (3, 'apple', 9), (1, NULL, 2)",
    "SELECT t.id, u.s, u.i FROM t LEFT JOIN u ON u.k = t.id", "SELECT u.k, t.s, t.i FROM t RIGHT JOIN u ON u.i = t.i", "SELECT t.id, u.s, t.i FROM t JOIN u ON u.i = t.i",
    "SELECT coalesce(t.id, u.k), u.s, t.i FROM t FULL JOIN u ON u.k = t.id", "SELECT id, (SELECT max(u.s) FROM u WHERE u.k = t.id), i FROM t",
    "SELECT id, s, generate_series(1, 2) FROM t WHERE id < 6", "SELECT id, s, i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.id)",
    "SELECT x.id, x.s, x.y FROM (SELECT id, s, i % 7 AS y FROM t) x WHERE x.y > 0", "WITH w AS (SELECT id, s, i FROM t) SELECT * FROM w WHERE i > 0",
    "WITH w AS (SELECT id, s, i FROM t) SELECT a.id, b.s, b.i FROM w a JOIN w b ON a.id = b.i", "SELECT 3, 'apple', 1", "VALUES (3, 'apple', 1), (NULL, 'x', 2), (1, NULL, NULL)",
    "SELECT g, 'x', g * 2 FROM generate_series(1, 9) g", "SELECT id, s, i FROM t WHERE false", "SELECT x, y, x FROM e"]
OUTER = [
    "a = 3", "a = 3 AND c = 1", "a IN (1, 2, 5)", "a > 2 AND b = 'apple'", "b IS NULL", "b LIKE 'a%' OR a = 1", "c < 2", "a = c", "a IS NOT NULL AND b > 'b'", "b = 'x'",
    "a + 1 = 4", "(SELECT count(*) FROM u WHERE u.i = a) > 1", "a = ANY (ARRAY[1, 3])", "a = (SELECT min(i) FROM u)", "false", "NULL", "a = 1 AND false",
    "a IN (SELECT k FROM u WHERE k < 4)", "EXISTS (SELECT 1 FROM u WHERE u.k = a)", "coalesce(c, 0) = 0", "a BETWEEN 2 AND 6 AND NOT c = 5", "length(b) + a > 7", "a = 3 OR c IS NULL"]


def pushed(m):
    def place(pick):
        q = pick(INNER)
        return pick(["FROM (%s) q(a, b, c)" % q, "FROM inner%d" % INNER.index(q)])
    m.some("conditions on queries", 420, lambda pick: "SELECT * %s WHERE %s ORDER BY 1, 2, 3" % (place(pick), pick(OUTER)))
    # i + 1 fails for one row: it must not fail if a cheaper condition excludes the row, or no operator needs the value
    for q in ("SELECT id, s, i + 1 FROM t WHERE b", "SELECT id, upper(s), 1 / (id - 1) FROM t",
              "SELECT x.id, x.s, x.y FROM (SELECT id, s, i * 2 AS y FROM t) x WHERE x.y > 0"):
        for c in ("a > 2 AND b = 'apple'", "b IS NULL", "a = 5", "a IN (5, 6) AND c > 0", "c > 0 AND a = 9"):
            m.add("conditions that fail", "SELECT * FROM (%s) q(a, b, c) WHERE %s ORDER BY 1" % (q, c))
            m.add("conditions that fail", "SELECT a FROM (%s) q(a, b, c) WHERE %s ORDER BY 1" % (q, c))
        m.add("conditions that fail", "SELECT count(a), max(b) FROM (%s) q(a, b, c)" % q)
    m.some("columns of queries", 120, lambda pick: "SELECT %s %s WHERE %s" % (
        pick(["count(*)", "count(a)", "min(b), max(b)", "sum(c)", "1 AS one"]), place(pick), pick(OUTER)))
    m.some("with, conditions", 120, lambda pick: "WITH q(a, b, c) AS %s (%s) SELECT %s FROM q WHERE %s ORDER BY 1, 2, 3" % (
        pick(["", "", "MATERIALIZED", "NOT MATERIALIZED"]), pick(INNER), pick(["a, b, c", "a + 1, b, c", "q.*"]), pick(OUTER)))
    m.some("joins of queries", 160, lambda pick: "SELECT r.k, r.s, a, b, c %s %s u r ON %s%s ORDER BY 1, 2, 3, 4, 5" % (
        place(pick), pick(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]), pick(["r.k = a", "r.s = b", "r.i = c", "r.k = a AND r.i = c"]),
        pick(["", " WHERE a = 3", " WHERE r.k = 2", " WHERE b IS NULL", " WHERE c > 1 AND r.k < 9", " WHERE a IS NULL OR r.k IS NULL"])))
    m.some("queries beside queries", 60, lambda pick: "SELECT q.a, q.b, p.c FROM (%s) q(a, b, c), (%s) p(a, b, c) WHERE q.a = p.a AND %s ORDER BY 1, 2, 3" % (
        pick(INNER), pick(INNER), pick(["p.a = 3", "q.b = p.b", "q.c = 1", "p.b IS NULL AND q.a < 4"])))
    m.some("asked from outside", 60, lambda pick: "SELECT k, (SELECT %s FROM (%s) q(a, b, c) WHERE %s) FROM u ORDER BY k" % (
        pick(["count(*)", "max(b)", "sum(c)"]), pick(INNER), pick(["a = u.k", "a = u.i AND c = 1", "b = u.s", "a > u.k"])))


ERRORS = """SELECT nothing FROM t|SELECT * FROM missing|SELECT t.nothing FROM t|SELECT x.id FROM t|SELECT i FROM t, u
SELECT id, count(*) FROM t|SELECT i FROM t GROUP BY s|SELECT count(*) FROM t WHERE count(*) > 1|SELECT sum(count(*)) FROM t
SELECT nofunction(1)|SELECT abs('x'::text)|SELECT 1 +|SELECT 1 FROM|FROM t|SELECT 'a' + 1|SELECT true + 1|SELECT -true
SELECT 1 = 'a'::text|SELECT id FROM t WHERE i|SELECT id FROM t WHERE 1|SELECT id FROM t WHERE 'maybe'|SELECT id FROM t LIMIT -1
SELECT id FROM t OFFSET -1|SELECT id FROM t LIMIT 'x'|SELECT id FROM t ORDER BY 9|SELECT id FROM t GROUP BY 9|SELECT id FROM t ORDER BY 'a'
SELECT CASE WHEN 1 THEN 2 END|SELECT CASE WHEN true THEN 1 ELSE 'x' END|SELECT coalesce(1, 'x')|SELECT coalesce(1, true)|SELECT greatest(1, true)
SELECT 1 IN ('a')|SELECT 1 IN (true)|SELECT NOT 1|SELECT 1 AND true|SELECT CAST(1 AS nosuchtype)|SELECT CAST(true AS date)|SELECT 1::date
SELECT DATE '2024-01-01' + DATE '2024-01-01'|SELECT substring(1 from 2)|SELECT upper(1)|SELECT length(12)|SELECT sum(s) FROM t|SELECT avg(b) FROM t
SELECT min(b) FROM t|SELECT 1/0 FROM t WHERE false|SELECT 1/0 FROM e|SELECT id FROM t WHERE id = 1/0|SELECT CASE WHEN id > 0 THEN 1 ELSE 1/0 END FROM t LIMIT 1
SELECT DISTINCT id FROM t ORDER BY i|SELECT id AS a FROM t WHERE a = 1|SELECT id AS i FROM t ORDER BY i LIMIT 3|SELECT 2147483647 + 1|SELECT 9223372036854775807 + 1
INSERT INTO u VALUES (1, 1, 'x')|INSERT INTO u VALUES (100)|INSERT INTO u (k, k) VALUES (1, 2)|INSERT INTO u (zz) VALUES (1)|INSERT INTO u VALUES (NULL, 1, 'x')
INSERT INTO u VALUES (1, 2, 3, 4)|UPDATE u SET k = 'x'|UPDATE u SET zz = 1|UPDATE missing SET a = 1|DELETE FROM missing|INSERT INTO u VALUES ('a', 1, 'x')
CREATE TABLE t (a int)|DROP TABLE missing|CREATE TABLE z (a int, a int)|CREATE TABLE z (a nosuchtype)|TRUNCATE missing|INSERT INTO t (id, v) VALUES (999, 'much too long a text')
INSERT INTO t (id, m) VALUES (999, 12345678)|INSERT INTO t (id, i) VALUES (999, 3000000000)|INSERT INTO t (id, d) VALUES (999, 5)|INSERT INTO t (id, b) VALUES (999, 1)
SELECT round(1.5::float8, 1)|SELECT abs()|SELECT abs(1, 2)|SELECT mod(5.5::float8, 2)|SELECT pi(1)|SELECT repeat('x', 2000000000)|SELECT chr(-5)
SELECT "Id" FROM t|SELECT t FROM missing t2|SELECT a.id FROM t b|SELECT * FROM t a, t a|SELECT * FROM t JOIN u|SELECT * FROM t JOIN u USING (nothing)
SELECT 1 LIKE 'a'|SELECT 'a' LIKE 1|SELECT 5 ~ 'a'|SELECT extract(year from 5)|SELECT extract(year from 'x')|SELECT 1 ORDER BY x|SELECT max(1, 2)""".replace("\n", "|").split("|")


INT_ARRAYS = ["'{}'::int[]", "'{1}'::int[]", "'{1,2,3}'::int[]", "'{3,NULL,1}'::int[]", "'{NULL}'::int[]", "'{2,2,7,-1}'::int[]",
              "'[3:5]={1,2,3}'::int[]", "ARRAY[1, 2]", "ARRAY[7, 2147483647, -2147483648]", "NULL::int[]"]
TEXT_ARRAYS = ["'{}'::text[]", "'{a,b,c}'::text[]", "'{\"a b\",NULL,\"\"}'::text[]", "'{\"x\\\\y\",\"q\\\"r\",null}'::text[]",
               "ARRAY['NULL', 'null', '{}', ',']", "ARRAY['über', ' lead', 'tab\there']", "ARRAY['a']", "NULL::text[]"]
OTHER_ARRAYS = ["'{1.5,NaN,-0}'::float8[]", "'{1.50,2}'::numeric[]", "'{t,f,NULL}'::boolean[]", "'{2024-02-29,infinity}'::date[]",
                "'{\"2024-01-01 10:00:00\",epoch}'::timestamp[]", "'{1 day,\"2 mons 03:00\"}'::interval[]", "'{\"\\\\x01ff\"}'::bytea[]",
                "'{ab,c}'::char(3)[]", "'{9223372036854775807}'::bigint[]", "'{1,32767}'::smallint[]"]
ARRAY_TEXTS = ["'{1,2'", "'1,2}'", "'{1,,2}'", "'{1,2,}'", "'{,}'", "'{1}x'", "'{ 1 , 2 }'", "'  {3}  '", "'{\"1\"}'", "'{a}'", "'{1\"2\"}'",
               "'[1:2]={1,2}'", "'[2:1]={}'", "'[1:1]={1,2}'", "'[-2:-1]={5,6}'", "'{NuLL}'", "'{99999999999}'", "''", "'{'", "'}'", "'{\\'"]


def arrays(m):
    pools = {"int": INT_ARRAYS, "text": TEXT_ARRAYS}
    elements = {"int": ["1", "2", "7", "NULL::int", "-5"], "text": ["'a'::text", "'NULL'::text", "''::text", "NULL::text", "'q\"r'::text"]}
    everything = INT_ARRAYS + TEXT_ARRAYS + OTHER_ARRAYS
    m.some("array text", 40, lambda pick: "SELECT %s, %s::text" % (pick(everything), pick(everything)))
    m.some("array text", 21, lambda pick: "SELECT %s::int[]" % pick(ARRAY_TEXTS))
    m.some("array text", 10, lambda pick: "SELECT %s::text[]" % pick(ARRAY_TEXTS))
    for kind, pool in pools.items():
        one = elements[kind]
        m.some("array compare", 40, lambda pick: "SELECT %s %s %s" % (
            pick(pool), pick(["=", "<>", "<", "<=", ">", ">=", "@>", "<@", "&&", "||"]), pick(pool)))
        m.some("array subscript", 12, lambda pick: "SELECT (%s)[%s]" % (pick(pool), pick(["1", "2", "0", "4", "-1", "NULL"])))
        m.some("array slice", 20, lambda pick: "SELECT (%s)[%s:%s]" % (
            pick(pool), pick(["", "1", "2", "0", "-3", "NULL"]), pick(["", "1", "2", "9", "0"])))
        m.some("array concat", 16, lambda pick: "SELECT %s || %s, %s || %s" % (pick(pool), pick(one), pick(one), pick(pool)))
        m.some("any and all", 50, lambda pick: "SELECT %s %s %s (%s)" % (
            pick(one), pick(["=", "<>", "<", "<=", ">", ">="]), pick(["ANY", "ALL", "SOME"]), pick(pool)))
        for name in ("array_append", "array_remove", "array_position", "array_positions"):
            m.calls("array functions", 14, name, pool, one)
        m.calls("array functions", 10, "array_prepend", one, pool)
        m.calls("array functions", 14, "array_replace", pool, one, one)
        m.calls("array functions", 14, "array_cat", pool, pool)
        m.calls("array functions", 16, "array_to_string", pool, ["','", "''", "NULL", "' - '"], ["'*'", "''", "NULL"])
        for name in ("cardinality", "array_ndims", "array_dims"):
            m.calls("array functions", 10, name, pool)
        for name in ("array_length", "array_lower", "array_upper"):
            m.calls("array functions", 10, name, pool, ["1", "2", "0", "NULL"])
        m.calls("array functions", 10, "trim_array", pool, ["0", "1", "2", "-1", "9"])
        m.some("unnest", 10, lambda pick: "SELECT * FROM unnest(%s, %s) WITH ORDINALITY AS u (a, b, n)" % (pick(pool), pick(everything)))
        m.some("unnest", 10, lambda pick: "SELECT unnest(%s), unnest(%s)" % (pick(pool), pick(everything)))
        m.some("unnest", 10, lambda pick: "SELECT u.n, v.m, v.y FROM unnest(%s) WITH ORDINALITY AS u (x, n) LEFT JOIN "
               "unnest(array_append(%s, u.x)) WITH ORDINALITY AS v (y, m) ON true ORDER BY 1, 2" % (pick(pool), pick(pool)))
    m.some("any patterns", 16, lambda pick: "SELECT %s %s %s ('{a%%,%%b,_c,NULL}')" % (
        pick(TEXTS), pick(["LIKE", "NOT LIKE", "ILIKE"]), pick(["ANY", "ALL"])))
    m.calls("split", 24, "string_to_array", TEXTS, ["','", "' '", "''", "NULL", "'ab'", "'X'"], ["'a'", "''", "NULL"])
    m.calls("split", 20, "regexp_split_to_array", TEXTS, ["','", "'\\s+'", "''", "'[aeiou]+'", "'x*'", "'(a|b)'"])
    m.calls("split", 20, "regexp_match", TEXTS, ["'b'", "'(\\w+) (\\w+)'", "'(x)?[a-c]'", "'^$'", "'[[:upper:]]+'"])
    m.some("split", 16, lambda pick: "SELECT regexp_matches(%s, %s, 'g')" % (
        pick(TEXTS), pick(["'[aeiou]'", "'(\\w)(\\w)'", "'x*'", "'b|c'"])))
    for column in ("i", "s", "b", "d", "n", "l"):
        m.some("array_agg", 6, lambda pick: "SELECT array_agg(%s%s ORDER BY %s %s%s)%s FROM t" % (
            *pick([("DISTINCT ", column, column), ("", column, "id")]), pick(["", "DESC"]), pick(["", " NULLS FIRST", " NULLS LAST"]),
            pick(["", " FILTER (WHERE id % 3 = 0)"])))
        m.some("array_agg", 3, lambda pick: "SELECT v, array_agg(%s ORDER BY id), cardinality(array_agg(id)) FROM t GROUP BY v ORDER BY v" % column)
    m.some("any over tables", 20, lambda pick: "SELECT id, i FROM t WHERE %s %s %s (%s) ORDER BY id" % (
        pick(["id", "i"]), pick(["=", "<>", ">"]), pick(["ANY", "ALL"]), pick(INT_ARRAYS)))
    m.some("any over tables", 8, lambda pick: "SELECT id FROM t WHERE id = ANY (ARRAY(SELECT k FROM u WHERE i %s 2)) ORDER BY id" % pick(
        ["=", "<", ">", "<>"]))
    m.some("any over tables", 6, lambda pick: "SELECT k, ARRAY(SELECT id FROM t WHERE t.i = u.i ORDER BY id %s) FROM u ORDER BY k" % pick(
        ["", "DESC"]))


def rows_of_values(m):
    few = ["1", "2", "3", "NULL", "NULL::int", "2.5"]
    words = ["'a'", "'b'", "NULL", "''"]
    ops = ["=", "<>", "!=", "<", "<=", ">", ">="]
    m.some("row compare", 90, lambda pick: "SELECT (%s, %s) %s (%s, %s)" % (pick(few), pick(words), pick(ops), pick(few), pick(words)))
    m.some("row compare", 40, lambda pick: "SELECT ROW(%s, %s, %s) %s ROW(%s, %s, %s)" % (
        pick(few), pick(few), pick(few), pick(ops), pick(few), pick(few), pick(few)))
    m.some("row compare", 14, lambda pick: "SELECT ROW(%s) %s ROW(%s)" % (pick(few), pick(ops), pick(few)))
    m.some("row compare", 24, lambda pick: "SELECT (%s, %s) IS %sDISTINCT FROM (%s, %s)" % (
        pick(few), pick(few), pick(["", "NOT "]), pick(few), pick(few)))
    m.some("row compare", 30, lambda pick: "SELECT (%s, %s) %sIN ((%s, %s), (1, 2), (%s, %s))" % (
        pick(few), pick(few), pick(["", "NOT "]), pick(few), pick(few), pick(few), pick(few)))
    m.some("row compare", 30, lambda pick: "SELECT (%s, %s) %sBETWEEN (%s, %s) AND (%s, %s)" % (
        pick(few), pick(few), pick(["", "NOT "]), pick(few), pick(few), pick(few), pick(few)))
    m.some("row is null", 14, lambda pick: "SELECT (%s, %s, NULL) IS NULL, ROW(%s, %s) IS %sNULL, ROW() IS NULL" % (
        pick(few), pick(few), pick(few), pick(few), pick(["", "NOT "])))
    m.some("rows of tables", 60, lambda pick: "SELECT id FROM t WHERE (%s, %s) %s (%s, %s) ORDER BY id" % (
        *pick([("i", "id"), ("id", "i"), ("s", "n"), ("d", "id"), ("m", "f")]), pick(ops),
        *pick([("2", "10"), ("i", "id"), ("NULL", "3"), ("'apple'", "1.1"), ("'2000-06-01'", "5"), ("0", "1.5")])))
    m.some("rows of tables", 16, lambda pick: "SELECT id, i FROM t WHERE (i, id) > (%s, %s) ORDER BY i %s, id LIMIT %s" % (
        pick(["0", "1", "5", "-4"]), pick(["0", "7", "30"]), pick(["", "DESC"]), pick(["1", "3", "10"])))
    m.some("rows of tables", 10, lambda pick: "SELECT t.id, u.k FROM t JOIN u ON (t.i, t.id) %s (u.i, u.k) ORDER BY 1, 2" % pick(ops))
    for text in ("SELECT (1, 2) = (1, 2, 3)", "SELECT (1, 2) + (3, 4)", "SELECT ROW() = ROW()", "SELECT (1, 2) = 3",
                 "SELECT (1, 2) < ('a', 3)", "SELECT (1, true) < (1, 5)", "SELECT (1, 2) IN ((1, 2, 3))",
                 "SELECT (1, 2) IS DISTINCT FROM (1, 2, 3)", "SELECT (1, '{}'::json) = (1, '{}'::json)"):
        m.add("row errors", text)


def within_group(m):
    fractions = ["0", "1", "0.5", "0.25", "0.333", "0.99", "NULL", "1.5", "-0.1", "'NaN'::float8"]
    lists = ["ARRAY[0, 0.5, 1]", "ARRAY[0.25, NULL, 0.75]", "ARRAY[]::float8[]", "'{0.1,2}'::float8[]", "NULL::float8[]"]
    order = ["", "DESC", "NULLS FIRST", "DESC NULLS LAST"]
    for name in ("percentile_cont", "percentile_disc"):
        m.some("within group", 36, lambda pick: "SELECT %s(%s) WITHIN GROUP (ORDER BY %s %s)%s FROM t" % (
            name, pick(fractions), pick(["i", "f", "id", "id * 10", "f / 3"]), pick(order), pick(["", "", " FILTER (WHERE id > 20)"])))
        m.some("within group", 16, lambda pick: "SELECT %s(%s) WITHIN GROUP (ORDER BY %s %s) FROM t" % (
            name, pick(lists), pick(["i", "id", "f"]), pick(order)))
        m.some("within group", 10, lambda pick: "SELECT v, %s(%s) WITHIN GROUP (ORDER BY %s), count(*) FROM t GROUP BY v ORDER BY v" % (
            name, pick(fractions[:6]), pick(["i", "id"])))
        m.some("within group", 6, lambda pick: "SELECT %s(%s) WITHIN GROUP (ORDER BY d - DATE '2000-01-01') FROM t WHERE %s" % (
            name, pick(fractions[:6]), pick(["true", "false", "id < 3"])))
        m.some("within group", 8, lambda pick: "SELECT %s(%s) WITHIN GROUP (ORDER BY ts - TIMESTAMP '2020-01-01') FROM t" % (
            name, pick(fractions[:6])))
    m.some("within group", 20, lambda pick: "SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY %s %s) FROM t" % (
        pick(fractions[:6]), pick(["s", "n", "m", "b", "d", "ts", "v"]), pick(order)))
    m.some("within group", 16, lambda pick: "SELECT mode() WITHIN GROUP (ORDER BY %s %s) FROM t%s" % (
        pick(["i", "s", "n", "b", "d", "v", "ts"]), pick(order), pick(["", " WHERE false", " WHERE id > 9"])))
    m.some("hypothetical", 60, lambda pick: "SELECT %s(%s) WITHIN GROUP (ORDER BY %s %s)%s FROM t%s" % (
        pick(["rank", "dense_rank", "percent_rank", "cume_dist"]), pick(["3", "0", "100", "NULL", "-50"]), pick(["i", "id", "l"]),
        pick(order), pick(["", " FILTER (WHERE id > 20)"]), pick(["", "", " WHERE false"])))
    m.some("hypothetical", 8, lambda pick: "SELECT v, %s('banana') WITHIN GROUP (ORDER BY s) FROM t GROUP BY v ORDER BY v" % pick(
        ["rank", "dense_rank", "percent_rank", "cume_dist"]))
    for text in ("SELECT percentile_cont(0.5) FROM t", "SELECT percentile_cont(0.5, i) FROM t", "SELECT sum(i) WITHIN GROUP (ORDER BY i) FROM t",
                 "SELECT lower(s) WITHIN GROUP (ORDER BY i) FROM t", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s) FROM t",
                 "SELECT percentile_cont(f) WITHIN GROUP (ORDER BY i) FROM t", "SELECT rank(i) WITHIN GROUP (ORDER BY id) FROM t",
                 "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i) OVER () FROM t",
                 "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i, id) FROM t", "SELECT mode(1) WITHIN GROUP (ORDER BY i) FROM t",
                 "SELECT i, percentile_disc(i / 10.0) WITHIN GROUP (ORDER BY id) FROM t WHERE i BETWEEN 0 AND 10 GROUP BY i ORDER BY i"):
        m.add("within group errors", text)


def errors(m):
    for text in ERRORS:
        m.add("errors", text)


# Types of columns that come and go, with values they take.
WALK = {"integer": ["1", "-7", "NULL"], "bigint": ["5000000000", "0"], "text": ["'x'", "'12'", "''"], "varchar(4)": ["'ab'", "'7'"],
        "numeric(6,2)": ["1.555", "-2"], "boolean": ["true", "false"], "date": ["'2024-02-29'"], "float8": ["0.5"]}


def alterations(m):
    """A table whose columns come, go and change at random; after each step all of it is shown."""
    pick = m.dice.choice

    def column():
        return "c%d" % m.dice.randrange(6)

    def action():
        kind, name = pick(list(WALK)), column()
        value = pick(WALK[kind])
        return pick([
            lambda: "ADD COLUMN %s %s" % (name, kind),
            lambda: "ADD %s %s DEFAULT %s" % (name, kind, value),
            lambda: "ADD %s %s NOT NULL DEFAULT %s" % (name, kind, value),
            lambda: "ADD COLUMN %s %s DEFAULT %s CHECK (%s IS NOT NULL)" % (name, kind, value, name),
            lambda: "DROP COLUMN %s" % name,
            lambda: "ALTER %s TYPE %s" % (name, kind),
            lambda: "ALTER COLUMN %s TYPE %s USING %s" % (name, kind, value),
            lambda: "ALTER %s TYPE text USING %s::text || '+'" % (name, name),
            lambda: "ALTER %s SET DEFAULT %s" % (name, value),
            lambda: "ALTER %s DROP DEFAULT" % name,
            lambda: "ALTER %s %s NOT NULL" % (name, pick(["SET", "DROP"])),
            lambda: pick(["DROP CONSTRAINT alt_pkey", "ADD PRIMARY KEY (id)", "ADD PRIMARY KEY (id, %s)" % name]),
        ])()

    m.add("alter", "CREATE TABLE alt (id integer PRIMARY KEY, c0 text)")
    m.add("alter", "INSERT INTO alt VALUES (1, 'one'), (2, NULL)")
    for step in range(3, 140):
        m.add("alter", "ALTER TABLE alt %s" % action())  # of two errors in one statement either may be told
        if step % 3 == 0:
            m.add("alter", "INSERT INTO alt (id) VALUES (%d)" % step)
        if step % 4 == 0:
            m.add("alter", "UPDATE alt SET %s = DEFAULT WHERE id %% 5 = %d" % (column(), step % 5))
        m.add("alter", "SELECT *, %d AS step FROM alt ORDER BY id" % step)
    m.add("alter", "DROP TABLE alt")


def locking(m):
    strengths = ["FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE", "FOR KEY SHARE"]
    m.some("for update", 30, lambda pick: "SELECT %s FROM t %s ORDER BY id %s%s%s" % (
        pick(["id, i", "*", "id, s || 'x'"]), pick(["", "WHERE i > 1", "WHERE id IN (1, 2, 3)", "WHERE id = 7"]),
        pick(["", "LIMIT 3 ", "LIMIT 2 OFFSET 1 "]), pick(strengths), pick(["", " NOWAIT", " SKIP LOCKED", " OF t"])))
    m.some("for update", 20, lambda pick: "SELECT t.id, u.k FROM t %s JOIN u ON t.i = u.i ORDER BY 1, 2 %s%s" % (
        pick(["", "LEFT", "RIGHT"]), pick(strengths), pick(["", " OF t", " OF u", " OF t, u", " OF x"])))
    m.some("for update", 12, lambda pick: pick([
        "SELECT count(*) FROM t %s", "SELECT i FROM t GROUP BY i %s", "SELECT DISTINCT i FROM t %s", "VALUES (1) %s",
        "SELECT i FROM t UNION SELECT k FROM u %s", "SELECT * FROM (SELECT id FROM t) q ORDER BY 1 %s",
        "SELECT * FROM (SELECT count(*) FROM t) q %s"]) % pick(strengths))
    m.add("create table as", "CREATE TABLE made AS SELECT id, s AS t2, m FROM t WHERE id < 9")
    m.add("create table as", "SELECT * FROM made ORDER BY id")
    m.add("create table as", "CREATE TABLE made AS SELECT 1")
    m.add("create table as", "CREATE TABLE made2 (a, b) AS SELECT id, id FROM t WITH NO DATA")
    m.add("create table as", "SELECT * FROM made2")
    m.add("create table as", "CREATE TABLE made3 (a, b, c) AS SELECT 1, 2")
    m.add("create table as", "SELECT v, n INTO made3 FROM t WHERE id = 3")
    m.add("create table as", "SELECT * FROM made3")
    m.add("create table as", "DROP TABLE made, made2, made3")


def many_tables(m):
    """More tables than a machine word has bits, joined in every way; dice of its own."""
    dice = random.Random(len(m.out))
    for n in (61, 64, 65, 70, 90, 130, 200):
        for form in range(8):
            text = "u a0"
            for i in range(1, n):
                near = max(0, i - dice.choice((1, 2, 5)))
                kind = dice.choice(["JOIN"] * form + ["LEFT JOIN"] * 4 + ["RIGHT JOIN", "FULL JOIN"])
                item = dice.choice(["u"] * 8 + ["(SELECT k FROM u WHERE i < 3)", "(SELECT k, count(*) AS i FROM u GROUP BY k)"])
                if form == 7:
                    text += " %s %s a%d USING (k)" % (kind, item, i)
                else:
                    more = dice.choice([""] * 9 + [" AND a%d.k < 12" % i])
                    text += " %s %s a%d ON a%d.k = a%d.k%s" % (kind, item, i, i, near, more)
            ask = ", ".join("count(a%d.k), sum(a%d.k)" % (k, k) for k in (0, n // 3, n // 2, 63 if n > 64 else 1, n - 1))
            where = dice.choice(["", " WHERE a%d.k > 4" % dice.randrange(n), " WHERE a%d.k IS NULL OR a%d.k < 9" % (
                dice.randrange(n), dice.randrange(n))])
            m.add("many tables", "SELECT count(*), %s FROM %s%s" % (ask, text, where))
    for n in (61, 65, 70):
        commas = ", ".join("u a%d" % i for i in range(n))
        chain = " AND ".join("a%d.k = a%d.k" % (i, dice.randrange(i)) for i in range(1, n))
        m.add("many tables", "SELECT a%d.k, a0.s, a60.i FROM %s WHERE %s ORDER BY 1" % (n - 1, commas, chain))
        m.add("many tables", "SELECT * FROM %s WHERE %s AND a%d.k = 3" % (commas, chain, n - 1))


def asked(m):
    """asked.sql: a statement per line, as it stands; "-- feature" above those of one."""
    feature = None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked.sql"), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("-- "):
                feature = line[3:]
            elif line:
                m.add(feature, line)


def make(seed=15):
    # NAM_SEED and NAM_RANDOM: other dice, and how many whole queries by dice
    m = Maker(int(os.environ.get("NAM_SEED", seed)))
    for part in (arithmetic, bits, comparisons, casts, strings, patterns, maths, dates, number_formats, arrays, rows_of_values, within_group, queries, errors, asked, alterations,
                 locking, pushed, many_tables):
        part(m)
    whole.queries(m, int(os.environ.get("NAM_RANDOM", 2000)))
    views = ["CREATE VIEW inner%d (a, b, c) AS %s" % (k, q) for k, q in enumerate(INNER)]
    return SETUP + table_rows(random.Random(seed)) + views + whole.SETUP, m.out
