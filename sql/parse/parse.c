/*
 * parse.c -- the parser's threads: PostgreSQL's grammar on stacks it cannot overflow, and a cache
 * of its answers. The cache forgets what is not used for a while, so it costs what is in use.
 *
 * libpg_query has no depth check of its own: every term of 1+1+1+... costs it
 * up to 2.7 KiB of stack, then it dies. So no coroutine and no ordinary thread
 * ever calls it. Threads of their own do, each on HEIGHT_MAX x FRAME_MAX bytes of stack that
 * cost nothing until touched, and only for texts whose tree cannot be higher
 * than HEIGHT_MAX: sql_text_too_deep() counts that from above, in one pass.
 */
#include <base/assert.h>
#include <base/co.h>
#include <base/hash.h>
#include <base/heap.h>
#include <sql/parse/convert.h>
#include <sql/parse/parse.h>

#include <errno.h>
#include <pg_query.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>

enum {
	TEXT_MAX = 1 << 20,
	HEIGHT_MAX = 100000,
	FRAME_MAX = 4 << 10,  /* bytes of stack per level; 2.7 KiB were seen, sanitizers add to
			       * it */
	COPIES_MAX = 6000000, /* of tokens that the parser makes of the right sides of SET
			       * (a, b, ...) = (...) */
	LEVELS_MAX = 4000,    /* parentheses; the grammar itself stops at 5,000 to 10,000 */
	CACHE_SLOTS = 1024,
	CACHE_TEXT_MAX = 16 << 10,
	PARSED_CHUNK = 4 << 10,
	CACHE_BYTES = 8 << 20,
	CACHE_AGE_S = 5, /* after one to two of these without a use a text is forgotten */
};
#define STACK_BYTES ((size_t)HEIGHT_MAX * FRAME_MAX)
#define STACK_WARM  ((size_t)1 << 20) /* what stays touched between two statements */

enum { LONG_TEXT = 64 << 10, SHORT_THREADS = 8, LONG_THREADS = 2 };

struct request {
	struct request *next;
	const char *text;
	size_t len;
	uint64_t hash;
	struct sql_parsed *out;
	struct cat_err *err;
	struct nam_co *co; /* NULL = waits on the condition */
	bool done;
};

/* Texts of one kind, and the threads that parse them: long texts have threads of their
 * own, so that short
 * ones do not wait for them. */
struct lane {
	struct sql_parser *parser;
	struct request *first, **last;
	pthread_cond_t work;
	unsigned most, threads, idle, waiting;
	struct {
		pthread_t thread;
		char *stack;
	} each[SHORT_THREADS];
};

struct sql_parser {
	pthread_mutex_t mu; /* all below */
	pthread_cond_t answer;
	struct lane brief, lengthy;
	bool stop;
	bool blocks; /* a coroutine that parses blocks its thread meanwhile */
	struct sql_parsed *cache[CACHE_SLOTS];
	bool used[CACHE_SLOTS]; /* since the cache was looked at last */
	unsigned kept, hand;    /* texts in the cache; where bytes are looked for */
	size_t bytes;           /* about, of these */
	time_t aged;
	size_t max_bytes;
};

/* ---- how high can its tree get? -------------------------------------------------- */

static bool
word_char(unsigned char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '_' || ch == '.' || ch == '$' || ch >= 0x80;
}

struct level {
	uint32_t tokens, child, best; /* since the last comma; highest subtree in it; highest list
				       * element */
};

static void
level_end(struct level *l)
{
	if (l->best < l->tokens + l->child)
		l->best = l->tokens + l->child;
	l->tokens = l->child = 0;
}

/* Skips a quoted string, a comment or a dollar-quoted string, also an open one at the end of the
 * text. */
