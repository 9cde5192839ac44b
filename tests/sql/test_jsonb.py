#!/usr/bin/env python3
"""jsonb: the statements of jsonb.sql, answered by namdb and by a real PostgreSQL 15: rows, SQLSTATEs,
messages and details must be equal."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house

# Answers that differ on purpose: the statement, and the SQLSTATE that namdb gives.
OURS = {
    "SELECT * FROM jsonb_each('{\"a\": 1}', 2)": "0A000",  # a function in FROM without such a form
    "SELECT * FROM jsonb_each()": "0A000",
}


def test_jsonb():
    test_foreign.compare("jsonb.sql", OURS, 25)


if __name__ == "__main__":
    house.main()
