/*
 * join.c -- joins of two relations: partitioned in remote memory, then partition by partition by
 * the participants that are free; or by a table that each participant has.
 *
 * A task is a partition, or a part of one whose larger side is too large for one participant: then
 * each part makes the table of the smaller side, and probes it with some windows of the other. If
 * tuples of the smaller side are wanted for having no partner (or one), a task of its own asks for
 * that with all windows, and gives those tuples alone. So no task waits for another.
 */
#include "join_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	BUFFERS = 8 << 20,   /* bytes of all write buffers: they are to stay in the cache */
	SMALL = 64 << 10,    /* tuples that are not worth a partition */
	TASK_MIN = 64 << 10, /* tuples: a smaller task is not split */
	TASKS_EACH = 16,     /* tasks for each participant, at least, if one could be too large */
	MORSELS = 1024,
	READS = 16,
	PASS_SCAN = 0, /* phases: the left side, the right side, the tasks */
	PASS_TASKS = 2
};

/* ---- reaching tuples ---- */

static nam_status
need_pieces(struct olap_run *r, uint32_t n)
{
	if (n <= r->pieces_cap)
		return NAM_OK;
	struct olap_piece *more = realloc(r->piece, n * sizeof *more);
	if (more == NULL)
		return NAM_NOMEM;
	r->piece = more;
	r->pieces_cap = n;
	return NAM_OK;
}

/* Windows as pieces that can be passed over several times: in place, or READ into `into`. */
static nam_status
reach(struct olap_run *r, const struct olap_rel *rel, uint32_t first, uint32_t n, struct olap_area *into)
{
	struct net_worker *w = r->job->w;
	struct net_op op[READS];
	struct net_batch b;
	uint64_t bytes = 0;
	nam_status st = need_pieces(r, n);
	bool mapped = olap_mapped(w);
	for (uint32_t i = 0; i < n; i++)
		bytes += (uint64_t)rel->window[first + i].tuples * rel->width;
	if (st == NAM_OK && !mapped)
		st = olap_area_need(into, &r->memory, bytes + 8);
	net_batch_init(&b, w, op, READS, &r->job->counts);
	char *at = into->at;
	for (uint32_t i = 0; st == NAM_OK && i < n; i++) {
		const struct olap_window *win = &rel->window[first + i];
		uint32_t len = win->tuples * rel->width;
		r->piece[i] = (struct olap_piece){ at, win->tuples };
		if (mapped) {
			r->piece[i].at = net_read_direct(w, (net_addr){ win->at }, len, &r->job->counts);
			st = r->piece[i].at != NULL ? NAM_OK : NAM_GONE;
			continue;
		}
		net_read(&b, (net_addr){ win->at }, at, len);
		at += len;
		if (b.n == READS || i + 1 == n)
			st = net_run(&b);
	}
	return st;
}

/* ---- tasks ---- */

static size_t
cache_of(const struct olap_join *j)
{
	return j->cache != 0 ? j->cache : OLAP_CACHE;
}

/* Probes the table with the task's windows. */
static nam_status
probe_windows(struct olap_run *r, const struct olap_task *task, const struct olap_rel *rel)
{
	const void *t;
	uint32_t n;
	nam_status st;
	olap_reader_begin(r->reader, rel, task->first, task->n);
	while ((st = olap_reader_next(r->reader, &t, &n)) == NAM_OK) {
		st = olap_probe(r, task, t, n);
		if (st == NAM_OK)
			st = olap_give(r); /* pairs point into the window */
		olap_spent(r->job, OLAP_PROBE, n);
		if (st == NAM_OK)
			st = olap_job_stopped(r->job);
		if (st != NAM_OK)
			return st;
	}
	return st == NAM_ABSENT ? NAM_OK : st;
}

