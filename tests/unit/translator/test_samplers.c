/* SPDX-License-Identifier: Apache-2.0
 *
 * translator/facts/fixed_samplers.c: which fetches become code for a shape.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "kernel_abi/image_shape.h"
#include "translator/facts/fixed_samplers.h"

#define SHAPE_2D   0xa048u /* floats */
#define SHAPE_LINE 0xa008u

static LLVMModuleRef parse(LLVMContextRef context, const char *text)
{
    char *message = NULL;
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test.ll");
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        cr_assert_fail("%s", message);
    return module;
}

/* Whether the fetch of this request from a handle with these upper bits becomes code for them. */
static bool is_fixed(uint32_t shape, const char *sampler, const char *request)
{
    char text[1024];
    struct pxr_error err;
    bool has_any;
    snprintf(text, sizeof text,
             "declare i128 @rt_texture_fetch(ptr, i64, i64, i64, i64, i64, i64)\n"
             "define i128 @ptxrun_kernel(ptr %%t, i64 %%raw, i64 %%other) {\n"
             "  %%low = and i64 %%raw, 281474976710655\n"
             "  %%handle = or disjoint i64 %%low, %lld\n"
             "  %%r = call i128 @rt_texture_fetch(ptr %%t, i64 %%handle, i64 %s, i64 0, i64 0,"
             " i64 0, i64 %s)\n"
             "  ret i128 %%r\n}\n",
             (long long)((uint64_t)shape << RT_HANDLE_ADDRESS_BITS), sampler, request);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    cr_assert_eq(tr_fix_samplers(module, &has_any, &err), PXR_OK);
    LLVMValueRef helper = LLVMGetNamedFunction(module, "rt_sample_shape");
    LLVMValueRef sampler_function = LLVMGetNamedFunction(module, "rt_texture_fetch");
    cr_expect_eq(has_any, helper != NULL);
    cr_expect_eq(has_any, LLVMGetFirstUse(sampler_function) == NULL);
    cr_expect(!has_any || !LLVMIsDeclaration(helper), "the helper is linked in");
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return has_any;
}

Test(samplers, fetches_from_a_known_shape_are_code_for_it)
{
    cr_expect(is_fixed(SHAPE_2D, "%handle", "258"), "2d, floats");
    cr_expect(is_fixed(SHAPE_2D, "%handle", "2"), "2d, integers");
    cr_expect(is_fixed(SHAPE_2D, "%handle", "1282"), "the first level");
    cr_expect(is_fixed(SHAPE_LINE, "%handle", "1"), "linear memory");
}

Test(samplers, other_fetches_ask_the_descriptor)
{
    cr_expect_not(is_fixed(0, "%handle", "258"), "no shape");
    cr_expect_not(is_fixed(0xffff, "%handle", "258"), "no handle");
    cr_expect_not(is_fixed(SHAPE_2D, "%other", "258"), "a sampler of its own");
    cr_expect_not(is_fixed(SHAPE_2D, "%handle", "%other"), "offsets in registers");
    cr_expect_not(is_fixed(SHAPE_2D, "%handle", "4294967554"), "an offset");
    cr_expect_not(is_fixed(SHAPE_2D, "%handle", "2306"), "a depth");
    cr_expect_not(is_fixed(SHAPE_2D, "%handle", "4354"), "halves");
    cr_expect_not(is_fixed(SHAPE_2D, "%handle", "8450"), "four neighbours");
    cr_expect_not(is_fixed(SHAPE_2D, "%handle", "257"), "1d coordinates");
    cr_expect_not(is_fixed(SHAPE_LINE, "%handle", "257"), "floats in linear memory");
}
