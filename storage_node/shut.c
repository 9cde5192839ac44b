/* shut.c -- the list of those who have been shut out (shut.h); short, and looked at once per connection. */
#include <storage_node/shut.h>

#include <stdlib.h>

enum { SHUT_FIRST = 16, SHUT_MAX = 1 << 20 };

static size_t
find(const struct sn_shut *s, uint64_t identity)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->identity[i] == identity)
			return i + 1;
	return 0;
}

size_t
sn_shut_find(struct sn_shut *s, uint64_t identity)
{
	pthread_mutex_lock(&s->lock);
	size_t place = find(s, identity);
	pthread_mutex_unlock(&s->lock);
	return place;
}

size_t
sn_shut_add(struct sn_shut *s, uint64_t identity)
{
	pthread_mutex_lock(&s->lock);
	size_t place = find(s, identity);
	if (place == 0 && s->n == s->cap && s->cap < SHUT_MAX) {
		size_t cap = s->cap != 0 ? 2 * s->cap : SHUT_FIRST;
		uint64_t *more = realloc(s->identity, cap * sizeof *more);
		if (more != NULL) {
			s->identity = more;
			s->cap = cap;
		}
	}
	if (place == 0 && s->n < s->cap) {
		s->identity[s->n++] = identity;
		place = s->n;
	}
	pthread_mutex_unlock(&s->lock);
	return place;
}

size_t
sn_shut_count(struct sn_shut *s)
{
	pthread_mutex_lock(&s->lock);
	size_t n = s->n;
	pthread_mutex_unlock(&s->lock);
	return n;
}
