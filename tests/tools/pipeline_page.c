/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints docs/pipeline.md: the steps of translator/pipeline.def.
 */
#include <stdio.h>

#include "translator/pipeline.h"

static const char *const stages[] = {
    [TR_STAGE_THREAD] = "The program of one thread",
    [TR_STAGE_BLOCK] = "The program of a block",
    [TR_STAGE_CODE] = "What the code generator gets",
};

static const char *const kinds[] = {
    [TR_STEP_REQUIRED] = "required",
    [TR_STEP_OPTIMISATION] = "optimisation",
    [TR_STEP_TUNING] = "tuning",
};

static const char head[] =
    "# The way of a kernel\n"
    "\n"
    "Made by `pipeline_page` from `translator/pipeline.def`; steps run from top to bottom. A step "
    "runs\n"
    "if the kernel's collapse and the effort that is left (`translator/README.md`) are among its "
    "own\n"
    "and its condition (`translator/steps.c`) holds.\n"
    "\n"
    "* `--dump=after:STEP` writes the code behind a step, `after:all` behind each;\n"
    "  `--time-steps` says what each took, `--verify-steps` checks the module and what is "
    "promised.\n"
    "* *required* steps make the program right; `--skip=STEP,...` leaves out others: "
    "*optimisation*\n"
    "  (the theory asks for it) and *tuning* (it gains on some kernels).\n"
    "* `sh tools/bisect_steps.sh CHECK PROGRAM...` names the step whose first run makes a result "
    "wrong\n"
    "  or slow.\n";

static const char inside[] =
    "\n## Inside `vectorise`\n"
    "\n"
    "Steps of `translator/vector/plan/tuning.def`, which it does as it goes along:\n"
    "\n"
    "| step | what | kind | |\n|---|---|---|---|\n";

static const char foot[] =
    "\n## Promises\n"
    "\n"
    "Behind each step `--verify-steps` checks that the module is well formed, has no marks\n"
    "(`translator/module/marks.def`) but those that a step before it makes and none has ended, and "
    "is\n"
    "what the step leaves: *linked*: no helper lacks its body; *defined*: no operand is "
    "undefined;\n"
    "*sregs*: no special register is a placeholder; *loops*: each loop has one way in and one "
    "back;\n"
    "*bytes*: the kernel keeps nothing smaller in memory.\n";

static void print_collapses(uint32_t collapses)
{
    uint32_t precise = 1 << PXR_COLLAPSE_PRECISE;
    uint32_t vector = 1 << PXR_COLLAPSE_VECTOR;
    uint32_t asked = 1 << PXR_COLLAPSE_AUTO;
    const char *name = collapses & precise   ? collapses & vector ? "any" : "precise"
                       : collapses == vector ? "vector"
                       : collapses & asked   ? "fused"
                                             : "flat, hierarchical";
    fputs(name, stdout);
}

/* FULL, LOOPS and THREAD have the same steps. */
static void print_efforts(uint32_t efforts)
{
    static const char *const names[] = {[TR_EFFORT_FULL] = "good",
                                        [TR_EFFORT_QUICK] = "QUICK",
                                        [TR_EFFORT_SHORT] = "SHORT",
                                        [TR_EFFORT_LINEAR] = "LINEAR"};
    const char *separator = "";
    if (efforts + 1 == UINT32_C(1) << TR_EFFORT_COUNT) {
        fputs("any", stdout);
        return;
    }
    for (uint32_t e = 0; e < TR_EFFORT_COUNT; e++) {
        if (!(efforts >> e & 1) || names[e] == NULL)
            continue;
        printf("%s%s", separator, names[e]);
        separator = ", ";
    }
}

static void print_marks(const char *verb, uint32_t marks)
{
    for (uint32_t m = 0; m < TR_MARK_COUNT; m++)
        if (marks >> m & 1)
            printf("%s `%s` ", verb, tr_mark_name(m));
}

static void print_promises(const struct tr_promises *promises)
{
    static const char *const forms[] = {"linked", "defined", "sregs", "loops", "bytes"};
    print_marks("makes", promises->makes);
    print_marks("ends", promises->ends);
    for (uint32_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        if (promises->leaves >> f & 1)
            printf("leaves *%s* ", forms[f]);
}

int main(void)
{
    fputs(head, stdout);
    for (uint32_t s = 0; s < TR_STEP_COUNT; s++) {
        const struct tr_step *step = &tr_steps[s];
        if (s == 0 || step->stage != tr_steps[s - 1].stage)
            printf("\n## %s\n\n| step | what | kind | collapses | efforts | if | by | promises |\n"
                   "|---|---|---|---|---|---|---|---|\n",
                   stages[step->stage]);
        printf("| `%s` | %s | %s | ", step->name, step->purpose, kinds[step->kind]);
        print_collapses(step->collapses);
        fputs(" | ", stdout);
        print_efforts(step->efforts);
        printf(" | `%s` | %s | ", step->condition_name, step->run != NULL ? "us" : "LLVM");
        print_promises(&step->promises);
        puts("|");
    }
    fputs(inside, stdout);
    for (uint32_t i = 0; i < TR_TUNING_COUNT; i++)
        printf("| `%s` | %s | tuning | |\n", tr_tuning_steps[i].name, tr_tuning_steps[i].purpose);
    fputs(foot, stdout);
    return 0;
}
