/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults to seed into the translation. Those of one kind rewrite the instruction before its emitter
 * gets it, those of the other change the LLVM code that came out of it.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_FAULTS_H
#define PTXRUN_TESTS_CONFORMANCE_FAULTS_H

#include <stdbool.h>

#include "ptx/ptx.h"

struct LLVMOpaqueValue;

/* Operands of a rewritten instruction; they live until its kernel has been compiled. */
#define FAULT_MAX_OPERANDS 12
struct fault_operands {
    struct ptx_operand operands[FAULT_MAX_OPERANDS];
    struct ptx_operand elems[16];
};

struct conf_fault {
    const char *name;
    /* Changes *inst; false when the fault does not fit. One of the two is set. */
    bool (*rewrite)(struct ptx_inst *inst, struct fault_operands *room);
    /* Changes one LLVM instruction; false when the fault does not fit it. */
    bool (*mutate)(struct LLVMOpaqueValue *inst);
};

/* End with a name that is NULL. */
extern const struct conf_fault conf_rewrites[];
extern const struct conf_fault conf_mutations[];

#endif
