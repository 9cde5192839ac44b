/* adaptive.c -- see index/adaptive.h. */
#include <index/adaptive.h>
#include <net/region_format.h>

#include <stddef.h>
#include <string.h>

void
idx_adaptive_init(struct idx_adaptive *a, const struct idx_adaptive_config *cfg, uint64_t seed)
{
	memset(a, 0, sizeof *a);
	if (cfg != NULL)
		a->cfg = *cfg;
	a->cfg.interval_ns = a->cfg.interval_ns != 0 ? a->cfg.interval_ns : 10000000;
	a->cfg.rounds = a->cfg.rounds != 0 ? a->cfg.rounds : 8;
	a->cfg.busy_permille = a->cfg.busy_permille != 0 ? a->cfg.busy_permille : 900;
	a->cfg.cores = a->cfg.cores != 0 ? a->cfg.cores : 1;
	a->cfg.probe = a->cfg.probe != 0 ? a->cfg.probe : 64;
	nam_rng_init(&a->dice, seed);
}

/* What the newest heartbeat says (lines 6 to 16 of the algorithm). */
static void
take_news(struct idx_adaptive *a)
{
	const uint64_t n = a->cfg.rounds;
	a->news = false;
	if (a->load <= a->cfg.busy_permille) {
		a->busy = 0;
		return;
	}
	/* Searches of an earlier heartbeat may still be left: then this one adds nothing. */
	if (a->left > a->busy * n)
		return;
	a->busy++;
	a->left = nam_rng_below(&a->dice, n) + (a->busy - 1) * n;
}

enum idx_way
idx_adaptive_choose(struct idx_adaptive *a)
{
	enum idx_way way = IDX_WAY_MESSAGE;
	if (a->news)
		take_news(a);
	a->searches++;
	if (a->left > 0) {
		a->left--;
		way = IDX_WAY_READS;
	} else if (a->ns[IDX_WAY_READS] == 0)
		way = a->ns[IDX_WAY_MESSAGE] == 0 ? IDX_WAY_MESSAGE : IDX_WAY_READS;
	else {
		way = a->ns[IDX_WAY_READS] < a->ns[IDX_WAY_MESSAGE] ? IDX_WAY_READS : IDX_WAY_MESSAGE;
		/* A busy node is not asked only to learn how slow it is. */
		if (a->busy == 0 && a->searches % a->cfg.probe == 0)
			way = way == IDX_WAY_READS ? IDX_WAY_MESSAGE : IDX_WAY_READS;
	}
	a->taken[way]++;
	return way;
}

void
idx_adaptive_done(struct idx_adaptive *a, enum idx_way way, uint64_t ns)
{
	const double newest = 1.0 / 8;
	double t = (double)(ns > 0 ? ns : 1);
	a->ns[way] += a->ns[way] == 0 ? t : newest * (t - a->ns[way]);
}

bool
idx_adaptive_due(struct idx_adaptive *a, uint64_t now_ns)
{
	if (a->looked_ns != 0 && now_ns - a->looked_ns < a->cfg.interval_ns)
		return false;
	a->looked_ns = now_ns;
	return true;
}

void
idx_adaptive_heard(struct idx_adaptive *a, uint64_t beat, uint32_t cpu_permille)
{
	if (beat == 0 || beat == a->beat)
		return;
	a->beat = beat;
	a->load = cpu_permille / a->cfg.cores;
	a->news = true;
}

nam_status
idx_adaptive_listen(struct net_worker *w, unsigned region, struct idx_adaptive *a, struct net_counts *acct)
{
	uint64_t line[3];
	uint32_t cpu;
	static_assert(
	    offsetof(struct net_super, cpu_permille) == offsetof(struct net_super, beat) + 16, "24 bytes");
	if (!idx_adaptive_due(a, net_now_ns(w)))
		return NAM_OK;
	nam_status st =
	    net_read1(w, net_at(region, offsetof(struct net_super, beat)), line, sizeof line, acct);
	if (st != NAM_OK)
		return st;
	memcpy(&cpu, &line[2], sizeof cpu);
	idx_adaptive_heard(a, line[0], cpu);
	return NAM_OK;
}
