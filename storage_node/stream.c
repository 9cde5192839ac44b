/*
 * stream.c -- executes a tcp peer's verbs on the region: the node's software RNIC.
 *
 * One ask after the other, so every order that net.h promises holds by itself.
 * Payloads are moved in pieces as they come and go, so a connection needs two
 * fixed buffers however long its READs and WRITEs are. A piece ends at a word's
 * boundary in the region, so that no aligned word is torn (see exec.h).
 */
#include <net/exec.h>
#include <net/provider.h>
#include <net/wire.h>
#include <storage_node/server_internal.h>

#include <string.h>

enum {
	ANSWER_MAX = sizeof(struct net_answer) + 8, /* except a READ's payload, which is sent in
						     * pieces */
	AHEAD = 16,                                 /* asks whose cache lines are fetched
						     * together */
};

static void
count_one(atomic_uint_fast64_t *c)
{
	atomic_fetch_add_explicit(c, 1, memory_order_relaxed);
}

static const char *
judge(const struct sn_server *s, const struct net_ask *a)
{
	const uint64_t offset_mask = (UINT64_C(1) << 48) - 1;
	if (a->code >= NET_CODES)
		return "unknown verb";
	if (a->zero != 0 || (a->flags & ~(NET_FENCE | NET_INLINE | NET_QUIET)) != 0)
		return "unknown flags";
	if (a->at >> 48 != s->shake.region)
		return "address of another region";
	if (a->len > NET_LEN_MAX)
		return "length beyond the limit";
	if ((a->at & offset_mask) + a->len > s->size)
		return "address out of bounds";
	bool atomic = a->code == NET_CAS || a->code == NET_FAA;
	if (atomic && (a->len != 8 || (a->at & 7) != 0))
		return "misaligned atomic";
	if (a->code == NET_READ && (a->flags & NET_QUIET))
		return "quiet READ";
	return NULL;
}

static uint32_t
words_of(const struct net_ask *a)
{
	return a->code == NET_CAS ? 2 : a->code == NET_FAA || a->code == NET_WRITE_IMM ? 1 : 0;
}

static void
answer(struct sn_stream *st, const uint64_t *seen)
{
	if (st->ask.flags & NET_QUIET)
		return;
	struct net_answer a = { .code = st->ask.code, .len = st->ask.len };
	memcpy(st->buf->out + st->out_len, &a, sizeof a);
	st->out_len += sizeof a;
	if (seen != NULL) {
		memcpy(st->buf->out + st->out_len, seen, 8);
		st->out_len += 8;
	}
}

/* How much of `room` may be moved now, so that the piece ends at a word's boundary or at the
 * end. */
static uint32_t
piece(uint64_t at, uint32_t left, uint32_t room)
{
	if (left <= room)
		return left;
	uint32_t ragged = (uint32_t)((at + room) & 7);
	return room > ragged ? room - ragged : 0;
}

/* Moves WRITE payload from `in` to the region. True when the ask is over. */
static bool
write_some(struct sn_server *s, struct sn_stream *st)
{
	uint64_t at = net_offset_of((net_addr){ st->ask.at }) + st->moved;
	uint32_t have = st->in_len - st->in_pos, left = st->ask.len - st->moved;
	uint32_t tail = (uint32_t)(net_pad8(st->ask.len) - st->ask.len);
	uint32_t n = piece(at, left, have);
	if (n > 0) {
		net_copy_in(s->base + at, st->buf->in + st->in_pos, n);
		st->dirty = true;
		st->in_pos += n;
		st->moved += n;
	}
	if (st->moved < st->ask.len || st->in_len - st->in_pos < tail)
		return false;
	st->in_pos += tail;
	return true;
}

/* Moves READ payload from the region to `out`. True when the ask is over. */
static bool
read_some(struct sn_server *s, struct sn_stream *st)
{
	uint64_t at = net_offset_of((net_addr){ st->ask.at }) + st->moved;
	uint32_t left = st->ask.len - st->moved, tail = (uint32_t)(net_pad8(st->ask.len) - st->ask.len);
	uint32_t room = SN_BUFFER - st->out_len;
	uint32_t n = piece(at, left, room > tail ? room - tail : 0);
	/* A shm peer must see earlier WRITEs before these loads happen (post.c does the same). */
	if (st->dirty) {
		net_fence_stores_before_loads();
		st->dirty = false;
	}
	net_copy_out(st->buf->out + st->out_len, s->base + at, n);
	st->out_len += n;
	st->moved += n;
	if (st->moved < st->ask.len)
		return false;
	memset(st->buf->out + st->out_len, 0, tail);
	st->out_len += tail;
	return true;
}

