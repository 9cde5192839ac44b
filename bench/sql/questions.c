/*
 * questions.c -- the questions of `namdb bench sql`. Every one has one answer (ties are broken,
 * NULLs placed) and means the same to both sides. depends.depends_on often names no package;
 * depends.package always does.
 */
#include "questions.h"

#define D_P "FROM depends d JOIN packages p ON p.package = d.package "
#define D_Q "FROM depends d JOIN packages q ON q.package = d.depends_on "
#define P_D_Q                                                                                                \
	"FROM depends d JOIN packages p ON p.package = d.package JOIN packages q ON q.package = "            \
	"d.depends_on "

static const char *const joins[] = {
	/* depends with packages twice */
	"SELECT p.section, count(*), sum(q.size_bytes) " P_D_Q "GROUP BY p.section ORDER BY p.section",
	"SELECT p.section, q.section, count(*) " P_D_Q
	"WHERE p.section <> q.section GROUP BY p.section, q.section",
	"SELECT p.package, count(*) AS n, sum(q.installed_kib) " P_D_Q
	"WHERE p.section = 'games' GROUP BY p.package ORDER BY n DESC, p.package LIMIT 20",
	"SELECT p.package, count(*), sum(q.size_bytes) AS total " P_D_Q
	"GROUP BY p.package ORDER BY total DESC NULLS LAST, p.package LIMIT 20",
	"SELECT q.package, count(*) AS n " P_D_Q "WHERE p.section = 'python' AND q.section = 'libs' GROUP BY "
	"q.package ORDER BY n DESC, q.package LIMIT 10",
	"SELECT p.architecture, q.architecture, d.kind, count(*), avg(q.installed_kib - "
	"p.installed_kib) " P_D_Q "GROUP BY p.architecture, q.architecture, d.kind ORDER BY 1, 2, 3",
	"SELECT p.section, count(*), max(q.size_bytes) " P_D_Q
	"WHERE q.package LIKE 'python3-%' AND p.installed_kib > q.installed_kib GROUP BY p.section",
	"SELECT DISTINCT p.section, q.section " P_D_Q "WHERE d.kind = 'suggests'",
	"SELECT p.source, count(*), count(DISTINCT q.section) " P_D_Q
	"WHERE p.source IS NOT NULL GROUP BY p.source HAVING count(*) > 200 ORDER BY 2 DESC, p.source",
	"SELECT p.priority, count(*), count(q.package), sum(q.size_bytes) FROM depends d JOIN packages p ON "
	"p.package = d.package LEFT JOIN packages q ON q.package = d.depends_on GROUP BY p.priority",
	/* once */
	"SELECT d.depends_on, count(*) AS n FROM depends d JOIN packages p ON p.package = d.depends_on WHERE "
	"d.kind "
	"= 'depends' GROUP BY d.depends_on ORDER BY n DESC, d.depends_on LIMIT 25",
	"SELECT q.section, d.kind, count(*) " D_Q "GROUP BY q.section, d.kind ORDER BY q.section, d.kind",
	"SELECT q.priority, count(*), avg(q.installed_kib), min(q.size_bytes), max(q.size_bytes) " D_Q
	"WHERE d.op = '>=' GROUP BY q.priority",
	"SELECT q.section, count(DISTINCT d.package) AS n " D_Q
	"WHERE d.kind = 'recommends' GROUP BY q.section ORDER BY n DESC, q.section LIMIT 10",
	"SELECT d.depends_on, count(*) AS n FROM depends d LEFT JOIN packages q ON q.package = d.depends_on "
	"WHERE "
	"q.package IS NULL GROUP BY d.depends_on ORDER BY n DESC, d.depends_on LIMIT 20",
	"SELECT p.section, count(*) FROM packages p LEFT JOIN depends d ON d.package = p.package WHERE d.id "
	"IS NULL "
	"GROUP BY p.section ORDER BY p.section",
	/* others */
	"SELECT count(*) " D_P "WHERE p.installed_kib > 100000",
	"SELECT c.region, count(*), max(t.lat), min(t.lat) FROM cities t JOIN countries c ON t.country = "
	"c.cca2 "
	"GROUP BY c.region ORDER BY c.region",
	"SELECT depends_on, count(*) FROM depends GROUP BY depends_on HAVING count(*) > 1000 ORDER BY 2 "
	"DESC, 1",
	"SELECT section, count(*), sum(size_bytes), avg(installed_kib), max(size_bytes) FROM packages GROUP "
	"BY "
	"section ORDER BY section",
};

static const char *const singles[] = {
	"SELECT kind, count(*) FROM depends GROUP BY kind ORDER BY kind",
	"SELECT package, count(*) AS n FROM depends GROUP BY package ORDER BY n DESC, package LIMIT 10",
	"SELECT count(*) FROM depends WHERE op IS NULL AND version IS NULL",
	"SELECT count(*) FROM depends WHERE depends_on LIKE 'lib%'",
	"SELECT count(DISTINCT depends_on) FROM depends",
	"SELECT priority, section, count(*) FROM packages GROUP BY priority, section",
	"SELECT package, size_bytes FROM packages ORDER BY size_bytes DESC NULLS LAST, package LIMIT 10",
	"SELECT count(*) FROM packages WHERE description LIKE '%library%'",
	"SELECT country, count(*) AS n FROM cities GROUP BY country ORDER BY n DESC, country LIMIT 20",
	"SELECT name, lat, lng FROM cities WHERE lat > 60 AND lng > 20 ORDER BY lat DESC, name, id LIMIT 50",
	"SELECT count(*), avg(lat), min(lng), max(lng) FROM cities WHERE lat BETWEEN -10 AND 10",
	"SELECT name, count(*) AS n FROM cities GROUP BY name HAVING count(*) > 20 ORDER BY n DESC, name",
};

enum { JOINS = sizeof joins / sizeof *joins, SINGLES = sizeof singles / sizeof *singles };
_Static_assert((int)JOINS <= BENCH_QUESTIONS_MAX && (int)SINGLES <= BENCH_QUESTIONS_MAX, "room for figures");

const struct bench_list bench_lists[BENCH_LISTS] = {
	{ "joins", "depends JOIN packages with a GROUP BY, and four others", joins, JOINS },
	{ "singles", "one table each", singles, SINGLES },
};
