/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"

/* Links two texts; the inputs are gone afterwards, so the result must own what it has. */
static enum pxr_status link_two(const char *first, const char *second, struct ptx_module **linked,
                                struct pxr_error *err)
{
    char text[2][2048];
    struct ptx_module *modules[2];
    enum pxr_status status;

    snprintf(text[0], sizeof(text[0]), HEADER "%s", first);
    snprintf(text[1], sizeof(text[1]), HEADER "%s", second);
    modules[0] = parse_text(text[0]);
    modules[1] = parse_text(text[1]);
    status = ptx_link((const struct ptx_module *const *)modules, 2, "app", linked, err);
    ptx_module_destroy(modules[0]);
    ptx_module_destroy(modules[1]);
    return status;
}

static struct ptx_module *link_ok(const char *first, const char *second)
{
    struct ptx_module *linked = NULL;
    struct pxr_error err = {0};

    cr_assert_eq(link_two(first, second, &linked, &err), PXR_OK, "%s", err.message);
    return linked;
}

static void expect_conflict(const char *first, const char *second, const char *part)
{
    struct ptx_module *linked = NULL;
    struct pxr_error err = {0};

    cr_assert_eq(link_two(first, second, &linked, &err), PXR_BAD_PTX);
    cr_assert_null(linked);
    cr_assert_not_null(strstr(err.message, part), "%s", err.message);
}

Test(link, extern_names_meet_their_definition)
{
    struct ptx_module *linked =
        link_ok(".extern .func (.param .b32 r) f(.param .b32 a); .extern .global .u32 g;\n"
                ".visible .entry k() { .reg .u64 d; .param .b32 p, q; mov.u64 d, g;\n"
                "call (q), f, (p); bra END; END: ret; }",
                ".visible .global .u32 g = 9;\n"
                ".visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<2>;\n"
                "ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }");
    const struct ptx_inst *call = inst_at(linked, 1);
    const struct ptx_func *f = ptx_find_func(linked, "f");

    cr_assert_eq(linked->func_count, 2);
    cr_assert_eq(linked->var_count, 1);
    cr_assert_eq(linked->vars[0]->init_bytes[0], 9);
    cr_assert_eq(inst_at(linked, 0)->operands[1].var, linked->vars[0]);
    cr_assert_eq(call->call->callee.func, f);
    cr_assert(f->has_body);
    cr_assert_eq(f->stmts[f->stmt_count - 1].inst.op, PTX_OP_RET);
    cr_assert_eq(f->params[0], f->stmts[1].inst.operands[1].elems[0].var);
    cr_assert_str_eq(inst_at(linked, 2)->operands[0].label->name, "END");
    ptx_module_destroy(linked);
}

Test(link, lines_and_text_are_those_of_the_joined_text)
{
    struct ptx_module *linked =
        link_ok(".func f() { ret; }\n\n", ".visible .entry k()\n{\nexit;\n}");
    const struct ptx_inst *inst = inst_at(linked, 0);
    const char *cur = linked->text.ptr;

    cr_assert(inst->text.ptr >= linked->text.ptr &&
              inst->text.ptr < linked->text.ptr + linked->text.len);
    cr_assert(pxr_str_is(inst->text, "exit"));
    for (int i = 1; i < inst->line; i++)
        cur = strchr(cur, '\n') + 1;
    cr_assert_eq(cur, inst->text.ptr);
    ptx_module_destroy(linked);
}

Test(link, internal_names_may_clash)
{
    struct ptx_module *linked =
        link_ok(".global .u32 g = 1; .visible .global .u64 a = g;\n"
                ".func f() { ret; } .visible .entry k() { call f; ret; }",
                ".global .u32 g = 2; .visible .global .u64 b = g;\n"
                ".func f() { exit; } .visible .entry k2() { call f; ret; }");

    cr_assert_eq(linked->var_count, 4);
    cr_assert_eq(ptx_find_var(linked, "a")->relocs[0].var->init_bytes[0], 1);
    cr_assert_eq(ptx_find_var(linked, "b")->relocs[0].var->init_bytes[0], 2);
    cr_assert_eq(linked->func_count, 4);
    ptx_module_destroy(linked);
}

Test(link, of_weak_definitions_the_first_stays)
{
    struct ptx_module *linked = link_ok(".weak .global .u32 g = 1; .weak .func f() { ret; }",
                                        ".weak .global .u32 g = 2; .weak .func f() { exit; }");

    cr_assert_eq(linked->var_count, 1);
    cr_assert_eq(linked->vars[0]->init_bytes[0], 1);
    cr_assert_eq(linked->func_count, 1);
    cr_assert_eq(linked->funcs[0]->stmts[0].inst.op, PTX_OP_RET);
    ptx_module_destroy(linked);
}

