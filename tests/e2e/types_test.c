/*
 * types_test.c -- input, output, casts, comparisons and arithmetic of each type. The answers are
 * PostgreSQL 15's.
 */
#include "golden.h"

static const struct golden smallint[] = {
	{ "create table s (a smallint primary key, b smallint)", "CREATE TABLE" },
	{ "insert into s values (1, -32768), (2, 32767), ('3', null), (-4.4, 7::bigint)", "INSERT 0 4" },
	{ "select * from s order by a", "-4|7;1|-32768;2|32767;3|~; SELECT 4" },
	{ "insert into s values (40000)", "ERROR 22003: smallint out of range" },
	{ "insert into s values ('40000')",
	    "ERROR 22003: value \"40000\" is out of range for type smallint" },
	{ "insert into s values ('x')", "ERROR 22P02: invalid input syntax for type smallint: \"x\"" },
	{ "insert into s values (2::bigint)",
	    "ERROR 23505: duplicate key value violates unique constraint \"s_pkey\"" },
	{ "insert into s values (true)",
	    "ERROR 42804: column \"a\" is of type smallint but expression is of type boolean" },
	{ "select sum(b), avg(a), min(b), max(b), count(b) from s",
	    "6|0.50000000000000000000|-32768|32767|3; SELECT 1" },
	{ "select sum(b), avg(b), min(b) from s where a > 100", "~|~|~; SELECT 1" },
	{ "select b from s where a = 2", "32767; SELECT 1" },
	{ "select b from s where a = 100000", "SELECT 0" },
	{ "select b from s where a in (2, 3, 70000) order by a", "32767;~; SELECT 2" },
	{ "select 32767::int2 + 1::int2", "ERROR 22003: smallint out of range" },
	{ "select 32767::int2 + 1, 7::int2 * 2::int8, 7::int2 % 4::int2, -7::int2 / 2::int2",
	    "32768|14|3|-3; SELECT 1" },
	{ "select (-32768)::int2 / (-1)::int2", "ERROR 22003: smallint out of range" },
	{ "select b / 0::int2 from s", "ERROR 22012: division by zero" },
	{ "select -b from s where a = 1", "ERROR 22003: smallint out of range" },
	{ "select ~1::int2, 6::int2 & 3::int2, 6::int2 | 1::int2, 6::int2 # 3::int2, 1::int2 << 4, -8::int2 "
	  ">> 1",
	    "-2|2|7|5|16|-4; SELECT 1" },
	{ "select 1::int2::boolean", "ERROR 42846: cannot cast type smallint to boolean" },
	{ "select 2.5::int2, 3.5::float8::int2, '12'::text::int2, 12::int2::text || 'x'",
	    "3|4|12|12x; SELECT 1" },
	{ "select s.a, t.b from s join s t on s.a = t.a + 0::bigint where t.b > 5 order by 1",
	    "-4|7;2|32767; SELECT 2" },
	{ "update s set b = b + 1 where a = 2", "ERROR 22003: smallint out of range" },
	{ "update s set b = a * 2 where a = 2", "UPDATE 1" },
	{ "select b from s where a = 2.0", "4; SELECT 1" },
	{ "select type from nam_columns where name = 'b'", "smallint; SELECT 1" },
};

