#!/usr/bin/env python3
"""Questions over a small generated data set with every trap in it, answered by namdb and by SQLite."""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer
import house
from house import House, same

PEOPLE = [("id", "integer"), ("name", "text"), ("city", "varchar(40)"), ("born", "date"), ("height", "double precision"),
          ("balance", "numeric(12,2)"), ("member", "boolean"), ("visits", "bigint"), ("seen", "timestamp"),
          ("note", "text")]
ORDERS = [("person", "integer"), ("line", "integer"), ("item", "text"), ("amount", "numeric(10,3)"),
          ("qty", "integer"), ("day", "date")]

NAMES = ["Ada", "Brün", "Çelik", "O'Neil", "von \"Q\"", "李雷", "Zoë, the 2nd", "ünal", "ada", "ADA", " lead", "trail ",
         "tab\there", "per%cent", "under_score", "back\\slash", "😀 smile", "Жанна", "multi\nline", "a,b,c"]
CITIES = ["Oslo", "Osaka", "São Paulo", "Zürich", "oslo", "Łódź", "New York", "Rome"]
ITEMS = ["bolt", "nut", "wire", "Bolt", "wire 10%", "gear_s", "kabel Ø5", ""]


def quote(v):
    if v is None:
        return ""
    s = str(v)
    if s == "":
        return '""'
    return '"%s"' % s.replace('"', '""') if any(c in s for c in ',"\n\r') or s != s.strip() else s


def generate(h, seed):
    """Writes people.csv and orders.csv; no empty strings, for SQLite's loader reads them as NULL."""
    dice = random.Random(seed)

    def maybe(v, p=0.15):
        return None if dice.random() < p else v
    people = []
    for i in range(1, 701):
        people.append([
            i - 50, dice.choice(NAMES) + (" %d" % dice.randrange(5) if dice.random() < 0.3 else ""),
            maybe(dice.choice(CITIES)),
            maybe("%04d-%02d-%02d" % (dice.randrange(1890, 2024), dice.randrange(1, 13), dice.randrange(1, 29))),
            maybe(repr(round(dice.gauss(1.7, 0.3), 4))),
            maybe("%.2f" % dice.uniform(-5000, 5000)), maybe(dice.choice("tf")),
            maybe(dice.choice([0, 1, -1, 7, 2 ** 40, -2 ** 50, 123456789012])),
            maybe("%04d-%02d-%02d %02d:%02d:%02d" % (
                dice.randrange(1990, 2024), dice.randrange(1, 13), dice.randrange(1, 29), dice.randrange(24),
                dice.randrange(60), dice.randrange(60))),
            maybe("; ".join(dice.choice(NAMES) for _ in range(dice.randrange(1, 4))), 0.5)])
    orders = []
    for p in dice.sample(range(-60, 660), 500):  # some belong to no row
        for line in range(1, dice.randrange(2, 7)):
            orders.append([p, line, maybe(dice.choice(ITEMS[:-1]), 0.1), maybe("%.3f" % dice.uniform(-20, 900), 0.1),
                           maybe(dice.randrange(-3, 40), 0.1),
                           "%04d-%02d-%02d" % (dice.randrange(2020, 2024), dice.randrange(1, 13), dice.randrange(1, 29))])
    paths = []
    for name, columns, rows in (("people", PEOPLE, people), ("orders", ORDERS, orders)):
        text = ",".join(c for c, _ in columns) + "\n" + "".join(",".join(quote(v) for v in r) + "\n" for r in rows)
        paths.append(h.file(name + ".csv", text))
    return paths


