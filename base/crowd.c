/* crowd.c -- strangers at a door, a list for each place that they come from. */
#include <base/crowd.h>

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct nam_origin {
	uint64_t key;
	unsigned count;
	struct nam_in_crowd *oldest, *newest;
	struct nam_origin *next; /* of its bucket */
};

uint64_t
nam_crowd_origin(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
	uint64_t word;
	if (a->ss_family == AF_INET)
		return UINT64_C(1) << 32 | v4->sin_addr.s_addr;
	if (a->ss_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		uint32_t mapped;
		memcpy(&mapped, &v6->sin6_addr.s6_addr[12], sizeof mapped);
		return UINT64_C(1) << 32 | mapped;
	}
	memcpy(&word, &v6->sin6_addr, sizeof word);
	return word;
}

static struct nam_origin **
bucket_of(struct nam_crowd *c, uint64_t key)
{
	uint64_t mixed = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return &c->origin[mixed >> 56 & (NAM_CROWD_BUCKETS - 1)];
}

bool
nam_crowd_enter(struct nam_crowd *c, struct nam_in_crowd *m, uint64_t key)
{
	struct nam_origin **bucket = bucket_of(c, key), *o = *bucket;
	while (o != NULL && o->key != key)
		o = o->next;
	if (o == NULL) {
		o = calloc(1, sizeof *o);
		if (o == NULL)
			return false;
		o->key = key;
		o->next = *bucket;
		*bucket = o;
	}
	*m = (struct nam_in_crowd){ .of = o, .older = o->newest, .turn = ++c->turns };
	if (o->newest != NULL)
		o->newest->newer = m;
	else
		o->oldest = m;
	o->newest = m;
	o->count++;
	c->count++;
	return true;
}

void
nam_crowd_leave(struct nam_crowd *c, struct nam_in_crowd *m)
{
	struct nam_origin *o = m->of;
	if (o == NULL)
		return;
	if (m->older != NULL)
		m->older->newer = m->newer;
	else
		o->oldest = m->newer;
	if (m->newer != NULL)
		m->newer->older = m->older;
	else
		o->newest = m->older;
	*m = (struct nam_in_crowd){ 0 };
	c->count--;
	if (--o->count > 0)
		return;
	struct nam_origin **at = bucket_of(c, o->key);
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	free(o);
}

struct nam_in_crowd *
nam_crowd_first_to_go(const struct nam_crowd *c)
{
	const struct nam_origin *most = NULL;
	for (unsigned i = 0; i < NAM_CROWD_BUCKETS; i++)
		for (const struct nam_origin *o = c->origin[i]; o != NULL; o = o->next)
			if (most == NULL || o->count > most->count ||
			    (o->count == most->count && o->oldest->turn < most->oldest->turn))
				most = o;
	return most != NULL ? most->oldest : NULL;
}