static const struct golden real[] = {
	{ "create table r (x real primary key, y real)", "CREATE TABLE" },
	{ "insert into r values (1.1, 0.1), ('NaN', 3.4028235e38), ('-infinity', null), (0, -0.5)",
	    "INSERT 0 4" },
	{ "select * from r order by x", "-Infinity|~;0|-0.5;1.1|0.1;NaN|3.4028235e+38; SELECT 4" },
	{ "select y from r where x = '1.1'", "0.1; SELECT 1" },
	{ "select y from r where x = 1.1::real", "0.1; SELECT 1" },
	{ "select y from r where x = 1.1", "SELECT 0" },
	{ "select y from r where x = -0.0::real", "-0.5; SELECT 1" },
	{ "insert into r values ('-0')",
	    "ERROR 23505: duplicate key value violates unique constraint \"r_pkey\"" },
	{ "insert into r values ('1e39')", "ERROR 22003: \"1e39\" is out of range for type real" },
	{ "insert into r values ('1e-50')", "ERROR 22003: \"1e-50\" is out of range for type real" },
	{ "insert into r values (1e39::float8)", "ERROR 22003: value out of range: overflow" },
	{ "select 1e-60::float8::real", "ERROR 22003: value out of range: underflow" },
	{ "select 'one'::real", "ERROR 22P02: invalid input syntax for type real: \"one\"" },
	{ "select 16777216::real, 1e6::real, 123456.7::real, 999999::real, 1e-5::real, 0.0001::real",
	    "1.6777216e+07|1e+06|123456.7|999999|1e-05|0.0001; SELECT 1" },
	{ "select 1.1::real::float8, 1.1::real::numeric, 0.1::real + 0.2::real, 0.1::real + 0.2::float8",
	    "1.100000023841858|1.1|0.3|0.30000000149011613; SELECT 1" },
	{ "select 1::real / 3, 1::real / 3::real, 1::real + 1.5",
	    "0.3333333333333333|0.33333334|2.5; SELECT 1" },
	{ "select 1::real / 0::real", "ERROR 22012: division by zero" },
	{ "select 3e38::real * 10::real", "ERROR 22003: value out of range: overflow" },
	{ "select 0.1::real = 0.1::float8, 0.1::real = '0.1', 0.5::real = 0.5, 16777217 = 16777216::real",
	    "f|t|t|f; SELECT 1" },
	{ "select sum(x), avg(x), min(y), max(y) from r where x >= 0 and x < 2",
	    "1.1|0.550000011920929|-0.5|0.1; SELECT 1" },
	{ "select sum(y) from r where x > 100 and x < 200", "~; SELECT 1" },
	{ "select 2.5::real::int, 3.5::real::int8, 7::real::int2", "2|4|7; SELECT 1" },
	{ "select count(*) from r a join r b on a.x = b.x", "4; SELECT 1" },
	{ "select abs(-1.5::real), -(2.5::real), @ (-1)::real, round(2.5::real), sqrt(4::real)",
	    "1.5|-2.5|1|2|2; SELECT 1" },
	{ "select coalesce(null, 1.1::real, 2), case when true then 1::real else 2.5 end",
	    "1.1|1; SELECT 1" },
};

static const struct golden character[] = {
	{ "create table c (k char(3) primary key, x char, n int)", "CREATE TABLE" },
	{ "insert into c values ('a', 'x', 1), ('ab', 'y', 2), ('é', null, 3), ('', ' ', 4)", "INSERT 0 4" },
	{ "select * from c order by n", "a  |x|1;ab |y|2;é  |~|3;   | |4; SELECT 4" },
	{ "insert into c values ('a ', 'z', 9)",
	    "ERROR 23505: duplicate key value violates unique constraint \"c_pkey\"" },
	{ "insert into c values ('abcd')", "ERROR 22001: value too long for type character(3)" },
	{ "insert into c values ('abc   ', 'q', 5)", "INSERT 0 1" },
	{ "insert into c values ('b', 'xy')", "ERROR 22001: value too long for type character(1)" },
	{ "select n from c where k = 'a'", "1; SELECT 1" },
	{ "select n from c where k = 'a      '", "1; SELECT 1" },
	{ "select n from c where k = 'a'::text", "1; SELECT 1" },
	{ "select n from c where k = 'a '::text", "SELECT 0" },
	{ "select n from c where k in ('a', 'abc', 'zz') order by 1", "1;5; SELECT 2" },
	{ "select n from c where k < 'ab' order by n", "1;4; SELECT 2" },
	{ "select k || '|', length(k), octet_length(k), upper(k) || '|' from c where n = 3",
	    "é||1|4|É|; SELECT 1" },
	{ "select k like 'a', k like 'a  ', k like 'a%', k not like 'a' from c where n = 1",
	    "f|t|t|t; SELECT 1" },
	{ "select max(k), min(x) from c", "é  | ; SELECT 1" },
	{ "select k, count(*) from c group by k order by k limit 2",
	    "  |1;a  |1; SELECT 2" /* the test client drops the first blank */ },
	{ "select a.n from c a join c b on a.k = b.k where a.n = b.n and a.n < 3 order by 1",
	    "1;2; SELECT 2" },
	{ "select 'abc'::char, 'abc'::char(2), 'a'::char(3)::text || '.', 12::char(4), 'x '::bpchar || 'y'",
	    "a|ab|a.|12  |xy; SELECT 1" },
	{ "select 'a'::char(2) = 'a '::char(5), 'a'::char(2) < 'b', 'a'::char(2) = 'a'", "t|t|t; SELECT 1" },
	{ "select 'abc'::char(0)", "ERROR 22023: length for type char must be at least 1" },
	{ "select type from nam_columns where name = 'k'", "character(3); SELECT 1" },
};

