/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a warp, or of a barrier, when all live threads have come to the same one: a call of
 * a helper (translator/rt/fused.c) on the operands' arrays, which LLVM inlines.
 */
#include <stdio.h>
#include <string.h>

#include "translator/collapse/region.h"

#define MAX_ARGS 16

/* Arguments of a helper while they are gathered. */
struct args {
    LLVMValueRef list[MAX_ARGS];
    unsigned count;
};

static void add_arg(struct args *args, LLVMValueRef arg)
{
    args->list[args->count++] = arg;
}

static LLVMValueRef stop_call(const struct tr_fused *fused, uint32_t stop)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    return kernel->graph.values[kernel->stops[stop].value].llvm;
}

static LLVMValueRef array_at(const struct tr_fuse *fuse, uint32_t array, LLVMValueRef first)
{
    LLVMValueRef index = LLVMBuildZExt(fuse->builder, first, fuse->i64, "");
    return tr_f_element(fuse, fuse->i64, tr_f_thread_array(fuse, array), index);
}

/* Operand i of the placeholder: its array, or NULL, and the constant that it is then. */
static void add_operand(const struct tr_fused *fused, uint32_t stop, unsigned i, LLVMValueRef first,
                        struct args *args)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef operand = LLVMGetOperand(stop_call(fused, stop), i);
    bool is_constant = LLVMIsAConstantInt(operand) != NULL;
    add_arg(args, is_constant ? LLVMConstNull(fuse->ptr)
                              : array_at(fuse, fuse->frame.operand_array[i - 1], first));
    add_arg(args, tr_f_i64(fuse, is_constant ? LLVMConstIntGetZExtValue(operand) : 0));
}

static bool is_all_lanes(LLVMValueRef mask)
{
    return LLVMIsAConstantInt(mask) != NULL && LLVMConstIntGetZExtValue(mask) == UINT32_MAX;
}

/* The warp's lanes that exist and have not exited. */
static LLVMValueRef live_lanes(const struct tr_fused *fused, uint32_t stop,
                               const struct tr_lanes *lanes)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    if (tr_looks_for_exited(fused, stop)) {
        LLVMValueRef index = LLVMBuildZExt(b, lanes->first, fuse->i64, "");
        LLVMValueRef args[2] = {tr_f_element(fuse, fuse->i16, fuse->frame_base, index),
                                lanes->count};
        return tr_f_call(fuse, "rt_fused_live", fuse->i32, args, 2);
    }
    LLVMValueRef unused = LLVMBuildSub(b, tr_f_i32(fuse, RT_WARP_SIZE), lanes->count, "");
    return LLVMBuildLShr(b, tr_f_i32(fuse, UINT32_MAX), unused, "live");
}

/* All lanes get the same: it goes to a variable. */
static void give_same(struct tr_fused *fused, uint32_t stop, LLVMValueRef result)
{
    if (fused->result[stop] == NULL)
        fused->result[stop] = tr_f_variable(fused->fuse, LLVMTypeOf(result), "result");
    LLVMBuildStore(fused->fuse->builder, result, fused->result[stop]);
}

/* rt_vote and rt_redux with all lanes in the mask. */
static bool build_same_for_all(struct tr_fused *fused, uint32_t stop, const char *name,
                               LLVMValueRef live, const struct tr_lanes *lanes)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef call = stop_call(fused, stop);
    bool is_vote = strcmp(name, "rt_vote") == 0;
    if ((!is_vote && strcmp(name, "rt_redux") != 0) || !is_all_lanes(LLVMGetOperand(call, 3)))
        return false;
    struct args args = {{live, LLVMGetOperand(call, 1)}, 2};
    add_operand(fused, stop, 2, lanes->first, &args);
    give_same(fused, stop,
              tr_f_call(fuse, is_vote ? "rt_fused_vote_all" : "rt_fused_redux_all", fuse->i32,
                        args.list, args.count));
    return true;
}

LLVMValueRef tr_build_mask_test(const struct tr_fused *fused, uint32_t stop,
                                const struct tr_lanes *lanes)
{
    const struct tr_fuse *fuse = fused->fuse;
    struct args args = {{live_lanes(fused, stop, lanes)}, 1};
    add_operand(fused, stop, LLVMGetNumArgOperands(stop_call(fused, stop)) - 1, lanes->first,
                &args);
    LLVMValueRef result = tr_f_call(fuse, "rt_fused_masks_agree", fuse->i32, args.list, args.count);
    return LLVMBuildICmp(fuse->builder, LLVMIntNE, result, tr_f_i32(fuse, 0), "");
}

void tr_build_warp_op(struct tr_fused *fused, uint32_t stop, const struct tr_lanes *lanes)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef call = stop_call(fused, stop);
    const char *name = tr_callee_name(call);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
        return; /* coming together was all */
    LLVMValueRef live = live_lanes(fused, stop, lanes);
    if (strcmp(name, "rt_activemask") == 0) {
        give_same(fused, stop, live);
        return;
    }
    if (build_same_for_all(fused, stop, name, live, lanes))
        return;
    struct args args = {{array_at(fuse, fuse->frame.result_array, lanes->first), live}, 2};
    unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned i = 1; i < count; i++)
        add_operand(fused, stop, i, lanes->first, &args);
    char helper[64];
    snprintf(helper, sizeof helper, "rt_fused_%s", name + strlen("rt_"));
    tr_f_call(fuse, helper, fuse->void_type, args.list, args.count);
}

void tr_build_barrier_reduction(struct tr_fused *fused, uint32_t stop)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef call = stop_call(fused, stop);
    bool looks = tr_looks_for_exited(fused, stop);
    struct args args = {{looks ? fuse->frame_base : LLVMConstNull(fuse->ptr), fuse->thread_count},
                        2};
    add_operand(fused, stop, 3, tr_f_i32(fuse, 0), &args);
    add_arg(&args, LLVMGetOperand(call, 4));
    LLVMValueRef result = tr_f_call(fuse, "rt_fused_bar_red", fuse->i32, args.list, args.count);
    give_same(fused, stop, result);
    if (!fuse->can_mix || fuse->kernel->scope == TR_SCOPE_BLOCK)
        return;
    /* For warps that do not get to go on in loops. */
    LLVMValueRef fill[3] = {tr_f_thread_array(fuse, fuse->frame.result_array), fuse->thread_count,
                            result};
    tr_f_call(fuse, "rt_fused_fill", fuse->void_type, fill, 3);
}
