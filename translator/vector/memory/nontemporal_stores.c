/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores past the caches of data that nobody reads before caches have forgotten it
 * (TR_MARK_NONTEMPORAL), where whole lines are written at once: otherwise machines read each line
 * before it is written. Run time decides whether there is enough such data and whether lines begin
 * where vectors do.
 */
#include <string.h>

#include "translator/vector/memory/load_store.h"

/* Smaller vectors have no such stores. */
#define MIN_BYTES 16

/* A row of threads that writes no more than this is short. */
#define SHORT_BYTES 256

static uint32_t line_bytes(const struct tr_widen *widen)
{
    return widen->iteration->target->ahead.line_bytes;
}

static uint32_t vector_bytes(const struct tr_widen *widen, const struct tr_memory *memory)
{
    return widen->width * memory->bytes;
}

bool tr_memory_may_pass_caches(const struct tr_widen *widen, const struct tr_memory *memory)
{
    if (widen->options->streaming.of_all == NULL || widen->active.mask[0] != NULL ||
        !tr_plan_is_nontemporal(memory))
        return false;
    uint32_t bytes = vector_bytes(widen, memory);
    return bytes >= MIN_BYTES && bytes * widen->jam[0] % line_bytes(widen) == 0 &&
           (bytes & (bytes - 1)) == 0;
}

/* Blocks whose rows run as one count as blocks with short rows: it gains from as few bytes on. */
static LLVMValueRef writes_much(const struct tr_widen *widen, const struct tr_memory *memory)
{
    const struct tr_iteration *iteration = widen->iteration;
    bool is_short =
        (iteration->is_of_blocks && !iteration->has_border) ||
        (iteration->y != TR_NONE && vector_bytes(widen, memory) * widen->jam[0] <= SHORT_BYTES);
    const struct tr_streaming *streaming = &widen->options->streaming;
    return is_short ? streaming->of_rows : streaming->of_all;
}

/* i1: each row of copies begins at a line, and the launch writes much. */
static LLVMValueRef is_worth_it(struct tr_widen *widen, const struct tr_memory *memory,
                                const struct tr_store *stores)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef bits = NULL;
    for (uint32_t c = 0; c < widen->copies; c += widen->jam[0]) {
        LLVMValueRef address = LLVMBuildPtrToInt(b, stores[c].address, widen->i64, "");
        bits = bits == NULL ? address : LLVMBuildOr(b, bits, address, "");
    }
    bits = LLVMBuildAnd(b, bits, LLVMConstInt(widen->i64, line_bytes(widen) - 1, false), "");
    LLVMValueRef is_aligned =
        LLVMBuildICmp(b, LLVMIntEQ, bits, LLVMConstInt(widen->i64, 0, false), "");
    return LLVMBuildAnd(b, writes_much(widen, memory), is_aligned, "");
}

static void store_past(struct tr_widen *widen, const struct tr_memory *memory,
                       const struct tr_store *store)
{
    static const char nontemporal[] = "nontemporal";
    uint32_t bytes = vector_bytes(widen, memory);
    uint32_t line = line_bytes(widen);
    LLVMValueRef inst = LLVMBuildStore(widen->builder, store->value, store->address);
    LLVMSetAlignment(inst, bytes < line ? bytes : line);
    LLVMMetadataRef one = LLVMValueAsMetadata(tr_memory_i32(widen, 1));
    LLVMMetadataRef node = LLVMMDNodeInContext2(widen->llvm, &one, 1);
    LLVMSetMetadata(inst,
                    LLVMGetMDKindIDInContext(widen->llvm, nontemporal, sizeof nontemporal - 1),
                    LLVMMetadataAsValue(widen->llvm, node));
}

void tr_memory_store_past_caches(struct tr_widen *widen, const struct tr_memory *memory,
                                 const struct tr_store *stores)
{
    LLVMBuilderRef b = widen->builder;
    struct tr_fields fields = tr_plan_only(memory);
    LLVMBasicBlockRef past = tr_widen_new_block(widen, "past");
    LLVMBasicBlockRef kept = tr_widen_new_block(widen, "kept");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    LLVMBuildCondBr(b, is_worth_it(widen, memory, stores), past, kept);
    LLVMPositionBuilderAtEnd(b, past);
    for (uint32_t c = 0; c < widen->copies; c++)
        store_past(widen, memory, &stores[c]);
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, kept);
    for (uint32_t c = 0; c < widen->copies; c++) {
        tr_memory_ask_ahead(widen, memory->inst, stores[c].address);
        tr_memory_store(widen, &fields, stores[c].value, stores[c].address, memory->align, NULL);
    }
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, meet);
}
