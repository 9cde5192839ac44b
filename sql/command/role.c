/* role.c -- CREATE, ALTER and DROP ROLE; passwords are kept as SCRAM-SHA-256 has them. */
#include <base/rng.h>
#include <catalog/role.h>
#include <sql/command/command.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 4096, SALT = 16, HASH = 32 };

/* RFC 5803's form, which PostgreSQL keeps too. */
static bool
make_secret(const char *password, char out[CAT_SECRET_MAX + 1], struct cat_err *err)
{
	unsigned char salt[SALT], salted[HASH], client[HASH], stored[HASH], server[HASH];
	char salt64[32], stored64[64], server64[64];
	unsigned n = HASH;
	nam_random_bytes(salt, sizeof salt);
	bool ok =
	    PKCS5_PBKDF2_HMAC(
		password, (int)strlen(password), salt, SALT, ITERATIONS, EVP_sha256(), HASH, salted) == 1 &&
	    HMAC(EVP_sha256(), salted, HASH, (const unsigned char *)"Client Key", 10, client, &n) != NULL &&
	    EVP_Digest(client, HASH, stored, &n, EVP_sha256(), NULL) == 1 &&
	    HMAC(EVP_sha256(), salted, HASH, (const unsigned char *)"Server Key", 10, server, &n) != NULL;
	if (!ok)
		return cat_error(err, "XX000", "could not compute the password's keys");
	EVP_EncodeBlock((unsigned char *)salt64, salt, SALT);
	EVP_EncodeBlock((unsigned char *)stored64, stored, HASH);
	EVP_EncodeBlock((unsigned char *)server64, server, HASH);
	snprintf(
	    out, CAT_SECRET_MAX + 1, "SCRAM-SHA-256$%d:%s$%s:%s", ITERATIONS, salt64, stored64, server64);
	return true;
}

/* A password, or what a client has made of one already. */
static bool
take_secret(const struct sql_sink *sink, const char *given, char out[CAT_SECRET_MAX + 1], struct cat_err *err)
{
	out[0] = 0;
	if (given == NULL)
		return true;
	if (given[0] == 0) {
		sql_notice(
		    sink, "NOTICE", "00000", "empty string is not a valid password, clearing password");
		return true;
	}
	if (strlen(given) == 35 && strncmp(given, "md5", 3) == 0)
		return cat_error(
		    err, "0A000", "passwords as MD5 are not supported: give the password itself");
	unsigned iterations;
	char salt[64], stored[64], server[64];
	int n = 0;
	if (sscanf(given, "SCRAM-SHA-256$%9u:%63[A-Za-z0-9+/=]$%44[A-Za-z0-9+/=]:%44[A-Za-z0-9+/=]%n",
		&iterations, salt, stored, server, &n) == 4 &&
	    given[n] == 0 && n <= CAT_SECRET_MAX && iterations > 0 && strlen(stored) == 44 &&
	    strlen(server) == 44) {
		memcpy(out, given, (size_t)n + 1);
		return true;
	}
	return make_secret(given, out, err);
}

static bool
must_be_super(struct sql_session *s, const char *denied, struct cat_err *err)
{
	return sql_who(s)->super || cat_error(err, "42501", "%s", denied);
}

static bool
good_name(const char *name, struct cat_err *err)
{
	if (cat_role_name_good(name))
		return true;
	cat_error(err, "42939", "role name \"%.63s\" is reserved", name);
	if (strncmp(name, "pg_", 3) == 0)
		snprintf(err->detail, sizeof err->detail, "Role names starting with \"pg_\" are reserved.");
	return false;
}

static bool
absent(const char *name, nam_status st, struct cat_err *err)
{
	if (st != NAM_ABSENT)
		return sql_status(err, st, NULL);
	return cat_error(err, "42704", "role \"%.63s\" does not exist", name);
}

