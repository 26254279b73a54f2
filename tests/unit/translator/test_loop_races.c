/* SPDX-License-Identifier: Apache-2.0
 *
 * barriers/loop_races.c: what random loops tell checks of races, before and after: the same
 * accesses between any two fences, each of them once or more often. And merge_races.c: likewise,
 * what straight code tells, between any two writes as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "kernel_abi/rt.h"
#include "tests/random/text.h"
#include "tests/unit/vector/parse_ir.h"
#include "translator/barriers/loop_races.h"
#include "translator/barriers/merge_races.h"

#define LOOPS      1200
#define THREADS    3
#define EVENTS_MAX 4096

/* ---- what is told ---- */

struct event {
    uint64_t address;
    uint32_t line;
    uint32_t what;
    uint32_t fences; /* before it */
};

struct log {
    size_t count; /* EVENTS_MAX: more */
    size_t calls;
    uint32_t fences;
    struct event events[EVENTS_MAX];
};

static struct log *told;
static bool writes_stay; /* others may not pass them */

static void add(uint64_t address, uint32_t what, uint32_t line)
{
    if (told->count < EVENTS_MAX)
        told->events[told->count++] = (struct event){address, line, what, told->fences};
}

static void tell_access(void *thread, uint64_t address, uint64_t bytes, uint64_t value,
                        uint32_t what, uint32_t line)
{
    (void)thread;
    (void)bytes;
    (void)value;
    told->calls++;
    if (writes_stay && (what & RT_ACCESS_MASK) != RT_ACCESS_READ)
        told->fences++;
    add(address, what, line);
}

static void tell_loop(void *thread, uint64_t address, uint64_t bytes, uint64_t step, uint64_t turns,
                      uint64_t floor, uint64_t period, uint32_t what, uint32_t line, uint32_t lines)
{
    (void)thread;
    (void)bytes;
    told->calls++;
    for (uint64_t turn = 0; turn < turns && told->count < EVENTS_MAX; turn++) {
        add(address, what, line);
        address -= step;
        line -= lines;
        if (period != 0 && address - floor >= period)
            address += (int64_t)step < 0 ? -period : period;
    }
}

static void tell_fence(void *thread)
{
    (void)thread;
    told->fences++;
}

static int compare_events(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct event));
}

/* Each once, in order. */
static void sort(struct log *log)
{
    size_t count = 0;
    qsort(log->events, log->count, sizeof *log->events, compare_events);
    for (size_t i = 0; i < log->count; i++)
        if (i == 0 || compare_events(&log->events[i], &log->events[i - 1]) != 0)
            log->events[count++] = log->events[i];
    log->count = count;
}

/* ---- random loops ---- */

/* An address in the iteration; each makes values of its own number. */
static const char *const addresses[] = {
    "  %%a%u = add i64 %%base, 64\n",
    "  %%a%u = add i64 %%p, 8\n",
    "  %%w%u = sext i32 %%i to i64\n  %%s%u = shl i64 %%w%u, 2\n  %%a%u = add i64 %%base, %%s%u\n",
    "  %%w%u = zext i32 %%i to i64\n  %%s%u = mul i64 %%w%u, 12\n  %%a%u = add i64 %%s%u, %%base\n",
    "  %%m%u = mul i32 %%i, 3\n  %%n%u = add i32 %%m%u, %%s\n  %%w%u = sext i32 %%n%u to i64\n"
    "  %%g%u = getelementptr i64, ptr %%memory, i64 %%w%u\n  %%a%u = ptrtoint ptr %%g%u to i64\n",
    "  %%m%u = mul i32 %%i, %%i\n  %%w%u = zext i32 %%m%u to i64\n"
    "  %%a%u = add i64 %%w%u, %%base\n",
    "  %%w%u = sext i32 %%i to i64\n  %%s%u = add i64 %%w%u, %%p\n  %%a%u = add i64 %%s%u, 4\n",
    "  %%w%u = sext i32 %%i to i64\n  %%a%u = sub i64 %%base, %%w%u\n",
    "  %%h%u = trunc i32 %%i to i8\n  %%w%u = zext i8 %%h%u to i64\n"
    "  %%a%u = add i64 %%w%u, %%base\n",
    "  %%n%u = add nsw i32 %%t, 5\n  %%w%u = sext i32 %%n%u to i64\n"
    "  %%s%u = mul i64 %%w%u, %%wide\n  %%a%u = add i64 %%s%u, %%p\n",
};

static const unsigned whats[] = {RT_ACCESS_READ,
                                 RT_ACCESS_READ,
                                 RT_ACCESS_WRITE,
                                 RT_ACCESS_WRITE | RT_RACE_VALUE,
                                 RT_ACCESS_ATOMIC | RT_RACE_STRONG,
                                 RT_ACCESS_READ | RT_RACE_STRONG | RT_RACE_SYSTEM};