static size_t
skip(const char *s, size_t len, size_t i)
{
	char q = s[i];
	if (q == '\'' || q == '"') {
		/* E'..\'..' may hold a backslash before the quote: then the string
		 * seems to end early and the rest is counted as tokens, which errs on
		 * the safe side or merges with the next string, one token either way. */
		bool esc = q == '\'' && i > 0 && (s[i - 1] == 'E' || s[i - 1] == 'e');
		for (i++; i < len; i++) {
			if (esc && s[i] == '\\')
				i++;
			else if (s[i] == q)
				return i + 1;
		}
		return len;
	}
	if (q == '-') {
		while (i < len && s[i] != '\n')
			i++;
		return i;
	}
	if (q == '/') {
		int depth = 1;
		for (i += 2; i + 1 < len && depth > 0; i++) {
			if (s[i] == '*' && s[i + 1] == '/')
				depth--, i++;
			else if (s[i] == '/' && s[i + 1] == '*')
				depth++, i++;
		}
		return i < len ? i : len;
	}
	/* $tag$ ... $tag$ */
	size_t tag = i + 1;
	while (tag < len && word_char((unsigned char)s[tag]) && s[tag] != '$' && s[tag] != '.')
		tag++;
	if (tag >= len || s[tag] != '$' || (s[i + 1] >= '0' && s[i + 1] <= '9'))
		return i + 1;
	size_t n = tag + 1 - i;
	const char *end = memmem(s + tag + 1, len - tag - 1, s + i, n);
	return end ? (size_t)(end - s) + n : len;
}

bool
sql_text_too_deep(const char *s, size_t len)
{
	struct level level[LEVELS_MAX]; /* 48 KB; thread-local they would keep libnamdb from
					 * being loaded by dlopen */
	unsigned d = 0;
	level[0] = (struct level){ 0 };
	for (size_t i = 0; i < len;) {
		unsigned char ch = (unsigned char)s[i];
		if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r' || ch == '\f' || ch == '\v') {
			i++;
			continue;
		}
		if (ch == '\'' || ch == '"' || ch == '$' || (ch == '-' && i + 1 < len && s[i + 1] == '-') ||
		    (ch == '/' && i + 1 < len && s[i + 1] == '*')) {
			level[d].tokens++;
			i = skip(s, len, i);
			continue;
		}
		if (ch == ',' || ch == ';') {
			level_end(&level[d]);
			i++;
			continue;
		}
		if (ch == '(' || ch == '[') {
			if (++d == LEVELS_MAX)
				return true;
			level[d] = (struct level){ 0 };
			i++;
			continue;
		}
		if (ch == ')' || ch == ']') {
			level_end(&level[d]);
			uint32_t h = level[d].best + 1;
			if (d > 0)
				d--;
			if (level[d].child < h)
				level[d].child = h;
			i++;
			continue;
		}
		level[d].tokens++;
		if (word_char(ch)) {
			while (i < len && word_char((unsigned char)s[i]))
				i++;
		} else {
			i++;
		}
		if (level[d].tokens + level[d].child + d > HEIGHT_MAX)
			return true;
	}
	uint32_t h = 0;
	for (unsigned k = 0; k <= d; k++) { /* parentheses left open */
		level_end(&level[k]);
		h += level[k].best + 1;
	}
	return h > HEIGHT_MAX;
}

/*
 * The lexer reads a run of operator characters to its end to find where a comment or a sign in it
 * begins, and starts over each time: nested comments take the square of their length. A text with
 * too many operator characters is refused. Quotes are ignored: no sensible literal has so many.
 */
static bool
too_slow(const char *s, size_t len)
{
	static const uint64_t STEPS_MAX = UINT64_C(1) << 28; /* a quarter of a second or so */
	uint64_t steps = 0;
	for (size_t i = 0; i < len; i++) {
		uint64_t starts = 0, from = i;
		bool dashes = false;
		for (; i < len && strchr("~!@#^&|`?+-*/%<>=", s[i]) != NULL && s[i] != 0; i++) {
			bool two = i + 1 < len;
			dashes |= s[i] == '-' && two && s[i + 1] == '-';
			starts += (s[i] == '/' && two && s[i + 1] == '*') ||
				  (!dashes && (s[i] == '+' || s[i] == '-'));
		}
		if ((steps += starts * (i - from)) > STEPS_MAX)
			return true;
	}
	return false;
}

