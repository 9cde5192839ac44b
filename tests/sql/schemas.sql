-- making
CREATE SCHEMA app
CREATE SCHEMA app
CREATE SCHEMA IF NOT EXISTS app
CREATE SCHEMA public
CREATE SCHEMA pg_mine
CREATE SCHEMA "Other One"
CREATE ROLE ann LOGIN
CREATE SCHEMA AUTHORIZATION ann
CREATE SCHEMA bobs AUTHORIZATION ann
CREATE SCHEMA nobodys AUTHORIZATION nobody
SELECT nspname, pg_get_userbyid(nspowner) = 'ann' FROM pg_namespace WHERE nspname IN ('app', 'ann', 'bobs', 'Other One', 'public') ORDER BY 1
SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('app', 'ann', 'bobs') ORDER BY 1
-- names
CREATE TABLE app.t (id serial PRIMARY KEY, a int DEFAULT 3, b text UNIQUE, CHECK (a > 0))
CREATE TABLE app.t (id int)
CREATE TABLE IF NOT EXISTS app.t (id int)
CREATE TABLE t (id int PRIMARY KEY, z text)
CREATE TABLE nowhere.t (id int)
INSERT INTO app.t (b) VALUES ('x'), ('y')
INSERT INTO t VALUES (10, 'public')
INSERT INTO nowhere.t VALUES (1)
SELECT * FROM app.t ORDER BY id
SELECT * FROM t
SELECT * FROM public.t
SELECT * FROM app.nothing
SELECT * FROM nowhere.t
SELECT app.t.id, t.b, (SELECT max(app.t.a) FROM app.t) FROM app.t ORDER BY 1
SELECT app.t.* FROM app.t ORDER BY 1
SELECT public.t.id FROM app.t
SELECT app.x.id FROM app.t x
SELECT x.id FROM app.t AS x ORDER BY 1
SELECT app.t.id FROM app.t AS t ORDER BY 1
SELECT app.t.id, public.t.z FROM app.t, public.t ORDER BY 1
SELECT * FROM app.t, app.t
SELECT count(*) FROM app.t JOIN public.t ON app.t.id + 9 = public.t.id
UPDATE app.t SET a = a + 1 WHERE app.t.id = 1 RETURNING app.t.id, app.t.a
UPDATE public.t SET z = 'p' RETURNING *
DELETE FROM app.t USING t WHERE app.t.id = t.id
SELECT id, a FROM app.t ORDER BY id
INSERT INTO app.t (id, b) VALUES (1, 'again')
INSERT INTO app.t (id, b) VALUES (1, 'again') ON CONFLICT (id) DO UPDATE SET b = excluded.b || app.t.b RETURNING b
INSERT INTO app.t (a) VALUES (-1)
WITH t AS (SELECT 7 AS seven) SELECT seven, id FROM t, app.t WHERE id = 1
TRUNCATE nowhere.t
TRUNCATE app.nothing
DROP TABLE nowhere.t
DROP TABLE IF EXISTS nowhere.t
DROP TABLE app.nothing
DROP TABLE IF EXISTS app.nothing
ALTER TABLE nowhere.t ADD c int
ALTER TABLE app.nothing ADD c int
ALTER TABLE IF EXISTS nowhere.t ADD c int
CREATE INDEX ON nowhere.t (c)
ANALYZE nowhere.t
GRANT SELECT ON nowhere.t TO ann
COMMENT ON TABLE nowhere.t IS 'x'
COMMENT ON TABLE app.t IS 'x'
COMMENT ON COLUMN app.t.a IS 'x'
-- search_path
SHOW search_path
SELECT current_schema, current_schemas(false), current_schemas(true)
SET search_path = app, public
SHOW search_path
SELECT current_schema, current_schemas(false)
SELECT b FROM t ORDER BY id
SELECT 't'::regclass, 'public.t'::regclass, 'app.t'::regclass, 'app.t_pkey'::regclass
CREATE TABLE u (id int PRIMARY KEY)
SELECT relname, relnamespace::regnamespace FROM pg_class WHERE relname IN ('u', 'u_pkey') ORDER BY 1
CREATE TABLE t (id int)
CREATE TABLE public.u (id int)
DROP TABLE u
SELECT count(*) FROM u
DROP TABLE u
SET search_path = ''
SHOW search_path
SELECT current_schema
SELECT * FROM t
SELECT * FROM public.t
CREATE TABLE w (a int)
DROP TABLE t
INSERT INTO t VALUES (1)
SELECT 'public.t'::regclass, 'app.t'::regclass, 't'::regclass
SELECT 'public.t'::regclass, 'app.t'::regclass
SET search_path = nowhere
SELECT * FROM t
SELECT current_schemas(false)
SET search_path = "Other One", nowhere, app
SHOW search_path
SELECT current_schema
CREATE TABLE "A b" (a int)
SELECT 'app.t'::regclass, '"A b"'::regclass, '"Other One"."A b"'::regclass
SET search_path TO public
SELECT '"Other One"."A b"'::regclass, '"Other One"'::regnamespace, 'app'::regnamespace, 'Other'::regnamespace
SELECT to_regclass('nowhere.t') IS NULL, to_regclass('app.nothing') IS NULL, to_regnamespace('nowhere') IS NULL, to_regclass('app.t')
SELECT 'nowhere.t'::regclass
SELECT set_config('search_path', 'app,public', false)
SELECT count(*) FROM t
SELECT set_config('search_path', 'app,,public', false)
SELECT set_config('search_path', '"app', false)
BEGIN
SET LOCAL search_path = public
SELECT z FROM t
COMMIT
SELECT count(b) FROM t
RESET search_path
SHOW search_path
SET search_path = pg_catalog, public
SELECT current_schema, current_schemas(false), current_schemas(true)
CREATE TABLE pgt (a int)
SELECT z FROM t
SET search_path = 'app, public'
SHOW search_path
SET search_path = DEFAULT
PREPARE p AS SELECT count(*) FROM t
EXECUTE p
SET search_path = app
EXECUTE p
RESET search_path
-- defaults and sequences
CREATE SEQUENCE app.s
SELECT nextval('app.s'), currval('app.s')
SELECT nextval('s')
SELECT nextval('nowhere.s')
SELECT nextval('app.nothing')
SET search_path = app
CREATE TABLE d (a int DEFAULT nextval('s'), b int)
SELECT nextval('s'), lastval()
RESET search_path
INSERT INTO app.d (b) VALUES (1) RETURNING a
SELECT pg_get_serial_sequence('app.t', 'id')
SELECT column_default FROM information_schema.columns WHERE table_schema = 'app' AND column_name IN ('id', 'a') AND table_name IN ('t', 'd') ORDER BY 1
SET search_path = app
SELECT column_default FROM information_schema.columns WHERE table_schema = 'app' AND column_name IN ('id', 'a') AND table_name IN ('t', 'd') ORDER BY 1
RESET search_path
DROP SEQUENCE app.s
DROP SEQUENCE nowhere.s
DROP SEQUENCE IF EXISTS nowhere.s, app.nothing
CREATE SEQUENCE public.owned OWNED BY app.d.b
CREATE SEQUENCE app.owned OWNED BY app.d.b
-- views
SET search_path = app, public
CREATE VIEW v AS SELECT id, b, (SELECT count(*) FROM public.t x) AS n FROM t WHERE id IN (SELECT id FROM t)
CREATE VIEW public.v AS SELECT t.id AS app_id FROM t JOIN public.t AS other ON t.id <> other.id
SELECT * FROM v ORDER BY id
RESET search_path
SELECT * FROM app.v ORDER BY id
SELECT count(*) > 0 FROM v
SELECT table_schema, table_name FROM information_schema.views WHERE table_schema IN ('app', 'public') ORDER BY 1
DROP VIEW v
DROP TABLE app.t
DROP VIEW app.nothing
CREATE VIEW public.v AS SELECT * FROM app.v
DROP VIEW app.v
DROP VIEW app.v CASCADE
SELECT * FROM v
-- keys
CREATE TABLE app.parent (id int PRIMARY KEY, k int UNIQUE)
CREATE TABLE app.child (id int REFERENCES app.parent, k int REFERENCES app.parent (k) ON DELETE CASCADE)
CREATE TABLE child (id int REFERENCES parent)
CREATE TABLE child (id int REFERENCES nowhere.parent)
CREATE TABLE child (id int REFERENCES app.parent ON UPDATE CASCADE)
CREATE TABLE app.self (id int PRIMARY KEY, up int REFERENCES app.self)
INSERT INTO app.parent VALUES (1, 10), (2, 20)
INSERT INTO app.child VALUES (1, 20)
INSERT INTO app.child VALUES (3, 20)
INSERT INTO child VALUES (2)
DELETE FROM app.parent WHERE id = 1
UPDATE app.parent SET id = 22 WHERE id = 2
SELECT * FROM child
DELETE FROM app.parent WHERE id = 22
INSERT INTO app.self VALUES (1, 1), (2, 1)
INSERT INTO app.self VALUES (3, 9)
SELECT conname, conrelid::regclass, confrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1, 2
SELECT constraint_schema, table_schema, table_name, constraint_name FROM information_schema.table_constraints WHERE constraint_type = 'FOREIGN KEY' ORDER BY 1, 2, 3, 4
TRUNCATE app.parent
TRUNCATE app.parent, app.child, child
DROP TABLE app.parent
-- indexes and alter
CREATE INDEX ON app.child (k)
CREATE INDEX ci ON app.child (k, id)
SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'app' AND tablename = 'child' ORDER BY 1
DROP INDEX ci
DROP INDEX app.nothing
DROP INDEX nowhere.ci
DROP INDEX IF EXISTS app.nothing
ALTER INDEX app.ci RENAME TO ci2
ALTER INDEX nowhere.ci RENAME TO ci2
DROP INDEX app.ci2
ALTER TABLE app.child ADD COLUMN more int DEFAULT 5, ADD CONSTRAINT positive CHECK (more > 0)
ALTER TABLE app.child ALTER COLUMN more SET DEFAULT 6
ALTER TABLE app.child RENAME TO t
ALTER TABLE app.child RENAME TO kid
INSERT INTO app.kid VALUES (1, 10, 0)
INSERT INTO app.kid (more) VALUES (DEFAULT) RETURNING more
DELETE FROM app.kid
ALTER TABLE app.kid ADD FOREIGN KEY (more) REFERENCES app.parent (k)
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'app' AND table_name = 'kid' ORDER BY ordinal_position
CREATE TABLE app.made AS SELECT 1 AS one
SELECT one INTO app.made2 FROM app.made
SELECT * FROM app.made2
-- types
CREATE TYPE mood AS ENUM ('sad', 'happy')
CREATE DOMAIN small AS int CHECK (VALUE < 100)
CREATE TABLE app.felt (m mood DEFAULT 'sad', n small, x int, PRIMARY KEY (n))
INSERT INTO app.felt (n) VALUES (1), (99)
INSERT INTO app.felt VALUES ('glad', 2)
INSERT INTO app.felt VALUES ('happy', 100)
SELECT * FROM app.felt WHERE m < 'happy' ORDER BY n
ALTER DOMAIN small ADD CONSTRAINT tiny CHECK (VALUE < 50)
ALTER DOMAIN small SET NOT NULL
CREATE VIEW app.feelings AS SELECT m, n::small AS s FROM app.felt
DROP TYPE mood
DROP DOMAIN small
ALTER TYPE mood ADD VALUE 'glad' BEFORE 'happy'
UPDATE app.felt SET m = 'glad' WHERE n = 1
SELECT * FROM app.feelings ORDER BY s
DROP DOMAIN small CASCADE
SELECT * FROM app.felt ORDER BY m
DROP TYPE mood CASCADE
DROP TABLE app.felt
SET search_path = app, public
CREATE TYPE public.late AS ENUM ('x')
CREATE TABLE felt (l late)
INSERT INTO felt VALUES ('x')
SELECT l FROM felt
DROP TABLE felt
DROP TYPE late
RESET search_path
-- rights
CREATE TABLE app.secret (a int)
SET ROLE ann
SELECT * FROM app.secret
INSERT INTO app.secret VALUES (1)
CREATE TABLE app.mine (a int)
SELECT current_schema
CREATE TABLE ann.mine (a int)
CREATE TABLE mine2 (a int)
SELECT 'mine2'::regclass, 'ann.mine2'::regclass
CREATE SCHEMA annes
DROP SCHEMA app
DROP SCHEMA bobs
RESET ROLE
GRANT USAGE ON SCHEMA app TO ann
SET ROLE ann
SELECT * FROM app.secret
CREATE TABLE app.mine (a int)
SELECT has_schema_privilege('app', 'USAGE'), has_schema_privilege('app', 'CREATE'), has_schema_privilege('ann', 'app', 'usage, create'), has_schema_privilege('ann', 'CREATE')
GRANT CREATE ON SCHEMA app TO ann
RESET ROLE
GRANT SELECT ON ALL TABLES IN SCHEMA app TO ann
GRANT CREATE ON SCHEMA app TO ann WITH GRANT OPTION
SELECT grantee, table_schema, table_name, privilege_type FROM information_schema.table_privileges WHERE grantee = 'ann' AND table_schema = 'app' AND table_name IN ('secret', 'made') ORDER BY 1, 2, 3, 4
SET ROLE ann
SELECT * FROM app.secret
CREATE TABLE app.mine (a int)
GRANT CREATE ON SCHEMA app TO PUBLIC
GRANT SELECT ON SCHEMA app TO PUBLIC
RESET ROLE
SELECT has_schema_privilege('public', 'app', 'CREATE'), has_schema_privilege('public', 'app', 'USAGE')
REVOKE CREATE ON SCHEMA app FROM ann
REVOKE CREATE ON SCHEMA app FROM ann CASCADE
SELECT nspacl FROM pg_namespace WHERE nspname = 'bobs'
GRANT USAGE ON SCHEMA nowhere TO ann
GRANT SELECT ON ALL TABLES IN SCHEMA nowhere TO ann
ALTER SCHEMA bobs OWNER TO nobody
ALTER SCHEMA nowhere OWNER TO ann
ALTER SCHEMA app OWNER TO ann
SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'app'
DROP ROLE ann
-- dropping
DROP SCHEMA nowhere
DROP SCHEMA IF EXISTS nowhere
DROP SCHEMA pg_catalog
DROP SCHEMA ann
DROP SCHEMA bobs, ann
DROP SCHEMA bobs
BEGIN
DROP SCHEMA app CASCADE
SELECT * FROM app.t
ROLLBACK
SELECT count(*) FROM app.made
BEGIN
CREATE SCHEMA short
CREATE TABLE short.t (a int)
INSERT INTO short.t VALUES (1)
SELECT * FROM short.t
ROLLBACK
SELECT * FROM short.t
DROP SCHEMA app CASCADE
SELECT * FROM child
SELECT relname FROM pg_class WHERE relnamespace NOT IN (SELECT oid FROM pg_namespace)
CREATE SCHEMA app
CREATE TABLE app.t (again int)
SELECT * FROM app.t
DROP SCHEMA app, ann, "Other One" CASCADE
DROP TABLE t, child
DROP ROLE ann
SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1
-- a second reading
CREATE SCHEMA hid
CREATE TABLE hid.s (a int)
INSERT INTO hid.s VALUES (7)
CREATE ROLE eve
CREATE SCHEMA AUTHORIZATION eve
CREATE TABLE w (a text)
INSERT INTO w VALUES ('public')
CREATE TABLE eve.w (a text)
INSERT INTO eve.w VALUES ('eve')
ALTER TABLE eve.w OWNER TO eve
SET ROLE eve
SELECT * FROM w
CREATE VIEW eve.v AS SELECT * FROM w
SELECT * FROM eve.v
CREATE VIEW eve.peek AS SELECT * FROM hid.s
CREATE TABLE eve.mine (a int)
RESET ROLE
GRANT USAGE ON SCHEMA hid TO eve
ALTER TABLE hid.s OWNER TO eve
SET ROLE eve
ALTER TABLE hid.s OWNER TO eve
SELECT * FROM hid.s
RESET ROLE
CREATE TABLE eve.theirs (a int)
CREATE SEQUENCE eve.theirq
SET ROLE eve
SELECT * FROM eve.theirs
DROP TABLE eve.theirs
DROP SEQUENCE eve.theirq
RESET ROLE
CREATE TABLE public.pg_class (zz int)
SELECT count(*) > 10 FROM pg_class
SELECT * FROM public.pg_class
DROP TABLE public.pg_class
CREATE TABLE hid.pg_namespace (zz int)
SET search_path = hid
SELECT count(*) > 2 FROM pg_namespace
SELECT * FROM hid.pg_namespace
RESET search_path
CREATE SEQUENCE hid.q1
CREATE SEQUENCE q1
CREATE TABLE u1 (a bigint DEFAULT 1 + nextval('q1'))
DROP SEQUENCE hid.q1
DROP TABLE u1
DROP SEQUENCE q1
CREATE SEQUENCE hid.q2
CREATE TABLE u2 (a bigint DEFAULT 1 + nextval('hid.q2'))
DROP SEQUENCE hid.q2
DROP TABLE u2
DROP SCHEMA hid CASCADE
DROP SCHEMA eve CASCADE
DROP ROLE eve
DROP TABLE w
