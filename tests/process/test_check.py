#!/usr/bin/env python3
"""`namdb check` as a program: what it takes, what it answers with, and what it says of nonsense."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

HEAD = '{"history":1,"model":"list-append"%s}\n'
SKEW = (HEAD + '{"id":1,"session":0,"begin":1,"end":9,"status":"ok","ops":[["r","x\\"\\n",[]],["append","y",1]]}\n'
        '{"id":2,"session":1,"begin":1,"end":9,"status":"ok","ops":[["r","y",[]],["append","x\\"\\n",1]]}\n{"end":2}\n')


def test_exit_codes():
    with House() as h:
        good = h.file("good", SKEW % "")
        bad = h.file("bad", SKEW % ',"level":"serializable"')
        cut = h.file("cut", (SKEW % "")[:-3])
        r = run("check", good).ok()
        contains(r.out, "2 transactions (2 ok, 0 fail, 0 info) of 2 sessions", "snapshot: nothing wrong")
        r = run("check", bad).fails(1)
        contains(r.out, "serializable: VIOLATED, 1 finding\n", "1. write skew (G2-item): a cycle of 2 transactions",
                 "T1 (line 2, session 0, ok): read", "T1 -> T2  rw: T1 saw key", "as it was before T2 wrote 1")
        same(r.err, "")
        r = run("check", cut).fails(2)
        contains(r.err, cut + ":4:8: the file ends where a number of transactions should stand")
        same(r.out, "")
        same(run("check", good, bad).rc, 1, "the worst of several")
        same(run("check", bad, cut, good).rc, 2, "the worst of several")
        same(run("check", "--level", "serializable", good).rc, 1, "what is asked goes before what the file says")
        same(run("check", "--level", "si", bad).rc, 0)
        contains(run("check", "-", stdin=SKEW % "").ok().out, "standard input: 2 transactions")


def test_nonsense():
    with House() as h:
        good = h.file("good", SKEW % "")
        for args, says in ((["check"], "which history?"), (["check", "--level"], "a value is missing after --level"),
                           (["check", "--level", "best", good], 'there is no level "best"'),
                           (["check", "--color", good], "unknown option --color"),
                           (["check", "--witnesses", "0", good], "--witnesses is a number from 1 to 1000")):
            r = run(*args).fails(2)
            contains(r.err, says, "namdb check --help")
        contains(run("check", os.path.join(h.dir, "none")).fails(2).err, "No such file or directory")
        contains(run("check", h.dir).fails(2).err, "Is a directory")
        contains(run("check", h.file("empty", "")).fails(2).err, ":1:1: the file is empty")
        contains(run("check", h.file("rubbish", bytes(range(256)) * 50)).fails(2).err, ":1:1: byte 0 where '{' should stand")
        same(run("check", "--partial", h.file("cut", (SKEW % "")[:-10])).rc, 0, "only the last line is missing")


def test_json():
    with House() as h:
        what = json.loads(run("check", "--json", h.file("bad", SKEW % ',"level":"serializable"')).fails(1).out)
        same((what["level"], what["clean"], what["findings_total"], what["transactions"]), ("serializable", False, 1, 2))
        same(what["holds"]["strong-snapshot"], True)
        same(what["holds"]["serializable"], False)
        f = what["findings"][0]
        same((f["anomaly"], f["class"], f["transactions"]), (
            "write skew", "G2-item", [{"id": 1, "line": 2, "session": 0}, {"id": 2, "line": 3, "session": 1}]))
        same(f["edges"][0], {"from": 1, "to": 2, "type": "rw", "key": 'x"\n', "value": 1})
        what = json.loads(run("check", "--json", h.file("cut", "{")).fails(2).out)
        contains(what["error"], ":1:2: the file ends where")


def test_help_shows_a_history():
    text = run("check", "--help").ok().out
    lines = [l.strip() for l in text.splitlines() if l.startswith("  {")]
    run("check", "-", stdin="\n".join(lines)).ok()


def test_a_million_operations():
    """In seconds, most of which this script takes to write them."""
    n = 200000 if house.SLOW == 1 else 20000
    with House() as h:
        lists, lines = {}, [HEAD.strip() % ""]
        for i in range(n):
            k = i // 40
            seen = lists.setdefault(k, [])
            lines.append('{"id":%d,"session":%d,"begin":%d,"end":%d,"status":"ok","ops":[["r",%d,%s],["append",%d,%d],["r",%d,[]],'
                         '["append",%d,%d],["r",%d,[%d]]]}' % (i, i % 16, i * 10, i * 10 + 9, k, seen, k, i, -1, n + i, i, n + i, i))
            seen.append(i)
        path = h.file("big", "\n".join(lines + ['{"end":%d}\n' % n]))
        what = json.loads(run("check", "--json", "--level", "strict-serializable", path, timeout=60).ok().out)
        same(what["operations"], n * 5)


if __name__ == "__main__":
    house.main()
