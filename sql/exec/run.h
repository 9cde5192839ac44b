/*
 * run.h -- a user's session, as plans use it: its transaction, arenas, settings. Inside of sql.
 *
 * session/ opens it and moves it from state to state; commands and DML run plans in it.
 */
#ifndef NAM_SQL_RUN_H
#define NAM_SQL_RUN_H

#include <sql/common/path.h>
#include <sql/exec/exec.h>
#include <sql/plan/cost.h>

enum { SQL_COST_CONSTANTS = 8 };
enum { SQL_KEPT = 53, SQL_KEPT_FLOATS = 0, SQL_CACHED = 64, SQL_RETRIES = 20, SQL_PATH_TEXT = 256 };
/* Room for the names of a search_path in quotes, and for one more. */
enum { SQL_SEARCH_MAX = 4 * SQL_PATH_TEXT + CAT_NAME_MAX + 4 };
/* Of the names of the schemas of sessions. */
#define SQL_TEMP_PREFIX "pg_temp_"

enum sql_block { SQL_IDLE, SQL_IMPLICIT, SQL_BLOCK, SQL_FAILED };

/* Whether other processes help; WAIT: they go first, for tests. */
enum sql_help { SQL_HELP_OFF, SQL_HELP_ON, SQL_HELP_WAIT };

struct sql_settings {
	enum txn_iso iso;
	bool cluster;
	bool read_only; /* default_transaction_read_only */
	char search_path[SQL_PATH_TEXT];
	uint32_t lock_timeout_ms, statement_timeout_ms;
	uint32_t idle_timeout_ms, idle_block_timeout_ms; /* kept for a face of the compute node */
	bool log_slow; /* log_min_duration_statement, kept for such a face */
	uint32_t log_slow_ms;
	uint64_t memory_kb;                /* namdb.statement_memory */
	uint32_t join_order;               /* namdb.join_order: 0 = by cost; else dice, for tests */
	bool standard_costs;               /* namdb.costs */
	bool costs_given;                  /* one of those that follow is */
	double cost[SQL_COST_CONSTANTS];   /* namdb.cost_*: session/cost.c; -1 = not given */
	bool keys_ordered;                 /* namdb.primary_key: of tables that do not say */
	uint32_t parallel;                 /* namdb.parallel: workers; 0 = all of the process */
	uint64_t parallel_rows;            /* namdb.parallel_rows */
	enum sql_help help;                /* namdb.help */
	struct sql_who role, session_role; /* SET ROLE, SET SESSION AUTHORIZATION; name "" = none */
	int32_t kept[SQL_KEPT];            /* session/kept.c: most have no effect */
	char application_name[64], client_min_messages[16];
	uint8_t floats;                  /* how texts show floats: of extra_float_digits */
	const struct sql_custom *custom; /* settings of programs: session/custom.c; the session's */
};

struct sql_session {
	struct sql_session_config cfg;
	uint64_t roles_at;    /* the version of the catalog that its roles are known at; 0 = none */
	struct sql_who login; /* the role that has connected, or the first one */
	struct net_worker *net;
	enum sql_block block;
	const struct sql_host *host;
	struct txn *t;    /* NULL in a block: it has not begun, its first statement will */
	enum txn_iso iso; /* of the block */
	bool read_only;   /* the block is */
	bool ddl;         /* t changed the catalog */
	struct sql_settings now, session, before; /* in force; beyond the block; as the block found
						   * them */
	struct sql_settings start;                /* as the session began: what RESET gives */
	struct sql_savepoint *save;               /* of the block, oldest first */
	unsigned saves, save_cap;
	bool save_lost;              /* a failure after DDL took the whole transaction */
	struct sql_names *named;     /* PREPARE; NULL = none so far */
	struct sql_cursor *cursors;  /* open ones, newest first */
	uint32_t stmt_mark;          /* where the running statement began, 0 = not marked */
	bool more;                   /* sql_run leaves the implicit transaction open */
	const struct sql_sink *sink; /* of the statement that runs; NULL = none does */
	bool upserts;                /* the transaction has an ON CONFLICT in it */
	int64_t now_us;              /* start of t; 0 = not yet asked for */
	int64_t statement_us;        /* when the statement came in; 0 = none did */
	uint64_t deadline_ns;        /* of the statement, 0 = none */
	struct nam_budget budget;    /* of the arenas and of t, part of the process's */
	struct nam_arena **arena;
	unsigned arenas;
	const struct sql_costs *costs; /* of the statement's plan: sql_costs_renew's */
	struct sql_costs costs_given;
	struct sql_exec x;
	struct sql_team team;             /* help.c's */
	const struct sql_parsed *running; /* the text of the plan that runs; NULL = not known */
	const struct sql_hint *hint;      /* counts of tables that its plan was made with, ... */
	unsigned hints;                   /* ... if that was in another process */
	struct sql_foreign *foreign;      /* dml/foreign.c's; NULL = never needed */
	bool foreign_off;                 /* rows are moved that fulfil their foreign keys */
	struct sql_gauge *gauge;          /* while EXPLAIN ANALYZE runs */
	struct sql_stmt *cache[SQL_CACHED];
	struct net_counts counts;
	struct sql_drawn *sequence; /* of which nextval has drawn here, rising by id */
	unsigned sequences, sequences_max;
	uint32_t last_sequence;      /* lastval's; 0 = none */
	char temp[CAT_NAME_MAX + 1]; /* schema of temporary relations; "" = none so far */
	bool temp_new;               /* it has been named just now */
	bool on_commit;              /* it has had tables that COMMIT empties or drops */
	char search[SQL_SEARCH_MAX]; /* sql_search_text's */
	uint64_t dice[2];            /* random()'s state; zeros: not seeded */
	struct sql_custom *customs;  /* custom.c's: all that are in memory */
	struct sql_custom_name *custom_names;
	size_t customs_made, customs_enough;
};

/* The role that the session is of, and the one that its statements run as. */
static inline const struct sql_who *
sql_session_who(const struct sql_session *s)
{
	return s->now.session_role.name[0] ? &s->now.session_role : &s->login;
}
static inline const struct sql_who *
sql_who(const struct sql_session *s)
{
	return s->now.role.name[0] ? &s->now.role : sql_session_who(s);
}

/* search_path as names are looked up: the session's temporary schema comes first, unless
 * search_path says where. In buf, or in s. */
const char *sql_search_text(const struct sql_session *s, char buf[SQL_SEARCH_MAX]);
/* Names are looked up for the session. */
static inline struct sql_looking
sql_looking(struct sql_session *s)
{
	return (struct sql_looking){ s->cfg.cat, s->t, sql_search_text(s, s->search), sql_who(s), NULL };
}

/* The constants of costs: measured or standard, or given. */
void sql_costs_in_force(const struct sql_settings *set, struct sql_costs *out);
/* Before a statement is planned: those that its plan goes by, until the next call. */
const struct sql_costs *sql_costs_renew(struct sql_session *s);
struct nam_arena *sql_arena(struct sql_session *s, unsigned i);
void sql_prepare_exec(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err);
/* now() of the transaction, microseconds since 2000-01-01. */
int64_t sql_now_us(struct sql_session *s);
/* The transaction begins: with the statement that came in. */
void sql_start_now(struct sql_session *s);
/* now() of the transaction, if the plan asks for it: before sql_prepare_exec. */
void sql_take_now(struct sql_session *s, const struct sql_plan *p);
/* False, with 25006 in *err: the transaction is READ ONLY. what: the statement's name. */
bool sql_may_write(const struct sql_session *s, const char *what, struct cat_err *err);

#endif
