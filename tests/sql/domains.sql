-- create: what a domain may be
CREATE DOMAIN posint AS int CHECK (VALUE > 0)
CREATE DOMAIN public.email AS text DEFAULT 'nobody@example.org' CHECK (VALUE ~ '^[^@]+@[^@]+$')
CREATE DOMAIN short AS varchar(5) NOT NULL
CREATE DOMAIN money2 AS numeric(8,2) DEFAULT 0 CONSTRAINT not_negative CHECK (VALUE >= 0) CONSTRAINT not_huge CHECK (VALUE < 100000)
CREATE DOMAIN nullable AS int NULL DEFAULT 7
CREATE DOMAIN anything AS timestamp
CREATE DOMAIN cased AS text COLLATE "C" CHECK (VALUE = upper(VALUE))
CREATE DOMAIN "Odd Name" AS int NOT NULL CHECK (VALUE > 1)
CREATE DOMAIN small AS posint CHECK (VALUE < 10)
CREATE DOMAIN tiny AS small CONSTRAINT at_most_3 CHECK (VALUE <= 3) CHECK (VALUE <> 2)
CREATE DOMAIN tags AS text[] CHECK (array_length(VALUE, 1) <= 2)
CREATE DOMAIN present AS int CHECK (VALUE IS NOT NULL)
CREATE DOMAIN twice AS int CONSTRAINT twice_check CHECK (VALUE <> 5) CHECK (VALUE > 1) CHECK (VALUE < 10)
CREATE DOMAIN day AS date CHECK (VALUE >= '2000-01-01')
-- create: what it may not be
CREATE DOMAIN posint AS int
CREATE DOMAIN bad AS nosuchtype
CREATE DOMAIN bad AS int CHECK (x > 1)
CREATE DOMAIN bad AS int CHECK (VALUE)
CREATE DOMAIN bad AS int CHECK ((SELECT 1) = VALUE)
CREATE DOMAIN bad AS int CHECK (max(VALUE) > 1)
CREATE DOMAIN bad AS int CHECK (VALUE ~ 'x')
CREATE DOMAIN bad AS int DEFAULT 'x'
CREATE DOMAIN bad AS int DEFAULT 'x'::text
CREATE DOMAIN bad AS int DEFAULT 1 DEFAULT 2
CREATE DOMAIN bad AS int NULL NOT NULL
CREATE DOMAIN bad AS int UNIQUE
CREATE DOMAIN bad AS int PRIMARY KEY
CREATE DOMAIN bad AS int REFERENCES other
CREATE DOMAIN bad AS int CONSTRAINT c CHECK (VALUE > 1) CONSTRAINT c CHECK (VALUE > 2)
CREATE DOMAIN bad AS int COLLATE "C"
CREATE DOMAIN bad AS int CHECK (VALUE > 1) NO INHERIT
CREATE DOMAIN bad AS int CHECK (VALUE > 1) CHECK (VALUE < 10) CONSTRAINT bad_check1 CHECK (VALUE <> 5)
SELECT 1::bad
SELECT 1::public.bad
-- casts
SELECT posint(5), posint('6'), small(posint(7))
SELECT posint(0)
SELECT posint(5.4)
SELECT nosuchdomain(5)
SELECT 5::posint, '6'::posint, CAST(7 AS posint), posint '8', 5.4::posint
SELECT 0::posint
SELECT '-1'::posint
SELECT 'x'::posint
SELECT NULL::posint
SELECT NULL::short
SELECT NULL::"Odd Name"
SELECT 0::"Odd Name"
SELECT 'abcdefgh'::short, 'abc'::public.short
SELECT 1.005::money2, 1::money2 + 1
SELECT -1::money2
SELECT (-1)::money2
SELECT 100000::money2
SELECT 5::small, 1::tiny
SELECT 0::small
SELECT 11::small
SELECT 2::tiny
SELECT 4::tiny
SELECT -4::tiny
SELECT (-4)::tiny
SELECT NULL::present
SELECT ARRAY['a','b']::tags, '{x,y}'::tags
SELECT ARRAY['a','b','c']::tags
SELECT 'Ab'::cased
SELECT 'x@y'::email || '!'
SELECT x::posint FROM generate_series(1, 3) x
SELECT x::posint FROM generate_series(-1, 3) x
SELECT x::posint FROM generate_series(-1, 3) x WHERE x > 0
SELECT CASE WHEN x > 0 THEN x::posint END FROM generate_series(-1, 2) x
SELECT 5::posint::small::text, 5::posint::bigint
SELECT 50::posint::small
SELECT 5::posint = 5, 5::posint + 1, -(5::posint), 5::posint IN (1, 5)
SELECT pg_typeof(5::posint), pg_typeof(5::posint + 1), pg_typeof(5::small), pg_typeof(3::"Odd Name"::int)
SELECT pg_typeof(1::"Odd Name"::int)
SELECT pg_typeof(0::posint)
SELECT 2::posint::int::text
SELECT count(*), sum(x::posint), max(x::posint) FROM generate_series(1, 3) x
-- tables
CREATE TABLE t (id int PRIMARY KEY, p posint, e email, s short, m money2 NOT NULL, n nullable DEFAULT 3)
INSERT INTO t (id, s) VALUES (1, 'one')
INSERT INTO t VALUES (2, 5, 'a@b', 'two', 1.5, 4), (3, 6, NULL, 'three', 2.555, NULL)
SELECT * FROM t ORDER BY id
INSERT INTO t (id) VALUES (4)
INSERT INTO t (id, s) VALUES (4, NULL)
INSERT INTO t (id, s, p) VALUES (4, 'x', 0)
INSERT INTO t (id, s, p) VALUES (4, 'x', 1), (5, 'y', -1)
INSERT INTO t (id, s, e) VALUES (4, 'x', 'nonsense')
INSERT INTO t (id, s) VALUES (4, 'much too long')
INSERT INTO t (id, s, m) VALUES (4, 'x', NULL)
INSERT INTO t (id, s, m) VALUES (4, 'x', -1)
INSERT INTO t (id, s, p) VALUES (4, 'x', 'text'::text)
INSERT INTO t (id, s, p) SELECT x, 's', x - 10 FROM generate_series(11, 12) x
INSERT INTO t (id, s, p) SELECT x, 's', x - 11 FROM generate_series(11, 12) x
INSERT INTO t (id, s, p) VALUES (20, DEFAULT, 3)
INSERT INTO t (id, s, p, e, n) VALUES (20, 'd', DEFAULT, DEFAULT, DEFAULT) RETURNING id, p, e, n
INSERT INTO t DEFAULT VALUES
UPDATE t SET p = p + 1 WHERE id = 2 RETURNING p
UPDATE t SET p = p - 6 WHERE id = 2
UPDATE t SET s = NULL WHERE id = 2
UPDATE t SET e = 'no' WHERE id > 1
UPDATE t SET e = DEFAULT, p = DEFAULT, m = DEFAULT WHERE id = 2 RETURNING *
UPDATE t SET (p, m) = (9, 9.999) WHERE id = 2 RETURNING p, m
UPDATE t SET p = u.v FROM (VALUES (2, 0)) AS u (id, v) WHERE u.id = t.id
UPDATE t SET p = u.v FROM (VALUES (2, 8)) AS u (id, v) WHERE u.id = t.id RETURNING p
INSERT INTO t (id, s) VALUES (1, 'q') ON CONFLICT (id) DO UPDATE SET p = -5
INSERT INTO t (id, s) VALUES (1, 'q') ON CONFLICT (id) DO UPDATE SET p = 15, s = excluded.s RETURNING p, s
INSERT INTO t (id, s) VALUES (1, NULL) ON CONFLICT DO NOTHING
SELECT id, p + 1, e || '!', length(s), m * 2 FROM t WHERE p > 4 ORDER BY p, id
SELECT pg_typeof(p), pg_typeof(e), pg_typeof(s), pg_typeof(m), pg_typeof(p + 1) FROM t WHERE id = 1
SELECT p, count(*), pg_typeof(p) FROM t GROUP BY p ORDER BY p
SELECT pg_typeof(q.p) FROM (SELECT p FROM t UNION ALL SELECT 1::posint) AS q LIMIT 1
SELECT pg_typeof(q.p) FROM (SELECT p FROM t UNION ALL SELECT 1) AS q LIMIT 1
SELECT pg_typeof(coalesce(p, p)), pg_typeof(coalesce(p, 1)), pg_typeof(CASE WHEN id = 1 THEN p ELSE p END) FROM t WHERE id = 1
SELECT pg_typeof(min(p)) FROM t
SELECT pg_typeof((SELECT p FROM t WHERE id = 1)), (SELECT pg_typeof(t.p) FROM t AS u WHERE u.id = t.id) FROM t WHERE id = 1
WITH w AS (SELECT p FROM t WHERE id = 1) SELECT pg_typeof(p), p FROM w
DELETE FROM t WHERE p > 100
CREATE TABLE odd (a "Odd Name" PRIMARY KEY, b tiny UNIQUE, c tags, d day DEFAULT '2001-02-03', f anything)
INSERT INTO odd (a) VALUES (1)
INSERT INTO odd (a, b) VALUES (NULL, 1)
INSERT INTO odd (a, b, c) VALUES (2, 1, '{a,b}'), (3, 3, ARRAY['c'])
INSERT INTO odd (a, b) VALUES (4, 2)
INSERT INTO odd (a, b) VALUES (4, 3)
INSERT INTO odd (a, c) VALUES (4, '{a,b,c}')
INSERT INTO odd (a, d) VALUES (4, '1999-12-31')
SELECT * FROM odd ORDER BY a
CREATE TABLE child (id int, a "Odd Name" REFERENCES odd ON UPDATE CASCADE)
INSERT INTO child VALUES (1, 3)
INSERT INTO child VALUES (2, 5)
UPDATE odd SET a = 1 WHERE a = 3
UPDATE odd SET a = 30 WHERE a = 3
SELECT * FROM child
CREATE TABLE bad (a posint DEFAULT 'x')
CREATE TABLE bad (a posint DEFAULT -1)
INSERT INTO bad DEFAULT VALUES
INSERT INTO bad VALUES (1)
DROP TABLE bad
CREATE TABLE checked (a posint CHECK (a < 5), b posint NOT NULL)
INSERT INTO checked VALUES (5, 1)
SELECT pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conname = 'checked_a_check'
INSERT INTO checked VALUES (0, NULL)
INSERT INTO checked VALUES (1, NULL)
INSERT INTO checked VALUES (5, 0)
-- tables made of queries, and views
CREATE TABLE copied AS SELECT id, p, m, p + 1 AS q FROM t
SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a WHERE attrelid = 'copied'::regclass AND attnum > 0 ORDER BY attnum
INSERT INTO copied VALUES (1, 0)
INSERT INTO copied VALUES (1, NULL, -1)
CREATE VIEW v AS SELECT id, p, s, p + 1 AS q FROM t
SELECT id, p, q, pg_typeof(p) FROM v ORDER BY id LIMIT 2
SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a WHERE attrelid = 'v'::regclass AND attnum > 0 ORDER BY attnum
CREATE VIEW casts AS SELECT '5'::posint AS x, 6::small::int AS y
SELECT * FROM casts
-- casts in rules
CREATE TABLE ruled (a int DEFAULT '5'::posint, b int CHECK (b::posint < 7), c text DEFAULT 'a@b'::email)
INSERT INTO ruled DEFAULT VALUES
INSERT INTO ruled (b) VALUES (3), (7)
INSERT INTO ruled (b) VALUES (-1)
INSERT INTO ruled (b) VALUES (6)
ALTER TABLE ruled ADD CHECK (a::small < 8)
ALTER TABLE ruled ADD CHECK (a::small < 4)
ALTER TABLE ruled ALTER a SET DEFAULT 12::small
ALTER TABLE ruled ALTER a SET DEFAULT 0
INSERT INTO ruled (b) VALUES (1)
SELECT * FROM ruled ORDER BY b
CREATE DOMAIN pair AS text CHECK (split_part(VALUE, ':', 1)::tiny <= split_part(VALUE, ':', 2)::int)
SELECT '1:2'::pair
SELECT '3:2'::pair
SELECT '2:5'::pair
DROP DOMAIN tiny
CREATE TABLE only_rule (e text DEFAULT 'x@y'::day::text)
DROP DOMAIN pair
DROP TABLE only_rule
CREATE DOMAIN mark AS int
CREATE TABLE marked (a int DEFAULT 3::mark, b int CONSTRAINT b_mark CHECK (b::mark > 0))
DROP DOMAIN mark
ALTER TABLE marked ALTER a DROP DEFAULT
DROP DOMAIN mark
ALTER TABLE marked DROP CONSTRAINT b_mark
DROP DOMAIN mark
DROP TABLE ruled, marked
-- COPY, and prepared statements
PREPARE ins AS INSERT INTO t (id, s, p) VALUES ($1, $2, $3)
EXECUTE ins(40, 'forty', 4)
EXECUTE ins(41, 'forty', 0)
EXECUTE ins(41, NULL, 1)
PREPARE sel AS SELECT $1::posint + 1, pg_typeof($2::small)
EXECUTE sel(4, 5)
EXECUTE sel(0, 5)
EXECUTE sel(4, 50)
PREPARE typed (posint, small) AS SELECT $1 + 1, $2
EXECUTE typed(4, 5)
EXECUTE typed(0, 5)
EXECUTE typed('7', 12)
EXECUTE typed(NULL, NULL)
DEALLOCATE ALL
-- ALTER DOMAIN
ALTER DOMAIN nope SET NOT NULL
ALTER DOMAIN t SET NOT NULL
ALTER DOMAIN posint SET DEFAULT 'x'
ALTER DOMAIN posint SET DEFAULT 12
INSERT INTO t (id, s) VALUES (50, 'fifty') RETURNING p
ALTER DOMAIN posint SET DEFAULT 0
INSERT INTO t (id, s) VALUES (51, 'fifty')
ALTER DOMAIN posint DROP DEFAULT
INSERT INTO t (id, s) VALUES (51, 'fifty') RETURNING p
ALTER DOMAIN posint SET NOT NULL
UPDATE t SET p = 1 WHERE p IS NULL
ALTER DOMAIN posint SET NOT NULL
UPDATE copied SET p = 1 WHERE p IS NULL
ALTER DOMAIN posint SET NOT NULL
UPDATE odd SET b = 1 WHERE b IS NULL
ALTER DOMAIN posint SET NOT NULL
INSERT INTO t (id, s) VALUES (52, 'x')
SELECT NULL::tiny
ALTER DOMAIN posint SET NOT NULL
ALTER DOMAIN posint DROP NOT NULL
INSERT INTO t (id, s) VALUES (52, 'x')
ALTER DOMAIN posint ADD CHECK (VALUE <> 15)
ALTER DOMAIN posint ADD CONSTRAINT not_15 CHECK (VALUE <> 15) NOT VALID
INSERT INTO t (id, s, p) VALUES (53, 'x', 15)
UPDATE t SET m = 3 WHERE p = 15
UPDATE t SET p = p WHERE p = 15
UPDATE t SET p = p + 0 WHERE p = 15
INSERT INTO t (id, s, p) SELECT id + 100, s, p FROM t WHERE p = 15
INSERT INTO t (id, s, p) SELECT id + 101, s, p + 0 FROM t WHERE p = 15
DELETE FROM t WHERE id > 100
ALTER DOMAIN posint VALIDATE CONSTRAINT not_15
SELECT conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE contypid = 'posint'::regtype ORDER BY 1
UPDATE t SET p = 16 WHERE p = 15
UPDATE copied SET p = 16 WHERE p = 15
ALTER DOMAIN posint VALIDATE CONSTRAINT not_15
ALTER DOMAIN posint VALIDATE CONSTRAINT not_15
ALTER DOMAIN posint VALIDATE CONSTRAINT nope
SELECT conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE contypid = 'posint'::regtype ORDER BY 1
ALTER DOMAIN posint ADD CONSTRAINT not_15 CHECK (VALUE <> 16)
ALTER DOMAIN posint ADD CHECK (VALUE < 1000)
ALTER DOMAIN posint ADD CHECK (VALUE <> 12)
ALTER DOMAIN posint ADD CHECK (x > 2)
ALTER DOMAIN small ADD CHECK (VALUE <> 3)
SELECT 1000::tiny
ALTER DOMAIN posint DROP CONSTRAINT nope
ALTER DOMAIN posint DROP CONSTRAINT IF EXISTS nope
ALTER DOMAIN posint DROP CONSTRAINT not_15
SELECT 15::posint
ALTER DOMAIN posint RENAME CONSTRAINT nope TO x
ALTER DOMAIN posint RENAME CONSTRAINT posint_check1 TO posint_check
ALTER DOMAIN posint RENAME CONSTRAINT posint_check1 TO below_1000
SELECT 1000::posint
ALTER DOMAIN posint DROP CONSTRAINT below_1000 CASCADE
SELECT 1000::posint
ALTER DOMAIN short RENAME TO "Short"
SELECT NULL::"Short"
ALTER DOMAIN "Short" RENAME TO email
ALTER DOMAIN "Short" RENAME TO t
INSERT INTO t (id) VALUES (60)
ALTER DOMAIN "Short" RENAME TO short
ALTER DOMAIN short OWNER TO nosuchrole
-- in transactions
BEGIN
CREATE DOMAIN mine AS int CHECK (VALUE > 0)
CREATE TABLE of_mine (a mine, b int)
INSERT INTO of_mine VALUES (1), (2)
ALTER DOMAIN mine ADD CHECK (VALUE < 3)
INSERT INTO of_mine VALUES (2)
COMMIT
SELECT * FROM of_mine
INSERT INTO of_mine VALUES (3)
BEGIN
INSERT INTO of_mine VALUES (1)
ALTER DOMAIN mine ADD CHECK (VALUE < 2)
ROLLBACK
BEGIN
ALTER DOMAIN mine DROP CONSTRAINT mine_check
INSERT INTO of_mine VALUES (-7)
ROLLBACK
INSERT INTO of_mine VALUES (-7)
BEGIN
SAVEPOINT s
SELECT 3::mine
ROLLBACK TO s
SELECT 2::mine
COMMIT
BEGIN
DROP DOMAIN mine CASCADE
SELECT 1::mine
ROLLBACK
SELECT 1::mine
DROP TABLE of_mine
DROP DOMAIN mine
-- ALTER TABLE
ALTER TABLE t ADD COLUMN z posint
ALTER TABLE t ADD COLUMN y "Odd Name"
ALTER TABLE t ADD COLUMN y "Odd Name" DEFAULT 1
ALTER TABLE t ADD COLUMN y "Odd Name" DEFAULT 2
SELECT id, y, z FROM t ORDER BY id LIMIT 2
ALTER TABLE t ADD COLUMN w money2
SELECT DISTINCT w, pg_typeof(w) FROM t
ALTER TABLE t ALTER w SET DEFAULT 5
INSERT INTO t (id, s) VALUES (70, 'w') RETURNING w
ALTER TABLE t ALTER w DROP DEFAULT
INSERT INTO t (id, s) VALUES (71, 'w') RETURNING w
ALTER TABLE t ALTER w SET DEFAULT NULL
INSERT INTO t (id, s) VALUES (72, 'w') RETURNING w
ALTER TABLE t ALTER w TYPE numeric
ALTER TABLE t ALTER z TYPE int
UPDATE t SET z = -1 WHERE id = 70
ALTER TABLE t ALTER z TYPE posint
UPDATE t SET z = 1 WHERE id = 70
ALTER TABLE t ALTER z TYPE posint
UPDATE t SET z = -1 WHERE id = 70
ALTER TABLE t ALTER z TYPE small USING z + 1
UPDATE t SET z = 10 WHERE id = 70
ALTER TABLE t ALTER p TYPE int
-- what the catalogs say
SELECT typname, typtype, typnotnull, format_type(typbasetype, typtypmod), typlen, typcategory FROM pg_type WHERE typname IN ('posint', 'small', 'short', 'money2', 'tags', 'Odd Name', 'day') ORDER BY 1
SELECT typname, typdefault FROM pg_type WHERE typname IN ('nullable', 'posint', 'money2') ORDER BY 1
SELECT attname, format_type(atttypid, atttypmod), atttypmod FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
SELECT 'posint'::regtype, 'public.posint'::regtype, '"Odd Name"'::regtype, to_regtype('nosuch')
SELECT 'nosuch'::regtype
SELECT conname, contype, conrelid, pg_get_constraintdef(oid) FROM pg_constraint WHERE contypid <> 0 AND conname NOT LIKE '%domain%' AND conname NOT LIKE 'yes%' AND conname <> 'tags_check' ORDER BY 1
SELECT column_name, data_type, domain_name, domain_schema, udt_name, character_maximum_length, numeric_precision, numeric_scale, is_nullable FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position
SELECT domain_name, data_type, character_maximum_length, numeric_precision, numeric_scale, domain_default, udt_name FROM information_schema.domains WHERE domain_schema = 'public' AND domain_name NOT IN ('email', 'short') ORDER BY 1
SELECT constraint_name, domain_name FROM information_schema.domain_constraints WHERE domain_schema = 'public' ORDER BY 1, 2
SELECT check_clause FROM information_schema.check_constraints WHERE constraint_name = 'at_most_3'
SELECT n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod), t.typnotnull, array_to_string(ARRAY(SELECT pg_get_constraintdef(r.oid, true) FROM pg_constraint r WHERE t.oid = r.contypid ORDER BY 1), ' ') FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typtype = 'd' AND n.nspname = 'public' AND t.typname <> 'tags' AND pg_type_is_visible(t.oid) ORDER BY 2
-- DROP
DROP DOMAIN nope
ALTER TYPE posint ADD VALUE 'x'
CREATE TABLE posint (a int)
CREATE DOMAIN of_enum AS nosuchenum
CREATE TYPE hue AS ENUM ('red')
DROP DOMAIN hue
ALTER DOMAIN hue SET NOT NULL
CREATE DOMAIN warm AS hue CHECK (VALUE <> 'blue')
ALTER TYPE hue ADD VALUE 'blue'
CREATE DOMAIN said_hue AS text CHECK (VALUE::hue <> 'blue')
CREATE TABLE hues (a warm, b hue, c said_hue, d int)
INSERT INTO hues VALUES ('red', 'blue', 'red')
INSERT INTO hues VALUES ('blue', 'blue')
INSERT INTO hues VALUES ('green', 'blue')
INSERT INTO hues (c) VALUES ('blue')
INSERT INTO hues (c) VALUES ('nosuch')
SELECT a, b, a < b, pg_typeof(a), pg_typeof(b), a::text || c FROM hues
SELECT column_name, data_type, udt_name, domain_name FROM information_schema.columns WHERE table_name = 'hues' ORDER BY ordinal_position
DROP TYPE said_hue
DROP TABLE hues
DROP DOMAIN said_hue
DROP TYPE hue
DROP TYPE hue CASCADE
SELECT 'red'::warm
-- who may
CREATE ROLE ann
CREATE DOMAIN of_judge AS int
SET ROLE ann
ALTER DOMAIN of_judge SET NOT NULL
DROP DOMAIN of_judge
CREATE DOMAIN of_ann AS int
SELECT 1::of_judge
RESET ROLE
GRANT CREATE ON SCHEMA public TO ann
SET ROLE ann
CREATE DOMAIN of_ann AS int
ALTER DOMAIN of_ann ADD CHECK (VALUE > 0)
CREATE DOMAIN over_judge AS of_judge
RESET ROLE
SELECT typname, pg_get_userbyid(typowner) FROM pg_type WHERE typname = 'of_ann'
DROP ROLE ann
ALTER DOMAIN of_judge OWNER TO ann
ALTER DOMAIN over_judge OWNER TO CURRENT_USER
DROP DOMAIN of_judge
DROP OWNED BY ann
SELECT 1::of_ann
DROP DOMAIN over_judge
REVOKE CREATE ON SCHEMA public FROM ann
DROP ROLE ann
-- DROP, again
DROP DOMAIN IF EXISTS nope
DROP DOMAIN t
DROP DOMAIN posint
DROP DOMAIN cased
DROP DOMAIN short
DROP VIEW casts
DROP DOMAIN twice, present
DROP DOMAIN tiny CASCADE
SELECT * FROM odd ORDER BY a
DROP TABLE checked, copied
DROP TYPE tiny
DROP DOMAIN posint CASCADE
SELECT id, e FROM t WHERE id < 3 ORDER BY id
SELECT * FROM v
SELECT 1::small
DROP TABLE child, odd
DROP DOMAIN "Odd Name", day CASCADE
CREATE DOMAIN posint AS bigint CHECK (VALUE > 100)
SELECT 100::posint
SELECT 101::posint
-- a second reading
CREATE DOMAIN posd AS int CHECK (value > 0)
CREATE TABLE sd (p posd)
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 3) INSERT INTO sd SELECT x FROM r
SELECT * FROM sd
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x - 2 FROM r WHERE x > -2) INSERT INTO sd SELECT x FROM r
WITH RECURSIVE r(x) AS (SELECT 1::posd UNION ALL SELECT (x + 1)::posd FROM r WHERE x < 3) INSERT INTO sd SELECT x FROM r
SELECT * FROM sd
WITH RECURSIVE r(x) AS (SELECT 1::posd UNION ALL SELECT (x - 1)::posd FROM r) INSERT INTO sd SELECT x FROM r
CREATE DOMAIN "user" AS int CHECK (value > 0)
CREATE TABLE d1 (x int DEFAULT 1::"user", y int CHECK (y::"user" < 5))
INSERT INTO d1 VALUES (1, 1)
INSERT INTO d1 VALUES (2, 2)
DROP TABLE sd, d1
DROP DOMAIN posd, "user"
