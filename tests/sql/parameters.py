"""parameters.py -- random statements whose parameters have no type: each function and operator with a parameter in each place, and
each clause. A statement is (text, how many parameters)."""

import re

TABLES = """
CREATE TABLE pt (i int PRIMARY KEY, s smallint, l bigint, n numeric, n2 numeric(10,2), r real, f double precision, t text, v varchar(20),
  w varchar, c char(5), b boolean, d date, ts timestamp, tz timestamptz, tm time, iv interval, y bytea, u uuid, j json, jb jsonb,
  ai int[], at text[], o oid, nm name, ch "char", m mood, dm posint, dt short);
CREATE TABLE pu (k int PRIMARY KEY, t text, v varchar(10), x numeric, m mood, dm posint, dt short);
INSERT INTO pt VALUES (1, 2, 3, 4.5, 6.25, 1.5, 2.5, 'abc', 'vc', 'wide', 'ch', true, '2020-02-29', '2020-02-29 12:34:56',
  '2021-01-02 03:04:05+00', '10:11:12', '1 day 02:03:04', '\\x6162', '00000000-0000-0000-0000-000000000001', '{"a": 1}', '{"a": 1, "b": [1, 2]}',
  '{1,2,3}', '{a,b}', 26, 'nam', 'q', 'ok', 5, 'sh'),
  (2, 1, 10, 1, 100, 0.5, 8, '7', '5', '3', '9', false, '1999-12-31', '1999-12-31', '1999-12-31 23:00+00', '00:00', '3 hours', '\\x00',
  '00000000-0000-0000-0000-000000000002', '[1, "x"]', '[1, "x"]', '{7}', '{}', 23, 'b', 'z', 'sad', 7, 'x');
INSERT INTO pu VALUES (1, 'abc', 'vc', 1.5, 'ok', 5, 'sh'), (2, 'zz', 'q', 2.5, 'happy', 6, 'x');
"""
TYPES = ["CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')", "CREATE DOMAIN posint AS int CHECK (VALUE > 0)",
         "CREATE DOMAIN short AS varchar(10)"]
COLUMNS = ("i s l n n2 r f t v w c b d ts tz tm iv y u j jb ai at o nm ch m dm dt").split()
# A literal of some type, for places that are no parameters.
CONSTANTS = ["1", "2.5", "3000000000", "'abc'", "'1'", "true", "NULL", "date '2020-01-01'", "timestamp '2020-01-01 10:00'",
             "timestamptz '2020-01-01 10:00+00'", "interval '1 day'", "time '10:00'", "'x'::text", "'v'::varchar", "'c'::char(3)", "1::bigint",
             "1::smallint", "1.5::real", "2.5::float8", "'\\x61'::bytea", "'{\"a\":1}'::jsonb", "'{\"a\":1}'::json", "array[1,2]",
             "array['a','b']", "'ok'::mood", "5::posint", "26::oid", "'n'::name"]
# Values for parameters, by the number or name of the type that PostgreSQL gives them; else one of the texts.
TEXTS = ["abc", "a", "day", "", "YYYY", "hex", "7", "UTC", "pt", "{1,2}", "base64", "pu", "sq", "month", "UTF8", "%b%"]
INTS = ["1", "2", "0", "-3", "7", "26", "abc"]
VALUES = {16: ["t", "f", "true", "x"], 21: INTS, 23: INTS, 20: INTS, 1700: ["1", "2.5", "-3", "0", "a"], 700: ["1", "2.5", "-3"],
          701: ["1", "2.5", "-3", "0", "x"], 1082: ["2020-02-29", "1999-12-31", "x"], 1114: ["2020-02-29 12:34:56", "2020-01-01", "x"],
          1184: ["2020-02-29 12:34:56+00", "2020-01-01", "x"], 1083: ["10:11:12", "00:00"], 1186: ["1 day", "3 hours", "2 mons", "x"],
          17: ["\\x6162", "\\x"], 2950: ["00000000-0000-0000-0000-000000000001", "x"], 114: ['{"a": 1}', "[1,2]", "7"],
          3802: ['{"a": 1}', "[1,2]", "7", '{"b": 2}'], 1007: ["{1,2}", "{}", "{7,NULL}"], 1009: ["{a,b}", "{}", "{b}"],
          26: ["26", "23", "0"], 19: ["nam", "b"], 18: ["q", "a"], 2205: ["pt", "sq", "pu", "nix", "public.pt", "pg_class"],
          2206: ["int4", "integer", "text", "numeric", "nix", "mood"], "mood": ["ok", "sad", "happy"], "posint": ["5", "1"],
          "short": ["sh", "x"], 1115: ["{2020-01-01}"], 1182: ["{2020-02-29}"], 1231: ["{1,2.5}"], 1022: ["{1,2.5}"], 1016: ["{1,2}"],
          1005: ["{1,2}"], 1000: ["{t,f}"], 1015: ["{vc,q}", "{}"], 1014: ["{ch,9}"], 1042: ["ch", "9"], 1043: ["vc", "q", "abc"]}