/* The table would not fit the cache: both sides are cut by further bits of the hash first. */
static nam_status
join_locally(struct olap_run *r, const struct olap_task *task, unsigned bits)
{
	enum olap_side build = task->build, side = build == LEFT ? RIGHT : LEFT;
	const struct olap_rel *b = &r->rel[build], *p = &r->rel[side];
	unsigned hashed = b->bits;
	uint32_t part = task->partition, start[2][(1 << OLAP_LOCAL_BITS) + 2];
	nam_status st = reach(r, b, b->start[part], b->start[part + 1] - b->start[part], &r->staged);
	if (st == NAM_OK)
		st = olap_local_pass(&r->part[0], &r->memory, r->piece, b->start[part + 1] - b->start[part],
		    b->width, hashed, bits, start[0]);
	if (st == NAM_OK)
		st = reach(r, p, task->first, task->n, &r->staged);
	if (st == NAM_OK)
		st = olap_local_pass(
		    &r->part[1], &r->memory, r->piece, task->n, p->width, hashed, bits, start[1]);
	r->j->did.local_passes++;
	if (st == NAM_OK)
		olap_spent(r->job, OLAP_SCATTER, start[0][1u << bits] + start[1][1u << bits]);
	for (uint32_t i = 0; st == NAM_OK && i < 1u << bits; i++) {
		const struct olap_piece some = { r->part[0].at + (size_t)start[0][i] * b->width,
			start[0][i + 1] - start[0][i] };
		st = olap_table_make(&r->table, &r->memory, &some, 1, b->width, hashed + bits, task->keeps);
		if (st == NAM_OK)
			st = olap_probe(r, task, r->part[1].at + (size_t)start[1][i] * p->width,
			    start[1][i + 1] - start[1][i]);
		olap_spent(r->job, OLAP_BUILD, start[0][i + 1] - start[0][i]);
		olap_spent(r->job, OLAP_PROBE, start[1][i + 1] - start[1][i]);
		if (st == NAM_OK)
			st = olap_give(r); /* pairs point into the table */
		if (st == NAM_OK && task->keeps)
			st = olap_give_kept(r, task);
		if (st == NAM_OK)
			st = olap_job_stopped(r->job);
	}
	return st;
}

static nam_status
join_task(struct olap_run *r, const struct olap_task *task)
{
	enum olap_side build = task->build, side = build == LEFT ? RIGHT : LEFT;
	const struct olap_rel *b = &r->rel[build];
	uint32_t part = task->partition, windows = b->start[part + 1] - b->start[part];
	size_t bytes = b->count[part] * b->width, cache = cache_of(r->j);
	unsigned bits = 0;
	while (bits < OLAP_LOCAL_BITS && bytes >> bits > cache)
		bits++;
	/* A little too large is cheaper than a pass. */
	if (bits > 1)
		return join_locally(r, task, bits);
	nam_status st = reach(r, b, b->start[part], windows, &r->staged);
	if (st == NAM_OK)
		st =
		    olap_table_make(&r->table, &r->memory, r->piece, windows, b->width, b->bits, task->keeps);
	olap_spent(r->job, OLAP_BUILD, b->count[part]);
	if (st == NAM_OK)
		st = probe_windows(r, task, &r->rel[side]);
	if (st == NAM_OK && task->keeps)
		st = olap_give_kept(r, task);
	return st;
}

/* The windows of the probing side from `first` on, as long as the task stays small. */
static uint32_t
windows_of(const struct olap_rel *rel, uint32_t first, uint32_t end, uint64_t tuples)
{
	uint64_t n = 0;
	uint32_t at = first;
	while (at < end && (at == first || n + rel->window[at].tuples <= tuples))
		n += rel->window[at++].tuples;
	return at - first;
}

