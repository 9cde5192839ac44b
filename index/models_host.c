/*
 * models_host.c -- a storage node's models of a partition: trained over its inner nodes, which
 * have the fences and addresses of the nodes below.
 *
 * There are none until a client asks. From then on the service's idle hook trains what is new and
 * what splits have made stale.
 */
#include <base/assert.h>
#include <index/learned/learned.h>
#include <index/models.h>

#include <stdlib.h>

enum { LEVELS = 2, TRAIN_MOST = 8 };

/* The nodes of a level, in order: the children of the level above. */
struct walk {
	const struct idx_part *p;
	unsigned level;
	const struct idx_node *at; /* of the level above; NULL: the root is the only one */
	unsigned child;
};

struct model {
	struct idx_part *p;
	uint64_t inners; /* of the partition, when its models were told last */
	struct {
		struct walk walk;
		struct idx_lserver *models; /* NULL: no client has asked */
	} level[LEVELS];
};

/* ---- the walk ---------------------------------------------------------------------------- */

static void
tell(const struct walk *k, struct idx_point *out)
{
	unsigned w = k->p->words;
	if (k->at != NULL) {
		*out = (struct idx_point){ idx_at(k->at, idx_node_key(w, k->child)),
			*idx_at(k->at, idx_node_value(w, k->child)),
			(*idx_at(k->at, idx_node_child(w, k->child)) & ((UINT64_C(1) << 48) - 1)) /
			    IDX_NODE_ALIGN };
		return;
	}
	static const uint64_t zeros[IDX_KEY_WORDS];
	*out = (struct idx_point){ zeros, 0, (k->p->at + IDX_PART_ROOT) / IDX_NODE_ALIGN };
}

static void
seek(void *arg, const uint64_t *key, uint64_t value, struct idx_point *out)
{
	struct walk *k = arg;
	k->at = idx_part_at(k->p, key, value, k->level + 1);
	k->child = k->at != NULL ? idx_child_of(k->at, key, value, k->p->words) : 0;
	tell(k, out);
}

static bool
next(void *arg, struct idx_point *out)
{
	struct walk *k = arg;
	if (k->at == NULL)
		return false;
	if (k->child + 1 >= idx_meta_count(k->at->meta)) {
		const struct idx_node *right = idx_part_link(k->p, k->at->right);
		if (right == NULL || idx_meta_level(right->meta) != k->level + 1 ||
		    idx_meta_count(right->meta) == 0)
			return false;
		k->at = right;
		k->child = 0;
	} else
		k->child++;
	tell(k, out);
	return true;
}

/* ---- the hooks ----------------------------------------------------------------------------- */

static void *
open_model(struct idx_part *p)
{
	struct model *m = calloc(1, sizeof *m);
	if (m == NULL)
		return NULL;
	m->p = p;
	for (unsigned i = 0; i < LEVELS; i++)
		m->level[i].walk = (struct walk){ .p = p, .level = i };
	return m;
}

static void
close_model(void *model)
{
	struct model *m = model;
	for (unsigned i = 0; i < LEVELS; i++)
		idx_lserver_close(m->level[i].models);
	free(m);
}

static uint64_t
inners_of(const struct model *m)
{
	const struct idx_part_head *h = (const void *)(m->p->base + m->p->at);
	return h->inners;
}

static void
split(void *model, uint64_t leaf, uint64_t sibling)
{
	struct model *m = model;
	unsigned w = m->p->words;
	const struct idx_node *n = idx_part_node(m->p, sibling);
	uint64_t inners = inners_of(m);
	(void)leaf;
	if (n == NULL)
		return;
	const uint64_t *low = idx_at(n, IDX_NODE_LOW);
	if (m->level[0].models != NULL)
		idx_lserver_stale(m->level[0].models, low);
	/* With an inner node more, the one above this leaf was split: it is the new one, or the new
	 * one is at its right. Its fence may lie in another range of models than the leaf's. */
	if (m->level[1].models != NULL && inners != m->inners) {
		const struct idx_node *above = idx_part_at(m->p, low, low[w], 1);
		const struct idx_node *right = above != NULL ? idx_part_link(m->p, above->right) : NULL;
		if (above != NULL)
			idx_lserver_stale(m->level[1].models, idx_at(above, IDX_NODE_LOW));
		if (right != NULL)
			idx_lserver_stale(m->level[1].models, idx_at(right, IDX_NODE_LOW));
	}
	m->inners = inners;
}

static void
joined(void *model, const uint64_t *low, const uint64_t *was)
{
	struct model *m = model;
	for (unsigned i = 0; i < LEVELS; i++)
		if (m->level[i].models != NULL)
			idx_lserver_joined(m->level[i].models, low, was);
	m->inners = inners_of(m);
}

static void
count(struct model *m)
{
	m->p->trained = 0;
	for (unsigned i = 0; i < LEVELS; i++)
		if (m->level[i].models != NULL)
			m->p->trained += idx_lserver_trainings(m->level[i].models);
}

static bool
idle(void *model)
{
	struct model *m = model;
	for (unsigned i = 0; i < LEVELS; i++)
		if (m->level[i].models != NULL && idx_lserver_step(m->level[i].models)) {
			count(m);
			return true;
		}
	return false;
}

static nam_status
message(void *model, struct net_request *r)
{
	struct model *m = model;
	unsigned w = m->p->words;
	struct idx_model_rq rq = { 0 };
	uint32_t head = offsetof(struct idx_model_rq, key);
	if (r->len != head + 8 * w)
		return NAM_INVALID;
	memcpy(&rq, r->bytes, r->len);
	if (rq.level >= LEVELS || (rq.what != IDX_MODEL_FRESH && rq.what != IDX_MODEL_COPY))
		return NAM_INVALID;
	struct idx_lserver **s = &m->level[rq.level].models;
	struct idx_fences fences = { seek, next, &m->level[rq.level].walk };
	if (*s == NULL && (*s = idx_lserver_open(w, &fences)) == NULL)
		return NAM_NOMEM;
	if (rq.what == IDX_MODEL_FRESH) {
		uint32_t bytes;
		const void *piece = idx_lserver_fresh(*s, rq.key, &bytes);
		count(m);
		if (piece == NULL)
			return NAM_NOMEM;
		if (bytes > r->answer_max)
			return NAM_INVALID;
		memcpy(r->answer, piece, bytes);
		r->answer_len = bytes;
		return NAM_OK;
	}
	uint64_t *out = r->answer, next_key[IDX_KEY_WORDS] = { 0 };
	uint32_t front = 8 * (1 + w);
	bool more = false;
	if (r->answer_max < front + IDX_PIECE_MAX)
		return NAM_INVALID;
	r->answer_len = front + idx_lserver_copy(*s, rq.key, TRAIN_MOST, out + 1 + w, r->answer_max - front,
				    next_key, &more);
	out[0] = more;
	memcpy(out + 1, next_key, 8 * (size_t)w);
	count(m);
	return r->answer_len > front ? NAM_OK : NAM_NOMEM;
}

const struct idx_model idx_models = { .open = open_model,
	.close = close_model,
	.idle = idle,
	.split = split,
	.joined = joined,
	.message = message };
