/* SPDX-License-Identifier: Apache-2.0
 *
 * module/trips.c and even_trips.c: loops with random counters, against counting them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "tests/random/text.h"
#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

#define LOOPS     4000
#define TURNS_MAX 300

/* for (i = thread * scale + first;;) { i += step; if (!(i + offset relation limit)) break; } */
struct loop {
    unsigned threads;
    int scale, first, step, offset, limit;
    const char *relation;
    bool leaves; /* the branch leaves the loop where its condition holds */
    bool is_counter_tested;
};

static const char *const relations[] = {"slt", "sle", "sgt", "sge", "ult",
                                        "ule", "ugt", "uge", "ne",  "eq"};

static bool holds(const char *relation, int32_t a, int32_t b)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    bool results[] = {a<b, a <= b, a> b, a >= b, x<y, x <= y, x> y, x >= y, a != b, a == b};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(relation, relations[i]) == 0)
            return results[i];
    abort();
}

/* 0: more than TURNS_MAX */
static unsigned count(const struct loop *loop, unsigned thread)
{
    uint32_t i = thread * (uint32_t)loop->scale + (uint32_t)loop->first;
    for (unsigned turns = 1; turns <= TURNS_MAX; turns++) {
        uint32_t next = i + (uint32_t)loop->step;
        uint32_t tested = (loop->is_counter_tested ? i : next) + (uint32_t)loop->offset;
        if (holds(loop->relation, (int32_t)tested, loop->limit) == loop->leaves)
            return turns;
        i = next;
    }
    return 0;
}

/* 0: not all threads' */
static unsigned count_of_all(const struct loop *loop)
{
    unsigned turns = count(loop, 0);
    for (unsigned thread = 1; thread < loop->threads; thread++)
        if (count(loop, thread) != turns)
            return 0;
    return turns;
}

static char *print(const struct loop *loop)
{
    char *text;
    int offset = loop->offset + (loop->is_counter_tested ? 0 : loop->step);
    int length =
        asprintf(&text,
                 "declare i32 @thread()\n"
                 "declare void @body()\n"
                 "define void @f() {\nentry:\n"
                 "  %%t = call i32 @thread(), !range !{i32 0, i32 %u}\n"
                 "  %%scaled = mul i32 %%t, %d\n"
                 "  %%start = add i32 %%scaled, %d\n"
                 "  br label %%loop\n"
                 "loop:\n"
                 "  %%i = phi i32 [ %%start, %%entry ], [ %%next, %%loop ]\n"
                 "  call void @body()\n"
                 "  %%next = add i32 %%i, %d\n"
                 "  %%tested = add i32 %%i, %d\n"
                 "  %%test = icmp %s i32 %%tested, %d\n"
                 "  br i1 %%test, label %%%s, label %%%s\n"
                 "end:\n  ret void\n}\n",
                 loop->threads, loop->scale, loop->first, loop->step, offset, loop->relation,
                 loop->limit, loop->leaves ? "end" : "loop", loop->leaves ? "loop" : "end");
    cr_assert(length > 0);
    return text;
}

static LLVMValueRef end_of_loop(LLVMModuleRef module)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, "f"));
    return LLVMGetBasicBlockTerminator(LLVMGetNextBasicBlock(entry));
}

/* How often the loop runs by a counter that begins at 0 for all threads; 0: it has none. */
static unsigned new_count(LLVMModuleRef module)
{
    LLVMValueRef test = LLVMGetCondition(end_of_loop(module));
    LLVMValueRef next = LLVMGetOperand(test, 0);
    LLVMValueRef phi = LLVMGetOperand(next, 0);
    if (LLVMIsAPHINode(phi) == NULL || LLVMIsAConstantInt(LLVMGetIncomingValue(phi, 0)) == NULL)
        return 0;
    cr_assert(LLVMIsNull(LLVMGetIncomingValue(phi, 0)));
    cr_assert_eq(LLVMGetIncomingValue(phi, 1), next);
    cr_assert_eq(LLVMConstIntGetZExtValue(LLVMGetOperand(next, 1)), 1);
    bool is_left = LLVMGetICmpPredicate(test) == LLVMIntUGE;
    cr_assert(is_left || LLVMGetICmpPredicate(test) == LLVMIntULT);
    bool is_end_first = LLVMGetNextBasicBlock(LLVMGetSuccessor(end_of_loop(module), 0)) == NULL;
    cr_assert_eq(is_left, is_end_first);
    return (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(test, 1));
}

