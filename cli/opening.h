/* opening.h -- a compute node for a program in the foreground. */
#ifndef NAM_CLI_OPENING_H
#define NAM_CLI_OPENING_H

#include <compute_node/cn.h>

#include <signal.h>

/*
 * cn_open with the secret of that file, which stays in memory no longer than it takes. The caller
 * has blocked the signals `ends`; if one of them comes meanwhile, opening ends soon with
 * NAM_CANCELLED, or it has just succeeded: *signal is that signal, else 0.
 */
nam_status cli_open(struct cn **out, struct cn_config *cfg, const char *secret_file, const sigset_t *ends,
    int *signal, struct nam_err *err);

#endif
