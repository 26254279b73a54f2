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
            comparison_summary(comparison, i, COMPARISON_COLD, COMPARISON_COMPILE).value;
        double kernels_ms =
            comparison_summary(comparison, i, COMPARISON_COLD, COMPARISON_KERNELS).value;
        double rest_ms = wall.value - compile_ms - kernels_ms;
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
     "become what is asked for becomes something else: what is at the end of the page."},
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

static void add_compared(struct compared *compared, struct chart *chart, int setting,
                         const char *name)
{
    if (setting < 0 || compared->count == CHART_MAX_SERIES)
        return;
    compared->settings[compared->count++] = setting;
    chart_add_series(chart, name);
}

/* only: the two values that count; NULL: all do, and the default. */
static struct compared add_axis(struct chart *chart, const struct comparison *comparison,
                                unsigned axis, const char *const *only)
{
    struct compared compared = {.count = 0};
    if (!only)
        add_compared(&compared, chart, 0, "default");
    for (unsigned i = 0; i < comparison->axes->axes[axis].count; i++) {
        const char *value = comparison->axes->axes[axis].values[i];
        if (!only || strcmp(value, only[0]) == 0 || strcmp(value, only[1]) == 0)
            add_compared(&compared, chart, settings_find(comparison->settings, axis, value), value);
    }
    return compared;
}

typedef bool (*kernel_filter)(const struct comparison_kernel *kernel);

static bool has_warps(const struct comparison_kernel *kernel)
{
    return explanation_has_warps(kernel->explanation);
}

/* A picture of kernels' times divided by the default's. */
struct axis_picture {
    const char *title;
    const char *note;
    kernel_filter filter;    /* NULL: all kernels */
    const char *const *only; /* as for add_axis */
};

static void write_axis(const struct comparison *comparison, unsigned axis,
                       const struct axis_picture *picture, FILE *file)
{
    struct chart chart =
        chart_make(CHART_BARS, picture->title, "time, divided by the default's", "kernel");
    chart.is_ratio = true;
    chart.note = picture->note;
    struct compared compared = add_axis(&chart, comparison, axis, picture->only);
    for (unsigned i = 0; i < comparison->kernel_count && chart.group_count < SHOWN_KERNELS; i++) {
        const struct comparison_kernel *kernel = &comparison->kernels[i];
        if (picture->filter && !picture->filter(kernel))
            continue;
        double first_ms = comparison_run_summary(comparison, kernel, 0, COMPARISON_WARM).value;
        chart_add_group(&chart, kernel->readable);
        for (unsigned j = 0; j < compared.count; j++)
            chart_set_summary(&chart, j,
                              comparison_run_summary(comparison, kernel,
                                                     (unsigned)compared.settings[j],
                                                     COMPARISON_WARM),
                              first_ms);
    }
    html_chart(file, &chart);
    chart_free(&chart);
}

static const char *const warp_ways[] = {"hierarchical", "vector"};
static const struct axis_picture warps = {
    .title = "Shuffles and votes: by vectors against one by one",
    .note =
        "The kernels with operations of warps: hierarchical does them thread by thread, vector for "
        "the threads of a vector at once.",
    .filter = has_warps,
    .only = warp_ways};

static void write_axes(const struct comparison *comparison, FILE *file)
{
    for (unsigned i = 0; i < comparison->axes->count; i++) {
        enum pxr_option_id option = comparison->axes->axes[i].option;
        if (option == PXR_OPTION_THREADS)
            continue;
        const struct heading *heading = find_heading(option);
        char title[64];
        snprintf(title, sizeof title, "--%s", pxr_option_table[option].name);
        const struct axis_picture picture = {.title = heading ? heading->title : title,
                                             .note = heading ? heading->note : ""};
        write_axis(comparison, i, &picture, file);
        if (option == PXR_OPTION_COLLAPSE)
            write_axis(comparison, i, &warps, file);
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
        compared = add_axis(&chart, comparison, axis, NULL);
    else
        chart_add_series(&chart, "default");
    for (unsigned i = 0; i < comparison->kernel_count && i < SHOWN_KERNELS; i++) {
        chart_add_group(&chart, comparison->kernels[i].readable);
        for (unsigned j = 0; j < compared.count; j++)
            chart_set_summary(&chart, j,
                              comparison_run_summary(comparison, &comparison->kernels[i],
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
    return one.count > 0 && many.count > 0 && many.value > 0 ? one.value / many.value : NAN;
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
        compared = add_axis(&chart, comparison, axis, NULL);
    else
        chart_add_series(&chart, "default");
    for (unsigned i = 0; i < comparison->kernel_count && i < SHOWN_KERNELS; i++) {
        chart_add_group(&chart, comparison->kernels[i].readable);
        for (unsigned j = 0; j < compared.count; j++) {
            chart_set_summary(&chart, j,
                              comparison_compile_summary(comparison, &comparison->kernels[i],
                                                         (unsigned)compared.settings[j],
                                                         COMPARISON_COLD),
                              1);
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
    snprintf(line, sizeof line, "ptxrun %s on %s, %u CPUs; all settings in turn, %s.",
             PTXRUN_VERSION, machine_cpu(), machine_cpus(), rounds);
    html_paragraph(file, line);
}

static const char *outcome(const struct comparison_kernel *kernel, unsigned setting)
{
    return kernel->times[comparison_index(setting, COMPARISON_COLD)].collapse;
}

/* "vector 16x4 with: default, --mode=jit", a line for each outcome. */
static void write_outcomes(const struct comparison *comparison,
                           const struct comparison_kernel *kernel, FILE *file)
{
    for (unsigned i = 0; i < comparison->settings->count; i++) {
        unsigned first = 0;
        while (strcmp(outcome(kernel, first), outcome(kernel, i)) != 0)
            first++;
        if (first < i || !*outcome(kernel, i))
            continue;
        fprintf(file, "%s with: %s", outcome(kernel, i), label(comparison, i));
        for (unsigned j = i + 1; j < comparison->settings->count; j++)
            if (strcmp(outcome(kernel, j), outcome(kernel, i)) == 0)
                fprintf(file, ", %s", label(comparison, j));
        fputs("\n", file);
    }
}

static void write_explanations(const struct comparison *comparison, FILE *file)
{
    html_heading(file, "What each kernel became, and what --explain says");
    html_paragraph(file, "The explanation is of the best code; lines are those of the PTX.");
    for (unsigned i = 0; i < comparison->kernel_count; i++) {
        const struct comparison_kernel *kernel = &comparison->kernels[i];
        char *text = NULL;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        write_outcomes(comparison, kernel, stream);
        fprintf(stream, "\n%s", kernel->explanation);
        fclose(stream);
        html_details(file, kernel->readable, text);
        free(text);
    }
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
    write_explanations(comparison, file);
    html_close(file);
}
