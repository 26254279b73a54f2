/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the program in all settings, in turn: first without compiled code, then with what that run
 * has left. Each setting has a cache of its own.
 */
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/bench/bench_measure.h"
#include "tools/bench/comparison.h"
#include "tools/bench/explanations.h"
#include "tools/bench/stats_file.h"
#include "util/readable_name.h"

/* A setting so much slower than the first one, and so slow, is run once: it is told from others
 * without a second time, and what compiling takes is nothing in it. */
#define SLOW_RATIO 10.0
#define SLOW_MS    1000.0

/* If nothing else is said: for the first run, and for the others as a multiple of what it took. */
#define FIRST_LIMIT_S    300
#define LIMIT_RATIO      10.0
#define SHORTEST_LIMIT_S 20.0

#define PATH_BYTES       256
#define VARIABLE_BYTES   (PATH_BYTES + 64)
#define MAX_VARIABLES    (SETTINGS_MAX_AXES + 8)

/* The files of the runs, in a temporary folder. */
struct place {
    char folder[32];
    char out[PATH_BYTES];
    char err[PATH_BYTES];
    char stats[PATH_BYTES];
};

/* Outputs of a setting that are not the first run's, each once. */
struct strange {
    struct output *outputs;
    unsigned count;
};

struct session {
    struct comparison *comparison;
    struct place place;
    struct strange *strange; /* of each setting */
    double start_us;
};

unsigned comparison_index(unsigned setting, enum comparison_heat heat)
{
    return setting * COMPARISON_HEATS + heat;
}

/* ---- files ---- */

