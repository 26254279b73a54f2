/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that code is made for: the chosen CPU (cpu.h), and the settings that all code has in
 * common.
 */
#ifndef PTXRUN_JIT_LLVM_TARGET_H
#define PTXRUN_JIT_LLVM_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/TargetMachine.h>

#include "translator/module/target.h"
#include "util/error.h"

struct jit_target {
    LLVMTargetMachineRef machine; /* used by one thread at a time */
    LLVMTargetMachineRef quick;   /* of jit_target_quick; NULL until used */
    char *triple;
    char *data_layout;
    struct tr_target cpu;    /* its description for the translator */
    bool flushes_as_ptx;     /* it has a mode that flushes what PTX's .ftz does */
    bool has_whole_loads;    /* LLVM makes one instruction, a load, of an atomic load of 16 bytes */
    struct jit_target *next; /* in the pool */
};

/* A target for the caller alone, from a pool of those not in use: making one takes longer than
 * optimising a small kernel. Thread-safe. */
enum pxr_status jit_target_acquire(struct jit_target **target, struct pxr_error *err);
void jit_target_release(struct jit_target *target); /* may be NULL */

/* All of it that decides code, as text (malloc): what the CPU can do and what it is taken for, but
 * not its name, unless the option cpu gives one. */
enum pxr_status jit_target_describe(char **text, struct pxr_error *err);

/* The same machine, for code generation in time that grows like the code: no scheduling, no search
 * for the best registers. NULL: there is none. */
LLVMTargetMachineRef jit_target_quick(struct jit_target *target);

/* Sets triple and data layout, removes attributes of another CPU that come from translator/rt's
 * bitcode, and puts on every function with a body the attributes that all generated code has. */
void jit_target_prepare(const struct jit_target *target, LLVMModuleRef module);

#endif
