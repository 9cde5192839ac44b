#!/usr/bin/env python3
"""Temporary relations: the statements of temp.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs,
messages and details must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house
from house import check

# Answers that differ on purpose: the statement, and the SQLSTATE that namdb gives.
OURS = {
}


def test_temp():
    asked = test_foreign.statements("temp.sql")
    texts = [t for _, t in asked]
    want, got = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    wrong, errors = [], 0
    for (section, text), theirs, ours in zip(asked, want, got):
        errors += theirs[1] is not None
        if theirs != ours and not (ours[1] is not None and OURS.get(text) == ours[1][0]):
            wrong.append("%s: %s\n    namdb      %s\n    PostgreSQL %s" % (section, text, ours, theirs))
    check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
    check(errors > 20, "PostgreSQL refuses only", errors)
    print("  %d statements, %d of them refused" % (len(asked), errors))


if __name__ == "__main__":
    house.main()
