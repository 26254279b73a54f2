/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads and stores by the kind of their addresses. Here are those to one address for all lanes, and
 * the parts that all kinds use. Generic vector IR and LLVM's masked intrinsics only.
 */
#include "translator/vector/memory/load_store.h"
#include "translator/module/marks.h"

#include <string.h>

#include <llvm-c/Target.h>

/* ---- small pieces ---- */

LLVMValueRef tr_memory_i32(const struct tr_widen *widen, uint64_t n)
{
    return LLVMConstInt(widen->i32, n, false);
}

LLVMTypeRef tr_memory_word(const struct tr_widen *widen, uint32_t bytes)
{
    return LLVMIntTypeInContext(widen->llvm, 8 * bytes);
}

LLVMValueRef tr_memory_advance(struct tr_widen *widen, LLVMValueRef pointer, int64_t bytes)
{
    if (bytes == 0)
        return pointer;
    LLVMValueRef offset = LLVMConstInt(widen->i64, (uint64_t)bytes, true);
    return LLVMBuildGEP2(widen->builder, widen->i8, pointer, &offset, 1, "");
}

LLVMValueRef tr_memory_call(struct tr_widen *widen, const char *intrinsic, LLVMTypeRef *types,
                            uint32_t type_count, LLVMValueRef *operands, uint32_t count)
{
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(widen->module, id, types, type_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(widen->llvm, id, types, type_count);
    return LLVMBuildCall2(widen->builder, type, callee, operands, count, "");
}

void tr_memory_set_align(struct tr_widen *widen, LLVMValueRef call, unsigned operand,
                         uint32_t align)
{
    static const char name[] = "align";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAddCallSiteAttribute(call, operand + 1, LLVMCreateEnumAttribute(widen->llvm, kind, align));
}

/* Makes a new variable even if another is no longer in use: LLVM lets variables share memory. */
LLVMValueRef tr_memory_variable(struct tr_widen *widen, LLVMTypeRef type, const char *name)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(widen->llvm);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(widen->function);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef variable = LLVMBuildAlloca(builder, type, name);
    LLVMDisposeBuilder(builder);
    return variable;
}

LLVMValueRef tr_memory_nowhere(struct tr_widen *widen, uint32_t bytes)
{
    static const char name[] = "nowhere";
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(widen->function);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(entry); LLVMIsAAllocaInst(inst) != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        size_t length = 0;
        if (strncmp(LLVMGetValueName2(inst, &length), name, sizeof name - 1) == 0 &&
            LLVMABISizeOfType(widen->layout, LLVMGetAllocatedType(inst)) >= bytes)
            return inst;
    }
    uint32_t size = bytes < 64 ? 64 : bytes;
    LLVMValueRef variable = tr_memory_variable(widen, LLVMArrayType2(widen->i8, size), name);
    LLVMSetAlignment(variable, 64);
    return variable;
}

LLVMValueRef tr_memory_bits(struct tr_widen *widen, LLVMValueRef mask)
{
    uint32_t count = LLVMGetVectorSize(LLVMTypeOf(mask));
    LLVMTypeRef type = LLVMIntTypeInContext(widen->llvm, count);
    LLVMValueRef bits = LLVMBuildBitCast(widen->builder, mask, type, "");
    if (count >= 32)
        return bits;
    return LLVMBuildZExt(widen->builder, bits, widen->i32, "");
}

/* Frozen: behind a question whether any bit is set LLVM takes the number of a bit as poison without
 * one, goes on to do that before the question, and takes an element of a vector in memory at what
 * `bsr` leaves in its register (LLVM 22). */
static LLVMValueRef count_zeros(struct tr_widen *widen, const char *intrinsic, LLVMValueRef bits)
{
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMValueRef operands[] = {bits, LLVMConstInt(widen->i1, 0, false)};
    LLVMValueRef zeros = tr_memory_call(widen, intrinsic, &type, 1, operands, 2);
    zeros = LLVMBuildFreeze(widen->builder, zeros, "");
    return type == widen->i32 ? zeros : LLVMBuildTrunc(widen->builder, zeros, widen->i32, "");
}

LLVMValueRef tr_memory_lowest(struct tr_widen *widen, LLVMValueRef bits)
{
    return count_zeros(widen, "llvm.cttz", bits);
}

LLVMValueRef tr_memory_first_lane(struct tr_widen *widen, LLVMValueRef mask)
{
    if (mask == NULL)
        return tr_memory_i32(widen, 0);
    return tr_memory_lowest(widen, tr_memory_bits(widen, mask));
}

