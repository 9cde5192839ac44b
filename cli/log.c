/* log.c -- `namdb log`: prints the records of a cluster's log, as pg_waldump does. */
#include "cli.h"

#include <base/number.h>
#include <txn/logged_format.h>
#include <wal/wal.h>
#include <wal/wal_format.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb log [options] DIR\n"
    "Prints the records of the log in a directory of `namdb storage --data`, in their order. No storage\n"
    "node may be running on the directory: stop it, or copy the directory.\n"
    "\n"
    "  --items             also what each record holds: rows, deletions, long values, numbers\n"
    "  --from N            from this position on\n"
    "  --count N           at most so many records\n"
    "  --json              one JSON object for each record, with its items\n"
    "  --help              this text\n"
    "\n"
    "A record has the time at which it was sent, by the clock of its compute node; - if none was noted.\n"
    "A position counts the bytes of records since the life began. A checkpoint cuts off the begin, so\n"
    "the first position need not be 0. Kinds of records: commit, undone (of an attempt whose commit\n"
    "does not count), numbers (that sequences may have given out), kept (by a checkpoint).\n"
    "\n"
    "Exit code 0: all was printed; 1: the log cannot be read, or is damaged; 2: bad usage.\n";

struct reading {
	uint64_t from, most, printed;
	bool items, json;
};

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb log: %s; see namdb log --help\n", what);
	return 2;
}

