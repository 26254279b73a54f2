/* SPDX-License-Identifier: Apache-2.0
 *
 * Which row describes a CPU, and what follows from the length of its vectors.
 */
#include <criterion/criterion.h>

#include "translator/module/target.h"

Test(target, a_cpu_is_of_the_family_that_names_it)
{
    static const struct {
        const char *cpu;
        const char *family;
    } cases[] = {{"znver4", "zen-512"},          {"znver5", "zen-512"}, {"znver1", "zen"},
                 {"sapphirerapids", "xeon-512"}, {"x86-64-v3", "core"}, {"neoverse-v2", "neoverse"},
                 {"graniterapids-d", "xeon-512"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(tr_target_find(cases[i].cpu, 256).family, cases[i].family, "%s",
                         cases[i].cpu);
}

Test(target, an_unknown_cpu_is_any)
{
    static const char *const cpus[] = {"", "x86-64", "znver", "znver45", "znver1 znver2", " "};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        cr_expect_str_eq(tr_target_find(cpus[i], 128).family, "any", "'%s'", cpus[i]);
}

Test(target, vectors_decide_what_there_are_instructions_for)
{
    struct tr_target v128 = tr_target_find("", 128);
    struct tr_target v256 = tr_target_find("", 256);
    struct tr_target v512 = tr_target_find("", 512);
    cr_expect(!v128.has_gather && !v128.has_scatter && !v128.masks_words && !v128.masks_all);
    cr_expect(v256.has_gather && !v256.has_scatter && v256.masks_words && !v256.masks_all);
    cr_expect(v512.has_gather && v512.has_scatter && v512.masks_words && v512.masks_all);
    cr_expect_eq(v256.vector_bits, 256);
    cr_expect(v256.converts_halves && v256.has_fused && v512.converts_halves && v512.has_fused);
#if defined(__x86_64__)
    cr_expect(!v128.converts_halves && !v128.has_fused);
#endif
    cr_expect_eq(v256.cache_bytes, 0);
}

/* 0 would make values that can be computed again ones that cannot (collapse/again.c). */
Test(target, no_cost_is_zero)
{
    struct tr_again_costs costs = tr_target_find("", 512).again;
    const uint32_t *numbers = &costs.retype;
    for (size_t i = 0; i < sizeof costs / sizeof *numbers; i++)
        cr_expect_gt(numbers[i], 0, "number %zu", i);
}
