#!/usr/bin/env python3
"""Domains: the statements of domains.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs, messages and details
must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import peer  # noqa: F401 (the path to house)
import house
from house import check


def test_statements():
    asked = test_foreign.statements("domains.sql")
    texts = [t for _, t in asked]
    pg, own = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    bad = ["[%s] %s\n    namdb      %r\n    PostgreSQL %r" % (section, text, b, a) for (section, text), a, b in zip(asked, pg, own) if a != b]
    check(not bad, "%d of %d answers differ:\n%s" % (len(bad), len(asked), "\n".join(bad)))
    errors = sum(1 for _, e in pg if e is not None)
    check(len(asked) >= 250 and errors >= 100, "only %d statements, %d errors" % (len(asked), errors))
    print("  %d statements, %d of them errors" % (len(asked), errors))


if __name__ == "__main__":
    house.main()
