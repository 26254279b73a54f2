/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of launches: what is found, the order among them, and the text.
 */
#include "facts_helper.h"

#include <criterion/criterion.h>
#include <string.h>

static struct tr_facts facts_of(struct facts_launch *launch)
{
    struct tr_facts facts;
    jit_facts_of(facts_launch_view(launch), &facts);
    return facts;
}

static struct facts_launch plain_launch(void)
{
    struct facts_launch launch = {.grid = {1000, 1, 1}, .block = {256, 2, 1}};
    facts_launch_add(&launch, PTX_TYPE_U64, FACTS_MEMORY(0) + 64);
    facts_launch_add(&launch, PTX_TYPE_U64, FACTS_MEMORY(1) + 24);
    facts_launch_add(&launch, PTX_TYPE_U32, 1000);
    facts_launch_add(&launch, PTX_TYPE_F32, 0);
    return launch;
}

Test(facts, shapes_are_known_exactly_and_grids_rounded_up)
{
    struct facts_launch launch = plain_launch();
    launch.dynamic_shared_bytes = 48;
    struct tr_facts facts = facts_of(&launch);
    cr_expect_eq(facts.block[0], 256);
    cr_expect_eq(facts.block[1], 2);
    cr_expect_eq(facts.block[2], 1);
    cr_expect_eq(facts.grid_max[0], 1024);
    cr_expect_eq(facts.grid_max[1], 1);
    cr_expect(facts.has_dynamic_shared);
    cr_expect_eq(facts.dynamic_shared_bytes, 48);
    launch.grid[0] = TR_GRID_MAX_X;
    cr_expect_eq(facts_of(&launch).grid_max[0], TR_GRID_MAX_X);
}

Test(facts, small_integers_get_a_bound_and_addresses_an_alignment)
{
    struct facts_launch launch = plain_launch();
    struct tr_facts facts = facts_of(&launch);
    cr_expect_eq(facts.params[0].align_log2, 4);
    cr_expect_eq(facts.params[0].max_log2, 0);
    cr_expect_eq(facts.params[1].align_log2, 3);
    cr_expect_eq(facts.params[2].max_log2, 10);
    cr_expect_eq(facts.params[2].align_log2, 0);
    launch.values[2] = 1u << 15;
    cr_expect_eq(facts_of(&launch).params[2].max_log2, 15);
    launch.values[2] = (1u << 15) + 1;
    cr_expect_eq(facts_of(&launch).params[2].max_log2, 30);
    launch.values[1] = FACTS_MEMORY(1) + 2;
    cr_expect_eq(facts_of(&launch).params[1].align_log2, 0);
    launch.values[2] = UINT32_MAX; /* -1 */
    cr_expect_eq(facts_of(&launch).params[2].max_log2, 0);
}

Test(facts, nothing_is_said_of_floats_vectors_and_structures)
{
    struct facts_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    facts_launch_add(&launch, PTX_TYPE_F32, 0);
    facts_launch_add(&launch, PTX_TYPE_F64, 64);
    facts_launch_add(&launch, PTX_TYPE_U64, 64);
    facts_launch_add(&launch, PTX_TYPE_U16, 3);
    launch.vars[2].is_array = true;
    struct tr_facts facts = facts_of(&launch);
    static const struct tr_param_fact none[4];
    cr_expect_arr_eq(facts.params, none, sizeof none);
}

Test(facts, an_allocation_that_two_parameters_reach_belongs_to_neither)
{
    struct facts_launch launch = plain_launch();
    struct tr_facts facts = facts_of(&launch);
    cr_expect(facts.params[0].is_distinct);
    cr_expect(facts.params[1].is_distinct);
    cr_expect_not(facts.params[2].is_distinct);
    facts_launch_add(&launch, PTX_TYPE_U64, FACTS_MEMORY(0) + 4096);
    facts = facts_of(&launch);
    cr_expect_not(facts.params[0].is_distinct);
    cr_expect(facts.params[1].is_distinct);
    cr_expect_not(facts.params[4].is_distinct);
    facts_launch_add(&launch, PTX_TYPE_U64, FACTS_MEMORY(0));
    cr_expect_not(facts_of(&launch).params[5].is_distinct, "a third one shares it too");
}

