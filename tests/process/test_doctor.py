#!/usr/bin/env python3
"""`namdb doctor` measures what plans go by: the processor always, the network where storage nodes answer."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same

PROCESSOR = ["row_ns", "value_ns", "hash_near_ns", "hash_far_ns", "cache_bytes", "memory_byte_ns", "partition_ns", "build_ns",
             "probe_ns", "miss_ns"]


def test_costs():
    with House(nodes=2) as h:
        alone = house.run("doctor", "--json", "--secret-file", h.secret, env=dict(h.env, NAMDB_STORAGE="127.0.0.1:1"))
        costs = json.loads(alone.out)["costs"]
        same(sorted(costs["processor"]), sorted(PROCESSOR))
        for name, ns in costs["processor"].items():
            check(0 < ns < 1e4 or name == "cache_bytes", name, ns)
        check(costs["processor"]["hash_far_ns"] > costs["processor"]["hash_near_ns"], costs)
        contains(costs["network"], "127.0.0.1:1")
        check(not any("127.0.0.1:1" in f["what"] for f in json.loads(alone.out)["findings"]), alone.out)

        where = ["--storage", h.storage(), "--secret-file", h.secret]
        network = json.loads(house.run("doctor", "--json", *where, env=h.env).out)["costs"]["network"]
        same(network["fabric"], "shm")
        for name in ("trip_ns", "verb_ns", "byte_ns", "join_trip_ns"):
            check(0 < network[name] < 1e7, name, network)
        same(network["join_byte_ns"], 0)  # memory that is mapped has no wire
        text = house.run("doctor", *where, env=h.env).out
        for word in ("costs of plans, in ns (SET namdb.cost_...): row ", "costs of joins, in ns: a byte of memory ",
                     "costs of the network (shm), in ns: trip "):
            contains(text, word)
        # They are measured, nothing of the cluster changes: it has not even been made.
        house.until(lambda: [n["peers"] for n in h.status().values()] == [1, 1], 5, "the doctors have left")

        gone = house.run("doctor", "--storage", "127.0.0.1:1", "--secret-file", h.secret, env=h.env)
        same(gone.rc, 1)
        contains(gone.out, "costs of the network: not measured: ")
        contains(gone.out, "problem: ")
        contains(house.run("doctor", "--secret-file", "/none/such", env=h.env).out, "costs of the network: not measured: ")


def test_usage():
    same(house.run("doctor", "--storage").rc, 2)
    same(house.run("doctor", "--nosuch").rc, 2)
    same(house.run("doctor", "more").rc, 2)
    contains(house.run("doctor", "--help").ok().out, "--storage LIST")


if __name__ == "__main__":
    house.main()