/* The partition's tasks, into task[] if there is one. How many. */
static uint32_t
tasks_of(const struct olap_run *r, uint32_t p, uint64_t most, struct olap_task *task)
{
	enum olap_kind kind = r->j->kind;
	uint64_t n[2] = { r->rel[LEFT].count[p], r->rel[RIGHT].count[p] };
	enum olap_side build = n[LEFT] < n[RIGHT] ? LEFT : RIGHT, side = build == LEFT ? RIGHT : LEFT;
	const struct olap_rel *rel = &r->rel[side];
	bool kept = olap_rule[kind].keep[build] != KEEP_NONE;
	uint32_t first = rel->start[p], end = rel->start[p + 1], k = 0;
	bool any = n[build] > 0 || olap_rule[kind].keep[side] == KEEP_UNMATCHED;
	if (n[side] == 0 || !any)
		return 0;
	/* Probing alone gives nothing here: one task tells which tuples of the table are wanted. */
	bool marks = !olap_rule[kind].pairs && olap_rule[kind].keep[side] == KEEP_NONE;
	bool whole = n[side] <= most || marks;
	while (first < end) {
		uint32_t windows = whole ? end - first : windows_of(rel, first, end, most);
		if (task != NULL)
			task[k] =
			    (struct olap_task){ p, first, windows, (uint8_t)build, true, whole && kept };
		first += windows;
		k++;
	}
	if (!whole && kept && task != NULL)
		task[k] =
		    (struct olap_task){ p, rel->start[p], end - rel->start[p], (uint8_t)build, false, true };
	return k + (!whole && kept);
}

/* All tasks, the same ones in every participant. */
static nam_status
make_tasks(struct olap_run *r)
{
	uint32_t fan = 1u << r->rel[LEFT].bits, n = 0;
	unsigned workers = r->j->workers > 0 ? r->j->workers : 1;
	uint64_t all = r->rel[LEFT].tuples + r->rel[RIGHT].tuples, most = all / (TASKS_EACH * workers);
	if (most < TASK_MIN)
		most = TASK_MIN;
	for (;; most *= 2) {
		uint32_t split = 0;
		n = 0;
		for (uint32_t p = 0; p < fan; p++) {
			uint32_t k = tasks_of(r, p, most, NULL);
			n += k;
			split += k > 1;
		}
		r->j->did.split = split;
		if (n <= OLAP_MORSELS)
			break;
	}
	r->task = malloc((n + 1) * sizeof *r->task);
	if (r->task == NULL)
		return NAM_NOMEM;
	for (uint32_t p = 0; p < fan; p++)
		r->tasks += tasks_of(r, p, most, r->task + r->tasks);
	return NAM_OK;
}

static nam_status
one_task(void *arg, uint32_t number)
{
	struct olap_run *r = arg;
	nam_status st = r->one(r, &r->task[number]);
	/* Windows were READ in place. */
	return st == NAM_OK && olap_mapped(r->job->w) && !net_direct_stands(r->job->w) ? NAM_GONE : st;
}

/* The last phase: the tasks, and the results. */
static nam_status
run_tasks(struct olap_run *r, nam_status (*one)(struct olap_run *r, const struct olap_task *task),
    struct olap_phase *ph)
{
	struct olap_join *j = r->j;
	nam_status st = olap_phase_begin(ph, r->job, PASS_TASKS, r->tasks);
	r->one = one;
	return st == NAM_OK ? olap_phase_run(ph, one_task, r, j->result, j->result_len, &j->did.morsels) : st;
}

/* ---- the remote pass ---- */

/* One side on its way into partitions. */
struct pass {
	const struct olap_feed *feed; /* NULL = the relation as it was */
	struct olap_rel rel;
	struct olap_phase ph;
	uint64_t tuples;
	uint32_t group, width; /* windows of a morsel */
	unsigned bits;
	uint32_t window;
};

static nam_status
pass_load(struct olap_run *r, struct pass *p, const struct olap_source *s, const struct olap_feed *feed)
{
	if (feed->part != NULL) {
		p->feed = feed;
		p->tuples = feed->tuples;
		p->width = feed->width;
		return NAM_OK;
	}
	nam_status st = olap_rel_load(r->job, s, &p->rel);
	p->tuples = p->rel.tuples;
	p->width = s->width;
	return st;
}

static nam_status
pass_begin(struct olap_run *r, struct pass *p, unsigned number, unsigned bits)
{
	unsigned workers = r->j->workers > 0 ? r->j->workers : 1;
	p->bits = bits;
	p->group = (p->rel.windows + MORSELS - 1) / MORSELS;
	p->group = p->group > 0 ? p->group : 1;
	/* A writer's windows are a fourth of what it has for a partition, so that few bytes of them
	 * stay empty. */
	uint64_t share = p->tuples * p->width / ((uint64_t)workers << bits) / 4;
	for (p->window = 4096; p->window < NET_EXTENT && p->window < share;)
		p->window *= 2;
	return olap_phase_begin(&p->ph, r->job, number,
	    p->feed != NULL ? p->feed->parts : (p->rel.windows + p->group - 1) / p->group);
}

