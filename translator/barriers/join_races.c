/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of a thread to one place, joined within straight code. Between two that are joined there
 * is no write that may be to their place, too, and nothing atomic: what stands between may not race
 * with what the first one races with, and would hide that from the second.
 */
#include "translator/barriers/join_races.h"

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/barriers/loop_races.h"
#include "translator/module/places.h"

/* Operands of rt_race_access. */
enum { ADDRESS = 1, BYTES, VALUE, WHAT };

/* Accesses that are open at a time; of more the first ones are left as they are. */
#define OPEN_MAX 32

struct access {
    LLVMValueRef call;
    struct tr_place place;
    int64_t bytes;
    int64_t what;
};

struct joining {
    LLVMTargetDataRef layout;
    size_t count;
    struct access open[OPEN_MAX];
};

static bool is_write(const struct access *access)
{
    return (access->what & RT_ACCESS_MASK) == RT_ACCESS_WRITE;
}

/* A plain access, which is done here. */
static bool find_access(const struct joining *joining, LLVMValueRef call, struct access *access)
{
    access->call = call;
    if (!tr_find_constant(LLVMGetOperand(call, BYTES), &access->bytes) ||
        !tr_find_constant(LLVMGetOperand(call, WHAT), &access->what) ||
        access->what & (RT_RACE_STRONG | RT_RACE_COPY))
        return false;
    access->place = tr_find_place(joining->layout, LLVMGetOperand(call, ADDRESS));
    return is_write(access) || (access->what & RT_ACCESS_MASK) == RT_ACCESS_READ;
}

static bool is_same_place(const struct access *a, const struct access *b)
{
    return a->place.base == b->place.base && a->place.offset == b->place.offset &&
           a->bytes == b->bytes;
}

static bool are_apart(const struct access *a, const struct access *b)
{
    return a->place.base == b->place.base && (a->place.offset >= b->place.offset + b->bytes ||
                                              b->place.offset >= a->place.offset + a->bytes);
}

static void forget_value(struct access *access)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(access->call, WHAT));
    access->what &= ~(int64_t)RT_RACE_VALUE;
    LLVMSetOperand(access->call, WHAT, LLVMConstInt(type, (uint64_t)access->what, false));
    LLVMSetOperand(access->call, VALUE,
                   LLVMConstNull(LLVMTypeOf(LLVMGetOperand(access->call, VALUE))));
}

/* The one of the two that is told. */
static struct access join(struct access first, struct access second)
{
    bool is_second = is_write(&second);
    struct access told = is_second ? second : first;
    if (is_write(&told))
        forget_value(&told);
    LLVMInstructionEraseFromParent(is_second ? first.call : second.call);
    return told;
}

/* Those that a write may be in the way of. */
static void close_behind(struct joining *joining, const struct access *write)
{
    size_t left = 0;
    for (size_t i = 0; i < joining->count; i++)
        if (are_apart(&joining->open[i], write))
            joining->open[left++] = joining->open[i];
    joining->count = left;
}

static void take(struct joining *joining, struct access *access)
{
    for (size_t i = 0; i < joining->count; i++) {
        struct access first = joining->open[i];
        if (!is_same_place(&first, access) || (is_write(&first) && is_write(access)))
            continue;
        joining->open[i] = joining->open[--joining->count];
        *access = join(first, *access);
        break;
    }
    if (is_write(access))
        close_behind(joining, access);
    if (joining->count < OPEN_MAX)
        joining->open[joining->count++] = *access;
}

static void join_in_block(struct joining *joining, LLVMBasicBlockRef block)
{
    joining->count = 0;
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block), next; inst != NULL; inst = next) {
        struct access access;
        next = LLVMGetNextInstruction(inst);
        bool is_access = tr_placeholder_of(inst) == RT_CALL_RACE_ACCESS;
        if (is_access && find_access(joining, inst, &access))
            take(joining, &access);
        else if (is_access || tr_orders_races(inst))
            joining->count = 0;
    }
}

void tr_join_races(LLVMModuleRef module)
{
    struct joining joining = {.layout = LLVMGetModuleDataLayout(module)};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            join_in_block(&joining, b);
}
