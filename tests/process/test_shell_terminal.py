#!/usr/bin/env python3
"""The shell at a terminal: pasted text, the words a newcomer types, what the tab key knows, a second shell on a demo."""
import fcntl
import os
import random
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same

shared = None
BEGIN, END = "\x1b[200~", "\x1b[201~"


def cluster():
    global shared
    if shared is None:
        shared = House(nodes=1, size="512m")
        shared.do("CREATE TABLE pets (id integer PRIMARY KEY, name text, weight_kg integer)").ok()
        shared.do("INSERT INTO pets VALUES (1, 'Ada', 5)").ok()
        shared.do("CREATE TABLE houses (street text)").ok()
    return shared


def terminal(h):
    t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret)
    t.expect(r"=> ?$")
    return t


def paste(t, text, brackets=True):
    """As a terminal sends it: line ends are carriage returns. What the program shows meanwhile is read, or neither would go on."""
    data = (BEGIN + text.replace("\n", "\r") + END if brackets else text.replace("\n", "\r")).encode()
    done = threading.Event()

    def write():
        at = 0
        while at < len(data):
            at += os.write(t.fd, data[at:at + 4096])
        done.set()
    threading.Thread(target=write, daemon=True).start()
    if len(data) < 2000:
        done.wait(20)
    return done


def leave(t):
    t.send("\\q\n")
    same(t.end(), 0)


def test_pasted_lines_keep_their_tabs():
    t = terminal(cluster())
    # Tabs within a line, in the middle of what is typed, with two statements and an unfinished one behind it.
    t.send("SELECT ")
    paste(t, "length('a\tb\tc') AS one;\n\tSELECT length(E'\t') +\n\t1 AS two;\nSELECT 'r")
    t.expect(r"one[^>]*5\n\(1 row\)")
    t.expect(r"two[^>]*2\n\(1 row\)")
    t.send("est';\n")
    t.expect(r" rest\n\(1 row\)")
    t.expect(r"=> ?$")
    # Without a line end it waits to be sent; the end of it can be edited.
    paste(t, "SELECT 'p\ta\tstx'")
    t.send("\x08\x08'||7;\n")
    t.expect(r" p +a +st7\n\(1 row\)")
    t.expect(r"=> ?$")
    # Rows for a COPY, which are no commands, with the COPY itself.
    paste(t, "COPY houses FROM STDIN;\nsel\tect\n\\.\nSELECT 1;\n")
    t.expect(r"22P04")
    t.expect(r"\(1 row\)")
    t.expect(r"=> ?$")
    paste(t, "COPY pets FROM STDIN;\n7\tsel\t1\n8\tt\\tb\t2\n\\.\nSELECT name || '!' AS n FROM pets WHERE id = 7;\n")
    t.expect(r"COPY 2\n")
    t.expect(r"sel!")
    t.expect(r"=> ?$")
    # Escape sequences in it are shown, not obeyed, and ^C forgets what is not sent yet.
    paste(t, "SELECT 1;\n-- \x1b[2J\nSELECT 'half")
    t.expect(r"\(1 row\)")
    t.expect(r"half")
    t.send("\x03")
    t.expect(r"=> ?$")
    t.send("SELECT 'whole' AS w;\n")
    t.expect(r" whole\n")
    t.expect(r"=> ?$")
    # ^C in the middle of a paste whose end never comes.
    t.send(BEGIN + "SELECT 'never';\r")
    time.sleep(0.3)
    t.send("\x03")
    t.expect(r"=> ?$")
    t.send("SELECT 'after' AS a;\n")
    said = t.expect(r" after\n")
    check("never\n" not in said, said)
    t.expect(r"=> ?$")
    leave(t)


def test_rubbish():
    """Whatever comes, in brackets or not, the shell can be used afterwards."""
    h = cluster()
    dice = random.Random(int(os.environ.get("NAM_SEED", "7")))
    parts = [bytes([b]) for b in range(256) if b not in (3, 4, 17, 19, 26, 28, 92)]  # signals, \q
    parts += [b"\t", b"\r", b"\x1b", BEGIN.encode(), END.encode(), b"\x1b[A", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"'"] * 4
    for i in range(6):
        if os.path.exists(h.dir + "/.namdb_history"):
            os.remove(h.dir + "/.namdb_history")  # where a \q may be
        t = terminal(h)
        text = b"".join(dice.choice(parts) for _ in range(2000))
        done = threading.Event()

        def write(data):
            at = 0
            while at < len(data):
                at += os.write(t.fd, data[at:at + 1000])
            done.set()
        threading.Thread(target=write, args=(text + (END + "\r'\r-- */;\r").encode(),), daemon=True).start()
        end, said = time.monotonic() + 60 * house.SLOW, b""
        while not done.is_set() or select.select([t.fd], [], [], 0.5)[0]:
            check(time.monotonic() < end, "it takes what is typed")
            if select.select([t.fd], [], [], 0.1)[0]:
                try:
                    said = (said + os.read(t.fd, 65536))[-3000:]
                except OSError:
                    raise AssertionError("the shell ended with %d: %r" % (os.waitpid(t.pid, 0)[1], said))
        t.send("\x03")
        time.sleep(0.3)
        t.send("\r")
        t.send("SELECT 'ali' || 've' AS s;\r")
        t.expect(r" alive\n\(1 row\)")
        t.kill()


