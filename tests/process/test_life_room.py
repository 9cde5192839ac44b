#!/usr/bin/env python3
"""Much work of many kinds in one process: its private memory comes back to what it was after a hundred of each. The long form is tests/life.py room."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import life
import room
from house import same


def test_memory_comes_back():
    f = life.Figures("room")
    room.room(f, share=house.rounds(0.1, 0.05), fatter=1.3, rest=25, first_rest=8, together=True)
    f.table()
    same(f["wrong"], [], "what is wrong")


if __name__ == "__main__":
    house.main()
