/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating point of the oracle: any format as an exact number, exact operations on numbers, and
 * one rounding from a number to a format. Slow and obvious; the short cuts through the host's
 * own arithmetic (oracle_host_*) are proven equal to it by test_scalar_softfloat.
 */
#ifndef PTXRUN_TESTS_ORACLE_SOFTFLOAT_H
#define PTXRUN_TESTS_ORACLE_SOFTFLOAT_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops.h"

struct ptx_inst;

struct oracle_format {
    unsigned bits;          /* of a value in its register */
    unsigned exponent_bits; /* 0: not a floating-point format */
    unsigned fraction_bits;
    unsigned padding_bits; /* below the fraction: tf32 in a 32-bit register */
    int bias;
    bool has_infinity;      /* else the top exponent holds numbers */
    bool has_nan;           /* without infinity: all ones is NaN */
    uint64_t canonical_nan; /* the NaN that operations make */
};

/* The format of a scalar floating-point type or of one element of a packed one. */
const struct oracle_format *oracle_format(enum ptx_type type);

/* The upper word of an f64 with the lower one zero: rcp.approx.ftz.f64, rsqrt.approx.ftz.f64. */
const struct oracle_format *oracle_upper_f64(void);

enum oracle_class { ORACLE_ZERO, ORACLE_FINITE, ORACLE_INFINITE, ORACLE_NAN };

/* A FINITE number is +-significand * 2^exponent; when is_inexact, its magnitude lies strictly
 * between significand and significand + 1. */
struct oracle_number {
    enum oracle_class class;
    bool is_negative;
    bool is_inexact;
    int exponent;
    unsigned __int128 significand;
};

enum oracle_round {
    ORACLE_ROUND_NEAREST_EVEN,
    ORACLE_ROUND_NEAREST_AWAY,
    ORACLE_ROUND_ZERO,
    ORACLE_ROUND_DOWN,
    ORACLE_ROUND_UP
};

/* Of arithmetic: "The default value of rounding modifier is .rn". */
enum oracle_round oracle_rounding(const struct ptx_inst *inst);

struct oracle_number oracle_unpack(const struct oracle_format *format, uint64_t bits);

/* Rounds. Beyond the largest finite value comes infinity or that value, as IEEE 754 says for the
 * rounding; a format without infinity has its largest value instead, one without NaN likewise. */
uint64_t oracle_pack(const struct oracle_format *format, struct oracle_number number,
                     enum oracle_round round);

/* Whether a number is flushed by .ftz: "subnormal results". The manual does not say what of a
 * number that only rounding makes normal; sm_90 flushes it if it would still be too small when
 * rounded with an exponent of any size, as IEEE 754 (7.5) defines tininess after rounding. */
bool oracle_is_tiny(const struct oracle_format *format, struct oracle_number number,
                    enum oracle_round round);

/* Stochastic rounding: random bits are added to the first of the bits that do not fit, and a carry
 * out of them rounds away from zero. Beyond the largest finite value comes infinity. */
uint64_t oracle_pack_random(const struct oracle_format *format, struct oracle_number number,
                            uint32_t random, unsigned random_bits);

bool oracle_is_nan(const struct oracle_format *format, uint64_t bits);
bool oracle_is_zero(const struct oracle_format *format, uint64_t bits);
bool oracle_is_subnormal(const struct oracle_format *format, uint64_t bits);
uint64_t oracle_sign_bit(const struct oracle_format *format);
uint64_t oracle_largest(const struct oracle_format *format); /* largest finite value */
uint64_t oracle_infinity(const struct oracle_format *format);

/* The NaN that an operation gives whose NaN sources are among these. The manual leaves its bits
 * open; on sm_90 it is the first f64 that is a NaN, made quiet and with its sign, else the
 * canonical one. */
uint64_t oracle_nan_of(const struct oracle_format *format, uint64_t first, uint64_t second,
                       uint64_t third);

/* A NaN in another format, on sm_90 when one of them is f64: quiet, with its sign and the upper
 * bits of its fraction. */
