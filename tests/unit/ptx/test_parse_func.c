/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"

static unsigned count_stmts(const struct ptx_func *func, enum ptx_stmt_kind kind)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < func->stmt_count; i++)
        count += func->stmts[i].kind == kind;
    return count;
}

Test(parse_func, labels_are_found_forwards_and_backwards)
{
    struct ptx_module *module = parse_body("bra LATER; AGAIN: bra.uni AGAIN; LATER:");
    const struct ptx_func *kernel = ptx_find_entry(module, "k");

    cr_assert_eq(kernel->label_count, 2);
    cr_assert_eq(inst_at(module, 0)->operands[0].kind, PTX_OPERAND_LABEL);
    cr_assert_str_eq(inst_at(module, 0)->operands[0].label->name, "LATER");
    cr_assert_eq(inst_at(module, 0)->operands[0].label->index, 1);
    cr_assert_eq(inst_at(module, 1)->operands[0].label->index, 0);
    cr_assert_eq(count_stmts(kernel, PTX_STMT_LABEL), 2);
    ptx_module_destroy(module);
    expect_body_error("bra NOWHERE;", "'NOWHERE' is not declared");
    expect_body_error("A: A: exit;", "'A' is already declared");
}

Test(parse_func, labels_belong_to_their_block)
{
    struct ptx_module *module =
        parse_body("{ bra L1; L1: exit; }\n{ L1: bra L1; }\n{ bra OUT; } OUT:");

    cr_assert_eq(inst_at(module, 0)->operands[0].label->index, 0);
    cr_assert_eq(inst_at(module, 2)->operands[0].label->index, 1);
    cr_assert_str_eq(inst_at(module, 3)->operands[0].label->name, "OUT");
    ptx_module_destroy(module);
    expect_body_error("{ L1: exit; }\nbra L1;", "'L1' is not declared");
}

Test(parse_func, inner_scopes_shadow_outer_ones)
{
    struct ptx_module *module =
        parse_body("{ .reg .b32 t; mov.b32 t, 1; { .reg .b64 t; mov.b64 t, 2; } mov.b32 t, 3; }"
                   "{ .reg .b32 %r<2>; mov.b32 %r1, 4; } mov.b32 %r1, 5;");

    cr_assert_neq(inst_at(module, 0)->operands[0].var, inst_at(module, 1)->operands[0].var);
    cr_assert_eq(inst_at(module, 0)->operands[0].var, inst_at(module, 2)->operands[0].var);
    cr_assert_neq(inst_at(module, 3)->operands[0].var, inst_at(module, 4)->operands[0].var);
    cr_assert_eq(count_stmts(ptx_find_entry(module, "k"), PTX_STMT_BLOCK_BEGIN), 3);
    cr_assert_eq(count_stmts(ptx_find_entry(module, "k"), PTX_STMT_BLOCK_END), 3);
    ptx_module_destroy(module);
    expect_body_error("{ .reg .b32 t; } mov.b32 t, 1;", "'t' is not declared");
    expect_body_error(".reg .b32 t; .reg .b32 t;", "'t' is already declared");
}

Test(parse_func, variables_have_dense_indexes)
{
    struct ptx_module *module =
        parse_body(".local .align 8 .b8 depot[64]; .shared .u32 s; mov.b32 %r3, %r9;");
    const struct ptx_func *kernel = ptx_find_entry(module, "k");

    cr_assert_eq(kernel->var_count, 6); /* param, vector register, depot, s, %r3, %r9 */
    for (uint32_t i = 0; i < kernel->var_count; i++) {
        cr_assert_eq(kernel->vars[i]->index, i);
        cr_assert_not(kernel->vars[i]->is_module_scope);
    }
    ptx_module_destroy(module);
}

Test(parse_func, global_variables_may_be_declared_inside)
{
    struct ptx_module *module = parse_body(".global .u32 inner = 5; mov.u64 %rd1, inner;"
                                           "{ .const .u32 inner = 6; mov.u64 %rd1, inner; }");

    cr_assert_eq(module->var_count, 4);
    cr_assert(inst_at(module, 0)->operands[1].var->is_module_scope);
    cr_assert_eq(inst_at(module, 0)->operands[1].var->init_bytes[0], 5);
    cr_assert_eq(inst_at(module, 1)->operands[1].var, module->vars[3]);
    ptx_module_destroy(module);
    expect_body_error("{ .global .u32 t; } mov.u64 %rd1, t;", "'t' is not declared");
}

Test(parse_func, calls_in_every_form)
{
    struct ptx_module *module = parse_text(
        HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
               ".func (.reg .u32 r) add(.reg .u32 a, .reg .u32 b) { add.u32 r, a, b; ret; }\n"
               ".func plain { ret; }\n"
               ".entry k() { .reg .u32 x; .reg .u64 f; .param .b32 r; .param .b64 p, q;\n"
               "call.uni (r), vprintf, (p, q);\n"
               "call (x), add, (x, 5);\n"
               "call (_), add, (x, 5);\n"
               "call plain;\n"
               "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);\n"
               "call (r), f, (p, q), proto;\n"
               "list: .calltargets add;\n"
               "call (x), f, (x, x), list; ret; }");
    const struct ptx_call *call = inst_at(module, 0)->call;

    cr_assert_eq(inst_at(module, 0)->op, PTX_OP_CALL);
    cr_assert_str_eq(call->callee.func->name, "vprintf");
    cr_assert_eq(call->ret_count, 1);
    cr_assert_eq(call->arg_count, 2);
    cr_assert_eq(call->args[1].kind, PTX_OPERAND_VAR);
    cr_assert_eq(call->args[1].var->space, PTX_SPACE_PARAM);
    cr_assert_eq(inst_at(module, 1)->call->args[1].bits, 5);
    cr_assert_eq(inst_at(module, 2)->call->rets[0].kind, PTX_OPERAND_SINK);
    cr_assert_eq(inst_at(module, 3)->call->arg_count, 0);
    call = inst_at(module, 4)->call;
    cr_assert_eq(call->callee.kind, PTX_OPERAND_REG);
    cr_assert_eq(call->prototype->param_count, 2);
    cr_assert_str_eq(inst_at(module, 5)->call->prototype->name, "add");
    cr_assert_eq(ptx_func_handle(module, ptx_find_func(module, "add")), -1);
    ptx_module_destroy(module);
}

