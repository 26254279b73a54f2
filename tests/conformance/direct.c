/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates cases by the oracle's bodies; see direct.h.
 */
#include "tests/conformance/direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/judge.h"
#include "tests/conformance/kernel_text.h"
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

#define MAX_INSTS 16
#define MAX_REGS  64

struct conf_direct {
    struct ptx_module *module;
    const struct conf_case *cases;
    /* the case selected */
    const struct conf_case *made;
    const struct ptx_inst *insts[MAX_INSTS];
    unsigned inst_count;
    const struct ptx_inst *tested;
    union oracle_value sources[CONF_MAX_SOURCES];
    enum ptx_type source_types[CONF_MAX_SOURCES];
    unsigned source_count;
    uint32_t in_regs[CONF_MAX_INPUTS];
    uint32_t out_regs[CONF_MAX_OUTPUTS];
    /* a machine that is only there to be looked at */
    uint32_t places[MAX_REGS];
    union oracle_value regs[MAX_REGS];
    struct oracle_code code;
    struct oracle_block block;
    struct oracle_launch launch;
    struct oracle oracle;
    struct oracle_thread thread;
    struct pxr_error err;
};

enum pxr_status conf_direct_open(const struct conf_case *cases, unsigned count,
                                 struct conf_direct **direct, struct pxr_error *err)
{
    struct conf_direct *opened = calloc(1, sizeof *opened);
    char *text = conf_bare_text(cases, count);
    if (opened == NULL || text == NULL) {
        free(opened);
        free(text);
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a case");
    }
    enum pxr_status status = ptx_parse(pxr_str_from(text), "case.ptx", &opened->module, err);
    free(text);
    if (status != PXR_OK) {
        free(opened);
        return status;
    }
    opened->cases = cases;
    for (uint32_t i = 0; i < MAX_REGS; i++)
        opened->places[i] = i;
    opened->code.places = opened->places;
    opened->code.slot_count = MAX_REGS;
    opened->oracle.module = opened->module;
    opened->oracle.err = &opened->err;
    opened->oracle.launch = &opened->launch;
    opened->thread.code = &opened->code;
    opened->thread.regs = opened->regs;
    opened->thread.oracle = &opened->oracle;
    opened->thread.block = &opened->block;
    *direct = opened;
    return PXR_OK;
}

void conf_direct_close(struct conf_direct *direct)
{
    if (direct == NULL)
        return;
    ptx_module_destroy(direct->module);
    free(direct);
}

static uint32_t find_register(const struct ptx_func *func, char letter, unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "%%%c%u", letter, number);
    for (uint32_t i = 0; i < func->var_count && i < MAX_REGS; i++)
        if (strcmp(func->vars[i]->name, name) == 0)
            return func->vars[i]->index;
    return MAX_REGS - 1;
}

const struct ptx_inst *conf_direct_select(struct conf_direct *direct, unsigned index)
{
    char name[16];
    snprintf(name, sizeof name, "case%u", index);
    const struct ptx_func *func = ptx_find_entry(direct->module, name);
    const struct conf_case *made = &direct->cases[index];
    const struct ptx_inst *tested = NULL;
    if (func == NULL)
        return NULL;
    direct->made = made;
    direct->inst_count = 0;
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];
        if (stmt->kind != PTX_STMT_INST || direct->inst_count == MAX_INSTS)
            continue;
        direct->insts[direct->inst_count++] = &stmt->inst;
        if (stmt->inst.op == made->op && tested == NULL)
            tested = &stmt->inst;
    }
    for (unsigned i = 0; i < made->in_count; i++)
        direct->in_regs[i] = find_register(func, 'i', i);
    for (unsigned i = 0; i < made->out_count; i++)
        direct->out_regs[i] = find_register(func, 'o', i);
    direct->code.func = func;
    direct->tested = tested;
    direct->source_count = 0;
    for (unsigned i = 0; tested != NULL && i < CONF_MAX_SOURCES; i++) {
        enum ptx_type type = conf_source_type(tested, i);
        if (type == PTX_TYPE_NONE)
            break;
        direct->source_types[direct->source_count++] = type;
    }
    return tested;
}

const union oracle_value *conf_direct_sources(const struct conf_direct *direct, unsigned *count)
{
    *count = direct->source_count;
    return direct->sources;
}

enum pxr_status conf_direct_eval(struct conf_direct *direct, const union oracle_value *in,
                                 union oracle_value *out)
{
    struct oracle_thread *thread = &direct->thread;
    thread->carry = false;
    for (unsigned i = 0; i < direct->made->in_count; i++)
        direct->regs[direct->in_regs[i]] = in[i];
    for (unsigned i = 0; i < direct->inst_count; i++) {
        const struct ptx_inst *inst = direct->insts[i];
        for (unsigned k = 0; inst == direct->tested && k < direct->source_count; k++)
            direct->sources[k] = oracle_read(thread, inst, k + 1, direct->source_types[k]);
        enum pxr_status status = oracle_bodies[inst->op](thread, inst);
        if (status != PXR_OK)
            return status;
    }
    for (unsigned i = 0; i < direct->made->out_count; i++)
        out[i] = direct->regs[direct->out_regs[i]];
    return PXR_OK;
}

const char *conf_direct_message(const struct conf_direct *direct)
{
    return direct->err.message;
}
