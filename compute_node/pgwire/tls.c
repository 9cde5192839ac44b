/* tls.c -- a session's socket under TLS, for which OpenSSL's state machine reads and writes it. */
#include "pgwire_internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

static nam_status
fail(struct nam_err *err, const char *what, const char *file)
{
	char why[200];
	ERR_error_string_n(ERR_get_error(), why, sizeof why);
	return nam_fail(err, NAM_INVALID, "cannot use %s %.200s: %s", what, file, why);
}

nam_status
cn_pg_tls_open(struct ssl_ctx_st **out, const char *cert, const char *key, struct nam_err *err)
{
	struct stat sb;
	if (cert == NULL || key == NULL)
		return nam_fail(
		    err, NAM_INVALID, "a certificate and its key go together: --pg-cert and --pg-key");
	if (stat(key, &sb) == 0 && (sb.st_mode & (S_IRWXG | S_IRWXO) & ~(unsigned)S_IRGRP) != 0)
		return nam_fail(err, NAM_INVALID, "others may read the key %.200s: chmod 600 it", key);
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	if (ctx == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for TLS");
	nam_status st = NAM_OK;
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ctx,
	    SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
		st = fail(err, "the certificate", cert);
	else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
		 SSL_CTX_check_private_key(ctx) != 1)
		st = fail(err, "the key", key);
	if (st != NAM_OK) {
		SSL_CTX_free(ctx);
		return st;
	}
	*out = ctx;
	return NAM_OK;
}

void
cn_pg_tls_close(struct ssl_ctx_st *ctx)
{
	SSL_CTX_free(ctx);
}

/* What recv and send would return. *events: what to wait for, if it is EAGAIN. */
static ssize_t
result(struct cn_pg_conn *c, int n, unsigned *events)
{
	if (n > 0)
		return n;
	int e = SSL_get_error(c->tls, n);
	ERR_clear_error();
	*events = e == SSL_ERROR_WANT_WRITE ? EPOLLOUT : EPOLLIN;
	if (e == SSL_ERROR_ZERO_RETURN)
		return 0;
	errno = e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE ? EAGAIN : EPIPE;
	return -1;
}

ssize_t
cn_pg_tls_recv(struct cn_pg_conn *c, void *p, size_t n, unsigned *events)
{
	ERR_clear_error();
	return result(c, SSL_read(c->tls, p, n > INT32_MAX ? INT32_MAX : (int)n), events);
}

ssize_t
cn_pg_tls_send(struct cn_pg_conn *c, const void *p, size_t n, unsigned *events)
{
	ERR_clear_error();
	return result(c, SSL_write(c->tls, p, n > INT32_MAX ? INT32_MAX : (int)n), events);
}

bool
cn_pg_tls_begin(struct cn_pg_conn *c)
{
	unsigned events = 0;
	pthread_mutex_lock(&c->pg->lock);
	c->tls = SSL_new(c->pg->tls);
	pthread_mutex_unlock(&c->pg->lock);
	if (c->tls == NULL || SSL_set_fd(c->tls, c->fd) != 1)
		return false;
	for (;;) {
		c->events &= ~(unsigned)(EPOLLIN | EPOLLOUT);
		ERR_clear_error();
		ssize_t n = result(c, SSL_accept(c->tls), &events);
		if (n > 0)
			return true;
		if (n == 0 || errno != EAGAIN || !cn_pg_await(c, events))
			return false;
	}
}

void
cn_pg_tls_end(struct cn_pg_conn *c)
{
	if (c->tls == NULL)
		return;
	SSL_shutdown(c->tls);
	ERR_clear_error();
	SSL_free(c->tls);
	c->tls = NULL;
}
