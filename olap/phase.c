/* phase.c -- rounds of morsels: taken from a queue, put out by one CAS, done again if a participant
 * died (A2 to A4). */
#include <base/fault.h>
#include <olap/job.h>

#include <stdlib.h>
#include <string.h>

static net_addr
queue_word(const struct olap_phase *ph)
{
	return olap_in(ph->job->at, offsetof(struct olap_head, queue) +
					(ph->number * OLAP_ROUNDS + ph->round) * sizeof(struct olap_line));
}

static net_addr
output_word(const struct olap_phase *ph, unsigned place)
{
	return olap_in(ph->job->at, offsetof(struct olap_head, output) +
					((ph->number * OLAP_ROUNDS + ph->round) * OLAP_PLACES + place) * 8u);
}

static size_t
bit_words(uint32_t morsels)
{
	return (morsels + 63) / 64;
}

nam_status
olap_phase_begin(struct olap_phase *ph, struct olap_job *job, unsigned number, uint32_t morsels)
{
	NAM_ASSERT(number < OLAP_PHASES && morsels <= OLAP_MORSELS);
	*ph = (struct olap_phase){ .job = job, .number = number, .morsels = morsels, .left = morsels };
	ph->mine = calloc(OLAP_MORSELS / 64, 8);
	ph->done = calloc(OLAP_MORSELS / 64, 8);
	ph->missing = malloc((morsels + 1) * sizeof *ph->missing);
	ph->outs_cap = OLAP_PLACES;
	ph->out = malloc(ph->outs_cap * sizeof *ph->out);
	if (ph->mine != NULL && ph->done != NULL && ph->missing != NULL && ph->out != NULL)
		return NAM_OK;
	olap_phase_end(ph);
	return NAM_NOMEM;
}

void
olap_phase_end(struct olap_phase *ph)
{
	free(ph->mine);
	free(ph->done);
	free(ph->missing);
	free(ph->out);
	*ph = (struct olap_phase){ 0 };
}

nam_status
olap_take(struct olap_phase *ph, uint32_t *morsel)
{
	struct olap_job *job = ph->job;
	struct net_op op[2];
	struct net_batch b;
	uint64_t stop = 0;
	nam_status st = olap_job_stopped(job);
	if (st != NAM_OK)
		return st;
	net_batch_init(&b, job->w, op, 2, &job->counts);
	net_faa(&b, queue_word(ph), 1);
	net_read(&b, olap_in(job->at, offsetof(struct olap_head, stop)), &stop, 8);
	if ((st = net_run(&b)) != NAM_OK)
		return st;
	if (stop != 0)
		return job->stopped = stop < NAM_STATUS_COUNT ? (nam_status)stop : NAM_CORRUPT;
	ph->taken = ph->morsels - ph->left + (op[0].seen < ph->left ? (uint32_t)op[0].seen + 1 : ph->left);
	if (op[0].seen >= ph->left)
		return NAM_ABSENT;
	*morsel = ph->round == 0 ? (uint32_t)op[0].seen : ph->missing[op[0].seen];
	ph->mine[*morsel / 64] |= UINT64_C(1) << *morsel % 64;
	return NAM_OK;
}

/* ---- putting out ---- */

nam_status
olap_get(struct olap_job *job, net_addr at, void *into, uint32_t len)
{
	return net_read1(job->w, at, into, len, &job->counts);
}

nam_status
olap_put(struct olap_job *job, net_addr at, const void *from, uint32_t len)
{
	return net_write1(job->w, at, from, len, &job->counts);
}

/* Writes the directory; windows that do not fit into it lie in further extents. */
static nam_status
put_dir(struct olap_job *job, struct olap_dir *dir, const struct olap_window *win, net_addr *out)
{
	enum { INLINE = sizeof dir->window / sizeof dir->window[0] };
	uint32_t first = dir->windows < INLINE ? dir->windows : INLINE;
	nam_status st = olap_extent(job, out);
	if (first > 0)
		memcpy(dir->window, win, first * sizeof *win);
	for (uint32_t at = first; st == NAM_OK && at < dir->windows; at += OLAP_PIECE) {
		uint32_t n = dir->windows - at < OLAP_PIECE ? dir->windows - at : OLAP_PIECE;
		net_addr piece;
		if (dir->pieces == OLAP_PIECES)
			return NAM_FULL;
		if ((st = olap_extent(job, &piece)) == NAM_OK)
			st = olap_put(job, piece, win + at, n * (uint32_t)sizeof *win);
		dir->piece[dir->pieces++] = piece.bits;
	}
	if (st == NAM_OK)
		st = olap_put(
		    job, *out, dir, (uint32_t)(offsetof(struct olap_dir, window) + first * sizeof *win));
	return st;
}

