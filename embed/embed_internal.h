/* embed_internal.h -- the inside of embed: a directory that is being opened. */
#ifndef NAM_EMBED_INTERNAL_H
#define NAM_EMBED_INTERNAL_H

#include <embed/embed.h>

struct emb_dir {
	const struct emb_config *cfg;
	struct emb_node node; /* what is known of it so far */
	char shown[200];      /* the path in messages; of a long one the end */
	int fd;
	unsigned silent; /* so many nodes have ended without a word */
	uint64_t until_ns;
	uint64_t held_ns; /* since when another process has the log; 0 = none has been seen */
};

enum emb_found {
	EMB_NONE,  /* no node serves */
	EMB_OURS,  /* one does, which has the directory's secret */
	EMB_OTHERS /* one does, which has another secret */
};

/* ---- open.c ---- */

/* It has been waited for long enough, or is to be waited for no more. */
bool emb_late(const struct emb_dir *d);

/* ---- address.c ---- */

/* Looks for the node that serves, and fills in its address. */
enum emb_found emb_look(int dir, struct emb_node *node);

/* ---- judge.c ---- */

/* Opens the directory, makes it if there is none. */
nam_status emb_enter(struct emb_dir *d, struct nam_err *err);
/* NAM_REFUSED: the directory is another user's, so its node may be as well. */
nam_status emb_own(const struct emb_dir *d, struct nam_err *err);
/* Is it one in which a database is, or can be made by this process? */
nam_status emb_judge(struct emb_dir *d, struct nam_err *err);

/* ---- start.c ---- */

/* Its log is a backup (wal_format.h, W10). */
bool emb_is_backup(const struct emb_dir *d);

/* Runs the program until the node serves, or has failed. Only with the door's lock. NAM_TIMEOUT: it
 * has ended and has not said why; again. */
nam_status emb_start(struct emb_dir *d, struct nam_err *err);

#endif
