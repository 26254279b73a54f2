/* SPDX-License-Identifier: Apache-2.0
 *
 * Small kernels for the tests of the barrier optimisation; see barrier_kernels.h.
 */
#include "barrier_kernels.h"

#include <stdio.h>

char *barrier_kernel(const char *body)
{
    char *text = NULL;
    int written = asprintf(
        &text,
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b32 %%r<10>; .reg .b64 %%rd<10>; .reg .b16 %%h<4>; .reg .f32 %%f<4>;\n"
        ".reg .pred %%p<4>; .reg .b32 %%tx, %%ty, %%base, %%own, %%mirror;\n"
        ".reg .b64 %%gin, %%gout; .shared .align 16 .b8 s[4096];\n"
        "ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];\n"
        "mov.u32 %%tx, %%tid.x; mov.u32 %%ty, %%tid.y; mov.u32 %%base, s; mov.u32 %%r8, 0;\n"
        "shl.b32 %%r1, %%tx, 2; add.u32 %%own, %%base, %%r1; sub.u32 %%mirror, 252, %%r1;\n"
        "add.u32 %%mirror, %%base, %%mirror; mul.wide.u32 %%rd3, %%tx, 4;\n"
        "add.u64 %%gin, %%rd1, %%rd3; add.u64 %%gout, %%rd2, %%rd3;\n%s\nret;\n}\n",
        body);
    return written < 0 ? NULL : text;
}
