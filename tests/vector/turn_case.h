/* SPDX-License-Identifier: Apache-2.0
 *
 * A turn to be widened, as text: LLVM IR with the function
 *
 *   void @turn(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y)
 *
 * around which the loops over the threads are built, or the whole nest,
 *
 *   void @kernel(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny)
 *
 * with latches whose names begin with x.latch and y.latch. Comments say what it is to be run with
 * (README.md).
 */
#ifndef PTXRUN_TESTS_VECTOR_TURN_CASE_H
#define PTXRUN_TESTS_VECTOR_TURN_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define TURN_ARRAYS 3
#define TURN_SIZES  12

/* What an array begins with. */
enum turn_fill {
    TURN_FILL_BITS,  /* anything */
    TURN_FILL_SMALL, /* 32-bit integers from 0 to 15 */
    TURN_FILL_F32,   /* small numbers, no NaN */
    TURN_FILL_F64,
    TURN_FILL_F16,
    TURN_FILL_ZERO,
    TURN_FILL_COUNT
};

struct turn_array {
    uint32_t thread_bytes; /* for each thread … */
    uint32_t fixed_bytes;  /* … and once */
    enum turn_fill fill;
};

/* What %n is, by the number of threads or as a number. */
enum turn_limit { TURN_ALL, TURN_HALF, TURN_ROW, TURN_NUMBER };

enum turn_expectation {
    TURN_WIDENED,
    TURN_SCALAR, /* the loops stay */
    TURN_FAULT   /* widened, and every run ends in a fault */
};

struct turn_case {
    char name[128];
    char *text; /* malloc */
    size_t text_bytes;
    struct turn_array arrays[TURN_ARRAYS];
    uint32_t row_lengths[TURN_SIZES], row_length_count;
    uint32_t rows[TURN_SIZES], rows_count;
    struct {
        enum turn_limit kind;
        uint32_t number;
    } limits[TURN_SIZES];
    uint32_t limit_count;
    bool is_row_only; /* no loop along y */
    bool may_be_scalar;
    enum turn_expectation expectation;
};

/* One run. */
struct turn_size {
    uint32_t n, nx, ny;
};

/* The usual sizes and arrays. */
void turn_case_init(struct turn_case *c);
void turn_case_fini(struct turn_case *c);

/* Reads what comments at the beginning of the text say. */
enum pxr_status turn_case_parse(struct turn_case *c, const char *text, struct pxr_error *err);
enum pxr_status turn_case_load(struct turn_case *c, const char *path, struct pxr_error *err);

/* The comments that turn_case_parse would understand. */
void turn_case_print(const struct turn_case *c);

uint32_t turn_case_size_count(const struct turn_case *c);
struct turn_size turn_case_size(const struct turn_case *c, uint32_t number);

uint32_t turn_array_bytes(const struct turn_array *array, const struct turn_size *size);

#endif
