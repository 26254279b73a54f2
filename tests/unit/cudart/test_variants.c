/* SPDX-License-Identifier: Apache-2.0
 *
 * Variants of kernels as launches make them: how many, by whom, and what is said about them.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/module.h"
#include "driver_fixture.h"

/* out[i] = i * factor + ntid, with this directive; all rows of a block write the same. */
#define SCALE(directive)                                                                           \
    ".version 9.0\n.target sm_75\n.address_size 64\n"                                              \
    ".visible .entry scale(.param .u64 out, .param .u32 factor) " directive "\n"                   \
    "{\n .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"                                                     \
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [factor];\n"                                     \
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"                         \
    " mad.lo.s32 %r5, %r3, %r4, %r2; mad.lo.s32 %r6, %r5, %r1, %r4;\n"                             \
    " mul.wide.s32 %rd5, %r5, 4; add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r6; ret;\n}\n"

static const char ptx[] = SCALE("");
static const char required_ptx[] = SCALE(".reqntid 4, 2, 1");

#define MAX_ELEMENTS 4096

static CUfunction load_text(const char *text)
{
    CUmodule module;
    CUfunction function;
    make_context();
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "scale"));
    return function;
}

static CUfunction load_kernel(void)
{
    return load_text(ptx);
}

static unsigned variant_count(CUfunction function)
{
    struct crt_kernel *kernel = (struct crt_kernel *)function;
    return atomic_load(&kernel->variants.count);
}

static bool is_right_in_rows(CUfunction function, CUdeviceptr out, unsigned blocks,
                             unsigned threads, unsigned rows, unsigned factor)
{
    static _Thread_local unsigned got[MAX_ELEMENTS];
    void *params[] = {&out, &factor};
    if (cuLaunchKernel(function, blocks, 1, 1, threads, rows, 1, 0, NULL, params, NULL) ||
        cuMemcpyDtoH_v2(got, out, blocks * threads * sizeof got[0]))
        return false;
    for (unsigned i = 0; i < blocks * threads; i++)
        if (got[i] != i * factor + threads)
            return false;
    return true;
}

static bool is_right(CUfunction function, CUdeviceptr out, unsigned blocks, unsigned threads,
                     unsigned factor)
{
    return is_right_in_rows(function, out, blocks, threads, 1, factor);
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, MAX_ELEMENTS * sizeof(unsigned)));
    return memory;
}

static void launch_many_shapes(CUfunction function)
{
    CUdeviceptr out = allocate();
    for (unsigned i = 0; i < 60; i++) {
        unsigned threads = 1 + i * 7 % 64;
        unsigned factor = i % 3 ? i : 0u - i * 1000003u;
        cr_assert(is_right(function, out + i % 5 * 4, 1 + i, threads, factor), "launch %u", i);
    }
}

Test(variants, ever_changing_launches_are_right_and_settle)
{
    CUfunction function = load_kernel();
    launch_many_shapes(function);
    unsigned count = variant_count(function);
    cr_expect_geq(count, 2);
    cr_expect_leq(count, JIT_VARIANTS_MAX);
    launch_many_shapes(function);
    cr_expect_eq(variant_count(function), count);
}

Test(variants, mode_jit_settles_too)
{
    setenv("PTXRUN_MODE", "jit", 1);
    CUfunction function = load_kernel();
    launch_many_shapes(function);
    cr_expect_leq(variant_count(function), JIT_VARIANTS_MAX);
}

Test(variants, mode_normal_has_one_for_each_kind_of_rows)
{
    setenv("PTXRUN_MODE", "normal", 1);
    CUfunction function = load_kernel();
    launch_many_shapes(function);
    cr_expect_eq(variant_count(function), 1, "launches of whole warps run the code for any row");
    CUdeviceptr out = allocate();
    for (unsigned rows = 2; rows < 5; rows++)
        cr_expect(is_right_in_rows(function, out, 3, 32, rows, 1000003));
    cr_expect_eq(variant_count(function), 2);
    for (unsigned rows = 2; rows < 5; rows++)
        cr_expect(is_right_in_rows(function, out, 3, 33, rows, 1000003));
    cr_expect_eq(variant_count(function), 3);
    launch_many_shapes(function);
    cr_expect_eq(variant_count(function), 3);
}

Test(variants, mode_normal_compiles_a_kernel_when_it_is_checked_for_rows_of_whole_warps)
{
    setenv("PTXRUN_MODE", "normal", 1);
    CUfunction function = load_kernel();
    cr_assert_eq(crt_kernel_check((struct crt_kernel *)function), CRT_SUCCESS);
    cr_expect_eq(variant_count(function), 1);
    cr_expect(is_right(function, allocate(), 3, 32, 5));
    cr_expect_eq(variant_count(function), 1);
}

Test(variants, mode_normal_compiles_a_kernel_with_a_required_shape_once)
{
    setenv("PTXRUN_MODE", "normal", 1);
    CUfunction function = load_text(required_ptx);
    cr_assert_eq(crt_kernel_check((struct crt_kernel *)function), CRT_SUCCESS);
    cr_expect(is_right_in_rows(function, allocate(), 3, 4, 2, 7));
    cr_expect_eq(variant_count(function), 1);
}

struct launcher {
    CUfunction function;
    CUcontext ctx;
    pthread_barrier_t *start;
    CUdeviceptr out;
    bool is_right;
};

static void *launch_together(void *argument)
{
    struct launcher *launcher = argument;
    bool has_context = cuCtxSetCurrent(launcher->ctx) == 0;
    pthread_barrier_wait(launcher->start);
    launcher->is_right = has_context;
    for (int i = 0; i < 20; i++)
        launcher->is_right &= is_right(launcher->function, launcher->out, 3, 32, 5);
    return NULL;
}

Test(variants, threads_that_launch_one_kernel_at_once_compile_it_once)
{
    enum { THREADS = 4 };
    struct launcher launchers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    CUcontext ctx;
    CUfunction function = load_kernel();
    OK(cuCtxGetCurrent(&ctx));
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        launchers[i] = (struct launcher){function, ctx, &start, allocate(), false};
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_together, &launchers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect(launchers[i].is_right);
    }
    cr_expect_eq(variant_count(function), 1);
}

Test(variants, explain_says_what_was_chosen_and_for_which_facts, .init = cr_redirect_stderr)
{
    setenv("PTXRUN_EXPLAIN", "full", 1);
    CUfunction function = load_kernel();
    cr_assert(is_right(function, allocate(), 3, 32, 5));
    fflush(stderr);
    char text[4096];
    size_t len = fread(text, 1, sizeof text - 1, cr_get_redirected_stderr());
    text[len] = '\0';
    cr_expect_not_null(strstr(text, "ptxrun: kernel 'scale': the 32 threads"), "%s", text);
    cr_expect_not_null(
        strstr(text, "ptxrun:   for launches with: block 32x1x1, grid at most 1024x1x1"), "%s",
        text);
    cr_expect_not_null(strstr(text, "parameter 0 aligned to 16"), "%s", text);
    cr_expect_not_null(strstr(text, "parameter 1 <= 1024"), "%s", text);
}
