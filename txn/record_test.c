/* record_test.c -- block images torn in every way a READ may tear them: the directory's proof
 * holds, a naive twin is fooled. */
#include <txn/testing/fixture.h>

enum { SLOTS_MAX = 4, WORDS = 96, VERSIONS = 7, PAYLOAD = 40, ROUNDS = 60000 };

/* One record's life, step by step, as a writer's WRITEs leave memory: each step is what one WRITE
 * changes. */
struct step {
	unsigned from, words; /* the words it writes, in any order */
	uint64_t after[WORDS];
};

struct life {
	struct txn_table_view v;
	net_addr at;
	unsigned words;
	uint64_t block[WORDS]; /* as memory is when all steps so far have landed */
	struct step step[4 * VERSIONS];
	unsigned steps;
	uint64_t cid[VERSIONS + 1];
	unsigned versions;
	unsigned dir_done[VERSIONS + 1]; /* steps that must have executed before a snapshot may
					  * cover it */
};

static const struct rec_block *
block_of(const uint64_t *words)
{
	return (const void *)words;
}

static void
view_set(struct txn_table_view *v, unsigned slots)
{
	v->slots = (uint16_t)slots;
	v->row_max = PAYLOAD;
	v->head_bytes = 8 * (4 + slots);
	v->slot_bytes = (uint32_t)sizeof(struct rec_slot) + PAYLOAD;
	v->block_bytes = (v->head_bytes + slots * v->slot_bytes + 63) & ~63u;
}

static void
payload_of(uint64_t cid, unsigned char *p)
{
	for (unsigned i = 0; i < PAYLOAD; i++)
		p[i] = (unsigned char)(nam_mix(cid) >> (i % 8 * 8));
}

static void
write_words(struct life *l, unsigned from, const void *bytes, unsigned len)
{
	struct step *s = &l->step[l->steps++];
	s->from = from;
	s->words = len / 8;
	memcpy(&l->block[from], bytes, len);
	memcpy(s->after, l->block, sizeof s->after);
}

/* A commit: lock, version, directory, word. aborted: lock, version, unlock. The slot is archived
 * (R4) if need be. */
static void
commit(struct life *l, uint64_t cid, bool aborted)
{
	struct txn_table_view *v = &l->v;
	unsigned target = 0;
	uint64_t low = UINT64_MAX, before = l->block[REC_WORD];
	for (unsigned k = 0; k < v->slots; k++) {
		uint64_t c = rec_listed(l->block[REC_CID + k]);
		if (c < low) {
			low = c;
			target = k;
		}
	}
	uint64_t lock = txn_lock_word(1, 1, 1, (uint32_t)cid);
	write_words(l, REC_WORD, &lock, 8);
	/* An overwritten version is archived and linked before, or its successor is below every
	 * snapshot: here the first. */
	uint64_t dir[3 + SLOTS_MAX];
	memcpy(dir, &l->block[REC_IDENT], (3 + v->slots) * 8u);
	if (low != 0 && !(dir[2 + target] & REC_ARCHIVED)) {
		struct rec_block img;
		dir[1] = 0xa0000 + low;
		dir[2 + target] |= REC_ARCHIVED;
		memcpy(&img.ident, dir, sizeof dir);
		dir[2 + v->slots] = rec_dir_check(&img, v->slots, l->at.bits);
		write_words(l, REC_IDENT, dir, (3 + v->slots) * 8u);
	}
	uint64_t raw[(sizeof(struct rec_slot) + PAYLOAD) / 8] = { 0 };
	struct rec_slot *s = (struct rec_slot *)(void *)raw;
	s->cid = cid;
	s->meta = PAYLOAD;
	payload_of(cid, s->payload);
	s->check = rec_slot_check(nam_hash(s->payload, PAYLOAD, 0), cid, s->meta, l->at.bits);
	write_words(l, (v->head_bytes + target * v->slot_bytes) / 8, raw, sizeof raw);
	if (aborted) {
		write_words(l, REC_WORD, &before, 8);
		return;
	}
	struct rec_block img;
	dir[0] = 77;
	dir[2 + target] = cid;
	memcpy(&img.ident, dir, sizeof dir);
	dir[2 + v->slots] = rec_dir_check(&img, v->slots, l->at.bits);
	write_words(l, REC_IDENT, dir, (3 + v->slots) * 8u);
	write_words(l, REC_WORD, &cid, 8);
	l->cid[l->versions] = cid;
	l->dir_done[l->versions++] = l->steps;
}

