/* catalog_internal.h -- structures of catalog.c (the cache), system.c (rows of the system tables)
 * and ddl.c (changes). */
#ifndef NAM_CATALOG_INTERNAL_H
#define NAM_CATALOG_INTERNAL_H

#include <catalog/catalog.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
	CAT_SYSTEM = 5,      /* nam_tables, _columns, _extras, _roles, _members: ids 1 to 5 */
	CAT_SHOWN = 3,       /* those that SQL may read */
	CAT_ROLES = 3,       /* its place among them */
	CAT_MEMBERS = 4,     /* likewise */
	CAT_FIRST_ID = 16,   /* of a user's table */
	CAT_READERS = 64,    /* threads that look tables up without a lock */
	CAT_SEEN = 1024,     /* row counts remembered */
	CAT_GRAVES = 64,     /* dropped tables whose structs are kept */
	CAT_ROOT_TABLES = 0, /* txn_db_root words: anchors of the tables, next id */
	CAT_ROOT_COLUMNS = 1,
	CAT_ROOT_NEXT_ID = 2,
	CAT_ROOT_EXTRAS = 3,
	CAT_ROOT_NEXT_WORD = 4, /* words of sequences given out */
	CAT_ROOT_WORDS = 5,     /* where they lie: an extent that lists extents */
	CAT_ROOT_ROLES = 6,
	/* 7 is that of sql/session/help.c */
	CAT_ROOT_MEMBERS = 8,
};

/* Columns of nam_tables and nam_columns. */
enum { T_NAME, T_ID, T_COLUMNS, T_SLOTS, T_ROW_BYTES, T_ANCHOR, T_ALL };
enum { C_TABLE, C_NUMBER, C_NAME, C_TYPE, C_NOT_NULL, C_KEY, C_KIND, C_TYPMOD, C_ALL };

/* What only some tables have: kind 'd' DEFAULT of column number, 'i' IDENTITY of it, 'c' CHECK, 'k'
 * name of the primary key, 'v' query of a view, 'u' a table it reads, 's' a sequence, 'g' how often
 * it was altered, 'r' how many rows ANALYZE counted, 't' what it found in column number, 'l' the
 * places of its rows, 'm' what rows without a place for column number show, 'x' an index, 'b' of an
 * index: the number of its table, 'f' a foreign key, 'y' one of the table of that name that refers
 * to this one, 'o' the owner's name and the access control list, 'p' that it is a type: "e" an
 * enum, "d" a domain; 'e' a label of it and its key, 'q' the id of the domain of column number, 'w'
 * a CHECK that is not valid; 'n' that it is a schema, 'z' what goes
 * with each commit; 'h' of a schema: a row that each transaction
 * writes which needs the schema to stay. */
enum { X_TABLE, X_KIND, X_NUMBER, X_NAME, X_TEXT, X_ALL };

enum { WIDEST = C_ALL, KEY_WIDEST = 3 };

enum { CAT_INDEX_IS_VALID = 8 }; /* of the flags in an index's text (extras.c) */

/* One table, as this process holds it. */
struct cat_entry {
	struct cat_table def;    /* i */
	unsigned shots;          /* lock  sets and shots that list it */
	unsigned changes;        /* lock  overlays that name it */
	bool fresh;              /* lock  on c->fresh */
	tso_cid born;            /* lock  commit that created it, if this process did */
	tso_cid gone;            /* lock  buried: freed once the watermark has reached gone */
	struct cat_entry *next;  /* lock  fresh or buried */
	struct txn_order *order; /* i  of its indexes; NULL = it has none, or is not open */
	struct cat_column columns[];
};

/* Relations that several shots list. */
struct cat_set {
	unsigned shots;           /* lock  that have it */
	unsigned tables;          /* i */
	struct cat_entry **table; /* i  by name */
	unsigned rares;           /* i */
	struct cat_entry **rare;  /* i  those that are no relations: schemas and types */
	struct cat_entry **by_id; /* lock  NULL: not asked for so far; as many places as slots */
	uint64_t mask;            /* i */
	struct cat_entry *slot[]; /* i  open addressing by name */
};

