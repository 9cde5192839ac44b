/* extras.c -- the texts of nam_extras: what a definition has that needs more than a name, written
 * and read. A reader takes no text for granted: false if it is another one. */
#include <catalog/catalog_internal.h>

#include <stdio.h>
#include <stdlib.h>

bool
cat_sequence_read(const char *text, struct cat_sequence *q)
{
	unsigned type, cycle, owner;
	unsigned long long word;
	long long start, step, min, max, cache;
	if (sscanf(text, "%u %lld %lld %lld %lld %lld %u %u %llx", &type, &start, &step, &min, &max, &cache,
		&cycle, &owner, &word) != 9 ||
	    type >= CAT_TYPES || !cat_type_is_int((enum cat_type)type) || step == 0 || cache < 1 || min > max)
		return false;
	*q = (struct cat_sequence){ start, step, min, max, cache, cycle != 0, (enum cat_type)type, { word },
		owner };
	return true;
}

/* What cat_places_text has written. */
bool
cat_places_read(struct cat_table *t, const char *text, uint32_t tag, struct nam_arena *arena)
{
	unsigned first, places, type, column, used;
	int skip;
	if (sscanf(text, "%u %u%n", &first, &places, &skip) != 2 || first > places ||
	    places > CAT_COLUMNS_MAX ||
	    (t->place = nam_arena_zero(arena, (places + 1) * sizeof *t->place)) == NULL)
		return false;
	t->first = (uint16_t)first;
	t->places = (uint16_t)places;
	used = 0;
	for (unsigned p = 0; p < places; p++) {
		text += skip;
		if (sscanf(text, " %u:%u%n", &type, &column, &skip) != 2 || !cat_type_is_known(type) ||
		    column > t->columns ||
		    (column > 0 && t->column[column - 1].type != cat_type_here(tag, (enum cat_type)type)))
			return false;
		for (unsigned k = 0; column > 0 && k < t->keys; k++)
			if (t->key[k] + 1u == column && p >= first)
				return false;
		t->place[p] = (struct cat_place){ .type = cat_type_here(tag, (enum cat_type)type),
			.column = (uint16_t)column };
		used += column > 0;
	}
	return used == t->columns;
}

/* "id anchor tree maker words flags keys column:flags ... includes column ..." */
char *
cat_index_text(const struct cat_index *ix, struct nam_arena *arena)
{
	char *text = nam_arena_printf(arena, "%u %llx %llx %llx %u %u %u", (unsigned)ix->store.id,
	    (unsigned long long)ix->store.anchor.bits, (unsigned long long)ix->store.tree,
	    (unsigned long long)ix->maker, ix->words,
	    ix->unique | ix->nulls_equal << 1 | ix->constraint << 2 | (ix->valid ? CAT_INDEX_IS_VALID : 0) |
		ix->whole << 4 | ix->primary << 5 | ix->hidden << 6,
	    ix->keys);
	for (unsigned k = 0; text != NULL && k < ix->keys; k++)
		text = nam_arena_printf(arena, "%s %u:%u", text, ix->key[k].column,
		    (unsigned)(ix->key[k].descending | ix->key[k].nulls_first << 1));
	if (text != NULL)
		text = nam_arena_printf(arena, "%s %u", text, ix->includes);
	for (unsigned k = 0; text != NULL && k < ix->includes; k++)
		text = nam_arena_printf(arena, "%s %u", text, ix->include[k]);
	return text;
}

