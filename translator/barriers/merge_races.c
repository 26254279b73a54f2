/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses between which nothing orders threads happen at one point of their order, so all may be
 * told where the first one is. Writes stay where they are: one of a value that stands there already
 * is no race, and would hide what has been read before.
 */
#include "translator/barriers/merge_races.h"

#include <stdlib.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/module/declare.h"
#include "translator/module/places.h"

/* Operands of rt_race_access. */
enum { THREAD, ADDRESS, BYTES, VALUE, WHAT, LINE };

/* Series that are open at a time: more begin anew. */
#define SERIES_MAX 64

/* Of fewer accesses each is told alone. */
#define TURNS_LEAST 3
#define TURNS_MAX   64

/* From the first access to the last: words that stand together keep distances of their lines in 8
 * bits (cudart/core/races/strips.h). */
#define LINES_MAX 100

/* Words that stand together have a line each. */
#define BYTES_LEAST 4

struct access {
    LLVMValueRef call;
    struct tr_place place;
    int64_t line;
};

struct series {
    struct access first;
    struct access last;
    int64_t step;  /* from two accesses on */
    int64_t lines; /* likewise */
    size_t count;
    LLVMValueRef calls[TURNS_MAX];
};

struct merging {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    size_t count;
    struct series *series;
};

/* ---- series ---- */

static LLVMValueRef number(const struct merging *merging, unsigned bits, int64_t value)
{
    LLVMContextRef llvm = LLVMGetModuleContext(merging->module);
    return LLVMConstInt(LLVMIntTypeInContext(llvm, bits), (uint64_t)value, true);
}

/* The last address, where the first access is. */
static LLVMValueRef last_address(const struct merging *merging, const struct series *series)
{
    LLVMValueRef first = LLVMGetOperand(series->first.call, ADDRESS);
    int64_t distance = series->step * (int64_t)(series->count - 1);
    return LLVMBuildAdd(merging->builder, first, number(merging, 64, distance), "");
}

static void close_one(const struct merging *merging, const struct series *series)
{
    LLVMValueRef call = series->first.call;
    LLVMBuilderRef b = merging->builder;
    if (series->count < TURNS_LEAST)
        return;
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef function = tr_declare_placeholder(merging->module, RT_CALL_RACE_LOOP);
    LLVMValueRef operands[] = {LLVMGetOperand(call, THREAD),
                               last_address(merging, series),
                               LLVMGetOperand(call, BYTES),
                               number(merging, 64, series->step),
                               number(merging, 64, (int64_t)series->count),
                               number(merging, 64, 0),
                               number(merging, 64, 0),
                               LLVMGetOperand(call, WHAT),
                               number(merging, 32, series->last.line),
                               number(merging, 32, series->lines)};
    LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, operands,
                   sizeof operands / sizeof *operands, "");
    for (size_t i = 0; i < series->count; i++)
        LLVMInstructionEraseFromParent(series->calls[i]);
}

static void close_all(struct merging *merging)
{
    for (size_t i = 0; i < merging->count; i++)
        close_one(merging, &merging->series[i]);
    merging->count = 0;
}

/* Whether both differ in nothing but the place and the line. */
static bool are_alike(const struct access *a, const struct access *b)
{
    static const unsigned same[] = {THREAD, BYTES, WHAT};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (LLVMGetOperand(a->call, same[i]) != LLVMGetOperand(b->call, same[i]))
            return false;
    return a->place.base == b->place.base;
}

/* Whether the access goes on where the series has been last, by its steps. */
static bool goes_on(const struct series *series, const struct access *access)
{
    int64_t step = access->place.offset - series->last.place.offset;
    int64_t lines = access->line - series->last.line;
    return series->count < TURNS_MAX && step != 0 &&
           llabs(access->line - series->first.line) <= LINES_MAX &&
           (series->count == 1 || (step == series->step && lines == series->lines));
}

static void append(struct series *series, const struct access *access)
{
    series->step = access->place.offset - series->last.place.offset;
    series->lines = access->line - series->last.line;
    series->last = *access;
    series->calls[series->count++] = access->call;
}

static void begin(struct series *series, const struct access *access)
{
    *series =
        (struct series){.first = *access, .last = *access, .count = 1, .calls[0] = access->call};
}

static void take(struct merging *merging, const struct access *access)
{
    for (size_t i = 0; i < merging->count; i++) {
        struct series *series = &merging->series[i];
        if (!are_alike(&series->last, access))
            continue;
        if (goes_on(series, access)) {
            append(series, access);
            return;
        }
        /* Of two accesses the second one may be the first of others. */
        close_one(merging, series);
        struct access last = series->last;
        bool is_left = series->count == 2;
        begin(series, is_left ? &last : access);
        if (is_left && goes_on(series, access))
            append(series, access);
        else
            begin(series, access);
        return;
    }
    if (merging->count == SERIES_MAX)
        close_all(merging);
    begin(&merging->series[merging->count++], access);
}

/* ---- blocks ---- */

/* A read that is in no order with others. */
static bool find_read(const struct merging *merging, LLVMValueRef call, struct access *access)
{
    int64_t bytes, what;
    access->call = call;
    if (!tr_find_constant(LLVMGetOperand(call, BYTES), &bytes) || bytes < BYTES_LEAST ||
        !tr_find_constant(LLVMGetOperand(call, WHAT), &what) ||
        (what & (RT_ACCESS_MASK | RT_RACE_STRONG | RT_RACE_COPY)) != RT_ACCESS_READ ||
        !tr_find_constant(LLVMGetOperand(call, LINE), &access->line))
        return false;
    access->place = tr_find_place(merging->layout, LLVMGetOperand(call, ADDRESS));
    return true;
}

/* Checks of other things, and what LLVM knows, order nothing. */
static bool may_order(LLVMValueRef inst)
{
    if (LLVMIsAFenceInst(inst) != NULL)
        return true;
    if (LLVMIsACallInst(inst) == NULL)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    switch (tr_placeholder_of(inst)) {
    case RT_CALL_CHECK:
    case RT_CALL_WRITTEN:
    case RT_CALL_MARK:
    case RT_CALL_NUMBER:
        return false;
    default:
        return LLVMIsAFunction(callee) == NULL || LLVMGetIntrinsicID(callee) == 0;
    }
}

static void merge_in_block(struct merging *merging, LLVMBasicBlockRef block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        struct access access;
        if (tr_placeholder_of(inst) == RT_CALL_RACE_ACCESS && find_read(merging, inst, &access))
            take(merging, &access);
        else if (may_order(inst))
            close_all(merging);
    }
    close_all(merging);
}

void tr_merge_races(LLVMModuleRef module)
{
    struct merging merging = {.module = module, .layout = LLVMGetModuleDataLayout(module)};
    merging.series = malloc(SERIES_MAX * sizeof *merging.series);
    if (merging.series == NULL)
        return;
    merging.builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            merge_in_block(&merging, b);
    LLVMDisposeBuilder(merging.builder);
    free(merging.series);
}