/* What a shot has otherwise than its set: a relation, or, gone, that none has the name of this one,
 * which the set lists. */
struct cat_other {
	uint64_t hash; /* of its name */
	struct cat_entry *entry;
	bool gone;
};

/* A catalog snapshot: the whole catalog as snapshots from..at see it. The newest one is also right
 * beyond `at`, until a newer note comes. */
struct cat_snapshot {
	tso_cid from, at;           /* i */
	struct cat_snapshot *older; /* lock */
	struct cat_set *set;        /* i */
	unsigned others;            /* i */
	struct cat_other *other;    /* i  by name */
	uint64_t mask;              /* i */
	uint32_t slot[];            /* i  open addressing by name: 1 + its place in other[] */
};

/* What the next shot will have otherwise than the set of the one before. */
struct cat_others {
	struct cat_set *set;
	unsigned n, max;
	struct cat_other *at;
};

/* The entries of a shot, by name; rare: only schemas and types. */
struct cat_walk {
	const struct cat_snapshot *of;
	bool rare;
	unsigned i, k;
};

struct cat_hazard {
	_Alignas(64) _Atomic(struct cat_snapshot *) shot;
};

/* What one transaction has changed, newest first. */
struct cat_change {
	bool drop;
	bool keep;   /* ALTER: the rows stay, whether this definition commits or not */
	bool undone; /* made and dropped by the same transaction */
	struct cat_entry *entry;
	struct cat_change *next;
};
struct cat_overlay {
	struct txn *t;
	uint64_t stamp; /* new with each change, never used twice */
	struct cat_change *list;
	tso_cid cid; /* lock  of its commit; 0 = it has not committed */
	bool busy;   /* lock  cat_decided is at work with it */
	struct cat_overlay *next;
};

struct cat {
	struct cat_hazard hazard[CAT_READERS]; /* a */
	_Atomic(struct cat_snapshot *) head;   /* a  stored under lock */
	_Atomic unsigned overlays;             /* a how many; stored under lock. A
					        * transaction sees its own. */
	_Atomic uint64_t seen[CAT_SEEN];       /* a  by id: 24 bits of id, 40 of rows */
	_Atomic uint64_t drift;                /* a */
	struct txn_db *db;                     /* i */
	uint32_t tag;                          /* i  types/enum.h */
	struct tso *oracle;                    /* i */
	struct cat_entry *system[CAT_SYSTEM];  /* i */
	pthread_mutex_t lock;                  /* never held over I/O; inside: the oracle's notes */
	struct cat_overlay *overlay;           /* lock */
	struct cat_overlay *done;              /* lock  committed here, and newer than the
					        * newest shot; the newest first */
	uint64_t published;                    /* lock  counts shots */
	uint64_t stamp;                        /* lock */
	struct cat_entry *fresh;               /* lock  created here, not yet in a shot */
	struct cat_entry *buried;              /* lock */
	struct cat_pages *pages;               /* i */
	struct cat_chains *chains;             /* i */
	struct cat *next;                      /* opened_lock */
};

/* ---- catalog.c */
struct cat_entry *cat_entry_new(const struct cat_table *def);
/* Reads the catalog of t's process as of now: a row that was changed later than t's snapshot may
 * have labels that the process does not know. In a coroutine. */
nam_status cat_learn(struct txn *t);
/* Closes the process's part of a table. */
void cat_entry_close(struct cat *c, struct cat_entry *e);

/* A set or a shot does not list it any more. Under lock. */
void cat_entry_unlisted(struct cat *c, struct cat_entry *e, tso_cid gone);
/* Puts a shot where it belongs, and frees what no snapshot can ask for. Under lock. */
void cat_publish(struct cat *c, struct cat_snapshot *s);

