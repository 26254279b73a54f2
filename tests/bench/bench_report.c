/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of ratios to plain C, of compile times, and the same as JSON.
 */
#include "tests/bench/bench_report.h"

static const char *const mode_names[BENCH_MODES] = {"normal", "jit"};
static const enum pxr_collapse columns[] = {PXR_COLLAPSE_PRECISE, PXR_COLLAPSE_FLAT,
                                            PXR_COLLAPSE_HIERARCHICAL, PXR_COLLAPSE_VECTOR,
                                            PXR_COLLAPSE_AUTO};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static double pick(struct bench_times times, bool by_min)
{
    return by_min ? times.min_us : times.median_us;
}

/* 0: not measured. */
static double ratio(const struct bench_result *result, int mode, enum pxr_collapse collapse,
                    bool by_min)
{
    double plain = pick(result->plain, by_min);
    return plain > 0 ? pick(result->variants[mode][collapse].times, by_min) / plain : 0;
}

/* How much longer code takes that knows no numbers of the launch. */
static double normal_to_jit(const struct bench_result *result, bool by_min)
{
    double jit = pick(result->variants[BENCH_JIT][PXR_COLLAPSE_AUTO].times, by_min);
    return jit > 0 ? pick(result->variants[BENCH_NORMAL][PXR_COLLAPSE_AUTO].times, by_min) / jit
                   : 0;
}

static void print_number(double number)
{
    if (number > 0)
        printf(number < 100 ? " %7.2f" : " %7.0f", number);
    else
        printf(" %7s", "-");
}

void bench_print_header(void)
{
    printf("%-15s %9s", "times plain C:", "plain C");
    for (int column = 0; column < COLUMN_COUNT; column++)
        printf(" |%15s", pxr_collapse_name(columns[column]));
    printf(" | auto:\n%-15s %9s", "kernel", "us");
    for (int column = 0; column < COLUMN_COUNT; column++)
        printf(" |%7s %7s", "normal", "jit");
    printf(" | normal/jit, what it is\n");
}

void bench_print_result(const struct bench_result *result, bool by_min)
{
    printf("%-15s %9.1f", result->kernel->name, pick(result->plain, by_min));
    for (int column = 0; column < COLUMN_COUNT; column++) {
        printf(" |");
        for (int mode = 0; mode < BENCH_MODES; mode++)
            print_number(ratio(result, mode, columns[column], by_min));
    }
    const struct bench_variant *best = &result->variants[BENCH_JIT][PXR_COLLAPSE_AUTO];
    printf(" |");
    print_number(normal_to_jit(result, by_min));
    char made[PXR_COLLAPSE_TEXT_BYTES] = "";
    if (best->is_there)
        pxr_collapse_text(best->code.collapse, best->code.width, best->code.jam, made);
    printf("   %s%s\n", made, result->has_failed ? "  FAILED" : "");
    fflush(stdout);
}

static void print_mean(const char *title, const struct bench_result *results, size_t count,
                       int has_loop, bool by_min)
{
    struct bench_mean means[COLUMN_COUNT][BENCH_MODES] = {0}, modes = {0};
    for (size_t i = 0; i < count; i++) {
        if (has_loop >= 0 && results[i].kernel->has_loop != has_loop)
            continue;
        for (int column = 0; column < COLUMN_COUNT; column++)
            for (int mode = 0; mode < BENCH_MODES; mode++)
                bench_mean_add(&means[column][mode],
                               ratio(&results[i], mode, columns[column], by_min));
        bench_mean_add(&modes, normal_to_jit(&results[i], by_min));
    }
    printf("%-25s", title);
    for (int column = 0; column < COLUMN_COUNT; column++) {
        printf(" |");
        for (int mode = 0; mode < BENCH_MODES; mode++)
            print_number(bench_mean_value(&means[column][mode]));
    }
    printf(" |");
    print_number(bench_mean_value(&modes));
    printf("\n");
}

void bench_print_means(const struct bench_result *results, size_t count, bool by_min)
{
    printf("geometric means\n");
    print_mean("  without inner loops", results, count, 0, by_min);
    print_mean("  with loops, warps", results, count, 1, by_min);
    print_mean("  all", results, count, -1, by_min);
}