static const struct golden interval[] = {
	{ "create table v (k interval primary key, t time, z timestamptz, f interval day to minute)",
	    "CREATE TABLE" },
	{ "insert into v values ('1 month', '10:00', '2024-01-01 00:00+01', '1 2:03:04'), ('1 day', '09:00', "
	  "'2023-01-01', '5'), ('-1 hour', null, null, null)",
	    "INSERT 0 3" },
	{ "insert into v values ('30 days')",
	    "ERROR 23505: duplicate key value violates unique constraint \"v_pkey\"" },
	{ "select * from v order by k", "-01:00:00|~|~|~;1 day|09:00:00|2023-01-01 00:00:00+00|00:05:00;1 "
					"mon|10:00:00|2023-12-31 23:00:00+00|1 "
					"day 02:03:00; SELECT 3" },
	{ "select k from v where k = '720 hours'", "1 mon; SELECT 1" },
	{ "select k from v where k in ('24:00', '30 days') order by k desc", "1 mon;1 day; SELECT 2" },
	{ "select sum(k), avg(k), min(k), max(k), count(k), max(z), min(t) from v",
	    "1 mon 1 day -01:00:00|10 days 07:40:00|-01:00:00|1 mon|3|2023-12-31 23:00:00+00|09:00:00; "
	    "SELECT 1" },
	{ "select sum(k), avg(k), max(k) from v where k > '1 year'", "~|~|~; SELECT 1" },
	{ "select k, count(*) from v group by k order by k desc", "1 mon|1;1 day|1;-01:00:00|1; SELECT 3" },
	{ "select count(*) from v a join v b on a.k = b.k", "3; SELECT 1" },
	{ "update v set z = z + '1 day', t = t + '1 hour' where k = '1 day'", "UPDATE 1" },
	{ "select z, t from v where z < '2023-06-01'", "2023-01-02 00:00:00+00|10:00:00; SELECT 1" },
	{ "select interval '1 year 2 months 3 days 04:05:06.789', interval '-1 year 2 mons -3 days 04:05:06'",
	    "1 year 2 mons 3 days 04:05:06.789|-10 mons -3 days +04:05:06; SELECT 1" },
	{ "select interval '1 day ago', interval '@ 1 minute', interval 'P1Y2M3DT4H5M6.5S', interval '1-2', "
	  "interval '3 4:05:06'",
	    "-1 days|00:01:00|1 year 2 mons 3 days 04:05:06.5|1 year 2 mons|3 days 04:05:06; SELECT 1" },
	{ "select interval '1.5 days', interval '1.5 months', interval '1.5 years', interval '1.5 weeks', "
	  "interval '0'",
	    "1 day 12:00:00|1 mon 15 days|1 year 6 mons|10 days 12:00:00|00:00:00; SELECT 1" },
	{ "select interval '1' day, interval '90' minute, interval '1 2:03:04' day to hour, interval '3 "
	  "years 2 months' year",
	    "1 day|01:30:00|1 day 02:00:00|3 years; SELECT 1" },
	{ "select interval 'x'", "ERROR 22007: invalid input syntax for type interval: \"x\"" },
	{ "select interval ''", "ERROR 22007: invalid input syntax for type interval: \"\"" },
	{ "select interval '1 day 2 day'",
	    "ERROR 22007: invalid input syntax for type interval: \"1 day 2 day\"" },
	{ "select interval '99999999999 years'",
	    "ERROR 22015: interval field value out of range: \"99999999999 years\"" },
	{ "select interval '2147483647 days' + interval '1 day'", "ERROR 22008: interval out of range" },
	{ "select interval '1 month' = interval '30 days', interval '1 day' < interval '25 hours', interval "
	  "'1 mon' > '29 days'",
	    "t|t|t; SELECT 1" },
	{ "select date '2024-01-31' + interval '1 month', timestamp '2024-03-31 10:00' - interval '1 mon 1 "
	  "day 1 hour'",
	    "2024-02-29 00:00:00|2024-02-28 09:00:00; SELECT 1" },
	{ "select timestamp '2024-01-01' - timestamp '2023-12-30 12:00:00', timestamptz '2024-01-01' + "
	  "interval '1 mon'",
	    "1 day 12:00:00|2024-02-01 00:00:00+00; SELECT 1" },
	{ "select interval '1 day' * 1.5, 2 * interval '1 mon 1 day', interval '1 month' / 2, interval '10 "
	  "days' * 0.33, "
	  "interval '1 mon' / 7",
	    "1 day 12:00:00|2 mons 2 days|15 days|3 days 07:12:00|4 days 06:51:25.6896; SELECT 1" },
	{ "select interval '1 day' / 0", "ERROR 22012: division by zero" },
	{ "select timestamp '2024-01-01' + interval '2147483647 days'",
	    "ERROR 22008: timestamp out of range" },
	{ "select interval '9223372036854775807.9 us'",
	    "ERROR 22015: interval field value out of range: \"9223372036854775807.9 us\"" },
	{ "select timestamp '294276-12-31' + interval '1 day'", "ERROR 22008: timestamp out of range" },
	{ "select age(timestamp '2024-03-01', timestamp '2023-01-31'), age(date '2001-04-10', date "
	  "'1957-06-13')",
	    "1 year 1 mon 1 day|43 years 9 mons 27 days; SELECT 1" },
	{ "select justify_hours('27 hours'), justify_days('35 days'), justify_interval('1 mon -1 hour')",
	    "1 day 03:00:00|1 mon 5 days|29 days 23:00:00; SELECT 1" },
	{ "select extract(epoch from interval '1 year 2 months 3 days 4:05:06.7'), extract(hour from "
	  "interval '100 hours'), "
	  "date_part('second', interval '1:02:03.5')",
	    "37015506.700000|100|3.5; SELECT 1" },
	{ "select extract(dow from interval '1 day')",
	    "ERROR 0A000: unit \"dow\" not supported for type interval" },
	{ "select date_trunc('hour', interval '1 day 2:03:04')", "1 day 02:00:00; SELECT 1" },
	{ "select date '2024-01-01' + '1 day'", "ERROR 42725: operator is not unique: date + unknown" },
	{ "select 1::interval", "ERROR 42846: cannot cast type integer to interval" },
	{ "select interval '1 day' + null, coalesce(null, interval '1 day'), '1 day'::text::interval",
	    "~|1 day|1 day; SELECT 1" },
};