/* What the step makes of the loop. */
static unsigned rewritten(const struct loop *loop)
{
    char *text = print(loop);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_count_even_trips(module);
    unsigned turns = new_count(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
    return turns;
}

Test(even_trips, a_tile_is_loaded_in_so_many_turns)
{
    struct loop loop = {.threads = 128, .scale = 1, .step = 128, .limit = 512, .relation = "slt"};
    cr_assert_eq(rewritten(&loop), 4);
    loop.limit = 500; /* the last threads leave before the others */
    cr_assert_eq(rewritten(&loop), 0);
    loop.relation = "ult";
    loop.limit = 640;
    cr_assert_eq(rewritten(&loop), 5);
    struct loop as_nvcc_has_it = {.threads = 128,
                                  .scale = 1,
                                  .first = -128,
                                  .step = 128,
                                  .limit = 256,
                                  .relation = "slt",
                                  .is_counter_tested = true};
    cr_assert_eq(rewritten(&as_nvcc_has_it), 4);
}

Test(even_trips, counters_that_wrap_stay)
{
    struct loop loop = {.threads = 32,
                        .scale = 1,
                        .first = INT32_MAX - 40,
                        .step = 32,
                        .limit = INT32_MAX,
                        .relation = "sle"};
    cr_assert_eq(rewritten(&loop), 0);
    struct loop unsigned_from_below = {
        .threads = 32, .scale = 1, .first = -16, .step = 32, .limit = 64, .relation = "ult"};
    cr_assert_eq(rewritten(&unsigned_from_below), 0);
}

static struct loop random_loop(struct dice *dice)
{
    unsigned threads = 2 + dice_below(dice, 40);
    int scale = dice_chance(dice, 70) ? 1 : 1 + (int)dice_below(dice, 4);
    int sign = dice_chance(dice, 70) ? 1 : -1;
    int way = (int)threads * scale;
    int step = dice_chance(dice, 60) ? way : 1 + (int)dice_below(dice, 2 * (uint32_t)way);
    int turns = (int)dice_below(dice, 8);
    int near = dice_chance(dice, 60) ? 0 : (int)dice_below(dice, 5) - 2;
    int from = dice_chance(dice, 80) ? 0 : INT32_MAX - 200;
    /* Beyond the largest number it is a negative one. */
    int64_t limit = (int64_t)from + sign * turns * step + near;
    return (struct loop){.threads = threads,
                         .scale = scale,
                         .first = from + (int)dice_below(dice, 3) * -way / 2,
                         .step = sign * step,
                         .offset = dice_chance(dice, 50) ? 0 : (int)dice_below(dice, 9) - 4,
                         .limit = (int32_t)limit,
                         .relation = relations[dice_below(dice, 10)],
                         .leaves = dice_chance(dice, 50),
                         .is_counter_tested = dice_chance(dice, 50)};
}

Test(even_trips, rewritten_loops_run_as_often_as_before)
{
    struct dice dice = {.state = 1};
    unsigned rewritten_count = 0;
    for (unsigned n = 0; n < LOOPS; n++) {
        struct loop loop = random_loop(&dice);
        unsigned turns = rewritten(&loop);
        char *text = print(&loop);
        if (turns != 0)
            cr_assert_eq(turns, count_of_all(&loop), "%u turns, not %u, of\n%s", turns,
                         count_of_all(&loop), text);
        free(text);
        rewritten_count += turns > 1;
    }
    cr_assert_gt(rewritten_count, LOOPS / 40, "%u loops of %u", rewritten_count, LOOPS);
}
