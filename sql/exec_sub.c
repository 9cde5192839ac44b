/* exec_sub.c -- subqueries of expressions: run per row outside, or once and kept. */
#include "exec.h"
#include <sql/rowset.h>
#include <sql/sub.h>

static bool
start(struct sql_exec *x, struct sql_sub *s)
{
	for (unsigned i = 0; i < s->narenas; i++)
		if (x->arena[s->arenas[i]]->used > 0)
			nam_arena_reset(x->arena[s->arenas[i]]);
	if (sql_open(x, s->root))
		return true;
	sql_close(x, s->root);
	return false;
}

static bool
scalar(struct sql_exec *x, struct sql_sub *s, struct nam_arena *arena, struct cat_datum *out)
{
	struct sql_node *n = s->root;
	uint64_t total = 0;
	int rows;
	*out = (struct cat_datum){ .null = true };
	if (!start(x, s))
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

static bool
exists(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	int rows = start(x, s) ? sql_next(x, s->root) : -1;
	if (rows >= 0)
		*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = rows > 0 };
	sql_close(x, s->root);
	return rows >= 0;
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
	if (!start(x, s))
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

/* All rows into s->rs: the keys of a set, else the answer's columns. */
static bool
keep(struct sql_exec *x, struct sql_sub *s)
{
	struct nam_arena *arena = x->arena[s->arena + 1], *batch = x->arena[s->arena];
	unsigned cols = s->hashed ? s->keys : s->root->out.cols;
	enum cat_type *type = nam_arena_take(arena, (cols + 1) * sizeof *type);
	struct cat_vec *key = nam_arena_take(arena, (cols + 1) * sizeof *key);
	const struct cat_vec **col = nam_arena_take(arena, (cols + 1) * sizeof *col);
	uint16_t *live = nam_arena_take(arena, CAT_BATCH * sizeof *live);
	uint32_t cap = 0;
	s->rs = NULL;
	s->any = s->nulls = false;
	if (type == NULL || key == NULL || col == NULL || live == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, s->root)) > 0) {
		const struct sql_batch *b = &s->root->out;
		const uint16_t *sel = sql_sel(s->root);
		unsigned m = 0;
		nam_arena_reset(batch);
		x->env.arena = batch;
		for (unsigned c = 0; c < cols; c++) {
			if (!s->hashed)
				key[c] = b->col[c];
			else if (!sql_eval(s->right[c], b, s->root->sel, (unsigned)rows, &x->env, &key[c]))
				return false;
			col[c] = &key[c];
			type[c] = s->hashed ? s->right[c]->type : key[c].type;
		}
		if (s->rs == NULL && (s->rs = sql_rowset_open(arena, type, cols)) == NULL)
			return sql_no_memory(x->err);
		s->any = true;
		for (int r = 0; r < rows; r++) {
			bool null = false;
			for (unsigned c = 0; s->hashed && c < cols; c++)
				null |= key[c].null[sel[r]];
			s->nulls |= null;
			if (!null || (!s->two && cols > 1))
				live[m++] = sel[r];
		}
		uint32_t at = s->rs->rows;
		if (s->hashed && cap < at + m) {
			cap = cap ? cap : CAT_BATCH;
			while (cap < at + m)
				cap *= 2;
			uint64_t *more = nam_arena_take(arena, cap * sizeof *more);
			if (more == NULL)
				return sql_no_memory(x->err);
			if (at)
				memcpy(more, s->hash, at * sizeof *more);
			s->hash = more;
		}
		for (unsigned k = 0; s->hashed && k < m; k++)
			s->hash[at + k] = sql_hash_row(key, cols, live[k]);
		if (!sql_rowset_add(s->rs, col, live, m))
			return sql_no_memory(x->err);
	}
	return rows == 0;
}

static bool
index_(struct sql_exec *x, struct sql_sub *s)
{
	struct nam_arena *arena = x->arena[s->arena + 1];
	uint64_t size = 16;
	while (size < s->rs->rows)
		size *= 2;
	s->mask = size - 1;
	s->bucket = nam_arena_zero(arena, size * sizeof *s->bucket);
	s->chain = nam_arena_take(arena, (s->rs->rows + 1) * sizeof *s->chain);
	if (s->bucket == NULL || s->chain == NULL)
		return sql_no_memory(x->err);
	for (uint32_t r = s->rs->rows; r-- > 0;) {
		uint32_t *b = &s->bucket[s->hash[r] & s->mask];
		s->chain[r] = *b;
		*b = r + 1;
	}
	return true;
}

