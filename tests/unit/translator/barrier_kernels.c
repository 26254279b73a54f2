/* SPDX-License-Identifier: Apache-2.0
 *
 * See barrier_kernels.h.
 */
#include "barrier_kernels.h"

#include <stdio.h>

#include <criterion/criterion.h>

#include "translator/pipeline.h"

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

struct ptx_module *barrier_kernel_parse(const char *text)
{
    struct pxr_error err = {0};
    struct ptx_module *ptx = NULL;
    cr_assert_eq(ptx_parse(pxr_str_from(text), "test.ptx", &ptx, &err), PXR_OK, "%s\n%s",
                 err.message, text);
    return ptx;
}

LLVMModuleRef barrier_kernel_translate(const struct ptx_module *ptx, LLVMContextRef context,
                                       bool check_alignment, const struct tr_facts *facts)
{
    struct pxr_error err = {0};
    struct ptx_kernel_layout layout;
    LLVMModuleRef module = NULL;
    const struct ptx_func *kernel = ptx_find_entry(ptx, "k");
    cr_assert_eq(ptx_layout_kernel(ptx, kernel, &layout, &err), PXR_OK, "%s", err.message);
    struct tr_options options = {.check_alignment = check_alignment,
                                 .triple = "x86_64-unknown-linux-gnu",
                                 .data_layout = "e-m:e-i64:64-i128:128-n8:16:32:64-S128"};
    cr_assert_eq(tr_translate_kernel(ptx, kernel, &layout, &options, context, &module, &err),
                 PXR_OK, "%s", err.message);
    tr_assume_facts(module, kernel, facts);
    cr_assert_eq(tr_run_passes(module, tr_steps[TR_STEP_APPLY_FACTS].passes, NULL, &err), PXR_OK,
                 "%s", err.message);
    ptx_layout_fini(&layout);
    return module;
}

uint32_t barrier_kernel_calls(LLVMModuleRef module, const char *name)
{
    uint32_t count = 0;
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    LLVMUseRef use = function == NULL ? NULL : LLVMGetFirstUse(function);
    for (; use != NULL; use = LLVMGetNextUse(use))
        count++;
    return count;
}
