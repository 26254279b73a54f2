/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of bodies, and the bodies that refuse.
 */
#include "tests/oracle/dispatch.h"

const oracle_body oracle_bodies[PTX_OP_COUNT] = {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity)                               \
    [PTX_OP_##ID] = oracle_##emitter,
#include "ptx/ops.def"
#undef OP
};

/* Rows that the product refuses as well. */
enum pxr_status oracle_unsupported(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_refuse(thread, inst);
}

/* Emitters without a body here: one line each, taken away when the body is written. */
#define REFUSE(emitter)                                                                            \
    enum pxr_status oracle_##emitter(struct oracle_thread *thread, const struct ptx_inst *inst)    \
    {                                                                                              \
        return oracle_refuse(thread, inst);                                                        \
    }
#include "tests/oracle/refused.def"
#undef REFUSE
