/*
 * writer.c -- tuples go to partitions in remote memory through software-managed buffers.
 *
 * Each partition has a buffer here and a window there. A full buffer is copied into the window by
 * one WRITE. Where memory is mapped the WRITE goes past the caches, and the buffer is free at once.
 * Elsewhere the buffer is copied into a flight: several buffers that leave with one doorbell, while
 * others fill. The windows belong to this writer alone, so nobody coordinates.
 */
#include <base/fault.h>
#include <olap/job.h>

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { FLIGHTS = 8, IN_FLIGHT = 8, LINE = 64, FAST = 16 };

struct flight {
	struct net_batch b;
	struct net_op op[IN_FLIGHT];
	char *bytes; /* IN_FLIGHT buffers */
};

struct partition {
	char *next;      /* in the buffer */
	uint64_t at;     /* in the window; 0 = no window yet */
	uint32_t room;   /* bytes left in the window */
	uint32_t tuples; /* that have left for the window */
};

struct olap_writer {
	struct olap_job *job;
	uint32_t width, buffer, window; /* bytes; buffer: of whole tuples, in whole lines */
	unsigned bits, shift;
	bool mapped;
	char *bytes; /* the buffers */
	struct partition *part;
	/* windows that are full, and the rest of the extent that the next ones are cut from */
	struct olap_window *list;
	uint32_t n, cap;
	net_addr cut;
	uint32_t cut_left;
	struct flight *flight;
	unsigned now; /* the flight that fills */
};

static unsigned
part_of(const struct olap_writer *wr, uint64_t key)
{
	return wr->bits == 0 ? 0 : (unsigned)(olap_hash(key) >> wr->shift);
}

nam_status
olap_writer_open(
    struct olap_job *job, uint32_t width, unsigned bits, uint32_t window, struct olap_writer **out)
{
	NAM_ASSERT(width >= 8 && width % 8 == 0 && width <= OLAP_WIDTH_MAX && bits <= OLAP_BITS_MAX);
	/* Eight tuples of any width are whole lines. */
	uint32_t eight = 8 * width, buffer = (OLAP_BUFFER + eight - 1) / eight * eight;
	if (window == 0)
		window = NET_EXTENT;
	while (window < buffer)
		window *= 2;
	NAM_ASSERT(window <= NET_EXTENT && (window & (window - 1)) == 0);
	struct olap_writer *wr = calloc(1, sizeof *wr);
	size_t fan = (size_t)1 << bits;
	if (wr == NULL)
		return NAM_NOMEM;
	wr->job = job;
	wr->width = width;
	wr->buffer = buffer;
	wr->window = window;
	wr->bits = bits;
	wr->shift = 64 - bits;
	wr->mapped = olap_mapped(job->w);
	wr->bytes = aligned_alloc(LINE, fan * buffer);
	wr->part = calloc(fan, sizeof *wr->part);
	wr->cap = (uint32_t)fan * 2;
	wr->list = malloc(wr->cap * sizeof *wr->list);
	if (!wr->mapped) {
		wr->flight = calloc(FLIGHTS, sizeof *wr->flight);
		for (unsigned i = 0; wr->flight != NULL && i < FLIGHTS; i++) {
			struct flight *f = &wr->flight[i];
			f->bytes = aligned_alloc(LINE, (size_t)IN_FLIGHT * buffer);
			net_batch_init(&f->b, job->w, f->op, IN_FLIGHT, &job->counts);
		}
	}
	bool there =
	    wr->bytes != NULL && wr->part != NULL && wr->list != NULL && (wr->mapped || wr->flight != NULL);
	for (unsigned i = 0; there && !wr->mapped && i < FLIGHTS; i++)
		there = wr->flight[i].bytes != NULL;
	if (!there) {
		olap_writer_close(wr);
		return NAM_NOMEM;
	}
	for (size_t p = 0; p < fan; p++)
		wr->part[p].next = wr->bytes + p * buffer;
	*out = wr;
	return NAM_OK;
}

void
olap_writer_close(struct olap_writer *wr)
{
	if (wr == NULL)
		return;
	for (unsigned i = 0; wr->flight != NULL && i < FLIGHTS; i++) {
		net_wait(&wr->flight[i].b);
		free(wr->flight[i].bytes);
	}
	free(wr->flight);
	free(wr->bytes);
	free(wr->part);
	free(wr->list);
	free(wr);
}

