/* SPDX-License-Identifier: Apache-2.0
 *
 * The layouts of matrix.def against the formulas of the manual (PTX ISA, "Matrix Fragments for
 * mma.…"), where g is groupID and t threadID_in_group.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "ptx/forms.h"
#include "ptx/matrix.h"

#define WARP_SIZE 32

struct wanted {
    const char *text;
    struct ptx_matrices *matrices;
    bool is_found;
};

static bool find_in_form(const struct ptx_form *form, void *data)
{
    struct wanted *wanted = data;
    struct ptx_inst inst = {.op = form->op,
                            .type_count = (uint8_t)form->type_count,
                            .mod_count = (uint8_t)form->mod_count,
                            .groups = form->groups};
    if (strcmp(form->text, wanted->text) != 0)
        return true;
    memcpy(inst.types, form->types, sizeof form->types);
    memcpy(inst.mods, form->mods, sizeof form->mods);
    wanted->is_found = ptx_find_matrices(&inst, wanted->matrices);
    return false;
}

static struct ptx_matrices matrices_of(const char *text)
{
    struct ptx_matrices matrices;
    struct wanted wanted = {.text = text, .matrices = &matrices};
    for (unsigned op = 0; op < PTX_OP_COUNT && !wanted.is_found; op++)
        if (ptx_op_table[op].family == PTX_FAMILY_MATRIX)
            ptx_op_each_form((enum ptx_op)op, find_in_form, &wanted);
    cr_assert(wanted.is_found, "no %s", text);
    return matrices;
}

/* ROW and COLUMN: of element i of the lane. */
#define EXPECT_LAYOUT(text, matrix, count, ROW, COLUMN)                                            \
    do {                                                                                           \
        struct ptx_matrices all = matrices_of(text);                                               \
        cr_expect_eq(all.matrix.elements, (count), "%s " #matrix ": elements", text);              \
        for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                          \
            for (unsigned i = 0; i < (count); i++) {                                               \
                unsigned g = lane >> 2, t = lane % 4;                                              \
                struct ptx_cell cell = ptx_cell_of(&all.matrix, (struct ptx_slot){lane, i});       \
                cr_expect(cell.row == (ROW) && cell.column == (COLUMN),                            \
                          "%s " #matrix ": lane %u, element %u is at %u, %u", text, lane, i,       \
                          cell.row, cell.column);                                                  \
                (void)g;                                                                           \
                (void)t;                                                                           \
            }                                                                                      \
    } while (0)

Test(matrix, m8n8k4_of_f16)
{
    const char *row = "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32";
    const char *col = "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16";
    unsigned four = 4;
    EXPECT_LAYOUT(row, a, four, lane % 4 + (lane < 16 ? 0 : 4), i);
    EXPECT_LAYOUT(col, a, four, i % 4 + (lane < 16 ? 0 : 4), lane % 4);
    EXPECT_LAYOUT(row, b, four, lane % 4, i + (lane < 16 ? 0 : 4));
    EXPECT_LAYOUT(col, b, four, i, lane % 4 + (lane < 16 ? 0 : 4));
    EXPECT_LAYOUT(row, d, 8u, (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4),
                  (i & 4) + (lane & 2) + (i & 1));
    EXPECT_LAYOUT(col, d, 8u, lane % 4 + (lane < 16 ? 0 : 4), i);
}

Test(matrix, shapes_of_eight_rows)
{
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", a, 1u, g, t);
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", b, 1u, t, g);
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", c, 2u, g, t * 2 + (i & 1));
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", a, 4u, g, t * 4 + i);
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", b, 4u, t * 4 + i, g);
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", a, 8u, g, t * 8 + i);
    EXPECT_LAYOUT("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", b, 32u, t * 32 + i,
                  g);
}

Test(matrix, floats)
{
    const char *k8 = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
    const char *k16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
    const char *tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    const char *f64 = "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64";
    EXPECT_LAYOUT(k8, a, 4u, i < 2 ? g : g + 8, t * 2 + (i & 1));
    EXPECT_LAYOUT(k8, b, 2u, t * 2 + i, g);
    EXPECT_LAYOUT(k8, c, 4u, i < 2 ? g : g + 8, t * 2 + (i & 1));
    EXPECT_LAYOUT(k16, a, 8u, i < 2 || (i >= 4 && i < 6) ? g : g + 8,
                  t * 2 + (i & 1) + (i >= 4 ? 8 : 0));
    EXPECT_LAYOUT(k16, b, 4u, t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g);
    EXPECT_LAYOUT(k16, d, 4u, i < 2 ? g : g + 8, t * 2 + (i & 1));
    EXPECT_LAYOUT("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", a, 2u, i == 0 ? g : g + 8,
                  t);
    EXPECT_LAYOUT(tf32, a, 4u, i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4);
    EXPECT_LAYOUT(tf32, b, 2u, i == 0 ? t : t + 4, g);
    EXPECT_LAYOUT(f64, a, 8u, i % 2 == 0 ? g : g + 8, i / 2 * 4 + t);
    EXPECT_LAYOUT(f64, b, 4u, t + i * 4, g);
    EXPECT_LAYOUT("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", a, 16u,
                  i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16));
}

