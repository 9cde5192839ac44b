/* auth.c -- who a client is: trusted on this machine, or by SCRAM-SHA-256 (RFC 5802, RFC 7677). */
#include "pgwire_internal.h"

#include <base/rng.h>
#include <catalog/role.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH = 32, SALT_MAX = 64, NONCE = 18, TEXT_MAX = 512, MOCK_ITERATIONS = 4096 };
enum { AUTH_OK = 0, AUTH_SASL = 10, AUTH_SASL_CONTINUE = 11, AUTH_SASL_FINAL = 12 };

/* What the server knows of a password. */
struct secret {
	bool doomed; /* there is none: the exchange fails at its end, so that nothing is told */
	unsigned iterations;
	char salt[SALT_MAX * 4 / 3 + 8]; /* base64 */
	unsigned char stored[HASH], server[HASH];
};

/* Bytes of a base64 text that has exactly so many. */
static bool
from_base64(const char *text, unsigned char *out, size_t want)
{
	unsigned char buf[TEXT_MAX];
	size_t n = strlen(text), padding = (3 - want % 3) % 3;
	if (n != (want + 2) / 3 * 4 || n > sizeof buf)
		return false;
	if (EVP_DecodeBlock(buf, (const unsigned char *)text, (int)n) != (int)(want + padding))
		return false;
	memcpy(out, buf, want);
	return true;
}

static void
to_base64(const unsigned char *p, size_t n, char *out)
{
	EVP_EncodeBlock((unsigned char *)out, p, (int)n);
}

static void
hmac(const unsigned char key[HASH], const char *text, size_t n, unsigned char out[HASH])
{
	unsigned len = HASH;
	HMAC(EVP_sha256(), key, HASH, (const unsigned char *)text, n, out, &len);
}

/* SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey */
static bool
read_secret(const char *text, struct secret *out)
{
	char stored[64], server[64];
	return sscanf(text, "SCRAM-SHA-256$%9u:%80[A-Za-z0-9+/=]$%60[A-Za-z0-9+/=]:%60[A-Za-z0-9+/=]",
		   &out->iterations, out->salt, stored, server) == 4 &&
	       from_base64(stored, out->stored, HASH) && from_base64(server, out->server, HASH);
}

/* A user without a password looks like one with another password: its salt is always the same. */
static void
mock_secret(const struct cn_pg_conn *c, struct secret *out)
{
	unsigned char salt[HASH];
	hmac(c->pg->mock_key, c->user, strlen(c->user), salt);
	*out = (struct secret){ .doomed = true, .iterations = MOCK_ITERATIONS };
	to_base64(salt, 16, out->salt);
}

static void
request(struct cn_pg_conn *c, uint32_t what, const char *text, size_t n)
{
	cn_pg_begin(&c->out, 'R');
	cn_pg_put32(&c->out, what);
	cn_pg_put(&c->out, text, n);
	cn_pg_end(&c->out);
}

static bool
nonsense(struct cn_pg_conn *c, const char *what)
{
	cn_pg_fatal(c, "08P01", "malformed SCRAM message: %s", what);
	return false;
}

/* The client's next message, as a text of n bytes. */
static bool
answer(struct cn_pg_conn *c, const char **body, size_t *n)
{
	char type;
	if (!cn_pg_message(c, &type, body, n))
		return false;
	if (type == 'p')
		return true;
	cn_pg_fatal(c, "08P01", "expected SASL response, got message type %d", (unsigned char)type);
	return false;
}

struct exchange {
	char gs2[8];               /* "n,," or "y,," */
	char first_bare[TEXT_MAX]; /* n=,r=... */
	char nonce[TEXT_MAX];      /* the client's, then ours behind it */
	char server_first[TEXT_MAX * 2];
};

/* n,,n=user,r=nonce */
static bool
client_first(struct cn_pg_conn *c, struct exchange *x)
{
	const char *body;
	size_t n;
	if (!answer(c, &body, &n))
		return false;
	struct cn_pg_reader r = cn_pg_reader(body, n);
	const char *mechanism = cn_pg_get_text(&r);
	uint32_t len = cn_pg_get32(&r);
	const char *p = cn_pg_get_bytes(&r, len);
	if (!cn_pg_whole(&r) || len >= sizeof x->first_bare || memchr(p, 0, len) != NULL)
		return nonsense(c, "the first one");
	if (strcmp(mechanism, "SCRAM-SHA-256") != 0) {
		cn_pg_fatal(c, "08P01", "client selected an invalid SASL authentication mechanism");
		return false;
	}
	char text[TEXT_MAX];
	memcpy(text, p, len);
	text[len] = 0;
	if (strncmp(text, "n,,", 3) != 0 && strncmp(text, "y,,", 3) != 0)
		return nonsense(c, "channel binding and authorization identities are not supported");
	memcpy(x->gs2, text, 3);
	x->gs2[3] = 0;
	snprintf(x->first_bare, sizeof x->first_bare, "%s", text + 3);
	char *nonce = strstr(x->first_bare, ",r=");
	if (strncmp(x->first_bare, "n=", 2) != 0 || nonce == NULL || nonce[3] == 0 ||
	    strchr(nonce + 3, ',') != NULL || strlen(nonce) > TEXT_MAX - 64)
		return nonsense(c, "its nonce");
	snprintf(x->nonce, sizeof x->nonce, "%s", nonce + 3);
	return true;
}

