#!/usr/bin/env python3
"""docs/SQL.md is true: every line of it has examples (docs.sql), which are run, and answered as written there.

A line of the page (a table's row, a bullet, a paragraph) names its examples in a comment that is invisible when the page is
shown: <!--id-->. In docs.sql `-- [id] pg` begins the examples of that line, and then:
  pg     PostgreSQL is also asked, and must give those answers
  differ PostgreSQL is also asked, and `--pg>` and `--pg!` have its answers
  namdb  it is not asked
After a statement: `--> a,b` a row of the answer as CSV without quotes where they are not needed (NULL is nothing, '' is
""), `--> *` any rows, `--! 22012` an SQLSTATE. Nothing: it succeeds without rows. Statements end with `;` at a line's end.
In a statement {dir} is a folder of this run, {3 x , c#} is `, c1, c2, c3`.
What one session cannot show: `--= path/of/a/test word`: that test has that word in it, and is run elsewhere.

What a line says must stand in its examples: every keyword and name in `code`, and each SQLSTATE.
NAM_FILL=1 writes PostgreSQL's answers under the statements of `pg` sections that have none; read them before you keep them.
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer  # noqa: F401 (the path to house)
import test_postgres
import house
from house import check

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(house.ROOT, "docs", "SQL.md")
BOOK = os.path.join(HERE, "docs.sql")
MARK = test_postgres.MARK


class Statement:
    def __init__(self, line):
        self.line, self.text = line, ""
        self.rows, self.state = None, None  # rows: "*", or a list of CSV lines
        self.pg_rows, self.pg_state = None, None
        self.end = line

    def wanted(self, pg):
        """(rows, state) that the peer, or namdb, must answer."""
        if pg and (self.pg_rows is not None or self.pg_state is not None):
            return self.pg_rows, self.pg_state
        return self.rows, self.state


class Section:
    def __init__(self, id, kind, line):
        self.id, self.kind, self.line, self.statements, self.elsewhere = id, kind, line, [], []
        self.remarks = ""


def read_book():
    sections, s, st = [], None, None
    copying = False
    for n, line in enumerate(open(BOOK, encoding="utf-8").read().split("\n"), 1):
        where = "docs.sql:%d: " % n
        if copying:
            st.text += line + "\n"
            st.end = n
            if line == "\\.":
                copying, st = False, None
            continue
        m = re.match(r"-- \[([a-z0-9-]+)\] (pg|differ|namdb)$", line)
        if m:
            check(st is None, where + "the statement before has no ;")
            s = Section(m.group(1), m.group(2), n)
            sections.append(s)
            continue
        m = re.match(r"--(pg)?([>!=])(?: (.*))?$", line)
        if m and m.group(2) == "=":
            s.elsewhere.append(m.group(3).split(" ", 1))
        elif m:
            check(s and s.statements and st is None, where + "an answer without a statement")
            last = s.statements[-1]
            pg, what = "pg_" if m.group(1) else "", m.group(3) or ""
            if m.group(2) == "!":
                setattr(last, pg + "state", what)
            elif what == "*":
                setattr(last, pg + "rows", "*")
            else:
                setattr(last, pg + "rows", (getattr(last, pg + "rows") or []) + [what])
            last.end = n
        elif line.startswith("--") or (not line.strip() and st is None):
            if s:
                s.remarks += line + "\n"  # a word that stands there needs no example of its own
            continue
        else:
            check(s, where + "before the first section")
            if st is None:
                st = Statement(n)
                s.statements.append(st)
            st.text += line + "\n"
            if line.rstrip().endswith(";"):
                st.end = n
                copying = re.match(r"COPY\b.*\bFROM STDIN\b", st.text, re.I | re.S) is not None
                st = None if not copying else st
    check(st is None, "docs.sql: the last statement has no ;")
    return sections


def units():
    """The page's lines: [(line number, text)]."""
    out, at, text, table = [], 0, "", False
    for n, line in enumerate(open(PAGE, encoding="utf-8").read().split("\n") + [""], 1):
        starts = re.match(r"(\||- |#|$)", line)
        if starts and text:
            out.append((at, text))
            text = ""
        if line.startswith("|"):
            if table and not re.match(r"\|[-| ]+\|$", line):
                out.append((n, line))
            table = True  # the first row is the head
            continue
        table = False
        if line and not line.startswith("#"):
            at = at if text else n
            text += line + "\n"
    return out


