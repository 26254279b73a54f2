/* SPDX-License-Identifier: Apache-2.0
 *
 * From a thread's operands to the evaluation of a scalar instruction and back.
 */
#include "tests/oracle/scalar.h"

#include <pthread.h>
#include <string.h>

#include "tests/oracle/dispatch.h"

struct scalar_row {
    const char *emitter;
    const char *types;
    void (*evaluate)(const struct ptx_inst *inst, struct oracle_scalar *scalar);
};

enum scalar_index {
#define SCALAR(emitter, types) SCALAR_##emitter,
#include "tests/oracle/scalars.def"
#undef SCALAR
    SCALAR_COUNT
};

static const struct scalar_row scalar_rows[SCALAR_COUNT] = {
#define SCALAR(emitter, types) {#emitter, types, oracle_eval_##emitter},
#include "tests/oracle/scalars.def"
#undef SCALAR
};

static const char *const emitters[PTX_OP_COUNT] = {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity) [PTX_OP_##ID] = #emitter,
#include "ptx/ops.def"
#undef OP
};

const char *oracle_emitter(enum ptx_op op)
{
    return emitters[op];
}

/* Made once, under rows_once; read-only after that. */
static const struct scalar_row *rows_by_op[PTX_OP_COUNT];
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

static void find_rows(void)
{
    for (unsigned op = 0; op < PTX_OP_COUNT; op++) {
        for (unsigned i = 0; i < SCALAR_COUNT; i++) {
            if (strcmp(scalar_rows[i].emitter, emitters[op]) == 0)
                rows_by_op[op] = &scalar_rows[i];
        }
    }
}

/* NULL when the row's instructions do more than compute. */
static const struct scalar_row *find_row(enum ptx_op op)
{
    pthread_once(&rows_once, find_rows);
    return rows_by_op[op];
}

/* mul.wide, mad.wide (PTX ISA, "Integer Arithmetic Instructions: mul"): 16 and 32 bits only. */
static enum ptx_type widened(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_U16:
        return PTX_TYPE_U32;
    case PTX_TYPE_S16:
        return PTX_TYPE_S32;
    case PTX_TYPE_U32:
        return PTX_TYPE_U64;
    case PTX_TYPE_S32:
        return PTX_TYPE_S64;
    default:
        return type;
    }
}

static enum ptx_type type_of(const struct ptx_inst *inst, char letter)
{
    switch (letter) {
    case 'w':
        return ptx_inst_mod(inst, PTX_GROUP_HALF) == PTX_MOD_WIDE ? widened(inst->types[0])
                                                                  : inst->types[0];
    case 'x':
        return inst->types[inst->type_count > 1 ? 1 : 0];
    case 'u':
        return PTX_TYPE_U32;
    case 's':
        return PTX_TYPE_S32;
    case 'b':
        return PTX_TYPE_B32;
    case 'p':
        return PTX_TYPE_PRED;
    default:
        return inst->types[letter - '0'];
    }
}

static enum pxr_status run(struct oracle_thread *thread, const struct ptx_inst *inst,
                           const struct scalar_row *row)
{
    struct oracle_scalar scalar = {.carry = thread->carry};

    for (unsigned i = 1; i < inst->operand_count; i++) {
        const struct ptx_operand *operand = &inst->operands[i];
        enum ptx_type type = type_of(inst, row->types[i]);

        if (row == &scalar_rows[SCALAR_cvt_four] && oracle_elem_count(operand) > 1)
            for (unsigned k = 0; k < oracle_elem_count(operand); k++)
                scalar.in[scalar.in_count++] = oracle_read_elem(thread, operand, k, type);
        else
            scalar.in[scalar.in_count++] = oracle_read(thread, inst, i, type);
    }
    row->evaluate(inst, &scalar);
    thread->carry = scalar.carry;
    oracle_write(thread, inst, 0, type_of(inst, row->types[0]), scalar.out);
    oracle_write_second(thread, inst, 0, scalar.second);
    return PXR_OK;
}

#define SCALAR(emitter, types)                                                                     \
    enum pxr_status oracle_##emitter(struct oracle_thread *thread, const struct ptx_inst *inst);   \
    enum pxr_status oracle_##emitter(struct oracle_thread *thread, const struct ptx_inst *inst)    \
    {                                                                                              \
        return run(thread, inst, &scalar_rows[SCALAR_##emitter]);                                  \
    }
#include "tests/oracle/scalars.def"
#undef SCALAR

enum pxr_status oracle_evaluate(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    const struct scalar_row *row = find_row(inst->op);
    struct oracle_scalar work = *scalar; /* a body may use its sources up */

    if (row == NULL)
        return PXR_UNSUPPORTED;
    work.out.u128 = 0;
    row->evaluate(inst, &work);
    scalar->out.u128 = oracle_low_bits(work.out.u128, ptx_type_bits(type_of(inst, row->types[0])));
    scalar->second = work.second;
    scalar->carry = work.carry;
    return PXR_OK;
}

enum ptx_type oracle_result_type(const struct ptx_inst *inst)
{
    const struct scalar_row *row = find_row(inst->op);

    return row == NULL ? PTX_TYPE_NONE : type_of(inst, row->types[0]);
}

enum ptx_type oracle_source_type(const struct ptx_inst *inst, unsigned source)
{
    const struct scalar_row *row = find_row(inst->op);

    if (row == NULL || source + 1 >= strlen(row->types) || source + 1 >= inst->operand_count)
        return PTX_TYPE_NONE;
    return type_of(inst, row->types[source + 1]);
}

enum ptx_type oracle_lane_type(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_F16X2:
        return PTX_TYPE_F16;
    case PTX_TYPE_BF16X2:
        return PTX_TYPE_BF16;
    case PTX_TYPE_F32X2:
        return PTX_TYPE_F32;
    case PTX_TYPE_U16X2:
        return PTX_TYPE_U16;
    case PTX_TYPE_S16X2:
        return PTX_TYPE_S16;
    case PTX_TYPE_E4M3X2:
        return PTX_TYPE_E4M3;
    case PTX_TYPE_E5M2X2:
        return PTX_TYPE_E5M2;
    default:
        return type;
    }
}

unsigned oracle_lane_count(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_E2M1X2:
    case PTX_TYPE_E2M3X2:
    case PTX_TYPE_E3M2X2:
    case PTX_TYPE_UE8M0X2:
        return 2;
    default:
        return ptx_type_bits(type) / ptx_type_bits(oracle_lane_type(type));
    }
}

unsigned oracle_lane_bits(enum ptx_type type)
{
    return ptx_type_bits(type) / oracle_lane_count(type);
}
