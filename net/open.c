/* open.c -- net_open: from a line of addresses, and regions of this process, to a set of nodes. */
#include <base/hash.h>
#include <base/rng.h>
#include <net/local.h>
#include <net/provider.h>
#include <net/provider/shm.h>
#include <net/remote.h>

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t
net_cluster_hash(const char *name)
{
	if (name == NULL || *name == '\0')
		name = "namdb";
	return nam_hash(name, strlen(name), 0);
}

static nam_status
add_local(struct net *n, struct net_local *l, unsigned i, struct nam_err *err)
{
	struct net_node_info info = { .kind = NET_SHM, .size = l->size };
	snprintf(info.name, sizeof info.name, "local %u", i);
	nam_status st = net_shm_check(l->base, l->size, info.name, err);
	if (st != NAM_OK)
		return st;
	const struct net_super *s = l->base;
	info.region = s->region;
	info.incarnation = s->incarnation;
	info.log = s->log;
	struct net_node *node;
	if ((st = net_add_node(n, &net_provider_shm, &info, &node, err)) == NAM_OK) {
		node->base = l->base;
		node->priv = l;
	}
	return st;
}

/* "host:port", "[v6]:port" or "host" -> host, port. */
nam_status
net_split_address(
    const char *text, char *host, size_t host_len, char *port, size_t port_len, struct nam_err *err)
{
	const char *colon = strrchr(text, ':'), *from = text, *to = colon;
	if (colon == NULL)
		return nam_fail(err, NAM_INVALID, "\"%s\" is not host:port, such as 127.0.0.1:7411", text);
	if (*from == '[') {
		from++;
		to = strchr(text, ']');
		if (to == NULL || to + 1 != colon)
			return nam_fail(err, NAM_INVALID, "\"%s\" is not [host]:port", text);
	}
	char *end;
	unsigned long p = strtoul(colon + 1, &end, 10);
	if (to == from || colon[1] < '0' || colon[1] > '9' || *end != '\0' || p > 65535)
		return nam_fail(err, NAM_INVALID, "\"%s\" is not host:port, such as 127.0.0.1:7411", text);
	if ((size_t)(to - from) >= host_len || strlen(colon + 1) >= port_len)
		return nam_fail(err, NAM_INVALID, "\"%.40s...\" is too long for an address", text);
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = '\0';
	strcpy(port, colon + 1);
	return NAM_OK;
}

bool
net_same_address(const char *a, const char *b)
{
	char host[2][128], port[2][16];
	struct addrinfo hint = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list[2] = { 0 };
	struct nam_err err;
	bool same = strcmp(a, b) == 0;
	if (same || net_split_address(a, host[0], sizeof host[0], port[0], sizeof port[0], &err) != NAM_OK ||
	    net_split_address(b, host[1], sizeof host[1], port[1], sizeof port[1], &err) != NAM_OK)
		return same;
	for (unsigned i = 0; i < 2; i++)
		if (getaddrinfo(host[i], port[i], &hint, &list[i]) != 0)
			list[i] = NULL;
	for (const struct addrinfo *x = list[0]; x != NULL; x = x->ai_next)
		for (const struct addrinfo *y = list[1]; y != NULL; y = y->ai_next)
			same = same || (x->ai_addrlen == y->ai_addrlen &&
					   memcmp(x->ai_addr, y->ai_addr, x->ai_addrlen) == 0);
	for (unsigned i = 0; i < 2; i++)
		if (list[i] != NULL)
			freeaddrinfo(list[i]);
	return same;
}

static nam_status
add_remotes(struct net *n, const char *list, enum net_kind fabric, struct nam_err *err)
{
	while (list != NULL && *list != '\0') {
		size_t len = strcspn(list, ",");
		char one[128];
		while (len > 0 && *list == ' ') {
			list++;
			len--;
		}
		if (len >= sizeof one)
			return nam_fail(
			    err, NAM_INVALID, "an address of the storage list is too long: %.40s...", list);
		memcpy(one, list, len);
		one[len] = '\0';
		while (len > 0 && one[len - 1] == ' ')
			one[--len] = '\0';
		list += strcspn(list, ",");
		if (*list == ',')
			list++;
		if (len == 0)
			continue;
		nam_status st = net_remote_add(n, one, fabric, err);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

_Atomic uint64_t net_next_identity;

static uint64_t
draw_identity(void)
{
	uint64_t id = atomic_exchange(&net_next_identity, 0);
	while (id == 0) {
		nam_random_bytes(&id, sizeof id);
		id >>= 64 - NET_IDENTITY_BITS;
	}
	return id;
}

/* *unlucky: a node has fenced the identity that was drawn. */
static nam_status
open_once(struct net **out, const struct net_config *cfg, bool *unlucky, struct nam_err *err)
{
	struct net *n = net_new(&net_env_real, NULL);
	*unlucky = false;
	if (n == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a net");
	n->connect_ms = cfg->connect_ms != 0 ? cfg->connect_ms : 3000;
	n->cluster = net_cluster_hash(cfg->cluster);
	n->identity = draw_identity();
	nam_status st = NAM_OK;
	if (cfg->secret_len > sizeof n->secret)
		st = nam_fail(err, NAM_INVALID, "the secret is longer than %zu bytes", sizeof n->secret);
	if (st == NAM_OK && cfg->rdma_from != NULL &&
	    snprintf(n->rdma_from, sizeof n->rdma_from, "%s", cfg->rdma_from) >= (int)sizeof n->rdma_from)
		st = nam_fail(err, NAM_INVALID, "\"%.40s...\" is too long for an address", cfg->rdma_from);
	if (st == NAM_OK && cfg->secret_len > 0) {
		memcpy(n->secret, cfg->secret, cfg->secret_len);
		n->secret_len = cfg->secret_len;
	}
	for (unsigned i = 0; st == NAM_OK && cfg->local != NULL && cfg->local[i] != NULL; i++)
		st = add_local(n, cfg->local[i], i + 1, err);
	if (st == NAM_OK)
		st = add_remotes(n, cfg->storage, cfg->fabric, err);
	if (st == NAM_OK && n->count == 0)
		st = nam_fail(err, NAM_INVALID, "no storage node was named; say --storage 127.0.0.1:7411");
	if (st == NAM_OK)
		st = net_monitor_start(n, err);
	if (st == NAM_OK) {
		n->has_local = cfg->local != NULL && cfg->local[0] != NULL;
		net_disarm_enlist(n);
	}
	if (st != NAM_OK) {
		*unlucky = n->unlucky;
		net_close(n);
		return st;
	}
	*out = n;
	return NAM_OK;
}

nam_status
net_open(struct net **out, const struct net_config *cfg, struct nam_err *err)
{
	enum { DRAWS = 4 }; /* if 2^24 identities are fenced, one draw in 2^16 is unlucky */
	nam_status st = NAM_OK;
	bool unlucky = true;
	if (cfg->fabric == NET_SIM || (unsigned)cfg->fabric > NET_VERBS)
		return nam_fail(err, NAM_INVALID,
		    "a net is opened over shm, verbs or tcp; simulated ones come from the simulator");
	for (unsigned i = 0; i < DRAWS && unlucky; i++)
		st = open_once(out, cfg, &unlucky, err);
	return st;
}
