/* SPDX-License-Identifier: Apache-2.0
 *
 * One form in one job: a kernel whose threads make their inputs from where they are, and the
 * oracle's opinion of every result. What is bit for bit the oracle's result is right; all else goes
 * to oracle_judge.
 */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/direct.h"
#include "tests/conformance/sweep.h"
#include "tests/oracle/bounds.h"
#include "tests/oracle/scalar.h"

#define LOWEST_PTX    78
#define LOWEST_SM     75
#define GRID_BLOCKS   2
#define BLOCK_THREADS 32
#define MARK_INPUTS   16384u /* of the oracle, for the fingerprint */

struct sweep_form {
    const struct conf_case *made;
    struct runner *runner;
    struct conf_direct *direct;
    const struct ptx_inst *inst;
    char *text;
    uint8_t *out; /* SWEEP_CHUNK results */
    unsigned out_bytes;
    unsigned type_bits;
    bool is_signed;
    uint64_t hash; /* of the translation */
};

/* ---- the kernel ---- */

static const char body_start[] = ".reg .b64 %out, %address;\n"
                                 ".reg .b32 %i0, %index, %count, %step, %first, %stride;\n"
                                 ".reg .b16 %byte;\n"
                                 ".reg .pred %done;\n"
                                 "ld.param.u32 %first, [p_first];\n"
                                 "ld.param.u32 %stride, [p_stride];\n"
                                 "ld.param.u64 %out, [p_out];\n"
                                 "mov.u32 %index, %ctaid.x;\n"
                                 "mov.u32 %step, %ntid.x;\n"
                                 "mov.u32 %count, %tid.x;\n"
                                 "mad.lo.u32 %index, %index, %step, %count;\n"
                                 "mov.u32 %count, %nctaid.x;\n"
                                 "mul.lo.u32 %step, %step, %count;\n"
                                 "ld.param.u32 %count, [p_count];\n"
                                 "NEXT:\n"
                                 "setp.ge.u32 %done, %index, %count;\n"
                                 "@%done bra END;\n"
                                 "mad.lo.u32 %i0, %index, %stride, %first;\n";

static const char body_end[] = "add.u32 %index, %index, %step;\n"
                               "bra NEXT;\n"
                               "END:\n"
                               "ret;\n"
                               "}\n";

static char *kernel_text(const struct conf_case *made, unsigned out_bytes)
{
    char *text = NULL;
    size_t size = 0;
    unsigned ptx = made->ptx > LOWEST_PTX ? made->ptx : LOWEST_PTX;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    fprintf(file,
            ".version %u.%u\n.target sm_%u%s\n.address_size 64\n"
            ".visible .entry sweep(.param .u32 p_first, .param .u32 p_stride,\n"
            "    .param .u32 p_count, .param .u64 p_out)\n{\n",
            ptx / 10, ptx % 10, made->sm > LOWEST_SM ? made->sm : LOWEST_SM,
            made->needs_arch ? "a" : "");
    if (made->out_bits[0] == 1)
        fputs(".reg .pred %o0;\n", file);
    else
        fprintf(file, ".reg .b%u %%o0;\n", made->out_bits[0]);
    fprintf(file, "%s{\n%s}\nmad.wide.u32 %%address, %%index, %u, %%out;\n", body_start, made->body,
            out_bytes);
    if (made->out_bits[0] == 1)
        fputs("selp.u16 %byte, 1, 0, %o0;\nst.global.u8 [%address], %byte;\n", file);
    else
        fprintf(file, "st.global.b%u [%%address], %%o0;\n", 8 * out_bytes);
    fputs(body_end, file);
    fclose(file);
    return text;
}

