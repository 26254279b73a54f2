/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of CUDA's early years, settings of core dumps, the messages of the driver.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

/* out[block.y * grid.x + block.x] = (unsigned)(a + b) + number of dynamic shared bytes */
static const char add_ptx[] =
    HEAD ".extern .shared .align 4 .b8 dynamic[];\n"
         ".visible .entry add(.param .u64 out, .param .u32 a, .param .f32 b)\n"
         "{\n .reg .b64 %rd<5>; .reg .b32 %r<9>; .reg .f32 %f<2>;\n"
         " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [a]; ld.param.f32 %f1, [b];\n"
         " cvt.rzi.u32.f32 %r2, %f1; add.u32 %r1, %r1, %r2;\n"
         " mov.u32 %r3, %dynamic_smem_size; add.u32 %r1, %r1, %r3;\n"
         " mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x;\n"
         " mad.lo.u32 %r7, %r5, %r6, %r4; mul.wide.u32 %rd2, %r7, 4; add.u64 %rd3, %rd1, %rd2;\n"
         " mov.u32 %r8, %ntid.x; add.u32 %r1, %r1, %r8; st.global.u32 [%rd3], %r1; ret;\n}\n";

static CUfunction load_add(void)
{
    CUmodule module;
    CUfunction add;
    OK(cuModuleLoadData(&module, add_ptx));
    OK(cuModuleGetFunction(&add, module, "add"));
    return add;
}

static void prepare(CUfunction add, CUdeviceptr *out)
{
    OK(cuMemAlloc_v2(out, 64));
    OK(cuMemsetD32_v2(*out, 0, 16));
    OK(cuFuncSetBlockShape(add, 7, 1, 1));
    OK(cuFuncSetSharedSize(add, 1000));
    OK(cuParamSetSize(add, 16));
    OK(cuParamSetv(add, 0, out, sizeof *out));
    OK(cuParamSeti(add, 8, 40));
    OK(cuParamSetf(add, 12, 2.0f));
}

static void expect_cells(CUdeviceptr out, unsigned count)
{
    unsigned cells[16];
    OK(cuMemcpyDtoH_v2(cells, out, sizeof cells));
    for (unsigned i = 0; i < 16; i++)
        cr_expect_eq(cells[i], i < count ? 40u + 2u + 7u + 1000u : 0u, "cell %u: %u", i, cells[i]);
}

Test(legacy, a_launch_can_be_put_together_piece_by_piece, .init = make_context)
{
    CUfunction add = load_add();
    CUdeviceptr out;
    prepare(add, &out);
    OK(cuLaunch(add));
    OK(cuCtxSynchronize());
    expect_cells(out, 1);
    OK(cuLaunchGrid(add, 3, 2));
    OK(cuCtxSynchronize());
    expect_cells(out, 6);
}

Test(legacy, such_a_launch_is_in_order_with_its_stream, .init = make_context)
{
    CUfunction add = load_add();
    CUdeviceptr out;
    CUstream stream;
    prepare(add, &out);
    OK(cuStreamCreate(&stream, 1));
    OK(cuLaunchGridAsync(add, 4, 4, stream));
    OK(cuMemsetD32Async(out + 32, 0, 8, stream));
    OK(cuStreamSynchronize(stream));
    expect_cells(out, 8);
}

Test(legacy, what_does_not_fit_a_launch_is_refused, .init = make_context)
{
    CUfunction add = load_add();
    int value = 0;
    EXPECT(CRT_INVALID_VALUE, cuLaunch(add)); /* no block shape yet */
    EXPECT(CRT_INVALID_VALUE, cuFuncSetBlockShape(add, 0, 1, 1));
    EXPECT(CRT_INVALID_VALUE, cuFuncSetBlockShape(add, 1, -1, 1));
    EXPECT(CRT_INVALID_VALUE, cuParamSetSize(add, 4097));
    EXPECT(CRT_INVALID_VALUE, cuParamSetv(add, 4095, &value, 4));
    EXPECT(CRT_INVALID_VALUE, cuParamSetv(add, -4, &value, 4));
    EXPECT(CRT_INVALID_VALUE, cuParamSetv(add, 0, NULL, 4));
    EXPECT(CRT_INVALID_VALUE, cuParamSeti(add, 4096, 1));
    EXPECT(CRT_INVALID_VALUE, cuLaunchGrid(add, 0, 1));
    EXPECT(CRT_INVALID_HANDLE, cuLaunchGridAsync(NULL, 1, 1, NULL));
}

