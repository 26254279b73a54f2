/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions on matrices: the functions behind them, made from the layouts of ptx/matrix.def.
 * Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_MATRIX_H
#define PTXRUN_TRANSLATOR_MATRIX_H

#include "ptx/matrix.h"
#include "translator/emit/matrix_run.h"
#include "translator/emit/warp_function.h"

/* The rows of the words where a matrix is. */
struct tr_matrix_rows {
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;
    unsigned scale_a; /* from here on: a lane's scales, and thread-id */
    unsigned scale_b;
    unsigned metadata;
};

struct tr_matrix_rows tr_rows_of(const struct ptx_matrices *matrices);

/* Rows of one register of the fragment. */
static inline unsigned tr_register_rows(const struct ptx_fragment *fragment)
{
    return ptx_fragment_register_bits(fragment) / 32;
}

/* ---- elements as numbers (matrix_elements.c) ---- */

/* The type in which elements are multiplied and added: float, double, or i32. */
LLVMTypeRef tr_number_type(struct tr_ctx *ctx, const struct ptx_fragment *fragment);

/* Numbers of 8 bits or fewer, in words: <32 x float>. */
LLVMValueRef tr_number_of_small(struct tr_ctx *ctx, enum ptx_type type, LLVMValueRef words);

/* All lanes' registers of a matrix. */
void tr_load_registers(const struct tr_warp_function *made, const struct ptx_fragment *fragment,
                       unsigned row, LLVMValueRef *registers);
/* All lanes' elements as such numbers, <32 x T> for each element of a lane; not of integers that
 * are shorter than a register. */
void tr_find_numbers(struct tr_ctx *ctx, const struct ptx_fragment *fragment,
                     const LLVMValueRef *registers, LLVMValueRef *numbers);
/* The other way, for the types of results. NaNs become the canonical one. */
void tr_store_numbers(const struct tr_warp_function *made, const struct ptx_fragment *fragment,
                      unsigned row, LLVMValueRef *numbers);

/* Of each lane's element of D, the scale of its row of A or its column of B in this block of k:
 * <32 x float>. */
LLVMValueRef tr_load_scale(const struct tr_warp_function *made, const struct ptx_matrices *matrices,
                           bool is_b, unsigned element, unsigned block);

/* ---- sparse matrices (matrix_sparse.c) ---- */

#define TR_REGISTERS_MAX 16 /* of a lane, of one matrix */
#define TR_LAYOUT_MAX    12

/* A with all its columns. */
struct tr_whole {
    struct ptx_fragment fragment;
    char row[TR_LAYOUT_MAX];
    char column[TR_LAYOUT_MAX];
    LLVMValueRef words[TR_REGISTERS_MAX];
    LLVMValueRef taken[TR_REGISTERS_MAX]; /* bits of elements that metadata names */
};

/* selector: which lanes have metadata that counts. */
void tr_make_whole(struct tr_ctx *ctx, const struct ptx_matrices *matrices,
                   const LLVMValueRef *packed, LLVMValueRef metadata, unsigned selector,
                   struct tr_whole *whole);

/* ---- products (matrix_product.c) ---- */

/* D = A * B + C, from registers of all lanes. Matrices may be set anew. */
struct product;

#define TR_D_ELEMENTS_MAX 16 /* of a lane */

struct product *tr_begin_product(const struct tr_warp_function *made, const struct ptx_inst *inst,
                                 const struct ptx_matrices *matrices);
void tr_set_a(struct product *product, const LLVMValueRef *registers);
void tr_set_sparse_a(struct product *product, const LLVMValueRef *registers, LLVMValueRef metadata,
                     unsigned selector);
void tr_negate_a(struct product *product);
void tr_set_b(struct product *product, const LLVMValueRef *registers);
void tr_set_c(struct product *product, const LLVMValueRef *registers);

/* A factor may come from memory, where another function has stored it as sums need it: a product of
 * the same matrices of its own. */
enum tr_side { TR_SIDE_A, TR_SIDE_B };

/* To be called first: how many bytes that takes; 0: it has to be set. Of a sparse A that is so. */
unsigned tr_plan_side(struct product *product, enum tr_side side);
void tr_set_side(struct product *product, enum tr_side side, LLVMValueRef memory);
void tr_store_side(struct product *product, enum tr_side side, LLVMValueRef memory);
void tr_find_d(struct product *product, LLVMValueRef *elements);
/* Two products with the same A, side by side; whether the machine has registers for that. */
bool tr_makes_pairs(const struct product *product);
void tr_find_pair(struct product *products[2], LLVMValueRef *elements[2]);

/* ---- matrices of wgmma in shared memory (matrix_shared.c) ---- */

struct tr_shared_matrix {
    const struct ptx_fragment *fragment;
    unsigned row; /* of the words, where the descriptor is */
    bool is_b;
    bool is_transposed; /* not the elements of a row of A or column of B are neighbours */
};

/* Registers of all lanes, for the part behind `first` (i32) times eight rows of A or columns of B;
 * TR_ROW_ADDRESS has the address of shared memory. */
void tr_load_shared(const struct tr_warp_function *made, const struct tr_shared_matrix *matrix,
                    LLVMValueRef first, LLVMValueRef *registers);

/* ---- functions (matrix_functions.c) ---- */

/* For an instruction of the families mma and wmma.mma. */
const struct tr_operation *tr_product_operation(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                                const struct ptx_matrices *matrices,
                                                unsigned selector);

/* Rows of wgmma: D, or a part of it, is also C; of A registers or a descriptor. TR_ROW_NUMBER has
 * these fields, of which FIRST and COUNT are in eights of columns. */
#define TR_WGMMA_ROW_D        0
#define TR_WGMMA_ROWS_D       32
#define TR_WGMMA_ROW_A        32
#define TR_WGMMA_ROW_METADATA 36
#define TR_WGMMA_ROW_B        38
#define TR_WGMMA_HAS_C        0
#define TR_WGMMA_RANK         1 /* of the warp among its four: two bits */
#define TR_WGMMA_FIRST        8
#define TR_WGMMA_COUNT        16

struct tr_wgmma {
    const struct ptx_matrices *matrices;
    unsigned selector;
    bool is_a_in_memory;
    bool is_a_transposed;
    bool is_b_transposed;
    bool is_negative; /* A * B is subtracted */
};

LLVMValueRef tr_wgmma_function(struct tr_ctx *ctx, const struct ptx_inst *inst,
                               const struct tr_wgmma *wgmma);

/* ---- between registers and memory (matrix_moves.c) ---- */

struct tr_matrix_move {
    struct pxr_str name; /* of the function */
    const struct ptx_fragment *fragment;
    unsigned count;     /* matrices, in registers one behind the other */
    unsigned lines;     /* rows or columns of each in memory */
    bool is_by_column;  /* a line is a column */
    bool has_addresses; /* a lane has the address of a line; else the first's is the matrix's, and
                           its number the distance of lines, in elements */
    bool is_store;
    unsigned memory_bits; /* of an element, if it is shorter in memory; or 0 */
};

LLVMValueRef tr_move_function(struct tr_ctx *ctx, const struct tr_matrix_move *move);

#endif