def test_every_line_has_examples():
    sections = {}
    for s in read_book():
        check(s.id not in sections, "docs.sql:%d: a second [%s]" % (s.line, s.id))
        sections[s.id] = s
    wrong, named = [], set()
    for n, text in units():
        ids = re.findall(r"<!--\s*([a-z0-9-]+)\s*-->", text)
        if not ids:
            wrong.append("SQL.md:%d has no example: %s" % (n, text[:90]))
            continue
        said = ""
        for i in ids:
            named.add(i)
            if i not in sections:
                wrong.append("SQL.md:%d: there is no [%s] in docs.sql" % (n, i))
                continue
            said += "\n".join("%s\n--! %s" % (st.text, st.state or "") for st in sections[i].statements)
            said += "\n".join(" ".join(e) for e in sections[i].elsewhere) + sections[i].remarks
        low = said.lower()
        words = set(re.findall(r"[a-z_][a-z0-9_.]*|[0-9][0-9A-Z]{4}", low)) | set(re.findall(r"[a-z_][a-z0-9_]*", low))
        missing = []
        for code in re.findall(r"`([^`]+)`", text):
            for w in re.findall(r"\b[0-9A-Z]{5}\b", code):
                if re.search(r"\d", w) and "--! " + w not in said and " " + w not in said:
                    missing.append(w)
            keywords = [w for w in re.findall(r"(?<![0-9A-Za-z_])[A-Za-z_][A-Za-z0-9_.]*", code)
                        if (w.isupper() and len(w) > 1) or (re.fullmatch(r"[A-Za-z_][\w. ]*(\(\))?", code) and len(w) > 1)]
            missing += [w for w in keywords if w.lower() not in words and not (w == "t_pkey" and "_pkey" in low)]
            if not re.search(r"[A-Za-z0-9]", code):
                missing += [w for w in code.split() if w not in said]
        if missing:
            wrong.append("SQL.md:%d: [%s] does not show %s" % (n, " ".join(ids), ", ".join(sorted(set(missing)))))
    for i in sections:
        if i not in named:
            wrong.append("docs.sql:%d: [%s] belongs to no line of SQL.md" % (sections[i].line, i))
        for path, word in sections[i].elsewhere:
            full = os.path.join(house.ROOT, path)
            if not os.path.exists(full) or word not in open(full, encoding="utf-8").read():
                wrong.append("docs.sql:%d: %s has no %s" % (sections[i].line, path, word))
    print("  %d lines, %d sections, %d statements" % (
        len(units()), len(sections), sum(len(s.statements) for s in sections.values())))
    check(not wrong, "%d things:\n%s" % (len(wrong), "\n".join(wrong)))


def litter(section):
    """What a section leaves behind, to be dropped before the next."""
    out = []
    for kind, name in re.findall(r"\bCREATE (?:OR REPLACE )?(TABLE|VIEW|SEQUENCE|SCHEMA) (?:IF NOT EXISTS )?([a-z_0-9.]+)",
                                 "\n".join(st.text for st in section.statements)):
        out.append("DROP %s IF EXISTS %s CASCADE;\n" % (kind, name))
    for new in re.findall(r"\bALTER TABLE \w+ RENAME TO (\w+)", "\n".join(st.text for st in section.statements)):
        out.append("DROP TABLE IF EXISTS %s CASCADE;\n" % new)
    return ["ROLLBACK;\n", "RESET ALL;\n", "DEALLOCATE ALL;\n"] + out[::-1]


def script(sections, pg):
    """[(section, statement or None, text)] in the order in which they are asked."""
    out = []
    for s in sections:
        for st in s.statements:
            out.append((s, st, st.text))
        out += [(s, None, t) for t in litter(s)]
    return out


def line_of(row):
    f = io.StringIO()
    csv.writer(f, lineterminator="").writerow(["" if c is None else "\0" if c == "" else c for c in row])
    return f.getvalue().replace("\0", '""')


def answered(rows, state):
    return state, None if rows is None else [line_of(r) for r in rows[1:]]


