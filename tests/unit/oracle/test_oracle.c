/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of the oracle: launches, memory that a test allows, variables, and what is not
 * one kernel's business. */
#include <stdlib.h>

#include "kernel.h"

static const char text[] = HEADER
    ".global .u32 count = 5;\n.const .u32 step[2] = {2, 3};\n.shared .u32 not_global;\n" KERNEL(
        "ld.global.u32 %r1, [count]; ld.const.u32 %r2, [step+4]; add.u32 %r1, %r1, %r2;\n"
        "st.global.u32 [count], %r1; st.global.u32 [%rd0], %r1; ret;");

static struct ptx_module *module;
static struct oracle *oracle;
static struct pxr_error err;

static void create(const char *ptx)
{
    cr_assert_eq(ptx_parse(pxr_str_from(ptx), "test", &module, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(oracle_create(module, &oracle, &err), PXR_OK, "%s", err.message);
}

static void destroy(void)
{
    oracle_destroy(oracle);
    ptx_module_destroy(module);
}

static enum pxr_status launch(const char *kernel, void *out, uint32_t threads)
{
    struct oracle_launch request = {
        .kernel = kernel,
        .grid = {1, 1, 1},
        .block = {threads, 1, 1},
        .params = &out,
    };

    return oracle_run(oracle, &request, &err);
}

Test(oracle, variables_live_from_launch_to_launch)
{
    uint32_t out = 0;
    size_t size_bytes;
    uint32_t *count;

    create(text);
    oracle_allow(oracle, &out, sizeof(out));
    count = oracle_var(oracle, "count", &size_bytes);
    cr_assert_eq(size_bytes, 4);
    cr_assert_eq(*count, 5);
    cr_assert_eq(launch("k", &out, 1), PXR_OK, "%s", err.message);
    cr_assert_eq(launch("k", &out, 1), PXR_OK, "%s", err.message);
    cr_assert_eq(*count, 11);
    cr_assert_eq(out, 11);
    *count = 1;
    cr_assert_eq(launch("k", &out, 1), PXR_OK, "%s", err.message);
    cr_assert_eq(out, 4);
    cr_assert_eq(oracle_var(oracle, "not_global", NULL), NULL);
    cr_assert_eq(oracle_var(oracle, "nothing", NULL), NULL);
    destroy();
}

Test(oracle, only_allowed_memory_is_touched)
{
    uint32_t out[2] = {0};

    create(text);
    cr_assert_eq(launch("k", &out[1], 1), PXR_FAULT_ADDRESS);
    oracle_allow(oracle, out, sizeof(out[0]));
    cr_assert_eq(launch("k", &out[1], 1), PXR_FAULT_ADDRESS);
    oracle_allow(oracle, out, sizeof(out));
    cr_assert_eq(launch("k", &out[1], 1), PXR_OK, "%s", err.message);
    oracle_forbid_all(oracle);
    cr_assert_eq(launch("k", &out[1], 1), PXR_FAULT_ADDRESS);
    destroy();
}

Test(oracle, bad_launches_are_refused)
{
    struct oracle_launch request = {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};

    create(text);
    cr_assert_eq(launch("missing", NULL, 1), PXR_NOT_FOUND);
    cr_assert_eq(launch("k", NULL, 0), PXR_INVALID_ARGUMENT);
    cr_assert_eq(launch("k", NULL, 1025), PXR_INVALID_ARGUMENT);
    cr_assert_eq(oracle_run(oracle, &request, &err), PXR_INVALID_ARGUMENT);
    request.block[0] = 1024;
    request.block[1] = 2;
    cr_assert_eq(oracle_run(oracle, &request, &err), PXR_OUT_OF_RESOURCES);
    destroy();
}

Test(oracle, addresses_of_32_bits_are_refused)
{
    static const char small[] = ".version 8.8\n.target sm_75\n.address_size 32\n";

    cr_assert_eq(ptx_parse(pxr_str_from(small), "test", &module, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(oracle_create(module, &oracle, &err), PXR_UNSUPPORTED);
    cr_assert_eq(oracle, NULL);
    ptx_module_destroy(module);
}

Test(oracle, an_instruction_without_a_body_is_refused_by_name)
{
    cr_assert_eq(status_of(KERNEL("multimem.red.add.u32 [%rd0], %r1;"), 1, &err), PXR_UNSUPPORTED);
    cr_assert(strstr(err.message, "multimem.red.add.u32"), "%s", err.message);
}

/* What nothing has written differs from seed to seed, so that a result which uses it shows. */
Test(oracle, unwritten_memory_depends_on_the_seed)
{
    static const char reads[] = HEADER KERNEL(".shared .u32 s; .local .u32 l;\n"
                                              "ld.shared.u32 %r1, [s]; ld.local.u32 %r2, [l];\n"
                                              "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r3};\n"
                                              "ret;");
    uint32_t *words = aligned_alloc(16, 32);
    void *params[2] = {words, words + 4};

    create(reads);
    oracle_allow(oracle, words, 32);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct oracle_launch request = {
            .kernel = "k",
            .grid = {1, 1, 1},
            .block = {1, 1, 1},
            .params = &params[seed - 1],
            .seed = seed,
        };

        cr_assert_eq(oracle_run(oracle, &request, &err), PXR_OK, "%s", err.message);
    }
    for (int i = 0; i < 3; i++)
        cr_assert_neq(words[i], words[i + 4]);
    free(words);
    destroy();
}

/* A read before another thread's write: some schedules give 0, others 1. */
Test(oracle, a_race_shows_in_some_schedule)
{
    static const char race[] = HEADER KERNEL("setp.eq.u32 %p1, %r0, 0;\n"
                                             "@%p1 st.volatile.global.u32 [%rd0], 1;\n"
                                             "ld.volatile.global.u32 %r1, [%rd0];\n"
                                             "st.global.u32 [%rd1+4], %r1; ret;");
    uint32_t seen = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint32_t words[3] = {0};
        void *params = words;
        struct oracle_launch request = {
            .kernel = "k", .grid = {1, 1, 1}, .block = {2, 1, 1}, .params = &params, .seed = seed};

        create(race);
        oracle_allow(oracle, words, sizeof(words));
        cr_assert_eq(oracle_run(oracle, &request, &err), PXR_OK, "%s", err.message);
        seen |= 1U << words[2];
        destroy();
    }
    cr_assert_eq(seen, 3);
}
