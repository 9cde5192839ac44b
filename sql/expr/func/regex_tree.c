/*
 * regex_tree.c -- atoms to a tree and a program. The tree is PostgreSQL's (Spencer's): only
 * groups, back references and preferences that differ divide it; everything else is a part that
 * the automaton reads at once.
 */
#include <sql/expr/func/regex_internal.h>

#include <string.h>

/* ---- flags ------------------------------------------------------------------------------- */

static unsigned
pref(unsigned f)
{
	return f & (SQL_RE_LONGER | SQL_RE_SHORTER);
}

static bool
is_messy(unsigned f)
{
	return (f & (SQL_RE_MIXED | SQL_RE_CAP | SQL_RE_BACKR)) != 0;
}

/* What of a part's flags its whole has. */
static unsigned
up(unsigned f)
{
	bool both = pref(f) == (SQL_RE_LONGER | SQL_RE_SHORTER);
	return (f & (SQL_RE_MIXED | SQL_RE_CAP | SQL_RE_BACKR)) | (both ? SQL_RE_MIXED : 0);
}

static unsigned
combine(unsigned f, unsigned g)
{
	return up(f | g) | (pref(f) ? pref(f) : pref(g));
}

/* ---- the tree ---------------------------------------------------------------------------- */

static struct sql_re_node *
node(struct sql_re_compile *c, enum sql_re_node_kind kind, unsigned flags)
{
	struct sql_re_node *n = sql_re_take(c, sizeof *n);
	if (n != NULL)
		*n = (struct sql_re_node){ .kind = kind, .flags = (uint8_t)flags, .least = 1, .most = 1 };
	return n;
}

static struct sql_re_node *
pair(struct sql_re_compile *c, unsigned flags, struct sql_re_node *left, struct sql_re_node *right)
{
	struct sql_re_node *n = node(c, NODE_CONCAT, flags);
	if (n == NULL || left == NULL || right == NULL)
		return NULL;
	n->child = left;
	left->sibling = right;
	return n;
}

static struct sql_re_node *alternatives(struct sql_re_compile *c, const struct sql_re_alt *a);

/* An atom as a tree; NULL without an error (*plain): the automaton reads it. *flags: its own. */
static struct sql_re_node *
atom_tree(struct sql_re_compile *c, const struct sql_re_atom *a, bool *plain, unsigned *flags)
{
	struct sql_re_node *n;
	*flags = 0;
	*plain = a->kind != RE_GROUP && a->kind != RE_BACK;
	if (*plain)
		return NULL;
	if (a->kind == RE_BACK) {
		*flags = SQL_RE_BACKR;
		if ((n = node(c, NODE_BACK, SQL_RE_BACKR)) == NULL)
			return NULL;
		n->group = (unsigned)a->x;
		n->atom = a;
		return n;
	}
	if ((n = alternatives(c, a->inner)) == NULL)
		return NULL;
	if (a->group > 0 && n->group > 0) {
		struct sql_re_node *outer = node(c, NODE_GROUP, n->flags | SQL_RE_CAP);
		if (outer == NULL)
			return NULL;
		outer->child = n;
		n = outer;
	}
	if (a->group > 0) {
		n->group = a->group;
		n->flags |= SQL_RE_CAP;
	}
	*flags = n->flags;
	return n;
}

static struct sql_re_node *
repeated_plain(struct sql_re_compile *c, unsigned flags, const struct sql_re_atom *a, int least, int most)
{
	struct sql_re_node *n = node(c, NODE_PLAIN, flags);
	if (n == NULL)
		return NULL;
	n->atom = a;
	n->least = least;
	n->most = most;
	return n;
}