/* A relation that a role made while it was dropped is not for a later role of its name. */
static bool
no_rest(struct sql_session *s, const char *name, struct nam_arena *a, struct cat_err *err)
{
	const struct cat_table **list;
	struct cat_role role;
	char object[CAT_NAME_MAX + 1];
	unsigned n;
	nam_status st = cat_role_find(s->cfg.cat, s->t, name, &role, a);
	if (st == NAM_OK || strcmp(name, CAT_FIRST_ROLE) == 0)
		return true; /* it is there: cat_role_create will say so */
	if (st == NAM_ABSENT)
		st = cat_list_owned(s->cfg.cat, s->t, &list, &n, a);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	for (unsigned i = 0; i < n; i++) {
		if (list[i]->kind == CAT_INDEX || !cat_acl_names(list[i], name))
			continue;
		cat_error(err, "55006", "%s \"%s\" belongs to an earlier role \"%.63s\", which was dropped",
		    sql_kind_name(list[i]), sql_object_name(list[i], object), name);
		snprintf(err->hint, sizeof err->hint, "Give it another owner with ALTER %s ... OWNER TO.",
		    list[i]->kind == CAT_VIEW         ? "VIEW"
		    : list[i]->kind == CAT_SEQUENCE   ? "SEQUENCE"
		    : list[i]->kind == CAT_SCHEMA     ? "SCHEMA"
		    : cat_kind_is_type(list[i]->kind) ? "TYPE"
						      : "TABLE");
		return false;
	}
	return true;
}

