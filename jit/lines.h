/* SPDX-License-Identifier: Apache-2.0
 *
 * From places in code to lines of PTX: the line number program of DWARF 5, run once at load.
 */
#ifndef PTXRUN_JIT_LINES_H
#define PTXRUN_JIT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* A row covers the bytes up to the next row; line 0: none is known. */
struct jit_line {
    uint64_t address;
    uint32_t line;
    uint32_t order; /* in the program, to sort by */
};

struct jit_lines {
    struct jit_line *rows; /* by address, ascending */
    size_t count;
};

/* section: the bytes of a relocated .debug_line. Rows outside [low, high) are left out.
 * Errors: PXR_COMPILE_FAILED (malformed), PXR_OUT_OF_MEMORY. */
enum pxr_status jit_lines_init(struct jit_lines *lines, const uint8_t *section, size_t size_bytes,
                               uint64_t low, uint64_t high, struct pxr_error *err);
void jit_lines_fini(struct jit_lines *lines);

/* 0: none. */
uint32_t jit_lines_find(const struct jit_lines *lines, uint64_t address);

#endif
