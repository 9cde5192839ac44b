-- names
CREATE TABLE t (a int, b text)
INSERT INTO t VALUES (1, 'kept')
CREATE TEMP TABLE t (a int PRIMARY KEY, id serial, CHECK (a > 0))
CREATE TEMPORARY TABLE t (a int)
CREATE TEMP TABLE IF NOT EXISTS t (a int)
INSERT INTO t (a) VALUES (7), (8)
INSERT INTO t (a) VALUES (7)
INSERT INTO t (a) VALUES (-1)
SELECT * FROM t ORDER BY a
SELECT * FROM public.t
SELECT pg_temp.t.a FROM pg_temp.t ORDER BY 1
SELECT relpersistence, relnamespace = pg_my_temp_schema() FROM pg_class WHERE relname = 't' ORDER BY 1
SELECT table_type, table_schema = 'public' FROM information_schema.tables WHERE table_name = 't' ORDER BY 1
SELECT column_name, column_default FROM information_schema.columns WHERE table_name = 't' AND table_schema LIKE 'pg_temp%' ORDER BY 1
SELECT 't'::regclass::text, 'pg_temp.t'::regclass::text, 'public.t'::regclass::text
SELECT pg_is_other_temp_schema(pg_my_temp_schema()), pg_my_temp_schema() <> 0
SELECT current_schema, current_schemas(false), cardinality(current_schemas(true))
CREATE TABLE pg_temp.q (a int)
CREATE TEMP TABLE public.q (a int)
CREATE TEMP TABLE nowhere.q (a int)
SELECT * FROM q
SELECT * FROM pg_temp.nothing
DROP TABLE pg_temp.q
UPDATE t SET a = a + 10 WHERE a = 8 RETURNING a
DELETE FROM t WHERE a = 18
TRUNCATE t
SELECT count(*) FROM t
SELECT count(*) FROM public.t
CREATE INDEX ON t (id)
ALTER TABLE t ADD COLUMN c text DEFAULT 'x'
INSERT INTO t (a) VALUES (1) RETURNING c
ALTER TABLE t RENAME TO tt
SELECT * FROM t
SELECT a, c FROM tt
ALTER TABLE tt RENAME TO t
ANALYZE t
-- search_path
SET search_path = ''
SELECT a FROM t
SELECT * FROM public.t
SET search_path = public, pg_temp
SELECT a, b FROM t
SELECT current_schema
SET search_path = pg_temp, public
SELECT a, c FROM t
CREATE TABLE intemp (a int)
SELECT relpersistence FROM pg_class WHERE relname = 'intemp'
RESET search_path
-- views and sequences
CREATE VIEW v AS SELECT a FROM t
SELECT * FROM v
SELECT relkind, relpersistence FROM pg_class WHERE relname = 'v'
CREATE TEMP VIEW w AS SELECT b FROM public.t
SELECT * FROM w
DROP TABLE t
DROP TABLE t CASCADE
SELECT * FROM v
SELECT * FROM t
CREATE TEMP SEQUENCE s START 5
SELECT nextval('s'), currval('s')
CREATE TEMP TABLE d (a int DEFAULT nextval('s'), b int)
INSERT INTO d (b) VALUES (1) RETURNING a
DROP SEQUENCE s
DROP TABLE d
DROP SEQUENCE s
-- as
CREATE TEMP TABLE made AS SELECT i, i * 2 AS two FROM generate_series(1, 3) i
SELECT * FROM made ORDER BY 1
SELECT i INTO TEMP made2 FROM made WHERE i > 1
SELECT * FROM made2 ORDER BY 1
CREATE TEMP TABLE made3 ON COMMIT DROP AS SELECT 1 AS one
SELECT * FROM made3
-- keys
CREATE TABLE perm (id int PRIMARY KEY)
CREATE TEMP TABLE tkey (id int PRIMARY KEY)
CREATE TEMP TABLE tref (id int REFERENCES perm)
CREATE TABLE pref (id int REFERENCES tkey)
CREATE TEMP TABLE tref (id int REFERENCES tkey)
INSERT INTO tref VALUES (1)
INSERT INTO tkey VALUES (1)
INSERT INTO tref VALUES (1)
DELETE FROM tkey
DROP TABLE tref, tkey
-- on commit
CREATE TABLE c (a int) ON COMMIT DROP
CREATE TEMP TABLE c (a int) ON COMMIT DELETE ROWS
CREATE TEMP TABLE p (a int) ON COMMIT PRESERVE ROWS
INSERT INTO c VALUES (1)
SELECT * FROM c
BEGIN
INSERT INTO c VALUES (2), (3)
INSERT INTO p VALUES (2), (3)
SELECT count(*) FROM c
COMMIT
SELECT count(*) FROM c
SELECT count(*) FROM p
BEGIN
CREATE TEMP TABLE dropped (a int) ON COMMIT DROP
INSERT INTO dropped VALUES (1)
SELECT * FROM dropped
COMMIT
SELECT * FROM dropped
BEGIN
INSERT INTO p VALUES (4)
ROLLBACK
SELECT count(*) FROM p
BEGIN
CREATE TEMP TABLE undone (a int)
ROLLBACK
SELECT * FROM undone
BEGIN
DROP TABLE c
ROLLBACK
BEGIN
INSERT INTO c VALUES (4)
SELECT * FROM c
COMMIT
SELECT * FROM c
-- rights
CREATE ROLE ann
SET ROLE ann
CREATE TABLE no_right (a int)
CREATE TEMP TABLE hers (a int)
INSERT INTO hers VALUES (1)
SELECT * FROM hers
RESET ROLE
SELECT * FROM hers
SET ROLE ann
SELECT * FROM p
RESET ROLE
DROP ROLE ann
DROP TABLE hers
DROP ROLE ann
-- discard
DISCARD TEMP
SELECT * FROM p
SELECT count(*) FROM pg_class WHERE relpersistence = 't'
CREATE TEMP TABLE p (a int)
BEGIN
DISCARD ALL
ROLLBACK
DISCARD ALL
SELECT * FROM p
SELECT * FROM t
DROP TABLE t, perm
-- a second reading
CREATE TABLE pt (a int)
INSERT INTO pt VALUES (100)
DROP SCHEMA pg_temp
CREATE TEMP TABLE tt (a int)
CREATE TEMP SEQUENCE tq
CREATE TEMP VIEW tv AS SELECT 1 AS x
INSERT INTO tt VALUES (1)
GRANT USAGE ON SCHEMA pg_temp TO PUBLIC
DROP SCHEMA pg_temp
ALTER SCHEMA pg_temp OWNER TO CURRENT_USER
DROP TABLE pg_temp.nothing
DROP TABLE IF EXISTS pg_temp.nothing
DROP VIEW pg_temp.tv
SELECT * FROM tv
DROP SEQUENCE pg_temp.tq
SELECT nextval('tq')
CREATE VIEW vt AS SELECT a FROM pg_temp.tt
SELECT * FROM vt
SELECT relpersistence, relname FROM pg_class WHERE relname = 'vt'
CREATE VIEW vt2 AS SELECT x.a FROM PG_TEMP . tt x
SELECT * FROM vt2
CREATE VIEW public.vt3 AS SELECT a FROM tt
DROP TABLE pg_temp.tt CASCADE
SELECT * FROM tt
CREATE TABLE pg_temp_permanent (a int PRIMARY KEY)
SELECT relpersistence FROM pg_class WHERE relname = 'pg_temp_permanent'
CREATE TABLE pt2 (a int REFERENCES pg_temp_permanent)
CREATE VIEW pt3 AS SELECT a FROM pg_temp_permanent
SELECT relpersistence FROM pg_class WHERE relname = 'pt3'
DROP TABLE pg_temp_permanent CASCADE
DROP TABLE pt2
CREATE TABLE pg_temp_99.x (a int)
SET search_path = 'public, PG_TEMP'
SET search_path = public, pg_temp
CREATE TEMP TABLE pt (a int)
SELECT * FROM pt
SET search_path = "x pg_temp", public
SELECT count(*) FROM pt
RESET search_path
SELECT count(*) FROM pt
CREATE TEMP TABLE oc (a int) ON COMMIT DELETE ROWS
BEGIN READ ONLY
SELECT 1
COMMIT
INSERT INTO oc VALUES (1)
SELECT count(*) FROM oc
BEGIN
INSERT INTO oc VALUES (1)
SET TRANSACTION READ ONLY
COMMIT
SELECT count(*) FROM oc
SHOW transaction_read_only
BEGIN
CREATE TEMP TABLE od (a int) ON COMMIT DROP
SET TRANSACTION READ ONLY
COMMIT
SELECT * FROM od
CREATE TEMP TABLE fp (a int PRIMARY KEY) ON COMMIT DELETE ROWS
CREATE TEMP TABLE fc (a int REFERENCES fp)
DROP TABLE IF EXISTS fc
CREATE TEMP TABLE fc (a int REFERENCES fp) ON COMMIT DELETE ROWS
BEGIN
INSERT INTO fp VALUES (1)
INSERT INTO fc VALUES (1)
COMMIT
SELECT (SELECT count(*) FROM fp) + (SELECT count(*) FROM fc)
CREATE TEMP SEQUENCE shared
CREATE SEQUENCE public.shared
DROP SEQUENCE pg_temp.shared
CREATE TABLE uses (a bigint DEFAULT 1 + nextval('shared'))
CREATE TEMP SEQUENCE shared
DROP SEQUENCE pg_temp.shared
DROP TABLE uses
DROP SEQUENCE shared
DISCARD TEMP
DROP TABLE pt
