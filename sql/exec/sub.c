/* sub.c -- subqueries of expressions: run per outer row, or once and kept. */
#include <sql/exec/gather.h>
#include <sql/exec/state.h>
#include <sql/plan/sub.h>
#include <types/array.h>

static bool
start(struct sql_exec *x, struct sql_sub *s, struct sql_node *n)
{
	if (x->bare) /* what a helper borrows is complete (S10), or the helper leaves */
		return cat_error(x->err, "XX000", "a helper does not run a subquery");
	for (unsigned i = 0; i < s->narenas; i++)
		if (x->arena[s->arenas[i]]->used > 0)
			nam_arena_reset(x->arena[s->arenas[i]]);
	if (sql_open(x, n))
		return true;
	sql_close(x, n);
	return false;
}

static bool
scalar(struct sql_exec *x, struct sql_sub *s, struct nam_arena *arena, struct cat_datum *out)
{
	struct sql_node *n = s->root;
	uint64_t total = 0;
	int rows;
	*out = (struct cat_datum){ .null = true };
	if (!start(x, s, s->root))
		return false;
	while ((rows = sql_next(x, n)) > 0) {
		total += (unsigned)rows;
		if (total > 1) {
			cat_error(x->err, "21000",
			    "more than one row returned by a subquery used as an expression");
			rows = -1;
			break;
		}
		unsigned at = sql_sel(n)[0];
		const struct cat_vec *v = &n->out.col[0];
		out->type = v->type;
		out->null = v->null[at];
		if (!out->null)
			out->v = cat_value_copy(v->type, cat_vec_at(v, at), arena);
		if (!out->null && cat_type_is_str(v->type) && out->v.s.p == NULL) {
			sql_no_memory(x->err);
			rows = -1;
			break;
		}
	}
	sql_close(x, n);
	if (out->null)
		out->v.s = (struct cat_str){ "", 0 };
	return rows == 0;
}

/* ARRAY (SELECT ...) */
static bool
elements(struct sql_exec *x, struct sql_sub *s, struct nam_arena *arena, struct cat_datum *out)
{
	struct sql_node *n = s->root;
	struct cat_array_build all = { 0 };
	enum cat_type type = CAT_UNKNOWN;
	int rows;
	if (!start(x, s, s->root))
		return false;
	while ((rows = sql_next(x, n)) > 0) {
		const struct cat_vec *v = &n->out.col[0];
		const uint16_t *sel = sql_sel(n);
		bool ok = true;
		for (int r = 0; r < rows && ok; r++)
			ok = cat_array_push(
			    &all, v->type, cat_vec_at(v, sel[r]), v->null[sel[r]], arena, x->err);
		if (!ok || !sql_go_on(x)) {
			rows = -1;
			break;
		}
		type = v->type;
	}
	sql_close(x, n);
	*out = (struct cat_datum){ .type = cat_type_array_of(type) };
	return rows == 0 && cat_array_make(type, 1, all.v, all.null, all.n, &out->v.s, arena, x->err);
}

static bool
exists(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	int rows = start(x, s, s->root) ? sql_next(x, s->root) : -1;
	if (rows >= 0)
		*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = rows > 0 };
	sql_close(x, s->root);
	return rows >= 0;
}

/* The one value of a subquery that is none of ANY and ALL. */
static bool
value(struct sql_exec *x, struct sql_sub *s, struct nam_arena *arena, struct cat_datum *out)
{
	return s->kind == AST_SUB_SCALAR  ? scalar(x, s, arena, out)
	       : s->kind == AST_SUB_ARRAY ? elements(x, s, arena, out)
					  : exists(x, s, out);
}

/* ---- ANY and ALL, row by row ------------------------------------------------------------ */

/* Compares rows of a batch; end: the answer is known. */
static bool
compare(struct sql_exec *x, struct sql_sub *s, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    struct cat_datum *out, bool *end)
{
	struct cat_vec v;
	nam_arena_reset(x->arena[s->arena]);
	x->env.arena = x->arena[s->arena];
	if (!sql_eval(s->cmp, b, sel, n, &x->env, &v))
		return false;
	int64_t stop = s->kind == AST_SUB_ANY;
	for (unsigned j = 0; j < n && !*end; j++) {
		unsigned k = sel ? sel[j] : j;
		if (v.null[k])
			out->null = true;
		else if (v.i[k] == stop)
			*end = true;
	}
	if (*end)
		*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = stop };
	return true;
}

static bool
stream(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	bool end = false;
	int rows = -1;
	*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = s->kind == AST_SUB_ALL };
	if (!start(x, s, s->root))
		return false;
	while (!end && (rows = sql_next(x, s->root)) > 0)
		if (!compare(x, s, &s->root->out, s->root->sel, (unsigned)rows, out, &end)) {
			rows = -1;
			break;
		}
	sql_close(x, s->root);
	return rows >= 0;
}

