/*
 * server.c -- the sub-models of a partition at its server: which ranges there are, which are
 * stale.
 *
 * At first one range covers all keys, untrained. A training cuts what one sub-model takes off the
 * front of its range; the rest is a range of its own, also untrained. So no step is longer than
 * one training, and a range whose leaves have become too many is cut the same way (the paper's
 * model expansion, for one sub-model at a time instead of all at once). Ranges whose leaves have
 * all left the tree are joined.
 */
#include <base/assert.h>
#include <index/learned/learned_internal.h>

#include <stdlib.h>

struct range {
	void *piece; /* NULL = not trained */
	uint32_t bytes;
	bool stale;
};

enum { QUEUE = 256, RANGES_MIN = 16 };

struct idx_lserver {
	unsigned words;
	struct idx_fences leaves;
	uint64_t n, cap;
	uint64_t *base; /* n keys, sorted; the first is all zeros */
	struct range *range;
	/* Keys of ranges that became stale, oldest first. If the queue overflows, or at the
	 * beginning, the ranges are looked through instead. */
	uint64_t queue[QUEUE][IDX_LKEY_WORDS];
	unsigned first, queued;
	bool look;
	uint64_t looked; /* ranges */
	uint64_t trainings, cuts, stale;
	struct idx_sub sub; /* scratch */
	uint8_t piece[IDX_PIECE_MAX];
};

static bool
grow(struct idx_lserver *m)
{
	uint64_t cap = m->cap == 0 ? RANGES_MIN : 2 * m->cap;
	uint64_t *base = realloc(m->base, cap * 8 * m->words);
	if (base == NULL)
		return false;
	m->base = base;
	struct range *range = realloc(m->range, cap * sizeof *range);
	if (range == NULL)
		return false;
	m->range = range;
	m->cap = cap;
	return true;
}

struct idx_lserver *
idx_lserver_open(unsigned words, const struct idx_fences *leaves)
{
	struct idx_lserver *m = calloc(1, sizeof *m);
	if (m == NULL)
		return NULL;
	m->words = words;
	m->leaves = *leaves;
	if (!grow(m)) {
		idx_lserver_close(m);
		return NULL;
	}
	memset(m->base, 0, 8 * words);
	m->range[0] = (struct range){ .stale = true };
	m->n = m->stale = 1;
	m->look = true;
	return m;
}

void
idx_lserver_close(struct idx_lserver *m)
{
	if (m == NULL)
		return;
	for (uint64_t i = 0; i < m->n; i++)
		free(m->range[i].piece);
	free(m->base);
	free(m->range);
	free(m);
}

/* The range that covers the key. */
static uint64_t
find(const struct idx_lserver *m, const uint64_t *key)
{
	uint64_t at = 0, n = m->n;
	while (n > 1) {
		uint64_t half = n / 2;
		at = idx_words_order(m->base + (at + half) * m->words, key, m->words) <= 0 ? at + half : at;
		n -= half;
	}
	return at;
}

static const uint64_t *
end_of(const struct idx_lserver *m, uint64_t i)
{
	return i + 1 < m->n ? m->base + (i + 1) * m->words : NULL;
}

static void
set_stale(struct idx_lserver *m, uint64_t i, bool stale)
{
	m->stale += stale;
	m->stale -= m->range[i].stale;
	m->range[i].stale = stale;
}

/* Cuts range i at a key inside it. The second part is untrained. */
static bool
cut(struct idx_lserver *m, uint64_t i, const uint64_t *at)
{
	if (m->n == m->cap && !grow(m))
		return false;
	memmove(m->range + i + 2, m->range + i + 1, (m->n - i - 1) * sizeof *m->range);
	memmove(m->base + (i + 2) * m->words, m->base + (i + 1) * m->words, (m->n - i - 1) * 8 * m->words);
	memcpy(m->base + (i + 1) * m->words, at, 8 * m->words);
	m->range[i + 1] = (struct range){ 0 };
	m->n++;
	m->cuts++;
	set_stale(m, i + 1, true);
	m->look = true;
	m->looked = m->looked > i + 1 ? i + 1 : m->looked;
	return true;
}

/* Trains the range, or its front. */
static bool
train(struct idx_lserver *m, uint64_t i)
{
	struct range *r = &m->range[i];
	const uint64_t *end = end_of(m, i);
	if (idx_sub_train(&m->sub, m->words, &m->leaves, m->base + i * m->words, end) != NAM_OK)
		return false;
	uint32_t bytes = idx_sub_encode(&m->sub, m->piece);
	void *piece = r->bytes == bytes ? r->piece : malloc(bytes);
	if (piece == NULL)
		return false;
	if (piece != r->piece)
		free(r->piece);
	memcpy(piece, m->piece, bytes);
	r->piece = piece;
	r->bytes = bytes;
	set_stale(m, i, false);
	m->trainings++;
	if (m->sub.last != (end == NULL) || (end != NULL && idx_words_order(m->sub.end, end, m->words) != 0))
		return cut(m, i, m->sub.end);
	return true;
}

