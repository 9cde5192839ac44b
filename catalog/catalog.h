/*
 * catalog.h -- names to tables: definitions kept as rows in remote memory, changed by transactions.
 *
 * The catalog's tables (nam_tables, nam_columns, nam_extras) are tables of txn like any others. A
 * process caches definitions. A commit that changes the catalog puts a note on its mark in the
 * oracle's vector, so a process that takes a snapshot that covers the change learns of it without
 * another round trip.
 */
#ifndef NAM_CATALOG_CATALOG_H
#define NAM_CATALOG_CATALOG_H

#include <catalog/path.h>
#include <txn/txn.h>
#include <types/enum.h>
#include <types/value.h>

enum { CAT_COLUMNS_MAX = 1600, CAT_KEY_MAX = 32 };

struct cat_column {
	char name[CAT_NAME_MAX + 1];
	enum cat_type type;
	int32_t typmod;
	bool not_null;
	uint16_t offset;      /* of its fixed part in a row, set by cat_table_layout */
	uint16_t place;       /* its number among the places of a row, likewise */
	const char *missing;  /* value of rows without that place, as text of cat_type_plain; NULL =
			       * SQL's NULL */
	union cat_val absent; /* missing as a value, from cat_entry_new */
	char identity;        /* 'a': GENERATED ALWAYS AS IDENTITY, 'd': BY DEFAULT; 0 */
	uint32_t domain;      /* id of its domain, whose base type is type; 0 = none */
	const char *dflt;     /* DEFAULT: an expression's text, or NULL */
	const char *stats;    /* what ANALYZE found (stats.h), or NULL */
};

/* A CHECK constraint: the text of its condition. */
struct cat_check {
	char name[CAT_NAME_MAX + 1];
	const char *text;
	bool not_valid; /* of a domain: values that were there before need not fulfil it */
};

/* A place in the rows of a table whose columns have changed: the column it belongs to. */
struct cat_place {
	enum cat_type type;
	uint16_t column; /* 1 + number; 0 = its column was dropped */
	uint16_t offset; /* set by cat_table_layout */
};

/*
 * What a path stands for. Only tables have rows of their own. Schemas and types that users make are
 * here because they, too, are named, owned and versioned: cat_find and cat_list do not show them. A
 * domain has one column, "value", with its base type, its default, and whether it allows NULL; if
 * it is a domain over another domain, that is the column's. Its checks are conditions on that
 * column.
 */
enum cat_kind { CAT_TABLE = 0, CAT_VIEW, CAT_SEQUENCE, CAT_INDEX, CAT_SCHEMA, CAT_ENUM_TYPE, CAT_DOMAIN };

static inline bool
cat_kind_is_type(enum cat_kind k)
{
	return k >= CAT_ENUM_TYPE;
}

/* A sequence. Its next value is a word in remote memory, which sessions advance by FETCH_ADD. */
struct cat_sequence {
	int64_t start, step, min, max, cache;
	bool cycle;
	enum cat_type type;
	net_addr word;
	uint32_t owner; /* id of the table whose column it feeds, dropped with it; 0 = none */
};

/* A column of an index's key. */
struct cat_index_column {
	uint16_t column; /* number */
	bool descending, nulls_first;
};

enum { CAT_INDEXES_MAX = TXN_ORDERS_MAX, CAT_INDEX_SURE_WORDS = 6 };

/*
 * An index of a table, by which its rows are found in the order of some columns. Number i of the
 * table's indexes is txn's order i of its store. The words of a key (index/tree.h) are the
 * beginning of its bytes (types/order.h), every column nullable. Equal words are equal keys. If a
 * key may be longer than they are (!whole), one that is has a digest in its last two words: the
 * order of two keys is then certain only if their first CAT_INDEX_SURE_WORDS words differ.
 */
