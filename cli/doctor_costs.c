/* doctor_costs.c -- the constants of costs, as `namdb doctor` measures and prints them: of this
 * processor in a region of its own, of the network if the storage nodes answer. */
#include "doctor.h"

#include <net/region_format.h>
#include <net/secret.h>
#include <olap/cost.h>
#include <sql/plan/cost.h>
#include <storage_node/sn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a process finds out about one net. */
struct costs {
	bool good;
	char said[256]; /* why not; or over what */
	struct sql_costs sql;
	struct olap_cost olap;
	/* for the coroutine */
	struct net_worker *w;
	net_addr at;
};
static struct costs here, there;

static void
measure(void *arg)
{
	struct costs *c = arg;
	c->sql = sql_costs_standard;
	sql_costs_of_processor(&c->sql);
	c->good =
	    sql_costs_of_fabric(c->w, c->at, &c->sql) && olap_cost_measure(c->w, c->at, &c->olap) == NAM_OK;
	if (!c->good)
		snprintf(c->said, sizeof c->said, "a storage node does not answer any more");
}

static void
measure_net(struct costs *c, const struct net_config *cfg)
{
	struct nam_err err = { 0 };
	struct net *net = NULL;
	nam_status st = net_open(&net, cfg, &err);
	if (st == NAM_OK && (st = net_worker_open(net, &c->w, &err)) == NAM_OK) {
		const struct net_node_info *node = net_node(net, 0);
		c->at = net_at(node->region, NET_EXTENT);
		snprintf(c->said, sizeof c->said, "%s", net_kind_name(node->kind));
		if (nam_co_start(net_worker_sched(c->w), measure, c, 0) != NULL)
			net_worker_run(c->w, NULL, NULL);
		net_worker_close(c->w);
	}
	if (net != NULL)
		net_close(net);
	if (st != NAM_OK)
		snprintf(c->said, sizeof c->said, "%.255s", err.text);
}

static void
measure_here(void)
{
	const struct sn_region_config rc = { .id = 1, .size = 4 << 20, .huge = SN_HUGE_OFF, .numa = -1 };
	struct nam_err err = { 0 };
	struct sn_region *region = NULL;
	if (sn_region_open(&region, &rc, &err) != NAM_OK) {
		snprintf(here.said, sizeof here.said, "%.255s", err.text);
		return;
	}
	struct net_local *local[] = { sn_local(region), NULL };
	measure_net(&here, &(struct net_config){ .local = local });
	sn_region_close(region);
}

bool
doctor_costs_measure(const char *storage, const char *secret_file)
{
	uint8_t secret[NET_SECRET_LEN];
	struct nam_err err = { 0 };
	struct net_config cfg = { .storage = storage, .fabric = NET_AUTO, .secret = secret };
	measure_here();
	if (net_secret_load(secret_file, secret, &cfg.secret_len, &err) == NAM_OK)
		measure_net(&there, &cfg);
	else
		snprintf(there.said, sizeof there.said, "%.255s", err.text);
	explicit_bzero(secret, sizeof secret);
	return there.good;
}

const char *
doctor_costs_said(void)
{
	return there.said;
}

void
doctor_costs_text(void)
{
	const struct sql_costs *s = &here.sql;
	const struct olap_cost *o = &here.olap;
	if (here.good)
		printf("costs of plans, in ns (SET namdb.cost_...): row %.4g, value %.4g, hash_near %.4g, "
		       "hash_far %.4g; cache %.0f KiB\n"
		       "costs of joins, in ns: a byte of memory %.4g, a tuple to its partition %.4g, into a "
		       "table %.4g, looked up %.4g, a miss %.4g; cache %zu KiB\n",
		    s->row, s->value, s->hash_near, s->hash_far, s->cache / 1024, o->memory * 1e9,
		    o->partition * 1e9, o->build * 1e9, o->probe * 1e9, o->miss * 1e9, o->cache >> 10);
	else
		printf("costs of the processor: not measured: %s\n", here.said);
	if (there.good)
		printf("costs of the network (%s), in ns: trip %.4g, verb %.4g, byte %.4g; of joins: a byte "
		       "%.4g, a round trip %.4g\n",
		    there.said, there.sql.trip, there.sql.verb, there.sql.byte, there.olap.network * 1e9,
		    there.olap.round_trip * 1e9);
	else
		printf("costs of the network: not measured: %s\n", there.said);
}

void
doctor_costs_json(void)
{
	const struct sql_costs *s = &here.sql;
	const struct olap_cost *o = &here.olap;
	fputs("{\"processor\": ", stdout);
	if (here.good)
		printf(
		    "{\"row_ns\": %.4g, \"value_ns\": %.4g, \"hash_near_ns\": %.4g, \"hash_far_ns\": %.4g, "
		    "\"cache_bytes\": %.0f, \"memory_byte_ns\": %.4g, \"partition_ns\": %.4g, "
		    "\"build_ns\": %.4g, \"probe_ns\": %.4g, \"miss_ns\": %.4g}",
		    s->row, s->value, s->hash_near, s->hash_far, s->cache, o->memory * 1e9,
		    o->partition * 1e9, o->build * 1e9, o->probe * 1e9, o->miss * 1e9);
	else
		cli_json_text(here.said);
	fputs(", \"network\": ", stdout);
	if (there.good)
		printf("{\"fabric\": \"%s\", \"trip_ns\": %.4g, \"verb_ns\": %.4g, \"byte_ns\": %.4g, "
		       "\"join_byte_ns\": %.4g, \"join_trip_ns\": %.4g}",
		    there.said, there.sql.trip, there.sql.verb, there.sql.byte, there.olap.network * 1e9,
		    there.olap.round_trip * 1e9);
	else
		cli_json_text(there.said);
	putchar('}');
}
