/*
 * void.h -- the result of a function that answers nothing: a text that is empty, by the name of
 * void.
 */
#ifndef CAT_VOID_H
#define CAT_VOID_H

/* Its typmod. To all but cat_type_oid it is one that says nothing. */
enum { CAT_VOID = -2 };

#endif
