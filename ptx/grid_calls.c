/* SPDX-License-Identifier: Apache-2.0
 *
 * See grid_calls.h. The barrier is that of the headers' grid groups, in the workspace that a
 * cooperative launch has: the word behind the first. The blocks but one add 1 to it and that one
 * what makes the sum 2^31, so that its highest bit changes when all have come.
 */
#include "ptx/grid_calls.h"

static const char TEXT[] =
    ".version 6.0\n"
    ".target sm_60\n"
    ".address_size 64\n"
    /* 1: cudaCGScopeGrid. The handle is the workspace; 0 where the launch is not cooperative. */
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle (.param .b32 scope)\n"
    "{\n"
    "    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
    "    ld.param.u32 %r1, [scope];\n"
    "    mov.u32 %r2, %envreg1;\n"
    "    mov.u32 %r3, %envreg2;\n"
    "    mov.b64 %rd1, {%r3, %r2};\n"
    "    setp.eq.u32 %p1, %r1, 1;\n"
    "    selp.b64 %rd2, %rd1, 0, %p1;\n"
    "    st.param.b64 [handle], %rd2;\n"
    "    ret;\n"
    "}\n"
    ".visible .func (.param .b32 result) cudaCGSynchronize (.param .b64 handle, .param .b32 "
    "flags)\n"
    "{\n"
    "    .reg .pred %p<5>; .reg .b32 %r<16>; .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [handle];\n"
    "    setp.eq.u64 %p1, %rd1, 0;\n"
    "    @%p1 bra REFUSED;\n"
    "    bar.sync 0;\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    mov.u32 %r2, %tid.y;\n"
    "    mov.u32 %r3, %tid.z;\n"
    "    or.b32 %r1, %r1, %r2;\n"
    "    or.b32 %r1, %r1, %r3;\n"
    "    setp.ne.u32 %p2, %r1, 0;\n"
    "    @%p2 bra ARRIVED;\n"
    "    mov.u32 %r4, %nctaid.x;\n"
    "    mov.u32 %r5, %nctaid.y;\n"
    "    mov.u32 %r6, %nctaid.z;\n"
    "    mul.lo.u32 %r4, %r4, %r5;\n"
    "    mul.lo.u32 %r4, %r4, %r6;\n"
    "    mov.u32 %r7, %ctaid.x;\n"
    "    mov.u32 %r8, %ctaid.y;\n"
    "    mov.u32 %r9, %ctaid.z;\n"
    "    or.b32 %r7, %r7, %r8;\n"
    "    or.b32 %r7, %r7, %r9;\n"
    "    sub.u32 %r10, 0x80000001, %r4;\n"
    "    setp.eq.u32 %p3, %r7, 0;\n"
    "    selp.b32 %r11, %r10, 1, %p3;\n"
    "    membar.gl;\n"
    "    atom.add.u32 %r12, [%rd1+4], %r11;\n"
    "WAITING:\n"
    "    ld.volatile.u32 %r13, [%rd1+4];\n"
    "    xor.b32 %r14, %r12, %r13;\n"
    "    setp.ge.s32 %p4, %r14, 0;\n"
    "    @%p4 bra WAITING;\n"
    "    membar.gl;\n"
    "ARRIVED:\n"
    "    bar.sync 0;\n"
    "    st.param.b32 [result], 0;\n"
    "    ret;\n"
    "REFUSED:\n"
    "    st.param.b32 [result], 1;\n" /* cudaErrorInvalidValue */
    "    ret;\n"
    "}\n";

static bool lacks(const struct ptx_module *module, const char *name)
{
    const struct ptx_func *func = ptx_find_func(module, name);
    return func && !func->has_body;
}

bool ptx_needs_grid_calls(const struct ptx_module *module)
{
    return lacks(module, "cudaCGGetIntrinsicHandle") || lacks(module, "cudaCGSynchronize");
}

enum pxr_status ptx_parse_grid_calls(struct ptx_module **module, struct pxr_error *err)
{
    return ptx_parse((struct pxr_str){TEXT, sizeof TEXT - 1}, "barriers of grids", module, err);
}