static bool make_place(struct place *place)
{
    strcpy(place->folder, "/tmp/ptxbench-XXXXXX");
    if (!mkdtemp(place->folder)) {
        fprintf(stderr, "ptxbench: no temporary folder: %s\n", strerror(errno));
        return false;
    }
    snprintf(place->out, PATH_BYTES, "%s/out", place->folder);
    snprintf(place->err, PATH_BYTES, "%s/err", place->folder);
    snprintf(place->stats, PATH_BYTES, "%s/stats", place->folder);
    return true;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_folder(const char *path)
{
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void cache_path(const struct place *place, unsigned setting, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/cache%u", place->folder, setting);
}

static void empty_cache(const struct place *place, unsigned setting)
{
    char path[PATH_BYTES];
    cache_path(place, setting, path);
    remove_folder(path);
    mkdir(path, 0700);
}

/* ---- one run ---- */

/* The environment of a run. */
struct variables {
    char texts[MAX_VARIABLES][VARIABLE_BYTES];
    char *list[MAX_VARIABLES + 1];
    unsigned count;
};

static void set_variable(struct variables *variables, enum pxr_option_id option, const char *value)
{
    char *text = variables->texts[variables->count];
    snprintf(text, VARIABLE_BYTES, "%s=%s", pxr_option_table[option].variable, value);
    variables->list[variables->count++] = text;
    variables->list[variables->count] = NULL;
}

static void set_variables(struct variables *variables, const struct session *session,
                          unsigned setting, bool is_explained)
{
    const struct comparison *comparison = session->comparison;
    char path[PATH_BYTES];
    cache_path(&session->place, setting, path);
    variables->count = 0;
    set_variable(variables, PXR_OPTION_CACHE, "on");
    set_variable(variables, PXR_OPTION_CACHE_DIR, path);
    set_variable(variables, PXR_OPTION_STATS, "0");
    set_variable(variables, PXR_OPTION_STATS_FILE, session->place.stats);
    set_variable(variables, PXR_OPTION_EXPLAIN, is_explained ? "1" : "0");
    if (is_explained) // what there is to say is said of the best code
        set_variable(variables, PXR_OPTION_TIER, "best");
    for (unsigned i = 0; i < comparison->axes->count; i++)
        if (comparison->settings->settings[setting].values[i])
            set_variable(variables, comparison->axes->axes[i].option,
                         comparison->settings->settings[setting].values[i]);
}

/* ptxrun, and the program with its arguments. The caller frees it. */
static char **command_of(const struct comparison_wish *wish)
{
    size_t words = 0;
    while (wish->program[words])
        words++;
    char **command = calloc(words + 3, sizeof(char *));
    command[0] = (char *)wish->ptxrun;
    command[1] = "--";
    memcpy(command + 2, wish->program, words * sizeof(char *));
    return command;
}

static void run(const struct session *session, unsigned setting, bool is_explained,
                struct process_outcome *outcome)
{
    const struct comparison_wish *wish = session->comparison->wish;
    struct variables variables;
    set_variables(&variables, session, setting, is_explained);
    char **command = command_of(wish);
    process_run(&(struct process_wish){.command = command,
                                       .variables = variables.list,
                                       .out_file = session->place.out,
                                       .err_file = is_explained ? session->place.err : NULL,
                                       .limit_s = session->comparison->limit_s},
                outcome);
    free(command);
}

/* ---- what it took ---- */

/* What a run says of its kernels. */
struct kernel_sums {
    struct comparison *comparison;
    unsigned index;
    struct {
        double run_ms;
        double compile_ms;
        uint64_t calls;
        bool is_there;
    } *of; /* each kernel */
    double run_ms;
    double compile_ms;
};

static unsigned find_kernel(struct comparison *comparison, const char *name)
{
    for (unsigned i = 0; i < comparison->kernel_count; i++)
        if (strcmp(comparison->kernels[i].name, name) == 0)
            return i;
    comparison->kernels = realloc(comparison->kernels,
                                  (comparison->kernel_count + 1) * sizeof comparison->kernels[0]);
    comparison->kernels[comparison->kernel_count] = (struct comparison_kernel){
        .name = strdup(name),
        .readable = pxr_readable_name(name),
        .explanation = strdup(""),
        .times = calloc((size_t)comparison->settings->count * COMPARISON_HEATS,
                        sizeof(struct comparison_times))};
    return comparison->kernel_count++;
}

/* stats_take_fn */
static void add_line(void *arg, const struct stats_line *line)
{
    struct kernel_sums *sums = arg;
    unsigned before = sums->comparison->kernel_count;
    unsigned kernel = find_kernel(sums->comparison, line->name);
    if (kernel >= before) {
        sums->of = realloc(sums->of, (kernel + 1) * sizeof sums->of[0]);
        memset(&sums->of[kernel], 0, sizeof sums->of[0]);
    }
    double run_ms = (double)line->total_ns / 1e6, compile_ms = (double)line->compile_ns / 1e6;
    sums->of[kernel].is_there = true;
    sums->of[kernel].run_ms += run_ms;
    sums->of[kernel].compile_ms += compile_ms;
    sums->of[kernel].calls += line->calls;
    sums->run_ms += run_ms;
    sums->compile_ms += compile_ms;
    struct comparison_times *times = &sums->comparison->kernels[kernel].times[sums->index];
    if (line->collapse[0])
        snprintf(times->collapse, sizeof times->collapse, "%s", line->collapse);
}

static void add_run(struct session *session, unsigned index, const struct process_outcome *outcome)
{
    struct comparison *comparison = session->comparison;
    struct kernel_sums sums = {.comparison = comparison, .index = index};
    sums.of = calloc(comparison->kernel_count + 1, sizeof sums.of[0]);
    stats_file_take(session->place.stats, add_line, &sums);
    for (unsigned i = 0; i < comparison->kernel_count; i++) {
        if (!sums.of[i].is_there)
            continue;
        struct comparison_times *times = &comparison->kernels[i].times[index];
        samples_add(&times->run_ms, sums.of[i].run_ms);
        samples_add(&times->compile_ms, sums.of[i].compile_ms);
        times->calls = sums.of[i].calls;
    }
    free(sums.of);
    struct samples *measures = comparison->runs[index].measures;
    samples_add(&measures[COMPARISON_WALL], outcome->wall_ms);
    samples_add(&measures[COMPARISON_CPU], outcome->cpu_ms);
    samples_add(&measures[COMPARISON_KERNELS], sums.run_ms);
    samples_add(&measures[COMPARISON_COMPILE], sums.compile_ms);
}

/* Keeps an output that is none of those that have been seen. */
static void keep_output(struct strange *strange, const struct output *first, struct output output)
{
    const struct output *seen = first;
    for (unsigned i = 0; i <= strange->count; i++) {
        if (seen->size == output.size && memcmp(seen->text, output.text, output.size) == 0) {
            output_free(&output);
            return;
        }
        seen = &strange->outputs[i];
    }
    strange->outputs = realloc(strange->outputs, (strange->count + 1) * sizeof output);
    strange->outputs[strange->count++] = output;
}

static bool is_same_end(const struct process_outcome *a, const struct process_outcome *b)
{
    return a->end == b->end && a->code == b->code;
}

static void run_setting(struct session *session, unsigned setting, enum comparison_heat heat)
{
    struct comparison *comparison = session->comparison;
    unsigned index = comparison_index(setting, heat);
    struct process_outcome outcome;
    run(session, setting, false, &outcome);
    if (outcome.end == PROCESS_INTERRUPTED) {
        unlink(session->place.stats);
        return;
    }
    if (!is_same_end(&outcome, &comparison->first)) {
        process_end_text(&outcome, comparison->runs[index].problem);
        unlink(session->place.stats);
        return;
    }
    add_run(session, index, &outcome);
    struct output output = output_read(session->place.out);
    if (setting == 0)
        outputs_learn(&comparison->outputs, &output);
    keep_output(&session->strange[setting], &comparison->outputs.first, output);
}

/* ---- rounds ---- */

static bool is_over(const struct session *session)
{
    struct comparison *comparison = session->comparison;
    unsigned budget_s = comparison->wish->budget_s;
    if (process_is_interrupted())
        snprintf(comparison->stopped, sizeof comparison->stopped, "interrupted");
    else if (bench_now_us() - session->start_us > budget_s * 1e6)
        snprintf(comparison->stopped, sizeof comparison->stopped,
                 "the %u s of --budget are used up", budget_s);
    return comparison->stopped[0] != '\0';
}

static bool is_slow(const struct comparison *comparison, unsigned setting)
{
    double first_ms = comparison_summary(comparison, 0, COMPARISON_COLD, COMPARISON_WALL).value;
    double its_ms = comparison_summary(comparison, setting, COMPARISON_COLD, COMPARISON_WALL).value;
    return its_ms > SLOW_MS && its_ms > SLOW_RATIO * first_ms;
}

static bool has_problem(const struct comparison *comparison, unsigned setting)
{
    return comparison->runs[comparison_index(setting, COMPARISON_COLD)].problem[0] ||
           comparison->runs[comparison_index(setting, COMPARISON_WARM)].problem[0];
}

static void show_progress(const struct comparison *comparison, unsigned round, unsigned done,
                          unsigned setting)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Kround %u of %u, %u of %u: %s", round + 1, comparison->wish->rounds,
                done + 1, comparison->settings->count,
                comparison->settings->settings[setting].label);
}

