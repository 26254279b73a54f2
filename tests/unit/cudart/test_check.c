/* SPDX-License-Identifier: Apache-2.0
 *
 * --check: what is found of random accesses, each thread and each access counted, against the sizes
 * of the allocations; in each collapse, with lanes that lie together and lanes that lie anywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/findings.h"
#include "driver_fixture.h"
#include "tests/random/text.h"

#define THREADS      96
#define ACCESSES_MAX 9
#define KERNELS      60

/* The kernel's lines begin with that of ".version". */
#define FIRST_LINE 16

struct access {
    uint32_t offset;
    uint32_t words; /* of 4 bytes: 1, 2 or 4 */
};

/* Each thread reads at base + place[thread] + offset. */
struct program {
    struct access accesses[ACCESSES_MAX];
    unsigned count;
    uint32_t stride; /* of places; 0: they are a table's */
    uint32_t places[THREADS];
    size_t size_bytes;
    bool is_shared; /* the accesses are to shared memory */
};

static void append(char *text, size_t cap, const char *line)
{
    strncat(text, line, cap - strlen(text) - 1);
}

static void write_program(const struct program *program, char *text, size_t cap)
{
    char line[200];
    char place[64] = "ld.global.u32 %r2, [%rd3];";
    const char *space = program->is_shared ? "shared" : "global";
    if (program->stride)
        snprintf(place, sizeof place, "mul.lo.u32 %%r2, %%r1, %u;", program->stride);
    snprintf(text, cap,
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".extern .shared .align 16 .b8 area[];\n"
             ".visible .entry k(.param .u64 base, .param .u64 table)\n{\n"
             ".reg .b32 %%r<20>;\n.reg .b64 %%rd<10>;\n"
             "mov.u32 %%r1, %%tid.x;\nld.param.u64 %%rd1, [base];\nld.param.u64 %%rd2, [table];\n"
             "mul.wide.u32 %%rd3, %%r1, 4;\nadd.s64 %%rd3, %%rd2, %%rd3;\n%s\n%s\n",
             place,
             program->is_shared ? "mov.u32 %r3, area; add.s32 %r3, %r3, %r2;"
                                : "cvt.u64.u32 %rd4, %r2; add.s64 %rd5, %rd1, %rd4;");
    for (unsigned i = 0; i < program->count; i++) {
        static const char *const forms[] = {"", ".u32 %r10", ".v2.u32 {%r10, %r11}", "",
                                            ".v4.u32 {%r10, %r11, %r12, %r13}"};
        const struct access *access = &program->accesses[i];
        const char *vector = forms[access->words];
        snprintf(line, sizeof line, "ld.volatile.%s%s, [%s+%u];\n", space, vector,
                 program->is_shared ? "%r3" : "%rd5", access->offset);
        append(text, cap, line);
    }
    append(text, cap, "ret;\n}\n");
}

/* Accesses are as long as they are aligned. */
static struct program random_program(struct dice *dice)
{
    struct program program = {.count = 1 + dice_below(dice, ACCESSES_MAX),
                              .is_shared = dice_chance(dice, 30)};
    program.size_bytes = 16 + dice_below(dice, 3000);
    if (dice_chance(dice, 50))
        program.stride = 16 * (1 + dice_below(dice, 4));
    for (unsigned i = 0; i < THREADS; i++)
        program.places[i] = program.stride
                                ? i * program.stride
                                : 16 * dice_below(dice, (uint32_t)program.size_bytes / 16 + 2);
    uint32_t near = dice_chance(dice, 50) ? 64 : 1024;
    for (unsigned i = 0; i < program.count; i++) {
        uint32_t words = 1u << dice_below(dice, 3);
        uint32_t bytes = 4 * words;
        program.accesses[i] =
            (struct access){.words = words, .offset = dice_below(dice, near / bytes) * bytes};
    }
    return program;
}

static uint64_t count_wrong(const struct program *program, unsigned access)
{
    uint64_t wrong = 0;
    const struct access *a = &program->accesses[access];
    for (unsigned i = 0; i < THREADS; i++)
        wrong += program->places[i] + a->offset + 4 * a->words > program->size_bytes;
    return wrong;
}

/* The count of a line in all programs up to now: places of one line and rule are one. */
static uint64_t count_found(unsigned line)
{
    size_t count;
    uint64_t found = 0;
    const struct crt_found *all = crt_findings(&count);
    for (size_t i = 0; i < count; i++)
        found += all[i].first.ptx_line == line ? all[i].count : 0;
    return found;
}

static void run(const struct program *program, const char *text)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr base;
    CUdeviceptr table;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuMemAlloc_v2(&base, program->size_bytes));
    OK(cuMemAlloc_v2(&table, sizeof program->places));
    OK(cuMemcpyHtoD_v2(table, program->places, sizeof program->places));
    void *params[] = {&base, &table};
    unsigned shared = program->is_shared ? (unsigned)program->size_bytes : 0;
    OK(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, shared, NULL, params, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(base));
    OK(cuMemFree_v2(table));
    OK(cuModuleUnload(module));
}

/* Accesses beyond shared memory would end the grid, at its guard: they are checked as reads that
 * end there. */
