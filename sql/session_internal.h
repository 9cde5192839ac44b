/*
 * session_internal.h -- what session.c (transactions), stmt.c (plans) and utility.c (everything without a plan) share.
 */
#ifndef NAM_SQL_SESSION_INTERNAL_H
#define NAM_SQL_SESSION_INTERNAL_H

#include "exec.h"
#include <sql/parse.h>

enum { SQL_CACHED = 64, SQL_MANY = 16 /* rows whose coming or going is worth a note */, SQL_RETRIES = 20 };

enum sql_block { SQL_IDLE, SQL_IMPLICIT, SQL_BLOCK, SQL_FAILED };

struct sql_settings {
	enum txn_iso iso;
	bool cluster;
	uint32_t lock_timeout_ms, statement_timeout_ms;
	uint64_t memory_kb;  /* namdb.statement_memory */
	uint32_t join_order; /* namdb.join_order: 0: by cost; else dice, for tests */
	bool standard_costs; /* namdb.costs */
	char application_name[64], client_min_messages[16], extra_float_digits[8];
};

struct sql_savepoint {
	char name[CAT_NAME_MAX + 1];
	uint32_t mark; /* 0: the transaction had not begun */
	uint64_t ddl;  /* its own version of the catalog, 0: none */
	struct sql_settings now, session;
};

struct sql_session {
	struct sql_session_config cfg;
	struct net_worker *net;
	enum sql_block block;
	struct txn *t;    /* NULL in a block: it has not begun, its first statement will */
	enum txn_iso iso; /* of the block */
	bool ddl;         /* t changed the catalog */
	struct sql_settings now, session, before; /* in force; beyond the block; as the block found them */
	struct sql_savepoint *save;               /* of the block, oldest first */
	unsigned saves, save_cap;
	bool save_lost;           /* a failure after DDL took the whole transaction */
	struct sql_named *named;  /* PREPARE */
	uint32_t stmt_mark;       /* where the running statement began, 0: not marked */
	bool upserts;             /* the transaction has an ON CONFLICT in it */
	int64_t now_us;           /* start of t; 0: nobody asked yet */
	uint64_t deadline_ns;     /* of the statement, 0: none */
	struct nam_budget budget; /* of the arenas and of t, part of the process's */
	struct nam_arena **arena;
	unsigned arenas;
	struct sql_exec x;
	struct sql_gauge *gauge; /* while EXPLAIN ANALYZE runs */
	struct sql_stmt *cache[SQL_CACHED];
	struct net_counts counts;
	struct sql_drawn *sequence; /* of which nextval has drawn here */
	unsigned sequences;
	uint32_t last_sequence; /* lastval's; 0: none */
	uint64_t dice[2];       /* random()'s state; zeros: not seeded */
};

/* What this session knows of a sequence. */
struct sql_drawn {
	uint32_t id;
	bool any;
	int64_t last;
	int64_t left; /* values after last that are ours already */
};

struct sql_stmt {
	struct sql_session *s;
	struct sql_parsed *parsed;
	const struct ast_stmt *ast;
	struct sql_plan *plan;
	uint64_t version; /* of the catalog it was planned for */
	uint64_t drift;   /* cat_drift then, and the settings that plans depend on */
	enum cat_type *given, *types;
	unsigned ngiven, params;
	uint64_t hash;          /* of the text, in the session's cache */
	struct nam_arena fixed; /* parameters converted for one execution */
	struct cat_datum *param;
};