static const char *
kind_name(uint16_t kind)
{
	static const char *const name[] = { [TXN_LOGGED_COMMIT] = "commit",
		[TXN_LOGGED_UNDONE] = "undone",
		[TXN_LOGGED_NUMBERS] = "numbers",
		[TXN_LOGGED_KEPT] = "kept" };
	return kind > 0 && kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

static const char *
item_name(uint32_t kind)
{
	static const char *const name[] = { [TXN_LOGGED_ROW] = "row",
		[TXN_LOGGED_DELETED] = "deleted",
		[TXN_LOGGED_VALUE] = "value",
		[TXN_LOGGED_NUMBER] = "number",
		[TXN_LOGGED_KEPT_ROW] = "row",
		[TXN_LOGGED_SINCE] = "since",
		[TXN_LOGGED_NEXT_ID] = "next id" };
	return kind > 0 && kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

/* One item; bytes are its own. */
static void
print_item(const struct txn_logged_item *item, const char *bytes, bool json, bool first)
{
	uint64_t cid = 0;
	bool kept = item->kind == TXN_LOGGED_KEPT_ROW && item->len >= sizeof cid;
	if (kept)
		memcpy(&cid, bytes, sizeof cid);
	uint32_t len = item->len - (kept ? (uint32_t)sizeof cid : 0);
	if (json) {
		printf("%s{\"kind\":\"%s\",\"table\":%u,\"at\":\"%" PRIx64 "\",\"ident\":\"%" PRIx64
		       "\",\"len\":%u",
		    first ? "" : ",", item_name(item->kind), item->table, item->at, item->ident, len);
		if (kept)
			printf(",\"cid\":%" PRIu64, cid);
		putchar('}');
	} else if (item->kind == TXN_LOGGED_NUMBER) {
		printf("    number %" PRId64 " of the sequence at %" PRIx64 ", generation %u\n",
		    (int64_t)item->ident, item->at, item->table);
	} else if (item->kind == TXN_LOGGED_SINCE || item->kind == TXN_LOGGED_NEXT_ID) {
		printf("    %s %" PRIu64 "\n", item_name(item->kind), item->ident);
	} else {
		printf("    %s of table %u at %" PRIx64 ", %u bytes", item_name(item->kind), item->table,
		    item->at, len);
		if (kept)
			printf(", cid %" PRIu64, cid);
		putchar('\n');
	}
}

/* Calls print_item for each item of a whole body. False: the bytes are not items. */
static bool
print_items(const char *bytes, uint32_t len, bool json)
{
	for (uint32_t at = 0; at < len;) {
		struct txn_logged_item item;
		if (len - at < sizeof item)
			return false;
		memcpy(&item, bytes + at, sizeof item);
		uint32_t begin = at + (uint32_t)sizeof item;
		uint64_t padded = ((uint64_t)item.len + 7) & ~UINT64_C(7);
		if (padded > len - begin)
			return false;
		print_item(&item, bytes + begin, json, at == 0);
		at = begin + (uint32_t)padded;
	}
	return true;
}

/* False: it is no record of a cluster. */
static bool
print_record(const struct reading *r, uint64_t position, const char *bytes, uint32_t len)
{
	struct txn_logged h;
	if (len < sizeof h)
		return false;
	memcpy(&h, bytes, sizeof h);
	bool last = (h.flags & TXN_LOGGED_LAST) != 0, whole = last && h.part == 0;
	uint32_t rest = len - (uint32_t)sizeof h;
	char time[CLI_MOMENT];
	cli_moment(h.time, time);
	if (r->json) {
		printf("{\"position\":%" PRIu64 ",\"kind\":\"%s\",\"cid\":%" PRIu64 ",\"lock\":\"%" PRIx64
		       "\",\"check\":\"%" PRIx64 "\",\"part\":%u,\"last\":%s,\"bytes\":%u",
		    position, kind_name(h.kind), h.cid, h.lock, h.check, h.part, last ? "true" : "false",
		    rest);
		if (h.time != 0)
			printf(",\"time\":\"%s\"", time);
		bool is = true;
		if (whole) {
			fputs(",\"items\":[", stdout);
			is = print_items(bytes + sizeof h, rest, true);
			putchar(']');
		}
		puts("}");
		return is;
	}
	printf("%12" PRIu64 "  %-31s %-7s %u bytes", position, h.time != 0 ? time : "-", kind_name(h.kind),
	    rest);
	if (h.kind == TXN_LOGGED_COMMIT)
		printf(", cid %" PRIu64, h.cid);
	if (h.kind == TXN_LOGGED_COMMIT || h.kind == TXN_LOGGED_UNDONE)
		printf(", lock %" PRIx64, h.lock);
	if (!whole)
		printf(", part %u%s", h.part, last ? ", the last" : "");
	putchar('\n');
	return !r->items || !whole || print_items(bytes + sizeof h, rest, false);
}

static int
print_all(struct wal *w, struct reading *r)
{
	enum { CAP = WAL_RECORD_MAX + 64 };
	struct wal_state st;
	struct nam_err err;
	char *buf = malloc(CAP);
	if (buf == NULL)
		fputs("namdb log: not enough memory\n", stderr);
	wal_state(w, &st);
	uint64_t position = st.begin;
	int code = buf != NULL ? 0 : 1;
	for (uint32_t got = 1; code == 0 && got > 0 && r->printed < r->most;) {
		uint64_t at = position;
		if (wal_read(w, position, buf, CAP, &got, &position, &err) != NAM_OK) {
			fprintf(stderr, "namdb log: %s\n", err.text);
			code = 1;
			break;
		}
		for (uint32_t i = 0; code == 0 && i < got && r->printed < r->most;) {
			struct wal_record_head head;
			memcpy(&head, buf + i, sizeof head);
			if (at + i >= r->from) {
				r->printed++;
				if (!print_record(r, at + i, buf + i + sizeof head, head.bytes)) {
					fprintf(stderr,
					    "namdb log: the record at position %" PRIu64
					    " is none of a cluster\n",
					    at + i);
					code = 1;
				}
			}
			i += (uint32_t)sizeof head + ((head.bytes + 7) & ~7u);
		}
	}
	free(buf);
	if (code == 0 && !r->json)
		printf("%" PRIu64 " records; the log of life %u has positions %" PRIu64 " to %" PRIu64 "\n",
		    r->printed, st.published, st.begin, st.end);
	return code;
}

static int
print_log(const char *path, struct reading *r)
{
	char file[4096];
	struct wal_dir *dir = NULL;
	struct wal *w = NULL;
	struct nam_err err;
	struct wal_state st;
	int code = 1;
	/* An empty directory would become a log's. */
	snprintf(file, sizeof file, "%s/manifest", path);
	if (access(file, R_OK) != 0) {
		fprintf(stderr, "namdb log: %s: %s; name a directory of namdb storage --data\n", file,
		    strerror(errno));
		return 1;
	}
	nam_status status = wal_disk_open_to_read(&dir, path, &err);
	const struct wal_config cfg = { .dir = dir, .no_sync = true };
	if (status == NAM_OK)
		status = wal_open(&w, &cfg, &err);
	if (status != NAM_OK) {
		fprintf(stderr, "namdb log: %s\n", err.text);
	} else {
		wal_state(w, &st);
		if (st.published != 0)
			code = print_all(w, r);
		else
			fprintf(stderr, "namdb log: %s has no database yet\n", path);
	}
	wal_close(w);
	if (dir != NULL)
		wal_disk_close(dir);
	return code;
}

int
cli_log(int argc, char **argv)
{
	static const struct option known[] = {
		{ "items", no_argument, NULL, 'i' },
		{ "from", required_argument, NULL, 'f' },
		{ "count", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct reading r = { .most = UINT64_MAX };
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;)
		switch (o) {
		case 'i':
			r.items = true;
			break;
		case 'f':
			if (!nam_number(optarg, 0, UINT64_MAX, &r.from))
				return misuse("--from is a position, a number");
			break;
		case 'c':
			if (!nam_number(optarg, 0, UINT64_MAX, &r.most))
				return misuse("--count is a number");
			break;
		case 'j':
			r.json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return misuse(cli_bad_option(o, argv));
		}
	if (optind + 1 != argc)
		return misuse("which directory?");
	return print_log(argv[optind], &r);
}
