/*
 * part_change.c -- one change of a partition: its words are collected, logged, and stored (B7); new
 * nodes, and nodes that are used again (B16).
 */
#include <base/assert.h>
#include <base/fault.h>
#include <index/btree/part_change.h>

#ifdef NAM_TWINS
void (*idx_store_hook)(void);
#endif

/* ---- one change (B7) ------------------------------------------------------------------- */

struct idx_change *
idx_change_begin(struct part *p)
{
	struct idx_change *c = p->change;
	const struct idx_part_head *h = idx_head_of_part(p);
	c->p = p;
	c->n = 0;
	c->takes = false;
	c->next = h->next;
	c->end = h->end;
	c->using_ = h->using_;
	c->leaves = h->leaves;
	c->inners = h->inners;
	c->splits = h->splits;
	c->again_n = 0;
	memcpy(c->spare, h->spare, sizeof c->spare);
	return c;
}

void
idx_change_run(struct idx_change *c, uint64_t offset, const uint64_t *word, unsigned n)
{
	NAM_ASSERT(c->n + 2 + n <= IDX_LOG_WORDS - 2); /* IDX_LEVELS_MAX sees to it */
	c->log[c->n++] = offset;
	c->log[c->n++] = n;
	memcpy(c->log + c->n, word, n * sizeof *word);
	c->n += n;
}

static void
apply(const struct part *p, const uint64_t *log, unsigned words)
{
	for (unsigned i = 0; i < words; i += 2 + (unsigned)log[i + 1])
		idx_put_words(p, log[i], log + i + 2, (unsigned)log[i + 1]);
}

/* What seals a log of so many words: their number is sealed as well. */
static uint64_t
log_seal(const struct part *p, const uint64_t *log, unsigned words)
{
	return idx_check_words(log, words, p->pub.tree ^ words);
}

#ifdef NAM_TWINS
/* Of the twin that links new nodes before they are whole. */
static struct {
	uint64_t offset;
	unsigned words;
	struct idx_node node;
} late[2 * IDX_LEVELS_MAX];
static unsigned lates;

static void
late_put(uint64_t offset, const struct idx_node *n, unsigned words)
{
	late[lates].offset = offset;
	late[lates].words = words;
	late[lates++].node = *n;
}
static void
late_end(const struct part *p)
{
	while (lates > 0) {
		lates--;
		idx_put_words(p, late[lates].offset, (const uint64_t *)&late[lates].node, late[lates].words);
	}
}
#else
static void
late_put(uint64_t offset, const struct idx_node *n, unsigned words)
{
	(void)offset, (void)n, (void)words;
}
static void
late_end(const struct part *p)
{
	(void)p;
}
#endif

void
idx_change_end(struct idx_change *c)
{
	const struct part *p = c->p;
	uint64_t log = p->pub.at + IDX_PART_LOG;
	if (c->takes) {
		const struct idx_part_head *h = idx_head_of_part(p);
		const uint64_t words[] = { c->next, c->end, h->newest, h->extents, c->using_, c->leaves,
			c->inners, c->splits };
		idx_change_run(
		    c, p->pub.at + offsetof(struct idx_part_head, next), words, sizeof words / sizeof *words);
		idx_change_run(
		    c, p->pub.at + offsetof(struct idx_part_head, spare), c->spare, IDX_LEVELS_MAX);
	}
	if (!nam_fault(TREE_NO_LOG)) {
		idx_put_words(p, log + offsetof(struct idx_log, word), c->log, c->n);
		idx_put(p, log + offsetof(struct idx_log, words), c->n);
		idx_put(p, log, log_seal(p, c->log, c->n));
	}
	apply(p, c->log, c->n);
	idx_put(p, log, 0);
	late_end(p);
}

/* Finishes the change in the log, if there is one. */
nam_status
idx_change_repair(const struct part *p)
{
	uint64_t at = p->pub.at + IDX_PART_LOG;
	const struct idx_log *l = (const void *)(p->pub.base + at);
	if (l->seal == 0)
		return NAM_OK;
	if (l->words > IDX_LOG_WORDS - 2 || l->seal != log_seal(p, l->word, (unsigned)l->words)) {
		idx_put(p, at, 0);
		return NAM_OK;
	}
	unsigned words = (unsigned)l->words;
	for (unsigned i = 0; i < words; i += 2 + (unsigned)l->word[i + 1])
		if (i + 2 > words || l->word[i + 1] > words - i - 2 || (l->word[i] & 7) != 0 ||
		    l->word[i] < IDX_TREE_EXTENT || l->word[i] > p->pub.size - 8 * l->word[i + 1])
			return NAM_CORRUPT;
	apply(p, l->word, words);
	idx_put(p, at, 0);
	return NAM_OK;
}

