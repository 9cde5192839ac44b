#!/usr/bin/env python3
"""bench/restarts.py: servers are killed and start again; small."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import check, same

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "restarts.py")


def bench(*args, code=0):
    with tempfile.TemporaryDirectory() as dir:
        os.chmod(dir, 0o755)
        r = subprocess.run([sys.executable, "-B", BENCH, "--dir", dir, "--size", "256m", *args], capture_output=True, text=True, timeout=300 * house.SLOW)
        same(r.returncode, code, r.stderr)
        same(os.listdir(dir), [], "it leaves nothing")
        return r.stdout


def test_figures():
    got = json.loads(bench("--rows", "3000", "--runs", "2", "--json"))["restarts"]
    same([f["server"] for f in got], ["namdb", "PostgreSQL", "Redis"] if shutil.which("redis-server") else ["namdb", "PostgreSQL"])
    for f in got:
        same(f["rows"], 3000)
        check(0 < f["seconds"] < 60 and len(f["all"]) == 2 and f["log_bytes"] > 0, f)


def test_one_server():
    out = bench("--rows", "1000", "--runs", "1", "--peers", "none")
    check("namdb" in out and "PostgreSQL" not in out, out)


if __name__ == "__main__":
    house.main()