static void hide_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* There and back, so that none is always the first one. False: it is over. */
static bool run_round(struct session *session, unsigned round)
{
    struct comparison *comparison = session->comparison;
    unsigned count = comparison->settings->count;
    for (unsigned i = 0; i < count; i++) {
        unsigned setting = round % 2 ? count - 1 - i : i;
        if (has_problem(comparison, setting) || (round > 0 && is_slow(comparison, setting)))
            continue;
        if (is_over(session))
            return false;
        show_progress(comparison, round, i, setting);
        empty_cache(&session->place, setting);
        run_setting(session, setting, COMPARISON_COLD);
        if (!has_problem(comparison, setting) && !is_slow(comparison, setting) && !is_over(session))
            run_setting(session, setting, COMPARISON_WARM);
    }
    return true;
}

/* ---- the first run ---- */

static void print_last_words(const char *path)
{
    struct output said = output_read(path);
    size_t begin = said.size;
    for (int lines = 0; begin > 0; begin--)
        if (said.text[begin - 1] == '\n' && begin < said.size && ++lines == 5)
            break;
    if (said.size > 0)
        fprintf(stderr, "%.*s", (int)(said.size - begin), said.text + begin);
    output_free(&said);
}

static bool is_runnable(const struct process_outcome *outcome)
{
    enum { PTXRUN_FAILED = 125, NOT_EXECUTABLE, NOT_FOUND };
    return outcome->end == PROCESS_EXITED && outcome->code != PTXRUN_FAILED &&
           outcome->code != NOT_EXECUTABLE && outcome->code != NOT_FOUND;
}

