#!/usr/bin/env python3
"""psycopg2 and psycopg 3 (Debian's python3-psycopg2 and python3-psycopg) at `namdb compute`: values, transactions, COPY, cancels,
pipelines, asynchronous connections."""
import asyncio
import datetime
import decimal
import io
import os
import sys
import threading
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same, skip

try:
    import psycopg2
    import psycopg2.errors
    import psycopg2.extensions
    import psycopg2.extras
except ImportError:
    psycopg2 = None
try:
    import psycopg
    import psycopg.types.json
except ImportError:
    psycopg = None

SLOW_SQL = "SELECT count(*) FROM generate_series(1, 1000000000) a WHERE a % 7 = 3"
COLUMNS = "a int PRIMARY KEY, b numeric(8,2), d date, ts timestamptz, u uuid, arr int[], t text, by bytea, f float8, yes boolean, tm time, iv interval"
ROW = (1, decimal.Decimal("1.50"), datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 678, tzinfo=datetime.timezone.utc),
       uuid.UUID("0b8c1f7e-9d1e-4d6b-8a64-2b6d7a3e2c11"), [1, 2, None], "x'y\\z", b"\0\xff", 1.25, True, datetime.time(1, 2, 3),
       datetime.timedelta(days=1, seconds=5))
shared = None


def place():
    global shared
    if shared is None:
        shared = Compute(House(nodes=1, size="256m"))
    return dict(host="127.0.0.1", port=shared.port, user="py", dbname="db")


def two(**more):
    """A connection of psycopg2."""
    if psycopg2 is None:
        skip("psycopg2 is not installed")
    return psycopg2.connect(**place(), **more)


def three(**more):
    """A connection of psycopg 3."""
    if psycopg is None:
        skip("psycopg is not installed")
    return psycopg.connect(**place(), **more)


def raises(kind, f, *args):
    try:
        f(*args)
    except kind as e:
        return e
    raise AssertionError("no %s by %r" % (kind.__name__, args))


# ---- psycopg2 --------------------------------------------------------------------------------


def test_psycopg2_values():
    c = two()
    psycopg2.extras.register_uuid(conn_or_curs=c)
    cur = c.cursor()
    cur.execute("CREATE TABLE two (%s, j json)" % COLUMNS)
    cur.execute("INSERT INTO two VALUES (%s)" % ", ".join(["%s"] * 13), ROW + (psycopg2.extras.Json({"k": [1]}),))
    cur.execute("SELECT * FROM two")
    got = cur.fetchone()
    same(got[:7] + (bytes(got[7]),) + got[8:], ROW + ({"k": [1]},))
    same([d.name for d in cur.description][:3], ["a", "b", "d"])
    psycopg2.extras.execute_values(cur, "INSERT INTO two (a, b) VALUES %s", [(k, k * 1.5) for k in range(2, 500)])
    psycopg2.extras.execute_batch(cur, "UPDATE two SET t = %s WHERE a = %s", [("t%d" % k, k) for k in range(2, 300)])
    cur.execute("SELECT count(*), sum(b) FROM two WHERE t LIKE 't%%'")
    same(cur.fetchone(), (298, decimal.Decimal(sum(range(2, 300))) * 3 / 2))
    cur.execute("SELECT a FROM two WHERE a IN %s ORDER BY a", ((3, 5, 1000),))
    same(cur.fetchall(), [(3,), (5,)])
    cur.execute("SELECT a FROM two WHERE a = ANY(%s) ORDER BY a", ([3, 5, 1000],))
    same(cur.fetchall(), [(3,), (5,)])
    c.commit()
    d = two(cursor_factory=psycopg2.extras.RealDictCursor)
    cur = d.cursor()
    cur.execute("SELECT a, t FROM two WHERE a = 7; SELECT a FROM two WHERE a = 8")
    same([dict(r) for r in cur.fetchall()], [{"a": 8}], "the last statement's rows")
    cur.execute("DROP TABLE two")
    d.commit()
    c.close()
    d.close()


