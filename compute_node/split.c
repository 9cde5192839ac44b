/* split.c -- a small state machine over SQL text that knows quotes and comments, one byte at a
 * time. */
#include <compute_node/split.h>

#include <string.h>

enum state {
	PLAIN,
	DASH,        /* one '-' seen */
	SLASH,       /* one '/' seen */
	LINE,        /* -- comment */
	BLOCK,       /* inside a block comment */
	BLOCK_STAR,  /* '*' seen in it */
	BLOCK_SLASH, /* '/' seen in it */
	QUOTE,       /* 'text' */
	QUOTE_BACK,  /* backslash seen in an E'text' */
	QUOTE_END,   /* a quote seen: the end, or the first of two */
	NAME,        /* "name" */
	TAG,         /* $ta */
	DOLLAR,      /* inside $tag$ */
};

void
cn_split_init(struct cn_split *s)
{
	memset(s, 0, sizeof *s);
	s->blank = true;
}

static bool
word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static bool
space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* One byte outside of quotes and comments. True if it ends the statement. */
static bool
plain(struct cn_split *s, char c)
{
	bool after_word = s->word, after_e = s->e;
	s->word = word_byte(c) || (c == '$' && after_word);
	s->e = (c == 'e' || c == 'E') && !after_word;
	if (c == '-') {
		s->state = DASH;
		return false;
	}
	if (c == '/') {
		s->state = SLASH;
		return false;
	}
	if (c == ';')
		return true;
	if (space(c))
		return false;
	s->blank = false;
	if (c == '\'') {
		s->state = QUOTE;
		s->escapes = after_e;
	} else if (c == '"') {
		s->state = NAME;
	} else if (c == '$' && !after_word) {
		s->state = TAG;
		s->tag[0] = '$';
		s->tag_len = 1;
	}
	return false;
}

/* One byte. True if it ends the statement. */
static bool
step(struct cn_split *s, char c)
{
	switch ((enum state)s->state) {
	case PLAIN:
		return plain(s, c);
	case DASH:
	case SLASH:
		if (s->state == DASH && c == '-') {
			s->state = LINE;
		} else if (s->state == SLASH && c == '*') {
			s->state = BLOCK;
			s->depth = 1;
		} else {
			s->state = PLAIN;
			s->blank = false;
			return plain(s, c);
		}
		return false;
	case LINE:
		if (c == '\n')
			s->state = PLAIN;
		return false;
	case BLOCK_SLASH:
		if (c == '*') {
			s->depth++;
			s->state = BLOCK;
			return false;
		}
		s->state = c == '/' ? BLOCK_SLASH : BLOCK;
		return false;
	case BLOCK_STAR:
		if (c == '/') {
			s->state = --s->depth == 0 ? PLAIN : BLOCK;
			return false;
		}
		s->state = c == '*' ? BLOCK_STAR : BLOCK;
		return false;
	case BLOCK:
		if (c == '*')
			s->state = BLOCK_STAR;
		else if (c == '/')
			s->state = BLOCK_SLASH;
		return false;
	case QUOTE:
		if (c == '\'')
			s->state = QUOTE_END;
		else if (c == '\\' && s->escapes)
			s->state = QUOTE_BACK;
		return false;
	case QUOTE_BACK:
		s->state = QUOTE;
		return false;
	case QUOTE_END:
		if (c == '\'') {
			s->state = QUOTE;
			return false;
		}
		s->state = PLAIN;
		return plain(s, c);
	case NAME:
		if (c == '"')
			s->state = PLAIN;
		return false;
	case TAG:
		if (c == '$' && s->tag_len < sizeof s->tag) {
			s->tag[s->tag_len++] = '$';
			s->state = DOLLAR;
			s->match = 0;
			return false;
		}
		if (word_byte(c) && !(s->tag_len == 1 && c >= '0' && c <= '9') &&
		    s->tag_len < sizeof s->tag - 1) {
			s->tag[s->tag_len++] = c;
			return false;
		}
		s->state = PLAIN; /* $1, or a lone $ */
		s->word = true;
		return plain(s, c);
	case DOLLAR:
		if (c == s->tag[s->match]) {
			if (++s->match == s->tag_len)
				s->state = PLAIN;
		} else {
			s->match = c == '$' ? 1 : 0;
		}
		return false;
	}
	return false;
}

size_t
cn_split_feed(struct cn_split *s, const char *p, size_t n, bool *end)
{
	*end = false;
	for (size_t i = 0; i < n; i++)
		if (step(s, p[i])) {
			*end = true;
			return i + 1;
		}
	return n;
}

char
cn_split_where(const struct cn_split *s)
{
	switch ((enum state)s->state) {
	case BLOCK:
	case BLOCK_STAR:
	case BLOCK_SLASH:
		return '*';
	case QUOTE:
	case QUOTE_BACK:
		return '\'';
	case NAME:
		return '"';
	case DOLLAR:
		return '$';
	default:
		return s->blank ? '=' : '-';
	}
}

bool
cn_split_plain(const struct cn_split *s)
{
	return s->state == PLAIN || s->state == DASH || s->state == SLASH || s->state == QUOTE_END;
}
