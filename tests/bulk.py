#!/usr/bin/env python3
"""bulk.py -- bulk changes of real processes: does their work grow with the rows, and no faster, and do they stop when they are told to?

usage: tests/bulk.py [growth] [stop] [options]

  growth      a table of rows x kind of keys x length of values: COPY, INSERT ... SELECT, UPDATE, DELETE and their kin, each with its COMMIT.
              The CPU time of the compute node and its storage node, in microseconds for each row, until their collectors have done too. Wrong: a cell whose time grows faster than
              n log n, with a half on top, from one number of rows to the next that took 0.2 s at least
  stop        statements and COMMITs of many rows are ended by a cancel request, statement_timeout and SIGTERM: each obeys within 5 s, is told
              57014 or 57P01, and leaves nothing of its rows; after SIGTERM the next compute node finds no lock

  --rows LIST     numbers of rows, rising (default 10000,100000,1000000); stop uses the last
  --bytes N       a cell with more bytes of values than this is left out (default 300m)
  --kinds LIST    of keys: none, hash, ordered, second, unique, foreign, several (default all)
  --lengths LIST  of values: short, text, long (default all)
  --changes LIST  which changes, with ; between them (default all)
  --parts LIST    stop: seconds after which (default 0.05,0.3)
  --node-mb N     memory of the storage node (default 3600)
  --slack X       how much faster than n log n a cell may grow (default 1.5)
  --json          the figures as one JSON object instead of the table

Exit code 0: nothing is wrong; 1: something is wrong, and is printed; 2: it could not run. tests/process/test_bulk.py is the short form.
"""
import argparse
import json
import math
import os
import signal
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import house
import wire
from house import House

KINDS = ["none", "hash", "ordered", "second", "unique", "foreign", "several"]
LENGTHS = {"short": 8, "text": 100, "long": 3000}
# A cell that took less is too small to be judged.
JUDGED_S = 0.2
OBEYS_S = 5


class Figures(dict):
    def __init__(self):
        super().__init__(growth=[], stop=[], wrong=house.Wrong())

    def wrong(self, *words):
        self["wrong"].add(*words)


# ---- tables -------------------------------------------------------------------------

