/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU that code is made for: this machine's, or another whose code this machine can run (option
 * cpu), so that code for other CPUs can be tested.
 */
#ifndef PTXRUN_JIT_CPU_H
#define PTXRUN_JIT_CPU_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#include "util/error.h"

struct jit_cpu {
    char *name;           /* LLVM's name for it */
    char *features;       /* "+avx,-avx512f": in addition to those of that name */
    unsigned vector_bits; /* widest vector register that is good for all types: 512, 256, 128 */
};

/* The CPU that the option cpu names, the same at each call. Thread-safe. LLVM's native target has
 * to be registered. */
enum pxr_status jit_cpu_chosen(const struct jit_cpu **cpu, struct pxr_error *err);

/* The CPU of that name, this machine's if it is "". Fails, without a word from LLVM, if there is
 * none of that name or this machine cannot run its code; err names what the machine lacks. */
enum pxr_status jit_cpu_named(const char *name, struct jit_cpu *cpu, struct pxr_error *err);
void jit_cpu_fini(struct jit_cpu *cpu);

/* Whether code for the CPU may use what LLVM calls by that name, such as "lse2". */
bool jit_cpu_has(LLVMTargetMachineRef machine, const struct jit_cpu *cpu, const char *feature);

/* A machine of that CPU: position-independent, small code model. NULL if LLVM has none for the
 * triple. */
LLVMTargetMachineRef jit_cpu_machine(const char *name, const char *features, const char *triple,
                                     LLVMCodeGenOptLevel level);

#endif
