/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to places at constant distances from each other (fields, elements of unrolled loops,
 * neighbours in a stencil) are checked by one look at the memory from the first to the last of
 * them. If that finds something closed, each of them is looked at on its own (rt_check_failed), so
 * it does not matter what lies between.
 */
#include "translator/module/checks.h"

#include <stdlib.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "kernel_abi/placeholders.h"
#include "translator/module/places.h"

/* Where there is no shadow all of the memory is open or none; lanes of vectors that are anywhere
 * ask for so much with a shadow (vector/memory/bounds.c). */
#define SPAN_MAX        (UINT64_C(64) << 10)
#define SHADOW_SPAN_MAX 56

/* Groups that are open at a time: more begin anew. */
#define GROUPS_MAX 64

struct group {
    LLVMValueRef check; /* the first one's, which stays */
    LLVMValueRef base;
    int64_t offset; /* of its address, */
    int64_t low;    /* and of what is checked */
    int64_t high;
    size_t count;
    struct rt_checked_access accesses[TR_ACCESSES_MAX]; /* offsets from the base, modulo 2^32 */
};

struct merging {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    size_t count;
    bool has_values; /* some groups ask for what has been written */
    struct group *groups;
};

/* ---- groups ---- */

static bool is_check(LLVMValueRef inst)
{
    const struct rt_placeholder_info *check = &rt_placeholders[RT_CALL_CHECK];
    if (LLVMIsACallInst(inst) == NULL)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    size_t len = 0;
    return LLVMIsAFunction(callee) != NULL && LLVMGetValueName2(callee, &len) != NULL &&
           len == check->name_len &&
           rt_find_placeholder(LLVMGetValueName2(callee, &len), len) == RT_CALL_CHECK;
}

static bool is_of_same_memory(LLVMValueRef a, LLVMValueRef b)
{
    for (unsigned i = TR_CHECK_BEGIN; i <= TR_CHECK_SHADOW; i++)
        if (LLVMGetOperand(a, i) != LLVMGetOperand(b, i))
            return false;
    return LLVMGetOperand(a, TR_CHECK_VARIABLE) == LLVMGetOperand(b, TR_CHECK_VARIABLE);
}

static uint64_t span_max(LLVMValueRef check)
{
    return LLVMIsNull(LLVMGetOperand(check, TR_CHECK_SHADOW)) ? SPAN_MAX : SHADOW_SPAN_MAX;
}

/* Adds the check's accesses, where they lie in the group's span afterwards. */
static bool join(struct group *group, LLVMValueRef check, int64_t offset, uint64_t bytes)
{
    struct rt_checked_access more[TR_ACCESSES_MAX];
    int64_t low = offset < group->low ? offset : group->low;
    int64_t high = offset + (int64_t)bytes > group->high ? offset + (int64_t)bytes : group->high;
    size_t count = tr_get_accesses(LLVMGetOperand(check, TR_CHECK_ACCESSES), more);
    if ((uint64_t)(high - low) > span_max(check) || group->count + count > TR_ACCESSES_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        more[i].offset += (uint32_t)offset;
        group->accesses[group->count++] = more[i];
    }
    group->low = low;
    group->high = high;
    return true;
}

static LLVMValueRef move_address(struct merging *merging, const struct group *group)
{
    LLVMValueRef address = LLVMGetOperand(group->check, TR_CHECK_ADDRESS);
    LLVMContextRef llvm = LLVMGetModuleContext(merging->module);
    LLVMValueRef distance =
        LLVMConstInt(LLVMInt64TypeInContext(llvm), (uint64_t)(group->low - group->offset), true);
    if (LLVMIsNull(distance))
        return address;
    LLVMPositionBuilderBefore(merging->builder, group->check);
    return LLVMBuildGEP2(merging->builder, LLVMInt8TypeInContext(llvm), address, &distance, 1, "");
}

/* The first check becomes that of the group. */
static void close_group(struct merging *merging, struct group *group)
{
    if (group->count < 2)
        return;
    LLVMTypeRef i64 = LLVMTypeOf(LLVMGetOperand(group->check, TR_CHECK_BYTES));
    for (size_t i = 0; i < group->count; i++)
        group->accesses[i].offset -= (uint32_t)group->low;
    LLVMSetOperand(group->check, TR_CHECK_ADDRESS, move_address(merging, group));
    LLVMSetOperand(group->check, TR_CHECK_BYTES,
                   LLVMConstInt(i64, (uint64_t)(group->high - group->low), false));
    LLVMSetOperand(group->check, TR_CHECK_ACCESSES,
                   tr_make_accesses(merging->module, group->accesses, group->count));
}

static void close_groups(struct merging *merging)
{
    for (size_t i = 0; i < merging->count; i++)
        close_group(merging, &merging->groups[i]);
    merging->count = 0;
    merging->has_values = false;
}