static bool
fill(struct sql_exec *x, struct sql_sub *s)
{
	if (s->done)
		return true;
	nam_arena_reset(x->arena[s->arena + 1]);
	bool ok = start(x, s);
	if (!ok)
		return false;
	ok = keep(x, s);
	sql_close(x, s->root);
	if (!ok || (s->hashed && s->rs != NULL && !index_(x, s)))
		return false;
	s->done = true;
	return true;
}

static bool
scan_kept(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	bool end = false;
	*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = s->kind == AST_SUB_ALL };
	for (uint32_t at = 0; s->rs != NULL && at < s->rs->rows && !end; at += CAT_BATCH) {
		uint32_t n = s->rs->rows - at < CAT_BATCH ? s->rs->rows - at : CAT_BATCH;
		struct sql_batch b = { .col = s->rs->chunk[at / CAT_BATCH], .cols = s->rs->cols, .n = n };
		if (!sql_go_on(x) || !compare(x, s, &b, NULL, n, out, &end))
			return false;
	}
	return true;
}

/* Rows with NULLs in several keys: could one of them, or the row outside, be equal for all we know? */
static bool
maybe(const struct sql_sub *s, const struct cat_vec *key)
{
	for (uint32_t r = 0; r < s->rs->rows; r++) {
		bool can = true;
		for (unsigned c = 0; c < s->keys && can; c++)
			can = key[c].null[0] || sql_rowset_null(s->rs, r, c) ||
			      cat_value_cmp(
				  key[c].type, cat_vec_at(&key[c], 0), sql_rowset_at(s->rs, r, c)) == 0;
		if (can)
			return true;
	}
	return false;
}

static bool
probe(struct sql_exec *x, struct sql_sub *s, struct cat_datum *out)
{
	struct cat_datum d[SQL_SUB_KEYS];
	struct cat_vec key[SQL_SUB_KEYS];
	uint8_t null[SQL_SUB_KEYS];
	bool any_null = false, hit = false;
	*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = s->negate };
	if (!s->any)
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
		for (uint32_t r = s->bucket[h & s->mask]; r != 0 && !hit; r = s->chain[r - 1])
			hit = s->hash[r - 1] == h && sql_same_row(s->rs, r - 1, 0, key, s->keys, 0);
	}
	out->v.i = hit != s->negate;
	if (hit || s->two)
		return true;
	if (s->keys == 1)
		out->null = any_null || s->nulls;
	else
		out->null = (any_null || s->nulls) && maybe(s, key);
	return true;
}

/* ---- all -------------------------------------------------------------------------------------- */

bool
sql_sub_eval(void *arg, const struct sql_expr *e, const struct cat_datum *v, struct cat_datum *out)
{
	struct sql_exec *x = arg;
	struct sql_sub *s = e->sub;
	struct nam_arena *arena = x->env.arena;
	bool ok;
	for (unsigned i = 0; i < s->slots; i++)
		x->outer[s->slot[i]] = v[i];
	if (s->kind == AST_SUB_SCALAR || (s->kind == AST_SUB_EXISTS && !s->hashed)) {
		ok = true;
		if (!s->done) {
			struct nam_arena *to = s->once ? x->arena[s->arena + 1] : arena;
			ok = s->kind == AST_SUB_SCALAR ? scalar(x, s, to, out) : exists(x, s, out);
			if (ok && s->once) {
				s->value = *out;
				s->done = true;
			}
		} else {
			*out = s->value;
		}
	} else if (!s->once) {
		ok = stream(x, s, out);
	} else {
		ok = fill(x, s);
		x->env.arena = arena;
		if (ok)
			ok = s->hashed ? probe(x, s, out) : scan_kept(x, s, out);
	}
	x->env.arena = arena;
	out->type = e->type;
	return ok;
}

void
sql_sub_start(struct sql_exec *x, const struct sql_plan *p)
{
	x->outer = p->outer;
	x->env.outer = p->outer;
	x->env.sub = sql_sub_eval;
	x->env.sub_arg = x;
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next)
		s->done = false;
}

bool
sql_sub_early(struct sql_exec *x, const struct sql_plan *p)
{
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		if (!s->early || s->done)
			continue;
		x->env.arena = x->arena[s->arena];
		bool ok;
		if (s->kind == AST_SUB_SCALAR || (s->kind == AST_SUB_EXISTS && !s->hashed)) {
			ok = s->kind == AST_SUB_SCALAR ? scalar(x, s, x->arena[s->arena + 1], &s->value)
						       : exists(x, s, &s->value);
			s->done = ok;
		} else {
			ok = fill(x, s);
		}
		if (!ok)
			return false;
	}
	return true;
}