struct cat_index {
	char name[CAT_NAME_MAX + 1]; /* among those of all relations of its table's schema */
	uint16_t keys;               /* columns of the key */
	struct cat_index_column key[CAT_KEY_MAX];
	uint16_t includes; /* INCLUDE */
	uint16_t include[CAT_KEY_MAX];
	bool unique;
	bool nulls_equal; /* UNIQUE NULLS NOT DISTINCT */
	bool constraint;  /* of UNIQUE or PRIMARY KEY, not of CREATE INDEX */
	/* It has the primary key's columns and its constraint's name, and keeps the key unique. The
	 * table has no hash then (cat_is_hashed). */
	bool primary;
	bool valid;     /* false: it is being built. Writers make its entries, no plan uses it */
	bool hidden;    /* while it is not valid: of a plain CREATE INDEX, shown at its end */
	uint64_t maker; /* while it is not valid: the process that builds it (txn_process) */
	bool whole;     /* its words hold every key; set by cat_index_layout */
	unsigned words; /* likewise */
	const struct cat_table *table; /* set when it is opened */
	struct txn_table store;        /* its number; holds the tree */
};

/* What a foreign key does when the row that is referred to goes, or gets another key. */
enum cat_action {
	CAT_NO_ACTION = 'a',
	CAT_RESTRICT = 'r',
	CAT_CASCADE = 'c',
	CAT_SET_NULL = 'n',
	CAT_SET_DEFAULT = 'd'
};

/* A FOREIGN KEY of a table: columns, and those of the referenced table, by their names. */
struct cat_foreign {
	char name[CAT_NAME_MAX + 1];  /* of the constraint */
	char table[CAT_PATH_MAX + 1]; /* path of the one that is referred to */
	uint16_t keys;
	char on_delete, on_update;    /* enum cat_action */
	uint16_t number[CAT_KEY_MAX]; /* of the columns; set when the definition is opened */
	char column[CAT_KEY_MAX][CAT_NAME_MAX + 1], refers[CAT_KEY_MAX][CAT_NAME_MAX + 1];
};

/* A foreign key of some table that refers to this one. */
struct cat_referrer {
	char table[CAT_PATH_MAX + 1]; /* path */
	char name[CAT_NAME_MAX + 1];
};

/* What a role may do with a relation, and who has said so (acl.h). to "" = every role. */
struct cat_grant {
	char to[CAT_NAME_MAX + 1], by[CAT_NAME_MAX + 1];
	uint16_t rights, options; /* options: rights that it may grant */
};

struct cat_table {
	char path[CAT_PATH_MAX + 1];
	char owner[CAT_NAME_MAX + 1]; /* role; "" = the first one: ask cat_owner */
	bool granted;                 /* grant[] says what roles may do; false: the owner all */
	unsigned grants;
	struct cat_grant *grant;
	uint16_t columns;
	struct cat_column *column;
	uint16_t keys;             /* columns of the primary key; 0 = none */
	uint16_t key[CAT_KEY_MAX]; /* column numbers, in key order */
	uint16_t fixed;            /* bytes of the fixed part of a row */
	uint16_t first;            /* places that every row has, and bytes of the fixed part up to
				    * there */
	uint16_t first_fixed;
	uint16_t places;         /* of all rows; more than first: ALTER TABLE has added some */
	struct cat_place *place; /* NULL = column k has place k, and there are no others */
	bool system;             /* nam_tables, ...: SQL may read them, only catalog writes */
	enum cat_kind kind;
	uint32_t generation; /* of this id's definition: rises with ALTER */
	unsigned checks;
	struct cat_check *check; /* by name */
	unsigned foreigns, referrers;
	struct cat_foreign *foreign; /* in the order of their making */
	struct cat_referrer *referrer;
	char key_name[CAT_NAME_MAX + 1]; /* of the primary key's constraint; "" = table_pkey */
	char on_commit;                  /* of a temporary table: 'd' its rows go, 'x' it goes; 0 */
	const char *view;                /* CAT_VIEW: its query's text */
	unsigned uses;                   /* CAT_VIEW: paths of the tables and views it reads */
	char (*use)[CAT_PATH_MAX + 1];
	struct cat_sequence seq; /* CAT_SEQUENCE */
	unsigned indexes;        /* CAT_TABLE */
	struct cat_index *index; /* the order of its numbers is that of their making */
	uint32_t index_of;       /* CAT_INDEX: the number of its table */
	unsigned labels;         /* CAT_ENUM_TYPE */
	uint32_t number;         /* likewise, in this process (types/enum.h) */
	struct cat_label *label; /* by key */
	bool fresh;              /* CAT_ENUM_TYPE: made by the transaction that sees it */
	bool analyzed;
	double rows;            /* as ANALYZE counted them */
	struct txn_table store; /* .owner is this table */
	struct cat_table *next; /* catalog's */
};