QUESTIONS = [
    # everything comes back as it went in
    ("ittt!", "SELECT id, name, city, note FROM people ORDER BY id"),
    ("itfnb!", "SELECT id, born, height, balance, member FROM people ORDER BY id"),
    ("iit!", "SELECT id, visits, seen FROM people ORDER BY id"),
    ("iitnit!", "SELECT person, line, item, amount, qty, day FROM orders ORDER BY person, line"),
    # counting
    ("iiiiii", "SELECT count(*), count(name), count(city), count(born), count(note), count(member) FROM people"),
    ("i", "SELECT count(*) FROM people WHERE city IS NULL"),
    ("i", "SELECT count(*) FROM people WHERE city IS NOT NULL AND born IS NULL"),
    # comparing
    ("it!", "SELECT id, name FROM people WHERE id = -7"),
    ("i!", "SELECT id FROM people WHERE id < -40 ORDER BY id DESC"),
    ("in!", "SELECT id, balance FROM people WHERE balance > 4500 ORDER BY balance DESC, id"),
    ("in!", "SELECT id, balance FROM people WHERE balance BETWEEN -100 AND 100 ORDER BY id"),
    ("in!", "SELECT id, balance FROM people WHERE balance NOT BETWEEN -4000 AND 4000 ORDER BY id"),
    ("it!", "SELECT id, city FROM people WHERE city IN ('Oslo', 'Łódź', 'Nowhere') ORDER BY id"),
    ("it!", "SELECT id, city FROM people WHERE city NOT IN ('Oslo', 'Osaka', 'Rome') ORDER BY id"),
    ("i!", "SELECT id FROM people WHERE visits IN (0, 1099511627776, -1125899906842624) ORDER BY id"),
    ("i!", "SELECT id FROM people WHERE name = 'von \"Q\"' OR name = 'O''Neil' ORDER BY id"),
    ("i!", "SELECT id FROM people WHERE name = 'multi\nline' ORDER BY id"),
    ("i!", "SELECT id FROM people WHERE NOT (id > 100 OR member) ORDER BY id"),
    ("ib!", "SELECT id, member FROM people WHERE member OR city = 'Rome' ORDER BY id"),
    ("i", "SELECT count(*) FROM people WHERE member AND height > 1.7"),
    ("i", "SELECT count(*) FROM people WHERE city <> 'Oslo'"),
    ("i", "SELECT count(*) FROM people WHERE height = height"),
    ("i", "SELECT count(*) FROM people WHERE 1 = 2 AND id / 0 = 1", "SELECT 0"),
    # dates are text in SQLite
    ("it!", "SELECT id, born FROM people WHERE born < '1905-06-01' ORDER BY born, id"),
    ("it!", "SELECT id, born FROM people WHERE born BETWEEN '1999-01-01' AND '2001-12-31' ORDER BY born DESC, id"),
    ("tt", "SELECT min(born), max(born) FROM people"),
    ("tt", "SELECT min(seen), max(seen) FROM people"),
    ("i", "SELECT count(*) FROM people WHERE seen >= '2005-01-01 00:00:00' AND seen < '2010-01-01 00:00:00'"),
    ("ti!", "SELECT day, count(*) FROM orders WHERE day >= '2023-11-01' GROUP BY day ORDER BY day"),
    # LIKE
    ("it!", "SELECT id, name FROM people WHERE name LIKE 'A%' ORDER BY id"),
    ("it!", "SELECT id, name FROM people WHERE name LIKE '%da%' ORDER BY id"),
    ("it!", "SELECT id, name FROM people WHERE name LIKE '_d_' ORDER BY id"),
    ("it!", "SELECT id, name FROM people WHERE name LIKE '__' ORDER BY id"),
    ("it!", "SELECT id, name FROM people WHERE name NOT LIKE '%a%' ORDER BY id"),
    ("it!", "SELECT id, name FROM people WHERE name LIKE '%er!%c%' ESCAPE '!' ORDER BY id"),
    ("i", "SELECT count(*) FROM people WHERE note LIKE '%;%;%'"),
    # order, with NULLs said aloud
    ("it!", "SELECT id, city FROM people ORDER BY city NULLS LAST, id"),
    ("it!", "SELECT id, city FROM people ORDER BY city DESC NULLS FIRST, id DESC"),
    ("if!", "SELECT id, height FROM people ORDER BY height DESC NULLS LAST, id LIMIT 17"),
    ("in!", "SELECT id, balance FROM people ORDER BY balance NULLS FIRST, id LIMIT 25 OFFSET 90"),
    ("iit!", "SELECT id, visits, name FROM people ORDER BY visits DESC NULLS LAST, name, id LIMIT 40"),
    ("it!", "SELECT id, name FROM people ORDER BY name, id"),
    ("ib!", "SELECT id, member FROM people ORDER BY member NULLS LAST, id LIMIT 300"),
    ("in!", "SELECT id, balance * 2 AS twice FROM people WHERE id > 600 ORDER BY twice NULLS LAST, id"),
    ("it!", "SELECT id, name FROM people ORDER BY 2 DESC, 1 LIMIT 12"),
    # aggregates
    ("innnf", "SELECT count(balance), sum(balance), min(balance), max(balance), avg(balance) FROM people",
     "SELECT count(balance), round(sum(balance), 2), min(balance), max(balance), avg(balance) FROM people"),
    ("fff", "SELECT sum(height), avg(height), max(height) - min(height) FROM people"),
    ("niif", "SELECT sum(visits), min(visits), max(visits), avg(qty) FROM people, orders WHERE person = id AND line = 1"),
    ("iin", "SELECT sum(qty), sum(line), sum(amount) FROM orders",
     "SELECT sum(qty), sum(line), round(sum(amount), 3) FROM orders"),
    ("innt", "SELECT count(amount), sum(amount), min(amount), max(item) FROM orders WHERE person = 100000000"),
    ("tt", "SELECT min(name), max(name) FROM people"),
    ("ti!", "SELECT city, count(*) FROM people GROUP BY city ORDER BY city NULLS LAST"),
    ("tinf!", "SELECT city, count(*), sum(balance), avg(height) FROM people GROUP BY city ORDER BY count(*) DESC, city NULLS LAST",
     "SELECT city, count(*), round(sum(balance), 2), avg(height) FROM people GROUP BY city ORDER BY count(*) DESC, city NULLS LAST"),
    ("tbi", "SELECT city, member, count(*) FROM people GROUP BY city, member"),
    ("ii!", "SELECT line, count(*) AS n FROM orders GROUP BY line ORDER BY n DESC, line"),
    ("iif", "SELECT qty % 5, count(*), avg(amount) FROM orders GROUP BY qty % 5"),
    ("tii", "SELECT upper(item), count(*), sum(qty) FROM orders WHERE item < 'k' GROUP BY upper(item)"),
    ("ti", "SELECT item, count(*) FROM orders GROUP BY item HAVING count(*) > 200"),
    ("t!", "SELECT DISTINCT city FROM people ORDER BY city NULLS LAST"),
    ("tb", "SELECT DISTINCT city, member FROM people"),
    ("ii", "SELECT count(*), sum(CASE WHEN member THEN 1 ELSE 0 END) FROM people"),
    # expressions
    ("itt!", "SELECT id, CASE WHEN balance < 0 THEN 'debt' WHEN balance = 0 THEN 'zero' WHEN balance IS NULL THEN 'unknown' "
     "ELSE 'credit' END, CASE city WHEN 'Oslo' THEN 'N' WHEN 'Rome' THEN 'I' END FROM people ORDER BY id"),
    ("tin", "SELECT CASE WHEN amount > 500 THEN 'large' WHEN amount > 50 THEN 'middle' ELSE 'small' END AS class, count(*), "
     "sum(amount) FROM orders GROUP BY class",
     "SELECT CASE WHEN amount > 500 THEN 'large' WHEN amount > 50 THEN 'middle' ELSE 'small' END AS class, count(*), "
     "round(sum(amount), 3) FROM orders GROUP BY class"),
    ("it!", "SELECT id, coalesce(city, 'no city') FROM people ORDER BY id"),
    ("it!", "SELECT id, name || ' of ' || city FROM people ORDER BY id"),
    ("ii!", "SELECT id, length(name) FROM people ORDER BY id"),
    ("itt!", "SELECT id, upper(city), lower(city) FROM people WHERE city IN ('Oslo', 'Rome', 'New York') ORDER BY id"),
    ("it!", "SELECT id, substr(name, 2, 3) FROM people ORDER BY id"),
    ("it!", "SELECT id, replace(name, 'a', '<>') FROM people ORDER BY id"),
    ("it!", "SELECT id, trim(name) FROM people ORDER BY id"),
    ("iii!", "SELECT id, visits / 7, visits % 7 FROM people ORDER BY id"),
    ("ii!", "SELECT id, -id * 3 + (id - 2) * (id + 2) FROM people ORDER BY id"),
    ("if!", "SELECT id, abs(height - 1.7) FROM people ORDER BY id"),
    ("if!", "SELECT id, round(height) FROM people ORDER BY id"),
    ("inn!", "SELECT person, line, amount * qty FROM orders WHERE person < 40 ORDER BY person, line",
     "SELECT person, line, round(amount * qty, 3) FROM orders WHERE person < 40 ORDER BY person, line"),
    ("ii!", "SELECT id, CAST(member AS integer) FROM people ORDER BY id"),
    ("it!", "SELECT id, CAST(id AS text) || '!' FROM people ORDER BY id"),
    ("ii!", "SELECT id, nullif(id % 3, 0) FROM people ORDER BY id"),
    ("ib!", "SELECT id, city IS NULL FROM people ORDER BY id"),
    # joins
    ("iitin!", "SELECT p.id, o.line, p.name, o.qty, o.amount FROM people p JOIN orders o ON p.id = o.person ORDER BY p.id, o.line"),
    ("i", "SELECT count(*) FROM people p, orders o WHERE p.id = o.person AND p.city = 'Oslo' AND o.qty > 10"),
    ("tin!", "SELECT p.city, count(*), sum(o.amount) FROM orders o INNER JOIN people p ON o.person = p.id "
     "GROUP BY p.city ORDER BY p.city NULLS LAST",
     "SELECT p.city, count(*), round(sum(o.amount), 3) FROM orders o INNER JOIN people p ON o.person = p.id "
     "GROUP BY p.city ORDER BY p.city NULLS LAST"),
    ("i", "SELECT count(*) FROM people a JOIN people b ON a.city = b.city AND a.born = b.born"),
    ("iii!", "SELECT a.id, b.id, c.line FROM people a JOIN people b ON a.id = b.id - 1 JOIN orders c ON c.person = b.id "
     "WHERE a.member AND b.member ORDER BY a.id, c.line"),
    ("i", "SELECT count(*) FROM people a, people b WHERE a.city = b.city AND a.balance < b.balance"),
    ("iti!", "SELECT p.id, p.name, o.qty FROM people p JOIN orders o ON p.id = o.person AND o.line = 1 AND o.item = 'bolt' "
     "ORDER BY o.qty DESC NULLS LAST, p.id LIMIT 20"),
    ("i", "SELECT count(*) FROM orders WHERE item LIKE '%Ø%' OR item LIKE '%!%%' ESCAPE '!'"),
    # outer joins, subqueries, queries in FROM, windows
    ("iti!", "SELECT p.id, p.name, o.line FROM people p LEFT JOIN orders o ON p.id = o.person ORDER BY p.id, o.line NULLS LAST"),
    ("iii!", "SELECT p.id, count(o.line), sum(o.qty) FROM people p LEFT JOIN orders o ON p.id = o.person AND o.qty > 5 "
     "GROUP BY p.id ORDER BY p.id"),
    ("i", "SELECT count(*) FROM people p LEFT JOIN orders o ON p.id = o.person WHERE o.person IS NULL"),
    ("i!", "SELECT id FROM people WHERE id IN (SELECT person FROM orders WHERE qty > 30) ORDER BY id"),
    ("i!", "SELECT id FROM people WHERE id NOT IN (SELECT person FROM orders) ORDER BY id"),
    ("i!", "SELECT id FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.person = p.id AND o.item = 'nut') ORDER BY id"),
    ("i", "SELECT count(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.person = p.id)"),
    ("in!", "SELECT id, balance FROM people WHERE balance > (SELECT avg(balance) FROM people) ORDER BY id"),
    ("ii!", "SELECT id, (SELECT count(*) FROM orders o WHERE o.person = p.id) FROM people p ORDER BY id"),
    ("ti!", "SELECT city, n FROM (SELECT city, count(*) AS n FROM people GROUP BY city) q WHERE n > 50 ORDER BY n DESC, city NULLS LAST"),
    ("iii!", "SELECT person, line, row_number() OVER (PARTITION BY person ORDER BY line DESC) FROM orders ORDER BY person, line"),
    ("iii!", "SELECT person, line, sum(qty) OVER (PARTITION BY person ORDER BY line) FROM orders ORDER BY person, line"),
    ("iti!", "SELECT id, city, rank() OVER (PARTITION BY city ORDER BY name) FROM people ORDER BY id"),
    ("iii!", "SELECT id, lag(id) OVER (ORDER BY id), lead(id, 2) OVER (ORDER BY id) FROM people ORDER BY id"),
]


