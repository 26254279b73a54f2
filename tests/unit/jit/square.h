/* SPDX-License-Identifier: Apache-2.0
 *
 * A small kernel to compile, and what runs one thread of it; for tests with and without Criterion.
 */
#ifndef PTXRUN_TESTS_JIT_SQUARE_H
#define PTXRUN_TESTS_JIT_SQUARE_H

#include "jit/jit.h"
#include "tests/unit/robust/check.h"

#define HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

/* p[tid] = p[tid] * p[tid] + p[tid], with a barrier on line 14. */
static const char square_ptx[] = HEAD ".visible .entry square(.param .u64 p)\n"
                                      "{\n"
                                      "    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<4>;\n"
                                      "    ld.param.u64 %rd1, [p];\n"
                                      "    mov.u32 %r1, %tid.x;\n"
                                      "    mul.wide.u32 %rd2, %r1, 4;\n"
                                      "    add.s64 %rd3, %rd1, %rd2;\n"
                                      "    ld.global.f32 %f1, [%rd3];\n"
                                      "    mul.f32 %f2, %f1, %f1;\n"
                                      "    add.f32 %f3, %f2, %f1;\n"
                                      "    bar.sync 0;\n"
                                      "    st.global.f32 [%rd3], %f3;\n"
                                      "    ret;\n"
                                      "}\n";
#define SQUARE_BARRIER_LINE 14

struct kernel {
    struct ptx_module *module;
    struct ptx_kernel_layout layout;
    struct jit_request request;
};

static inline void open_kernel(struct kernel *kernel, const char *ptx, const char *name)
{
    struct pxr_error err = {0};
    CHECK(ptx_parse(pxr_str_from(ptx), "test.ptx", &kernel->module, &err) == PXR_OK);
    const struct ptx_func *func = ptx_find_entry(kernel->module, name);
    CHECK(func != NULL);
    CHECK(ptx_layout_kernel(kernel->module, func, &kernel->layout, &err) == PXR_OK);
    kernel->request = (struct jit_request){.module = kernel->module,
                                           .kernel = func,
                                           .layout = &kernel->layout,
                                           .variant = {.collapse = PXR_COLLAPSE_PRECISE}};
}

static inline void close_kernel(struct kernel *kernel)
{
    ptx_layout_fini(&kernel->layout);
    ptx_module_destroy(kernel->module);
}

static inline void run_square(const struct jit_code *code, float *data, uint32_t tid)
{
    void *params[1] = {data};
    struct rt_launch launch = {
        .params = (const uint8_t *)params, .grid = {1, 1, 1}, .block = {4, 1, 1}};
    struct rt_block block = {.launch = &launch};
    struct rt_thread thread = {.block = &block, .tid = {tid, 0, 0}, .lane = tid};
    jit_code_entry(code)(&thread);
}

static inline void check_square(const struct jit_code *code)
{
    float data[2] = {3, 4};
    run_square(code, data, 0);
    run_square(code, data, 1);
    CHECK(data[0] == 12 && data[1] == 20);
}

#endif
