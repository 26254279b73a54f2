/* SPDX-License-Identifier: Apache-2.0
 *
 * What was measured, for other programs: JSON and CSV.
 */
#include "tools/bench/comparison.h"
#include "tools/bench/csv.h"
#include "tools/bench/machine.h"
#include "util/json.h"

/* ---- JSON ---- */

static void write_summary(struct json *json, const char *key, struct samples_summary summary)
{
    if (summary.count == 0) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_number(json, "median", summary.median);
    json_number(json, "min", summary.min);
    json_number(json, "max", summary.max);
    json_close_object(json);
}

static void write_runs(struct json *json, const struct comparison *comparison, unsigned setting,
                       enum comparison_heat heat)
{
    const struct comparison_runs *runs = &comparison->runs[comparison_index(setting, heat)];
    json_open_object(json, comparison_heat_name(heat));
    json_number(json, "runs", runs->measures[COMPARISON_WALL].count);
    if (runs->problem[0])
        json_text(json, "problem", runs->problem);
    for (int i = 0; i < COMPARISON_MEASURES; i++) {
        enum comparison_measure measure = (enum comparison_measure)i;
        char key[32];
        snprintf(key, sizeof key, "%s_ms", comparison_measure_name(measure));
        write_summary(json, key, comparison_summary(comparison, setting, heat, measure));
    }
    json_close_object(json);
}

static void write_setting(struct json *json, const struct comparison *comparison, unsigned setting)
{
    const struct setting *described = &comparison->settings->settings[setting];
    json_open_object(json, NULL);
    json_text(json, "setting", described->label);
    json_open_object(json, "options");
    for (unsigned i = 0; i < comparison->axes->count; i++)
        if (described->values[i])
            json_text(json, pxr_option_table[comparison->axes->axes[i].option].name,
                      described->values[i]);
    json_close_object(json);
    json_bool(json, "output_is_same", !comparison->differences[setting]);
    if (comparison->differences[setting])
        json_text(json, "output_difference", comparison->differences[setting]);
    for (int heat = 0; heat < COMPARISON_HEATS; heat++)
        write_runs(json, comparison, setting, (enum comparison_heat)heat);
    json_close_object(json);
}

static void write_kernel_times(struct json *json, const struct comparison *comparison,
                               const struct comparison_kernel *kernel, unsigned setting,
                               enum comparison_heat heat)
{
    const struct comparison_times *times = &kernel->times[comparison_index(setting, heat)];
    if (times->run_ms.count == 0)
        return;
    json_open_object(json, NULL);
    json_text(json, "setting", comparison->settings->settings[setting].label);
    json_text(json, "cache", comparison_heat_name(heat));
    json_number(json, "calls", (double)times->calls);
    write_summary(json, "run_ms", samples_summary(&times->run_ms, false));
    write_summary(json, "compile_ms", samples_summary(&times->compile_ms, false));
    json_text(json, "collapse", times->collapse);
    json_close_object(json);
}

static void write_kernel(struct json *json, const struct comparison *comparison,
                         const struct comparison_kernel *kernel)
{
    json_open_object(json, NULL);
    json_text(json, "name", kernel->name);
    json_text(json, "readable", kernel->readable);
    json_text(json, "explanation", kernel->explanation);
    json_open_array(json, "times");
    for (unsigned i = 0; i < comparison->settings->count; i++)
        for (int heat = 0; heat < COMPARISON_HEATS; heat++)
            write_kernel_times(json, comparison, kernel, i, (enum comparison_heat)heat);
    json_close_array(json);
    json_close_object(json);
}

void comparison_write_json(const struct comparison *comparison, FILE *file)
{
    struct json json = {.file = file};
    json_open_object(&json, NULL);
    json_text(&json, "ptxrun", PTXRUN_VERSION);
    json_text(&json, "cpu", machine_cpu());
    json_number(&json, "cpus", machine_cpus());
    json_open_array(&json, "program");
    for (char *const *word = comparison->wish->program; *word; word++)
        json_text(&json, NULL, *word);
    json_close_array(&json);
    json_number(&json, "rounds", comparison->rounds);
    if (comparison->stopped[0])
        json_text(&json, "stopped", comparison->stopped);
    char end[PROCESS_TEXT_BYTES];
    process_end_text(&comparison->first, end);
    json_text(&json, "end", end);
    json_bool(&json, "output_is_compared", !comparison->outputs.has_other_length);
    json_open_array(&json, "settings");
    for (unsigned i = 0; i < comparison->settings->count; i++)
        write_setting(&json, comparison, i);
    json_close_array(&json);
    json_open_array(&json, "kernels");
    for (unsigned i = 0; i < comparison->kernel_count; i++)
        write_kernel(&json, comparison, &comparison->kernels[i]);
    json_close_array(&json);
    json_close_object(&json);
}

/* ---- CSV: a line for each number, so that every program can pick and pivot ---- */

struct csv_line {
    const char *kernel; /* "": of the whole process */
    unsigned setting;
    enum comparison_heat heat;
    const char *measure;
};

static void write_line(struct csv *csv, const struct comparison *comparison,
                       const struct csv_line *line, struct samples_summary summary)
{
    if (summary.count == 0)
        return;
    csv_text(csv, comparison->settings->settings[line->setting].label);
    csv_text(csv, comparison_heat_name(line->heat));
    csv_text(csv, line->kernel);
    csv_text(csv, line->measure);
    csv_number(csv, summary.count);
    csv_number(csv, summary.median);
    csv_number(csv, summary.min);
    csv_number(csv, summary.max);
    csv_end_line(csv);
}

static void write_lines(struct csv *csv, const struct comparison *comparison, unsigned setting,
                        enum comparison_heat heat)
{
    struct csv_line line = {.kernel = "", .setting = setting, .heat = heat};
    for (int i = 0; i < COMPARISON_MEASURES; i++) {
        enum comparison_measure measure = (enum comparison_measure)i;
        line.measure = comparison_measure_name(measure);
        write_line(csv, comparison, &line, comparison_summary(comparison, setting, heat, measure));
    }
    for (unsigned i = 0; i < comparison->kernel_count; i++) {
        const struct comparison_times *times =
            &comparison->kernels[i].times[comparison_index(setting, heat)];
        line.kernel = comparison->kernels[i].readable;
        line.measure = "run";
        write_line(csv, comparison, &line, samples_summary(&times->run_ms, false));
        line.measure = comparison_measure_name(COMPARISON_COMPILE);
        write_line(csv, comparison, &line, samples_summary(&times->compile_ms, false));
    }
}

void comparison_write_csv(const struct comparison *comparison, FILE *file)
{
    static const char *const columns[] = {"setting", "cache",     "kernel", "measure",
                                          "runs",    "median_ms", "min_ms", "max_ms"};
    struct csv csv = {.file = file};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        csv_text(&csv, columns[i]);
    csv_end_line(&csv);
    for (unsigned i = 0; i < comparison->settings->count; i++)
        for (int heat = 0; heat < COMPARISON_HEATS; heat++)
            write_lines(&csv, comparison, i, (enum comparison_heat)heat);
}
