#!/usr/bin/env python3
"""bench/figures.py, behind `./go figures`: each figure's runs and picture, and what is told when one is missing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import check, contains, same

FIGURES = os.path.join(house.ROOT, "bench", "figures.py")


def figures(*args, **env):
    env.setdefault("NAMDB", house.NAMDB)
    return subprocess.run([sys.executable, "-B", FIGURES, *args], capture_output=True, text=True, timeout=60 * house.SLOW,
                          stdin=subprocess.DEVNULL, env=house.clean_env(env))


def need_gnuplot():
    if shutil.which("gnuplot") is None:
        house.skip("gnuplot is not here")


def program(dir, text):
    """A namdb that is a shell script."""
    path = os.path.join(dir, "namdb")
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def test_quick():
    if os.environ.get("NAM_SANITIZE") == "thread":
        house.skip("one thread plays most runs")
    need_gnuplot()
    with tempfile.TemporaryDirectory() as dir:
        out, t0 = os.path.join(dir, "it's", "new"), time.monotonic()
        r = figures("--quick", out)
        same((r.returncode, r.stdout), (0, ""), r.stderr)
        check(time.monotonic() - t0 < 15 * house.SLOW, "it is quick")
        names = {n.rsplit(".", 1)[0] for n in os.listdir(out) if n.endswith(".json")}
        paper = {"figure6-rsi-paper"} & names # as namdb has it or not
        same(names - paper, {"cx6", "figure8a", "figure8b", "machines", "tatp", "smallbank", "oracle", "oracle-fdr4x", "figure6-rsi", "figure6-2pc-verbs",
                             "figure6-2pc-ipoeth", "figure6-2pc-ipoib", "xstore-learned", "xstore-tree", "xstore-tree-top", "xstore-none",
                             "xstore-messages", "lanes-1", "lanes-8"})
        same({n for n in os.listdir(out) if not n.endswith(".json")},
             {"cx6.svg", "figure8a.svg", "figure8b.svg", "tatp.svg", "smallbank.svg", "oracle.svg", "oracle-fdr4x.svg", "figure6.svg", "xstore.svg",
              "lanes.svg", "machines.svg"})
        for name in names:
            contains(r.stderr, "figures: %s: " % name)
            with open(os.path.join(out, name + ".json"), encoding="utf-8") as f:
                got = json.load(f)
            if name.startswith("figure8") or name == "machines":
                same((got["metrics"]["check_errors"], len(got["points"])), (0, 2), name)
            elif not name.startswith("oracle"):
                same([p["check_errors"] for p in got["points"]], [0, 0], name)
        with open(os.path.join(out, "figure6.svg"), encoding="utf-8") as f:
            contains(f.read(), "<svg", "rsi (4 clients: nothing is full)", "2pc-ipoib", "2pc-ipoeth", "2pc-verbs", "figure 6",
                     "say nothing", "</svg>")
        with open(os.path.join(out, "xstore.svg"), encoding="utf-8") as f:
            contains(f.read(), "<svg", "learned (", "DrTM-Tree: 22 M/s", "tree-top (", "say nothing", "</svg>")
        with open(os.path.join(out, "lanes.svg"), encoding="utf-8") as f:
            contains(f.read(), "<svg", "one word of commit ids", "eight words", "say nothing", "</svg>")
        for name, words in (("lanes-1", 1), ("lanes-8", 8)):
            with open(os.path.join(out, name + ".json"), encoding="utf-8") as f:
                same([p["lanes"] for p in json.load(f)["points"]], [words, words])
        # Virtual time: once more brings the same.
        with open(os.path.join(out, "cx6.json"), encoding="utf-8") as f:
            before = f.read()
        same(figures("--quick", out).returncode, 0)
        with open(os.path.join(out, "cx6.json"), encoding="utf-8") as f:
            same(f.read(), before)


def one_line(r, code, *parts):
    same((r.returncode, r.stdout, r.stderr.count("\n")), (code, "", 1), r.stderr)
    contains(r.stderr, "figures: ", *parts)


def test_nothing_to_draw_with():
    with tempfile.TemporaryDirectory() as dir:
        one_line(figures("--quick", os.path.join(dir, "out"), PATH=dir), 1, "gnuplot is not here", "gnuplot-nox")
        same(os.listdir(dir), [])


def test_nowhere_to_write():
    need_gnuplot()
    with tempfile.TemporaryDirectory() as dir:
        file = os.path.join(dir, "file")
        with open(file, "w", encoding="utf-8"):
            pass
        one_line(figures("--quick", os.path.join(file, "out")), 1, file, "Not a directory")
        one_line(figures("--quick", file), 1, file, "File exists")
        one_line(figures("--quick", dir, NAMDB=os.path.join(dir, "none")), 1, "none is not here", "./go build")
        for args in (("--nonsense",), ("a", "b")):
            r = figures(*args)
            same((r.returncode, r.stdout), (2, ""), r.stderr)
            contains(r.stderr, "usage: ./go figures [--quick] [DIR]")


def test_a_run_that_fails():
    """It is named with its reason, the others go on, and what there was of it before stays."""
    if os.environ.get("NAM_SANITIZE") == "thread":
        house.skip("one thread plays most runs")
    need_gnuplot()
    with tempfile.TemporaryDirectory() as dir:
        out = os.path.join(dir, "out")
        os.mkdir(out)
        with open(os.path.join(out, "tatp.json"), "w", encoding="utf-8") as f:
            f.write("old")
        script = program(dir, 'case " $* " in *" tatp "*) echo "check: WRONG, for a test" >&2; echo "{"; exit 1 ;;\n'
                              '*" oracle "*" --fabric "*) echo "{" ;; *) exec "%s" "$@" ;; esac\n' % os.path.abspath(house.NAMDB))
        r = figures("--quick", out, NAMDB=script)
        same(r.returncode, 1, r.stderr)
        contains(r.stderr, "figures: tatp: exit code 1: check: WRONG, for a test\n", "figures: oracle: its output is not JSON")
        with open(os.path.join(out, "tatp.json"), encoding="utf-8") as f:
            same(f.read(), "old")
        check({"cx6.svg", "figure6.svg", "smallbank.svg"} <= set(os.listdir(out)), os.listdir(out))
        check("oracle.json" not in os.listdir(out), os.listdir(out))


if __name__ == "__main__":
    house.main()
