/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench table`: results as a page with pictures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/explanations.h"
#include "tools/bench/html.h"
#include "tools/bench/machine.h"
#include "tools/bench/table_plain.h"
#include "tools/bench/table_report.h"

/* What the page is about. */
struct page {
    FILE *file;
    const struct table_result *results;
    size_t count;
    const struct table_wish *wish;
    unsigned threads; /* of the results that most pictures show: the first number */
};

static void row_name(const struct table_result *result, char name[96])
{
    snprintf(name, 96, "%s %s", result->row->kernel, result->row->size);
}

static void add_row(struct chart *chart, const struct table_result *result)
{
    char name[96];
    row_name(result, name);
    chart_add_group(chart, name);
}

/* A version's time, divided by something. */
static void set_time(struct chart *chart, unsigned series, const struct table_result *result,
                     int version, double divisor)
{
    if (result->us[version] > 0 && divisor > 0)
        chart_set(chart, series, result->us[version] / divisor);
}

static void draw(const struct page *page, struct chart *chart)
{
    html_chart(page->file, chart);
    chart_free(chart);
}

/* ---- against C ---- */

static void write_ratios(const struct page *page)
{
    struct chart chart = chart_make(CHART_BARS, "Kernels against C",
                                    "time, divided by that of the C program", "kernel");
    chart.note =
        "Smaller is better. Plain C is what a CPU programmer writes, tuned C what one gets "
        "with much work; the faster of the compilers counts.";
    chart_add_series(&chart, "plain C");
    chart_add_series(&chart, "tuned C");
    for (size_t i = 0; i < page->count; i++) {
        if (page->results[i].threads != page->threads)
            continue;
        static const enum table_version against[] = {TABLE_PLAIN, TABLE_TUNED};
        add_row(&chart, &page->results[i]);
        for (unsigned j = 0; j < 2; j++) {
            double ratio = table_ratio(&page->results[i], against[j]);
            chart_set(&chart, j, ratio > 0 ? ratio : NAN);
        }
    }
    draw(page, &chart);
}

/* ---- our code in other ways ---- */

/* A picture of our versions, divided by the time of one of them. */
struct ways {
    const char *title;
    const char *note;
    const char *unit;
    enum table_version base;
    struct {
        enum table_version version;
        const char *name;    /* of the series, and */
        const char *must_be; /* what the code must have become; NULL: anything */
    } versions[CHART_MAX_SERIES];
    unsigned count;
    bool with_warps_alone; /* kernels without shuffles and votes are left out */
};

/* Whether all of a row's kernels became what was asked for: the others would be compared with
 * themselves. */
static bool is_as_asked(const struct table_result *result, enum table_version version,
                        const char *must_be)
{
    return !must_be || strcmp(result->notes[version].collapse, must_be) == 0;
}

static bool is_wanted(const struct page *page, const struct table_result *result,
                      const struct ways *ways)
{
    return result->threads == page->threads &&
           (!ways->with_warps_alone || explanation_has_warps(result->explanation));
}

static void write_ways(const struct page *page, const struct ways *ways)
{
    struct chart chart = chart_make(CHART_BARS, ways->title, ways->unit, "kernel");
    chart.is_ratio = true;
    chart.note = ways->note;
    for (unsigned i = 0; i < ways->count; i++)
        chart_add_series(&chart, ways->versions[i].name);
    for (size_t i = 0; i < page->count; i++) {
        const struct table_result *result = &page->results[i];
        if (!is_wanted(page, result, ways))
            continue;
        add_row(&chart, result);
        for (unsigned j = 0; j < ways->count; j++)
            if (is_as_asked(result, ways->versions[j].version, ways->versions[j].must_be))
                set_time(&chart, j, result, ways->versions[j].version, result->us[ways->base]);
    }
    draw(page, &chart);
}

static void write_all_ways(const struct page *page)
{
    bool is_jit = page->wish->mode == PXR_MODE_JIT;
    enum table_version jit = is_jit ? TABLE_OURS : TABLE_OTHER_MODE;
    enum table_version normal = is_jit ? TABLE_OTHER_MODE : TABLE_OURS;
    const struct ways modes = {
        .title = "JIT mode against normal mode",
        .note =
            "jit: code relies on block shape, bounds and alignment of the launch; normal: only on "
            "whether blocks are one row.",
        .unit = "time, divided by that of normal mode",
        .base = normal,
        .versions = {{jit, "jit", NULL}, {normal, "normal", NULL}},
        .count = 2};
    const struct ways collapses = {
        .title = "Flat against hierarchical, vectors against single threads",
        .note =
            "What the threads of a block become: loops over them (flat), warp by warp "
            "(hierarchical), loops over vectors of them (vector). A kernel with shuffles or votes "
            "cannot be flat.",
        .unit = "time, divided by that of what is chosen by itself",
        .base = TABLE_OURS,
        .versions = {{TABLE_FLAT, "flat", "flat"},
                     {TABLE_HIERARCHICAL, "hierarchical", "hierarchical"},
                     {TABLE_VECTOR, "vector", "vector"}},
        .count = 3};
    const struct ways warps = {
        .title = "Shuffles and votes: by vectors against one by one",
        .note = "Kernels with operations of warps: hierarchical does them thread by thread, vector "
                "for all threads of a vector at once.",
        .unit = "time, divided by that of hierarchical",
        .base = TABLE_HIERARCHICAL,
        .versions = {{TABLE_HIERARCHICAL, "hierarchical", "hierarchical"},
                     {TABLE_VECTOR, "vector", "vector"}},
        .count = 2,
        .with_warps_alone = true};
    const struct ways tiers = {
        .title = "Quick code against the best",
        .note = "What little compiling costs in the time of kernels.",
        .unit = "time, divided by that of the best code",
        .base = TABLE_OURS,
        .versions = {{TABLE_OURS, "best", NULL}, {TABLE_QUICK, "quick", NULL}},
        .count = 2};
    write_ways(page, &modes);
    write_ways(page, &tiers);
    write_ways(page, &collapses);
    write_ways(page, &warps);
}

/* ---- compiling ---- */

static void write_compiling(const struct page *page)
{
    struct chart chart = chart_make(CHART_BARS, "Compiling against running", "ms", "kernel");
    chart.note = "CPU time of compiling a row's kernels once, and one run of them.";
    chart_add_series(&chart, "compiling");
    chart_add_series(&chart, "compiling, quick");
    chart_add_series(&chart, "one run");
    for (size_t i = 0; i < page->count; i++) {
        const struct table_result *result = &page->results[i];
        if (result->threads != page->threads)
            continue;
        add_row(&chart, result);
        chart_set(&chart, 0, result->notes[TABLE_OURS].compile_ms);
        chart_set(&chart, 1, result->notes[TABLE_QUICK].compile_ms);
        set_time(&chart, 2, result, TABLE_OURS, 1000);
    }
    draw(page, &chart);
}

/* ---- scaling ---- */

static const struct table_result *find_result(const struct page *page, const struct table_row *row,
                                              unsigned threads)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->results[i].row == row && page->results[i].threads == threads)
            return &page->results[i];
    return NULL;
}

static unsigned most_threads(const struct page *page)
{
    unsigned most = 0;
    for (size_t i = 0; i < page->count; i++)
        most = page->results[i].threads > most ? page->results[i].threads : most;
    return most;
}

static void set_speedup(struct chart *chart, unsigned series, const struct table_result *one,
                        const struct table_result *many, int version)
{
    if (one->us[version] > 0 && many->us[version] > 0)
        chart_set(chart, series, one->us[version] / many->us[version]);
}

static void write_threads(const struct page *page)
{
    unsigned most = most_threads(page);
    if (most == page->threads)
        return;
    char title[96];
    snprintf(title, sizeof title, "Scaling over threads: %u against %u", most, page->threads);
    struct chart chart = chart_make(CHART_BARS, title, "times as fast", "kernel");
    chart.note =
        "Memory and caches are shared by all threads: what waits for them does not scale, in "
        "C neither.";
    chart_add_series(&chart, "ptxrun");
    chart_add_series(&chart, "plain C");
    for (size_t i = 0; i < page->count; i++) {
        const struct table_result *one = &page->results[i];
        const struct table_result *many = find_result(page, one->row, most);
        if (one->threads != page->threads || !many)
            continue;
        add_row(&chart, one);
        set_speedup(&chart, 0, one, many, TABLE_OURS);
        set_speedup(&chart, 1, one, many, table_best(one, TABLE_PLAIN));
    }
    draw(page, &chart);
}

static bool has_blocks(const struct table_result *result, unsigned threads)
{
    return result->threads == threads && result->blocks_us[0] > 0;
}

static void write_blocks(const struct page *page)
{
    unsigned threads = most_threads(page);
    char title[96];
    snprintf(title, sizeof title, "Scaling over blocks, %u threads", threads);
    struct chart chart =
        chart_make(CHART_LINES, title, "time, divided by that of one block", "blocks");
    chart.note =
        "Launches of the first blocks of a grid. A worker takes a block at a time: with as "
        "many blocks as threads a launch takes as long as one block.";
    for (size_t i = 0; i < page->count; i++)
        if (has_blocks(&page->results[i], threads))
            chart_add_series(&chart, page->results[i].row->kernel);
    for (int step = 0; step < TABLE_BLOCK_STEPS && chart.series_count > 0; step++) {
        char blocks[16];
        snprintf(blocks, sizeof blocks, "%u", table_block_steps[step]);
        chart_add_group(&chart, blocks);
        unsigned series = 0;
        for (size_t i = 0; i < page->count; i++)
            if (has_blocks(&page->results[i], threads)) {
                const double *us = page->results[i].blocks_us;
                chart_set(&chart, series++, us[step] / us[0]);
            }
    }
    draw(page, &chart);
}

/* ---- numbers and words ---- */

static void write_number_cell(const struct page *page, unsigned column, double number)
{
    char text[CHART_NUMBER_BYTES] = "–";
    if (number > 0)
        chart_number(number, text);
    html_cell(page->file, column, text);
}

static void write_numbers(const struct page *page)
{
    static const char *const columns[] = {"kernel",
                                          "threads",
                                          "plain C µs",
                                          "tuned C µs",
                                          "ptxrun µs",
                                          "spread %",
                                          "of the machine's limit %",
                                          "became"};
    html_heading(page->file, "All numbers");
    html_open_table(page->file, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < page->count; i++) {
        const struct table_result *result = &page->results[i];
        const struct table_code_notes *notes = &result->notes[TABLE_OURS];
        char name[96], became[96], threads[16];
        row_name(result, name);
        html_cell(page->file, 0, name);
        snprintf(threads, sizeof threads, "%u", result->threads);
        html_cell(page->file, 1, threads);
        write_number_cell(page, 2, result->us[table_best(result, TABLE_PLAIN)]);
        write_number_cell(page, 3, result->us[table_best(result, TABLE_TUNED)]);
        write_number_cell(page, 4, result->us[TABLE_OURS]);
        write_number_cell(page, 5, 100 * result->spread[TABLE_OURS]);
        write_number_cell(page, 6, 100 * result->limit_share);
        snprintf(became, sizeof became, notes->width ? "%s %ux%u" : "%s", notes->collapse,
                 notes->width, notes->jam);
        html_cell(page->file, 7, result->error[0] ? result->error : became);
        html_end_row(page->file);
    }
    html_close_table(page->file);
}

static void write_explanations(const struct page *page)
{
    html_heading(page->file, "What --explain says of each kernel");
    for (size_t i = 0; i < page->count; i++) {
        char name[96];
        if (page->results[i].threads != page->threads)
            continue;
        row_name(&page->results[i], name);
        html_details(page->file, name, page->results[i].explanation);
    }
}

static void write_head(const struct page *page)
{
    char line[512];
    int length = snprintf(line, sizeof line, "ptxrun %s on %s, %u CPUs; code for CPU %s",
                          PTXRUN_VERSION, machine_cpu(), machine_cpus(),
                          pxr_options_get()->cpu[0] ? pxr_options_get()->cpu : "native");
    for (int i = 0; i < TABLE_COMPILERS; i++) {
        const char *compiler = table_plain_compiler((enum table_compiler)i);
        if (compiler)
            length += snprintf(line + length, sizeof line - (size_t)length, "%s%s",
                               i == TABLE_CC ? "; C by " : " and ", compiler);
    }
    snprintf(line + length, sizeof line - (size_t)length, ". %s of up to %u samples, all in turn.",
             page->wish->by_min ? "Minima" : "Medians", page->wish->rounds);
    html_paragraph(page->file, line);
    snprintf(line, sizeof line, "Pictures that do not say so are of %u %s.", page->threads,
             page->threads == 1 ? "thread" : "threads");
    html_paragraph(page->file, line);
    for (size_t i = 0; i < page->count; i++)
        if (page->results[i].error[0]) {
            char name[96];
            row_name(&page->results[i], name);
            snprintf(line, sizeof line, "FAILED: %s: %.300s", name, page->results[i].error);
            html_paragraph(page->file, line);
        }
}

void table_write_html(FILE *file, const struct table_result *results, size_t count,
                      const struct table_wish *wish)
{
    struct page page = {.file = file,
                        .results = results,
                        .count = count,
                        .wish = wish,
                        .threads = count > 0 ? results[0].threads : 0};
    html_open(file, "CUDA kernels on the CPU");
    write_head(&page);
    write_ratios(&page);
    write_all_ways(&page);
    write_compiling(&page);
    write_threads(&page);
    write_blocks(&page);
    write_numbers(&page);
    write_explanations(&page);
    html_close(file);
}
