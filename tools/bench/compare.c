/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench compare`: its command line.
 */
#include "tools/bench/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/beside.h"
#include "tools/bench/comparison.h"
#include "tools/bench/machine.h"
#include "translator/step_names.h"

#define MAX_ROUNDS 1000

static const char usage[] =
    "usage: ptxbench compare [options] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a CUDA program under ptxrun as it comes, and with one option changed at a time, in "
    "turn,\n"
    "each with an empty cache and again with what that run has left in it. Says what the whole\n"
    "process and each kernel take, and whether the program prints the same in all settings.\n"
    "\n"
    "  --OPTION LIST   values of an option of ptxrun, with commas between: --collapse "
    "flat,vector;\n"
    "                  '' leaves the option as it is. What is compared if nothing is said is "
    "below\n"
    "  --cross         all combinations of the values instead of one change at a time\n"
    "  --min           minima count instead of medians, for a busy machine\n"
    "  --rounds N      default 5; a setting 10 times as slow as the first is run once\n"
    "  --limit N       seconds for one run; default: 10 times the first one, at least 20\n"
    "  --budget N      seconds for everything: no run begins after them; default 600\n"
    "  --json FILE, --csv FILE, --html FILE\n"
    "                  the same as files; the page has pictures\n"
    "  --ptxrun FILE   default: the one beside ptxbench\n"
    "\n"
    "The program runs in this folder, with nothing to read. PTXRUN_… variables hold in all "
    "settings.\n"
    "Ctrl-C ends it, with a report of what was measured.\n";

enum report { REPORT_JSON, REPORT_CSV, REPORT_HTML, REPORTS };

static void (*const writers[REPORTS])(const struct comparison *,
                                      FILE *) = {[REPORT_JSON] = comparison_write_json,
                                                 [REPORT_CSV] = comparison_write_csv,
                                                 [REPORT_HTML] = comparison_write_html};

struct command_line {
    struct comparison_wish wish;
    struct settings_axes axes;
    bool is_crossed;
    bool is_help;
    const char *paths[REPORTS]; /* NULL: not wanted */
};

static bool complain(const char *text, const char *about)
{
    fprintf(stderr, "ptxbench: %s%s; see ptxbench compare --help\n", text, about);
    return false;
}

/* ---- options ---- */

static bool parse_number(const char *text, unsigned most, unsigned *number)
{
    char *end;
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 10);
    *number = (unsigned)parsed;
    return *text >= '0' && *text <= '9' && !*end && !errno && parsed > 0 && parsed <= most;
}

/* What runs are told by compare itself. */
static bool is_own(enum pxr_option_id option)
{
    return option == PXR_OPTION_CACHE_DIR || option == PXR_OPTION_STATS ||
           option == PXR_OPTION_STATS_FILE || option == PXR_OPTION_EXPLAIN;
}

static bool set_axis(struct command_line *line, enum pxr_option_id option, const char *list)
{
    struct pxr_error err;
    enum pxr_status status = settings_set_axis(&line->axes, option, list, &err);
    if (status == PXR_OK && option == PXR_OPTION_SKIP)
        status = tr_check_skip(list, &err);
    return status == PXR_OK || complain(err.message, "");
}

/* An option with a value. */
static bool take_option(struct command_line *line, const char *name, size_t length,
                        const char *value)
{
    struct comparison_wish *wish = &line->wish;
    const struct {
        const char *name;
        const char **text; /* or */
        unsigned *number;
        unsigned most;
    } options[] = {
        {"rounds", NULL, &wish->rounds, MAX_ROUNDS}, {"limit", NULL, &wish->limit_s, 1u << 20},
        {"budget", NULL, &wish->budget_s, 1u << 20}, {"json", &line->paths[REPORT_JSON], NULL, 0},
        {"csv", &line->paths[REPORT_CSV], NULL, 0},  {"html", &line->paths[REPORT_HTML], NULL, 0},
        {"ptxrun", &wish->ptxrun, NULL, 0},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strlen(options[i].name) != length || strncmp(options[i].name, name, length) != 0)
            continue;
        if (options[i].text)
            *options[i].text = value;
        return options[i].text || parse_number(value, options[i].most, options[i].number) ||
               complain("not a number for this option: ", value);
    }
    enum pxr_option_id id = pxr_option_find(name, length);
    if (id == PXR_OPTION_COUNT)
        return complain("unknown option: --", name);
    if (is_own(id))
        return complain("compare uses this option itself: --", name);
    return set_axis(line, id, value);
}

static bool parse_command_line(char **argv, struct command_line *line)
{
    char **at = argv + 1;
    for (; *at && (*at)[0] == '-'; at++) {
        const char *name = *at + 2;
        size_t length = strcspn(name, "=");
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        line->is_help |= strcmp(*at, "--help") == 0 || strcmp(*at, "-h") == 0;
        if (line->is_help)
            return true;
        if (strncmp(*at, "--", 2) != 0)
            return complain("unknown option: ", *at);
        line->is_crossed |= strcmp(name, "cross") == 0;
        line->wish.by_min |= strcmp(name, "min") == 0;
        if (strcmp(name, "cross") == 0 || strcmp(name, "min") == 0)
            continue;
        const char *value = name[length] ? name + length + 1 : *++at;
        if (!value)
            return complain("a value is missing for --", name);
        if (!take_option(line, name, length, value))
            return false;
    }
    line->wish.program = at;
    return *at || complain("no program", "");
}

static void print_help(const struct settings_axes *axes)
{
    fputs(usage, stdout);
    puts("\nCompared if nothing is said, besides the defaults:");
    for (unsigned i = 0; i < axes->count; i++) {
        printf("  --%s ", pxr_option_table[axes->axes[i].option].name);
        for (unsigned j = 0; j < axes->axes[i].count; j++)
            printf("%s%s", j > 0 ? "," : "", axes->axes[i].values[j]);
        puts("");
    }
}

/* ---- reports ---- */

/* Opened before anything is measured: a path that cannot be written must not cost an hour. */
static bool open_reports(const struct command_line *line, FILE *files[REPORTS])
{
    for (int i = 0; i < REPORTS; i++) {
        files[i] = line->paths[i] ? fopen(line->paths[i], "we") : NULL;
        if (line->paths[i] && !files[i]) {
            fprintf(stderr, "ptxbench: cannot write %s: %s\n", line->paths[i], strerror(errno));
            return false;
        }
    }
    return true;
}

static bool write_reports(const struct comparison *comparison, const struct command_line *line,
                          FILE *files[REPORTS])
{
    bool is_written = true;
    for (int i = 0; i < REPORTS; i++) {
        if (!files[i])
            continue;
        writers[i](comparison, files[i]);
        bool has_failed = ferror(files[i]) != 0;
        if (fclose(files[i]) != 0 || has_failed) {
            fprintf(stderr, "ptxbench: cannot write %s: %s\n", line->paths[i], strerror(errno));
            is_written = false;
        }
    }
    return is_written;
}

static int compare(const struct command_line *line)
{
    FILE *files[REPORTS] = {NULL};
    if (!open_reports(line, files))
        return 2;
    struct settings settings = settings_of(&line->axes, line->is_crossed);
    struct comparison comparison;
    process_stop_on_interrupt();
    int exit_status = 2;
    if (comparison_measure(&comparison, &line->wish, &line->axes, &settings)) {
        comparison_print_text(&comparison, stdout);
        exit_status = comparison.has_failed;
        if (!write_reports(&comparison, line, files))
            exit_status = 2;
    }
    comparison_free(&comparison);
    settings_free(&settings);
    return exit_status;
}

int compare_main(int argc, char **argv)
{
    (void)argc;
    struct command_line line = {.wish = {.ptxrun = ptxrun_beside(), .rounds = 5, .budget_s = 600}};
    settings_default_axes(&line.axes, machine_cpus());
    int exit_status = 2;
    if (parse_command_line(argv, &line)) {
        if (line.is_help)
            print_help(&line.axes);
        exit_status = line.is_help ? 0 : compare(&line);
    }
    settings_free_axes(&line.axes);
    return exit_status;
}