/* A READ from step `from` to step `to`: each word as it was at some time between, WRITEs torn word
 * by word. */
static void
torn_image(const struct life *l, struct nam_rng *d, unsigned from, unsigned to, uint64_t *img)
{
	static const uint64_t zero[WORDS];
	const uint64_t *base = from ? l->step[from - 1].after : zero;
	for (unsigned w = 0; w < l->words; w++) {
		uint64_t seen[4 * VERSIONS + 1];
		unsigned n = 0;
		seen[n++] = base[w];
		for (unsigned s = from; s < to; s++)
			if (w >= l->step[s].from && w < l->step[s].from + l->step[s].words)
				seen[n++] = l->step[s].after[w];
		img[w] = seen[nam_rng_below(d, n)];
	}
}

/* The twin: newest slot at or below the snapshot. checks: only slots whose sum holds. 0 = none. */
static uint64_t
naive(const struct life *l, const uint64_t *img, uint64_t snapshot, bool checks, bool *garbage)
{
	const struct rec_slot *best = NULL;
	for (unsigned k = 0; k < l->v.slots; k++) {
		const struct rec_slot *s = rec_slot_of(&l->v, block_of(img), k);
		if (s->cid == 0 || s->cid > snapshot || (uint32_t)s->meta > PAYLOAD)
			continue;
		if (checks && s->check != rec_slot_check(nam_hash(s->payload, (uint32_t)s->meta, 0), s->cid,
					      s->meta, l->at.bits))
			continue;
		if (best == NULL || s->cid > best->cid)
			best = s;
	}
	unsigned char p[PAYLOAD];
	*garbage = false;
	if (best == NULL)
		return 0;
	payload_of(best->cid, p);
	*garbage = memcmp(p, best->payload, PAYLOAD) != 0;
	return best->cid;
}

static void
test_torn(void **state)
{
	(void)state;
	struct nam_rng d;
	nam_rng_init(&d, 42);
	unsigned found[4] = { 0 }, wrong = 0, garbage = 0, dirty = 0, unlocked_wrong = 0;
	struct life *l = calloc(1, sizeof *l);
	assert_non_null(l);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned slots = 2 + round % 3;
		if (round % 50 < 3) { /* a new life now and then, one for each number of slots in
				       * turn */
			memset(l, 0, sizeof *l);
			view_set(&l->v, slots);
			l->at = net_at(1, 0x10040);
			l->words = l->v.block_bytes / 8;
			assert_true(l->words <= WORDS);
			uint64_t cid = 0x1000000000000 + nam_rng_below(&d, 9);
			for (unsigned k = 0; k < 5; k++) {
				cid += 1 + nam_rng_below(&d, 4);
				commit(l, cid, k > 0 && nam_rng_below(&d, 4) == 0);
			}
		}
		if (l->versions == 0)
			continue;
		/* A snapshot covers versions all steps of which had executed when the READ
		 * began. */
		unsigned from = (unsigned)nam_rng_below(&d, l->steps + 1);
		unsigned to = from + (unsigned)nam_rng_below(&d, l->steps + 1 - from);
		uint64_t right = 0, above = UINT64_MAX;
		for (unsigned k = 0; k < l->versions; k++) {
			if (l->dir_done[k] <= from)
				right = l->cid[k];
			else if (above == UINT64_MAX)
				above = l->cid[k];
		}
		if (right == 0)
			continue;
		/* Sometimes an older snapshot: its version lies in the archive by now. */
		uint64_t snapshot = above == UINT64_MAX ? right + nam_rng_below(&d, 3)
							: right + nam_rng_below(&d, above - right);
		if (nam_rng_below(&d, 4) == 0) {
			snapshot = l->cid[nam_rng_below(&d, l->versions)];
			right = 0;
			for (unsigned k = 0; k < l->versions; k++)
				if (l->cid[k] <= snapshot)
					right = l->cid[k];
			if (l->dir_done[0] > from || snapshot > l->cid[l->versions - 1])
				continue;
			bool covered = false;
			for (unsigned k = 0; k < l->versions; k++)
				covered = covered || (l->cid[k] == right && l->dir_done[k] <= from);
			if (!covered)
				continue;
		}
		uint64_t img[WORDS] = { 0 };
		torn_image(l, &d, from, to, img);
		unsigned k = 0;
		enum rec_found f = txn_rec_resolve(&l->v, block_of(img), l->at, snapshot, &k);
		found[f]++;
		if (f == REC_HERE) {
			const struct rec_slot *s = rec_slot_of(&l->v, block_of(img), k);
			unsigned char p[PAYLOAD];
			payload_of(right, p);
			assert_int_equal(s->cid, right);
			assert_memory_equal(s->payload, p, PAYLOAD);
		}
		assert_true(f != REC_NONE); /* the record is there: never absent */
		bool bad;
		uint64_t cid = naive(l, img, snapshot, true, &bad);
		assert_false(bad);
		bool known = cid == 0;
		for (unsigned i = 0; i < l->versions; i++)
			known = known || l->cid[i] == cid;
		dirty += !known;
		wrong += cid != right && cid != 0 && known;
		cid = naive(l, img, snapshot, false, &bad);
		garbage += bad;
		if (!(img[REC_WORD] & REC_LOCK))
			unlocked_wrong += bad || cid != right;
	}
	print_message(
	    "here %u, older %u, torn %u; twins: %u stale, %u rolled back, %u garbage, %u wrong though "
	    "unlocked\n",
	    found[REC_HERE], found[REC_OLDER], found[REC_TORN], wrong, dirty, garbage, unlocked_wrong);
	assert_true(found[REC_HERE] > 1000);
	assert_true(found[REC_OLDER] > 100);
	assert_true(found[REC_TORN] > 100);
	/* Else the images prove nothing. */
	assert_true(wrong > 0 && dirty > 0 && garbage > 0 && unlocked_wrong > 0);
	free(l);
}

