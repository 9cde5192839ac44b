#!/usr/bin/env python3
"""How texts show floats, by extra_float_digits: the statements of floats.sql, answered by namdb and by a real PostgreSQL 15: rows,
SQLSTATEs, messages and details must be equal. Then the setting as clients send it: in the startup packet, between runs of a statement."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import test_postgres
import house
from house import Compute, House, check
from wire import Wire, texts

# Answers that differ on purpose: the statement, and the SQLSTATE that namdb gives.
OURS = {}


def test_floats():
    test_foreign.compare("floats.sql", OURS, 2)


def told(port, host, **who):
    """What a client is told whose startup packet has the setting, by statements that are prepared once and run under each setting."""
    out = []
    for given in ("3", "-4", None):
        w = Wire(port, host=host, extra_float_digits=given, **who)
        out += [texts(w.query("SHOW extra_float_digits"))]
        w.raw(Wire.parse("SELECT $1::float8 / 3, ($1::float8 / 3)::text, (1::float4 / 3)::text || $2, ARRAY[$1::float8 / 3]", "s") + Wire.SYNC)
        w.until_ready()
        for now in (None, "0", "-15", "1"):
            if now is not None:
                w.query("SET extra_float_digits = %s" % now)
            w.raw(Wire.bind(("2", "x"), "s") + Wire.execute() + Wire.SYNC)
            out += [texts(w.until_ready())]
        out += [texts(w.query("SELECT 1::float8 / 3"))]
        w.close()
    return out


def test_clients():
    pg = test_postgres.Postgres()
    try:
        with House(nodes=1, size="128m") as h:
            ours, theirs = told(Compute(h).port, "127.0.0.1"), told(5432, pg.dir, user="judge", database="postgres")
            check(ours == theirs, "namdb", ours, "PostgreSQL", theirs)
    finally:
        pg.close()


if __name__ == "__main__":
    house.main()
