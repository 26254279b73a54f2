/* SPDX-License-Identifier: Apache-2.0
 *
 * What was measured, for a terminal.
 */
#include <string.h>

#include "tools/bench/comparison.h"
#include "tools/bench/machine.h"

#define SHOWN_KERNELS 8 /* the others are in the files */

static void print_number(FILE *file, struct samples_summary summary)
{
    if (summary.count > 0)
        fprintf(file, " %10.2f", summary.value);
    else
        fprintf(file, " %10s", "-");
}

static void print_spread(FILE *file, struct samples_summary summary)
{
    if (summary.count > 1)
        fprintf(file, " %5.0f%%", 100 * samples_spread(&summary));
    else
        fprintf(file, " %6s", "-");
}

static void print_ratio(FILE *file, struct samples_summary summary, struct samples_summary first)
{
    if (summary.count > 0 && first.value > 0)
        fprintf(file, " %8.2f", summary.value / first.value);
    else
        fprintf(file, " %8s", "-");
}

/* ---- the whole process ---- */

static void print_setting(const struct comparison *comparison, unsigned setting, FILE *file)
{
    fprintf(file, "%-26s", comparison->settings->settings[setting].label);
    for (int i = 0; i < COMPARISON_HEATS; i++) {
        enum comparison_heat heat = (enum comparison_heat)i;
        struct samples_summary wall =
            comparison_summary(comparison, setting, heat, COMPARISON_WALL);
        print_number(file, wall);
        print_spread(file, wall);
        print_ratio(file, wall, comparison_summary(comparison, 0, heat, COMPARISON_WALL));
        if (heat == COMPARISON_COLD)
            print_number(file, comparison_summary(comparison, setting, heat, COMPARISON_COMPILE));
        print_number(file, comparison_summary(comparison, setting, heat, COMPARISON_KERNELS));
    }
    fputs("\n", file);
}

static void print_processes(const struct comparison *comparison, FILE *file)
{
    fprintf(file, "%-26s %10s %6s %8s %10s %10s %10s %6s %8s %10s\n", "", "cold: ms", "spread",
            "/default", "compile", "kernels", "warm: ms", "spread", "/default", "kernels");
    for (unsigned i = 0; i < comparison->settings->count; i++)
        print_setting(comparison, i, file);
}

/* ---- kernels ---- */

static void print_kernel(const struct comparison *comparison,
                         const struct comparison_kernel *kernel, FILE *file)
{
    struct samples_summary first = comparison_run_summary(comparison, kernel, 0, COMPARISON_WARM);
    fprintf(file, "\n%s\n%-26s %10s %6s %8s %10s %8s  %s\n", kernel->readable, "", "ms", "spread",
            "/default", "compile", "launches", "became");
    for (unsigned i = 0; i < comparison->settings->count; i++) {
        const struct comparison_times *warm = &kernel->times[comparison_index(i, COMPARISON_WARM)];
        const struct comparison_times *cold = &kernel->times[comparison_index(i, COMPARISON_COLD)];
        struct samples_summary its = comparison_run_summary(comparison, kernel, i, COMPARISON_WARM);
        if (its.count == 0)
            continue;
        fprintf(file, "%-26s", comparison->settings->settings[i].label);
        print_number(file, its);
        print_spread(file, its);
        print_ratio(file, its, first);
        print_number(file, comparison_compile_summary(comparison, kernel, i, COMPARISON_COLD));
        fprintf(file, " %8llu  %s\n", (unsigned long long)warm->calls, cold->collapse);
    }
}

void comparison_print_text(const struct comparison *comparison, FILE *file)
{
    fputs("program:", file);
    for (char *const *word = comparison->wish->program; *word; word++)
        fprintf(file, " %s", *word);
    fprintf(file, "\nptxrun %s on %s, %u CPUs\n", PTXRUN_VERSION, machine_cpu(), machine_cpus());
    char rounds[COMPARISON_ROUNDS_BYTES];
    comparison_rounds_text(comparison, rounds);
    fprintf(file, "%s in ms; spread: from the fastest run to the slowest\n\n", rounds);
    print_processes(comparison, file);
    if (comparison->kernel_count > 0)
        fputs("\nkernels: all launches of a run, warm; compiling, cold\n", file);
    for (unsigned i = 0; i < comparison->kernel_count && i < SHOWN_KERNELS; i++)
        print_kernel(comparison, &comparison->kernels[i], file);
    if (comparison->kernel_count > SHOWN_KERNELS)
        fprintf(file, "\n%u more kernels: --json, --csv and --html have them\n",
                comparison->kernel_count - SHOWN_KERNELS);
    fputs("\n", file);
    comparison_print_verdict(comparison, file);
}