BINARY = "+ - * / % ^ = <> < <= > >= || ~~ !~~ ~~* !~~* ~ !~ ~* !~* & | # << >> @> <@ && -> ->> #> #>> ? ?| ?& #- LIKE ILIKE".split()
PREFIX = ["-", "+", "~", "@", "|/", "||/"]
FUNCTIONS = """abs:1 sign:1 ceil:1 floor:1 round:1 round:2 trunc:1 trunc:2 mod:2 div:2 sqrt:1 cbrt:1 power:2 exp:1 ln:1 log:1 log:2 log10:1
degrees:1 radians:1 sin:1 cos:1 atan2:2 scale:1 min_scale:1 trim_scale:1 gcd:2 lcm:2 factorial:1 width_bucket:4 width_bucket:2 sind:1 setseed:1
length:1 char_length:1 octet_length:1 bit_length:1 lower:1 upper:1 initcap:1 substr:2 substr:3 substring:2 substring:3 left:2 right:2 lpad:2
lpad:3 rpad:3 btrim:1 btrim:2 ltrim:1 rtrim:2 replace:3 translate:3 overlay:3 overlay:4 position:2 strpos:2 starts_with:2 repeat:2 reverse:1
split_part:3 concat:1 concat:2 concat_ws:3 chr:1 ascii:1 to_hex:1 md5:1 quote_literal:1 quote_nullable:1 quote_ident:1 format:1 format:2 unistr:1
regexp_count:2 regexp_instr:2 regexp_like:2 regexp_like:3 regexp_replace:3 regexp_replace:4 regexp_substr:2 age:1 age:2 date_part:2 date_trunc:2
date_trunc:3 isfinite:1 justify_days:1 justify_hours:1 justify_interval:1 make_date:3 make_time:3 make_timestamp:6 make_interval:2 date_bin:3
timezone:2 to_char:2 to_date:2 to_timestamp:1 to_timestamp:2 to_number:2 enum_first:1 enum_last:1 enum_range:1 enum_range:2 array_append:2
array_prepend:2 array_cat:2 array_remove:2 array_replace:3 array_position:2 array_position:3 array_positions:2 array_length:2 array_lower:2
array_upper:2 array_ndims:1 array_dims:1 cardinality:1 array_to_string:2 array_to_string:3 string_to_array:2 string_to_array:3 trim_array:2
array_fill:2 regexp_match:2 regexp_split_to_array:2 num_nulls:1 num_nonnulls:2 pg_typeof:1 pg_size_pretty:1 encode:2 decode:2 convert_from:2
convert_to:2 get_byte:2 set_byte:3 get_bit:2 set_bit:3 bit_count:1 sha256:1 to_json:1 to_jsonb:1 json_build_object:2 json_build_array:1
json_typeof:1 json_array_length:1 jsonb_typeof:1 jsonb_array_length:1 jsonb_set:3 jsonb_set:4 jsonb_insert:3 jsonb_strip_nulls:1 jsonb_pretty:1
jsonb_build_object:2 jsonb_build_array:2 greatest:2 greatest:3 least:2 coalesce:2 coalesce:3 nullif:2 date:1 text:1 int4:1 float8:1 numeric:1
bool:1 interval:1 name:1 varchar:1 format_type:2 to_regclass:1 to_regtype:1 pg_table_is_visible:1 current_setting:1 current_setting:2
has_table_privilege:2 has_table_privilege:3 timestamptz:1 mood:1 posint:1""".split()
AGGREGATES = "sum avg min max count array_agg bool_and bool_or every string_agg:2 json_agg jsonb_agg stddev variance bit_and bit_or".split()
SPECIAL = ["extract(year from {0})", "substring({0} from {1})", "substring({0} from {1} for {2})", "trim({0} from {1})", "trim(leading {0} from {1})",
           "position({0} in {1})", "overlay({0} placing {1} from {2})", "{0} at time zone {1}", "{0} similar to {1}", "{0} like {1} escape {2}",
           "{0} between {1} and {2}", "{0} not between {1} and {2}", "{0} in ({1}, {2})", "{0} not in ({1}, {2})", "{0} in ({1})",
           "{0} is distinct from {1}", "{0} is not distinct from {1}", "{0} is null", "{0} is not null", "{0} is true", "{0} is unknown",
           "{0} and {1}", "{0} or {1}", "not {0}", "case when {0} then {1} else {2} end", "case {0} when {1} then {2} end",
           "case {0} when {1} then {2} when {3} then {0} end", "array[{0}, {1}]", "array[{0}]", "(array[{0}, 5])[{1}]", "ai[{0}]", "at[{0}:{1}]",
           "{0} = any({1})", "{0} <> all({1})", "{0} < any({1})", "{0} like any({1})", "{0} = any(array[{1}, {2}])",
           "({0}, {1}) = ({2}, {3})", "({0}, {1}) < ({2}, {3})", "({0}, {1}) in (({2}, {3}))", "({0}, {1}) overlaps ({2}, {3})", "{0}::int", "{0}::text", "{0}::varchar(3)", "{0}::numeric(6,2)",
           "{0}::date", "{0}::posint", "{0}::short", "{0}::mood", "{0}::jsonb", "{0}::int[]", "{0}::regclass", "{0}::regtype", "{0}::char(4)",
           "cast({0} as timestamptz)", "{0} in (select k from pu)", "{0} = (select max(k) from pu)", "{0} = any(select v from pu)",
           "exists (select 1 from pu where pu.k = {0})", "(select {0})", "(select {0} from pu where k = {1})", "row({0}, {1}) is null", "({0}) collate \"C\"",
           "i = {0} and {0} > {1}", "{0} = {0}", "{0} + {0}", "coalesce({0}, {0}, i)"]
