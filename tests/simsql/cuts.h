/*
 * cuts.h -- what clients of a database with a log were told, over cuts of the whole cluster, and
 * what must be there afterwards.
 *
 * Each transaction has a number, its id, and inserts a row with it into `done`: so after a restart
 * that table says which of them are there. What a transaction wrote carries its id, and it has
 * noted whose versions it replaced or read. From that follows, without any other knowledge, what
 * each table must show.
 *
 *	acc    k, n, who, prev, bal    a version for each update; balances sum up to 0
 *	item   k, id, body             comes and goes; body follows from id, short or long
 *	child  id, k -> item           a foreign key
 *	d<id>  k, w                    tables that transactions make, change and drop
 *	q, r                           sequences; r is also set
 */
#ifndef NAM_TESTS_SIMSQL_CUTS_H
#define NAM_TESTS_SIMSQL_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CUT_TXNS = 4096,
	CUT_ACCS = 6,
	CUT_ITEMS = 8,
	CUT_WRITES = 4,
	CUT_READS = 12,
	CUT_BODY = 12000,
	CUT_ROWS = 6,    /* of a table d */
	CUT_AHEAD = 200, /* numbers that a restart may skip */
	CUT_UNSURE = 64,
	CUT_TEXT = 600
};

enum cut_state {
	CUT_OPEN,  /* its COMMIT has not been sent */
	CUT_ASKED, /* ... has been sent; no answer */
	CUT_ACKED,
	CUT_UNDONE, /* the client was told so */
	CUT_HERE,   /* found after a cut: for ever */
	CUT_LOST,   /* not found after a cut: for ever */
};

enum cut_table { CUT_ACC, CUT_ITEM };

struct cut_txn {
	enum cut_state state;
	bool sync;
	bool shown;           /* a client has been shown something of it */
	uint64_t asked, told; /* moments: COMMIT was sent, was answered */
	struct cut_write {
		enum cut_table table;
		unsigned key;
		uint32_t over; /* the version that it replaces, 0 = the first, or none */
		bool deletes;  /* there is none of its own */
		int64_t delta;
	} write[CUT_WRITES];
	unsigned writes;
	uint32_t read[CUT_READS]; /* whose versions it has read */
	unsigned reads;
	unsigned child; /* 1 + the item that it refers to */
	/* Tables: of d<made>. Each is the id of the transaction that made it, 0 = none. */
	uint32_t made, dropped, emptied, widened;
};

struct cut_model {
	struct cut_txn txn[CUT_TXNS]; /* by id; 0 is not used */
	bool made;                    /* the tables are there */
	uint32_t next;
	uint64_t now;
	int64_t q_high; /* the greatest number that was given out */
	/* r's next number is greater than one of these, by CUT_AHEAD at most: the last one that an
	 * answer showed or set; and those that setval calls without an answer, or with an error,
	 * may have set since the last one with an answer. */
	int64_t r[CUT_UNSURE];
	unsigned rs; /* 0 = nothing is known of it */
	char wrong[CUT_TEXT];
	/* counted */
	uint64_t acked, lost_off, unknown_here, unknown_lost, undone, judged;
};

/* What a process has read after a restart. */
struct cut_seen {
	uint32_t done[CUT_TXNS];
	unsigned dones;
	struct {
		bool there;
		int64_t n, who, prev, bal;
	} acc[CUT_ACCS];
	struct {
		bool there;
		int64_t id;
		bool body_right;
	} item[CUT_ITEMS];
	struct {
		int64_t id, k;
	} child[CUT_TXNS];
	unsigned children;
	struct {
		uint32_t made;
		unsigned rows, columns, by_index;
	} table[CUT_TXNS];
	unsigned tables;
	unsigned strange; /* other relations: temporary ones, for example */
	int64_t q, r;     /* the next numbers, drawn now */
};

/* Judges, and settles each transaction. False: wrong has a line. */
bool cut_judge(struct cut_model *m, const struct cut_seen *s);
/* An answer says that setval has set r; or shows a number that it has given out. */
void cut_r_is(struct cut_model *m, int64_t number);
void cut_r_shows(struct cut_model *m, int64_t number);
/* A body: len letters that follow from the id. */
unsigned cut_body_len(uint32_t id);
void cut_body(uint32_t id, char *out);
/* The first thing that is wrong. */
void cut_wrong(struct cut_model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