Test(facts, parameters_beyond_those_facts_are_about_still_share_memory)
{
    struct facts_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    for (uint64_t i = 0; i <= TR_FACTS_PARAMS; i++)
        facts_launch_add(&launch, PTX_TYPE_U64, FACTS_MEMORY(i));
    cr_expect(facts_of(&launch).params[3].is_distinct);
    launch.values[TR_FACTS_PARAMS] = FACTS_MEMORY(3) + 8;
    cr_expect_not(facts_of(&launch).params[3].is_distinct);
    cr_expect(facts_of(&launch).params[4].is_distinct);
}

Test(facts, without_knowledge_of_allocations_nothing_is_distinct)
{
    struct facts_launch launch = plain_launch();
    struct jit_launch view = *facts_launch_view(&launch);
    view.find_allocation = NULL;
    struct tr_facts facts;
    jit_facts_of(&view, &facts);
    cr_expect_not(facts.params[0].is_distinct);
}

Test(facts, a_set_implies_itself_the_empty_set_and_what_it_has_in_common_with_others)
{
    struct facts_random random = {1};
    static const struct tr_facts none;
    for (int i = 0; i < 20000; i++) {
        struct facts_launch a_launch = facts_launch_random(&random);
        struct facts_launch b_launch = facts_launch_vary(&a_launch, &random);
        struct tr_facts a = facts_of(&a_launch);
        struct tr_facts b = facts_of(&b_launch);
        struct tr_facts common = a;
        jit_facts_join(&common, &b);
        cr_assert(jit_facts_imply(&a, &a));
        cr_assert(jit_facts_imply(&a, &none));
        cr_assert(jit_facts_imply(&a, &common));
        cr_assert(jit_facts_imply(&b, &common));
        cr_assert_eq(jit_facts_weight(&none), 0);
        cr_assert(jit_facts_equal(&a, &common) || jit_facts_weight(&a) > jit_facts_weight(&common));
        struct tr_facts other = b;
        jit_facts_join(&other, &a);
        cr_assert(jit_facts_equal(&common, &other), "the order does not matter");
        if (jit_facts_imply(&a, &b))
            cr_assert(jit_facts_equal(&common, &b));
    }
}

Test(facts, what_is_found_and_what_is_implied_is_true_of_the_launch)
{
    struct facts_random random = {2};
    for (int i = 0; i < 20000; i++) {
        struct facts_launch launch = facts_launch_random(&random);
        struct facts_launch other = facts_launch_vary(&launch, &random);
        struct tr_facts facts = facts_of(&launch);
        struct tr_facts others = facts_of(&other);
        cr_assert(facts_are_true(&facts, &launch));
        cr_assert_eq(jit_facts_imply(&facts, &others), facts_are_true(&others, &launch),
                     "launch %d", i);
    }
}

