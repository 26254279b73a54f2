/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of a call's result: special registers (rt/sreg.h), placeholders (kernel_abi/rt.h) and
 * functions without side effects. Whatever is not known is varying.
 */
#include "translator/analysis/calls.h"
#include "translator/analysis/shape.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"

/* ---- functions ---- */

static bool find_attribute(LLVMValueRef function, const char *name, uint64_t *value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAttributeRef attribute =
        LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
    if (attribute == NULL)
        return false;
    *value = LLVMGetEnumAttributeValue(attribute);
    return true;
}

/* memory(none) and not convergent: the result depends on the arguments alone. */
bool tr_is_pure_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    uint64_t memory = 0;
    uint64_t ignored = 0;
    return LLVMIsAFunction(callee) != NULL && find_attribute(callee, "memory", &memory) &&
           memory == 0 && !find_attribute(callee, "convergent", &ignored);
}

/* ---- special registers ---- */

/* Lanes that follow each other in a row have numbers that do, in any shape of block; in a block of
 * several warps the numbers begin again with each. */
static bool is_single_warp(const struct tr_shape_context *context)
{
    const uint32_t *block = context->block;
    if (context->scope == TR_SCOPE_WARP)
        return true;
    return block[0] != 0 && block[1] != 0 && block[2] != 0 &&
           (uint64_t)block[0] * block[1] * block[2] <= RT_WARP_SIZE;
}

static struct tr_shape shape_of_tid(const struct tr_shape_context *context, unsigned direction)
{
    const uint32_t *block = context->block;
    bool is_warp = context->scope == TR_SCOPE_WARP;
    if (block[direction] == 1)
        return tr_shape_uniform();
    if (direction == 0)
        return tr_shape_affine(context, 32, 1, true);
    /* Whole planes of x and y that are whole warps. */
    uint64_t plane = (uint64_t)block[0] * block[1];
    if (direction == 2 && is_warp && plane != 0 && plane % RT_WARP_SIZE == 0)
        return tr_shape_uniform();
    return tr_shape_row(context);
}

static struct tr_shape shape_of_warpid(const struct tr_shape_context *context)
{
    uint32_t row = context->block[0];
    if (is_single_warp(context))
        return tr_shape_uniform();
    if (row != 0 && RT_WARP_SIZE % row == 0)
        return tr_shape_row(context);
    return tr_shape_varying();
}

/* Names of registers that all threads of a block read the same from, or how they begin. */
static const char *const block_registers[] = {
    "ntid_",        "ctaid_",       "nctaid_",   "clusterid_",
    "nclusterid_",  "cluster_",     "tid_w",     "is_explicit_cluster",
    "nwarpid",      "smid",         "nsmid",     "gridid",
    "dynamic_smem", "total_smem",   "aggr_smem", "reserved_smem_offset_",
    "envreg",       "current_graph"};

static bool is_block_register(const char *name)
{
    for (size_t i = 0; i < sizeof block_registers / sizeof *block_registers; i++)
        if (strncmp(name, block_registers[i], strlen(block_registers[i])) == 0)
            return true;
    return false;
}

/* name: without rt_sreg_ */
static struct tr_shape shape_of_register(const struct tr_shape_context *context, const char *name)
{
    if (is_block_register(name))
        return tr_shape_uniform();
    if (strcmp(name, "tid_x") == 0)
        return shape_of_tid(context, 0);
    if (strcmp(name, "tid_y") == 0)
        return shape_of_tid(context, 1);
    if (strcmp(name, "tid_z") == 0)
        return shape_of_tid(context, 2);
    if (strcmp(name, "laneid") == 0 && is_single_warp(context))
        return tr_shape_affine(context, 32, 1, true);
    if (strcmp(name, "warpid") == 0)
        return shape_of_warpid(context);
    return tr_shape_varying();
}

/* ---- placeholders ---- */

static bool is_constant_argument(LLVMValueRef call, unsigned index, uint64_t constant)
{
    LLVMValueRef argument = LLVMGetOperand(call, index);
    return LLVMIsAConstantInt(argument) != NULL && LLVMConstIntGetZExtValue(argument) == constant;
}

/* All threads that take part in a reduction get the same; that all of the scope do follows where
 * the segment is uniform and the barrier is the same one and for all of the block. */
static bool is_uniform_reduction(LLVMValueRef call, const struct tr_shape *operands)
{
    return operands[1].kind == TR_UNIFORM && is_constant_argument(call, 2, 0);
}

/* Operations that give the same to all lanes of their mask, which is the last argument. */
static bool is_warp_agreement(const char *name, LLVMValueRef call)
{
    if (strcmp(name, "rt_activemask") == 0)
        return true;
    bool is_agreement = strcmp(name, "rt_vote") == 0 || strcmp(name, "rt_redux") == 0 ||
                        (strcmp(name, "rt_match") == 0 && is_constant_argument(call, 1, 1));
    return is_agreement && is_constant_argument(call, 3, UINT32_MAX);
}

static bool is_clock(const char *name)
{
    return strcmp(name, "rt_clock") == 0 || strcmp(name, "rt_globaltimer") == 0;
}

static struct tr_shape shape_of_placeholder(const struct tr_shape_context *context,
                                            const char *name, LLVMValueRef call,
                                            const struct tr_shape *operands)
{
    /* Threads that go side by side may read a clock together, as the lanes of a warp do. */
    if (context->is_race_free && is_clock(name))
        return tr_shape_uniform();
    if (!context->is_uniform_segment)
        return tr_shape_varying();
    bool is_same = strcmp(name, "rt_bar_red") == 0
                       ? is_uniform_reduction(call, operands)
                       : context->scope == TR_SCOPE_WARP && is_warp_agreement(name, call);
    return is_same ? tr_shape_uniform() : tr_shape_varying();
}

bool tr_is_fault(LLVMValueRef inst)
{
    const char *name = tr_callee_name(inst);
    return strcmp(name, "rt_fault") == 0 || strcmp(name, "rt_unsupported") == 0 ||
           strcmp(name, "rt_assertfail") == 0;
}

bool tr_is_meeting(LLVMValueRef stop)
{
    const char *name = tr_callee_name(stop);
    return strcmp(name, "rt_poll") != 0 && strcmp(name, "rt_nanosleep") != 0;
}

/* ---- any call ---- */

struct tr_shape tr_shape_of_call(const struct tr_shape_context *context,
                                 const struct tr_value *value, const struct tr_shape *operands)
{
    static const char prefix[] = "rt_sreg_";
    const char *name = tr_callee_name(value->llvm);
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        return shape_of_register(context, name + sizeof prefix - 1);
    if (strncmp(name, "rt_", 3) == 0 && LLVMIsDeclaration(LLVMGetCalledValue(value->llvm)))
        return shape_of_placeholder(context, name, value->llvm, operands);
    if (tr_is_pure_call(value->llvm))
        return tr_shape_of_function(context, operands, value->operand_count);
    return tr_shape_varying();
}