/* ---- shot.c; all under lock, but for cat_shot_find. NULL: no memory. */
/* Of these relations, whose order changes. */
struct cat_snapshot *cat_shot_new(struct cat *c, struct cat_entry **entry, unsigned n, tso_cid at);
struct cat_snapshot *cat_shot_next(struct cat *c, const struct cat_others *o, tso_cid at);
/* gone: a snapshot from which on none of its relations that no other shot lists is to be found. */
void cat_shot_free(struct cat *c, struct cat_snapshot *s, tso_cid gone);
/* Of a shot that is pinned, without the lock. */
struct cat_entry *cat_shot_find(const struct cat_snapshot *s, const char *name);
/* NULL: it has none. */
struct cat_entry *cat_shot_by_id(const struct cat_snapshot *s, uint32_t id);
struct cat_entry *cat_walk_next(struct cat_walk *w);
/* NAM_ABSENT: what comes has a name that another relation has; what goes is not there. */
nam_status cat_others_of(const struct cat_snapshot *s, struct cat_others *out);
nam_status cat_others_add(struct cat_others *o, struct cat_entry *e);
nam_status cat_others_drop(struct cat_others *o, struct cat_entry *e);

/* ---- follow.c */
/*
 * Makes the shot of t's snapshot out of the newest shot and what transactions of this process have
 * committed since. NAM_ABSENT: that is not all that has changed, or not known to be. In a
 * coroutine.
 */
nam_status cat_follow(struct cat *c, struct txn *t);
/* o has committed as cid: it will be followed. Under lock. */
void cat_done_add(struct cat *c, struct cat_overlay *o, tso_cid cid);
/* Frees those that the newest shot has, and those too many. Under lock. */
void cat_done_forget(struct cat *c);

/* ---- restore.c */
/* Deletes all rows of the system tables. */
nam_status cat_empty(struct cat *c, struct txn_worker *tw);

/* ---- sequence.c */
struct txn_checkpoint;
/* Appends what the words of sequences say to a checkpoint, those of uncommitted sequences too. */
nam_status cat_sequences_keep(struct cat *c, struct txn_worker *tw, struct txn_checkpoint *k);

/* ---- row.c */
/* The value of a column of a stored row. It points into the row, or, *spilled, is the blob b.
 * False: the row contradicts itself. */
bool cat_row_value(const struct cat_table *t, unsigned column, const void *row, uint32_t len,
    union cat_val *v, bool *null, bool *spilled, struct txn_blob *b);

/* ---- foreign.c: fills the numbers of the columns. */
void cat_foreign_resolve(struct cat_table *t);

/* ---- index.c */
/* Fills order[0..t->indexes), which txn opens the table with. */
void cat_index_orders(struct cat_table *t, struct txn_order *order);

/* ---- ddl.c */
struct cat_overlay *cat_overlay_locked(struct cat *c, const struct txn *t);
struct cat_overlay *cat_overlay_of(struct cat *c, const struct txn *t);
/* The table that t has created under that name, or NULL. *hides: t has dropped a table of that
 * name. */
const struct cat_entry *cat_overlay_find(struct cat *c, const struct txn *t, const char *name, bool *hides);
bool cat_overlay_drops(const struct cat_overlay *o, const struct cat_entry *e);
/* Under lock. */
/* The row of a system table with these values, ready for txn_insert. */
nam_status cat_system_put(const struct cat_table *sys, struct txn *t, const union cat_val *v,
    struct txn_put *p, struct nam_arena *arena);
void cat_overlay_free(struct cat_overlay *o);

/* ---- parts.c */
struct cat_chains *cat_chains_new(void);
void cat_chains_free(struct cat_chains *c);
/* ---- pages.c */
/* So many extents of so many blocks make a page. */
unsigned cat_page_extents(unsigned blocks);
struct cat_pages *cat_pages_new(void);
void cat_pages_free(struct cat_pages *p);
/* Drops the pages of a table that is gone. */
void cat_pages_forget(struct cat_pages *p, uint32_t table);