/* A morsel of a relation: some windows. */
static nam_status
pass_windows(struct olap_run *r, struct pass *p, uint32_t morsel, struct olap_writer *wr)
{
	uint32_t n, first = morsel * p->group, left = p->rel.windows - first;
	const void *t;
	nam_status st;
	olap_reader_begin(r->reader, &p->rel, first, left < p->group ? left : p->group);
	while ((st = olap_reader_next(r->reader, &t, &n)) == NAM_OK) {
		if ((st = olap_write(wr, t, n)) != NAM_OK)
			return st;
		olap_spent(r->job, OLAP_PARTITION, n);
	}
	return st == NAM_ABSENT ? NAM_OK : st;
}

/* A round of it. */
static nam_status
pass_round(struct olap_run *r, struct pass *p)
{
	struct olap_writer *wr;
	uint32_t m;
	nam_status st = olap_writer_open(r->job, p->width, p->bits, p->window, &wr);
	if (st != NAM_OK)
		return st;
	while (st == NAM_OK && (st = olap_take(&p->ph, &m)) == NAM_OK) {
		st = p->feed != NULL ? p->feed->part(p->feed->arg, m, wr) : pass_windows(r, p, m, wr);
		r->j->did.morsels++;
	}
	if (st == NAM_ABSENT)
		st = olap_publish(&p->ph, wr, NULL, 0);
	olap_writer_close(wr);
	return st;
}

static nam_status
pass_settle(struct olap_run *r, struct pass *p, struct olap_rel *out)
{
	struct olap_source s;
	nam_status st;
	while ((st = olap_settle(&p->ph)) == NAM_BUSY)
		if ((st = pass_round(r, p)) != NAM_OK)
			return st;
	if (st != NAM_OK)
		return st;
	if (p->ph.outs > OLAP_SOURCES)
		return NAM_FULL;
	olap_phase_source(&p->ph, p->width, p->bits, &s);
	return olap_rel_load(r->job, &s, out);
}

/* As many partitions as make the smaller side's fit the cache, and as have buffers that do. */
static unsigned
choose_bits(const struct olap_join *j, const struct pass *pass)
{
	uint64_t bytes[2], least = 1;
	unsigned bits = 0, workers = j->workers > 0 ? j->workers : 1;
	for (unsigned i = 0; i < 2; i++)
		bytes[i] = pass[i].tuples * pass[i].width;
	if (j->bits != 0)
		return j->bits < OLAP_BITS_MAX ? j->bits : OLAP_BITS_MAX;
	uint64_t small = bytes[0] < bytes[1] ? bytes[0] : bytes[1];
	if (pass[0].tuples + pass[1].tuples > SMALL)
		least = (uint64_t)workers * 4;
	while (1u << bits < least)
		bits++;
	if (j->algorithm == OLAP_RDMA_GHJ)
		return bits;
	while (small >> bits > cache_of(j) && (UINT64_C(2) << bits) * OLAP_BUFFER <= BUFFERS)
		bits++;
	return bits;
}

static nam_status
partitioned(struct olap_run *r, struct olap_phase *out)
{
	struct olap_join *j = r->j;
	struct pass pass[2] = { 0 };
	uint64_t began = net_now_ns(r->job->w);
	nam_status st = pass_load(r, &pass[LEFT], &j->left, &j->feed[LEFT]);
	if (st == NAM_OK)
		st = pass_load(r, &pass[RIGHT], &j->right, &j->feed[RIGHT]);
	if (st == NAM_OK)
		j->did.bits = choose_bits(j, pass);
	for (unsigned i = 0; st == NAM_OK && i < 2; i++)
		st = pass_begin(r, &pass[i], PASS_SCAN + i, j->did.bits);
	/* Both sides, and only then the wait for the others. */
	for (unsigned i = 0; st == NAM_OK && i < 2; i++)
		st = pass_round(r, &pass[i]);
	for (unsigned i = 0; st == NAM_OK && i < 2; i++)
		st = pass_settle(r, &pass[i], &r->rel[i]);
	for (unsigned i = 0; i < 2; i++) {
		olap_phase_end(&pass[i].ph);
		olap_rel_free(&pass[i].rel);
	}
	j->did.scan_ns = net_now_ns(r->job->w) - began;
	if (st == NAM_OK)
		st = make_tasks(r);
	return st == NAM_OK ? run_tasks(r, join_task, out) : st;
}

