/* SPDX-License-Identifier: Apache-2.0
 *
 * barriers/join_races.c: random straight code of one thread, told to cells before and after, where
 * some of its addresses may be the same. Another thread does one access before all of it, or behind
 * it, and nothing orders the two: a race that was found before is found still, and one that is
 * found is one.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "cudart/core/races/cells.h"
#include "kernel_abi/rt.h"
#include "tests/random/text.h"
#include "tests/unit/vector/parse_ir.h"
#include "translator/analysis/calls.h"
#include "translator/barriers/join_races.h"
#include "translator/module/places.h"

#define PROGRAMS     1500
#define ACCESSES     12
#define BASES        3
#define WORDS        (BASES + 1)
#define THREAD       0
#define OTHER_THREAD 40 /* of another warp */

struct event {
    unsigned word;
    uint32_t what;
    uint32_t value;
};

struct events {
    size_t count;
    struct event of[ACCESSES];
};

static const unsigned whats[] = {RT_ACCESS_READ,
                                 RT_ACCESS_READ,
                                 RT_ACCESS_WRITE,
                                 RT_ACCESS_WRITE | RT_RACE_VALUE,
                                 RT_ACCESS_WRITE | RT_RACE_VALUE,
                                 RT_ACCESS_ATOMIC | RT_RACE_STRONG,
                                 RT_ACCESS_READ | RT_RACE_STRONG};
#define WHATS (sizeof whats / sizeof *whats)

static void add_program(struct text *text, struct dice *dice)
{
    text_add(text, "declare void @rt_race_access(ptr, i64, i64, i64, i32, i32)\n"
                   "declare void @rt_race_fence(ptr)\n"
                   "define void @f(ptr %%thread, i64 %%b0, i64 %%b1, i64 %%b2) {\n");
    for (unsigned i = 0; i < ACCESSES; i++) {
        text_add(text,
                 "  %%a%u = add i64 %%b%u, %u\n"
                 "  call void @rt_race_access(ptr %%thread, i64 %%a%u, i64 4, i64 %u, i32 %u, i32 "
                 "%u)\n",
                 i, dice_below(dice, BASES), 4 * dice_below(dice, 2), i, dice_below(dice, 2),
                 whats[dice_below(dice, WHATS)], i);
        if (dice_chance(dice, 5))
            text_add(text, "  call void @rt_race_fence(ptr %%thread)\n");
    }
    text_add(text, "  ret void\n}\n");
}

static int64_t constant_of(LLVMValueRef call, unsigned operand)
{
    int64_t number = 0;
    cr_assert(tr_find_constant(LLVMGetOperand(call, operand), &number));
    return number;
}

/* bases: the word of each base. */
static struct events events_of(LLVMModuleRef module, const unsigned bases[BASES])
{
    struct events events = {0};
    LLVMValueRef f = LLVMGetNamedFunction(module, "f");
    for (LLVMValueRef inst = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); inst != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        if (tr_placeholder_of(inst) != RT_CALL_RACE_ACCESS)
            continue;
        struct tr_place place =
            tr_find_place(LLVMGetModuleDataLayout(module), LLVMGetOperand(inst, 1));
        unsigned base = 0;
        while (LLVMGetParam(f, base + 1) != place.base)
            base++;
        events.of[events.count++] = (struct event){.word = bases[base] + (unsigned)place.offset / 4,
                                                   .value = (uint32_t)constant_of(inst, 3),
                                                   .what = (uint32_t)constant_of(inst, 4)};
    }
    return events;
}

static struct race_access access_of(const struct race_block *block, const struct event *event,
                                    unsigned thread)
{
    bool is_write = (event->what & RT_ACCESS_MASK) != RT_ACCESS_READ;
    return (struct race_access){.stamp = block->now,
                                .thread = (uint16_t)thread,
                                .bytes = 0xf,
                                .value = event->value,
                                .flags =
                                    (uint8_t)((is_write ? RACE_WRITES : 0) |
                                              (event->what & RT_RACE_STRONG ? RACE_STRONG : 0) |
                                              (event->what & RT_RACE_VALUE ? RACE_VALUE : 0))};
}