/* A messy atom under its quantifier. */
static struct sql_re_node *
quantified(struct sql_re_compile *c, const struct sql_re_piece *p, struct sql_re_node *n, unsigned flags)
{
	unsigned own = flags & (SQL_RE_LONGER | SQL_RE_SHORTER | SQL_RE_MIXED), f = combine(p->prefer, flags);
	if (n != NULL && n->kind == NODE_BACK) {
		n->least = p->least;
		n->most = p->most;
		n->flags |= (uint8_t)f;
		return n;
	}
	bool once = p->least == 1 && p->most == 1;
	if (n != NULL && once && (p->prefer == 0 || own == 0 || p->prefer == own))
		return n;
	if (!(flags & (SQL_RE_CAP | SQL_RE_BACKR)))
		return repeated_plain(c, f, &p->atom, p->least, p->most);
	if (p->least > 0 && !(flags & SQL_RE_BACKR)) {
		/* only what the last one keeps counts */
		int more = p->most == SQL_RE_INF ? SQL_RE_INF : p->most - 1;
		return pair(c, f, repeated_plain(c, pref(f), &p->atom, p->least - 1, more), n);
	}
	struct sql_re_node *r = node(c, NODE_REPEAT, f);
	if (r == NULL)
		return NULL;
	r->least = p->least;
	r->most = p->most;
	r->child = n;
	return r;
}

/* Pieces from p on: as one part as long as nothing divides them; then that, the atom that does,
 * and the rest. */
static struct sql_re_node *
branch(struct sql_re_compile *c, const struct sql_re_piece *p)
{
	struct sql_re_node *top = node(c, NODE_PLAIN, 0);
	if (top == NULL)
		return NULL;
	if (++c->levels > SQL_RE_LEVELS) {
		sql_re_bad(c, "regular expression is too complex");
		return NULL;
	}
	unsigned level = c->levels;
	top->first = p;
	for (; p != NULL; p = p->next) {
		bool plain;
		unsigned flags;
		struct sql_re_node *a = atom_tree(c, &p->atom, &plain, &flags), *t;
		if (a == NULL && !plain)
			return NULL;
		c->levels = level;
		unsigned f = top->flags | p->prefer | flags;
		bool divides = (a != NULL && (a->group > 0 || a->kind == NODE_BACK)) || is_messy(up(f));
		if (!divides) {
			top->flags = (uint8_t)f;
			continue;
		}
		top->end = p;
		if ((t = quantified(c, p, a, flags)) == NULL)
			return NULL;
		if (p->next != NULL) {
			struct sql_re_node *rest = branch(c, p->next);
			if (rest == NULL)
				return NULL;
			unsigned all = combine(combine(p->prefer, flags), rest->flags);
			t = pair(c, combine(p->prefer, flags) | all, t, rest);
			if (t == NULL)
				return NULL;
		}
		if (top->first == p)
			return t;
		return pair(c, top->flags | combine(top->flags, t->flags), top, t);
	}
	return top;
}

static struct sql_re_node *
alternatives(struct sql_re_compile *c, const struct sql_re_alt *a)
{
	unsigned levels = c->levels;
	if (a->first->next == NULL)
		return branch(c, a->first->first);
	struct sql_re_node *n = node(c, NODE_ALT, SQL_RE_LONGER), **last = n ? &n->child : NULL;
	for (const struct sql_re_branch *b = a->first; n != NULL && b != NULL; b = b->next) {
		c->levels = levels + 1;
		if ((*last = branch(c, b->first)) == NULL)
			return NULL;
		n->flags |= (uint8_t)up(n->flags | (*last)->flags);
		last = &(*last)->sibling;
	}
	return n;
}

/* ---- the program ------------------------------------------------------------------------- */

/* Makes room for n operations at the end; their place. UINT32_MAX: there are too many, *err. */
static uint32_t
room(struct sql_re_compile *c, unsigned n)
{
	struct sql_regex *re = c->re;
	if (re->ops + n > SQL_RE_OPS) {
		sql_re_bad(c, "regular expression is too complex");
		return UINT32_MAX;
	}
	if (re->ops + n > c->op_cap) {
		unsigned cap = c->op_cap ? c->op_cap * 2 : 32;
		while (cap < re->ops + n)
			cap *= 2;
		struct sql_regex_op *op = sql_re_take(c, cap * sizeof *op);
		if (op == NULL)
			return UINT32_MAX;
		if (re->ops > 0)
			memcpy(op, re->op, re->ops * sizeof *op);
		re->op = op;
		c->op_cap = cap;
	}
	re->ops += n;
	return re->ops - n;
}

static bool
emit(struct sql_re_compile *c, enum sql_re_op op, int32_t x, int32_t y)
{
	uint32_t at = room(c, 1);
	if (at == UINT32_MAX)
		return false;
	c->re->op[at] = (struct sql_regex_op){ op, x, y };
	return true;
}

