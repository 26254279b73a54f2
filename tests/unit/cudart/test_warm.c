/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling ahead, on several threads.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/api/init.h"
#include "cudart/core/code/warm.h"

#define KERNELS 3
#define THREADS 4

/* The last one cannot be translated. */
static const char ptx[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry one(.param .u64 out) { .reg .b64 %d<2>; ld.param.u64 %d1, [out];\n"
    " st.global.u32 [%d1], 1; ret; }\n"
    ".visible .entry two(.param .u64 out) { .reg .b64 %d<2>; ld.param.u64 %d1, [out];\n"
    " st.global.u32 [%d1], 2; bar.sync 0; st.global.u32 [%d1], 3; ret; }\n"
    ".visible .entry texture() { .reg .b32 %r1; .reg .b64 %rd1;\n"
    " tex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
    " ret; }\n";

static char directory[] = "/tmp/ptxrun-warm-XXXXXX";

static void use_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    setenv("PTXRUN_CACHE", "on", 1);
    setenv("PTXRUN_CACHE_DIR", directory, 1);
    setenv("PTXRUN_COMPUTE_CAPABILITY", "9.0", 1);
    cr_assert_eq(crt_init(0), CRT_SUCCESS);
}

static void remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

static struct crt_library *load(void)
{
    struct crt_library *library = NULL;
    struct pxr_error error;
    cr_assert_eq(crt_warm_load(ptx, sizeof ptx - 1, "test", &library, &error), CRT_SUCCESS, "%s",
                 error.message);
    return library;
}

static struct crt_library *library;
static _Atomic unsigned outcomes[CRT_WARM_FAILED + 1];

static void *warm_all(void *unused)
{
    for (size_t k = 0; k < KERNELS; k++) {
        struct crt_kernel *kernel = crt_warm_kernel_at(library, k);
        struct jit_variant variants[CRT_WARM_VARIANTS];
        size_t wanted = crt_warm_plan(kernel, variants);
        for (size_t v = 0; v < wanted; v++) {
            struct pxr_error error;
            atomic_fetch_add(&outcomes[crt_warm_kernel(kernel, &variants[v], "", &error)], 1);
        }
    }
    return unused;
}

/* Whoever wants what another one compiles waits for it. */
Test(warm, each_is_compiled_once, .init = use_directory, .fini = remove_directory)
{
    pthread_t threads[THREADS];
    const unsigned all = 2 * CRT_WARM_VARIANTS;
    library = load();
    cr_expect_null(crt_warm_kernel_at(library, KERNELS));
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, warm_all, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(outcomes[CRT_WARM_MADE], all);
    cr_expect_eq(outcomes[CRT_WARM_PRESENT], (THREADS - 1) * all);
    cr_expect_eq(outcomes[CRT_WARM_REFUSED], THREADS * CRT_WARM_VARIANTS);
    cr_expect_eq(outcomes[CRT_WARM_FAILED], 0);
    cr_expect_eq(crt_library_unload(library), CRT_SUCCESS);
}

Test(warm, facts_that_no_launch_has_are_refused, .init = use_directory, .fini = remove_directory)
{
    struct crt_library *loaded = load();
    struct crt_kernel *kernel = crt_warm_kernel_at(loaded, 0);
    struct pxr_error error = {0};
    const struct jit_variant variant = {.facts.params[0].align_log2 = 60};
    cr_expect_eq(crt_warm_kernel(kernel, &variant, "", &error), CRT_WARM_FAILED);
    cr_expect_not_null(strstr(error.message, "no launch"));
    cr_expect_eq(crt_library_unload(loaded), CRT_SUCCESS);
}

Test(warm, an_image_without_ptx_is_told, .init = use_directory, .fini = remove_directory)
{
    struct crt_library *none = NULL;
    struct pxr_error error = {0};
    cr_expect_neq(crt_warm_load("nothing", 7, "test", &none, &error), CRT_SUCCESS);
    cr_expect_not_null(strstr(error.message, "test"));
}
