/* SPDX-License-Identifier: Apache-2.0
 *
 * What was measured, as numbers and in words.
 */
#include "tools/bench/comparison.h"

#include <stdlib.h>
#include <string.h>

const char *comparison_heat_name(enum comparison_heat heat)
{
    static const char *const names[] = {[COMPARISON_COLD] = "cold", [COMPARISON_WARM] = "warm"};
    return names[heat];
}

const char *comparison_measure_name(enum comparison_measure measure)
{
    static const char *const names[] = {[COMPARISON_WALL] = "wall",
                                        [COMPARISON_CPU] = "cpu",
                                        [COMPARISON_KERNELS] = "kernels",
                                        [COMPARISON_COMPILE] = "compile"};
    return names[measure];
}

struct samples_summary comparison_summary(const struct comparison *comparison, unsigned setting,
                                          enum comparison_heat heat,
                                          enum comparison_measure measure)
{
    return samples_summary(&comparison->runs[comparison_index(setting, heat)].measures[measure],
                           comparison->wish->by_min);
}

struct samples_summary comparison_run_summary(const struct comparison *comparison,
                                              const struct comparison_kernel *kernel,
                                              unsigned setting, enum comparison_heat heat)
{
    return samples_summary(&kernel->times[comparison_index(setting, heat)].run_ms,
                           comparison->wish->by_min);
}

struct samples_summary comparison_compile_summary(const struct comparison *comparison,
                                                  const struct comparison_kernel *kernel,
                                                  unsigned setting, enum comparison_heat heat)
{
    return samples_summary(&kernel->times[comparison_index(setting, heat)].compile_ms,
                           comparison->wish->by_min);
}

static void print_output_verdict(const struct comparison *comparison, FILE *file)
{
    const struct outputs *outputs = &comparison->outputs;
    if (outputs->has_other_length) {
        fputs("The output has another number of lines in each run: it was not compared.\n", file);
        return;
    }
    unsigned strange = 0;
    for (unsigned i = 0; i < comparison->settings->count; i++)
        if (comparison->differences[i]) {
            fprintf(file, "The output is NOT THE SAME with %s: %s.\n",
                    comparison->settings->settings[i].label, comparison->differences[i]);
            strange++;
        }
    if (strange == 0)
        fprintf(file, "The output (%zu lines) is the same in all settings", outputs->lines);
    if (strange == 0 && outputs->unsteady_lines > 0)
        fprintf(file, ", not counting %zu that differ from run to run in one setting, too",
                outputs->unsteady_lines);
    fputs(strange == 0 ? ".\n" : "", file);
}

static void print_end_verdict(const struct comparison *comparison, FILE *file)
{
    char expected[PROCESS_TEXT_BYTES];
    process_end_text(&comparison->first, expected);
    bool is_same = true;
    for (unsigned i = 0; i < comparison->settings->count; i++)
        for (int heat = 0; heat < COMPARISON_HEATS; heat++) {
            const char *problem =
                comparison->runs[comparison_index(i, (enum comparison_heat)heat)].problem;
            if (!*problem)
                continue;
            fprintf(file, "FAILED with %s, %s: %s.\n", comparison->settings->settings[i].label,
                    comparison_heat_name((enum comparison_heat)heat), problem);
            is_same = false;
        }
    fprintf(file, "%s: %s.\n", is_same ? "All runs end in the same way" : "The others", expected);
}

static bool has_timed_out(const struct comparison *comparison)
{
    char text[PROCESS_TEXT_BYTES];
    process_end_text(&(struct process_outcome){.end = PROCESS_TIMED_OUT}, text);
    for (unsigned i = 0; i < comparison->settings->count * COMPARISON_HEATS; i++)
        if (strcmp(comparison->runs[i].problem, text) == 0)
            return true;
    return false;
}

void comparison_rounds_text(const struct comparison *comparison, char text[COMPARISON_ROUNDS_BYTES])
{
    char number[16];
    snprintf(number, sizeof number, "%u", comparison->rounds);
    snprintf(text, COMPARISON_ROUNDS_BYTES, "%s %s; %s",
             comparison->rounds == 0 ? "an incomplete" : number,
             comparison->rounds <= 1 ? "round" : "rounds",
             comparison->wish->by_min ? "minima" : "medians");
}

void comparison_print_verdict(const struct comparison *comparison, FILE *file)
{
    print_output_verdict(comparison, file);
    print_end_verdict(comparison, file);
    if (has_timed_out(comparison))
        fprintf(file, "The time limit of a run was %u s; --limit sets another.\n",
                comparison->limit_s);
    if (comparison->stopped[0])
        fprintf(file, "Stopped after %u whole rounds: %s.\n", comparison->rounds,
                comparison->stopped);
}

static void free_kernel(struct comparison_kernel *kernel, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        samples_free(&kernel->times[i].run_ms);
        samples_free(&kernel->times[i].compile_ms);
    }
    free(kernel->times);
    free(kernel->name);
    free(kernel->readable);
    free(kernel->explanation);
}

void comparison_free(struct comparison *comparison)
{
    unsigned count = comparison->settings->count;
    for (unsigned i = 0; i < count * COMPARISON_HEATS; i++)
        for (int j = 0; j < COMPARISON_MEASURES; j++)
            samples_free(&comparison->runs[i].measures[j]);
    for (unsigned i = 0; i < comparison->kernel_count; i++)
        free_kernel(&comparison->kernels[i], count * COMPARISON_HEATS);
    for (unsigned i = 0; i < count; i++)
        free(comparison->differences[i]);
    outputs_free(&comparison->outputs);
    free(comparison->differences);
    free(comparison->kernels);
    free(comparison->runs);
}