/* ---- broadcast ---- */

static nam_status
broadcast_task(struct olap_run *r, const struct olap_task *task)
{
	return probe_windows(r, task, &r->rel[task->build == LEFT ? RIGHT : LEFT]);
}

static nam_status
broadcast(struct olap_run *r, struct olap_phase *out)
{
	struct olap_join *j = r->j;
	uint64_t began = net_now_ns(r->job->w);
	enum olap_side build = j->kind == OLAP_RIGHT ? LEFT : RIGHT, side = build == LEFT ? RIGHT : LEFT;
	if (olap_rule[j->kind].keep[build] != KEEP_NONE || j->feed[LEFT].part != NULL ||
	    j->feed[RIGHT].part != NULL)
		return NAM_UNSUPPORTED;
	nam_status st = olap_rel_load(r->job, &j->left, &r->rel[LEFT]);
	if (st == NAM_OK)
		st = olap_rel_load(r->job, &j->right, &r->rel[RIGHT]);
	if (st == NAM_OK)
		st = reach(r, &r->rel[build], 0, r->rel[build].windows, &r->staged);
	if (st == NAM_OK)
		st = olap_table_make(
		    &r->table, &r->memory, r->piece, r->rel[build].windows, r->rel[build].width, 0, false);
	if (st == NAM_OK)
		olap_spent(r->job, OLAP_BUILD, r->rel[build].tuples);
	uint32_t windows = r->rel[side].windows, group = (windows + MORSELS - 1) / MORSELS;
	r->task = st == NAM_OK ? malloc((MORSELS + 1) * sizeof *r->task) : NULL;
	if (st == NAM_OK && r->task == NULL)
		st = NAM_NOMEM;
	for (uint32_t at = 0; st == NAM_OK && at < windows; at += group)
		r->task[r->tasks++] = (struct olap_task){ 0, at, windows - at < group ? windows - at : group,
			(uint8_t)build, true, false };
	j->did.scan_ns = net_now_ns(r->job->w) - began;
	return st == NAM_OK ? run_tasks(r, broadcast_task, out) : st;
}

nam_status
olap_join_run(struct olap_job *job, struct olap_join *j, struct olap_phase *out)
{
	struct olap_run *r = calloc(1, sizeof *r);
	NAM_ASSERT(j->kind < OLAP_KINDS && j->result_len <= OLAP_RESULT);
	*out = (struct olap_phase){ 0 };
	memset(&j->did, 0, sizeof j->did);
	if (r == NULL) {
		olap_job_stop(job, NAM_NOMEM);
		return NAM_NOMEM;
	}
	r->job = job;
	r->j = j;
	r->memory.limit = j->memory != 0 ? j->memory : OLAP_MEMORY;
	uint64_t began = net_now_ns(job->w);
	nam_status st = olap_reader_open(job, &r->reader);
	if (st == NAM_OK)
		st = j->algorithm == OLAP_BROADCAST ? broadcast(r, out) : partitioned(r, out);
	j->did.join_ns = net_now_ns(job->w) - began - j->did.scan_ns;
	if (st != NAM_OK) {
		olap_job_stop(job, st);
		olap_phase_end(out);
	}
	olap_reader_close(r->reader);
	olap_table_free(&r->table);
	olap_area_free(&r->staged);
	for (unsigned i = 0; i < 2; i++) {
		olap_area_free(&r->part[i]);
		olap_rel_free(&r->rel[i]);
	}
	free(r->piece);
	free(r->task);
	free(r);
	return st;
}