/* The partition's window is full, or the writer ends. */
static nam_status
seal(struct olap_writer *wr, unsigned p)
{
	struct partition *part = &wr->part[p];
	if (part->tuples == 0)
		return NAM_OK;
	if (wr->n == wr->cap) {
		struct olap_window *more = realloc(wr->list, 2 * (size_t)wr->cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		wr->list = more;
		wr->cap *= 2;
	}
	wr->list[wr->n++] =
	    (struct olap_window){ part->at - (uint64_t)part->tuples * wr->width, part->tuples, p };
	part->tuples = 0;
	part->at = 0;
	part->room = 0;
	return NAM_OK;
}

static nam_status
next_window(struct olap_writer *wr, unsigned p)
{
	nam_status st = seal(wr, p);
	if (st == NAM_OK && wr->cut_left == 0) {
		st = olap_extent(wr->job, &wr->cut);
		wr->cut_left = st == NAM_OK ? NET_EXTENT : 0;
	}
	if (st != NAM_OK)
		return st;
	wr->part[p].at = wr->cut.bits;
	wr->part[p].room = wr->window;
	wr->cut = net_plus(wr->cut, wr->window);
	wr->cut_left -= wr->window;
	return NAM_OK;
}

/* The buffers that the flight has leave; the next flight is free when this returns. */
static nam_status
depart(struct olap_writer *wr)
{
	struct flight *f = &wr->flight[wr->now];
	if (f->b.n > 0)
		net_post(&f->b);
	wr->now = (wr->now + 1) % FLIGHTS;
	return net_wait(&wr->flight[wr->now].b);
}

/* The first len bytes of the partition's buffer go to its window. */
static __attribute__((noinline)) nam_status
copy_out(struct olap_writer *wr, unsigned p, uint32_t len)
{
	struct partition *part = &wr->part[p];
	char *from = wr->bytes + (size_t)p * wr->buffer;
	nam_status st = NAM_OK;
	if (part->room < len && (st = next_window(wr, p)) != NAM_OK)
		return st;
	net_addr at = { part->at };
	if (wr->mapped) {
		struct net_op op;
		struct net_batch b;
		net_batch_init(&b, wr->job->w, &op, 1, &wr->job->counts);
		net_write(&b, at, from, len)->flags = NET_STREAM;
		st = net_run(&b);
	} else {
		struct flight *f = &wr->flight[wr->now];
		char *bytes = f->bytes + (size_t)f->b.n * wr->buffer;
		memcpy(bytes, from, len);
		net_write(&f->b, at, bytes, len)->flags = NET_STREAM;
		if (f->b.n == f->b.cap)
			st = depart(wr);
	}
	part->next = from;
	part->at += len;
	part->room -= len;
	part->tuples += len / wr->width;
	return st;
}

/* 16-byte tuples, of which a buffer's size is a power of two. */
static nam_status
write_fast(struct olap_writer *wr, const uint64_t *t, size_t n)
{
	struct partition *part = wr->part;
	unsigned shift = wr->shift;
	for (size_t i = 0; i < n; i++, t += 2) {
		unsigned p = (unsigned)(olap_hash(t[0]) >> shift);
		char *to = part[p].next;
#ifdef __SSE2__
		_mm_store_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)t));
#else
		memcpy(to, t, FAST);
#endif
		part[p].next = to += FAST;
		if (__builtin_expect((size_t)(to - wr->bytes) % OLAP_BUFFER == 0, 0)) {
			nam_status st = copy_out(wr, p, OLAP_BUFFER);
			if (st != NAM_OK)
				return st;
		}
	}
	return NAM_OK;
}

nam_status
olap_write_to(struct olap_writer *wr, unsigned p, const void *tuple)
{
	struct partition *part = &wr->part[p];
	memcpy(part->next, tuple, wr->width);
	part->next += wr->width;
	if (part->next == wr->bytes + (size_t)(p + 1) * wr->buffer)
		return copy_out(wr, p, wr->buffer);
	return NAM_OK;
}

nam_status
olap_write(struct olap_writer *wr, const void *tuples, size_t n)
{
	if (wr->width == FAST && wr->bits > 0)
		return write_fast(wr, tuples, n);
	const char *t = tuples;
	nam_status st = NAM_OK;
	for (size_t i = 0; st == NAM_OK && i < n; i++, t += wr->width)
		st = olap_write_to(wr, part_of(wr, *(const uint64_t *)(const void *)t), t);
	return st;
}

nam_status
olap_writer_flush(struct olap_writer *wr)
{
	size_t fan = (size_t)1 << wr->bits;
	nam_status st = NAM_OK;
	for (unsigned p = 0; st == NAM_OK && p < fan; p++) {
		size_t rest = (size_t)(wr->part[p].next - (wr->bytes + (size_t)p * wr->buffer));
		if (nam_fault(OLAP_NO_FLUSH) && p + 1 == fan)
			rest = 0;
		if (rest > 0)
			st = copy_out(wr, p, (uint32_t)rest);
		if (st == NAM_OK)
			st = seal(wr, p);
	}
	if (nam_fault(OLAP_EARLY_OUTPUT) && !wr->mapped && wr->flight[wr->now].b.n > 0)
		net_post(&wr->flight[wr->now].b);
	for (unsigned i = 0; !wr->mapped && i < FLIGHTS && !nam_fault(OLAP_EARLY_OUTPUT); i++) {
		nam_status one = depart(wr);
		st = st == NAM_OK ? one : st;
	}
	return st;
}

const struct olap_window *
olap_writer_windows(struct olap_writer *wr, uint32_t *n)
{
	*n = wr->n;
	return wr->list;
}

void
olap_writer_empty(struct olap_writer *wr)
{
	for (size_t p = 0; p < (size_t)1 << wr->bits; p++) {
		wr->part[p] = (struct partition){ .next = wr->bytes + p * wr->buffer };
		/* nothing is left of what a failed flush could not send */
	}
	wr->n = 0;
}
