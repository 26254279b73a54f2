/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"
#include "ptx/kernel_survey.h"

static struct ptx_module *module;
static struct ptx_kernel_layout layout;

static void lay_out_behind(const char *header, const char *text)
{
    char whole[4096];
    struct pxr_error err = {0};

    snprintf(whole, sizeof(whole), "%s%s", header, text);
    module = parse_text(whole);
    cr_assert_eq(ptx_layout_kernel(module, ptx_find_entry(module, "k"), &layout, &err), PXR_OK,
                 "%s", err.message);
}

static void lay_out(const char *text)
{
    lay_out_behind(HEADER, text);
}

static void finish(void)
{
    ptx_layout_fini(&layout);
    ptx_module_destroy(module);
}

static bool is_reached(const char *name)
{
    for (uint32_t i = 0; i < layout.reached_count; i++)
        if (strcmp(layout.reached[i]->name, name) == 0)
            return true;
    return false;
}

static uint32_t offset_of(const char *name)
{
    for (uint32_t i = 0; i < layout.shared_count; i++)
        if (strcmp(layout.shared_vars[i]->name, name) == 0)
            return layout.shared_offsets[i];
    cr_assert_fail("'%s' has no place", name);
    abort();
}

Test(layout, an_empty_kernel_needs_nothing)
{
    lay_out(".shared .u32 unused; .entry k() { ret; }");
    cr_assert_eq(layout.reached_count, 0);
    cr_assert_eq(layout.shared_count, 0);
    cr_assert_eq(layout.shared_static_bytes, 0);
    cr_assert_eq(layout.local_bytes, 0);
    cr_assert_not(layout.uses_dynamic_shared);
    cr_assert_not(layout.has_recursion);
    finish();
}

Test(layout, each_lane_has_its_own_copy_of_what_gcc_keeps_for_a_warp)
{
    lay_out(".shared .u32 __nvptx_uni[32]; .shared .u64 __nvptx_stacks[32]; .shared .u32 other[32];"
            ".entry k() { .reg .u32 %r; .reg .u64 %d; mov.u64 %d, __nvptx_uni;"
            "mov.u64 %d, __nvptx_stacks; mov.u64 %d, other; ret; }");
    cr_assert_eq(offset_of("__nvptx_uni"), 0);
    cr_assert_eq(offset_of("__nvptx_stacks"), 32 * 128);
    cr_assert_eq(offset_of("other"), 32 * 128 + 32 * 256);
    cr_assert_eq(layout.shared_static_bytes, 32 * 128 + 32 * 256 + 128);
    finish();
}

Test(layout, the_size_of_a_kernel_is_that_of_all_that_it_reaches)
{
    lay_out(".func unused() { ret; }\n"
            ".func f() { bar.sync 0; ret; }\n"
            ".entry k() { .reg .b32 r; L: mov.u32 r, 1; bra L; call f; ret; }");
    cr_expect_eq(ptx_count_instructions(ptx_find_entry(module, "k"), &layout), 6);
    finish();
}

Test(layout, shared_variables_are_placed_at_their_alignment)
{
    lay_out(".shared .u8 a; .extern .shared .align 16 .b8 dyn[]; .extern .shared .b8 same[];\n"
            ".func f() { .reg .b32 r; .shared .align 8 .b8 c[8]; ld.shared.u32 r, [c]; ret; }\n"
            ".entry k() { .reg .b32 r; .shared .align 4 .b8 b[5]; mov.u32 r, a;\n"
            "st.shared.u8 [b+1], r; mov.u32 r, dyn; mov.u32 r, same; call f; ret; }");
    cr_assert_eq(layout.shared_count, 3);
    cr_assert_eq(offset_of("a"), 0);
    cr_assert_eq(offset_of("b"), 4);
    cr_assert_eq(offset_of("c"), 16);
    cr_assert(layout.uses_dynamic_shared);
    cr_assert_eq(layout.dynamic_shared_align, 16);
    cr_assert_eq(layout.shared_static_bytes, 32);
    finish();
}

Test(layout, reserved_shared_memory_is_there_where_it_is_asked_for)
{
    lay_out(".shared .align 4 .b8 a[4];\n"
            ".func f() { .reg .b32 r; mov.u32 r, %reserved_smem_offset_1; ret; }\n"
            ".entry k() { .reg .b32 r; ld.shared.u32 r, [a]; call f; ret; }");
    cr_expect_eq(layout.shared_reserved_bytes, 1024);
    cr_expect_eq(offset_of("a"), 1024);
    cr_expect_eq(layout.shared_static_bytes, 1028);
    cr_expect_eq(layout.shared_align, 16);
    finish();
    lay_out(".entry k() { .reg .b32 r; mov.u32 r, %total_smem_size; ret; }");
    cr_expect_eq(layout.shared_reserved_bytes, 0);
    finish();
}