static bool
create_role(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	struct cat_role role = { .super = ast->role.super == 1,
		.login = ast->role.login == 1,
		.noinherit = ast->role.inherit == 0 };
	snprintf(role.name, sizeof role.name, "%s", ast->var);
	if (!must_be_super(s, "permission denied to create role", err) || !good_name(role.name, err) ||
	    (ast->role.password == 1 && !take_secret(sink, ast->role.secret, role.secret, err)))
		return false;
	if (!no_rest(s, role.name, a, err))
		return false;
	nam_status st = strcmp(role.name, CAT_FIRST_ROLE) == 0 ? NAM_DUPLICATE
							       : cat_role_create(s->cfg.cat, s->t, &role, a);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42710", "role \"%s\" already exists", role.name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* So no cluster is without a superuser. */
static bool
first_stays(struct cat_err *err)
{
	cat_error(err, "0A000", "permission denied to alter role");
	snprintf(
	    err->detail, sizeof err->detail, "The bootstrap superuser must have the SUPERUSER attribute.");
	return false;
}

static bool
alter_role(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	struct cat_role role;
	char name[CAT_NAME_MAX + 1], me[CAT_NAME_MAX + 1];
	snprintf(me, sizeof me, "%s", sql_who(s)->name);
	snprintf(name, sizeof name, "%s", ast->var ? ast->var : me);
	bool own =
		 strcmp(name, me) == 0 && ast->role.super < 0 && ast->role.login < 0 && ast->role.inherit < 0,
	     claimed;
	if (!own && !must_be_super(s,
			ast->role.super < 0
			    ? "permission denied"
			    : "must be superuser to alter superuser roles or change superuser attribute",
			err))
		return false;
	nam_status st = cat_role_enter(s->cfg.cat, s->t, name, false, &role, &claimed, a);
	if (st != NAM_OK)
		return absent(name, st, err);
	if (ast->role.super == 0 && strcmp(name, CAT_FIRST_ROLE) == 0)
		return first_stays(err);
	if (ast->role.inherit >= 0)
		role.noinherit = ast->role.inherit == 0;
	if (ast->role.super >= 0)
		role.super = ast->role.super == 1;
	if (ast->role.login >= 0)
		role.login = ast->role.login == 1;
	if (ast->role.password == 1 && !take_secret(sink, ast->role.secret, role.secret, err))
		return false;
	st = cat_role_alter(s->cfg.cat, s->t, &role, a);
	if (st == NAM_ABSENT && strcmp(name, CAT_FIRST_ROLE) == 0)
		st = cat_role_create(s->cfg.cat, s->t, &role, a);
	return st == NAM_OK || absent(name, st, err);
}

static int
by_id(const void *a, const void *b)
{
	const struct cat_table *const *x = a, *const *y = b;
	return (*x)->store.id < (*y)->store.id ? -1 : (*x)->store.id > (*y)->store.id;
}

/* A role that owns something, or that a list names, stays. Its row is locked first, so no later
 * GRANT names it. */
static bool
unused(struct sql_session *s, const char *name, struct nam_arena *a, struct cat_err *err)
{
	const struct cat_table **list;
	struct cat_role role;
	char object[CAT_NAME_MAX + 1];
	unsigned n, others = 0;
	nam_status st = cat_role_hold(s->cfg.cat, s->t, name, a);
	if (st == NAM_ABSENT)
		return true; /* cat_role_drop will say so */
	if (st == NAM_OK && s->iso == TXN_READ_COMMITTED)
		st = txn_statement(s->t); /* which covers every GRANT to it */
	if (st == NAM_OK)
		st = cat_role_find(s->cfg.cat, s->t, name, &role, a);
	if (st == NAM_OK)
		st = cat_list_owned(s->cfg.cat, s->t, &list, &n, a);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	char detail[sizeof err->detail];
	size_t at = 0;
	if (n > 0)
		qsort(list, n, sizeof *list, by_id);
	if (role.create)
		at = (size_t)snprintf(detail, sizeof detail, "privileges for schema public");
	for (unsigned i = 0; i < n; i++) {
		if (list[i]->system || list[i]->kind == CAT_INDEX || !cat_acl_names(list[i], name))
			continue;
		const char *how = strcmp(cat_owner(list[i]), name) == 0 ? "owner of" : "privileges for";
		if (at + 3 * CAT_NAME_MAX < sizeof detail)
			at += (size_t)snprintf(detail + at, sizeof detail - at, "%s%s %s %s",
			    at > 0 ? "\n" : "", how, sql_kind_name(list[i]),
			    sql_object_name(list[i], object));
		else
			others++;
	}
	if (at == 0)
		return true;
	if (others > 0)
		snprintf(detail + at, sizeof detail - at, "\nand %u other objects", others);
	cat_error(err, "2BP01", "role \"%.63s\" cannot be dropped because some objects depend on it", name);
	memcpy(err->detail, detail, sizeof detail);
	snprintf(err->hint, sizeof err->hint, "REASSIGN OWNED BY and DROP OWNED BY take them from it.");
	return false;
}

static bool
drop_roles(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	if (!must_be_super(s, "permission denied to drop role", err))
		return false;
	for (unsigned i = 0; i < ast->nnames; i++) {
		if (strcmp(ast->names[i], sql_who(s)->name) == 0 ||
		    strcmp(ast->names[i], sql_session_who(s)->name) == 0)
			return cat_error(err, "55006", "%s user cannot be dropped",
			    strcmp(ast->names[i], sql_who(s)->name) == 0 ? "current" : "session");
		if (strcmp(ast->names[i], CAT_FIRST_ROLE) == 0)
			return cat_error(err, "2BP01",
			    "cannot drop role %s because it is required by the database system",
			    CAT_FIRST_ROLE);
		if (!unused(s, ast->names[i], a, err))
			return false;
		nam_status st = cat_role_drop(s->cfg.cat, s->t, ast->names[i], a);
		if (st == NAM_ABSENT && ast->if_exists)
			sql_notice(sink, "NOTICE", "00000", "role \"%.63s\" does not exist, skipping",
			    ast->names[i]);
		else if (st != NAM_OK)
			return absent(ast->names[i], st, err);
	}
	return true;
}

bool
sql_role(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	if (ast->kind == AST_CREATE_ROLE)
		return create_role(s, ast, sink, arena, err);
	return ast->kind == AST_ALTER_ROLE ? alter_role(s, ast, sink, arena, err)
					   : drop_roles(s, ast, sink, arena, err);
}
