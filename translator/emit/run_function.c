/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of a run often have a factor in common: a warp's part of a larger matrix is the product
 * of a few parts of A, each with a few parts of B. Such a factor is put in order once, and stays in
 * memory of the function for as long as the words that it comes from stay the same, or until
 * another one needs the memory. Two products that follow each other with the same A are done side
 * by side, where the machine has registers for that.
 */
#include "translator/emit/run_function.h"

#include <stdio.h>
#include <string.h>

#define FACTOR_BYTES (20u << 10) /* most of a first-level cache stays for words */
#define FACTORS_MAX  64          /* kept at once; each size may come to one more */
#define SIZES_MAX    32

/* Memory that has a factor of an operation in order. */
struct kept {
    LLVMValueRef memory;
    unsigned bytes;
    const struct tr_run_operation *operation; /* NULL: nothing */
    unsigned factor;
    bool is_taken; /* by the operation that is built */
};

struct builder {
    struct tr_warp_function made;
    const struct tr_run_operation *operations;
    unsigned count;
    struct kept kept[FACTORS_MAX + SIZES_MAX];
    unsigned kept_count;
    unsigned bytes;
};

/* ---- which factors there are ---- */

static bool has_factor(const struct tr_run_operation *operation, unsigned factor)
{
    return operation->what.factors[factor].bytes != 0;
}

static bool is_same(const struct kept *kept, const struct tr_run_operation *operation,
                    unsigned factor)
{
    const struct tr_factor_operation *what = &operation->what.factors[factor];
    return kept->operation != NULL &&
           kept->operation->what.factors[kept->factor].function == what->function &&
           memcmp(&kept->operation->rows[what->row], &operation->rows[what->row], what->rows) == 0;
}

static bool is_changed_by(const struct kept *kept, const struct tr_run_operation *operation)
{
    const struct tr_factor_operation *what = &kept->operation->what.factors[kept->factor];
    for (unsigned i = 0; i < what->rows; i++)
        if (operation->written[kept->operation->rows[what->row + i]])
            return true;
    return false;
}

/* The first operation from `from` on that needs what is kept; count: none does. */
static unsigned next_use(const struct builder *builder, const struct kept *kept, unsigned from)
{
    for (unsigned i = from; kept->operation != NULL && i < builder->count; i++) {
        const struct tr_run_operation *operation = &builder->operations[i];
        for (unsigned factor = 0; factor < TR_FACTORS; factor++)
            if (has_factor(operation, factor) && is_same(kept, operation, factor))
                return i;
        if (is_changed_by(kept, operation))
            break;
    }
    return builder->count;
}

/* ---- where they are kept ---- */

static struct kept *new_memory(struct builder *builder, unsigned bytes)
{
    struct tr_ctx *ctx = builder->made.ctx;
    struct kept *kept = &builder->kept[builder->kept_count++];
    kept->memory = LLVMBuildAlloca(ctx->builder, LLVMArrayType2(ctx->i8, bytes), "");
    LLVMSetAlignment(kept->memory, RT_WORDS_ALIGN);
    kept->bytes = bytes;
    builder->bytes += bytes;
    return kept;
}

/* Memory whose factor is not needed again, or else latest. */
static struct kept *memory_for(struct builder *builder, unsigned bytes, unsigned from)
{
    struct kept *best = NULL;
    unsigned latest = 0;
    for (unsigned i = 0; i < builder->kept_count; i++) {
        struct kept *kept = &builder->kept[i];
        unsigned use = next_use(builder, kept, from);
        if (kept->is_taken || kept->bytes != bytes || (best != NULL && use <= latest))
            continue;
        best = kept;
        latest = use;
    }
    bool is_room = builder->bytes + bytes <= FACTOR_BYTES && builder->kept_count < FACTORS_MAX;
    if (best == NULL || (is_room && latest < builder->count))
        return new_memory(builder, bytes);
    return best;
}

static struct kept *find_kept(struct builder *builder, const struct tr_run_operation *operation,
                              unsigned factor)
{
    for (unsigned i = 0; i < builder->kept_count; i++)
        if (is_same(&builder->kept[i], operation, factor))
            return &builder->kept[i];
    return NULL;
}

static void call(struct builder *builder, LLVMValueRef function, LLVMValueRef *args, unsigned count)
{
    LLVMBuildCall2(builder->made.ctx->builder, LLVMGlobalGetValueType(function), function, args,
                   count, "");
}

