#!/usr/bin/env python3
"""The shell's commands: buffers, files, editors, forms of output."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same

shared = None


def cluster():
    global shared
    if shared is None:
        shared = House(nodes=1, size="256m")
        shared.do("CREATE TABLE t (id integer PRIMARY KEY, name text)").ok()
        shared.do("INSERT INTO t VALUES (1, 'one'), (2, NULL)").ok()
    return shared


def test_go_again_print_and_forget():
    h = cluster()
    same(h.sql(stdin="SELECT 1 AS a\n\\g\n\\g\n").ok().out, "a\n1\na\n1\n")
    same(h.sql(stdin="SELECT 1\\r\nSELECT 2 AS b;\n").ok().out, "b\n2\n")
    same(h.sql(stdin="SELECT 3\n\\p\n AS c;\n").ok().out, "SELECT 3\n\nc\n3\n")
    # A backslash in quotes or in a comment is no command.
    same(h.sql(stdin="SELECT 'a\\g' AS d, $$\\q$$ AS e; -- \\q\nSELECT /* \\q */ 5 AS f;\n").ok().out,
         "d,e\na\\g,\\q\nf\n5\n")
    r = h.sql(stdin="SELECT 1 \\frobnicate\n+ 1 AS g;\n").fails(1)
    contains(r.err, "frobnicate")
    contains(r.out, "g\n2\n")


def test_output_to_files_and_programs():
    h = cluster()
    path, other = h.file("out.txt", ""), h.file("g.txt", "")
    r = h.sql(stdin="\\o %s\nSELECT 42 AS x;\n\\d t\nSELECT 1/0;\n\\o\nSELECT 7 AS y;\nSELECT 8 AS z \\g %s\n"
              "SELECT 'low' AS w \\g | tr a-z A-Z\nSELECT 9 AS v;\n" % (path, other), csv=False).fails(1)
    contains(open(path).read(), " 42\n(1 row)", "\"t_pkey\" PRIMARY KEY, hash (id)\n\n")
    contains(open(other).read(), " z \n---\n 8\n(1 row)")
    contains(r.out, " y \n---\n 7\n", "LOW", " v \n---\n 9\n")
    contains(r.err, "22012")
    check("42" not in r.out and " z " not in r.out, r)
    r = h.sql(stdin="\\o /nowhere/at/all\nSELECT 5 AS x;\n").fails(1)
    contains(r.err, "/nowhere/at/all")
    contains(r.out, "x\n5\n")


def test_expanded():
    h = cluster()
    r = h.sql(stdin="\\x\nSELECT id, name AS a_name FROM t ORDER BY id;\nSELECT E'two\\nlines' AS x, 1 AS y;\n"
              "SELECT 1 AS z WHERE false;\n\\x off\nSELECT 2 AS w;\n", csv=False).ok()
    contains(r.out, "-[ RECORD 1 ]\nid     | 1\na_name | one\n-[ RECORD 2 ]\nid     | 2\na_name | \n\n",
             "-[ RECORD 1 ]\nx | two     +\n  | lines\ny | 1\n\n", "(0 rows)\n\n", " w \n---\n 2\n(1 row)\n")


def test_copy_of_files():
    h = cluster()
    h.do("CREATE TABLE c (a integer PRIMARY KEY, b text)").ok()
    csv, tab = h.file("c.csv", "1,\"o,ne\"\n2,two\n"), h.file("it has blanks.tsv", "3\tthree\n4\t\\N\n")
    r = h.sql(stdin="\\copy c (a, b) from %s with (format csv)\n\\copy c from '%s'\n\\COPY c from stdin\n"
              "\\copy c from stdin\n5\tfive\n\\.\nSELECT a, b FROM c ORDER BY a;\n" % (csv, tab)).fails(1)
    contains(r.out, "COPY 2\n", "1,\"o,ne\"\n2,two\n3,three\n4,\n5,five\n")
    contains(r.err, "COPY")
    r = h.sql(stdin="\\copy c from /nowhere/at/all\n\\copy c\n\\copy\n").fails(1)
    contains(r.err, "/nowhere/at/all", "usage: \\copy")
    r = h.sql(stdin="\\copy c from '%s'\nSELECT count(*) AS n FROM c;\n" % tab).fails(1)
    contains(r.err, "23505")
    contains(r.out, "n\n5\n")


def test_copy_to_files():
    h = cluster()
    path, other = h.file("to.csv", ""), h.file("to.tsv", "")
    r = h.sql(stdin="\\copy (SELECT id, name FROM t WHERE id < 3 ORDER BY id) to %s with (format csv, header)\n"
              "\\copy t (id) to '%s'\n\\copy (SELECT 5) to stdout\n\\o %s.2\nCOPY (SELECT 6) TO STDOUT;\n"
              "\\copy nope to /dev/null\n" % (path, other, path)).fails(1)
    same(open(path).read(), "id,name\n1,one\n2,\n")
    check(open(other).read().startswith("1\n2\n"), open(other).read())
    # No tag within data on stdout, or in the file that \\o names.
    same(r.out, "COPY 2\nCOPY 2\n5\n")
    same(open(path + ".2").read(), "6\n")
    contains(r.err, "42P01")
    contains(h.sql(stdin="\\copy t to /nowhere/at/all\n").fails(1).err, "/nowhere/at/all")


def test_editor():
    h = cluster()
    editor = h.file("editor", "#!/bin/sh\nsed -i 's/seven/7/' \"$1\"\necho 'SELECT 8 AS b;' >> \"$1\"\n")
    os.chmod(editor, 0o755)
    h.env["EDITOR"] = editor
    r = h.sql(stdin="SELECT seven AS a;\n\\e\n").fails(1)
    contains(r.err, "42703")
    contains(r.out, "a\n7\n", "b\n8\n")
    h.env["EDITOR"] = "false"
    r = h.sql(stdin="\\e\nSELECT 1 AS x;\n").fails(1)
    contains(r.err, "editor")
    contains(r.out, "x\n1\n")
    del h.env["EDITOR"]


def test_stop_on_error():
    h = cluster()
    for args in (["-v", "ON_ERROR_STOP=1"], ["--stop-on-error"]):
        r = h.sql(*args, stdin="SELECT 1/0;\nSELECT 5 AS x;\n").fails(1)
        same(r.out, "")
    contains(h.sql("-v", "ON_ERROR_STOP=0", stdin="SELECT 1/0;\nSELECT 5 AS x;\n").fails(1).out, "x\n5\n")
    same(h.sql(stdin="\\set ON_ERROR_STOP on\nSELECT 1/0;\nSELECT 5 AS x;\n").fails(1).out, "")


def test_tab_completes_names():
    h = cluster()
    h.do("CREATE TABLE elephants (trunk_length integer PRIMARY KEY)").ok()
    t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret)
    t.expect(r"=> ?$")
    t.send("sel\ttrunk\tfr\teleph\t;\n")
    t.expect(r"sel\x07?ect trunk\x07?_length fr\x07?om eleph\x07?ants")
    t.expect(r"\(0 rows\)")
    t.expect(r"=> ?$")
    t.send("\\d ele\t\n")
    t.expect(r"integer")
    t.expect(r"=> ?$")
    # What is copied has its tabs.
    t.send("COPY t FROM STDIN;\n")
    t.expect(r">> ?$")
    t.send("10\tten\n\\.\n")
    t.expect(r"COPY 1")
    t.expect(r"=> ?$")
    # Within a transaction only what is known already; nothing is asked.
    t.send("BEGIN;\n")
    t.expect(r"> ?$")
    t.send("SELECT tr\t\x15SELECT name FROM t WHERE id = 10;\n")
    t.expect(r"ten")
    t.expect(r"> ?$")
    t.send("\\q\n")
    same(t.end(), 0)


def test_pager():
    h = cluster()
    h.do("CREATE TABLE long_one (id integer PRIMARY KEY)").ok()
    h.do("INSERT INTO long_one VALUES %s" % ", ".join("(%d)" % i for i in range(100))).ok()
    h.env["PAGER"] = "sed 's/^/paged:/'"
    t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret)
    t.expect(r"=> ?$")
    t.send("SELECT id FROM long_one ORDER BY id;\n")
    t.expect(r"paged: 99\n")
    t.expect(r"paged:\(100 rows\)")
    t.expect(r"=> ?$")
    t.send("SELECT 'a ' || 'few' AS x;\n")
    t.expect(r"\n a few\n")
    t.expect(r"=> ?$")
    t.send("\\q\n")
    same(t.end(), 0)
    # No terminal, no pager.
    check("paged" not in h.sql(stdin="SELECT id FROM long_one;\n", csv=False).ok().out)
    del h.env["PAGER"]


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            shared.__exit__(None, None, None)
