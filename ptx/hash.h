/* SPDX-License-Identifier: Apache-2.0
 *
 * uthash with its memory taken from an arena. A function that adds to a table has two variables:
 * `struct pxr_arena *hash_arena` and `bool hash_failed`. Nothing is freed one by one.
 */
#ifndef PTXRUN_PTX_HASH_H
#define PTXRUN_PTX_HASH_H

#include <string.h>

#include "util/arena.h"

#define HASH_NONFATAL_OOM            1
#define uthash_malloc(size)          pxr_arena_alloc(hash_arena, size)
#define uthash_free(pointer, size)   ((void)(pointer))
#define uthash_nonfatal_oom(element) (hash_failed = true)

#include <uthash.h>

#endif
