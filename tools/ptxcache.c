/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxcache: looks after the cache of compiled kernels, in the manners of ccache: shows what is in
 * it, makes it smaller, fills it ahead of the first launch, and carries it to other machines.
 */
#include "tools/ptxcache.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache/admin.h"
#include "cudart/core/api/init.h"
#include "cudart/core/code/tally.h"
#include "util/options.h"

static const char help[] =
    "usage: ptxcache [options] [command [arguments]]\n"
    "\n"
    "Looks after the cache of compiled kernels that programs under ptxrun share.\n"
    "\n"
    "  -s, --show-stats         what is in the cache, and how often programs found their code\n"
    "  -z, --zero-stats         begin to count anew\n"
    "  -c, --cleanup            remove what was not used for longest, down to the limit\n"
    "  -C, --clear              remove all entries\n"
    "  -M, --max-size SIZE      set the limit, such as 500M or 2G; 0: none. CUDA_CACHE_MAXSIZE\n"
    "                           counts for the processes that have it\n"
    "      --evict-older-than AGE   remove what was not used for so long: 7d, 12h, 30m, 90s\n"
    "\n"
    "  list                     all entries, the last used first\n"
    "  verify [--remove]        read all entries; name, or remove, those that are damaged\n"
    "  warm PATH...             compile all kernels of executables, libraries, PTX files, and of\n"
    "                           those in directories, for launches of whatever shape\n"
    "  warm --from RECORDING    compile what the launches asked for that were recorded by\n"
    "                           ptxrun --record RECORDING\n"
    "  warm --tune -- PROGRAM [ARGUMENTS]   run the program, and measure all the while which\n"
    "                           form of its kernels' code is the fastest\n"
    "  export FILE [--from RECORDING]   write all entries, and recordings, into one archive\n"
    "  import FILE              take an archive's PTX, and compile here what its recordings ask\n"
    "                           for. Its machine code is taken only with --trust, or with --key\n"
    "                           if the archive was signed with the same key\n"
    "\n"
    "      --cache-dir DIR      the cache; default: the one of ptxrun, which is CUDA_CACHE_PATH,\n"
    "                           else ptxrun in XDG_CACHE_HOME or ~/.cache\n"
    "      --from RECORDING     may be given several times\n"
    "      --cpu NAME           warm, import: compile for this CPU, such as x86-64-v3\n"
    "  -j, --jobs N             warm, import: kernels that are compiled at the same time; "
    "default:\n"
    "                           one for each CPU\n"
    "  -v, --verbose            warm, import: a line for each kernel\n"
    "      --trust              import: run what the archive's maker has compiled\n"
    "      --key FILE           export: sign with the secret in FILE; import: take what was\n"
    "                           signed with it, and nothing else\n"
    "      --remove             verify: remove damaged entries\n"
    "      --json               -s, list: for programs\n"
    "  -h, --help\n"
    "  -V, --version\n"
    "\n"
    "Exit status: 0 success; 1 something could not be done, was damaged or could not be compiled\n"
    "(kernels that ptxrun does not support count as done); 2 wrong usage.\n";

/* ---- what the other files use ---- */

void ptxcache_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ptxcache: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void ptxcache_size_text(uint64_t bytes, char text[PTXCACHE_SIZE_BYTES])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;
    for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1024;
    snprintf(text, PTXCACHE_SIZE_BYTES, "%.1f %s", size, units[unit]);
}

/* ---- numbers of the command line ---- */

static bool parse_number(const char *text, const char **end, uint64_t *number)
{
    char *behind;
    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &behind, 10) : 0;
    bool is_number = *text >= '0' && *text <= '9' && errno == 0;
    *end = is_number ? behind : text;
    return is_number;
}

