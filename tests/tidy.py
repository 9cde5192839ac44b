#!/usr/bin/env python3
"""tidy.py [FILE...] -- rules of docs/STYLE.md that neither the compiler nor clang-format keeps.

Without arguments it reads all files that git knows. It prints FILE:LINE: what is wrong and what to do, one line
each, and ends with 1 if there was one. `tidy.py --self` shows each rule a text that breaks it and one that does not.
"""
import os
import re
import subprocess
import sys

WIDTH = 100  # columns of a comment, tabs of 8
LINES = 100  # of a function, from its opening brace to its closing one
# Flat switches and tables: long, and every line the same.
LONG = {
    "put_field",  # sql: a case for each letter of to_char's patterns for dates
    "take_field",  # sql: the same for to_date and to_timestamp
}
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SENTENCE = re.compile(r"(?:^|[.:;!?] +|\* +|// +|# +|\| +)(Who|Whoever)\b(?! +(?:may|can|owns|sees|uses|holds|does|is|knows)\b[^.]*\?)")
# Words by which prose hides its actor. A text in quotes may have them.
HIDDEN = re.compile(r"\b(he|him|his|whoever|whom|somebody|anew)\b", re.I)
NAMED = re.compile(r"(?<![\w./*-])((?:[a-z_0-9]+/)*[a-z_0-9]{2,}\.(?:c|h|py|sh|cmake))\b(?![.(])")


def columns(line):
    return len(line.expandtabs(8))


def comments(text):
    """(line number, text of the line) of all that is comment in C."""
    out, inside = [], False
    for n, line in enumerate(text.split("\n"), 1):
        bare = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', line) if not inside else line
        if inside:
            end = bare.find("*/")
            out.append((n, line if end < 0 else line[: end + 2]))
            inside = end < 0
            continue
        at = bare.find("/*")
        if at >= 0:
            end = bare.find("*/", at + 2)
            out.append((n, line[at:] if end < 0 else line[at : end + 2]))
            inside = end < 0
        elif "//" in bare:
            out.append((n, line[bare.find("//") :]))
    return out


def wide(name, text):
    lines = text.split("\n")
    for n, _ in comments(text):
        at = columns(lines[n - 1].rstrip("\\ \t"))
        if at > WIDTH:
            yield n, "a comment ends in column %d: break it before %d" % (at, WIDTH)


def long_functions(name, text):
    begin = what = None
    last = ""
    for n, line in enumerate(text.split("\n"), 1):
        if line == "{" and begin is None:
            begin, what = n, last
        elif line == "}" and begin is not None:
            f = re.match(r"\w+", what)
            f = f.group() if f else "?"
            if n - begin - 1 > LINES and f not in LONG:
                yield begin, "%s has %d lines: cut it at its headings to %d" % (f, n - begin - 1, LINES)
            begin = None
        if begin is None and re.match(r"\w+\(", line):
            last = line


def named_files(name, text, known):
    for n, line in comments(text) if name.endswith((".c", ".h")) else enumerate(text.split("\n"), 1):
        for f in NAMED.findall(line):
            # A file of the house: by its path, or by its name alone; a system's header in angle brackets is not.
            if not any(k == f or k.endswith("/" + f) for k in known) and not f.startswith("include/") and "<" + f + ">" not in line:
                yield n, "no file %s is here: name one that is" % f


def who(name, text):
    rows = comments(text) if name.endswith((".c", ".h")) else list(enumerate(text.split("\n"), 1))
    for n, line in rows:
        if SENTENCE.search(line):
            yield n, "a sentence begins with Who: name the actor with a noun of docs/GLOSSARY.md"


def hidden(name, text):
    rows = comments(text) if name.endswith((".c", ".h")) else list(enumerate(text.split("\n"), 1))
    for n, line in rows:
        for word in HIDDEN.findall(re.sub(r'"[^"]*"|`[^`]*`', "", line)):
            yield n, "%r hides the actor: name it with a noun of docs/GLOSSARY.md" % word


def known_files():
    try:
        out = subprocess.run(["git", "-C", HERE, "ls-files"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        print("tidy: skipped, for git does not know these files")
        sys.exit(77)
    return [f for f in out.split("\n") if f and os.path.exists(os.path.join(HERE, f))]


def judge(name, text, known):
    if name.endswith((".c", ".h")):
        yield from wide(name, text)
        if name.endswith(".c"):
            yield from long_functions(name, text)
    if name.endswith((".c", ".h", ".md")):
        yield from named_files(name, text, known)
        yield from who(name, text)
        yield from hidden(name, text)


SELF = [
    (".c", "/* " + "x" * 98 + " */", "/* short */", "comment ends"),
    (".c", "int\nf(void)\n{\n" + "\tg();\n" * 101 + "}", "int\nf(void)\n{\n" + "\tg();\n" * 100 + "}", "cut it"),
    (".c", "/* see nowhere_at_all.c */", "/* see tidy.py */", "no file"),
    (".h", "/* Whoever reads waits. */", "/* A reader waits. */", "sentence"),
    (".md", "It ends. Who waits is woken.", "It ends. A waiter is woken.", "sentence"),
    (".c", "/* The owner, if he lives. */", "/* The owner, if it lives. */", "hides"),
    (".md", "Made anew by somebody.", "Made again by the reader of `whom`.", "hides"),
]


def self_test():
    bad = 0
    for end, wrong, right, say in SELF:
        if not any(say in what for _, what in judge("a" + end, wrong, {"tidy.py"})):
            print("tidy: blind to", repr(wrong[:40]))
            bad = 1
        if list(judge("a" + end, right, {"tidy.py"})):
            print("tidy: finds fault with", repr(right[:40]))
            bad = 1
    return bad


def main():
    if sys.argv[1:] == ["--self"]:
        return self_test()
    if len(LONG) > 10:
        print("tidy: more than ten functions are exempt from their length")
        return 1
    every = known_files()
    known = set(every)
    bad = self_test()
    for name in sys.argv[1:] or every:
        if not name.endswith((".c", ".h", ".md")):
            continue
        with open(os.path.join(HERE, name), encoding="utf-8") as f:
            for n, what in judge(name, f.read(), known):
                print("%s:%d: %s" % (name, n, what))
                bad = 1
    if not bad:
        print("tidy: all is well")
    return bad


if __name__ == "__main__":
    sys.exit(main())
