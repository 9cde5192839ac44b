#!/usr/bin/env python3
"""A few of the rounds of tests/rounds.py: the cluster is killed under load, and a frozen copy of its disk is started."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
import rounds


def test_storm():
    rounds.storm(house.rounds(6, 3), 0.5, 3)


def test_storm_with_two_copies():
    rounds.storm(house.rounds(5, 3), 0.5, 4, 2)


def test_images():
    if not rounds.can_mount():
        house.skip("this user cannot mount a file system")
    rounds.images(house.rounds(2, 1), 0.5, 3)


if __name__ == "__main__":
    house.main()
