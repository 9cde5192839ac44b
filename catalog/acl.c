/* acl.c -- access control lists of relations. */
#include <catalog/acl.h>
#include <catalog/role.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_RIGHTS = CAT_MAY_USE - 1, SEQUENCE_RIGHTS = CAT_MAY_USE | CAT_MAY_SELECT | CAT_MAY_UPDATE };

const char *
cat_owner(const struct cat_table *t)
{
	return t->owner[0] != 0 ? t->owner : CAT_FIRST_ROLE;
}

uint16_t
cat_acl_all(enum cat_kind kind)
{
	static const uint16_t all[] = { [CAT_TABLE] = TABLE_RIGHTS,
		[CAT_VIEW] = TABLE_RIGHTS,
		[CAT_SEQUENCE] = SEQUENCE_RIGHTS,
		[CAT_SCHEMA] = CAT_MAY_USE | CAT_MAY_CREATE,
		[CAT_DOMAIN] = 0 };
	return all[kind];
}

uint16_t
cat_acl_rights(const struct cat_table *t, const char *role)
{
	uint16_t has = 0;
	if (!t->granted)
		return strcmp(role, cat_owner(t)) == 0 ? cat_acl_all(t->kind) : 0;
	for (unsigned i = 0; i < t->grants; i++)
		if (strcmp(t->grant[i].to, role) == 0)
			has |= t->grant[i].rights;
	return has;
}

uint16_t
cat_acl_options(const struct cat_table *t, const char *role)
{
	uint16_t has = 0;
	if (strcmp(role, cat_owner(t)) == 0)
		return cat_acl_all(t->kind);
	for (unsigned i = 0; i < t->grants; i++)
		if (strcmp(t->grant[i].to, role) == 0)
			has |= t->grant[i].options;
	return has;
}

bool
cat_acl_names(const struct cat_table *t, const char *role)
{
	if (strcmp(cat_owner(t), role) == 0)
		return true;
	for (unsigned i = 0; i < t->grants; i++)
		if (strcmp(t->grant[i].to, role) == 0 || strcmp(t->grant[i].by, role) == 0)
			return true;
	return false;
}

/* ---- changes ---------------------------------------------------------------------------- */

/* def gets a list of its own, with room for one item more. A relation without one gets what its
 * owner has without being told. */
static bool
own_list(struct cat_table *def, struct nam_arena *arena)
{
	struct cat_grant *list = nam_arena_zero(arena, (def->grants + 2u) * sizeof *list);
	if (list == NULL)
		return false;
	if (def->grants > 0)
		memcpy(list, def->grant, def->grants * sizeof *list);
	def->grant = list;
	if (def->granted)
		return true;
	def->granted = true;
	def->grants = 1;
	list[0].rights = cat_acl_all(def->kind);
	snprintf(list[0].to, sizeof list[0].to, "%s", cat_owner(def));
	snprintf(list[0].by, sizeof list[0].by, "%s", cat_owner(def));
	return true;
}

/* The number of the item; grants = there is none. */
static unsigned
item(const struct cat_table *t, const char *to, const char *by)
{
	unsigned i = 0;
	while (i < t->grants && (strcmp(t->grant[i].to, to) != 0 || strcmp(t->grant[i].by, by) != 0))
		i++;
	return i;
}

/* Items without a right go. */
static void
sweep(struct cat_table *def)
{
	unsigned n = 0;
	for (unsigned i = 0; i < def->grants; i++)
		if (def->grant[i].rights != 0)
			def->grant[n++] = def->grant[i];
	def->grants = n;
}

static void
add(struct cat_table *def, const char *to, const char *by, uint16_t rights, uint16_t options)
{
	unsigned i = item(def, to, by);
	if (i == def->grants) {
		struct cat_grant *fresh = &def->grant[def->grants++];
		*fresh = (struct cat_grant){ 0 };
		snprintf(fresh->to, sizeof fresh->to, "%s", to);
		snprintf(fresh->by, sizeof fresh->by, "%s", by);
	}
	def->grant[i].rights |= rights;
	def->grant[i].options |= options;
}

bool
cat_acl_grant(struct cat_table *def, const char *to, const char *by, uint16_t rights, uint16_t options,
    struct nam_arena *arena)
{
	if (!own_list(def, arena))
		return false;
	add(def, to, by, rights, options);
	return true;
}

/* Takes rights from an item, and what hangs on its options. False: something does, and !cascade. */
static bool
take(struct cat_table *def, const char *to, const char *by, uint16_t rights, bool only_options, bool cascade)
{
	unsigned i = item(def, to, by);
	if (i == def->grants)
		return true;
	uint16_t lost = def->grant[i].options & rights;
	def->grant[i].options &= (uint16_t)~rights;
	if (!only_options)
		def->grant[i].rights &= (uint16_t)~rights;
	lost &= (uint16_t)~cat_acl_options(def, to);
	for (unsigned k = 0; k < def->grants; k++) {
		struct cat_grant *g = &def->grant[k];
		uint16_t hang = g->rights & lost;
		if (hang == 0 || strcmp(g->by, to) != 0)
			continue;
		if (!cascade || !take(def, g->to, g->by, hang, false, true))
			return false;
	}
	return true;
}

