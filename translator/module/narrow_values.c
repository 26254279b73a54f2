/* SPDX-License-Identifier: Apache-2.0
 *
 * Short numbers in long registers: PTX has no arithmetic on bytes, and what is computed from them
 * in 16 or 32 bits mostly fits 8 or 16. A vector register then holds two or four times as many.
 * LLVM does so behind a truncation, for few operations, and not by what ranges say.
 *
 * Each value that is computed from bytes, short integers and constants has a range. A value may be
 * narrow if its range fits, its operation is one that vectors have in so few bits, and everybody
 * takes it narrow: other such values, truncations and comparisons. Who is not, takes along those
 * that it uses and is used by. What was extended is extended once more, less far.
 */
#include <stdlib.h>

#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"
#include "translator/module/number_range.h"
#include "translator/module/walk.h"

struct node {
    LLVMValueRef inst;
    struct tr_number_range range;
    bool is_narrow;
    bool is_leaf; /* an extension */
    LLVMValueRef made;
};

struct place {
    LLVMValueRef inst;
    uint32_t node;
};

struct narrowing {
    LLVMBuilderRef builder;
    LLVMContextRef context;
    struct node *nodes;   /* of a function, in its order */
    struct place *places; /* by address */
    uint32_t count;
    uint32_t *dropped; /* whose neighbours have not heard of it */
    uint32_t dropped_count;
    unsigned bits; /* of what is narrow */
};

/* ---- nodes ---- */

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct place *)a)->inst;
    uintptr_t y = (uintptr_t)((const struct place *)b)->inst;
    return (x > y) - (x < y);
}

static struct node *node_of(const struct narrowing *n, LLVMValueRef value)
{
    struct place key = {.inst = value};
    const struct place *found = bsearch(&key, n->places, n->count, sizeof key, by_address);
    return found != NULL ? &n->nodes[found->node] : NULL;
}

static unsigned bits_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static bool is_extension(LLVMValueRef inst)
{
    return LLVMIsAZExtInst(inst) != NULL || LLVMIsASExtInst(inst) != NULL;
}

/* ---- ranges ---- */

static struct tr_number_range range_of(const struct narrowing *n, LLVMValueRef value)
{
    if (LLVMIsAConstantInt(value) != NULL) {
        int64_t number = LLVMConstIntGetSExtValue(value);
        return tr_range_from(number, number);
    }
    const struct node *node = node_of(n, value);
    return node != NULL ? node->range : (struct tr_number_range){0};
}

static struct tr_number_range range_of_extension(LLVMValueRef inst)
{
    unsigned bits = bits_of(LLVMGetOperand(inst, 0));
    if (bits == 0 || bits > 16)
        return (struct tr_number_range){0};
    int64_t half = INT64_C(1) << (bits - 1);
    return LLVMIsAZExtInst(inst) != NULL ? tr_range_from(0, 2 * half - 1)
                                         : tr_range_from(-half, half - 1);
}

static bool is_minimum(LLVMValueRef inst)
{
    return tr_calls_intrinsic(inst, "llvm.umin") || tr_calls_intrinsic(inst, "llvm.smin");
}

static bool is_maximum(LLVMValueRef inst)
{
    return tr_calls_intrinsic(inst, "llvm.umax") || tr_calls_intrinsic(inst, "llvm.smax");
}

static bool is_of_unsigned(LLVMValueRef inst)
{
    return tr_calls_intrinsic(inst, "llvm.umin") || tr_calls_intrinsic(inst, "llvm.umax");
}

/* What the value is computed from: up to two numbers. */
static unsigned sources_of(LLVMValueRef inst, LLVMValueRef sources[2])
{
    bool is_choice = LLVMIsASelectInst(inst) != NULL;
    bool is_one = tr_calls_intrinsic(inst, "llvm.abs") || LLVMIsATruncInst(inst) != NULL;
    bool is_two = LLVMIsABinaryOperator(inst) != NULL || is_minimum(inst) || is_maximum(inst);
    unsigned count = is_choice || is_two ? 2 : is_one;
    for (unsigned i = 0; i < count; i++)
        sources[i] = LLVMGetOperand(inst, i + is_choice);
    return count;
}

