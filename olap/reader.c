/* reader.c -- a relation as a participant knows it, and its windows read one after the other. */
#include <olap/job.h>

#include <stdlib.h>
#include <string.h>

/* ---- the list of windows ---- */

/* The windows that a directory lists, into out[]. */
static nam_status
dir_windows(struct olap_job *job, const struct olap_dir *dir, net_addr at, struct olap_window *out)
{
	enum { INLINE = sizeof dir->window / sizeof dir->window[0] };
	uint32_t first = dir->windows < INLINE ? dir->windows : INLINE, left = dir->windows - first;
	nam_status st = NAM_OK;
	if (first > 0)
		st = olap_get(
		    job, net_plus(at, offsetof(struct olap_dir, window)), out, first * (uint32_t)sizeof *out);
	for (uint32_t i = 0; st == NAM_OK && left > 0; i++) {
		uint32_t n = left < OLAP_PIECE ? left : OLAP_PIECE;
		if (i == dir->pieces)
			return NAM_CORRUPT;
		st = olap_get(job, (net_addr){ dir->piece[i] }, out + first, n * (uint32_t)sizeof *out);
		first += n;
		left -= n;
	}
	return st;
}

static bool
window_sound(const struct olap_job *job, const struct olap_rel *rel, const struct olap_window *win)
{
	uint64_t off = net_offset_of((net_addr){ win->at }) % NET_EXTENT;
	return win->partition < 1u << rel->bits && win->at % 8 == 0 &&
	       olap_extent_sound(job->w, win->at - off) &&
	       (uint64_t)win->tuples * rel->width <= NET_EXTENT - off;
}

/* Into the order of partitions. Windows of one partition keep theirs, so all participants have the
 * same. */
static nam_status
sort_windows(const struct olap_job *job, struct olap_rel *rel, const struct olap_window *all)
{
	uint32_t fan = 1u << rel->bits;
	rel->start = calloc((size_t)fan + 2, sizeof *rel->start);
	rel->count = calloc(fan, sizeof *rel->count);
	rel->window = malloc((rel->windows + 1) * sizeof *rel->window);
	if (rel->start == NULL || rel->count == NULL || rel->window == NULL)
		return NAM_NOMEM;
	for (uint32_t i = 0; i < rel->windows; i++) {
		if (!window_sound(job, rel, &all[i]))
			return NAM_CORRUPT;
		rel->start[all[i].partition + 2]++;
		rel->count[all[i].partition] += all[i].tuples;
		rel->tuples += all[i].tuples;
	}
	for (uint32_t p = 2; p < fan + 2; p++)
		rel->start[p] += rel->start[p - 1];
	for (uint32_t i = 0; i < rel->windows; i++)
		rel->window[rel->start[all[i].partition + 1]++] = all[i];
	return NAM_OK;
}

/* The windows of all directories, in the order of the source. *n counts them. */
static nam_status
all_windows(struct olap_job *job, const struct olap_source *s, struct olap_window **out, uint32_t *n)
{
	enum { READS = 16, INLINE = sizeof((struct olap_dir *)0)->window / sizeof(struct olap_window) };
	struct olap_dir_top *top = malloc((s->dirs + 1) * sizeof *top);
	struct olap_dir *dir = NULL;
	struct net_op op[READS];
	struct net_batch b;
	uint64_t sum = 0;
	nam_status st =
	    top != NULL ? olap_dir_tops(job, s->dir, s->dirs, top, (uint32_t)sizeof *top) : NAM_NOMEM;
	for (uint32_t i = 0; st == NAM_OK && i < s->dirs; i++)
		sum += top[i].windows;
	*out = st == NAM_OK && sum < UINT32_MAX ? malloc((sum + 1) * sizeof **out) : NULL;
	if (st == NAM_OK && *out == NULL)
		st = NAM_NOMEM;
	struct olap_window *to = *out;
	net_batch_init(&b, job->w, op, READS, &job->counts);
	for (uint32_t i = 0; st == NAM_OK && i < s->dirs; to += top[i++].windows) {
		net_addr at = { s->dir[i] };
		if (top[i].windows > INLINE) {
			if (dir == NULL && (dir = malloc(sizeof *dir)) == NULL)
				st = NAM_NOMEM;
			if (st == NAM_OK)
				st = olap_dir_get(job, at, dir);
			if (st == NAM_OK && dir->windows != top[i].windows)
				st = NAM_CORRUPT;
			if (st == NAM_OK)
				st = dir_windows(job, dir, at, to);
			continue;
		}
		if (top[i].windows > 0)
			net_read(&b, net_plus(at, offsetof(struct olap_dir, window)), to,
			    top[i].windows * (uint32_t)sizeof *to);
		if (b.n == READS)
			st = net_run(&b);
	}
	if (st == NAM_OK && b.n > 0)
		st = net_run(&b);
	free(dir);
	free(top);
	*n = (uint32_t)sum;
	return st;
}