Test(link, a_strong_definition_replaces_a_weak_one)
{
    struct ptx_module *linked =
        link_ok(".weak .global .u32 g = 1; .visible .global .u64 p = g; .weak .func f() { ret; }",
                ".visible .global .u32 g = 2; .visible .func f() { exit; }");

    cr_assert_eq(ptx_find_var(linked, "g")->init_bytes[0], 2);
    cr_assert_eq(ptx_find_var(linked, "p")->relocs[0].var, ptx_find_var(linked, "g"));
    cr_assert_eq(linked->funcs[0]->stmts[0].inst.op, PTX_OP_EXIT);
    ptx_module_destroy(linked);
}

Test(link, of_common_variables_the_largest_stays)
{
    struct ptx_module *linked =
        link_ok(".common .global .align 4 .b8 c[4];", ".common .global .align 4 .b8 c[16];");

    cr_assert_eq(linked->var_count, 1);
    cr_assert_eq(linked->vars[0]->size_bytes, 16);
    ptx_module_destroy(linked);
}

Test(link, dynamic_shared_arrays_of_one_name_are_one)
{
    struct ptx_module *linked =
        link_ok(".extern .shared .align 4 .b8 s[];", ".extern .shared .align 16 .b8 s[];");

    cr_assert_eq(linked->var_count, 1);
    cr_assert(linked->vars[0]->is_unsized);
    cr_assert_eq(linked->vars[0]->align_bytes, 16);
    ptx_module_destroy(linked);
}

Test(link, what_stays_extern_is_not_an_error)
{
    struct ptx_module *linked = link_ok(".extern .func missing();", ".extern .global .u32 gone;");

    cr_assert_not(linked->funcs[0]->has_body);
    cr_assert_eq(linked->vars[0]->linkage, PTX_LINKAGE_EXTERN);
    ptx_module_destroy(linked);
}

Test(link, conflicts_are_errors)
{
    expect_conflict(".visible .global .u32 g;", ".visible .global .u32 g;", "a second time");
    expect_conflict(".visible .func f() { ret; }", ".visible .func f() { ret; }", "a second time");
    expect_conflict(".visible .global .u32 g;", ".extern .shared .u32 g;", "differently");
    expect_conflict(".extern .func f(.param .b32 a);", ".visible .func f() { ret; }",
                    "differently");
    expect_conflict(".visible .global .u32 f;", ".visible .func f() { ret; }", "differently");
}

Test(link, handles_are_those_of_the_linked_module)
{
    struct ptx_module *linked =
        link_ok(".visible .func a() { ret; } .global .u64 t = a;",
                ".extern .func a(); .visible .func b() { ret; } .global .u64 t[2] = {b, a};");

    cr_assert_eq(ptx_func_handle(linked, ptx_find_func(linked, "a")), PTX_FUNC_HANDLE_BASE);
    cr_assert_eq(ptx_func_handle(linked, ptx_find_func(linked, "b")),
                 PTX_FUNC_HANDLE_BASE + PTX_FUNC_HANDLE_STEP);
    cr_assert_eq(linked->vars[1]->relocs[1].func, ptx_find_func(linked, "a"));
    ptx_module_destroy(linked);
}

Test(link, every_form_of_the_language_can_be_copied)
{
    size_t len;
    char *text = read_file(PARSE_CASES "/features.ptx", &len);
    struct ptx_module *module = parse_text(text);
    struct ptx_module *linked;
    struct pxr_error err = {0};
    const struct ptx_func *before = ptx_find_entry(module, "kernel");
    const struct ptx_func *after;

    cr_assert_eq(ptx_link((const struct ptx_module *const *)&module, 1, "app", &linked, &err),
                 PXR_OK, "%s", err.message);
    after = ptx_find_entry(linked, "kernel");
    cr_assert_eq(before->stmt_count, after->stmt_count);
    cr_assert_eq(before->var_count, after->var_count);
    cr_assert_eq(before->label_count, after->label_count);
    for (uint32_t i = 0; i < before->stmt_count; i++) {
        cr_assert_eq(before->stmts[i].kind, after->stmts[i].kind);
        cr_assert_eq(before->stmts[i].line, after->stmts[i].line);
        if (before->stmts[i].kind == PTX_STMT_INST)
            cr_assert(pxr_str_equal(before->stmts[i].inst.text, after->stmts[i].inst.text));
    }
    ptx_module_destroy(module);
    ptx_module_destroy(linked);
    free(text);
}
