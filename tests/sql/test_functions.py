#!/usr/bin/env python3
"""Functions, operators and aggregates at their edges (functions.sql), answered by namdb and by a real PostgreSQL 15: rows, names and types
of columns, and SQLSTATEs must be equal, and nothing is unsupported (0A000).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer  # noqa: F401 (the path to house)
import house
import test_reviewed

SETUP = [
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE TABLE fy (a int, b float8, c float8, n numeric, t text, y bytea)",
    "INSERT INTO fy VALUES (1, 1, 2, 1.5, 'abc', 'abc'), (2, 2, 4.5, 2.5, 'a%c', 'a%c'), (3, 4, 5, NULL, 'x_z', 'x_z'), (4, NULL, 1, 7, NULL, NULL), "
    "(5, 8, NULL, 8, '', '')",
    "CREATE TABLE hc (a int, b text)",
    "CREATE TABLE f2 (a int, b float8, c float8)",
    "INSERT INTO f2 VALUES (1, 1, 2), (2, 2, 4.5), (3, 4, 5), (4, NULL, 1), (5, 8, NULL), (6, 1e3, -4)",
]


def test_functions():
    test_reviewed.compare(SETUP, test_reviewed.reviewed("functions.sql"), whole=True)


if __name__ == "__main__":
    house.main()
