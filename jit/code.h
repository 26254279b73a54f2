/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded code, as the files of this folder see it.
 */
#ifndef PTXRUN_JIT_CODE_H
#define PTXRUN_JIT_CODE_H

#include "jit/jit.h"
#include "jit/lines.h"

/* Immutable once registered; `prev` and `next` belong to registry.c and its lock. */
struct jit_code {
    uint8_t *map; /* text, stubs | constants, address slots */
    size_t map_bytes;
    size_t text_bytes; /* executable part, whole pages */
    jit_kernel_fn entry;
    struct jit_lines lines;
    char *kernel_name;
    struct jit_code *prev; /* utlist's names */
    struct jit_code *next;
};

void jit_registry_add(struct jit_code *code);
void jit_registry_remove(struct jit_code *code);

#endif
