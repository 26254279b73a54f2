/* SPDX-License-Identifier: Apache-2.0
 *
 * Units that rows come to as a whole: the upper and lower borders of tiles, `if (y < n) …`. Each
 * row of copies has a branch of its own and no masks behind it.
 */
#include "translator/vector/control.h"

bool tr_v_is_for_rows(const struct tr_control *control, uint32_t segment)
{
    const struct tr_join *join = &control->joins[segment];
    if (join->of_condition == NULL || !tr_v_is_simple(control, segment))
        return false;
    struct tr_shape shape = tr_w_shape(control->widen, join->condition);
    return shape.kind == TR_AFFINE && shape.stride == 0;
}

/* One row of copies as if it were the only one. */
static bool look_at_row(const struct tr_control *control, uint32_t row, struct pxr_arena *arena,
                        struct tr_widen *view)
{
    const struct tr_widen *all = control->widen;
    uint32_t columns = all->jam[0];
    uint32_t values = control->turn->graph.value_count;
    *view = *all;
    view->jam[1] = 1;
    view->copies = columns;
    view->now = pxr_arena_alloc_array(arena, (size_t)values * columns, sizeof *view->now);
    for (uint32_t v = 0; view->now != NULL && v < values; v++)
        for (uint32_t c = 0; c < columns; c++)
            view->now[v * columns + c] =
                all->now[v * all->copies + tr_w_holder(all, v, row * columns + c)];
    return view->now != NULL;
}

static void emit_row(struct tr_control *control, uint32_t segment, uint32_t row,
                     struct tr_widen *view)
{
    const struct tr_join *join = &control->joins[segment];
    const struct tr_segment *s = &control->turn->graph.segments[segment];
    LLVMBuilderRef b = view->builder;
    LLVMBasicBlockRef come = tr_w_new_block(view, "row");
    LLVMBasicBlockRef next = tr_w_new_block(view, "next");
    LLVMValueRef condition =
        tr_w_scalar(control->widen, join->condition, row * control->widen->jam[0]);
    LLVMBuildCondBr(b, condition, join->expected ? come : next, join->expected ? next : come);
    LLVMPositionBuilderAtEnd(b, come);
    for (uint32_t k = 0; k + 1 < s->value_count; k++)
        tr_w_instruction(view, s->first_value + k);
    LLVMBuildBr(b, next);
    LLVMPositionBuilderAtEnd(b, next);
}

void tr_v_emit_for_rows(struct tr_control *control, uint32_t segment)
{
    for (uint32_t row = 0; row < control->widen->jam[1] && !control->is_out_of_memory; row++) {
        struct pxr_arena arena;
        struct tr_widen view;
        pxr_arena_init(&arena, 0);
        control->is_out_of_memory |= !look_at_row(control, row, &arena, &view);
        if (!control->is_out_of_memory)
            emit_row(control, segment, row, &view);
        pxr_arena_fini(&arena);
    }
}
