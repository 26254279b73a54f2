/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"

static const struct ptx_operand *operand_of(struct ptx_module *module, unsigned index)
{
    const struct ptx_inst *inst = inst_at(module, 0);

    cr_assert_lt(index, inst->operand_count);
    return &inst->operands[index];
}

Test(parse_inst, types_modifiers_and_groups_are_kept)
{
    struct ptx_module *module = parse_body("ld.volatile.shared.v2.f32 {%f1, %f2}, [svar];");
    const struct ptx_inst *inst = inst_at(module, 0);

    cr_assert_eq(inst->op, PTX_OP_LD_VOLATILE_SHARED);
    cr_assert(pxr_str_is(inst->text, "ld.volatile.shared.v2.f32"));
    cr_assert_eq(inst->type_count, 1);
    cr_assert_eq(inst->types[0], PTX_TYPE_F32);
    cr_assert_eq(inst->mod_count, 3);
    cr_assert(ptx_inst_has(inst, PTX_GROUP_SEM));
    cr_assert_eq(ptx_inst_mod(inst, PTX_GROUP_SEM), PTX_MOD_VOLATILE);
    cr_assert_eq(ptx_inst_mod(inst, PTX_GROUP_SCOPE), PTX_MOD_NONE);
    cr_assert_eq(ptx_inst_space(inst), PTX_SPACE_SHARED);
    cr_assert_eq(ptx_inst_vector_len(inst), 2);
    cr_assert_null(inst->guard);
    ptx_module_destroy(module);
}

Test(parse_inst, suffixes_may_be_set_apart)
{
    struct ptx_module *module = parse_body("add .rn  .f32 %f1, %f2, %f3;");

    cr_assert_eq(inst_at(module, 0)->op, PTX_OP_ADD_FLOAT);
    cr_assert(pxr_str_is(inst_at(module, 0)->text, "add.rn.f32"));
    ptx_module_destroy(module);
}

Test(parse_inst, guards)
{
    struct ptx_module *module = parse_body("@!%p3 exit; @%p1 exit;");

    cr_assert_str_eq(inst_at(module, 0)->guard->name, "%p3");
    cr_assert(inst_at(module, 0)->guard_negated);
    cr_assert_not(inst_at(module, 1)->guard_negated);
    ptx_module_destroy(module);
    expect_body_error("@%r1 exit;", "'%r1' is not a predicate register");
}

Test(parse_inst, integer_constants)
{
    struct ptx_module *module =
        parse_body("mov.u32 %r1, -5; mov.u64 %rd1, 0xffffffffffffffff; mov.u32 %r1, WARP_SZ;"
                   "mov.u32 %r1, 4*8+1;");

    cr_assert_eq(inst_at(module, 0)->operands[1].kind, PTX_OPERAND_INT);
    cr_assert_eq(inst_at(module, 0)->operands[1].bits, (uint64_t)-5);
    cr_assert_eq(inst_at(module, 1)->operands[1].bits, UINT64_MAX);
    cr_assert_eq(inst_at(module, 2)->operands[1].bits, 32);
    cr_assert_eq(inst_at(module, 3)->operands[1].bits, 33);
    ptx_module_destroy(module);
}

Test(parse_inst, floating_point_constants)
{
    struct ptx_module *module =
        parse_body("mov.f32 %f1, 0fBF800000; mov.f64 %fd1, 0d3FF0000000000000;"
                   "mov.f32 %f1, -1.5; mov.f32 %f1, -0f3F800000;");
    const double number = -1.5;
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    cr_assert_eq(inst_at(module, 0)->operands[1].kind, PTX_OPERAND_FLOAT);
    cr_assert(inst_at(module, 0)->operands[1].is_single);
    cr_assert_eq(inst_at(module, 0)->operands[1].bits, 0xbf800000);
    cr_assert_not(inst_at(module, 1)->operands[1].is_single);
    cr_assert_eq(inst_at(module, 1)->operands[1].bits, UINT64_C(0x3ff0000000000000));
    cr_assert_eq(inst_at(module, 2)->operands[1].bits, bits);
    cr_assert(inst_at(module, 3)->operands[1].is_single);
    cr_assert_eq(inst_at(module, 3)->operands[1].bits, 0xbf800000);
    ptx_module_destroy(module);
}

