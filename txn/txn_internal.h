/*
 * txn_internal.h -- what the files of txn share: a header for each subject. No other room includes
 * them.
 */
#ifndef NAM_TXN_INTERNAL_H
#define NAM_TXN_INTERNAL_H

#include "attempt_internal.h"
#include "judge_internal.h"
#include "keep_internal.h"
#include "memory_internal.h"
#include "orders_internal.h"
#include "process_internal.h"
#include "space_internal.h"
#include "writes_internal.h"

#endif
