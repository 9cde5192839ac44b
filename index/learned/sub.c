/* sub.c -- a sub-model as a piece (learned_format.h), and a guess by it. */
#include <base/assert.h>
#include <index/learned/learned_internal.h>

static uint32_t
piece_bytes(unsigned words, const struct idx_sub_head *h)
{
	return (uint32_t)sizeof(struct idx_piece_head) + 16 * words + 8 * idx_entry_words(h) * h->leaves;
}

uint32_t
idx_sub_encode(const struct idx_sub *s, void *out)
{
	struct idx_piece_head p = { .bytes = piece_bytes(s->words, &s->head),
		.words = (uint16_t)s->words,
		.last = s->last,
		.sub = s->head };
	uint8_t *at = out;
	memcpy(at, &p, sizeof p);
	memcpy(at + sizeof p, s->base, 8 * s->words);
	memcpy(at + sizeof p + 8 * s->words, s->end, 8 * s->words);
	uint32_t front = (uint32_t)sizeof p + 16 * s->words;
	memcpy(at + front, s->table, p.bytes - front);
	return p.bytes;
}

static bool
head_sound(const struct idx_sub_head *h, unsigned words)
{
	return h->kind < IDX_SUB_KINDS && h->leaves >= 1 && h->f_shift <= 127 && h->q_shift <= 63 &&
	       h->skip <= 64 * (words - 1) && h->low <= 0 && h->low >= -IDX_SUB_LEAVES_MAX && h->high >= 0 &&
	       h->high <= IDX_SUB_LEAVES_MAX && h->zero == 0;
}

static bool
table_sound(const struct idx_sub *s, uint64_t leaf_max)
{
	unsigned words = idx_entry_words(&s->head);
	bool wide = words == 2, good = true;
	uint64_t before = 0;
	for (unsigned i = 0; i < s->head.leaves; i++) {
		uint64_t e = s->table[words * i + words - 1], leaf = e >> IDX_LEAF_SHIFT;
		uint64_t at = wide ? s->table[2 * i] : e & IDX_VALUE_MASK;
		good &= leaf != 0 && leaf < leaf_max && at >= before;
		good &= !wide || (e & (IDX_VALUE_MASK & ~UINT64_C(1))) == 0;
		before = at;
	}
	/* The first entry stands for the keys from base on. */
	return good && (wide ? s->table[0] : s->table[0] & IDX_VALUE_MASK) == 0;
}

nam_status
idx_sub_decode(
    struct idx_sub *out, unsigned words, uint64_t leaf_max, const void *bytes, uint32_t len, uint32_t *used)
{
	struct idx_piece_head p;
	const uint8_t *at = bytes;
	uint32_t front = (uint32_t)sizeof p + 16 * words;
	if (len < front)
		return NAM_CORRUPT;
	memcpy(&p, at, sizeof p);
	if (p.words != words || p.last > 1 || p.zero != 0 || !head_sound(&p.sub, words) ||
	    p.bytes != piece_bytes(words, &p.sub) || p.bytes > len)
		return NAM_CORRUPT;
	out->words = words;
	out->last = p.last;
	out->head = p.sub;
	memcpy(out->base, at + sizeof p, 8 * words);
	memcpy(out->end, at + sizeof p + 8 * words, 8 * words);
	memcpy(out->table, at + front, p.bytes - front);
	if ((!out->last && idx_words_order(out->base, out->end, words) >= 0) || !table_sound(out, leaf_max))
		return NAM_CORRUPT;
	if (used != NULL)
		*used = p.bytes;
	return NAM_OK;
}

void
idx_sub_guess(const struct idx_sub *s, const uint64_t *key, struct idx_guess *out)
{
	unsigned low, high, first, last;
	uint64_t d = idx_distance(key, s->base, s->head.skip);
	idx_window(&s->head, d, &low, &high);
	idx_pick(&s->head, s->table + idx_entry_words(&s->head) * low, d, low, high, &first, &last);
	idx_tell(&s->head, s->table, 0, first, last, out);
}