/* "%s%u" is the sum, "%s" the function's argument: numbers follow the former only. */
static void add_address(struct text *text, const char *form, unsigned number)
{
    text_add(text, form, number, number, number, number, number, number, number, number, number,
             number);
}

static void add_access(struct text *text, struct dice *dice, unsigned number)
{
    unsigned kinds = dice_chance(dice, 90) ? sizeof whats / sizeof *whats - 1 : 6;
    unsigned what = whats[dice_below(dice, kinds)];
    bool is_guarded = dice_chance(dice, 15);
    add_address(text, addresses[dice_below(dice, sizeof addresses / sizeof *addresses)], number);
    if (is_guarded)
        text_add(text,
                 "  %%odd%u = trunc i32 %%t to i1\n  br i1 %%odd%u, label %%do%u, label %%no%u\n"
                 "do%u:\n",
                 number, number, number, number, number);
    text_add(
        text,
        "  call void @rt_race_access(ptr %%thread, i64 %%a%u, i64 4, i64 %s, i32 %u, i32 %u)\n",
        number, what & RT_RACE_VALUE && dice_chance(dice, 70) ? "%p" : "7", what, number);
    if (is_guarded)
        text_add(text, "  br label %%no%u\nno%u:\n", number, number);
}

static void add_exit(struct text *text, struct dice *dice, unsigned number)
{
    static const char *const to[] = {"end", "other", "trap"};
    text_add(text,
             "  %%c%u = icmp eq i32 %%t, %u\n  br i1 %%c%u, label %%%s, label %%on%u\non%u:\n",
             number, dice_below(dice, 12), number, to[dice_below(dice, 3)], number, number);
}

static void add_fence(struct text *text)
{
    text_add(text, "  call void @rt_race_fence(ptr %%thread)\n");
}

/* The loop's accesses, exits and fences; a number for each. */
static void add_body(struct text *text, struct dice *dice)
{
    unsigned parts = 1 + dice_below(dice, 4);
    for (unsigned i = 0; i < parts; i++) {
        if (dice_chance(dice, 25))
            add_exit(text, dice, 10 * i);
        add_access(text, dice, 10 * i + 1);
        if (dice_chance(dice, 4))
            add_fence(text);
    }
}

static void add_step(struct text *text, struct dice *dice)
{
    static const char *const steps[] = {"add i32 %i, 1",  "add i32 %i, %s", "add i32 %i, -3",
                                        "add i32 %s, %i", "sub i32 %i, 2",  "xor i32 %i, 5"};
    static const char *const moves[] = {
        "  %p.more = add i64 %p, 4\n", "  %p.more = add i64 %p, %wide\n",
        "  %p.half = add i64 %p, 8\n  %p.more = add i64 %p.half, %wide\n",
        "  %p.more = add i64 %p, -12\n", "  %p.more = mul i64 %p, 3\n"};
    text_add(text, "  %%i.more = %s\n", steps[dice_below(dice, 6)]);
    text_add(text, "%s", moves[dice_below(dice, 5)]);
}

/* A loop inside of another one, or not. */
static void add_function(struct text *text, struct dice *dice, unsigned number)
{
    bool is_nested = dice_chance(dice, 40);
    bool asks_first = dice_chance(dice, 40);
    text_add(text,
             "define void @f%u(ptr %%thread, ptr %%memory, i32 %%start, i32 %%n, i32 %%s) {\n"
             "entry:\n  %%base = ptrtoint ptr %%memory to i64\n  %%wide = sext i32 %%s to i64\n"
             "  %%any = icmp eq i32 %%n, 0\n  br i1 %%any, label %%end, label %%outer\nouter:\n"
             "  %%o = phi i32 [ 0, %%entry ], [ %%o.more, %%next ]\n",
             number);
    text_add(text, "  %%first = add i32 %%start, %%o\n  br label %%head\nhead:\n"
                   "  %%i = phi i32 [ %%first, %%outer ], [ %%i.more, %%latch ]\n"
                   "  %%p = phi i64 [ %%base, %%outer ], [ %%p.more, %%latch ]\n"
                   "  %%t = phi i32 [ 0, %%outer ], [ %%t.more, %%latch ]\n");
    if (asks_first)
        text_add(text, "  %%more = icmp ult i32 %%t, %%n\n"
                       "  br i1 %%more, label %%body, label %%next\nbody:\n");
    add_body(text, dice);
    text_add(text, "  br label %%latch\nlatch:\n  %%t.more = add nuw nsw i32 %%t, 1\n");
    add_step(text, dice);
    text_add(text, "  %%again = icmp ult i32 %%t.more, %%n\n");
    text_add(text,
             asks_first ? "  br label %%head\n" : "  br i1 %%again, label %%head, label %%next\n");
    text_add(text,
             "next:\n  %%o.more = add i32 %%o, 1\n  %%once = icmp ult i32 %%o.more, %u\n"
             "  br i1 %%once, label %%outer, label %%end\nend:\n",
             is_nested ? 3 : 1);
    add_fence(text);
    text_add(text, "  ret void\nother:\n");
    add_fence(text);
    text_add(text, "  br label %%end\ntrap:\n  ret void\n}\n");
}

