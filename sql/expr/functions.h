/* functions.h -- for the rooms of sql: the table of functions, and a kernel's arguments. */
#ifndef NAM_SQL_EXPR_FUNCTIONS_H
#define NAM_SQL_EXPR_FUNCTIONS_H

#include <base/aside.h>
#include <sql/expr/expr.h>

enum { SQL_ARGS_INLINE = 4, SQL_FN_ARGS = 7 };

/* One argument of a batch: element k & mask belongs to row k, so mask 0 is one value for all
 * rows. */
struct sql_arg {
	union {
		const int64_t *i;
		const double *f;
		const struct cat_str *s;
	};
	const uint8_t *null;
	unsigned mask;
	bool str;
};

/* A call over rows. out->null is filled already for strict functions: null where any argument
 * is. */
struct sql_frame {
	const struct sql_expr *e;
	const struct sql_env *env;
	const struct sql_arg *arg;
	unsigned nargs;
	const uint16_t *sel; /* NULL = rows 0..n-1 */
	unsigned n;
	struct cat_vec *out;
};

/* A call for one row. */
struct sql_row {
	const struct sql_expr *e;
	const struct sql_env *env;
	const union cat_val *a;
	const bool *null; /* only functions with SQL_FN_NULLS see true here */
	unsigned n;
	union cat_val out;
	bool out_null; /* false on entry */
};

typedef bool sql_vec_fn(struct sql_frame *f);
typedef bool sql_row_fn(struct sql_row *r);

enum {
	SQL_FN_OP = 1,       /* an operator, found by its symbol */
	SQL_FN_NULLS = 2,    /* also called with NULL arguments */
	SQL_FN_VOLATILE = 4, /* not a constant even over constants */
	SQL_FN_EACH = 16,    /* called for every row, even over constants */
	SQL_FN_REGEX = 32,   /* the second argument is a pattern: prepared when it is a constant */
	SQL_FN_ANY = 8,      /* any number (>= nargs) of arguments of any type */
	SQL_FN_EXACT = 64,   /* with SQL_FN_ANY: exactly nargs */
	SQL_FN_TEXT1 = 128,  /* with SQL_FN_ANY: the first one is text */
};

struct sql_fn {
	const char *name;
	uint8_t flags, nargs;
	uint8_t arg[SQL_FN_ARGS]; /* enum cat_type */
	uint8_t ret;
	sql_vec_fn *vec; /* one of the two */
	sql_row_fn *row;
};

/* Tables, ended by a NULL name. */
extern const struct sql_fn sql_fns_number[], sql_fns_compare[], sql_fns_text[], sql_fns_date[],
    sql_fns_interval[], sql_fns_binary[], sql_fns_regex[], sql_fns_json[], sql_fns_jsonb[], sql_fns_trig[],
    sql_fns_array[];
extern const struct sql_fn sql_fns_string[], sql_fns_math[], sql_fns_session[], sql_fns_enum[],
    sql_fns_datefmt[], sql_fns_datescan[], sql_fns_numfmt[], sql_fns_when[], sql_fns_json_make[],
    sql_fns_system[], sql_fns_like[], sql_fns_encoding[], sql_fns_size[], sql_fns_json_turn[];
/* The t-th of them, NULL = there are no more. (resolve.c) */
const struct sql_fn *sql_fn_table(unsigned t);

/* Those with rules of their own: windows, sets. Ended by a NULL name. (signatures.c) */
struct sql_signature {
	const char *name, *result, *arguments, *type; /* type: func, agg, window */
};
extern const struct sql_signature sql_signatures[];

/* What decimal.c can do by integers: arithmetic of numerics, an integer as a numeric, and the tests
 * of two numerics. Not those: NONE, NO_TEST. */
enum sql_decimal_op { SQL_DECIMAL_NONE, SQL_DECIMAL_ADD, SQL_DECIMAL_SUB, SQL_DECIMAL_MUL, SQL_DECIMAL_INT };
enum sql_decimal_test {
	SQL_DECIMAL_NO_TEST,
	SQL_DECIMAL_EQ,
	SQL_DECIMAL_NE,
	SQL_DECIMAL_LT,
	SQL_DECIMAL_LE,
	SQL_DECIMAL_GT,
	SQL_DECIMAL_GE
};
enum sql_decimal_op sql_decimal_op_of(const struct sql_fn *fn);
enum sql_decimal_test sql_decimal_test_of(const struct sql_fn *fn);
bool sql_cast_is_int_to_numeric(const struct sql_fn *fn);
/* A test of two numerics, by integers. False, without an error: evaluate it as always. */
bool sql_decimal_compare(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, struct cat_vec *out);

