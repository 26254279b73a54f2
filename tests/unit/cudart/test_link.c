/* SPDX-License-Identifier: Apache-2.0
 *
 * The linker API: several inputs become one module.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

/* Calls a function and reads variables of other inputs; has a local of a name others have too. */
static const char caller_ptx[] =
    HEAD ".extern .func (.param .b32 result) twice(.param .b32 value);\n"
         ".extern .global .align 4 .u32 offset;\n"
         ".weak .global .align 4 .u32 chosen = 1;\n"
         ".common .global .align 4 .b8 pool[8];\n"
         ".extern .shared .align 4 .b8 scratch[];\n"
         ".global .align 4 .u32 own = 100;\n"
         ".visible .entry sum(.param .u64 out)\n"
         "{\n .reg .b32 %r<9>; .reg .b64 %rd<2>;\n"
         " st.shared.u32 [scratch], 5;\n"
         " { .param .b32 in; .param .b32 res; st.param.b32 [in], 21;\n"
         "   call (res), twice, (in); ld.param.b32 %r1, [res]; }\n"
         " ld.global.u32 %r2, [offset]; ld.global.u32 %r3, [chosen]; ld.global.u32 %r4, [own];\n"
         " add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n"
         " ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r1;\n"
         " ld.shared.u32 %r5, [scratch]; st.global.u32 [%rd1 + 4], %r5; ret;\n}\n";

/* twice also adds one to the dynamic shared array, which both inputs declare. */
static const char callee_ptx[] = HEAD
    ".visible .global .align 4 .u32 offset = 1000;\n"
    ".visible .global .align 4 .u32 chosen = 20000;\n"
    ".common .global .align 4 .b8 pool[64];\n"
    ".extern .shared .align 16 .b8 scratch[];\n"
    ".global .align 4 .u32 own = 0;\n"
    ".visible .func (.param .b32 result) twice(.param .b32 value)\n"
    "{\n .reg .b32 %r<4>;\n ld.param.b32 %r1, [value]; ld.global.u32 %r2, [own];\n"
    " mad.lo.u32 %r1, %r1, 2, %r2; st.param.b32 [result], %r1;\n"
    " ld.shared.u32 %r3, [scratch]; add.u32 %r3, %r3, 1; st.shared.u32 [scratch], %r3; ret;\n}\n";

struct link {
    CUlinkState state;
    char log[2048];
    CUjit_option options[2];
    void *values[2];
};

static void open_link(struct link *link)
{
    make_context();
    *link = (struct link){.options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
                          .values = {link->log, (void *)sizeof link->log}};
    OK(cuLinkCreate_v2(2, link->options, link->values, &link->state));
}

static CUresult add_text(struct link *link, const char *text, const char *name)
{
    return cuLinkAddData_v2(link->state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                            strlen(text) + 1, name, 0, NULL, NULL);
}

static void run(CUmodule module, const char *kernel, CUdeviceptr out)
{
    CUfunction function;
    void *params[] = {&out};
    OK(cuModuleGetFunction(&function, module, kernel));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 64, NULL, params, NULL));
    OK(cuCtxSynchronize());
}

static void check_sum(CUmodule module)
{
    CUdeviceptr out;
    uint32_t result[2];
    OK(cuMemAlloc_v2(&out, sizeof result));
    run(module, "sum", out);
    OK(cuMemcpyDtoH_v2(result, out, sizeof result));
    cr_expect_eq(result[0], 42 + 1000 + 20000 + 100, "%u", result[0]);
    cr_expect_eq(result[1], 6, "the shared array is one: %u", result[1]);
    OK(cuMemFree_v2(out));
}

Test(linker, inputs_call_and_share_variables_with_each_other)
{
    struct link link;
    void *image;
    size_t bytes;
    size_t pool_bytes = 0;
    CUmodule module;
    open_link(&link);
    OK(add_text(&link, caller_ptx, "caller"));
    OK(add_text(&link, callee_ptx, "callee"));
    OK(cuLinkComplete(link.state, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link.state));
    check_sum(module);
    OK(cuModuleGetGlobal_v2(NULL, &pool_bytes, module, "pool"));
    cr_expect_eq(pool_bytes, 64, "of common variables the largest stays");
    OK(cuModuleUnload(module));
}

