/* numeric_sum.c -- running sums of numerics: an __int128 that spills into a longer number when it
 * must. */
#include <types/numeric_internal.h>

#include <string.h>

struct cat_num_big {
	struct cat_str total;
	uint32_t room; /* bytes at total.p */
};

static inline __int128
acc_get(const struct cat_num_sum *s)
{
	return (__int128)((u128)s->hi << 64 | s->lo);
}

static inline void
acc_set(struct cat_num_sum *s, __int128 v)
{
	s->lo = (uint64_t)v;
	s->hi = (uint64_t)((u128)v >> 64);
}

/* big += v, in the same memory when it fits; scratch goes back to the arena. */
static bool
spill(struct cat_num_sum *s, struct cat_str v, struct nam_arena *arena, struct cat_err *err)
{
	if (s->big == NULL) {
		s->big = nam_arena_zero(arena, sizeof *s->big);
		if (s->big == NULL)
			return cat_num_oom(err);
		s->big->total = (struct cat_str){ "", 0 };
	}
	struct cat_num_big *b = s->big;
	struct nam_arena before = *arena;
	struct cat_str sum;
	if (!cat_num_add(b->total, v, &sum, arena, err))
		return false;
	if (sum.len <= b->room) {
		memcpy((char *)(uintptr_t)b->total.p, sum.p, sum.len);
		b->total.len = sum.len;
		if (before.current == arena->current)
			*arena = before;
		return true;
	}
	uint32_t room = sum.len * 2 + 64;
	char *p = nam_arena_take(arena, room);
	if (p == NULL)
		return cat_num_oom(err);
	memcpy(p, sum.p, sum.len);
	b->total = (struct cat_str){ p, sum.len };
	b->room = room;
	return true;
}

static bool
spill_acc(struct cat_num_sum *s, struct nam_arena *arena, struct cat_err *err)
{
	uint8_t room[64];
	struct nam_arena tmp = { .at = (char *)room, .end = (char *)room + sizeof room };
	struct cat_str v;
	if (!cat_num_from_int128(acc_get(s), s->scale, &v, &tmp, err) || !spill(s, v, arena, err))
		return false;
	acc_set(s, 0);
	return true;
}

bool
cat_num_sum_add_int(struct cat_num_sum *s, int64_t v, struct nam_arena *arena, struct cat_err *err)
{
	__int128 r;
	if (__builtin_expect(s->scale != 0, 0) || __builtin_add_overflow(acc_get(s), (__int128)v, &r)) {
		uint8_t room[64];
		struct nam_arena tmp = { .at = (char *)room, .end = (char *)room + sizeof room };
		struct cat_str n;
		return cat_num_from_int(v, &n, &tmp, err) && cat_num_sum_add(s, n, arena, err);
	}
	acc_set(s, r);
	s->n++;
	return true;
}

bool
cat_num_sum_add(struct cat_num_sum *s, struct cat_str v, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(v);
	s->n++;
	if (a.special) {
		if (a.special == NUM_NAN)
			s->nan = 1;
		else if (a.neg)
			s->minus_inf = 1;
		else
			s->plus_inf = 1;
		return true;
	}
	__int128 x, r;
	if (a.scale > s->scale) {
		/* Rescale what we have, through the long number when it does not fit. */
		uint8_t room[64];
		struct nam_arena tmp = { .at = (char *)room, .end = (char *)room + sizeof room };
		struct cat_str old;
		if (!cat_num_from_int128(acc_get(s), s->scale, &old, &tmp, err))
			return false;
		if (!cat_num_to_int128(old, a.scale, &r)) {
			if (!spill_acc(s, arena, err))
				return false;
			r = 0;
		}
		acc_set(s, r);
		s->scale = a.scale;
	}
	if (!cat_num_to_int128(v, s->scale, &x))
		return spill(s, v, arena, err);
	if (__builtin_add_overflow(acc_get(s), x, &r)) {
		if (!spill_acc(s, arena, err))
			return false;
		r = x;
	}
	acc_set(s, r);
	return true;
}

bool
cat_num_sum_add_far(
    struct cat_num_sum *s, int64_t v, unsigned scale, struct nam_arena *arena, struct cat_err *err)
{
	uint8_t room[64];
	struct nam_arena tmp = { .at = (char *)room, .end = (char *)room + sizeof room };
	struct cat_str n;
	return cat_num_from_int128(v, scale, &n, &tmp, err) && cat_num_sum_add(s, n, arena, err);
}

bool
cat_num_sum_add_all(
    struct cat_num_sum *s, struct cat_str v, uint64_t n, struct nam_arena *arena, struct cat_err *err)
{
	uint64_t before = s->n;
	bool ok = n == 0 || cat_num_sum_add(s, v, arena, err);
	s->n = before + n;
	return ok;
}

bool
cat_num_sum_merge(
    struct cat_num_sum *s, const struct cat_num_sum *x, struct nam_arena *arena, struct cat_err *err)
{
	__int128 r;
	uint8_t room[64];
	struct nam_arena tmp = { .at = (char *)room, .end = (char *)room + sizeof room };
	struct cat_str v;
	if (x->n == 0)
		return true;
	if (s->n == 0 && s->big == NULL)
		s->scale = x->scale;
	if (s->scale == x->scale && !__builtin_add_overflow(acc_get(s), acc_get(x), &r)) {
		acc_set(s, r);
		s->n += x->n;
		return true;
	}
	return cat_num_from_int128(acc_get(x), x->scale, &v, &tmp, err) &&
	       cat_num_sum_add_all(s, v, x->n, arena, err);
}

bool
cat_num_sum_get(
    const struct cat_num_sum *s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	if (s->nan || (s->plus_inf && s->minus_inf))
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	if (s->plus_inf || s->minus_inf)
		return cat_num_store_special(NUM_INF, s->minus_inf, out, arena, err);
	if (!cat_num_from_int128(acc_get(s), s->scale, out, arena, err))
		return false;
	return s->big == NULL || cat_num_add(*out, s->big->total, out, arena, err);
}