/* Of the number before it is cut to the bits of its register. */
static struct tr_number_range range_of_result(const struct narrowing *n, LLVMValueRef inst)
{
    LLVMValueRef sources[2];
    struct tr_number_range a = {0}, b = {0};
    unsigned count = sources_of(inst, sources);
    if (is_extension(inst))
        return range_of_extension(inst);
    if (count > 0)
        a = b = range_of(n, sources[0]);
    if (count > 1)
        b = range_of(n, sources[1]);
    if (count == 0 || !a.is_known || !b.is_known ||
        (is_of_unsigned(inst) && (a.low < 0 || b.low < 0)))
        return (struct tr_number_range){0};
    if (LLVMIsABinaryOperator(inst) != NULL)
        return tr_range_of_operation(LLVMGetInstructionOpcode(inst), a, b, bits_of(inst));
    if (is_minimum(inst))
        return tr_range_of_least(a, b);
    if (is_maximum(inst))
        return tr_range_of_most(a, b);
    if (LLVMIsASelectInst(inst) != NULL)
        return tr_range_of_either(a, b);
    if (LLVMIsATruncInst(inst) != NULL)
        return a;
    return tr_range_of_absolute(a);
}

/* Of what is in the register: that of the result, if nothing was cut off. (Else it would not fit
 * fewer bits either, but ranges of products must stay short.) */
static struct tr_number_range find_range(const struct narrowing *n, LLVMValueRef inst)
{
    struct tr_number_range range = range_of_result(n, inst);
    return tr_fits(range, bits_of(inst)) ? range : (struct tr_number_range){0};
}

/* ---- what may be narrow ---- */

/* Vectors of bytes are not multiplied or shifted. */
static bool is_vector_operation(LLVMValueRef inst, unsigned bits)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    bool is_long =
        opcode == LLVMMul || opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
    return bits > 8 || !is_long;
}

/* Both without sign, or both with one: then they compare in so few bits as they do in many, also
 * what takes negative numbers for large ones. */
static bool are_alike(struct tr_number_range a, struct tr_number_range b, unsigned bits)
{
    return (tr_fits_unsigned(a, bits) && tr_fits_unsigned(b, bits)) ||
           (tr_fits_signed(a, bits) && tr_fits_signed(b, bits));
}

static bool is_narrow_source(const struct narrowing *n, LLVMValueRef value)
{
    const struct node *node = node_of(n, value);
    return LLVMIsAConstantInt(value) != NULL ? tr_fits(range_of(n, value), n->bits)
                                             : node != NULL && node->is_narrow;
}

static bool may_compare(const struct narrowing *n, LLVMValueRef comparison)
{
    LLVMValueRef x = LLVMGetOperand(comparison, 0);
    LLVMValueRef y = LLVMGetOperand(comparison, 1);
    return is_narrow_source(n, x) && is_narrow_source(n, y) &&
           are_alike(range_of(n, x), range_of(n, y), n->bits);
}

static bool takes_narrow(const struct narrowing *n, LLVMValueRef user)
{
    const struct node *node = node_of(n, user);
    if (node != NULL && node->is_narrow)
        return true;
    if (LLVMIsATruncInst(user) != NULL)
        return bits_of(user) <= n->bits;
    return LLVMIsAICmpInst(user) != NULL && may_compare(n, user);
}

static bool has_narrow_sources(const struct narrowing *n, LLVMValueRef inst)
{
    LLVMValueRef sources[2];
    unsigned count = sources_of(inst, sources);
    for (unsigned i = 0; i < count; i++)
        if (!is_narrow_source(n, sources[i]))
            return false;
    bool is_ordered = is_minimum(inst) || is_maximum(inst);
    return !is_ordered || are_alike(range_of(n, sources[0]), range_of(n, sources[1]), n->bits);
}

static bool may_stay(const struct narrowing *n, const struct node *node)
{
    if (node->is_leaf)
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(node->inst); use != NULL; use = LLVMGetNextUse(use))
        if (!takes_narrow(n, LLVMGetUser(use)))
            return false;
    return has_narrow_sources(n, node->inst);
}

static void look_again(struct narrowing *n, LLVMValueRef value)
{
    struct node *node = node_of(n, value);
    if (node == NULL || !node->is_narrow || may_stay(n, node))
        return;
    node->is_narrow = false;
    n->dropped[n->dropped_count++] = (uint32_t)(node - n->nodes);
}

/* Also those that a comparison, which is no node, compares with it. */
static void look_at_neighbours(struct narrowing *n, LLVMValueRef inst)
{
    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        look_again(n, LLVMGetOperand(inst, (unsigned)i));
    for (LLVMUseRef use = LLVMGetFirstUse(inst); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        look_again(n, user);
        if (LLVMIsAICmpInst(user) != NULL) {
            look_again(n, LLVMGetOperand(user, 0));
            look_again(n, LLVMGetOperand(user, 1));
        }
    }
}

static bool may_begin(const struct narrowing *n, const struct node *node)
{
    unsigned bits = bits_of(node->inst);
    if (bits <= n->bits || bits > 32 || node->made != NULL || !tr_fits(node->range, n->bits))
        return false;
    return node->is_leaf ? bits_of(LLVMGetOperand(node->inst, 0)) <= n->bits
                         : is_vector_operation(node->inst, n->bits);
}

