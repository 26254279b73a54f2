/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers that the collapse calls, not PTX instructions.
 */
#ifndef PTXRUN_TRANSLATOR_RT_FUSED_H
#define PTXRUN_TRANSLATOR_RT_FUSED_H

#include "kernel_abi/lanes.h"

/* An operation of a warp whose live lanes have all come to it, where they have not all named each
 * other: operands and results by lane. */
struct rt_fused_op {
    uint64_t value[RT_WARP_SIZE];
    uint32_t mode[RT_WARP_SIZE]; /* or op; of match: all */
    uint32_t b[RT_WARP_SIZE];
    uint32_t c[RT_WARP_SIZE];
    uint32_t mask[RT_WARP_SIZE];
    uint32_t result[RT_WARP_SIZE];
};

/* The result of the placeholder of the same name: its low half in op->result; the functions return
 * the lanes whose bit 32 is set. */
#define RT_FUSED_NOTHING(name)
#define RT_FUSED_VECTORS(name)
#define RT_FUSED_WORDS(name)
#define RT_FUSED_MASKED(name) uint32_t rt_fused_##name(struct rt_fused_op *op, uint32_t live);
#define PLACEHOLDER(ID, name, home, gives, takes, sync, waits, effect, shape, fused)               \
    RT_FUSED_##fused(name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER

/* Whether all live lanes that name each other in op->mask have the same mask. */
uint32_t rt_fused_masks_agree(struct rt_fused_op *op, uint32_t live);

/* The entry of the first lane of the set that is left, which all lanes with that entry leave. */
uint32_t rt_fused_next_entry(const uint16_t *entries, uint32_t *left);

/* array[i] = lanes[i], elements of so many bytes, for the lanes of a warp with this entry. */
void rt_fused_put(uint8_t *array, const uint8_t *lanes, uint32_t bytes, const uint16_t *entries,
                  uint32_t entry);

/* predicate: by thread; NULL: all have the constant. entries: of the frame; NULL: no thread has
 * exited. */
uint32_t rt_fused_bar_red(const uint16_t *entries, uint32_t count, const uint64_t *predicate,
                          uint64_t constant, uint32_t op);

/* rt_spin of kernels that are fused. */
void rt_fused_spin(struct rt_thread *thread);

/* Gives all threads the same result. */
void rt_fused_fill(uint64_t *result, uint32_t count, uint32_t value);

#endif