def judge(st, pg, rows, state):
    want_rows, want_state = st.wanted(pg)
    state, lines = answered(rows, state)
    if pg and st.text.endswith("\\.\n"):
        return True  # psql has forgotten the error of a COPY when its data are through
    if want_state or state:
        return state == want_state
    return want_rows == "*" or (lines or []) == (want_rows or [])


def ask_namdb(texts):
    lines = []
    for n, t in enumerate(texts):
        lines += ["\\echo %s%d" % (MARK, n), t.rstrip("\n")]
    p = subprocess.run([house.NAMDB, "demo", "--empty", "--nodes", "1", "--csv", "-q"],
                       input=("\n".join(lines + ["\\echo %s%d" % (MARK, len(texts))]) + "\n").encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120 * house.SLOW, env=house.clean_env())
    out = p.stdout.decode("utf-8", "replace")
    house.no_sanitizer_report(out)
    answers = []
    for part in test_postgres.pieces(out, len(texts) + 1)[:-1]:
        m = re.search(r"^ERROR:  ([0-9A-Z]{5}): (.*)", part, re.M)
        part = re.sub(r"^(NOTICE|WARNING|INFO|HINT|DETAIL):.*\n", "", part, flags=re.M)
        answers.append((None, m.group(1), m.group(2)) if m else (test_postgres.records(part, ""), None, ""))
    return answers


def compare(answers, asked, pg):
    wrong = []
    for (s, st, text), (rows, state, said) in zip(asked, answers):
        if st is None or judge(st, pg, rows, state):
            continue
        want = st.wanted(pg)
        state, lines = answered(rows, state)
        wrong.append("docs.sql:%d [%s]: %s    answers %s\n    must be %s" % (
            st.line, s.id, text[:500], "error %s %s" % (state, said) if state else lines,
            "error " + want[1] if want[1] else want[0] or []))
    check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))


def place(sections, folder):
    for s in sections:
        for st in s.statements:
            st.text = st.text.replace("{dir}", folder)
            st.text = re.sub(r"\{(\d+) x ([^}]*)\}", lambda m: "".join(
                m.group(2).replace("#", str(n)) for n in range(1, int(m.group(1)) + 1)), st.text)


def test_namdb():
    sections = read_book()
    with tempfile.TemporaryDirectory(prefix="nam-docs-") as folder:
        place(sections, folder)
        asked = script(sections, False)
        compare(ask_namdb([t for _, _, t in asked]), asked, False)
    print("  %d statements of %d sections" % (sum(st is not None for _, st, _ in asked), len(sections)))


def test_postgres_answers_the_same():
    sections = [s for s in read_book() if s.kind != "namdb"]
    for s in sections:
        # what namdb has not is not asked, unless the section says what PostgreSQL answers
        s.statements = [st for st in s.statements if st.state != "0A000" or st.wanted(True) != st.wanted(False)]
    judge_pg = test_postgres.Postgres()
    try:
        with tempfile.TemporaryDirectory(prefix="nam-docs-", dir=judge_pg.dir) as folder:
            os.chmod(folder, 0o777)
            place(sections, folder)
            asked = script(sections, True)
            answers = judge_pg.script([t for _, _, t in asked])
    finally:
        judge_pg.close()
    answers = [(rows, state, "") for rows, state in answers]
    if os.environ.get("NAM_FILL"):
        fill(asked, answers)
    compare(answers, asked, True)
    print("  %d statements of %d sections" % (sum(st is not None for _, st, _ in asked), len(sections)))


def fill(asked, answers):
    lines = open(BOOK, encoding="utf-8").read().split("\n")
    add = {}
    for (s, st, _), (rows, state, _) in zip(asked, answers):
        if st is None or st.rows or st.state or st.pg_rows or st.pg_state:
            continue
        state, out = answered(rows, state)
        new = ["--! " + state] if state else ["--> " + x for x in out or []]
        add[st.end] = new
        st.state, st.rows = state, out
    out = []
    for n, line in enumerate(lines, 1):
        out += [line] + add.get(n, [])
    open(BOOK, "w", encoding="utf-8").write("\n".join(out))


if __name__ == "__main__":
    house.main()