CLAUSES = [
    "select {e}", "select {e}", "select {e} from pt order by i", "select {e} as a, {e} as b from pt order by i", "select {p}", "select {p}, {p}",
    "select i from pt where {e} order by i", "select i from pt where ({e}) is not null order by i",
    "select i from pt where {c} = {p} order by i", "select i from pt where {p} = {c} order by i", "select i from pt where {c} in ({p}, {p}) order by i",
    "select i from pt where {c} = any({p}) order by i", "select i from pt where {c} > {p} and {c} < {p} order by i",
    "select i from pt where {c} between {p} and {p} order by i", "select i from pt order by i limit {p}", "select i from pt order by i limit {p} offset {p}",
    "select i from pt order by {p}, i", "select count(*) from pt group by {p}", "select {p}, count(*) from pt group by 1",
    "select i from pt group by i having {e} order by i", "select max({c}) from pt having max({c}) > {p}",
    "values ({p}, {k}), ({p}, {p})", "values ({p}), ({k})", "select * from (values ({k}, {p}), ({p}, {k})) x(a, b)",
    "select {p} union select {c} from pt", "select {c} from pt union all select {p}", "select {p} union all select {p}",
    "select {k} union select {p}", "select {p} intersect select {k}", "select {p} except select {c} from pt", "select 1, {p} union all select {p}, 2",
    "with x as (select {p} as a) select a, a from x", "with x(a) as (select {p}) select * from x where a = {k}", "select a.i from pt a join pu b on a.i = b.k and {c1} = {p}",
    "select a.i from pt a join pu b on a.i = {p} and b.k = {p}", "select * from generate_series({p}, {p}) g", "select * from generate_series(1, {p}) g",
    "select * from generate_series(1, {p}, {p}) g", "select * from generate_series(date '2020-01-01', {p}, {p}) g",
    "select * from generate_series({p}, timestamp '2020-01-03', {p}) g", "select * from unnest({p}) u", "select * from unnest({p}::int[]) u",
    "select * from jsonb_each({p}) u", "select * from jsonb_array_elements({p}) u", "select * from jsonb_each_text({p}) u",
    "select unnest(array[{p}, {k}])", "select generate_series(1, {p})", "select * from regexp_split_to_table({p}, {p}) u",
    "insert into pu (k, {uc}) values ({p}, {p}) returning *", "insert into pu (k, {uc}) values (9, {p}), ({p}, {p}) returning k, {uc}",
    "insert into pu (k, {uc}) select {p}, {p} returning *", "insert into pu (k, {uc}) select 7, {p} from pt where i = {p} returning k",
    "insert into pu (k, {uc}) values (1, {p}) on conflict (k) do update set {uc} = {p} returning *",
    "insert into pu (k, {uc}) values (1, {p}) on conflict (k) do update set {uc} = excluded.{uc} where pu.{uc} <> {p} returning *",
    "insert into pu values ({p}, {p}, {p}, {p}, {p}, {p}, {p}) returning *", "update pu set {uc} = {p} where k = {p} returning *",
    "update pu set {uc} = {p}, t = {p} where {uc} = {p} returning {p}", "update pu set ({uc}, t) = ({p}, {p}) where k = 1 returning *",
    "update pu set {uc} = coalesce({p}, {uc}) returning k", "update pu set x = x + {p}, t = t || {p}, k = k + {p} where k = 1 returning *",
    "delete from pu where {uc} = {p} returning k", "delete from pu where k in ({p}, {p}) returning {p}",
    "select {a} from pt", "select {a} filter (where {p}) from pt", "select {a} over (order by i) from pt", "select string_agg(t, {p} order by i) from pt",
    "select lag({c}, {p}, {p}) over (order by i) from pt", "select lag({c}, {p}) over (order by i) from pt", "select lead({p}, 1, {c}) over (order by i) from pt",
    "select ntile({p}) over (order by i) from pt", "select nth_value({c}, {p}) over (order by i) from pt", "select first_value({p}) over (order by i) from pt",
    "select sum(i) over (order by i rows between {p} preceding and {p} following) from pt",
    "select sum(i) over (order by i range between {p} preceding and current row) from pt",
    "select count(*) over (order by d range {p} preceding) from pt", "select sum(i) over (partition by {p} order by i) from pt",
    "select percentile_cont({p}) within group (order by f) from pt", "select distinct {p}, {c1} from pt where i = 1", "select i from pt where {c} like {p}",
    "select i from pt, lateral (select {p} as z) q where q.z = {k}", "select i from pt where (i, t) = ({p}, {p})", "select i from pt where (i, t) in (({p}, {p}))",
    "select nextval({p})", "select currval({p})", "select setval({p}, {p})", "select {p}::regclass::oid > 0", "select case when {p} then 1 else {p} end",
    "select {e} from pt where i = {p}", "select {p}, i, {e} from pt where {c} = {p} order by i",
]


