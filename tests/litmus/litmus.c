/* SPDX-License-Identifier: Apache-2.0
 *
 * Litmus tests of the memory model: two to four threads make a few accesses to the same variables,
 * so often that they meet in all ways they can, and no outcome may be one that the model forbids.
 *
 *   litmus [--count N] [--chosen NAME]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runner.h"

#define ROLES_MAX    4
#define VARIABLES    3     /* x, y, z */
#define RESULTS      2     /* registers of a role: %r0, %r1 */
#define INSTANCES    16384 /* of a launch */
#define STRIDE_BYTES 64
#define PATIENCE     20000 /* looks at who has come */
#define TEXT_BYTES   8192
#define OUTCOMES_MAX 32

/* What the threads have found: registers by role, and what is in the variables at the end. */
struct outcome {
    uint32_t r[ROLES_MAX][RESULTS];
    uint32_t variables[VARIABLES];
};

/* In the programs SCOPE stands for a scope, x, y and z are addresses, %one and %two are 1 and 2. */
struct litmus {
    const char *name;
    const char *roles[ROLES_MAX];
    bool (*is_looked_for)(const struct outcome *outcome);
    bool is_allowed; /* it is only counted: what a test can see */
};

#define R(role, number) (outcome->r[role][number])

static bool old_message(const struct outcome *outcome)
{
    return R(1, 0) == 1 && R(1, 1) == 0;
}

static bool both_old(const struct outcome *outcome)
{
    return R(0, 0) == 0 && R(1, 0) == 0;
}

static bool both_early(const struct outcome *outcome)
{
    return R(0, 0) == 1 && R(1, 0) == 1;
}

static bool in_two_orders(const struct outcome *outcome)
{
    return R(2, 0) == 1 && R(2, 1) == 0 && R(3, 0) == 1 && R(3, 1) == 0;
}

static bool backwards(const struct outcome *outcome)
{
    return R(1, 0) > R(1, 1);
}

static bool both_first(const struct outcome *outcome)
{
    return outcome->variables[0] == 1 && outcome->variables[1] == 1;
}

static bool old_behind_two(const struct outcome *outcome)
{
    return R(1, 0) == 1 && R(2, 0) == 1 && R(2, 1) == 0;
}

#define ST(variable, value)  "st.relaxed.SCOPE.global.u32 [" #variable "], %" #value ";\n"
#define LD(number, variable) "ld.relaxed.SCOPE.global.u32 %r" #number ", [" #variable "];\n"
#define SC                   "fence.sc.SCOPE;\n"

static const struct litmus tests[] = {
    {"MP, release and acquire",
     {ST(x, one) "st.release.SCOPE.global.u32 [y], %one;\n",
      "ld.acquire.SCOPE.global.u32 %r0, [y];\n" LD(1, x)},
     old_message,
     false},
    {"MP, fences",
     {ST(x, one) "fence.acq_rel.SCOPE;\n" ST(y, one), LD(0, y) "fence.acq_rel.SCOPE;\n" LD(1, x)},
     old_message,
     false},
    {"MP, atomics",
     {ST(x, one) "atom.release.SCOPE.global.exch.b32 %r1, [y], %one;\n",
      "atom.acquire.SCOPE.global.or.b32 %r0, [y], 0;\n" LD(1, x)},
     old_message,
     false},
    {"MP, ordinary data",
     {"st.global.u32 [x], %one;\nst.release.SCOPE.global.u32 [y], %one;\n",
      "ld.acquire.SCOPE.global.u32 %r0, [y];\nld.global.u32 %r1, [x];\n"},
     old_message,
     false},
    {"SB, fences", {ST(x, one) SC LD(0, y), ST(y, one) SC LD(0, x)}, both_old, false},
    {"SB, nothing between", {ST(x, one) LD(0, y), ST(y, one) LD(0, x)}, both_old, true},
    {"LB, acquire and release",
     {"ld.acquire.SCOPE.global.u32 %r0, [x];\nst.release.SCOPE.global.u32 [y], %one;\n",
      "ld.acquire.SCOPE.global.u32 %r0, [y];\nst.release.SCOPE.global.u32 [x], %one;\n"},
     both_early,
     false},
    {"IRIW, fences",
     {ST(x, one), ST(y, one), LD(0, x) SC LD(1, y), LD(0, y) SC LD(1, x)},
     in_two_orders,
     false},
    {"CoRR", {ST(x, one) ST(x, two), LD(0, x) LD(1, x)}, backwards, false},
    {"2+2W, fences", {ST(x, one) SC ST(y, two), ST(y, one) SC ST(x, two)}, both_first, false},
    {"ISA2, release and acquire",
     {ST(x, one) "st.release.SCOPE.global.u32 [y], %one;\n",
      "ld.acquire.SCOPE.global.u32 %r0, [y];\nst.release.SCOPE.global.u32 [z], %r0;\n",
      "ld.acquire.SCOPE.global.u32 %r0, [z];\n" LD(1, x)},
     old_behind_two,
     false},
};
#define TESTS (sizeof tests / sizeof tests[0])

