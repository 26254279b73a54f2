/* SPDX-License-Identifier: Apache-2.0
 *
 * Variants: the one picked is always right, there are never too many, and changing launches settle.
 */
#include "facts_helper.h"
#include "jit/variant.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct made {
    struct tr_facts facts;
};

/* What a launch does: the variant it runs, made if need be. The number of variants made grows. */
static struct made *run_launch(struct jit_variants *variants, enum pxr_mode mode,
                               struct facts_launch *launch, unsigned *made_count)
{
    struct tr_facts facts;
    jit_variants_facts(mode, facts_launch_view(launch), &facts);
    struct made *found = jit_variants_pick(variants, &facts);
    if (found)
        return found;
    struct made *made = malloc(sizeof *made);
    jit_variants_plan(variants, mode, &facts, &made->facts);
    cr_assert(jit_variants_add(variants, &made->facts, made));
    (*made_count)++;
    cr_assert_eq(jit_variants_pick(variants, &facts), made, "a launch finds what was made for it");
    return made;
}

static void free_variants(struct jit_variants *variants)
{
    for (unsigned i = 0; i < atomic_load(&variants->count); i++)
        free(variants->entries[i].variant);
}

static const enum pxr_mode modes[] = {PXR_MODE_AUTO, PXR_MODE_JIT, PXR_MODE_NORMAL};

Test(variant, facts_of_the_variant_picked_are_true_of_the_launch_and_their_number_is_bounded)
{
    struct facts_random random = {3};
    for (int kernel = 0; kernel < 600; kernel++) {
        for (size_t m = 0; m < 3; m++) {
            struct jit_variants variants = {0};
            struct facts_launch launch = facts_launch_random(&random);
            unsigned made = 0;
            for (int i = 0; i < 60; i++) {
                struct made *picked = run_launch(&variants, modes[m], &launch, &made);
                cr_assert(facts_are_true(&picked->facts, &launch));
                launch = facts_launch_vary(&launch, &random);
            }
            cr_assert_leq(made, modes[m] == PXR_MODE_NORMAL ? 4 : JIT_VARIANTS_MAX);
            free_variants(&variants);
        }
    }
}

static struct facts_launch shape(uint32_t threads)
{
    return (struct facts_launch){.grid = {1, 1, 1}, .block = {threads, 1, 1}};
}

Test(variant, a_kernel_whose_shape_always_changes_settles_on_one_variant)
{
    for (size_t m = 0; m < 2; m++) {
        struct jit_variants variants = {0};
        unsigned made = 0;
        struct made *last = NULL;
        for (uint32_t threads = 1; threads <= 1024; threads++) {
            struct facts_launch launch = shape(threads);
            last = run_launch(&variants, modes[m], &launch, &made);
        }
        cr_expect_leq(made, JIT_VARIANTS_MAX);
        cr_expect_eq(last->facts.block[0], 0);
        struct facts_launch launch = shape(1);
        cr_expect_eq(run_launch(&variants, modes[m], &launch, &made)->facts.block[0], 1,
                     "the shape of the first launch still has its own");
        free_variants(&variants);
    }
}

Test(variant, auto_keeps_what_all_launches_have_in_common)
{
    struct jit_variants variants = {0};
    unsigned made = 0;
    struct made *last = NULL;
    for (uint32_t threads = 1; threads <= 64; threads++) {
        struct facts_launch launch = shape(threads);
        facts_launch_add(&launch, PTX_TYPE_U32, 100);
        last = run_launch(&variants, PXR_MODE_AUTO, &launch, &made);
    }
    cr_expect_eq(made, 5, "four shapes, then any");
    cr_expect_eq(last->facts.block[0], 0);
    cr_expect_eq(last->facts.block[1], 1);
    cr_expect_eq(last->facts.params[0].max_log2, 10);
    free_variants(&variants);
}

