"""scoped.py -- random statements whose names are not qualified, are said at several levels, or hide each other.

Aggregates, WITH, WITH RECURSIVE, LATERAL, set operations and VALUES stand in every nesting: in the select list, WHERE, HAVING, ON,
FROM, GROUP BY, ORDER BY, IN, EXISTS, ANY, ALL, CASE, FILTER, UPDATE's SET, DELETE's WHERE, INSERT ... SELECT, RETURNING.
A level knows which of its columns may be said, so that most statements are right; some names are drawn blindly.
"""
TABLES = {"t": ["a", "b", "c"], "u": ["a", "b", "d"], "v": ["b", "c", "e"], "w": ["id", "a", "t"]}
NAMES = ["a", "b", "c", "d", "e", "s", "t", "id"]
ALIASES = ["t", "u", "v", "w", "x", "y", "z", "a", "q"]
SETUP = [
    "CREATE TABLE t (a int, b int, c int)",
    "INSERT INTO t VALUES (1, 2, 3), (2, 2, NULL), (3, NULL, 1), (4, 1, 3)",
    "CREATE TABLE u (a int PRIMARY KEY, b int, d int)",
    "INSERT INTO u VALUES (1, 3, 2), (2, 3, 3), (5, NULL, 4)",
    "CREATE TABLE v (b int, c int, e int)",
    "INSERT INTO v VALUES (1, 1, 1), (2, 1, 2), (2, 3, 2), (NULL, 2, 3), (3, 4, NULL)",
    "CREATE TABLE w (id int PRIMARY KEY, a int, t int)",
    "INSERT INTO w VALUES (1, 1, 1), (2, 3, 2), (3, 2, 2), (4, NULL, 5)",
]


class Item:
    def __init__(self, alias, columns, table=False):
        self.alias, self.columns, self.table = alias, columns, table


class Level:
    """A query: what its FROM list shows; keys: columns that may be said outside of aggregates (None: all);
    aggs: aggregates over its columns may stand here."""

    def __init__(self, items, ctes):
        self.items, self.ctes, self.keys, self.aggs = items, ctes, None, False