void
idx_lserver_stale(struct idx_lserver *m, const uint64_t *key)
{
	uint64_t i = find(m, key);
	if (m->range[i].stale)
		return;
	set_stale(m, i, true);
	if (m->queued < QUEUE)
		memcpy(m->queue[(m->first + m->queued++) % QUEUE], key, 8 * m->words);
	else {
		m->look = true;
		m->looked = 0;
	}
}

void
idx_lserver_joined(struct idx_lserver *m, const uint64_t *low, const uint64_t *was)
{
	uint64_t from = find(m, low), to = find(m, was);
	if (to > from + 1) {
		uint64_t gone = to - from - 1;
		for (uint64_t i = from + 1; i < to; i++) {
			set_stale(m, i, false);
			free(m->range[i].piece);
		}
		memmove(m->range + from + 1, m->range + to, (m->n - to) * sizeof *m->range);
		memmove(m->base + (from + 1) * m->words, m->base + to * m->words, (m->n - to) * 8 * m->words);
		m->n -= gone;
		m->look = true;
		m->looked = 0;
	}
	idx_lserver_stale(m, low);
	idx_lserver_stale(m, was);
}

bool
idx_lserver_step(struct idx_lserver *m)
{
	enum { LOOKS = 4096 };
	while (m->queued > 0) {
		uint64_t i = find(m, m->queue[m->first]);
		m->first = (m->first + 1) % QUEUE;
		m->queued--;
		if (m->range[i].stale)
			return train(m, i);
	}
	if (!m->look)
		return false;
	for (unsigned k = 0; k < LOOKS && m->looked < m->n; k++, m->looked++)
		if (m->range[m->looked].stale)
			return train(m, m->looked);
	m->look = m->looked < m->n;
	return m->look;
}

const void *
idx_lserver_fresh(struct idx_lserver *m, const uint64_t *key, uint32_t *bytes)
{
	enum { TRIES = 4 };
	uint64_t i = find(m, key);
	/* What is trained may end in front of the key; the rest is then a range of its own. */
	for (unsigned k = 0; k < TRIES && m->range[i].stale; k++, i = find(m, key)) {
		struct idx_point p;
		m->leaves.seek(m->leaves.arg, key, 0, &p);
		/* The key may lie far behind the begin of an untrained range: cut it at its
		 * leaf. */
		bool far =
		    m->range[i].piece == NULL && idx_words_order(p.key, m->base + i * m->words, m->words) > 0;
		if (far && !cut(m, i, p.key))
			return NULL;
		if (!train(m, i + far))
			return NULL;
	}
	*bytes = m->range[i].bytes;
	return m->range[i].piece;
}

uint32_t
idx_lserver_copy(struct idx_lserver *m, const uint64_t *key, unsigned train_most, void *out, uint32_t cap,
    uint64_t *next, bool *more)
{
	uint32_t len = 0;
	uint64_t i = find(m, key);
	for (; i < m->n; i++) {
		if (m->range[i].piece == NULL) {
			if (train_most == 0 || !train(m, i))
				break;
			train_most--;
		}
		if (m->range[i].bytes > cap - len)
			break;
		memcpy((uint8_t *)out + len, m->range[i].piece, m->range[i].bytes);
		len += m->range[i].bytes;
	}
	*more = i < m->n;
	if (*more)
		memcpy(next, m->base + i * m->words, 8 * m->words);
	return len;
}

uint64_t
idx_lserver_trainings(const struct idx_lserver *m)
{
	return m->trainings;
}

void
idx_lserver_shape(const struct idx_lserver *m, struct idx_lserver_shape *out)
{
	*out = (struct idx_lserver_shape){
		.ranges = m->n, .stale = m->stale, .trainings = m->trainings, .cuts = m->cuts
	};
	for (uint64_t i = 0; i < m->n; i++) {
		if (m->range[i].piece == NULL)
			continue;
		struct idx_piece_head p;
		memcpy(&p, m->range[i].piece, sizeof p);
		uint64_t table = 8u * idx_entry_words(&p.sub) * p.sub.leaves;
		out->trained++;
		out->leaves += p.sub.leaves;
		out->wide += p.sub.kind == IDX_WIDE;
		out->table_bytes += table;
		out->model_bytes += p.bytes - table;
	}
}