/* c=...,r=...,p=proof: right if the proof is. */
static bool
client_final(
    struct cn_pg_conn *c, const struct exchange *x, const struct secret *s, bool *right, char *verdict)
{
	const char *body;
	size_t n;
	char text[TEXT_MAX * 2], without[TEXT_MAX * 2], want[TEXT_MAX + 64], gs2[16];
	static const size_t most = sizeof text - 1;
	unsigned char proof[HASH], signature[HASH], key[HASH], stored[HASH];
	unsigned len = HASH;
	if (!answer(c, &body, &n))
		return false;
	if (n > most || memchr(body, 0, n) != NULL)
		return nonsense(c, "the last one");
	memcpy(text, body, n);
	text[n] = 0;
	char *p = strstr(text, ",p=");
	to_base64((const unsigned char *)x->gs2, 3, gs2);
	snprintf(want, sizeof want, "c=%s,r=%s", gs2, x->nonce);
	if (p == NULL || !from_base64(p + 3, proof, HASH))
		return nonsense(c, "its proof");
	*p = 0;
	snprintf(without, sizeof without, "%s", text);
	if (strcmp(without, want) != 0)
		return nonsense(c, "its nonce");
	size_t room = sizeof x->first_bare + sizeof x->server_first + sizeof without + 4;
	char *all = malloc(room);
	if (all == NULL) {
		cn_pg_fatal(c, "53200", "out of memory");
		return false;
	}
	int all_len = snprintf(all, room, "%s,%s,%s", x->first_bare, x->server_first, without);
	hmac(s->stored, all, (size_t)all_len, signature);
	for (unsigned i = 0; i < HASH; i++)
		key[i] = proof[i] ^ signature[i];
	EVP_Digest(key, HASH, stored, &len, EVP_sha256(), NULL);
	*right = CRYPTO_memcmp(stored, s->stored, HASH) == 0 && !s->doomed;
	hmac(s->server, all, (size_t)all_len, signature);
	memcpy(verdict, "v=", 2);
	to_base64(signature, HASH, verdict + 2);
	free(all);
	OPENSSL_cleanse(key, sizeof key);
	return true;
}

/* Its buffers are not on the stack while the role is read: an idle session keeps the pages of its
 * stack. */
__attribute__((noinline)) static bool
scram(struct cn_pg_conn *c, const struct secret *s)
{
	static const char mechanisms[] = "SCRAM-SHA-256\0";
	struct exchange x;
	unsigned char nonce[NONCE];
	char nonce64[NONCE * 4 / 3 + 4], verdict[64];
	bool right = false;
	request(c, AUTH_SASL, mechanisms, sizeof mechanisms);
	if (!client_first(c, &x))
		return false;
	nam_random_bytes(nonce, sizeof nonce);
	to_base64(nonce, sizeof nonce, nonce64);
	strncat(x.nonce, nonce64, sizeof x.nonce - strlen(x.nonce) - 1);
	int n = snprintf(
	    x.server_first, sizeof x.server_first, "r=%s,s=%s,i=%u", x.nonce, s->salt, s->iterations);
	request(c, AUTH_SASL_CONTINUE, x.server_first, (size_t)n);
	if (!client_final(c, &x, s, &right, verdict))
		return false;
	if (!right) {
		cn_pg_fatal(c, "28P01", "password authentication failed for user \"%s\"", c->user);
		return false;
	}
	request(c, AUTH_SASL_FINAL, verdict, strlen(verdict));
	return true;
}

bool
cn_pg_authenticate(struct cn_pg_conn *c)
{
	struct cat_role role = { .super = false };
	struct secret s = { 0 };
	struct cat_err err;
	bool found, trusted = c->local && !c->pg->cfg.passwords;
	if (!cn_enter(c->pg->cn, c->place, c->user, trusted, &c->cancel, &role, &found, &err)) {
		cn_pg_error(c, "FATAL", &err);
		c->over = true;
		return false;
	}
	if (!trusted) {
		if (!found || role.secret[0] == 0 || !read_secret(role.secret, &s))
			mock_secret(c, &s);
		if (!scram(c, &s))
			return false;
	}
	if (cn_refuse(c->user, &role, found, &err)) {
		cn_pg_error(c, "FATAL", &err);
		c->over = true;
		return false;
	}
	if (!cn_pg_admit(c))
		return false;
	c->super = role.super;
	c->role_id = role.id;
	request(c, AUTH_OK, "", 0);
	return true;
}
