/* SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of all bodies, and the table from an instruction's row to its body: both made from
 * ptx/ops.def.
 */
#ifndef PTXRUN_TESTS_ORACLE_DISPATCH_H
#define PTXRUN_TESTS_ORACLE_DISPATCH_H

#include "tests/oracle/thread.h"

#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity)                               \
    enum pxr_status oracle_##emitter(struct oracle_thread *thread, const struct ptx_inst *inst);
#include "ptx/ops.def"
#undef OP

extern const oracle_body oracle_bodies[PTX_OP_COUNT];

#endif
