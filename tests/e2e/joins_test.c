/*
 * joins_test.c -- outer joins: rows without a partner, where conditions may go, merged columns. The
 * answers are PostgreSQL 15's.
 */
#include "golden.h"

static const struct golden joins[] = {
	{ "create table t1 (id int primary key, a int, s text)", "CREATE TABLE" },
	{ "create table t2 (id int primary key, t1 int, v text)", "CREATE TABLE" },
	{ "create table t3 (k int, t2 int, w text)", "CREATE TABLE" },
	{ "create table none (id int, t1 int)", "CREATE TABLE" },
	{ "insert into t1 values (1,10,'x'),(2,20,'y'),(3,null,'z'),(4,40,'u')", "INSERT 0 4" },
	{ "insert into t2 values (1,1,'p'),(2,1,'q'),(3,3,'r'),(5,9,'s'),(6,null,'n')", "INSERT 0 5" },
	{ "insert into t3 values (1,1,'A'),(2,5,'B'),(null,null,'C'),(4,3,'D')", "INSERT 0 4" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 order by 1,4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~; SELECT 5" },
	{ "select * from t1 left outer join t2 on t1.id = t2.t1 and t2.v <> 'p' order by 1,4",
	    "1|10|x|2|1|q;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 and t1.s <> 'x' order by 1,4",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 right join t2 on t1.id = t2.t1 order by 4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;3|~|z|3|3|r;~|~|~|5|9|s;~|~|~|6|~|n; SELECT 5" },
	{ "select * from t1 right join t2 on t1.id = t2.t1 and t1.s = 'z' order by 4",
	    "~|~|~|1|1|p;~|~|~|2|1|q;3|~|z|3|3|r;~|~|~|5|9|s;~|~|~|6|~|n; SELECT 5" },
	{ "select * from t1 right join t2 on t1.id = t2.t1 and t2.v > 'p' order by 4",
	    "~|~|~|1|1|p;1|10|x|2|1|q;3|~|z|3|3|r;~|~|~|5|9|s;~|~|~|6|~|n; SELECT 5" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 order by 1,4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~;~|~|~|5|9|s;~|~|~|6|~|n; SELECT "
	    "7" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 and t1.a > 15 order by 1,4",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~;~|~|~|1|1|p;~|~|~|2|1|q;~|~|~|3|3|r;~|~|~|5|"
	    "9|s;~|~|~|6|~|n; SELECT 9" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 and t2.v = 'r' and t1.s <> t2.v order by 1,4",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~;~|~|~|1|1|p;~|~|~|2|1|q;~|~|~|5|9|s;~|~|~|6|~"
	    "|n; SELECT 8" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where t2.v is null order by 1,4",
	    "2|20|y|~|~|~;4|40|u|~|~|~; SELECT 2" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where t2.v is not null order by 1,4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;3|~|z|3|3|r; SELECT 3" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where coalesce(t2.v, 'none') > 'm' order by 1,4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~; SELECT 5" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where t2.v = 'q' or t2.v is null order by 1,4",
	    "1|10|x|2|1|q;2|20|y|~|~|~;4|40|u|~|~|~; SELECT 3" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where t2.v = 'q' or t1.a = 20 order by 1,4",
	    "1|10|x|2|1|q;2|20|y|~|~|~; SELECT 2" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where not (t2.v = 'q') order by 1,4",
	    "1|10|x|1|1|p;3|~|z|3|3|r; SELECT 2" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where t1.id in (1, 2) order by 1,4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;2|20|y|~|~|~; SELECT 3" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where t1.id = 1 order by 4",
	    "1|10|x|1|1|p;1|10|x|2|1|q; SELECT 2" },
	{ "select * from t1 right join t2 on t1.id = t2.t1 where t1.id = 1 order by 4",
	    "1|10|x|1|1|p;1|10|x|2|1|q; SELECT 2" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 where t1.a = 10 order by 4",
	    "1|10|x|1|1|p;1|10|x|2|1|q; SELECT 2" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 where t2.v > 'p' order by 4",
	    "1|10|x|2|1|q;3|~|z|3|3|r;~|~|~|5|9|s; SELECT 3" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 where t1.a > 0 and t2.v > 'p' order by 4",
	    "1|10|x|2|1|q; SELECT 1" },
	{ "select * from t1 full join t2 on t1.id = t2.t1 where t1.a is null or t2.t1 is null order by 1,4",
	    "2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~;~|~|~|5|9|s;~|~|~|6|~|n; SELECT 5" },
	{ "select * from t1 left join t2 on t1.id < t2.t1 order by 1,4",
	    "1|10|x|3|3|r;1|10|x|5|9|s;2|20|y|3|3|r;2|20|y|5|9|s;3|~|z|5|9|s;4|40|u|5|9|s; SELECT 6" },
	{ "select * from t1 right join t2 on t1.id > t2.t1 order by 4,1",
	    "2|20|y|1|1|p;3|~|z|1|1|p;4|40|u|1|1|p;2|20|y|2|1|q;3|~|z|2|1|q;4|40|u|2|1|q;4|40|u|3|3|r;~|~|~|"
	    "5|9|s;~|~|~|6|~|n; SELECT 9" },
	{ "select * from t1 left join t2 on t1.id between t2.id and t2.t1 order by 1,4",
	    "1|10|x|1|1|p;2|20|y|~|~|~;3|~|z|3|3|r;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 and t1.s < t2.v order by 1,4",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on false order by 1",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 right join t2 on false order by 4",
	    "~|~|~|1|1|p;~|~|~|2|1|q;~|~|~|3|3|r;~|~|~|5|9|s;~|~|~|6|~|n; SELECT 5" },
	{ "select * from t1 full join t2 on false order by 1,4",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~;~|~|~|1|1|p;~|~|~|2|1|q;~|~|~|3|3|r;~|~|~|5|"
	    "9|s;~|~|~|6|~|n; SELECT 9" },
	{ "select * from t1 left join t2 on null order by 1",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on true where t1.id = 1 order by 4",
	    "1|10|x|1|1|p;1|10|x|2|1|q;1|10|x|3|3|r;1|10|x|5|9|s;1|10|x|6|~|n; SELECT 5" },
	{ "select * from t1 left join t2 on t1.id = 2 order by 1,4",
	    "1|10|x|~|~|~;2|20|y|1|1|p;2|20|y|2|1|q;2|20|y|3|3|r;2|20|y|5|9|s;2|20|y|6|~|n;3|~|z|~|~|~;4|40|"
	    "u|~|~|~; SELECT 8" },
	{ "select * from t1 left join t2 on t2.id = 2 order by 1",
	    "1|10|x|2|1|q;2|20|y|2|1|q;3|~|z|2|1|q;4|40|u|2|1|q; SELECT 4" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 where false", "SELECT 0" },
	{ "select count(*), count(t2.id), sum(t2.id) from t1 left join t2 on t1.id = t2.t1",
	    "5|3|6; SELECT 1" },
	{ "select t1.id, count(t2.id) from t1 left join t2 on t1.id = t2.t1 group by t1.id order by 1",
	    "1|2;2|0;3|1;4|0; SELECT 4" },
	{ "select t1.id, t1.s, count(t2.id) n from t1 left join t2 on t1.id = t2.t1 group by t1.id having "
	  "count(t2.id) = 0 order by 1",
	    "2|y|0;4|u|0; SELECT 2" },
	{ "select * from t1 left join t2 using (id) order by 1",
	    "1|10|x|1|p;2|20|y|1|q;3|~|z|3|r;4|40|u|~|~; SELECT 4" },
	{ "select * from t1 right join t2 using (id) order by 1",
	    "1|10|x|1|p;2|20|y|1|q;3|~|z|3|r;5|~|~|9|s;6|~|~|~|n; SELECT 5" },
	{ "select * from t1 full join t2 using (id) order by 1",
	    "1|10|x|1|p;2|20|y|1|q;3|~|z|3|r;4|40|u|~|~;5|~|~|9|s;6|~|~|~|n; SELECT 6" },
	{ "select id, t1.id, t2.id from t1 full join t2 using (id) order by id",
	    "ERROR 42702: ORDER BY \"id\" is ambiguous" },
	{ "select id, t1.id, t2.id from t1 right join t2 using (id) order by id",
	    "ERROR 42702: ORDER BY \"id\" is ambiguous" },
	{ "select id, count(*), min(s) from t1 full join t2 using (id) group by id order by id",
	    "1|1|x;2|1|y;3|1|z;4|1|u;5|1|~;6|1|~; SELECT 6" },
	{ "select id + 1 from t1 full join t2 using (id) where id > 3 order by id desc", "7;6;5; SELECT 3" },
	{ "select id from t1 full join t2 using (id) where t1.id is null order by 1", "5;6; SELECT 2" },
	{ "select t1.*, t2.* from t1 full join t2 using (id) order by t1.id, t2.id",
	    "1|10|x|1|1|p;2|20|y|2|1|q;3|~|z|3|3|r;4|40|u|~|~|~;~|~|~|5|9|s;~|~|~|6|~|n; SELECT 6" },
	{ "select * from t1 natural left join t2 order by 1",
	    "1|10|x|1|p;2|20|y|1|q;3|~|z|3|r;4|40|u|~|~; SELECT 4" },
	{ "select * from t1 natural full join t2 order by 1",
	    "1|10|x|1|p;2|20|y|1|q;3|~|z|3|r;4|40|u|~|~;5|~|~|9|s;6|~|~|~|n; SELECT 6" },
	{ "select * from t3 natural left join t1 order by 1,2,4",
	    "1|1|A|1|10|x;1|1|A|2|20|y;1|1|A|3|~|z;1|1|A|4|40|u;2|5|B|1|10|x;2|5|B|2|20|y;2|5|B|3|~|z;2|5|B|"
	    "4|40|u;4|3|D|1|10|x;4|3|D|2|20|y;4|3|D|3|~|z;4|3|D|4|40|u;~|~|C|1|10|x;~|~|C|2|20|y;~|~|C|3|~|z;"
	    "~|~|C|4|40|u; SELECT 16" },
	{ "select * from t1 left join t2 using (id) left join t3 on t3.k = id order by 1",
	    "1|10|x|1|p|1|1|A;2|20|y|1|q|2|5|B;3|~|z|3|r|~|~|~;4|40|u|~|~|4|3|D; SELECT 4" },
	{ "select * from t1 full join t2 using (id) full join none using (id) order by 1",
	    "1|10|x|1|p|~;2|20|y|1|q|~;3|~|z|3|r|~;4|40|u|~|~|~;5|~|~|9|s|~;6|~|~|~|n|~; SELECT 6" },
	{ "select id from t1 full join t2 using (id) full join none using (id) where id > 2 order by 1",
	    "3;4;5;6; SELECT 4" },
	{ "select * from t1 full join t2 using (id, s)",
	    "ERROR 42703: column \"s\" specified in USING clause does not exist in right table" },
	{ "select * from t1 left join t2 using (nope)",
	    "ERROR 42703: column \"nope\" specified in USING clause does not exist in left table" },
	{ "select * from t1 left join t2 using (id, id)",
	    "ERROR 42701: column name \"id\" appears more than once in USING clause" },
	{ "select id from t1 left join t2 on t1.id = t2.id",
	    "ERROR 42702: column reference \"id\" is ambiguous" },
	{ "select * from t1 left join (t2 left join t3 on t3.t2 = t2.id) on t2.t1 = t1.id order by 1,4,7",
	    "1|10|x|1|1|p|1|1|A;1|10|x|2|1|q|~|~|~;2|20|y|~|~|~|~|~|~;3|~|z|3|3|r|4|3|D;4|40|u|~|~|~|~|~|~; "
	    "SELECT 5" },
	{ "select * from (t1 left join t2 on t2.t1 = t1.id) left join t3 on t3.t2 = t2.id order by 1,4,7",
	    "1|10|x|1|1|p|1|1|A;1|10|x|2|1|q|~|~|~;2|20|y|~|~|~|~|~|~;3|~|z|3|3|r|4|3|D;4|40|u|~|~|~|~|~|~; "
	    "SELECT 5" },
	{ "select * from t1 left join (t2 join t3 on t3.t2 = t2.id) on t2.t1 = t1.id order by 1,4,7",
	    "1|10|x|1|1|p|1|1|A;2|20|y|~|~|~|~|~|~;3|~|z|3|3|r|4|3|D;4|40|u|~|~|~|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on t2.t1 = t1.id join t3 on t3.t2 = t2.id order by 1,4,7",
	    "1|10|x|1|1|p|1|1|A;3|~|z|3|3|r|4|3|D; SELECT 2" },
	{ "select * from t1 left join t2 on t2.t1 = t1.id right join t3 on t3.t2 = t2.id order by 7,1",
	    "1|10|x|1|1|p|1|1|A;~|~|~|~|~|~|2|5|B;3|~|z|3|3|r|4|3|D;~|~|~|~|~|~|~|~|C; SELECT 4" },
	{ "select * from t3 right join (t1 left join t2 on t2.t1 = t1.id) on t3.t2 = t2.id order by 4,7",
	    "1|1|A|1|10|x|1|1|p;~|~|~|1|10|x|2|1|q;~|~|~|2|20|y|~|~|~;4|3|D|3|~|z|3|3|r;~|~|~|4|40|u|~|~|~; "
	    "SELECT 5" },
	{ "select * from t3, t1 left join t2 on t2.t1 = t1.id where t3.k = t1.id order by 1,4,7",
	    "1|1|A|1|10|x|1|1|p;1|1|A|1|10|x|2|1|q;2|5|B|2|20|y|~|~|~;4|3|D|4|40|u|~|~|~; SELECT 4" },
	{ "select * from t3, t1 left join t2 on t2.t1 = t1.id where t3.t2 = t2.id order by 1,4,7",
	    "1|1|A|1|10|x|1|1|p;4|3|D|3|~|z|3|3|r; SELECT 2" },
	{ "select * from t1 left join t2 on t2.t1 = t1.id, t3 where t3.k = t1.id and t2.id is null order by "
	  "1,4,7",
	    "2|20|y|~|~|~|2|5|B;4|40|u|~|~|~|4|3|D; SELECT 2" },
	{ "select * from t1 cross join t3 left join t2 on t2.t1 = t1.id and t2.id = t3.t2 where t3.k > 1 "
	  "order by 1,4,7",
	    "1|10|x|2|5|B|~|~|~;1|10|x|4|3|D|~|~|~;2|20|y|2|5|B|~|~|~;2|20|y|4|3|D|~|~|~;3|~|z|2|5|B|~|~|~;3|"
	    "~|z|4|3|D|3|3|r;4|40|u|2|5|B|~|~|~;4|40|u|4|3|D|~|~|~; SELECT 8" },
	{ "select x.id, y.id, z.id from t1 x left join t1 y on y.id = x.id + 1 left join t1 z on z.id = y.id "
	  "+ 1 order by 1",
	    "1|2|3;2|3|4;3|4|~;4|~|~; SELECT 4" },
	{ "select x.id, y.id, z.id from t1 x full join t1 y on y.id = x.id + 1 full join t1 z on z.id = y.id "
	  "+ 1 order by 1,2,3",
	    "1|2|3;2|3|4;3|4|~;4|~|~;~|1|2;~|~|1; SELECT 6" },
	{ "select x.id, y.id, z.id from t1 x left join (t1 y right join t1 z on z.id = y.id + 2) on z.id = "
	  "x.id and y.id is null order by 1,2,3",
	    "1|~|1;2|~|2;3|~|~;4|~|~; SELECT 4" },
	{ "select * from t1 left join none on none.t1 = t1.id order by 1",
	    "1|10|x|~|~;2|20|y|~|~;3|~|z|~|~;4|40|u|~|~; SELECT 4" },
	{ "select * from none left join t1 on none.t1 = t1.id order by 1", "SELECT 0" },
	{ "select * from none right join t1 on none.t1 = t1.id order by 3",
	    "~|~|1|10|x;~|~|2|20|y;~|~|3|~|z;~|~|4|40|u; SELECT 4" },
	{ "select * from none full join t1 on none.t1 = t1.id order by 3",
	    "~|~|1|10|x;~|~|2|20|y;~|~|3|~|z;~|~|4|40|u; SELECT 4" },
	{ "select * from none full join none n2 on none.t1 = n2.id", "SELECT 0" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 and t1.s = 'x' and t2.v = 'q' and t1.a + t2.id = "
	  "12 order by 1",
	    "1|10|x|2|1|q;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on t1.id = t2.t1 and t1.s = t2.v order by 1",
	    "1|10|x|~|~|~;2|20|y|~|~|~;3|~|z|~|~|~;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t3 on t1.id = t3.k and t1.s = t3.w or t1.id = t3.t2 order by 1",
	    "1|10|x|1|1|A;2|20|y|~|~|~;3|~|z|4|3|D;4|40|u|~|~|~; SELECT 4" },
	{ "select * from t1 left join t2 on t1.id = t2.nope", "ERROR 42703: column t2.nope does not exist" },
	{ "select * from t1 left join t2 on t1.id",
	    "ERROR 42804: argument of JOIN/ON must be type boolean, not type integer" },
	{ "select * from t1 left join t2 on count(*) = 1",
	    "ERROR 42803: aggregate functions are not allowed in JOIN conditions" },
	{ "select t1.id from t1 left join t2 on t1.id / (t2.id - 1) = 1 order by 1",
	    "ERROR 22012: division by zero" },
	{ "select t1.id, t2.id from t1 left join t2 on t2.id > 1 and t1.id / (t2.id - 1) = 1 where t2.id is "
	  "null or t2.id = 2 order by 1,2",
	    "1|2; SELECT 1" },
	{ "select distinct t2.t1 is null from t1 full join t2 on t1.id = t2.t1 order by 1", "f;t; SELECT 2" },
	{ "select t1.id from t1 left join t2 on t1.id = t2.t1 order by t2.v nulls first, t1.id limit 3",
	    "2;4;1; SELECT 3" },
};

static const struct golden lookups[] = {
	{ "create table big (id int primary key, v text)", "CREATE TABLE" },
	{ "create table big2 (id int, j int, v text, primary key (id, j))", "CREATE TABLE" },
	{ "create table sm (k int, w int, l bigint)", "CREATE TABLE" },
	{ "insert into sm values (1,1,1),(5,2,5000000000),(null,3,null),(99999,4,4294967297)", "INSERT 0 4" },
	{ "insert into big select row_number() over (), 'x' from sm a, sm b, sm c, sm d, sm e",
	    "INSERT 0 1024" },
	{ "insert into big2 select id, id % 3, v from big", "INSERT 0 1024" },
	{ "select count(*) from big", "1024; SELECT 1" },
	{ "select count(*) from big2", "1024; SELECT 1" },
	{ "select count(*) from sm", "4; SELECT 1" },
	{ "select * from sm left join big on big.id = sm.k order by w",
	    "1|1|1|1|x;5|2|5000000000|5|x;~|3|~|~|~;99999|4|4294967297|~|~; SELECT 4" },
	{ "select * from sm left join big on big.id = sm.l order by w",
	    "1|1|1|1|x;5|2|5000000000|~|~;~|3|~|~|~;99999|4|4294967297|~|~; SELECT 4" },
	{ "select * from big right join sm on big.id = sm.k where v is null order by w",
	    "~|~|~|3|~;~|~|99999|4|4294967297; SELECT 2" },
	{ "select * from big right join sm on big.id = sm.k where coalesce(v, 'x') = 'x' order by w",
	    "1|x|1|1|1;5|x|5|2|5000000000;~|~|~|3|~;~|~|99999|4|4294967297; SELECT 4" },
	{ "select * from sm left join big2 on big2.id = sm.k and big2.j = sm.w order by w",
	    "1|1|1|1|1|x;5|2|5000000000|5|2|x;~|3|~|~|~|~;99999|4|4294967297|~|~|~; SELECT 4" },
	{ "select * from sm left join big on big.id = sm.k and big.v = 'x' order by w",
	    "1|1|1|1|x;5|2|5000000000|5|x;~|3|~|~|~;99999|4|4294967297|~|~; SELECT 4" },
	{ "select * from sm left join big on big.id = sm.k and sm.w = 1 order by w",
	    "1|1|1|1|x;5|2|5000000000|~|~;~|3|~|~|~;99999|4|4294967297|~|~; SELECT 4" },
	{ "select * from sm left join big on big.id = sm.k and big.id = sm.w order by w",
	    "1|1|1|1|x;5|2|5000000000|~|~;~|3|~|~|~;99999|4|4294967297|~|~; SELECT 4" },
	{ "select s.k, b.v, c.v from sm s left join big b on b.id = s.k left join big2 c on c.id = b.id and "
	  "c.j = 1 order by s.w",
	    "1|x|x;5|x|~;~|~|~;99999|~|~; SELECT 4" },
	{ "select w, count(b.id) from sm left join big b on b.id = k + 1 group by w order by w",
	    "1|1;2|1;3|0;4|0; SELECT 4" },
	{ "select count(*), count(big.id) from sm left join big on big.id = sm.k where sm.k > 100000",
	    "0|0; SELECT 1" },
};

static void
outer_joins(void **state)
{
	(void)state;
	golden_all(joins);
}

/* The tables were counted before, so a few rows look their partners up by key. */
static void
looked_up(void **state)
{
	(void)state;
	golden_all(lookups);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(outer_joins), cmocka_unit_test(looked_up) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
