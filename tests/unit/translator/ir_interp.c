/* SPDX-License-Identifier: Apache-2.0
 *
 * An interpreter of scalar IR for tests.
 */
#include "ir_interp.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MAX_VALUES 4000

struct value {
    uint64_t bits;
    bool is_poison;
};

struct binding {
    LLVMValueRef key;
    struct value value;
    UT_hash_handle hh;
};

struct machine {
    ir_call_fn call;
    void *data;
    unsigned range_kind;
    enum ir_outcome outcome;
    uint32_t count;
    struct binding *by_key;
    struct binding bindings[MAX_VALUES];
};

static void stop(struct machine *m, enum ir_outcome outcome)
{
    if (m->outcome == IR_RETURNED)
        m->outcome = outcome;
}

static unsigned width_of(struct machine *m, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64)
        return LLVMGetIntTypeWidth(type);
    stop(m, IR_UNSUPPORTED);
    return 64;
}

static uint64_t mask(unsigned width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static int64_t sign_extend(uint64_t bits, unsigned width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

static void set(struct machine *m, LLVMValueRef key, struct value value)
{
    struct binding *binding;
    HASH_FIND_PTR(m->by_key, &key, binding);
    if (!binding && m->count == MAX_VALUES) {
        stop(m, IR_UNSUPPORTED);
        return;
    }
    if (!binding) {
        binding = &m->bindings[m->count++];
        binding->key = key;
        HASH_ADD_PTR(m->by_key, key, binding);
    }
    binding->value = value;
}

static struct value get(struct machine *m, LLVMValueRef key)
{
    if (LLVMIsAConstantInt(key) && width_of(m, LLVMTypeOf(key)) <= 64)
        return (struct value){LLVMConstIntGetZExtValue(key), false};
    if (LLVMIsAPoisonValue(key) || LLVMIsAUndefValue(key))
        return (struct value){0, true};
    struct binding *binding;
    HASH_FIND_PTR(m->by_key, &key, binding);
    if (binding)
        return binding->value;
    stop(m, IR_UNSUPPORTED);
    return (struct value){0, false};
}

static struct value operand(struct machine *m, LLVMValueRef inst, unsigned n)
{
    return get(m, LLVMGetOperand(inst, n));
}

/* ---- arithmetic ---- */

/* Whether the exact result is not what `width` bits hold. */
static bool wraps(LLVMValueRef inst, __int128 exact_signed, __int128 exact_unsigned,
                  uint64_t result, unsigned width)
{
    return (LLVMGetNSW(inst) && exact_signed != sign_extend(result, width)) ||
           (LLVMGetNUW(inst) && exact_unsigned != (__int128)result);
}

static struct value shift(struct machine *m, LLVMValueRef inst, LLVMOpcode opcode, uint64_t a,
                          uint64_t b, unsigned width)
{
    (void)m;
    if (b >= width)
        return (struct value){0, true};
    struct value value = {0, false};
    if (opcode == LLVMShl) {
        value.bits = a << b & mask(width);
        value.is_poison =
            (LLVMGetNUW(inst) && value.bits >> b != a) ||
            (LLVMGetNSW(inst) && sign_extend(value.bits, width) >> b != sign_extend(a, width));
        return value;
    }
    value.bits = opcode == LLVMLShr ? a >> b : (uint64_t)(sign_extend(a, width) >> b) & mask(width);
    value.is_poison = LLVMGetExact(inst) && (value.bits << b & mask(width)) != a;
    return value;
}

static struct value divide(struct machine *m, LLVMValueRef inst, LLVMOpcode opcode, uint64_t a,
                           uint64_t b, unsigned width)
{
    int64_t sa = sign_extend(a, width), sb = sign_extend(b, width);
    bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
    if (b == 0 || (is_signed && sb == -1)) {
        stop(m, IR_UNSUPPORTED);
        return (struct value){0, true};
    }
    switch (opcode) {
    case LLVMUDiv:
        return (struct value){a / b, LLVMGetExact(inst) && a % b != 0};
    case LLVMSDiv:
        return (struct value){(uint64_t)(sa / sb) & mask(width),
                              LLVMGetExact(inst) && sa % sb != 0};
    case LLVMURem:
        return (struct value){a % b, false};
    default:
        return (struct value){(uint64_t)(sa % sb) & mask(width), false};
    }
}

static struct value binary(struct machine *m, LLVMValueRef inst, LLVMOpcode opcode)
{
    unsigned width = width_of(m, LLVMTypeOf(inst));
    struct value left = operand(m, inst, 0), right = operand(m, inst, 1);
    if (left.is_poison || right.is_poison)
        return (struct value){0, true};
    uint64_t a = left.bits, b = right.bits;
    __int128 sa = sign_extend(a, width), sb = sign_extend(b, width), ua = a, ub = b;
    struct value value = {0, false};
    switch (opcode) {
    case LLVMAdd:
        value.bits = (a + b) & mask(width);
        value.is_poison = wraps(inst, sa + sb, ua + ub, value.bits, width);
        return value;
    case LLVMSub:
        value.bits = (a - b) & mask(width);
        value.is_poison = wraps(inst, sa - sb, ua - ub, value.bits, width);
        return value;
    case LLVMMul:
        value.bits = a * b & mask(width);
        value.is_poison =
            (LLVMGetNSW(inst) && sa * sb != sign_extend(value.bits, width)) ||
            (LLVMGetNUW(inst) && (unsigned __int128)a * b != (unsigned __int128)value.bits);
        return value;
    case LLVMAnd:
        return (struct value){a & b, false};
    case LLVMOr:
        return (struct value){a | b, LLVMGetIsDisjoint(inst) && (a & b) != 0};
    case LLVMXor:
        return (struct value){a ^ b, false};
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return shift(m, inst, opcode, a, b, width);
    default:
        return divide(m, inst, opcode, a, b, width);
    }
}

static bool compare(LLVMIntPredicate predicate, uint64_t a, uint64_t b, unsigned width)
{
    int64_t sa = sign_extend(a, width), sb = sign_extend(b, width);
    switch (predicate) {
    case LLVMIntEQ:
        return a == b;
    case LLVMIntNE:
        return a != b;
    case LLVMIntUGT:
        return a > b;
    case LLVMIntUGE:
        return a >= b;
    case LLVMIntULT:
        return a < b;
    case LLVMIntULE:
        return a <= b;
    case LLVMIntSGT:
        return sa > sb;
    case LLVMIntSGE:
        return sa >= sb;
    case LLVMIntSLT:
        return sa < sb;
    default:
        return sa <= sb;
    }
}

static struct value compare_values(struct machine *m, LLVMValueRef inst)
{
    unsigned width = width_of(m, LLVMTypeOf(LLVMGetOperand(inst, 0)));
    struct value a = operand(m, inst, 0), b = operand(m, inst, 1);
    bool signs_differ = (a.bits >> (width - 1) & 1) != (b.bits >> (width - 1) & 1);
    return (struct value){compare(LLVMGetICmpPredicate(inst), a.bits, b.bits, width),
                          a.is_poison || b.is_poison ||
                              (LLVMGetICmpSameSign(inst) && signs_differ)};
}

static struct value convert(struct machine *m, LLVMValueRef inst, LLVMOpcode opcode)
{
    unsigned from = width_of(m, LLVMTypeOf(LLVMGetOperand(inst, 0)));
    unsigned to = width_of(m, LLVMTypeOf(inst));
    struct value value = operand(m, inst, 0);
    int64_t before = sign_extend(value.bits, from);
    uint64_t unsigned_before = value.bits;
    if (opcode == LLVMSExt)
        value.bits = (uint64_t)before & mask(to);
    else if (opcode == LLVMTrunc)
        value.bits &= mask(to);
    if (opcode == LLVMZExt && LLVMGetNNeg(inst) && before < 0)
        value.is_poison = true;
    if (opcode == LLVMTrunc && ((LLVMGetNUW(inst) && value.bits != unsigned_before) ||
                                (LLVMGetNSW(inst) && sign_extend(value.bits, to) != before)))
        value.is_poison = true;
    return value;
}

/* ---- calls and memory ---- */

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static struct value intrinsic(struct machine *m, LLVMValueRef inst, const char *name)
{
    unsigned width = width_of(m, LLVMTypeOf(inst));
    struct value a = operand(m, inst, 0), b = operand(m, inst, 1);
    int64_t sa = sign_extend(a.bits, width), sb = sign_extend(b.bits, width);
    struct value value = {0, a.is_poison || b.is_poison};
    if (begins_with(name, "llvm.umin"))
        value.bits = a.bits < b.bits ? a.bits : b.bits;
    else if (begins_with(name, "llvm.umax"))
        value.bits = a.bits > b.bits ? a.bits : b.bits;
    else if (begins_with(name, "llvm.smin"))
        value.bits = sa < sb ? a.bits : b.bits;
    else if (begins_with(name, "llvm.smax"))
        value.bits = sa > sb ? a.bits : b.bits;
    else if (begins_with(name, "llvm.abs")) /* of the smallest number: itself, or poison */
        value = (struct value){(uint64_t)(sa < 0 ? -sa : sa) & mask(width),
                               a.is_poison || (b.bits != 0 && sa < 0 && sa == -sa)};
    else if (begins_with(name, "llvm.usub.sat"))
        value.bits = a.bits > b.bits ? a.bits - b.bits : 0;
    else
        stop(m, IR_UNSUPPORTED);
    return value;
}

static bool is_in_range(struct machine *m, LLVMValueRef inst, uint64_t bits)
{
    LLVMValueRef node = LLVMGetMetadata(inst, m->range_kind);
    if (!node || LLVMGetMDNodeNumOperands(node) != 2)
        return true;
    LLVMValueRef bounds[2];
    LLVMGetMDNodeOperands(node, bounds);
    uint64_t low = LLVMConstIntGetZExtValue(bounds[0]);
    uint64_t high = LLVMConstIntGetZExtValue(bounds[1]);
    uint64_t distance = mask(width_of(m, LLVMTypeOf(inst)));
    return ((bits - low) & distance) < ((high - low) & distance);
}

static struct value call(struct machine *m, LLVMValueRef inst)
{
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &len);
    struct value value = {0, false};
    if (strcmp(name, "rt_fault") == 0)
        stop(m, IR_FAULTED);
    else if (begins_with(name, "llvm."))
        return intrinsic(m, inst, name);
    else if (!m->call(m->data, name, &value.bits))
        stop(m, IR_UNSUPPORTED);
    value.is_poison = !is_in_range(m, inst, value.bits);
    return value;
}

static struct value element_pointer(struct machine *m, LLVMValueRef inst)
{
    LLVMTypeRef element = LLVMGetGEPSourceElementType(inst);
    if (LLVMGetNumOperands(inst) != 2 || LLVMGetTypeKind(element) != LLVMIntegerTypeKind)
        stop(m, IR_UNSUPPORTED);
    struct value base = operand(m, inst, 0), index = operand(m, inst, 1);
    unsigned width = width_of(m, LLVMTypeOf(LLVMGetOperand(inst, 1)));
    uint64_t offset = (uint64_t)sign_extend(index.bits, width) * (width_of(m, element) / 8);
    return (struct value){base.bits + offset, base.is_poison || index.is_poison};
}

static struct value load(struct machine *m, LLVMValueRef inst)
{
    struct value address = operand(m, inst, 0);
    unsigned width = width_of(m, LLVMTypeOf(inst));
    struct value value = {0, false};
    if (address.is_poison)
        stop(m, IR_POISON);
    if (m->outcome == IR_RETURNED)
        memcpy(&value.bits, (const void *)(uintptr_t)address.bits, width / 8);
    value.is_poison = !is_in_range(m, inst, value.bits);
    return value;
}

static void store(struct machine *m, LLVMValueRef inst)
{
    struct value value = operand(m, inst, 0), address = operand(m, inst, 1);
    unsigned width = width_of(m, LLVMTypeOf(LLVMGetOperand(inst, 0)));
    if (value.is_poison || address.is_poison)
        stop(m, IR_POISON);
    if (m->outcome == IR_RETURNED)
        memcpy((void *)(uintptr_t)address.bits, &value.bits, width / 8);
}

/* ---- control ---- */

/* Values of all phis of a block are taken before any is set. */
static LLVMValueRef enter(struct machine *m, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    struct value taken[64];
    unsigned count = 0;
    LLVMValueRef inst = LLVMGetFirstInstruction(to);
    for (; LLVMIsAPHINode(inst); inst = LLVMGetNextInstruction(inst)) {
        if (count == 64) {
            stop(m, IR_UNSUPPORTED);
            return inst;
        }
        for (unsigned i = 0; i < LLVMCountIncoming(inst); i++)
            if (LLVMGetIncomingBlock(inst, i) == from) {
                taken[count] = get(m, LLVMGetIncomingValue(inst, i));
                break;
            }
        count++;
    }
    count = 0;
    for (inst = LLVMGetFirstInstruction(to); LLVMIsAPHINode(inst);
         inst = LLVMGetNextInstruction(inst))
        set(m, inst, taken[count++]);
    return inst;
}

static LLVMValueRef jump(struct machine *m, LLVMValueRef inst)
{
    LLVMBasicBlockRef from = LLVMGetInstructionParent(inst);
    if (LLVMGetInstructionOpcode(inst) == LLVMSwitch) {
        struct value value = operand(m, inst, 0);
        if (value.is_poison)
            stop(m, IR_POISON);
        for (unsigned i = 1; i < LLVMGetNumSuccessors(inst); i++)
            if (LLVMConstIntGetZExtValue(LLVMGetSwitchCaseValue(inst, i)) == value.bits)
                return enter(m, from, LLVMGetSuccessor(inst, i));
        return enter(m, from, LLVMGetSuccessor(inst, 0));
    }
    if (!LLVMIsConditional(inst))
        return enter(m, from, LLVMGetSuccessor(inst, 0));
    struct value condition = get(m, LLVMGetCondition(inst));
    if (condition.is_poison)
        stop(m, IR_POISON);
    return enter(m, from, LLVMGetSuccessor(inst, condition.bits ? 0 : 1));
}

static struct value evaluate(struct machine *m, LLVMValueRef inst, LLVMOpcode opcode)
{
    struct value a;
    switch (opcode) {
    case LLVMICmp:
        return compare_values(m, inst);
    case LLVMSelect:
        a = operand(m, inst, 0);
        return a.is_poison ? a : operand(m, inst, a.bits ? 1 : 2);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        return convert(m, inst, opcode);
    case LLVMFreeze:
        a = operand(m, inst, 0);
        a.is_poison = false;
        return a;
    case LLVMLoad:
        return load(m, inst);
    case LLVMGetElementPtr:
        return element_pointer(m, inst);
    case LLVMCall:
        return call(m, inst);
    default:
        if (LLVMIsABinaryOperator(inst))
            return binary(m, inst, opcode);
        stop(m, IR_UNSUPPORTED);
        return (struct value){0, true};
    }
}

static void run(struct machine *m, LLVMValueRef function)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    for (int steps = 0; m->outcome == IR_RETURNED; steps++) {
        if (steps == IR_MAX_STEPS) {
            stop(m, IR_TOO_LONG);
            return;
        }
        LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
        if (opcode == LLVMRet)
            return;
        if (opcode == LLVMBr || opcode == LLVMSwitch) {
            inst = jump(m, inst);
            continue;
        }
        if (opcode == LLVMStore)
            store(m, inst);
        else
            set(m, inst, evaluate(m, inst, opcode));
        inst = LLVMGetNextInstruction(inst);
    }
}

enum ir_outcome ir_run(LLVMValueRef function, const void *argument, ir_call_fn on_call, void *data)
{
    struct machine *m = calloc(1, sizeof *m);
    if (!m)
        return IR_UNSUPPORTED;
    m->call = on_call;
    m->data = data;
    m->range_kind =
        LLVMGetMDKindIDInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)), "range", 5);
    set(m, LLVMGetParam(function, 0), (struct value){(uint64_t)(uintptr_t)argument, false});
    run(m, function);
    enum ir_outcome outcome = m->outcome;
    HASH_CLEAR(hh, m->by_key);
    free(m);
    return outcome;
}