nam_status
olap_publish(struct olap_phase *ph, struct olap_writer *wr, const void *result, uint32_t result_len)
{
	NAM_ASSERT(result_len <= OLAP_RESULT);
	struct olap_job *job = ph->job;
	const struct olap_window *win = NULL;
	struct olap_dir *dir = calloc(1, sizeof *dir);
	net_addr at = { 0 };
	uint64_t seen = 0;
	nam_status st = dir == NULL ? NAM_NOMEM : wr != NULL ? olap_writer_flush(wr) : NAM_OK;
	if (st == NAM_OK) {
		dir->magic = OLAP_MAGIC;
		dir->morsels = ph->morsels;
		dir->result_len = result_len;
		memcpy(dir->done, ph->mine, bit_words(ph->morsels) * 8);
		if (result_len > 0)
			memcpy(dir->result, result, result_len);
		if (wr != NULL)
			win = olap_writer_windows(wr, &dir->windows);
		st = put_dir(job, dir, win, &at);
	}
	if (st == NAM_OK)
		st = net_cas1(job->w, output_word(ph, job->place), 0, at.bits, &seen, &job->counts);
	if (st == NAM_OK && seen != 0)
		st = NAM_REFUSED; /* the others have given this participant up */
	if (wr != NULL)
		olap_writer_empty(wr);
	free(dir);
	return st;
}

/* ---- the end of a round ---- */

nam_status
olap_dir_get(struct olap_job *job, net_addr at, struct olap_dir *dir)
{
	if (!olap_extent_sound(job->w, at.bits))
		return NAM_CORRUPT;
	nam_status st = olap_get(job, at, dir, offsetof(struct olap_dir, window));
	if (st != NAM_OK)
		return st;
	bool sound = dir->magic == OLAP_MAGIC && dir->morsels <= OLAP_MORSELS &&
		     dir->result_len <= OLAP_RESULT && dir->pieces <= OLAP_PIECES;
	for (uint32_t i = 0; sound && i < dir->pieces; i++)
		sound = olap_extent_sound(job->w, dir->piece[i]);
	return sound ? NAM_OK : NAM_CORRUPT;
}

nam_status
olap_dir_tops(struct olap_job *job, const uint64_t *at, unsigned n, void *into, uint32_t len)
{
	enum { TOPS = 32, WINDOWS_MOST = sizeof((struct olap_dir *)0)->window / sizeof(struct olap_window) };
	struct net_op op[TOPS];
	struct net_batch b;
	char *to = into;
	nam_status st = NAM_OK;
	NAM_ASSERT(len >= sizeof(struct olap_dir_top));
	net_batch_init(&b, job->w, op, TOPS, &job->counts);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (!olap_extent_sound(job->w, at[i]))
			return NAM_CORRUPT; /* full batches have been waited for */
		net_read(&b, (net_addr){ at[i] }, to + (size_t)i * len, len);
		if (b.n == TOPS || i + 1 == n)
			st = net_run(&b);
	}
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		struct olap_dir_top top;
		memcpy(&top, to + (size_t)i * len, sizeof top);
		if (top.magic != OLAP_MAGIC || top.morsels > OLAP_MORSELS || top.result_len > OLAP_RESULT ||
		    top.pieces > OLAP_PIECES ||
		    top.windows > WINDOWS_MOST + (uint64_t)top.pieces * OLAP_PIECE)
			return NAM_CORRUPT;
	}
	return st;
}

/* This participant's output never comes: it has left, or it is fenced when this returns. */
static nam_status
give_up(struct olap_phase *ph, unsigned place, uint64_t word, bool late)
{
	struct olap_job *job = ph->job;
	bool dead = (word & 255) == OLAP_WENT || (word & 255) == OLAP_DEAD;
	nam_status st = NAM_OK;
	if (!dead) {
		st = olap_fence_if_dead(job->w, word >> 8, late, &dead);
		if (st == NAM_OK && !dead)
			return NAM_OK;
		if (st == NAM_OK)
			st = net_cas1(job->w,
			    olap_in(job->at,
				offsetof(struct olap_head, place) + place * sizeof(struct olap_line)),
			    word, olap_place_word(word >> 8, OLAP_DEAD), NULL, &job->counts);
	}
	/* Without its maker, no process waits for the job's answer. */
	if (st == NAM_OK && dead && place == 0) {
		olap_job_stop(job, NAM_GONE);
		return NAM_GONE;
	}
	if (st == NAM_OK)
		st = net_cas1(job->w, output_word(ph, place), 0, OLAP_VOID, NULL, &job->counts);
	return st;
}

