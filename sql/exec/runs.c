/* runs.c -- ORDER BY by several workers: the sorted rows of each, merged. */
#include <sql/exec/gather.h>
#include <sql/exec/state.h>

#include <stdlib.h>

/* The rows of one worker, a batch at a time. */
struct run {
	struct sql_stream_in in; /* a helper's; run 0 has the rows that were sorted here */
	struct nam_arena mem;    /* of the batch */
	struct cat_vec *col;
	unsigned n, at;
};

struct sql_runs {
	struct run *run;
	unsigned runs;
	unsigned *heap, heaps; /* of runs with rows left; on top the one whose row is next */
	bool begun, used_up;   /* the top run's batch is at its end */
	uint32_t next;         /* of run 0 */
	unsigned from[CAT_BATCH], row[CAT_BATCH];
};

void
sql_runs_end(struct sql_runs *m)
{
	if (m == NULL)
		return;
	for (unsigned k = 0; k < m->runs && m->run != NULL; k++) {
		sql_stream_end(&m->run[k].in);
		nam_arena_fini(&m->run[k].mem);
		free(m->run[k].col);
	}
	free(m->run);
	free(m->heap);
	free(m);
}

nam_status
sql_runs_begin(struct olap_job *job, const struct olap_source *all, unsigned cols, struct sql_runs **out)
{
	nam_status st = NAM_OK;
	struct sql_runs *m = calloc(1, sizeof *m);
	if ((*out = m) == NULL)
		return NAM_NOMEM;
	m->runs = all->dirs + 1;
	m->run = calloc(m->runs, sizeof *m->run);
	m->heap = calloc(m->runs, sizeof *m->heap);
	if (m->run == NULL || m->heap == NULL)
		return NAM_NOMEM;
	for (unsigned k = 0; k < m->runs; k++) {
		nam_arena_init(&m->run[k].mem, 0);
		if ((m->run[k].col = calloc(cols + 1, sizeof *m->run[k].col)) == NULL)
			st = NAM_NOMEM;
	}
	struct olap_source one = { .width = all->width, .bits = all->bits, .dirs = 1 };
	for (unsigned k = 1; st == NAM_OK && k < m->runs; k++) {
		one.dir[0] = all->dir[k - 1];
		st = sql_stream_begin(job, &one, &m->run[k].in);
	}
	return st;
}

/* ---- batches of a run ----------------------------------------------------------------- */

static bool
own_batch(struct sql_exec *x, const struct sql_op_sort *s, struct sql_runs *m, struct run *r)
{
	const struct sql_rowset *rs = s->run->rs;
	r->n = rs->rows - m->next < CAT_BATCH ? rs->rows - m->next : CAT_BATCH;
	for (unsigned c = 0; r->n > 0 && c < s->cols; c++)
		if (!sql_rowset_gather(rs, c, s->run->perm + m->next, r->n, &r->col[c], &r->mem))
			return sql_no_memory(x->err);
	m->next += r->n;
	/* their texts lie anywhere: they come while others are compared */
	const struct cat_vec *key = &r->col[s->order[0].col];
	for (unsigned k = 0; cat_type_is_str(key->type) && k < r->n; k++)
		__builtin_prefetch(key->s[k].p);
	return true;
}

static bool
their_batch(struct sql_exec *x, struct sql_op_sort *s, struct run *r)
{
	struct sql_bytes_in c;
	int more = sql_gather_next_of(x, &s->node, &r->in, &c);
	r->n = 0;
	if (more <= 0)
		return more == 0;
	nam_status st = sql_rows_get(&c, r->col, NULL, s->cols, &r->n, &r->mem);
	if (st == NAM_NOMEM)
		return sql_no_memory(x->err);
	bool ok = st == NAM_OK;
	for (unsigned k = 0; ok && k < s->cols; k++)
		ok = r->col[k].type == s->type[k];
	return ok || cat_error(x->err, "XX001", "rows of another worker are damaged");
}

