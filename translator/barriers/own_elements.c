/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of shared arrays that only their own thread ever touches become values: rule 5 of
 * barriers.c. Their accesses become accesses to a variable of the thread, of which LLVM makes
 * values.
 */
#include "translator/barriers/effects.h"

#include <llvm-c/Core.h>

struct promoter {
    struct tr_effects *effects;
    const struct tr_forwarding *report;
    LLVMBuilderRef builder;
    struct tr_set members; /* by number of access: those to the current element */
    uint32_t loads;        /* of them */
};

static LLVMValueRef inst_of(const struct promoter *p, const struct tr_access *access)
{
    return p->effects->graph->values[access->value].llvm;
}

static LLVMTypeRef type_of(const struct promoter *p, const struct tr_access *access)
{
    LLVMValueRef inst = inst_of(p, access);
    return LLVMTypeOf(access->is_write ? LLVMGetOperand(inst, 0) : inst);
}

/* Whether it has as many bits as it takes in memory: then a bit cast changes nothing. */
static bool is_number(const struct promoter *p, const struct tr_access *access)
{
    LLVMTypeRef type = type_of(p, access);
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) == 8 * access->size_bytes;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        return true;
    default:
        return false;
    }
}

static bool is_plain(const struct tr_access *access)
{
    return !access->is_wall && access->is_read != access->is_write &&
           access->origins == TR_ORIGIN_SHARED;
}

/* Some threads may execute one member and not another: each has to be its own thread's only. */
static bool are_own(const struct promoter *p)
{
    const struct tr_effects *effects = p->effects;
    for (uint32_t m = tr_set_next(&p->members, 0); m != TR_NONE;
         m = tr_set_next(&p->members, m + 1)) {
        const struct tr_access *member = &effects->accesses[m];
        for (uint32_t i = 0; i < effects->access_count; i++) {
            const struct tr_access *other = &effects->accesses[i];
            if (other->is_gone)
                continue;
            if ((member->is_write || other->is_write) && tr_may_meet(effects, other, member))
                return false;
            if (!tr_set_has(&p->members, i) && tr_may_overlap(effects, other, member, false))
                return false;
        }
    }
    return true;
}

/* Fills members. If no other thread can touch the bytes of another instance of the store, its
 * address is always the same. */
static bool find_members(struct promoter *p, const struct tr_access *store)
{
    const struct tr_effects *effects = p->effects;
    p->loads = 0;
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *other = &effects->accesses[i];
        tr_set_remove(&p->members, i);
        if (other->is_gone)
            continue;
        if (tr_may_meet(effects, other, store))
            return false;
        if (!tr_may_overlap(effects, other, store, false))
            continue;
        if (!tr_is_same_place(other, store) || !is_plain(other) || !is_number(p, other))
            return false;
        tr_set_add(&p->members, i);
        p->loads += other->is_read;
    }
    return p->loads > 0 && are_own(p);
}

static LLVMValueRef make_variable(struct promoter *p, const struct tr_access *store)
{
    LLVMValueRef function = p->effects->graph->function;
    LLVMContextRef llvm = LLVMGetTypeContext(type_of(p, store));
    LLVMTypeRef type = LLVMIntTypeInContext(llvm, 8 * store->size_bytes);
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    LLVMPositionBuilderBefore(p->builder, first);
    LLVMValueRef variable = LLVMBuildAlloca(p->builder, type, "own");
    /* Memory that nobody has written may have any value, but only one. */
    LLVMBuildStore(p->builder, LLVMConstNull(type), variable);
    return variable;
}

static void promote(struct promoter *p, const struct tr_access *store)
{
    LLVMValueRef variable = make_variable(p, store);
    LLVMTypeRef type = LLVMGetAllocatedType(variable);
    for (uint32_t i = tr_set_next(&p->members, 0); i != TR_NONE;
         i = tr_set_next(&p->members, i + 1)) {
        struct tr_access *access = &p->effects->accesses[i];
        LLVMValueRef inst = inst_of(p, access);
        LLVMPositionBuilderBefore(p->builder, inst);
        p->report->promoted(p->report->data, inst);
        if (access->is_write) {
            LLVMValueRef value = LLVMGetOperand(inst, 0);
            LLVMBuildStore(p->builder, LLVMBuildBitCast(p->builder, value, type, ""), variable);
        } else {
            LLVMValueRef value = LLVMBuildLoad2(p->builder, type, variable, "");
            LLVMReplaceAllUsesWith(inst, LLVMBuildBitCast(p->builder, value, LLVMTypeOf(inst), ""));
        }
        LLVMInstructionEraseFromParent(inst);
        access->is_gone = true;
    }
}

enum pxr_status tr_promote_own(struct tr_effects *effects, const struct tr_forwarding *report,
                               struct pxr_error *err)
{
    struct promoter p = {
        .effects = effects,
        .report = report,
        .members = tr_set_make(&effects->graph->arena, effects->access_count),
    };
    if (p.members.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
    LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(effects->graph->function));
    p.builder = LLVMCreateBuilderInContext(llvm);
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *store = &effects->accesses[i];
        if (!store->is_gone && store->is_write && is_plain(store) && is_number(&p, store) &&
            find_members(&p, store))
            promote(&p, store);
    }
    LLVMDisposeBuilder(p.builder);
    return PXR_OK;
}