def test_psycopg2_transactions():
    c = two()
    for level, name in ((1, "read committed"), (2, "repeatable read"), (3, "serializable")):
        c.set_session(isolation_level=level)
        cur = c.cursor()
        cur.execute("SHOW transaction_isolation")
        same(cur.fetchone(), (name,))
        c.rollback()
    c.set_session(isolation_level="READ COMMITTED", readonly=True)
    raises(psycopg2.errors.ReadOnlySqlTransaction, c.cursor().execute, "CREATE TABLE not_here (a int)")
    c.rollback()
    c.set_session(readonly=False)
    with c, c.cursor() as cur:
        cur.execute("CREATE TABLE tx (a int PRIMARY KEY)")
        cur.execute("INSERT INTO tx VALUES (1)")
    try:
        with c, c.cursor() as cur:
            cur.execute("DELETE FROM tx")
            cur.execute("SELECT 1/0")
    except psycopg2.errors.DivisionByZero as e:
        same(e.pgcode, "22012")
    with c, c.cursor() as cur:
        cur.execute("SELECT a FROM tx")
        same(cur.fetchall(), [(1,)])
        e = raises(psycopg2.errors.UniqueViolation, cur.execute, "INSERT INTO tx VALUES (1)")
        same((e.diag.constraint_name, e.diag.table_name), ("tx_pkey", "tx"))
        same(c.info.transaction_status, psycopg2.extensions.TRANSACTION_STATUS_INERROR)
        raises(psycopg2.errors.InFailedSqlTransaction, cur.execute, "SELECT 1")
    for sql, kind in (("SELEC", psycopg2.errors.SyntaxError), ("TABLE no", psycopg2.errors.UndefinedTable),
                      ("LISTEN x", psycopg2.errors.FeatureNotSupported)):
        same(raises(kind, c.cursor().execute, sql).diag.severity, "ERROR")
        c.rollback()
    # First updater wins: the second one learns so.
    d = two()
    for x in (c, d):
        x.set_session(isolation_level="REPEATABLE READ")
        x.cursor().execute("SELECT a FROM tx")
    c.cursor().execute("UPDATE tx SET a = 2")
    c.commit()
    def second():
        d.cursor().execute("UPDATE tx SET a = 3")
        d.commit()
    raises(psycopg2.errors.SerializationFailure, second)
    d.rollback()
    c.autocommit = True
    c.cursor().execute("DROP TABLE tx")
    c.close()
    d.close()


def test_psycopg2_copy():
    c = two()
    cur = c.cursor()
    cur.execute("CREATE TABLE cp (a int, b text)")
    cur.copy_from(io.StringIO("1\tx\n2\t\\N\n"), "cp")
    cur.copy_expert("COPY cp FROM STDIN CSV", io.StringIO('3,"y,\nz"\n'))
    same(cur.rowcount, 1)
    out = io.StringIO()
    cur.copy_to(out, "cp")
    same(out.getvalue(), "1\tx\n2\t\\N\n3\ty,\\nz\n")
    raises(psycopg2.errors.InvalidTextRepresentation, cur.copy_from, io.StringIO("no\tx\n"), "cp")
    c.rollback()
    c.close()


def test_psycopg2_cancel_and_async():
    c = two()
    threading.Timer(0.3, c.cancel).start()
    raises(psycopg2.extensions.QueryCanceledError, c.cursor().execute, SLOW_SQL)
    c.rollback()
    notices = c.notices
    c.cursor().execute("DROP TABLE IF EXISTS nowhere")
    check(any("nowhere" in n for n in notices), "notices:", notices)
    c.close()
    a = two(async_=1)
    psycopg2.extras.wait_select(a)
    cur = a.cursor()
    cur.execute("SELECT %s", (42,))
    psycopg2.extras.wait_select(a)
    same(cur.fetchone(), (42,))
    a.close()


def test_psycopg2_cursors():
    """Server-side cursors: named, SCROLL, WITH HOLD; of many rows, few are made."""
    c = two()
    cur = c.cursor(name="many")
    cur.itersize = 10
    cur.execute("SELECT g, %s FROM generate_series(1, 100000000) g", ("x",))
    for k, row in zip(range(1, 1000), cur):
        same(row, (k, "x"))
    cur.close()
    cur = c.cursor(name="both ways", scrollable=True)
    cur.execute("SELECT g FROM generate_series(1, 100) g")
    same(cur.fetchone(), (1,))
    cur.scroll(10)
    same(cur.fetchone(), (12,))
    cur.scroll(-5)
    same(cur.fetchone(), (8,))
    cur.scroll(50, mode="absolute")
    same(cur.fetchmany(2), [(51,), (52,)])
    cur.close()
    c.commit()
    cur = c.cursor(name="held", withhold=True)
    cur.execute("SELECT g FROM generate_series(1, 10) g")
    same(cur.fetchmany(3), [(1,), (2,), (3,)])
    c.commit()
    same(cur.fetchall(), [(k,) for k in range(4, 11)])
    cur.close()
    c.close()


# ---- psycopg 3 -------------------------------------------------------------------------------


def test_psycopg3_values():
    c = three()
    cur = c.cursor()
    cur.execute("CREATE TABLE three (%s, j json)" % COLUMNS)
    cur.execute("INSERT INTO three VALUES (%s)" % ", ".join(["%s"] * 13), ROW + (psycopg.types.json.Json({"k": [1]}),))
    for binary in (False, True):
        x = c.cursor(binary=binary)
        x.execute("SELECT * FROM three WHERE a = %s", (1,))
        same(x.fetchone(), ROW + ({"k": [1]},), "binary %s" % binary)
    for k in range(20):  # the sixth one is prepared
        cur.execute("SELECT t, %s::int FROM three WHERE a = %s", (k, 1))
        same(cur.fetchall(), [("x'y\\z", k)])
    cur.executemany("INSERT INTO three (a, t) VALUES (%s, %s) RETURNING a", [(k, "t") for k in range(10, 20)], returning=True)
    got = [cur.fetchone()[0]]
    while cur.nextset():
        got.append(cur.fetchone()[0])
    same(got, list(range(10, 20)))
    cur.execute("SELECT %s, %s::int, %s, %s + 1", (None, None, "x", 5))
    same(cur.fetchone(), (None, None, "x", 6))
    cur.execute("SELECT count(*) FROM three WHERE a = ANY(%s) OR d > %s", ([10, 11, 999], datetime.date(2019, 1, 1)))
    same(cur.fetchone(), (3,))
    cur.execute("SELECT a FROM three WHERE a = %b AND t = %t", (1, "x'y\\z"))
    same(cur.fetchone(), (1,))
    same(sum(1 for _ in c.cursor().stream("SELECT g FROM generate_series(1, 10000) g")), 10000)
    c.rollback()
    c.close()


