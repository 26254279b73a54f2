/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers: every one of the table has a definition, and the common ones their values.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

struct expectation {
    const char *name;
    uint64_t value;
};

/* Of the last thread of a grid of 2x3x4 blocks of 5x3x3 threads: linear 44, warp 1, lane 12. */
static const struct expectation expectations[] = {
    {"%tid.x", 4},
    {"%tid.y", 2},
    {"%tid.z", 2},
    {"%ntid.x", 5},
    {"%ntid.y", 3},
    {"%ntid.z", 3},
    {"%ctaid.x", 1},
    {"%ctaid.y", 2},
    {"%ctaid.z", 3},
    {"%nctaid.x", 2},
    {"%nctaid.y", 3},
    {"%nctaid.z", 4},
    {"%laneid", 12},
    {"%warpid", 1},
    {"%smid", 5},
    {"%nsmid", 9},
    {"%gridid", 77},
    {"%lanemask_eq", 0x1000},
    {"%lanemask_le", 0x1fff},
    {"%lanemask_lt", 0xfff},
    {"%lanemask_ge", 0xfffff000},
    {"%lanemask_gt", 0xffffe000},
    {"%envreg1", 0x11223344},
    {"%envreg2", 0x55667788},
    {"%envreg3", 0},
    {"%dynamic_smem_size", 48},
    {"WARP_SZ", 32},
    {"%cluster_nctarank", 1},
    {"%cluster_ctarank", 0},
    {"%clusterid.y", 2},
};

#define EXPECTATION_COUNT (sizeof expectations / sizeof expectations[0])

static char *read_all(const char *const *names, const unsigned *bits, size_t count)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    fputs(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
          ".reg .b32 %r<3>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n",
          file);
    for (size_t i = 0; i < count; i++) {
        if (bits[i] == 64)
            fprintf(file, "mov.u64 %%rd2, %s;\n", names[i]);
        else
            fprintf(file, "mov.u32 %%r1, %s;\ncvt.u64.u32 %%rd2, %%r1;\n", names[i]);
        fprintf(file, "st.u64 [%%rd1+%zu], %%rd2;\n", 8 * i);
    }
    fputs("ret;\n}\n", file);
    fclose(file);
    return text;
}

Test(sreg, values_are_those_of_the_thread)
{
    const char *names[EXPECTATION_COUNT];
    unsigned bits[EXPECTATION_COUNT];
    uint64_t out[EXPECTATION_COUNT] = {0};
    for (size_t i = 0; i < EXPECTATION_COUNT; i++) {
        names[i] = expectations[i].name;
        bits[i] = strcmp(names[i], "%gridid") == 0 ? 64 : 32;
    }
    char *text = read_all(names, bits, EXPECTATION_COUNT);
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    memcpy(harness.grid, (uint32_t[]){2, 3, 4}, sizeof harness.grid);
    memcpy(harness.block, (uint32_t[]){5, 3, 3}, sizeof harness.block);
    harness.dynamic_shared_bytes = 48;
    harness.grid_workspace = 0x1122334455667788;
    uint64_t param = (uint64_t)out;
    harness_run(&harness, &param);
    for (size_t i = 0; i < EXPECTATION_COUNT; i++)
        cr_expect_eq(out[i], expectations[i].value, "%s is %llu", names[i],
                     (unsigned long long)out[i]);
    harness_close(&harness);
    free(text);
}

Test(sreg, every_register_of_the_table_is_defined)
{
    const char *names[PTX_SREG_COUNT];
    unsigned bits[PTX_SREG_COUNT];
    uint64_t out[PTX_SREG_COUNT] = {0};
    size_t count = 0;
    for (int i = 1; i < PTX_SREG_COUNT; i++) {
        if (ptx_sreg_table[i].type == PTX_TYPE_PRED)
            continue;
        names[count] = ptx_sreg_table[i].name;
        bits[count++] = ptx_type_bits(ptx_sreg_table[i].type);
    }
    char *text = read_all(names, bits, count);
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    uint64_t param = (uint64_t)out;
    harness_run(&harness, &param); /* an undefined one would have failed to load */
    harness_close(&harness);
    free(text);
}

Test(sreg, clocks_advance)
{
    uint64_t out[2] = {0};
    harness_eval("mov.u64 %rd1, %clock64; mov.u64 %rd2, %clock64; mov.u32 %r1, %clock_hi;\n"
                 "sub.u64 %rd3, %rd2, %rd1; st.u64 [%out], %rd3; st.u32 [%out+8], %r1;",
                 NULL, out);
    cr_expect_eq(out[0], 1);
    cr_expect_eq(out[1], 5);
}

Test(sreg, predicates_are_special_registers_too)
{
    uint32_t out = 7;
    harness_eval("mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p1;\n"
                 "st.u32 [%out], %r1;",
                 NULL, &out);
    cr_expect_eq(out, 0);
}