/* Whether a group has taken it. */
static bool take_check(struct merging *merging, LLVMValueRef check)
{
    int64_t bytes;
    if (!tr_find_constant(LLVMGetOperand(check, TR_CHECK_BYTES), &bytes))
        return false;
    struct tr_place place = tr_find_place(merging->layout, LLVMGetOperand(check, TR_CHECK_ADDRESS));
    for (size_t i = 0; i < merging->count; i++) {
        struct group *group = &merging->groups[i];
        if (group->base == place.base && is_of_same_memory(group->check, check) &&
            join(group, check, place.offset, (uint64_t)bytes))
            return true;
    }
    if (merging->count == GROUPS_MAX)
        close_groups(merging);
    struct group *group = &merging->groups[merging->count++];
    *group = (struct group){.check = check,
                            .base = place.base,
                            .offset = place.offset,
                            .low = place.offset,
                            .high = place.offset + bytes};
    join(group, check, place.offset, (uint64_t)bytes);
    merging->has_values |= group->accesses[0].what == RT_ACCESS_VALUE ||
                           group->accesses[0].what == RT_ACCESS_ATOMIC_VALUE;
    return false;
}

/* ---- code that runs from its beginning to its end ---- */

/* RT_CALL_NONE: another function. */
static enum rt_placeholder placeholder_of(LLVMValueRef callee)
{
    size_t len = 0;
    const char *name = LLVMGetValueName2(callee, &len);
    return rt_find_placeholder(name, len);
}

/* Whether memory may be given back there, or the thread end. */
static bool ends_stretch(LLVMValueRef inst)
{
    if (LLVMIsACallInst(inst) == NULL)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAFunction(callee) == NULL || !LLVMIsDeclaration(callee))
        return true;
    enum rt_effect effect = rt_placeholders[placeholder_of(callee)].effect;
    return LLVMGetIntrinsicID(callee) == 0 && effect != RT_EFFECT_NONE && effect != RT_EFFECT_ORDER;
}

/* Whether more may have been written behind it than before: by the thread itself, or by others that
 * it has waited for. */
static bool may_learn_of_writes(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return true;
    case LLVMLoad:
        return LLVMGetVolatile(inst) || LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
    case LLVMCall:
        break;
    default:
        return false;
    }
    enum rt_placeholder placeholder = placeholder_of(LLVMGetCalledValue(inst));
    return placeholder == RT_CALL_MARK || placeholder == RT_CALL_MARK_COPY ||
           rt_placeholders[placeholder].effect == RT_EFFECT_ORDER;
}

static void merge_in_block(struct merging *merging, LLVMBasicBlockRef block)
{
    LLVMValueRef next;
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL; inst = next) {
        next = LLVMGetNextInstruction(inst);
        if (is_check(inst)) {
            if (take_check(merging, inst))
                LLVMInstructionEraseFromParent(inst);
        } else if (ends_stretch(inst) || (merging->has_values && may_learn_of_writes(inst))) {
            close_groups(merging);
        }
    }
}

static bool is_fault(LLVMBasicBlockRef block)
{
    return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) != NULL;
}

/* The block that follows unless there is a fault, if nothing else leads to it; or NULL. */
static LLVMBasicBlockRef follower(LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMBasicBlockRef next = NULL;
    if (LLVMIsABranchInst(end) == NULL)
        return NULL;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
        if (is_fault(to))
            continue;
        if (next != NULL)
            return NULL;
        next = to;
    }
    LLVMUseRef use = next == NULL ? NULL : LLVMGetFirstUse(LLVMBasicBlockAsValue(next));
    return use != NULL && LLVMGetNextUse(use) == NULL ? next : NULL;
}

static bool is_followed(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    LLVMValueRef from = use == NULL ? NULL : LLVMGetUser(use);
    return from != NULL && LLVMIsABranchInst(from) != NULL &&
           follower(LLVMGetInstructionParent(from)) == block;
}

static void merge_in_function(struct merging *merging, LLVMValueRef function)
{
    for (LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(function); first != NULL;
         first = LLVMGetNextBasicBlock(first)) {
        if (is_followed(first))
            continue;
        for (LLVMBasicBlockRef block = first; block != NULL; block = follower(block))
            merge_in_block(merging, block);
        close_groups(merging);
    }
}

void tr_merge_checks(LLVMModuleRef module)
{
    struct merging merging = {.module = module, .layout = LLVMGetModuleDataLayout(module)};
    merging.groups = malloc(GROUPS_MAX * sizeof *merging.groups);
    if (merging.groups == NULL)
        return;
    merging.builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        merge_in_function(&merging, f);
    LLVMDisposeBuilder(merging.builder);
    free(merging.groups);
}
