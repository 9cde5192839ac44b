#!/usr/bin/env python3
"""psql's view of a schema at `namdb compute`, beside a PostgreSQL 15 with the same schema: \\d and its kin, tab completion, \\copy, and
what the system catalogs and the information schema say. Where this file asks both, the answers must be equal, line by line."""
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "sql")]
import house
import test_postgres
from house import Compute, House, check, contains, same, skip

SCHEMA = """
CREATE TABLE parent (a int, b int, note varchar(20), PRIMARY KEY (a, b));
CREATE TABLE t (id serial PRIMARY KEY, name varchar(30) NOT NULL, c char(4), n numeric(10,2) DEFAULT 0, s smallint, big bigint,
  f real, d double precision, day date DEFAULT CURRENT_DATE, ts timestamp, tz timestamptz DEFAULT now(), ok boolean DEFAULT true,
  txt text DEFAULT 'it''s', word varchar DEFAULT 'w', tags text[], j json, u uuid, i interval, raw bytea, CHECK (s > 0),
  CONSTRAINT big CHECK (big < 1000 AND f > 0), CONSTRAINT words CHECK (name <> 'x' OR txt IN ('a', 'b')), UNIQUE (name, c));
CREATE TABLE child (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, pa int, pb int, t_id int REFERENCES t ON DELETE CASCADE,
  CONSTRAINT sum CHECK (pa + pb > 0), FOREIGN KEY (pa, pb) REFERENCES parent (a, b) ON UPDATE SET NULL ON DELETE RESTRICT);
CREATE INDEX child_i ON child (pa DESC, pb) INCLUDE (t_id);
CREATE UNIQUE INDEX ON t (txt NULLS FIRST);
CREATE TABLE "Quoted t" ("X y" int NOT NULL);
CREATE VIEW seen AS SELECT id, name FROM t;
CREATE SEQUENCE sq INCREMENT 2 MAXVALUE 100 CYCLE;
"""

shared = None


