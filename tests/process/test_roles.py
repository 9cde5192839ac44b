#!/usr/bin/env python3
"""Which names come in, and what becomes of sessions whose role is dropped: over the socket, in the shell, at several compute
nodes."""
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, contains, run, same, skip
from wire import Wire, error, kinds, tags, texts


def state(answer):
    """The SQLSTATE of an answer; "" = it is no error."""
    return error(answer)["C"] if "E" in kinds(answer) else ""


def refused(port, user, **settings):
    """What a client of that name is told."""
    w = Wire(port, start=False)
    w.startup(user=user, **settings)
    e = error(w.ended())
    w.s.close()
    return e["C"], e["M"]


def sql(h, *args, user=None):
    return run("sql", "--storage", h.storage(), "--secret-file", h.secret, "-q", "--csv", *(["-U", user] if user else []), *args, timeout=60, env=h.env)


def test_first_user():
    """The first client of a new cluster is its owner, whatever its name; later names must be roles."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        sql(h, "-c", "CREATE TABLE before (a int); INSERT INTO before VALUES (1)").ok()
        w = Wire(one.port, user="namdb")
        same(texts(w.query("SELECT rolname FROM pg_roles")), [("namdb",)])
        me = Wire(one.port, user="me")
        same(me.status["is_superuser"], "on")
        same(texts(me.query("SELECT current_user, session_user, (SELECT count(*) FROM before)")), [("me", "me", "1")])
        same(texts(w.query("SELECT rolname, rolsuper, rolcanlogin FROM pg_roles ORDER BY 1")), [("me", "t", "t"), ("namdb", "t", "t")])
        for port in (one.port, two.port):
            same(refused(port, "other"), ("28000", 'role "other" does not exist'))
        for user in ("public", "none", "pg_x", "pg_dropped_role", "ME", "me ", "n" * 80):
            same(refused(one.port, user)[0], "28000", user)
        Wire(two.port, user="me").close()
        same(state(w.query("DROP ROLE me")), "")
        same(refused(two.port, "me"), ("28000", 'role "me" does not exist'), "the cluster has had a role")
        same(refused(one.port, "other"), ("28000", 'role "other" does not exist'))


def test_first_users_at_once():
    """Of clients that come to a new cluster at once, one name is the owner's."""
    with House(nodes=1, size="128m") as h:
        nodes, came = [Compute(h), Compute(h)], []

        def come(k):
            w = Wire(nodes[k % 2].port, start=False, timeout=60)
            w.startup(user="u%d" % (k % 4))
            got = w.until_ready() if k < 0 else w.get()
            came.append((k % 4, got[0]))
            w.s.close()
        threads = [threading.Thread(target=come, args=(k,)) for k in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        same(len(came), 16)
        let_in = {user for user, what in came if what == "R"}
        same(len(let_in), 1, came)
        same({what for user, what in came if user in let_in}, {"R"}, "its other sessions")
        w = Wire(nodes[0].port)
        same(texts(w.query("SELECT rolname FROM pg_roles WHERE rolname <> 'namdb'")), [("u%d" % let_in.pop(),)])


def test_dropped_role_is_refused():
    """The name of a role that is gone is no superuser's, also where it was the only one: over the socket, in the shell, by SET."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h, "--pg-auth", "scram")
        sql(h, "-c", "CREATE ROLE low LOGIN PASSWORD 'x'; CREATE TABLE secret (a int); INSERT INTO secret VALUES (7)").ok()
        w = Wire(one.port, user="low")
        same(state(w.query("SELECT * FROM secret")), "42501")
        contains(sql(h, "-c", "SELECT a FROM secret", user="low").fails(1).err, "42501")
        same(sql(h, "-c", "SELECT current_user", user="low").ok().out, "current_user\nlow\n")
        w.close()
        boss = Wire(one.port)
        same(state(boss.query("DROP ROLE low")), "")
        same(refused(one.port, "low"), ("28000", 'role "low" does not exist'))
        contains(sql(h, "-c", "SELECT a FROM secret", user="low").fails(1).err, 'role "low" does not exist')
        contains(sql(h, "-c", "SELECT 1", user="nobody").fails(1).err, 'role "nobody" does not exist')
        same(state(boss.query("SET ROLE low")), "22023")
        same(state(boss.query("SET SESSION AUTHORIZATION low")), "22023")
        for name in ("public", "nobody", "pg_dropped_role"):
            same(state(boss.query("SET ROLE %s" % name)), "22023", name)
            same(state(boss.query("SET SESSION AUTHORIZATION %s" % name)), "22023", name)
        # A name without a password looks like a wrong password.
        w = Wire(two.port, start=False)
        w.startup(user="low")
        same(w.get(), ("R", b"\0\0\0\x0aSCRAM-SHA-256\0\0"))
        w.close()


ASKS = ("SELECT * FROM secret", "EXECUTE p", "CREATE ROLE mine SUPERUSER", "ALTER ROLE low SUPERUSER", "CREATE TABLE own (a int)",
        "DROP TABLE lows", "SELECT * FROM lows", "SET ROLE staff", "GRANT staff TO low", "SET SESSION AUTHORIZATION namdb")


def test_sessions_of_a_dropped_role():
    """They keep PUBLIC's rights; a role of that name that is made again gives them nothing."""
    with House(nodes=1, size="128m") as h:
        one, two = Compute(h), Compute(h)
        boss = Wire(one.port)
        boss.query("CREATE TABLE secret (a int); INSERT INTO secret VALUES (7); CREATE TABLE open (a int); INSERT INTO open VALUES (5);"
                   "GRANT SELECT ON open TO PUBLIC; CREATE ROLE staff; CREATE ROLE low LOGIN; GRANT SELECT ON secret TO low")
        there = [Wire(p.port, user="low") for p in (one, two)]
        became = Wire(two.port)
        became.query("SET ROLE low")
        setting = Wire(two.port)
        setting.query("SET SESSION AUTHORIZATION low")
        for w in there + [became, setting]:
            same(tags(w.query("PREPARE p AS SELECT * FROM secret")), ["PREPARE"])
            same(texts(w.query("EXECUTE p")), [("7",)])
        boss.query("REVOKE ALL ON secret FROM low; DROP ROLE low")
        # While it is gone, and as another role of that name is there, a superuser that owns what the first one may not see.
        for made in ("SELECT 1", "CREATE ROLE low LOGIN; GRANT SELECT ON secret TO low; GRANT staff TO low; CREATE TABLE lows (a int);"
                     "ALTER TABLE lows OWNER TO low", "ALTER ROLE low SUPERUSER"):
            same(state(boss.query(made)), "", made)
            for w in there + [became, setting]:
                same(texts(w.query("SELECT a FROM open")), [("5",)])
                for ask in ASKS:
                    if w is became and ask.startswith("SET") or w is setting and ask.startswith("SET"):
                        continue  # the session's own role may
                    check(state(w.query(ask)) in ("42501", "42704", "42P01", "22023"), (made, ask), state(w.query(ask)))
                same(texts(w.query("SHOW is_superuser")), [("off",)])
        same(texts(became.query("RESET ROLE; SELECT current_user, a FROM secret")), [("namdb", "7")])
        w = Wire(two.port, user="low")
        same(texts(w.query("SELECT a FROM secret")), [("7",)], "the new one's own session")


def test_last_superuser():
    """There always is a superuser: the first role stays one."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h)
        w = Wire(c.port)
        same(state(w.query("DROP ROLE namdb")), "55006")
        same(state(w.query("ALTER ROLE namdb NOSUPERUSER")), "0A000")
        same(state(w.query("CREATE ROLE namdb")), "42710")
        w.query("CREATE ROLE other SUPERUSER LOGIN")
        o = Wire(c.port, user="other")
        same(state(o.query("DROP ROLE namdb")), "2BP01")
        same(state(o.query("ALTER ROLE namdb NOSUPERUSER")), "0A000")
        same(tags(o.query("ALTER ROLE namdb PASSWORD 'x'")), ["ALTER ROLE"])
        same(texts(w.query("SELECT count(*) FROM pg_roles WHERE rolname = 'namdb' AND rolsuper")), [("1",)])
        same(state(w.query("DROP ROLE other")), "")
        same(state(o.query("CREATE ROLE third")), "42501")
        same(sql(h, "-c", "SELECT rolsuper FROM pg_roles").ok().out, "rolsuper\nt\n")
        # The first role may be kept from the socket; the shell has the cluster's secret.
        same(tags(w.query("ALTER ROLE namdb NOLOGIN")), ["ALTER ROLE"])
        same(refused(c.port, "namdb"), ("28000", 'role "namdb" is not permitted to log in'))
        sql(h, "-c", "ALTER ROLE namdb LOGIN").ok()
        Wire(c.port).close()


def test_noinherit():
    """A role without INHERIT has the rights of its groups only after SET ROLE; with it, at once."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h)
        boss = Wire(c.port)
        boss.query("CREATE ROLE top; CREATE ROLE mid NOINHERIT; CREATE ROLE plain LOGIN NOINHERIT; CREATE ROLE heir LOGIN INHERIT;"
                   "GRANT top TO mid; GRANT mid TO heir; GRANT top TO plain; CREATE TABLE t (a int); INSERT INTO t VALUES (3);"
                   "GRANT SELECT ON t TO top; CREATE TABLE m (a int); GRANT SELECT ON m TO mid; CREATE TABLE o (a int); ALTER TABLE o OWNER TO top")
        same(texts(boss.query("SELECT rolname FROM pg_roles WHERE NOT rolinherit ORDER BY 1")), [("mid",), ("plain",)])
        p, q = Wire(c.port, user="plain"), Wire(c.port, user="heir")
        for w in (p, q):
            same(state(w.query("SELECT * FROM t")), "42501", "mid hands nothing on")
            same(state(w.query("DROP TABLE o")), "42501")
            same(state(w.query("TRUNCATE o")), "42501")
            same(texts(w.query("SET ROLE top; SELECT a FROM t")), [("3",)])
            w.query("RESET ROLE")
            same(state(w.query("SELECT * FROM t")), "42501")
        same(state(q.query("SELECT * FROM m")), "")
        same(texts(p.query("SELECT pg_has_role('top', 'member'), pg_has_role('top', 'usage'), has_table_privilege('t', 'select')")), [("t", "f", "f")])
        boss.query("ALTER ROLE plain INHERIT")
        same(texts(p.query("SELECT a FROM t")), [("3",)])
        boss.query("ALTER ROLE plain NOINHERIT")
        same(state(p.query("SELECT a FROM t")), "42501")


def test_tls_required():
    """Without TLS a client is refused, on loopback, too; cancel requests and the UNIX socket are served."""
    if shutil.which("openssl") is None or shutil.which("psql") is None:
        skip("there is no openssl, or no psql")
    with House(nodes=1, size="128m") as h:
        cert, key = h.dir + "/cert.pem", h.dir + "/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", cert],
                       check=True, capture_output=True)
        os.chmod(key, 0o600)
        r = run("compute", "--storage", h.storage(), "--secret-file", h.secret, "--pg", "127.0.0.1:0", "--pg-require-tls", timeout=30, env=h.env).fails(1)
        contains(r.err, "--pg-cert")
        c = Compute(h, "--pg-require-tls", "--pg-cert", cert, "--pg-key", key, "--pg-socket", h.dir)
        code, text = refused(c.port, "namdb")
        same(code, "28000")
        contains(text, "without TLS")
        contains(c.psql("-c", "SELECT 1", env={"PGSSLMODE": "disable"}).fails(2).err, "without TLS")
        for mode in ("prefer", "require"):
            same(c.psql("-Atc", "SELECT 1", env={"PGSSLMODE": mode}).ok().out, "1\n")
        w = Wire(c.port, host=h.dir)
        w.send("Q", b"SELECT count(*) FROM generate_series(1, 100000000000)\0")
        while not select.select([w.s], [], [], 0.1)[0]:  # one that comes before the statement has no effect
            with socket.create_connection(("127.0.0.1", c.port), timeout=10) as s:
                s.sendall(struct.pack("!IIII", 16, 80877102, w.pid, w.key))
        same(error(w.until_ready())["C"], "57014")


def test_warned_of_trust():
    """Other machines can connect, and this one's clients need no password: the program says what that means."""
    with House(nodes=1, size="64m") as h:
        for pg, more, warned in (("0.0.0.0:0", ("--pg-auth", "trust"), True), ("0.0.0.0:0", (), True), ("0.0.0.0:0", ("--pg-auth", "scram"), False),
                                 ("127.0.0.1:0", ("--pg-auth", "trust"), False)):
            c = Compute(h, *more, pg=pg)
            same("without a password" in c.text(), warned, c.text())
            c.kill()


if __name__ == "__main__":
    house.main()
