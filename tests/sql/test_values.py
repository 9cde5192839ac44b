#!/usr/bin/env python3
"""Values at their limits, long constants, patterns, COPY's input: the statements of values.sql, answered by namdb and by a real
PostgreSQL 15: rows, SQLSTATEs, messages and details must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house

# Answers that differ on purpose: the statement, and the SQLSTATE that namdb gives.
OURS = {}


def test_values():
    test_foreign.compare("values.sql", OURS, 2)


if __name__ == "__main__":
    house.main()
