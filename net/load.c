/* load.c -- see load.h. Memory by /proc/meminfo; network by the counters of interfaces and of RDMA
 * ports, at two moments. */
#include <base/clock.h>
#include <net/load.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PORTS = 16, LOOK_MS = 200 };
/* k is the paper's; the paper gives no threshold. */
static const double k = 0.7, threshold = 0.25;

size_t
net_buffer_for(const struct net_load *load, size_t base, size_t least)
{
	double left = load->memory_free * load->network_free;
	if (left >= threshold)
		return base;
	size_t size = (size_t)(k * (double)base * (left > 0 ? left : 0)) / PAGE * PAGE;
	return size > least ? size : least;
}

double
net_load_memory(const char *meminfo)
{
	const char *total = strstr(meminfo, "MemTotal:"), *left = strstr(meminfo, "MemAvailable:");
	if (total == NULL || left == NULL)
		return 1;
	double t = strtod(total + strlen("MemTotal:"), NULL),
	       a = strtod(left + strlen("MemAvailable:"), NULL);
	return t <= 0 || a > t ? 1 : a < 0 ? 0 : a / t;
}

double
net_load_port(uint64_t bytes, uint64_t ns, uint64_t bits_per_s)
{
	if (ns == 0 || bits_per_s == 0)
		return 1;
	double used = (double)bytes * 8e9 / (double)ns / (double)bits_per_s;
	return used >= 1 ? 0 : 1 - used;
}

static bool
read_text(const char *path, char *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, room - 1) : -1;
	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n > 0;
}

static uint64_t
read_number(const char *dir, const char *name, const char *file)
{
	char path[512], text[64];
	snprintf(path, sizeof path, "%s/%s/%s", dir, name, file);
	/* An interface of unknown speed reads as -1, or cannot be read. */
	return read_text(path, text, sizeof text) && text[0] != '-' ? strtoull(text, NULL, 10) : 0;
}

/* A port's counters when last read. */
struct port {
	char name[64];
	uint64_t in, out;
};

static struct {
	pthread_mutex_t lock;
	uint64_t at_ns; /* 0 = not read yet */
	struct port port[PORTS];
	unsigned ports;
	struct net_load load;
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Remembers the port's counters; returns the part of it that was free since the last call. */
static double
look_at(struct port *now, unsigned *n, const char *name, uint64_t in, uint64_t out, uint64_t bits_per_s,
    uint64_t ns)
{
	double left = 1;
	if (*n == PORTS)
		return left;
	struct port *p = &now[(*n)++];
	snprintf(p->name, sizeof p->name, "%s", name);
	p->in = in;
	p->out = out;
	for (unsigned i = 0; i < seen.ports; i++) {
		const struct port *was = &seen.port[i];
		if (strcmp(was->name, p->name) != 0 || was->in > in || was->out > out)
			continue;
		uint64_t moved = in - was->in > out - was->out ? in - was->in : out - was->out;
		left = net_load_port(moved, ns, bits_per_s);
	}
	return left;
}

/* The fullest port decides. */
static double
look_at_network(uint64_t ns)
{
	static const char nets[] = "/sys/class/net", devices[] = "/sys/class/infiniband";
	struct port now[PORTS];
	unsigned n = 0;
	double least = 1;
	DIR *d = opendir(nets);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.' || strcmp(e->d_name, "lo") == 0)
			continue;
		double left = look_at(now, &n, e->d_name, read_number(nets, e->d_name, "statistics/rx_bytes"),
		    read_number(nets, e->d_name, "statistics/tx_bytes"),
		    read_number(nets, e->d_name, "speed") * 1000000, ns);
		least = left < least ? left : least;
	}
	if (d != NULL)
		closedir(d);
	/* An interface does not count the bytes that an RNIC moves by itself. The RNIC's counters
	 * are of words; its rate, of Gbit/s. */
	d = opendir(devices);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		double left = look_at(now, &n, e->d_name,
		    4 * read_number(devices, e->d_name, "ports/1/counters/port_rcv_data"),
		    4 * read_number(devices, e->d_name, "ports/1/counters/port_xmit_data"),
		    read_number(devices, e->d_name, "ports/1/rate") * 1000000000, ns);
		least = left < least ? left : least;
	}
	if (d != NULL)
		closedir(d);
	memcpy(seen.port, now, n * sizeof *now);
	seen.ports = n;
	return least;
}

void
net_load_now(struct net_load *out)
{
	static char text[4096];
	pthread_mutex_lock(&seen.lock);
	uint64_t now = nam_clock_ns();
	if (seen.at_ns == 0 || now - seen.at_ns >= (uint64_t)LOOK_MS * 1000000) {
		seen.load.memory_free =
		    read_text("/proc/meminfo", text, sizeof text) ? net_load_memory(text) : 1;
		seen.load.network_free = look_at_network(seen.at_ns != 0 ? now - seen.at_ns : 0);
		seen.at_ns = now;
	}
	*out = seen.load;
	pthread_mutex_unlock(&seen.lock);
}

size_t
net_buffer_size(size_t base, size_t least)
{
	struct net_load load;
	net_load_now(&load);
	return net_buffer_for(&load, base, least);
}
