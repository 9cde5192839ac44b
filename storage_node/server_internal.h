/* server_internal.h -- a connection of the storage node's event loop, shared by server.c, stream.c,
 * streams.c and verbs.c. */
#ifndef NAM_STORAGE_NODE_SERVER_INTERNAL_H
#define NAM_STORAGE_NODE_SERVER_INTERNAL_H

#include <net/handshake.h>
#include <net/net.h>
#include <storage_node/sn.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum {
	SN_BUFFER = 64 << 10,
	SN_LOOPS_MAX = 64,
	SN_LOOPS = 16, /* unless said otherwise */
	SN_SEATS_MAX = 64,
	SN_SEATS_MIN = 8,
	SN_SEATS_PER_LOOP = 4,
};

/*
 * Raised before a shard sends an answer; loaded before a stream executes verbs. A client may give
 * memory to others when it has the answer of a service that used the memory, so what the service
 * did there comes before their verbs. The network that tells the client is no order that a compiler
 * or a thread sanitizer knows.
 */
extern _Atomic uint64_t sn_answers;

/* States of a connection; each may only move to the next, or end. */
enum sn_state { SN_HELLO, SN_PROOF, SN_OPEN };

/* Of a stream that has bytes in work. Others have none: a thread's streams share its spare ones. */
struct sn_buffers {
	struct sn_buffers *next; /* among the thread's spare ones */
	_Alignas(8) char in[SN_BUFFER];
	_Alignas(8) char out[SN_BUFFER];
};

/* A worker's stream: only after the handshake, so strangers cost none. */
struct sn_stream {
	struct sn_conn *conn;
	atomic_bool cut;      /* set before `turn` is waited for: no turn begins any more */
	pthread_mutex_t turn; /* held while a thread serves it, and by the thread that ends it */
	atomic_uint refs;     /* the connection or the loop's list of ended ones, and its seat */
	/* under turn */
	struct sn_loop *loop;
	struct sn_buffers *buf; /* NULL = nothing is in work */
	bool stuck;             /* it has more to send: its loop waits until the socket takes it */
	bool dirty;             /* stored plainly, no fence since */
	struct net_ask ask;     /* the ask in work */
	uint64_t word[2];       /* CAS, FAA, IMM: its words */
	bool busy;              /* ask has begun */
	uint32_t moved;         /* so many of its payload bytes are done */
	/* asks not understood yet: in[in_pos .. in_len); answers not sent yet: out[out_pos ..
	 * out_len) */
	uint32_t in_pos, in_len, out_pos, out_len;
	uint32_t beat;  /* the last beat in which it had a turn, ... */
	uint32_t turns; /* ... and how many there */
	/* under the server's stream_lock */
	struct sn_stream *prev, *next; /* among those that are over */
	bool over;                     /* it is in that list */
	const char *why;               /* over: the invalid bytes it sent, NULL = it left */
	/* under the loop's lock, after its end */
	struct sn_stream *ended;
};

struct sn_spare {
	struct sn_buffers *first;
	unsigned count;
};

/* A thread that serves one busy stream for a while. */
struct sn_seat {
	struct sn_server *s;
	pthread_t thread;
	_Atomic int tid;
	sem_t go;
	atomic_bool stop;
	struct sn_stream *st;  /* the loop's until `go`, then the seat's */
	struct sn_seat *next;  /* under stream_lock: among the free ones */
	struct sn_spare spare; /* its thread's */
};

/* A thread that serves the other streams. */
struct sn_loop {
	struct sn_server *s;
	pthread_t thread;
	bool started; /* the server's thread */
	_Atomic int tid;
	int epoll_fd, wake_fd;
	atomic_bool stop;
	atomic_uint streams; /* a  so many it has */
	atomic_uint active;  /* a  so many of them had a turn in this beat */
	atomic_uint give;    /* a  it is to give so many of these (low half) to loop (high half) */
	pthread_mutex_t lock;
	struct sn_stream *ended; /* under lock: to be freed, after events that may name them */
	/* its thread's */
	struct sn_spare spare;
};

struct sn_ring_qp;

/* The lists that a connection may be in. */
enum sn_list {
	SN_ALL,   /* strangers, or peers */
	SN_SAME,  /* peers whose identities have the same hash */
	SN_HEARS, /* peers that carry news */
	SN_WORK,  /* peers for sn_fence_work: cut, or of role FENCE or ASK */
	SN_LISTS
};

