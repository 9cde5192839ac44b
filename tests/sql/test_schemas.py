#!/usr/bin/env python3
"""Schemas and search_path: the statements of schemas.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs,
messages and details must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house

# Answers that differ on purpose: the statement, and the SQLSTATE that namdb gives.
OURS = {
    "CREATE SCHEMA annes": "42501",  # the database has another name
}


def test_schemas():
    test_foreign.compare("schemas.sql", OURS, 60)


if __name__ == "__main__":
    house.main()