def test_psycopg3_transactions():
    c = three()
    with c.transaction():
        c.execute("CREATE TABLE tx3 (a int PRIMARY KEY)")
        c.execute("INSERT INTO tx3 VALUES (1)")
        try:
            with c.transaction():  # a savepoint
                c.execute("INSERT INTO tx3 VALUES (2)")
                c.execute("INSERT INTO tx3 VALUES (1)")
        except psycopg.errors.UniqueViolation as e:
            same(e.diag.constraint_name, "tx3_pkey")
        c.execute("INSERT INTO tx3 VALUES (3)")
    same(c.execute("SELECT a FROM tx3 ORDER BY a").fetchall(), [(1,), (3,)])
    c.rollback()
    c.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    c.read_only = True
    raises(psycopg.errors.ReadOnlySqlTransaction, c.execute, "DELETE FROM tx3")
    c.rollback()
    c.read_only = False
    c.execute("DROP TABLE tx3")
    c.commit()
    threading.Timer(0.3, c.cancel).start()
    raises(psycopg.errors.QueryCanceled, c.execute, SLOW_SQL)
    c.close()


def test_psycopg3_copy():
    c = three()
    cur = c.cursor()
    cur.execute("CREATE TABLE cp3 (a int, b text)")
    with cur.copy("COPY cp3 FROM STDIN") as copy:
        for row in ((1, "x\ty"), (2, None)):
            copy.write_row(row)
    with cur.copy("COPY cp3 TO STDOUT") as copy:
        same(list(copy.rows()), [("1", "x\ty"), ("2", None)])
    raises(psycopg.errors.FeatureNotSupported, lambda: cur.copy("COPY cp3 TO STDOUT (FORMAT BINARY)").__enter__())
    c.rollback()
    c.close()


def test_psycopg3_pipeline():
    c = three(autocommit=True)
    c.execute("CREATE TABLE pl (a int PRIMARY KEY)")
    try:
        with c.pipeline() as p:
            cursors = [c.execute("INSERT INTO pl VALUES (%s) RETURNING a", (k,)) for k in range(50)]
            same([cur.fetchone()[0] for cur in cursors], list(range(50)))
            # The driver looks at what has come whenever it sends: any of the three may meet the error.
            def fails():
                c.execute("INSERT INTO pl VALUES (1)")
                c.execute("INSERT INTO pl VALUES (100)")
                p.sync()
            raises(psycopg.errors.UniqueViolation, fails)
    except psycopg.errors.PipelineAborted:
        pass  # what the driver says at the end of the block, if it met the error before it had sent all
    same(c.execute("SELECT count(*) FROM pl WHERE a >= 50").fetchone(), (0,), "what stood behind the failure in the pipeline")
    c.execute("DROP TABLE pl")
    c.close()


def test_psycopg3_cursors():
    c = three()
    with c.cursor("many") as cur:
        cur.execute("SELECT g, %s::text FROM generate_series(1, 100000000) g WHERE g > %s", ("x", 5))
        same(cur.fetchmany(3), [(6, "x"), (7, "x"), (8, "x")])
        cur.itersize = 7
        for k, row in zip(range(9, 200), cur):
            same(row, (k, "x"))
    with c.cursor("ways", scrollable=True, withhold=True, binary=True) as cur:
        cur.execute("SELECT g FROM generate_series(1, 100) g")
        cur.scroll(50)
        same(cur.fetchone(), (51,))
        c.commit()
        cur.scroll(10, "absolute")
        same(cur.fetchone(), (11,))
        same(len(cur.fetchall()), 89)
    c.close()


def test_psycopg3_async():
    if psycopg is None:
        skip("psycopg is not installed")

    async def one(k):
        async with await psycopg.AsyncConnection.connect(**place()) as c:
            cur = await c.execute("SELECT %s::int", (k,))
            return (await cur.fetchone())[0]

    async def all_of_them():
        return await asyncio.gather(*[one(k) for k in range(20)])

    same(sorted(asyncio.run(all_of_them())), list(range(20)))


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            try:
                shared.terminate()
            finally:
                shared.house.__exit__(None, None, None)
