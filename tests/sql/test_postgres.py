#!/usr/bin/env python3
"""The judge: thousands of statements, answered by namdb and by a real PostgreSQL 15; rows, or SQLSTATEs, must be equal.

What namdb says it cannot do yet (0A000) is counted, not failed. A PostgreSQL of its own runs in a temporary
directory, reached by a unix socket only. NAM_DIFFS=1 prints every difference instead of the first ones.
"""
import collections
import glob
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import statements
import peer  # noqa: F401 (the path to house)
import house
from house import check, skip

MARK = "~~statement "

# Where an answer may differ, and why: (statement, reason).
UNLIKE = [
    (r"1/0", "a division of constants that no row asks for is an error for PostgreSQL's planner only"),
    (r"date_trunc\('\w+', (DATE|NULL::date|d\))", "of a date it is a timestamp with time zone in PostgreSQL"),
    (r"(sum|avg)\(NULL\)", "our error is 42883"),
]

# Where the order of rows may differ although there is an ORDER BY.
UNSORTED = [(r"GROUP BY (ROLLUP|CUBE)", "PostgreSQL 15 does not sort by a key that is a constant, though it is NULL in some sets")]


def tools():
    """Where PostgreSQL 15's programs lie."""
    for d in ("/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin", "/usr/local/pgsql/bin"):
        if os.access(d + "/initdb", os.X_OK) and os.access(d + "/psql", os.X_OK):
            v = subprocess.run([d + "/postgres", "--version"], capture_output=True, text=True).stdout
            if re.search(r"\b15\.\d", v):
                return d
    others = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    skip("no PostgreSQL 15 on this machine" + (" (only %s)" % ", ".join(others) if others else ""))


class Postgres:
    def __init__(self, more=""):
        self.bin = tools()
        self.who = {}
        self.dir = tempfile.mkdtemp(prefix="nam-pg-")
        try:
            if os.geteuid() == 0:
                try:
                    p = pwd.getpwnam("postgres")
                except KeyError:
                    skip("PostgreSQL does not run as root, and there is no user postgres")
                self.who = {"user": p.pw_uid, "group": p.pw_gid, "extra_groups": []}
                os.chown(self.dir, p.pw_uid, p.pw_gid)
            self.data = self.dir + "/data"
            # C.UTF-8's idea of upper and lower case, the bytes' idea of order
            self.run("initdb", "-D", self.data, "-U", "judge", "-A", "trust", "-E", "UTF8", "--lc-collate=C",
                     "--lc-ctype=C.UTF-8", "--lc-messages=C", "--no-sync")
            self.run("pg_ctl", "-D", self.data, "-w", "-l", self.dir + "/log", "-o",
                     "-c listen_addresses= -c unix_socket_directories=%s -c fsync=off -c timezone=UTC -c autovacuum=off "
                     "-c jit_above_cost=-1 -c shared_buffers=16MB -c max_connections=10 %s" % (self.dir, more), "start")
        except BaseException:
            shutil.rmtree(self.dir, ignore_errors=True)
            raise

    def run(self, program, *args):
        p = subprocess.run([self.bin + "/" + program] + list(args), capture_output=False, stdin=subprocess.DEVNULL,
                           stdout=open(self.dir + "/out", "ab"), stderr=subprocess.STDOUT, cwd="/",
                           env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, timeout=120, **self.who)
        check(p.returncode == 0, "%s failed:" % program, open(self.dir + "/out", errors="replace").read()[-2000:])

    def script(self, texts):
        """[(rows with the header, or None; SQLSTATE or None)] in order."""
        lines = ["\\set VERBOSITY sqlstate", "\\pset format csv", "\\pset null '\\\\N'", "SET client_min_messages = error;"]
        for n, t in enumerate(texts):
            end = "" if t.endswith("\\.\n") else " ;"  # the data of a COPY end themselves
            lines += ["\\echo '%s%d'" % (MARK, n), t.rstrip("\n;") + end if end else t.rstrip("\n"), "\\echo '%sstate' :SQLSTATE" % MARK]
        p = subprocess.run([self.bin + "/psql", "-X", "-q", "-h", self.dir, "-U", "judge", "-d", "postgres", "-f", "-"],
                           input=("\n".join(lines) + "\n").encode(), capture_output=True, timeout=300 + len(texts) / 20, cwd="/",
                           env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "PGCLIENTENCODING": "UTF8"}, **self.who)
        answers = []
        for part in pieces(p.stdout.decode(), len(texts)):
            body, _, state = part.rpartition(MARK + "state ")
            state = state.strip()
            answers.append((records(body, "\\N"), None) if state == "00000" else (None, state))
        return answers

    def close(self):
        try:
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


def pieces(out, n):
    """What came after each mark."""
    parts = re.split("^" + re.escape(MARK) + r"\d+\n", out, flags=re.M)
    check(len(parts) == n + 1, "%d answers to %d statements; the last: %r" % (len(parts) - 1, n, parts[-1][-1500:]))
    return parts[1:]