static LLVMValueRef last_lane(struct tr_widen *widen, LLVMValueRef mask)
{
    if (mask == NULL)
        return tr_memory_i32(widen, widen->width - 1);
    LLVMValueRef bits = tr_memory_bits(widen, mask);
    LLVMValueRef zeros = count_zeros(widen, "llvm.ctlz", bits);
    uint32_t top = LLVMGetIntTypeWidth(LLVMTypeOf(bits)) - 1;
    return LLVMBuildSub(widen->builder, tr_memory_i32(widen, top), zeros, "");
}

LLVMValueRef tr_memory_insert_lane(struct tr_widen *widen, LLVMTypeRef type, LLVMValueRef vector,
                                   LLVMValueRef of_lane, LLVMValueRef lane)
{
    LLVMBuilderRef builder = widen->builder;
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
            LLVMValueRef field =
                tr_memory_insert_lane(widen, LLVMStructGetTypeAtIndex(type, i),
                                      LLVMBuildExtractValue(builder, vector, i, ""),
                                      LLVMBuildExtractValue(builder, of_lane, i, ""), lane);
            vector = LLVMBuildInsertValue(builder, vector, field, i, "");
        }
        return vector;
    }
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMBuildInsertElement(builder, vector, of_lane, lane, "");
    unsigned count = LLVMGetVectorSize(type);
    LLVMValueRef first = LLVMBuildMul(builder, lane, tr_memory_i32(widen, count), "");
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef element =
            LLVMBuildExtractElement(builder, of_lane, tr_memory_i32(widen, i), "");
        LLVMValueRef index = LLVMBuildAdd(builder, first, tr_memory_i32(widen, i), "");
        vector = LLVMBuildInsertElement(builder, vector, element, index, "");
    }
    return vector;
}

LLVMValueRef tr_memory_seed_stride(struct tr_widen *widen, const struct tr_memory *memory,
                                   LLVMValueRef address)
{
    if (tr_widen_seed(widen, TR_VECTOR_SEED_STRIDE))
        return tr_memory_advance(widen, address, memory->bytes);
    return address;
}

/* ---- what all accesses of a group say of themselves ---- */

static void keep_hint(struct tr_widen *widen, const struct tr_fields *fields, LLVMValueRef inst,
                      const char *name)
{
    unsigned kind = LLVMGetMDKindIDInContext(widen->llvm, name, (unsigned)strlen(name));
    LLVMValueRef hint = NULL;
    for (uint32_t i = 0; i < fields->count; i++) {
        LLVMValueRef from = widen->iteration->graph.values[fields->values[i]].llvm;
        hint = LLVMHasMetadata(from) ? LLVMGetMetadata(from, kind) : NULL;
        if (hint == NULL)
            return;
    }
    LLVMSetMetadata(inst, kind, hint);
}

void tr_memory_keep_hints(struct tr_widen *widen, const struct tr_fields *fields, LLVMValueRef inst)
{
    keep_hint(widen, fields, inst, "invariant.load");
    keep_hint(widen, fields, inst, "nontemporal");
}

/* ---- accesses to vectors in memory ---- */

static LLVMValueRef access_of(const struct tr_widen *widen, const struct tr_fields *fields)
{
    return widen->iteration->graph.values[fields->place].llvm;
}

void tr_memory_ask_ahead(struct tr_widen *widen, LLVMValueRef access, LLVMValueRef pointer)
{
    if (!tr_is_marked(access, TR_MARK_AHEAD))
        return;
    enum { READ, WRITE, KEEP = 3, DATA = 1 };
    LLVMTypeRef type = LLVMTypeOf(pointer);
    const struct tr_ahead *how_far = &widen->iteration->target->ahead;
    int64_t ahead = widen->iteration->y == TR_NONE ? how_far->of_row_bytes : how_far->of_tile_bytes;
    uint64_t why = LLVMIsAStoreInst(access) != NULL ? WRITE : READ;
    LLVMValueRef operands[] = {tr_memory_advance(widen, pointer, ahead), tr_memory_i32(widen, why),
                               tr_memory_i32(widen, KEEP), tr_memory_i32(widen, DATA)};
    tr_memory_call(widen, "llvm.prefetch", &type, 1, operands, 4);
}

