/*
 * scene.h -- a process fills a log, life after life; what it was told is compared with what a later
 * process finds.
 *
 * Everything follows from the seed: which records there are, when wal_step is called. The record of
 * a life and a number is always the same one, so nothing is kept to compare with.
 */
#ifndef NAM_WAL_TESTING_SCENE_H
#define NAM_WAL_TESTING_SCENE_H

#include <wal/wal.h>

enum {
	WAL_SCENE_LIVES = 4,
	WAL_SCENE_RECORDS = 4096, /* of a life, at most */
	WAL_SCENE_LONGEST = 40000,
	WAL_SCENE_NODE = 3,
	WAL_SCENE_CLUSTER = 77, /* of life 1; that of life n is n - 1 more */
	WAL_SCENE_CUTS = 4,     /* of a life, at most */
};

struct wal_scene_life {
	unsigned records;  /* received */
	uint64_t received; /* position */
	uint64_t flushed;  /* the greatest that the log has told */
	bool asked;        /* wal_publish was called */
	uint64_t promised; /* what had been received then */
	unsigned cuts;     /* wal_cut was called so often: */
	struct wal_scene_cut {
		unsigned record; /* at the begin of this one */
		uint64_t position;
		uint64_t promised; /* what had been received then */
	} cut[WAL_SCENE_CUTS];
	uint64_t begin; /* the log has told */
};

struct wal_scene {
	uint64_t seed;
	bool whole;
	struct wal_config cfg;
	struct wal *w;
	struct wal_scene_life life[WAL_SCENE_LIVES + 1]; /* by number */
	uint32_t published;                              /* the log has told */
	char broken[400];                                /* "" = all is right */
};

/* What a later process found. */
struct wal_scene_found {
	nam_status st; /* of wal_open */
	uint32_t published;
	uint64_t begin, end;
	char text[512]; /* if it was refused */
};

/* The record of that number; out has WAL_SCENE_LONGEST bytes. Its length. */
uint32_t wal_scene_record(uint32_t life, unsigned number, char *out);
void wal_scene_config(struct wal_config *cfg, struct wal_dir *d);
/*
 * A process opens the log of the directory; writes a life, publishes it in the middle and cuts off
 * its begin twice; begins one and gives it up; writes another, publishes it, and writes on with two
 * cuts; then ends. It ends early when the log fails.
 */
void wal_scene_play(struct wal_scene *s, uint64_t seed, struct wal_dir *d);
/* The same without cuts. */
void wal_scene_play_whole(struct wal_scene *s, uint64_t seed, struct wal_dir *d);
/*
 * Opens the log of d and reads the published life: what is there must be what the process s has
 * received, in order, and no less than what it was told. If NAM_CORRUPT is not `allowed`, it is
 * also an error. Errors are in s->broken.
 */
void wal_scene_check(struct wal_scene *s, struct wal_dir *d, bool allowed, struct wal_scene_found *out);
/* Opens the log of d and steps until nothing is left to do; any call may fail. */
void wal_scene_rest(struct wal_dir *d);

#endif
