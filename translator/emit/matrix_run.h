/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of instructions on matrices: they follow each other with nothing in between that could
 * tell, so that the lanes meet once and one function does all of them. What one of them computes
 * and the next one takes stays in the words of the warp. Private to translator/emit.
 *
 * The life of a run: the first instruction of mma, wmma, ldmatrix or stmatrix begins it. Each puts
 * its operands where the lane's words have room for them, unless they are there already. It ends
 * (tr_end_run) before a statement that may touch memory, wait, branch, or that names a register
 * with a result: then the lanes meet, and registers get their results. matrix_order.h makes such
 * statements come late.
 */
#ifndef PTXRUN_TRANSLATOR_MATRIX_RUN_H
#define PTXRUN_TRANSLATOR_MATRIX_RUN_H

#include "translator/emit/emit.h"

/* An operand whose registers hold parts of matrices of so many bits each. */
struct tr_matrix_operand {
    const struct ptx_operand *operand;
    unsigned bits; /* 32 or 64 */
};

/* The instruction begins: others may not put anything until tr_end_operation. matrices: all of its
 * operands that hold parts of matrices, first the one that it computes or moves; other registers
 * that it names are read as numbers. */
void tr_begin_operation(struct tr_ctx *ctx, const struct ptx_inst *inst,
                        const struct tr_matrix_operand *matrices, unsigned count);

/* row: as the operation's function counts rows (tr_begin_operation_function). */
void tr_put_register(struct tr_ctx *ctx, unsigned row, const struct ptx_operand *part,
                     unsigned bits);
void tr_put_number(struct tr_ctx *ctx, unsigned row, LLVMValueRef value);

/* The operand's registers get their results when the run has ended. over: the row of the part that
 * this one may overwrite, as the function reads it before; or TR_NO_ROW. */
#define TR_NO_ROW UINT32_MAX
void tr_take_register(struct tr_ctx *ctx, unsigned row, const struct ptx_operand *part,
                      unsigned bits, unsigned over);

/* Puts a factor of a product into memory, in the order in which the product needs it:
 * tr_begin_part_function's, with one piece of memory. */
struct tr_factor_operation {
    LLVMValueRef function;
    unsigned bytes; /* 0: there is none */
    unsigned row;   /* of the operation: the factor's words */
    unsigned rows;
};

#define TR_FACTORS 2

/* tr_begin_operation_function's function; a product's is a part, and its factors' memory comes from
 * the run, where products with the same words share it. */
struct tr_operation {
    LLVMValueRef function;
    LLVMValueRef pair; /* of products: two with the same A (tr_begin_pair_function); or NULL */
    bool is_product;
    bool touches_memory; /* other than words */
    struct tr_factor_operation factors[TR_FACTORS];
};

void tr_end_operation(struct tr_ctx *ctx, const struct tr_operation *operation);

/* Arithmetic may stand in a run whose results it does not name: it has no effect but on registers,
 * and does not ask for the time. */
bool tr_stands_in_runs(const struct ptx_inst *inst);

/* An instruction that begins runs and joins them, where its operands allow it. */
bool tr_joins_runs(const struct ptx_inst *inst);

bool tr_is_in_run(const struct tr_ctx *ctx);

/* Ends the run, if there is one, before an instruction that may not stand in it. */
void tr_leave_run(struct tr_ctx *ctx, const struct ptx_inst *inst);
void tr_end_run(struct tr_ctx *ctx);

#endif