/* V1 (net/provider/verbs_format.h): by the device if it is the node's atomics engine, else here. */
static bool
atomic(struct sn_server *s, const struct net_ask *a, char *at, const uint64_t word[2], uint64_t *seen)
{
	if (sn_verbs_device_atomics(s)) {
		net_fence_stores_before_loads(); /* earlier WRITEs of this peer come first */
		return sn_verbs_atomic(s, a->code, (uint64_t)(at - s->base), word[0], word[1], seen);
	}
	*seen = a->code == NET_CAS ? net_exec_cas(at, word[0], word[1]) : net_exec_faa(at, word[0]);
	return true;
}

/*
 * Asks come many at a time, and each address is probably a cache miss: let those overlap. No ask
 * has been judged yet, so this trusts none: an address out of bounds ends it, and so does the first
 * WRITE. Returns after how many asks to come again. Inline, because gcc 12 takes a function that
 * only prefetches for a pure one, and leaves it out.
 */
static inline __attribute__((always_inline)) unsigned
bring_near(const struct sn_server *s, const struct sn_stream *st)
{
	struct net_ask a;
	uint32_t at = st->in_pos;
	unsigned i = 0;
	for (; i < AHEAD && at + sizeof a <= st->in_len; i++) {
		memcpy(&a, st->buf->in + at, sizeof a);
		uint64_t offset = net_offset_of((net_addr){ a.at });
		if (a.code == NET_WRITE || a.code == NET_WRITE_IMM || offset >= s->size)
			break;
		__builtin_prefetch(s->base + offset);
		at += (uint32_t)sizeof a + 8 * words_of(&a);
	}
	return i + 1;
}

enum sn_verdict
sn_stream_work(struct sn_server *s, struct sn_stream *st, const char **why)
{
	(void)atomic_load_explicit(&sn_answers, memory_order_acquire);
	for (unsigned near = 0;;) {
		if (!st->busy) {
			if (near == 0)
				near = bring_near(s, st);
			near--;
			uint32_t have = st->in_len - st->in_pos;
			if (have < sizeof st->ask)
				break;
			struct net_ask a;
			memcpy(&a, st->buf->in + st->in_pos, sizeof a);
			if ((*why = judge(s, &a)) != NULL)
				return SN_GARBAGE;
			uint32_t words = words_of(&a);
			if (have < sizeof a + 8 * words || SN_BUFFER - st->out_len < ANSWER_MAX)
				break;
			memcpy(st->word, st->buf->in + st->in_pos + sizeof a, 8 * words);
			st->in_pos += (uint32_t)sizeof a + 8 * words;
			st->ask = a;
			st->moved = 0;
			st->busy = true;
			count_one(&s->count.asks);
			if (a.code == NET_READ)
				answer(st, NULL); /* its payload follows */
		}
		char *at = s->base + net_offset_of((net_addr){ st->ask.at });
		uint64_t seen;
		switch (st->ask.code) {
		case NET_READ:
			if (!read_some(s, st))
				goto out;
			break;
		case NET_WRITE:
		case NET_WRITE_IMM:
			if (!write_some(s, st))
				goto out;
			if (st->ask.code == NET_WRITE_IMM)
				sn_server_immediate(s, st->word[0]);
			answer(st, NULL);
			break;
		default:
			if (!atomic(s, &st->ask, at, st->word, &seen)) {
				*why = "our RDMA device did not execute its atomic";
				return SN_GARBAGE;
			}
			answer(st, &seen);
		}
		st->busy = false;
	}
out:
	/* Keep the rest at the front, and its place within a word. */
	if (st->in_pos == st->in_len) {
		st->in_pos = st->in_len = 0;
	} else if (st->in_pos >= 8) {
		uint32_t to = st->in_pos & 7;
		memmove(st->buf->in + to, st->buf->in + st->in_pos, st->in_len - st->in_pos);
		st->in_len -= st->in_pos - to;
		st->in_pos = to;
	}
	return SN_GO_ON;
}