def test_paste_of_ten_megabytes():
    h = cluster()
    h.do("CREATE TABLE big (id integer PRIMARY KEY, t text)").ok()
    t = terminal(h)
    # Many statements, then a COPY, then one line that is longer than any terminal's.
    n = 45000
    text = "".join("INSERT INTO big VALUES (%d, '%s\t%d');\n" % (-i, "x" * 60, i) for i in range(1, 2001))
    text = "BEGIN;\n%sCOMMIT;\nCOPY big FROM STDIN;\n" % text
    text += "".join("%d\t%s\n" % (i, "y" * 240) for i in range(n)) + "\\.\n"
    text += "SELECT length('%s') AS long, count(*) FROM big;\n" % ("z" * 300000)
    check(len(text) > 10 << 20, "%d bytes" % len(text))
    t0 = time.monotonic()
    done = paste(t, text)
    t.expect(r"bytes more were pasted", 60)
    t.expect(r"COPY %d\n" % n, 120)
    t.expect(r"300000 \| +%d\n" % (n + 2000), 60)
    t.expect(r"=> ?$")
    check(done.is_set(), "all was taken")
    print("  10 MB pasted in %.1f s" % (time.monotonic() - t0))
    leave(t)
    same(h.do("SELECT count(*) AS n FROM big WHERE strpos(t, chr(9)) > 0").ok().out, "n\n2000\n")


def test_paste_without_brackets():
    """A terminal that does not know them: whole lines arrive as fast as they can be sent."""
    h = cluster()
    h.do("CREATE TABLE plain (id integer PRIMARY KEY, t text)").ok()
    t = terminal(h)
    paste(t, "".join("INSERT INTO plain VALUES (%d, '%s\u00e4');\n" % (i, "x" * (i % 90)) for i in range(1000)) +
          "SELECT 'sum ' || count(*) || ' ' || sum(length(t)) AS s FROM plain;\n", False)
    t.expect(r"sum 1000 %d\n" % sum(i % 90 + 1 for i in range(1000)), 60)
    t.expect(r"=> ?$")
    leave(t)


def test_words_of_a_newcomer():
    h = cluster()
    t = terminal(h)
    t.send("help\n")
    t.expect(r"\\\? for help[\s\S]*\\q to quit\nnamdb=> ?$")
    t.send("HELP;\n")
    t.expect(r"\\q to quit\nnamdb=> ?$")
    t.send("SELECT 1\n")
    t.expect(r"-> ?$")
    t.send("quit\n")
    t.expect(r"Use \\q to quit\.")
    t.expect(r"-> ?$")
    t.send("\\r\n")
    t.expect(r"=> ?$")
    t.send("SELECT '\n")
    t.expect(r"'> ?$")
    t.send("exit\n")
    t.expect(r"Use control-D to quit\.")
    t.send("';\n")
    t.expect(r"\(1 row\)")
    t.expect(r"=> ?$")
    t.send("exit\n")
    same(t.end(), 0)
    t = terminal(h)
    t.send("quit;\n")
    same(t.end(), 0)
    # In a script they are what they are: no SQL.
    contains(h.sql(stdin="quit;\nSELECT 5 AS x;\n").fails(1).out, "x\n5\n")


def test_tab_knows_columns_functions_and_settings():
    h = cluster()
    t = terminal(h)
    for typed, became in [("SELECT pets.wei\t", r"SELECT pets\.\x07?wei\x07?ght_kg"),
                          ("SELECT houses.\t", r"street"), ("SELECT regexp_repl\t", r"regexp_repl\x07?ace"),
                          ("SET namdb.vis\t", r"namdb\.vis\x07?ibility"), ("SHOW lock_t\t", r"lock_t\x07?imeout"),
                          ("\\pse\t", r"pse\x07?t"), ("\\d hou\t", r"hou\x07?ses")]:
        t.send(typed)
        t.expect(became)
        t.send("\x03")
        t.expect(r"=> ?$")
    # A prefix of a table's columns only: another table's do not fit.
    t.send("SELECT houses.wei\t")
    time.sleep(0.3)
    t.send("\x03")
    said = t.expect(r"=> ?$")
    check("weight_kg" not in said, said)
    # By an alias, in a statement of several lines.
    t.send("SELECT x.name FROM pets AS x\n")
    t.expect(r"-> ?$")
    t.send("WHERE x.wei\t= 5;\n")
    t.expect(r"x\.wei\x07?ght_kg ?= 5;")
    t.expect(r"\n Ada\n")
    t.expect(r"=> ?$")
    leave(t)


