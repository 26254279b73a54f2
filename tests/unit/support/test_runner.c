/* SPDX-License-Identifier: Apache-2.0
 *
 * The engines of tests/support give the same results and the same statuses.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "tests/support/runner.h"

#define COUNT 64

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".global .u32 bias = 7;\n"
                           ".visible .entry work(.param .u64 in, .param .u64 out)\n"
                           "{\n"
                           "    .reg .b32 %r<4>;\n    .reg .b64 %rd<6>;\n"
                           "    ld.param.u64 %rd1, [in];\n    ld.param.u64 %rd2, [out];\n"
                           "    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd3, %r1, 4;\n"
                           "    add.u64 %rd1, %rd1, %rd3;\n    add.u64 %rd2, %rd2, %rd3;\n"
                           "    ld.global.u32 %r2, [%rd1];\n    ld.global.u32 %r3, [bias];\n"
                           "    sub.u32 %r2, %r2, %r3;\n    st.global.u32 [%rd2], %r2;\n    ret;\n"
                           "}\n"
                           ".visible .entry stop(.param .u64 in)\n{\n    trap;\n}\n";

static struct runner *open_runner(int engine, const struct runner_hooks *hooks)
{
    struct runner *runner = NULL;
    struct pxr_error err = {0};
    struct runner_build build = {.workers = 1};
    if (hooks != NULL)
        build.hooks = *hooks;
    enum pxr_status status = engine == 0   ? runner_open_driver(PTXRUN_TEST_DRIVER, &runner, &err)
                             : engine == 1 ? runner_open_inprocess(&build, &runner, &err)
                                           : runner_open_oracle(0, &runner, &err);
    cr_assert_eq(status, PXR_OK, "%s", err.message);
    return runner;
}

static enum pxr_status run(struct runner *runner, const char *kernel, uint32_t *in, uint32_t *out)
{
    struct runner_buffer buffers[] = {{in, COUNT * sizeof *in}, {out, COUNT * sizeof *out}};
    struct runner_launch launch = {.kernel = kernel,
                                   .grid = {1, 1, 1},
                                   .block = {COUNT, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = strcmp(kernel, "work") == 0 ? 2 : 1};
    struct pxr_error err = {0};
    return runner_run(runner, text, &launch, &err);
}

static void check_engine(int engine)
{
    struct runner *runner = open_runner(engine, NULL);
    uint32_t *in = runner_alloc(COUNT * sizeof *in);
    uint32_t *out = runner_alloc(COUNT * sizeof *out);
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = i * i;
    cr_expect_eq(run(runner, "work", in, out), PXR_OK);
    for (uint32_t i = 0; i < COUNT; i++)
        cr_expect_eq(out[i], i * i - 7);
    cr_expect_eq(run(runner, "nothing", in, out), PXR_NOT_FOUND);
    cr_expect_eq(run(runner, "stop", in, out), PXR_FAULT_TRAP);
    memset(out, 0, COUNT * sizeof *out);
    cr_expect_eq(run(runner, "work", in, out), PXR_OK, "usable after a fault");
    cr_expect_eq(out[9], 81 - 7);
    cr_expect_eq(runner_load(runner, ".version 7.0 nonsense", NULL), PXR_BAD_PTX);
    free(in);
    free(out);
    runner_close(runner);
}

Test(runner, driver_runs_kernels_and_reports_faults)
{
    check_engine(0);
}

Test(runner, inprocess_runs_kernels_and_reports_faults)
{
    check_engine(1);
}

Test(runner, oracle_runs_kernels_and_reports_faults)
{
    check_engine(2);
}

static void swap_sources(void *data, struct ptx_inst *inst)
{
    struct ptx_operand *operands = data;
    if (inst->op != PTX_OP_SUB_INT)
        return;
    operands[0] = inst->operands[0];
    operands[1] = inst->operands[2];
    operands[2] = inst->operands[1];
    inst->operands = operands;
}

Test(runner, a_seeded_fault_changes_the_result)
{
    struct ptx_operand operands[3];
    struct runner_hooks hooks = {.data = operands, .rewrite = swap_sources};
    struct runner *runner = open_runner(1, &hooks);
    uint32_t *in = runner_alloc(COUNT * sizeof *in);
    uint32_t *out = runner_alloc(COUNT * sizeof *out);
    cr_expect_eq(run(runner, "work", in, out), PXR_OK);
    cr_expect_eq(out[0], 7);
    free(in);
    free(out);
    runner_close(runner);
}
