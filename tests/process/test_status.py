#!/usr/bin/env python3
"""`namdb status` says whether the database is open, how far its restore is, and what its log has; it waits for no process."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import test_durable as durable
from house import Compute, House, check, contains, run, same, until
from test_checkpoint import begin
from test_comeback import large


def ask(h, storage, *more):
    return run("status", "--storage", storage, "--secret-file", h.secret, *more, env=h.env, timeout=10).ok().out


def text(h, storage):
    """The lines below the table."""
    return [line for line in ask(h, storage).splitlines() if line.startswith(("database:", "log:"))]


def tell(h, storage):
    return {n["id"]: n for n in json.loads(ask(h, storage, "--json"))}


def test_without_a_log():
    with House(nodes=2) as h:
        same(text(h, h.storage()), ["database: no compute process has come yet"])
        check(all("database" not in n and "home" not in n for n in tell(h, h.storage()).values()), "no cluster")
        s = h.shell()
        s.ok("SELECT 1")
        same(text(h, h.storage()), ["database: open; without a log, it ends with the nodes"])
        said = tell(h, h.storage())
        same(len({n["cluster_number"] for n in said.values()}), 1)
        home = said[said[1]["home"]]
        same((home["database"], home["log_node"]), ("open", 0))
        check(all("log" not in n for n in said.values()), "no log")
        # Of a part of the cluster what is known is said.
        other = [n for n in h.nodes if n.id != home["id"]][0]
        same(len(text(h, other.address)), 1)
        contains(text(h, other.address)[0], "not known")
        s.close(0)


def test_with_a_log():
    with House() as h:
        c = durable.Cluster(h, nodes=2)
        lines = text(h, c.storage)
        same(lines[0], "database: no compute process has come yet")
        same(lines[1], "log: on node 1 (%s), it has no database" % c.node[0].address)
        same(tell(h, c.storage)[1]["log"], {"condition": "well", "has_database": False})
        s = c.shell()
        s.ok("CREATE TABLE t (id integer PRIMARY KEY, b text); INSERT INTO t SELECT i, repeat('x', 900) FROM generate_series(1, 500) i")
        lines = text(h, c.storage)
        same(lines[0], "database: open")
        contains(lines[1], "log: on node 1", "flushed from position 0 to ", "last checkpoint or restore", "s ago")
        said = tell(h, c.storage)
        home, log = said[said[2]["home"]], said[1]["log"]
        same((home["database"], home["log_node"]), ("open", 1))
        check("log" not in said[2], "one node has the log")
        check(450000 < log["since_checkpoint"] <= log["bytes"] == log["flushed"] - log["begin"], log)
        s.ok("CHECKPOINT")
        again = tell(h, c.storage)[1]["log"]
        same(again["begin"], begin(c))
        check(again["begin"] > 0 and again["since_checkpoint"] < 1000 and again["checkpoint_age_s"] < 20 * house.SLOW, again)
        s.drop()
        c.kill()
        c.start()
        lines = text(h, c.storage)
        same(lines[0], "database: no compute process has come yet")
        contains(lines[1], "it has a database that is not open")
        same(tell(h, c.storage)[1]["log"], {"condition": "well", "has_database": True})


def test_while_it_is_restored():
    """Percentages rise; a restorer that stands still, or has been told to end, leaves an answer as well."""
    with House(lease_ms=30000) as h:
        p, rows = large(h)
        p.compute.kill()
        p.node.kill()
        p.start()
        node = Compute(h, "--workers", "1", expect=False)
        seen, stopped = [], False
        deadline = time.monotonic() + 120 * house.SLOW
        while time.monotonic() < deadline:
            said = tell(h, h.storage())[1]
            if said.get("database") == "open":
                break
            if said.get("database") != "restoring":
                continue
            seen.append(said["restored_permille"])
            if not stopped and seen[-1] > 0:
                node.p.send_signal(signal.SIGSTOP)
                stopped = True
                line = text(h, h.storage())[0]
                check(line.startswith("database: a process restores it: "), line)
                node.p.send_signal(signal.SIGCONT)
        same(said["database"], "open")
        check(stopped and seen == sorted(seen) and len(set(seen)) > 2, "percentages:", seen)
        # A restorer that has been told to end.
        node.kill()
        p.node.kill()
        p.start()
        node = Compute(h, "--workers", "1", expect=False)
        until(lambda: tell(h, h.storage())[1].get("database") == "restoring", 30, "it restores")
        node.terminate()
        same(text(h, h.storage())[0], "database: not open: the next compute process restores it")
        same(tell(h, h.storage())[1]["database"], "closed")


if __name__ == "__main__":
    house.main()
