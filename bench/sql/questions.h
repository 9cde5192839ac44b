/* questions.h -- the questions of `namdb bench sql`, in lists. Inside of bench. */
#ifndef NAM_BENCH_SQL_QUESTIONS_H
#define NAM_BENCH_SQL_QUESTIONS_H

struct bench_list {
	const char *name, *what;
	const char *const *sql;
	unsigned n;
};
enum { BENCH_LISTS = 2, BENCH_QUESTIONS_MAX = 32 };
/* "joins": the twenty that are judged; "singles": one table each, reported beside them. */
extern const struct bench_list bench_lists[BENCH_LISTS];

#endif