Test(matrix, integers)
{
    const char *s8 = "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32";
    const char *s4 = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32";
    const char *b1 = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc";
    EXPECT_LAYOUT("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", a, 8u, i < 4 ? g : g + 8,
                  t * 4 + (i & 3));
    EXPECT_LAYOUT(s8, a, 16u, i < 4 || (i >= 8 && i < 12) ? g : g + 8,
                  t * 4 + (i & 3) + (i < 8 ? 0 : 16));
    EXPECT_LAYOUT(s8, b, 8u, t * 4 + (i & 3) + (i < 4 ? 0 : 16), g);
    EXPECT_LAYOUT(s4, a, 32u, i < 8 || (i >= 16 && i < 24) ? g : g + 8,
                  t * 8 + (i & 7) + (i < 16 ? 0 : 32));
    EXPECT_LAYOUT(s4, b, 16u, t * 8 + (i & 7) + (i < 8 ? 0 : 32), g);
    EXPECT_LAYOUT(b1, a, 128u, i < 32 || (i >= 64 && i < 96) ? g : g + 8,
                  t * 32 + (i & 31) + (i < 64 ? 0 : 128));
    EXPECT_LAYOUT(b1, b, 64u, t * 32 + (i & 31) + (i < 32 ? 0 : 128), g);
    EXPECT_LAYOUT(b1, c, 4u, i < 2 ? g : g + 8, t * 2 + (i & 1));
}

/* Columns of a packed A: its elements lie side by side where the manual's firstcol to lastcol are
 * twice as many. */
Test(matrix, sparse)
{
    const char *f16 = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
    const char *tf32 = "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32";
    const char *s8 = "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32";
    const char *s4 = "mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32";
    EXPECT_LAYOUT(f16, a, 8u, i < 2 || (i >= 4 && i < 6) ? g : g + 8,
                  (t * 4 + (i < 4 ? 0 : 16)) / 2 + (i & 1));
    EXPECT_LAYOUT(f16, b, 8u, t * 2 + (i & 1) + i / 2 * 8, g);
    EXPECT_LAYOUT(tf32, a, 4u, i == 0 || i == 2 ? g : g + 8, (t * 2 + (i < 2 ? 0 : 8)) / 2);
    EXPECT_LAYOUT(tf32, b, 4u, t + i * 4, g);
    EXPECT_LAYOUT(s8, a, 16u, i < 4 || (i >= 8 && i < 12) ? g : g + 8,
                  (t * 8 + (i < 8 ? 0 : 32)) / 2 + (i & 3));
    EXPECT_LAYOUT(s8, b, 16u, t * 4 + (i & 3) + i / 4 * 16, g);
    EXPECT_LAYOUT(s4, a, 32u, i < 8 || (i >= 16 && i < 24) ? g : g + 8,
                  (t * 16 + (i < 16 ? 0 : 64)) / 2 + (i & 7));
    EXPECT_LAYOUT(s4, b, 32u, t * 8 + (i & 7) + i / 8 * 32, g);
}