/* ---- runs ---- */

typedef void (*loop_fn)(void *thread, uint64_t memory, uint32_t start, uint32_t n, uint32_t step);

static const char declarations[] =
    "declare void @rt_race_access(ptr, i64, i64, i64, i32, i32)\n"
    "declare void @rt_race_loop(ptr, i64, i64, i64, i64, i64, i64, i32, i32, i32)\n"
    "declare void @rt_race_fence(ptr)\n";

static LLVMExecutionEngineRef compile(LLVMModuleRef module)
{
    LLVMExecutionEngineRef engine = NULL;
    char *message = NULL;
    LLVMLinkInMCJIT();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    cr_assert(!LLVMCreateMCJITCompilerForModule(&engine, module, NULL, 0, &message), "%s", message);
    LLVMAddGlobalMapping(engine, LLVMGetNamedFunction(module, "rt_race_access"),
                         (void *)tell_access);
    LLVMAddGlobalMapping(engine, LLVMGetNamedFunction(module, "rt_race_loop"), (void *)tell_loop);
    LLVMAddGlobalMapping(engine, LLVMGetNamedFunction(module, "rt_race_fence"), (void *)tell_fence);
    return engine;
}

static void transform(LLVMModuleRef module)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    struct pxr_error err = {0};
    char *message = NULL;
    cr_assert_null(LLVMRunPasses(module, "function(loop-simplify)", NULL, options));
    LLVMDisposePassBuilderOptions(options);
    cr_assert_eq(tr_tell_races_of_loops(module, &err), PXR_OK);
    cr_assert(!LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
}

__attribute__((no_sanitize("undefined"))) static void
run(LLVMExecutionEngineRef engine, unsigned number, unsigned thread, struct log *log)
{
    static const uint32_t starts[] = {
        0, 3, UINT32_C(0x7ffffffe), UINT32_C(0xfffffffc), UINT32_C(0x80000001), 100};
    char name[16];
    struct dice dice = {.state = number * 16 + thread};
    uint32_t start = starts[dice_below(&dice, sizeof starts / sizeof *starts)];
    uint32_t n = dice_below(&dice, 12);
    uint32_t step = dice_below(&dice, 9) - 4;
    if (dice_chance(&dice, 10))
        step <<= 28;
    snprintf(name, sizeof name, "f%u", number);
    told = log;
    memset(log, 0, sizeof *log);
    loop_fn loop = (loop_fn)LLVMGetFunctionAddress(engine, name);
    loop(NULL, UINT64_C(1) << 40, start, n, step);
}

/* Of functions f0, f1, …; calls: how many there were before the change, and behind it. */
static void expect_the_same(const char *text, unsigned count, void (*change)(LLVMModuleRef module),
                            size_t calls[2])
{
    static struct log before, after;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef changed = parse_ir(context, text);
    change(changed);
    LLVMExecutionEngineRef engines[2] = {compile(parse_ir(context, text)), compile(changed)};
    calls[0] = calls[1] = 0;
    for (unsigned i = 0; i < count * THREADS; i++) {
        run(engines[0], i / THREADS, i % THREADS, &before);
        run(engines[1], i / THREADS, i % THREADS, &after);
        calls[0] += before.calls;
        calls[1] += after.calls;
        cr_assert(before.count < EVENTS_MAX && after.count < EVENTS_MAX);
        sort(&before);
        sort(&after);
        cr_assert_eq(before.fences, after.fences);
        cr_assert(before.count == after.count && memcmp(before.events, after.events,
                                                        before.count * sizeof *before.events) == 0,
                  "function %u, run %u", i / THREADS, i % THREADS);
    }
    LLVMDisposeExecutionEngine(engines[0]);
    LLVMDisposeExecutionEngine(engines[1]);
    LLVMContextDispose(context);
}

Test(loop_races, nothing_is_lost_and_nothing_is_added)
{
    struct text text = {0};
    struct dice dice = {.state = 20};
    size_t calls[2];
    text_add(&text, "%s", declarations);
    for (unsigned i = 0; i < LOOPS; i++)
        add_function(&text, &dice, i);
    expect_the_same(text.bytes, LOOPS, transform, calls);
    cr_assert_lt(4 * calls[1], 3 * calls[0], "%zu calls, %zu before", calls[1], calls[0]);
    text_fini(&text);
}

