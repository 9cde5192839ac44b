-- long constants
SELECT count(*) FROM regexp_split_to_table(repeat('a,', 100000), ',')
SELECT count(*), min(m), max(m) FROM regexp_matches(repeat('a,', 100000), 'a', 'g') m
SELECT array_length(regexp_split_to_array(repeat('a,', 100000), ','), 1)
SELECT regexp_match(repeat('a,', 300000) || 'b', 'b'), regexp_match(repeat('a,', 300000) || 'b', 'c')
SELECT length(regexp_replace(repeat('a,', 300000), 'a', 'bb', 'g')), repeat('a,', 300000) ~ 'b', repeat('a,', 300000) !~ 'b', regexp_count(repeat('a,', 300000), ',')
SELECT length(substring(repeat('a,', 300000) from '.*')), regexp_instr(repeat('a,', 300000) || 'b', 'b'), length(substring(repeat('a,', 300000) similar '%#",%#"' escape '#'))
CREATE TABLE long_parts (id serial, v text DEFAULT array_length(regexp_split_to_array(repeat('a,', 90000), ','), 1)::text)
CREATE TABLE long_check (a int CHECK (array_length(regexp_split_to_array(repeat('a,', 90000), ','), 1) = 90001))
INSERT INTO long_check VALUES (1)
DROP TABLE long_check
INSERT INTO long_parts (v) SELECT regexp_split_to_table(repeat('a,', 100000), ',')
INSERT INTO long_parts (v) SELECT x[1] FROM regexp_matches(repeat('b,', 100000), 'b', 'g') x
INSERT INTO long_parts DEFAULT VALUES
SELECT v, count(*) FROM long_parts GROUP BY v ORDER BY v
SELECT * FROM (VALUES ('a'), ('b'), ('c')) x(v) WHERE v = ANY (regexp_split_to_array(repeat('b,', 50000) || 'a', ',')) ORDER BY v
PREPARE long_ones(text) AS SELECT count(*) FROM regexp_split_to_table(repeat($1, 100000), ',')
EXECUTE long_ones('x,')
EXECUTE long_ones(',')
DEALLOCATE long_ones
DROP TABLE long_parts
-- SIMILAR in three parts
SELECT length(substring(repeat('a', 200000) similar '%#"b#"%' escape '#'))
SELECT length(substring(repeat('ab', 100000) similar '(a|b)*#"(ab)*#"%b' escape '#')), length(substring(repeat('ab', 100000) similar 'a%#"%b%#"%b' escape '#')), length(substring(repeat('ab', 100000) similar '%#"%#"%' escape '#'))
SELECT substring('abcdefg' similar 'a#"(b_d)#"%' escape '#'), substring('abcdefg' from 'a#"%#"x|g' for '#'), substring('abcdefg' similar '%#"%' escape '#'), substring('foobar' similar '#"(o|f)*#"%' escape '#')
SELECT substring('abc' similar '%#"#"%#"' escape '#')
SELECT substring('abc' similar 'a#"(b#"c)' escape '##')
SELECT 'abc' SIMILAR TO 'a#"b#"c' ESCAPE '#', 'abc' SIMILAR TO 'a\"_\"c', 'ab' SIMILAR TO 'a#"_#"c' ESCAPE '#'
SELECT 'abc' SIMILAR TO 'a#"b#"c#"' ESCAPE '#'
SELECT 'a]c' SIMILAR TO 'a[]x]c', 'a]c' SIMILAR TO 'a[^]x]c', 'a^c' SIMILAR TO 'a[^^]c', 'a%c' SIMILAR TO 'a[%]c', 'a%' SIMILAR TO 'a[%x]+', 'ab' SIMILAR TO 'a[[:alpha:]%]'
SELECT substring('a' similar '#d|[a#]_#".|^[a#][^b]|_[a#]#"[^b]b_%##|#%#".|##a' escape '#'), substring('' similar '^_b#a|[a#]#"[ab]b#"|' escape '#')
SELECT 'a' SIMILAR TO 'a\', 'a\' SIMILAR TO 'a\', 'a' SIMILAR TO 'a#' ESCAPE '#', substring('ab' similar 'a#"_#"#' escape '#')