nam_status
olap_rel_load(struct olap_job *job, const struct olap_source *s, struct olap_rel *out)
{
	struct olap_rel rel = { .width = s->width, .bits = s->bits };
	struct olap_window *all = NULL;
	bool sound = s->dirs <= OLAP_SOURCES && s->bits <= OLAP_BITS_MAX && s->width >= 8 &&
		     s->width % 8 == 0 && s->width <= OLAP_WIDTH_MAX;
	nam_status st = sound ? all_windows(job, s, &all, &rel.windows) : NAM_CORRUPT;
	if (st == NAM_OK)
		st = sort_windows(job, &rel, all);
	free(all);
	if (st == NAM_OK)
		*out = rel;
	else
		olap_rel_free(&rel);
	return st;
}

void
olap_rel_free(struct olap_rel *rel)
{
	free(rel->window);
	free(rel->start);
	free(rel->count);
	*rel = (struct olap_rel){ 0 };
}

/* ---- reading ---- */

struct olap_reader {
	struct olap_job *job;
	bool mapped;
	const struct olap_window *win;
	uint32_t width, n, used, asked;
	nam_status failed;
	struct {
		struct net_batch b;
		struct net_op op;
		char *bytes;
	} ahead[OLAP_AHEAD];
};

nam_status
olap_reader_open(struct olap_job *job, struct olap_reader **out)
{
	struct olap_reader *r = calloc(1, sizeof *r);
	if (r == NULL)
		return NAM_NOMEM;
	r->job = job;
	r->mapped = olap_mapped(job->w);
	for (unsigned i = 0; !r->mapped && i < OLAP_AHEAD; i++) {
		net_batch_init(&r->ahead[i].b, job->w, &r->ahead[i].op, 1, &job->counts);
		r->ahead[i].bytes = malloc(NET_EXTENT);
		if (r->ahead[i].bytes == NULL) {
			olap_reader_close(r);
			return NAM_NOMEM;
		}
	}
	*out = r;
	return NAM_OK;
}

/* READs under way end: their buffers are used again. */
static void
drain(struct olap_reader *r)
{
	for (unsigned i = 0; !r->mapped && i < OLAP_AHEAD; i++)
		if (r->ahead[i].bytes != NULL)
			net_wait(&r->ahead[i].b);
}

void
olap_reader_close(struct olap_reader *r)
{
	if (r == NULL)
		return;
	drain(r);
	for (unsigned i = 0; i < OLAP_AHEAD; i++)
		free(r->ahead[i].bytes);
	free(r);
}

static void
ask(struct olap_reader *r)
{
	unsigned i = r->asked % OLAP_AHEAD;
	const struct olap_window *win = &r->win[r->asked++];
	net_read(&r->ahead[i].b, (net_addr){ win->at }, r->ahead[i].bytes, win->tuples * r->width);
	net_post(&r->ahead[i].b);
}

void
olap_reader_begin(struct olap_reader *r, const struct olap_rel *rel, uint32_t first, uint32_t n)
{
	drain(r);
	r->win = rel->window + first;
	r->width = rel->width;
	r->n = n;
	r->used = r->asked = 0;
	while (!r->mapped && r->asked < n && r->asked < OLAP_AHEAD)
		ask(r);
}

nam_status
olap_reader_next(struct olap_reader *r, const void **tuples, uint32_t *n)
{
	/* A window takes some 20 us: then this thread's other coroutines, and its polls, have a
	 * turn. */
	if (r->mapped)
		nam_co_yield();
	if (r->mapped && r->used > 0 && !net_direct_stands(r->job->w))
		return NAM_GONE;
	/* The buffer of the window before is free: the next READ goes into it. */
	if (!r->mapped && r->used > 0 && r->asked < r->n)
		ask(r);
	if (r->used == r->n)
		return NAM_ABSENT;
	const struct olap_window *win = &r->win[r->used];
	*n = win->tuples;
	if (r->mapped) {
		*tuples = net_read_direct(
		    r->job->w, (net_addr){ win->at }, win->tuples * r->width, &r->job->counts);
		r->used++;
		return *tuples != NULL ? NAM_OK : NAM_GONE;
	}
	unsigned i = r->used++ % OLAP_AHEAD;
	*tuples = r->ahead[i].bytes;
	return net_wait(&r->ahead[i].b);
}
