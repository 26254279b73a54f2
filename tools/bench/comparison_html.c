/* SPDX-License-Identifier: Apache-2.0
 *
 * What was measured, as a page with pictures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/comparison.h"
#include "tools/bench/explanations.h"
#include "tools/bench/html.h"
#include "tools/bench/machine.h"

#define SHOWN_KERNELS 12 /* of a picture; more are not read */

static const char *label(const struct comparison *comparison, unsigned setting)
{
    return comparison->settings->settings[setting].label;
}

/* ---- whole processes ---- */

static void write_processes(const struct comparison *comparison, FILE *file)
{
    struct chart chart =
        chart_make(CHART_BARS, "Whole process, without and with compiled code from an earlier run",
                   "ms, start to exit", "setting");
    chart.note =
        "cold: the cache is empty; warm: the next run in the same setting. Thin lines: from "
        "the fastest run to the slowest.";
    chart_add_series(&chart, "cold");
    chart_add_series(&chart, "warm");
    for (unsigned i = 0; i < comparison->settings->count; i++) {
        chart_add_group(&chart, label(comparison, i));
        for (int heat = 0; heat < COMPARISON_HEATS; heat++)
            chart_set_summary(
                &chart, (unsigned)heat,
                comparison_summary(comparison, i, (enum comparison_heat)heat, COMPARISON_WALL), 1);
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

static void write_parts(const struct comparison *comparison, FILE *file)
{
    struct chart chart =
        chart_make(CHART_STACKS, "Compiling against running, cold", "ms of the process", "setting");
    chart.note = "The rest is the program's own work, copies and the start of the process. Kernels "
                 "that run, or are compiled, at the same time count each: then there is no rest.";
    chart_add_series(&chart, "compiling");
    chart_add_series(&chart, "kernels");
    chart_add_series(&chart, "rest");
    for (unsigned i = 0; i < comparison->settings->count; i++) {
        struct samples_summary wall =
            comparison_summary(comparison, i, COMPARISON_COLD, COMPARISON_WALL);
        if (wall.count == 0)
            continue;
        double compile_ms =
            comparison_summary(comparison, i, COMPARISON_COLD, COMPARISON_COMPILE).median;
        double kernels_ms =
            comparison_summary(comparison, i, COMPARISON_COLD, COMPARISON_KERNELS).median;
        double rest_ms = wall.median - compile_ms - kernels_ms;
        chart_add_group(&chart, label(comparison, i));
        chart_set(&chart, 0, compile_ms);
        chart_set(&chart, 1, kernels_ms);
        chart_set(&chart, 2, rest_ms > 0 ? rest_ms : 0);
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

/* ---- kernels along an axis ---- */

/* How a page speaks of an axis. */
struct heading {
    enum pxr_option_id option;
    const char *title;
    const char *note;
};

static const struct heading headings[] = {
    {PXR_OPTION_MODE, "JIT mode against normal mode",
     "jit: code relies on all that is known of a launch; normal: on next to nothing, so that all "
     "launches share it."},
    {PXR_OPTION_TIER, "Quick code against the best",
     "What little compiling costs in the time of kernels."},
    {PXR_OPTION_COLLAPSE, "Flat against hierarchical, vectors against single threads",
     "What the threads of a block become: loops over them (flat), warp by warp (hierarchical), "
     "loops over vectors of them (vector), or a stack for each (precise). A kernel that cannot "
     "become what is asked for becomes something else: the table of kernels says what."},
    {PXR_OPTION_WIDTH, "Vectors of how many threads", ""},
};

static const struct heading *find_heading(enum pxr_option_id option)
{
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        if (headings[i].option == option)
            return &headings[i];
    return NULL;
}

/* Which settings a picture of an axis compares: the one that leaves it as it is, and its values. */
struct compared {
    int settings[CHART_MAX_SERIES];
    unsigned count;
};

static struct compared add_axis(struct chart *chart, const struct comparison *comparison,
                                unsigned axis)
{
    struct compared compared = {.settings = {0}, .count = 1};
    chart_add_series(chart, "default");
    for (unsigned i = 0; i < comparison->axes->axes[axis].count; i++) {
        const char *value = comparison->axes->axes[axis].values[i];
        int setting = settings_find(comparison->settings, axis, value);
        if (setting < 0 || compared.count == CHART_MAX_SERIES)
            continue;
        compared.settings[compared.count++] = setting;
        chart_add_series(chart, value);
    }
    return compared;
}

typedef bool (*kernel_filter)(const struct comparison_kernel *kernel);

static bool has_warps(const struct comparison_kernel *kernel)
{
    return explanation_has_warps(kernel->explanation);
}

/* Kernels' times divided by the default's. */
static void write_axis(const struct comparison *comparison, unsigned axis, const char *title,
                       const char *note, kernel_filter filter, FILE *file)
{
    struct chart chart = chart_make(CHART_BARS, title, "time, divided by the default's", "kernel");
    chart.is_ratio = true;
    chart.note = note;
    struct compared compared = add_axis(&chart, comparison, axis);
    for (unsigned i = 0; i < comparison->kernel_count && chart.group_count < SHOWN_KERNELS; i++) {
        const struct comparison_kernel *kernel = &comparison->kernels[i];
        if (filter && !filter(kernel))
            continue;
        double first_ms = comparison_kernel_summary(kernel, 0, COMPARISON_WARM).median;
        chart_add_group(&chart, kernel->readable);
        for (unsigned j = 0; j < compared.count; j++)
            chart_set_summary(
                &chart, j,
                comparison_kernel_summary(kernel, (unsigned)compared.settings[j], COMPARISON_WARM),
                first_ms);
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

static void write_axes(const struct comparison *comparison, FILE *file)
{
    for (unsigned i = 0; i < comparison->axes->count; i++) {
        enum pxr_option_id option = comparison->axes->axes[i].option;
        if (option == PXR_OPTION_THREADS)
            continue;
        const struct heading *heading = find_heading(option);
        char title[64];
        snprintf(title, sizeof title, "--%s", pxr_option_table[option].name);
        write_axis(comparison, i, heading ? heading->title : title, heading ? heading->note : "",
                   NULL, file);
        if (option == PXR_OPTION_COLLAPSE)
            write_axis(comparison, i, "Shuffles and votes: by vectors against one by one",
                       "The kernels with operations of warps alone: hierarchical does them thread "
                       "by thread, vector for the threads of a vector at once.",
                       has_warps, file);
    }
}

static void write_kernel_times(const struct comparison *comparison, FILE *file)
{
    struct chart chart = chart_make(CHART_BARS, "Time of each kernel",
                                    "ms, all launches of a run together, warm", "kernel");
    if (comparison->kernel_count > SHOWN_KERNELS)
        chart.note = "Those that take longest; --csv and --json have all.";
    unsigned axis = 0;
    while (axis < comparison->axes->count && comparison->axes->axes[axis].option != PXR_OPTION_MODE)
        axis++;
    struct compared compared = {.count = 1};
    if (axis < comparison->axes->count)
        compared = add_axis(&chart, comparison, axis);
    else
        chart_add_series(&chart, "default");
    for (unsigned i = 0; i < comparison->kernel_count && i < SHOWN_KERNELS; i++) {
        chart_add_group(&chart, comparison->kernels[i].readable);
        for (unsigned j = 0; j < compared.count; j++)
            chart_set_summary(&chart, j,
                              comparison_kernel_summary(&comparison->kernels[i],
                                                        (unsigned)compared.settings[j],
                                                        COMPARISON_WARM),
                              1);
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

/* ---- threads ---- */

static double speedup(struct samples_summary one, struct samples_summary many)
{
    return one.count > 0 && many.count > 0 && many.median > 0 ? one.median / many.median : NAN;
}

static void write_scaling(const struct comparison *comparison, FILE *file)
{
    unsigned axis = 0;
    while (axis < comparison->axes->count &&
           comparison->axes->axes[axis].option != PXR_OPTION_THREADS)
        axis++;
    int first =
        axis < comparison->axes->count ? settings_find(comparison->settings, axis, "1") : -1;
    if (first < 0 || comparison->axes->axes[axis].count < 2)
        return;
    struct chart chart =
        chart_make(CHART_LINES, "Scaling over threads", "times as fast as one thread", "threads");
    chart.note =
        "Warm. How many blocks there are is the program's choice: fewer blocks than threads "
        "leave threads idle. Scaling over blocks is in ptxbench table --html.";
    chart_add_series(&chart, "kernels");
    chart_add_series(&chart, "whole process");
    chart_add_series(&chart, "ideal");
    static const enum comparison_measure measures[] = {COMPARISON_KERNELS, COMPARISON_WALL};
    for (unsigned i = 0; i < comparison->axes->axes[axis].count; i++) {
        const char *value = comparison->axes->axes[axis].values[i];
        int setting = settings_find(comparison->settings, axis, value);
        double threads = strtod(value, NULL);
        if (setting < 0 || threads == 0) // 0: all, which is no place on the axis
            continue;
        chart_add_group(&chart, value);
        for (unsigned j = 0; j < 2; j++)
            chart_set(&chart, j,
                      speedup(comparison_summary(comparison, (unsigned)first, COMPARISON_WARM,
                                                 measures[j]),
                              comparison_summary(comparison, (unsigned)setting, COMPARISON_WARM,
                                                 measures[j])));
        chart_set(&chart, 2, threads);
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

/* ---- compile times ---- */

static void write_compiling(const struct comparison *comparison, FILE *file)
{
    struct chart chart =
        chart_make(CHART_BARS, "Compiling each kernel", "ms, all its variants of a run", "kernel");
    struct compared compared = {.count = 1};
    unsigned axis = 0;
    while (axis < comparison->axes->count && comparison->axes->axes[axis].option != PXR_OPTION_TIER)
        axis++;
    if (axis < comparison->axes->count)
        compared = add_axis(&chart, comparison, axis);
    else
        chart_add_series(&chart, "default");
    for (unsigned i = 0; i < comparison->kernel_count && i < SHOWN_KERNELS; i++) {
        chart_add_group(&chart, comparison->kernels[i].readable);
        for (unsigned j = 0; j < compared.count; j++) {
            unsigned index = comparison_index((unsigned)compared.settings[j], COMPARISON_COLD);
            chart_set_summary(&chart, j,
                              samples_summary(&comparison->kernels[i].times[index].compile_ms), 1);
        }
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

/* ---- tables and texts ---- */

static void write_verdict(const struct comparison *comparison, FILE *file)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    comparison_print_verdict(comparison, stream);
    fclose(stream);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        html_paragraph(file, line);
    free(text);
}

static void write_summary_of(const struct comparison *comparison, FILE *file)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (char *const *word = comparison->wish->program; *word; word++)
        fprintf(stream, "%s ", *word);
    fclose(stream);
    html_paragraph(file, text);
    free(text);
    char line[512], rounds[COMPARISON_ROUNDS_BYTES];
    comparison_rounds_text(comparison, rounds);
    snprintf(line, sizeof line,
             "ptxrun %s on %s, %u CPUs; %s, all settings in turn; numbers are medians.",
             PTXRUN_VERSION, machine_cpu(), machine_cpus(), rounds);
    html_paragraph(file, line);
}

static void write_outcomes(const struct comparison *comparison, FILE *file)
{
    static const char *const columns[] = {"kernel", "setting", "became", "launches"};
    html_heading(file, "What kernels became");
    html_open_table(file, columns, 4);
    for (unsigned i = 0; i < comparison->kernel_count && i < SHOWN_KERNELS; i++)
        for (unsigned j = 0; j < comparison->settings->count; j++) {
            const struct comparison_times *times =
                &comparison->kernels[i].times[comparison_index(j, COMPARISON_COLD)];
            if (times->run_ms.count == 0)
                continue;
            char calls[32];
            snprintf(calls, sizeof calls, "%llu", (unsigned long long)times->calls);
            html_cell(file, 0, comparison->kernels[i].readable);
            html_cell(file, 1, label(comparison, j));
            html_cell(file, 2, times->collapse);
            html_cell(file, 3, calls);
            html_end_row(file);
        }
    html_close_table(file);
}

static void write_explanations(const struct comparison *comparison, FILE *file)
{
    html_heading(file, "What --explain says of each kernel");
    html_paragraph(file, "With ptxrun as it comes; lines are those of the PTX.");
    for (unsigned i = 0; i < comparison->kernel_count; i++)
        html_details(file, comparison->kernels[i].readable,
                     comparison->kernels[i].explanation[0] ? comparison->kernels[i].explanation
                                                           : "Nothing.");
}

void comparison_write_html(const struct comparison *comparison, FILE *file)
{
    const char *slash = strrchr(comparison->wish->program[0], '/');
    char title[256];
    snprintf(title, sizeof title, "%s on the CPU",
             slash ? slash + 1 : comparison->wish->program[0]);
    html_open(file, title);
    write_summary_of(comparison, file);
    write_verdict(comparison, file);
    html_heading(file, "The process");
    write_processes(comparison, file);
    write_parts(comparison, file);
    write_scaling(comparison, file);
    html_heading(file, "Its kernels");
    write_kernel_times(comparison, file);
    write_axes(comparison, file);
    write_compiling(comparison, file);
    write_outcomes(comparison, file);
    write_explanations(comparison, file);
    html_close(file);
}
