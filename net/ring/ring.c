/* ring.c -- messages in a ring: put with a seal, taken only when the seal proves every word
 * (ring_format.h). */
#include <base/assert.h>
#include <base/hash.h>
#include <net/exec.h>
#include <net/ring/ring.h>

#include <string.h>

enum { NUMBERS = 0xffffff, LENGTHS = 0xffffff };

static uint64_t
head_of(unsigned flags, uint32_t number, uint32_t len)
{
	return NET_RING_MARK << 56 | (uint64_t)flags << 48 | (uint64_t)(number & NUMBERS) << 24 | len;
}

static uint64_t
seal_of(uint64_t seed, uint64_t pos, uint64_t head, uint64_t about, const void *payload, uint32_t len)
{
	const uint64_t all[] = { pos, head, about, len != 0 ? nam_hash(payload, len, seed) : seed };
	uint64_t seal = nam_fold_words(all, sizeof all / sizeof *all, seed);
	return seal != 0 ? seal : 1;
}

static uint32_t
before_end(uint64_t pos, uint32_t bytes)
{
	return bytes - (uint32_t)(pos & (bytes - 1));
}

uint64_t
net_ring_after(const struct net_ring_out *r, uint32_t payload)
{
	uint32_t whole = net_ring_whole(payload), left = before_end(r->pos, r->bytes);
	return r->pos + (whole > left ? left : 0) + whole;
}

unsigned
net_ring_put(struct net_ring_out *r, unsigned flags, uint64_t about, const void *payload, uint32_t len,
    struct net_ring_run run[2])
{
	uint32_t whole = net_ring_whole(len), left = before_end(r->pos, r->bytes);
	unsigned runs = 0;
	NAM_ASSERT(len <= net_ring_payload_max(r->bytes));
	if (whole > left) {
		uint64_t wrap = head_of(NET_RING_WRAP, r->number, 0);
		run[runs++] = (struct net_ring_run){ r->bytes - left, 8 };
		memcpy(r->mirror + r->bytes - left, &wrap, 8);
		r->pos += left;
	}
	uint32_t at = (uint32_t)(r->pos & (r->bytes - 1));
	char *to = r->mirror + at;
	uint64_t head = head_of(flags, r->number, len);
	uint64_t seal = seal_of(r->seed, r->pos, head, about, payload, len);
	memcpy(to, &head, 8);
	memcpy(to + 8, &about, 8);
	if (len != 0) {
		memset(to + whole - 16, 0, 8); /* the padding lies there */
		memcpy(to + 16, payload, len);
	}
	memcpy(to + whole - 8, &seal, 8);
	r->pos += whole;
	r->number++;
	run[runs++] = (struct net_ring_run){ at, whole };
	return runs;
}

/* G1: what was taken reads as zeros again. */
void
net_ring_empty(char *at, uint32_t len)
{
	static const char zeros[4096];
	for (; len > sizeof zeros; len -= sizeof zeros, at += sizeof zeros)
		net_copy_in(at, zeros, sizeof zeros);
	net_copy_in(at, zeros, len);
}

static uint64_t
word_at(const char *at)
{
	return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

enum net_ring_sight
net_ring_take(struct net_ring_in *r, void *into, uint32_t room, struct net_ring_message *m)
{
	char *at = r->ring + (r->pos & (r->bytes - 1));
	uint64_t head = word_at(at);
	if (head == 0)
		return NET_RING_NOTHING;
	if (head == head_of(NET_RING_WRAP, r->number, 0)) {
		uint32_t left = before_end(r->pos, r->bytes);
		if (left == r->bytes)
			return NET_RING_ODD;
		net_ring_empty(at, 8);
		r->pos += left;
		at = r->ring;
		if ((head = word_at(at)) == 0)
			return NET_RING_NOTHING;
	}
	uint32_t len = (uint32_t)(head & LENGTHS), whole = net_ring_whole(len);
	unsigned flags = (unsigned)(head >> 48 & 0xff);
	if (head != head_of(flags, r->number, len) || (flags & ~NET_RING_FLAGS) != 0 ||
	    (flags & NET_RING_WRAP) != 0)
		return NET_RING_ODD;
	if (len > room || whole > r->bytes / 2 || whole > before_end(r->pos, r->bytes))
		return NET_RING_ODD;
	uint64_t seal = word_at(at + whole - 8), about = word_at(at + 8);
	if (seal == 0)
		return NET_RING_PART;
	/* Judges the copy, because the ring's bytes may change meanwhile. */
	if (len != 0)
		net_copy_out(into, at + 16, len);
	if (seal != seal_of(r->seed, r->pos, head, about, into, len))
		return NET_RING_ODD;
	/* All that the writer did before the message comes before all that the reader does because
	 * of it. */
	net_fence_loads_before_all();
	net_ring_empty(at, whole);
	r->pos += whole;
	r->number++;
	*m = (struct net_ring_message){ .flags = flags, .about = about, .len = len };
	return NET_RING_WHOLE;
}
