-- queries
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')
CREATE TABLE p (id int PRIMARY KEY, m mood NOT NULL DEFAULT 'ok', ms mood[])
INSERT INTO p VALUES (1, 'sad', '{ok}'), (2, 'happy', NULL), (3, DEFAULT, '{sad,happy}')
SELECT name, array_agg(label) AS labels FROM (SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS regtype, e.enumlabel AS label FROM pg_type t LEFT JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.oid = to_regtype('mood') ORDER BY e.enumsortorder) x GROUP BY name, oid, array_oid, regtype
SELECT type.typname AS name, n.nspname AS schema, array_agg(enum.enumlabel ORDER BY enum.enumsortorder) AS value FROM pg_enum AS enum JOIN pg_type AS type ON (type.oid = enum.enumtypid) JOIN pg_namespace n ON type.typnamespace = n.oid WHERE n.nspname = ANY (current_schemas(false)) GROUP BY type.OID, n.nspname, type.typname
SELECT t.typname AS name, e.enumlabel AS value, n.nspname AS namespace, d.description FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT OUTER JOIN pg_description d ON d.objoid = t.oid WHERE n.nspname = ANY ('{public}') ORDER BY e.enumsortorder
SELECT pg_catalog.pg_type.typname FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_type.typnamespace WHERE pg_catalog.pg_type.typname = 'mood' AND pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'
SELECT t.typname as name, pg_catalog.pg_type_is_visible(t.oid) as visible, n.nspname as schema, lbl_agg.labels AS labels FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT OUTER JOIN (SELECT e.enumtypid AS enumtypid, array_agg(CAST(e.enumlabel AS TEXT) ORDER BY e.enumsortorder) AS labels FROM pg_catalog.pg_enum e GROUP BY e.enumtypid) lbl_agg ON t.oid = lbl_agg.enumtypid WHERE t.typtype = 'e' ORDER BY n.nspname, t.typname
INSERT INTO p (id, m) VALUES (10, CAST('ok' AS "public"."mood")) RETURNING "public"."p"."m"::text
SELECT "public"."p"."id", "public"."p"."m"::text FROM "public"."p" WHERE ("public"."p"."m" = CAST('ok'::text AS "public"."mood") AND "public"."p"."m" <> 'sad') ORDER BY "public"."p"."id" ASC LIMIT 10 OFFSET 0
SELECT id FROM p WHERE m::text IN ('ok', 'nonsense') ORDER BY id
SELECT id FROM p WHERE m = ANY (ARRAY['ok', 'happy']::mood[]) ORDER BY id
SELECT id FROM p WHERE m <> ALL ('{ok,happy}'::mood[]) ORDER BY id
SELECT id FROM p WHERE CAST(m AS varchar) = 'ok' ORDER BY id
SELECT id FROM p WHERE lower(m::text) LIKE '%a%' ORDER BY id
SELECT id, CASE m WHEN 'sad' THEN 1 WHEN 'ok' THEN 2 ELSE 3 END AS w FROM p ORDER BY w, id
SELECT id FROM p ORDER BY CASE m WHEN 'happy' THEN 1 ELSE 2 END, id
SELECT m, count(*) FILTER (WHERE ms IS NOT NULL) FROM p GROUP BY m HAVING count(*) > 0 ORDER BY m
SELECT json_agg(m ORDER BY m), jsonb_agg(m ORDER BY m) FROM p
SELECT json_build_object('m', m), to_jsonb(m) FROM p ORDER BY id
SELECT json_object_agg(id, m ORDER BY id) FROM p
SELECT array_agg(DISTINCT m ORDER BY m) FROM p
SELECT mode() WITHIN GROUP (ORDER BY m) FROM p
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY m) FROM p
SELECT rank('ok'::mood) WITHIN GROUP (ORDER BY m) FROM p
SELECT m FROM p UNION SELECT 'happy'::mood ORDER BY 1
SELECT m FROM p UNION SELECT 'happy' ORDER BY 1
SELECT m FROM p EXCEPT SELECT 'happy' ORDER BY 1
SELECT m FROM p INTERSECT SELECT 'happy'
SELECT m::text FROM p UNION SELECT 'x' ORDER BY 1
SELECT * FROM (SELECT m FROM p UNION ALL SELECT NULL) x ORDER BY m
SELECT a.m FROM p a LEFT JOIN p b ON a.m = b.m AND b.id = 2 WHERE b.id IS NULL ORDER BY a.id
SELECT m FROM p a FULL JOIN (VALUES ('happy'::mood), ('ok')) v(m) USING (m) ORDER BY m
SELECT * FROM p NATURAL JOIN (SELECT 'sad'::mood AS m) x
SELECT (SELECT m FROM p WHERE id = 2), ARRAY(SELECT m FROM p ORDER BY id)
SELECT EXISTS (SELECT 1 FROM p WHERE m = 'happy'), 'happy' IN (SELECT m FROM p), 'x' IN (SELECT m FROM p)
SELECT 'happy' = ANY (SELECT m FROM p), 'ok'::mood > ALL (SELECT m FROM p WHERE id = 1)
SELECT x.m, y.m FROM p x, LATERAL (SELECT m FROM p WHERE p.m > x.m ORDER BY m LIMIT 1) y ORDER BY x.id
SELECT lead(m, 1, 'sad') OVER (ORDER BY id), ntile(2) OVER (ORDER BY m, id), max(m) OVER (ORDER BY id), dense_rank() OVER (ORDER BY m) FROM p ORDER BY id
SELECT m, count(*) FROM p GROUP BY GROUPING SETS ((m), ()) ORDER BY m, 2
SELECT generate_series(1, 2), unnest(ARRAY['ok', 'sad']::mood[])
SELECT u, o FROM unnest('{ok,sad}'::mood[]) WITH ORDINALITY AS t(u, o) ORDER BY u
SELECT ms[1], ms[2], ms[1:1], ms || 'ok'::mood, array_position(ms, 'sad'), ms @> '{sad}', ms && '{ok}'::mood[] FROM p WHERE id = 3
SELECT ms || '{ok}' FROM p WHERE id = 3
SELECT array_cat(ms, '{ok}'), array_remove(ms, 'sad'), array_replace(ms, 'sad', 'ok'), array_length(ms, 1), cardinality(ms) FROM p WHERE id = 3
SELECT ms FROM p WHERE ms = '{ok}'
SELECT ms FROM p ORDER BY ms DESC NULLS LAST
SELECT DISTINCT ON (m) m, id FROM p ORDER BY m, id DESC
SELECT m FROM p GROUP BY m ORDER BY min(id)
SELECT (m)::text || '!' FROM p ORDER BY id
SELECT m || '!' FROM p ORDER BY id
SELECT 'x' || m || 1 FROM p ORDER BY id
SELECT format('%s %I %L', m, m, m) FROM p ORDER BY id
SELECT concat_ws('-', m, ms) FROM p ORDER BY id
SELECT quote_literal(m) FROM p ORDER BY id
SELECT coalesce(nullif(m, 'ok'), 'happy') FROM p ORDER BY id
SELECT greatest(m, 'ok'), least('ok', m) FROM p ORDER BY id
SELECT m = 'ok' OR m = 'sad' AND NOT m = 'happy' FROM p ORDER BY id
SELECT (m, id) = ('ok', 3), (m, id) > ('ok', 1), (m, id) IN (('sad', 1), ('ok', 3)) FROM p ORDER BY id
SELECT * FROM p WHERE (m, id) IN (SELECT m, id FROM p WHERE id < 3) ORDER BY id
UPDATE p SET (m, ms) = ('sad', '{sad}') WHERE id = 10 RETURNING *
UPDATE p SET m = x.m FROM (VALUES (10, 'happy'::mood)) x(id, m) WHERE p.id = x.id RETURNING p.m
UPDATE p SET m = x.m FROM (VALUES (10, 'happy')) x(id, m) WHERE p.id = x.id
UPDATE p SET m = x.m::mood FROM (VALUES (10, 'ok')) x(id, m) WHERE p.id = x.id RETURNING p.m
UPDATE p SET m = DEFAULT WHERE id = 10 RETURNING m
INSERT INTO p VALUES (11, 'ok'), (12, NULL)
INSERT INTO p SELECT 20, 'sad' UNION ALL SELECT 21, 'ok'
INSERT INTO p SELECT 20, 'sad'::mood UNION ALL SELECT 21, 'ok'
INSERT INTO p (id, m) VALUES (30, 'ok'::mood), (31, 'sad')
INSERT INTO p (id, m) VALUES (32, 'ok'::text), (33, 'sad')
INSERT INTO p (id, m) VALUES (32, lower('OK')::mood)
INSERT INTO p (id, m) VALUES (34, lower('OK'))
WITH d AS (DELETE FROM p WHERE id >= 20 RETURNING m) SELECT m, count(*) FROM d GROUP BY m ORDER BY m
SELECT mood('ok')
SELECT 'ok'::mood::bytea
SELECT 'ok'::mood::json
SELECT '5'::mood
SELECT 5::int8::mood
SELECT 'ok'::mood::bool
SELECT enum_first('ok'::text)
SELECT enum_last('ok'::mood), enum_first(m) FROM p WHERE id = 1
SELECT enum_range(m, 'happy') FROM p ORDER BY id
SELECT count(*) FROM p WHERE m BETWEEN enum_first(NULL::mood) AND 'ok'
CREATE INDEX p_m ON p (m DESC NULLS LAST, id)
SELECT id FROM p WHERE m IN ('ok', 'sad') AND id > 0 ORDER BY m DESC, id
SELECT max(m) FROM p WHERE m < 'happy'
SELECT id FROM p WHERE m > $$sad$$ AND m <= 'happy' ORDER BY m, id
ALTER TYPE mood ADD VALUE 'between' AFTER 'ok'
INSERT INTO p (id, m) VALUES (50, 'between')
SELECT id FROM p WHERE m > 'ok' ORDER BY m, id
SELECT id, m FROM p WHERE m >= 'ok' AND m < 'happy' ORDER BY m, id
CREATE TABLE c (id int, m mood CHECK (m IN ('ok', 'sad')), CONSTRAINT both CHECK (m <> 'sad' OR id > 5))
INSERT INTO c VALUES (1, 'happy')
INSERT INTO c VALUES (1, 'sad')
INSERT INTO c VALUES (6, 'sad'), (1, 'ok'), (2, NULL)
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'c'::regclass ORDER BY 1
ALTER TABLE c ALTER COLUMN m TYPE text
ALTER TABLE c DROP CONSTRAINT c_m_check, DROP CONSTRAINT "both"
ALTER TABLE c ALTER COLUMN m TYPE text
SELECT * FROM c ORDER BY id
ALTER TABLE c ALTER COLUMN m TYPE mood USING m::mood
SELECT * FROM c ORDER BY m
CREATE TYPE mood2 AS ENUM ('ok', 'sad')
ALTER TABLE c ALTER COLUMN m TYPE mood2
ALTER TABLE c ALTER COLUMN m TYPE mood2 USING m::text::mood2
SELECT * FROM c ORDER BY m
SELECT c.m = p.m FROM c, p
SELECT c.m::text = p.m::text FROM c JOIN p ON c.id = p.id
DROP TYPE mood2
DROP TABLE c
DROP TYPE mood2
ALTER TABLE p RENAME COLUMN m TO feeling
SELECT feeling FROM p ORDER BY id LIMIT 1
TRUNCATE p
INSERT INTO p VALUES (1, 'between')
SELECT * FROM p
COMMENT ON TYPE mood IS 'a mood'
COMMENT ON TYPE nosuch IS 'a mood'
CREATE TABLE x AS TABLE p
SELECT * FROM x
SELECT * INTO y FROM p
DROP TYPE IF EXISTS mood RESTRICT
DROP TABLE p, x, y
DROP TYPE mood
CREATE TABLE z (m mood)
SELECT 'ok'::mood
-- keys
CREATE TYPE size AS ENUM ('s', 'm', 'l', 'xl')
CREATE TABLE a1 (k size[] PRIMARY KEY, v size UNIQUE)
INSERT INTO a1 VALUES ('{s,m}', 's'), ('{s}', 'm'), ('{}', NULL), ('{NULL,l}', NULL)
INSERT INTO a1 VALUES ('{s,m}', 'l')
INSERT INTO a1 VALUES ('{xl}', 's')
SELECT * FROM a1 ORDER BY k
SELECT v FROM a1 WHERE k = '{s}'
SELECT k, count(*) FROM a1 GROUP BY k ORDER BY k DESC
CREATE TABLE a2 AS SELECT i AS id, (enum_range(NULL::size))[1 + i % 4] AS s, CASE WHEN i % 3 = 0 THEN NULL ELSE (enum_range(NULL::size))[1 + i % 2] END AS t FROM generate_series(1, 5000) i
ALTER TABLE a2 ADD PRIMARY KEY (s, id)
CREATE INDEX a2_t ON a2 (t, s) INCLUDE (id)
ANALYZE a2
SELECT s, count(*) FROM a2 WHERE id < 100 GROUP BY s ORDER BY s
SELECT id FROM a2 WHERE s = 'm' AND id = 5
SELECT t, s, id FROM a2 WHERE t = 's' AND s > 'm' ORDER BY id LIMIT 3
SELECT t, s FROM a2 WHERE t = 'm' ORDER BY t, s LIMIT 2
SELECT max(t), min(t) FROM a2
SELECT count(*) FROM a2 WHERE t IS NULL OR t = 'm'
SELECT s, t FROM a2 WHERE (s, id) > ('l', 4990) ORDER BY s, id LIMIT 3
SELECT DISTINCT s, t FROM a2 ORDER BY s, t
SELECT x.s, y.t, count(*) FROM a2 x JOIN a2 y ON x.s = y.t AND x.id = y.id GROUP BY 1, 2 ORDER BY 1, 2
SELECT s, rank() OVER (PARTITION BY t ORDER BY s, id) FROM a2 WHERE id < 12 ORDER BY id
WITH m AS MATERIALIZED (SELECT s, t, id FROM a2 WHERE id < 20) SELECT s, count(*) FROM m WHERE t IN (SELECT s FROM m) GROUP BY s ORDER BY s
SELECT s FROM a2 WHERE id < 6 EXCEPT ALL SELECT t FROM a2 WHERE id < 3 ORDER BY 1
BEGIN
SELECT s FROM a2 WHERE id = 7 FOR UPDATE
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT s, t FROM a2 WHERE id < 8 ORDER BY s, id
COMMIT
FETCH 2 FROM c
FETCH ABSOLUTE 5 FROM c
FETCH PRIOR FROM c
CLOSE c
UPDATE a2 SET s = CASE s WHEN 's' THEN 'xl'::size WHEN 'xl' THEN 's' ELSE s END WHERE id > 4990
SELECT s, count(*) FROM a2 GROUP BY s ORDER BY s
INSERT INTO a2 VALUES (1, 'm', 'm') ON CONFLICT (s, id) DO UPDATE SET t = EXCLUDED.s RETURNING s, t
DELETE FROM a2 USING a1 WHERE a2.s = a1.v AND a2.id < 3 RETURNING a2.s
CREATE TABLE part (s size, n int DEFAULT 1, PRIMARY KEY (s)) 
INSERT INTO part SELECT DISTINCT s FROM a2
CREATE TABLE child (s size DEFAULT 'l' REFERENCES part ON DELETE SET DEFAULT ON UPDATE CASCADE, id int)
INSERT INTO child VALUES ('s', 1), ('m', 2), (DEFAULT, 3)
UPDATE part SET s = 'xl' WHERE s = 'x'
DELETE FROM part WHERE s = 'xl'
UPDATE part SET s = 'xl' WHERE s = 'm'
SELECT * FROM child ORDER BY id
DELETE FROM part WHERE s = 's'
SELECT * FROM child ORDER BY id
INSERT INTO child VALUES ('s', 4)
ALTER TYPE size ADD VALUE 'xs' BEFORE 's'
INSERT INTO part VALUES ('xs')
INSERT INTO child VALUES ('xs', 5)
SELECT s, id FROM child ORDER BY s, id
SELECT s FROM part ORDER BY s DESC
ALTER TABLE part ALTER COLUMN n TYPE size USING 'xs'
ALTER TABLE part ALTER COLUMN n DROP DEFAULT, ALTER COLUMN n TYPE size USING 'xs'
ALTER TABLE part ALTER COLUMN n SET DEFAULT 'xs', ADD COLUMN o size[] DEFAULT '{xs,xl}'
SELECT * FROM part ORDER BY s
ALTER TYPE size RENAME VALUE 'xs' TO 'tiny'
SELECT * FROM part ORDER BY s
INSERT INTO part (s) VALUES ('s') RETURNING *
ALTER TABLE part ADD COLUMN p size DEFAULT 'tiny'
ALTER TYPE size RENAME VALUE 'tiny' TO 'xxs'
SELECT * FROM part ORDER BY s
ALTER TABLE child DROP COLUMN s
ALTER TABLE part DROP COLUMN n, DROP COLUMN o, DROP COLUMN p
SELECT * FROM part ORDER BY s
CREATE TABLE ar (z size[] DEFAULT '{s,"m",NULL}'::size[], y size[] DEFAULT '{s}', w text DEFAULT '{s}', x text DEFAULT '{s}'::size[]::text, CHECK (z <> '{s}'::size[] AND NOT y @> '{l}'::size[]))
ALTER TYPE size RENAME VALUE 's' TO 'it''s "small"'
ALTER TYPE size RENAME VALUE 'l' TO '"'
INSERT INTO ar DEFAULT VALUES
SELECT * FROM ar
INSERT INTO ar (z) VALUES ('{"it''s \"small\""}')
INSERT INTO ar (y) VALUES ('{m,"\""}')
INSERT INTO ar (y) VALUES ('{m}')
ALTER TYPE size RENAME VALUE '"' TO 'l'
INSERT INTO ar (y) VALUES ('{l}')
DROP TABLE ar
DROP TABLE a1, a2, child, part
DROP TYPE size
