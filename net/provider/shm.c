/*
 * shm.c -- the provider for memory that is mapped here: embedded regions, and memfds of nodes on
 * this host.
 *
 * The verbs themselves are in exec.h and net.c, which runs them in place. When
 * the storage process dies its memory stays mapped here as long as we hold it;
 * the monitor sees the control connection break and from then on the front end
 * refuses ops with NAM_GONE, as a wire would.
 */
#include <net/provider/shm.h>
#include <net/ring/channel.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static nam_status
shm_open_endpoint(struct net_endpoint *ep, struct nam_err *err)
{
	(void)err;
	ep->base = ep->node->base;
	return NAM_OK;
}

static void
shm_node_close(struct net_node *node)
{
	if (node->mapped)
		munmap(node->base, node->info.size);
	if (node->control_fd >= 0)
		close(node->control_fd);
}

const struct net_provider net_provider_shm = {
	.kind = NET_SHM,
	.open = shm_open_endpoint,
	.channel = net_channel_open_mapped,
	.node_close = shm_node_close,
};

nam_status
net_shm_check(const void *base, uint64_t size, const char *name, struct nam_err *err)
{
	const struct net_super *s = base;
	if (s->magic != NET_MAGIC || s->version != NET_VERSION)
		return nam_fail(
		    err, NAM_REFUSED, "%s does not hold a namdb region of version %u", name, NET_VERSION);
	if (s->size != size || size % NET_EXTENT != 0 || s->region == 0 || s->region >= NET_REGIONS)
		return nam_fail(err, NAM_REFUSED, "the superblock of %s contradicts its memory", name);
	return NAM_OK;
}

nam_status
net_shm_map(struct net_node *node, int fd, struct nam_err *err)
{
	struct stat sb;
	if (fstat(fd, &sb) != 0 || (uint64_t)sb.st_size != node->info.size)
		return nam_fail(
		    err, NAM_REFUSED, "%s offers memory of another size than it says", node->info.name);
	/* Without the seal the node could shrink the file while it is mapped, and a load would be a
	 * SIGBUS. */
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return nam_fail(err, NAM_REFUSED, "%s offers memory that is not sealed", node->info.name);
	void *base = mmap(NULL, node->info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return nam_fail(err, NAM_IO, "cannot map %llu bytes of %s: %s; try --fabric tcp",
		    (unsigned long long)node->info.size, node->info.name, strerror(errno));
	madvise(base, node->info.size, MADV_HUGEPAGE);
	/* A child of fork has no identity of its own that could be fenced (disarm.c). */
	if (madvise(base, node->info.size, MADV_DONTFORK) != 0) {
		munmap(base, node->info.size);
		return nam_fail(err, NAM_IO, "cannot keep the memory of %s from child processes: %s",
		    node->info.name, strerror(errno));
	}
	nam_status st = net_shm_check(base, node->info.size, node->info.name, err);
	const struct net_super *s = base;
	if (st == NAM_OK && (s->region != node->info.region || s->incarnation != node->info.incarnation))
		st = nam_fail(err, NAM_REFUSED,
		    "%s: its socket belongs to another storage node; try --fabric tcp", node->info.name);
	if (st != NAM_OK) {
		munmap(base, node->info.size);
		return st;
	}
	node->base = base;
	node->mapped = true;
	return NAM_OK;
}