/* The largest set in which everybody takes everybody else. */
static void choose_narrow(struct narrowing *n)
{
    n->dropped_count = 0;
    for (uint32_t i = 0; i < n->count; i++)
        n->nodes[i].is_narrow = may_begin(n, &n->nodes[i]);
    for (uint32_t i = 0; i < n->count; i++)
        look_again(n, n->nodes[i].inst);
    while (n->dropped_count > 0)
        look_at_neighbours(n, n->nodes[n->dropped[--n->dropped_count]].inst);
}

/* ---- making them narrow ---- */

static LLVMTypeRef narrow_type(const struct narrowing *n)
{
    return LLVMIntTypeInContext(n->context, n->bits);
}

static LLVMValueRef made_of(const struct narrowing *n, LLVMValueRef value)
{
    if (LLVMIsAConstantInt(value) != NULL)
        return LLVMConstInt(narrow_type(n), (uint64_t)LLVMConstIntGetSExtValue(value), false);
    return node_of(n, value)->made;
}

static LLVMValueRef call(const struct narrowing *n, const char *name, LLVMValueRef a,
                         LLVMValueRef b)
{
    LLVMValueRef args[] = {a, b};
    return tr_call_intrinsic(n->builder, name, narrow_type(n), args, 2);
}

static LLVMValueRef extend(const struct narrowing *n, LLVMValueRef inst)
{
    LLVMValueRef source = LLVMGetOperand(inst, 0);
    return LLVMIsAZExtInst(inst) != NULL ? LLVMBuildZExt(n->builder, source, narrow_type(n), "")
                                         : LLVMBuildSExt(n->builder, source, narrow_type(n), "");
}

static LLVMValueRef extreme(const struct narrowing *n, LLVMValueRef inst, LLVMValueRef a,
                            LLVMValueRef b)
{
    bool has_sign = !tr_fits_unsigned(range_of(n, LLVMGetOperand(inst, 0)), n->bits) ||
                    !tr_fits_unsigned(range_of(n, LLVMGetOperand(inst, 1)), n->bits);
    if (is_minimum(inst))
        return call(n, has_sign ? "llvm.smin" : "llvm.umin", a, b);
    return call(n, has_sign ? "llvm.smax" : "llvm.umax", a, b);
}

static LLVMValueRef absolute(const struct narrowing *n, LLVMValueRef inst, LLVMValueRef a)
{
    LLVMValueRef is_undefined = LLVMConstInt(LLVMInt1TypeInContext(n->context), 0, false);
    return range_of(n, LLVMGetOperand(inst, 0)).low >= 0 ? a : call(n, "llvm.abs", a, is_undefined);
}

static LLVMValueRef make(const struct narrowing *n, LLVMValueRef inst)
{
    LLVMValueRef sources[2], made[2] = {NULL, NULL};
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    LLVMPositionBuilderBefore(n->builder, inst);
    if (is_extension(inst))
        return extend(n, inst);
    unsigned count = sources_of(inst, sources);
    for (unsigned i = 0; i < count; i++)
        made[i] = made_of(n, sources[i]);
    if (LLVMIsASelectInst(inst) != NULL)
        return LLVMBuildSelect(n->builder, LLVMGetOperand(inst, 0), made[0], made[1], "");
    if (LLVMIsATruncInst(inst) != NULL)
        return made[0];
    if (LLVMIsABinaryOperator(inst) == NULL)
        return count == 1 ? absolute(n, inst, made[0]) : extreme(n, inst, made[0], made[1]);
    bool is_positive = range_of(n, sources[0]).low >= 0;
    return LLVMBuildBinOp(n->builder, opcode == LLVMAShr && is_positive ? LLVMLShr : opcode,
                          made[0], made[1], "");
}

static LLVMIntPredicate without_sign(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntSGT:
        return LLVMIntUGT;
    case LLVMIntSGE:
        return LLVMIntUGE;
    case LLVMIntSLT:
        return LLVMIntULT;
    case LLVMIntSLE:
        return LLVMIntULE;
    default:
        return predicate;
    }
}

static void compare(const struct narrowing *n, LLVMValueRef comparison)
{
    LLVMValueRef x = LLVMGetOperand(comparison, 0);
    LLVMValueRef y = LLVMGetOperand(comparison, 1);
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
    if (tr_fits_unsigned(range_of(n, x), n->bits) && tr_fits_unsigned(range_of(n, y), n->bits))
        predicate = without_sign(predicate);
    LLVMPositionBuilderBefore(n->builder, comparison);
    LLVMValueRef made = LLVMBuildICmp(n->builder, predicate, made_of(n, x), made_of(n, y), "");
    LLVMReplaceAllUsesWith(comparison, made);
}