/* Where the threads are: each is a block, or all are in one. */
static const struct placement {
    const char *name;
    const char *scope;
    bool is_in_block;
} placements[] = {
    {"in a block", "cta", true},
    {"in a block", "gpu", true},
    {"across blocks", "gpu", false},
    {"across blocks", "sys", false},
};
#define PLACEMENTS (sizeof placements / sizeof placements[0])

/* ---- the kernel ---- */

/* Before each instance roles wait for each other, until one does not come; some then wait a little
 * longer, so that all orders come about. */
static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry litmus(.param .u64 p_variables, .param .u64 p_results, .param .u64 p_come,\n"
    "    .param .u32 p_roles)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %role, %roles, %i, %turn, %all, %one, %two, %r<8>;\n"
    ".reg .b64 x, y, z, %out, %come, %rd<4>;\n"
    "ld.param.u64 x, [p_variables];\nld.param.u64 %out, [p_results];\n"
    "ld.param.u64 %come, [p_come];\nld.param.u32 %roles, [p_roles];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %role, %r2, %r3, %r4;\n"
    "mov.u32 %i, 0;\nmov.u32 %one, 1;\nmov.u32 %two, 2;\nmov.u32 %all, 0;\n"
    "setp.eq.u32 %p2, %i, 0;\n"
    "add.u64 y, x, ARRAY;\nadd.u64 z, y, ARRAY;\n"
    "mul.wide.u32 %rd0, %role, ROLE_BYTES;\nadd.u64 %out, %out, %rd0;\n"
    "again:\nred.relaxed.gpu.global.add.u32 [%come], 1;\nadd.u32 %all, %all, %roles;\n"
    "mov.u32 %turn, 0;\n@!%p2 bra come;\n"
    "wait:\nld.relaxed.gpu.global.u32 %r2, [%come];\nadd.u32 %turn, %turn, 1;\n"
    "setp.lt.u32 %p1, %r2, %all;\nsetp.lt.u32 %p2, %turn, PATIENCE;\n"
    "and.pred %p3, %p1, %p2;\n@%p3 bra wait;\n"
    "come:\nmul.lo.u32 %r3, %i, 0x9e3779b1;\nmad.lo.u32 %r4, %role, 3, 8;\n"
    "shr.u32 %r3, %r3, %r4;\nand.b32 %r3, %r3, 7;\n"
    "later:\nsetp.ne.u32 %p1, %r3, 0;\nsub.u32 %r3, %r3, 1;\n@%p1 bra later;\n"
    "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\n";

static const char tail[] = "next:\nst.global.v2.u32 [%out], {%r0, %r1};\n"
                           "add.u64 x, x, STRIDE;\nadd.u64 y, y, STRIDE;\nadd.u64 z, z, STRIDE;\n"
                           "add.u64 %out, %out, 8;\nadd.u32 %i, %i, 1;\n"
                           "setp.lt.u32 %p0, %i, INSTANCES;\n@%p0 bra again;\nret;\n}\n";

struct writer {
    char text[TEXT_BYTES];
    size_t length;
};

/* Copies, with words in capitals replaced. */
static void write_text(struct writer *writer, const char *from, const char *scope)
{
    const struct {
        const char *word;
        unsigned number;
    } numbers[] = {{"STRIDE", STRIDE_BYTES},
                   {"ARRAY", INSTANCES * STRIDE_BYTES},
                   {"ROLE_BYTES", INSTANCES * RESULTS * (unsigned)sizeof(uint32_t)},
                   {"PATIENCE", PATIENCE},
                   {"INSTANCES", INSTANCES}};
    while (*from != '\0' && writer->length + 16 < TEXT_BYTES) {
        char *to = writer->text + writer->length;
        size_t room = TEXT_BYTES - writer->length;
        int written = 0;
        if (strncmp(from, "SCOPE", 5) == 0) {
            written = snprintf(to, room, "%s", scope);
            from += 5;
        }
        for (size_t i = 0; written == 0 && i < sizeof numbers / sizeof numbers[0]; i++)
            if (strncmp(from, numbers[i].word, strlen(numbers[i].word)) == 0) {
                written = snprintf(to, room, "%u", numbers[i].number);
                from += strlen(numbers[i].word);
            }
        if (written == 0) {
            *to = *from++;
            written = 1;
        }
        writer->length += (size_t)written;
        writer->text[writer->length] = '\0';
    }
}

static unsigned role_count(const struct litmus *test)
{
    unsigned count = 0;
    while (count < ROLES_MAX && test->roles[count] != NULL)
        count++;
    return count;
}

static void write_kernel(struct writer *writer, const struct litmus *test, const char *scope)
{
    char line[64];
    writer->length = 0;
    write_text(writer, head, scope);
    for (unsigned i = 0; i < role_count(test); i++) {
        snprintf(line, sizeof line, "setp.ne.u32 %%p0, %%role, %u;\n@%%p0 bra other%u;\n", i, i);
        write_text(writer, line, scope);
        write_text(writer, test->roles[i], scope);
        snprintf(line, sizeof line, "bra next;\nother%u:\n", i);
        write_text(writer, line, scope);
    }
    write_text(writer, tail, scope);
}

/* ---- runs ---- */

struct memory {
    uint8_t *variables;
    uint32_t *results;
    uint32_t *come;
};

#define VARIABLES_BYTES ((size_t)VARIABLES * INSTANCES * STRIDE_BYTES)
#define RESULTS_BYTES   ((size_t)ROLES_MAX * INSTANCES * RESULTS * sizeof(uint32_t))

static struct outcome outcome_of(const struct memory *memory, size_t instance)
{
    struct outcome outcome;
    for (size_t role = 0; role < ROLES_MAX; role++)
        memcpy(outcome.r[role], memory->results + (role * INSTANCES + instance) * RESULTS,
               sizeof outcome.r[role]);
    for (size_t i = 0; i < VARIABLES; i++)
        memcpy(&outcome.variables[i], memory->variables + (i * INSTANCES + instance) * STRIDE_BYTES,
               sizeof(uint32_t));
    return outcome;
}

static enum pxr_status launch(struct runner *runner, const struct memory *memory, unsigned roles,
                              bool is_in_block, struct pxr_error *err)
{
    memset(memory->variables, 0, VARIABLES_BYTES);
    memset(memory->results, 0, RESULTS_BYTES);
    *memory->come = 0;
    const struct runner_buffer buffers[] = {{memory->variables, VARIABLES_BYTES},
                                            {memory->results, RESULTS_BYTES},
                                            {memory->come, sizeof *memory->come},
                                            {&roles, sizeof roles}};
    const struct runner_launch how = {.kernel = "litmus",
                                      .grid = {is_in_block ? 1 : roles, 1, 1},
                                      .block = {is_in_block ? roles : 1, 1, 1},
                                      .buffers = buffers,
                                      .buffer_count = 4,
                                      .values = 1u << 3};
    return runner_launch(runner, &how, err);
}

/* The outcomes that there have been: how well the threads have met. */
struct outcomes {
    struct outcome seen[OUTCOMES_MAX];
    unsigned count;
};

static void note_outcome(struct outcomes *outcomes, const struct outcome *outcome)
{
    for (unsigned i = 0; i < outcomes->count; i++)
        if (memcmp(&outcomes->seen[i], outcome, sizeof *outcome) == 0)
            return;
    if (outcomes->count < OUTCOMES_MAX)
        outcomes->seen[outcomes->count++] = *outcome;
}

/* False: a forbidden outcome, or no run. */
static bool run_test(struct runner *runner, const struct memory *memory, const struct litmus *test,
                     const struct placement *placement, uint64_t count)
{
    static struct writer writer;
    struct pxr_error err = {0};
    struct outcomes outcomes = {.count = 0};
    uint64_t seen = 0;
    uint64_t runs = 0;
    write_kernel(&writer, test, placement->scope);
    enum pxr_status status = runner_load(runner, writer.text, &err);
    for (; status == PXR_OK && runs < count; runs += INSTANCES) {
        status = launch(runner, memory, role_count(test), placement->is_in_block, &err);
        for (size_t i = 0; status == PXR_OK && i < INSTANCES; i++) {
            struct outcome outcome = outcome_of(memory, i);
            note_outcome(&outcomes, &outcome);
            seen += test->is_looked_for(&outcome);
        }
    }
    if (status != PXR_OK)
        printf("%s: %s\n", test->name, err.message);
    else
        printf("%-26s %-3s %-13s %8" PRIu64 " runs, %2u outcomes, %" PRIu64 " %s\n", test->name,
               placement->scope, placement->name, runs, outcomes.count, seen,
               test->is_allowed ? "such as is allowed" : "forbidden");
    return status == PXR_OK && (seen == 0 || test->is_allowed);
}

static bool run_all(struct runner *runner, const struct memory *memory, const char *chosen,
                    uint64_t count)
{
    bool is_right = true;
    for (size_t i = 0; i < TESTS; i++)
        for (size_t p = 0; p < PLACEMENTS; p++)
            if (strncmp(tests[i].name, chosen, strlen(chosen)) == 0)
                is_right &= run_test(runner, memory, &tests[i], &placements[p], count);
    return is_right;
}

int main(int argc, char **argv)
{
    const char *chosen = "";
    uint64_t count = INSTANCES;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--count") == 0)
            count = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--chosen") == 0)
            chosen = argv[i + 1];
    }
    struct pxr_error err = {0};
    struct runner *runner = NULL;
    const struct runner_build build = {.collapse = PXR_COLLAPSE_AUTO};
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct memory memory = {runner_alloc(VARIABLES_BYTES), runner_alloc(RESULTS_BYTES),
                            runner_alloc(sizeof(uint32_t))};
    bool is_right = memory.variables != NULL && memory.results != NULL && memory.come != NULL &&
                    runner_open_inprocess(&build, &runner, &err) == PXR_OK &&
                    run_all(runner, &memory, chosen, count);
    if (err.message[0] != '\0')
        fprintf(stderr, "litmus: %s\n", err.message);
    runner_close(runner);
    free(memory.variables);
    free(memory.results);
    free(memory.come);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