Test(legacy, first_versions_of_context_functions_work, .init = make_context)
{
    CUcontext primary;
    CUcontext ctx;
    CUcontext popped = NULL;
    OK(cuCtxGetCurrent(&primary));
    OK(cuCtxCreate(&ctx, 0, 0));
    OK(cuCtxPopCurrent(&popped));
    cr_expect_eq(popped, ctx);
    OK(cuCtxPushCurrent(ctx));
    OK(cuCtxDestroy(ctx));
    OK(cuCtxGetCurrent(&popped));
    cr_expect_eq(popped, primary);
}

Test(legacy, a_context_lives_until_its_last_use_is_given_back, .init = make_context)
{
    CUcontext ctx;
    CUcontext same = NULL;
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuCtxAttach(&same, 0));
    cr_expect_eq(same, ctx);
    EXPECT(CRT_INVALID_VALUE, cuCtxAttach(&same, 1));
    EXPECT(CRT_INVALID_VALUE, cuCtxAttach(NULL, 0));
    OK(cuCtxDetach(ctx));
    OK(cuCtxSynchronize());
    OK(cuCtxDetach(ctx));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxDetach(ctx));
    OK(cuProfilerStart());
    OK(cuProfilerStop());
}

Test(legacy, sizes_that_do_not_fit_32_bits_are_the_largest_that_do, .init = make_context)
{
    size_t free_bytes;
    size_t total_bytes;
    unsigned total = 0;
    unsigned left = 0;
    OK(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    OK(cuDeviceTotalMem(&total, 0));
    cr_expect_eq(total, total_bytes > UINT32_MAX ? UINT32_MAX : (unsigned)total_bytes);
    OK(cuMemGetInfo(&left, &total));
    cr_expect_eq(left, free_bytes > UINT32_MAX ? UINT32_MAX : (unsigned)free_bytes);
    EXPECT(CRT_INVALID_VALUE, cuDeviceTotalMem(NULL, 0));
}

Test(legacy, host_memory_functions_work, .init = make_context)
{
    static char page[8192] __attribute__((aligned(4096)));
    void *pinned = NULL;
    OK(cuMemAllocHost(&pinned, 100));
    memset(pinned, 1, 100);
    OK(cuMemFreeHost(pinned));
    OK(cuMemHostRegister(page, sizeof page, 0));
    OK(cuMemHostUnregister(page));
}

/* ---- core dumps ---- */

Test(legacy, settings_of_core_dumps_are_kept, .init = make_context)
{
    char file[1024];
    char long_name[1100];
    unsigned flags = 3;
    _Bool is_on = 1;
    size_t size = 0;
    OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, NULL, &size));
    cr_expect_eq(size, 1024);
    OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, file, &size));
    cr_expect(strncmp(file, "core.cuda.", 10) == 0, "%s", file);
    cr_expect_eq(size, strlen(file) + 1);
    size = 5;
    EXPECT(CRT_INVALID_VALUE, cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, file, &size));
    size = 7;
    OK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, (void *)(uintptr_t)"a/dump", &size));
    size = sizeof file;
    OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, file, &size));
    cr_expect_str_eq(file, "a/dump");
    size = sizeof flags;
    OK(cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    flags = 0;
    OK(cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    cr_expect_eq(flags, 3);
    OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    cr_expect_eq(flags, 0, "a context's own");
    size = sizeof is_on;
    OK(cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &is_on, &size));
    cr_expect_not(is_on);
    EXPECT(CRT_NOT_PERMITTED, cuCoredumpSetAttribute(CU_COREDUMP_PIPE, file, &size));
    EXPECT(CRT_INVALID_VALUE, cuCoredumpSetAttribute(99, &is_on, &size));
    EXPECT(CRT_INVALID_VALUE, cuCoredumpGetAttribute(0, &is_on, &size));
    memset(long_name, 'a', sizeof long_name);
    size = sizeof long_name;
    EXPECT(CRT_INVALID_VALUE, cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, long_name, &size));
}

/* ---- messages ---- */

struct heard {
    atomic_int count;
    int level;
    char text[512];
};

static void hear(void *data, int level, char *message, size_t len)
{
    struct heard *heard = data;
    atomic_fetch_add(&heard->count, 1);
    heard->level = level;
    snprintf(heard->text, sizeof heard->text, "%.*s", (int)len, message);
}