static void cut(const struct narrowing *n, LLVMValueRef truncation)
{
    LLVMValueRef made = made_of(n, LLVMGetOperand(truncation, 0));
    LLVMPositionBuilderBefore(n->builder, truncation);
    if (bits_of(truncation) < n->bits)
        made = LLVMBuildTrunc(n->builder, made, LLVMTypeOf(truncation), "");
    LLVMReplaceAllUsesWith(truncation, made);
}

/* Whoever takes a narrow value and is none. The users of leaves may be others. */
static void tell_users(const struct narrowing *n, const struct node *node)
{
    for (LLVMUseRef use = LLVMGetFirstUse(node->inst); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        const struct node *other = node_of(n, user);
        if ((other != NULL && other->is_narrow) || LLVMGetFirstUse(user) == NULL)
            continue;
        if (LLVMIsATruncInst(user) != NULL && bits_of(user) <= n->bits)
            cut(n, user);
        else if (LLVMIsAICmpInst(user) != NULL && may_compare(n, user))
            compare(n, user);
    }
}

/* Comparisons need both of their sides, so all are made before anybody is told. */
static void make_all(struct narrowing *n)
{
    bool is_any = false;
    for (uint32_t i = 0; i < n->count; i++)
        is_any |= n->nodes[i].is_narrow && !n->nodes[i].is_leaf;
    for (uint32_t i = 0; is_any && i < n->count; i++)
        if (n->nodes[i].is_narrow)
            n->nodes[i].made = make(n, n->nodes[i].inst);
    for (uint32_t i = 0; is_any && i < n->count; i++)
        if (n->nodes[i].is_narrow)
            tell_users(n, &n->nodes[i]);
    for (uint32_t i = 0; is_any && i < n->count; i++)
        if (n->nodes[i].is_leaf)
            n->nodes[i].made = NULL; /* may be extended otherwise, too */
}

/* ---- functions ---- */

static uint32_t count_numbers(LLVMValueRef function, bool *has_short)
{
    uint32_t count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        count += bits_of(inst) > 8 && bits_of(inst) <= 32;
        *has_short |= is_extension(inst) && range_of_extension(inst).is_known;
    }
    return count;
}

static void find_nodes(struct narrowing *n, LLVMValueRef function)
{
    uint32_t count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (bits_of(inst) > 8 && bits_of(inst) <= 32) {
            n->places[count] = (struct place){inst, count};
            n->nodes[count++] = (struct node){.inst = inst, .is_leaf = is_extension(inst)};
        }
    qsort(n->places, count, sizeof *n->places, by_address);
    n->count = count;
    for (uint32_t i = 0; i < count; i++)
        n->nodes[i].range = find_range(n, n->nodes[i].inst);
}

static bool only_computes(LLVMValueRef inst)
{
    LLVMValueRef sources[2];
    return is_extension(inst) || LLVMIsAICmpInst(inst) != NULL || sources_of(inst, sources) > 0;
}

/* Users come behind what they use, but for other blocks': those are left to LLVM. */
static void erase_unused(LLVMValueRef function)
{
    LLVMBasicBlockRef block = LLVMGetLastBasicBlock(function);
    for (; block != NULL; block = LLVMGetPreviousBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetLastInstruction(block), before; inst != NULL;
             inst = before) {
            before = LLVMGetPreviousInstruction(inst);
            if (LLVMGetFirstUse(inst) == NULL && only_computes(inst))
                LLVMInstructionEraseFromParent(inst);
        }
}

static enum pxr_status narrow_function(struct narrowing *n, LLVMValueRef function,
                                       struct pxr_error *err)
{
    bool has_short = false;
    uint32_t count = count_numbers(function, &has_short);
    if (!has_short)
        return PXR_OK;
    n->nodes = calloc(count, sizeof *n->nodes);
    n->places = calloc(count, sizeof *n->places);
    n->dropped = calloc(count, sizeof *n->dropped);
    bool has_room = n->nodes != NULL && n->places != NULL && n->dropped != NULL;
    if (has_room) {
        find_nodes(n, function);
        for (n->bits = 8; n->bits <= 16; n->bits *= 2) {
            choose_narrow(n);
            make_all(n);
        }
        erase_unused(function);
    }
    free(n->nodes);
    free(n->places);
    free(n->dropped);
    return has_room ? PXR_OK : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
}

enum pxr_status tr_narrow_values(LLVMModuleRef module, struct pxr_error *err)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct narrowing n = {.builder = LLVMCreateBuilderInContext(context), .context = context};
    enum pxr_status status = PXR_OK;
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; status == PXR_OK && function != NULL; function = LLVMGetNextFunction(function))
        status = narrow_function(&n, function, err);
    LLVMDisposeBuilder(n.builder);
    return status;
}