/* ---- kept answers --------------------------------------------------------------------------- */

/* All rows into s->run->rs: the keys of a set, else the answer's columns. */
static bool
keep(struct sql_exec *x, struct sql_sub *s)
{
	struct nam_arena *arena = x->arena[s->arena + 1], *batch = x->arena[s->arena];
	struct sql_node *n = s->set ? s->set : s->root;
	/* the keys, then of a scalar the value, of EXISTS what the rest of its conditions reads */
	unsigned keys = s->keys, cols = !s->hashed ? n->out.cols : keys + s->extra;
	enum cat_type *type = nam_arena_take(arena, (cols + 1) * sizeof *type);
	struct cat_vec *key = nam_arena_take(arena, (cols + 1) * sizeof *key);
	const struct cat_vec **col = nam_arena_take(arena, (cols + 1) * sizeof *col);
	uint16_t *live = nam_arena_take(arena, CAT_BATCH * sizeof *live);
	uint32_t cap = 0;
	s->run->rs = NULL;
	s->run->any = s->run->nulls = false;
	if (type == NULL || key == NULL || col == NULL || live == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, n)) > 0) {
		const struct sql_batch *b = &n->out;
		const uint16_t *sel = sql_sel(n);
		unsigned m = 0;
		nam_arena_reset(batch);
		x->env.arena = batch;
		for (unsigned c = 0; c < cols; c++) {
			if (!s->hashed || c >= keys)
				key[c] = b->col[s->hashed ? c - keys : c];
			else if (!sql_eval(s->right[c], b, n->sel, (unsigned)rows, &x->env, &key[c]))
				return false;
			col[c] = &key[c];
			type[c] = s->hashed && c < keys ? s->right[c]->type : key[c].type;
		}
		if (s->run->rs == NULL && (s->run->rs = sql_rowset_open(arena, type, cols)) == NULL)
			return sql_no_memory(x->err);
		s->run->any = true;
		for (int r = 0; r < rows; r++) {
			bool null = false;
			for (unsigned c = 0; s->hashed && c < keys; c++)
				null |= key[c].null[sel[r]];
			s->run->nulls |= null;
			if (!null || (!s->two && keys > 1))
				live[m++] = sel[r];
		}
		uint32_t at = s->run->rs->rows;
		if (s->hashed && cap < at + m) {
			cap = cap ? cap : CAT_BATCH;
			while (cap < at + m)
				cap *= 2;
			uint64_t *more = nam_arena_take(arena, cap * sizeof *more);
			if (more == NULL)
				return sql_no_memory(x->err);
			if (at)
				memcpy(more, s->run->hash, at * sizeof *more);
			s->run->hash = more;
		}
		for (unsigned k = 0; s->hashed && k < m; k++)
			s->run->hash[at + k] = sql_hash_row(key, keys, live[k]);
		if (!sql_rowset_add(s->run->rs, col, live, m))
			return sql_no_memory(x->err);
	}
	return rows == 0;
}

static bool
index_(struct sql_exec *x, struct sql_sub *s)
{
	struct nam_arena *arena = x->arena[s->arena + 1];
	uint64_t size = 16;
	while (size < s->run->rs->rows)
		size *= 2;
	s->run->mask = size - 1;
	s->run->bucket = nam_arena_zero(arena, size * sizeof *s->run->bucket);
	s->run->chain = nam_arena_take(arena, (s->run->rs->rows + 1) * sizeof *s->run->chain);
	if (s->run->bucket == NULL || s->run->chain == NULL)
		return sql_no_memory(x->err);
	for (uint32_t r = s->run->rs->rows; r-- > 0;) {
		uint32_t *b = &s->run->bucket[s->run->hash[r] & s->run->mask];
		s->run->chain[r] = *b;
		*b = r + 1;
	}
	return true;
}

static bool
fill(struct sql_exec *x, struct sql_sub *s)
{
	if (s->run->done)
		return true;
	nam_arena_reset(x->arena[s->arena + 1]);
	struct sql_node *n = s->set ? s->set : s->root;
	if (!start(x, s, n))
		return false;
	bool ok = keep(x, s);
	sql_close(x, n);
	if (!ok || (s->hashed && s->run->rs != NULL && !index_(x, s)))
		return false;
	s->run->done = true;
	return true;
}

