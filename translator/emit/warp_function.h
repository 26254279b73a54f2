/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a warp on words of all lanes (rt_warp_fn in kernel_abi/rt.h): how a lane puts its
 * words and takes results, and functions of the module that do such an operation. A function is
 * made once for each spelling of an instruction. Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_WARP_FUNCTION_H
#define PTXRUN_TRANSLATOR_WARP_FUNCTION_H

#include "translator/emit/emit.h"

/* Rows of an operation. The last ones: an address of each lane (two rows), a number of each lane,
 * and bytes that nobody needs. */
#define TR_OPERATION_ROWS 64
#define TR_ROW_ADDRESS    (TR_OPERATION_ROWS - 4)
#define TR_ROW_NUMBER     (TR_OPERATION_ROWS - 2)
#define TR_ROW_SPARE      (TR_OPERATION_ROWS - 1)

/* At most so many rows of it hold other things than matrices. */
#define TR_OPERATION_NUMBERS 8

/* ---- the program of one lane ---- */

/* Puts an integer of 32 or 64 bits into the lane's word of the row and, if it is long, of the next
 * one: no lane writes where another one may not have taken its results yet. */
void tr_put_word(struct tr_ctx *ctx, unsigned row, LLVMValueRef value);
LLVMValueRef tr_take_word(struct tr_ctx *ctx, unsigned row, unsigned bits);

/* Where the lane's word of the row is, for all of the function. */
LLVMValueRef tr_word_in_entry(struct tr_ctx *ctx, unsigned row);

/* The lanes meet and the function is called. touches_memory: other than words. */
void tr_meet_for(struct tr_ctx *ctx, LLVMValueRef function, bool touches_memory);

/* ---- the function ---- */

#define TR_PART_MEMORIES 2

struct tr_warp_function {
    struct tr_ctx *ctx;
    LLVMBuilderRef outer; /* ctx->builder of the program of one lane */
    LLVMValueRef function;
    LLVMValueRef words;
    LLVMValueRef rows; /* bytes: where the words have each row of the operation; NULL: in order */
    LLVMValueRef live; /* i32 */
    LLVMValueRef memory[TR_PART_MEMORIES]; /* of tr_begin_part_function */
};

/* True: it is to be made, with ctx->builder, until tr_end_warp_function. False: there is one of
 * that name already. */
bool tr_begin_warp_function(struct tr_ctx *ctx, struct pxr_str name, struct tr_warp_function *made);
/* The same for a function that runs call (matrix_run.h), with the places of its rows. */
bool tr_begin_operation_function(struct tr_ctx *ctx, struct pxr_str name,
                                 struct tr_warp_function *made);
/* The same for a part of an operation, to which runs give so many pieces of memory of their own. */
bool tr_begin_part_function(struct tr_ctx *ctx, struct pxr_str name, unsigned count,
                            struct tr_warp_function *made);
/* For two such parts with the same words and first memory; the second one's rows and second memory
 * are the last parameters. */
#define TR_PAIR_PARAMETERS 6
void tr_begin_pair_function(struct tr_ctx *ctx, struct pxr_str name,
                            struct tr_warp_function made[2]);
void tr_end_warp_function(const struct tr_warp_function *made);

LLVMTypeRef tr_lanes_of(LLVMTypeRef element); /* <32 x element> */
LLVMValueRef tr_splat(struct tr_ctx *ctx, LLVMValueRef scalar);
LLVMValueRef tr_splat_int(struct tr_ctx *ctx, unsigned bits, uint64_t value);

/* The place of a row, so many bytes on. */
LLVMValueRef tr_row(const struct tr_warp_function *made, unsigned row, unsigned bytes);
/* All lanes' integers of 32 or 64 bits. */
LLVMValueRef tr_load_row(const struct tr_warp_function *made, unsigned row, unsigned bits);
void tr_store_row(const struct tr_warp_function *made, unsigned row, LLVMValueRef lanes);
/* What the first lane has there: an integer of 32 or 64 bits. */
LLVMValueRef tr_of_first_lane(const struct tr_warp_function *made, unsigned row, unsigned bits);
/* Vectors of integers of 64 bits, of their low and of their high words. */
LLVMValueRef tr_pair_words(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high);
LLVMValueRef tr_words_of_pairs(struct tr_ctx *ctx, LLVMValueRef pairs, bool is_high);
/* The same function, whose row 0 is count (i32) times so many rows on. */
struct tr_warp_function tr_rows_behind(const struct tr_warp_function *made, LLVMValueRef count,
                                       unsigned rows);

#endif
