#!/usr/bin/env python3
"""Names of definitions and settings (definitions.sql): two constraints of one name, relations that get another name, schemas before
functions and types, settings with a dot; answered by namdb and by a real PostgreSQL 15."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_reviewed
import house


def statements():
    out, feature = [], None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "definitions.sql"), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("-- "):
                feature = line[3:]
            elif line:
                out.append((feature, line))
    return out


def test_answers():
    test_reviewed.compare([], statements())


if __name__ == "__main__":
    house.main()
