#!/usr/bin/env python3
"""Rights of roles at several compute nodes: a REVOKE at one holds at the others, also for prepared statements; GRANTs at the
same time are all kept; a role that is being dropped is granted nothing."""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, error, kinds, tags, texts


def state(answer):
    """The SQLSTATE of an answer; "" = it is no error."""
    return error(answer)["C"] if "E" in kinds(answer) else ""


def test_revoke_elsewhere():
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss = Wire(one.port, user="boss")
        boss.query("CREATE ROLE ann LOGIN; CREATE ROLE staff; CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 10);"
                   "CREATE VIEW v AS SELECT b FROM t; CREATE SEQUENCE s")
        here, there = Wire(one.port, user="ann"), Wire(two.port, user="ann")
        asks = {"t": "SELECT b FROM t WHERE a = 1", "v": "SELECT b FROM v", "s": "SELECT nextval('s')"}
        for w in (here, there):
            same(w.status["is_superuser"], "off")
            for name, text in asks.items():
                same(state(w.query(text)), "42501")
        boss.query("GRANT SELECT ON t, v TO ann; GRANT USAGE ON SEQUENCE s TO ann")
        for w in (here, there):
            for name, text in asks.items():
                w.query("PREPARE p_%s AS %s" % (name, text))
                same(state(w.query("EXECUTE p_%s" % name)), "", name)
                same(state(w.query("EXECUTE p_%s" % name)), "", name)
        # A snapshot of before the REVOKE still reads.
        there.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT b FROM t")
        for name in asks:
            boss.query("REVOKE ALL ON %s FROM ann" % name)
        for w in (here, there):
            if w is there:
                there.query("COMMIT")
            for name, text in asks.items():
                same(state(w.query("EXECUTE p_%s" % name)), "42501", (name, w is there))
                same(state(w.query(text)), "42501", name)
        # By way of a membership.
        boss.query("GRANT SELECT ON t TO staff; GRANT staff TO ann")
        for w in (here, there):
            same(texts(w.query("EXECUTE p_t")), [("10",)])
        boss.query("REVOKE staff FROM ann")
        for w in (here, there):
            same(state(w.query("EXECUTE p_t")), "42501", "no member any more")
        for w in (boss, here, there):
            w.close()


