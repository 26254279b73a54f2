/* SPDX-License-Identifier: Apache-2.0
 *
 * The printer: operands, statements, and the module as a whole. Declarations are in print_decl.c.
 */
#include "ptx/print.h"

#include <inttypes.h>

#include "ptx/printer.h"

/* ---- operands ---- */

static void print_operand(const struct ptx_printer *p, const struct ptx_operand *operand);

static void print_list(const struct ptx_printer *p, const struct ptx_operand *operands,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            fputs(", ", p->out);
        print_operand(p, &operands[i]);
    }
}

/* v.x, r.h1, r.b3210 */
static void print_register(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    fputs(operand->var->name, p->out);
    if (operand->component == 0 && operand->lane_count == 0)
        return;
    fputc('.', p->out);
    if (ptx_print_written(p, operand->text))
        return;
    if (operand->component) {
        fputc("xyzw"[operand->component - 1], p->out);
        return;
    }
    fputc(operand->lane_bits == 16 ? 'h' : 'b', p->out);
    for (unsigned i = operand->lane_count; i-- > 0;)
        fputc('0' + operand->lanes[i], p->out);
}

static void print_int(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    if (!ptx_print_written(p, operand->text))
        fprintf(p->out, "%" PRId64, (int64_t)operand->bits);
}

static void print_float(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    if (ptx_print_written(p, operand->text))
        return;
    if (operand->is_single)
        fprintf(p->out, "0f%08" PRIX32, (uint32_t)operand->bits);
    else
        fprintf(p->out, "0d%016" PRIX64, operand->bits);
}

static void print_offset(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    if (!ptx_print_written(p, operand->text) &&
        (operand->offset != 0 || operand->kind == PTX_OPERAND_SUM))
        fprintf(p->out, "+%" PRId64, operand->offset);
}

/* name[2], name[r+1] and name+8, where an address stands without brackets */
static void print_bare_address(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    print_operand(p, &operand->elems[0]);
    if (ptx_print_written(p, operand->text))
        return;
    if (operand->is_indexed) {
        fputc('[', p->out);
        print_operand(p, &operand->elems[1]);
        fputc(']', p->out);
    }
    print_offset(p, operand);
}

static void print_address(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    if (operand->is_bare) {
        print_bare_address(p, operand);
        return;
    }
    fputc('[', p->out);
    print_operand(p, &operand->elems[0]);
    print_offset(p, operand);
    if (operand->elem_count > 1) {
        fputs(", ", p->out);
        print_list(p, &operand->elems[1], operand->elem_count - 1);
    }
    fputc(']', p->out);
    if (operand->is_unified)
        fputs(".unified", p->out);
}

static void print_vector(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    if (ptx_print_written(p, operand->text)) /* %tid */
        return;
    fputc('{', p->out);
    print_list(p, operand->elems, operand->elem_count);
    fputc('}', p->out);
}

/* A predicate is negated with "!", a register of a video instruction with "-". A constant's text
 * has its sign in it. */
static void print_negation(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    bool is_number = operand->kind == PTX_OPERAND_REG && operand->var->type != PTX_TYPE_PRED;

    if (operand->is_negated)
        fputc(is_number ? '-' : '!', p->out);
}

/* Recursion is as deep as operands nest, which the parser limits. */
static void print_operand(const struct ptx_printer *p, const struct ptx_operand *operand)
{
    print_negation(p, operand);
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        print_register(p, operand);
        break;
    case PTX_OPERAND_SREG:
        if (!ptx_print_written(p, operand->text))
            fputs(ptx_sreg_table[operand->sreg].name, p->out);
        break;
    case PTX_OPERAND_INT:
        print_int(p, operand);
        break;
    case PTX_OPERAND_FLOAT:
        print_float(p, operand);
        break;
    case PTX_OPERAND_VAR:
        fputs(operand->var->name, p->out);
        print_offset(p, operand);
        break;
    case PTX_OPERAND_FUNC:
        fputs(operand->func->name, p->out);
        break;
    case PTX_OPERAND_LABEL:
        fputs(operand->label->name, p->out);
        break;
    case PTX_OPERAND_LABELS:
        ptx_print_text(p, operand->text);
        break;
    case PTX_OPERAND_ADDRESS:
        print_address(p, operand);
        break;
    case PTX_OPERAND_VECTOR:
        print_vector(p, operand);
        break;
    case PTX_OPERAND_PAIR:
        print_operand(p, &operand->elems[0]);
        fputc('|', p->out);
        print_operand(p, &operand->elems[1]);
        break;
    case PTX_OPERAND_SUM:
        print_operand(p, &operand->elems[0]);
        print_offset(p, operand);
        break;
    case PTX_OPERAND_SINK:
        fputc('_', p->out);
        break;
    }
}

/* ---- statements ---- */

static void print_call(const struct ptx_printer *p, const struct ptx_call *call)
{
    if (call->has_ret_list) {
        fputc('(', p->out);
        print_list(p, call->rets, call->ret_count);
        fputs("), ", p->out);
    }
    print_operand(p, &call->callee);
    if (call->has_arg_list) {
        fputs(", (", p->out);
        print_list(p, call->args, call->arg_count);
        fputc(')', p->out);
    }
    if (call->prototype_name.len > 0) {
        fputs(", ", p->out);
        ptx_print_text(p, call->prototype_name);
    }
}

