/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for what depends on other threads, and for control flow.
 */
#include <string.h>

#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

/* ---- operations of a warp ----
 * Cases: all lanes; some aligned groups of eight, which only look at lanes of their own group; two
 * halves with a mask each. */

#define MASK_CASES 3

static bool put_mask(struct piece *piece)
{
    static const char *const labels[MASK_CASES] = {"all lanes", "groups of lanes", "two halves"};
    static const char *const masks[MASK_CASES] = {
        "mov.b32 %mask, 0xffffffff;\n",
        /* bits of the block's number pick groups; one is always there */
        "mov.u32 %mask, %ctaid.x;\nmul.lo.u32 %mask, %mask, 7;\nadd.u32 %mask, %mask, 3;\n"
        "and.b32 %mask, %mask, 15;\nmul.lo.u32 %mask, %mask, 0x204081;\n"
        "and.b32 %mask, %mask, 0x01010101;\nmul.lo.u32 %mask, %mask, 255;\n",
        "setp.lt.u32 %p, %lane, 16;\nselp.b32 %mask, 0xffff, 0xffff0000, %p;\n",
    };
    if (piece->n >= MASK_CASES || (piece->n > 0 && !machine_has_word(piece->form, "sync")))
        return false;
    piece->label = labels[piece->n];
    fprintf(piece->body,
            ".reg .b32 %%mask, %%bit;\n.reg .pred %%p, %%q, %%named;\n%s"
            "shr.u32 %%bit, %%mask, %%lane;\nand.b32 %%bit, %%bit, 1;\n"
            "setp.ne.u32 %%named, %%bit, 0;\n@!%%named bra SKIP;\n",
            masks[piece->n]);
    return true;
}

/* The forms without .sync take part with all lanes that are there. */
static const char *member_mask(const struct piece *piece)
{
    return machine_has_word(piece->form, "sync") ? ", %mask" : "";
}

static void end_mask(struct piece *piece)
{
    fputs("SKIP:\nbar.warp.sync 0xffffffff;\n", piece->body);
}

static bool make_shfl(struct piece *piece)
{
    if (!put_mask(piece))
        return false;
    fputs(".reg .b32 %r, %v, %b, %c;\nld.global.b32 %v, [%in];\nld.global.b32 %b, [%in+32];\n"
          "ld.global.b32 %c, [%in+48];\n",
          piece->body);
    bool is_up = machine_has_word(piece->form, "up");
    static const char *const limits[MASK_CASES][2] = {
        {NULL, NULL}, {"0x181f", "0x1800"}, {"0x101f", "0x1000"}};
    if (piece->n > 0)
        fprintf(piece->body, "and.b32 %%b, %%b, %u;\nmov.b32 %%c, %s;\n", piece->n == 1 ? 7 : 15,
                limits[piece->n][is_up]);
    fprintf(piece->body,
            "%s %%r|%%p, %%v, %%b, %%c%s;\nst.global.b32 [%%out], %%r;\n"
            "selp.b32 %%r, 1, 0, %%p;\nst.global.b32 [%%out+4], %%r;\n",
            piece->form->text, member_mask(piece));
    end_mask(piece);
    return true;
}

/* A predicate that differs between lanes, and one that blocks agree on now and then. */
static bool make_vote(struct piece *piece)
{
    if (!put_mask(piece))
        return false;
    bool is_ballot = machine_has_word(piece->form, "ballot");
    fputs(".reg .b32 %r, %v;\nld.global.b32 %v, [%in];\nand.b32 %v, %v, 1;\n"
          "setp.ne.u32 %q, %v, 0;\n",
          piece->body);
    static const char *const predicates[] = {"%q", "!%q", "%agreed", "!%agreed"};
    fputs(".reg .pred %agreed;\n.reg .b32 %block;\nmov.u32 %block, %ctaid.x;\n"
          "and.b32 %block, %block, 1;\nsetp.ne.u32 %agreed, %block, 0;\n",
          piece->body);
    for (unsigned i = 0; i < 4; i++) {
        if (is_ballot)
            fprintf(piece->body, "%s %%r, %s%s;\n", piece->form->text, predicates[i],
                    member_mask(piece));
        else
            fprintf(piece->body, "%s %%p, %s%s;\nselp.b32 %%r, 1, 0, %%p;\n", piece->form->text,
                    predicates[i], member_mask(piece));
        fprintf(piece->body, "st.global.b32 [%%out+%u], %%r;\n", 4 * i);
    }
    end_mask(piece);
    return true;
}

