/* job.h -- a job, as one of its participants has it. */
#ifndef NAM_OLAP_JOB_H
#define NAM_OLAP_JOB_H

#include <base/assert.h>
#include <net/exec.h>
#include <olap/job_format.h>
#include <olap/olap.h>

static_assert(OLAP_PLAN <= sizeof((struct olap_head *)0)->plan, "a plan fits its head");
static_assert((int)OLAP_MORSELS_MAX == (int)OLAP_MORSELS, "as olap.h says");
static_assert((int)OLAP_RESULT_MAX == (int)OLAP_RESULT, "as olap.h says");

struct olap_job {
	struct net_worker *w;
	net_addr at;           /* the head */
	net_addr board;        /* the place there; the maker's */
	unsigned place;        /* among the participants */
	enum olap_state state; /* of it */
	bool offered;
	uint64_t identity;            /* of the net */
	const atomic_bool *cancelled; /* may be NULL */
	nam_status stopped;           /* as this participant has seen the stop word */
	void (*spend)(void *arg, enum olap_work what, uint64_t n); /* may be NULL */
	void *spend_arg;
	struct net_counts counts;
	/* extents at hand, which the bill lists already */
	net_addr stock[BILL_TAKE];
	unsigned stocked, turn;
	uint64_t bills[OLAP_BILLS]; /* as far as known */
	uint32_t plan_len;
	_Alignas(8) uint8_t plan[OLAP_PLAN];
};

/*
 * True if windows are read and written in place. ThreadSanitizer knows no fences, so it could
 * not see that the READ of an output comes before plain loads of its windows: there all goes by
 * verbs.
 */
static inline bool
olap_mapped(const struct net_worker *w)
{
	return !NET_EXEC_WORDS && net_all_mapped(w);
}

/* The participant has computed: so many of these. */
static inline void
olap_spent(const struct olap_job *job, enum olap_work what, uint64_t n)
{
	if (__builtin_expect(job->spend != NULL, 0))
		job->spend(job->spend_arg, what, n);
}

/* How a directory begins. */
struct olap_dir_top {
	uint64_t magic;
	uint32_t windows, morsels, result_len, pieces;
};
static_assert(
    offsetof(struct olap_dir, pieces) == offsetof(struct olap_dir_top, pieces), "a directory's first bytes");

static inline net_addr
olap_in(net_addr head, size_t offset)
{
	return net_plus(head, offset);
}
static inline uint64_t
olap_place_word(uint64_t identity, enum olap_state state)
{
	return identity << 8 | state;
}

#define OLAP_FIELD(head, f) olap_in(head, offsetof(struct olap_head, f))

/* board.c. A free place of the board becomes this process's. */
nam_status olap_board_take(struct net_worker *w, net_addr board, uint64_t identity, net_addr *out);
/* The place, which the maker has taken, names it and the job's head. */
nam_status olap_board_name(
    struct net_worker *w, net_addr place, net_addr head, uint64_t maker, struct net_counts *acct);
/* The head's memory goes back, then the place is free. */
nam_status olap_board_leave(struct net_worker *w, net_addr place, net_addr head);
net_addr olap_board_place_at(net_addr board, unsigned i);
net_addr olap_board_of(net_addr place);
net_addr olap_door(net_addr place);
/* No process enters the job any more, and none is entering. */
nam_status olap_door_shut(struct net_worker *w, net_addr place);

/* An extent with any bytes; the bill has it. NAM_FULL: all nodes are full. */
nam_status olap_extent(struct olap_job *job, net_addr *out);
/* Gives back all that the bill lists, and the bill. A5: by one who has made sure. */
nam_status olap_bill_pay(struct net_worker *w, net_addr head, struct net_counts *acct);

/*
 * *dead: the process has died or left, or, if it is late, it does not answer whether it lives. Then
 * it is fenced when this returns with NAM_OK.
 */
nam_status olap_fence_if_dead(struct net_worker *w, uint64_t identity, bool late, bool *dead);
/* For a wait: true once in each lease that passes without `news`, which is some number that changes
 * when another participant has come forward. */
struct olap_lease {
	uint64_t since, news;
};
bool olap_is_late(struct net_worker *w, struct olap_lease *l, uint64_t news);
/* Waits until every place but `mine` is left or fenced; the free ones stay empty for ever. */
nam_status olap_others_out(struct net_worker *w, net_addr head, unsigned mine);
/* NAM_OK, or why the job is to end, as far as this participant knows: no verb. */
nam_status olap_job_stopped(struct olap_job *job);
/* In the middle of long work: other coroutines of the thread have a turn, and then it tells the
 * same, also if another participant has ended the job. */
nam_status olap_job_pause(struct olap_job *job);

/* Ends what the writer has: the partly filled buffers go out, every WRITE completes. */
nam_status olap_writer_flush(struct olap_writer *wr);
/* Its windows, and it begins with none. */
const struct olap_window *olap_writer_windows(struct olap_writer *wr, uint32_t *n);
void olap_writer_empty(struct olap_writer *wr);

/* READs or WRITEs any number of bytes, within one extent each. */
nam_status olap_get(struct olap_job *job, net_addr at, void *into, uint32_t len);
nam_status olap_put(struct olap_job *job, net_addr at, const void *from, uint32_t len);

/* READs the first len bytes of n directories into `into`, one behind the other, many with a
 * doorbell; judges their tops. */
nam_status olap_dir_tops(struct olap_job *job, const uint64_t *at, unsigned n, void *into, uint32_t len);
/* READs a directory up to its windows, and judges it. */
nam_status olap_dir_get(struct olap_job *job, net_addr at, struct olap_dir *dir);
/* True if an address may be an extent of this cluster. */
bool olap_extent_sound(struct net_worker *w, uint64_t at);

#endif
