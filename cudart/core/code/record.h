/* SPDX-License-Identifier: Apache-2.0
 *
 * --record: notes in a file which code launches ask for (recording.h), and keeps the PTX in the
 * cache, so that another process can compile it ahead. Does nothing while it is off. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RECORD_H
#define PTXRUN_CUDART_CORE_CODE_RECORD_H

#include <stdbool.h>

#include "cudart/core/code/module.h"

bool crt_record_is_on(void);

/* When the library's source is open, with the library's lock held: keeps its PTX. */
void crt_record_library(struct crt_library *library);

/* What is recorded is what a process asks for that has no code at first, and none but the best:
 * whatever this one does, in whatever tier. */
void crt_record_launch(struct crt_kernel *kernel, const struct jit_launch *launch);

CRT_API_BEGIN

/* The key under which PTX is kept: nothing but these bytes decides it. */
void crt_record_key(const void *bytes, size_t count, struct cache_key *key);

CRT_API_END

#endif