/* Bytes from elsewhere are judged, not trusted. */
static void
test_lengths(void **state)
{
	(void)state;
	struct txn_table_view v = { 0 };
	view_set(&v, 2);
	uint64_t img[WORDS] = { 0 };
	net_addr at = net_at(1, 0x10040);
	struct rec_slot *s = (void *)((char *)img + v.head_bytes);
	s->cid = 9;
	static const uint64_t meta[] = { PAYLOAD + 1, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 33 | 8 };
	for (unsigned i = 0; i < sizeof meta / sizeof *meta; i++) {
		s->meta = meta[i];
		s->check = rec_slot_check(nam_hash(s->payload, 8, 0), 9, s->meta, at.bits);
		assert_false(txn_rec_slot_whole(&v, s, 9, at));
	}
	s->meta = PAYLOAD;
	s->check = rec_slot_check(nam_hash(s->payload, PAYLOAD, 0), 9, s->meta, at.bits);
	assert_true(txn_rec_slot_whole(&v, s, 9, at));
	assert_false(txn_rec_slot_whole(&v, s, 8, at));
	assert_false(txn_rec_slot_whole(&v, s, 9, net_at(1, 0x10080))); /* another block's */
}

static void
lock_words(void **state)
{
	(void)state;
	const unsigned owner[] = { 0, 255, 4095 }, epoch[] = { 1, 0x155555, (1 << TXN_EPOCH_BITS) - 1 };
	const unsigned intent[] = { 0, 511, TXN_INTENT_GC };
	const uint32_t generation[] = { 0, 0x2aaaa, TXN_GENERATION_MAX };
	for (unsigned i = 0; i < 81; i++) {
		uint64_t w =
		    txn_lock_word(owner[i / 27], epoch[i / 9 % 3], intent[i / 3 % 3], generation[i % 3]);
		assert_true((w & REC_LOCK) != 0);
		assert_int_equal(txn_lock_owner(w), owner[i / 27]);
		assert_int_equal(txn_lock_epoch(w), epoch[i / 9 % 3]);
		assert_int_equal(txn_lock_intent(w), intent[i / 3 % 3]);
		assert_int_equal(txn_lock_generation(w), generation[i % 3]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(lock_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
