/* SPDX-License-Identifier: Apache-2.0
 *
 * Random small functions with any control flow, of integers only, for tests of analyses. Threads
 * differ in a few variables; the others are the same until branches make them differ.
 */
#ifndef PTXRUN_TESTS_ANALYSIS_RANDOM_FUNCTION_H
#define PTXRUN_TESTS_ANALYSIS_RANDOM_FUNCTION_H

#include <stdint.h>

#include <llvm-c/Types.h>

#define VARIABLES 9 /* the first OWN begin with what differs between threads */
#define OWN       3
#define BLOCKS    14

struct generator {
    uint64_t state;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMValueRef variables[VARIABLES];
    LLVMBasicBlockRef blocks[BLOCKS];
    uint32_t block_count;
    LLVMTypeRef i32;
    uint32_t own_share;   /* in 100: how often what threads have of their own is used */
    uint32_t back_share;  /* in 100: how often control may go back */
    uint32_t fault_share; /* in 100: how often a block ends in nothing */
};

/* In SSA form, in a context of its own. fault_share: as above. */
void random_function(struct generator *g, uint64_t seed, uint32_t fault_share);
void random_function_fini(struct generator *g);

#endif
