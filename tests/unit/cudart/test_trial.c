/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels whose code is measured against other forms while they run: results are right all the
 * time, and what was found out is there in the next process.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/core/code/background.h"
#include "cudart/core/code/choice.h"
#include "cudart/core/code/trial.h"
#include "driver_fixture.h"

/* out[i] = i after so many rounds of a generator; sum += out[i] where that is asked for. */
#define KERNEL(sum)                                                                                \
    ".version 9.0\n.target sm_75\n.address_size 64\n.global .f32 total;\n"                         \
    ".visible .entry k(.param .u64 out, .param .u32 rounds) {\n"                                   \
    " .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f;\n"                            \
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [rounds];\n"                                      \
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"                         \
    " mad.lo.s32 %r5, %r3, %r4, %r2; mov.u32 %r6, %r5;\n"                                          \
    "L: mad.lo.u32 %r6, %r6, 1664525, 1013904223; sub.u32 %r1, %r1, 1;\n"                          \
    " setp.ne.u32 %p, %r1, 0; @%p bra L;\n" sum                                                    \
    " mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r6; ret;\n}\n"

#define ADD_FLOATS  " cvt.rn.f32.u32 %f, %r6; mov.u64 %d4, total; red.global.add.f32 [%d4], %f;\n"
#define ADD_NUMBERS " mov.u64 %d4, total; red.global.add.u32 [%d4], %r6;\n"

#define THREADS     64
#define BLOCKS      512
#define ROUNDS      50
#define LAUNCHES    20000

static char directory[] = "/tmp/ptxrun-trial-XXXXXX";

static void use_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    setenv("PTXRUN_CACHE", "on", 1);
    setenv("PTXRUN_CACHE_DIR", directory, 1);
    setenv("PTXRUN_THREADS", "3", 1);
    setenv("PTXRUN_COMPILE_THREADS", "1", 1);
}

static void remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

static void choose(const char *how, const char *share)
{
    setenv("PTXRUN_CHOOSE", how, 1);
    setenv("PTXRUN_CHOOSE_SHARE", share, 1);
    make_context();
}

static struct crt_kernel *load(const char *ptx)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "k"));
    return (struct crt_kernel *)function;
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr out;
    OK(cuMemAlloc_v2(&out, BLOCKS * THREADS * sizeof(unsigned)));
    return out;
}