struct sn_conn {
	struct {
		struct sn_conn *prev, *next;
		bool in;
	} list[SN_LISTS];
	int fd;
	enum sn_state state;
	enum net_role role;
	bool local; /* over the UNIX socket: */
	int pid;    /* the peer's process, and ... */
	int pid_fd; /* ... its pidfd, which stays valid when the number is reused; -1 = none */
	bool cut;   /* fenced or replaced: no verb of it executes; it ends after the loop's
		     * events */
	uint64_t deadline_ns;
	uint32_t got; /* bytes of the handshake message in work */
	union {
		struct net_hello hello;
		struct net_news news;
		char bytes[sizeof(struct net_hello)];
	} in;
	/* Roles CONTROL and SHM (news.c): the rest of a message that the socket took half of;
	 * messages were dropped. */
	char news_rest[sizeof(struct net_news)];
	unsigned news_left;
	bool behind;
	struct sn_held *held; /* roles SHM and LIFE */
	/* Role ASK: the identity asked, the question, and until when an answer counts. */
	uint64_t ask_whom, ask_nonce, ask_until_ns;
	bool given_up;
	struct net_hello hello;
	struct net_welcome welcome;
	uint32_t fence_verdict; /* role FENCE: its verdict, sent when ... */
	size_t fence_place;     /* ... the shards have finished as well */
	struct sn_stream *stream;
	struct sn_qp *qp;  /* role VERBS, once it has come */
	uint8_t token[16]; /* role VERBS: the token it will come with */
	char name[64];     /* for the log */
};

struct sn_server {
	struct sn_region *region;
	char *base;
	uint64_t size;
	struct net_shake shake;
	uint8_t secret[64];
	char address[128];
	char socket_path[112];
	int tcp_fd, unix_fd, epoll_fd, timer_fd, stop_fd, over_fd;
	struct sn_verbs *verbs;     /* NULL = none is offered. The loop's, except: */
	atomic_bool device_atomics; /* set while it is open; cleared, with own_turn held,
				     * when the device was removed */
	pthread_mutex_t own_turn;   /* tcp peers' threads take turns at the loopback queue pair */
	int rdma_fd, rdma_done_fd;
	bool accepting; /* false while out of descriptors */
	struct sn_strangers {
		struct sn_conn *newest, *oldest;
		unsigned count;
	} strangers[2];        /* [local] */
	struct sn_conn *peers; /* SN_ALL */
	struct sn_conn **same; /* SN_SAME, by hash; same_mask + 1 of them */
	struct sn_conn *hears; /* SN_HEARS */
	struct sn_conn *work;  /* SN_WORK */
	size_t same_mask;
	bool no_memory;           /* the UNIX socket is for role LIFE only */
	bool closing;             /* connections that end now are not reported */
	bool behind;              /* news.c's: a peer's socket has not taken all messages */
	struct sn_held *held;     /* news.c's, ... */
	unsigned held_alone;      /* ... so many without a connection */
	uint64_t dead[256];       /* news.c's: identities whose processes have ended, the last ones,
				 * ... */
	unsigned deads;           /* ... their number in all */
	struct sn_dying *dying;   /* fence.c's; */
	uint64_t told_left[1024]; /* news.c's: a bit per hash of an identity that was told LEFT */
	bool fencing;             /* a fence or a question is under way */
	unsigned peer_count, peers_max, strangers_max;
	uint64_t handshake_ns;
	uint64_t idle_ns;  /* 0 = it never ends by itself */
	uint64_t alone_ns; /* since when there has been no connection */
	unsigned log_left; /* lines that strangers may still cause in this second */
	uint64_t log_refill_ns;
	struct {
		atomic_uint_fast64_t accepted, refused, dropped, peers, asks, immediates;
	} count; /* a  relaxed */
	pthread_mutex_t stream_lock;
	struct sn_stream *over; /* under stream_lock: ended by themselves */
	unsigned loops_max;
	atomic_uint loops; /* a  started */
	atomic_uint beats; /* a  */
	struct sn_loop loop[SN_LOOPS_MAX];
	unsigned seats_max;
	atomic_uint seats;         /* a  started, under stream_lock */
	struct sn_seat *free_seat; /* under stream_lock */
	struct sn_seat seat[SN_SEATS_MAX];
};

/* Puts a connection into a list, or takes it out of it; nothing if it is there, or not there. */
void sn_list_add(struct sn_conn **list, struct sn_conn *c, enum sn_list which);
void sn_list_remove(struct sn_conn **list, struct sn_conn *c, enum sn_list which);
/* The first peer that may have that identity; the others follow in list[SN_SAME]. */
struct sn_conn *sn_server_same(const struct sn_server *s, uint64_t identity);

/* Ends a peer's connection, and its queue pair. c is gone. Not while c may lie in the loop's
 * events. */
void sn_server_end(struct sn_server *s, struct sn_conn *c);
/* Gives the connection, and its queue pair (NULL = none), to a shard. c is gone. */
void sn_server_hand_over(struct sn_server *s, struct sn_conn *c, struct sn_ring_qp *qp);
/* A WRITE_WITH_IMM has executed. */
void sn_server_immediate(struct sn_server *s, uint64_t number);
/* sn_server_end, counted, and with one line that says why. */
void sn_server_drop(struct sn_server *s, struct sn_conn *c, const char *why);
/* The grant, with our proof. memory: a descriptor to pass, -1 = none. False: the peer does not take
 * it. */
bool sn_server_grant(struct sn_server *s, struct sn_conn *c, struct net_grant *grant, int memory);
/* An answer of the handshake. False: the peer does not take it. */
bool sn_server_say(struct sn_conn *c, const void *what, size_t len, int pass_fd);
/* One line about a peer in the log, unless there were many. */
void sn_server_complain(struct sn_server *s, const char *peer, const char *what);