/* All outputs of the round, when each place that is taken has one. */
static nam_status
wait_outputs(struct olap_phase *ph, uint64_t output[OLAP_PLACES])
{
	struct olap_job *job = ph->job;
	struct olap_line place[OLAP_PLACES];
	struct olap_lease lease = { 0 };
	struct net_backoff pause = { .base_ns = 5000, .cap_ns = 500000, .yields = 200, .hold = 8 };
	for (;;) {
		struct net_op op[3];
		struct net_batch b;
		uint64_t stop = 0;
		bool wait = false;
		nam_status st = olap_job_stopped(job);
		if (st != NAM_OK)
			return st;
		/* Places first: one that is taken later finds the queue exhausted (A4). */
		st = olap_get(job, olap_in(job->at, offsetof(struct olap_head, place)), place, sizeof place);
		if (st != NAM_OK)
			return st;
		net_batch_init(&b, job->w, op, 3, &job->counts);
		net_read(&b, output_word(ph, 0), output, OLAP_PLACES * 8);
		net_read(&b, olap_in(job->at, offsetof(struct olap_head, stop)), &stop, 8);
		if ((st = net_run(&b)) != NAM_OK)
			return st;
		if (stop != 0)
			return job->stopped = stop < NAM_STATUS_COUNT ? (nam_status)stop : NAM_CORRUPT;
		uint64_t there = 0;
		for (unsigned i = 0; i < OLAP_PLACES; i++)
			there += output[i] != 0;
		bool late = olap_is_late(job->w, &lease, there);
		for (unsigned i = 0; i < OLAP_PLACES; i++) {
			if (output[i] != 0 || place[i].word == OLAP_NOBODY ||
			    (place[i].word & 255) == OLAP_NEAR)
				continue;
			if ((st = give_up(ph, i, place[i].word, late)) != NAM_OK)
				return st;
			wait = true; /* also after that: a CAS from 0 tells which output won */
		}
		if (!wait)
			return NAM_OK;
		net_back_off(job->w, &pause);
	}
}

static nam_status
add_out(struct olap_phase *ph, uint64_t at)
{
	if (ph->outs == ph->outs_cap) {
		uint64_t *more = realloc(ph->out, 2 * ph->outs_cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		ph->out = more;
		ph->outs_cap *= 2;
	}
	ph->out[ph->outs++] = at;
	return NAM_OK;
}

/* The outputs that count, and the morsels that they cover. */
static nam_status
add_outputs(struct olap_phase *ph, const uint64_t output[OLAP_PLACES])
{
	uint32_t words = (uint32_t)bit_words(ph->morsels), len = offsetof(struct olap_dir, done) + words * 8;
	uint64_t at[OLAP_PLACES];
	unsigned n = 0;
	for (unsigned i = 0; i < OLAP_PLACES; i++)
		if (output[i] != 0 && output[i] != OLAP_VOID)
			at[n++] = output[i];
	char *tops = malloc((size_t)n * len + 1);
	nam_status st = tops != NULL ? olap_dir_tops(ph->job, at, n, tops, len) : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		const struct olap_dir *dir = (const void *)(tops + (size_t)i * len); /* its begin */
		if (dir->morsels != ph->morsels)
			st = NAM_CORRUPT;
		else if ((st = add_out(ph, at[i])) == NAM_OK)
			for (uint32_t k = 0; k < words; k++)
				ph->done[k] |= dir->done[k];
	}
	free(tops);
	return st;
}

nam_status
olap_settle(struct olap_phase *ph)
{
	uint64_t output[OLAP_PLACES];
	nam_status st = wait_outputs(ph, output);
	if (st == NAM_OK)
		st = add_outputs(ph, output);
	if (st != NAM_OK)
		return st;
	uint32_t n = 0;
	for (uint32_t m = 0; m < ph->morsels; m++)
		if ((ph->done[m / 64] >> m % 64 & 1) == 0)
			ph->missing[n++] = m;
	/* A round that finds one morsel missing does all of them. */
	if (nam_fault(OLAP_MORSEL_TWICE) && n > 0)
		for (n = 0; n < ph->morsels; n++)
			ph->missing[n] = n;
	if (n == 0)
		return NAM_OK;
	if (++ph->round == OLAP_ROUNDS) {
		olap_job_stop(ph->job, NAM_GONE);
		return NAM_GONE;
	}
	ph->left = n;
	memset(ph->mine, 0, OLAP_MORSELS / 8);
	return NAM_BUSY;
}

nam_status
olap_phase_run(struct olap_phase *ph, nam_status (*one)(void *arg, uint32_t morsel), void *arg, void *result,
    uint32_t result_len, uint32_t *done)
{
	nam_status st;
	do {
		uint32_t m;
		memset(result, 0, result_len);
		while ((st = olap_take(ph, &m)) == NAM_OK) {
			if ((st = one(arg, m)) != NAM_OK)
				return st;
			++*done;
		}
		if (st == NAM_ABSENT)
			st = olap_publish(ph, NULL, result, result_len);
		if (st == NAM_OK)
			st = olap_settle(ph);
	} while (st == NAM_BUSY);
	return st;
}

void
olap_phase_source(const struct olap_phase *ph, uint32_t width, unsigned bits, struct olap_source *out)
{
	NAM_ASSERT(ph->outs <= OLAP_SOURCES);
	*out = (struct olap_source){ .width = width, .bits = bits, .dirs = ph->outs };
	memcpy(out->dir, ph->out, ph->outs * sizeof out->dir[0]);
}

nam_status
olap_phase_results(
    struct olap_phase *ph, void (*each)(void *arg, const void *result, uint32_t len), void *arg)
{
	struct olap_dir *dir = malloc(sizeof *dir);
	nam_status st = dir != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < ph->outs; i++)
		if ((st = olap_dir_get(ph->job, (net_addr){ ph->out[i] }, dir)) == NAM_OK)
			each(arg, dir->result, dir->result_len);
	free(dir);
	return st;
}