/* A number and at most one letter, by which it is multiplied. */
static bool parse_unit(const char *text, const char *letters, const uint64_t *factors,
                       uint64_t *number)
{
    const char *end;
    if (!parse_number(text, &end, number))
        return false;
    if (*end == '\0')
        return true;
    const char *letter = strchr(letters, *end);
    if (!letter || end[1] != '\0' || *number > (UINT64_MAX >> 1) / factors[letter - letters])
        return false;
    *number *= factors[letter - letters];
    return true;
}

static bool parse_size(const char *text, uint64_t *bytes)
{
    static const uint64_t factors[] = {UINT64_C(1) << 10, UINT64_C(1) << 10, UINT64_C(1) << 20,
                                       UINT64_C(1) << 30, UINT64_C(1) << 40};
    return parse_unit(text, "kKMGT", factors, bytes);
}

static bool parse_age(const char *text, uint64_t *seconds)
{
    static const uint64_t factors[] = {1, 60, 3600, 86400};
    const char *end;
    return parse_number(text, &end, seconds) && *end != '\0' &&
           parse_unit(text, "smhd", factors, seconds);
}

/* ---- commands about size ---- */

static enum ptxcache_exit trim(const struct ptxcache *tool, const struct cache_trim *trim)
{
    struct cache_trimmed trimmed;
    struct pxr_error error;
    char removed[PTXCACHE_SIZE_BYTES];
    char kept[PTXCACHE_SIZE_BYTES];
    if (cache_trim(tool->cache, trim, &trimmed, &error) != PXR_OK) {
        ptxcache_complain("%s", error.message);
        return PTXCACHE_FAILED;
    }
    ptxcache_size_text(trimmed.removed_bytes, removed);
    ptxcache_size_text(trimmed.kept_bytes, kept);
    printf("removed %llu entries (%s), kept %llu (%s)\n", (unsigned long long)trimmed.removed_count,
           removed, (unsigned long long)trimmed.kept_count, kept);
    return PTXCACHE_OK;
}

static enum ptxcache_exit clean_up(const struct ptxcache *tool)
{
    uint64_t limit = cache_limit(tool->cache);
    return trim(tool, &(struct cache_trim){.limit_bytes = limit, .target_bytes = limit});
}

static enum ptxcache_exit clear(const struct ptxcache *tool)
{
    return trim(tool, &(struct cache_trim){0});
}

static enum ptxcache_exit evict_older(const struct ptxcache *tool, const char *age)
{
    uint64_t seconds;
    if (!parse_age(age, &seconds)) {
        ptxcache_complain("'%s' is no age; it is a number with d, h, m or s, such as 7d", age);
        return PTXCACHE_USAGE;
    }
    uint64_t now = (uint64_t)time(NULL);
    return trim(tool,
                &(struct cache_trim){.limit_bytes = UINT64_MAX,
                                     .target_bytes = UINT64_MAX,
                                     .used_before = (time_t)(seconds < now ? now - seconds : 0)});
}

static enum ptxcache_exit set_max_size(const struct ptxcache *tool, const char *size)
{
    uint64_t bytes;
    struct pxr_error error;
    char text[PTXCACHE_SIZE_BYTES] = "none";
    if (!parse_size(size, &bytes)) {
        ptxcache_complain("'%s' is no size; it is a number, also with K, M, G or T, such as 2G",
                          size);
        return PTXCACHE_USAGE;
    }
    uint64_t limit = bytes ? bytes : CACHE_LIMIT_KEPT - 1;
    if (cache_set_limit(tool->cache, limit, &error) != PXR_OK) {
        ptxcache_complain("%s", error.message);
        return PTXCACHE_FAILED;
    }
    if (bytes)
        ptxcache_size_text(bytes, text);
    printf("limit: %s\n", text);
    return PTXCACHE_OK;
}

/* ---- the command line ---- */

/* Options without a letter. */
enum {
    OPTION_EVICT = 256,
    OPTION_CACHE_DIR,
    OPTION_FROM,
    OPTION_CPU,
    OPTION_TRUST,
    OPTION_KEY,
    OPTION_REMOVE,
    OPTION_JSON,
    OPTION_TUNE
};