static bool emit_alternatives(struct sql_re_compile *c, const struct sql_re_alt *a);
static bool emit_tree(struct sql_re_compile *c, struct sql_re_node *n);

static bool
emit_atom(struct sql_re_compile *c, const struct sql_re_atom *a)
{
	static const enum sql_re_op as[] = { [RE_CHAR] = OP_CHAR,
		[RE_ANY] = OP_ANY,
		[RE_SET] = OP_SET,
		[RE_AT] = OP_AT,
		[RE_LOOK] = OP_LOOK };
	if (a->kind == RE_GROUP)
		return emit_alternatives(c, a->inner);
	if (a->kind == RE_BACK) {
		/* As far as the automaton knows, it reads whatever the group would, anywhere. */
		c->loose++;
		bool ok = emit_alternatives(c, a->inner);
		c->loose--;
		return ok;
	}
	if (c->loose > 0 && (a->kind == RE_AT || a->kind == RE_LOOK))
		return true;
	bool fold = a->kind == RE_CHAR && c->re->fold;
	return emit(c, as[a->kind], fold ? (int32_t)sql_char_case((uint32_t)a->x, false) : a->x, 0);
}

/* What is repeated: an atom, or a tree. */
static bool
emit_one(struct sql_re_compile *c, const struct sql_re_atom *a, struct sql_re_node *n)
{
	return a != NULL ? emit_atom(c, a) : emit_tree(c, n);
}

/* That, `least` to `most` times. Where a tree's parts are, its last copy says. */
static bool
emit_repeat(struct sql_re_compile *c, const struct sql_re_atom *a, struct sql_re_node *n, int least, int most)
{
	uint32_t at = c->re->ops;
	int k = 0;
	for (; k < least; k++) {
		at = c->re->ops;
		if (!emit_one(c, a, n))
			return false;
	}
	if (most == SQL_RE_INF && least > 0) {
		if (!emit(c, OP_SPLIT, (int32_t)at - (int32_t)c->re->ops, 1))
			return false;
	} else if (most == SQL_RE_INF) {
		at = room(c, 1);
		if (at == UINT32_MAX || !emit_one(c, a, n) ||
		    !emit(c, OP_JUMP, (int32_t)at - (int32_t)c->re->ops, 0))
			return false;
		c->re->op[at] = (struct sql_regex_op){ OP_SPLIT, 1, (int32_t)(c->re->ops - at) };
	}
	/* each of the others may be the last one: the ways out are a list until its end is known */
	int32_t out = -1;
	for (; most != SQL_RE_INF && k < most; k++) {
		at = room(c, 1);
		if (at == UINT32_MAX)
			return false;
		c->re->op[at] = (struct sql_regex_op){ OP_SPLIT, 1, out };
		out = (int32_t)at;
		if (!emit_one(c, a, n))
			return false;
	}
	while (out >= 0) {
		int32_t before = c->re->op[out].y;
		c->re->op[out].y = (int32_t)c->re->ops - out;
		out = before;
	}
	return true;
}

static bool
emit_pieces(struct sql_re_compile *c, const struct sql_re_piece *p, const struct sql_re_piece *end)
{
	for (; p != end; p = p->next)
		if (!emit_repeat(c, &p->atom, NULL, p->least, p->most))
			return false;
	return true;
}

/*
 * One of several, the last without a way around it. Before each: way_begin; behind all but the
 * last: way_end; at the end ways_meet, to which all jump.
 */
struct ways {
	uint32_t split; /* of the one that is made */
	int32_t jump;   /* a list of those behind it */
};

static bool
way_begin(struct sql_re_compile *c, struct ways *w, bool more)
{
	w->split = more ? room(c, 1) : 0;
	return w->split != UINT32_MAX;
}

static bool
way_end(struct sql_re_compile *c, struct ways *w)
{
	if (!emit(c, OP_JUMP, w->jump, 0))
		return false;
	w->jump = (int32_t)c->re->ops - 1;
	c->re->op[w->split] = (struct sql_regex_op){ OP_SPLIT, 1, (int32_t)(c->re->ops - w->split) };
	return true;
}