static bool make_match(struct piece *piece)
{
    if (!put_mask(piece))
        return false;
    unsigned bits = ptx_type_bits(piece->form->types[0]);
    bool is_all = machine_has_word(piece->form, "all");
    fprintf(piece->body,
            ".reg .b32 %%r;\n.reg .b%u %%v, %%high;\nld.global.b%u %%v, [%%in];\n"
            "and.b%u %%v, %%v, 3;\nshl.b%u %%high, %%v, %u;\nor.b%u %%v, %%v, %%high;\n",
            bits, bits, bits, bits, bits - 2, bits);
    for (unsigned i = 0; i < 2; i++) {
        fprintf(piece->body, "%s %s, %%v, %%mask;\nst.global.b32 [%%out+%u], %%r;\n",
                piece->form->text, is_all ? "%r|%p" : "%r", 8 * i);
        if (is_all)
            fprintf(piece->body, "selp.b32 %%r, 1, 0, %%p;\nst.global.b32 [%%out+%u], %%r;\n",
                    8 * i + 4);
        fprintf(piece->body, "mov.b%u %%v, 77;\n", bits);
    }
    end_mask(piece);
    return true;
}

static bool make_redux(struct piece *piece)
{
    if (!put_mask(piece))
        return false;
    piece->value_type = piece->form->types[0];
    fprintf(piece->body,
            ".reg .b32 %%r, %%v;\nld.global.b32 %%v, [%%in];\n%s %%r, %%v, %%mask;\n"
            "st.global.b32 [%%out], %%r;\n",
            piece->form->text);
    end_mask(piece);
    return true;
}

static bool make_elect(struct piece *piece)
{
    if (!put_mask(piece))
        return false;
    fprintf(piece->body,
            ".reg .b32 %%r;\n%s %%r|%%p, %%mask;\nst.global.b32 [%%out], %%r;\n"
            "selp.b32 %%r, 1, 0, %%p;\nst.global.b32 [%%out+4], %%r;\n",
            piece->form->text);
    end_mask(piece);
    return true;
}

static bool make_movmatrix(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    piece->value_type = PTX_TYPE_B32;
    fprintf(piece->body,
            ".reg .b32 %%r, %%v;\nbar.warp.sync 0xffffffff;\nld.global.b32 %%v, [%%in];\n"
            "%s %%r, %%v;\nst.global.b32 [%%out], %%r;\n",
            piece->form->text);
    return true;
}

static bool make_activemask(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    fprintf(piece->body,
            "bar.warp.sync 0xffffffff;\n.reg .b32 %%r;\n%s %%r;\nst.global.b32 [%%out], %%r;\n",
            piece->form->text);
    return true;
}

/* ---- barriers: two warps exchange what they put into shared memory ---- */

static bool has_predicate(const struct piece *piece)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned count = ptx_op_operand_rules(piece->form->op, rules);
    return count > 0 && rules[count - 1].letter == 'p';
}

static void put_exchange(struct piece *piece)
{
    fputs(".reg .b64 %other;\nxor.b64 %other, %offset, 1024;\n"
          ".reg .b64 %base_of;\nsub.s64 %base_of, %shared, %offset;\n"
          "add.s64 %other, %base_of, %other;\n",
          piece->body);
    piece_put_dump(piece->body, ".shared", "%other", 0);
    fputs("bar.sync 0;\n", piece->body);
}

