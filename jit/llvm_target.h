/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine code is made for: this CPU, position-independent, small code model.
 */
#ifndef PTXRUN_JIT_LLVM_TARGET_H
#define PTXRUN_JIT_LLVM_TARGET_H

#include <llvm-c/TargetMachine.h>

#include "util/error.h"

struct jit_target {
    LLVMTargetMachineRef machine; /* used by one thread at a time */
    char *triple;
    char *data_layout;
    unsigned vector_bits; /* widest vector register: 512, 256 or 128 */
};

enum pxr_status jit_target_init(struct jit_target *target, struct pxr_error *err);
void jit_target_fini(struct jit_target *target);

/* Sets triple and data layout, removes what translator/rt's bitcode says of another CPU, and puts
 * on every function with a body the attributes all generated code has. */
void jit_target_prepare(const struct jit_target *target, LLVMModuleRef module);

#endif
