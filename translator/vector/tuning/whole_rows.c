/* SPDX-License-Identifier: Apache-2.0
 *
 * Units that rows reach as a whole: the upper and lower borders of tiles, `if (y < n) …`. Each row
 * of copies has a branch of its own and no masks behind it.
 */
#include "translator/vector/tuning/tuning.h"

#include "util/arena.h"

bool tr_tuning_is_for_rows(const struct tr_widen *widen, LLVMValueRef condition)
{
    struct tr_shape shape = tr_widen_shape(widen, condition);
    return shape.kind == TR_AFFINE && shape.stride == 0;
}

/* Looks at one row of copies as if it were the only one. */
static bool look_at_row(const struct tr_widen *all, uint32_t row, struct pxr_arena *arena,
                        struct tr_widen *view)
{
    uint32_t columns = all->jam[0];
    uint32_t values = all->iteration->graph.value_count;
    *view = *all;
    view->jam[1] = 1;
    view->copies = columns;
    view->now = pxr_arena_alloc_array(arena, (size_t)values * columns, sizeof *view->now);
    for (uint32_t v = 0; view->now != NULL && v < values; v++)
        for (uint32_t c = 0; c < columns; c++)
            view->now[v * columns + c] =
                all->now[v * all->copies + tr_widen_holder(all, v, row * columns + c)];
    return view->now != NULL;
}

/* condition: i1, whether the row comes there. */
static void emit_row(struct tr_widen *view, uint32_t segment, LLVMValueRef condition, bool expected,
                     void (*emit)(struct tr_widen *widen, uint32_t value))
{
    const struct tr_segment *s = &view->iteration->graph.segments[segment];
    LLVMBuilderRef b = view->builder;
    LLVMBasicBlockRef come = tr_widen_new_block(view, "row");
    LLVMBasicBlockRef next = tr_widen_new_block(view, "next");
    LLVMBuildCondBr(b, condition, expected ? come : next, expected ? next : come);
    LLVMPositionBuilderAtEnd(b, come);
    for (uint32_t k = 0; k + 1 < s->value_count; k++)
        emit(view, s->first_value + k);
    LLVMBuildBr(b, next);
    LLVMPositionBuilderAtEnd(b, next);
}

bool tr_tuning_emit_for_rows(struct tr_widen *widen, uint32_t segment, LLVMValueRef condition,
                             bool expected, void (*emit)(struct tr_widen *widen, uint32_t value))
{
    bool has_room = true;
    for (uint32_t row = 0; row < widen->jam[1] && has_room; row++) {
        struct pxr_arena arena;
        struct tr_widen view;
        pxr_arena_init(&arena, 0);
        has_room = look_at_row(widen, row, &arena, &view);
        if (has_room)
            emit_row(&view, segment, tr_widen_scalar(widen, condition, row * widen->jam[0]),
                     expected, emit);
        pxr_arena_fini(&arena);
    }
    return has_room;
}
