/* checkpoint.c -- CHECKPOINT. */
#include <catalog/checkpoint.h>
#include <sql/common/error.h>
#include <sql/session/session_internal.h>

enum { AGAIN_NS = 20000000 };

bool
sql_checkpoint(
    struct sql_session *s, const struct txn_limits *limits, const struct sql_sink *sink, struct cat_err *err)
{
	const struct txn_checkpoint_limits l = { .cancel = limits->cancel, .until_ns = limits->until_ns };
	struct cat_checkpointed made;
	nam_status st;
	if (!sql_who(s)->super)
		return cat_error(
		    err, "42501", "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT");
	/* One that is under way may have looked at a table already; one that was overtaken is made
	 * again. */
	while ((st = cat_checkpoint(s->cfg.cat, s->cfg.tw, &l, &made)) == NAM_BUSY) {
		if (limits->cancel != NULL && atomic_load(limits->cancel) != 0)
			return sql_status(err, NAM_CANCELLED, NULL);
		if (limits->until_ns != 0 && net_now_ns(s->net) >= limits->until_ns)
			return sql_status(err, NAM_EXPIRED, NULL);
		net_sleep(s->net, AGAIN_NS);
	}
	if (st != NAM_OK && st != NAM_UNSUPPORTED) /* without a log there is nothing to do */
		return sql_status(err, st, NULL);
	if (sink->done == NULL || sink->done(sink->arg, "CHECKPOINT", 0))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}
