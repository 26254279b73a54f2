/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions that only compute: a body gets its source operands as raw bits
 * and leaves a result. So a test can evaluate one without a module, a thread or
 * memory.
 */
#ifndef PTXRUN_TESTS_ORACLE_SCALAR_H
#define PTXRUN_TESTS_ORACLE_SCALAR_H

#include "tests/oracle/thread.h"

#define ORACLE_MAX_SOURCES 5

struct oracle_scalar {
    union oracle_value in[ORACLE_MAX_SOURCES]; /* sources in order, zero-extended */
    unsigned in_count;
    union oracle_value out;
    bool second; /* q of a pair p|q */
    bool carry;  /* CC.CF, before and after */
};

#define SCALAR(emitter, types)                                                                     \
    void oracle_eval_##emitter(const struct ptx_inst *inst, struct oracle_scalar *scalar);
#include "tests/oracle/scalars.def"
#undef SCALAR

/* Evaluates an instruction of a row whose emitter is in scalars.def: in,
 * in_count and carry are the caller's. Bits of `out` above the result's type
 * are zero. Thread-safe. Errors: PXR_UNSUPPORTED when the row has another
 * emitter. */
enum pxr_status oracle_evaluate(const struct ptx_inst *inst, struct oracle_scalar *scalar);

/* Type of the instruction's result, and of its n-th source: as scalars.def
 * says. PTX_TYPE_NONE when oracle_evaluate does not take the instruction or
 * there is no such operand. */
enum ptx_type oracle_result_type(const struct ptx_inst *inst);
enum ptx_type oracle_source_type(const struct ptx_inst *inst, unsigned source);

/* The emitter's name: the same for rows of one meaning. */
const char *oracle_emitter(enum ptx_op op);

/* ---- for bodies ---- */

/* Number, width and type of the elements of a packed type; of any other 1, its
 * width, and the type itself. A packed type whose elements have no type of
 * their own stands for them. */
unsigned oracle_lane_count(enum ptx_type type);
unsigned oracle_lane_bits(enum ptx_type type);
enum ptx_type oracle_lane_type(enum ptx_type type);

static inline uint64_t oracle_lane(union oracle_value value, unsigned lane, unsigned bits)
{
    return (uint64_t)oracle_low_bits(value.u128 >> (lane * bits), bits);
}

static inline void oracle_set_lane(union oracle_value *value, unsigned lane, unsigned bits,
                                   uint64_t lane_value)
{
    value->u128 |= oracle_low_bits(lane_value, bits) << (lane * bits);
}

/* An integer of that type, of any width up to 64 bits, as a number. */
static inline __int128 oracle_integer(uint64_t bits, enum ptx_type type)
{
    union oracle_value value = {.u64 = bits};

    if (ptx_type_is_signed(type))
        return oracle_signed(value, type);
    return (__int128)oracle_low_bits(bits, ptx_type_bits(type));
}

#endif