/* Figures "Sparse MMA … metadata layout": a thread of four, a pair of them, or all. */
Test(matrix, metadata)
{
    const char *f16 = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    const char *f16_long = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
    const char *tf32 = "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    const char *s8 = "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
    const char *s8_long = "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32";
    const char *s4_long = "mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32";
    EXPECT_LAYOUT(f16, metadata, 16u, i < 8 ? g : g + 8, i % 8);
    EXPECT_LAYOUT(tf32, metadata, 16u, i < 8 ? g : g + 8, i % 8);
    EXPECT_LAYOUT(f16_long, metadata, 16u, i < 8 ? g : g + 8, i % 8 + t % 2 * 8);
    EXPECT_LAYOUT(s8, metadata, 16u, g + t % 2 * 8, i);
    EXPECT_LAYOUT(s8_long, metadata, 16u, g + t % 2 * 8, i + t / 2 * 16);
    EXPECT_LAYOUT(s4_long, metadata, 16u, g + t % 2 * 8, i + t / 2 * 16);
    struct ptx_matrices all = matrices_of(f16);
    cr_expect_eq(ptx_choice_count(&all.metadata), 4);
    cr_expect_eq(ptx_lane_of_choice(&all.metadata, 3), 3);
    all = matrices_of(s8);
    cr_expect_eq(ptx_choice_count(&all.metadata), 2);
    cr_expect_eq(ptx_lane_of_choice(&all.metadata, 1), 2);
    all = matrices_of(s8_long);
    cr_expect_eq(ptx_choice_count(&all.metadata), 1);
}

Test(matrix, rows_in_memory)
{
    EXPECT_LAYOUT("ldmatrix.sync.aligned.m8n8.x4.shared.b16", d, 2u, g, t * 2 + i);
    EXPECT_LAYOUT("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", d, 2u, t * 2 + i, g);
    EXPECT_LAYOUT("stmatrix.sync.aligned.m8n8.x2.shared.b16", d, 2u, g, t * 2 + i);
    EXPECT_LAYOUT("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", d, 4u, g, t * 4 + i);
    EXPECT_LAYOUT("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", d, 8u,
                  t * 4 + (i & 1) + (i >= 4 ? 2 : 0), g + (i & 2) * 4);
    EXPECT_LAYOUT("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8", d, 4u, t * 2 + (i & 1),
                  g + (i & 2) * 4);
}

/* Every cell is somewhere, and where it is said to be. */
static void check_places(const char *text, const struct ptx_fragment *fragment, unsigned cells)
{
    unsigned columns = 1u << strlen(fragment->column);
    cr_expect_eq((1u << strlen(fragment->row)) * columns, cells, "%s", text);
    for (unsigned n = 0; n < cells; n++)
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
            struct ptx_cell cell = {n / columns, n % columns};
            struct ptx_slot place = ptx_slot_of(fragment, cell, lane);
            struct ptx_cell back = ptx_cell_of(fragment, place);
            cr_expect(place.lane < WARP_SIZE && place.element < fragment->elements &&
                          back.row == cell.row && back.column == cell.column,
                      "%s: cell %u, %u", text, cell.row, cell.column);
        }
}

static bool check_form(const struct ptx_form *form, void *data)
{
    struct ptx_matrices all;
    struct wanted wanted = {.text = form->text, .matrices = &all};
    (void)data;
    find_in_form(form, &wanted);
    if (!wanted.is_found || all.a.row == NULL || all.b.row == NULL)
        return true;
    bool is_sparse = all.metadata.row != NULL;
    unsigned stored = all.m * all.k / (is_sparse ? 2 : 1);
    check_places(form->text, &all.a, stored);
    if (is_sparse)
        check_places(form->text, &all.metadata, stored * all.a.bits / (all.a.bits < 16 ? 8 : 16));
    check_places(form->text, &all.b, all.k * all.n);
    check_places(form->text, &all.c, all.m * all.n);
    check_places(form->text, &all.d, all.m * all.n);
    return true;
}

Test(matrix, all_cells_have_a_place)
{
    for (unsigned op = 0; op < PTX_OP_COUNT; op++)
        if (ptx_op_table[op].family == PTX_FAMILY_MATRIX &&
            ptx_op_table[op].fidelity != PTX_FIDELITY_UNSUPPORTED)
            ptx_op_each_form((enum ptx_op)op, check_form, NULL);
}