bool
cat_acl_revoke(struct cat_table *def, const char *to, const char *by, uint16_t rights, bool only_options,
    bool cascade, bool *depends, struct nam_arena *arena)
{
	struct cat_table next = *def;
	if (!own_list(&next, arena))
		return false;
	*depends = !take(&next, to, by, rights, only_options, cascade);
	if (*depends)
		return true;
	sweep(&next);
	*def = next;
	return true;
}

bool
cat_acl_give(struct cat_table *def, const char *owner, struct nam_arena *arena)
{
	char was[CAT_NAME_MAX + 1];
	struct cat_table next = *def;
	snprintf(was, sizeof was, "%s", cat_owner(def));
	snprintf(next.owner, sizeof next.owner, "%s", owner);
	if (def->granted) {
		/* Two items may become one. */
		if ((next.grant = nam_arena_zero(arena, (def->grants + 1u) * sizeof *next.grant)) == NULL)
			return false;
		next.grants = 0;
		for (unsigned i = 0; i < def->grants; i++) {
			const struct cat_grant *g = &def->grant[i];
			add(&next, strcmp(g->to, was) == 0 ? owner : g->to,
			    strcmp(g->by, was) == 0 ? owner : g->by, g->rights, g->options);
		}
	}
	*def = next;
	return true;
}

bool
cat_acl_forget(struct cat_table *def, const char *role, struct nam_arena *arena)
{
	struct cat_table next = *def;
	if (!def->granted)
		return true;
	if (!own_list(&next, arena))
		return false;
	for (unsigned i = 0; i < next.grants; i++) {
		struct cat_grant *g = &next.grant[i];
		if (strcmp(g->to, role) == 0)
			(void)take(&next, g->to, g->by, g->rights, false, true);
	}
	for (unsigned i = 0; i < next.grants; i++)
		if (strcmp(next.grant[i].by, role) == 0)
			next.grant[i].rights = 0;
	sweep(&next);
	*def = next;
	return true;
}

/* ---- as text ---------------------------------------------------------------------------- */

char *
cat_acl_text(const struct cat_table *t, struct nam_arena *arena)
{
	enum { NUMBERS = 40 };
	size_t max = NUMBERS + t->grants * (size_t)(NUMBERS + 2 * CAT_NAME_MAX), at;
	char *text = nam_arena_take(arena, max);
	if (text == NULL)
		return NULL;
	text[0] = 0;
	if (!t->granted)
		return text;
	at = (size_t)snprintf(text, max, "%u", t->grants);
	for (unsigned i = 0; i < t->grants; i++) {
		const struct cat_grant *g = &t->grant[i];
		at += (size_t)snprintf(text + at, max - at, " %u %u %zu:%s %zu:%s", (unsigned)g->rights,
		    (unsigned)g->options, strlen(g->to), g->to, strlen(g->by), g->by);
	}
	return text;
}

/* " length:name" at *text, which moves behind it. */
static bool
name_in(const char **text, char out[CAT_NAME_MAX + 1])
{
	unsigned len;
	int skip;
	if (sscanf(*text, " %u%n", &len, &skip) != 1 || len > CAT_NAME_MAX || (*text)[skip] != ':' ||
	    strnlen(*text + skip + 1, len) < len)
		return false;
	memcpy(out, *text + skip + 1, len);
	out[len] = 0;
	*text += (unsigned)skip + 1 + len;
	return true;
}

bool
cat_acl_read(struct cat_table *t, const char *text, struct nam_arena *arena)
{
	unsigned n, rights, options;
	int skip;
	t->granted = text[0] != 0;
	t->grants = 0;
	if (!t->granted)
		return true;
	if (sscanf(text, "%u%n", &n, &skip) != 1 || n > strlen(text))
		return false;
	if ((t->grant = nam_arena_zero(arena, (n + 1u) * sizeof *t->grant)) == NULL)
		return false;
	text += skip;
	for (; t->grants < n; t->grants++) {
		struct cat_grant *g = &t->grant[t->grants];
		if (sscanf(text, " %u %u%n", &rights, &options, &skip) != 2 || rights > UINT16_MAX ||
		    options > UINT16_MAX)
			return false;
		text += skip;
		*g = (struct cat_grant){ .rights = (uint16_t)rights, .options = (uint16_t)options };
		if (!name_in(&text, g->to) || !name_in(&text, g->by) || g->by[0] == 0)
			return false;
	}
	return *text == 0;
}
