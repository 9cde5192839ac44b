/* region.c -- the memory of a storage node and its superblock. */
#include <base/assert.h>
#include <base/clock.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/local.h>
#include <net/net.h>
#include <net/region_format.h>
#include <net/remote.h>
#include <storage_node/fenced.h>
#include <storage_node/shard.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SIZE_MIN = 1 << 20, HUGE_PAGE = 2 << 20, LOG_SHARE = 64, LOG_MOST = 2 << 20 };

struct sn_region {
	struct net_local local;   /* i */
	int fd;                   /* i */
	unsigned id;              /* i */
	const char *pages;        /* i */
	struct sn_shards *shards; /* i  NULL = hosts no services */
	struct sn_fenced fenced;
	struct sn_fenced dead; /* whose end was proved */
	/* the beating thread's */
	uint64_t beats;
	uint64_t cpu_ns, cpu_at_ns;
};

static uint64_t
process_cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A sealed memfd of that size, mapped. MAP_FAILED with errno; *fd is closed then. */
static void *
make_memory(uint64_t size, unsigned flags, int *fd)
{
	*fd = memfd_create("namdb-region", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	if (*fd < 0)
		return MAP_FAILED;
	void *base = MAP_FAILED;
	if (ftruncate(*fd, (off_t)size) == 0 &&
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (base == MAP_FAILED) {
		int saved = errno;
		close(*fd);
		errno = saved;
	}
	return base;
}

static nam_status
bind_memory(void *base, uint64_t size, int node, struct nam_err *err)
{
	if (numa_available() < 0 || node > numa_max_node())
		return nam_fail(err, NAM_INVALID, "there is no NUMA node %d here; leave --numa out", node);
	struct bitmask *mask = numa_allocate_nodemask();
	numa_bitmask_setbit(mask, (unsigned)node);
	long rc = mbind(base, size, MPOL_BIND, mask->maskp, mask->size + 1, 0);
	numa_free_nodemask(mask);
	/* Containers often forbid it; the memory can be used nevertheless. */
	if (rc != 0)
		nam_log(NAM_LOG_WARN, "cannot bind memory to NUMA node %d (%s); going on unbound", node,
		    strerror(errno));
	return NAM_OK;
}

static nam_status
judge(const struct sn_region_config *cfg, uint64_t size, struct nam_err *err)
{
	if (cfg->id == 0 || cfg->id >= NET_REGIONS)
		return nam_fail(
		    err, NAM_INVALID, "node id %u is out of range; ids are 1..%d", cfg->id, NET_REGIONS - 1);
	if (size < SIZE_MIN)
		return nam_fail(err, NAM_INVALID, "a region of %llu bytes is too small; give at least 1m",
		    (unsigned long long)cfg->size);
	if (size > NET_REGION_SIZE_MAX)
		return nam_fail(err, NAM_INVALID,
		    "%.1f TiB is more than a region can have, 1 TiB; run several storage nodes here",
		    (double)size / (double)NET_REGION_SIZE_MAX);
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	if (size > ram)
		return nam_fail(err, NAM_NOMEM,
		    "%.1f GiB is more than the %.1f GiB of memory here; give a smaller --size",
		    (double)size / (1 << 30), (double)ram / (1 << 30));
	return NAM_OK;
}

nam_status
sn_region_open(struct sn_region **out, const struct sn_region_config *cfg, struct nam_err *err)
{
	uint64_t size = cfg->size / NET_EXTENT * NET_EXTENT;
	nam_status fits = judge(cfg, size, err);
	if (fits != NAM_OK)
		return fits;
	struct sn_region *r = calloc(1, sizeof *r);
	if (r == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a region");

	void *base = MAP_FAILED;
	pthread_mutex_init(&r->fenced.lock, NULL);
	pthread_mutex_init(&r->dead.lock, NULL);
	r->fd = -1;
	if (cfg->embedded) {
		/* No other process will map it, so it need not be a file: anonymous memory gets
		 * transparent huge pages on most systems, shared memory on few. Aligned, or the
		 * first and the last page stay small. */
		size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
		char *wide = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (wide != MAP_FAILED) {
			char *at = (char *)(((uintptr_t)wide + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
			if (at > wide)
				munmap(wide, (size_t)(at - wide));
			if (wide + HUGE_PAGE > at)
				munmap(at + size, (size_t)(wide + HUGE_PAGE - at));
			base = at;
			bool asked = cfg->huge != SN_HUGE_OFF && madvise(base, size, MADV_HUGEPAGE) == 0;
			r->pages =
			    asked ? "transparent huge pages where the system grants them" : "4 KiB pages";
		}
	}
	if (base == MAP_FAILED && cfg->huge != SN_HUGE_OFF) {
		uint64_t whole = size / HUGE_PAGE * HUGE_PAGE;
		if (whole >= HUGE_PAGE)
			base = make_memory(whole, MFD_HUGETLB | MFD_HUGE_2MB, &r->fd);
		if (base != MAP_FAILED) {
			size = whole;
			r->pages = "2 MiB pages";
		} else if (cfg->huge == SN_HUGE_ON) {
			free(r);
			return nam_fail(err, NAM_NOMEM,
			    "not enough reserved huge pages; write %llu to /proc/sys/vm/nr_hugepages, or use "
			    "--hugepages auto",
			    (unsigned long long)((size + HUGE_PAGE - 1) / HUGE_PAGE));
		}
	}
	if (base == MAP_FAILED) {
		base = make_memory(size, 0, &r->fd);
		if (base == MAP_FAILED) {
			nam_status st = nam_fail(err, NAM_NOMEM,
			    "cannot get %.1f GiB of memory: %s; give a smaller --size%s",
			    (double)size / (1 << 30), strerror(errno),
			    errno == EFBIG ? ", or raise the limit on the size of a file (ulimit -f)" : "");
			free(r);
			return st;
		}
		bool asked = cfg->huge == SN_HUGE_AUTO && madvise(base, size, MADV_HUGEPAGE) == 0;
		r->pages = asked ? "transparent huge pages where the system grants them" : "4 KiB pages";
	}
	/* A crash of this process should not write the data of the cluster to disk. */
	madvise(base, size, MADV_DONTDUMP);
	/* Shared memory, and a child of fork has no identity that could be fenced
	 * (net/disarm.c). */
	if (r->fd >= 0)
		madvise(base, size, MADV_DONTFORK);
	if (cfg->numa >= 0) {
		nam_status st = bind_memory(base, size, cfg->numa, err);
		if (st != NAM_OK) {
			munmap(base, size);
			if (r->fd >= 0)
				close(r->fd);
			free(r);
			return st;
		}
	}
	r->local = (struct net_local){ .base = base, .size = size };
	r->id = cfg->id;
	r->cpu_ns = process_cpu_ns();
	r->cpu_at_ns = nam_clock_ns();

	struct net_super *s = base;
	s->version = NET_VERSION;
	s->region = cfg->id;
	s->layout = net_layout();
	s->cluster = net_cluster_hash(cfg->cluster);
	nam_random_bytes(&s->incarnation, sizeof s->incarnation);
	s->size = size;
	s->bump = NET_EXTENT;
	s->magic = NET_MAGIC;
	*out = r;
	return NAM_OK;
}

void
sn_region_close(struct sn_region *r)
{
	if (r == NULL)
		return;
	sn_shards_close(r->shards);
	sn_fenced_free(&r->fenced);
	sn_fenced_free(&r->dead);
	munmap(r->local.base, r->local.size);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

nam_status
sn_region_serve(struct sn_region *r, const struct sn_serve_config *cfg, struct nam_err *err)
{
	NAM_ASSERT(r->shards == NULL);
	return sn_shards_open(&r->shards, r, cfg, err);
}

struct sn_fenced *
sn_region_dead(struct sn_region *r)
{
	return &r->dead;
}

bool
sn_region_gone(struct sn_region *r, uint64_t identity)
{
	return sn_fenced_find(&r->fenced, identity) != 0 || sn_fenced_find(&r->dead, identity) != 0;
}

struct sn_fenced *
sn_region_fenced(struct sn_region *r)
{
	return &r->fenced;
}

struct sn_shards *
sn_region_shards(const struct sn_region *r)
{
	return r->shards;
}

struct net_local *
sn_local(struct sn_region *r)
{
	return &r->local;
}

uint64_t
sn_region_size(const struct sn_region *r)
{
	return r->local.size;
}

uint64_t
sn_region_incarnation(const struct sn_region *r)
{
	return ((const struct net_super *)r->local.base)->incarnation;
}

unsigned
sn_region_id(const struct sn_region *r)
{
	return r->id;
}

nam_status
sn_region_keeps_log(struct sn_region *r, bool rings, uint64_t *at, uint64_t *bytes, struct nam_err *err)
{
	struct net_super *s = r->local.base;
	NAM_ASSERT(s->log == 0 && r->shards == NULL);
	uint64_t more = r->local.size / LOG_SHARE / NET_EXTENT * NET_EXTENT;
	*bytes = NET_EXTENT + (!rings ? 0 : more < LOG_MOST ? more : LOG_MOST);
	if (s->bump + *bytes > r->local.size)
		return nam_fail(err, NAM_FULL, "the region has no memory for a log's line");
	s->log = s->bump;
	s->bump += *bytes;
	*at = s->log;
	return NAM_OK;
}

uint64_t
sn_region_log(const struct sn_region *r)
{
	return ((const struct net_super *)r->local.base)->log;
}

int
sn_region_fd(const struct sn_region *r)
{
	return r->fd;
}

const char *
sn_region_pages(const struct sn_region *r)
{
	return r->pages;
}

void
sn_region_beat(struct sn_region *r, unsigned peers)
{
	struct net_super *s = r->local.base;
	uint64_t now = nam_clock_ns(), passed = now - r->cpu_at_ns;
	/* Load over a tenth of a second, plus half of the value before: a number that a client can
	 * use. */
	if (passed >= 100000000) {
		uint64_t cpu = process_cpu_ns();
		uint32_t was = __atomic_load_n(&s->cpu_permille, __ATOMIC_RELAXED);
		uint32_t is = (uint32_t)((cpu - r->cpu_ns) * 1000 / passed);
		__atomic_store_n(&s->cpu_permille, (was + is) / 2, __ATOMIC_RELAXED);
		r->cpu_ns = cpu;
		r->cpu_at_ns = now;
	}
	__atomic_store_n(&s->peers, peers, __ATOMIC_RELAXED);
	__atomic_store_n(&s->beat_wall_us, (uint64_t)nam_clock_wall_us(), __ATOMIC_RELAXED);
	__atomic_store_n(&s->beat, ++r->beats, __ATOMIC_RELEASE);
}

void
sn_region_touch(struct sn_region *r, uint64_t from, uint64_t len)
{
	uint64_t size = sn_region_size(r);
	if (from >= size)
		return;
	if (len > size - from)
		len = size - from;
	/* If the kernel does not know the advice, pages come at first touch. */
	madvise((char *)r->local.base + from, len, MADV_POPULATE_WRITE);
}