static bool
scan_kept(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	bool end = false;
	*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = s->kind == AST_SUB_ALL };
	for (uint32_t at = 0; s->run->rs != NULL && at < s->run->rs->rows && !end; at += CAT_BATCH) {
		uint32_t n = s->run->rs->rows - at < CAT_BATCH ? s->run->rs->rows - at : CAT_BATCH;
		struct sql_batch b = {
			.col = s->run->rs->chunk[at / CAT_BATCH], .cols = s->run->rs->cols, .n = n
		};
		if (!sql_go_on(x) || !compare(x, s, &b, NULL, n, out, &end))
			return false;
	}
	return true;
}

/* Rows with NULLs in several keys: true if one of them, or the outer row, may be equal. */
static bool
maybe(const struct sql_sub *s, const struct cat_vec *key)
{
	for (uint32_t r = 0; r < s->run->rs->rows; r++) {
		bool can = true;
		for (unsigned c = 0; c < s->keys && can; c++)
			can = key[c].null[0] || sql_rowset_null(s->run->rs, r, c) ||
			      cat_value_cmp(
				  key[c].type, cat_vec_at(&key[c], 0), sql_rowset_at(s->run->rs, r, c)) == 0;
		if (can)
			return true;
	}
	return false;
}

/* True if the set's row fulfils the other conditions of EXISTS. *ok: no error. */
static bool
passes(struct sql_exec *x, struct sql_sub *s, uint32_t row, bool *ok)
{
	uint16_t at = (uint16_t)(row % CAT_BATCH), keep;
	struct sql_batch b = {
		.col = s->run->rs->chunk[row / CAT_BATCH], .cols = s->run->rs->cols, .n = at + 1U
	};
	if (s->rest == NULL)
		return true;
	nam_arena_reset(x->arena[s->arena]);
	x->env.arena = x->arena[s->arena];
	int n = sql_filter(s->rest, &b, &at, 1, &x->env, &keep);
	*ok = n >= 0;
	return n == 1;
}

/* The row (+1) of the set whose keys are those of the outer row; 0 = none. */
static bool
find(struct sql_exec *x, struct sql_sub *s, uint32_t *row, bool *unsure)
{
	const struct sql_run_sub *kept = s->run;
	struct cat_datum d[SQL_SUB_KEYS];
	struct cat_vec key[SQL_SUB_KEYS];
	uint8_t null[SQL_SUB_KEYS];
	bool any_null = false;
	*row = 0;
	*unsure = false;
	if (!kept->any)
		return true;
	for (unsigned c = 0; c < s->keys; c++) {
		if (!sql_eval_one(s->left[c], &x->env, &d[c]))
			return false;
		null[c] = d[c].null;
		any_null |= d[c].null;
		key[c].type = s->left[c]->type;
		key[c].null = &null[c];
		if (cat_type_is_str(key[c].type))
			key[c].s = &d[c].v.s;
		else
			key[c].i = &d[c].v.i;
	}
	if (!any_null) {
		uint64_t h = sql_hash_row(key, s->keys, 0);
		uint32_t r = kept->bucket[h & kept->mask];
		bool ok = true;
		while (r != 0 && ok &&
		       (kept->hash[r - 1] != h || !sql_same_row(kept->rs, r - 1, 0, key, s->keys, 0) ||
			   !passes(x, s, r - 1, &ok)))
			r = kept->chain[r - 1];
		if (!ok)
			return false;
		*row = r;
	}
	if (*row == 0 && !s->two)
		*unsure = (any_null || kept->nulls) && (s->keys == 1 || maybe(s, key));
	return true;
}

/* The answer if no row of the set has the keys: all such answers are equal to the one for NULL
 * keys. */
static bool
find_none(struct sql_exec *x, struct sql_sub *s)
{
	for (unsigned i = 0; i < s->slots; i++)
		x->outer[s->slot[i]].null = true;
	return s->run->have_none = scalar(x, s, x->arena[s->arena + 2], &s->run->value);
}

static bool
probe(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	uint32_t row;
	bool unsure;
	if (!find(x, s, &row, &unsure))
		return false;
	if (s->kind != AST_SUB_SCALAR) {
		*out = (struct cat_datum){ .type = CAT_BOOL, .null = unsure, .v.i = (row != 0) != s->negate };
		return true;
	}
	if (row != 0) {
		out->null = sql_rowset_null(s->run->rs, row - 1, s->keys);
		out->v = sql_rowset_at(s->run->rs, row - 1, s->keys);
		return true;
	}
	if (!s->run->have_none && !find_none(x, s))
		return false;
	*out = s->run->value;
	return true;
}

/* After an error: if a row that the outer query does not need has made it, the subquery is run for
 * each outer row from now on. False if the error stands. */
