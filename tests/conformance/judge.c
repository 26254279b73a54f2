/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares exact results bit for bit, others by the oracle's tables of what the manual leaves open.
 */
#include "tests/conformance/judge.h"

#include "tests/oracle/bounds.h"
#include "tests/oracle/scalar.h"

static unsigned __int128 low_bits(unsigned __int128 value, unsigned bits)
{
    return bits >= 128 ? value : value & (((unsigned __int128)1 << bits) - 1);
}

/* PTX ISA "Operand Size Exceeding Instruction-Type Size": the value in a wider register. */
static unsigned __int128 extended(unsigned __int128 value, enum ptx_type type, unsigned bits)
{
    unsigned type_bits = ptx_type_bits(type);
    value = low_bits(value, type_bits);
    if (ptx_type_is_signed(type) && (value >> (type_bits - 1) & 1) != 0)
        value |= ~(unsigned __int128)0 << type_bits;
    return low_bits(value, bits);
}

enum ptx_type conf_source_type(const struct ptx_inst *inst, unsigned source)
{
    return oracle_source_type(inst, source);
}

struct conf_verdict conf_judge(const struct conf_result *result)
{
    struct conf_verdict verdict = {0};
    unsigned __int128 got = low_bits(result->got.u128, result->bits);
    unsigned __int128 want = low_bits(result->want.u128, result->bits);
    verdict.is_right = got == want;
    bool is_exact = ptx_op_table[result->inst->op].fidelity == PTX_FIDELITY_EXACT;
    if (!result->is_main) {
        verdict.is_right = verdict.is_right || oracle_unspecified(result->inst, result->sources,
                                                                  result->source_count) != NULL;
        return verdict;
    }
    if (verdict.is_right && is_exact)
        return verdict;
    verdict.is_right =
        oracle_judge(result->inst, result->sources, result->source_count, result->want, result->got,
                     &verdict.error, &verdict.allowed) != ORACLE_WRONG;
    if (result->bits > ptx_type_bits(result->type))
        verdict.is_right = verdict.is_right && got == extended(got, result->type, result->bits);
    return verdict;
}