/* ---- straight code ---- */

/* Accesses by one step, of which some are missing, beside those of others. */
static void add_straight(struct text *text, struct dice *dice, unsigned number)
{
    static const int steps[] = {4, 64, -8, 4};
    unsigned at[2] = {0, 0};
    text_add(text,
             "define void @f%u(ptr %%thread, ptr %%memory, i32 %%start, i32 %%n, i32 %%s) {\n"
             "  %%base0 = ptrtoint ptr %%memory to i64\n  %%wide = sext i32 %%s to i64\n"
             "  %%base1 = add i64 %%base0, %%wide\n",
             number);
    int step = steps[dice_below(dice, 4)];
    unsigned lines = 1 + dice_below(dice, 5);
    for (unsigned i = 0; i < 40; i++) {
        unsigned base = dice_below(dice, 2);
        unsigned what = dice_chance(dice, 90) ? RT_ACCESS_READ : whats[dice_below(dice, 6)];
        at[base] += dice_chance(dice, 5) ? 2 : 1;
        text_add(text,
                 "  %%a%u = add i64 %%base%u, %d\n"
                 "  call void @rt_race_access(ptr %%thread, i64 %%a%u, i64 %u, i64 7, i32 %u, i32 "
                 "%u)\n",
                 i, base, (int)at[base] * step, i, dice_chance(dice, 95) ? 4 : 2, what,
                 at[base] * lines);
        if (dice_chance(dice, 4))
            add_fence(text);
    }
    text_add(text, "  ret void\n}\n");
}

static void merge(LLVMModuleRef module)
{
    char *message = NULL;
    tr_merge_races(module);
    cr_assert(!LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
}

Test(merge_races, nothing_is_lost_and_nothing_is_added)
{
    struct text text = {0};
    struct dice dice = {.state = 21};
    size_t calls[2];
    text_add(&text, "%s", declarations);
    for (unsigned i = 0; i < LOOPS; i++)
        add_straight(&text, &dice, i);
    writes_stay = true;
    expect_the_same(text.bytes, LOOPS, merge, calls);
    cr_assert_lt(4 * calls[1], 3 * calls[0], "%zu calls, %zu before", calls[1], calls[0]);
    text_fini(&text);
}

/* ---- where it is told ---- */

static const char spinning[] =
    "declare void @rt_race_access(ptr, i64, i64, i64, i32, i32)\n"
    "declare void @rt_race_fence(ptr)\n"
    "define void @f(ptr %%thread, ptr %%flag) {\n"
    "entry:\n  %%place = ptrtoint ptr %%flag to i64\n  br label %%loop\n"
    "loop:\n  %s\n"
    "  call void @rt_race_access(ptr %%thread, i64 %%place, i64 4, i64 0, "
    "i32 %u, i32 1)\n"
    "  %%value = load i32, ptr %%flag\n  %%is_set = icmp ne i32 %%value, 0\n"
    "  br i1 %%is_set, label %%end, label %%loop\nend:\n  ret void\n}\n";

/* The name of the block in which the loop's access is told. */
static const char *place_of(const char *line, unsigned what, char name[16])
{
    char text[1024];
    size_t len;
    snprintf(text, sizeof text, spinning, line, what);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    transform(module);
    LLVMValueRef access = LLVMGetNamedFunction(module, "rt_race_access");
    LLVMBasicBlockRef block = LLVMGetInstructionParent(LLVMGetUser(LLVMGetFirstUse(access)));
    snprintf(name, 16, "%s", LLVMGetValueName2(LLVMBasicBlockAsValue(block), &len));
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return name;
}

/* Who waits for ever never comes behind the loop. */
Test(loop_races, reads_of_who_waits_are_told_in_front)
{
    char name[16];
    cr_expect_str_eq(place_of("", RT_ACCESS_READ, name), "entry");
}

Test(loop_races, accesses_stay_where_something_orders_threads)
{
    char name[16];
    cr_expect_str_eq(place_of("call void @rt_race_fence(ptr %thread)", RT_ACCESS_READ, name),
                     "loop");
    cr_expect_str_eq(place_of("fence seq_cst", RT_ACCESS_READ, name), "loop");
    cr_expect_str_eq(place_of("call void asm sideeffect \"\", \"\"()", RT_ACCESS_READ, name),
                     "loop");
    cr_expect_str_eq(place_of("", RT_ACCESS_READ | RT_RACE_STRONG | RT_RACE_SYSTEM, name), "loop");
}
