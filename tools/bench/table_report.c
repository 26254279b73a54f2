/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench table`: results as text and as JSON.
 */
#include "tools/bench/table_report.h"

#include <math.h>
#include <string.h>

#include "tools/bench/machine.h"
#include "tools/bench/table_plain.h"
#include "util/json.h"
#include "util/options.h"

#define NAME_BYTES 32

double table_ratio(const struct table_result *result, enum table_version first)
{
    double other_us = result->us[table_best(result, first)];
    return other_us > 0 ? result->us[TABLE_OURS] / other_us : 0;
}

/* Of the plain C that counts: "clang". */
static void plain_compiler(const struct table_result *result, char name[NAME_BYTES])
{
    int best = table_best(result, TABLE_PLAIN);
    name[0] = '\0';
    if (result->us[best] > 0) {
        const char *text = table_plain_compiler((enum table_compiler)(best - TABLE_PLAIN));
        snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(text, " "), text);
    }
}

/* "x86-64-v3", or "native" for this machine's. */
static const char *cpu_name(void)
{
    const char *cpu = pxr_options_get()->cpu;
    return cpu[0] ? cpu : "native";
}

static struct bench_mean mean_of(const struct table_result *results, size_t count,
                                 enum table_version first, unsigned threads)
{
    struct bench_mean mean = {0};
    for (size_t i = 0; i < count; i++)
        if (!results[i].row->is_extra && (threads == 0 || results[i].threads == threads))
            bench_mean_add(&mean, table_ratio(&results[i], first));
    return mean;
}

/* ---- text ---- */

static void print_time(double us)
{
    if (us > 0)
        printf(" %11.1f", us);
    else
        printf(" %11s", "-");
}

static void print_ratio(double number)
{
    if (number > 0)
        printf(number < 100 ? " %7.2f" : " %7.0f", number);
    else
        printf(" %7s", "-");
}

void table_print_header(void)
{
    printf("%s; caches: %s\n", machine_cpu(), machine_caches());
    printf("code for CPU %s", cpu_name());
    for (int i = 0; i < TABLE_COMPILERS; i++) {
        const char *compiler = table_plain_compiler((enum table_compiler)i);
        if (compiler)
            printf("%s%s", i == TABLE_CC ? "; C by " : " and ", compiler);
    }
    printf("%s%s\n", pxr_options_get()->skip[0] ? "; without " : "", pxr_options_get()->skip);
    printf("%-27s %-12s %11s %-6s %11s %11s %7s %7s %6s %6s  %s\n", "times in us", "", "plain C",
           "by", "tuned C", "ptxrun", "/plain", "/tuned", "limit", "spread", "code, compile time");
}

void table_print_result(const struct table_result *result)
{
    printf("%-27s %-12s", result->row->kernel, result->row->size);
    print_time(result->us[table_best(result, TABLE_PLAIN)]);
    char compiler[NAME_BYTES];
    plain_compiler(result, compiler);
    printf(" %-6s", compiler);
    print_time(result->us[table_best(result, TABLE_TUNED)]);
    print_time(result->us[TABLE_OURS]);
    print_ratio(table_ratio(result, TABLE_PLAIN));
    print_ratio(table_ratio(result, TABLE_TUNED));
    if (result->limit_share > 0)
        printf(" %5.0f%%", 100 * result->limit_share);
    else
        printf(" %6s", "-");
    const struct table_code_notes *notes = &result->notes[TABLE_OURS];
    printf(" %5.0f%%  %s", 100 * result->spread[TABLE_OURS], notes->collapse);
    if (notes->width > 0)
        printf(" %ux%u", notes->width, notes->jam);
    printf(", %.1f ms\n", notes->compile_ms);
    if (result->error[0])
        printf("    FAILED: %s\n", result->error);
    fflush(stdout);
}

void table_print_limits(const struct table_limits *limits)
{
    if (limits->rate[TABLE_LIMIT_FMA_F32] > 0)
        printf("peak of f32 FMA: %.1f GFlop/s\n", limits->rate[TABLE_LIMIT_FMA_F32] * 1e-9);
    if (limits->rate[TABLE_LIMIT_FMA_F64] > 0)
        printf("peak of f64 FMA: %.1f GFlop/s\n", limits->rate[TABLE_LIMIT_FMA_F64] * 1e-9);
    if (limits->rate[TABLE_LIMIT_MEMORY] > 0)
        printf("peak of memory: %.1f GB/s\n", limits->rate[TABLE_LIMIT_MEMORY] * 1e-9);
}

void table_print_mean(const struct table_result *results, size_t count)
{
    struct bench_mean plain = mean_of(results, count, TABLE_PLAIN, 0);
    struct bench_mean tuned = mean_of(results, count, TABLE_TUNED, 0);
    printf("geometric mean of %u ratios to plain C: %.2f", plain.count, bench_mean_value(&plain));
    if (tuned.count > 0)
        printf("; of %u to tuned C: %.2f", tuned.count, bench_mean_value(&tuned));
    printf("\n");
}

/* ---- JSON ---- */

/* null if it is not above 0. */
static void write_number(struct json *json, const char *key, double number)
{
    json_number(json, key, number > 0 ? number : NAN);
}

static void write_result(struct json *json, const struct table_result *result)
{
    int plain = table_best(result, TABLE_PLAIN), tuned = table_best(result, TABLE_TUNED);
    const struct table_code_notes *notes = &result->notes[TABLE_OURS];
    json_open_object(json, NULL);
    json_text(json, "kernel", result->row->kernel);
    json_text(json, "size", result->row->size);
    json_number(json, "threads", result->threads);
    write_number(json, "ours_s", result->us[TABLE_OURS] * 1e-6);
    write_number(json, "plain_s", result->us[plain] * 1e-6);
    write_number(json, "tuned_s", result->us[tuned] * 1e-6);
    write_number(json, "ratio", table_ratio(result, TABLE_PLAIN));
    write_number(json, "ratio_tuned", table_ratio(result, TABLE_TUNED));
    write_number(json, "limit_share", result->limit_share);
    json_number(json, "spread", result->spread[TABLE_OURS]);
    json_number(json, "plain_spread", result->spread[plain]);
    char compiler[NAME_BYTES];
    plain_compiler(result, compiler);
    json_text(json, "plain_compiler", compiler);
    json_text(json, "collapse", notes->collapse);
    if (result->error[0])
        json_text(json, "error", result->error);
    json_number(json, "width", notes->width);
    json_number(json, "jam", notes->jam);
    json_number(json, "compile_ms", notes->compile_ms);
    json_close_object(json);
}

static void write_means(struct json *json, const struct table_result *results, size_t count)
{
    json_open_object(json, "geomean_by_threads");
    for (size_t i = 0; i < count; i++) { // rows of a number of threads stand together
        if (i > 0 && results[i].threads == results[i - 1].threads)
            continue;
        struct bench_mean mean = mean_of(results, count, TABLE_PLAIN, results[i].threads);
        char threads[16];
        snprintf(threads, sizeof threads, "%u", results[i].threads);
        json_number(json, threads, bench_mean_value(&mean));
    }
    json_close_object(json);
    struct bench_mean mean = mean_of(results, count, TABLE_PLAIN, 0);
    json_number(json, "geomean", bench_mean_value(&mean));
}

void table_write_json(FILE *file, const struct table_result *results, size_t count)
{
    struct json json = {.file = file};
    json_open_object(&json, NULL);
    json_text(&json, "machine", machine_cpu());
    json_text(&json, "caches", machine_caches());
    json_text(&json, "cpu", cpu_name());
    json_text(&json, "skip", pxr_options_get()->skip);
    for (int i = 0; i < TABLE_COMPILERS; i++) {
        const char *compiler = table_plain_compiler((enum table_compiler)i);
        if (compiler)
            json_text(&json, i == TABLE_CC ? "compiler" : "other_compiler", compiler);
    }
    json_open_array(&json, "rows");
    for (size_t i = 0; i < count; i++)
        write_result(&json, &results[i]);
    json_close_array(&json);
    write_means(&json, results, count);
    json_close_object(&json);
}
