/* SPDX-License-Identifier: Apache-2.0
 *
 * Random functions that compute addresses: from parameters, variables and shared memory, with what
 * threads, blocks and a loop contribute, in 32 and 64 bits, as integers and as pointers.
 */
#ifndef PTXRUN_TESTS_ANALYSIS_RANDOM_ADDRESS_H
#define PTXRUN_TESTS_ANALYSIS_RANDOM_ADDRESS_H

#include <stdint.h>

#include <llvm-c/Types.h>

#define PARAMS     4 /* of 64 bits each; the last one is a number, the others are addresses */
#define VARIABLES  2 /* of the module */
#define POOL       96
#define ITERATIONS 3

/* Values of one kind that instructions can use. */
struct pool {
    uint32_t count;
    LLVMValueRef values[POOL];
};

struct address_generator {
    uint64_t state;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMTypeRef i32, i64, ptr;
    struct pool words;    /* i32 */
    struct pool numbers;  /* i64, no addresses */
    struct pool integers; /* i64, addresses */
    struct pool pointers;
};

/* Its argument is a struct rt_thread *. */
void random_address_function(struct address_generator *g, uint64_t seed);
void random_address_function_fini(struct address_generator *g);

#endif