Test(parse_func, wrong_calls_are_errors)
{
    expect_body_error("call nobody, ();", "'nobody' is not a function or a register");
    expect_body_error("call device_function, (%r1);", "has 0 results and 0 parameters");
    expect_body_error("call %rd1, ();", "an indirect call needs");
}

Test(parse_func, a_function_may_call_itself)
{
    struct ptx_module *module =
        parse_text(HEADER ".func f() { call f; ret; } .entry k() { call f; ret; }");
    const struct ptx_func *func = ptx_find_func(module, "f");

    cr_assert_eq(func->stmts[0].inst.call->callee.func, func);
    ptx_module_destroy(module);
}

Test(parse_func, branch_target_lists)
{
    struct ptx_module *module = parse_body("targets: .branchtargets A, B, A;\n"
                                           "brx.idx.uni %r1, targets; A: exit; B: exit;");
    const struct ptx_operand *list = &inst_at(module, 0)->operands[1];

    cr_assert_eq(list->kind, PTX_OPERAND_LABELS);
    cr_assert_eq(list->label_count, 3);
    cr_assert_str_eq(list->labels[1]->name, "B");
    cr_assert_eq(list->labels[0], list->labels[2]);
    ptx_module_destroy(module);
    expect_body_error("t: .branchtargets A; exit;", "'A' is not declared");
}

Test(parse_func, directives_keep_their_text)
{
    struct ptx_module *module = parse_body(".loc 1 2 3\n.pragma \"nounroll\";");
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    const struct ptx_stmt *last[2] = {0};

    for (uint32_t i = 0; i < kernel->stmt_count; i++) {
        if (kernel->stmts[i].kind == PTX_STMT_DIRECTIVE) {
            last[0] = last[1];
            last[1] = &kernel->stmts[i];
        }
    }
    cr_assert(pxr_str_is(last[0]->text, ".loc 1 2 3"));
    cr_assert(pxr_str_is(last[1]->text, ".pragma \"nounroll\";"));
    ptx_module_destroy(module);
}

Test(parse_func, lists_of_targets_may_have_numbered_names)
{
    struct ptx_module *module = parse_body("L0: L1: L2: M: t: .branchtargets L<3>, M;\n"
                                           "brx.idx %r1, t;");
    const struct ptx_operand *list = &inst_at(module, 0)->operands[1];

    cr_assert_eq(list->label_count, 4);
    cr_assert_str_eq(list->labels[2]->name, "L2");
    cr_assert_str_eq(list->labels[3]->name, "M");
    ptx_module_destroy(module);
    module =
        parse_text(HEADER ".func f0() { ret; }\n.func f1() { ret; }\n.entry k() { .reg .b64 %r;"
                          " t: .calltargets f<2>; call %r, t; ret; }");
    ptx_module_destroy(module);
    expect_body_error("t: .branchtargets L<2>; brx.idx %r1, t; L0:", "'L1' is not declared");
    expect_body_error("t: .branchtargets L<0>; L:", "at least one name");
    expect_body_error("t: .calltargets device_function, other<2>;", "'other0' is not a function");
}

Test(parse_func, directives_that_contradict_the_head_are_refused)
{
    static const struct {
        const char *text;
        const char *part;
    } wrong[] = {
        {".entry k() .noreturn { trap; }", "expected a directive of a function"},
        {".func (.reg .u32 r) f() .noreturn { trap; }", "has results and cannot be .noreturn"},
        {".entry k() .reqntid 0 { ret; }", "at least 1"},
        {".entry k() .reqntid 32, 0 { ret; }", "at least 1"},
        {".entry k() .maxntid 1, 1, 0 { ret; }", "at least 1"},
        {".entry k() .minnctapersm 0 { ret; }", "at least 1"},
        {".entry k() .maxnreg 0 { ret; }", "at least 1"},
        {".entry k() .maxntid 32 .reqntid 32 { ret; }", "cannot have both"},
    };
    char text[256];
    struct pxr_error err;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(text, sizeof(text), HEADER "%s", wrong[i].text);
        cr_assert_not_null(strstr(parse_error(text, &err), wrong[i].part), "%s", err.message);
    }
    ptx_module_destroy(parse_text(HEADER ".func f() .noreturn { trap; }"
                                         ".entry k() .reqntid 1 .reqnctapercluster 0 { ret; }"));
}

Test(parse_func, a_last_parameter_without_size_may_be_left_out)
{
    static const char text[] = HEADER
        ".extern .func f(.param .b32 a, .param .align 8 .b8 rest[]);\n"
        ".entry k() { .param .b32 x; .param .align 8 .b8 y[16]; call f, (x); call f, (x, y); }";
    struct pxr_error err;

    ptx_module_destroy(parse_text(text));
    cr_assert_not_null(strstr(parse_error(HEADER ".extern .func f(.param .b32 a, .param .b32 b);\n"
                                                 ".entry k() { .param .b32 x; call f, (x); }",
                                          &err),
                              "2 parameters"));
}