static bool races(struct race_cell *cells, const struct race_block *block,
                  const struct event *event, unsigned thread)
{
    const struct race_access access = access_of(block, event, thread);
    return race_cell_access(&cells[event->word], 1, block, &access) != NULL;
}

static bool is_found(const struct race_block *block, const struct events *events,
                     const struct event *other, bool is_first)
{
    struct race_cell cells[WORDS + 1] = {0};
    bool is_race = false;
    if (is_first)
        races(cells, block, other, OTHER_THREAD);
    for (size_t i = 0; i < events->count; i++)
        is_race |= races(cells, block, &events->of[i], THREAD);
    return is_first ? is_race : races(cells, block, other, OTHER_THREAD);
}

/* Whatever cells keep. */
static bool is_race(const struct race_block *block, const struct events *events,
                    const struct event *other)
{
    for (size_t i = 0; i < events->count; i++) {
        struct events one = {.count = 1, .of[0] = events->of[i]};
        if (is_found(block, &one, other, false))
            return true;
    }
    return false;
}

static void compare(const struct race_block *block, const struct events *before,
                    const struct events *after)
{
    for (unsigned i = 0; i < WORDS * WHATS * 2 * 2; i++) {
        const struct event other = {
            .word = i / 4 % WORDS, .what = whats[i / 4 / WORDS], .value = i / 2 % 2};
        bool is_first = i % 2;
        bool was_found = is_found(block, before, &other, is_first);
        bool is_still = is_found(block, after, &other, is_first);
        cr_assert(is_still || !was_found, "one is lost");
        cr_assert(!is_still || is_race(block, before, &other), "one is invented");
    }
}

static LLVMModuleRef joined(LLVMContextRef context, const char *text)
{
    LLVMModuleRef module = parse_ir(context, text);
    char *message = NULL;
    tr_join_races(module);
    cr_assert(!LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    return module;
}

Test(join_races, no_race_is_lost_and_none_is_invented)
{
    struct race_block *block = calloc(1, sizeof *block);
    struct dice dice = {.state = 22};
    size_t told[2] = {0, 0};
    cr_assert_not_null(block);
    race_block_begin(block, 1, 0, 64);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct text text = {0};
        unsigned bases[BASES];
        LLVMContextRef context = LLVMContextCreate();
        add_program(&text, &dice);
        for (unsigned b = 0; b < BASES; b++)
            bases[b] = dice_below(&dice, BASES);
        LLVMModuleRef modules[] = {parse_ir(context, text.bytes), joined(context, text.bytes)};
        const struct events before = events_of(modules[0], bases);
        const struct events after = events_of(modules[1], bases);
        told[0] += before.count;
        told[1] += after.count;
        compare(block, &before, &after);
        LLVMDisposeModule(modules[0]);
        LLVMDisposeModule(modules[1]);
        LLVMContextDispose(context);
        text_fini(&text);
    }
    cr_expect_lt(20 * told[1], 19 * told[0], "%zu accesses, %zu before", told[1], told[0]);
    free(block);
}

/* A loop can tell of it once: it does not change from iteration to iteration. */
Test(join_races, a_value_that_was_read_and_written_is_not_known)
{
    static const unsigned bases[BASES] = {0, 1, 2};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = joined(
        context, "declare void @rt_race_access(ptr, i64, i64, i64, i32, i32)\n"
                 "define void @f(ptr %thread, i64 %b0, i64 %value) {\n"
                 "  call void @rt_race_access(ptr %thread, i64 %b0, i64 4, i64 0, i32 0, i32 1)\n"
                 "  call void @rt_race_access(ptr %thread, i64 %b0, i64 4, i64 %value, i32 65, "
                 "i32 2)\n  ret void\n}\n");
    struct events events = events_of(module, bases);
    cr_expect_eq(events.count, 1);
    cr_expect_eq(events.of[0].what, RT_ACCESS_WRITE);
    cr_expect_eq(events.of[0].value, 0);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}