def value(length, i="i"):
    """An expression for the value of row i: as long as the name says, each another one."""
    n = LENGTHS[length]
    digest = "md5((%s)::text)" % i
    return "substr(%s, 1, %d)" % (digest, n) if n <= 32 else "repeat(%s, %d)" % (digest, (n + 31) // 32)


def create(kind, length, name="b"):
    """Statements that make the table, and those that drop it."""
    # A key of an index is 2,704 bytes at most: values of some KB are beside the keys.
    text = "v" if LENGTHS[length] <= 1000 else "k"
    columns = "id bigint, k bigint, v text"
    if kind == "hash":
        columns = "id bigint primary key, k bigint, v text"
    if kind == "ordered":
        columns = "id bigint primary key, k bigint, v text) with (primary_key = ordered"
    if kind == "foreign":
        columns = "id bigint primary key, k bigint references p on delete cascade on update cascade, v text"
    if kind == "several":
        columns = "id bigint primary key, k bigint, v text, unique (k)"
    made = ["create table p (id bigint primary key)", "insert into p select generate_series(0, 999)"] if kind == "foreign" else []
    made.append("create table %s (%s)" % (name, columns))
    indexes = {"second": ["(k, %s)" % text if text != "k" else "(k)"], "unique": ["(id)"], "foreign": ["(k)"], "several": ["(k, id)", "(%s)" % text]}
    for i in indexes.get(kind, []):
        made.append("create %sindex on %s %s" % ("unique " if kind == "unique" else "", name, i))
    return made, ["drop table %s" % name] + (["drop table p"] if kind == "foreign" else [])


def key(kind, i="i"):
    """The value of k in row i."""
    return i if kind == "several" else "(%s) %% 1000" % i


def fill(kind, length, n, since=1):
    return "insert into b select i, %s, %s from generate_series(%d, %d) i" % (key(kind), value(length), since, since + n - 1)


def changes(kind, length, n):
    """(name, statements before, statements that count). The table is empty, then as the ones before have left it."""
    far = 2 * n
    filled = [fill(kind, length, n)]
    moved = "k = k + %d" % far if kind != "foreign" else "k = (k + 1) % 1000"
    out = [
        ("copy", [], ["copy"]),
        ("insert", [], [fill(kind, length, n)]),
        ("update", filled, ["update b set v = %s" % value(length, "id + 1")]),
        ("update key", filled, ["update b set %s" % moved]),
        ("delete", filled, ["delete from b"]),
        ("update, delete", filled, ["begin", "update b set %s" % moved, "delete from b where k >= 0 and id > 0", "commit"]),
        ("update twice", filled, ["begin", "update b set %s" % moved, "update b set v = %s where k >= 0" % value(length, "id + 2"), "commit"]),
        ("insert, delete, insert", [], ["begin", fill(kind, length, n), "delete from b", fill(kind, length, n), "commit"]),
        ("savepoints", filled, ["begin", "savepoint a", "update b set %s" % moved, "rollback to a", "update b set %s" % moved, "savepoint c",
                                "delete from b where id % 2 = 0", "release c", "commit"]),
        ("update from", filled, ["update b set v = x.v from (select id as i, v from b) x where b.id = x.i"]),
        ("delete using", filled, ["delete from b using (select id as i from b) x where b.id = x.i"]),
        ("serializable", filled, ["begin isolation level serializable", "update b set %s where k >= 0" % moved, "delete from b where k >= 0", "commit"]),
        ("repeatable read", filled, ["begin isolation level repeatable read", "update b set %s where k >= 0" % moved, "delete from b where k >= 0", "commit"]),
    ]
    if kind in ("hash", "ordered", "unique", "several"):
        source = "insert into b select i, %s, %s from generate_series(%d, %d) i" % (key(kind), value(length), n // 2 + 1, n // 2 + n)
        out.append(("upsert new", [], [fill(kind, length, n) + " on conflict (id) do nothing"]))
        out.append(("upsert half", filled, [source + " on conflict (id) do update set v = excluded.v"]))
        out.append(("upsert array", [], ["insert into b select i, %s, %s from unnest(array(select generate_series(1, %d))) i on conflict (id) do update set v = 'x'"
                                         % (key(kind), value(length), n)]))
    if kind in ("hash", "ordered", "several"):
        out.append(("move keys", filled, ["update b set id = id + %d" % far]))
    if kind == "foreign":
        parents = ["insert into p select generate_series(1000, %d)" % n, "update b set k = id"]
        out.append(("cascade delete", filled + parents, ["delete from p where id > 0"]))
        out.append(("cascade update", filled + parents, ["update p set id = id + %d where id > 0" % far]))
    if kind in ("none", "unique", "second"):  # UPDATE ... FROM and DELETE ... USING ask for a primary key
        out = [c for c in out if c[0] not in ("update from", "delete using")]
    return out


# ---- growth -------------------------------------------------------------------------

def cpu(h, c):
    """CPU seconds of the compute node's threads and the storage nodes'."""
    total = 0
    for p in [c.p] + [n.p for n in h.nodes]:
        for task in os.listdir("/proc/%d/task" % p.pid):
            with open("/proc/%d/task/%s/schedstat" % (p.pid, task)) as f:
                total += int(f.read().split()[0])
    return total / 1e9


def settled(h, c, seconds=90):
    """Waits until the collectors of what was before have nothing left to do. The CPU time by then."""
    end = time.monotonic() + seconds
    was, quiet = cpu(h, c), 0
    # A process that has become idle begins to collect a tenth of a second later.
    while time.monotonic() < end and quiet < 4:
        time.sleep(0.1)
        now = cpu(h, c)
        quiet = quiet + 1 if now - was < 0.015 else 0
        was = now
    return was


def do(w, text):
    got = w.query(text)
    for kind, body in got:
        if kind == "E":
            raise AssertionError("%s: %s" % (text[:200], wire.fields(body)))
    return got


def copy_in(w, kind, length, n):
    """COPY of n rows, in pieces of some rows."""
    import hashlib
    w.send("Q", b"copy b from stdin\0")
    w.until("G", "E")
    some, size = [], LENGTHS[length]
    for i in range(1, n + 1):
        d = hashlib.md5(str(i).encode()).hexdigest()
        v = (d * ((size + 31) // 32))[:max(size, 8) if size <= 32 else None]
        some.append("%d\t%d\t%s\n" % (i, i if kind == "several" else i % 1000, v))
        if len(some) == 500 or i == n:
            w.send("d", "".join(some).encode())
            some = []
    w.send("c")
    for kind_, body in w.until_ready():
        if kind_ == "E":
            raise AssertionError("copy: %s" % wire.fields(body))


def one_change(h, c, w, kind, length, n, change):
    name, before, counted = change
    made, dropped = create(kind, length)
    for text in made + before:
        do(w, text)
    began = settled(h, c)
    for text in counted:
        if text == "copy":
            copy_in(w, kind, length, n)
        else:
            do(w, text)
    spent = settled(h, c) - began
    for text in dropped:
        do(w, text)
    return spent


def growth(h, c, o, figures):
    w = wire.Wire(c.port, timeout=600)
    for kind in o.kinds:
        for length in o.lengths:
            for at, change in enumerate(changes(kind, length, o.rows[0])):
                if o.changes and change[0] not in o.changes:
                    continue
                cell = {"kind": kind, "length": length, "change": change[0], "s": {}}
                for n in o.rows:
                    if n * LENGTHS[length] > o.bytes:
                        continue
                    try:
                        cell["s"][n] = round(one_change(h, c, w, kind, length, n, changes(kind, length, n)[at]), 3)
                    except AssertionError as e:
                        figures.wrong("%s, %s, %s, %d rows: %s" % (kind, length, change[0], n, e))
                        w.close()
                        w = wire.Wire(c.port, timeout=600)
                        for text in ["drop table if exists b", "drop table if exists p"]:
                            do(w, text)
                        time.sleep(2)  # their memory goes back
                        settled(h, c)
                        break
                figures["growth"].append(cell)
                judge(cell, o.slack, figures)
                if not o.json:
                    print(line_of(cell, o.rows), flush=True)
    w.close()


def judge(cell, slack, figures):
    rows = sorted(cell["s"])
    for a, b in zip(rows, rows[1:]):
        if cell["s"][b] < JUDGED_S:
            continue
        may = slack * b * math.log(b) / (a * math.log(a)) * max(cell["s"][a], JUDGED_S * a / b * 2)
        if cell["s"][b] > may:
            figures.wrong("%(kind)s, %(length)s, %(change)s grows too fast:" % cell,
                          "%d rows %.2f s, %d rows %.2f s" % (a, cell["s"][a], b, cell["s"][b]))


def line_of(cell, rows):
    return "| %s | %s | %s | %s |" % (cell["kind"], cell["length"], cell["change"],
                                      " | ".join("%.1f" % (cell["s"][n] * 1e6 / n) if n in cell["s"] else "" for n in rows))


# ---- stop ---------------------------------------------------------------------------

def cancel(port, w):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(struct.pack("!IIII", 16, 80877102, w.pid, w.key))
    s.close()


def begins(kind, length, n):
    """(name, statements before, the one that is stopped). All of it is one block."""
    out = [
        ("insert", [], fill(kind, length, n)),
        ("commit of inserts", [fill(kind, length, n)], "commit"),
        ("commit of updates", ["update b set k = k + %d" % (4 * n) if kind != "foreign" else "update b set k = (k + 1) % 1000"], "commit"),
        ("update", [], "update b set v = %s" % value(length, "id + 1")),
        ("delete", [], "delete from b"),
        ("rollback", [fill(kind, length, n, since=2 * n)], "rollback"),
        ("create index", [], "create index b_new on b (v)" if LENGTHS[length] <= 1000 else "create index b_new on b (k, id)"),
        ("alter table", [], "alter table b alter column k type text using (k::text)"),
    ]
    if kind in ("hash", "ordered", "several"):
        out.append(("move keys", [], "update b set id = id + %d" % (4 * n)))
        out.append(("upsert", [], fill(kind, length, n, since=n // 2) + " on conflict (id) do update set v = excluded.v"))
    if kind == "foreign":
        out.append(("cascade", ["insert into p select generate_series(1000, %d)" % n], "delete from p"))
        out.append(("check", ["create table q (k bigint)", "insert into q select k from b"], "alter table q add foreign key (k) references p"))
    return out


def counts(w, n):
    """What stands in the table: how many rows, and how many keys beyond those of the first filling."""
    return wire.texts(do(w, "select count(*), count(*) filter (where k >= %d or id > %d) from b" % (4 * n, n)))[0]


def stopped(h, c, w, text, how, after):
    """Sends text, stops it; (seconds until it obeyed, SQLSTATE or None if it was done before)."""
    if how == "timeout":
        do(w, "set statement_timeout = %d" % max(1, int(after * 1000)))
    w.send("Q", text.encode() + b"\0")
    time.sleep(after)
    began = time.monotonic()
    if how == "cancel":
        cancel(c.port, w)
    elif how == "term":
        c.p.send_signal(signal.SIGTERM)
    try:
        got = w.until_ready()
    except (EOFError, ConnectionResetError):
        return time.monotonic() - began, "gone"
    errors = [wire.fields(b)["C"] for k, b in got if k == "E"]
    return time.monotonic() - began, errors[0] if errors else None


def one_stop(h, c, kind, length, n, begin, how, part, figures):
    """Returns the compute node to go on with."""
    name, before, text = begin
    w = wire.Wire(c.port, timeout=120)
    for t in ["begin"] + before:
        do(w, t)
    seconds, state = stopped(h, c, w, text, how, part)
    what = "%s, %s, %s, %s after %.2f s" % (kind, length, name, how, part)
    ended = 0
    if how == "term":
        began = time.monotonic()
        try:
            c.p.wait(timeout=60)
        except Exception:
            figures.wrong(what, "the process does not end")
            c.p.kill()
        ended = seconds + time.monotonic() - began
        c = house.Compute(h)
    figures["stop"].append({"what": what, "s": round(max(seconds, ended), 2), "state": state or "done"})
    if max(seconds, ended) > OBEYS_S * house.SLOW:
        figures.wrong(what, "took %.1f s" % max(seconds, ended))
    if state not in (None, "57014", "57P01"):
        figures.wrong(what, "ends with", state)
    w.close()
    return c, state


def stop(h, o, figures):
    n = o.rows[-1]
    for kind in o.kinds:
        for length in o.lengths:
            if n * LENGTHS[length] > o.bytes:
                continue
            c = house.Compute(h)
            w = wire.Wire(c.port, timeout=600)
            made, dropped = create(kind, length)
            for text in made:
                do(w, text)
            w.close()
            for begin in begins(kind, length, n):
                if o.changes and begin[0] not in o.changes:
                    continue
                for how in ("cancel", "timeout", "term"):
                    for part in o.parts:
                        w = wire.Wire(c.port, timeout=600)
                        do(w, "truncate b")
                        if begin[0] not in ("insert", "commit of inserts", "rollback"):
                            do(w, fill(kind, length, n))
                        was = counts(w, n)
                        w.close()
                        c, state = one_stop(h, c, kind, length, n, begin, how, part, figures)
                        w = wire.Wire(c.port, timeout=600)
                        now = counts(w, n)
                        commits = begin[2] == "commit" and state is None
                        if now != was and not commits:
                            figures.wrong("%s, %s, %s, %s: there were %s rows, and then %s" % (kind, length, begin[0], how, was, now))
                        # No lock stays: every row can be changed.
                        do(w, "set lock_timeout = 20000")
                        do(w, "delete from b")
                        w.close()
                        if not o.json:
                            print("%(what)s: %(s).2f s, %(state)s" % figures["stop"][-1], flush=True)
            w = wire.Wire(c.port, timeout=600)
            for text in dropped:
                do(w, text)
            w.close()
            c.terminate()


# ---- the program ----------------------------------------------------------------------

def options(argv):
    p = argparse.ArgumentParser(usage=argparse.SUPPRESS, add_help=False)
    p.add_argument("proof", nargs="*")
    p.add_argument("--rows", default="10000,100000,1000000")
    p.add_argument("--bytes", default="300m")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--lengths", default=",".join(LENGTHS))
    p.add_argument("--changes", default="")
    p.add_argument("--node-mb", type=int, default=3600)
    p.add_argument("--slack", type=float, default=1.5)
    p.add_argument("--parts", default="0.05,0.3")
    p.add_argument("--json", action="store_true")
    p.add_argument("--help", action="store_true")
    o = p.parse_args(argv)
    if o.help:
        print(__doc__.strip())
        sys.exit(0)
    o.rows = [int(n) for n in o.rows.split(",")]
    o.kinds, o.lengths = o.kinds.split(","), o.lengths.split(",")
    o.changes = [c.strip() for c in o.changes.split(";")] if o.changes else []
    o.parts = [float(x) for x in o.parts.split(",")]
    o.bytes = int(o.bytes[:-1]) << 20 if o.bytes.endswith("m") else int(o.bytes)
    return o


def run(argv):
    """The figures."""
    o = options(argv)
    figures = Figures()
    with House(1, size="%dm" % o.node_mb) as h:
        if "growth" in o.proof or not o.proof:
            if not o.json:
                print("| keys | values | change |%s\n|---|---|---|%s" % (
                    "".join(" %d rows |" % n for n in o.rows), "---|" * len(o.rows)))
            c = house.Compute(h)
            growth(h, c, o, figures)
            c.terminate(seconds=30)
        if "stop" in o.proof or not o.proof:
            stop(h, o, figures)
    return o, figures


def main():
    o, figures = run(sys.argv[1:])
    if o.json:
        print(json.dumps(figures))
    for text in figures["wrong"]:
        print("WRONG: " + text, file=sys.stderr if o.json else sys.stdout)
    sys.exit(1 if figures["wrong"] else 0)


if __name__ == "__main__":
    main()