static const struct golden moment[] = {
	{ "create table m (z timestamptz primary key, t time)", "CREATE TABLE" },
	{ "insert into m values ('2024-01-01 12:00:00+02', '04:05:06.789'), ('2024-01-01 10:00', '24:00'), "
	  "('infinity', null)",
	    "ERROR 23505: duplicate key value violates unique constraint \"m_pkey\"" },
	{ "insert into m values ('2024-01-01 12:00:00+02', '04:05:06.789'), ('2024-01-01 11:00', '24:00'), "
	  "('infinity', null)",
	    "INSERT 0 3" },
	{ "select * from m order by z",
	    "2024-01-01 10:00:00+00|04:05:06.789;2024-01-01 11:00:00+00|24:00:00;infinity|~; SELECT 3" },
	{ "select t from m where z = '2024-01-01 05:00-05'", "04:05:06.789; SELECT 1" },
	{ "select t from m where z = timestamp '2024-01-01 11:00'", "24:00:00; SELECT 1" },
	{ "select count(*) from m where z > date '2024-01-01' and z < now() + interval '100 years'",
	    "2; SELECT 1" },
	{ "select min(z), max(z), min(t), max(t) from m",
	    "2024-01-01 10:00:00+00|infinity|04:05:06.789|24:00:00; SELECT 1" },
	{ "select timestamptz '2024-01-01 00:00-05:30', '2024-01-01T00:00:00Z'::timestamptz, timestamptz "
	  "'0044-03-15 BC', "
	  "'2024-01-01 01:02:03.5+0130'::timestamptz",
	    "2024-01-01 05:30:00+00|2024-01-01 00:00:00+00|0044-03-15 00:00:00+00 BC|2023-12-31 "
	    "23:32:03.5+00; SELECT 1" },
	{ "select timestamptz '2024-01-01 00:00:00+20'",
	    "ERROR 22009: time zone displacement out of range: \"2024-01-01 00:00:00+20\"" },
	{ "select timestamptz 'hello'",
	    "ERROR 22007: invalid input syntax for type timestamp with time zone: \"hello\"" },
	{ "select timestamptz '2024-13-01'",
	    "ERROR 22008: date/time field value out of range: \"2024-13-01\"" },
	{ "select timestamptz '2024-01-01'::timestamp, timestamp '2024-01-01'::timestamptz, timestamptz "
	  "'2024-01-01 05:00'::date, "
	  "timestamptz '2024-01-01 05:06:07'::time",
	    "2024-01-01 00:00:00|2024-01-01 00:00:00+00|2024-01-01|05:06:07; SELECT 1" },
	{ "select timestamp '2024-01-01 12:00' at time zone 'UTC', timestamptz '2024-01-01 12:00' at time "
	  "zone interval '2 hours', "
	  "timestamptz '2024-01-01 12:00' at time zone '-05:30'",
	    "2024-01-01 12:00:00+00|2024-01-01 14:00:00|2024-01-01 17:30:00; SELECT 1" },
	{ "select timestamptz '2024-01-01 12:00' at time zone 'nowhere'",
	    "ERROR 22023: time zone \"nowhere\" not recognized" },
	{ "select now() - now(), now() = current_timestamp, localtimestamp = now()",
	    "00:00:00|t|t; SELECT 1" },
	{ "select time '04:05', time '040506', time '04:05 PM', time '12:00 am', '04:05:06+02'::time, time "
	  "'2024-01-01 03:04:05'",
	    "04:05:00|04:05:06|16:05:00|00:00:00|04:05:06|03:04:05; SELECT 1" },
	{ "select time '25:00'", "ERROR 22008: date/time field value out of range: \"25:00\"" },
	{ "select time 'noon?'", "ERROR 22007: invalid input syntax for type time: \"noon?\"" },
	{ "select time '04:05' + interval '25 hours', time '04:05' - interval '5 hours', time '04:05' - time "
	  "'05:00', "
	  "date '2024-01-01' + time '04:05', make_time(8, 15, 23.5)",
	    "05:05:00|23:05:00|-00:55:00|2024-01-01 04:05:00|08:15:23.5; SELECT 1" },
	{ "select extract(hour from time '04:05:06'), extract(epoch from time '01:00:00.5')",
	    "4|3600.500000; SELECT 1" },
	{ "select extract(day from time '04:05')",
	    "ERROR 0A000: unit \"day\" not supported for type time without time zone" },
	{ "select type from nam_columns where name in ('z', 't') order by name",
	    "time without time zone;timestamp with time zone; SELECT 2" },
};

