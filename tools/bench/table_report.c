/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench table`: results as text and as JSON.
 */
#include "tools/bench/table_report.h"

#include <string.h>

#include "tools/bench/table_plain.h"
#include "util/options.h"

#define NAME_BYTES 32

/* Ours to the faster compiler's code; 0 if one of them is missing. */
static double ratio_to(const struct table_result *result, enum table_version first)
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
        if (threads == 0 || results[i].threads == threads)
            bench_mean_add(&mean, ratio_to(&results[i], first));
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
    print_ratio(ratio_to(result, TABLE_PLAIN));
    print_ratio(ratio_to(result, TABLE_TUNED));
    if (result->limit_share > 0)
        printf(" %5.0f%%", 100 * result->limit_share);
    else
        printf(" %6s", "-");
    printf(" %5.0f%%  %s", 100 * result->spread[TABLE_OURS], result->notes.collapse);
    if (result->notes.width > 0)
        printf(" %ux%u", result->notes.width, result->notes.jam);
    printf(", %.1f ms\n", result->notes.compile_ms);
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

static void write_number(FILE *file, const char *key, double number)
{
    if (number > 0)
        fprintf(file, "\"%s\": %.6g, ", key, number);
    else
        fprintf(file, "\"%s\": null, ", key);
}

static void write_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, "\"%s\": \"", key);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, file);
    fputs("\", ", file);
}

static void write_result(FILE *file, const struct table_result *result)
{
    int plain = table_best(result, TABLE_PLAIN), tuned = table_best(result, TABLE_TUNED);
    fputs("  {", file);
    write_text(file, "kernel", result->row->kernel);
    write_text(file, "size", result->row->size);
    fprintf(file, "\"threads\": %u, ", result->threads);
    write_number(file, "ours_s", result->us[TABLE_OURS] * 1e-6);
    write_number(file, "plain_s", result->us[plain] * 1e-6);
    write_number(file, "tuned_s", result->us[tuned] * 1e-6);
    write_number(file, "ratio", ratio_to(result, TABLE_PLAIN));
    write_number(file, "ratio_tuned", ratio_to(result, TABLE_TUNED));
    write_number(file, "limit_share", result->limit_share);
    fprintf(file, "\"spread\": %.3f, \"plain_spread\": %.3f, ", result->spread[TABLE_OURS],
            result->spread[plain]);
    char compiler[NAME_BYTES];
    plain_compiler(result, compiler);
    write_text(file, "plain_compiler", compiler);
    write_text(file, "collapse", result->notes.collapse);
    if (result->error[0])
        write_text(file, "error", result->error);
    fprintf(file, "\"width\": %u, \"jam\": %u, \"compile_ms\": %.3f}", result->notes.width,
            result->notes.jam, result->notes.compile_ms);
}

void table_write_json(FILE *file, const struct table_result *results, size_t count)
{
    fputs("{", file);
    write_text(file, "cpu", cpu_name());
    write_text(file, "skip", pxr_options_get()->skip);
    for (int i = 0; i < TABLE_COMPILERS; i++) {
        const char *compiler = table_plain_compiler((enum table_compiler)i);
        if (compiler)
            write_text(file, i == TABLE_CC ? "compiler" : "other_compiler", compiler);
    }
    fputs("\n\"rows\": [\n", file);
    for (size_t i = 0; i < count; i++) {
        write_result(file, &results[i]);
        fputs(i + 1 < count ? ",\n" : "\n", file);
    }
    fputs("],\n\"geomean_by_threads\": {", file);
    for (size_t i = 0; i < count; i++) { // rows of a number of threads stand together
        if (i > 0 && results[i].threads == results[i - 1].threads)
            continue;
        struct bench_mean mean = mean_of(results, count, TABLE_PLAIN, results[i].threads);
        fprintf(file, "%s\"%u\": %.4f", i > 0 ? ", " : "", results[i].threads,
                bench_mean_value(&mean));
    }
    struct bench_mean mean = mean_of(results, count, TABLE_PLAIN, 0);
    fprintf(file, "},\n\"geomean\": %.4f}\n", bench_mean_value(&mean));
}
