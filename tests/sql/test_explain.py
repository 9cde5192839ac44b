#!/usr/bin/env python3
"""EXPLAIN (FORMAT JSON): valid JSON, with PostgreSQL's keys where they mean the same, and figures that add up."""
import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import check, same

SETUP = ("CREATE TABLE a (k int PRIMARY KEY, \"odd \"\"name\\\" text, v int); "
         "INSERT INTO a SELECT n, 'x', n % 7 FROM generate_series(1, 500) AS n;")
ASKED = [
    ("SELECT * FROM a WHERE k = 1", ["Project", "Key Lookup"]),
    ("SELECT v, count(*) FROM a GROUP BY v ORDER BY v LIMIT 3", ["Limit", "HashAggregate", "Seq Scan"]),
    ("SELECT x.k FROM a x LEFT JOIN a y ON x.v = y.v AND y.k < 3", ["Hash Left Join", "Seq Scan"]),
    ("SELECT k, (SELECT max(v) FROM a) FROM a WHERE v IN (SELECT k FROM a)", ["Seq Scan"]),
    ("WITH c AS (SELECT * FROM a) SELECT count(*) FROM c, c AS d WHERE c.k = d.k", ["CTE Scan"]),
    ("SELECT k FROM a UNION SELECT v FROM a", ["Append"]),
    ("INSERT INTO a SELECT k + 1000 FROM a WHERE k < 5", ["ModifyTable"]),
    ("UPDATE a SET v = 0 WHERE k = 2", ["ModifyTable", "Key Lookup"]),
    ("DELETE FROM a WHERE k > 1000", ["ModifyTable", "Seq Scan"]),
    ("EXECUTE p (3)", ["Key Lookup"]),
]
FIGURES = ["READ", "WRITE", "CAS", "FETCH_ADD", "Bytes Read", "Bytes Written"]


def nodes(plan):
    yield plan
    for p in plan.get("Plans", []):
        yield from nodes(p)


def explain(options, text):
    sql = SETUP + "PREPARE p (int) AS SELECT v FROM a WHERE k = $1;"
    r = house.run("demo", "--empty", "--nodes", "2", "--csv", "-q", "-c", sql,
                  "-c", "EXPLAIN (%s) %s" % (options, text)).ok()
    rows = list(csv.reader(io.StringIO(r.out)))
    same(rows[-2], ["QUERY PLAN"])
    return json.loads(rows[-1][0])


def test_json():
    for text, kinds in ASKED:
        got = explain("ANALYZE, VERBOSE, FORMAT JSON", text)
        same(len(got), 1)
        all_nodes = list(nodes(got[0]["Plan"]))
        said = [n["Node Type"] for n in all_nodes]
        for k in kinds:
            check(k in said, text, said)
        for n in all_nodes:
            for key in ("Actual Rows", "Actual Loops", "Actual Startup Time", "Actual Total Time", "Peak Memory"):
                check(key in n, text, key, n)
            if n["Node Type"] != "ModifyTable":
                for key in ("Plan Rows", "Plan Width", "Total Cost"):
                    check(key in n, text, key, n)
                terms = n["Cost Inclusive"]
                same(sorted(terms), ["CPU", "Memory", "Network"], text)
                check(abs(sum(terms.values()) - n["Total Cost"]) < 0.02, text, n)
                kids = [p for p in n.get("Plans", []) if p.get("Subplan Name", "CTE").startswith("CTE")]
                for term, cost in n["Cost Exclusive"].items():
                    below = sum(p["Cost Inclusive"][term] for p in kids)
                    check(abs(cost + below - terms[term]) < 0.02 + 0.01 * len(kids), text, term, n)
        for f in FIGURES:
            phases = got[0]["Fabric"]
            exclusive = sum(n["Fabric Exclusive"][f] for n in all_nodes)
            same(exclusive, phases["Operators"][f], text)
            same(sum(v[f] for k, v in phases.items() if k != "Total"), phases["Total"][f], text)
        check("Planning Time" in got[0] and "Execution Time" in got[0], text)


def test_options():
    got = explain("COSTS off, FORMAT JSON", "SELECT 1")
    same(got, [{"Plan": {"Node Type": "Project", "Plans": [
        {"Node Type": "Result", "Parent Relationship": "Outer"}]}}])
    got = explain("ANALYZE, TIMING off, BUFFERS off, SUMMARY off, FORMAT JSON", "SELECT 1")
    same(sorted(got[0]), ["Plan"])
    for key in got[0]["Plan"]:
        check("Time" not in key and "Fabric" not in key, key)


if __name__ == "__main__":
    house.main()
