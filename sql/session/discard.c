/* discard.c -- DISCARD and UNLISTEN: a session as a new client of it would find it. */
#include <sql/session/session_internal.h>

static void
discard_plans(struct sql_session *s)
{
	for (unsigned i = 0; i < SQL_CACHED; i++) {
		sql_stmt_close(s->cache[i]);
		s->cache[i] = NULL;
	}
}

static void
discard_sequences(struct sql_session *s)
{
	s->sequences = 0;
	s->last_sequence = 0;
}

/* Nothing is listened to. */
static void
discard_all(struct sql_session *s)
{
	sql_cursors_close_named(s);
	sql_temp_end(s);
	sql_settings_reset(s);
	sql_forget_named(s);
	discard_plans(s);
	discard_sequences(s);
}

bool
sql_discard(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	static const char *const tag[] = { [AST_DISCARD_ALL] = "DISCARD ALL",
		[AST_DISCARD_PLANS] = "DISCARD PLANS",
		[AST_DISCARD_SEQUENCES] = "DISCARD SEQUENCES",
		[AST_DISCARD_TEMP] = "DISCARD TEMP",
		[AST_UNLISTEN] = "UNLISTEN" };
	bool inside = s->block == SQL_BLOCK || (s->temp[0] != 0 && s->block != SQL_IDLE);
	if (ast->discard == AST_DISCARD_ALL && inside)
		return cat_error(err, "25001", "DISCARD ALL cannot run inside a transaction block");
	if (ast->discard == AST_DISCARD_ALL)
		discard_all(s);
	else if (ast->discard == AST_DISCARD_PLANS)
		discard_plans(s);
	else if (ast->discard == AST_DISCARD_TEMP && s->temp[0] != 0 && s->block != SQL_IDLE)
		return cat_error(
		    err, "0A000", "DISCARD TEMP inside a transaction block is not supported yet");
	else if (ast->discard == AST_DISCARD_TEMP)
		sql_temp_end(s);
	else if (ast->discard == AST_DISCARD_SEQUENCES)
		discard_sequences(s);
	if (sink->done == NULL || sink->done(sink->arg, tag[ast->discard], 0))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}
