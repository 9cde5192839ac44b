#!/usr/bin/env python3
"""Foreign keys over several processes: rows that refer and keys that go, in processes of their own, one of which is killed.
Whatever becomes of each statement, no row is left that refers to nothing."""
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same

LEVELS = ["read committed", "repeatable read", "serializable"]
KEYS = 6
ROUNDS = 120 if house.SLOW > 1 else 400
LOST = {"40001", "40P01", "23503", "23505", "57P01"}

SCHEMA = """
CREATE TABLE p (id int PRIMARY KEY, x int UNIQUE, v int);
CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p);
CREATE TABLE d (id int PRIMARY KEY, x int REFERENCES p (x) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE INDEX ON c (p);
INSERT INTO p SELECT i, i, 0 FROM generate_series(0, %d) i;
""" % (KEYS - 1)


def statements(seed):
    """What one process does, each in a transaction of its own."""
    r = random.Random(seed)
    for i in range(ROUNDS):
        key, id = r.randrange(KEYS), seed * 100000 + i
        if i % 4 == 0:
            yield "SET default_transaction_isolation = '%s';" % r.choice(LEVELS)
        yield r.choice([
            "INSERT INTO c VALUES (%d, %d);" % (id, key),
            "INSERT INTO c VALUES (%d, %d);" % (id, key),
            "INSERT INTO d VALUES (%d, %d);" % (id, key),
            "INSERT INTO d VALUES (%d, %d);" % (id, key),
            "DELETE FROM p WHERE id = %d;" % key,
            "BEGIN; DELETE FROM c WHERE p = %d; DELETE FROM p WHERE id = %d; COMMIT; ROLLBACK;" % (key, key),
            "INSERT INTO p VALUES (%d, %d, 0) ON CONFLICT DO NOTHING;" % (key, key),
            "INSERT INTO p VALUES (%d, %d, 0) ON CONFLICT DO NOTHING;" % (key, key),
            "INSERT INTO p VALUES (%d, %d, 0) ON CONFLICT DO NOTHING;" % (key, key),
            "UPDATE p SET x = x + %d WHERE id = %d;" % (KEYS if r.randrange(2) else -KEYS, key),
            "UPDATE p SET v = v + 1 WHERE id = %d;" % key])


def run_one(house_, seed, fabric, out):
    out[seed] = house_.sql(stdin="\n".join(statements(seed)) + "\n", fabric=fabric, timeout=240 * house.SLOW)


def count(h, text):
    return int(h.do(text).ok().out.split()[1])


def all_stand(h):
    same(count(h, "SELECT count(*) FROM c LEFT JOIN p ON c.p = p.id WHERE p.id IS NULL"), 0, "rows of c that refer to nothing")
    same(count(h, "SELECT count(*) FROM d LEFT JOIN p ON d.x = p.x WHERE p.x IS NULL"), 0, "rows of d that refer to nothing")


def together(h, fabric, processes):
    out = {}
    threads = [threading.Thread(target=run_one, args=(h, 1 + n, fabric, out)) for n in range(processes)]
    for t in threads:
        t.start()
    return threads, out


def answers(out):
    """How often each error came; no other may."""
    states = {}
    for r in out.values():
        for line in (r.err + r.out).splitlines():
            if line.startswith("ERROR:"):
                state = line.split()[1].rstrip(":")
                states[state] = states.get(state, 0) + 1
    check(set(states) <= LOST | {"25P02"}, "errors:", states)
    return states


def test_several_processes():
    for fabric in ("shm", "tcp"):
        with House(nodes=2) as h:
            h.sql(stdin=SCHEMA).ok()
            threads, out = together(h, fabric, 3)
            while any(t.is_alive() for t in threads):
                all_stand(h)
            states = answers(out)
            all_stand(h)
            rows = count(h, "SELECT (SELECT count(*) FROM c) + (SELECT count(*) FROM d)")
            print("  %s: %d rows that refer, errors: %s" % (fabric, rows, states))
            check(states.get("23503", 0) > 10, "too little happened")


def test_one_is_killed():
    """It dies in the middle of what it does; others go on."""
    with House(nodes=2, lease_ms=500) as h:
        h.sql(stdin=SCHEMA).ok()
        threads, out = together(h, "shm", 2)
        for n, wait in enumerate([0.1, 0.2, 0.3]):
            victim = h.shell()
            victim.send("\n".join(statements(9 + n)))
            time.sleep(wait)
            victim.p.kill()
            all_stand(h)
        for t in threads:
            t.join()
        answers(out)
        all_stand(h)


def test_another_process_knows():
    """A process that joins later reads the constraint out of the catalog's rows."""
    with House(nodes=1) as h:
        h.do('CREATE TABLE "A b" (x int, "y:z" text, PRIMARY KEY (x, "y:z"))').ok()
        h.do('CREATE TABLE "7" ("k 1" text, q int, CONSTRAINT "3:a" FOREIGN KEY (q, "k 1") REFERENCES "A b" ON UPDATE CASCADE)').ok()
        h.do("""INSERT INTO "A b" VALUES (1, 'one')""").ok()
        h.do("""INSERT INTO "7" VALUES ('one', 1)""").ok()
        r = h.do("""INSERT INTO "7" VALUES ('two', 1)""").fails(1)
        contains(r.err, '"3:a"', "Key (q, k 1)=(1, two)")
        h.do("""UPDATE "A b" SET "y:z" = 'zwei'""").ok()
        contains(h.do('SELECT * FROM "7"').ok().out, "zwei,1")
        same(h.do('DELETE FROM "A b"').fails(1).sqlstate(), "23503")
        h.do('ALTER TABLE "7" DROP CONSTRAINT "3:a"').ok()
        h.do('DELETE FROM "A b"').ok()


if __name__ == "__main__":
    house.main()
