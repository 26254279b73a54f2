/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench programs`: its command line.
 */
#include "tools/bench/programs.h"

#include <getopt.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/beside.h"

static const char usage[] =
    "usage: ptxbench programs [--a SETTING] [--b SETTING] [--rounds N] [--filter RE] [--min]\n"
    "                         [--min-us N] [--limit N] [--markdown] [--ptxrun FILE] MANIFEST\n"
    "  --a, --b    options of ptxrun and NAME=VALUE for the environment; default: none\n"
    "  --rounds    runs of each program in each setting, in turn; default 7\n"
    "  --filter    lines of the manifest that match\n"
    "  --min       a run's shortest call of a kernel instead of the mean, for a busy machine\n"
    "  --min-us    leaves out kernels whose calls are shorter; default 0\n"
    "  --limit     seconds for one run; default 300\n"
    "  --markdown  instead of columns\n"
    "  --ptxrun    default: the one beside ptxbench\n";

struct options {
    bool is_help;
    struct programs_wish wish;
    double min_us;
    bool is_markdown;
    const char *filter;
    const char *manifest;
};

static bool parse_option(int letter, struct options *options)
{
    switch (letter) {
    case 'H':
        options->is_help = true;
        return true;
    case 'a':
        options->wish.settings[PROGRAMS_A] = optarg;
        return true;
    case 'b':
        options->wish.settings[PROGRAMS_B] = optarg;
        return true;
    case 'r':
        options->wish.rounds = (unsigned)strtoul(optarg, NULL, 10);
        return options->wish.rounds > 0 && options->wish.rounds <= PROGRAMS_MAX_ROUNDS;
    case 'f':
        options->filter = optarg;
        return true;
    case 's':
        options->wish.by_min = true;
        return true;
    case 'u':
        options->min_us = strtod(optarg, NULL);
        return true;
    case 'l':
        options->wish.limit_s = (unsigned)strtoul(optarg, NULL, 10);
        return options->wish.limit_s > 0;
    case 'm':
        options->is_markdown = true;
        return true;
    case 'p':
        options->wish.ptxrun = optarg;
        return true;
    default:
        return false;
    }
}

static bool parse_command_line(int argc, char **argv, struct options *options)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'H'},
                                                 {"a", required_argument, NULL, 'a'},
                                                 {"b", required_argument, NULL, 'b'},
                                                 {"rounds", required_argument, NULL, 'r'},
                                                 {"filter", required_argument, NULL, 'f'},
                                                 {"min", no_argument, NULL, 's'},
                                                 {"min-us", required_argument, NULL, 'u'},
                                                 {"limit", required_argument, NULL, 'l'},
                                                 {"markdown", no_argument, NULL, 'm'},
                                                 {"ptxrun", required_argument, NULL, 'p'},
                                                 {NULL, 0, NULL, 0}};
    for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        if (!parse_option(letter, options))
            return false;
    options->manifest = argv[optind];
    return options->is_help || optind + 1 == argc;
}

/* Whether a word of the line matches. */
static bool is_wanted(const regex_t *filter, const struct programs_words *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (regexec(filter, line->words[i], 0, NULL, 0) == 0)
            return true;
    return false;
}

static int run_all(const struct options *options, const struct programs_manifest *manifest,
                   const regex_t *filter)
{
    int exit_status = 0;
    struct programs_report *report =
        programs_report_open(stdout, options->is_markdown, options->min_us, &options->wish);
    for (size_t i = 0; i < manifest->count; i++) {
        if (!is_wanted(filter, &manifest->lines[i]))
            continue;
        struct programs_result result;
        programs_measure(&result, &manifest->lines[i], manifest->folder, &options->wish);
        programs_report_add(report, &result);
        exit_status |= result.error[0] != '\0';
        programs_free_result(&result);
    }
    programs_report_close(report);
    return exit_status;
}

int programs_main(int argc, char **argv)
{
    setenv("PTXRUN_CACHE", "off", 0);
    struct options options = {
        .wish = {.ptxrun = ptxrun_beside(), .settings = {"", ""}, .rounds = 7, .limit_s = 300},
        .filter = ""};
    regex_t filter;
    if (!parse_command_line(argc, argv, &options) ||
        regcomp(&filter, options.filter, REG_EXTENDED | REG_NOSUB) != 0) {
        fputs(usage, stderr);
        return 2;
    }
    if (options.is_help) {
        fputs(usage, stdout);
        regfree(&filter);
        return 0;
    }
    struct programs_manifest manifest;
    int exit_status = programs_read_manifest(options.manifest, &manifest)
                          ? run_all(&options, &manifest, &filter)
                          : 2;
    programs_close_manifest(&manifest);
    regfree(&filter);
    return exit_status;
}
