-- tables
CREATE TABLE jobs (id int PRIMARY KEY, state text, n int DEFAULT 0)
CREATE TABLE done (id int PRIMARY KEY, state text, at int)
CREATE TABLE log (k serial, what text)
CREATE TABLE par (id int PRIMARY KEY, x int)
CREATE TABLE chi (id int PRIMARY KEY, p int REFERENCES par ON DELETE CASCADE)
INSERT INTO jobs SELECT i, CASE WHEN i % 3 = 0 THEN 'new' ELSE 'old' END, i FROM generate_series(1, 30) i
-- rows move
WITH d AS (DELETE FROM jobs WHERE id <= 3 RETURNING *) SELECT * FROM d ORDER BY id
SELECT count(*) FROM jobs
WITH d AS (DELETE FROM jobs WHERE id BETWEEN 4 AND 6 RETURNING id, state) INSERT INTO done SELECT id, state, 1 FROM d
SELECT * FROM done
WITH d AS (DELETE FROM jobs WHERE id BETWEEN 7 AND 9 RETURNING id, state) INSERT INTO done SELECT id, state, 2 FROM d RETURNING id, at
WITH u AS (UPDATE jobs SET n = n + 100 WHERE state = 'new' RETURNING id, n) SELECT count(*), sum(n), min(id) FROM u
WITH i AS (INSERT INTO jobs VALUES (101, 'a', 1), (102, 'b', 2) RETURNING id) SELECT id * 2 AS twice FROM i ORDER BY 1
WITH i AS (INSERT INTO jobs VALUES (103, 'a', 1) RETURNING *) INSERT INTO log (what) SELECT state || id FROM i RETURNING what
WITH i AS (INSERT INTO jobs VALUES (104, 'a', 1)) SELECT 1 AS one
SELECT id FROM jobs WHERE id > 100 ORDER BY id
WITH i AS (INSERT INTO jobs VALUES (105, 'a', 1)) DELETE FROM done WHERE id = 4
SELECT count(*) FROM jobs WHERE id = 105
-- names of columns
WITH d (a, b) AS (DELETE FROM jobs WHERE id = 101 RETURNING id, state) SELECT b, a FROM d
WITH d (a, b, c) AS (DELETE FROM jobs WHERE id = 102 RETURNING id, state) SELECT b, a FROM d
WITH d AS (DELETE FROM jobs WHERE id = 102 RETURNING id AS a, state AS a) SELECT * FROM d
WITH d AS (DELETE FROM jobs WHERE id = 103 RETURNING id, n * 2 AS m) SELECT d.m + d.id AS s FROM d
-- several steps
WITH d AS (DELETE FROM done WHERE at = 2 RETURNING id), l AS (INSERT INTO log (what) SELECT 'gone ' || id FROM d RETURNING what) SELECT (SELECT count(*) FROM d) AS d, (SELECT count(*) FROM l) AS l
SELECT what FROM log ORDER BY k
WITH q AS (SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 2), u AS (UPDATE jobs SET state = 'taken' FROM q WHERE jobs.id = q.id RETURNING jobs.id) SELECT * FROM u ORDER BY id
WITH q AS (SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED), u AS (UPDATE jobs SET state = 'taken' WHERE id IN (SELECT id FROM q) RETURNING id) SELECT u.id, q.id FROM u JOIN q ON u.id = q.id ORDER BY 1
WITH up AS (UPDATE done SET at = 7 WHERE id = 5 RETURNING id) INSERT INTO done SELECT 5, 'x', 7 WHERE NOT EXISTS (SELECT 1 FROM up)
WITH up AS (UPDATE done SET at = 7 WHERE id = 55 RETURNING id) INSERT INTO done SELECT 55, 'x', 7 WHERE NOT EXISTS (SELECT 1 FROM up)
SELECT * FROM done WHERE id IN (5, 55)
WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5), l AS (INSERT INTO log (what) SELECT 'r' || i FROM r RETURNING what) SELECT string_agg(what, ',' ORDER BY what) FROM l
WITH RECURSIVE r AS (SELECT 201 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 205) INSERT INTO jobs SELECT i, 'rec' FROM r
WITH a AS (INSERT INTO log (what) VALUES ('one') RETURNING k), b AS (INSERT INTO log (what) VALUES ('two') RETURNING k) SELECT b.k - a.k FROM a, b
WITH x AS (SELECT 1 AS v), y AS (UPDATE done SET at = v FROM x RETURNING at), z AS (SELECT count(*) AS c FROM y) SELECT * FROM x, z
WITH d AS (DELETE FROM jobs WHERE id BETWEEN 201 AND 203 RETURNING *), e AS (SELECT * FROM d WHERE id > 201) INSERT INTO jobs SELECT id, 'back', n FROM e
SELECT id, state FROM jobs WHERE id > 200 ORDER BY id
-- nothing is left behind an error
WITH d AS (DELETE FROM jobs WHERE id = 10 RETURNING id) SELECT 1 / (id - 10) FROM d
SELECT count(*) FROM jobs WHERE id = 10
WITH d AS (DELETE FROM jobs WHERE id = 10 RETURNING id) INSERT INTO done SELECT 5, 'dup', 1 FROM d
SELECT count(*) FROM jobs WHERE id = 10
WITH i AS (INSERT INTO jobs VALUES (10, 'dup', 1) RETURNING id) SELECT * FROM i
BEGIN
WITH d AS (DELETE FROM jobs WHERE id = 10 RETURNING id) INSERT INTO log (what) SELECT 'del ' || id FROM d
SELECT count(*) FROM jobs WHERE id = 10
ROLLBACK
SELECT count(*) FROM jobs WHERE id = 10
BEGIN
SAVEPOINT a
WITH d AS (DELETE FROM jobs WHERE id = 10 RETURNING id) INSERT INTO done SELECT 5, 'dup', 1 FROM d
ROLLBACK TO a
SELECT count(*) FROM jobs WHERE id = 10
COMMIT
BEGIN READ ONLY
WITH d AS (DELETE FROM jobs WHERE id = 10 RETURNING id) SELECT * FROM d
ROLLBACK
-- foreign keys
WITH p AS (INSERT INTO par VALUES (1, 1), (2, 2) RETURNING id) INSERT INTO chi SELECT id + 10, id FROM p
SELECT * FROM chi ORDER BY id
WITH p AS (INSERT INTO par VALUES (3, 1) RETURNING id) INSERT INTO chi SELECT 20, id + 1 FROM p
SELECT count(*) FROM par
-- prepared
PREPARE mv (int, text) AS WITH d AS (DELETE FROM jobs WHERE id = $1 RETURNING id, state) INSERT INTO done SELECT id, $2, 9 FROM d RETURNING *
EXECUTE mv (11, 'moved')
EXECUTE mv (12, 'moved')
EXECUTE mv (12, 'moved')
DEALLOCATE mv
PREPARE only AS WITH i AS (INSERT INTO log (what) VALUES ($1) RETURNING what) SELECT 1 AS one WHERE $2
EXECUTE only ('p', true)
EXECUTE only ('p', false)
DEALLOCATE only
SELECT count(*) FROM log WHERE what = 'p'
-- what is refused
WITH i AS (INSERT INTO log (what) VALUES ('no')) SELECT * FROM i
SELECT * FROM (WITH i AS (INSERT INTO log (what) VALUES ('no') RETURNING *) SELECT * FROM i) q
SELECT (WITH i AS (DELETE FROM log RETURNING *) SELECT count(*) FROM i)
WITH a AS (WITH i AS (INSERT INTO log (what) VALUES ('no') RETURNING *) SELECT * FROM i) SELECT * FROM a
WITH i AS (INSERT INTO nothere VALUES (1) RETURNING *) SELECT * FROM i
WITH i AS (INSERT INTO log (what) VALUES ('no') RETURNING nocol) SELECT * FROM i
WITH a AS (SELECT 1), a AS (DELETE FROM log RETURNING k) SELECT 1
WITH i AS (INSERT INTO log (what) SELECT j FROM j RETURNING *), j AS (SELECT 1 AS j) SELECT * FROM i
CREATE VIEW vw AS WITH i AS (INSERT INTO log (what) VALUES ('no') RETURNING *) SELECT * FROM i
DECLARE cu CURSOR FOR WITH i AS (INSERT INTO log (what) VALUES ('no') RETURNING *) SELECT * FROM i
SELECT count(*) FROM log WHERE what = 'no'
-- roles
CREATE ROLE wc
GRANT SELECT, INSERT ON log TO wc
SET ROLE wc
WITH d AS (DELETE FROM log RETURNING k) SELECT count(*) FROM d
WITH d AS (DELETE FROM jobs RETURNING id) SELECT count(*) FROM d
RESET ROLE
DROP OWNED BY wc
DROP ROLE wc
-- at the end
SELECT * FROM jobs ORDER BY id
SELECT * FROM done ORDER BY id