Test(layout, shared_memory_is_aligned_for_who_looks_at_bits_of_addresses)
{
    lay_out_behind(
        ".version 9.0\n.target sm_90a\n.address_size 64\n",
        ".entry k() { .reg .f32 d<4>; .reg .b64 a, b;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {d0, d1, d2, d3}, a, b, 1, 1, 1,\n"
        "0, 0; ret; }");
    cr_expect_eq(layout.shared_align, 1 << 18);
    finish();
    lay_out(".entry k() { .reg .b32 c, at; .reg .b64 map;\n"
            "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\n"
            "[at], [map, {c}], [at]; ret; }");
    cr_expect_eq(layout.shared_align, 1024);
    finish();
    lay_out(".entry k() { .shared .align 8192 .b8 a[8]; st.shared.u8 [a], 1; ret; }");
    cr_expect_eq(layout.shared_align, 4096);
    finish();
}

Test(layout, callees_are_reached_and_others_are_not)
{
    lay_out(".func leaf() { .local .align 4 .b8 d[20]; ret; } .func middle() { call leaf; ret; }\n"
            ".func other() { ret; }\n"
            ".entry k() { .local .align 8 .b8 d[40]; call middle; call leaf; ret; }");
    cr_assert_eq(layout.reached_count, 2);
    cr_assert(is_reached("leaf"));
    cr_assert(is_reached("middle"));
    cr_assert_not(layout.has_recursion);
    cr_assert_eq(layout.local_bytes, 48 + 32);
    finish();
}

Test(layout, recursion_is_found)
{
    lay_out(".func b(); .func a() { call b; ret; } .func b() { call a; ret; }\n"
            ".entry k() { call a; ret; }");
    cr_assert(layout.has_recursion);
    finish();
    lay_out(".func a() { call a; ret; } .entry k() { call a; ret; }");
    cr_assert(layout.has_recursion);
    finish();
}

Test(layout, calls_of_the_device_runtime_are_found_in_callees)
{
    lay_out(".extern .func __cudaCDP2GetLastError(); .extern .func vprintf();\n"
            ".func a() { call __cudaCDP2GetLastError; ret; } .entry k() { call a; ret; }");
    cr_assert(layout.calls_runtime);
    finish();
    lay_out(".extern .func __cudaCDP2GetLastError(); .extern .func vprintf();\n"
            ".func a() { call __cudaCDP2GetLastError; ret; } .entry k() { call vprintf; ret; }");
    cr_assert_not(layout.calls_runtime);
    finish();
}

Test(layout, indirect_calls_reach_every_function_whose_address_is_taken)
{
    lay_out(".func taken() { ret; } .func also() { ret; } .func not_taken() { ret; }\n"
            ".global .u64 table = also;\n"
            ".entry k() { .reg .u64 f; mov.u64 f, taken; p: .callprototype _ ();\n"
            "call f, (), p; ret; }");
    cr_assert(is_reached("taken"));
    cr_assert(is_reached("also"));
    cr_assert_not(is_reached("not_taken"));
    cr_assert(layout.has_recursion);
    finish();
}

Test(layout, too_much_shared_memory_is_an_error)
{
    struct pxr_error err = {0};

    module = parse_text(HEADER ".shared .b8 a[1000000000], b[1000000000];\n"
                               ".entry k() { .reg .u32 r; mov.u32 r, a; mov.u32 r, b; ret; }");
    cr_assert_eq(ptx_layout_kernel(module, ptx_find_entry(module, "k"), &layout, &err),
                 PXR_OUT_OF_RESOURCES);
    cr_assert_not_null(strstr(err.message, "kernel 'k'"));
    ptx_module_destroy(module);
}

Test(layout, module_scope_local_variables_get_offsets_when_they_are_used)
{
    lay_out(
        ".local .align 4 .b8 a[5]; .local .align 16 .b8 unused[99]; .local .align 32 .b8 b[8];\n"
        ".func f() { .reg .u64 r; mov.u64 r, b; ret; }\n"
        ".entry k() { .reg .u32 r; .local .align 8 .b8 own[8]; ld.local.u32 r, [a]; call f; ret; "
        "}");
    cr_assert_eq(layout.local_count, 2);
    cr_assert_str_eq(layout.local_vars[0]->name, "a");
    cr_assert_str_eq(layout.local_vars[1]->name, "b");
    cr_assert_eq(layout.local_offsets[1], 32);
    cr_assert_eq(layout.local_static_bytes, 48);
    cr_assert_eq(layout.local_bytes, 48 + 16);
    cr_assert_not(layout.has_recursion);
    finish();
}

Test(layout, alloca_leaves_the_need_for_stack_open)
{
    lay_out(".func f() { .reg .u64 r; alloca.u64 r, 16; ret; } .entry k() { call f; ret; }");
    cr_assert(layout.has_recursion);
    finish();
}
