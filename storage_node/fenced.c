/*
 * fenced.c -- the fenced identities (fenced.h): in the order in which they were fenced, and by a
 * hash.
 *
 * `place` is open addressing over a power of two of slots, at most half full; it holds places, so
 * growing changes no identity's place, on which fence.c and the shards rely.
 */
#include <base/hash.h>
#include <storage_node/fenced.h>

#include <stdlib.h>

enum { FENCED_FIRST = 16, FENCED_MAX = 16 << 20 };

/* Its slot, or the slot where it would be. */
static uint32_t *
slot(const struct sn_fenced *s, uint64_t identity)
{
	size_t mask = 2 * s->cap - 1, i = nam_mix(identity) & mask;
	while (s->place[i] != 0 && s->identity[s->place[i] - 1] != identity)
		i = (i + 1) & mask;
	return &s->place[i];
}

static bool
grow(struct sn_fenced *s)
{
	size_t cap = s->cap != 0 ? 2 * s->cap : FENCED_FIRST;
	if (cap > FENCED_MAX)
		return false;
	uint32_t *place = calloc(2 * cap, sizeof *place);
	uint64_t *identity = place != NULL ? realloc(s->identity, cap * sizeof *identity) : NULL;
	if (identity == NULL) {
		free(place);
		return false;
	}
	free(s->place);
	s->identity = identity;
	s->place = place;
	s->cap = cap;
	for (size_t i = 0; i < s->n; i++)
		*slot(s, identity[i]) = (uint32_t)(i + 1);
	return true;
}

size_t
sn_fenced_find(struct sn_fenced *s, uint64_t identity)
{
	pthread_mutex_lock(&s->lock);
	size_t place = s->cap != 0 ? *slot(s, identity) : 0;
	pthread_mutex_unlock(&s->lock);
	return place;
}

size_t
sn_fenced_add(struct sn_fenced *s, uint64_t identity)
{
	pthread_mutex_lock(&s->lock);
	size_t place = s->cap != 0 ? *slot(s, identity) : 0;
	if (place == 0 && (s->n < s->cap || grow(s))) {
		uint32_t *at = slot(s, identity);
		s->identity[s->n++] = identity;
		place = s->n;
		*at = (uint32_t)place;
	}
	pthread_mutex_unlock(&s->lock);
	return place;
}

size_t
sn_fenced_count(struct sn_fenced *s)
{
	pthread_mutex_lock(&s->lock);
	size_t n = s->n;
	pthread_mutex_unlock(&s->lock);
	return n;
}

void
sn_fenced_free(struct sn_fenced *s)
{
	pthread_mutex_destroy(&s->lock);
	free(s->identity);
	free(s->place);
}
