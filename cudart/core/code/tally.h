/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process has looked for in the cache, found and compiled; added to the counts of all
 * processes (cache/counts.h) when it ends. Internal to cudart/core/code. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_TALLY_H
#define PTXRUN_CUDART_CORE_CODE_TALLY_H

#include <stdbool.h>

#include "cache/counts.h"
#include "cudart/core/base/result.h"
#include "jit/jit.h"

void crt_tally_look(enum cache_kind kind, bool is_hit);

/* The object was compiled here, after a miss; or it was found, and so not compiled. */
void crt_tally_spent(const struct jit_object *object);
void crt_tally_saved(const struct jit_object *object);

CRT_API_BEGIN

/* This process is no program's, and is not counted. */
void crt_tally_forgo(void);

CRT_API_END

#endif