/* ---- how often is a part of it multiplied? -------------------------------------------- */

/*
 * (a, b, ...) = (x, y, ...): in SET the parser gives each column a copy of the whole right side,
 * some 230 bytes a token. So columns times tokens are counted before it sees the text; comparisons
 * of rows, which look alike, with them.
 */
bool
sql_text_too_wide(const char *s, size_t len)
{
	struct {
		uint32_t commas, columns,
		    from; /* columns: on the left of this parenthesis; from: tokens before it */
	} level[LEVELS_MAX];
	enum { NOTHING, CLOSED, EQUALS } after = NOTHING;
	uint32_t tokens = 0, closed = 0;
	uint64_t copies = 0;
	unsigned d = 0;
	level[0].commas = level[0].columns = level[0].from = 0;
	for (size_t i = 0; i < len && d + 1 < LEVELS_MAX;) {
		unsigned char ch = (unsigned char)s[i];
		if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r' || ch == '\f' || ch == '\v') {
			i++;
			continue;
		}
		if ((ch == '-' && i + 1 < len && s[i + 1] == '-') ||
		    (ch == '/' && i + 1 < len && s[i + 1] == '*')) {
			i = skip(s, len, i);
			continue;
		}
		tokens++;
		if (ch == '(' || ch == '[') {
			d++;
			level[d].commas = 0;
			level[d].columns = after == EQUALS ? closed : 0;
			level[d].from = tokens;
			after = NOTHING;
			i++;
		} else if (ch == ')' || ch == ']') {
			closed = level[d].commas + 1;
			copies += (uint64_t)level[d].columns * (tokens - level[d].from);
			d -= d > 0;
			after = CLOSED;
			i++;
		} else if (ch == '=' && after == CLOSED) {
			after = EQUALS;
			i++;
		} else if (ch == '\'' || ch == '"' || ch == '$') {
			after = NOTHING;
			i = skip(s, len, i);
		} else if (word_char(ch)) {
			size_t from = i;
			while (i < len && word_char((unsigned char)s[i]))
				i++;
			if (after != EQUALS || i - from != 3 || strncasecmp(s + from, "row", 3) != 0)
				after = NOTHING;
		} else {
			level[d].commas += ch == ',';
			after = NOTHING;
			i++;
		}
	}
	return copies > COPIES_MAX;
}

/* ---- one text -------------------------------------------------------------------- */

static bool
convert_all(struct sql_parsed *p, PgQuery__ParseResult *t, struct cat_err *err)
{
	p->stmt = nam_arena_zero(&p->arena, (t->n_stmts + 1) * sizeof *p->stmt);
	if (p->stmt == NULL)
		return cat_error(err, "53200", "out of memory while parsing");
	for (size_t i = 0; i < t->n_stmts; i++) {
		struct sql_convert c = { .arena = &p->arena, .err = err, .text = p->text };
		struct ast_stmt *st = sql_convert_stmt(&c, t->stmts[i]->stmt);
		if (st == NULL)
			return false;
		st->params = c.params;
		st->depth = c.deepest;
		st->at = (unsigned)t->stmts[i]->stmt_location;
		st->len = (unsigned)t->stmts[i]->stmt_len;
		if (st->len == 0)
			st->len = (unsigned)p->len - st->at;
		p->stmt[p->stmts++] = st;
	}
	return true;
}