/* The type that an enum's definition is of. */
static inline enum cat_type
cat_type_of(const struct cat_table *t)
{
	return cat_type_enum(t->number);
}

/* The name of its primary key's constraint. */
const char *cat_key_name(const struct cat_table *t, char buf[CAT_NAME_MAX + 8]);

struct cat;
struct cat_overlay;

/* Opens the catalog, creating it in a new cluster. In a coroutine; one per process. */
nam_status cat_open(struct txn_worker *tw, struct cat **out);
/* Likewise, for the process that restores the database (restore.h): what another restorer has left
 * is deleted. */
nam_status cat_open_empty(struct txn_worker *tw, struct cat **out);
void cat_close(struct cat *c);

/*
 * Finds a relation or a schema by its path, as t's snapshot sees it (t's own DDL included). *out
 * stays valid until t ends. NULL with NAM_OK = nothing has that path.
 */
nam_status cat_find(struct cat *c, struct txn *t, const char *path, const struct cat_table **out);
/* All relations, by path. In arena memory. */
nam_status cat_list(
    struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena);
/* All schemas but public and the system's, by path; path "app." is that of app. */
nam_status cat_schemas(
    struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena);
/* As cat_find and cat_list, for types that users have made. */
nam_status cat_type_named(struct cat *c, struct txn *t, const char *path, const struct cat_table **out);
nam_status cat_list_types(
    struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena);
/* Relations, schemas and types: all that has an owner. */
nam_status cat_list_owned(
    struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena);
/* Whatever has that path: relation, schema or type. */
nam_status cat_name_taken(struct cat *c, struct txn *t, const char *path, const struct cat_table **out);
/* The type of that id; NULL = there is none. */
nam_status cat_type_of_id(struct cat *c, struct txn *t, uint32_t id, const struct cat_table **out);
/* Locks the row of nam_tables that defines a type (D19). NAM_CONFLICT: it is another one by now. */
nam_status cat_type_hold(struct cat *c, struct txn *t, const struct cat_table *type);
/*
 * Writes the row that says that it is a type. Call it before t commits anything that says the
 * type's id or name, and before t looks for such things to drop the type: of two such transactions
 * the second one waits, and its next statement sees what the first one did (D14). NAM_CONFLICT:
 * another transaction has changed or dropped the type.
 */
nam_status cat_type_use(struct cat *c, struct txn *t, const struct cat_table *type);
/* A type's definition, its name too, becomes def's. NAM_CONFLICT as above; NAM_DUPLICATE. */
nam_status cat_type_alter(
    struct cat *c, struct txn *t, const struct cat_table *type, const struct cat_table *def);
/* Afterwards the process knows the labels of all types as t's snapshot shows them. No verbs, unless
 * the catalog has changed. */
nam_status cat_look(struct cat *c, struct txn *t);
/* The schema of that name. NULL with NAM_OK = none. public is always there, and has no
 * definition. */
nam_status cat_schema_find(struct cat *c, struct txn *t, const char *name, const struct cat_table **out);
/* Makes a schema stay until t ends, and t's next snapshot cover the commits that have held it
 * (D20). NAM_ABSENT: another transaction has dropped it; others as txn_lock. */
nam_status cat_schema_hold(struct cat *c, struct txn *t, const struct cat_table *schema);
/* Rises with every change this process has noticed: plans made before must be made again. If two
 * statements of t begin with equal versions, they see one catalog. */
uint64_t cat_version(struct cat *c, struct txn *t);
/* True if a commit after that snapshot has changed the catalog, as far as a snapshot taken now
 * shows. In a coroutine. */
bool cat_changed_since(struct cat *c, struct txn_worker *tw, tso_cid snapshot);

/*
 * How many rows a table has, as far as this process knows: a full scan sets the count, bulk changes
 * move it. It may be wrong; it only guides plans. cat_rows_seen: true if there is a count.
 * cat_drift rises if a count changes by much.
 */
bool cat_rows_seen(struct cat *c, const struct cat_table *table, double *rows);
void cat_rows_saw(struct cat *c, uint32_t table_id, uint64_t rows);
void cat_rows_moved(struct cat *c, const struct cat_table *table, int64_t by);
uint64_t cat_drift(struct cat *c);