static enum pxr_status run_kernel(struct sweep_form *form, uint32_t first, uint32_t stride,
                                  uint32_t count, struct pxr_error *err)
{
    struct runner_buffer buffers[] = {{&first, sizeof first},
                                      {&stride, sizeof stride},
                                      {&count, sizeof count},
                                      {form->out, (size_t)SWEEP_CHUNK * form->out_bytes}};
    struct runner_launch launch = {.kernel = "sweep",
                                   .grid = {GRID_BLOCKS, 1, 1},
                                   .block = {BLOCK_THREADS, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = 4,
                                   .values = 7};
    return runner_run(form->runner, form->text, &launch, err);
}

/* ---- the fingerprint ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void hash_module(void *data, struct LLVMOpaqueModule *module)
{
    struct sweep_form *form = data;
    char *text = LLVMPrintModuleToString(module);
    form->hash = mix(UINT64_C(0xcbf29ce484222325), text, strlen(text));
    LLVMDisposeMessage(text);
}

/* A hash of the oracle's answers for inputs all over the range. */
static uint64_t hash_oracle(const struct sweep_form *form, uint64_t hash)
{
    for (uint32_t i = 0; i < MARK_INPUTS; i++) {
        struct oracle_scalar scalar = {.in_count = 1};
        scalar.in[0].u32 = i * (uint32_t)(SWEEP_ALL / MARK_INPUTS + 1);
        oracle_evaluate(form->inst, &scalar);
        hash = mix(hash, &scalar.out.u64, sizeof scalar.out.u64);
    }
    return hash;
}

/* ---- opening ---- */

bool sweep_takes(const struct conf_case *made)
{
    return !made->is_variant && made->in_count == 1 && made->out_count == 1 &&
           made->in_types[0] != PTX_TYPE_PRED && conf_register_bits(made->in_types[0]) == 32 &&
           ptx_type_bits(made->in_types[0]) == 32 && made->out_bits[0] <= 64;
}

static enum pxr_status open_oracle(struct sweep_form *form, struct pxr_error *err)
{
    enum pxr_status status = conf_direct_open(form->made, 1, &form->direct, err);
    if (status != PXR_OK)
        return status;
    form->inst = conf_direct_select(form->direct, 0);
    if (form->inst == NULL || oracle_source_type(form->inst, 0) == PTX_TYPE_NONE ||
        oracle_source_type(form->inst, 1) != PTX_TYPE_NONE)
        return pxr_fail(err, PXR_UNSUPPORTED, "%s has not one source", form->made->name);
    enum ptx_type type = oracle_result_type(form->inst);
    form->type_bits = ptx_type_bits(type);
    form->is_signed = ptx_type_is_signed(type);
    return PXR_OK;
}

enum pxr_status sweep_form_open(const struct conf_case *made, struct sweep_form **form,
                                uint64_t *fingerprint, struct pxr_error *err)
{
    struct sweep_form *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a form");
    struct runner_build build = {.collapse = PXR_COLLAPSE_PRECISE,
                                 .workers = 1,
                                 .hooks = {.data = opened, .mutate = hash_module}};
    opened->made = made;
    opened->out_bytes = made->out_bits[0] < 8 ? 1 : made->out_bits[0] / 8;
    opened->text = kernel_text(made, opened->out_bytes);
    opened->out = runner_alloc((size_t)SWEEP_CHUNK * opened->out_bytes);
    enum pxr_status status = PXR_OK;
    if (opened->text == NULL || opened->out == NULL)
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a form");
    if (status == PXR_OK)
        status = open_oracle(opened, err);
    if (status == PXR_OK)
        status = runner_open_inprocess(&build, &opened->runner, err);
    if (status == PXR_OK)
        status = run_kernel(opened, 0, 1, 1, err);
    if (status != PXR_OK) {
        sweep_form_close(opened);
        return status;
    }
    *fingerprint = hash_oracle(opened, opened->hash);
    *form = opened;
    return PXR_OK;
}

void sweep_form_close(struct sweep_form *form)
{
    if (form == NULL)
        return;
    runner_close(form->runner);
    conf_direct_close(form->direct);
    free(form->text);
    free(form->out);
    free(form);
}

/* ---- judging ---- */

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* PTX ISA "Operand Size Exceeding Instruction-Type Size": the value in a wider register. */
static uint64_t extended(const struct sweep_form *form, uint64_t value)
{
    value = low_bits(value, form->type_bits);
    if (form->is_signed && (value >> (form->type_bits - 1) & 1) != 0)
        value |= ~UINT64_C(0) << (form->type_bits - 1);
    return low_bits(value, form->made->out_bits[0]);
}

static void note_failure(struct sweep_result *result, uint32_t input, uint64_t want, uint64_t got)
{
    if (result->failures++ > 0 && result->first <= input)
        return;
    result->first = input;
    result->want = want;
    result->got = got;
}

/* Judges a result that is not the oracle's. */
static void judge(const struct sweep_form *form, const struct oracle_scalar *scalar, uint64_t want,
                  uint64_t got, struct sweep_result *result)
{
    union oracle_value want_value = {.u64 = want};
    union oracle_value got_value = {.u64 = got};
    double error = 0;
    double bound = 0;
    enum oracle_verdict verdict =
        oracle_judge(form->inst, scalar->in, 1, want_value, got_value, &error, &bound);
    if (verdict == ORACLE_WRONG || got != extended(form, got)) {
        note_failure(result, scalar->in[0].u32, want, got);
        return;
    }
    result->unspecified += verdict == ORACLE_UNSPECIFIED;
    if (verdict == ORACLE_WITHIN_BOUND && bound > 0 &&
        (result->bound <= 0 || error / bound > result->error / result->bound)) {
        result->error = error;
        result->bound = bound;
    }
}

enum pxr_status sweep_form_run(struct sweep_form *form, uint32_t first, uint32_t stride,
                               uint32_t count, struct sweep_result *result, struct pxr_error *err)
{
    struct oracle_scalar scalar = {.in_count = 1};
    memset(form->out, 0xcd, (size_t)SWEEP_CHUNK * form->out_bytes);
    enum pxr_status status = run_kernel(form, first, stride, count, err);
    for (uint32_t i = 0; status == PXR_OK && i < count; i++) {
        uint64_t got = 0;
        memcpy(&got, form->out + (size_t)i * form->out_bytes, form->out_bytes);
        scalar.in[0].u64 = first + i * stride;
        status = oracle_evaluate(form->inst, &scalar);
        uint64_t want = extended(form, scalar.out.u64);
        if (got != want)
            judge(form, &scalar, want, got, result);
        result->inputs++;
    }
    return status;
}

void sweep_result_add(struct sweep_result *sum, const struct sweep_result *part)
{
    if (part->failures > 0 && (sum->failures == 0 || part->first < sum->first)) {
        sum->first = part->first;
        sum->want = part->want;
        sum->got = part->got;
    }
    if (part->bound > 0 &&
        (sum->bound <= 0 || part->error / part->bound > sum->error / sum->bound)) {
        sum->error = part->error;
        sum->bound = part->bound;
    }
    sum->inputs += part->inputs;
    sum->failures += part->failures;
    sum->unspecified += part->unspecified;
}