static void launch(struct crt_kernel *kernel, CUdeviceptr out, unsigned blocks)
{
    unsigned rounds = ROUNDS;
    void *params[] = {&out, &rounds};
    OK(cuLaunchKernel((CUfunction)kernel, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
}

static bool is_right(CUdeviceptr out, unsigned blocks)
{
    static unsigned got[BLOCKS * THREADS];
    OK(cuMemcpyDtoH_v2(got, out, sizeof got));
    for (unsigned i = 0; i < blocks * THREADS; i++) {
        unsigned x = i;
        for (unsigned round = 0; round < ROUNDS; round++)
            x = x * 1664525 + 1013904223;
        if (got[i] != x)
            return false;
    }
    return true;
}

static const struct crt_variant *variant_of(const struct crt_kernel *kernel)
{
    cr_assert_eq(atomic_load(&kernel->variants.count), 1);
    return kernel->variants.entries[0].variant;
}

/* Launches the kernel until nothing is left to try. */
static void try_all(struct crt_kernel *kernel, unsigned blocks)
{
    CUdeviceptr out = allocate();
    unsigned launches = 0;
    do {
        launch(kernel, out, blocks);
        if (launches % 100 == 0) {
            crt_background_wait();
            cr_assert(is_right(out, blocks), "launch %u", launches);
        }
    } while (crt_trial_is_open(variant_of(kernel)) && ++launches < LAUNCHES);
    cr_expect_not(crt_trial_is_open(variant_of(kernel)), "after %u launches", launches);
    crt_background_wait();
    launch(kernel, out, blocks);
    cr_expect(is_right(out, blocks));
}

static struct crt_choice known_choice(const struct crt_kernel *kernel)
{
    struct crt_choice choice = {0};
    cr_expect(crt_choice_get(kernel, &variant_of(kernel)->key.facts, &choice));
    return choice;
}

Test(trial, all_forms_are_tried_and_results_are_right, .init = use_directory,
     .fini = remove_directory)
{
    choose("measure", "1000000");
    struct crt_kernel *kernel = load(KERNEL(""));
    try_all(kernel, BLOCKS);
    struct crt_choice choice = known_choice(kernel);
    struct crt_form next;
    cr_expect_gt(choice.count, 1);
    cr_expect_not(crt_choice_next(&choice, &next));
    cr_expect_eq(choice.tried[0].permille, 1000);
    cr_expect_leq(choice.tried[choice.taken].permille, 1000);
    char text[400];
    crt_choice_text(&choice, text, sizeof text);
    cr_expect_not_null(strstr(text, "flat "), "%s", text);
}

/* Such grids run on the thread that launches them. */
Test(trial, small_grids_are_compared_launch_by_launch, .init = use_directory,
     .fini = remove_directory)
{
    choose("measure", "1000000");
    try_all(load(KERNEL("")), 2);
}

Test(trial, the_next_process_takes_what_was_found, .init = use_directory, .fini = remove_directory)
{
    choose("measure", "1000000");
    CUdeviceptr out = allocate();
    struct crt_kernel *kernel = load(KERNEL(ADD_NUMBERS));
    launch(kernel, out, BLOCKS);
    crt_background_wait();
    struct crt_choice choice;
    struct tr_facts facts = variant_of(kernel)->key.facts;
    crt_choice_begin(&variant_of(kernel)->form, &choice);
    cr_assert_eq(choice.tried[0].form.collapse, PXR_COLLAPSE_VECTOR);
    crt_choice_add(&choice, &(struct crt_form){.collapse = PXR_COLLAPSE_FLAT}, 0.5, true);
    crt_choice_keep(kernel, &facts, &choice);
    kernel = load(KERNEL(ADD_NUMBERS));
    launch(kernel, out, BLOCKS);
    cr_expect_null(variant_of(kernel)->trial);
    cr_expect_eq(variant_of(kernel)->form.collapse, PXR_COLLAPSE_FLAT);
    cr_expect(is_right(out, BLOCKS));
}

/* A form that a damaged record names must not get to the compiler. */
Test(trial, a_record_that_cannot_be_right_is_none, .init = use_directory, .fini = remove_directory)
{
    choose("measure", "5");
    CUdeviceptr out = allocate();
    struct crt_kernel *kernel = load(KERNEL(""));
    launch(kernel, out, BLOCKS);
    struct tr_facts facts = variant_of(kernel)->key.facts;
    for (unsigned kind = 0; kind < 6; kind++) {
        struct crt_choice choice;
        struct crt_form *form = &choice.tried[1].form;
        crt_choice_begin(&variant_of(kernel)->form, &choice);
        crt_choice_add(&choice, &variant_of(kernel)->form, 0.9, true);
        choice.taken = kind == 0 ? choice.count : 1;
        form->collapse = kind == 1 ? PXR_COLLAPSE_COUNT : form->collapse;
        form->without = kind == 2 ? 1000 : form->without;
        form->width = kind == 3 ? 4096 : form->width;
        form->jam = kind == 4 ? 4096 : form->jam;
        choice.tried[1].permille = kind == 5 ? 0 : 900;
        crt_choice_keep(kernel, &facts, &choice);
        cr_expect_not(crt_choice_get(kernel, &facts, &choice), "kind %u", kind);
    }
}

/* Whatever is found to be faster, it ends, and nothing is tried twice. */
Test(trial, forms_are_tried_once)
{
    static const struct crt_form firsts[] = {
        {.collapse = PXR_COLLAPSE_VECTOR, .width = 16, .jam = 4},
        {.collapse = PXR_COLLAPSE_VECTOR, .width = 4, .jam = 1},
        {.collapse = PXR_COLLAPSE_FLAT},
        {.collapse = PXR_COLLAPSE_HIERARCHICAL},
    };
    for (unsigned seed = 0; seed < 1000; seed++) {
        struct crt_choice choice;
        struct crt_form form;
        unsigned taken = seed;
        crt_choice_begin(&firsts[seed % 4], &choice);
        for (; crt_choice_next(&choice, &form); taken /= 2) {
            for (uint32_t i = 0; i < choice.count; i++)
                cr_assert(memcmp(&choice.tried[i].form, &form, sizeof form) != 0);
            crt_choice_add(&choice, &form, 0.9, taken % 2);
        }
        cr_assert_gt(choice.count, 1);
        cr_assert_leq(choice.count, CRT_FORMS_MAX);
    }
}

Test(trial, threads_with_stacks_of_their_own_have_no_other_form)
{
    const struct crt_form precise = {.collapse = PXR_COLLAPSE_PRECISE};
    struct crt_choice choice;
    struct crt_form form;
    crt_choice_begin(&precise, &choice);
    cr_expect_not(crt_choice_next(&choice, &form));
}

static bool has_trial(const char *ptx)
{
    CUdeviceptr out = allocate();
    struct crt_kernel *kernel = load(ptx);
    launch(kernel, out, BLOCKS);
    return variant_of(kernel)->trial != NULL;
}

/* The second kernel has the reason, the first one does not. */
Test(trial, sums_of_floats_stay_in_their_order, .init = use_directory, .fini = remove_directory)
{
    choose("measure", "5");
    cr_expect(has_trial(KERNEL(ADD_NUMBERS)));
    cr_expect_not(has_trial(KERNEL(ADD_FLOATS)));
}

Test(trial, an_estimate_is_all_that_is_asked_for, .init = use_directory, .fini = remove_directory)
{
    choose("estimate", "1000000");
    cr_expect_not(has_trial(KERNEL("")));
}

Test(trial, nothing_is_tried_without_threads_to_compile, .init = use_directory,
     .fini = remove_directory)
{
    setenv("PTXRUN_COMPILE_THREADS", "0", 1);
    choose("measure", "1000000");
    cr_expect_not(has_trial(KERNEL("")));
}

Test(trial, options_that_shape_code_are_obeyed, .init = use_directory, .fini = remove_directory)
{
    setenv("PTXRUN_WIDTH", "4", 1);
    choose("measure", "1000000");
    cr_expect_not(has_trial(KERNEL("")));
}

/* A few launches are not worth a compilation. */
Test(trial, kernels_that_run_for_a_moment_are_left_alone, .init = use_directory,
     .fini = remove_directory)
{
    choose("measure", "1");
    CUdeviceptr out = allocate();
    struct crt_kernel *kernel = load(KERNEL(""));
    struct crt_choice choice;
    for (int i = 0; i < 5; i++)
        launch(kernel, out, 2);
    crt_background_wait();
    cr_expect(crt_trial_is_open(variant_of(kernel)));
    cr_expect_not(crt_choice_get(kernel, &variant_of(kernel)->key.facts, &choice));
}

Test(trial, a_module_is_unloaded_while_its_forms_are_made, .init = use_directory,
     .fini = remove_directory)
{
    choose("measure", "1000000");
    CUdeviceptr out = allocate();
    for (int i = 0; i < 10; i++) {
        CUmodule module;
        CUfunction function;
        OK(cuModuleLoadData(&module, KERNEL("")));
        OK(cuModuleGetFunction(&function, module, "k"));
        for (int n = 0; n < 3 * i; n++)
            launch((struct crt_kernel *)function, out, BLOCKS);
        OK(cuModuleUnload(module));
    }
    crt_background_wait();
    cr_expect(is_right(out, BLOCKS));
}
