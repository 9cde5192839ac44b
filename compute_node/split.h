/*
 * split.h -- finds the end of a statement in a stream of SQL text: a `;` outside quotes, comments
 * and dollar quotes, as PostgreSQL's lexer sees them. Bytes may come in pieces of any size.
 */
#ifndef NAM_COMPUTE_NODE_SPLIT_H
#define NAM_COMPUTE_NODE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

struct cn_split {
	unsigned char state;
	bool escapes;     /* in an E'...' string: backslash escapes */
	bool blank;       /* nothing but space and comments so far */
	bool word, e;     /* the last byte belongs to a word; it is a lone E */
	unsigned depth;   /* of nested comments */
	unsigned tag_len; /* of a dollar quote, with both dollars */
	unsigned match;
	char tag[64];
};

/* Before the first byte, and after each statement. */
void cn_split_init(struct cn_split *s);
/* Looks at n more bytes. Returns how many belong to this statement; *end: its `;` is the last of
 * them. */
size_t cn_split_feed(struct cn_split *s, const char *p, size_t n, bool *end);
/* For the prompt: '=' nothing yet, '-' in a statement, '\'' or '"' in quotes, '$' in a dollar
 * quote, '*' in a comment. */
char cn_split_where(const struct cn_split *s);
/* True if the text so far ends neither in quotes nor in a comment. */
bool cn_split_plain(const struct cn_split *s);

#endif