LLVMValueRef tr_memory_load(struct tr_widen *widen, const struct tr_fields *fields,
                            LLVMTypeRef type, LLVMValueRef pointer, uint32_t align,
                            LLVMValueRef mask)
{
    LLVMValueRef load;
    LLVMValueRef from = access_of(widen, fields);
    bool is_in_run =
        widen->tuning->is_in_run != NULL && widen->tuning->is_in_run(widen, fields->place);
    if (mask == NULL && LLVMGetTypeKind(type) == LLVMVectorTypeKind && !is_in_run)
        tr_memory_ask_ahead(widen, from, pointer);
    if (mask == NULL) {
        load = LLVMBuildLoad2(widen->builder, type, pointer, "");
        LLVMSetAlignment(load, align);
        LLVMSetVolatile(load, LLVMGetVolatile(from));
        tr_memory_set_relaxed(from, load, type);
        tr_memory_keep_hints(widen, fields, load);
    } else {
        tr_memory_keep_order(widen, from);
        load = tr_memory_load_under_mask(
            widen, &(struct tr_under_mask){fields, type, pointer, align, mask});
        tr_memory_keep_order(widen, from);
    }
    return load;
}

/* The collapse's variables with an element for each lane of a warp are twice as long: a vector that
 * begins at any lane fits, and nobody else sees its other elements. */
static bool is_private(const struct tr_widen *widen, LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer) != NULL)
        pointer = LLVMGetOperand(pointer, 0);
    if (LLVMIsAAllocaInst(pointer) == NULL || widen->width > TR_LANE_ELEMENTS / 2)
        return false;
    LLVMTypeRef type = LLVMGetAllocatedType(pointer);
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
           LLVMGetArrayLength2(type) == TR_LANE_ELEMENTS;
}

void tr_memory_store(struct tr_widen *widen, const struct tr_fields *fields, LLVMValueRef value,
                     LLVMValueRef pointer, uint32_t align, LLVMValueRef mask)
{
    LLVMValueRef from = access_of(widen, fields);
    if (mask != NULL && is_private(widen, pointer)) {
        /* Without a mask, so that LLVM can make a register of it. */
        LLVMValueRef old = LLVMBuildLoad2(widen->builder, LLVMTypeOf(value), pointer, "");
        LLVMSetAlignment(old, align);
        value = LLVMBuildSelect(widen->builder, mask, value, old, "");
        mask = NULL;
    }
    if (mask == NULL) {
        LLVMValueRef store = LLVMBuildStore(widen->builder, value, pointer);
        LLVMSetAlignment(store, align);
        LLVMSetVolatile(store, LLVMGetVolatile(from));
        tr_memory_set_relaxed(from, store, LLVMTypeOf(value));
        tr_memory_keep_hints(widen, fields, store);
    } else {
        tr_memory_keep_order(widen, from);
        tr_memory_store_under_mask(
            widen, &(struct tr_under_mask){fields, LLVMTypeOf(value), pointer, align, mask}, value);
        tr_memory_keep_order(widen, from);
    }
}

/* ---- one address for all lanes of a copy ---- */

uint32_t tr_memory_holder(const struct tr_widen *widen, LLVMValueRef operand, uint32_t copy)
{
    uint32_t value = tr_graph_number(&widen->iteration->graph, operand);
    return value == TR_NONE ? 0 : tr_widen_holder(widen, value, copy);
}

bool tr_memory_is_same_for_all(const struct tr_widen *widen, LLVMValueRef operand)
{
    bool is_same = tr_is_same_in_row(widen->iteration, operand);
    for (uint32_t c = 0; c < widen->copies; c++)
        is_same &= tr_memory_holder(widen, operand, c) == 0;
    return is_same;
}

/* Whether a copy may have no active lane, and then an address that must not be used. That can be
 * where copies differ in their addresses; where they share one a lane is active, or control would
 * not be here. */
static bool can_be_empty(const struct tr_widen *widen, LLVMValueRef pointer)
{
    bool differ = false;
    for (uint32_t c = 1; c < widen->copies; c++)
        differ |= tr_memory_holder(widen, pointer, c) != 0;
    return differ && widen->active.mask[0] != NULL;
}