/* What cat_index_text has written. */
bool
cat_index_read(const struct cat_table *t, const char *text, struct cat_index *ix)
{
	unsigned id, words, flags, keys, includes, column, how;
	unsigned long long anchor, tree, maker;
	int skip;
	if (sscanf(text, "%u %llx %llx %llx %u %u %u%n", &id, &anchor, &tree, &maker, &words, &flags, &keys,
		&skip) != 7 ||
	    id < CAT_FIRST_ID || words < 1 || words > IDX_TREE_WORDS || keys < 1 || keys > CAT_KEY_MAX)
		return false;
	ix->store.id = id;
	ix->store.anchor = (net_addr){ anchor };
	ix->store.tree = tree;
	ix->maker = maker;
	ix->words = words;
	ix->unique = flags & 1;
	ix->nulls_equal = flags & 2;
	ix->constraint = flags & 4;
	ix->valid = flags & CAT_INDEX_IS_VALID;
	ix->whole = flags & 16;
	ix->primary = flags & 32;
	ix->hidden = flags & 64;
	for (unsigned k = 0; k < keys; k++) {
		text += skip;
		if (sscanf(text, " %u:%u%n", &column, &how, &skip) != 2 || column >= t->columns)
			return false;
		ix->key[k] = (struct cat_index_column){ (uint16_t)column, how & 1, how & 2 };
	}
	text += skip;
	if (sscanf(text, " %u%n", &includes, &skip) != 1 || includes > CAT_KEY_MAX)
		return false;
	for (unsigned k = 0; k < includes; k++) {
		text += skip;
		if (sscanf(text, " %u%n", &column, &skip) != 1 || column >= t->columns)
			return false;
		ix->include[k] = (uint16_t)column;
	}
	ix->keys = (uint16_t)keys;
	ix->includes = (uint16_t)includes;
	return true;
}

/* "actions keys length:name ...": the path of the referenced table, the columns, those they refer
 * to. Two letters are the actions. */
char *
cat_foreign_text(const struct cat_foreign *k, struct nam_arena *arena)
{
	size_t max = 16 + CAT_PATH_MAX + (2u * k->keys + 1) * (CAT_NAME_MAX + 8), at;
	char *text = nam_arena_take(arena, max);
	if (text == NULL)
		return NULL;
	at = (size_t)snprintf(text, max, "%c%c %u", k->on_delete, k->on_update, (unsigned)k->keys);
	for (unsigned i = 0; i <= 2u * k->keys; i++) {
		const char *name = i == 0         ? k->table
				   : i <= k->keys ? k->column[i - 1]
						  : k->refers[i - k->keys - 1];
		at += (size_t)snprintf(text + at, max - at, " %zu:%s", strlen(name), name);
	}
	return text;
}

/* What cat_foreign_text has written. */
bool
cat_foreign_read(const char *text, struct cat_foreign *k)
{
	static const char actions[] = "arcnd";
	unsigned keys, len;
	int skip;
	if (sscanf(text, "%c%c %u%n", &k->on_delete, &k->on_update, &keys, &skip) != 3 || keys < 1 ||
	    keys > CAT_KEY_MAX || strchr(actions, k->on_delete) == NULL ||
	    strchr(actions, k->on_update) == NULL)
		return false;
	k->keys = (uint16_t)keys;
	text += skip;
	for (unsigned i = 0; i <= 2 * keys; i++) {
		char *name = i == 0 ? k->table : i <= keys ? k->column[i - 1] : k->refers[i - keys - 1];
		if (sscanf(text, " %u%n", &len, &skip) != 1 || len == 0 ||
		    len > (i == 0 ? CAT_PATH_MAX : CAT_NAME_MAX) || text[skip] != ':' ||
		    strnlen(text + skip + 1, len) < len)
			return false;
		memcpy(name, text + skip + 1, len);
		name[len] = 0;
		text += skip + 1 + len;
	}
	return *text == 0;
}

/* "first places type:column type:column ...": whose the places of a table's rows are. */
char *
cat_places_text(const struct cat_table *def, struct nam_arena *arena)
{
	enum { EACH = 18 };
	size_t max = (def->places + 2u) * EACH, at;
	char *text = nam_arena_take(arena, max);
	if (text == NULL)
		return NULL;
	at = (size_t)snprintf(text, max, "%u %u", def->first, def->places);
	for (unsigned p = 0; p < def->places; p++)
		at += (size_t)snprintf(text + at, max - at, " %u:%u",
		    (unsigned)cat_type_stored(def->place[p].type), def->place[p].column);
	return text;
}

char *
cat_sequence_text(const struct cat_sequence *q, struct nam_arena *arena)
{
	return nam_arena_printf(arena, "%u %lld %lld %lld %lld %lld %u %u %llx", (unsigned)q->type,
	    (long long)q->start, (long long)q->step, (long long)q->min, (long long)q->max,
	    (long long)q->cache, (unsigned)q->cycle, q->owner, (unsigned long long)q->word.bits);
}