static void print_inst(const struct ptx_printer *p, const struct ptx_inst *inst)
{
    fputc('\t', p->out);
    if (inst->guard)
        fprintf(p->out, "@%s%s ", inst->guard_negated ? "!" : "", inst->guard->name);
    ptx_print_text(p, inst->text);
    if (inst->call || inst->operand_count > 0)
        fputc(' ', p->out);
    if (inst->call)
        print_call(p, inst->call);
    else
        print_list(p, inst->operands, inst->operand_count);
    fputs(";\n", p->out);
}

/* A declaration of several names is several statements; `next` continues it. */
static void print_declaration(const struct ptx_printer *p, const struct ptx_stmt *stmt,
                              const struct ptx_stmt *next)
{
    const struct ptx_var *var = stmt->kind == PTX_STMT_VAR ? stmt->var : &stmt->range->model;

    if (stmt->is_continued) {
        fputs(", ", p->out);
    } else {
        fputc('\t', p->out);
        ptx_print_var_head(p, var);
    }
    if (stmt->kind == PTX_STMT_VAR)
        ptx_print_var_name(p, var);
    else
        ptx_print_range_name(p, stmt->range);
    if (!next || !next->is_continued)
        fputs(";\n", p->out);
}

static void print_stmt(const struct ptx_printer *p, const struct ptx_stmt *stmt,
                       const struct ptx_stmt *next)
{
    switch (stmt->kind) {
    case PTX_STMT_INST:
        print_inst(p, &stmt->inst);
        break;
    case PTX_STMT_LABEL:
        fprintf(p->out, "%s:\n", stmt->label->name);
        break;
    case PTX_STMT_VAR:
    case PTX_STMT_RANGE:
        print_declaration(p, stmt, next);
        break;
    case PTX_STMT_BLOCK_BEGIN:
        fputs("\t{\n", p->out);
        break;
    case PTX_STMT_BLOCK_END:
        fputs("\t}\n", p->out);
        break;
    case PTX_STMT_DIRECTIVE:
        fputc('\t', p->out);
        ptx_print_text(p, stmt->text);
        fputc('\n', p->out);
        break;
    }
}

void ptx_print_body(const struct ptx_printer *p, const struct ptx_func *func)
{
    fputs("{\n", p->out);
    for (uint32_t i = 0; i < func->stmt_count; i++)
        print_stmt(p, &func->stmts[i], i + 1 < func->stmt_count ? &func->stmts[i + 1] : NULL);
    fputs("}\n", p->out);
}

/* ---- the module ---- */

static void print_target(const struct ptx_printer *p, const struct ptx_module *module)
{
    fprintf(p->out, ".target sm_%u", module->target);
    if (module->target_suffix)
        fputc(module->target_suffix, p->out);
    if (module->texmode == PTX_TEXMODE_INDEPENDENT)
        fputs(", texmode_independent", p->out);
    if (module->maps_f64_to_f32)
        fputs(", map_f64_to_f32", p->out);
    if (module->is_debug)
        fputs(", debug", p->out);
}

static void print_directive(const struct ptx_printer *p, const struct ptx_module *module,
                            const struct ptx_item *item)
{
    if (item->kind == PTX_ITEM_DIRECTIVE)
        ptx_print_text(p, item->text);
    else if (ptx_print_written(p, item->text))
        ;
    else if (item->kind == PTX_ITEM_VERSION)
        fprintf(p->out, ".version %u.%u", module->version / 10, module->version % 10);
    else if (item->kind == PTX_ITEM_TARGET)
        print_target(p, module);
    else
        fprintf(p->out, ".address_size %u", module->address_bits);
    fputc('\n', p->out);
}

static void print_item(const struct ptx_printer *p, const struct ptx_module *module, uint32_t index)
{
    const struct ptx_item *item = &module->items[index];
    bool goes_on = index + 1 < module->item_count && module->items[index + 1].is_continued;

    switch (item->kind) {
    case PTX_ITEM_VAR:
    case PTX_ITEM_RANGE:
        if (item->is_continued)
            fputs(", ", p->out);
        else
            ptx_print_var_head(p, item->kind == PTX_ITEM_VAR ? item->var : &item->range->model);
        if (item->kind == PTX_ITEM_VAR)
            ptx_print_var_name(p, item->var);
        else
            ptx_print_range_name(p, item->range);
        if (!goes_on)
            fputs(";\n", p->out);
        break;
    case PTX_ITEM_FUNC:
        ptx_print_func_head(p, item->func);
        if (item->func->has_body)
            ptx_print_body(p, item->func);
        break;
    default:
        print_directive(p, module, item);
        break;
    }
}

enum pxr_status ptx_print(const struct ptx_module *module, enum ptx_print_style style, FILE *out,
                          struct pxr_error *err)
{
    const struct ptx_printer printer = {out, style == PTX_PRINT_NORMAL};

    if (module->item_count == 0)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "'%.200s' is linked and has no text to print",
                        module->source_name);
    for (uint32_t i = 0; i < module->item_count; i++)
        print_item(&printer, module, i);
    if (fflush(out) != 0 || ferror(out))
        return pxr_fail(err, PXR_IO, "cannot write the text of '%.200s'", module->source_name);
    return PXR_OK;
}
