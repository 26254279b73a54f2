/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks whether the indices that are expected not to wrap (plan/steady_indices.c) do not. Each is
 * made of what lane 0 has, in front of the code that makes it, so that one branch decides for as
 * many as possible; LLVM finds what has been made twice.
 */
#include "translator/vector/steady.h"
#include "translator/vector/control.h"

/* i1: the index does not wrap in the lanes. */
static LLVMValueRef check_lanes(struct tr_widen *widen, const struct tr_steady *steady,
                                const struct tr_of_lanes *of)
{
    if (steady->is_range)
        return tr_steady_check_range(widen, steady, of);
    LLVMBuilderRef b = widen->builder;
    int64_t stride = tr_widen_shape(widen, steady->extension).stride;
    LLVMValueRef ends[2];
    ends[0] = tr_steady_number(widen, LLVMGetOperand(steady->extension, 0), of);
    ends[1] = LLVMBuildAdd(b, ends[0],
                           LLVMConstInt(widen->i32, (uint64_t)stride * (of->lanes - 1), true), "");
    LLVMIntPredicate order = tr_extends_sign(steady->extension) ? LLVMIntSLE : LLVMIntULE;
    return LLVMBuildICmp(b, order, ends[stride < 0], ends[stride > 0], "");
}

/* Leaves out a copy without active lanes, whose index may be anything. */
static LLVMValueRef check_if_any(struct tr_widen *widen, const struct tr_steady *steady,
                                 const struct tr_of_lanes *of)
{
    LLVMValueRef check = check_lanes(widen, steady, of);
    LLVMValueRef yes = LLVMConstInt(widen->i1, 1, false);
    return LLVMBuildSelect(widen->builder, tr_widen_any(widen, widen->active.mask[of->copy]), check,
                           yes, "");
}

/* Rows as a whole; where lanes may be missing, copy by copy. all: what has been asked; NULL:
 * nothing. */
static LLVMValueRef check_all(struct tr_widen *widen, const struct tr_steady *steady,
                              uint32_t behind, LLVMValueRef all)
{
    bool is_masked = widen->active.mask[0] != NULL;
    uint32_t number = tr_graph_number(&widen->iteration->graph, steady->extension);
    uint32_t step = is_masked ? 1 : widen->jam[0];
    uint32_t rows = widen->iteration->depends_on_row[number] || is_masked ? widen->jam[1] : 1;
    for (uint32_t c = 0; c < rows * widen->jam[0]; c += step) {
        struct tr_of_lanes of = {c, widen->width * step, behind};
        LLVMValueRef check =
            is_masked ? check_if_any(widen, steady, &of) : check_lanes(widen, steady, &of);
        all = all == NULL ? check : LLVMBuildAnd(widen->builder, all, check, "");
    }
    return all;
}

static bool is_steady(const struct tr_iteration *iteration, LLVMValueRef extension)
{
    uint32_t number = tr_graph_number(&iteration->graph, extension);
    return number != TR_NONE && iteration->shapes.values[number].kind == TR_AFFINE &&
           iteration->shapes.values[number].stride != 0;
}

/* Whether the same has been asked for another extension, of those before this one. Of what goes on
 * in loops it matters where the extension is. */
static bool is_asked(const struct tr_iteration *iteration, const struct tr_expectations *expected,
                     uint32_t number)
{
    const struct tr_steady *steady = &expected->steady[number];
    for (uint32_t i = 0; i < number; i++) {
        LLVMValueRef other = expected->steady[i].extension;
        if (!steady->is_range && is_steady(iteration, other) &&
            LLVMGetOperand(other, 0) == LLVMGetOperand(steady->extension, 0) &&
            tr_extends_sign(other) == tr_extends_sign(steady->extension))
            return true;
    }
    return false;
}

void tr_control_check_steady(struct tr_control *control, LLVMValueRef behind)
{
    struct tr_widen *widen = control->widen;
    const struct tr_expectations *expected =
        control->exits == NULL ? NULL : control->exits->expected;
    uint32_t count = expected == NULL ? 0 : expected->steady_count;
    LLVMValueRef all = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct tr_steady *steady = &expected->steady[i];
        if (steady->behind != behind || !is_steady(control->iteration, steady->extension) ||
            is_asked(control->iteration, expected, i))
            continue;
        uint32_t number =
            behind == NULL ? TR_NONE : tr_graph_number(&control->iteration->graph, behind);
        all = check_all(widen, steady, number, all);
    }
    if (all == NULL)
        return;
    LLVMBasicBlockRef go_on = tr_widen_new_block(widen, "expected");
    LLVMBuildCondBr(widen->builder, all, go_on, control->exits->other);
    LLVMPositionBuilderAtEnd(widen->builder, go_on);
}