static const struct option options[] = {
    {"show-stats", no_argument, NULL, 's'},
    {"zero-stats", no_argument, NULL, 'z'},
    {"cleanup", no_argument, NULL, 'c'},
    {"clear", no_argument, NULL, 'C'},
    {"max-size", required_argument, NULL, 'M'},
    {"evict-older-than", required_argument, NULL, OPTION_EVICT},
    {"cache-dir", required_argument, NULL, OPTION_CACHE_DIR},
    {"from", required_argument, NULL, OPTION_FROM},
    {"cpu", required_argument, NULL, OPTION_CPU},
    {"jobs", required_argument, NULL, 'j'},
    {"verbose", no_argument, NULL, 'v'},
    {"trust", no_argument, NULL, OPTION_TRUST},
    {"key", required_argument, NULL, OPTION_KEY},
    {"remove", no_argument, NULL, OPTION_REMOVE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"tune", no_argument, NULL, OPTION_TUNE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

/* What options do by themselves, in the order of the command line. */
struct deed {
    int letter;
    const char *value;
};

#define JOBS_MAX 1024u

struct line {
    struct deed *deeds;
    size_t deed_count;
    bool shows_help;
    bool shows_version;
};

static bool take_jobs(struct ptxcache *tool, const char *text)
{
    const char *end;
    uint64_t jobs;
    if (!parse_number(text, &end, &jobs) || *end != '\0' || jobs == 0 || jobs > JOBS_MAX) {
        ptxcache_complain("'%s' is no number of jobs; it is from 1 to %u", text, JOBS_MAX);
        return false;
    }
    tool->jobs = (unsigned)jobs;
    return true;
}

/* An option of ptxrun: carried to the libraries in the environment, as ptxrun does it. */
static bool set_option(enum pxr_option_id id, const char *value)
{
    return setenv(pxr_option_table[id].variable, value, 1) == 0;
}

static bool take_option(int letter, char *value, struct ptxcache *tool, struct line *line)
{
    switch (letter) {
    case OPTION_CACHE_DIR:
        return set_option(PXR_OPTION_CACHE_DIR, value);
    case OPTION_CPU:
        return set_option(PXR_OPTION_CPU, value);
    case OPTION_FROM:
        tool->recordings.words[tool->recordings.count++] = value;
        return true;
    case 'j':
        return take_jobs(tool, value);
    case 'v':
        return tool->is_verbose = true;
    case OPTION_TRUST:
        return tool->is_trusted = true;
    case OPTION_KEY:
        tool->key_file = value;
        return true;
    case OPTION_REMOVE:
        return tool->removes = true;
    case OPTION_JSON:
        return tool->is_json = true;
    case OPTION_TUNE:
        return tool->tunes = true;
    case 'h':
        return line->shows_help = true;
    case 'V':
        return line->shows_version = true;
    case '?':
        ptxcache_complain("see ptxcache --help");
        return false;
    default:
        line->deeds[line->deed_count++] = (struct deed){letter, value};
        return true;
    }
}

static bool parse_line(int argc, char **argv, struct ptxcache *tool, struct line *line)
{
    for (;;) {
        int letter = getopt_long(argc, argv, "szcCM:j:vhV", options, NULL);
        if (letter < 0)
            break;
        if (!take_option(letter, optarg, tool, line))
            return false;
    }
    tool->operands.words = argv + optind;
    tool->operands.count = (size_t)(argc - optind);
    return true;
}

static enum ptxcache_exit do_deed(const struct ptxcache *tool, const struct deed *deed)
{
    switch (deed->letter) {
    case 's':
        return ptxcache_show_stats(tool);
    case 'z':
        return ptxcache_zero_stats(tool);
    case 'c':
        return clean_up(tool);
    case 'C':
        return clear(tool);
    case 'M':
        return set_max_size(tool, deed->value);
    default:
        return evict_older(tool, deed->value);
    }
}

static const struct {
    const char *name;
    ptxcache_command run;
} commands[] = {
    {"list", ptxcache_list},     {"verify", ptxcache_verify}, {"warm", ptxcache_warm},
    {"export", ptxcache_export}, {"import", ptxcache_import},
};

static enum ptxcache_exit run_command(struct ptxcache *tool)
{
    const char *name = tool->operands.words[0];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            tool->operands.words++;
            tool->operands.count--;
            return commands[i].run(tool);
        }
    }
    ptxcache_complain("'%s' is not a command; see ptxcache --help", name);
    return PTXCACHE_USAGE;
}