/* The next batch of run k: its n is 0 if there is none. */
static bool
next_batch(struct sql_exec *x, struct sql_op_sort *s, struct sql_runs *m, unsigned k)
{
	struct run *r = &m->run[k];
	r->at = 0;
	nam_arena_reset(&r->mem);
	return k == 0 ? own_batch(x, s, m, r) : their_batch(x, s, r);
}

/* ---- the merge ------------------------------------------------------------------------ */

static bool
before(const struct sql_op_sort *s, const struct sql_runs *m, unsigned a, unsigned b)
{
	const struct run *x = &m->run[a], *y = &m->run[b];
	int c = sql_sort_cmp_rows(x->col, x->at, y->col, y->at, s->order, s->orders);
	return c < 0 || (c == 0 && a < b);
}

/* The run at place i of the heap goes down to where it belongs. */
static void
sink(const struct sql_op_sort *s, struct sql_runs *m, unsigned i)
{
	unsigned run = m->heap[i];
	for (unsigned k; (k = 2 * i + 1) < m->heaps; i = k) {
		k += k + 1 < m->heaps && before(s, m, m->heap[k + 1], m->heap[k]);
		if (before(s, m, run, m->heap[k]))
			break;
		m->heap[i] = m->heap[k];
	}
	m->heap[i] = run;
}

static bool
begin(struct sql_exec *x, struct sql_op_sort *s, struct sql_runs *m)
{
	for (unsigned k = 0; k < m->runs; k++) {
		if (!next_batch(x, s, m, k))
			return false;
		if (m->run[k].n > 0)
			m->heap[m->heaps++] = k;
	}
	for (unsigned i = m->heaps / 2; i-- > 0;)
		sink(s, m, i);
	m->begun = true;
	return true;
}

/* The run on top gets its next batch, or leaves the heap. */
static bool
fill_top(struct sql_exec *x, struct sql_op_sort *s, struct sql_runs *m)
{
	unsigned k = m->heap[0];
	m->used_up = false;
	if (!next_batch(x, s, m, k))
		return false;
	if (m->run[k].n == 0)
		m->heap[0] = m->heap[--m->heaps];
	if (m->heaps > 0)
		sink(s, m, 0);
	return true;
}

/* Which rows are next: as many as there are before a run's batch ends. */
static unsigned
choose(const struct sql_op_sort *s, struct sql_runs *m)
{
	unsigned n = 0;
	while (n < CAT_BATCH && !m->used_up && m->heaps > 0) {
		struct run *r = &m->run[m->heap[0]];
		m->from[n] = m->heap[0];
		m->row[n++] = r->at++;
		m->used_up = r->at == r->n;
		if (!m->used_up && m->heaps > 1)
			sink(s, m, 0);
	}
	return n;
}

static void
collect(const struct sql_runs *m, unsigned c, unsigned n, struct cat_vec *out)
{
	bool str = cat_type_is_str(out->type);
	for (unsigned k = 0; k < n; k++) {
		const struct cat_vec *v = &m->run[m->from[k]].col[c];
		unsigned r = m->row[k];
		out->null[k] = v->null[r];
		if (str)
			out->s[k] = v->s[r];
		else
			out->i[k] = v->i[r]; /* also a double's bits */
	}
}

int
sql_runs_next(struct sql_exec *x, struct sql_op_sort *s, struct sql_runs *m)
{
	struct sql_node *n = &s->node;
	struct nam_arena *batch = x->arena[n->arena];
	if ((!m->begun && !begin(x, s, m)) || (m->used_up && !fill_top(x, s, m)))
		return -1;
	nam_arena_reset(batch);
	unsigned rows = choose(s, m);
	for (unsigned c = 0; rows > 0 && c < s->cols; c++) {
		if (!cat_vec_take(&n->out.col[c], s->type[c], rows, batch)) {
			sql_no_memory(x->err);
			return -1;
		}
		collect(m, c, rows, &n->out.col[c]);
	}
	n->out.n = rows;
	n->sel = NULL;
	n->nsel = rows;
	return (int)rows;
}
