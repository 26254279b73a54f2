/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about launches (translator/module/launch_facts.h): the strongest ones that are true of a
 * launch, whether some imply others, and what two sets have in common. In libptxrun.so.
 *
 * Numbers are rounded up to a few sizes, so that similar launches have the same facts.
 */
#ifndef PTXRUN_JIT_FACTS_H
#define PTXRUN_JIT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"

/* The start of the allocation that contains the address; false if no known one does. */
typedef bool (*jit_find_allocation_fn)(uintptr_t address, uintptr_t *start);

/* The parts of a launch that facts are about. Shapes are within the limits of
 * translator/module/launch_facts.h. */
struct jit_launch {
    const struct ptx_func *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    const uint8_t *params;                  /* the parameter block */
    jit_find_allocation_fn find_allocation; /* NULL: no allocation is known */
};

/* The strongest facts that hold for a launch. */
void jit_facts_of(const struct jit_launch *launch, struct tr_facts *facts);

/* Whether all assumptions hold wherever `known` holds. */
bool jit_facts_imply(const struct tr_facts *known, const struct tr_facts *assumed);

/* Weakens *facts to the part that both have in common. */
void jit_facts_join(struct tr_facts *facts, const struct tr_facts *other);

bool jit_facts_equal(const struct tr_facts *a, const struct tr_facts *b);

/* Whether launches of the kernel may have facts of that kind: the others were not found by
 * jit_facts_of, nor made of such. */
bool jit_facts_fit(const struct ptx_func *kernel, const struct tr_facts *facts);

/* How good code for these facts may be: 0 for no facts. If a implies b and they are not equal, a's
 * weight is larger. */
unsigned jit_facts_weight(const struct tr_facts *facts);

/* One line of text, "block 256x1x1, grid at most 4096x1x1, …", without newline; "none". Cut off if
 * the buffer is too small. */
void jit_facts_text(const struct tr_facts *facts, char *text, size_t size_bytes);

#endif
