"""queries.py -- whole queries by dice, for two databases to answer alike: FROM lists with LATERAL and functions, outer
joins whose ON computes, groups of expressions, windows with functions that answer rows beside them, subqueries.

Every query orders by all of its columns. Values are small, so nothing overflows: what fails does so in both.
"""
TABLES = {"ga": [("id", "int"), ("a", "int"), ("s", "text"), ("p", "bool")],
          "gb": [("k", "int"), ("b", "int"), ("t", "text")],
          "gc": [("x", "int"), ("y", "int"), ("z", "text")],
          "ge": [("e", "int"), ("f", "text")]}
SETUP = [
    "CREATE TABLE ga (id integer PRIMARY KEY, a integer, s text, p boolean)",
    "CREATE TABLE gb (k integer PRIMARY KEY, b integer, t varchar(8))",
    "CREATE TABLE gc (x integer, y integer, z text, PRIMARY KEY (x, y))",
    "CREATE TABLE ge (e integer, f text)",
    "INSERT INTO ga VALUES (1, 2, 'x', true), (2, NULL, 'yy', false), (3, 3, NULL, NULL), (4, 2, 'x', true), (5, 0, 'ab', false), "
    "(6, -1, '', true), (7, 5, 'yy', NULL)",
    "INSERT INTO gb VALUES (1, 2, 'x'), (2, 2, 'zz'), (3, NULL, 'x'), (5, 0, NULL), (6, 4, 'ab')",
    "INSERT INTO gc VALUES (1, 1, 'x'), (1, 2, NULL), (2, 1, 'yy'), (3, 5, 'q'), (5, 0, 'x')",
]