/* Creates a relation or a schema: def->path, columns (name, type, typmod, not_null), keys,
 * store.slots. NAM_DUPLICATE: the path is taken. Visible to others when t commits. */
nam_status cat_create(struct cat *c, struct txn *t, const struct cat_table *def);
/* Takes a word for a new sequence, q->word, and writes its first value. NAM_FULL: the cluster has
 * had too many sequences. */
nam_status cat_sequence_word(struct cat *c, struct txn_worker *tw, int64_t first, struct cat_sequence *q);
/* The caller has drawn numbers, up to `last`, and is about to give them out: makes sure that the
 * log says so. NAM_UNLOGGED, NAM_NO_SPACE, NAM_GONE, NAM_CANCELLED, NAM_EXPIRED (limits may be
 * NULL): it is not known to; the numbers are lost. Nothing to do without a log. */
nam_status cat_sequence_drawn(
    struct txn_worker *tw, const struct cat_sequence *q, int64_t last, const struct txn_limits *limits);
/* The sequence is about to go on at that number, whatever it gave out before; the caller then sets
 * its word. Nothing to do without a log. */
nam_status cat_sequence_reset(struct txn_worker *tw, const struct cat_sequence *q, int64_t number);
/* Drops a table. NAM_ABSENT: another transaction has dropped it meanwhile; NAM_CONFLICT: another
 * transaction has changed it; NAM_REFUSED: it is a system table. */
nam_status cat_drop(struct cat *c, struct txn *t, const struct cat_table *table);
/* Call it before a table's meaning changes. It waits for transactions that are writing the table,
 * and lets no other transaction commit rows of it until t ends. READ COMMITTED gets a snapshot that
 * covers all rows there are. NAM_CONFLICT: another transaction has changed or dropped it meanwhile,
 * or, above READ COMMITTED, its rows; NAM_TIMEOUT. */
nam_status cat_hold(struct cat *c, struct txn *t, const struct cat_table *table);
/* Likewise, of a table whose rows end: what lies on a storage node that does not answer goes as
 * well. NAM_GONE: its definition does not answer. */
nam_status cat_hold_to_end(struct cat *c, struct txn *t, const struct cat_table *table);
/* Gives the rows of a table another definition. Types and places of the columns stay; names and
 * rules may change. NAM_ABSENT, NAM_CONFLICT: another transaction has dropped or changed the
 * table. */
nam_status cat_alter(
    struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def);
/* Like cat_alter, for statistics alone: they do not change what rows mean, so writers of rows are
 * not affected. */
nam_status cat_describe(
    struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def);
/* The owner and the access control list of a relation become def's. NAM_CONFLICT: another
 * transaction has changed the definition. */
nam_status cat_grant_as(
    struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def);
/* Adds an index to a table that t holds, its rows not yet entered; ix: name, columns, unique,
 * valid; not the primary key's, which is made with its table. NAM_DUPLICATE: the name is taken.
 * NAM_REFUSED: the table has CAT_INDEXES_MAX. */
nam_status cat_index_add(
    struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_index *ix);
/* Drops index number i of a table that t holds. The primary key goes with its index: the rows that
 * are there have no hash. */
nam_status cat_index_drop(struct cat *c, struct txn *t, const struct cat_table *table, unsigned i);
/* Gives index number i of a table that t holds another name, and with it the constraint that it
 * is of. NAM_DUPLICATE. */
nam_status cat_index_rename(
    struct cat *c, struct txn *t, const struct cat_table *table, unsigned i, const char *name);
/* The table that an index belongs to, as t sees it; NULL = none. */
nam_status cat_index_table(
    struct cat *c, struct txn *t, const struct cat_table *index, const struct cat_table **out);
/* Call it before t commits or aborts: takes t's changes out of the lookups. Afterwards another
 * transaction may get t's struct, even before txn_commit has returned. NULL = t has changed
 * nothing. */
struct cat_overlay *cat_leave(struct cat *c, const struct txn *t);
/* Call it after txn_commit or txn_abort, with the cid of txn_commit; 0 = t was rolled back. */
void cat_decided(struct cat *c, struct txn_worker *tw, struct cat_overlay *o, tso_cid cid);

/* ---- rows (catalog/row.c; drawing in catalog/row_format.h) ------------------- */

