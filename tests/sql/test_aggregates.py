#!/usr/bin/env python3
"""Aggregates with FILTER and DISTINCT, and the order in which mistakes of calls in calls and of WITH are told: the statements of
aggregates.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs, messages and details must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house

# Answers that differ on purpose: the statement, and the SQLSTATE that namdb gives.
OURS = {
    "WITH RECURSIVE p(a) AS (SELECT 1 UNION ALL SELECT z.a + 1 FROM wt y, LATERAL (SELECT p.a FROM p WHERE p.a < 2) z) SELECT count(*) FROM p":
    "0A000",
}


def test_aggregates():
    test_foreign.compare("aggregates.sql", OURS, 40)


if __name__ == "__main__":
    house.main()
