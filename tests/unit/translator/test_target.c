/* SPDX-License-Identifier: Apache-2.0
 *
 * Which row describes a CPU, and what follows from the length of its vectors.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "translator/module/target.h"
#include "translator/vector/plan/access.h"

Test(target, a_cpu_is_of_the_family_that_names_it)
{
    static const struct {
        const char *cpu;
        uint32_t bits;
        const char *family;
    } cases[] = {{"znver4", 512, "zen-4"},
                 {"znver5", 512, "zen-5"},
                 {"znver1", 256, "zen"},
                 {"haswell", 256, "haswell"},
                 {"sapphirerapids", 512, "xeon-512"},
                 {"graniterapids-d", 512, "xeon-512"},
                 {"x86-64-v3", 256, "any-avx2"},
                 {"x86-64-v4", 512, "any-avx-512"},
                 {"neoverse-v2", 128, "any-neon"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(tr_target_find(cases[i].cpu, cases[i].bits).family, cases[i].family, "%s",
                         cases[i].cpu);
}

/* What LLVM knows of a CPU goes by its vectors, also where a machine hides the longer ones. */
Test(target, an_unknown_cpu_is_any_with_its_vectors)
{
    static const char *const cpus[] = {"", "x86-64", "znver", "znver45", "znver1 znver2", " "};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        cr_expect_str_eq(tr_target_find(cpus[i], 256).family, "any-avx2", "'%s'", cpus[i]);
        cr_expect_str_eq(tr_target_find(cpus[i], 512).family, "any-avx-512", "'%s'", cpus[i]);
    }
    cr_expect_str_eq(tr_target_find("znver4", 256).family, "any-avx2");
#if defined(__x86_64__)
    cr_expect_str_eq(tr_target_find("", 128).family, "any-sse");
#else
    cr_expect_str_eq(tr_target_find("", 128).family, "any-neon");
#endif
}

Test(target, a_family_is_found_by_its_name)
{
    struct tr_target target;
    cr_assert(tr_target_of_family("zen-4", &target));
    cr_expect_eq(target.vector_bits, 512);
    cr_expect_eq(target.evidence, TR_MEASURED);
    cr_expect(!tr_target_of_family("zen-", &target));
}

Test(target, vectors_decide_what_there_are_instructions_for)
{
    struct tr_target v128 = tr_target_find("", 128);
    struct tr_target v256 = tr_target_find("", 256);
    struct tr_target v512 = tr_target_find("", 512);
    cr_expect(!v128.has_gather && !v128.has_scatter && !v128.masks_words && !v128.masks_all);
    cr_expect(!v256.has_scatter && v256.masks_words && !v256.masks_all);
    cr_expect(v512.has_gather && v512.has_scatter && v512.masks_words && v512.masks_all);
    cr_expect_eq(v256.vector_bits, 256);
    cr_expect(v256.converts_halves && v256.has_fused && v512.converts_halves && v512.has_fused);
#if defined(__x86_64__)
    cr_expect(!v128.converts_halves && !v128.has_fused);
#endif
    cr_expect_eq(v256.cache_bytes, 0);
}

/* LLVM makes a branch for each lane of a gather under a mask where it does not trust the CPU's. */
Test(target, gathers_are_left_to_cpus_for_which_llvm_has_one)
{
    static const struct {
        const char *cpu;
        bool has_gather;
    } cases[] = {{"x86-64-v3", false}, {"haswell", false},  {"znver3", false},
                 {"skylake", true},    {"alderlake", true}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(tr_target_find(cases[i].cpu, 256).has_gather, cases[i].has_gather, "%s",
                     cases[i].cpu);
}

/* A Zen 4 takes a gather apart; addresses that are one plus constants need not be taken out. */
Test(target, lanes_at_one_distance_are_accessed_as_is_faster)
{
    struct tr_target zen = tr_target_find("znver4", 512);
    struct tr_target xeon = tr_target_find("sapphirerapids", 512);
    struct tr_memory strided = {.has_stride = true}, any = {.has_stride = false};
    cr_expect(tr_plan_is_faster_by_lane(&zen, &strided));
    cr_expect(!tr_plan_is_faster_by_lane(&zen, &any));
    cr_expect(!tr_plan_is_faster_by_lane(&xeon, &strided));
}

/* 0 would make values that can be computed again ones that cannot (collapse/again.c). */
Test(target, no_cost_is_zero)
{
    struct tr_again_costs costs = tr_target_find("", 512).again;
    const uint32_t *numbers = &costs.retype;
    for (size_t i = 0; i < sizeof costs / sizeof *numbers; i++)
        cr_expect_gt(numbers[i], 0, "number %zu", i);
}

/* Instructions that not all CPUs have: under a mask, and of bf16. */
static bool may_lack(const char *figure, uint32_t bits)
{
    if (strcmp(figure, "bf16_dots") == 0)
        return bits < 512;
    return strncmp(figure, "masked", 6) == 0 && strstr(figure, "by_lane") == NULL;
}

Test(target, no_row_lacks_a_figure)
{
    static const char *const cpus[] = {"x86-64-v2", "haswell", "skylake",        "alderlake",
                                       "znver3",    "znver4",  "sapphirerapids", "znver5"};
    static const uint32_t bits[] = {128, 256, 256, 256, 256, 512, 512, 512};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        struct tr_target target = tr_target_find(cpus[i], bits[i]);
        for (size_t f = 0; f < TR_FIGURE_COUNT; f++)
            if (!may_lack(tr_figure_names[f].name, bits[i]))
                cr_expect_gt(tr_figure(&target, f), 0, "%s, %s", cpus[i], tr_figure_names[f].name);
    }
}

/* Xeons have half the rate of f32 for them. */
Test(target, dot_products_are_for_cpus_that_gain_by_them)
{
    cr_expect(tr_target_find("znver4", 512).gains_bf16_dots);
    cr_expect(tr_target_find("znver5", 512).gains_bf16_dots);
    cr_expect(tr_target_find("cooperlake", 512).gains_bf16_dots);
    cr_expect(!tr_target_find("sapphirerapids", 512).gains_bf16_dots);
    cr_expect(!tr_target_find("znver3", 256).gains_bf16_dots);
}

/* A shorter vector is one instruction as well; lanes count one by one. */
Test(target, figures_are_of_whole_registers)
{
    struct tr_target target = tr_target_find("znver4", 512);
    cr_expect_float_eq(tr_of_vector(&target, 16, 2), 2, 1e-9);
    cr_expect_float_eq(tr_of_vector(&target, 8, 2), 1, 1e-9);
    cr_expect_float_eq(tr_of_vector(&target, 4, 2), 1, 1e-9);
    cr_expect_float_eq(tr_by_lane(&target, 4, 32), 8, 1e-9);
}
