/* SPDX-License-Identifier: Apache-2.0
 *
 * A function made ready to run: instructions in a row with their bodies, the places labels stand
 * for, and where each variable of the function lies in its register file and frame.
 */
#include <stdlib.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* PTX ISA, "Parameter State Space": parameters of a kernel are a block of their own; those of
 * functions and .param variables in bodies are in the frame. */
static bool is_in_frame(const struct ptx_func *func, const struct ptx_var *var)
{
    if (var->is_module_scope)
        return false;
    return var->space == PTX_SPACE_LOCAL ||
           (var->space == PTX_SPACE_PARAM && !(func->is_entry && var->is_input_param));
}

static bool place_vars(struct oracle_code *code)
{
    const struct ptx_func *func = code->func;
    uint64_t frame_bytes = 0;
    uint64_t slots = 0;

    code->frame_align = 16;
    for (uint32_t i = 0; i < func->var_count; i++) {
        const struct ptx_var *var = func->vars[i];

        if (var->space == PTX_SPACE_REG) {
            code->places[i] = (uint32_t)slots;
            slots += var->vector_len;
        } else if (is_in_frame(func, var)) {
            frame_bytes = (frame_bytes + var->align_bytes - 1) / var->align_bytes;
            frame_bytes *= var->align_bytes;
            code->places[i] = (uint32_t)frame_bytes;
            frame_bytes += var->size_bytes;
            if (var->align_bytes > code->frame_align)
                code->frame_align = var->align_bytes;
        }
        if (frame_bytes > UINT32_MAX / 2 || slots > UINT32_MAX / 32)
            return false;
    }
    code->slot_count = (uint32_t)slots;
    code->frame_bytes = (uint32_t)frame_bytes;
    return true;
}

static void make_steps(struct oracle_code *code)
{
    const struct ptx_func *func = code->func;

    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];

        if (stmt->kind == PTX_STMT_LABEL)
            code->label_steps[stmt->label->index] = code->step_count;
        else if (stmt->kind == PTX_STMT_INST)
            code->steps[code->step_count++] =
                (struct oracle_step){oracle_bodies[stmt->inst.op], &stmt->inst};
    }
}

const struct oracle_code *oracle_code_of(struct oracle *oracle, const struct ptx_func *func)
{
    struct oracle_code *code = oracle->codes[func->index];

    if (code)
        return code;
    code = calloc(1, sizeof(*code));
    if (!code)
        return NULL;
    code->func = func;
    code->steps = calloc(func->stmt_count + 1U, sizeof(*code->steps));
    code->label_steps = calloc(func->label_count + 1U, sizeof(*code->label_steps));
    code->places = calloc(func->var_count + 1U, sizeof(*code->places));
    if (!code->steps || !code->label_steps || !code->places || !place_vars(code)) {
        oracle_code_destroy(code);
        return NULL;
    }
    make_steps(code);
    oracle->codes[func->index] = code;
    return code;
}

void oracle_code_destroy(struct oracle_code *code)
{
    if (!code)
        return;
    free(code->steps);
    free(code->label_steps);
    free(code->places);
    free(code);
}
