/* SPDX-License-Identifier: Apache-2.0
 *
 * An iteration to be widened, as text: LLVM IR with the function
 *
 *   void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y)
 *
 * around which the loops over the threads are built, or the whole nest,
 *
 *   void @kernel(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny)
 *
 * with latches whose names begin with x.latch and y.latch. Comments say what it is to be run with
 * (README.md).
 */
#ifndef PTXRUN_TESTS_VECTOR_ITERATION_CASE_H
#define PTXRUN_TESTS_VECTOR_ITERATION_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define ITERATION_ARRAYS 3
#define ITERATION_SIZES  12

/* The initial contents of an array. */
enum iteration_fill {
    ITERATION_FILL_BITS,  /* anything */
    ITERATION_FILL_SMALL, /* 32-bit integers from 0 to 15 */
    ITERATION_FILL_F32,   /* small numbers, no NaN */
    ITERATION_FILL_F64,
    ITERATION_FILL_F16,
    ITERATION_FILL_ZERO,
    ITERATION_FILL_COUNT
};

struct iteration_array {
    uint32_t thread_bytes; /* for each thread … */
    uint32_t fixed_bytes;  /* … and once */
    enum iteration_fill fill;
};

/* The value of %n, by the number of threads or as a number. */
enum iteration_limit { ITERATION_ALL, ITERATION_HALF, ITERATION_ROW, ITERATION_NUMBER };

enum iteration_expectation {
    ITERATION_WIDENED,
    ITERATION_SCALAR, /* the loops stay */
    ITERATION_FAULT   /* widened, and every run ends in a fault */
};

struct iteration_case {
    char name[128];
    char *text; /* malloc */
    size_t text_bytes;
    struct iteration_array arrays[ITERATION_ARRAYS];
    uint32_t row_lengths[ITERATION_SIZES], row_length_count;
    uint32_t rows[ITERATION_SIZES], rows_count;
    struct {
        enum iteration_limit kind;
        uint32_t number;
    } limits[ITERATION_SIZES];
    uint32_t limit_count;
    bool is_row_only; /* no loop along y */
    bool may_be_scalar;
    enum iteration_expectation expectation;
};

/* One run. */
struct iteration_size {
    uint32_t n, nx, ny;
};

/* The usual sizes and arrays. */
void iteration_case_init(struct iteration_case *c);
void iteration_case_fini(struct iteration_case *c);

/* Reads what comments at the beginning of the text say. */
enum pxr_status iteration_case_parse(struct iteration_case *c, const char *text,
                                     struct pxr_error *err);
enum pxr_status iteration_case_load(struct iteration_case *c, const char *path,
                                    struct pxr_error *err);

/* The comments that iteration_case_parse would understand. */
void iteration_case_print(const struct iteration_case *c);

uint32_t iteration_case_size_count(const struct iteration_case *c);
struct iteration_size iteration_case_size(const struct iteration_case *c, uint32_t number);

uint32_t iteration_array_bytes(const struct iteration_array *array,
                               const struct iteration_size *size);

#endif
