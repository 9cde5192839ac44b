/* error.c -- the one table of statuses and SQLSTATEs: a status from a lower room in PostgreSQL's
 * words and numbers. */
#include <sql/common/error.h>

#include <stdio.h>

static const struct {
	const char *sqlstate, *text, *hint;
} say[NAM_STATUS_COUNT] = {
	[NAM_ABSENT] = { "XX000", "a row that must be there is absent", "" },
	[NAM_DUPLICATE] = { "23505", "duplicate key value violates unique constraint", "" },
	[NAM_CONFLICT] = { "40001", "could not serialize access due to concurrent update",
	    "Run the transaction again." },
	[NAM_BUSY] = { "55P03", "could not obtain a lock", "Run the transaction again." },
	[NAM_TORN] = { "40001", "could not serialize access: a version was replaced while it was read",
	    "Run the transaction again." },
	[NAM_DEADLOCK] = { "40P01", "deadlock detected", "Run the transaction again." },
	[NAM_TIMEOUT] = { "55P03", "canceling statement due to lock timeout", "" },
	[NAM_FULL] = { "53100", "region full: the storage nodes have no memory left for this",
	    "Start another storage node, or drop or delete what is not needed: its memory comes back when no "
	    "open transaction can see it." },
	[NAM_NOMEM] = { "53200", "out of memory in the compute node",
	    "A transaction keeps the rows that it changes until it ends: change fewer of them in one, or "
	    "raise namdb.statement_memory, or namdb.process_memory of all sessions together." },
	[NAM_GONE] = { "58030", "a storage node or its memory is gone",
	    "See the storage nodes with: namdb status." },
	[NAM_REFUSED] = { "08004", "the storage node refused the request", "" },
	[NAM_CORRUPT] = { "XX001", "bytes in the storage node contradict their checksum",
	    "Write what can still be read to files (COPY ... TO), load it into a new cluster, and test the "
	    "memory of that storage node's host." },
	[NAM_INVALID] = { "54000", "a row or a value is too long", "" },
	[NAM_CANCELLED] = { "57014", "canceling statement due to user request", "" },
	[NAM_UNSUPPORTED] = { "0A000", "the storage nodes cannot do that", "" },
	[NAM_IO] = { "58030", "the operating system reported an error", "" },
	[NAM_UNSURE] = { "08007", "it is not known whether the transaction was committed",
	    "This process has been fenced from the cluster, or the disk that keeps the database has failed. "
	    "Connect again, and look whether it was committed." },
	[NAM_EXPIRED] = { "57014", "canceling statement due to statement timeout", "" },
	[NAM_STUCK] = { "58030",
	    "another compute process has stopped in the middle of a commit, and cannot be recovered",
	    "See the storage nodes with: namdb status." },
	[NAM_UNSEEN] = { "40003",
	    "the transaction is committed and stays, but not all processes are known to see it yet",
	    "Do not run it again." },
	[NAM_CROWDED] = { "53300",
	    "all message rings of a storage node are in use by other compute processes",
	    "Try again. If it stays so, restart the storage nodes with more memory for message rings: namdb "
	    "storage "
	    "--rings SIZE." },
	[NAM_NO_SPACE] = { "53100",
	    "the disk that keeps the database is full: the transaction was rolled back",
	    "Make room on the file system of the storage node's --data; commits go on by themselves then." },
	[NAM_UNLOGGED] = { "58030",
	    "the disk that keeps the database has failed: the transaction was rolled back",
	    "Nothing can be committed until the storage nodes have been started again. See what the storage "
	    "node with --data says." },
	[NAM_RESET] = { "58030", "the storage nodes reset their memory, and the database is restored",
	    "Connect again: what was committed is there." },
};

bool
sql_status(struct cat_err *err, nam_status st, const struct cat_table *tab)
{
	if (st <= NAM_OK || st >= NAM_STATUS_COUNT || say[st].sqlstate == NULL)
		return cat_error(err, "XX000", "internal error: status %d", (int)st);
	char name[CAT_NAME_MAX + 8];
	if (st == NAM_DUPLICATE && tab != NULL)
		cat_error(err, say[st].sqlstate, "%s \"%s\"", say[st].text, cat_key_name(tab, name));
	else
		cat_error(err, say[st].sqlstate, "%s", say[st].text);
	if (st == NAM_DUPLICATE && tab != NULL)
		cat_error_about(err, cat_local(tab->path), NULL, cat_key_name(tab, name));
	snprintf(err->hint, sizeof err->hint, "%s", say[st].hint);
	if (tab != NULL && (st == NAM_FULL || st == NAM_GONE || st == NAM_CORRUPT || st == NAM_INVALID))
		snprintf(
		    err->detail, sizeof err->detail, "It happened to table \"%s\".", cat_local(tab->path));
	return false;
}
