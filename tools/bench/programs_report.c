/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench programs`: the comparison as text and as Markdown.
 */
#include <stdlib.h>

#include "tools/bench/bench_measure.h"
#include "tools/bench/programs.h"

struct programs_report {
    FILE *file;
    bool is_markdown;
    double min_us;
    bool by_min;
    struct bench_mean all;
    struct bench_mean beyond_noise;
    struct bench_mean compile;
    double compile_ms[PROGRAMS_SETTINGS]; /* sums */
};

struct programs_report *programs_report_open(FILE *file, bool is_markdown, double min_us,
                                             const struct programs_wish *wish)
{
    struct programs_report *report = calloc(1, sizeof *report);
    *report = (struct programs_report){
        .file = file, .is_markdown = is_markdown, .min_us = min_us, .by_min = wish->by_min};
    const char *line_end = is_markdown ? "  " : "";
    fprintf(file, "A: %s%s\nB: %s%s\n%u rounds, medians of %s; * beyond noise\n\n",
            wish->settings[PROGRAMS_A], line_end, wish->settings[PROGRAMS_B], line_end,
            wish->rounds, wish->by_min ? "shortest calls" : "mean calls");
    if (is_markdown)
        fprintf(file, "| program | kernel | A µs | B µs | B / A | 95 %% of ratios | compiling A ms "
                      "| B ms |\n|---|---|---|---|---|---|---|---|\n");
    else
        fprintf(file, "%-22s %11s %11s %7s %15s   %9s %9s  %s\n", "program", "A us", "B us", "B/A",
                "95% of ratios", "compile A", "B (ms)", "kernel");
    return report;
}

static void print_row(const struct programs_report *report, const char *program, const char *kernel,
                      const struct programs_comparison *numbers)
{
    const double *us = numbers->us, *compile_ms = numbers->compile_ms;
    const char *mark = programs_is_beyond_noise(numbers) ? "*" : " ";
    if (report->is_markdown)
        fprintf(report->file, "| %s | `%s` | %.2f | %.2f | %.3f | %.3f - %.3f%s | %.2f | %.2f |\n",
                program, kernel, us[PROGRAMS_A], us[PROGRAMS_B], numbers->ratio, numbers->low,
                numbers->high, mark, compile_ms[PROGRAMS_A], compile_ms[PROGRAMS_B]);
    else
        fprintf(report->file, "%-22s %11.2f %11.2f %7.3f %7.3f-%7.3f %s %9.2f %9.2f  %s\n", program,
                us[PROGRAMS_A], us[PROGRAMS_B], numbers->ratio, numbers->low, numbers->high, mark,
                compile_ms[PROGRAMS_A], compile_ms[PROGRAMS_B], kernel);
}

static void print_remark(const struct programs_report *report, const char *program,
                         const char *kernel, const char *remark)
{
    if (report->is_markdown)
        fprintf(report->file, "| %s | `%s` | %s | | | | | |\n", program, kernel, remark);
    else
        fprintf(report->file, "%-22s %s: %s\n", program, remark, kernel);
}

static void add_kernel(struct programs_report *report, const struct programs_result *result,
                       const struct programs_kernel *kernel)
{
    struct programs_comparison numbers = programs_compare(kernel, result->rounds, report->by_min);
    if (!numbers.is_same_work) {
        print_remark(report, result->program, kernel->name, "not launched equally often");
        return;
    }
    if (numbers.us[PROGRAMS_A] < report->min_us)
        return;
    print_row(report, result->program, kernel->name, &numbers);
    bench_mean_add(&report->all, numbers.ratio);
    if (programs_is_beyond_noise(&numbers))
        bench_mean_add(&report->beyond_noise, numbers.ratio);
    if (numbers.compile_ms[PROGRAMS_A] > 0)
        bench_mean_add(&report->compile,
                       numbers.compile_ms[PROGRAMS_B] / numbers.compile_ms[PROGRAMS_A]);
    for (int i = 0; i < PROGRAMS_SETTINGS; i++)
        report->compile_ms[i] += numbers.compile_ms[i];
}

void programs_report_add(struct programs_report *report, const struct programs_result *result)
{
    if (result->error[0])
        print_remark(report, result->program, "", result->error);
    else
        for (size_t i = 0; i < result->count; i++)
            add_kernel(report, result, &result->kernels[i]);
    fflush(report->file);
}

void programs_report_close(struct programs_report *report)
{
    fprintf(report->file,
            "\ngeometric means of B / A: %.3f of %u kernels, %.3f of the %u beyond noise; compile "
            "times %.3f (sums: %.1f ms, %.1f ms)\n",
            bench_mean_value(&report->all), report->all.count,
            bench_mean_value(&report->beyond_noise), report->beyond_noise.count,
            bench_mean_value(&report->compile), report->compile_ms[PROGRAMS_A],
            report->compile_ms[PROGRAMS_B]);
    free(report);
}
