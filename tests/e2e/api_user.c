/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as a user of the C API writes it: doubles an array with a kernel given as PTX text.
 */
#include <ptxrun/ptxrun.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] = ".version 7.0\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".visible .entry twice(.param .u64 data, .param .u32 count)\n"
                          "{\n"
                          "    .reg .pred %outside;\n"
                          "    .reg .b32 %r<5>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    .reg .f32 %f<2>;\n"
                          "    mov.u32 %r1, %tid.x;\n"
                          "    mov.u32 %r2, %ctaid.x;\n"
                          "    mov.u32 %r3, %ntid.x;\n"
                          "    mad.lo.s32 %r1, %r2, %r3, %r1;\n"
                          "    ld.param.u32 %r4, [count];\n"
                          "    setp.ge.u32 %outside, %r1, %r4;\n"
                          "    @%outside ret;\n"
                          "    ld.param.u64 %rd1, [data];\n"
                          "    mul.wide.u32 %rd2, %r1, 4;\n"
                          "    add.s64 %rd1, %rd1, %rd2;\n"
                          "    ld.global.f32 %f1, [%rd1];\n"
                          "    add.f32 %f1, %f1, %f1;\n"
                          "    st.global.f32 [%rd1], %f1;\n"
                          "    ret;\n"
                          "}\n";

int main(void)
{
    enum { COUNT = 1000 };
    float values[COUNT + 1];
    for (int i = 0; i <= COUNT; i++)
        values[i] = (float)i;

    struct ptxrun_error err;
    struct ptxrun_module *module;
    struct ptxrun_kernel *kernel;
    float *data = values;
    int count = COUNT;
    if (ptxrun_load_text(ptx, strlen(ptx), &module, &err) ||
        ptxrun_find_kernel(module, "twice", &kernel, &err) ||
        ptxrun_launch(
            kernel,
            &(struct ptxrun_launch){.grid = {(COUNT + 255) / 256, 1, 1}, .block = {256, 1, 1}},
            (void *[]){&data, &count}, 2, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    ptxrun_unload(module);

    int wrong = values[COUNT] != COUNT; // not touched
    for (int i = 0; i < COUNT; i++)
        wrong += values[i] != 2.0f * (float)i;
    printf("ptxrun %s: %d wrong values\n", ptxrun_version(), wrong);
    return wrong != 0;
}