static double compile_ms(const struct bench_code *code)
{
    return code->translate_ms + code->optimise_ms + code->codegen_ms;
}

void bench_print_compile_times(const struct bench_result *results, size_t count)
{
    struct bench_mean means[BENCH_COLLAPSES][BENCH_MODES] = {0};
    printf(
        "\ncompile times, CPU ms: all (translation and collapse, optimisation, code generation)\n"
        "%-15s %6s",
        "kernel", "mode");
    for (int collapse = PXR_COLLAPSE_PRECISE; collapse < BENCH_COLLAPSES; collapse++)
        printf(" %30s", pxr_collapse_name((enum pxr_collapse)collapse));
    printf("\n");
    for (size_t i = 0; i < count; i++)
        for (int mode = 0; mode < BENCH_MODES; mode++) {
            printf("%-15s %6s", results[i].kernel->name, mode_names[mode]);
            for (int collapse = PXR_COLLAPSE_PRECISE; collapse < BENCH_COLLAPSES; collapse++) {
                const struct bench_variant *variant = &results[i].variants[mode][collapse];
                const struct bench_code *code = &variant->code;
                if (!variant->is_there) {
                    printf(" %30s", "-");
                    continue;
                }
                printf(" %8.2f (%5.2f %5.2f %6.2f)", compile_ms(code), code->translate_ms,
                       code->optimise_ms, code->codegen_ms);
                bench_mean_add(&means[collapse][mode], compile_ms(code));
            }
            printf("\n");
        }
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        printf("%-15s %6s", "geometric mean", mode_names[mode]);
        for (int collapse = PXR_COLLAPSE_PRECISE; collapse < BENCH_COLLAPSES; collapse++)
            printf(" %8.2f %21s", bench_mean_value(&means[collapse][mode]), "");
        printf("\n");
    }
}

/* ---- JSON ---- */

static void write_variant(FILE *file, const struct bench_variant *variant, int mode, int asked)
{
    const struct bench_code *code = &variant->code;
    fprintf(file,
            "{\"asked\": \"%s\", \"collapse\": \"%s\", \"width\": %u, \"jam\": %u, "
            "\"mode\": \"%s\", \"median_us\": %.2f, "
            "\"min_us\": %.2f, \"translate_ms\": %.3f, \"optimise_ms\": %.3f, "
            "\"codegen_ms\": %.3f, \"wall_ms\": %.3f, \"object_bytes\": %zu}",
            pxr_collapse_name((enum pxr_collapse)asked), pxr_collapse_name(code->collapse),
            code->width, code->jam, mode_names[mode], variant->times.median_us,
            variant->times.min_us, code->translate_ms, code->optimise_ms, code->codegen_ms,
            code->wall_ms, code->object_bytes);
}

static void write_result(FILE *file, const struct bench_result *result)
{
    fprintf(file, "  {\"kernel\": \"%s\", \"has_loop\": %s, \"failed\": %s, ", result->kernel->name,
            result->kernel->has_loop ? "true" : "false", result->has_failed ? "true" : "false");
    fprintf(file, "\"plain_median_us\": %.2f, \"plain_min_us\": %.2f, \"variants\": [",
            result->plain.median_us, result->plain.min_us);
    const char *separator = "\n    ";
    for (int mode = 0; mode < BENCH_MODES; mode++)
        for (int collapse = 0; collapse < BENCH_COLLAPSES; collapse++) {
            if (!result->variants[mode][collapse].is_there)
                continue;
            fputs(separator, file);
            write_variant(file, &result->variants[mode][collapse], mode, collapse);
            separator = ",\n    ";
        }
    fputs("]}", file);
}

void bench_write_json(FILE *file, const struct bench_result *results, size_t count,
                      unsigned threads)
{
    fprintf(file, "{\"threads\": %u, \"kernels\": [\n", threads);
    for (size_t i = 0; i < count; i++) {
        write_result(file, &results[i]);
        fputs(i + 1 < count ? ",\n" : "\n", file);
    }
    fputs("]}", file);
}
