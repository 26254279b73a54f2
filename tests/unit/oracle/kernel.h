/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs small kernels on the oracle: PTX text around a body, one buffer, expected words.
 */
#ifndef PTXRUN_TESTS_UNIT_ORACLE_KERNEL_H
#define PTXRUN_TESTS_UNIT_ORACLE_KERNEL_H

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/oracle/oracle.h"

#define HEADER ".version 9.0\n.target sm_100a\n.address_size 64\n"

/* A kernel "k" with the buffer's address in %rd0, its thread in %r0 (tid.x), and in %rd1 the
 * address of the thread's 32-bit word. */
#define KERNEL(body)                                                                               \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .pred %p<8>; .reg .b16 %rs<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>;\n"                  \
    ".reg .f32 %f<8>; .reg .f64 %fd<8>; .reg .b128 %q<4>;\n"                                       \
    "ld.param.u64 %rd0, [out];\n"                                                                  \
    "mov.u32 %r0, %tid.x;\n"                                                                       \
    "mul.wide.u32 %rd1, %r0, 4;\n"                                                                 \
    "add.u64 %rd1, %rd0, %rd1;\n" body "\n}\n"

struct kernel_run {
    const char *text; /* behind HEADER */
    uint32_t blocks;  /* 0 means 1 in these four */
    uint32_t threads;
    uint32_t threads_y;
    uint32_t threads_z;
    uint32_t dynamic_shared_bytes;
    uint64_t max_steps;
    void *out; /* the buffer that `out` points to; may be touched and nothing else */
    size_t out_bytes;
    char *log; /* what was printed, 256 bytes; may be NULL */
    struct pxr_error err;
};

/* Runs with seed 0 and several others, each time from the buffer's first contents, and checks that
 * all of them leave the same bytes. */
enum pxr_status run_kernel(struct kernel_run *run);

/* Runs `body` in KERNEL by `threads` threads and compares words. */
void expect_words(const char *text, uint32_t threads, const uint32_t *expected, size_t count);

#define EXPECT_WORDS(text, threads, ...)                                                           \
    do {                                                                                           \
        const uint32_t expected_words[] = {__VA_ARGS__};                                           \
                                                                                                   \
        expect_words(text, threads, expected_words,                                                \
                     sizeof(expected_words) / sizeof(expected_words[0]));                          \
    } while (0)

/* The status of running `text` with one block and a buffer of 64 zeroed words. */
enum pxr_status status_of(const char *text, uint32_t threads, struct pxr_error *err);

#define EXPECT_STATUS(text, threads, status)                                                       \
    do {                                                                                           \
        struct pxr_error status_err = {0};                                                         \
        enum pxr_status got_status = status_of(text, threads, &status_err);                        \
                                                                                                   \
        cr_assert_eq(got_status, status, "%s: %s", pxr_status_name(got_status),                    \
                     status_err.message);                                                          \
    } while (0)

#endif
