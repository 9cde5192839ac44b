/* reason.c -- why a statement failed, where the cause is the cluster and not the statement. */
#include <compute_node/cn_internal.h>

#include <stdio.h>
#include <string.h>

enum { ASKING_NAP_NS = 1000000 };

static void
shut_out(struct net *n, bool doubt, struct cat_err *err)
{
	const char *why = net_membership_why(n);
	if (doubt) {
		cat_error(err, "08007", "it is not known whether the statement took effect: %s", why);
		snprintf(err->hint, sizeof err->hint, "Connect again, and look whether it did.");
		return;
	}
	cat_error(err, "57P01", "%s", why);
	snprintf(err->hint, sizeof err->hint,
	    "Uncommitted work has been rolled back. Connect again, and run the transaction again.");
}

/* True if a statement may fail with this SQLSTATE because its process is fenced. */
static bool
may_come_of_it(const char *sqlstate)
{
	static const char *const of[] = { "58030", "55P03", "40001", "40P01", "53100", "XX000", "XX001" };
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++)
		if (strcmp(sqlstate, of[i]) == 0)
			return true;
	return false;
}

/* Other threads find out soon whether a node is gone, whether this process is fenced, and which
 * process blocks all others. */
void
cn_reason(struct cn *cn, const struct cn_place *place, bool cut, bool doubt, struct cat_err *err)
{
	struct net *n = cn->net;
	char stuck[sizeof err->detail];
	if (err == NULL)
		return;
	bool gone = strcmp(err->sqlstate, "58030") == 0;
	if (gone && cn->gone_hint != NULL && err->hint[0] != '\0')
		snprintf(err->hint, sizeof err->hint, "%s", cn->gone_hint);
	if (gone)
		tso_stuck_text(txn_worker_tso(place->txn), stuck, sizeof stuck);
	while (gone && net_membership(n) == NET_ASKING)
		net_sleep(place->net, ASKING_NAP_NS);
	if (net_membership(n) == NET_FENCED) {
		if (cut || may_come_of_it(err->sqlstate))
			shut_out(n, cut && doubt, err);
		else if (strcmp(err->sqlstate, "08007") == 0)
			snprintf(err->detail, sizeof err->detail, "%s", net_membership_why(n));
	} else if (gone && stuck[0] != '\0' && err->detail[0] == '\0') {
		memcpy(err->detail, stuck, sizeof stuck);
	} else if (gone) {
		char broke[200];
		size_t n0 = strlen(err->detail);
		net_broken_why(n, broke, sizeof broke);
		snprintf(err->detail + n0, sizeof err->detail - n0, "%s%s",
		    n0 > 0 && broke[0] != '\0' ? " " : "", broke);
	}
}