/* ---- copies of nodes that are changed -------------------------------------------------- */

unsigned
idx_seal_node(const struct part *p, struct idx_node *n)
{
	bool leaf = idx_meta_level(n->meta) == 0;
	n->check = idx_node_check(n, p->pub.words, leaf);
	return idx_node_words(p->pub.words, leaf);
}

void
idx_change_node(struct idx_change *c, uint64_t offset, struct idx_node *n)
{
	idx_change_run(c, offset, (const uint64_t *)n, idx_seal_node(c->p, n));
}

/* ---- memory ------------------------------------------------------------------------------ */

/* The word of a spare node that names the next one: of its second place, which it does not use. */
static unsigned
spare_link(const struct part *p)
{
	return idx_node_key(p->pub.words, 1);
}

/* The first spare node of a level. NULL: there is none. */
static const struct idx_node *
spare_of(const struct idx_change *c, unsigned level)
{
	const struct part *p = c->p;
	unsigned w = p->pub.words;
	const struct idx_node *n = c->spare[level] != 0 ? idx_part_node(&p->pub, c->spare[level]) : NULL;
	if (n == NULL || idx_meta_level(n->meta) != level || !idx_node_sound(n, p->pub.tree, w, level == 0) ||
	    memcmp(idx_at(n, IDX_NODE_LOW), idx_at(n, idx_node_high(w)), 8 * (size_t)(w + 1)) != 0)
		return NULL;
	return n;
}

uint64_t
idx_change_take(struct idx_change *c, unsigned level)
{
	const struct part *p = c->p;
	unsigned bytes = idx_node_room(p->pub.words, level == 0);
	c->takes = true;
	if (c->again_n < IDX_AGAIN_MAX) {
		const struct idx_node *n = spare_of(c, level);
		uint64_t at = c->spare[level];
		c->spare[level] = n != NULL ? *idx_at(n, spare_link(p)) : 0;
		if (n != NULL)
			return c->again[c->again_n++] = at;
	}
	while (c->next + bytes > c->end) {
		if (c->using_ + 1 >= p->extents)
			return 0;
		c->using_++;
		c->next = p->extent[c->using_] + sizeof(struct idx_extent_head);
		c->end = p->extent[c->using_] + IDX_TREE_EXTENT;
	}
	c->next += bytes;
	return c->next - bytes;
}

static bool
is_again(const struct idx_change *c, uint64_t offset)
{
	for (unsigned i = 0; i < c->again_n; i++)
		if (c->again[i] == offset)
			return true;
	return false;
}

void
idx_change_new(struct idx_change *c, uint64_t offset, struct idx_node *n)
{
	const struct part *p = c->p;
	const struct idx_node *old = (const void *)(p->pub.base + offset);
	if (idx_meta_level(n->meta) == 0)
		c->leaves++;
	else
		c->inners++;
	if (is_again(c, offset)) {
		/* Its changes go on: a check never comes again (B5). */
		n->meta = idx_meta((old->meta >> 40) + 1, idx_meta_count(n->meta), idx_meta_level(n->meta),
			      p->pub.words) |
			  idx_meta_falls(old->meta);
		if (!nam_fault(TREE_SPARE_UNLOGGED)) {
			idx_change_node(c, offset, n);
			return;
		}
	}
	unsigned words = idx_seal_node(p, n);
	if (nam_fault(TREE_LINK_EARLY))
		late_put(offset, n, words);
	else
		idx_put_words(p, offset, (const uint64_t *)n, words);
}

void
idx_change_spare(struct idx_change *c, uint64_t offset, struct idx_node *n)
{
	unsigned level = idx_meta_level(n->meta);
	c->takes = true;
	if (level == 0)
		c->leaves--;
	else
		c->inners--;
	*idx_words_of(n, spare_link(c->p)) = c->spare[level];
	c->spare[level] = offset;
}