def test_superuser_no_more():
    """A superuser that is one no more, at another node, is none from the next statement on; what ANALYZE knows is not for all."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss = Wire(one.port, user="boss")
        boss.query("CREATE ROLE ann SUPERUSER LOGIN; CREATE TABLE t (a int PRIMARY KEY, b text);"
                   "INSERT INTO t SELECT i, 'secret' FROM generate_series(1, 100) i; ANALYZE t")
        w = Wire(two.port, user="ann")
        same(w.status["is_superuser"], "on")
        same(state(w.query("SELECT count(*) FROM t")), "")
        same(state(w.query("SELECT count(*) FROM nam_extras")), "")
        check(texts(w.query("SELECT count(*) FROM nam_stats WHERE tablename = 't'")) != [("0",)], "statistics")
        w.query("BEGIN; SAVEPOINT a; SELECT 1")
        boss.query("ALTER ROLE ann NOSUPERUSER")
        same(state(w.query("SELECT count(*) FROM t")), "42501")
        w.query("ROLLBACK")
        same(texts(w.query("SHOW is_superuser")), [("off",)])
        for text in ("SELECT count(*) FROM t", "SELECT * FROM nam_extras", "CREATE ROLE bob", "SET ROLE boss", "GRANT SELECT ON t TO ann"):
            check(state(w.query(text)) in ("42501", "22023"), text)
        same(texts(w.query("SELECT count(*) FROM nam_stats WHERE tablename = 't'")), [("0",)])
        # The client is told which role it has.
        told = boss.query("SET SESSION AUTHORIZATION ann")
        same(sorted(m[1] for m in told if m[0] == "S"), [b"is_superuser\0off\0", b"session_authorization\0ann\0"])
        same(sorted(m[1] for m in boss.query("RESET SESSION AUTHORIZATION") if m[0] == "S"),
             [b"is_superuser\0on\0", b"session_authorization\0boss\0"])
        boss.query("ALTER ROLE ann SUPERUSER")
        same(state(w.query("SELECT count(*) FROM t")), "")
        boss.query("DROP ROLE ann")
        same(state(w.query("SELECT count(*) FROM t")), "42501", "a role that is gone has no rights")
        same(state(w.query("CREATE TABLE u (a int)")), "42501")
        w.close()
        boss.close()


def test_grants_side_by_side():
    """Each of many sessions grants its own right to its own role, again and again, of one table, view and sequence."""
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        boss = Wire(nodes[0].port, user="boss")
        boss.query("CREATE TABLE t (a int PRIMARY KEY); CREATE VIEW v AS SELECT a FROM t; CREATE SEQUENCE s")
        sessions, times, wrong = 6, 8, []
        for k in range(sessions):
            boss.query("CREATE ROLE r%d" % k)

        def work(k):
            w = Wire(nodes[k % 2].port, user="boss")
            for i in range(times):
                for what in ("t", "v", "s"):
                    verb = "GRANT SELECT ON %s TO r%d" if i % 2 == 0 or i + 1 == times else "REVOKE SELECT ON %s FROM r%d"
                    answer = w.query(verb % (what, k))
                    if state(answer):
                        wrong.append((verb % (what, k), error(answer)))
            w.close()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(sessions)]
        for t in threads:
            t.start()
        for i in range(20):  # statistics are another change of the definition
            same(tags(boss.query("ANALYZE t")), ["ANALYZE"])
        for t in threads:
            t.join()
        check(not wrong, "refused:", wrong[:3])
        for c in nodes:
            w = Wire(c.port, user="boss")
            for what in ("t", "v", "s"):
                got = [texts(w.query("SELECT has_table_privilege('r%d', '%s', 'select')" % (k, what))) for k in range(sessions)]
                same(got, [[("t",)]] * sessions, ("a GRANT is lost of", what))
            w.close()
        boss.close()


def test_dropped_role():
    """DROP ROLE beside GRANT to it: either the role is gone and nothing names it, or it is there."""
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        a, b = Wire(nodes[0].port, user="boss"), Wire(nodes[1].port, user="boss")
        a.query("CREATE TABLE t (a int PRIMARY KEY); CREATE VIEW v AS SELECT a FROM t")
        seen = set()
        for i in range(30 if not house.SLOW > 1 else 12):
            what = "tv"[i % 2]
            a.query("CREATE ROLE brief")
            out = {}

            def other():
                out["drop"] = state(b.query("DROP ROLE brief"))

            t = threading.Thread(target=other)
            t.start()
            out["grant"] = state(a.query("GRANT SELECT ON %s TO brief" % what))
            t.join()
            there = texts(a.query("SELECT count(*) FROM pg_roles WHERE rolname = 'brief'")) == [("1",)]
            named = texts(a.query("SELECT count(*) FROM pg_class WHERE relname = '%s' AND array_to_string(relacl, ' ') LIKE '%%brief%%'"
                                  % what)) == [("1",)]
            seen.add((out["drop"], out["grant"]))
            check(there == (out["drop"] != ""), "the role:", there, out)
            check(named == (out["grant"] == ""), "its right:", named, out)
            check(there or not named, "a list names a role that is gone:", out)
            a.query("DROP OWNED BY brief")
            a.query("DROP ROLE IF EXISTS brief")
            if not there:
                continue
            same(texts(a.query("SELECT count(*) FROM pg_roles WHERE rolname = 'brief'")), [("0",)])
        check(seen <= {("2BP01", ""), ("", "42704"), ("40001", ""), ("", "40001")}, "outcomes:", seen)
        a.close()
        b.close()


def test_made_while_dropped():
    """A role makes a table while it is dropped: a later role of its name gets nothing of that."""
    with House(nodes=1, size="128m") as h:
        nodes = [Compute(h), Compute(h)]
        boss = Wire(nodes[1].port, user="boss")
        for i in range(20 if not house.SLOW > 1 else 8):
            boss.query("CREATE ROLE brief LOGIN")
            boss.query("GRANT CREATE ON SCHEMA public TO brief")
            w = Wire(nodes[0].port, user="brief")
            w.query("BEGIN; CREATE TABLE made (a int)")
            boss.query("REVOKE CREATE ON SCHEMA public FROM brief")
            drop = state(boss.query("DROP ROLE brief"))
            commit = state(w.query("COMMIT"))
            left = texts(boss.query("SELECT count(*) FROM pg_class WHERE relname = 'made'")) == [("1",)]
            check(drop in ("", "2BP01") and left == (commit == ""), "dropped, made:", drop, commit, left)
            again = state(boss.query("CREATE ROLE brief LOGIN"))
            same(again, "42710" if drop else "55006" if left else "", "a second role of that name")
            w.close()
            boss.query("DROP TABLE IF EXISTS made")
            boss.query("DROP ROLE brief")
        boss.close()


if __name__ == "__main__":
    house.main()