/* Computes offsets, store.row_max, store.has_key and the callbacks; from place, first and places if
 * there are any. */
bool cat_table_layout(struct cat_table *t, struct cat_err *err);
/* After cat_table_layout: true if a slot of row_max bytes is enough for the table's rows. */
bool cat_table_fits(const struct cat_table *t, uint32_t row_max);

/* Encodes one row (column k in v[k], null[k]); long values go to blobs of t. Result in arena. */
nam_status cat_row_encode(const struct cat_table *table, struct txn *t, const union cat_val *v,
    const bool *null, struct cat_str *out, struct nam_arena *arena);
/* Decodes the columns wanted of n rows into vectors: col[j] is column number want[j]. Short strings
 * point into the rows; blobs are read (one doorbell) into arena. */
nam_status cat_rows_decode(const struct cat_table *table, struct txn *t, const struct txn_row *rows,
    unsigned n, const uint16_t *want, unsigned wants, struct cat_vec *col, struct nam_arena *arena);
/* The primary key's bytes of a row's values, and its hash, for txn_get / txn_put. Numbers that
 * compare equal encode alike. */
nam_status cat_key_encode(const struct cat_table *table, const union cat_val *key_values, struct cat_str *out,
    uint64_t *hash, struct nam_arena *arena);

/* ---- foreign keys (catalog/foreign.c) ------------------------------------------- */

/* A number for values v of the columns of a foreign key of t: equal ones have equal numbers. */
uint64_t cat_foreign_hash(const struct cat_table *t, const struct cat_foreign *k, const union cat_val *v);
/* For txn_forbid: that of a stored row. foreign: a struct cat_foreign of the table. */
enum txn_referring cat_foreign_refers(
    const struct txn_table *table, const void *foreign, const void *row, uint32_t len, uint64_t *hash);

/* ---- indexes (catalog/index.c) ------------------------------------------------- */

/* Computes words and whole of an index of a table with columns. */
void cat_index_layout(const struct cat_table *t, struct cat_index *ix);
/* The words of the key of a row with these values, all columns; *any_null (may be NULL): a column
 * of the key is NULL. False: 54000, 53200 in *err. */
bool cat_index_key(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v,
    const bool *null, uint64_t words[IDX_TREE_WORDS], bool *any_null, struct nam_arena *arena,
    struct cat_err *err);
/* The words between which the keys lie whose first n columns have these values. */
bool cat_index_prefix(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v,
    const bool *null, unsigned n, uint64_t low[IDX_TREE_WORDS], uint64_t high[IDX_TREE_WORDS],
    struct nam_arena *arena, struct cat_err *err);
/* As cat_index_prefix, for the bounds of a range: each key that sorts before those begins below
 * low, each one that sorts behind them above high. *exact: no other keys lie between the two. */
bool cat_index_bound(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v,
    const bool *null, unsigned n, uint64_t low[IDX_TREE_WORDS], uint64_t high[IDX_TREE_WORDS], bool *exact,
    struct nam_arena *arena, struct cat_err *err);
/* The number of the table's index that has the primary key in order; -1 = none. */
int cat_key_order(const struct cat_table *t);
/* The table has a primary key, and its store finds rows by the key's hash: no ordered index has
 * it. */
bool cat_is_hashed(const struct cat_table *t);
/* By how many of the key's first columns the entries are certainly in order. */
unsigned cat_index_sure(const struct cat_table *t, const struct cat_index *ix);
/* The values of the key's first n columns, out of its words: cat_order_decode. False: the words do
 * not tell one of those that are needed. */
bool cat_index_values(const struct cat_table *t, const struct cat_index *ix, const uint64_t *words,
    unsigned n, const bool *need, union cat_val *v, bool *null, struct nam_arena *arena);

/* Bytes that a table takes at the storage nodes, in whole extents: its blocks; archives and long
 * values; the hash index of its keys; its ordered indexes. Not a snapshot. */
struct cat_memory {
	uint64_t rows, values, keys, indexes;
};
nam_status cat_memory(struct cat *c, struct txn *t, const struct cat_table *tab, struct cat_memory *out);
/* Of one ordered index. */
nam_status cat_index_memory(struct txn *t, const struct cat_index *ix, uint64_t *bytes);

#endif