Test(variant, auto_widens_instead_of_making_another_for_the_same_shape)
{
    struct jit_variants variants = {0};
    unsigned made = 0;
    struct facts_launch launch = shape(32);
    facts_launch_add(&launch, PTX_TYPE_U32, 100);
    facts_launch_add(&launch, PTX_TYPE_U32, UINT32_MAX);
    run_launch(&variants, PXR_MODE_AUTO, &launch, &made);
    launch.values[0] = UINT32_MAX;
    launch.values[1] = 100;
    struct made *both = run_launch(&variants, PXR_MODE_AUTO, &launch, &made);
    cr_expect_eq(made, 2);
    cr_expect_eq(both->facts.block[0], 32);
    cr_expect_eq(both->facts.params[0].max_log2, 0);
    cr_expect_eq(both->facts.params[1].max_log2, 0);
    launch.values[1] = UINT32_MAX;
    cr_expect_eq(run_launch(&variants, PXR_MODE_AUTO, &launch, &made), both);
    free_variants(&variants);
}

Test(variant, auto_keeps_that_rows_of_all_launches_are_whole_warps)
{
    struct jit_variants variants = {0};
    unsigned made = 0;
    struct made *last = NULL;
    for (uint32_t threads = 32; threads <= 256; threads += 32) {
        struct facts_launch launch = shape(threads);
        last = run_launch(&variants, PXR_MODE_AUTO, &launch, &made);
    }
    cr_expect_eq(made, 5);
    cr_expect_eq(last->facts.block[0], 0);
    cr_expect(last->facts.has_whole_warps);
    struct facts_launch other = shape(40);
    last = run_launch(&variants, PXR_MODE_AUTO, &other, &made);
    cr_expect_not(last->facts.has_whole_warps);
    free_variants(&variants);
}

Test(variant, normal_mode_assumes_of_a_launch_what_kind_of_rows_its_blocks_are_and_nothing_else)
{
    struct facts_random random = {5};
    for (int i = 0; i < 2000; i++) {
        struct facts_launch launch = facts_launch_random(&random);
        bool is_row = launch.block[1] == 1 && launch.block[2] == 1;
        struct tr_facts kind = {.has_whole_warps = launch.block[0] % 32 == 0};
        if (is_row)
            kind.block[1] = kind.block[2] = 1;
        else if (launch.block[0] == 4 || launch.block[0] == 8 || launch.block[0] == 16)
            kind.block[0] = launch.block[0];
        struct jit_variants variants = {0};
        struct tr_facts facts, planned;
        jit_variants_facts(PXR_MODE_NORMAL, facts_launch_view(&launch), &facts);
        cr_assert(jit_facts_equal(&facts, &kind));
        jit_variants_plan(&variants, PXR_MODE_NORMAL, &facts, &planned);
        cr_assert(jit_facts_equal(&planned, &kind));
        jit_facts_of(facts_launch_view(&launch), &facts);
        jit_variants_plan(&variants, PXR_MODE_NORMAL, &facts, &planned);
        cr_assert(jit_facts_equal(&planned, &kind), "it may know more");
    }
}

Test(variant, normal_mode_has_code_for_whole_warps)
{
    struct jit_variants variants = {0};
    unsigned made = 0;
    struct facts_launch row = shape(96), rows = shape(32), odd = shape(33);
    rows.block[1] = 8;
    struct made *for_row = run_launch(&variants, PXR_MODE_NORMAL, &row, &made);
    struct made *for_rows = run_launch(&variants, PXR_MODE_NORMAL, &rows, &made);
    struct made *for_odd = run_launch(&variants, PXR_MODE_NORMAL, &odd, &made);
    odd.block[2] = 2;
    struct made *for_all = run_launch(&variants, PXR_MODE_NORMAL, &odd, &made);
    cr_expect_eq(made, 4);
    cr_expect(for_row->facts.has_whole_warps && for_rows->facts.has_whole_warps);
    cr_expect_not(for_odd->facts.has_whole_warps);
    cr_expect_eq(jit_facts_weight(&for_all->facts), 0);
    cr_expect_eq(run_launch(&variants, PXR_MODE_NORMAL, &row, &made), for_row);
    cr_expect_eq(run_launch(&variants, PXR_MODE_NORMAL, &rows, &made), for_rows);
    free_variants(&variants);
}