/* ---- fence.c: fenced identities
 * --------------------------------------------------------------- */

void sn_fence_close(struct sn_server *s);
/* A fresh connection of the UNIX socket: takes a pidfd of its process, so that it can be killed. */
void sn_fence_hold(struct sn_conn *c);
/* The verdict on a proven peer: NET_YES, or why not. No verb of a connection that it replaces
 * executes from here on. */
enum net_verdict sn_fence_admit(struct sn_server *s, struct sn_conn *c);
/* c, of role FENCE and proven, asks for a fence; it gets its answer when all is done. */
void sn_fence_begin(struct sn_server *s, struct sn_conn *c);
/* After the loop's events: ends connections that were cut, answers finished requests. */
void sn_fence_work(struct sn_server *s);

/* c, of role ASK and proven, asks whether a process lives. */
void sn_fence_ask(struct sn_server *s, struct sn_conn *c);
/* c, of role CONTROL or SHM, has answered. False: no such question was asked. */
bool sn_fence_answered(struct sn_server *s, struct sn_conn *c, const struct net_news *answer);

/* ---- news.c: what peers hear about each other
 * ------------------------------------------------------ */

/* c is among the peers now, or has just been taken from them. */
void sn_news_come(struct sn_server *s, struct sn_conn *c);
void sn_news_gone(struct sn_server *s, struct sn_conn *c);
/* Over a connection of role CONTROL or SHM; a message that the socket does not take is dropped. */
void sn_news_say(struct sn_server *s, struct sn_conn *c, const struct net_news *news);
/* A whole message has come over one. False: it makes no sense. */
bool sn_news_heard(struct sn_server *s, struct sn_conn *c, const struct net_news *news);
/* True if a connection carries struct net_news. */
bool sn_news_carries(const struct sn_conn *c);
/* Now and then: sends the rest, drops pidfds of processes that only closed their connections. */
void sn_news_beat(struct sn_server *s);
/* A process with a pidfd here has ended: epoll reported SN_HELD_TAG | the address of a struct
 * sn_held. */
enum { SN_HELD_TAG = 1 };
void sn_news_end(struct sn_server *s, struct sn_held *h);
void sn_news_close(struct sn_server *s);

/* ---- verbs.c: queue pairs. All but open and words may be called with s->verbs == NULL where that
 * makes sense ---- */

/* Listens at that address of an RDMA device, registers the region. Sets s->verbs. NAM_UNSUPPORTED:
 * no device there. */
nam_status sn_verbs_open(struct sn_server *s, const char *address, struct nam_err *err);
/* Every peer's queue pair must have ended. */
void sn_verbs_close(struct sn_server *s);
int sn_verbs_event_fd(const struct sn_server *s);
int sn_verbs_completion_fd(const struct sn_server *s);
/* Connection events, and messages. Both may end connections; the first closes all when the device
 * was removed. */
void sn_verbs_events(struct sn_server *s);
void sn_verbs_completions(struct sn_server *s);
/* Now and then, and before a peer hears of a failed atomic: closes a broken loopback queue pair,
 * and makes it again. */
void sn_verbs_mend(struct sn_server *s);
/* Fills in the RDMA address, and for role VERBS the token to come with. */
void sn_verbs_grant(struct sn_server *s, struct sn_conn *c, struct net_grant *grant);
void sn_verbs_end(struct sn_conn *c);
/* True: the CPU must not touch region words, and every atomic goes through ... */
bool sn_verbs_device_atomics(const struct sn_server *s);
/* ... this, on the device. False: it failed. */
bool sn_verbs_atomic(
    struct sn_server *s, uint8_t code, uint64_t offset, uint64_t arg, uint64_t want, uint64_t *seen);
const char *sn_verbs_words(const struct sn_server *s, char out[160]);

/* ---- streams.c: workers' streams, on a few threads. Called by the server's thread ---- */

/* Makes c->stream, which is not served before sn_stream_go. False: no memory, or no thread. */
bool sn_stream_open(struct sn_server *s, struct sn_conn *c);
void sn_stream_go(struct sn_conn *c);
/* Ends it at once, in any state. When this returns, no verb of it executes. c->fd is still open,
 * but cannot be used any more. */
void sn_stream_end(struct sn_server *s, struct sn_conn *c);
/* A connection whose stream has ended (reported by over_fd), or NULL. *why: its invalid bytes, NULL
 * = it left. */
struct sn_conn *sn_stream_over(struct sn_server *s, const char **why);
/* Now and then: the loop with the most busy streams gives some to the loop with the fewest. */
void sn_streams_beat(struct sn_server *s);
/* Every stream must have ended. */
void sn_streams_close(struct sn_server *s);

/* ---- stream.c ---- */

/* The result of one turn of work on a connection. */
enum sn_verdict { SN_GO_ON, SN_END, SN_GARBAGE };

/* Executes the asks in the stream as far as input and room for answers go. Sets *why with
 * SN_GARBAGE. */
enum sn_verdict sn_stream_work(struct sn_server *s, struct sn_stream *st, const char **why);

#endif
