#!/usr/bin/env python3
"""Random regular expressions over random texts, by namdb and by a real PostgreSQL 15: matches, groups, replacements, parts and SQLSTATEs
must be equal. NAM_QUERIES patterns of seed NAM_SEED; NAM_DIFFS=1 prints all differences.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer  # noqa: F401 (the path to house)
import house
from house import check
import test_postgres

# Each has a row: what it is about, and a statement of pattern p and text t.
ASK = ("SELECT regexp_match(t, p), t ~ p, t ~* p, substring(t from p), ARRAY(SELECT m::text FROM regexp_matches(t, p, 'g') m), "
       "regexp_replace(t, p, '<\\1,\\2,\\&>', 'g'), regexp_replace(t, p, '<\\1>', 'i'), regexp_split_to_array(t, p), regexp_count(t, p), "
       "regexp_instr(t, p, 1, 2), regexp_substr(t, p, 2, 1, 'i') FROM (VALUES (%s, %s)) v (t, p)")


class Maker:
    def __init__(self, dice):
        self.d = dice
        self.groups = 0
        self.letters = "aab" if dice.random() < 0.5 else "abAcé"

    def pattern(self):
        self.groups, self.done = 0, []
        p = self.alternatives(3, False)
        if self.d.random() < 0.15 and p:  # a mistake, perhaps
            at = self.d.randrange(len(p))
            p = p[:at] + self.d.choice(["", "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "\\1", "\\9", "{2", "{2,1}", "(?=", "(?<"]) + p[at + self.d.choice([0, 1]):]
        return p

    def alternatives(self, depth, inside):
        return "|".join(self.branch(depth, inside) for _ in range(self.d.choice([1, 1, 1, 2, 2, 3])))

    def branch(self, depth, inside):
        return "".join(self.piece(depth, inside) for _ in range(self.d.choice([0, 1, 1, 2, 2, 3, 4])))

    def piece(self, depth, inside):
        r = self.d.random()
        if r < 0.06:
            return self.d.choice(["^", "$", "\\m", "\\M", "\\y", "\\Y", "\\A", "\\Z"])
        if depth > 0 and r < 0.11:
            return "(?%s%s)" % (self.d.choice(["=", "!", "<=", "<!"]), self.alternatives(depth - 1, True))
        return self.atom(depth, inside) + self.quantifier()

    def atom(self, depth, inside):
        r = self.d.random()
        if self.done and not inside and r < 0.12:
            return "\\%d" % self.d.choice(self.done)
        if depth > 0 and r < 0.4:
            if inside or self.groups == 9 or self.d.random() < 0.25:
                return "(%s%s)" % ("" if inside else "?:", self.alternatives(depth - 1, inside))
            self.groups += 1
            n = self.groups
            text = "(%s)" % self.alternatives(depth - 1, inside)
            self.done.append(n)
            return text
        if r < 0.5:
            return "."
        if r < 0.58:
            return self.d.choice(["[ab]", "[^a]", "\\w", "\\s", "[b-c]", "\\W"])
        return self.d.choice(self.letters)

    def quantifier(self):
        if self.d.random() < 0.55:
            return ""
        one = self.d.choice(["*", "+", "?", "*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{1}", "{0}", "{3}", "{1,1}"])
        return one + self.d.choice(["", "", "?"])

    def text(self):
        return "".join(self.d.choice(self.letters + self.d.choice(["", " "])) for _ in range(self.d.choice([0, 1, 2, 3, 4, 5, 6, 8, 12, 20])))


def quoted(s):
    return "'" + s.replace("'", "''") + "'"


def test_random():
    many, seed = int(os.environ.get("NAM_QUERIES", house.rounds(1500, 1000, 200))), int(os.environ.get("NAM_SEED", "1"))
    maker = Maker(random.Random(seed))
    texts = []
    while len(texts) < many:
        p = maker.pattern()
        texts += [ASK % (quoted(maker.text()), quoted(p)) for _ in range(3)]
    pg = test_postgres.Postgres()
    try:
        want = pg.script(texts)
    finally:
        pg.close()
    got = test_postgres.ask_namdb(texts)
    wrong, errors, later = [], 0, 0
    for text, (rows, state), (ours, our_state, said) in zip(texts, want, got):
        errors += state is not None
        if our_state == "0A000":
            later += 1
        elif (rows, state) != (ours, our_state):
            wrong.append("%s\n    namdb      %s %s\n    PostgreSQL %s %s" % (text[text.index("FROM (VALUES"):], ours, our_state and our_state + said, rows, state))
    print("  seed %d: %d statements, %d of them errors, %d not supported yet, %d differ" % (seed, len(texts), errors, later, len(wrong)))
    shown = wrong if os.environ.get("NAM_DIFFS") else wrong[:5]
    check(later * 100 <= len(texts), "too many are not supported")
    check(not wrong, "%d of %d differ:\n%s" % (len(wrong), len(texts), "\n".join(shown)))


if __name__ == "__main__":
    house.main()
