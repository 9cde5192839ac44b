/* secret.c -- reads the shared secret, and makes the user's own on first use. */
#include <base/rng.h>
#include <net/secret.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 4096, BITS_MIN = 128 };

/* The bits it can hold at most: 4 a character if all are hexadecimal digits, else 8. */
static size_t
bits_of(const char *text, size_t n)
{
	bool hex = true;
	for (size_t i = 0; i < n; i++)
		hex &= isxdigit((unsigned char)text[i]) != 0;
	return n * (hex ? 4 : 8);
}

#define HOW_TO_MAKE "(umask 077; head -c 32 /dev/urandom | base64 > %s)"

/* NAM_ABSENT (err untouched): no such file. */
static nam_status
read_secret(const char *path, uint8_t into[NET_SECRET_LEN], struct nam_err *err)
{
	char text[FILE_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? NAM_ABSENT
				       : nam_fail(err, NAM_IO, "cannot read the secret file %s: %s", path,
					     strerror(errno));
	struct stat sb;
	size_t n = 0;
	nam_status st = NAM_OK;
	if (fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode))
		st = nam_fail(err, NAM_INVALID, "the secret file %s is not a file", path);
	else if ((sb.st_mode & 077) != 0)
		st = nam_fail(err, NAM_INVALID,
		    "others may read or change the secret file %s, so it is no secret: chmod 600 %s", path,
		    path);
	while (st == NAM_OK && n < sizeof text) {
		ssize_t got = read(fd, text + n, sizeof text - n);
		if (got == 0)
			break;
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			st = nam_fail(
			    err, NAM_IO, "cannot read the secret file %s: %s", path, strerror(errno));
	}
	close(fd);
	bool whole = n <= FILE_MAX;
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	unsigned len = NET_SECRET_LEN;
	if (st == NAM_OK && !whole)
		st = nam_fail(err, NAM_INVALID,
		    "the secret file %s is longer than %d bytes; is it the right file?", path, FILE_MAX);
	else if (st == NAM_OK && n == 0)
		st = nam_fail(
		    err, NAM_INVALID, "the secret file %s is empty; make one: " HOW_TO_MAKE, path, path);
	else if (st == NAM_OK && bits_of(text, n) < BITS_MIN)
		st = nam_fail(err, NAM_INVALID,
		    "the secret in %s is too short: it holds %zu bits at most, and fewer than %d can be "
		    "guessed; make a "
		    "new one: " HOW_TO_MAKE,
		    path, bits_of(text, n), BITS_MIN, path);
	else if (st == NAM_OK && EVP_Digest(text, n, into, &len, EVP_sha256(), NULL) != 1)
		st = nam_fail(err, NAM_IO, "cannot hash the secret");
	OPENSSL_cleanse(text, sizeof text);
	return st;
}

/* Written beside and linked into place: if two processes start at once, both end up with one
 * secret. */
static nam_status
make_secret(const char *path, struct nam_err *err)
{
	char beside[512], text[2 * NET_SECRET_LEN + 2];
	uint8_t raw[NET_SECRET_LEN];
	snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
	nam_random_bytes(raw, sizeof raw);
	for (unsigned i = 0; i < sizeof raw; i++)
		snprintf(text + 2 * i, 3, "%02x", raw[i]);
	strcat(text, "\n");
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool whole = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
	int why = errno;
	OPENSSL_cleanse(raw, sizeof raw);
	OPENSSL_cleanse(text, sizeof text);
	if (fd >= 0)
		close(fd);
	if (whole && link(beside, path) != 0 && errno != EEXIST) {
		why = errno;
		whole = false;
	}
	if (fd >= 0)
		unlink(beside);
	if (!whole)
		return nam_fail(err, NAM_IO,
		    "cannot make the secret file %s: %s; name one with --secret-file", path, strerror(why));
	return NAM_OK;
}

nam_status
net_secret_load(const char *path, uint8_t into[NET_SECRET_LEN], size_t *len, struct nam_err *err)
{
	char own[400];
	bool make = false;
	if (path == NULL || *path == '\0')
		path = getenv("NAMDB_SECRET_FILE");
	if (path == NULL || *path == '\0') {
		const char *home = getenv("HOME");
		struct passwd *pw = home == NULL || *home == '\0' ? getpwuid(getuid()) : NULL;
		if (pw != NULL)
			home = pw->pw_dir;
		if (home == NULL || strlen(home) > sizeof own - 32)
			return nam_fail(err, NAM_INVALID,
			    "there is no home directory for a secret; name one with --secret-file");
		snprintf(own, sizeof own, "%s/.namdb", home);
		if (mkdir(own, 0700) != 0 && errno != EEXIST)
			return nam_fail(err, NAM_IO, "cannot make %s: %s; name a file with --secret-file",
			    own, strerror(errno));
		strcat(own, "/secret");
		path = own;
		make = true;
	}
	nam_status st = read_secret(path, into, err);
	if (st == NAM_ABSENT && make) {
		if ((st = make_secret(path, err)) == NAM_OK)
			st = read_secret(path, into, err);
	}
	if (st == NAM_ABSENT)
		return nam_fail(
		    err, NAM_INVALID, "there is no secret file %s; make it: " HOW_TO_MAKE, path, path);
	if (st == NAM_OK)
		*len = NET_SECRET_LEN;
	return st;
}