/* Not measured: it brings files into memory, explains the kernels, and is what the others are
 * compared with. */
static bool run_first(struct session *session)
{
    struct comparison *comparison = session->comparison;
    struct process_outcome *outcome = &comparison->first;
    unsigned limit_s = comparison->wish->limit_s;
    comparison->limit_s = limit_s > 0 ? limit_s : FIRST_LIMIT_S;
    empty_cache(&session->place, 0);
    run(session, 0, true, outcome);
    if (limit_s == 0)
        comparison->limit_s =
            (unsigned)fmax(LIMIT_RATIO * outcome->wall_ms * 1e-3, SHORTEST_LIMIT_S);
    outputs_init(&comparison->outputs, output_read(session->place.out));
    char text[PROCESS_TEXT_BYTES];
    process_end_text(outcome, text);
    if (!is_runnable(outcome) || outcome->code != 0) {
        fprintf(stderr, "ptxbench: the program under ptxrun: %s. Its last words:\n", text);
        print_last_words(session->place.err);
    }
    if (!is_runnable(outcome))
        return false;
    struct kernel_sums sums = {.comparison = comparison};
    sums.of = calloc(1, sizeof sums.of[0]);
    stats_file_take(session->place.stats, add_line, &sums);
    free(sums.of);
    struct output said = output_read(session->place.err);
    for (unsigned i = 0; i < comparison->kernel_count; i++) {
        free(comparison->kernels[i].explanation);
        comparison->kernels[i].explanation =
            explanation_of(said.text, comparison->kernels[i].readable);
    }
    output_free(&said);
    return true;
}

/* ---- all ---- */

static void note_differences(struct session *session)
{
    struct comparison *comparison = session->comparison;
    for (unsigned i = 0; i < comparison->settings->count; i++) {
        bool is_number = false;
        size_t line = 0;
        for (unsigned j = 0; j < session->strange[i].count && line == 0; j++)
            if (!comparison->outputs.has_other_length)
                line = outputs_difference(&comparison->outputs, &session->strange[i].outputs[j],
                                          &is_number);
        if (line > 0 && asprintf(&comparison->differences[i], "%s line %zu",
                                 is_number ? "other numbers in" : "another", line) > 0)
            comparison->has_failed = true;
        comparison->has_failed |= has_problem(comparison, i);
    }
}

/* qsort_r's */
static int by_time(const void *a, const void *b, void *arg)
{
    double left_ms = comparison_run_summary(arg, a, 0, COMPARISON_WARM).value;
    double right_ms = comparison_run_summary(arg, b, 0, COMPARISON_WARM).value;
    return (left_ms < right_ms) - (left_ms > right_ms);
}

static void free_session(struct session *session)
{
    for (unsigned i = 0; i < session->comparison->settings->count; i++) {
        for (unsigned j = 0; j < session->strange[i].count; j++)
            output_free(&session->strange[i].outputs[j]);
        free(session->strange[i].outputs);
    }
    free(session->strange);
    remove_folder(session->place.folder);
}

bool comparison_measure(struct comparison *comparison, const struct comparison_wish *wish,
                        const struct settings_axes *axes, const struct settings *settings)
{
    *comparison = (struct comparison){.wish = wish, .axes = axes, .settings = settings};
    comparison->runs =
        calloc((size_t)settings->count * COMPARISON_HEATS, sizeof comparison->runs[0]);
    comparison->differences = calloc(settings->count, sizeof(char *));
    struct session session = {.comparison = comparison, .start_us = bench_now_us()};
    if (!make_place(&session.place))
        return false;
    session.strange = calloc(settings->count, sizeof session.strange[0]);
    bool is_started = run_first(&session);
    while (is_started && comparison->rounds < wish->rounds &&
           run_round(&session, comparison->rounds))
        comparison->rounds++;
    hide_progress();
    if (is_started) {
        note_differences(&session);
        if (comparison->kernel_count > 0)
            qsort_r(comparison->kernels, comparison->kernel_count, sizeof comparison->kernels[0],
                    by_time, comparison);
    }
    free_session(&session);
    return is_started;
}