/* system.c: the session answers r's call, which is about the catalog. */
bool sql_ask(struct sql_row *r, enum sql_ask what);
/* A value as the text that PostgreSQL's output function makes of it. */
struct cat_str sql_value_text(const struct sql_env *env, enum cat_type type, union cat_val v);
/* session.c: when the transaction began. */
int64_t sql_env_now(const struct sql_env *env);

/* ---- casts (cast.c) ------------------------------------------------------ */

enum sql_cast_level { SQL_CAST_IMPLICIT, SQL_CAST_ASSIGN, SQL_CAST_EXPLICIT };
/* True if there is a cast at that level. fn NULL = the bytes stay as they are. */
bool sql_cast_find(enum cat_type from, enum cat_type to, enum sql_cast_level level, const struct sql_fn **fn);
extern const struct sql_fn sql_fn_fit_assign, sql_fn_fit_explicit; /* typmod of the call */
extern const struct sql_fn sql_fn_greatest, sql_fn_least;

/* ---- building (expr.c) ------------------------------------------------------------ */

struct sql_expr *sql_expr_call(struct nam_arena *a, const struct sql_fn *fn, struct sql_expr **args,
    unsigned n, int position, struct cat_err *err);
/* cast.c: constant e, now or today as text, as that type; NULL without *err: it is none of
 * these. */
struct sql_expr *sql_moment(struct nam_arena *a, struct sql_expr *e, enum cat_type to, struct cat_err *err);
/* cast.c: an untyped constant or parameter as regclass or one of its kin. */
struct sql_expr *sql_reg_literal(
    struct nam_arena *a, struct sql_expr *e, enum cat_type to, struct cat_err *err);
/* The text that a call makes a regclass of; any other expression as it is. */
struct sql_expr *sql_reg_text(struct sql_expr *e);
/* e as type `to`; the caller knows that it may. NULL = bad literal. */
struct sql_expr *sql_expr_coerce(struct nam_arena *a, struct sql_expr *e, enum cat_type to,
    enum sql_cast_level level, struct cat_err *err);
struct sql_expr *sql_expr_fold(struct nam_arena *a, struct sql_expr *e);
/* The list of SQL_IN, when it is long and constant. */
bool sql_in_prepare(struct nam_arena *a, struct sql_expr *e);

/* Values to look for, sorted; null: there was a NULL among them. */
struct sql_list {
	unsigned n;
	bool null;
	union cat_val v[];
};
void sql_list_sort(struct sql_list *l, enum cat_type type);
bool sql_list_has(const struct sql_list *l, enum cat_type type, union cat_val x);

/* ---- the rarer aggregates (agg_more.c) ------------------------------------------- */

bool sql_agg_more_type(enum sql_agg_kind k, enum cat_type arg, enum cat_type *out);
bool sql_agg_more_add(enum sql_agg_kind kind, enum cat_type type, const struct cat_vec *arg,
    const uint16_t *sel, unsigned n, void *const *state, unsigned step, struct nam_arena *arena,
    struct cat_err *err);
bool sql_agg_more_result(enum sql_agg_kind kind, enum cat_type type, const void *state, struct cat_datum *out,
    struct nam_arena *arena, struct cat_err *err);

/* agg_pair.c: state is SQL_AGG_BYTES. */
bool sql_agg_pair_add(void *state, struct cat_str row, struct nam_arena *arena, struct cat_err *err);
void sql_agg_pair_result(enum sql_agg_kind kind, const void *state, struct cat_datum *out);

static inline bool
sql_oom(struct cat_err *err)
{
	return cat_error(err, "53200", "out of memory");
}

/* Text that grows in env's arena; begins as { .env = env }. */
struct sql_writer {
	char *p;
	size_t n, cap;
	const struct sql_env *env;
};
/* 53200; 54000 when it gets too long. */
bool sql_put(struct sql_writer *w, const char *p, size_t n);
static inline bool
sql_put_str(struct sql_writer *w, struct cat_str s)
{
	return sql_put(w, s.p, s.len);
}
static inline bool
sql_put_char(struct sql_writer *w, char c)
{
	return sql_put(w, &c, 1);
}
static inline struct cat_str
sql_written(const struct sql_writer *w)
{
	return (struct cat_str){ w->n ? w->p : "", (uint32_t)w->n };
}
/* func/string.c: as an identifier, in double quotes where it must be. */
bool sql_put_ident(struct sql_writer *w, struct cat_str s);
/* As a literal, NULL too. */
bool sql_put_literal(struct sql_writer *w, struct cat_str s);