class Both:
    def __init__(self):
        if shutil.which("psql") is None:
            skip("there is no psql here")
        self.pg = test_postgres.Postgres()
        try:
            self.peer("-d", "postgres", "-c", "CREATE ROLE namdb SUPERUSER CREATEROLE CREATEDB REPLICATION BYPASSRLS LOGIN", "-c", "CREATE DATABASE namdb OWNER namdb")
            self.peer("-c", "ALTER SCHEMA public OWNER TO namdb", "-c", "UPDATE pg_namespace SET nspacl = NULL WHERE nspname = 'public'")
            self.namdb = Compute(House(nodes=1, size="256m"))
            # PostgreSQL keeps every key in order; here a hash is the default, and \d says so
            for out in self.peer("-q", "-c", SCHEMA), self.mine("-q", "-c", "SET namdb.primary_key = 'ordered';" + SCHEMA):
                check(out == "", out)
        except BaseException:
            self.pg.close()
            raise

    def where(self, peer):
        host, port = (self.pg.dir, "5432") if peer else ("127.0.0.1", str(self.namdb.port))
        return ["psql", "-X", "-h", host, "-p", port, "-U", "namdb", "-d", "namdb"]

    def say(self, peer, args, stdin=""):
        args = self.where(peer) + list(args)
        if peer and "CREATE ROLE namdb SUPERUSER CREATEROLE CREATEDB REPLICATION BYPASSRLS LOGIN" in args:
            args[args.index("namdb")] = "judge"
        p = subprocess.run(args, input=stdin, capture_output=True, text=True, timeout=120,
                           env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
        return p.stdout + p.stderr

    def peer(self, *args):
        return self.say(True, args)

    def mine(self, *args):
        return self.say(False, args)


def both():
    global shared
    shared = shared or Both()
    return shared


def alike(*commands):
    """Both answer each command alike, and not with an error."""
    for c in commands:
        want, have = both().peer("-c", c), both().mine("-c", c)
        check("ERROR" not in want, c, want)
        same(have, want, c)


def test_lists():
    alike(r"\d", r"\dt", r"\di", r"\dv", r"\ds", r"\dn", r"\dT", r"\df", r"\dp", r"\ddp", r"\dy", r"\dm", r"\dE", r"\dD",
          r"\dRp", r"\des", r"\dt ch*", r"\dt public.*", r'\dt "Q"*', r"\d missing", r"\dt missing", r"\z parent", r"\du namdb")
    same(both().mine("-At", "-c", r"\du").splitlines(), ["namdb|Superuser, Create role, Create DB, Replication, Bypass RLS|{}"])
    rows = both().mine("-At", "-c", r"\l").splitlines()
    same(rows, ["namdb|namdb|UTF8|C.UTF-8|C.UTF-8||libc|"])


def test_settings():
    alike(r"\dconfig lock_timeout", r"\dconfig+ lock_timeout", r"\dconfig *join_collapse*", r"\dconfig none_such")
    for peer in True, False:
        out = both().say(peer, ["-At"], "SET lock_timeout = '1500ms';\nSET jit = off;\n\\dconfig\n")
        contains(out, "lock_timeout|1500ms", "jit|off")


def test_sizes():
    """Sizes are namdb's own; all else is PostgreSQL's."""
    def masked(text):
        text = re.sub(r"\d+ (bytes|kB|MB)", "SIZE", text)
        return [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if "---" not in line]
    both().mine("-c", "INSERT INTO parent SELECT i, i, repeat('x', 20) FROM generate_series(1, 20000) i")
    for c in r"\dt+ parent", r"\dt+ t", r"\di+ child_i", r"\dv+", r"\db+":
        want, have = both().peer("-c", c), both().mine("-c", c)
        check("ERROR" not in want, c, want)
        want, have = masked(want), masked(have)
        if c == r"\db+":  # PostgreSQL grants rights on its tablespaces to nobody, too
            check(len(have) == len(want), c, have)
        else:
            same(have, want, c)
    sized = both().mine("-At", "-c", r"\l+").split("|")
    check(re.fullmatch(r"\d+ (kB|MB)", sized[8]), r"\l+", sized)
    rows, table, keys, all_, none = (int(n) for n in both().mine("-At", "-c", """SELECT pg_relation_size('parent'), pg_table_size('parent'),
        pg_indexes_size('parent'), pg_total_relation_size('parent'), pg_relation_size('seen')""").split("|"))
    check(rows > 20000 * 20 and rows <= table and keys >= 65536 and all_ == table + keys and none == 0, rows, table, keys, all_, none)
    both().mine("-c", "DELETE FROM parent")


def test_tables():
    alike(r"\d parent", r"\d t", r"\d child", r'\d "Quoted t"', r"\d+ parent", r"\d+ t", r"\d+ child", r"\d ?arent")


def test_keys_kept_by_a_hash():
    out = both().mine("-c", "CREATE TABLE hashed (a int PRIMARY KEY)", "-c", r"\d hashed", "-c", r"\d hashed_pkey", "-c", "DROP TABLE hashed")
    contains(out, '"hashed_pkey" PRIMARY KEY, hash (a)', 'primary key, hash, for table "public.hashed"', " a      | integer | yes  | a\n")


def test_views_sequences_indexes():
    alike(r"\d seen", r"\d sq", r"\d t_id_seq", r"\d child_id_seq", r"\d child_i", r"\d t_pkey", r"\d t_name_c_key", r"\d t_txt_idx",
          r"\d+ child_i")


def test_enums():
    made = ("CREATE TYPE mood AS ENUM ('sad', 'two words', 'happy'); CREATE TYPE \"Odd one\" AS ENUM (); CREATE TABLE felt (id int PRIMARY KEY, m mood DEFAULT 'sad', "
            "ms mood[] DEFAULT '{happy}', o \"Odd one\", CHECK (m <> 'happy')); CREATE INDEX felt_m ON felt (m); CREATE VIEW feelings AS SELECT m, ms FROM felt")
    gone = "DROP VIEW feelings; DROP TABLE felt; DROP TYPE mood, \"Odd one\""
    for out in both().peer("-q", "-c", made), both().mine("-q", "-c", "SET namdb.primary_key = 'ordered';" + made):
        check(out == "", out)
    alike(r"\dT", r"\dT+", r"\dT mood", r'\dT+ "Odd one"', r"\dT mood[]", r"\d felt", r"\d+ felt", r"\d felt_m", r"\d feelings",
          "SELECT typname, typlen, typbyval, typtype, typcategory, typispreferred, typalign, typstorage, typcollation, typowner::regrole, typnamespace::regnamespace "
          "FROM pg_type WHERE typname ~ 'mood|Odd' ORDER BY 1",
          "SELECT attname, atttypid::regtype, attlen, attalign, attstorage, attcollation, attbyval FROM pg_attribute WHERE attrelid = 'felt'::regclass AND attnum > 0 ORDER BY attnum",
          "SELECT column_name, data_type, udt_schema, udt_name, column_default, collation_name FROM information_schema.columns WHERE table_name = 'felt' ORDER BY ordinal_position",
          "SELECT enumlabel, enumsortorder FROM pg_enum WHERE enumtypid = 'mood'::regtype ORDER BY 2")
    for q in ("SELECT * FROM felt", "SELECT m::text, max(m), array_agg(m) FROM felt GROUP BY 1"):
        same(described(False, q), described(True, q), q)
    words = ["ALTER TYPE moo", "DROP TYPE moo", "ALTER TYPE mood RENAME VALUE 'ha", "CREATE TABLE x (m moo", r"\dT moo", "ALTER TYPE mood ADD VALUE 'x' BEFORE "]
    for w, want, have in zip(words, completions(True, words), completions(False, words)):
        same(have, want, w)
    for peer in True, False:
        answers = both().say(peer, ["-At"], "\n".join((
            r"\copy felt FROM STDIN", "1\tsad\t{sad,happy}\t\\N", "2\ttwo words\t{\"two words\"}\t\\N", r"\.", r"\copy felt (id, m) FROM STDIN CSV", "3,two words", "4,", r"\.",
            r"\copy felt TO STDOUT", r"\copy (SELECT m, ms FROM felt ORDER BY id) TO STDOUT CSV HEADER", r"\copy felt (id, m) FROM STDIN", "5\tglad", r"\.", "")))
        contains(answers, "2\ttwo words\t{\"two words\"}", "two words,{happy}", 'invalid input value for enum mood: "glad"')
    for out in both().peer("-q", "-c", gone), both().mine("-q", "-c", gone):
        check(out == "", out)


def test_functions():
    alike(r"\df count", r"\df md5", r"\df current_schemas", r"\df pg_get_userbyid", r"\df no_such_function")


def test_copy_both_ways():
    folder = tempfile.mkdtemp(prefix="nam-copy-")
    try:
        answers = []
        for peer in False, True:
            name = os.path.join(folder, "out%d" % peer)
            made = both().say(peer, ["-At"], "\n".join((
                r"\copy parent FROM STDIN", "1\t2\tone", "3\t4\t\\N", r"\.", "\\copy parent TO '%s'" % name,
                r"\copy (SELECT b, note FROM parent ORDER BY a) TO STDOUT CSV HEADER", "DELETE FROM parent;",
                "\\copy parent (a, b, note) FROM '%s'" % name, "SELECT * FROM parent ORDER BY a;",
                r"\copy missing FROM STDIN", "DELETE FROM parent;", "")))
            answers.append((made, sorted(open(name).readlines())))
        same(answers[0], answers[1])
        contains(answers[0][0], "COPY 2", 'relation "missing" does not exist')
    finally:
        shutil.rmtree(folder)


CATALOGS = [
    "SELECT relname, relkind, relnatts, relchecks, relhasindex, relpersistence FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
    "SELECT attrelid::regclass, attname, atttypid::regtype, attlen, attnum, atttypmod, attnotnull, atthasdef, attidentity, attalign, attstorage, "
    "attcollation, attndims FROM pg_attribute WHERE attnum > 0 AND attrelid IN ('t'::regclass, 'child'::regclass, 'seen'::regclass) ORDER BY 1, 5",
    "SELECT attname, format_type(atttypid, atttypmod), format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum",
    "SELECT adrelid::regclass::text, adnum, pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) FROM pg_attrdef ORDER BY 1, 2",
    "SELECT conname, contype, conrelid::regclass, confrelid::regclass, conindid::regclass, confupdtype, confdeltype, confmatchtype, connoinherit, "
    "CASE WHEN contype <> 'c' THEN conkey END, confkey FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 3",
    "SELECT conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE connamespace = 2200 ORDER BY conrelid::regclass::text, 1",
    "SELECT indexrelid::regclass::text, indrelid::regclass::text, indnatts, indnkeyatts, indisunique, indisprimary, indkey, indoption, indcollation FROM pg_index "
    "WHERE indrelid::regclass::text IN ('t', 'child', 'parent') ORDER BY 1",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    "SELECT x.indrelid::regclass::text, a.attname FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY(x.indkey) "
    "WHERE x.indisprimary AND x.indrelid = 'parent'::regclass ORDER BY 2",
    "SELECT seqrelid::regclass::text, seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle FROM pg_sequence ORDER BY 1",
    "SELECT typname, typnamespace::regnamespace, typlen, typbyval, typtype, typcategory, typispreferred, typelem, typarray, typalign, typstorage, "
    "typcollation FROM pg_type WHERE typname IN ('int4', 'text', '_text', 'varchar', 'numeric', 'bool', 'timestamptz', 'oid', 'name', 'char', "
    "'bpchar', '_int2', 'regclass', 'uuid', 'interval') ORDER BY 1",
    "SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit FROM pg_roles WHERE rolname = 'namdb'",
    "SELECT tablename, tableowner, hasindexes, hasrules, hastriggers FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    "SELECT sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size FROM pg_sequences ORDER BY 1",
    "SELECT pg_get_serial_sequence('t', 'id'), pg_get_serial_sequence('public.child', 'id'), pg_get_serial_sequence('t', 'name')",
    "SELECT to_regclass('t'), to_regclass('public.t'), to_regclass('missing'), to_regclass('pg_class'), to_regtype('int4'), to_regtype('missing')",
    "SELECT 't'::regclass::text, 'int4'::regtype, 'pg_catalog.pg_class'::regclass, '\"Quoted t\"'::regclass, 'public'::regnamespace, 0::oid::regclass, "
    "1259::regclass, 23::regtype, 4000000000::regclass",
    "SELECT 'pg_class'::regclass::oid, 'pg_type'::regclass = 1247, 't'::regclass IN (SELECT oid FROM pg_class WHERE relname = 't')",
    "SELECT current_schemas(true), current_schemas(false), pg_my_temp_schema(), pg_is_in_recovery(), pg_encoding_to_char(6), pg_char_to_encoding('UTF8')",
    "SELECT set_config('application_name', 'me', false), current_setting('application_name')",
    "SELECT 1::oid < 2, '5'::oid, 5::oid::int + 1, '1 2'::text, 'abc'::name || 'd', 'abc'::\"char\", 'x'::name = 'x'::text",
    "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default",
    "SELECT has_table_privilege('t', 'select'), has_table_privilege('t'::regclass, 'INSERT, UPDATE'), has_table_privilege('pg_class', 'SELECT')",
    "SELECT table_schema, table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 2",
    "SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type, character_maximum_length, character_octet_length, "
    "numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, interval_type, collation_name, udt_name, dtd_identifier, is_identity, "
    "identity_generation, identity_start, identity_increment, identity_cycle, is_generated FROM information_schema.columns WHERE table_name IN ('t', 'child') ORDER BY 1, 3",
    "SELECT constraint_name, table_name, constraint_type, is_deferrable, enforced, nulls_distinct FROM information_schema.table_constraints WHERE table_schema = 'public' "
    "AND constraint_name !~ '^[0-9_]+not_null$' ORDER BY 1, 2",
    "SELECT constraint_name, table_name, column_name, ordinal_position, position_in_unique_constraint FROM information_schema.key_column_usage WHERE table_schema = 'public' ORDER BY 1, 2, 4",
    "SELECT constraint_name, unique_constraint_name, match_option, update_rule, delete_rule FROM information_schema.referential_constraints WHERE constraint_schema = 'public' ORDER BY 1",
    "SELECT constraint_name, table_name, column_name FROM information_schema.constraint_column_usage WHERE table_schema = 'public' AND constraint_name ~ '(key|fkey)$' ORDER BY 1, 2, 3",
    "SELECT constraint_name, check_clause FROM information_schema.check_constraints WHERE constraint_schema = 'public' AND constraint_name !~ '^[0-9]' ORDER BY 1",
    "SELECT catalog_name, schema_name FROM information_schema.schemata WHERE schema_name IN ('public', 'pg_catalog', 'information_schema') ORDER BY 2",
    "SELECT sequence_name, data_type, start_value, minimum_value, maximum_value, increment, cycle_option FROM information_schema.sequences ORDER BY 1",
    "SELECT table_name, check_option FROM information_schema.views WHERE table_schema = 'public' ORDER BY 1",
]


def test_catalogs():
    alike(*CATALOGS)


def columns_of(peer, schema):
    q = ("SELECT c.relname, string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE a.attnum > 0 "
         "AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '%s') AND c.relkind IN ('r', 'v') GROUP BY 1" % schema)
    return dict(line.split("|") for line in both().say(peer, ["-At", "-c", q]).splitlines())


def test_every_relation_has_postgres_columns():
    for schema in "pg_catalog", "information_schema":
        want, have = columns_of(True, schema), columns_of(False, schema)
        have = {k: v for k, v in have.items() if not k.startswith("nam_")}
        check(len(have) > 15, have)
        for name in have:
            same(have[name], want.get(name), schema + "." + name)
            out = both().mine("-At", "-c", "SELECT * FROM %s.%s LIMIT 1" % (schema, name), "-c", "SELECT count(*) FROM %s.%s" % (schema, name))
            check("ERROR" not in out, name, out)


def described(peer, query):
    return both().say(peer, ["-At"], query + r" \gdesc" + "\n")


def test_types_on_the_wire():
    """RowDescription: the types as declared, and those of the catalogs."""
    for q in ("SELECT * FROM t", "SELECT * FROM parent", "SELECT oid, relname, relkind, relnatts, oid::regclass FROM pg_class",
              "SELECT indkey, indcollation FROM pg_index", "SELECT name || 'x', upper(name), n + 1, n * 2, s + s, c || c FROM t",
              "SELECT name FROM t UNION SELECT note FROM parent", "SELECT table_name, data_type, ordinal_position FROM information_schema.columns",
              "SELECT count(*), max(name), min(n), array_agg(name) FROM t", "SELECT CASE WHEN ok THEN name END, coalesce(name, 'x') FROM t",
              "SELECT rolname, rolvaliduntil FROM pg_roles"):
        same(described(False, q), described(True, q), q)


def completions(peer, words):
    """What psql shows after each of the words and two tabs, cut at words; it waits for the server at each tab, so nothing here depends on the clock."""
    args = both().where(peer) + ["-P", "pager=off"]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", LC_ALL="C.UTF-8", INPUTRC="/dev/null", PSQL_HISTORY="/dev/null", COLUMNS="500")
        os.execvp(args[0], args)
    shown = []

    def until_prompt(mark):
        """What came until the prompt behind the mark: before it psql does not read keys one by one."""
        seen = b""
        while not re.search(mark + rb"namdb=[#>] $", seen):
            more = os.read(fd, 65536)
            check(more, "psql ended:", seen[-500:])
            seen += more
        return seen

    try:
        until_prompt(b"")
        for n, w in enumerate(words):
            os.write(fd, w.encode() + b"\t\t\x15\\echo ~%d~\n" % n)
            out = until_prompt(rb"\n~%d~\r?\n(?s:.*)" % n)
            text = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", out.decode("utf-8", "replace")).split("\\echo")[0]
            shown.append(sorted(set(text.split()) - {"namdb=#", "namdb=>"}))
    finally:
        os.close(fd)
        os.waitpid(pid, 0)
    return shown


def test_tab_completion():
    words = ["SELECT * FROM chi", "SELECT * FROM se", "SELECT * FROM t WHERE na", "INSERT INTO par", "UPDATE t SET big", "DROP TABLE Q", r"\d chil",
             r"\dt par", "DROP INDEX t_", "DROP SEQUENCE t", "DROP VIEW s", "ALTER TABLE child ADD CONSTRAINT", "ALTER TABLE child DROP CONSTRAINT chi",
             "SELECT * FROM public.pa", "SELECT * FROM pub", "TRUNCATE par", "DELETE FROM chil", "\\dn pub", "\\du nam", "DROP ROLE nam", "COPY par",
             "SET lock_t", "SHOW geqo_t",
             "\\copy chil", "ALTER TABLE t DROP COLUMN wor", "CREATE INDEX x ON par", "SELECT * FROM information_schema.referential_c", "ANALYZE chil"]
    want, have = completions(True, words), completions(False, words)
    for w, x, y in zip(words, have, want):
        same(x, y, w)
    check(any("child_i" in x or "child" in x for x in have), have)


# What drivers and tools ask when they connect, in their own words or in those of their documentation.
START_UP = [
    "SELECT t.oid, t.typarray, t.oid::regtype::text FROM pg_type t WHERE t.oid = to_regtype('int4') ORDER BY t.oid",
    "SELECT oid, typarray FROM pg_type WHERE typname = 'uuid'",
    "SELECT version() ~ '^PostgreSQL 15'",
    "SHOW standard_conforming_strings", "SHOW transaction_isolation", "SELECT current_setting('server_version_num')::int / 10000",
    "SELECT current_schema()", "SELECT current_database(), current_user",
    "SELECT t.typname, t.typtype, t.typrelid, n.nspname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.typname = 'json'",
    "SELECT n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull, row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, "
    "pg_catalog.pg_get_expr(def.adbin, def.adrelid) FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid JOIN "
    "pg_catalog.pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_catalog.pg_attrdef def ON a.attrelid = def.adrelid AND a.attnum = def.adnum WHERE c.relkind "
    "IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'public' AND c.relname LIKE 'parent' ORDER BY 1, 2, 6",
    "SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relkind = ANY (ARRAY['r', 'v']) AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace = 2200 ORDER BY 1",
    "SELECT attname FROM pg_attribute WHERE attrelid = 'parent'::regclass AND attnum = ANY ((SELECT conkey FROM pg_constraint WHERE conrelid = 'parent'::regclass "
    "AND contype = 'p')::int2[]) ORDER BY attnum",
]


def test_drivers_first_questions():
    alike(*START_UP)


def test_refusals():
    for sql in ("SELECT 'missing'::regclass", "SELECT 'missing'::regtype", "SELECT 'no_such_fn'::regproc", "SELECT 'missing'::regnamespace",
                "SELECT * FROM pg_catalog.missing", "SELECT * FROM information_schema.missing", "SELECT has_table_privilege('missing', 'select')",
                "SELECT has_table_privilege('t', 'eat')", "SELECT 'x'::oid", "SELECT (-1)::bigint::oid", "SELECT set_config('no.such', NULL, false) FROM missing",
                "SELECT pg_get_serial_sequence('t', 'missing')", "SELECT pg_get_serial_sequence('missing', 'x')"):
        q = ["-v", "VERBOSITY=sqlstate", "-c", sql]
        want = both().peer(*q)
        check(want.startswith("ERROR"), sql, want)
        same(both().mine(*q), want, sql)


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            shared.pg.close()