static bool make_warp_barrier(struct piece *piece)
{
    if (piece->n > 1)
        return false;
    fprintf(piece->body, ".reg .b32 %%mask, %%n;\nmov.b32 %%mask, 0xffffffff;\n"
                         ".reg .b64 %%other;\nadd.s64 %%other, %%shared, 32;\n"
                         "setp.eq.u32 %%p, %%lane, 31;\n@%%p sub.s64 %%other, %%shared, 992;\n");
    piece_put_pattern(piece->body, ".shared", "%shared");
    fprintf(piece->body, "%s %s;\n", piece->form->text, piece->n == 0 ? "%mask" : "-1");
    piece_put_dump(piece->body, ".shared", "%other", 0);
    fputs("bar.sync 0;\n", piece->body);
    piece->label = piece->n == 0 ? NULL : "constant mask";
    return true;
}

static bool make_arrive(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    piece_put_pattern(piece->body, ".shared", "%shared");
    fprintf(piece->body,
            "setp.ge.u32 %%p, %%thread, 32;\n@%%p bra WAIT;\n%s 2, 64;\nbra DONE;\n"
            "WAIT:\nbar.sync 2, 64;\n",
            piece->form->text);
    fputs(".reg .b64 %other;\nsub.s64 %other, %shared, 1024;\n", piece->body);
    piece_put_dump(piece->body, ".shared", "%other", 0);
    fputs("DONE:\nbar.sync 0;\n", piece->body);
    return true;
}

static bool make_reduction(struct piece *piece)
{
    static const char *const operands[] = {"0, %q", "3, 64, %q", "%id, %count, !%agreed",
                                           "0, %agreed"};
    static const char *const labels[] = {NULL, "with a count", "negated predicate", "all alike"};
    bool is_count = machine_has_word(piece->form, "popc");
    if (piece->n > 3)
        return false;
    piece->label = labels[piece->n];
    fprintf(piece->body,
            ".reg .b32 %%r, %%id, %%count;\n.reg .pred %%agreed;\nmov.b32 %%id, 4;\n"
            "mov.b32 %%count, 64;\nld.global.b32 %%r, [%%in];\nand.b32 %%r, %%r, 1;\n"
            "setp.ne.u32 %%q, %%r, 0;\nand.b32 %%r, %%block, 1;\nsetp.ne.u32 %%agreed, %%r, 0;\n"
            "%s %s, %s;\n",
            piece->form->text, is_count ? "%r" : "%p", operands[piece->n]);
    if (!is_count)
        fputs("selp.b32 %r, 1, 0, %p;\n", piece->body);
    fputs("st.global.b32 [%out], %r;\n", piece->body);
    return true;
}

static bool make_sync(struct piece *piece)
{
    static const char *const operands[] = {"0", "1, 64", "%id, %count"};
    static const char *const labels[] = {NULL, "with a count", "operands in registers"};
    if (piece->n > 2)
        return false;
    piece->label = labels[piece->n];
    fputs(".reg .b32 %id, %count;\nmov.b32 %id, 5;\nmov.b32 %count, 64;\n", piece->body);
    piece_put_pattern(piece->body, ".shared", "%shared");
    fprintf(piece->body, "%s %s;\n", piece->form->text, operands[piece->n]);
    put_exchange(piece);
    return true;
}

static bool make_barrier(struct piece *piece)
{
    fputs(".reg .pred %p, %q;\n", piece->body);
    if (machine_has_word(piece->form, "warp"))
        return make_warp_barrier(piece);
    if (machine_has_word(piece->form, "arrive"))
        return make_arrive(piece);
    return has_predicate(piece) ? make_reduction(piece) : make_sync(piece);
}

/* ---- control flow: which way was taken is stored ---- */

static bool make_bra(struct piece *piece)
{
    bool is_uniform = machine_has_word(piece->form, "uni");
    if (piece->n > 1)
        return false;
    piece->label = piece->n == 0 ? NULL : "not taken";
    fprintf(piece->body,
            ".reg .b32 %%r;\n.reg .pred %%p;\nmov.b32 %%r, 1;\nsetp.%s.u32 %%p, %%%s, 1;\n"
            "@%sp %s L;\nmov.b32 %%r, 2;\nL:\nst.global.b32 [%%out], %%r;\n",
            is_uniform ? "lt" : "gt", is_uniform ? "block" : "lane", piece->n == 0 ? "%" : "!%",
            piece->form->text);
    return true;
}