Test(facts, every_single_fact_can_be_what_keeps_a_launch_away)
{
    struct facts_launch launch = plain_launch();
    launch.dynamic_shared_bytes = 16;
    struct tr_facts known = facts_of(&launch);
    struct tr_facts wanted = known;
    cr_expect(jit_facts_imply(&known, &wanted));
#define EXPECT_REFUSED(change)                                                                     \
    wanted = known;                                                                                \
    change;                                                                                        \
    cr_expect_not(jit_facts_imply(&known, &wanted), #change);                                      \
    cr_expect_not(jit_facts_equal(&known, &wanted), #change)
    EXPECT_REFUSED(wanted.block[0] = 128);
    EXPECT_REFUSED(wanted.block[2] = 2);
    EXPECT_REFUSED(wanted.grid_max[0] = 512);
    known.block[0] = wanted.block[0] = 0;
    EXPECT_REFUSED(wanted.has_whole_warps = true);
    EXPECT_REFUSED(wanted.dynamic_shared_bytes = 0);
    EXPECT_REFUSED(wanted.params[0].max_log2 = 30);
    EXPECT_REFUSED(wanted.params[1].align_log2 = 6);
    EXPECT_REFUSED(wanted.params[2].max_log2 = 8);
    EXPECT_REFUSED(wanted.params[2].is_distinct = true);
    EXPECT_REFUSED(wanted.params[1].image_shape = 0xa008);
    known.begins_inside = true;
    EXPECT_REFUSED(wanted.begins_inside = false);
#undef EXPECT_REFUSED
}

/* A handle says the texture's shape in its upper bits; the address below is no fact. */
Test(facts, shapes_of_textures_are_known)
{
    struct facts_launch launch = plain_launch();
    launch.values[0] = UINT64_C(0xa04e) << 48 | 0x7f0012345608;
    struct tr_facts facts = facts_of(&launch);
    char text[512];
    cr_expect_eq(facts.params[0].image_shape, 0xa04e);
    cr_expect_eq(facts.params[0].align_log2, 3);
    cr_expect(jit_facts_fit(&launch.func, &facts));
    jit_facts_text(&facts, text, sizeof text);
    cr_expect(strstr(text, "parameter 0 aligned to 8 and a texture of shape a04e"), "%s", text);
    launch.values[0] += 64;
    struct tr_facts other = facts_of(&launch);
    cr_expect(jit_facts_equal(&facts, &other), "another texture of that shape");
    launch.values[0] ^= UINT64_C(2) << 48;
    other = facts_of(&launch);
    cr_expect_not(jit_facts_imply(&other, &facts));
    jit_facts_join(&facts, &other);
    cr_expect_eq(facts.params[0].image_shape, 0);
    launch.values[0] = UINT64_MAX;
    cr_expect_eq(facts_of(&launch).params[0].image_shape, 0, "-1");
}

Test(facts, text_names_every_fact_and_fits_any_buffer)
{
    struct facts_launch launch = plain_launch();
    struct tr_facts facts = facts_of(&launch);
    char text[512];
    jit_facts_text(&facts, text, sizeof text);
    cr_expect_str_eq(text,
                     "block 256x2x1, grid at most 1024x1x1, 0 bytes of dynamic shared memory, "
                     "parameter 0 aligned to 16 and in memory of its own, "
                     "parameter 1 aligned to 8 and in memory of its own, "
                     "parameter 2 <= 1024");
    for (size_t size = 1; size < 40; size++) {
        char small[40];
        memset(small, 'x', sizeof small);
        jit_facts_text(&facts, small, size);
        cr_assert_eq(strlen(small), size - 1);
        cr_assert_eq(strncmp(small, text, size - 1), 0);
    }
    memset(&facts, 0, sizeof facts);
    jit_facts_text(&facts, text, sizeof text);
    cr_expect_str_eq(text, "none");
    facts.block[1] = 4;
    jit_facts_text(&facts, text, sizeof text);
    cr_expect_str_eq(text, "block ?x4x?");
}

/* Whoever reads facts from a file asks whether launches can have them. */
Test(facts, of_launches_fit_their_kernel_and_others_do_not)
{
    struct facts_random random = {.state = 7};
    for (int i = 0; i < 2000; i++) {
        struct facts_launch launch = facts_launch_random(&random);
        struct facts_launch varied = facts_launch_vary(&launch, &random);
        struct tr_facts facts = facts_of(&launch);
        struct tr_facts other = facts_of(&varied);
        cr_assert(jit_facts_fit(&launch.func, &facts));
        jit_facts_join(&facts, &other);
        cr_assert(jit_facts_fit(&launch.func, &facts));
    }
    struct facts_launch launch = plain_launch();
    struct tr_facts known = facts_of(&launch);
    struct tr_facts facts;
#define EXPECT_MISFIT(change)                                                                      \
    facts = known;                                                                                 \
    change;                                                                                        \
    cr_expect_not(jit_facts_fit(&launch.func, &facts), #change)
    EXPECT_MISFIT(facts.grid_max[0] = 1000);
    EXPECT_MISFIT(facts.grid_max[1] = 2);
    EXPECT_MISFIT(facts.params[0].align_log2 = 5);
    EXPECT_MISFIT(facts.params[2].max_log2 = 64);
    EXPECT_MISFIT(facts.params[2].align_log2 = 2);
    EXPECT_MISFIT(facts.params[2].is_distinct = true);
    EXPECT_MISFIT(facts.params[0].image_shape = 1);
    EXPECT_MISFIT(facts.params[2].image_shape = 0xa008);
    EXPECT_MISFIT(facts.params[3].max_log2 = 10);
    EXPECT_MISFIT(facts.params[4].max_log2 = 10);
#undef EXPECT_MISFIT
}