Test(parse_inst, special_registers)
{
    struct ptx_module *module =
        parse_body("mov.u32 %r1, %tid.x; mov.u32 %r1, %laneid; mov.u64 %rd1, %clock64;");

    cr_assert_eq(inst_at(module, 0)->operands[1].kind, PTX_OPERAND_SREG);
    cr_assert_eq(inst_at(module, 0)->operands[1].sreg, PTX_SREG_TID_X);
    cr_assert_eq(inst_at(module, 1)->operands[1].sreg, PTX_SREG_LANEID);
    cr_assert_eq(inst_at(module, 2)->operands[1].sreg, PTX_SREG_CLOCK64);
    cr_assert_str_eq(ptx_sreg_table[PTX_SREG_TID_X].name, "%tid.x");
    ptx_module_destroy(module);
    expect_body_error("mov.u32 %r1, %tid.q;", "'%tid' has no component '.q'");
}

Test(parse_inst, addresses)
{
    static const struct {
        const char *text;
        enum ptx_operand_kind base;
        int64_t offset;
    } cases[] = {
        {"ld.u32 %r1, [%rd1];", PTX_OPERAND_REG, 0},
        {"ld.u32 %r1, [%rd1+-4];", PTX_OPERAND_REG, -4},
        {"ld.u32 %r1, [%rd1 + 0x10];", PTX_OPERAND_REG, 16},
        {"ld.u32 %r1, [%rd1+4-8];", PTX_OPERAND_REG, -4},
        {"ld.u32 %r1, [%rd1+4*2+-1];", PTX_OPERAND_REG, 7},
        {"ld.u32 %r1, [gvar+12];", PTX_OPERAND_VAR, 12},
        {"ld.u32 %r1, [gvar];", PTX_OPERAND_VAR, 0},
        {"ld.u32 %r1, gvar[3];", PTX_OPERAND_VAR, 12},
        {"ld.param.u32 %r1, [param+4];", PTX_OPERAND_VAR, 4},
        {"ld.local.u32 %r1, [256];", PTX_OPERAND_INT, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ptx_module *module = parse_body(cases[i].text);
        const struct ptx_operand *address = operand_of(module, 1);

        cr_assert_eq(address->kind, PTX_OPERAND_ADDRESS, "%s", cases[i].text);
        cr_assert_eq(address->elem_count, 1);
        cr_assert_eq(address->elems[0].kind, cases[i].base, "%s", cases[i].text);
        cr_assert_eq(address->elems[0].offset, 0);
        cr_assert_eq(address->offset, cases[i].offset, "%s", cases[i].text);
        ptx_module_destroy(module);
    }
}

Test(parse_inst, names_stand_for_addresses)
{
    struct ptx_module *module = parse_body("mov.u64 %rd1, gvar+8; mov.u64 %rd1, device_function;"
                                           "cvta.shared.u64 %rd1, svar; mov.u64 %rd1, gvar[2];");

    cr_assert_eq(inst_at(module, 0)->operands[1].kind, PTX_OPERAND_VAR);
    cr_assert_eq(inst_at(module, 0)->operands[1].offset, 8);
    cr_assert_eq(inst_at(module, 1)->operands[1].kind, PTX_OPERAND_FUNC);
    cr_assert(inst_at(module, 1)->operands[1].func->is_address_taken);
    cr_assert_str_eq(inst_at(module, 2)->operands[1].var->name, "svar");
    cr_assert_eq(inst_at(module, 3)->operands[1].offset, 8);
    ptx_module_destroy(module);
}

Test(parse_inst, vectors_pairs_sinks_and_components)
{
    struct ptx_module *module =
        parse_body("mov.b64 {%r1, _}, %rd1; setp.lt.s32 %p1|%p2, %r1, 3;"
                   "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1; mov.f32 %v.y, %f1;"
                   "atom.add.u32 _, [%rd1], 1;");
    const struct ptx_operand *first = operand_of(module, 0);

    cr_assert_eq(first->kind, PTX_OPERAND_VECTOR);
    cr_assert_eq(first->elem_count, 2);
    cr_assert_eq(first->elems[1].kind, PTX_OPERAND_SINK);
    cr_assert_eq(inst_at(module, 1)->operands[0].kind, PTX_OPERAND_PAIR);
    cr_assert_str_eq(inst_at(module, 1)->operands[0].elems[1].var->name, "%p2");
    cr_assert_eq(inst_at(module, 2)->operands[0].kind, PTX_OPERAND_PAIR);
    cr_assert_eq(inst_at(module, 3)->operands[0].component, 2);
    cr_assert_eq(inst_at(module, 4)->operands[0].kind, PTX_OPERAND_SINK);
    ptx_module_destroy(module);
    expect_body_error("mov.f32 %f1.x, %f2;", "has no component '.x'");
}

Test(parse_inst, texture_operands)
{
    struct ptx_module *module =
        parse_body("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];");
    const struct ptx_operand *address = operand_of(module, 1);

    cr_assert_eq(address->elem_count, 2);
    cr_assert_eq(address->elems[1].kind, PTX_OPERAND_VECTOR);
    cr_assert_eq(inst_at(module, 0)->type_count, 2);
    ptx_module_destroy(module);
}

Test(parse_inst, unsupported_instructions_parse)
{
    struct ptx_module *module =
        parse_body("tcgen05.fence::before_thread_sync; "
                   "tex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1, %r1, %r1, %r1}];");

    for (unsigned i = 0; i < 2; i++)
        cr_assert_eq(ptx_op_table[inst_at(module, i)->op].fidelity, PTX_FIDELITY_UNSUPPORTED);
    ptx_module_destroy(module);
}

Test(parse_inst, the_number_of_operands_chooses_the_row)
{
    struct ptx_module *module = parse_body("max.f32 %f1, %f2, %f3; max.f32 %f1, %f2, %f3, %f4;");

    cr_assert_neq(inst_at(module, 0)->op, PTX_OP_MAX3);
    cr_assert_eq(inst_at(module, 1)->op, PTX_OP_MAX3);
    ptx_module_destroy(module);
}

/* ---- checks ---- */

Test(parse_inst, predicates_may_be_negated_or_constant)
{
    struct ptx_module *module =
        parse_body("and.pred %p1, %p2, !%p3; selp.b32 %r1, 1, 2, 1; bar.red.or.pred %p1, 0, !%p2;");

    cr_assert(inst_at(module, 0)->operands[2].is_negated);
    cr_assert_not(inst_at(module, 0)->operands[1].is_negated);
    cr_assert_eq(inst_at(module, 1)->operands[3].kind, PTX_OPERAND_INT);
    cr_assert(inst_at(module, 2)->operands[2].is_negated);
    ptx_module_destroy(module);
}

Test(parse_inst, video_selectors_parse)
{
    ptx_module_destroy(parse_body("vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;"
                                  "vset4.u32.u32.lt %r1.b3210, %r2, %r3.b7654, %r4;"
                                  "vadd2.u32.u32.u32.add %r1.h0, %r2.h32, %r3, 1;"
                                  "vshl.u32.s32.u32.clamp %r1.h1, %r2, 5, %r4;"
                                  "vmad.u32.u32.u32.shr7 %r1, %r2.h0, %r3.h1, -%r4;"));
    expect_body_error("vadd.u32.u32.u32 %r1, -%r2, %r3;", "expected a constant");
    expect_body_error("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "a part such as %r1.b0");
    expect_body_error("vadd.u32.u32.u32 %r1, %r2, %r3, %r4;", "a part of a register");
    expect_body_error("vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r4;", "has no component");
    expect_body_error("vadd2.u32.u32.u32 %r1, %r2.h3, %r3, %r4;", "a choice of halves");
    expect_body_error("vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4;", "a mask of halves");
    expect_body_error("vadd4.u32.u32.u32 %r1.b02, %r2, %r3, %r4;", "a mask of bytes");
    expect_body_error("add.s32 %r1, %r2.b0, %r3;", "has no component '.b0'");
    expect_body_error("add.s32 %r1, -%r2, %r3;", "expected a constant");
}

Test(parse_inst, constants_must_fit_the_type)
{
    expect_body_error("add.f32 %f1, %f2, 1;", "must be a floating-point constant");
    expect_body_error("add.s32 %r1, %r2, 1.5;", "a whole number");
    expect_body_error("mov.b32 %r1, 1.5;", "a whole number");
    expect_body_error("mov.b64 %rd1, 0f3F800000;", "a whole number");
    ptx_module_destroy(parse_body("mov.b32 %r1, 0f3F800000; mov.b64 %rd1, 1.5; mov.f32 %f1, .5;"
                                  "mov.f64 %fd1, 0f3F800000; mov.f32 %f1, 0d3FF0000000000000;"));
}

Test(parse_inst, conversions_that_lose_value_need_a_rounding)
{
    expect_body_error("cvt.f32.s32 %f1, %r1;", "is not a combination");
    expect_body_error("cvt.s32.f32 %r1, %f1;", "is not a combination");
    expect_body_error("cvt.f16.f32 %h1, %f1;", "is not a combination");
    ptx_module_destroy(parse_body("cvt.f64.f32 %fd1, %f1; cvt.u16.u32 %h1, %r1;"
                                  "cvt.f32.f16 %f1, %h1; cvt.sat.f32.f32 %f1, %f2;"));
}

Test(parse_inst, comparisons_belong_to_types)
{
    expect_body_error("setp.lt.b32 %p1, %r1, %r2;", "is not a combination");
    expect_body_error("setp.lo.s32 %p1, %r1, %r2;", "is not a combination");
    expect_body_error("setp.ltu.u32 %p1, %r1, %r2;", "is not a combination");
    expect_body_error("set.hi.u32.f32 %r1, %f1, %f2;", "is not a combination");
    ptx_module_destroy(parse_body("setp.lo.u32 %p1, %r1, %r2; setp.nan.f32 %p1, %f1, %f2;"
                                  "setp.ne.b32 %p1, %r1, %r2; setp.gt.s64 %p1, %rd1, %rd2;"));
}

Test(parse_inst, a_cache_policy_belongs_to_its_modifier)
{
    expect_body_error("ld.global.u32 %r1, [%rd1], %rd2;", "cannot have 3 operands");
    expect_body_error("atom.global.add.u32 %r1, [%rd1], 1, %rd2;", "cannot have 4 operands");
    ptx_module_destroy(parse_body("ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;"
                                  "atom.global.add.L2::cache_hint.u32 %r1, [%rd1], 1, %rd2;"));
}

Test(parse_inst, spelling_errors_name_the_part)
{
    expect_body_error("add.s33 %r1, %r1, %r1;", "'add' cannot have '.s33'");
    expect_body_error("addd.s32 %r1, %r1, %r1;", "'addd' is not a PTX instruction");
    expect_body_error("mul.s32 %r1, %r1, %r1;", "'mul.s32' is not a combination");
}

Test(parse_inst, errors_say_what_is_allowed)
{
    expect_body_error("add.sat.u32 %r1, %r2, %r3;", "allowed: add.sat.s32, ");
    expect_body_error("add.s33 %r1, %r2, %r3;", "; allowed: add");
    expect_body_error("fma.relu.f32 %f1, %f2, %f3, %f4;", "fma.rn{.ftz}{.sat|.relu}(.f16|.f16x2)");
    expect_body_error("add.s32 %r1, %r2;", "it has 3");
    expect_body_error("bar.red.popc.u32 %r1, 1;", "it has 3 to 4");
    expect_body_error("add.s64 %rd1, %r2, %rd3;", "must be a register of 64 bits (.s64)");
    expect_body_error("ld.u64 %r1, [%rd1];", "must be a register of 64 bits or more (.u64)");
    expect_body_error("mov.b64 {%r1, %h2}, %rd1;",
                      "must be a register of 32 bits (.b64, in several)");
}

Test(parse_inst, rows_can_share_a_spelling_and_differ_in_operands)
{
    struct ptx_module *module = parse_body("max.f32 %f1, %f2, %f3; max.f32 %f1, %f2, %f3, %f4;"
                                           "cp.async.ca.shared.global [%r1], [%rd1], 8, %r2;"
                                           "cp.async.ca.shared.global [%r1], [%rd1], 8, !%p1;");

    cr_assert_eq(inst_at(module, 0)->op, PTX_OP_MAX_FLOAT);
    cr_assert_eq(inst_at(module, 1)->op, PTX_OP_MAX3);
    cr_assert_eq(inst_at(module, 2)->op, PTX_OP_CP_ASYNC);
    cr_assert_eq(inst_at(module, 3)->op, PTX_OP_CP_ASYNC_IGNORE);
    ptx_module_destroy(module);
}

/* As ptxas takes them: but for wgmma, which adds to its results. */
Test(parse_inst, only_results_of_matrices_may_be_left_out)
{
    ptx_module_destroy(parse_body(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, _, %f2, _}, {%r1, %r2}, {%r3}, "
        "{%f1, %f1, %f2, %f2};"
        "wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {_}, [%rd1];"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {_, %r1}, [%r2];"));
    expect_body_error("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, 0f00000000, %f2, "
                      "%f3}, {%r1, %r2}, {%r3}, {%f1, %f1, %f2, %f2};",
                      "must be a register");
    expect_body_error("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f2, %f3}, "
                      "{%r1, _}, {%r3}, {%f1, %f1, %f2, %f2};",
                      "must be a register");
    expect_body_error("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r1, _};",
                      "must be a register");
}

static void expect_need(const char *head, const char *inst, const char *part)
{
    char text[400];
    struct pxr_error err;

    snprintf(text, sizeof(text),
             "%s\n.entry k() { .reg .b16 %%h<4>; .reg .f32 %%f<4>;\n%s\nret; }\n", head, inst);
    if (part)
        cr_assert_not_null(strstr(parse_error(text, &err), part), "%s", err.message);
    else
        ptx_module_destroy(parse_text(text));
}

Test(parse_inst, version_and_target_say_which_instructions_there_are)
{
    static const char add[] = "add.f16 %h1, %h2, %h3;";
    static const char nan[] = "min.NaN.f32 %f1, %f2, %f3;";
    static const char arch[] = "redux.sync.min.f32 %f1, %f2, 0;";

    expect_need(".version 4.1\n.target sm_53", add,
                "'add.f16' needs PTX ISA 4.2 and sm_53; the module says 4.1 and sm_53");
    expect_need(".version 4.2\n.target sm_52", add, "the module says 4.2 and sm_52");
    expect_need(".version 4.2\n.target sm_53", add, NULL);
    expect_need(".version 6.9\n.target sm_80", nan, "needs PTX ISA 7.0 and sm_80");
    expect_need(".version 7.0\n.target sm_75", nan, "needs PTX ISA 7.0 and sm_80");
    expect_need(".version 7.0\n.target sm_80", nan, NULL);
    expect_need(".version 8.6\n.target sm_100", arch, "needs PTX ISA 8.6 and sm_100a");
    expect_need(".version 8.6\n.target sm_90a", arch, "the module says 8.6 and sm_90a");
    expect_need(".version 8.6\n.target sm_100a", arch, NULL);
    expect_need(".version 8.8\n.target sm_103f", arch, NULL);
}

Test(parse_inst, double_precision_is_taken_on_the_oldest_targets)
{
    expect_need(".version 1.0\n.target sm_10, map_f64_to_f32",
                ".reg .f64 %fd<3>; add.f64 %fd1, %fd2, 0d0000000000000000;", NULL);
}

Test(parse_inst, what_no_device_has_is_refused)
{
    expect_body_error("rcp.approx.f64 %fd4, %fd1;", "is not a combination");
    expect_body_error("add.rz.f16 %h4, %h1, %h2;", "is not a combination");
    expect_body_error("add.sat.f64 %fd4, %fd1, %fd2;", "is not a combination");
    expect_body_error("max.NaN.f64 %fd4, %fd1, %fd2;", "is not a combination");
    expect_body_error("ld.relaxed.gpu.const.u32 %r1, [%rd1];", "is not a combination");
}

Test(parse_inst, a_number_is_an_address_in_local_memory_only)
{
    static const char wanted[] = "a number is one in .local only";

    expect_body_error("ld.u32 %r1, [256];", wanted);
    expect_body_error("ld.global.u32 %r1, [256+4];", wanted);
    expect_body_error("ld.shared.u32 %r1, [0];", wanted);
    expect_body_error("ld.const.u32 %r1, [0];", wanted);
    expect_body_error("ld.param.u32 %r1, [0];", wanted);
    expect_body_error("atom.shared.add.u32 %r1, [16], 1;", wanted);
    ptx_module_destroy(parse_body("st.local.u32 [0], %r1;"));
}

Test(parse_inst, addresses_are_of_whole_numbers_in_the_right_space)
{
    static const char minus[] = "a negative number can be added, as in %r1+-4";

    expect_body_error("ld.global.u32 %r1, [%p1];", "a register of whole numbers");
    expect_body_error("ld.global.u32 %r1, [%fd1];", "a register of whole numbers");
    expect_body_error("ld.global.u32 %r1, [%v];", "a register of whole numbers");
    expect_body_error("ld.shared.u32 %r1, [gvar];", "in the instruction's state space");
    expect_body_error("ld.global.u32 %r1, [svar+4];", "in the instruction's state space");
    expect_body_error("st.shared.u32 [gvar], %r1;", "in the instruction's state space");
    expect_body_error("ld.u32 %r1, [%rd1-8];", minus);
    expect_body_error("ld.u32 %r1, [gvar-8];", minus);
    expect_body_error("mov.u64 %rd1, gvar-8;", minus);
    expect_body_error("ld.u32 %r1, gvar[%r2-1];", minus);
    ptx_module_destroy(parse_body("ld.u32 %r1, [svar]; ld.shared::cta.u32 %r1, [svar];"
                                  "cp.async.ca.shared.global [svar], [gvar], 4;"));
}

/* PTX ISA 6.4: gone from sm_70 on; texts of before, or for older targets, have them. */
Test(parse_inst, warp_instructions_without_sync_are_of_older_texts)
{
    static const char *const old[] = {
        ".version 6.3\n.target sm_75\n", ".version 6.4\n.target sm_61\n",
        ".version 9.0\n.target sm_61\n", ".version 3.2\n.target sm_30\n"};
    static const char *const insts[] = {"shfl.idx.b32 %r1, %r2, 0, 31;",
                                        "vote.ballot.b32 %r1, %p1;", "vote.any.pred %p2, %p1;"};
    char text[256];
    struct pxr_error err;

    for (size_t i = 0; i < sizeof(insts) / sizeof(insts[0]); i++) {
        for (size_t j = 0; j < sizeof(old) / sizeof(old[0]); j++) {
            snprintf(text, sizeof(text),
                     "%s.entry k() { .reg .b32 %%r<3>; .reg .pred %%p<3>; %s ret; }", old[j],
                     insts[i]);
            ptx_module_destroy(parse_text(text));
        }
        snprintf(
            text, sizeof(text),
            ".version 6.4\n.target sm_70\n.entry k() { .reg .b32 %%r<3>; .reg .pred %%p<3>; %s "
            "ret; }",
            insts[i]);
        cr_assert_not_null(
            strstr(parse_error(text, &err), "without '.sync' is not part of PTX ISA 6.4"));
    }
}

Test(parse_inst, a_sum_can_be_a_value)
{
    static const struct {
        const char *text;
        unsigned operand;
        enum ptx_operand_kind base;
        int64_t offset;
    } cases[] = {
        {"add.u32 %r1, %r2+1, %r3;", 1, PTX_OPERAND_REG, 1},
        {"add.u32 %r1, %r2, %r3 + -4;", 2, PTX_OPERAND_REG, -4},
        {"add.u32 %r1, %r2+0, %r3;", 1, PTX_OPERAND_REG, 0},
        {"add.u32 %r1, %r2+1<<3, %r3;", 1, PTX_OPERAND_REG, 8},
        {"add.u32 %r1, %r2+5-1, %r3;", 1, PTX_OPERAND_REG, 4},
        {"add.u32 %r1, %r2+WARP_SZ, %r3;", 1, PTX_OPERAND_REG, 32},
        {"st.global.u64 [%rd1], %rd2+1;", 1, PTX_OPERAND_REG, 1},
        {"st.global.u8 [%rd1], %r2+1;", 1, PTX_OPERAND_REG, 1},
        {"st.global.f32 [%rd1], %r2+1;", 1, PTX_OPERAND_REG, 1},
        {"mov.u32 %r1, %r2+1;", 1, PTX_OPERAND_REG, 1},
        {"mov.u32 %r1, %laneid+1;", 1, PTX_OPERAND_SREG, 1},
        {"mov.b32 {%h1, %h2}, %r1+1;", 1, PTX_OPERAND_REG, 1},
        {"mov.b128 %q1, %q0+1;", 1, PTX_OPERAND_REG, 1},
        {"cvt.u32.u16 %r1, %h1+0x10001;", 1, PTX_OPERAND_REG, 0x10001},
        {"setp.lt.and.u32 %p1, %r1, %r2+1, %p2;", 2, PTX_OPERAND_REG, 1},
        {"selp.b32 %r1, %r2, %r3+1, %p1;", 2, PTX_OPERAND_REG, 1},
        {"mad.lo.u32 %r1, %r2+1, %r3+2, %r4+3;", 3, PTX_OPERAND_REG, 3},
        {"shl.b32 %r1, %r2+1, %r3+2;", 2, PTX_OPERAND_REG, 2},
        {"atom.global.cas.b32 %r1, [%rd1], %r2+1, %r3+2;", 3, PTX_OPERAND_REG, 2},
        {"bar.sync %r1+1;", 0, PTX_OPERAND_REG, 1},
        {"shfl.sync.idx.b32 %r1, %r2, %r3+1, %r4, -1;", 2, PTX_OPERAND_REG, 1},
        {"add.u64 %rd1, %rd2, gvar+4;", 2, PTX_OPERAND_VAR, 4},
        {"st.global.u64 [%rd1], gvar+0;", 1, PTX_OPERAND_VAR, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ptx_module *module = parse_body(cases[i].text);
        const struct ptx_operand *sum = operand_of(module, cases[i].operand);

        cr_assert_eq(sum->kind, PTX_OPERAND_SUM, "%s", cases[i].text);
        cr_assert_eq(sum->elem_count, 1);
        cr_assert_eq(sum->elems->kind, cases[i].base, "%s", cases[i].text);
        cr_assert_eq(sum->elems->offset, 0);
        cr_assert_eq(sum->offset, cases[i].offset, "%s", cases[i].text);
        ptx_module_destroy(module);
    }
}

Test(parse_inst, a_sum_is_of_one_register_and_a_whole_number)
{
    static const char whole[] = "a sum of a register of whole numbers and a constant";

    expect_body_error("add.u32 %r1, %r2-1, %r3;", "a negative number can be added, as in %r1+-4");
    expect_body_error("add.u32 %r1, %r2*2, %r3;", "expected ';', found '*'");
    expect_body_error("add.u32 %r1, %r2, [%rd1]+1;", "expected ';', found '+'");
    expect_body_error("add.u32 %r1, %r2+%r3, %r4;", "expected");
    expect_body_error("add.u32 %r1, %r2+1.0, %r3;", "an offset must be a whole number");
    expect_body_error("add.u32 %r1, %tid.x+1, %r3;", "expected ';', found '+'");
    expect_body_error("mov.f32 %f1, %v.x+1;", "expected ';', found '+'");
    expect_body_error("add.u32 %r1+1, %r2, %r3;", "must be a register");
    expect_body_error("add.u64 %rd1, %r2+1, %rd2;", "must be a register of 64 bits");
    expect_body_error("add.f32 %f1, %f2+1, %f3;", whole);
    expect_body_error("mov.b32 %r1, %f2+1;", whole);
    expect_body_error("selp.b32 %r1, %r2, %r3, %p1+1;", "must be a predicate");
    expect_body_error("selp.b32 %r1, %r2, %r3, !%p1+1;", "expected ';', found '+'");
    expect_body_error("@%p1+1 mov.u32 %r1, %r2;", "expected");
    expect_body_error("mov.b64 %rd1, {%r1+1, %r2};", "expected '}', found '+'");
    expect_body_error("st.global.v4.f32 [%rd1], %v+1;", whole);
    expect_body_error("vadd.u32.u32.u32 %r1, %r2+1, %r3;", "must be");
    expect_body_error("add.u64 %rd1, %rd2, gvar;", "must be a register or a constant");
    expect_body_error("add.u64 %rd1, %rd2, param+4;", "must be a register or a constant");
}

Test(parse_inst, operand_counts_are_checked)
{
    expect_body_error("add.s32 %r1, %r2;", "'add.s32' cannot have 2 operands");
    expect_body_error("add.s32 %r1, %r2, %r3, %r4;", "cannot have 4 operands");
    expect_body_error("setp.eq.and.s32 %p1, %r1, %r2;", "cannot have 3 operands");
    expect_body_error("setp.eq.s32 %p1, %r1, %r2, %p2;", "cannot have 4 operands");
    expect_body_error("cvt.rn.f16x2.f32 %r1, %f1;", "cannot have 2 operands");
    expect_body_error("atom.global.cas.b32 %r1, [%rd1], 1;", "cannot have 3 operands");
}

Test(parse_inst, operand_kinds_are_checked)
{
    expect_body_error("add.s32 5, %r2, %r3;", "must be a register");
    expect_body_error("add.s32 _, %r2, %r3;", "must be a register");
    expect_body_error("add.s32 %r1, [%r2], %r3;", "must be a register or a constant");
    expect_body_error("add.s32 %r1, gvar, %r3;", "must be a register or a constant");
    expect_body_error("add.s32 %r1, !%r2, %r3;", "without '!'");
    expect_body_error("ld.global.u32 %r1, %rd1;", "an address in brackets");
    expect_body_error("ld.global.u32 %r1, [%f];", "'%f' is not declared");
    expect_body_error("ld.global.v2.u32 %r1, [%rd1];", "must be a vector");
    expect_body_error("ld.global.v4.u32 {%r1, %r2}, [%rd1];", "another length");
    expect_body_error("st.global.v2.u32 [%rd1], {%r1, [%r2]};", "must be a register");
    expect_body_error("mov.u32 %r1, undefined;", "'undefined' is not declared");
    expect_body_error("bra %r1;", "'%r1' is not declared");
}

Test(parse_inst, register_sizes_are_checked)
{
    expect_body_error("add.s32 %rd1, %r2, %r3;", "must be a register of ");
    expect_body_error("add.u16 %h1, %r2, %h3;", "must be a register of ");
    expect_body_error("mul.wide.s32 %r1, %r2, %r3;", "must be a register of ");
    expect_body_error("shl.b64 %rd1, %rd2, %rd3;", "must be a register of ");
    expect_body_error("popc.b64 %rd1, %rd2;", "must be a register of ");
    expect_body_error("mov.b64 {%r1, %h2}, %rd1;", "must be a register of ");
    expect_body_error("ld.u64 %r1, [%rd1];", "must be a register of ");
    expect_body_error("setp.eq.s32 %r1, %r2, %r3;", "a predicate register");
    expect_body_error("selp.b32 %r1, %r2, %r3, %r4;", "a predicate register");
    expect_body_error("cvt.u32.u64 %r1, %r2;", "must be a register of ");
}

Test(parse_inst, wider_registers_are_allowed_where_ptx_allows_them)
{
    ptx_module_destroy(parse_body("ld.u8 %r1, [%rd1]; st.u16 [%rd1], %r1; cvt.u8.u32 %r1, %r2;"
                                  "cvt.s32.s8 %r1, %r2; mul.wide.u16 %r1, %h1, %h2;"
                                  "mad.wide.s32 %rd1, %r1, 4, %rd2; ld.s8 %h1, [%rd1];"
                                  "bar.red.popc.u32 %r1, 0, 64, !%p1; popc.b64 %r1, %rd1;"
                                  "bar.red.or.pred %p1, 0, %p2; slct.u64.f32 %rd1, %rd2, 0, %f1;"
                                  "set.gt.u32.f64 %r1, %fd1, %fd2; prmt.b32 %r1, 1, 2, 3;"
                                  "atom.cas.b64 %rd1, [%rd2], %rd3, 0; mov.b128 %q1, {%rd1, %rd2};"
                                  "mov.b128 {%rd1, %rd2}, %q1; ld.v4.f32 %v, [%rd1];"
                                  "match.any.sync.b64 %r1, %rd1, -1; bfe.u64 %rd1, %rd2, %r1, 3;"));
}

Test(parse_inst, an_index_register_counts_elements)
{
    struct ptx_module *module = parse_body("ld.global.u32 %r1, gvar[%r2]; ld.global.u32 %r1, "
                                           "gvar[%r2+3]; ld.global.u32 %r1, gvar[2];");
    const struct ptx_operand *address = &inst_at(module, 1)->operands[1];

    cr_assert_eq(address->kind, PTX_OPERAND_ADDRESS);
    cr_assert(address->is_indexed);
    cr_assert_eq(address->elem_count, 2);
    cr_assert_str_eq(address->elems[0].var->name, "gvar");
    cr_assert_str_eq(address->elems[1].var->name, "%r2");
    cr_assert_eq(address->offset, 12);
    cr_assert_not(inst_at(module, 2)->operands[1].is_indexed);
    cr_assert_eq(inst_at(module, 2)->operands[1].offset, 8);
    ptx_module_destroy(module);
    ptx_module_destroy(parse_body("mov.u64 %rd1, gvar[%r2];"));
    expect_body_error("mov.u64 %rd1, [gvar];", "must be");
    expect_body_error("ld.global.u32 %r1, gvar[%q1];", "'%q1' cannot be an array index");
    expect_body_error("ld.global.u32 %r1, gvar[%f1];", "'%f1' cannot be an array index");
    expect_body_error("ld.global.u32 %r1, gvar[nobody];", "'nobody' cannot be an array index");
}

Test(parse_inst, parts_of_special_registers_have_two_names_and_a_fourth_that_is_zero)
{
    struct ptx_module *module = parse_body("mov.u32 %r1, %ctaid.b; mov.u32 %r1, %ctaid.w;");

    cr_assert_eq(inst_at(module, 0)->operands[1].sreg, PTX_SREG_CTAID_Z);
    cr_assert_eq(inst_at(module, 1)->operands[1].kind, PTX_OPERAND_INT);
    cr_assert_eq(inst_at(module, 1)->operands[1].bits, 0);
    ptx_module_destroy(module);
}