def test_timing_is_not_the_pagers():
    h = cluster()
    h.env["PAGER"] = "sleep 2; cat"
    t = terminal(h)
    t.send("\\timing on\n")
    t.expect(r"Timing is on\.\n.*=> ?$")
    t.send("SELECT i FROM generate_series(1, 100) i;\n")
    said = t.expect(r"Time: [0-9.]+ ms", 30)
    check(float(re.search(r"Time: ([0-9.]+) ms", said).group(1)) < 1500, said)
    t.expect(r"=> ?$")
    t.send("\\pset pager off\n")
    t.expect(r"Pager usage is off")
    t0 = time.monotonic()
    t.send("SELECT i FROM generate_series(1, 100) i;\n")
    t.expect(r"\(100 rows\)")
    check(time.monotonic() - t0 < 1.5 * house.SLOW, "no pager")
    t.expect(r"=> ?$")
    leave(t)
    del h.env["PAGER"]


BAR = re.compile(r"\[(#*)(\.*)\] +(\d+) % ")


def typed(t, text, until):
    """What the terminal gets, byte for byte, from the statement to that text and the next prompt."""
    t.said = ""
    t.send(text)
    raw, end = "", time.monotonic() + 120 * house.SLOW
    while until not in raw or not re.search(r"=> ?$", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", raw)):
        check(time.monotonic() < end, "no", until, raw[-500:])
        if select.select([t.fd], [], [], 0.5)[0]:
            raw += os.read(t.fd, 65536).decode("utf-8", "replace")
    return raw


def test_bar():
    # Some seconds of work for each worker on a machine of two cores.
    long = "SELECT count(*) FROM big WHERE length(md5(repeat('x', {} + k % 7))) = 32;\n"
    n = house.rounds(80000, 50000)
    with House(nodes=1, size="256m") as h:
        h.do("CREATE TABLE big (k integer PRIMARY KEY); INSERT INTO big SELECT n FROM generate_series(1, %d) AS n; "
             "ANALYZE big" % n).ok()
        for workers in (1, 3):  # one scans rows, three share parts of the table
            t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret, "--workers", workers)
            t.expect(r"=> ?$")
            raw = typed(t, long.format(20000 * min(workers, house.rounds(3, 2))), "(1 row)")
            bars = list(BAR.finditer(raw))
            check(len(bars) >= 2, workers, raw)
            shares = [int(b.group(3)) for b in bars]
            same(shares, sorted(shares))
            check(shares[-1] <= 100 and shares[0] < shares[-1], shares)
            for b in bars:
                same(len(b.group(1)) + len(b.group(2)), 40)
            # It is gone before the rows: blanks stand in its place.
            check(re.match(r"\r {49}\r", raw[bars[-1].end():]), raw[bars[-1].end():])
            check(str(n) in raw[bars[-1].end():], raw)
            check(not BAR.search(typed(t, "SELECT count(*) FROM big;\n", "(1 row)")), "a short statement has no bar")
            # Rows that go out as they come, an error: after the bar, on a line of their own.
            if workers > 1:
                leave(t)
                continue
            t.said = ""
            t.send("\\pset format csv\n")
            t.expect(r"format is csv.*\n.*=> ?$")
            raw = typed(t, long.format(20000).replace("count(*)", "min(k), count(*)"), "1,%d\r\n" % n)
            check(re.search(r"% \r {49}\rmin,count\r\n", raw), raw)
            raw = typed(t, long.format(20000).replace("count(*)", "1 / (%d - count(*))" % n), "22012")
            check(re.search(r"% \r {49}\rERROR", raw), raw)
            fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 9, 0, 0))  # no room for a bar
            raw = typed(t, long.format(20000).replace("count(*)", "max(k), count(*)"), "%d,%d\r\n" % (n, n))
            check(not re.search(r"\d+ % ", raw), raw)
            fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            leave(t)
        r = h.sql("-c", long.format(20000)).ok()
        check("%" not in r.out + r.err, r.out, r.err)


def test_second_shell_as_conninfo_prints_it():
    for fabric in ("shm", "tcp"):
        with House() as h:
            t = h.terminal("demo", "--empty", "--fabric", fabric)
            t.expect(r"=> ?$", 60)
            t.send("CREATE TABLE seen (n integer); INSERT INTO seen VALUES (42);\n")
            t.expect(r"INSERT 0 1\n")
            t.expect(r"=> ?$")
            t.send("\\conninfo\n")
            command = re.search(r"\n  (\S.*)\n", t.expect(r"open another shell on it:\n  \S.*\n")).group(1)
            t.expect(r"=> ?$")
            # From anywhere, by a process that knows nothing else.
            r = subprocess.run(["sh", "-c", command + " --csv -c 'SELECT n FROM seen' -c '\\conninfo'"], cwd="/",
                               env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=60)
            contains(r.stdout, "n\n42\n", command)
            same(r.returncode, 0)
            leave(t)


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            shared.__exit__(None, None, None)