Test(linker, the_image_is_bytes_that_can_be_kept_in_a_file)
{
    struct link link;
    void *image;
    size_t bytes;
    CUmodule module;
    char path[] = "/tmp/ptxrun_link_XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    open_link(&link);
    OK(add_text(&link, callee_ptx, "callee"));
    OK(add_text(&link, caller_ptx, NULL));
    OK(cuLinkComplete(link.state, &image, &bytes));
    cr_assert_eq(write(fd, image, bytes), (ssize_t)bytes);
    close(fd);
    OK(cuLinkDestroy(link.state));
    OK(cuModuleLoad(&module, path));
    check_sum(module);
    OK(cuModuleUnload(module));
    cr_assert_eq(truncate(path, (off_t)bytes - 8), 0);
    EXPECT(CRT_INVALID_IMAGE, cuModuleLoad(&module, path));
    unlink(path);
}

Test(linker, takes_device_code_out_of_host_archives_and_objects)
{
    static const char twice_ptx[] =
        HEAD ".visible .func (.param .b32 result) _Z5twicei(.param .b32 value)\n"
             "{ .reg .b32 %r<3>; ld.param.b32 %r1, [value]; shl.b32 %r2, %r1, 1;\n"
             "  st.param.b32 [result], %r2; ret; }\n";
    static const struct {
        CUjitInputType type;
        const char *path;
    } INPUTS[] = {{CU_JIT_INPUT_LIBRARY, PTXRUN_FATBIN_DATA "/two.a"},
                  {CU_JIT_INPUT_OBJECT, PTXRUN_FATBIN_DATA "/rdc_a.obj"}};
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        struct link link;
        void *image;
        size_t bytes;
        CUmodule module;
        CUdeviceptr data;
        int value = 21;
        open_link(&link);
        OK(cuLinkAddFile_v2(link.state, INPUTS[i].type, INPUTS[i].path, 0, NULL, NULL));
        OK(add_text(&link, twice_ptx, "twice"));
        OK(cuLinkComplete(link.state, &image, &bytes));
        OK(cuModuleLoadData(&module, image));
        OK(cuMemAlloc_v2(&data, sizeof value));
        OK(cuMemcpyHtoD_v2(data, &value, sizeof value));
        run(module, "_Z10call_twicePi", data);
        OK(cuMemcpyDtoH_v2(&value, data, sizeof value));
        cr_expect_eq(value, 42, "%s: %d", INPUTS[i].path, value);
        OK(cuModuleUnload(module));
        OK(cuLinkDestroy(link.state));
    }
}

Test(linker, says_in_the_log_what_cannot_be_linked)
{
    struct link link;
    void *image;
    size_t bytes;
    open_link(&link);
    OK(add_text(&link, callee_ptx, "first"));
    OK(add_text(&link, callee_ptx, "second"));
    cr_expect_neq(cuLinkComplete(link.state, &image, &bytes), CRT_SUCCESS);
    cr_expect(strstr(link.log, "defined a second time"), "%s", link.log);
    OK(cuLinkDestroy(link.state));

    open_link(&link);
    OK(add_text(&link, HEAD ".visible .entry broken() { frobnicate; }", "broken"));
    EXPECT(CRT_INVALID_PTX, cuLinkComplete(link.state, &image, &bytes));
    cr_expect(strstr(link.log, "frobnicate"), "%s", link.log);
    OK(cuLinkDestroy(link.state));
}

Test(linker, a_refused_input_leaves_the_others)
{
    struct link link;
    void *image;
    size_t bytes;
    CUmodule module;
    open_link(&link);
    EXPECT(CRT_INVALID_VALUE, cuLinkComplete(link.state, &image, &bytes));
    OK(add_text(&link, caller_ptx, "caller"));
    EXPECT(CRT_NO_BINARY_FOR_GPU,
           cuLinkAddFile_v2(link.state, CU_JIT_INPUT_CUBIN, PTXRUN_FATBIN_DATA "/sm_80.cubin", 0,
                            NULL, NULL));
    EXPECT(CRT_FILE_NOT_FOUND,
           cuLinkAddFile_v2(link.state, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL));
    EXPECT(CRT_NOT_SUPPORTED,
           cuLinkAddData_v2(link.state, CU_JIT_INPUT_NVVM, image, 4, "ir", 0, NULL, NULL));
    EXPECT(CRT_INVALID_IMAGE, add_text(&link, "no PTX at all", "noise"));
    OK(add_text(&link, callee_ptx, "callee"));
    OK(cuLinkComplete(link.state, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    check_sum(module);
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link.state));
}