static bool make_brx(struct piece *piece)
{
    bool is_uniform = machine_has_word(piece->form, "uni");
    if (piece->n > 0)
        return false;
    fprintf(piece->body,
            ".reg .b32 %%r, %%i;\nrem.u32 %%i, %%%s, 3;\nmov.b32 %%r, 7;\n"
            "TARGETS: .branchtargets A, B, C;\n%s %%i, TARGETS;\n"
            "A:\nadd.u32 %%r, %%r, 1;\nB:\nadd.u32 %%r, %%r, 10;\nC:\nadd.u32 %%r, %%r, 100;\n"
            "st.global.b32 [%%out], %%r;\n",
            is_uniform ? "block" : "lane", piece->form->text);
    return true;
}

static void put_function(struct piece *piece, const char *leave)
{
    fprintf(piece->decls,
            ".func (.param .b32 result) f%u(.param .b32 value)\n{\n.reg .b32 %%v;\n"
            ".reg .pred %%p;\nld.param.b32 %%v, [value];\nst.param.b32 [result], %%v;\n"
            "setp.lt.u32 %%p, %%v, 9;\n@%%p %s;\nadd.u32 %%v, %%v, 1000;\n"
            "st.param.b32 [result], %%v;\n%s;\n}\n",
            piece->number, leave, leave);
}

static bool make_called(struct piece *piece, const char *call, const char *leave)
{
    bool is_indirect = piece->n == 1;
    if (piece->n > 1)
        return false;
    piece->label = is_indirect ? "through a pointer" : NULL;
    put_function(piece, leave);
    fputs("{\n.param .b32 result, value;\n.reg .b32 %r;\n.reg .b64 %f;\n"
          "st.param.b32 [value], %lane;\n",
          piece->body);
    if (is_indirect)
        fprintf(piece->body,
                "mov.u64 %%f, f%u;\nP: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                "%s (result), %%f, (value), P;\n",
                piece->number, call);
    else
        fprintf(piece->body, "%s (result), f%u, (value);\n", call, piece->number);
    fputs("ld.param.b32 %r, [result];\nst.global.b32 [%out], %r;\n}\n", piece->body);
    return true;
}

static bool make_call(struct piece *piece)
{
    return make_called(piece, piece->form->text, "ret");
}

static bool make_ret(struct piece *piece)
{
    return make_called(piece, "call", piece->form->text);
}

static bool make_exit(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    piece->is_alone = true;
    fprintf(piece->body, "@%%is_even %s;\nst.global.b32 [%%out], %%lane;\n", piece->form->text);
    return true;
}

/* The launch ends with an error. */
static bool make_trap(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    piece->is_alone = true;
    piece->is_fault = true;
    fprintf(piece->body, "%s;\n", piece->form->text);
    return true;
}

/* Instructions that change nothing visible. */
static bool make_passing(struct piece *piece)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    bool has_operand = ptx_op_operand_rules(piece->form->op, rules) > 0;
    if (piece->n > 0)
        return false;
    fprintf(piece->body, "%s%s;\nst.global.b64 [%%out], %%d0;\n", piece->form->text,
            has_operand ? " 24" : "");
    return true;
}

/* ---- the table ---- */

const struct template thread_templates[] = {
    {"shfl", make_shfl},
    {"vote", make_vote},
    {"match", make_match},
    {"redux", make_redux},
    {"elect", make_elect},
    {"movmatrix", make_movmatrix},
    {"activemask", make_activemask},
    {"bar", make_barrier},
    {"barrier", make_barrier},
    {"bra", make_bra},
    {"brx", make_brx},
    {"call", make_call},
    {"ret", make_ret},
    {"exit", make_exit},
    {"trap", make_trap},
    {"brkpt", make_trap},
    {"nanosleep", make_passing},
    {"pmevent", make_passing},
    {"griddepcontrol", make_passing},
    {"setmaxnreg", make_passing},
    {NULL, NULL},
};
