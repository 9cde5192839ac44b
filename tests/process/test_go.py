#!/usr/bin/env python3
"""./go's own words: a long build shows that it is alive, a failed one what it said."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, Terminal, check, contains, same

GO = os.path.join(house.ROOT, "go")
# The functions alone: a real build would take minutes.
PARTS = re.search(r"^say\(\).*?(?=^# ---- packages)", open(GO).read(), re.M | re.S).group(0) + re.search(
    r"^# alive WHAT.*?(?=^# build_in)", open(GO).read(), re.M | re.S).group(0)
STEPS = "for i in 1 2 3; do echo \"[$i/3] Building\"; sleep 1.2; done"


def test_progress_at_a_terminal():
    with House() as h:
        t = h.terminal("-c", PARTS + "quietly 'building it' sh -c '%s'; echo over" % STEPS, program="/bin/bash")
        t.expect(r"building it \.\.\.")
        t.expect(r"building it: \d of 3, \d s")
        t.expect(r"over\n")
        same(t.end(), 0)


def test_elsewhere_it_is_silent_for_a_while():
    r = subprocess.run(["bash", "-c", PARTS + "quietly 'building it' sh -c 'echo [1/3]; sleep 2'"], capture_output=True, text=True,
                       timeout=60)
    same((r.returncode, r.stdout, r.stderr), (0, "", "building it ...\n"))
    # Every 20 seconds a line: with another clock.
    soon = PARTS.replace("next=20", "next=1").replace("next + 20", "next + 1")
    r = subprocess.run(["bash", "-c", soon + "quietly 'building it' sh -c '%s'" % STEPS], capture_output=True, text=True, timeout=60)
    contains(r.stderr, "building it: 2 of 3, ")


def test_failure_says_why_and_nothing_is_left():
    t0 = time.monotonic()
    r = subprocess.run(["bash", "-c", PARTS + "quietly 'building it' sh -c 'echo [1/3]; echo why not; exit 3'"],
                       capture_output=True, text=True, timeout=60)
    same(r.returncode, 1)
    contains(r.stderr, "why not", "go: building it failed")
    check(time.monotonic() - t0 < 5 * house.SLOW, "nothing holds the pipes open")


if __name__ == "__main__":
    house.main()
