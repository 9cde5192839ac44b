#!/usr/bin/env python3
"""What real processes saw under load, judged by `namdb check`: namdb at each of its levels, and PostgreSQL beside it, so that
it is known that this load shows what a weaker level allows."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, os.path.join(HERE, "..", "sql"))
import histories
import house
import test_postgres
from house import check, same

SEED = int(os.environ.get("NAM_SEED", "1"))
SECONDS = {"": house.rounds(1.5, 0.8), "address,undefined": 2}.get(house.SANITIZE, 4)
BEATEN = {"40001", "40P01", "55P03"}  # the only reasons why a transaction may not commit here
server = None


def judged(name, conflicts=True):
    def use(run):
        rc, what, words = run.judge()
        states = run.states()
        print("  %s: %d ok, %s, holds: %s" % (name, what["ok"], states, [l for l in what["holds"] if what["holds"][l]]))
        same(rc, 0, words)
        same(run.stuck, 0, "clients that did not come to an end")
        check(set(states) <= BEATEN, "only another transaction may be in the way:", states)
        check(what["info"] == 0, "no process was killed, so every client knows how its transactions ended", words)
        check(what["ok"] >= 50, "too little happened:", words)
        if conflicts:
            check(sum(states.values()) > 0, "no client was in another's way, so this proves nothing", words)
        return what["holds"]
    return use


def namdb(fabric, level, **how):
    name = "namdb %s %s %s" % (fabric, level, how)
    return histories.with_namdb(fabric, judged(name, conflicts=level != "rc"), level=level, seconds=SECONDS, seed=SEED, **how)


def postgres(level, **how):
    global server
    if house.SLOW != 1:
        house.skip("PostgreSQL is not built with this sanitizer, and the release build asks it")
    if server is None:
        server = test_postgres.Postgres()
    name = "postgres %s %s" % (level, how)
    return histories.with_postgres(server, judged(name, conflicts=level != "rc"), level=level, seconds=SECONDS, seed=SEED, **how)


def test_read_committed():
    holds = namdb("shm", "rc")
    if house.SLOW == 1:
        check(not holds["snapshot"], "READ COMMITTED under this load is no snapshot isolation, or the load is too weak")


def test_repeatable_read():
    namdb("shm", "rr")


def test_repeatable_read_for_all():
    """With visibility = cluster no session of any process is behind what was answered."""
    namdb("tcp", "rr", cluster=True)


def test_serializable():
    namdb("tcp", "ser")


def test_serializable_for_all():
    namdb("shm", "ser", cluster=True)


def test_bank():
    namdb("shm", "rr", workload="bank")
    holds = namdb("tcp", "rc", workload="bank")
    if house.SLOW == 1:
        check(not holds["snapshot"], "two statements of READ COMMITTED are two snapshots, or the load is too weak")


def test_register():
    """A row that is read under a lock and overwritten, again and again."""
    namdb("shm", "rr", workload="register")
    namdb("tcp", "ser", workload="register")


def test_checkout():
    """Stock, orders and lines: in every snapshot stock and what lines say was sold are one sum, and no order is without lines."""
    namdb("tcp", "rr", workload="checkout")
    namdb("shm", "ser", workload="checkout")


def test_postgres_read_committed_is_flagged():
    check(not postgres("rc")["snapshot"], "this load does not show what READ COMMITTED allows")
    check(not postgres("rc", workload="bank")["snapshot"], "nor does the bank")


def test_postgres_repeatable_read():
    check(not postgres("rr")["serializable"], "this load does not show write skew")


def test_postgres_serializable():
    postgres("ser")


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if server is not None:
            server.close()
