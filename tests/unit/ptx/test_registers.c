/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"
#include "ptx/registers.h"

static void expect(const char *body, uint32_t registers)
{
    struct ptx_module *module = parse_body(body);
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    struct ptx_kernel_layout layout;
    cr_assert_eq(ptx_layout_kernel(module, kernel, &layout, NULL), PXR_OK);
    uint32_t estimate = ptx_estimate_registers(kernel, &layout);
    cr_expect_eq(estimate, registers, "%u instead of %u: %s", estimate, registers, body);
    ptx_layout_fini(&layout);
    ptx_module_destroy(module);
}

Test(registers, what_is_read_no_more_is_free)
{
    expect("mov.u32 %r0, 1; add.u32 %r1, %r0, 1; add.u32 %r2, %r1, 1; st.global.u32 [gvar], %r2;",
           1);
}

Test(registers, values_that_are_needed_later_stay)
{
    expect("mov.u32 %r0, 1; mov.u32 %r1, 2; mov.u32 %r2, 3;"
           "add.u32 %r3, %r2, %r1; add.u32 %r4, %r3, %r0; st.global.u32 [gvar], %r4;",
           3);
}

Test(registers, wide_values_need_two_and_predicates_none)
{
    expect("ld.param.u64 %rd0, [param]; setp.eq.u64 %p0, %rd0, 0; mov.u32 %r0, 1;"
           "@%p0 st.global.u32 [%rd0], %r0;",
           3);
}

Test(registers, what_a_guarded_instruction_writes_may_stay_as_it_was)
{
    expect("mov.u32 %r0, 1; mov.u32 %r1, 2; setp.eq.u32 %p0, %r1, 7; @%p0 mov.u32 %r0, %r1;"
           "st.global.u32 [gvar], %r0;",
           2);
}

Test(registers, loops_keep_what_they_read_again)
{
    expect("mov.u32 %r0, 1; mov.u32 %r1, 9; mov.u32 %r2, 0;\n"
           "again: add.u32 %r2, %r2, %r0; sub.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0;\n"
           "@%p0 bra again; st.global.u32 [gvar], %r2;",
           3);
}

Test(registers, branches_need_what_either_way_reads)
{
    expect("mov.u32 %r0, 1; mov.u32 %r1, 2; mov.u32 %r2, 3; setp.eq.u32 %p0, %r2, 7;\n"
           "@%p0 bra other; st.global.u32 [gvar], %r0; bra.uni done;\n"
           "other: st.global.u32 [gvar], %r1;\ndone:",
           3);
}

Test(registers, elements_in_braces_are_written_and_read)
{
    expect("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [gvar];"
           "st.global.v2.u32 [gvar], {%r0, %r3}; st.global.v2.u32 [gvar], {%r1, %r2};",
           4);
}