/* A row's texts may be hundreds of megabytes. A function that works through them reports its
 * progress, so that a timeout ends it on the way. */
static inline bool
sql_work(const struct sql_env *env, uint64_t bytes)
{
	return env->go_on == NULL || env->go_on(env->go_on_arg, bytes);
}
/* env's host, on the session's own thread, which a kernel may have left (base/aside.h). */
static inline const struct sql_host *
sql_host_of(const struct sql_env *env)
{
	nam_aside_home();
	return env->host;
}
enum { SQL_WORK_PIECE = 64 << 10 }; /* less than this need not be told by itself */

/* func/interval.c: the instant at which a zone's clock shows that; +02 is east. */
bool sql_zone_instant(const struct sql_row *r, struct cat_str zone, int64_t local, int64_t *out);
/* func/binary.c: md5() of a text or bytes. */
bool sql_md5(struct sql_row *r);
/* func/like.c */
/* bytes: _ is one byte, not one character */
bool sql_like(struct cat_str text, struct cat_str pattern, bool bytes, bool *out, struct cat_err *err);
/* func/text.c: characters */
uint32_t sql_utf8_get(struct cat_str s, uint32_t *k); /* the one at byte *k; *k: behind it */
unsigned sql_utf8_put(uint32_t c, char *to);          /* bytes: 1 to 4 */
uint32_t sql_char_case(uint32_t c, bool upper);
enum sql_char_class {
	SQL_CHAR_ALPHA,
	SQL_CHAR_DIGIT,
	SQL_CHAR_ALNUM,
	SQL_CHAR_UPPER,
	SQL_CHAR_LOWER,
	SQL_CHAR_SPACE,
	SQL_CHAR_BLANK,
	SQL_CHAR_PUNCT,
	SQL_CHAR_PRINT,
	SQL_CHAR_GRAPH,
	SQL_CHAR_CNTRL,
	SQL_CHAR_XDIGIT,
	SQL_CHAR_WORD,
	SQL_CHAR_CLASSES
};
bool sql_char_is(uint32_t c, enum sql_char_class k);
/* func/regex_fn.c: a constant pattern of call e, compiled ahead; what is wrong with it is said when
 * a row asks. */
void sql_regex_prepare(struct nam_arena *a, struct sql_expr *e);
/* func/text.c: lower case or upper case. False if there is no memory. */
bool sql_case(struct cat_str s, bool upper, struct cat_str *out, struct nam_arena *arena);

/* The loops below are worth vectorizing, which gcc does not do at -O2. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif

/* ---- loops ---------------------------------------------------------------------------- */

#define SQL_EACH(f, ...)                                                                                     \
	do {                                                                                                 \
		if ((f)->sel == NULL) {                                                                      \
			for (unsigned k = 0; k < (f)->n; k++) {                                              \
				__VA_ARGS__;                                                                 \
			}                                                                                    \
		} else {                                                                                     \
			for (unsigned j_ = 0; j_ < (f)->n; j_++) {                                           \
				unsigned k = (f)->sel[j_];                                                   \
				__VA_ARGS__;                                                                 \
			}                                                                                    \
		}                                                                                            \
	} while (0)

/* x and y of every row, of type T, which member m of the arguments holds; a constant side stays in
 * a register. */
#define SQL_BINARY(f, T, m, ...)                                                                             \
	do {                                                                                                 \
		const T *pa_ = (f)->arg[0].m, *pb_ = (f)->arg[1].m;                                          \
		if ((f)->arg[1].mask == 0) {                                                                 \
			const T y = *pb_;                                                                    \
			SQL_EACH(f, const T x = pa_[k]; __VA_ARGS__);                                        \
		} else if ((f)->arg[0].mask == 0) {                                                          \
			const T x = *pa_;                                                                    \
			SQL_EACH(f, const T y = pb_[k]; __VA_ARGS__);                                        \
		} else {                                                                                     \
			SQL_EACH(f, const T x = pa_[k]; const T y = pb_[k]; __VA_ARGS__);                    \
		}                                                                                            \
	} while (0)

#endif
