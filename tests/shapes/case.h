/* SPDX-License-Identifier: Apache-2.0
 *
 * A case: a PTX file whose comments say how to launch its kernel, and what the memory holds before
 * and must hold afterwards. README.md has the format.
 */
#ifndef PTXRUN_TESTS_SHAPES_CASE_H
#define PTXRUN_TESTS_SHAPES_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/error.h"

#define CASE_MAX_ARGS   64
#define CASE_NAME_BYTES 128

/* One argument of the kernel, in order: a value, or a buffer whose address is passed. */
struct case_arg {
    bool is_buffer;
    bool is_float;
    unsigned elem_bytes; /* 1, 2, 4 or 8 */
    size_t bytes;
    uint8_t *initial;
    uint8_t *expected; /* NULL: anything goes */
    int line;
};

struct ptx_case {
    struct pxr_arena arena;
    const char *path;
    char *text; /* the whole file, NUL-terminated */
    size_t text_len;
    char kernel[CASE_NAME_BYTES]; /* "": the first of the text */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    bool expects_fault;
    bool needs_lock_step; /* lanes are ordered by volatile accesses alone */
    uint64_t max_steps;   /* of the oracle, 0: its own limit */
    struct case_arg args[CASE_MAX_ARGS];
    size_t arg_count;
};

/* The caller calls case_fini whatever the result. path stays the caller's. */
enum pxr_status case_load(const char *path, struct ptx_case *c, struct pxr_error *err);
enum pxr_status case_parse(const char *path, const char *text, struct ptx_case *c,
                           struct pxr_error *err);
void case_fini(struct ptx_case *c);

/* Memory of a run: one block per argument (NULL for values), filled as the case says. False: out of
 * memory. */
struct case_memory {
    uint8_t *bytes[CASE_MAX_ARGS];
};
bool case_memory_init(const struct ptx_case *c, struct case_memory *memory);
void case_memory_fini(struct case_memory *memory);

/* Whether all buffers are as expected; otherwise the first difference in *err. */
bool case_memory_check(const struct ptx_case *c, const struct case_memory *memory,
                       struct pxr_error *err);

#endif