static struct sql_parsed *
parse(const char *text, size_t len, uint64_t hash, struct cat_err *err)
{
	struct sql_parsed *p = calloc(1, sizeof *p);
	if (p == NULL) {
		cat_error(err, "53200", "out of memory while parsing");
		return NULL;
	}
	nam_arena_init(&p->arena, PARSED_CHUNK);
	p->refs = 1;
	p->hash = hash;
	p->len = len;
	bool ok = (p->text = nam_arena_str(&p->arena, text, len)) != NULL;
	if (!ok) {
		cat_error(err, "53200", "out of memory while parsing");
	} else {
		PgQueryProtobufParseResult r = pg_query_parse_protobuf(p->text);
		if (r.error != NULL) {
			bool deep = strstr(r.error->message, "memory exhausted") != NULL;
			bool bytes =
			    /* E'\\xff' */
			    strncmp(r.error->message, "invalid byte sequence", 21) == 0;
			bool frame =
			    /* the grammar's own checks */
			    strncmp(r.error->message, "frame ", 6) == 0;
			cat_error(err,
			    deep    ? "54001"
			    : frame ? "42P20"
			    : bytes ? "22021"
				    : "42601",
			    "%s", deep ? "stack depth limit exceeded" : r.error->message);
			err->position = r.error->cursorpos > 0 ? r.error->cursorpos : 0;
			ok = false;
		} else {
			PgQuery__ParseResult *t = pg_query__parse_result__unpack(
			    NULL, r.parse_tree.len, (const uint8_t *)r.parse_tree.data);
			ok = t != NULL ? convert_all(p, t, err)
				       : cat_error(err, "54001", "stack depth limit exceeded");
			if (t != NULL)
				pg_query__parse_result__free_unpacked(t, NULL);
		}
		pg_query_free_protobuf_parse_result(r);
	}
	if (ok)
		return p;
	nam_arena_fini(&p->arena);
	free(p);
	return NULL;
}

struct sql_parsed *
sql_parsed_hold(struct sql_parsed *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

void
sql_parsed_drop(struct sql_parsed *p)
{
	if (p == NULL || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
		return;
	nam_arena_fini(&p->arena);
	free(p);
}

/* ---- the thread ------------------------------------------------------------------- */

static void
give_stack_back(char *stack)
{
	/* What a deep statement touched below is of no use to the next one. */
	madvise(stack, STACK_BYTES - STACK_WARM, MADV_DONTNEED);
}

/* What can be told of a text before the grammar sees it. */
static bool
fits(const char *text, size_t len, struct cat_err *err)
{
	if (memchr(text, 0, len) != NULL)
		return cat_error(err, "22021", "invalid byte sequence for encoding \"UTF8\": 0x00");
	union cat_val whole; /* stays where it is: only its characters are judged */
	if (!cat_value_in(CAT_TEXT, -1, (struct cat_str){ text, (uint32_t)len }, &whole, NULL, err))
		return false;
	if (sql_text_too_deep(text, len) || too_slow(text, len)) {
		cat_error(err, "54001", "stack depth limit exceeded");
		snprintf(err->hint, sizeof err->hint, "Say it with fewer operators or parentheses.");
		return false;
	}
	if (sql_text_too_wide(text, len)) {
		cat_error(err, "54001", "statement is too complex: it assigns too many columns at once");
		snprintf(err->hint, sizeof err->hint, "Assign the columns one by one: SET a = x, b = y.");
		return false;
	}
	return true;
}

static time_t
now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME_COARSE, &t); /* the condition's clock */
	return t.tv_sec;
}

static size_t
bytes_of(const struct sql_parsed *c)
{
	return sizeof *c + (c->arena.used > PARSED_CHUNK ? c->arena.used : PARSED_CHUNK);
}

/* Empties a slot of the cache. The caller drops what it returns. Under mu. */
static struct sql_parsed *
cache_take_out(struct sql_parser *p, unsigned slot)
{
	struct sql_parsed *c = p->cache[slot];
	if (c == NULL)
		return NULL;
	p->cache[slot] = NULL;
	p->kept--;
	p->bytes -= bytes_of(c);
	return c;
}

/* Under mu. */
static void
cache_put(struct sql_parser *p, struct sql_parsed *c)
{
	unsigned slot = c->hash % CACHE_SLOTS;
	sql_parsed_drop(cache_take_out(p, slot));
	for (; p->kept > 0 && p->bytes + bytes_of(c) > CACHE_BYTES; p->hand++)
		sql_parsed_drop(cache_take_out(p, p->hand % CACHE_SLOTS));
	p->cache[slot] = sql_parsed_hold(c);
	p->used[slot] = true;
	p->kept++;
	p->bytes += bytes_of(c);
}

