/*
 * session_internal.h -- shared by session.c (transactions), stmt.c (plans) and utility.c
 * (statements without a plan).
 */
#ifndef NAM_SQL_SESSION_INTERNAL_H
#define NAM_SQL_SESSION_INTERNAL_H

#include <sql/command/command.h>
#include <sql/common/memory.h>
#include <sql/dml/dml.h>
#include <sql/parse/parse.h>

struct sql_savepoint {
	char name[CAT_NAME_MAX + 1];
	uint32_t mark; /* 0 = the transaction had not begun */
	uint64_t ddl;  /* its own version of the catalog, 0 = none */
	struct sql_settings now, session;
};

struct sql_stmt {
	struct sql_session *s;
	struct sql_parsed *parsed;
	const struct ast_stmt *ast;
	struct sql_plan *plan;
	uint64_t version;   /* of the catalog it was planned for */
	struct sql_who who; /* the role it was planned for */
	uint64_t drift;     /* cat_drift then, and the settings that plans depend on */
	enum cat_type *given, *types;
	unsigned ngiven, params;
	uint64_t hash;           /* of the text, in the session's cache */
	bool described;          /* a client was told its columns: they may not change any more */
	unsigned refs;           /* sql_stmt_hold's, and one */
	struct sql_column shown; /* SHOW, EXPLAIN: what they return; no name: nothing */
	struct nam_arena fixed;  /* parameters converted for one execution */
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
/* A statement that lost a race runs again. */
void sql_count_retry(struct sql_session *s);
/*
 * The transaction's first statement has failed. True: it says IF [NOT] EXISTS, and its name came or
 * went after its snapshot; its transaction is gone, and it may run again: a short rest is over.
 * tries: how often it has been so.
 */
bool sql_name_again(
    struct sql_session *s, const struct ast_stmt *ast, unsigned tries, const struct cat_err *err);
/* The next statement begins a transaction, and nothing of its block is lost if that begins
 * again. */
bool sql_is_first(const struct sql_session *s);
/* The statement, a first one, has failed: rolls it back and waits, if it may find memory in
 * another try. */
bool sql_room_again(struct sql_session *s, unsigned tries, const struct cat_err *err);
/* Before a statement that cannot begin again: waits for memory that comes back, if there is
 * little. */
void sql_room_before(struct sql_session *s);
/* The statement failed: the block is failed, or the implicit transaction gone. */
void sql_abort(struct sql_session *s);
/*
 * A statement or a commit at that snapshot (0: of the open transaction) has failed. If it met
 * damage (XX001), and the catalog has been changed since, then what it met may be of a table or an
 * index that was dropped, truncated, or made again meanwhile: it lost a race, 40001.
 */
void sql_judge_damage(struct sql_session *s, tso_cid snapshot, struct cat_err *err);

/* The limits of the statement that runs, for the transaction that is open. */
void sql_renew_limits(struct sql_session *s);

/* One statement of any kind. last: as of sql_stmt_run. */
bool sql_stmt_one(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last);

/* ---- stmt.c ---- */
/* Parameters in the types the plan wants. NULL: *err says why not. */
const struct cat_datum *sql_stmt_convert(
    struct sql_stmt *st, const struct cat_datum *param, unsigned n, struct cat_err *err);
/* last: of its text, so an implicit transaction is committed before the answer "done". */
bool sql_stmt_run(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last);
struct sql_stmt *sql_stmt_new(struct sql_session *s, struct sql_parsed *parsed, const struct ast_stmt *ast,
    const enum cat_type *types, unsigned n, struct cat_err *err);
/* The constants that the session's last plan was made with: its helpers plan with them too. */
const struct sql_costs *sql_costs_of(const struct sql_session *s);
bool sql_stmt_plan(struct sql_session *s, struct sql_stmt *st, struct cat_err *err);
bool sql_has_plan(const struct ast_stmt *ast);

/* ---- cost.c ---- */
void sql_cost_settings_init(struct sql_settings *set);
/* namdb.cost_*. set: false = none has that name; v NULL = as measured. text: NULL = likewise. */
bool sql_cost_setting_set(
    struct sql_settings *set, const char *name, const char *v, bool *ok, struct cat_err *err);
const char *sql_cost_setting_text(const struct sql_settings *set, const char *name, char *buf, size_t max);

/* ---- temp.c ---- */
/* Drops the session's temporary relations, in a transaction of its own; so that of sessions whose
 * process has ended. */
void sql_temp_end(struct sql_session *s);
/* The latter alone. */
void sql_temp_sweep(struct sql_session *s);

/* ---- cursor.c ---- */
/* Another statement begins: the rest of the cursors' rows comes to memory. */
bool sql_cursors_keep(struct sql_session *s, struct cat_err *err);
/* COMMIT begins: only those WITH HOLD stay, with their rows in memory. */
bool sql_cursors_commit(struct sql_session *s, struct cat_err *err);
/* The transaction has ended. */
void sql_cursors_end(struct sql_session *s, bool committed);
/* The transaction goes back to where it had so many savepoints; or has only so many left. */
void sql_cursors_back_to(struct sql_session *s, unsigned saves);
void sql_cursors_released(struct sql_session *s, unsigned saves);
void sql_cursors_forget(struct sql_session *s);
/* Calls fn for each, until it returns false: for pg_cursors. */
void sql_cursors_each(
    const struct sql_session *s, bool (*fn)(void *to, const struct sql_cursor_shown *c), void *to);
/* Those that have a name. */
void sql_cursors_close_named(struct sql_session *s);
/* DECLARE: the types of its query's parameters, inside a transaction. */
bool sql_declare_types(struct sql_session *s, struct sql_stmt *st, struct cat_err *err);
/* DECLARE, FETCH, MOVE, CLOSE, with the transaction around it. */
bool sql_cursor_stmt(struct sql_session *s, const struct sql_stmt *st, const struct cat_datum *param,
    unsigned n, const struct sql_sink *sink, struct cat_err *err, bool last);

/* ---- discard.c ---- */
bool sql_discard(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);

/* ---- checkpoint.c ---- */
/* CHECKPOINT: returns when one is made that has begun since the call. */
bool sql_checkpoint(
    struct sql_session *s, const struct txn_limits *limits, const struct sql_sink *sink, struct cat_err *err);

/* ---- system.c ---- */
/* What a session hands to expressions as struct sql_host: the catalog's answer. */
struct sql_row;
enum sql_ask;
bool sql_system_ask(struct sql_row *r, enum sql_ask what);
/* rule.c: a DEFAULT or CHECK of t, kept as text, in PostgreSQL's words. In sys's arena. */
struct sql_system;
const char *sql_rule_said(struct sql_session *s, const struct sql_system *sys, const struct cat_table *t,
    const char *text, bool pretty);

/* ---- help.c ---- */
/* Before a plan runs: may other workers help with it? text: the client's, which has its statement;
 * NULL = another one has, so no other process helps. */
void sql_team_up(struct sql_session *s, const struct sql_plan *p, const struct sql_parsed *text);
/* Before a session helps another process: so many workers of this one take part. */
void sql_team_lend(struct sql_session *s, unsigned workers);
enum { SQL_ROOT_BOARD = 7, SQL_HELP_TURN_NS = 1000000 };
/* The cluster's board of jobs; 0 = there is none yet. */
nam_status sql_board(struct txn_db *db, struct net_worker *w, net_addr *board);
/* The plan of g's statement, made in s. NULL: it cannot be made, or it is another one. */
struct sql_gather;
struct sql_plan *sql_plan_again(
    struct sql_session *s, const struct sql_gather *g, const struct sql_session *theirs);
struct sql_fragment *sql_fragment_of(const struct sql_plan *p, unsigned number);
/* Workers that may share a query. */
unsigned sql_team_size(const struct sql_session *s);

/* ---- index.c ---- */
/* CREATE INDEX outside of a transaction block, in transactions of its own. */
bool sql_index_online(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);

/* named.c: the statement that EXECUTE would run, or NULL. */
const struct sql_stmt *sql_named_find(struct sql_session *s, const char *name);

/* ---- role.c ---- */
/* ---- custom.c ---- */
/* True if only a program can mean something by the setting: its name has a dot, and is not ours. */
bool sql_custom_is(const char *name);
/* value NULL = it has none. False: 42602, 53200. */
bool sql_custom_set(struct sql_session *s, struct sql_settings *set, const char *name, const char *value,
    struct cat_err *err);
/* NULL = it has never been set in this session. Valid until the next statement begins. */
const char *sql_custom_text(const struct sql_session *s, const struct sql_settings *set, const char *name);
/* Between statements: frees what no settings have any more. */
void sql_custom_tidy(struct sql_session *s);
void sql_custom_free(struct sql_session *s);

/* Before a statement: are the session's roles superusers, as the catalog is now? */
bool sql_renew_roles(struct sql_session *s, struct cat_err *err);
/* SET ROLE, SET SESSION AUTHORIZATION; inside a transaction. */
bool sql_set_role(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);

/* ---- utility.c ---- */
/* CREATE, DROP, COPY, EXPLAIN: inside a transaction. tag gets the command's. */
/* resolve.c: *out is the statement with paths in the place of names. False: *err. */
bool sql_resolve(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct ast_stmt *out, struct nam_arena *arena, struct cat_err *err);
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
/* Call it if a statement of the block failed. True if the transaction stands, back at its last
 * savepoint. */
bool sql_save_failed(struct sql_session *s);
bool sql_text_rows(const struct sql_sink *sink, const char *name, const struct cat_str *line, unsigned n,
    struct nam_arena *arena, struct cat_err *err);
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
/* SET, SHOW: no transaction needed. */
bool sql_set(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_show(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
/* A setting's value as SHOW says it, perhaps in buf; NULL = there is no such name. */
const char *sql_setting(struct sql_session *s, const char *name, char *buf, size_t max);
/* The same as it is in set. */
const char *sql_setting_in(
    struct sql_session *s, const struct sql_settings *set, const char *name, char *buf, size_t max);
/* set_config: SET, or SET LOCAL; value NULL = the default. */
bool sql_set_config(
    struct sql_session *s, const char *name, const char *value, bool local, struct cat_err *err);
/* kept.c: settings without effect. set: false = none has that name. text: NULL = likewise. */
void sql_kept_init(int32_t *value);
/* True if COMMIT does not wait for the disk: synchronous_commit is off. */
bool sql_kept_commits_early(const int32_t *value);
/* literals.c: what st says as 'name'::regclass and its kin is there. */
bool sql_names_exist(struct sql_session *s, const struct ast_stmt *st, struct cat_err *err);
bool sql_kept_set(int32_t *value, const char *name, const char *v, bool *ok, struct cat_err *err);
const char *sql_kept_text(const int32_t *value, const char *name, char *buf, size_t max);
struct sql_known;
bool sql_setting_known(struct sql_session *s, unsigned k, struct sql_known *out);
extern const struct sql_column sql_show_all_columns[3];
bool sql_show_all(
    struct sql_session *s, const struct sql_sink *sink, struct nam_arena *a, struct cat_err *err);
/* "on", "true", "yes", "1", their contraries, or a beginning of one. */
bool sql_parse_switch(const char *v, bool *out);
const char *sql_ms_text(uint32_t ms, char *buf, size_t max);
void sql_settings_init(struct sql_settings *set);
/* The settings of a new session; a program's first message changes them by sql_session_set. */
void sql_settings_begin(struct sql_session *s);
/* RESET ALL, DISCARD ALL: as the session began. */
void sql_settings_reset(struct sql_session *s);
#endif