def test_questions():
    with House(nodes=2, size="128m") as h:
        paths = generate(h, 20)
        db = peer.open_sqlite()
        s = h.shell("--workers", "2")
        for name, columns, key, path in (("people", PEOPLE, ["id"], paths[0]),
                                         ("orders", ORDERS, ["person", "line"], paths[1])):
            s.ok(peer.create(name, columns, key))
            n = peer.load_sqlite(db, name, columns, path)
            house.contains(s.ok("COPY %s FROM '%s' WITH (FORMAT csv, HEADER)" % (name, path), timeout=60), "COPY %d" % n)
        peer.ask_both(s, db, QUESTIONS)
        s.ok("SET namdb.parallel = 0")
        s.ok("SET namdb.parallel_rows = 0")  # the other worker goes first
        peer.ask_both(s, db, QUESTIONS, fresh=False)

        # The same after changes on both sides.
        for change in ("UPDATE people SET balance = balance - 10.5, city = 'Oslo' WHERE id % 3 = 0",
                       "DELETE FROM people WHERE name LIKE 'A%'",
                       "UPDATE orders SET qty = NULL, item = item || '*' WHERE line = 2",
                       "DELETE FROM orders WHERE amount < 0",
                       "INSERT INTO people (id, name) VALUES (9001, 'späte'), (9002, 'Ёлка')",
                       "INSERT INTO orders (person, line, qty) SELECT id, 99, 1 FROM people WHERE id > 640"):
            s.ok(change)
            db.execute(change)
        # 10.5 subtracted from a float is no longer a round number there: round SQLite's side.
        db.execute("UPDATE people SET balance = round(balance, 2)")
        peer.ask_both(s, db, QUESTIONS, fresh=False)

        # And after a rollback: nothing has happened.
        s.ok("BEGIN")
        s.ok("DELETE FROM people")
        s.ok("UPDATE orders SET qty = 0")
        same(s.value("SELECT count(*) FROM people"), "0")
        s.ok("ROLLBACK")
        peer.ask_both(s, db, QUESTIONS[:8])
        s.close(0)


def test_empty_strings_are_not_null():
    """COPY tells "" from nothing, and so do the shell's answers."""
    with House(nodes=1) as h:
        path = h.file("e.csv", "a,b\n1,\n2,\"\"\n3,x\n")
        s = h.shell()
        s.ok("CREATE TABLE e (a integer PRIMARY KEY, b text)")
        s.ok("COPY e FROM '%s' WITH (FORMAT csv, HEADER)" % path)
        same(s.value("SELECT count(*) FROM e WHERE b IS NULL"), "1")
        same(s.value("SELECT count(*) FROM e WHERE b = ''"), "1")
        s.ok("CREATE TABLE n (a integer, b text)")
        path = h.file("n.csv", "1,NULL\n2,\"NULL\"\n3,\n")
        s.ok("COPY n FROM '%s' WITH (FORMAT csv, NULL 'NULL')" % path)
        same(s.value("SELECT count(*) FROM n WHERE b IS NULL"), "1")
        same(s.value("SELECT count(*) FROM n WHERE b = ''"), "1")
        same(s.value("SELECT count(*) FROM n WHERE b = 'NULL'"), "1")


if __name__ == "__main__":
    house.main()
