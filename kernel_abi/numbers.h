/* SPDX-License-Identifier: Apache-2.0
 *
 * What checks of numbers (docs/check.md) keep of a value: its *origin*, the operation that went
 * wrong and of which the value has come, in 32 bits; 0 if nothing is wrong with it.
 */
#ifndef PTXRUN_KERNEL_ABI_NUMBERS_H
#define PTXRUN_KERNEL_ABI_NUMBERS_H

#include <stdint.h>

/* What went wrong. Of two origins that meet the one of the greater kind counts. */
enum rt_number_kind {
    RT_NUMBER_FINE,
    /* An integer of 32 bits wraps around: */
    RT_NUMBER_SIGNED_WRAP, /* as a signed one */
    RT_NUMBER_WRAP,        /* as whatever */
    /* A number is none, or another than it should be: */
    RT_NUMBER_CONVERSION,
    RT_NUMBER_INFINITY,
    RT_NUMBER_ZERO_DIVISOR,
    RT_NUMBER_NAN
};

/* How the operands are to be read. Of each the origin's companions have 32 bits: of an f64 the
 * upper ones. */
enum rt_number_type {
    RT_NUMBER_INT,
    RT_NUMBER_F16,
    RT_NUMBER_BF16,
    RT_NUMBER_F16X2,
    RT_NUMBER_BF16X2,
    RT_NUMBER_F32,
    RT_NUMBER_F64
};

enum rt_number_operation {
    RT_NUMBER_ADD,
    RT_NUMBER_SUB,
    RT_NUMBER_MUL,
    RT_NUMBER_MAD,
    RT_NUMBER_SHL,
    RT_NUMBER_DIV,
    RT_NUMBER_REM,
    RT_NUMBER_RCP,
    RT_NUMBER_SQRT,
    RT_NUMBER_RSQRT,
    RT_NUMBER_SIN,
    RT_NUMBER_COS,
    RT_NUMBER_LG2,
    RT_NUMBER_EX2,
    RT_NUMBER_TANH,
    RT_NUMBER_CVT
};

#define RT_NUMBER_TYPE_MASK       0x7u
#define RT_NUMBER_OPERATION_SHIFT 3
#define RT_NUMBER_OPERATION_MASK  0xfu
#define RT_NUMBER_LINE_SHIFT      7 /* of the PTX */
#define RT_NUMBER_LINES           (UINT32_C(1) << 21)
#define RT_NUMBER_KIND_SHIFT      29

/* Since it went wrong, the value has been cut: shifted to the right, masked, divided, as hashes
 * are. An integer that has wrapped is then what it is meant to be. */
#define RT_NUMBER_CUT (UINT32_C(1) << 28)

/* What becomes of a value that came of something wrong; above the line of the PTX. */
enum rt_number_use {
    RT_NUMBER_MADE, /* that it is made suffices */
    RT_NUMBER_STORED,
    RT_NUMBER_DECIDES,
    RT_NUMBER_ADDRESSES
};
#define RT_NUMBER_USE_SHIFT 24

#endif