/* Forgets the texts that were not used since the last look. With mu, which is free meanwhile. */
static void
cache_age(struct sql_parser *p)
{
	struct sql_parsed *out[CACHE_SLOTS];
	unsigned n = 0;
	for (unsigned i = 0; i < CACHE_SLOTS; i++) {
		if (!p->used[i] && p->cache[i] != NULL)
			out[n++] = cache_take_out(p, i);
		p->used[i] = false;
	}
	p->aged = now_s();
	pthread_mutex_unlock(&p->mu);
	while (n > 0)
		sql_parsed_drop(out[--n]);
	pthread_mutex_lock(&p->mu);
}

/* The next request of a lane, which its thread waits for; NULL: the parser is closed. Under mu. */
static struct request *
next_of(struct lane *l)
{
	struct sql_parser *p = l->parser;
	while (true) {
		if (p->kept > 0 && now_s() >= p->aged + CACHE_AGE_S)
			cache_age(p);
		if (l->first != NULL || p->stop)
			break;
		struct timespec until = { .tv_sec = p->aged + CACHE_AGE_S };
		l->idle++;
		if (p->kept == 0)
			pthread_cond_wait(&l->work, &p->mu);
		else
			pthread_cond_timedwait(&l->work, &p->mu, &until);
		l->idle--;
	}
	struct request *r = l->first;
	if (r != NULL) {
		if ((l->first = r->next) == NULL)
			l->last = &l->first;
		l->waiting--;
	}
	return r;
}

static void *
run(void *arg)
{
	struct lane *l = arg;
	struct sql_parser *p = l->parser;
	struct request *r;
	nam_heap_enter();
	pthread_mutex_lock(&p->mu);
	char *stack = NULL;
	for (unsigned i = 0; i < l->threads; i++)
		if (pthread_equal(l->each[i].thread, pthread_self()))
			stack = l->each[i].stack;
	while ((r = next_of(l)) != NULL) {
		pthread_mutex_unlock(&p->mu);
		r->out = fits(r->text, r->len, r->err) ? parse(r->text, r->len, r->hash, r->err) : NULL;
		if (r->len > 32 << 10)
			give_stack_back(stack);
		pthread_mutex_lock(&p->mu);
		if (r->out != NULL && r->len <= CACHE_TEXT_MAX && bytes_of(r->out) <= CACHE_BYTES) {
			if (p->kept == 0)
				p->aged = now_s();
			cache_put(p, r->out);
		}
		struct nam_co *co = r->co;
		/* r and co live until we unlock */
		__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
		if (co != NULL)
			nam_co_post(co);
		else
			pthread_cond_broadcast(&p->answer);
	}
	pthread_mutex_unlock(&p->mu);
	return NULL;
}

/* One thread more. The lock is held, so that it finds its stack written down. */
static bool
add_thread(struct lane *l)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return false;
	mprotect(stack, 64 << 10, PROT_NONE);
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	int rc = pthread_attr_setstack(&attr, stack, STACK_BYTES);
	if (rc == 0)
		rc = pthread_create(&l->each[l->threads].thread, &attr, run, l);
	pthread_attr_destroy(&attr);
	if (rc != 0) {
		munmap(stack, STACK_BYTES);
		return false;
	}
	pthread_setname_np(l->each[l->threads].thread, "namdb-parser");
	l->each[l->threads++].stack = stack;
	return true;
}

static bool
lane_open(struct sql_parser *p, struct lane *l, unsigned most)
{
	l->parser = p;
	l->last = &l->first;
	l->most = most;
	pthread_cond_init(&l->work, NULL);
	pthread_mutex_lock(&p->mu);
	bool ok = add_thread(l);
	pthread_mutex_unlock(&p->mu);
	return ok;
}

