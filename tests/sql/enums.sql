-- making
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')
CREATE TYPE mood AS ENUM ('a')
CREATE TYPE public.color AS ENUM ('red', 'green', 'blue')
CREATE TYPE empty AS ENUM ()
CREATE TYPE "Mixed Case" AS ENUM ('One', 'two''s', '')
CREATE TYPE twice AS ENUM ('a', 'b', 'a')
CREATE TYPE long AS ENUM ('0123456789012345678901234567890123456789012345678901234567890123')
CREATE TYPE most AS ENUM ('012345678901234567890123456789012345678901234567890123456789012')
CREATE TABLE mood (a int)
CREATE VIEW mood AS SELECT 1
CREATE TABLE mood AS SELECT 1
CREATE TABLE rel (a int)
CREATE TYPE rel AS ENUM ('x')
SELECT * FROM mood
DROP TABLE mood
DROP VIEW mood
ALTER TABLE mood ADD COLUMN a int
-- values
SELECT 'ok'::mood, 'happy'::public.mood, CAST('sad' AS mood), mood 'ok'
SELECT 'none'::mood
SELECT 'OK'::mood
SELECT ' ok'::mood
SELECT ''::mood
SELECT NULL::mood
SELECT 1::mood
SELECT 'ok'::mood::int
SELECT 'ok'::mood::text, 'ok'::mood::varchar, 'ok'::mood::varchar(1), 'ok'::mood::char(4), 'ok'::mood::name
SELECT 'ok'::text::mood, 'ok'::varchar::mood, 'ok'::name::mood
SELECT 'nope'::text::mood
SELECT 'x'::empty
SELECT 'One'::"Mixed Case", 'two''s'::"Mixed Case", ''::"Mixed Case"
SELECT 'one'::"Mixed Case"
SELECT 'ok'::nosuch
SELECT 'ok'::public.nosuch
SELECT 'ok'::mood = 'ok', 'ok'::mood <> 'sad', 'ok' < 'happy'::mood, 'sad'::mood < 'happy'::mood, 'happy'::mood >= 'sad'
SELECT 'ok'::mood = 'bad'
SELECT 'ok'::mood = 'ok'::text
SELECT 'ok'::text = 'ok'::mood
SELECT 'ok'::mood = 1
SELECT 'ok'::mood = 'red'::color
SELECT 'ok'::mood < 'red'::color
SELECT 'ok'::mood + 1
SELECT 'ok'::mood || 'x', 'x' || 'ok'::mood
SELECT 'ok'::mood LIKE 'o%'
SELECT 'ok'::mood::text LIKE 'o%'
SELECT upper('ok'::mood)
SELECT concat('ok'::mood, 1), length('ok'::mood::text)
SELECT CASE WHEN true THEN 'ok'::mood ELSE 'sad' END
SELECT CASE WHEN true THEN 'ok'::mood ELSE 'bad' END
SELECT CASE WHEN true THEN 'ok'::mood ELSE 'red'::color END
SELECT CASE WHEN true THEN 'ok'::mood ELSE 'x'::text END
SELECT CASE 'ok'::mood WHEN 'sad' THEN 1 WHEN 'ok' THEN 2 END
SELECT COALESCE(NULL, 'ok'::mood), COALESCE(NULL::mood, 'sad')
SELECT COALESCE('ok'::mood, 'red'::color)
SELECT NULLIF('ok'::mood, 'ok'), NULLIF('ok'::mood, 'sad')
SELECT GREATEST('ok'::mood, 'happy', 'sad'), LEAST('ok'::mood, 'happy', 'sad')
SELECT 'ok'::mood IN ('ok', 'sad'), 'ok'::mood NOT IN ('ok', 'sad'), 'ok'::mood IN ('happy', NULL)
SELECT 'ok'::mood IN ('ok', 'bad')
SELECT 'ok'::mood BETWEEN 'sad' AND 'happy', 'ok'::mood BETWEEN 'happy' AND 'sad'
SELECT 'ok'::mood IS NULL, 'ok'::mood IS DISTINCT FROM 'sad', 'ok'::mood IS NOT DISTINCT FROM 'ok'
SELECT 'ok'::mood UNION SELECT 'sad' ORDER BY 1
SELECT 'ok'::mood UNION ALL SELECT 'red'::color
SELECT 'ok'::mood UNION ALL SELECT 'x'::text
SELECT * FROM (VALUES ('ok'::mood), ('sad'), ('happy')) AS v(m) ORDER BY m DESC
SELECT pg_typeof('ok'::mood), pg_typeof('One'::"Mixed Case"), pg_typeof(NULL::mood)
SELECT enum_first(NULL::mood), enum_last(NULL::mood), enum_range(NULL::mood)
SELECT enum_range('ok'::mood, NULL), enum_range(NULL, 'ok'::mood), enum_range('ok'::mood, 'happy'::mood), enum_range('happy'::mood, 'sad'::mood)
SELECT enum_first(NULL::empty)
SELECT enum_range(NULL::empty)
SELECT enum_first('x')
SELECT enum_first(1)
SELECT enum_range('ok'::mood, 'red'::color)
SELECT to_json('ok'::mood), to_jsonb('ok'::mood), json_build_object('m', 'ok'::mood)
-- tables
CREATE TABLE p (id int PRIMARY KEY, m mood, n mood NOT NULL DEFAULT 'ok', c color)
INSERT INTO p VALUES (1, 'sad'), (2, 'happy', 'sad', 'red'), (3, NULL, 'happy', 'blue'), (4, 'ok', DEFAULT, 'green')
INSERT INTO p VALUES (5, 'bad')
INSERT INTO p VALUES (5, 'ok'::text)
INSERT INTO p VALUES (5, 'red'::color)
INSERT INTO p VALUES (5, 1)
INSERT INTO p (id, m) SELECT 5, 'ok'
INSERT INTO p (id, m) SELECT 6, 'ok'::text::mood
INSERT INTO p (id, n) VALUES (7, NULL)
INSERT INTO p (id) VALUES (7) RETURNING id, m, n
SELECT * FROM p ORDER BY id
SELECT * FROM p ORDER BY m, id
SELECT * FROM p ORDER BY m DESC NULLS LAST, id
SELECT id FROM p WHERE m = 'happy'
SELECT id FROM p WHERE m > 'sad' ORDER BY id
SELECT id FROM p WHERE m IN ('sad', 'happy') ORDER BY id
SELECT id FROM p WHERE m = 'bad'
SELECT id FROM p WHERE m::text = 'bad'
SELECT id FROM p WHERE m::text = ANY ('{ok,sad}'::text[]) ORDER BY id
SELECT id FROM p WHERE m = ANY ('{ok,sad}'::mood[]) ORDER BY id
SELECT id FROM p WHERE m = ANY ('{ok,bad}') ORDER BY id
SELECT id FROM p WHERE m = ANY ('{ok,sad}') ORDER BY id
SELECT id FROM p WHERE m = ANY (ARRAY['ok', 'sad']::mood[]) ORDER BY id
SELECT id FROM p WHERE m = ANY (ARRAY['ok', 'sad']) ORDER BY id
SELECT id FROM p WHERE m = c
SELECT id FROM p WHERE m = n ORDER BY id
SELECT m, count(*) FROM p GROUP BY m ORDER BY m
SELECT min(m), max(m), min(c), max(c), count(m), count(DISTINCT n) FROM p
SELECT sum(m) FROM p
SELECT avg(m) FROM p
SELECT string_agg(m::text, ',' ORDER BY m) FROM p
SELECT array_agg(m ORDER BY m, id) FROM p
SELECT DISTINCT n FROM p ORDER BY n
SELECT m, n, count(*) FROM p GROUP BY ROLLUP (m, n) ORDER BY 1, 2, 3
SELECT a.id, b.id FROM p a JOIN p b ON a.m = b.n ORDER BY 1, 2
SELECT a.id, b.id FROM p a JOIN p b ON a.m = b.c
SELECT id, m, row_number() OVER (ORDER BY m, id), first_value(m) OVER (ORDER BY m DESC NULLS LAST), lag(m) OVER (ORDER BY id) FROM p ORDER BY id
SELECT id FROM p WHERE m = (SELECT max(m) FROM p)
SELECT id FROM p WHERE m IN (SELECT n FROM p) ORDER BY id
WITH w AS (SELECT m AS x, count(*) AS n FROM p GROUP BY m) SELECT x, n FROM w ORDER BY x
WITH RECURSIVE r(k, m) AS (SELECT 1, 'sad'::mood UNION ALL SELECT k + 1, 'ok'::mood FROM r WHERE k < 3) SELECT * FROM r ORDER BY k
UPDATE p SET m = 'happy' WHERE id = 1 RETURNING id, m
UPDATE p SET m = 'bad' WHERE id = 1
UPDATE p SET m = 'ok'::text WHERE id = 1
UPDATE p SET m = n WHERE id = 2 RETURNING m
UPDATE p SET m = c WHERE id = 2
UPDATE p SET m = CASE WHEN id = 1 THEN 'sad' ELSE 'ok' END::mood WHERE id < 3 RETURNING id, m
UPDATE p SET m = CASE WHEN id = 1 THEN 'sad' ELSE 'ok' END WHERE id < 3
INSERT INTO p VALUES (1, 'ok') ON CONFLICT (id) DO UPDATE SET m = EXCLUDED.m RETURNING id, m
DELETE FROM p WHERE m = 'ok' AND id = 6 RETURNING m
CREATE TABLE q AS SELECT id, m, 'red'::color AS c FROM p
SELECT * FROM q ORDER BY id
CREATE VIEW v AS SELECT m, count(*) AS n FROM p GROUP BY m
SELECT * FROM v ORDER BY m
CREATE VIEW w AS SELECT 'ok'::mood AS m, id FROM p WHERE n = 'ok'
SELECT * FROM w ORDER BY id
-- keys and indexes
CREATE TABLE k (m mood PRIMARY KEY, t text UNIQUE)
INSERT INTO k VALUES ('sad', 'a'), ('happy', 'b')
INSERT INTO k VALUES ('sad', 'c')
SELECT * FROM k WHERE m = 'happy'
SELECT * FROM k ORDER BY m DESC
CREATE TABLE ref (id int, m mood REFERENCES k (m) ON UPDATE CASCADE ON DELETE SET NULL)
INSERT INTO ref VALUES (1, 'sad'), (2, 'happy')
INSERT INTO ref VALUES (3, 'ok')
UPDATE k SET m = 'ok' WHERE m = 'sad'
SELECT * FROM ref ORDER BY id
DELETE FROM k WHERE m = 'happy'
SELECT * FROM ref ORDER BY id
CREATE TABLE badref (m color REFERENCES k (m))
CREATE INDEX p_m ON p (m)
CREATE UNIQUE INDEX p_mid ON p (m, id)
SELECT id FROM p WHERE m = 'ok' ORDER BY id
SELECT m, id FROM p WHERE m >= 'ok' ORDER BY m, id
CREATE TABLE u (m mood UNIQUE, CHECK (m <> 'sad'))
INSERT INTO u VALUES ('ok')
INSERT INTO u VALUES ('ok')
INSERT INTO u VALUES ('sad')
CREATE TABLE badcheck (m mood CHECK (m <> 'bad'))
CREATE TABLE baddefault (m mood DEFAULT 'bad')
CREATE TABLE baddefault (m mood DEFAULT 'ok'::text)
CREATE TABLE baddefault (m mood DEFAULT 1)
CREATE TABLE gooddefault (m mood DEFAULT 'ok'::mood, n mood DEFAULT CAST('sad' AS mood))
INSERT INTO gooddefault DEFAULT VALUES
SELECT * FROM gooddefault
-- altering tables
CREATE TABLE a (id int, t text)
INSERT INTO a VALUES (1, 'ok'), (2, 'sad')
ALTER TABLE a ADD COLUMN m mood
ALTER TABLE a ADD COLUMN n mood NOT NULL DEFAULT 'happy'
SELECT * FROM a ORDER BY id
ALTER TABLE a ALTER COLUMN t TYPE mood
ALTER TABLE a ALTER COLUMN t TYPE mood USING t::mood
SELECT * FROM a ORDER BY t
ALTER TABLE a ALTER COLUMN t TYPE text
SELECT * FROM a ORDER BY t
ALTER TABLE a ALTER COLUMN n TYPE color USING 'red'
ALTER TABLE a ALTER COLUMN n DROP DEFAULT
ALTER TABLE a ALTER COLUMN n TYPE color USING CASE n WHEN 'happy' THEN 'green' ELSE 'red' END::color
SELECT * FROM a ORDER BY t
ALTER TABLE a ALTER COLUMN n SET DEFAULT 'blue'
ALTER TABLE a ALTER COLUMN n SET DEFAULT 'ok'
ALTER TABLE a ADD CHECK (n <> 'red')
INSERT INTO a VALUES (3, 'x', 'ok', 'red')
INSERT INTO a VALUES (3, 'x', 'ok') RETURNING n
ALTER TABLE a ADD COLUMN z nosuch
ALTER TABLE a ALTER COLUMN id TYPE nosuch
-- altering types
ALTER TYPE mood ADD VALUE 'great'
ALTER TYPE mood ADD VALUE 'great'
ALTER TYPE mood ADD VALUE IF NOT EXISTS 'great'
ALTER TYPE mood ADD VALUE 'awful' BEFORE 'sad'
ALTER TYPE mood ADD VALUE 'meh' AFTER 'sad'
ALTER TYPE mood ADD VALUE 'fine' BEFORE 'happy'
ALTER TYPE mood ADD VALUE 'x' BEFORE 'nosuch'
ALTER TYPE mood ADD VALUE '0123456789012345678901234567890123456789012345678901234567890123'
ALTER TYPE nosuch ADD VALUE 'x'
ALTER TYPE int4 ADD VALUE 'x'
SELECT enum_range(NULL::mood)
INSERT INTO p (id, m) VALUES (20, 'awful'), (21, 'meh'), (22, 'fine'), (23, 'great')
SELECT id, m FROM p WHERE m IS NOT NULL ORDER BY m, id
SELECT id, m FROM p WHERE m > 'ok' ORDER BY m, id
ALTER TYPE mood RENAME VALUE 'meh' TO 'so so'
ALTER TYPE mood RENAME VALUE 'meh' TO 'x'
ALTER TYPE mood RENAME VALUE 'sad' TO 'happy'
SELECT id, m FROM p WHERE m < 'ok' ORDER BY m, id
SELECT 'meh'::mood
ALTER TYPE color RENAME TO colour
SELECT 'red'::colour
SELECT 'red'::color
ALTER TYPE colour RENAME TO mood
ALTER TYPE colour RENAME TO p
ALTER TYPE colour RENAME TO color
ALTER TYPE empty ADD VALUE 'first'
ALTER TYPE empty ADD VALUE 'zero' BEFORE 'first'
SELECT enum_range(NULL::empty), 'zero'::empty < 'first'
BEGIN
CREATE TYPE inside AS ENUM ('a', 'b')
CREATE TABLE t_inside (x inside DEFAULT 'b')
INSERT INTO t_inside VALUES ('a'), (DEFAULT)
SELECT * FROM t_inside ORDER BY x
ALTER TYPE inside RENAME VALUE 'a' TO 'z'
SELECT * FROM t_inside ORDER BY x
ROLLBACK
SELECT 'a'::inside
BEGIN
ALTER TYPE mood ADD VALUE 'new'
SELECT enum_last(NULL::mood)
ROLLBACK
SELECT 'new'::mood
-- renaming
CREATE TYPE role AS ENUM ('user', 'admin', 'it''s')
CREATE TABLE users (id int PRIMARY KEY, role role NOT NULL DEFAULT 'user', other role DEFAULT 'admin'::role, note text DEFAULT 'user', said text DEFAULT ('it''s'::role)::text, CHECK (other <> 'it''s'::role OR note <> 'nobody'))
CREATE VIEW admins AS SELECT id, 'admin'::role AS what FROM users WHERE role = 'admin'::public.role
INSERT INTO users (id) VALUES (1)
ALTER TYPE role RENAME TO "Job title"
INSERT INTO users (id, role) VALUES (2, 'admin')
SELECT * FROM users ORDER BY id
SELECT * FROM admins
ALTER TYPE "Job title" RENAME VALUE 'user' TO 'person'
ALTER TYPE "Job title" RENAME VALUE 'it''s' TO 'that'
INSERT INTO users (id) VALUES (3)
SELECT * FROM users ORDER BY id
INSERT INTO users (id, other) VALUES (4, 'that')
ALTER TYPE "Job title" RENAME VALUE 'admin' TO 'root'
SELECT * FROM admins
INSERT INTO users (id) VALUES (5)
SELECT id, role, other, note, said FROM users ORDER BY id
ALTER TYPE "Job title" RENAME TO role
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'users'::regclass AND adnum = 3
BEGIN
ALTER TYPE "public"."role" RENAME TO "role_old"
CREATE TYPE "public"."role" AS ENUM('person', 'root', 'guest')
ALTER TABLE "users" ALTER COLUMN "role" DROP DEFAULT
ALTER TABLE "users" ALTER COLUMN "role" TYPE "public"."role" USING "role"::"text"::"public"."role"
DROP VIEW admins
ALTER TABLE "users" ALTER COLUMN "role" TYPE "public"."role" USING "role"::"text"::"public"."role"
ROLLBACK
BEGIN
DROP VIEW admins
ALTER TYPE "public"."role" RENAME TO "role_old"
CREATE TYPE "public"."role" AS ENUM('person', 'root', 'guest')
ALTER TABLE "users" ALTER COLUMN "role" DROP DEFAULT
ALTER TABLE "users" ALTER COLUMN "role" TYPE "public"."role" USING "role"::"text"::"public"."role"
ALTER TABLE "users" ALTER COLUMN "role" SET DEFAULT 'guest'
ALTER TABLE users DROP COLUMN other, DROP COLUMN said
DROP TYPE "public"."role_old"
SELECT id, role FROM users WHERE role IN ('person', 'guest') ORDER BY id
COMMIT
INSERT INTO users (id) VALUES (6) RETURNING role
SELECT id, role, pg_typeof(role) FROM users ORDER BY role, id
BEGIN
CREATE TYPE "Role_new" AS ENUM ('guest', 'person', 'root')
ALTER TABLE "users" ALTER COLUMN "role" DROP DEFAULT
ALTER TABLE "users" ALTER COLUMN "role" TYPE "Role_new" USING ("role"::text::"Role_new")
ALTER TYPE "role" RENAME TO "Role_old"
ALTER TYPE "Role_new" RENAME TO "role"
DROP TYPE "Role_old"
ALTER TABLE "users" ALTER COLUMN "role" SET DEFAULT 'guest'
COMMIT
INSERT INTO users (id) VALUES (7) RETURNING role
SELECT id, role FROM users ORDER BY role, id
SELECT typname FROM pg_type WHERE typname ~* 'role' AND typtype = 'e' ORDER BY 1
DROP TABLE users
DROP TYPE role
-- preparing
PREPARE one (mood) AS SELECT $1, pg_typeof($1), id FROM p WHERE m = $1 ORDER BY id
EXECUTE one('ok')
EXECUTE one('bad')
EXECUTE one('ok'::text)
PREPARE two AS SELECT id FROM p WHERE m = $1 AND n <> $2 ORDER BY id
EXECUTE two('happy', 'ok')
EXECUTE two('happy', 'bad')
PREPARE three (nosuch) AS SELECT $1
PREPARE four (mood[]) AS SELECT id FROM p WHERE m = ANY ($1) ORDER BY id
EXECUTE four('{sad,happy}')
PREPARE five AS INSERT INTO p (id, m) VALUES ($1, $2) RETURNING m
EXECUTE five(40, 'great')
BEGIN
DECLARE cur CURSOR FOR SELECT m FROM p WHERE m IS NOT NULL ORDER BY m, id
FETCH 2 FROM cur
FETCH ALL FROM cur
COMMIT
EXPLAIN (COSTS OFF) SELECT 1 WHERE 'ok'::mood = 'nope'
-- arrays
SELECT '{ok,sad}'::mood[], ARRAY['ok', 'sad']::mood[], ARRAY['ok'::mood, 'sad']
SELECT '{ok,bad}'::mood[]
SELECT ('{ok,sad}'::mood[])[1], array_length('{ok,sad}'::mood[], 1), pg_typeof('{ok}'::mood[])
SELECT unnest(enum_range(NULL::mood))
SELECT unnest('{ok,sad}'::mood[]) AS m ORDER BY m
SELECT '{ok,sad}'::mood[] = '{ok,sad}', '{ok}'::mood[] < '{happy}'::mood[], '{ok}'::mood[] @> '{ok}'::mood[]
SELECT '{ok,sad}'::mood[]::text[], '{ok,sad}'::text[]::mood[]
SELECT '{ok}'::mood[] = '{red}'::color[]
SELECT array_to_string('{ok,sad}'::mood[], ','), array_append('{ok}'::mood[], 'sad'), 'sad' = ANY ('{ok,sad}'::mood[])
CREATE TABLE arr (id int, ms mood[] DEFAULT '{ok}')
INSERT INTO arr VALUES (1, '{sad,happy}'), (2, NULL), (3, '{}')
INSERT INTO arr VALUES (4, '{bad}')
INSERT INTO arr (id) VALUES (5)
SELECT * FROM arr ORDER BY id
SELECT id FROM arr WHERE 'happy' = ANY (ms)
SELECT id, unnest(ms) FROM arr ORDER BY 1, 2
-- catalogs
SELECT typname, typtype, typcategory, typlen, typbyval, typisdefined FROM pg_type WHERE typname IN ('mood', '_mood', 'Mixed Case') ORDER BY 1
SELECT t.typname, e.enumlabel, row_number() OVER (PARTITION BY t.typname ORDER BY e.enumsortorder) FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = 'public' ORDER BY 1, 3
SELECT format_type(t.oid, NULL), t.oid::regtype FROM pg_type t WHERE typname IN ('mood', '_mood', 'Mixed Case') ORDER BY 1
SELECT a.attname, format_type(a.atttypid, a.atttypmod), t.typtype FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = 'p'::regclass AND a.attnum > 0 ORDER BY a.attnum
SELECT column_name, data_type, udt_schema, udt_name, column_default, character_maximum_length FROM information_schema.columns WHERE table_name = 'p' ORDER BY ordinal_position
SELECT column_name, data_type, udt_name FROM information_schema.columns WHERE table_name = 'arr' ORDER BY ordinal_position
SELECT 'mood'::regtype, 'public.mood'::regtype, 'mood[]'::regtype, '"Mixed Case"'::regtype
SELECT 'nosuch'::regtype
SELECT to_regtype('mood'), to_regtype('nosuch')
SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = 'gooddefault'::regclass ORDER BY d.adnum
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'u'::regclass ORDER BY 1
SELECT t.typname, x.typname FROM pg_type t JOIN pg_type x ON x.oid = t.typelem WHERE t.typname = '_mood'
SELECT t.typname, x.typname FROM pg_type t JOIN pg_type x ON x.oid = t.typarray WHERE t.typname = 'mood'
-- dropping
DROP TYPE nosuch
DROP TYPE IF EXISTS nosuch
DROP TYPE int4
DROP TYPE rel
DROP TYPE "Mixed Case", most
SELECT 'One'::"Mixed Case"
CREATE TYPE lone AS ENUM ('a')
CREATE TABLE uses_lone (id int, l lone)
DROP TYPE lone
DROP TYPE lone RESTRICT
INSERT INTO uses_lone VALUES (1, 'a')
DROP TYPE lone CASCADE
SELECT * FROM uses_lone
CREATE TYPE lone AS ENUM ('b', 'a')
SELECT enum_range(NULL::lone)
ALTER TABLE uses_lone ADD COLUMN l lone DEFAULT 'a'
SELECT * FROM uses_lone
DROP TABLE uses_lone
DROP TYPE lone
CREATE VIEW only_view AS SELECT 'zero'::empty AS e
DROP TYPE empty
DROP VIEW only_view
DROP TYPE empty
DROP TYPE mood
CREATE ROLE enum_owner
ALTER TYPE color OWNER TO enum_owner
ALTER TYPE color OWNER TO nobody_there
DROP ROLE enum_owner
ALTER TYPE color OWNER TO CURRENT_USER
DROP ROLE enum_owner
-- a second reading
CREATE TYPE status AS ENUM ('open', 'done')
CREATE TABLE r (p int, s text, st status)
INSERT INTO r VALUES (1, 'open', 'open')
CREATE VIEW rv AS SELECT 'open' AS status, s FROM r
CREATE VIEW rv2 AS SELECT x.status FROM (SELECT st AS status FROM r) x ORDER BY status
CREATE VIEW rv3 AS SELECT (SELECT max(p) AS status FROM r), CAST('open' AS status) AS c
SELECT * FROM rv
DROP VIEW rv
ALTER TYPE status RENAME VALUE 'open' TO 'opened'
SELECT * FROM rv2
SELECT c FROM rv3
ALTER TYPE status RENAME TO state
SELECT * FROM rv2
SELECT c FROM rv3
DROP VIEW rv3
DROP TYPE state
CREATE TYPE kind AS ENUM ('a')
CREATE VIEW kv AS SELECT s AS kind FROM r
DROP TYPE kind
SELECT * FROM kv
DROP TABLE r CASCADE
DROP TYPE state
CREATE TYPE "order" AS ENUM ('a', 'b')
CREATE TABLE o1 (x text DEFAULT ('a'::"order")::text, y int)
CREATE VIEW ov AS SELECT 'a'::"order"::text AS x
DROP TYPE "order"
ALTER TYPE "order" RENAME VALUE 'a' TO 'aa'
INSERT INTO o1 (y) VALUES (1)
SELECT x FROM o1
SELECT x FROM ov
ALTER TYPE "order" RENAME TO side
INSERT INTO o1 (y) VALUES (1)
SELECT x FROM ov
ALTER TYPE side RENAME TO "left"
INSERT INTO o1 (y) VALUES (1)
SELECT x FROM ov
SELECT x FROM o1
DROP TABLE o1
DROP TYPE "left" CASCADE
SELECT x FROM ov