static LLVMValueRef where_any(struct tr_widen *widen, LLVMValueRef address, uint32_t bytes,
                              LLVMValueRef mask)
{
    if (tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        return address;
    return LLVMBuildSelect(widen->builder, tr_widen_any(widen, mask), address,
                           tr_memory_nowhere(widen, bytes), "");
}

LLVMValueRef tr_memory_address(struct tr_widen *widen, LLVMValueRef pointer, uint32_t bytes,
                               uint32_t copy)
{
    LLVMValueRef address = tr_widen_scalar(widen, pointer, copy);
    if (!can_be_empty(widen, pointer))
        return address;
    LLVMValueRef users = NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_memory_holder(widen, pointer, c) != tr_memory_holder(widen, pointer, copy))
            continue;
        LLVMValueRef more = widen->active.mask[c];
        users = users == NULL ? more : LLVMBuildOr(widen->builder, users, more, "");
    }
    return where_any(widen, address, bytes, users);
}

static void load_same(struct tr_widen *widen, const struct tr_memory *memory,
                      const struct tr_fields *fields)
{
    bool is_vector = widen->iteration->shapes.values[memory->value].kind == TR_VARYING;
    LLVMValueRef results[TR_MAX_COPIES] = {NULL};
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_widen_holder(widen, memory->value, c) != c)
            continue;
        LLVMValueRef *result = &results[tr_memory_holder(widen, memory->address, c)];
        if (*result == NULL) {
            LLVMValueRef address = tr_memory_address(widen, memory->address, memory->bytes, c);
            *result = tr_memory_load(widen, fields, memory->type, address, memory->align, NULL);
            if (is_vector)
                *result = tr_widen_splat(widen, *result);
        }
        tr_widen_define(widen, memory->value, c, *result);
    }
}

/* ---- stores to it ---- */

static bool has_later_copy(const struct tr_widen *widen, LLVMValueRef operand, uint32_t copy)
{
    for (uint32_t c = copy + 1; c < widen->copies; c++)
        if (tr_memory_holder(widen, operand, c) == tr_memory_holder(widen, operand, copy))
            return true;
    return false;
}

/* The value that the last active lane stores stays. */
static void store_same(struct tr_widen *widen, const struct tr_memory *memory,
                       const struct tr_fields *fields)
{
    bool is_one = tr_memory_is_same_for_all(widen, memory->address) &&
                  tr_memory_is_same_for_all(widen, memory->stored);
    for (uint32_t c = 0; c < (is_one ? 1 : widen->copies); c++) {
        LLVMValueRef mask = is_one ? NULL : widen->active.mask[c];
        if (!is_one && mask == NULL && has_later_copy(widen, memory->address, c))
            continue;
        LLVMValueRef value = tr_widen_lane(widen, memory->stored, c, last_lane(widen, mask));
        LLVMValueRef address = tr_widen_scalar(widen, memory->address, c);
        if (mask != NULL && widen->copies > 1)
            address = where_any(widen, address, memory->bytes, mask);
        tr_memory_store(widen, fields, value, address, memory->align, NULL);
    }
}

/* ---- all of them ---- */

static void access_any(struct tr_widen *widen, const struct tr_memory *memory)
{
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (memory->stored != NULL)
            tr_memory_scatter(widen, memory, c, widen->active.mask[c]);
        else if (tr_widen_holder(widen, memory->value, c) == c)
            tr_widen_define(
                widen, memory->value, c,
                tr_memory_gather(widen, memory, c, tr_widen_mask_for(widen, memory->value, c)));
    }
}

void tr_memory_access(struct tr_widen *widen, uint32_t value)
{
    const struct tr_access_plan *plan = widen->iteration->accesses[value];
    const struct tr_memory *memory = &plan->memory;
    enum tr_lanes lanes = widen->active.mask[0] == NULL ? TR_LANES_ALL : TR_LANES_MASKED;
    switch (plan->forms[lanes]) {
    case TR_ACCESS_SERIAL:
        tr_memory_serial(widen, value);
        break;
    case TR_ACCESS_UNIFORM:
        (memory->stored == NULL ? load_same : store_same)(widen, memory, &plan->fields);
        break;
    case TR_ACCESS_WIDE:
        if (plan->fields.place == value) /* else it is done with others */
            (memory->stored == NULL ? tr_memory_load_fields
                                    : tr_memory_store_fields)(widen, memory, &plan->fields);
        break;
    case TR_ACCESS_CHECKED:
        tr_memory_access_checked(widen, plan);
        break;
    case TR_ACCESS_GATHER:
        access_any(widen, memory);
        break;
    case TR_ACCESS_TUNED:
        plan->steps[lanes]->emit(widen, memory, plan->details[lanes]);
        break;
    }
}