/* p->stop is set. */
static void
lane_close(struct lane *l)
{
	for (unsigned i = 0; i < l->threads; i++) {
		pthread_join(l->each[i].thread, NULL);
		munmap(l->each[i].stack, STACK_BYTES);
	}
	pthread_cond_destroy(&l->work);
}

static void
lane_put(struct lane *l, struct request *r)
{
	*l->last = r;
	l->last = &r->next;
	if (++l->waiting > l->idle && l->threads < l->most)
		(void)add_thread(l);
	pthread_cond_signal(&l->work);
}

nam_status
sql_parser_open(size_t max_bytes, struct sql_parser **out)
{
	struct sql_parser *p = calloc(1, sizeof *p);
	if (p == NULL)
		return NAM_NOMEM;
	p->max_bytes = max_bytes ? max_bytes : TEXT_MAX;
	pthread_mutex_init(&p->mu, NULL);
	pthread_cond_init(&p->answer, NULL);
	if (!lane_open(p, &p->brief, SHORT_THREADS) || !lane_open(p, &p->lengthy, LONG_THREADS)) {
		sql_parser_close(p);
		return NAM_NOMEM;
	}
	*out = p;
	return NAM_OK;
}

void
sql_parser_blocks(struct sql_parser *p)
{
	p->blocks = true;
}

void
sql_parser_close(struct sql_parser *p)
{
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->mu);
	p->stop = true;
	pthread_cond_broadcast(&p->brief.work);
	pthread_cond_broadcast(&p->lengthy.work);
	pthread_mutex_unlock(&p->mu);
	lane_close(&p->brief);
	lane_close(&p->lengthy);
	for (unsigned i = 0; i < CACHE_SLOTS; i++)
		sql_parsed_drop(p->cache[i]);
	pthread_mutex_destroy(&p->mu);
	pthread_cond_destroy(&p->answer);
	free(p);
}

static struct sql_parsed *
cached(struct sql_parser *p, const char *text, size_t len, uint64_t hash)
{
	if (len > CACHE_TEXT_MAX)
		return NULL;
	pthread_mutex_lock(&p->mu);
	struct sql_parsed *c = p->cache[hash % CACHE_SLOTS];
	if (c != NULL && c->hash == hash && c->len == len && memcmp(c->text, text, len) == 0) {
		sql_parsed_hold(c);
		p->used[hash % CACHE_SLOTS] = true;
	} else {
		c = NULL;
	}
	pthread_mutex_unlock(&p->mu);
	return c;
}

bool
sql_parse(struct sql_parser *p, const char *text, size_t len, struct sql_parsed **out, struct cat_err *err)
{
	*err = (struct cat_err){ 0 };
	if (len > p->max_bytes) {
		cat_error(
		    err, "54000", "statement is too long: %zu bytes, allowed are %zu", len, p->max_bytes);
		snprintf(err->hint, sizeof err->hint, "Use COPY, or several statements in one transaction.");
		return false;
	}
	/* Longer texts are not kept, so nothing is looked for either. */
	uint64_t hash = len <= CACHE_TEXT_MAX ? nam_hash(text, len, 0) : 0;
	if ((*out = cached(p, text, len, hash)) != NULL)
		return true;
	struct request r = {
		.text = text, .len = len, .hash = hash, .err = err, .co = p->blocks ? NULL : nam_co_self()
	};
	pthread_mutex_lock(&p->mu);
	lane_put(len < LONG_TEXT ? &p->brief : &p->lengthy, &r);
	if (r.co == NULL)
		while (!r.done)
			pthread_cond_wait(&p->answer, &p->mu);
	pthread_mutex_unlock(&p->mu);
	while (!__atomic_load_n(&r.done, __ATOMIC_ACQUIRE))
		nam_co_park();
	/* The thread posts with the lock held: after this it will touch neither r nor us. */
	pthread_mutex_lock(&p->mu);
	pthread_mutex_unlock(&p->mu);
	*out = r.out;
	return r.out != NULL;
}