bool
sql_sub_gives_up(struct sql_exec *x, struct sql_sub *s)
{
	if (s->set == NULL || s->early || memcmp(x->err->sqlstate, "22", 2) != 0)
		return false;
	*x->err = (struct cat_err){ 0 };
	return s->run->failed = true;
}

bool
sql_sub_ready(struct sql_exec *x, struct sql_sub *s)
{
	if (s->run->failed)
		return false;
	if (s->run->done || fill(x, s))
		return true;
	sql_sub_gives_up(x, s);
	return false;
}

/* True if it was time to find all answers at once, and that worked. */
static bool
all_at_once(struct sql_exec *x, struct sql_sub *s, bool *ok)
{
	*ok = true;
	if (s->set == NULL || s->run->failed)
		return false;
	if (s->run->done)
		return true;
	if (s->run->asked++ < s->patience)
		return false;
	*ok = sql_sub_ready(x, s) || s->run->failed;
	return !s->run->failed;
}

/* ---- all
 * -------------------------------------------------------------------------------------- */

bool
sql_sub_eval(void *arg, const struct sql_expr *e, const struct cat_datum *v, struct cat_datum *out)
{
	struct sql_exec *x = arg;
	struct sql_sub *s = e->sub;
	struct nam_arena *arena = x->env.arena;
	bool ok;
	for (unsigned i = 0; i < s->slots; i++)
		x->outer[s->slot[i]] = v[i];
	if (all_at_once(x, s, &ok)) {
		x->env.arena = arena;
		ok = probe(x, s, out);
		if (!ok && s->rest != NULL && sql_sub_gives_up(x, s))
			ok = value(x, s, arena, out);
	} else if (!ok) {
		return false;
	} else if (s->once && s->cmp != NULL) {
		ok = fill(x, s);
		x->env.arena = arena;
		if (ok)
			ok = s->hashed ? probe(x, s, out) : scan_kept(x, s, out);
	} else if (s->once) {
		ok = s->run->done;
		if (!ok)
			ok = s->run->done = value(x, s, x->arena[s->arena + 1], &s->run->value);
		*out = s->run->value;
	} else {
		ok = s->cmp == NULL ? value(x, s, arena, out) : stream(x, s, out);
	}
	x->env.arena = arena;
	out->type = e->type;
	return ok;
}

bool
sql_sub_start(struct sql_exec *x, struct sql_plan *p)
{
	x->plan = p;
	x->plan_arena = &p->arena;
	x->outer = p->outer;
	x->env.outer = p->outer;
	x->env.sub = sql_sub_eval;
	x->env.sub_arg = x;
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		if (s->run == NULL && (s->run = nam_arena_take(&p->arena, sizeof *s->run)) == NULL)
			return sql_no_memory(x->err);
		*s->run = (struct sql_run_sub){ 0 };
	}
	return true;
}

bool
sql_sub_prepare(struct sql_exec *x, struct sql_sub *s)
{
	struct nam_arena *arena = x->env.arena;
	bool ok = true;
	if (s->run->done || s->run->failed)
		return true;
	if (s->set != NULL)
		ok = sql_sub_ready(x, s) || s->run->failed;
	else if (s->cmp != NULL)
		ok = fill(x, s);
	else if (s->once) {
		x->env.arena = x->arena[s->arena];
		ok = s->run->done = value(x, s, x->arena[s->arena + 1], &s->run->value);
	}
	x->env.arena = arena;
	/* An outer row may need it or not: a helper that needs it, and does not find it, leaves. */
	if (ok && s->set != NULL && s->kind == AST_SUB_SCALAR && s->run->done && !s->run->have_none &&
	    !find_none(x, s)) {
		ok = memcmp(x->err->sqlstate, "22", 2) == 0;
		if (ok)
			*x->err = (struct cat_err){ 0 };
	}
	return ok;
}

void
sql_sub_borrow(struct sql_sub *s, const struct sql_sub *from)
{
	const struct sql_run_sub *f = from->run;
	*s->run = (struct sql_run_sub){ .done = true,
		.any = f->any,
		.nulls = f->nulls,
		.rs = f->rs,
		.bucket = f->bucket,
		.chain = f->chain,
		.hash = f->hash,
		.mask = f->mask,
		.have_none = f->have_none };
	if (f->have_none || (s->once && s->set == NULL && s->cmp == NULL))
		s->run->value = f->value;
}

bool
sql_sub_early(struct sql_exec *x, const struct sql_plan *p)
{
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		if (!s->early || s->run->done)
			continue;
		x->env.arena = x->arena[s->arena];
		if (s->cmp != NULL || s->set != NULL ? !fill(x, s)
						     : !value(x, s, x->arena[s->arena + 1], &s->run->value))
			return false;
		s->run->done = true;
	}
	return true;
}
