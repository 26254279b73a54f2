/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong with an instruction on matrices and shows in its text. What they compute is in
 * tests/conformance.
 */
#include <criterion/criterion.h>

#include "eval_table.h"

Test(emit_matrix, sparsity_selectors_that_a_shape_does_not_have_are_refused)
{
    static const char *const refused[] = {
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, "
        "{%r1, %r2}, {%f0, %f1, %f2, %f3}, %r3, 4;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, "
        "%r3, 2, %p1, 1, 1, 0, 0;",
        "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, "
        "{%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, %r3, 1;",
    };
    CHECK_REFUSED(refused);
}

Test(emit_matrix, other_numbers_of_registers_than_the_matrices_have_are_refused)
{
    static const char *const refused[] = {
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, %p1, "
        "1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r1, %r2}, %rd1, "
        "%p1, 1, 1, 0;",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3}, "
        "{%r1}, {%f0, %f1, %f2, %f3};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
        "{%r1, %r2, %r3, %r4}, {%r1, %r2}, {%f0, %f1, %f2, %f3}, %r3, 0;",
    };
    CHECK_REFUSED(refused);
}

Test(emit_matrix, constants_that_wgmma_does_not_take_are_refused)
{
    static const char *const refused[] = {
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, %p1, "
        "1, 2, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, %p1, "
        "1, 1, 2, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, %p1, "
        "1, 1, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
        "{%r1, %r2, %r3, %r1}, %rd1, %p1, 1, 1, 0, 0;",
    };
    CHECK_REFUSED(refused);
}
