/*
 * follow.c -- the next shot out of the newest one, by what transactions of this process have
 * committed since, so that a change of the catalog does not cost a reading of all of it.
 *
 * An overlay whose transaction has committed stays on c->done until a shot is as new. The oracle
 * tells all CIDs that changed the catalog between the newest shot and the snapshot that is asked
 * for (tso_notes). If each of them has its overlay, the new shot is the old one and these overlays,
 * in the order of their CIDs. If one has none, it was another process's, or changed roles: then the
 * catalog is read.
 */
#include <catalog/catalog_internal.h>

#include <stdlib.h>

enum { NOTES = 64, DONE_MOST = 64, TRIES = 3 };

void
cat_done_add(struct cat *c, struct cat_overlay *o, tso_cid cid)
{
	struct cat_overlay **link = &c->done;
	o->cid = cid;
	o->busy = true;
	while (*link != NULL && (*link)->cid > cid)
		link = &(*link)->next;
	o->next = *link;
	*link = o;
}

void
cat_done_forget(struct cat *c)
{
	const struct cat_snapshot *head = atomic_load(&c->head);
	unsigned kept = 0;
	for (struct cat_overlay **link = &c->done, *o; (o = *link) != NULL;) {
		if (!o->busy && (kept >= DONE_MOST || (head != NULL && o->cid <= head->at))) {
			*link = o->next;
			cat_overlay_free(o);
		} else {
			kept++;
			link = &o->next;
		}
	}
}

/* What an overlay has changed. */
static nam_status
apply(struct cat_others *others, const struct cat_overlay *o)
{
	nam_status st = NAM_OK;
	/* A name may go and come again: all that goes, goes first. */
	for (const struct cat_change *x = o->list; st == NAM_OK && x != NULL; x = x->next)
		if (x->drop && !x->undone)
			st = cat_others_drop(others, x->entry);
	for (const struct cat_change *x = o->list; st == NAM_OK && x != NULL; x = x->next)
		if (!x->drop && !x->undone)
			st = cat_others_add(others, x->entry);
	return st;
}

/* The shot that is made, and the one it is made of. */
struct next {
	struct cat_others others;
	tso_cid from;
	uint64_t published;
	unsigned n; /* relations whose row of nam_tables is not known */
	struct cat_entry **unknown;
};

/* Under lock. */
static nam_status
prepare(struct cat *c, tso_cid at, struct next *x)
{
	struct cat_snapshot *head = atomic_load(&c->head);
	tso_cid note[NOTES];
	if (head == NULL || head->at >= at)
		return NAM_ABSENT;
	int notes = tso_notes(c->oracle, head->at, at, note, NOTES);
	if (notes < 0)
		return NAM_ABSENT;
	nam_status st = cat_others_of(head, &x->others);
	for (int i = 0; st == NAM_OK && i < notes; i++) {
		const struct cat_overlay *o = c->done;
		while (o != NULL && o->cid != note[i])
			o = o->next;
		st = o != NULL ? apply(&x->others, o) : NAM_ABSENT;
	}
	if (st == NAM_OK && (x->unknown = malloc((x->others.n + 1u) * sizeof *x->unknown)) == NULL)
		st = NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < x->others.n; i++) {
		struct cat_entry *e = x->others.at[i].entry;
		if (x->others.at[i].gone || e->def.system || e->def.store.guard.bits != 0)
			continue;
		e->changes++;
		x->unknown[x->n++] = e;
	}
	x->from = notes > 0 ? note[notes - 1] : head->from;
	x->published = c->published;
	return st;
}

/* Under lock. */
static nam_status
publish(struct cat *c, tso_cid at, const struct next *x, const struct txn_row *row)
{
	if (c->published != x->published)
		return NAM_BUSY;
	for (unsigned i = 0; i < x->n; i++) {
		struct cat_table *def = &x->unknown[i]->def;
		if (def->kind == CAT_ENUM_TYPE && !cat_enum_learn(def->number, def->generation,
						      cat_local(def->path), def->label, def->labels))
			return NAM_NOMEM;
	}
	struct cat_snapshot *s = cat_shot_next(c, &x->others, at);
	if (s == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < x->n; i++) {
		struct txn_table *store = &x->unknown[i]->def.store;
		store->guard = row[i].at;
		store->guard_word = row[i].cid;
		txn_table_settled(store, true);
	}
	s->at = at;
	s->from = x->from;
	cat_publish(c, s);
	return NAM_OK;
}

nam_status
cat_follow(struct cat *c, struct txn *t)
{
	tso_cid at = txn_snapshot(t);
	nam_status st = NAM_BUSY;
	for (unsigned i = 0; st == NAM_BUSY && i < TRIES; i++) {
		struct nam_arena arena;
		struct next x = { .n = 0 };
		struct txn_row *row = NULL;
		nam_arena_init(&arena, 4 << 10);
		pthread_mutex_lock(&c->lock);
		st = prepare(c, at, &x);
		pthread_mutex_unlock(&c->lock);
		if (st == NAM_OK && x.n > 0) {
			row = nam_arena_zero(&arena, x.n * sizeof *row);
			st = row != NULL ? cat_rows_at(c, t, x.unknown, x.n, row, &arena) : NAM_NOMEM;
		}
		pthread_mutex_lock(&c->lock);
		if (st == NAM_OK)
			st = publish(c, at, &x, row);
		for (unsigned k = 0; k < x.n; k++)
			x.unknown[k]->changes--;
		pthread_mutex_unlock(&c->lock);
		free(x.unknown);
		free(x.others.at);
		nam_arena_fini(&arena);
	}
	return st == NAM_BUSY ? NAM_ABSENT : st;
}
