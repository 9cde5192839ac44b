/* role.c -- CREATE, ALTER and DROP ROLE; passwords are kept as SCRAM-SHA-256 has them. */
#include <base/rng.h>
#include <catalog/role.h>
#include <sql/command/command.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
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
may_change(struct sql_session *s, bool own, struct cat_err *err)
{
	if (!s->cfg.plain_user || own)
		return true;
	return cat_error(err, "42501", "permission denied to create, alter or drop roles");
}

static bool
good_name(const char *name, struct cat_err *err)
{
	if (strncmp(name, "pg_", 3) != 0 && strcmp(name, "public") != 0 && strcmp(name, "none") != 0)
		return true;
	return cat_error(err, "42939", "role name \"%.63s\" is reserved", name);
}

static bool
absent(const char *name, nam_status st, struct cat_err *err)
{
	if (st != NAM_ABSENT)
		return sql_status(err, st, NULL);
	return cat_error(err, "42704", "role \"%.63s\" does not exist", name);
}

static bool
create_role(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	struct cat_role role = { .super = ast->role.super == 1, .login = ast->role.login == 1 };
	snprintf(role.name, sizeof role.name, "%s", ast->var);
	if (!may_change(s, false, err) || !good_name(role.name, err) ||
	    (ast->role.password == 1 && !take_secret(sink, ast->role.secret, role.secret, err)))
		return false;
	nam_status st = cat_role_create(s->cfg.cat, s->t, &role, a);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42710", "role \"%s\" already exists", role.name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

static bool
alter_role(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	struct cat_role role;
	char name[CAT_NAME_MAX + 1], me[CAT_NAME_MAX + 1];
	snprintf(me, sizeof me, "%s", s->cfg.user ? s->cfg.user : "namdb");
	snprintf(name, sizeof name, "%s", ast->var ? ast->var : me);
	bool own = strcmp(name, me) == 0 && ast->role.super < 0 && ast->role.login < 0;
	if (!may_change(s, own, err))
		return false;
	nam_status st = cat_role_find(s->cfg.cat, s->t, name, &role, a);
	if (st != NAM_OK)
		return absent(name, st, err);
	if (ast->role.super >= 0)
		role.super = ast->role.super == 1;
	if (ast->role.login >= 0)
		role.login = ast->role.login == 1;
	if (ast->role.password == 1 && !take_secret(sink, ast->role.secret, role.secret, err))
		return false;
	st = cat_role_alter(s->cfg.cat, s->t, &role, a);
	return st == NAM_OK || absent(name, st, err);
}

static bool
drop_roles(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	if (!may_change(s, false, err))
		return false;
	for (unsigned i = 0; i < ast->nnames; i++) {
		if (s->cfg.user != NULL && strcmp(ast->names[i], s->cfg.user) == 0)
			return cat_error(err, "55006", "current user cannot be dropped");
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