static struct kept *put_in_order(struct builder *builder, unsigned number, unsigned factor,
                                 LLVMValueRef table)
{
    const struct tr_run_operation *operation = &builder->operations[number];
    const struct tr_factor_operation *what = &operation->what.factors[factor];
    struct kept *kept = find_kept(builder, operation, factor);
    if (kept == NULL) {
        kept = memory_for(builder, what->bytes, number);
        kept->operation = operation;
        kept->factor = factor;
        LLVMValueRef args[3] = {builder->made.words, table, kept->memory};
        call(builder, what->function, args, 3);
    }
    kept->is_taken = true;
    return kept;
}

/* ---- the function ---- */

/* The operation's rows, as a table in the module. */
static LLVMValueRef table_of(struct tr_ctx *ctx, const struct tr_run_operation *operation)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(ctx->llvm, (const char *)operation->rows,
                                                   sizeof operation->rows, true /* no NUL */);
    LLVMValueRef table = LLVMAddGlobal(ctx->module, LLVMTypeOf(bytes), "rows");
    LLVMSetInitializer(table, bytes);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMSetUnnamedAddress(table, LLVMGlobalUnnamedAddr);
    return table;
}

static void build_product(struct builder *builder, unsigned number, LLVMValueRef table)
{
    const struct tr_run_operation *operation = &builder->operations[number];
    LLVMValueRef none = LLVMConstNull(builder->made.ctx->ptr);
    LLVMValueRef args[2 + TR_FACTORS] = {builder->made.words, table, none, none};
    for (unsigned factor = 0; factor < TR_FACTORS; factor++)
        if (has_factor(operation, factor))
            args[2 + factor] = put_in_order(builder, number, factor, table)->memory;
    call(builder, operation->what.function, args, 2 + TR_FACTORS);
}

/* The next one is such a product with the same A, and needs nothing that this one computes. */
static bool is_pair(const struct builder *builder, unsigned number)
{
    const struct tr_run_operation *first = &builder->operations[number];
    const struct tr_run_operation *second = first + 1;
    const struct tr_factor_operation *a = &first->what.factors[0];
    if (number + 1 == builder->count || first->what.pair == NULL || !has_factor(first, 0) ||
        !has_factor(first, 1) || first->what.function != second->what.function ||
        memcmp(&first->rows[a->row], &second->rows[a->row], a->rows) != 0)
        return false;
    for (unsigned i = 0; i < TR_OPERATION_ROWS; i++)
        if (first->written[second->rows[i]])
            return false;
    return true;
}

static void build_pair(struct builder *builder, unsigned number, LLVMValueRef tables[2])
{
    LLVMValueRef args[TR_PAIR_PARAMETERS] = {builder->made.words, tables[0]};
    args[2] = put_in_order(builder, number, 0, tables[0])->memory;
    args[3] = put_in_order(builder, number, 1, tables[0])->memory;
    args[4] = tables[1];
    args[5] = put_in_order(builder, number + 1, 1, tables[1])->memory;
    call(builder, builder->operations[number].what.pair, args, TR_PAIR_PARAMETERS);
}

static void forget_changed(struct builder *builder, const struct tr_run_operation *operation)
{
    for (unsigned i = 0; i < builder->kept_count; i++) {
        struct kept *kept = &builder->kept[i];
        kept->is_taken = false;
        if (kept->operation != NULL && is_changed_by(kept, operation))
            kept->operation = NULL;
    }
}

/* Returns how many. */
static unsigned build_operations(struct builder *builder, unsigned number)
{
    struct tr_ctx *ctx = builder->made.ctx;
    const struct tr_run_operation *operations = &builder->operations[number];
    LLVMValueRef tables[2] = {table_of(ctx, &operations[0])};
    LLVMValueRef args[3] = {builder->made.words, tables[0], builder->made.live};
    if (is_pair(builder, number)) {
        tables[1] = table_of(ctx, &operations[1]);
        build_pair(builder, number, tables);
        forget_changed(builder, &operations[0]);
        forget_changed(builder, &operations[1]);
        return 2;
    }
    if (operations[0].what.is_product)
        build_product(builder, number, tables[0]);
    else
        call(builder, operations[0].what.function, args, 3);
    forget_changed(builder, &operations[0]);
    return 1;
}

LLVMValueRef tr_build_run(struct tr_ctx *ctx, unsigned number,
                          const struct tr_run_operation *operations, unsigned count)
{
    struct builder builder = {.operations = operations, .count = count};
    char name[32];
    int length = snprintf(name, sizeof name, "run.%u", number);
    tr_begin_warp_function(ctx, (struct pxr_str){name, (size_t)length}, &builder.made);
    for (unsigned i = 0; i < count;)
        i += build_operations(&builder, i);
    tr_end_warp_function(&builder.made);
    return builder.made.function;
}
