/* SPDX-License-Identifier: Apache-2.0
 *
 * The public C API, linked the way a user links it.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "ptxrun/ptxrun.h"

static const char scale_text[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 calls = 5;\n"
    ".visible .entry scale(.param .u64 data, .param .u32 n, .param .f32 factor)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<6>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    .reg .f32 %f<3>;\n"
    "    ld.param.u64 %rd1, [data];\n"
    "    ld.param.u32 %r1, [n];\n"
    "    ld.param.f32 %f1, [factor];\n"
    "    mov.u32 %r2, %ctaid.x;\n"
    "    mov.u32 %r3, %ntid.x;\n"
    "    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "    setp.ge.s32 %p, %r5, %r1;\n"
    "    @%p ret;\n"
    "    mul.wide.s32 %rd2, %r5, 4;\n"
    "    add.s64 %rd3, %rd1, %rd2;\n"
    "    ld.global.f32 %f2, [%rd3];\n"
    "    mul.f32 %f2, %f2, %f1;\n"
    "    st.global.f32 [%rd3], %f2;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry textured(.param .u64 tex)\n"
    "{\n"
    "    .reg .b64 %rd<2>;\n"
    "    .reg .f32 %f<5>;\n"
    "    .reg .b32 %r<2>;\n"
    "    ld.param.u64 %rd1, [tex];\n"
    "    mov.u32 %r1, 0;\n"
    "    tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
    "    ret;\n"
    "}\n"
    ".visible .entry wild()\n"
    "{\n"
    "    .reg .b64 %rd<2>;\n"
    "    mov.u64 %rd1, 64;\n"
    "    st.global.u32 [%rd1], 1;\n"
    "    ret;\n"
    "}\n";

#define WILD_STORE_LINE 41
#define TEXTURE_LINE    34
#define COUNT           1000

static struct ptxrun_module *load_or_fail(void)
{
    struct ptxrun_module *module;
    struct ptxrun_error err = {0};
    cr_assert_eq(ptxrun_load_text(scale_text, sizeof scale_text - 1, &module, &err), PTXRUN_OK,
                 "%s", err.message);
    return module;
}

static struct ptxrun_kernel *find_or_fail(struct ptxrun_module *module, const char *name)
{
    struct ptxrun_kernel *kernel;
    struct ptxrun_error err = {0};
    cr_assert_eq(ptxrun_find_kernel(module, name, &kernel, &err), PTXRUN_OK, "%s", err.message);
    return kernel;
}

static void scale_and_check(struct ptxrun_kernel *kernel, float factor)
{
    float values[COUNT];
    float *data = values;
    int n = COUNT;
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    struct ptxrun_launch launch = {.grid = {(COUNT + 127) / 128, 1, 1}, .block = {128, 1, 1}};
    struct ptxrun_error err = {0};
    cr_assert_eq(ptxrun_launch(kernel, &launch, (void *[]){&data, &n, &factor}, 3, &err), PTXRUN_OK,
                 "%s", err.message);
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(values[i], (float)i * factor, "element %d", i);
}

Test(ptxrun_api, a_kernel_runs_on_host_memory)
{
    struct ptxrun_module *module = load_or_fail();
    struct ptxrun_kernel *kernel = find_or_fail(module, "scale");
    cr_assert_eq(ptxrun_param_count(kernel), 3);
    cr_assert_eq(ptxrun_param_bytes(kernel, 0), 8);
    cr_assert_eq(ptxrun_param_bytes(kernel, 2), 4);
    cr_assert_eq(ptxrun_param_bytes(kernel, 3), 0);
    cr_assert_str_eq(ptxrun_param_type(kernel, 0), "u64");
    cr_assert_null(ptxrun_param_type(kernel, 3));
    scale_and_check(kernel, 2.5f);
    ptxrun_unload(module);
}

Test(ptxrun_api, names_and_variables_are_found)
{
    struct ptxrun_module *module = load_or_fail();
    cr_assert_str_eq(ptxrun_kernel_name(module, 0), "scale");
    cr_assert_str_eq(ptxrun_kernel_name(module, 2), "wild");
    cr_assert_null(ptxrun_kernel_name(module, 3));
    void *address;
    size_t size_bytes;
    cr_assert_eq(ptxrun_find_variable(module, "calls", &address, &size_bytes, NULL), PTXRUN_OK);
    cr_assert_eq(size_bytes, 4);
    cr_assert_eq(*(unsigned *)address, 5);
    struct ptxrun_error err;
    cr_assert_eq(ptxrun_find_variable(module, "cells", &address, &size_bytes, &err),
                 PTXRUN_NOT_FOUND);
    cr_assert(strstr(err.message, "'cells'"), "%s", err.message);
    ptxrun_unload(module);
}

Test(ptxrun_api, an_unsupported_instruction_is_refused_only_where_it_is_used)
{
    struct ptxrun_module *module = load_or_fail();
    struct ptxrun_kernel *kernel;
    struct ptxrun_error err = {0};
    cr_assert_eq(ptxrun_find_kernel(module, "textured", &kernel, &err), PTXRUN_UNSUPPORTED);
    cr_assert(strstr(err.message, "tex.2dms.v4.f32.s32"), "%s", err.message);
    cr_assert(strstr(err.message, "textured"), "%s", err.message);
    cr_assert_eq(err.ptx_line, TEXTURE_LINE);
    scale_and_check(find_or_fail(module, "scale"), 3.0f);
    ptxrun_unload(module);
}

Test(ptxrun_api, a_fault_is_returned_and_the_module_stays_usable)
{
    struct ptxrun_module *module = load_or_fail();
    struct ptxrun_kernel *wild = find_or_fail(module, "wild");
    struct ptxrun_launch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    for (int round = 0; round < 20; round++) {
        struct ptxrun_error err = {0};
        cr_assert_eq(ptxrun_launch(wild, &launch, NULL, 0, &err), PTXRUN_KERNEL_FAULT);
        cr_assert_eq(err.ptx_line, WILD_STORE_LINE, "line %d", err.ptx_line);
        cr_assert(strstr(err.message, "'wild'"), "%s", err.message);
        cr_assert(strstr(err.message, "0x40"), "%s", err.message);
        scale_and_check(find_or_fail(module, "scale"), 0.5f);
    }
    ptxrun_unload(module);
}

Test(ptxrun_api, bad_arguments_are_named)
{
    struct ptxrun_module *module = load_or_fail();
    struct ptxrun_kernel *kernel = find_or_fail(module, "scale");
    struct ptxrun_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct ptxrun_error err = {0};
    cr_assert_eq(ptxrun_launch(kernel, &launch, NULL, 0, &err), PTXRUN_INVALID_ARGUMENT);
    cr_assert(strstr(err.message, "3 arguments"), "%s", err.message);
    float *data = NULL;
    int n = 0;
    float factor = 0;
    void *args[] = {&data, &n, &factor};
    cr_assert_eq(ptxrun_launch(kernel, &launch, NULL, 3, &err), PTXRUN_INVALID_ARGUMENT);
    cr_assert(strstr(err.message, "args is NULL"), "%s", err.message);
    cr_assert_eq(ptxrun_launch(kernel, &launch, (void *[]){&data, NULL, &factor}, 3, &err),
                 PTXRUN_INVALID_ARGUMENT);
    cr_assert(strstr(err.message, "args[1]"), "%s", err.message);
    launch.block[0] = 2048;
    cr_assert_eq(ptxrun_launch(kernel, &launch, args, 3, &err), PTXRUN_OUT_OF_RESOURCES);
    cr_assert(strstr(err.message, "1024 threads"), "%s", err.message);
    launch.block[0] = 1;
    launch.dynamic_shared_bytes = 1 << 20;
    cr_assert_eq(ptxrun_launch(kernel, &launch, args, 3, &err), PTXRUN_OUT_OF_RESOURCES);
    cr_assert(strstr(err.message, "shared memory"), "%s", err.message);
    launch.dynamic_shared_bytes = 0;
    launch.block[0] = 0;
    cr_assert_eq(ptxrun_launch(kernel, &launch, args, 3, &err), PTXRUN_INVALID_ARGUMENT);
    ptxrun_unload(module);
    cr_assert_eq(ptxrun_load_text(NULL, 0, &module, &err), PTXRUN_INVALID_ARGUMENT);
    ptxrun_unload(NULL);
}

Test(ptxrun_api, bad_text_is_an_error_with_a_line)
{
    struct ptxrun_module *module;
    struct ptxrun_error err = {0};
    const char *text = ".version 7.0\n.target sm_75\n.address_size 64\n.entry k() { bogus.u32; }\n";
    cr_assert_eq(ptxrun_load_text(text, strlen(text), &module, &err), PTXRUN_BAD_INPUT);
    cr_assert_eq(err.ptx_line, 4, "%s", err.message);
    cr_assert_null(module);
}

Test(ptxrun_api, files_are_read)
{
    char path[] = "/tmp/ptxrun-api-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, scale_text, sizeof scale_text - 1), (ssize_t)sizeof scale_text - 1);
    close(fd);
    struct ptxrun_module *module;
    struct ptxrun_error err = {0};
    cr_assert_eq(ptxrun_load_file(path, &module, &err), PTXRUN_OK, "%s", err.message);
    unlink(path);
    scale_and_check(find_or_fail(module, "scale"), 2.0f);
    ptxrun_unload(module);
    cr_assert_eq(ptxrun_load_file(path, &module, &err), PTXRUN_NOT_FOUND);
    cr_assert(strstr(err.message, path), "%s", err.message);
}

static void *launch_often(void *arg)
{
    struct ptxrun_kernel *kernel = arg;
    for (int i = 1; i < 50; i++)
        scale_and_check(kernel, (float)i);
    return NULL;
}

Test(ptxrun_api, one_module_serves_several_threads)
{
    struct ptxrun_module *module = load_or_fail();
    struct ptxrun_kernel *kernel = find_or_fail(module, "scale");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, launch_often, kernel);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ptxrun_unload(module);
}

Test(ptxrun_api, ptx_run_takes_values_as_pointers)
{
    for (int round = 0; round < 3; round++) {
        float values[64];
        for (int i = 0; i < 64; i++)
            values[i] = (float)i;
        union {
            float value;
            uint32_t bits;
        } factor = {.value = 4.0f};
        void *args[] = {values, (void *)(uintptr_t)64, (void *)(uintptr_t)factor.bits};
        cr_assert_eq(ptx_run(scale_text, 3, args, 32, 1, 1, 2, 1, 1), 0);
        for (int i = 0; i < 64; i++)
            cr_assert_eq(values[i], 4.0f * (float)i);
    }
    cr_assert_neq(ptx_run(scale_text, 2, (void *[]){NULL, NULL}, 32, 1, 1, 2, 1, 1), 0);
    cr_assert_neq(ptx_run("not PTX", 0, NULL, 1, 1, 1, 1, 1, 1), 0);
    cr_assert_neq(ptx_run(scale_text, 0, NULL, 0, 1, 1, 1, 1, 1), 0);
}
