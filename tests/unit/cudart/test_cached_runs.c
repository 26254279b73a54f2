/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that share a cache: what the second one does without.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/profile.h"
#include "driver_fixture.h"
#include "peer_process.h"
#include "scheduler/scheduler.h"

static const char ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 n) {\n"
    " .reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d1, %d2;\n"
    " mul.lo.u32 %r3, %r1, %r2; st.global.u32 [%d3], %r3; ret; }\n";

static char directory[] = "/tmp/ptxrun-cached-XXXXXX";

static void use_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    setenv("PTXRUN_CACHE", "on", 1);
    setenv("PTXRUN_CACHE_DIR", directory, 1);
}

static void remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

static bool has_compiler(void)
{
    char line[4096];
    bool is_there = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        is_there |= strstr(line, "libptxrun-compile.so") != NULL;
    if (maps)
        fclose(maps);
    return is_there;
}

static CUfunction load(void)
{
    CUmodule module;
    CUfunction function;
    make_context();
    PEER_OK(cuModuleLoadData(&module, ptx));
    PEER_OK(cuModuleGetFunction(&function, module, "k"));
    return function;
}

/* Tells whether the compiler was opened. */
static void check_kernel(int socket)
{
    PEER_OK(cuFuncLoad(load()));
    tell(socket, &(bool){has_compiler()}, sizeof(bool));
}

static void launch(CUfunction function, CUdeviceptr out, unsigned threads, unsigned n)
{
    unsigned got[64];
    void *params[] = {&out, &n};
    PEER_OK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    PEER_OK(cuMemcpyDtoH_v2(got, out, threads * sizeof got[0]));
    for (unsigned i = 0; i < threads; i++)
        PEER_CHECK(got[i] == i * n);
}

/* Several shapes, so several variants. */
static void launch_kernel(int socket)
{
    CUdeviceptr out;
    CUfunction function = load();
    PEER_OK(cuMemAlloc_v2(&out, 64 * sizeof(unsigned)));
    for (unsigned threads = 1; threads <= 64; threads *= 4)
        launch(function, out, threads, threads + 3);
    tell(socket, &(bool){has_compiler()}, sizeof(bool));
}

static bool opens_compiler(void (*run)(int socket))
{
    bool is_open = false;
    struct peer peer = start_peer(run);
    cr_expect(hear(peer.socket, &is_open, sizeof is_open));
    expect_peer_succeeds(&peer);
    return is_open;
}

Test(cached_runs, check_a_kernel_without_the_compiler, .init = use_directory,
     .fini = remove_directory)
{
    cr_expect(opens_compiler(check_kernel));
    cr_expect_not(opens_compiler(check_kernel));
}

Test(cached_runs, launch_a_kernel_without_the_compiler, .init = use_directory,
     .fini = remove_directory)
{
    cr_expect(opens_compiler(launch_kernel));
    cr_expect_not(opens_compiler(launch_kernel));
}

Test(cached_runs, compile_what_was_only_checked, .init = use_directory, .fini = remove_directory)
{
    cr_expect(opens_compiler(check_kernel));
    cr_expect(opens_compiler(launch_kernel));
    cr_expect_not(opens_compiler(check_kernel));
}

/* ---- what quick code has earned in earlier processes ---- */

static void use_tiers(void)
{
    use_directory();
    setenv("PTXRUN_TIER", "auto", 1);
    setenv("PTXRUN_COMPILE_THREADS", "0", 1);
}

static CUfunction launch_twice(void)
{
    CUdeviceptr out;
    CUfunction function = load();
    PEER_OK(cuMemAlloc_v2(&out, 64 * sizeof(unsigned)));
    launch(function, out, 32, 3);
    launch(function, out, 32, 3);
    return function;
}

/* Tells whether there is best code. */
static void launch_in_tiers(int socket)
{
    CUfunction function = launch_twice();
    tell(socket, &(bool){atomic_load(&function->variants.count) > 0}, sizeof(bool));
}

static uint64_t price(const struct crt_kernel *kernel)
{
    return crt_tier_price(kernel, atomic_load(&kernel->quick));
}

/* As if the quick code had run for as long as the best costs. */
static void earn(int socket)
{
    CUfunction function = launch_twice();
    const struct tr_facts none = {0};
    const struct sch_progress progress = {.ran_ns = price(function)};
    struct crt_profile profile;
    crt_tier_note(function, &none, &progress);
    crt_tier_keep(function);
    PEER_CHECK(crt_profile_get(crt_code_cache(), function->outline->digest, &profile));
    PEER_CHECK(profile.quick_ns >= progress.ran_ns && profile.price_ns == 0);
    tell(socket, &(bool){atomic_load(&function->variants.count) > 0}, sizeof(bool));
}

static void launch_and_look(int socket)
{
    CUfunction function = launch_twice();
    struct crt_profile profile;
    PEER_CHECK(crt_profile_get(crt_code_cache(), function->outline->digest, &profile));
    PEER_CHECK(profile.quick_ns == 0 && profile.price_ns > 0);
    PEER_CHECK(profile.variant_count == 1 && profile.variants[0].facts.block[0] == 32);
    /* Of other variants, if there are to be any. */
    PEER_CHECK(!atomic_load(&function->quick) || price(function) == profile.price_ns);
    tell(socket, &(bool){atomic_load(&function->variants.count) > 0}, sizeof(bool));
}

/* Whether the process says true. */
static bool says_yes(void (*run)(int socket))
{
    return opens_compiler(run);
}

Test(cached_runs, earn_the_best_code_together, .init = use_tiers, .fini = remove_directory)
{
    cr_expect_not(says_yes(launch_in_tiers));
    cr_expect_not(says_yes(earn));
    cr_expect(says_yes(launch_and_look)); /* it is due at the second launch */
    cr_expect(says_yes(launch_and_look)); /* and in the cache from then on */
}

/* Not in the background: a process that ends soon would throw the code away, each time. */
static void launch_once(int socket)
{
    CUdeviceptr out;
    CUfunction function = load();
    PEER_OK(cuMemAlloc_v2(&out, 64 * sizeof(unsigned)));
    launch(function, out, 32, 3);
    tell(socket, &(bool){atomic_load(&function->variants.count) > 0}, sizeof(bool));
}

Test(cached_runs, make_the_code_that_others_have_earned_before_they_end, .init = use_tiers,
     .fini = remove_directory)
{
    cr_expect_not(says_yes(earn));
    setenv("PTXRUN_COMPILE_THREADS", "1", 1);
    cr_expect(says_yes(launch_once));
}
