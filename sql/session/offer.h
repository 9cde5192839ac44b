/*
 * offer.h -- what a helper of another process must know to run a fragment of a statement: the plan
 * of a job of olap, as bytes. Inside of sql.
 *
 *   | struct sql_offer_top | settings | role | costs | sections: user, text, and arrays of
 *   | parameters' types, parameters, counts of tables, parts |
 *
 * Both processes are of one build: the top has a fingerprint of the structs that go as they are.
 */
#ifndef NAM_SQL_OFFER_H
#define NAM_SQL_OFFER_H

#include <sql/exec/gather.h>
#include <sql/session/session_internal.h>

enum { SQL_OFFER_HINTS = 64, SQL_OFFER_CORES = 128 };

struct sql_offer {
	tso_cid snapshot;
	uint64_t number;                      /* of the plan */
	int64_t now_us;                       /* of the transaction */
	uint64_t host;                        /* a name of the machine, as its kernel knows it */
	uint64_t cores[SQL_OFFER_CORES / 64]; /* that the asking process may run on */
	uint32_t workers;                     /* of the asking process that take part */
	uint32_t most;                        /* that may come */
	uint32_t fragment;
	uint32_t statement; /* of the text: its number */
	bool explained;     /* the statement is what this one explains */
	struct sql_settings settings;
	struct sql_who login;
	struct sql_costs costs;
	/* read back: they point into the bytes, or into an arena */
	struct cat_str user, text;
	enum cat_type *types;
	struct cat_datum *param;
	unsigned params;
	struct sql_hint *hint;
	unsigned hints;
	uint64_t *part;
	unsigned parts;
};

/* Bytes of the offer in a's memory; *n of them, at most `most`. NULL: there is no memory, or they
 * are more. */
void *sql_offer_put(const struct sql_offer *o, size_t most, struct nam_arena *a, uint32_t *n);
/* False: it is another version's, or no offer. */
bool sql_offer_get(struct sql_offer *o, const void *bytes, uint32_t n, struct nam_arena *a);

/* Of this process: fills host and cores. */
void sql_offer_here(struct sql_offer *o);
/* How many of `workers` workers of this process the machine has cores for; if the asking process is
 * of this machine, beside its workers and `others` that help already. */
unsigned sql_offer_room(const struct sql_offer *o, unsigned workers, unsigned others);

#endif
