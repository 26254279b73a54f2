/* SPDX-License-Identifier: Apache-2.0
 *
 * What a launch pays for variants: the facts of the launch, with a look-up of the allocation of
 * each pointer, and the choice among as many variants as a kernel can have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cudart/core/memory/memory.h"
#include "jit/variant.h"
#include "ptx/ops.h"

#define ALLOCATIONS 1000
#define POINTERS    8
#define INTEGERS    8
#define PARAMS      (POINTERS + INTEGERS)
#define LAUNCHES    2000000

struct bench {
    struct ptx_var vars[PARAMS];
    const struct ptx_var *pointers[PARAMS];
    uint64_t values[PARAMS];
    struct ptx_func kernel;
    struct jit_launch launch;
    struct jit_variants variants;
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static bool find_allocation(uintptr_t address, uintptr_t *start)
{
    struct crt_allocation allocation;
    if (!crt_memory_find(address, &allocation))
        return false;
    *start = allocation.base;
    return true;
}

static void describe_kernel(struct bench *bench, const uintptr_t *allocations)
{
    for (uint32_t i = 0; i < PARAMS; i++) {
        enum ptx_type type = i < POINTERS ? PTX_TYPE_U64 : PTX_TYPE_U32;
        bench->vars[i] = (struct ptx_var){.type = type,
                                          .vector_len = 1,
                                          .elem_count = 1,
                                          .size_bytes = ptx_type_bytes(type),
                                          .param_offset_bytes = 8 * i};
        bench->pointers[i] = &bench->vars[i];
        bench->values[i] = i < POINTERS ? allocations[i * (ALLOCATIONS / POINTERS)] : 100 * i;
    }
    bench->kernel = (struct ptx_func){.params = (void *)bench->pointers, .param_count = PARAMS};
    bench->launch = (struct jit_launch){.kernel = &bench->kernel,
                                        .grid = {4000, 1, 1},
                                        .block = {1, 1, 1},
                                        .params = (const uint8_t *)bench->values,
                                        .find_allocation = find_allocation};
}

/* Every kind of variant there is, and the generic one, which is the last to be looked at. */
static void make_variants(struct bench *bench)
{
    struct tr_facts facts, planned;
    for (uint32_t threads = 1; threads <= JIT_VARIANTS_MAX; threads++) {
        bench->launch.block[0] = threads;
        jit_facts_of(&bench->launch, &facts);
        jit_variants_plan(&bench->variants, PXR_MODE_JIT, &facts, &planned);
        jit_variants_add(&bench->variants, &planned, bench);
    }
}

static double measure(struct bench *bench, uint32_t threads)
{
    bench->launch.block[0] = threads;
    double start_ns = now_ns();
    for (int i = 0; i < LAUNCHES; i++) {
        struct tr_facts facts;
        jit_facts_of(&bench->launch, &facts);
        if (!jit_variants_pick(&bench->variants, &facts))
            abort();
    }
    return (now_ns() - start_ns) / LAUNCHES;
}

int main(void)
{
    static uintptr_t allocations[ALLOCATIONS];
    static struct bench bench;
    if (crt_arena_init((size_t)1 << 30, 1) != CRT_SUCCESS)
        return 1;
    for (int i = 0; i < ALLOCATIONS; i++)
        if (crt_arena_alloc(4096, CRT_MEMORY_DEVICE, 0, NULL, &allocations[i]) != CRT_SUCCESS)
            return 1;
    describe_kernel(&bench, allocations);
    make_variants(&bench);
    printf("%d pointers among %d allocations, %d integers, %d variants:\n", POINTERS, ALLOCATIONS,
           INTEGERS, JIT_VARIANTS_MAX);
    printf("  first variant    %6.0f ns\n", measure(&bench, 1));
    printf("  generic variant  %6.0f ns\n", measure(&bench, 1000));
    bench.launch.find_allocation = NULL;
    printf("  no allocations   %6.0f ns\n", measure(&bench, 1000));
    return 0;
}