class Query:
    def __init__(self, dice):
        self.dice, self.names = dice, 0

    def pick(self, *of):
        return self.dice.choice(of)

    def odds(self, p):
        return self.dice.random() < p

    def name(self):
        self.names += 1
        return "q%d" % self.names

    # -- expressions over a scope: [(column as it is written, type)]

    def column(self, scope, kind):
        of = [c for c, t in scope if t == kind]
        return self.dice.choice(of) if of else None

    def integer(self, scope, deep=2):
        c = self.column(scope, "int")
        if deep == 0 or self.odds(0.4):
            return c if c and self.odds(0.85) else self.pick("0", "1", "2", "3", "-1", "NULL::int")
        x = lambda: self.integer(scope, deep - 1)
        return self.pick(
            lambda: "%s %s %s" % (x(), self.pick("+", "-"), x()), lambda: "(%s) %% 3" % x(), lambda: "abs(%s)" % x(),
            lambda: "coalesce(%s, %s)" % (x(), x()), lambda: "length(%s)" % self.text(scope, deep - 1),
            lambda: "CASE WHEN %s THEN %s ELSE %s END" % (self.condition(scope, deep - 1), x(), x()),
            lambda: "%s(%s, %s)" % (self.pick("greatest", "least"), x(), x()), lambda: "nullif(%s, %s)" % (x(), x()),
            lambda: self.scalar(scope))()

    def text(self, scope, deep=2):
        c = self.column(scope, "text")
        if deep == 0 or self.odds(0.5):
            return c if c and self.odds(0.85) else self.pick("'x'", "'yy'", "''", "NULL::text")
        x = lambda: self.text(scope, deep - 1)
        return self.pick(
            lambda: "%s || %s" % (x(), self.pick("'q'", "'x'", x())), lambda: "upper(%s)" % x(), lambda: "coalesce(%s, %s)" % (x(), x()),
            lambda: "(%s)::text" % self.integer(scope, deep - 1), lambda: "left(%s, 1)" % x(), lambda: "nullif(%s, 'x')" % x())()

    def condition(self, scope, deep=2):
        i, s = (lambda: self.integer(scope, max(deep - 1, 0))), (lambda: self.text(scope, max(deep - 1, 0)))
        c = self.column(scope, "bool")
        if deep > 0 and self.odds(0.3):
            x = lambda: self.condition(scope, deep - 1)
            return self.pick("(%s AND %s)", "(%s OR %s)", "(%s AND NOT %s)") % (x(), x())
        return self.pick(
            lambda: "%s %s %s" % (i(), self.pick("=", "=", "<", ">", "<>", ">=", "<="), i()),
            lambda: "%s %s %s" % (s(), self.pick("=", "=", "<", "<>"), s()), lambda: "(%s) IS %sNULL" % (i(), self.pick("", "NOT ")),
            lambda: "%s IN (%s, %s)" % (i(), i(), i()), lambda: "%s = ANY (ARRAY[%s, %s])" % (i(), i(), i()),
            lambda: "%s IS %sDISTINCT FROM %s" % (i(), self.pick("", "NOT "), i()), lambda: c or "true",
            lambda: "%s LIKE '%%x'" % s(), lambda: self.about(scope))()

    def about(self, scope):
        """A condition with a subquery."""
        q, inner = self.source(scope, 0)
        both = inner + scope
        return self.pick(
            lambda: "%sEXISTS (SELECT 1 FROM %s WHERE %s)" % (self.pick("", "NOT "), q, self.condition(both, 0)),
            lambda: "%s %sIN (SELECT %s FROM %s WHERE %s)" % (
                self.integer(scope, 0), self.pick("", "NOT "), self.integer(inner, 0), q, self.condition(both, 0)),
            lambda: "%s %s (SELECT %s FROM %s)" % (
                self.integer(scope, 0), self.pick("= ANY", "<> ALL", "< ANY", ">= ALL"), self.integer(inner, 0), q))()

    def scalar(self, scope):
        q, inner = self.source(scope, 0)
        where = " WHERE " + self.condition(inner + scope, 0) if self.odds(0.7) else ""
        # an aggregate of columns outside is that query's, and there may be many rows here: which of the two databases asks for
        # more than one of them when no row needs the answer is another matter
        own = self.odds(0.8)
        agg = self.pick("max(%s)", "min(%s)", "count(%s)", "sum(%s)::int") % self.integer(inner if own else inner + scope, 0)
        return "(SELECT %s FROM %s%s%s)" % (agg, q, where, "" if own else " LIMIT 1")

    # -- FROM

    def source(self, scope, deep=1):
        """(text, its columns). scope: what LATERAL may speak of."""
        n = self.name()
        if deep == 0 or self.odds(0.5):
            t = self.pick("ga", "ga", "gb", "gb", "gc", "ge")
            return "%s %s" % (t, n), [("%s.%s" % (n, c), k) for c, k in TABLES[t]]
        def rows():
            args = ["(%s, %s)" % (self.integer(scope, 1), self.text(scope, 1)) for _ in range(self.pick(1, 2, 3))]
            return "LATERAL (VALUES %s) %s (v, w)" % (", ".join(args), n), [(n + ".v", "int"), (n + ".w", "text")]
        def series():
            args = "%s, abs(%s) %% 4" % (self.pick("1", "0", self.integer(scope, 0)), self.integer(scope, 1))
            if self.odds(0.3):
                return "generate_series(%s) WITH ORDINALITY %s (g, o)" % (args, n), [(n + ".g", "int")]
            return "generate_series(%s) %s (g)" % (args, n), [(n + ".g", "int")]
        def array():
            args = ", ".join(self.integer(scope, 1) for _ in range(self.pick(1, 2, 3)))
            if self.odds(0.3):
                return "unnest(ARRAY[%s], ARRAY[%s]) %s (g, h)" % (args, self.text(scope, 0), n), [(n + ".g", "int"), (n + ".h", "text")]
            return "unnest(ARRAY[%s]) %s (g)" % (args, n), [(n + ".g", "int")]
        def letters():
            return "string_to_table(%s, NULL) %s (c)" % (self.text(scope, 1), n), [(n + ".c", "text")]
        def lateral():
            q, inner = self.source(scope, deep - 1)
            both = inner + (scope if self.odds(0.8) else [])
            where = " WHERE " + self.condition(both, 1) if self.odds(0.6) else ""
            i, s = self.integer(both, 1), self.text(both, 1)
            if self.odds(0.25):
                return "LATERAL (SELECT %s, max(%s), count(*)::int FROM %s%s GROUP BY 1) %s (g, w, c)" % (i, s, q, where, n), \
                    [(n + ".g", "int"), (n + ".w", "text"), (n + ".c", "int")]
            tail = " ORDER BY 1, 2 LIMIT 2" if self.odds(0.3) else ""
            return "LATERAL (SELECT %s%s, %s FROM %s%s%s) %s (g, w)" % (
                "DISTINCT " if self.odds(0.2) else "", i, s, q, where, tail, n), [(n + ".g", "int"), (n + ".w", "text")]
        return self.pick(rows, series, array, letters, lateral, lateral, lateral)()

    def tables(self, most=3):
        """A FROM list and its columns."""
        text, scope = self.source([], 1)
        near = scope  # what stands behind the last comma: ON may speak of that alone, LATERAL of all
        for _ in range(self.dice.randrange(most)):
            kind = self.pick(",", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
            if kind == ",":
                right, more = self.source(scope, 1)
                text, scope, near = "%s, %s" % (text, right), scope + more, more
                continue
            right, more = self.source([] if kind in ("RIGHT JOIN", "FULL JOIN") else scope, 1)
            on = ""
            if kind == "FULL JOIN":  # PostgreSQL wants to hash or to merge
                type = self.pick("int", "text")
                sides = self.column(near, type), self.column(more, type)
                if None in sides:
                    continue
                on = " ON %s = %s" % self.pick(sides, sides, ("upper((%s)::text)" % sides[0], "(%s)::text" % sides[1]))
            elif kind != "CROSS JOIN":
                on = " ON " + self.condition(near + more, 2)
                if self.odds(0.5) and self.column(near, "int") and self.column(more, "int"):
                    on = " ON %s = %s%s" % (self.column(near, "int"), self.column(more, "int"), self.pick("", " AND" + on[3:]))
            text, scope, near = "%s %s %s%s" % (text, kind, right, on), scope + more, near + more
        return text, scope

    # -- whole queries

    def value(self, scope, deep=2):
        return self.pick(self.integer, self.integer, self.text)(scope, deep)

    def where(self, scope):
        return " WHERE " + self.condition(scope, 2) if self.odds(0.5) else ""

    def rows(self, scope):
        """A call that answers rows, for a select list."""
        return self.pick(
            lambda: "generate_series(1, abs(%s) %% 3)" % self.integer(scope, 0), lambda: "unnest(ARRAY[%s, 7])" % self.integer(scope, 0),
            # of a NULL that its planner sees, PostgreSQL makes one row
            lambda: "coalesce(%s, 0) + generate_series(1, 2)" % self.integer(scope, 0), lambda: "string_to_table(%s, NULL)" % self.text(scope, 0),
            lambda: "generate_series(1, 2) * unnest(ARRAY[1, %s])" % self.integer(scope, 0))()

    def done(self, head, items, rest, cut=True):
        order = ", ".join(str(k + 1) for k in range(len(items)))
        limit = self.pick("", "", "", " LIMIT 3", " LIMIT 5 OFFSET 1") if cut else ""
        return "%s %s FROM %s ORDER BY %s%s" % (head, ", ".join(items), rest, order, limit)

    def plain(self):
        text, scope = self.tables()
        items = [self.value(scope) for _ in range(self.pick(1, 2, 3))]
        if self.odds(0.2):
            items.append(self.rows(scope))
        return self.done(self.pick("SELECT", "SELECT", "SELECT DISTINCT"), items, text + self.where(scope))

    def aggregate(self, scope):
        i, s = self.integer(scope, 1), self.text(scope, 1)
        f = " FILTER (WHERE %s)" % self.condition(scope, 1) if self.odds(0.2) else ""
        return self.pick("count(*)", "count(%s)" % s, "sum(%s)" % i, "max(%s)" % s, "min(%s)" % i, "count(DISTINCT %s)" % i,
                         "avg(%s)::numeric(10,3)" % i, "bool_or(%s)" % self.condition(scope, 0),
                         "string_agg(%s, ',' ORDER BY %s)" % (s, s), "array_agg(%s ORDER BY %s DESC)" % (i, i)) + f

    def grouped(self):
        text, scope = self.tables()
        keys = [self.value(scope, 1) for _ in range(self.pick(1, 1, 2))]
        plain = [k for k in keys if not k.lstrip("-").isdigit()] or ["1 + 0"]
        keys = plain
        by = self.pick(", ".join(keys), ", ".join(str(k + 1) for k in range(len(keys))), ", ".join(keys))
        sets = self.odds(0.15)
        if sets:
            by = "%s (%s)" % (self.pick("ROLLUP", "CUBE"), ", ".join(keys))
        items = list(keys) + [self.aggregate(scope) for _ in range(self.pick(1, 2))]
        if self.odds(0.2):
            items.append("generate_series(1, count(*) % 3)")
        if self.odds(0.15):
            items.append("sum(count(*)) OVER ()")
        if self.odds(0.15):
            items.append("(SELECT max(%s) FROM gb LIMIT 1)" % self.integer(scope, 0))
        having = " HAVING %s %s %s" % (self.pick("count(*)", "min(%s)" % self.integer(scope, 0)), self.pick(">", "=", "<"), self.pick("1", "2")) \
            if self.odds(0.3) else ""
        # sets: see UNSORTED in test_postgres.py
        return self.done("SELECT", items, "%s%s GROUP BY %s%s" % (text, self.where(scope), by, having), not sets)

    def windows(self):
        text, scope = self.tables()
        def over():
            part = "PARTITION BY " + self.value(scope, 1) if self.odds(0.6) else ""
            return "(%s ORDER BY %s%s)" % (part, self.value(scope, 1), self.pick("", " DESC", " NULLS FIRST"))
        def call():
            i = self.integer(scope, 1)
            return "%s OVER %s" % (self.pick("rank()", "dense_rank()", "count(*)", "sum(%s)" % i, "max(%s)" % i, "count(%s)" % i, "percent_rank()",
                                             "min(%s) FILTER (WHERE %s)" % (i, self.condition(scope, 0))), self.pick(over(), "()", over()))
        items = [self.value(scope) for _ in range(self.pick(1, 2))] + [self.pick("count(*) OVER ()", call(), call())]
        items = [i.replace("rank() OVER ()", "count(*) OVER ()").replace("dense_count", "count").replace("percent_count", "count") for i in items]
        if self.odds(0.7):
            items.append(self.rows(scope))
        return self.done(self.pick("SELECT", "SELECT", "SELECT DISTINCT"), items, text + self.where(scope))

    def sets(self):
        def one():
            text, scope = self.tables(2)
            return "SELECT %s, %s FROM %s%s" % (self.integer(scope), self.text(scope), text, self.where(scope))
        return "%s %s %s ORDER BY 1, 2" % (one(), self.pick("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"), one())

    def with_(self):
        text, scope = self.tables(2)
        q = "SELECT %s, %s FROM %s%s" % (self.integer(scope), self.text(scope), text, self.where(scope))
        w = [("r.g", "int"), ("r.w", "text")]
        other, more = self.source(w, 1)
        items = [self.value(w + more), self.value(w + more, 1)]
        return "WITH r (g, w) AS (%s) " % q + self.done(
            "SELECT", items, "r %s %s ON %s%s" % (self.pick("JOIN", "LEFT JOIN"), other, self.condition(w + more, 1), self.where(w + more)))

    def distinct_on(self):
        text, scope = self.tables()
        on = self.integer(scope, 1)
        items = [self.value(scope), self.value(scope, 1)] + ([self.rows(scope)] if self.odds(0.5) else [])
        return "SELECT DISTINCT ON (0 + %s) %s FROM %s%s ORDER BY 0 + %s, %s" % (
            on, ", ".join(items), text, self.where(scope), on, ", ".join(str(k + 1) for k in range(len(items))))

    def any(self):
        self.names = 0
        return self.pick(
            ("random: joins", self.plain), ("random: joins", self.plain), ("random: groups", self.grouped), ("random: windows", self.windows),
            ("random: sets", self.sets), ("random: with", self.with_), ("random: distinct on", self.distinct_on))


def queries(m, n):
    q = Query(m.dice)
    tries = 0
    while n > 0 and tries < 1000000:
        feature, make = q.any()
        tries += 1
        if m.add(feature, make()):
            n -= 1
