/* custom.c -- settings of programs: names with a dot, which mean nothing here. */
#include <sql/session/session_internal.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * A list that sql_settings begins never changes: a SET makes the nodes in front of the one that it
 * replaces once more. So savepoints and blocks keep their lists by keeping a pointer. Nodes that no
 * list has any more are freed before a statement, once there are many.
 */
struct sql_custom {
	const struct sql_custom *next; /* of the list */
	struct sql_custom *made;       /* the one that was made before */
	bool used;                     /* while they are looked for: a list has it */
	size_t name_len;
	char text[]; /* name and value, each with a 0 */
};

/* A name that has ever been set is known until the session ends, as in PostgreSQL: empty. */
struct sql_custom_name {
	struct sql_custom_name *next;
	char name[];
};

enum { MADE_LEAST = 256 };

static const char *
value_of(const struct sql_custom *c)
{
	return c->text + c->name_len + 1;
}

bool
sql_custom_is(const char *name)
{
	static const char ours[] = "namdb.";
	return strchr(name, '.') != NULL && strncasecmp(name, ours, sizeof ours - 1) != 0;
}

static bool
is_part(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char ch = (unsigned char)p[i];
		bool letter = isalpha(ch) || ch == '_' || ch >= 0x80;
		if (!letter && (i == 0 || (!isdigit(ch) && ch != '$')))
			return false;
	}
	return n > 0;
}

static bool
good_name(const char *name, struct cat_err *err)
{
	const char *p = name;
	bool ok = true;
	while (ok) {
		size_t n = strcspn(p, ".");
		ok = is_part(p, n);
		if (p[n] == 0)
			break;
		p += n + 1;
	}
	if (ok)
		return true;
	cat_error(err, "42602", "invalid configuration parameter name \"%.63s\"", name);
	snprintf(err->detail, sizeof err->detail,
	    "Custom parameter names must be two or more simple identifiers separated by dots.");
	return false;
}

static bool
learn(struct sql_session *s, const char *name)
{
	for (const struct sql_custom_name *k = s->custom_names; k != NULL; k = k->next)
		if (strcasecmp(k->name, name) == 0)
			return true;
	struct sql_custom_name *k = malloc(sizeof *k + strlen(name) + 1);
	if (k == NULL)
		return false;
	memcpy(k->name, name, strlen(name) + 1);
	k->next = s->custom_names;
	s->custom_names = k;
	return true;
}

static struct sql_custom *
make(struct sql_session *s, const char *name, const char *value, const struct sql_custom *next)
{
	size_t n = strlen(name), v = strlen(value);
	struct sql_custom *c = malloc(sizeof *c + n + v + 2);
	if (c == NULL)
		return NULL;
	*c = (struct sql_custom){ .next = next, .made = s->customs, .name_len = n };
	memcpy(c->text, name, n + 1);
	memcpy(c->text + n + 1, value, v + 1);
	s->customs = c;
	s->customs_made++;
	return c;
}

static const struct sql_custom *
find(const struct sql_custom *list, const char *name)
{
	while (list != NULL && strcasecmp(list->text, name) != 0)
		list = list->next;
	return list;
}

bool
sql_custom_set(
    struct sql_session *s, struct sql_settings *set, const char *name, const char *value, struct cat_err *err)
{
	if (!good_name(name, err))
		return false;
	const struct sql_custom *old = find(set->custom, name), *rest = old ? old->next : set->custom;
	if (!learn(s, name))
		return sql_no_memory(err);
	for (const struct sql_custom *c = set->custom; old != NULL && c != old; c = c->next)
		if ((rest = make(s, c->text, value_of(c), rest)) == NULL)
			return sql_no_memory(err);
	if (value != NULL && (rest = make(s, name, value, rest)) == NULL)
		return sql_no_memory(err);
	set->custom = rest;
	return true;
}

const char *
sql_custom_text(const struct sql_session *s, const struct sql_settings *set, const char *name)
{
	const struct sql_custom *c = find(set->custom, name);
	if (c != NULL)
		return value_of(c);
	for (const struct sql_custom_name *k = s->custom_names; k != NULL; k = k->next)
		if (strcasecmp(k->name, name) == 0)
			return "";
	return NULL;
}

/* The nodes are the session's own: the lists are only read through const. */
static void
use(const struct sql_settings *set)
{
	for (const struct sql_custom *c = set->custom; c != NULL && !c->used; c = c->next)
		((struct sql_custom *)(uintptr_t)c)->used = true;
}

void
sql_custom_tidy(struct sql_session *s)
{
	if (s->customs_made < MADE_LEAST || s->customs_made < s->customs_enough)
		return;
	use(&s->now);
	use(&s->session);
	use(&s->before);
	use(&s->start);
	for (unsigned i = 0; i < s->saves; i++) {
		use(&s->save[i].now);
		use(&s->save[i].session);
	}
	struct sql_custom **at = &s->customs, *c;
	while ((c = *at) != NULL) {
		if (c->used) {
			c->used = false;
			at = &c->made;
			continue;
		}
		*at = c->made;
		free(c);
		s->customs_made--;
	}
	s->customs_enough = 2 * s->customs_made + MADE_LEAST;
}

void
sql_custom_free(struct sql_session *s)
{
	struct sql_custom *c;
	struct sql_custom_name *k;
	while ((c = s->customs) != NULL) {
		s->customs = c->made;
		free(c);
	}
	while ((k = s->custom_names) != NULL) {
		s->custom_names = k->next;
		free(k);
	}
}