/* ---- session.c ---- */
/* statement_timeout runs from now on. */
void sql_clock_start(struct sql_session *s);
/* A transaction and snapshot for the next statement. */
bool sql_begin_statement(struct sql_session *s, struct cat_err *err);
/* Ends what sql_begin_statement began, when nothing else does (autocommit). */
bool sql_commit(struct sql_session *s, struct cat_err *err);
/* Ends the transaction, nothing of it stays. */
void sql_roll_back(struct sql_session *s);
/* The statement failed: the block is failed, or the implicit transaction gone. */
void sql_abort(struct sql_session *s);
struct nam_arena *sql_arena(struct sql_session *s, unsigned i);
void sql_prepare_exec(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err);
void sql_notice(const struct sql_sink *sink, const char *severity, const char *sqlstate, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sql_err_clear(struct cat_err *err);
/* Byte position to character position. */
void sql_err_place(struct cat_err *err, const char *text, size_t len);

/* ---- stmt.c ---- */
/* last: of its text, so an implicit transaction is committed before the answer "done". */
bool sql_stmt_run(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last);
struct sql_stmt *sql_stmt_new(struct sql_session *s, struct sql_parsed *parsed, const struct ast_stmt *ast,
    const enum cat_type *types, unsigned n, struct cat_err *err);
const struct sql_costs *sql_costs_of(const struct sql_session *s);
bool sql_stmt_plan(struct sql_session *s, struct sql_stmt *st, struct cat_err *err);
/* now() of the transaction, if the plan asks for it: before sql_prepare_exec. */
void sql_take_now(struct sql_session *s, const struct sql_plan *p);
/* Runs a plan that sql_prepare_exec has been called for, its arenas empty. */
bool sql_plan_run(struct sql_session *s, struct sql_plan *p, uint64_t *rows);
bool sql_has_plan(const struct ast_stmt *ast);

/* ---- ddl.c ---- */
bool sql_create_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* create_as.c: the tag says what became of it. */
bool sql_create_as(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag,
    size_t max, uint64_t *rows, struct cat_err *err);
/* The same of a query that is planned. */
bool sql_create_as_run(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan *p,
    const struct sql_sink *sink, uint64_t *rows, struct cat_err *err);
/* DROP TABLE, DROP VIEW. */
bool sql_drop_relations(struct sql_session *s, const struct ast_stmt *ast, enum cat_kind kind,
    const struct sql_sink *sink, struct cat_err *err);
bool sql_create_sequence(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_drop_sequence(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_create_view(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err);
/* alter.c */
bool sql_alter_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* Does any view read it? */
bool sql_has_dependents(struct sql_session *s, const struct cat_table *tab, bool *out, struct cat_err *err);
/* Views that read tab, those named in ast aside: an error, or, with CASCADE, dropped. */
bool sql_drop_dependents(struct sql_session *s, const struct cat_table *tab, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct cat_err *err);
/* sequence.c: a sequence's entry in the catalog. owner: the table it feeds, or 0. */
bool sql_make_sequence(
    struct sql_session *s, const char *name, const struct ast_seq *q, uint32_t owner, struct cat_err *err);
/* The name of the sequence of a column of a new table, and the default that draws from it. */
bool sql_sequence_name(struct sql_session *s, const char *table, const char *column,
    char out[CAT_NAME_MAX + 1], const char **dflt, struct nam_arena *arena, struct cat_err *err);
/* The columns that a PRIMARY KEY names become def's key. */
bool sql_key_columns(struct cat_table *def, const struct ast_stmt *ast, struct cat_err *err);
/* The name of a CHECK constraint that def does not have yet. */
bool sql_check_name(struct cat_table *def, const struct ast_check *k, char out[CAT_NAME_MAX + 1],
    struct nam_arena *arena, struct cat_err *err);

/* ---- utility.c ---- */
/* CREATE, DROP, COPY, EXPLAIN: inside a transaction. tag gets the command's. */
bool sql_utility(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag,
    size_t max, uint64_t *rows, struct cat_err *err);
/* What may be said in a failed block. */
static inline bool
sql_may_end(enum ast_stmt_kind k)
{
	return k == AST_COMMIT || k == AST_ROLLBACK || k == AST_ROLLBACK_TO;
}
/* savepoint.c */
bool sql_savepoint(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
/* A statement of the block failed. true: the transaction stands, back at its last savepoint. */
bool sql_save_failed(struct sql_session *s);
bool sql_text_rows(const struct sql_sink *sink, const char *name, const struct cat_str *line, unsigned n,
    struct nam_arena *arena, struct cat_err *err);
/* truncate.c: an empty table in the place of one that is held (cat_hold). */
bool sql_truncate(
    struct sql_session *s, const struct cat_table *tab, struct nam_arena *arena, struct cat_err *err);
/* analyze.c */
bool sql_analyze(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
/* explain.c: with the transaction around it. */
bool sql_explain(struct sql_session *s, const struct sql_stmt *st, const struct sql_sink *sink,
    struct cat_err *err, bool last);
/* named.c: PREPARE and DEALLOCATE, inside a transaction; EXECUTE. */
bool sql_named(struct sql_session *s, const struct sql_stmt *st, char *tag, size_t max, struct cat_err *err);
bool sql_named_execute(struct sql_session *s, const struct sql_stmt *st, const struct sql_sink *sink,
    struct cat_err *err, bool last);
void sql_forget_named(struct sql_session *s);
/* For EXPLAIN EXECUTE: the plan, which stays the prepared statement's, and the arguments. */
bool sql_named_plan(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan **plan,
    const struct cat_datum **given, unsigned *n, struct cat_err *err);
/* copy_to.c */
bool sql_copy_to(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    uint64_t *rows, struct cat_err *err);
/* SET, SHOW: no transaction needed. */
bool sql_set(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_show(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
/* A setting's value as SHOW says it, perhaps in buf; NULL: there is no such name. */
const char *sql_setting(struct sql_session *s, const char *name, char *buf, size_t max);
void sql_settings_init(struct sql_settings *set);
/* memory.c: of all sessions of the process. */
extern struct nam_budget sql_process_memory;
/* "64MB" to KiB and back. */
bool sql_parse_kb(const char *name, const char *v, uint64_t *kb, struct cat_err *err);
const char *sql_kb_text(uint64_t kb, char *buf, size_t max);

#endif