static bool
ways_meet(struct sql_re_compile *c, struct ways *w)
{
	while (w->jump >= 0) {
		int32_t before = c->re->op[w->jump].x;
		c->re->op[w->jump].x = (int32_t)c->re->ops - w->jump;
		w->jump = before;
	}
	return true;
}

static bool
emit_alternatives(struct sql_re_compile *c, const struct sql_re_alt *a)
{
	struct ways w = { .jump = -1 };
	for (const struct sql_re_branch *b = a->first; b != NULL; b = b->next)
		if (!way_begin(c, &w, b->next != NULL) || !emit_pieces(c, b->first, NULL) ||
		    (b->next != NULL && !way_end(c, &w)))
			return false;
	return ways_meet(c, &w);
}

static bool
emit_alt_tree(struct sql_re_compile *c, struct sql_re_node *n)
{
	struct ways w = { .jump = -1 };
	for (struct sql_re_node *b = n->child; b != NULL; b = b->sibling)
		if (!way_begin(c, &w, b->sibling != NULL) || !emit_tree(c, b) ||
		    (b->sibling != NULL && !way_end(c, &w)))
			return false;
	return ways_meet(c, &w);
}

static bool
emit_tree(struct sql_re_compile *c, struct sql_re_node *n)
{
	bool ok = true;
	n->from = c->re->ops;
	switch (n->kind) {
	case NODE_PLAIN:
		ok = n->atom != NULL ? emit_repeat(c, n->atom, NULL, n->least, n->most)
				     : emit_pieces(c, n->first, n->end);
		break;
	case NODE_BACK:
		ok = emit_repeat(c, n->atom, NULL, n->least, n->most);
		break;
	case NODE_CONCAT:
		ok = emit_tree(c, n->child) && emit_tree(c, n->child->sibling);
		break;
	case NODE_ALT:
		ok = emit_alt_tree(c, n);
		break;
	case NODE_GROUP:
		ok = emit_tree(c, n->child);
		break;
	case NODE_REPEAT:
		ok = emit_repeat(c, NULL, n->child, n->least, n->most);
	}
	n->to = c->re->ops;
	return ok;
}

/* ---- look-arounds
 * ------------------------------------------------------------------------------ */

/* The most characters that it reads; -1: any number. */
static int64_t
width(const struct sql_re_alt *a)
{
	int64_t most = 0;
	for (const struct sql_re_branch *b = a->first; b != NULL; b = b->next) {
		int64_t sum = 0;
		for (const struct sql_re_piece *p = b->first; p != NULL; p = p->next) {
			bool none = p->atom.kind == RE_AT || p->atom.kind == RE_LOOK;
			int64_t one = none ? 0 : p->atom.kind == RE_GROUP ? width(p->atom.inner) : 1;
			if (one < 0 || (one > 0 && p->most == SQL_RE_INF))
				return -1;
			sum += one * (p->most == SQL_RE_INF ? 0 : p->most);
			if (sum > SQL_RE_OPS) /* too complex, as is found later */
				return -1;
		}
		most = sum > most ? sum : most;
	}
	return most;
}

/* How many nodes lie above each other. */
static unsigned
height(const struct sql_re_node *n)
{
	unsigned most = 0;
	for (const struct sql_re_node *k = n->child; k != NULL; k = k->sibling) {
		unsigned h = height(k);
		most = h > most ? h : most;
	}
	return most + 1;
}

bool
sql_re_build(struct sql_re_compile *c, const struct sql_re_alt *whole)
{
	struct sql_regex *re = c->re;
	struct sql_re_node *tree = alternatives(c, whole);
	if (tree == NULL || !emit_tree(c, tree) || !emit(c, OP_MATCH, 0, 0))
		return false;
	re->tree = tree;
	re->height = height(tree);
	re->shorter = (tree->flags & SQL_RE_SHORTER) != 0;
	re->refers = (tree->flags & SQL_RE_BACKR) != 0;
	for (unsigned k = 0; k < re->looks; k++) {
		struct sql_re_look *l = &re->look[k];
		l->width = width(l->inner);
		l->from = re->ops;
		if (!emit_alternatives(c, l->inner))
			return false;
		l->to = re->ops;
		if (!emit(c, OP_MATCH, 0, 0))
			return false;
	}
	return true;
}