/* The first that did not succeed says how it ended. */
static enum ptxcache_exit run(struct ptxcache *tool, const struct line *line)
{
    enum ptxcache_exit result = PTXCACHE_OK;
    for (size_t i = 0; i < line->deed_count && result == PTXCACHE_OK; i++)
        result = do_deed(tool, &line->deeds[i]);
    if (result == PTXCACHE_OK && tool->operands.count > 0)
        result = run_command(tool);
    return result;
}

/* What people set to look at programs is not about this one: some of it keeps code from the cache,
 * or writes files. */
static bool forget_options(void)
{
    static const enum pxr_option_id others[] = {
        PXR_OPTION_RECORD,     PXR_OPTION_EXPLAIN,      PXR_OPTION_DUMP,  PXR_OPTION_DEBUG,
        PXR_OPTION_STEP_LIMIT, PXR_OPTION_TIME_STEPS,   PXR_OPTION_STATS, PXR_OPTION_STATS_FILE,
        PXR_OPTION_LEAK_CHECK, PXR_OPTION_VERIFY_STEPS,
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (unsetenv(pxr_option_table[others[i]].variable) != 0)
            return false;
    return true;
}

/* Devices may be hidden, and memory for them be refused: neither matters here. */
static bool open_cache(struct ptxcache *tool)
{
    struct pxr_error error;
    if (!set_option(PXR_OPTION_CACHE, "on") || !forget_options())
        return false;
    crt_init(0);
    crt_tally_forgo();
    crt_warm_find_place(false, &tool->place, NULL);
    if (!tool->place.path) {
        ptxcache_complain("there is no place for a cache: neither HOME nor XDG_CACHE_HOME nor "
                          "CUDA_CACHE_PATH is set; use --cache-dir");
        return false;
    }
    if (cache_open(tool->place.path, tool->place.limit_bytes, &tool->cache, &error) != PXR_OK) {
        ptxcache_complain("%s", error.message);
        return false;
    }
    return true;
}

static enum ptxcache_exit run_line(struct ptxcache *tool, const struct line *line)
{
    if (line->shows_help) {
        fputs(help, stdout);
        return PTXCACHE_OK;
    }
    if (line->shows_version) {
        puts("ptxcache " PTXRUN_VERSION);
        return PTXCACHE_OK;
    }
    if (line->deed_count == 0 && tool->operands.count == 0) {
        fputs(help, stderr);
        return PTXCACHE_USAGE;
    }
    if (!open_cache(tool))
        return PTXCACHE_FAILED;
    enum ptxcache_exit result = run(tool, line);
    cache_close(tool->cache);
    return result;
}

int main(int argc, char **argv)
{
    struct ptxcache tool = {0};
    struct line line = {.deeds = calloc((size_t)argc + 1, sizeof *line.deeds)};
    tool.recordings.words = calloc((size_t)argc + 1, sizeof *tool.recordings.words);
    enum ptxcache_exit result = PTXCACHE_USAGE;
    if (!line.deeds || !tool.recordings.words)
        result = PTXCACHE_FAILED;
    else if (parse_line(argc, argv, &tool, &line))
        result = run_line(&tool, &line);
    free(line.deeds);
    free(tool.recordings.words);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        ptxcache_complain("cannot write the output: %s", strerror(errno));
        return PTXCACHE_FAILED;
    }
    return (int)result;
}