class Maker:
    """Makes statements out of dice."""

    def __init__(self, dice):
        self.dice, self.params = dice, 0

    def param(self):
        """A new parameter, now and then one that is there."""
        if self.params and self.dice.random() < 0.08:
            return "$%d" % self.dice.randint(1, self.params)
        self.params += 1
        return "$%d" % self.params

    def arg(self, columns, depth):
        r = self.dice.random()
        if r < 0.5:
            return self.param()
        if r < 0.72 and columns:
            return self.dice.choice(COLUMNS)
        if depth > 0 and r > 0.92:
            return "(" + self.expr(columns, depth - 1) + ")"
        return self.dice.choice(CONSTANTS)

    def expr(self, columns, depth=1):
        r = self.dice.random()
        if r < 0.34:
            return "%s %s %s" % (self.arg(columns, depth), self.dice.choice(BINARY), self.arg(columns, depth))
        if r < 0.37:
            return "%s %s" % (self.dice.choice(PREFIX), self.arg(columns, depth))
        if r < 0.75:
            name, n = self.dice.choice(FUNCTIONS).split(":")
            return "%s(%s)" % (name, ", ".join(self.arg(columns, depth) for _ in range(int(n))))
        form = self.dice.choice(SPECIAL)
        if not columns and ("ai[" in form or "at[" in form or "i = " in form or ", i)" in form):
            return self.expr(columns, depth)
        args = [self.arg(columns, depth) for _ in range(4)]
        used = [k for k in range(4) if "{%d}" % k in form]
        text = form.format(*args)
        return text if used else self.expr(columns, depth)

    def statement(self):
        form = self.dice.choice(CLAUSES)
        self.params = 0
        columns = "pt" in form.split("{e}")[-1] if "{e}" in form else True
        out = ""
        while "{" in form:
            i = form.index("{")
            j = form.index("}", i)
            out, word, form = out + form[:i], form[i + 1:j], form[j + 1:]
            if word == "p":
                out += self.param()
            elif word == "e":
                out += self.expr(columns)
            elif word == "c":
                out += self.dice.choice(COLUMNS)
            elif word == "c1":
                out += self.dice.choice([c for c in COLUMNS if c not in ("t", "v", "m", "dm", "dt", "j", "jb")])
            elif word == "k":
                out += self.dice.choice(CONSTANTS)
            elif word == "uc":
                self.uc = self.dice.choice(["t", "v", "x", "m", "dm", "dt"]) if not hasattr(self, "uc") else self.uc
                out += self.uc
            elif word == "a":
                name, _, n = self.dice.choice(AGGREGATES).partition(":")
                out += "%s(%s)" % (name, ", ".join(self.arg(True, 0) for _ in range(int(n or 1))))
        if hasattr(self, "uc"):
            del self.uc
        text = out + form
        # Every number up to the highest is there.
        used = sorted({int(m) for m in re.findall(r"\$(\d+)", text)})
        for new, old in enumerate(used, 1):
            text = re.sub(r"\$%d\b" % old, "$%d" % new, text)
        return text

    def values(self, types):
        return [None if self.dice.random() < 0.05 else self.dice.choice(VALUES.get(t, TEXTS)) for t in types]