static bool would_fault(const struct program *program)
{
    for (unsigned i = 0; program->is_shared && i < program->count; i++)
        if (count_wrong(program, i) > 0)
            return true;
    return false;
}

static void compare(uint32_t seed)
{
    struct dice dice = {.state = seed};
    uint64_t all_wrong = 0;
    make_context();
    cr_assert_not_null(freopen("/dev/null", "w", stderr));
    for (unsigned n = 0; n < KERNELS; n++) {
        char text[4000];
        uint64_t before[ACCESSES_MAX];
        struct program program = random_program(&dice);
        if (would_fault(&program))
            continue;
        write_program(&program, text, sizeof text);
        for (unsigned i = 0; i < program.count; i++)
            before[i] = count_found(FIRST_LINE + i);
        run(&program, text);
        for (unsigned i = 0; i < program.count; i++) {
            uint64_t wrong = count_wrong(&program, i);
            uint64_t found = count_found(FIRST_LINE + i) - before[i];
            cr_assert_eq(found, wrong,
                         "%zu of %zu wrong accesses found in access %u to %zu bytes:\n%s",
                         (size_t)found, (size_t)wrong, i, program.size_bytes, text);
            all_wrong += wrong;
        }
    }
    cr_assert_gt(all_wrong, 1000);
}

static void check_with(const char *collapse, const char *tier)
{
    setenv("PTXRUN_CHECK", "1", 1);
    setenv("PTXRUN_COLLAPSE", collapse, 1);
    setenv("PTXRUN_TIER", tier, 1);
    setenv("PTXRUN_ERROR_EXITCODE", "0", 1);
}

Test(check, quick_code_finds_every_wrong_access)
{
    check_with("auto", "quick");
    compare(1);
}

Test(check, threads_on_stacks_find_every_wrong_access)
{
    check_with("precise", "best");
    compare(2);
}

Test(check, loops_find_every_wrong_access)
{
    check_with("flat", "best");
    compare(3);
}

Test(check, vectors_find_every_wrong_access)
{
    check_with("vector", "best");
    compare(4);
}

Test(check, vectors_for_another_cpu_find_every_wrong_access)
{
    setenv("PTXRUN_CPU", "x86-64-v3", 1);
    check_with("vector", "best");
    compare(5);
}

/* ---- what the program does itself ---- */

static uint64_t count_kind(enum crt_finding_kind kind, uint64_t *bytes)
{
    size_t count;
    uint64_t found = 0;
    *bytes = 0;
    const struct crt_found *all = crt_findings(&count);
    for (size_t i = 0; i < count; i++) {
        found += all[i].first.kind == kind ? all[i].count : 0;
        *bytes += all[i].first.kind == kind ? all[i].bytes : 0;
    }
    return found;
}

Test(check, frees_that_are_refused_are_found)
{
    CUdeviceptr base;
    void *host;
    uint64_t bytes;
    check_with("auto", "quick");
    make_context();
    cr_assert_not_null(freopen("/dev/null", "w", stderr));
    OK(cuMemAlloc_v2(&base, 100));
    OK(cuMemAllocHost_v2(&host, 100));
    OK(cuMemFree_v2(0));
    cr_expect_eq(cuMemFree_v2(base + 4), CRT_INVALID_VALUE);
    cr_expect_eq(cuMemFree_v2((CUdeviceptr)(uintptr_t)host), CRT_INVALID_VALUE);
    cr_expect_eq(cuMemFreeHost((void *)(uintptr_t)base), CRT_INVALID_VALUE);
    cr_expect_eq(count_kind(CRT_FINDING_INVALID_FREE, &bytes), 3);
    cr_expect_eq(count_kind(CRT_FINDING_DOUBLE_FREE, &bytes), 0);
    OK(cuMemFree_v2(base));
    OK(cuMemFreeHost(host));
    cr_expect_eq(cuMemFree_v2(base), CRT_INVALID_VALUE);
    cr_expect_eq(cuMemFreeHost(host), CRT_INVALID_VALUE);
    cr_expect_eq(count_kind(CRT_FINDING_DOUBLE_FREE, &bytes), 2);
}

Test(check, copies_and_fills_are_found_by_the_byte)
{
    CUdeviceptr base;
    uint64_t bytes;
    static char host[200];
    check_with("auto", "quick");
    make_context();
    cr_assert_not_null(freopen("/dev/null", "w", stderr));
    OK(cuMemAlloc_v2(&base, 100));
    for (size_t at = 0; at <= 100; at++) {
        size_t size = 100 - at;
        OK(cuMemcpyHtoD_v2(base + at, host, size));
        OK(cuMemsetD8_v2(base + at, 0, size));
        cr_expect_eq(cuMemcpyHtoD_v2(base + at, host, size + 1), CRT_INVALID_VALUE);
        cr_expect_eq(cuMemcpyDtoH_v2(host, base + at, size + 2), CRT_INVALID_VALUE);
        cr_expect_eq(cuMemsetD8_v2(base + at, 0, size + 3), CRT_INVALID_VALUE);
    }
    cr_expect_eq(count_kind(CRT_FINDING_API_OUT_OF_BOUNDS, &bytes), 303);
    cr_expect_eq(bytes, 3 * 5050 + 101 * (1 + 2 + 3));
}