uint64_t oracle_convert_nan(const struct oracle_format *to, const struct oracle_format *from,
                            uint64_t bits);

/* Sign-preserving zero instead of a subnormal number. */
uint64_t oracle_flush(const struct oracle_format *format, uint64_t bits);

/* .sat: clamped to [0.0, 1.0], NaN to +0. .relu: 0 if negative, NaN to the canonical one. -0
 * becomes +0 in both, of which the manual says nothing. */
uint64_t oracle_saturate(const struct oracle_format *format, uint64_t bits);
uint64_t oracle_clamp_negative(const struct oracle_format *format, uint64_t bits);

struct oracle_number oracle_from_integer(unsigned __int128 magnitude, bool is_negative);

/* The number as an integer, in floating-point form: -0.4 becomes -0. */
struct oracle_number oracle_round_to_integral(struct oracle_number number, enum oracle_round round);

/* An integer that orders the values of a format as the numbers are: both zeros are 0, the smallest
 * positive number is 1, infinity follows the largest finite number. No NaN. */
int64_t oracle_rank(const struct oracle_format *format, uint64_t bits);

/* Exact up to 2^-120 relative, with is_inexact telling of the rest. `round` only decides the sign
 * of a zero that is the sum of two numbers of different sign. */
struct oracle_number oracle_multiply_add(struct oracle_number a, struct oracle_number b,
                                         struct oracle_number c, enum oracle_round round);
struct oracle_number oracle_add(struct oracle_number a, struct oracle_number b,
                                enum oracle_round round);
struct oracle_number oracle_multiply(struct oracle_number a, struct oracle_number b);
struct oracle_number oracle_divide(struct oracle_number a, struct oracle_number b);
struct oracle_number oracle_square_root(struct oracle_number a);

enum oracle_function {
    ORACLE_RECIPROCAL_ROOT,
    ORACLE_SINE,
    ORACLE_COSINE,
    ORACLE_LOG2,
    ORACLE_EXP2,
    ORACLE_TANH
};

struct oracle_number oracle_apply(enum oracle_function function, struct oracle_number a);

/* The same in the host's double arithmetic, within a few units in the last place. */
double oracle_host_function(enum oracle_function function, double a);

/* |got - exact| in units of 2^unit_exponent. Both finite. */
double oracle_distance(struct oracle_number got, struct oracle_number exact, int unit_exponent);

/* floor(log2 |a|) of a FINITE number. */
int oracle_log2_floor(struct oracle_number a);

enum oracle_operation {
    ORACLE_OP_ADD,
    ORACLE_OP_SUB,
    ORACLE_OP_MUL,
    ORACLE_OP_DIV,
    ORACLE_OP_FMA,
    ORACLE_OP_SQRT
};

/* The same by the host's arithmetic, which is IEEE 754's, in any rounding but NEAREST_AWAY. A NaN
 * is any NaN. */
uint32_t oracle_host_f32(enum oracle_operation operation, enum oracle_round round, uint32_t a,
                         uint32_t b, uint32_t c);
uint64_t oracle_host_f64(enum oracle_operation operation, enum oracle_round round, uint64_t a,
                         uint64_t b, uint64_t c);

/* The correctly rounded result in `format`; a NaN is the canonical one whatever the sources are.
 * The first never takes the short cut. Operands that the operation does not have are ignored. */
uint64_t oracle_operate_exactly(const struct oracle_format *format, enum oracle_operation operation,
                                enum oracle_round round, uint64_t a, uint64_t b, uint64_t c);
uint64_t oracle_operate(const struct oracle_format *format, enum oracle_operation operation,
                        enum oracle_round round, uint64_t a, uint64_t b, uint64_t c);

/* The same with .ftz: sources and result are flushed. */
uint64_t oracle_operate_ftz(const struct oracle_format *format, enum oracle_operation operation,
                            enum oracle_round round, uint64_t a, uint64_t b, uint64_t c);

#endif