Test(variant, normal_mode_has_code_for_tiles_of_which_a_warp_has_several_rows)
{
    struct jit_variants variants = {0};
    unsigned made = 0;
    struct facts_launch tile = shape(16), flat = shape(16), row = shape(16), odd = shape(12);
    tile.block[1] = 16;
    flat.block[1] = 4;
    odd.block[1] = 4;
    struct made *for_tiles = run_launch(&variants, PXR_MODE_NORMAL, &tile, &made);
    cr_expect_eq(run_launch(&variants, PXR_MODE_NORMAL, &flat, &made), for_tiles);
    cr_expect_neq(run_launch(&variants, PXR_MODE_NORMAL, &row, &made), for_tiles);
    cr_expect_neq(run_launch(&variants, PXR_MODE_NORMAL, &odd, &made), for_tiles);
    cr_expect_eq(made, 3);
    cr_expect_eq(for_tiles->facts.block[0], 16);
    cr_expect_eq(for_tiles->facts.block[1], 0);
    free_variants(&variants);
}

Test(variant, normal_mode_has_code_for_rows_and_code_for_all)
{
    struct jit_variants variants = {0};
    unsigned made = 0;
    struct facts_launch row = shape(7), longer = shape(1023), rows = shape(7), planes = shape(7);
    rows.block[1] = 3;
    planes.block[2] = 2;
    struct made *for_rows = run_launch(&variants, PXR_MODE_NORMAL, &row, &made);
    struct made *for_all = run_launch(&variants, PXR_MODE_NORMAL, &rows, &made);
    cr_expect_eq(jit_facts_weight(&for_all->facts), 0);
    cr_expect_eq(run_launch(&variants, PXR_MODE_NORMAL, &planes, &made), for_all);
    cr_expect_eq(run_launch(&variants, PXR_MODE_NORMAL, &longer, &made), for_rows);
    cr_expect_eq(made, 2);
    free_variants(&variants);
}

Test(variant, the_variant_with_the_better_facts_is_picked)
{
    struct jit_variants variants = {0};
    struct tr_facts none = {.has_dynamic_shared = false};
    struct tr_facts block = {.block = {32, 1, 1}};
    struct tr_facts more = {.block = {32, 1, 1}, .grid_max = {256, 1, 1}};
    struct tr_facts launch = {.block = {32, 1, 1}, .grid_max = {256, 1, 1}};
    struct tr_facts large = {.block = {32, 1, 1}, .grid_max = {4096, 1, 1}};
    int a, b, c;
    cr_expect_null(jit_variants_pick(&variants, &launch));
    cr_assert(jit_variants_add(&variants, &none, &a));
    cr_expect_eq(jit_variants_pick(&variants, &launch), &a);
    cr_assert(jit_variants_add(&variants, &more, &c));
    cr_assert(jit_variants_add(&variants, &block, &b));
    cr_expect_eq(jit_variants_pick(&variants, &launch), &c);
    cr_expect_eq(jit_variants_pick(&variants, &large), &b);
    cr_expect_eq(jit_variants_pick(&variants, &none), &a);
}

/* Code that can begin inside a block does for all launches, but others are not planned for it. */
Test(variant, code_that_begins_inside_is_made_for_who_asks)
{
    struct tr_facts plain = {.block = {32, 1, 1}};
    struct tr_facts inside = {.block = {32, 1, 1}, .begins_inside = true};
    struct tr_facts planned;
    for (int mode = PXR_MODE_AUTO; mode <= PXR_MODE_NORMAL; mode++) {
        struct jit_variants variants = {0};
        int code;
        jit_variants_plan(&variants, (enum pxr_mode)mode, &inside, &planned);
        cr_expect(planned.begins_inside);
        cr_assert(jit_variants_add(&variants, &planned, &code));
        cr_expect_eq(jit_variants_pick(&variants, &plain), &code);
        jit_variants_plan(&variants, (enum pxr_mode)mode, &plain, &planned);
        cr_expect_not(planned.begins_inside);
    }
}

Test(variant, there_is_no_room_for_more_than_the_bound)
{
    struct jit_variants variants = {0};
    struct tr_facts none = {.has_dynamic_shared = false};
    int variant;
    for (int i = 0; i < JIT_VARIANTS_MAX; i++)
        cr_assert(jit_variants_add(&variants, &none, &variant));
    cr_expect_not(jit_variants_add(&variants, &none, &variant));
}
