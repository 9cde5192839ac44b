/* secret.h -- finds the cluster's shared secret, for storage and compute processes alike. */
#ifndef NAM_NET_SECRET_H
#define NAM_NET_SECRET_H

#include <base/status.h>

#include <stddef.h>
#include <stdint.h>

enum { NET_SECRET_LEN = 32 };

/*
 * The file at path, else $NAMDB_SECRET_FILE, else ~/.namdb/secret, which is made (0600, random)
 * when it is not there: one user on one host needs no set-up. The secret is the SHA-256 of the file
 * without white space at its end. A file that users other than its owner may read or change is
 * refused, and so is a text that cannot hold 128 bits. NAM_IO or NAM_INVALID: err says which file
 * and what to do. The caller cleans `into` with explicit_bzero.
 */
nam_status net_secret_load(const char *path, uint8_t into[NET_SECRET_LEN], size_t *len, struct nam_err *err);

#endif