class Maker:
    def __init__(self, dice):
        self.dice = dice
        self.blind = False

    # ---- names

    def alias(self, items):
        taken = [i.alias for i in items]
        return self.dice.choice([a for a in ALIASES if a not in taken])

    def say(self, levels, at, item, name):
        """levels[at]'s column, said without its table where that means the same."""
        for level in levels[at + 1:]:
            if any(name in i.columns for i in level.items):
                break
        else:
            if sum(i.columns.count(name) for i in levels[at].items) == 1 and self.dice.random() < 0.75:
                return name
        if item.alias is not None and not any(i.alias == item.alias for level in levels[at + 1:] for i in level.items):
            return "%s.%s" % (item.alias, name)
        return None

    def column(self, levels, inside=None):
        """inside: of an aggregate that belongs to levels[inside]: no column of a deeper query."""
        d = self.dice
        if self.blind and d.random() < 0.02:
            self.blind = False  # two mistakes are told in another order
            return d.choice(NAMES) if d.random() < 0.6 else "%s.%s" % (d.choice(ALIASES), d.choice(NAMES))
        for _ in range(6 if levels else 0):
            top = len(levels) if inside is None else inside + 1
            at = top - 1
            while at > 0 and d.random() < 0.35:
                at -= 1
            level = levels[at]
            may = [(i, c) for i in level.items for c in i.columns
                   if level.keys is None or at == inside or (i.alias, c) in level.keys]
            if may:
                item, name = d.choice(may)
                said = self.say(levels, at, item, name)
                if said:
                    return said
        return str(d.randrange(5))

    # ---- expressions

    def aggregate(self, levels, deep):
        d = self.dice
        may = [k for k, level in enumerate(levels) if level.aggs and level.items]
        if not may:
            return self.column(levels)
        at = may[-1] if d.random() < 0.7 else d.choice(may)
        level = levels[at]
        was = level.aggs, level.keys
        level.aggs = False
        # columns of its level and of those around it; those around it as they may be said
        arg = self.column(levels, inside=at)
        if d.random() < 0.2:
            arg = "%s + %s" % (arg, self.column(levels, inside=at))
        if deep > 0 and d.random() < 0.12:
            level.keys = None
            arg = "coalesce(%s, %s)" % (arg, self.scalar(levels[:at + 1], deep - 1))
        more = ""
        if d.random() < 0.12:
            more = " FILTER (WHERE %s %s %d)" % (self.column(levels, inside=at), d.choice(["<", ">", "<>"]), d.randrange(4))
        level.aggs, level.keys = was
        name = d.choice(["sum", "min", "max", "count", "sum", "max"])
        distinct = "DISTINCT " if d.random() < 0.1 else ""
        if d.random() < 0.06 and at == len(levels) - 1:
            return "count(*)" + more
        return "%s(%s%s)%s" % (name, distinct, arg, more)

    def scalar(self, levels, deep):
        d = self.dice
        if d.random() < 0.75:
            return "(%s)" % self.query(levels, 1, deep, one=True)
        return "(%s ORDER BY 1 LIMIT 1)" % self.query(levels, 1, deep, simple=True)

    def value(self, levels, deep):
        d = self.dice
        k = d.random()
        if k < 0.42:
            return self.column(levels)
        if k < 0.5:
            return str(d.randrange(6))
        if k < 0.58:
            return "%s %s %s" % (self.column(levels), d.choice("+-*"), self.column(levels))
        if k < 0.74:
            return self.aggregate(levels, deep)
        if deep <= 0:
            return self.column(levels)
        if k < 0.9:
            return self.scalar(levels, deep - 1)
        if k < 0.94:
            return "CASE WHEN %s THEN %s ELSE %s END" % (
                self.condition(levels, deep - 1), self.value(levels, deep - 1), self.value(levels, deep - 1))
        if k < 0.97:
            return "coalesce(%s, %s)" % (self.value(levels, deep - 1), self.value(levels, deep - 1))
        return "%s(%s, %s)" % (d.choice(["greatest", "least", "nullif"]), self.column(levels), self.value(levels, deep - 1))

    def condition(self, levels, deep):
        d = self.dice
        k = d.random()
        if deep <= 0 or k < 0.4:
            return "%s %s %s" % (self.column(levels), d.choice(["=", "<", ">", "<>"]), self.value(levels, 0))
        if k < 0.55:
            return "%sEXISTS (%s)" % (d.choice(["", "NOT "]), self.query(levels, d.choice([1, 1, 2]), deep - 1))
        if k < 0.7:
            return "%s %sIN (%s)" % (self.column(levels), d.choice(["", "", "NOT "]), self.query(levels, 1, deep - 1))
        if k < 0.77:
            return "%s %s %s (%s)" % (self.column(levels), d.choice(["=", "<", ">", "<>"]), d.choice(["ANY", "ALL"]),
                                      self.query(levels, 1, deep - 1))
        if k < 0.9:
            return "%s %s %s" % (self.value(levels, deep - 1), d.choice(["=", "<", ">", "<>"]), self.value(levels, deep - 1))
        return "(%s %s %s)" % (self.condition(levels, deep - 1), d.choice(["AND", "OR"]), self.condition(levels, deep - 1))

    # ---- FROM

    def source(self, levels, level, deep):
        """An item, and what it shows."""
        d = self.dice
        alias = self.alias(level.items)
        k = d.random()
        ctes = [c for x in levels + [level] for c in x.ctes]
        if ctes and k < 0.45:
            name, columns = d.choice(ctes)
            if any(n == name and c is not columns for n, c in ctes):
                name, columns = next((n, c) for n, c in reversed(ctes) if n == name)
        elif deep <= 0 or k < 0.62:
            name = d.choice(list(TABLES))
            columns = TABLES[name]
            if any(n == name for n, _ in ctes):
                columns = next(c for n, c in reversed(ctes) if n == name)
        elif k < 0.66:
            shown = [d.choice(NAMES)] if d.random() < 0.5 else [alias]
            return "generate_series(1, %s) %s%s" % (
                self.column(levels + [level]) if d.random() < 0.4 else d.randrange(1, 4), alias,
                "(%s)" % shown[0] if shown[0] != alias else ""), Item(alias, shown)
        else:
            n = d.choice([1, 1, 2])
            shown = [d.choice(NAMES) for _ in range(n)] if d.random() < 0.1 else d.sample(NAMES, n)
            lateral = level.items and d.random() < 0.4
            inner = self.query(levels + [level] if lateral else levels + [Level([], level.ctes)], n, deep - 1,
                               names=None if d.random() < 0.4 else shown)
            if "\0" in inner:  # it has names of its own
                inner = inner.replace("\0", "")
                return "%s(%s) %s" % ("LATERAL " if lateral else "", inner, alias), Item(alias, shown)
            return "%s(%s) %s(%s)" % ("LATERAL " if lateral else "", inner, alias, ", ".join(shown)), Item(alias, shown)
        if d.random() < 0.25 and name not in [i.alias for i in level.items]:
            return name, Item(name, columns, name in TABLES)
        if d.random() < 0.2:
            shown = d.sample(NAMES, min(2, len(columns)))
            rest = columns[len(shown):]
            return "%s %s(%s)" % (name, alias, ", ".join(shown)), Item(alias, shown + rest)
        return "%s %s" % (name, alias), Item(alias, columns, columns == TABLES.get(name))

    def from_(self, levels, level, deep):
        d = self.dice
        text, item = self.source(levels, level, deep)
        level.items.append(item)
        while d.random() < 0.35 and len(level.items) < 3:
            k = d.random()
            before = list(level.items)
            more, item = self.source(levels, level, deep)
            level.items.append(item)
            if k < 0.4 or "LATERAL" in more:
                text += ", " + more
                continue
            if "," in text:
                text += " CROSS JOIN " + more
                continue
            kind = d.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
            series = more.startswith("generate_series")
            if series and kind in ("RIGHT JOIN", "FULL JOIN"):
                kind = "LEFT JOIN"
            common = [c for c in item.columns if item.columns.count(c) == 1 and sum(i.columns.count(c) for i in before) == 1]
            if k < 0.65 or not common:
                l, r = self.column(levels + [Level(before, [])]), self.column(levels + [Level([item], [])])
                on = [self.say(levels + [level], len(levels), i, c) for i, c in
                      [(lambda i: (i, d.choice(i.columns)))(d.choice(before)), (item, d.choice(item.columns))]]
                on = [x or "1" for x in on]
                cond = "%s = %s" % tuple(on)
                if kind in ("JOIN", "LEFT JOIN") and d.random() < 0.3:
                    cond += " AND " + self.condition(levels + [level], min(deep, 1))
                text += " %s %s ON %s" % (kind, more, cond)
                continue
            using_ = [d.choice(common)]
            if k > 0.93 and all(sum(i.columns.count(c) for i in before) <= 1 for c in item.columns):
                using_ = [c for c in item.columns if any(c in i.columns for i in before)]
                text += " NATURAL %s %s" % (kind, more)
            else:
                text += " %s %s USING (%s)" % (kind, more, ", ".join(using_))
            # the merged columns have no table; those of the tables can still be said with it
            level.items[:] = [Item(None, using_)] + [Item(i.alias, [c for c in i.columns if c not in using_])
                                                     if i.alias is not None else i for i in level.items]
            if d.random() < 0.3 and all(i.columns for i in level.items):
                name = self.alias([])
                shown = []
                for i in level.items:
                    shown += i.columns
                if len(set(shown)) == len(shown):
                    text = "(%s) AS %s" % (text, name)
                    level.items[:] = [Item(name, shown)]
                    break
        return text

    # ---- queries

    def with_(self, levels, level, deep):
        """WITH before a query; its names are seen in it."""
        d = self.dice
        parts, recursive = [], False
        for _ in range(d.choice([1, 1, 2])):
            name = d.choice(["p", "q", "r", "t", "u"])
            if any(n == name for n, _ in level.ctes):
                continue
            n = d.choice([1, 2])
            shown = d.sample(NAMES, n)
            if d.random() < 0.25 and not parts:
                recursive = True
                base = self.query(levels + [Level([], level.ctes)], 1, min(deep - 1, 1), simple=True)
                parts.append("%s(%s) AS (%s UNION SELECT %s + 1 FROM %s WHERE %s < %s)" % (
                    name, shown[0], base, shown[0], name, shown[0], d.choice(["3", "4"])))
                level.ctes = level.ctes + [(name, shown[:1])]
                continue
            inner = self.query(levels + [Level([], level.ctes)], n, deep - 1)
            parts.append("%s(%s) AS %s(%s)" % (name, ", ".join(shown), d.choice(["", "", "MATERIALIZED ", "NOT MATERIALIZED "]), inner))
            level.ctes = level.ctes + [(name, shown)]
        return "WITH %s%s " % ("RECURSIVE " if recursive else "", ", ".join(parts)) if parts else ""

    def query(self, levels, n, deep, one=False, simple=False, names=None):
        """A query of n columns. one: at most one row. names: of its columns, said in it: then it has a \\0 in it."""
        d = self.dice
        k = d.random()
        if not one and not simple and names is None and deep > 0 and k < 0.12:
            inner = levels + [Level([], [])]
            return "%s %s%s %s" % (self.query(inner, n, deep - 1, simple=True), d.choice(["UNION", "EXCEPT", "INTERSECT"]),
                                   d.choice(["", " ALL"]), self.query(inner, n, deep - 1, simple=True))
        if not one and not simple and names is None and k < 0.17:
            return "VALUES " + ", ".join("(%s)" % ", ".join(self.value(levels, 0) for _ in range(n)) for _ in range(d.choice([1, 2])))
        level = Level([], [])
        with_ = self.with_(levels, level, deep) if deep > 0 and not simple and d.random() < 0.2 else ""
        source = self.from_(levels, level, deep - 1)
        all_ = levels + [level]
        where = " WHERE " + self.condition(all_, deep - 1) if d.random() < 0.4 else ""
        group = having = ""
        if one:
            level.keys, level.aggs = set(), True
        elif d.random() < 0.3:
            level.keys, level.aggs = set(), True
            keys = []
            for _ in range(d.choice([1, 1, 2])):
                item = d.choice(level.items)
                if not item.columns:
                    continue
                name = d.choice(item.columns)
                said = self.say(all_, len(levels), item, name)
                if said:
                    keys.append(said)
                    level.keys.add((item.alias, name))
            if keys:
                group = " GROUP BY " + ", ".join(keys)
                # PostgreSQL 15 takes two columns of a query in FROM that are one column below for one key
                if len(keys) == 2 and d.random() < 0.3 and all(i.table for i in level.items):
                    group = " GROUP BY %s (%s)" % (d.choice(["ROLLUP", "CUBE"]), ", ".join(keys))
        if level.aggs and d.random() < 0.2:
            having = " HAVING %s %s %s" % (self.aggregate(all_, deep - 1), d.choice(["<", ">", "<>"]), self.value(all_, deep - 1))
        what = [self.value(all_, deep - 1) for _ in range(n)]
        if one:
            what = [self.aggregate(all_, deep - 1) if d.random() < 0.7 else x for x in what]
            if not group and not having and not any(f in what[0] for f in ("sum(", "min(", "max(", "count(")):
                what[0] = self.aggregate(all_, deep - 1)
        if names is not None:
            what = ["%s AS %s" % x for x in zip(what, names)]
        order = ""
        if not simple and d.random() < 0.12:
            order = " ORDER BY " + self.value(all_, deep - 1)
            if order[10:].isdigit():
                order = " ORDER BY 1"
        distinct = "DISTINCT " if not order and d.random() < 0.06 else ""
        return "%sSELECT %s%s%s FROM %s%s%s%s%s" % (with_, distinct, ", ".join(what), "\0" if names is not None else "", source, where,
                                                group, having, order)

    def target(self, table):
        level = Level([Item(table, TABLES[table])], [])
        return level

    def change(self, deep):
        d = self.dice
        table = d.choice(["u", "w"])
        own = [self.target(table)]
        returning = " RETURNING %s" % ", ".join(self.value(own, deep - 1) for _ in range(2)) if d.random() < 0.6 else ""
        k = d.random()
        column = TABLES[table][1:]
        if k < 0.35:
            source = ""
            levels = own
            if d.random() < 0.35:
                level = Level(list(own[0].items), [])
                text, item = self.source([], level, 1)
                if item.alias != table and "LATERAL" not in text:
                    level.items.append(item)
                    source, levels = " FROM " + text, [level]
            return "UPDATE %s SET %s = %s%s WHERE %s%s" % (table, d.choice(column), self.value(levels, deep), source,
                                                         self.condition(levels, deep), returning)
        if k < 0.6:
            return "DELETE FROM %s WHERE %s%s" % (table, self.condition(own, deep), returning)
        if k < 0.85:
            return "INSERT INTO %s (%s, %s) SELECT %s, %s FROM (%s) z(m)%s" % (
                table, TABLES[table][0], column[0], "10 + row_number() OVER (ORDER BY m)", "m",
                self.query([], 1, deep), returning)
        return "INSERT INTO %s VALUES (%s, 1, %s) ON CONFLICT (%s) DO UPDATE SET %s = %s + excluded.%s%s" % (
            table, d.randrange(1, 9), self.scalar([], deep - 1), TABLES[table][0], column[0],
            d.choice(["%s.%s" % (table, column[1]), "coalesce(%s.%s, 7)" % (table, column[0]), "excluded." + column[1]]), column[0], returning)

    def statement(self):
        d = self.dice
        deep = d.choice([1, 2, 2, 3, 3])
        self.blind = True
        if d.random() < 0.12:
            return self.change(min(deep, 2)).replace("\0", "")
        return self.query([], d.choice([1, 2, 2, 3]), deep).replace("\0", "")