def records(text, null):
    """CSV that knows NULL from '': [[value or None]]. null: how an unquoted NULL is written."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while True:
                end = text.index('"', end)
                if text[end:end + 2] != '""':
                    break
                end += 2
            row.append(text[at + 1:end].replace('""', '"'))
            at = end + 1
        else:
            end = at
            while end < len(text) and text[end] not in ",\n":
                end += 1
            row.append(None if text[at:end] == null else text[at:end])
            at = end
        if at < len(text) and text[at] == ",":
            at += 1
            if at == len(text) or text[at] == "\n":
                row.append(None if null == "" else "")
        if at >= len(text) or text[at] == "\n":
            rows.append(row)
            row = []
            at += 1
    return rows


# Each query that can be shared is, and the other worker goes first.
SHARED = "SET namdb.parallel = 0; SET namdb.parallel_rows = 0;"


# Another compute process goes first.
HELPED_EVERY = 17
HELPED = "SET namdb.parallel_rows = 0; SET namdb.help = wait;"


def is_question(text):
    return re.match(r"\s*(select|with|values|\()", text, re.I) is not None and not re.search(r"\binto\b", text, re.I)


def ask_helped(texts):
    """The same list from a process that another one helps."""
    with house.House(nodes=1, size="1g") as h:
        helper = house.Compute(h, "--workers", 1)
        answers = ask_namdb(texts, first=HELPED, program=["sql", "--storage", h.storage(), "--secret-file", h.secret])
        print("  the helper used %.1f s of CPU time" % helper.cpu())
        return answers


def ask_namdb(texts, workers=1, first="", program=("demo", "--empty", "--nodes", "1")):
    """The same list from namdb: its shell prints errors between rows, so both go into one pipe."""
    lines = [first] if first else []
    for n, t in enumerate(texts):
        lines += ["\\echo %s%d" % (MARK, n), t.rstrip(";") + " ;"]
    p = subprocess.run([house.NAMDB, *program, "--csv", "-q", "--workers", str(workers)],
                       input=("\n".join(lines + ["\\echo %s%d" % (MARK, len(texts))]) + "\n").encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=(120 + len(texts) / 50) * house.SLOW, env=house.clean_env())
    out = p.stdout.decode("utf-8", "replace")
    house.no_sanitizer_report(out)
    answers = []
    for part in pieces(out, len(texts) + 1)[:-1]:
        m = re.search(r"^ERROR:  ([0-9A-Z]{5}): (.*)", part, re.M)
        answers.append((None, m.group(1), m.group(2)) if m else (records(part, ""), None, ""))
    return answers


def shown(rows, state):
    return "error " + state if state else "%s" % (rows if len(str(rows)) < 400 else str(rows)[:400] + " ...")


def same(x, y, text):
    if x and y and any(re.search(p, text) for p, _ in UNSORTED):
        order = lambda rows: sorted(map(repr, rows))
        return x[0] == y[0] and order(x[1:]) == order(y[1:])
    return x == y


def one_in(every, asked):
    """Of the questions of each feature one in so many, the first one too; and all that changes something."""
    met, some = collections.Counter(), []
    for k, (feature, text) in enumerate(asked):
        if not is_question(text) or met[feature] % every == 0:
            some.append(k)
        met[feature] += is_question(text)
    return some


def test_postgres():
    setup, asked = statements.make()
    check(len(asked) >= 2000, "only %d statements" % len(asked))
    asked = [asked[k] for k in one_in(house.rounds(1, 1, 10), asked)]
    texts = setup + [t for _, t in asked]
    t0 = time.monotonic()
    # To look for the best order of 200 tables takes it seconds.
    pg = Postgres("-c join_collapse_limit=1 -c geqo_effort=1")
    try:
        want = pg.script(texts)
    finally:
        pg.close()

    def judged(ask, every):
        some = one_in(every, asked)
        judge(setup, [asked[k] for k in some], want[:len(setup)] + [want[len(setup) + k] for k in some],
              ask(setup + [asked[k][1] for k in some]))
    t1 = time.monotonic()
    if not house.SANITIZE:  # what one worker runs, the second run runs as well
        judged(ask_namdb, 1)
    t2 = time.monotonic()
    judged(lambda some: ask_namdb(some, workers=2, first=SHARED), house.rounds(1, 3, 1))
    t3 = time.monotonic()
    if not house.SANITIZE and len(os.sched_getaffinity(0)) > 1:
        # To wait for another process takes its time.
        judged(ask_helped, house.rounds(HELPED_EVERY, 3 * HELPED_EVERY))
    print("  PostgreSQL %.1f s, namdb %.1f s, by two workers %.1f s, by two processes %.1f s" % (
        t1 - t0, t2 - t1, t3 - t2, time.monotonic() - t3), flush=True)


def judge(setup, asked, want, got):
    for k, t in enumerate(setup):
        check(want[k][1] is None and got[k][1] is None, "setting up: %s: %s %s" % (t[:200], want[k][1], got[k][1:]))
    table = collections.defaultdict(lambda: [0, 0, 0, 0])  # same rows, same error, not there yet, different
    wrong, missing = [], collections.Counter()
    for (feature, text), (rows, state), (our_rows, our_state, said) in zip(asked, want[len(setup):], got[len(setup):]):
        if our_state != state and our_state == "0A000":
            table[feature][2] += 1
            missing[said] += 1
        elif our_state == state and same(our_rows, rows, text):
            table[feature][1 if state else 0] += 1
        elif any(re.search(p, text) for p, _ in UNLIKE):
            table[feature][2] += 1
            missing["known to differ"] += 1
        else:
            table[feature][3] += 1
            wrong.append("%s: %s\n    namdb      %s\n    PostgreSQL %s" % (
                feature, text, shown(our_rows, our_state) + (" " + said if our_state else ""), shown(rows, state)))
    print("  %-20s %6s %6s %8s %6s" % ("", "rows", "error", "not yet", "differ"))
    for feature, row in sorted(table.items()):
        print("  %-20s %6d %6d %8d %6d" % (feature, *row))
    print("  %-20s %6d %6d %8d %6d" % ("all %d" % len(asked), *(sum(r[k] for r in table.values()) for k in range(4))))
    for said, n in missing.most_common():
        print("  not yet, %d times: %s" % (n, said))
    most = len(wrong) if os.environ.get("NAM_DIFFS") else 20
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong[:most])))


if __name__ == "__main__":
    house.main()