/* ---- extras.c: texts of nam_extras, in arena memory; NULL = no memory. A reader answers false if
 * a text is not one that its writer has written. */
char *cat_sequence_text(const struct cat_sequence *q, struct nam_arena *arena);
bool cat_sequence_read(const char *text, struct cat_sequence *q);
/* t has its columns. */
char *cat_places_text(const struct cat_table *def, struct nam_arena *arena);
bool cat_places_read(struct cat_table *t, const char *text, uint32_t tag, struct nam_arena *arena);
char *cat_index_text(const struct cat_index *ix, struct nam_arena *arena);
bool cat_index_read(const struct cat_table *t, const char *text, struct cat_index *ix);
char *cat_foreign_text(const struct cat_foreign *k, struct nam_arena *arena);
bool cat_foreign_read(const char *text, struct cat_foreign *k);
/* A type as this process has it, and as rows of the catalog have it. tag: the catalog's, by which
 * types of several clusters are told apart. */
static inline enum cat_type
cat_type_here(uint32_t tag, enum cat_type stored)
{
	uint32_t id = cat_type_id(stored), kind = (uint32_t)cat_type_kind(stored);
	return id == 0 ? stored : (enum cat_type)(kind | cat_enum_number(tag, id) << CAT_ID_SHIFT);
}
static inline enum cat_type
cat_type_stored(enum cat_type t)
{
	uint32_t number = cat_type_id(t), kind = (uint32_t)cat_type_kind(t);
	return number == 0 ? t : (enum cat_type)(kind | cat_enum_id(number) << CAT_ID_SHIFT);
}

/* ---- row.c */
/* Where in a stored row its struct txn_blob lie, at most `max` of them; returns how many. */
unsigned cat_row_spills(
    const struct cat_table *t, const void *row, uint32_t len, uint32_t *where, unsigned max);

/* ---- system.c */
struct cat_rows {
	struct cat_table *table; /* laid out, not open */
	unsigned n;
};
/* For txn_on_orphan: *yes is true if t's snapshot shows this table. cat_shows: only for a table
 * that is no system table. */
nam_status cat_listed(void *cat, struct txn *t, uint32_t table, net_addr anchor, bool *yes);
nam_status cat_shows(struct cat *c, struct txn *t, uint32_t table, net_addr anchor, bool *yes);
/* Finds or creates the system tables; fills c->system. In a coroutine. */
nam_status cat_bootstrap(struct cat *c, struct txn_worker *tw);
/* Where the row of nam_tables that defines each of n relations lies, and its CID. NAM_ABSENT: there
 * is none. */
nam_status cat_rows_at(struct cat *c, struct txn *t, struct cat_entry *const *e, unsigned n,
    struct txn_row *out, struct nam_arena *arena);
/* Every table's definition as t sees it. */
nam_status cat_read_all(struct cat *c, struct txn *t, struct cat_rows *out, struct nam_arena *arena);
/* The row of a system table with these values, ready for txn_insert. */
nam_status cat_system_put(const struct cat_table *sys, struct txn *t, const union cat_val *v,
    struct txn_put *p, struct nam_arena *arena);
/* Writes a definition's rows in t; NAM_DUPLICATE before anything is written. extras: only those of
 * nam_extras. */
nam_status cat_write(
    struct cat *c, struct txn *t, const struct cat_table *def, bool extras, struct nam_arena *arena);
/* Deletes a definition's rows. NAM_ABSENT: another transaction did. NAM_CONFLICT: another
 * transaction has changed them. */
nam_status cat_erase(
    struct cat *c, struct txn *t, const struct cat_table *def, bool extras, struct nam_arena *arena);
/* Locks and writes the row of nam_extras that says that this is a type. NAM_CONFLICT: it is
 * gone. */
nam_status cat_type_touch(struct cat *c, struct txn *t, const struct cat_table *type);
/* Opens the process's part of a table. */
nam_status cat_entry_open(struct cat *c, struct cat_entry *e);

#endif
