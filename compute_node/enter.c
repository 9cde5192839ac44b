/* enter.c -- the role as which a client comes in. */
#include <compute_node/cn_internal.h>

#include <stdio.h>
#include <string.h>

/* Clients that come to a new cluster at once hold each other up. */
enum { TRIES = 50, NAP_NS = 1000000 };

static nam_status
enter_once(const struct cn_place *place, const char *user, bool claims, const struct txn_limits *limits,
    struct cat_role *role)
{
	struct txn_worker *tw = place->txn;
	struct nam_arena arena;
	struct txn *t;
	bool claimed = false;
	tso_cid cid = 0;
	nam_arena_init(&arena, 0);
	txn_reach(tw);
	nam_status st = txn_begin_by(tw, TXN_READ_COMMITTED, limits, &t);
	if (st == NAM_OK) {
		st = cat_role_enter(place->cat, t, user, claims, role, &claimed, &arena);
		if (st == NAM_OK && claimed) {
			st = txn_commit(t, &cid);
			cat_decided(place->cat, tw, NULL, st == NAM_OK ? cid : 0);
		} else {
			txn_abort(t);
		}
	}
	nam_arena_fini(&arena);
	return st;
}

bool
cn_enter(struct cn *cn, const struct cn_place *place, const char *user, bool claims, _Atomic int *cancel,
    struct cat_role *role, bool *found, struct cat_err *err)
{
	return cn_enter_by(cn, place, user, claims, cancel, 0, role, found, err);
}

bool
cn_enter_by(struct cn *cn, const struct cn_place *place, const char *user, bool claims, _Atomic int *cancel,
    uint64_t until_ns, struct cat_role *role, bool *found, struct cat_err *err)
{
	const struct txn_limits limits = { .cancel = cancel, .until_ns = until_ns };
	nam_status st = NAM_CONFLICT;
	for (int i = 0; i < TRIES; i++) {
		st = enter_once(place, user, claims, &limits, role);
		if (st != NAM_CONFLICT && st != NAM_DUPLICATE && st != NAM_BUSY && st != NAM_DEADLOCK)
			break;
		net_sleep(place->net, NAP_NS);
	}
	*found = st == NAM_OK;
	if (st == NAM_OK || st == NAM_ABSENT)
		return true;
	*err = (struct cat_err){ 0 };
	cat_error(err, "58030", "cannot read the roles: %s", nam_status_text(st));
	cn_reason(cn, place, false, false, err);
	char why[sizeof err->detail];
	snprintf(why, sizeof why, "%.140s%s%.150s", err->text, err->detail[0] ? ". " : "", err->detail);
	*err = (struct cat_err){ 0 };
	cat_error(err, "57P03", "the database system is not accepting connections");
	snprintf(err->detail, sizeof err->detail, "%s", why);
	return false;
}

bool
cn_refuse(const char *user, const struct cat_role *role, bool found, struct cat_err *err)
{
	*err = (struct cat_err){ 0 };
	if (!found) {
		cat_error(err, "28000", "role \"%.63s\" does not exist", user);
		snprintf(err->hint, sizeof err->hint,
		    "Connect as %s, or make the role: namdb sql -c 'CREATE ROLE ... LOGIN'.", CAT_FIRST_ROLE);
	} else if (!role->login) {
		cat_error(err, "28000", "role \"%.63s\" is not permitted to log in", user);
	}
	return !found || !role->login;
}
