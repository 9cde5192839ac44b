/* probe.c -- partners are looked for in a table, and what a kind of join gives goes to the sink. */
#include "join_internal.h"

enum { FAST = 16, PAUSE = 4096 };

const struct olap_rule olap_rule[OLAP_KINDS] = {
	[OLAP_INNER] = { true, { KEEP_NONE, KEEP_NONE } },
	[OLAP_LEFT] = { true, { KEEP_UNMATCHED, KEEP_NONE } },
	[OLAP_RIGHT] = { true, { KEEP_NONE, KEEP_UNMATCHED } },
	[OLAP_FULL] = { true, { KEEP_UNMATCHED, KEEP_UNMATCHED } },
	[OLAP_SEMI] = { false, { KEEP_MATCHED, KEEP_NONE } },
	[OLAP_ANTI] = { false, { KEEP_UNMATCHED, KEEP_NONE } },
};

nam_status
olap_give(struct olap_run *r)
{
	nam_status st = r->out.n > 0 ? r->j->sink(r->j->arg, &r->out) : NAM_OK;
	r->out.n = 0;
	/* A window of tuples may have any number of pairs. */
	if (st == NAM_OK && ++r->given % PAUSE == 0)
		st = olap_job_pause(r->job);
	return st;
}

/* A batch of pairs, counted by the caller, is full. */
static inline __attribute__((always_inline)) nam_status
give_full(struct olap_run *r, unsigned *full)
{
	r->out.n = *full;
	*full = 0;
	return olap_give(r);
}

/* What a probe does with the tuples it meets; constants where it is inlined. */
struct probe {
	uint32_t width, build_width;
	bool pairs, mark;
	enum olap_keep keep;
	bool (*same)(const void *left, const void *right);
};

static inline __attribute__((always_inline)) nam_status
probe_with(struct olap_run *r, const char *t, uint32_t n, enum olap_side build, const struct probe how)
{
	const struct olap_table *tab = &r->table;
	const void **mine = build == LEFT ? r->out.right : r->out.left;
	const void **other = build == LEFT ? r->out.left : r->out.right;
	const uint32_t *off = tab->off;
	unsigned full = r->out.n;
	nam_status st;
	for (uint32_t i = 0; i < n; i++, t += how.width) {
		uint64_t key = *(const uint64_t *)(const void *)t;
		uint32_t b = olap_bucket(tab, key), end = off[b + 1];
		bool hit = false;
		for (uint32_t at = off[b]; at < end; at++) {
			const char *u = tab->tuples + (size_t)at * how.build_width;
			if (*(const uint64_t *)(const void *)u != key)
				continue;
			if (how.same != NULL && !(build == LEFT ? how.same(u, t) : how.same(t, u)))
				continue;
			hit = true;
			if (how.mark)
				tab->seen[at] = 1;
			if (how.pairs) {
				mine[full] = t;
				other[full] = u;
				if (++full == OLAP_PAIRS && (st = give_full(r, &full)) != NAM_OK)
					return st;
			} else if (!how.mark) {
				break;
			}
		}
		if (how.keep != KEEP_NONE && hit == (how.keep == KEEP_MATCHED)) {
			mine[full] = t;
			other[full] = NULL;
			if (++full == OLAP_PAIRS && (st = give_full(r, &full)) != NAM_OK)
				return st;
		}
	}
	r->out.n = full;
	return NAM_OK;
}

/*
 * Pairs of 16-byte tuples and nothing else. Most buckets have up to two tuples, and how many nobody
 * can predict: so the first two are compared in any case, and what they give is written and kept or
 * not, without a branch. A tuple behind the bucket's end does not count.
 */
static nam_status
probe_pairs(struct olap_run *r, const char *t, uint32_t n, enum olap_side build)
{
	const struct olap_table *tab = &r->table;
	const void **mine = build == LEFT ? r->out.right : r->out.left;
	const void **other = build == LEFT ? r->out.left : r->out.right;
	const uint32_t *off = tab->off;
	unsigned full = r->out.n;
	nam_status st;
	for (uint32_t i = 0; i < n; i++, t += FAST) {
		uint64_t key = *(const uint64_t *)(const void *)t;
		uint32_t b = olap_bucket(tab, key), at = off[b], end = off[b + 1];
		const uint64_t *u = (const uint64_t *)(const void *)(tab->tuples + (size_t)at * FAST);
		if (full > OLAP_PAIRS - 2 && (st = give_full(r, &full)) != NAM_OK)
			return st;
		mine[full] = t;
		other[full] = u;
		full += (u[0] == key) & (at < end);
		mine[full] = t;
		other[full] = u + 2;
		full += (u[2] == key) & (at + 1 < end);
		for (at += 2, u += 4; __builtin_expect(at < end, 0); at++, u += 2) {
			if (u[0] != key)
				continue;
			if (full == OLAP_PAIRS && (st = give_full(r, &full)) != NAM_OK)
				return st;
			mine[full] = t;
			other[full++] = u;
		}
	}
	r->out.n = full;
	return NAM_OK;
}

nam_status
olap_probe(struct olap_run *r, const struct olap_task *task, const char *t, uint32_t n)
{
	enum olap_side build = task->build, side = build == LEFT ? RIGHT : LEFT;
	struct probe how = { .width = r->rel[side].width,
		.build_width = r->rel[build].width,
		.pairs = task->probes && olap_rule[r->j->kind].pairs,
		.mark = task->keeps,
		.keep = task->probes ? olap_rule[r->j->kind].keep[side] : KEEP_NONE,
		.same = r->j->same };
	bool fast = how.width == FAST && how.build_width == FAST && how.same == NULL;
	if (fast && how.pairs && !how.mark && how.keep == KEEP_NONE)
		return probe_pairs(r, t, n, build);
	if (fast)
		return probe_with(
		    r, t, n, build, (struct probe){ FAST, FAST, how.pairs, how.mark, how.keep, NULL });
	return probe_with(r, t, n, build, how);
}

nam_status
olap_give_kept(struct olap_run *r, const struct olap_task *task)
{
	enum olap_keep keep = olap_rule[r->j->kind].keep[task->build];
	const struct olap_table *tab = &r->table;
	nam_status st = NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < tab->n; i++) {
		if (tab->seen[i] != (keep == KEEP_MATCHED))
			continue;
		const void *t = tab->tuples + (size_t)i * tab->width;
		r->out.left[r->out.n] = task->build == LEFT ? t : NULL;
		r->out.right[r->out.n] = task->build == LEFT ? NULL : t;
		if (++r->out.n == OLAP_PAIRS)
			st = olap_give(r);
	}
	return st == NAM_OK ? olap_give(r) : st;
}