static const struct golden binary[] = {
	{ "create table b (k bytea primary key, u uuid)", "CREATE TABLE" },
	{ "insert into b values ('\\x0001ff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), ('abc\\\\d\\000', "
	  "'{A0EEBC999C0B4EF8BB6D6BB9BD380A12}'), ('', null)",
	    "INSERT 0 3" },
	{ "insert into b values ('\\x00 01 FF')",
	    "ERROR 23505: duplicate key value violates unique constraint \"b_pkey\"" },
	{ "select * from b order by k", "\\x|~;\\x0001ff|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11;"
					"\\x6162635c6400|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12; "
					"SELECT 3" },
	{ "select u from b where k = '\\x0001ff'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11; SELECT 1" },
	{ "select k from b where u > 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "\\x6162635c6400; SELECT 1" },
	{ "select u, count(*) from b group by u order by u desc limit 1", "~|1; SELECT 1" },
	{ "select count(*) from b x join b y on x.u = y.u", "2; SELECT 1" },
	{ "select '\\xzz'::bytea", "ERROR 22023: invalid hexadecimal digit: \"z\"" },
	{ "select '\\xabc'::bytea", "ERROR 22023: invalid hexadecimal data: odd number of digits" },
	{ "select 'a\\b'::bytea", "ERROR 22P02: invalid input syntax for type bytea" },
	{ "select 'x'::uuid", "ERROR 22P02: invalid input syntax for type uuid: \"x\"" },
	{ "select 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11'::uuid",
	    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11; SELECT 1" },
	{ "select length('\\x0102'::bytea), '\\x01'::bytea || '\\x02', substring('\\x01020304'::bytea from 2 "
	  "for 2), "
	  "position('\\x02'::bytea in '\\x0102'::bytea), get_byte('\\x01ff'::bytea, 1)",
	    "2|\\x0102|\\x0203|2|255; SELECT 1" },
	{ "select get_byte('\\x01'::bytea, 1)", "ERROR 2202E: index 1 out of valid range, 0..0" },
	{ "select encode('\\x01ff', 'hex'), decode('01ff', 'hex'), md5('abc'::bytea)",
	    "01ff|\\x01ff|900150983cd24fb0d6963f7d28e17f72; SELECT 1" },
	{ "select max(k) from b", "ERROR 42883: function max(bytea) does not exist" },
	{ "select max(u) from b", "ERROR 42883: function max(uuid) does not exist" },
	{ "select '\\x01'::bytea::text || 'x', 'abc'::text::bytea, u::text from b where k = ''",
	    "\\x01x|\\x616263|~; SELECT 1" },
	{ "select 1::bytea", "ERROR 42846: cannot cast type integer to bytea" },
	{ "select length(gen_random_uuid()::text), gen_random_uuid() = gen_random_uuid()", "36|f; SELECT 1" },
	{ "create table u (id uuid primary key, k bytea)", "CREATE TABLE" },
	{ "insert into u select gen_random_uuid(), k from b", "INSERT 0 3" },
	{ "select count(distinct id), count(k) from u", "3|3; SELECT 1" },
};

static const struct golden json[] = {
	{ "create table j (id int primary key, d json)", "CREATE TABLE" },
	{ "create table jk (d json primary key)",
	    "ERROR 42704: data type json has no default operator class for access method \"btree\"" },
	{ "insert into j values (1, '{\"a\": 1, \"b\": [1, 2, {\"c\": \"x\\ny\"}], \"a\": \"last\", \"n\": "
	  "null}'), "
	  "(2, '[1, \"two\", null, [3]]'), (3, '  \"str\"  '), (4, 'null'), (5, null), (6, '{}'), (7, '[]')",
	    "INSERT 0 7" },
	{ "select d from j where id in (2, 3, 6) order by id",
	    "[1, \"two\", null, [3]];  \"str\"  ;{}; SELECT 3" },
	{ "select d -> 'a', d ->> 'a', d -> 'n', d ->> 'n', d -> 'zz', d -> 0 from j where id = 1",
	    "\"last\"|last|null|~|~|~; SELECT 1" },
	{ "select d -> 0, d ->> 1, d -> -1, d ->> 2, d -> 'a', d -> 9 from j where id = 2",
	    "1|two|[3]|~|~|~; SELECT 1" },
	{ "select d #> '{b,2,c}', d #>> '{b,1}', d #>> '{b,-2}', d #> '{b,x}', d #> '{b,\"0\"}' from j where "
	  "id = 1",
	    "\"x\\ny\"|2|2|~|1; SELECT 1" },
	{ "select d #> 'a' from j where id = 1", "ERROR 22P02: malformed array literal: \"a\"" },
	{ "select id, json_typeof(d) from j order by id",
	    "1|object;2|array;3|string;4|null;5|~;6|object;7|array; SELECT 7" },
	{ "select json_array_length(d) from j where id in (2, 7) order by id", "4;0; SELECT 2" },
	{ "select json_array_length(d) from j where id = 6",
	    "ERROR 22023: cannot get array length of a non-array" },
	{ "select json_array_length(d) from j where id = 3",
	    "ERROR 22023: cannot get array length of a scalar" },
	{ "select '{a:1}'::json", "ERROR 22P02: invalid input syntax for type json" },
	{ "insert into j values (9, '[1,]')", "ERROR 22P02: invalid input syntax for type json" },
	{ "insert into j values (9, '')", "ERROR 22P02: invalid input syntax for type json" },
	{ "insert into j values (9, '01')", "ERROR 22P02: invalid input syntax for type json" },
	{ "insert into j values (9, '[}')", "ERROR 22P02: invalid input syntax for type json" },
	{ "insert into j values (9, '\"\\u12\"')", "ERROR 22P02: invalid input syntax for type json" },
	{ "select '[\"\\u0000\"]'::json ->> 0", "ERROR 22P05: unsupported Unicode escape sequence" },
	{ "select '[\"\\ud83d\\ude00\\u00e9\"]'::json ->> 0", "\xf0\x9f\x98\x80\xc3\xa9; SELECT 1" },
	{ "select repeat('[', 7000)::json", "ERROR 54001: stack depth limit exceeded" },
	{ "select json_array_length((repeat('[', 5000) || repeat(']', 5000))::json)", "1; SELECT 1" },
	{ "select d = d from j", "ERROR 42883: operator does not exist: json = json" },
	{ "select d from j order by d",
	    "ERROR 42883: could not identify an ordering operator for type json" },
	{ "select distinct d from j", "ERROR 42883: could not identify an equality operator for type json" },
	{ "select d, count(*) from j group by d",
	    "ERROR 42883: could not identify an equality operator for type json" },
	{ "select count(distinct d) from j",
	    "ERROR 42883: could not identify an equality operator for type json" },
	{ "select max(d) from j", "ERROR 42883: function max(json) does not exist" },
	{ "select 1::json", "ERROR 42846: cannot cast type integer to json" },
	{ "select '{\"a\":1}'::text::json -> 'a', '[1]'::json::text || 'x', count(d) from j",
	    "1|[1]x|6; SELECT 1" },
	{ "update j set d = '{\"z\": true}' where d ->> 'a' = 'last'", "UPDATE 1" },
	{ "select d ->> 'z' from j where id = 1", "true; SELECT 1" },
	{ "select '{}'::jsonb", "{}; SELECT 1" },
};

static void
smallints(void **state)
{
	(void)state;
	golden_all(smallint);
}

static void
reals(void **state)
{
	(void)state;
	golden_all(real);
}

static void
characters(void **state)
{
	(void)state;
	golden_all(character);
}

static void
intervals(void **state)
{
	(void)state;
	golden_all(interval);
}

static void
moments(void **state)
{
	(void)state;
	golden_all(moment);
}

static void
binaries(void **state)
{
	(void)state;
	golden_all(binary);
}

static void
jsons(void **state)
{
	(void)state;
	golden_all(json);
}

/* Every type by COPY, NULLs too, and what it says about a bad one. */
static void
copies(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 64 << 20, 1);
	test_client_open(&t, &e, 0);
	assert_string_equal(
	    ask(&t, "create table c (a smallint, r real, k char(3), z timestamptz, v interval, t "
		    "time, b bytea, u uuid, j json)"),
	    "CREATE TABLE");
	t.copy =
	    "1,1.5,ab,2024-01-01 00:00+01,1 day,10:00,\\x01ff,a0eebc999c0b4ef8bb6d6bb9bd380a11,\"[1,2]\"\n"
	    ",,,,,,,,\n";
	t.copy_len = strlen(t.copy);
	assert_string_equal(ask(&t, "copy c from stdin (format csv)"), "COPY 2");
	assert_string_equal(ask(&t, "select * from c order by a"),
	    "1|1.5|ab |2023-12-31 23:00:00+00|1 "
	    "day|10:00:00|\\x01ff|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|[1,2];"
	    "~|~|~|~|~|~|~|~|~; SELECT 2");
	static const struct golden bad[] = {
		{ "40000,,,,,,,,", "ERROR 22003: value \"40000\" is out of range for type smallint" },
		{ ",1e99,,,,,,,", "ERROR 22003: \"1e99\" is out of range for type real" },
		{ ",,abcd,,,,,,", "ERROR 22001: value too long for type character(3)" },
		{ ",,,,day,,,,", "ERROR 22007: invalid input syntax for type interval: \"day\"" },
		{ ",,,,,,\\x0,,", "ERROR 22023: invalid hexadecimal data: odd number of digits" },
		{ ",,,,,,,x,", "ERROR 22P02: invalid input syntax for type uuid: \"x\"" },
		{ ",,,,,,,,{", "ERROR 22P02: invalid input syntax for type json" },
	};
	for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++) {
		t.copy = bad[k].text;
		t.copy_len = strlen(t.copy);
		assert_string_equal(ask(&t, "copy c from stdin (format csv)"), bad[k].answer);
	}
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallints),
		cmocka_unit_test(reals),
		cmocka_unit_test(characters),
		cmocka_unit_test(intervals),
		cmocka_unit_test(moments),
		cmocka_unit_test(binaries),
		cmocka_unit_test(jsons),
		cmocka_unit_test(copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