static void make_message(void)
{
    CUmodule module;
    EXPECT(CRT_INVALID_PTX,
           cuModuleLoadData(&module, HEAD ".visible .entry broken() { frobnicate; }"));
}

Test(legacy, messages_are_heard_until_nobody_listens, .init = make_context)
{
    static struct heard heard;
    CUlogsCallbackHandle handle = NULL;
    OK(cuLogsRegisterCallback(hear, &heard, &handle));
    make_message();
    cr_expect_eq(atomic_load(&heard.count), 1);
    cr_expect_eq(heard.level, CU_LOG_LEVEL_ERROR);
    cr_expect(strstr(heard.text, "[CUDA][E] ") && strstr(heard.text, "frobnicate"), "%s",
              heard.text);
    OK(cuLogsUnregisterCallback(handle));
    EXPECT(CRT_INVALID_VALUE, cuLogsUnregisterCallback(handle));
    EXPECT(CRT_INVALID_VALUE, cuLogsUnregisterCallback(NULL));
    EXPECT(CRT_INVALID_VALUE, cuLogsRegisterCallback(NULL, NULL, &handle));
    make_message();
    cr_expect_eq(atomic_load(&heard.count), 1);
}

Test(legacy, messages_are_dumped_from_an_iterator_on, .init = make_context)
{
    CUlogIterator at = 0;
    char text[4096];
    size_t size = sizeof text;
    OK(cuLogsCurrent(&at, 0));
    OK(cuLogsDumpToMemory(&at, text, &size, 0));
    cr_expect_eq(size, 0);
    make_message();
    make_message();
    size = sizeof text;
    OK(cuLogsDumpToMemory(&at, text, &size, 0));
    cr_expect_eq(size, strlen(text));
    cr_expect_eq(text[size - 1], '\n');
    char *first = strchr(text, '\n');
    cr_assert(first && first != text + size - 1, "two lines: %s", text);
    size = sizeof text;
    OK(cuLogsDumpToMemory(&at, text, &size, 0));
    cr_expect_eq(size, 0, "the iterator has advanced");
    size = sizeof text;
    OK(cuLogsDumpToMemory(NULL, text, &size, 0));
    cr_expect(size > 0, "without iterator all are dumped");
    size = 10;
    EXPECT(CRT_INVALID_VALUE, cuLogsDumpToMemory(NULL, text, &size, 0));
    cr_expect_eq(size, 0);
    EXPECT(CRT_INVALID_VALUE, cuLogsDumpToMemory(NULL, NULL, &size, 0));
    EXPECT(CRT_INVALID_VALUE, cuLogsCurrent(&at, 1));
    EXPECT(CRT_INVALID_VALUE, cuLogsCurrent(NULL, 0));
}

Test(legacy, what_does_not_fit_a_dump_is_mentioned, .init = make_context)
{
    CUlogIterator at = 0;
    char text[500];
    size_t size = sizeof text;
    OK(cuLogsCurrent(&at, 0));
    for (int i = 0; i < 10; i++)
        make_message();
    OK(cuLogsDumpToMemory(&at, text, &size, 0));
    cr_expect(strncmp(text, "[older messages", 15) == 0, "%s", text);
    cr_expect(size > 100 && size < sizeof text);
    for (int i = 0; i < 200; i++)
        make_message();
    static char all[25600];
    size = sizeof all;
    OK(cuLogsDumpToMemory(&at, all, &size, 0));
    cr_expect(strncmp(all, "[older messages", 15) == 0);
}

Test(legacy, messages_are_dumped_to_a_file, .init = make_context)
{
    char path[] = "/tmp/ptxrun_logs_XXXXXX";
    char text[512] = "";
    CUlogIterator at;
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    OK(cuLogsCurrent(&at, 0));
    make_message();
    OK(cuLogsDumpToFile(&at, path, 0));
    cr_expect(read(fd, text, sizeof text - 1) > 0);
    cr_expect(strstr(text, "frobnicate"), "%s", text);
    close(fd);
    unlink(path);
    EXPECT(CRT_INVALID_VALUE, cuLogsDumpToFile(&at, "/nonexistent/folder/file", 0));
    EXPECT(CRT_INVALID_VALUE, cuLogsDumpToFile(&at, NULL, 0));
}
