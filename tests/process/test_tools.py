#!/usr/bin/env python3
"""What drivers and tools ask of a PostgreSQL before they work: fields of errors, numbers of functions, keys of constraints, the form
of EXPLAIN, VACUUM of the catalogs. The right values are PostgreSQL 15's."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, fields, rows


def texts(got):
    failed = [fields(body) for kind, body in got if kind == "E"]
    check(not failed, failed)
    return [tuple(None if v is None else v.decode() for v in r) for r in rows(got)]


def state(got):
    return next((fields(body)["C"] for kind, body in got if kind == "E"), None)


def test_tools():
    with House(nodes=1, size="64m") as h:
        w = Wire(Compute(h).port)

        def ask(sql):
            return texts(w.query(sql))

        def fails(sql, code):
            same(state(w.query(sql)), code, sql)

        ask("CREATE TABLE t (a int PRIMARY KEY, b int CHECK (b > 0), \"C x\" text DEFAULT 'a', d numeric, "
            "CONSTRAINT two CHECK (d < 7.5 AND \"C x\" <> 'b' OR length(\"C x\") > a), CONSTRAINT none CHECK (1 < 2))")

        # A driver that sees this routine prepares the statement again.
        w.raw(w.parse("SELECT * FROM t", name="q") + w.describe("S", "q") + w.message("S"))
        w.until_ready()
        ask("ALTER TABLE t ADD COLUMN e int")
        w.raw(w.bind(name="q") + w.execute() + w.message("S"))
        e = next(fields(body) for kind, body in w.until_ready() if kind == "E")
        same((e["C"], e.get("R")), ("0A000", "RevalidateCachedQuery"))
        w.raw(w.bind(name="nothing") + w.message("S"))
        e = next(fields(body) for kind, body in w.until_ready() if kind == "E")
        same((e["C"], e.get("R")), ("26000", "FetchPreparedStatement"))

        # The columns of a CHECK, in the order in which it names them.
        same(ask("SELECT conname, conkey FROM pg_constraint WHERE conrelid = 't'::regclass ORDER BY conname"),
             [("none", None), ("t_b_check", "{2}"), ("t_pkey", "{1}"), ("two", "{4,3,1}")])

        # Functions by name and number, also those that no query can call.
        same(ask("SELECT 'array_in'::regproc, 'pg_catalog.int4in'::regproc, 750::regproc, 'array_in'::regproc::oid, "
                 "to_regproc('numeric_out')"), [("array_in", "int4in", "array_in", "750", "numeric_out")])
        same(ask("SELECT typname, typinput, typoutput FROM pg_type WHERE typname IN ('_int4', 'bool', 'date', 'text', 'varchar', "
                 "'int2vector') ORDER BY typname"),
             [("_int4", "array_in", "array_out"), ("bool", "boolin", "boolout"), ("date", "date_in", "date_out"),
              ("int2vector", "int2vectorin", "int2vectorout"), ("text", "textin", "textout"), ("varchar", "varcharin", "varcharout")])
        same(ask("SELECT count(*) > 20 FROM pg_type WHERE typinput = 'array_in'::regproc AND typelem <> 0"), [("t",)])
        fails("SELECT 'no_such_function'::regproc", "42883")
        fails("SELECT 'pg_stat_get_archiver'::regproc", "0A000")
        fails("SELECT 'pg_catalog.pg_stat_get_archiver'::regproc", "0A000")
        fails("SELECT information_schema._pg_numeric_precision(23::oid, -1)", "0A000")

        # postgres_fdw and others read the first line of a plan.
        for sql in ["SELECT * FROM t", "SELECT count(*) FROM t GROUP BY b ORDER BY 1", "SELECT 1",
                    "SELECT * FROM t x JOIN t y ON x.b = y.d ORDER BY x.a", "SELECT a FROM t UNION SELECT b FROM t"]:
            lines = [r[0] for r in ask("EXPLAIN " + sql)]
            for line in lines[:1] + [x for x in lines if "(cost" in x]:
                m = re.match(r"^ *(?:->  )?\S.*  \(cost=(\d+\.\d\d)\.\.(\d+\.\d\d) rows=\d+ width=\d+\)$", line)
                check(m is not None and float(m[1]) <= float(m[2]), line)
        check('"Startup Cost"' in ask("EXPLAIN (FORMAT JSON) SELECT a FROM t")[0][0], "no startup cost")

        # vacuumdb -z names the catalogs as well.
        for sql in ["VACUUM (ANALYZE) pg_catalog.pg_class", "ANALYZE pg_catalog.pg_proc", "ANALYZE pg_class", "VACUUM pg_catalog.pg_type, t"]:
            ask(sql)
        fails("ANALYZE pg_catalog.pg_nothing", "42P01")
        fails("VACUUM pg_nothing", "42P01")
        w.close()


if __name__ == "__main__":
    house.main()
