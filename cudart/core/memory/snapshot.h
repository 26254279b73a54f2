/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in all memory that kernels may write, to compare with and to go back to. While
 * nothing runs and nobody allocates.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_SNAPSHOT_H
#define PTXRUN_CUDART_CORE_MEMORY_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crt_snapshot;

#define CRT_SNAPSHOT_WORD_BYTES 4

/* NULL: it would be more than so many bytes, or memory is short. */
struct crt_snapshot *crt_snapshot_take(size_t max_bytes);
void crt_snapshot_free(struct crt_snapshot *snapshot); /* NULL is allowed */

/* Whether the same memory is still there. */
bool crt_snapshot_is_valid(const struct crt_snapshot *snapshot);

/* Makes memory what it was. */
void crt_snapshot_restore(const struct crt_snapshot *snapshot);

/* A word that is not what it was; bytes that its allocation does not have are 0. */
typedef void (*crt_difference_fn)(void *arg, uint64_t address, uint32_t was, uint32_t is);

/* Tells all of them, in the order of their addresses. */
void crt_snapshot_compare(const struct crt_snapshot *snapshot, crt_difference_fn tell, void *arg);

#endif
