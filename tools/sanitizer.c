/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxrun-sanitizer: takes compute-sanitizer's command line and replaces itself by ptxrun, with the
 * options that find and say the same.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/options.h"

enum value { VALUE_NONE, VALUE_SWITCH, VALUE_TEXT };

enum action {
    ACTION_TOOL,
    ACTION_ERROR_EXITCODE,
    ACTION_PRINT_LIMIT,
    ACTION_LOG_FILE,
    ACTION_PREFIX,
    ACTION_SAVE,
    ACTION_XML,
    ACTION_LEAK_CHECK,
    ACTION_KERNELS,
    ACTION_NO_KERNELS,
    ACTION_DEMANGLE,
    ACTION_SHOW_BACKTRACE,
    ACTION_REPORT_API_ERRORS,
    ACTION_SUPPRESSIONS,
    ACTION_UNUSED_MEMORY,
    ACTION_UNUSED_THRESHOLD,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_REFUSED,
    ACTION_NO_EFFECT
};

struct option_info {
    const char *name;
    char letter;
    enum value value;
    enum action action;
    const char *usual;
    const char *why;
};

static const struct option_info table[] = {
#define OPTION(name, letter, value, action, usual, why)                                            \
    {name, letter, VALUE_##value, ACTION_##action, usual, why},
#include "tools/sanitizer.def"
#undef OPTION
};

/* Tools, and the words of --check for them; a word that --check does not know is yet to come. */
static const struct {
    const char *name;
    const char *check;
} tools[] = {
    {"memcheck", "memory"},
    {"racecheck", "race"},
    {"initcheck", "init"},
    {"synccheck", "sync"},
};

/* Patterns of kernels, as --check-kernels has them. */
#define KERNELS_BYTES 4096

struct command_line {
    const char *check;
    const char *error_exitcode;
    const char *print_limit;
    const char *demangle;
    const char *prefix;
    char log_file[PATH_MAX];
    const char *save;
    const char *suppressions;
    bool is_xml;
    bool has_leak_check;
    bool tells_unused;
    const char *unused_percent;
    bool has_backtrace;
    bool has_api_errors;
    char kernels[KERNELS_BYTES];
    char **program;
};

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ptxrun-sanitizer: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static bool is_word(const char *words, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = words; *at;) {
        size_t word = strcspn(at, "|");
        if (word == len && strncmp(at, text, len) == 0)
            return true;
        at += word + (at[word] == '|');
    }
    return false;
}

/* "yes" or "no" of what compute-sanitizer takes for a switch; NULL: it is none. */
static const char *as_switch(const char *text)
{
    if (text && is_word("yes|true|on|1", text))
        return "yes";
    return text && is_word("no|false|off|0", text) ? "no" : NULL;
}

/* ---- values ---- */

static bool take_tool(struct command_line *line, const char *name)
{
    struct pxr_error err;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (strcmp(tools[i].name, name) != 0)
            continue;
        line->check = tools[i].check;
        if (pxr_option_check(PXR_OPTION_CHECK, line->check, &err) == PXR_OK)
            return true;
        complain("--tool %s is not supported yet", name);
        return false;
    }
    complain("unknown tool '%s'", name);
    return false;
}

static bool append(struct command_line *line, const char *text, size_t len)
{
    size_t used = strlen(line->kernels);
    if (used + len + 1 > sizeof line->kernels)
        return false;
    memcpy(line->kernels + used, text, len);
    line->kernels[used + len] = '\0';
    return true;
}

/* "kns=PART", "kne=NAME", or the long names of these keys. */
static bool take_kernel(struct command_line *line, const char *each, size_t len, bool is_excluded)
{
    const char *equals = memchr(each, '=', len);
    char key[24];
    snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - each) : 0, each);
    bool is_part = is_word("kns|kernel_substring", key);
    if (!is_part && !is_word("kne|kernel_name", key)) {
        complain("'%.*s' is no filter of kernels: kns=PART or kne=NAME", (int)len, each);
        return false;
    }
    const char *star = is_part ? "*" : "";
    bool fits = append(line, ",", *line->kernels ? 1 : 0) && append(line, "!", is_excluded) &&
                append(line, star, is_part) &&
                append(line, equals + 1, len - (size_t)(equals + 1 - each)) &&
                append(line, star, is_part);
    if (!fits)
        complain("the filters of kernels are too long");
    return fits;
}

static bool take_kernels(struct command_line *line, const char *text, bool is_excluded)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",");
        if (!take_kernel(line, at, len, is_excluded))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}

/* %p is the number of the process, which stays this one's. */
static bool take_log_file(struct command_line *line, const char *text)
{
    size_t used = 0;
    for (const char *at = text; *at && used < sizeof line->log_file; at++) {
        size_t room = sizeof line->log_file - used;
        bool is_number = strncmp(at, "%p", 2) == 0;
        if (*at == '%' && !is_number) {
            complain("--log-file %s: only %%p is supported in names", text);
            return false;
        }
        int len = is_number ? snprintf(line->log_file + used, room, "%d", (int)getpid())
                            : snprintf(line->log_file + used, room, "%c", *at);
        used += (size_t)len;
        at += is_number;
    }
    return used < sizeof line->log_file;
}

static bool take_one_of(const char *name, const char *words, const char *value)
{
    if (is_word(words, value))
        return true;
    complain("--%s takes %s, not '%s'", name, words, value);
    return false;
}

static bool take_checked(enum pxr_option_id id, const char **field, const char *value)
{
    struct pxr_error err;
    *field = value;
    if (pxr_option_check(id, value, &err) == PXR_OK)
        return true;
    complain("%s", err.message);
    return false;
}

/* compute-sanitizer's are XML, which begins with a bracket. */
static bool take_suppressions(struct command_line *line, const char *name)
{
    char first = 0;
    FILE *file = fopen(name, "r");
    bool is_read = file && fscanf(file, " %c", &first) >= 0;
    if (!file)
        complain("cannot read '%s': %s", name, strerror(errno));
    if (file)
        fclose(file);
    if (is_read && first == '<')
        complain("--suppressions %s: XML is not supported; ptxrun --print-suppressions FILE writes "
                 "what is (docs/check.md)",
                 name);
    line->suppressions = name;
    return file && first != '<';
}

/* An option that only its usual value fits. */
static bool take_unsupported(const struct option_info *info, const char *value)
{
    if (is_word(info->usual, value))
        return true;
    bool is_refused = info->action == ACTION_REFUSED;
    complain("--%s %s %s: %s", info->name, value,
             is_refused ? "is not supported" : "has no effect here", info->why);
    return !is_refused;
}

static bool take_value(struct command_line *line, const struct option_info *info, const char *value)
{
    switch (info->action) {
    case ACTION_TOOL:
        return take_tool(line, value);
    case ACTION_ERROR_EXITCODE:
        return take_checked(PXR_OPTION_ERROR_EXITCODE, &line->error_exitcode, value);
    case ACTION_PRINT_LIMIT:
        return take_checked(PXR_OPTION_CHECK_LIMIT, &line->print_limit, value);
    case ACTION_LOG_FILE:
        return take_log_file(line, value);
    case ACTION_PREFIX:
        line->prefix = value;
        return true;
    case ACTION_SAVE:
        line->save = value;
        return true;
    case ACTION_SUPPRESSIONS:
        return take_suppressions(line, value);
    case ACTION_UNUSED_MEMORY:
        line->tells_unused = strcmp(value, "yes") == 0;
        return true;
    case ACTION_UNUSED_THRESHOLD:
        return take_checked(PXR_OPTION_UNUSED_MEMORY, &line->unused_percent, value);
    case ACTION_XML:
        line->is_xml = strcmp(value, "yes") == 0;
        return true;
    case ACTION_LEAK_CHECK:
        line->has_leak_check = strcmp(value, "full") == 0;
        return take_one_of(info->name, "full|no", value);
    case ACTION_KERNELS:
        return take_kernels(line, value, false);
    case ACTION_NO_KERNELS:
        return take_kernels(line, value, true);
    case ACTION_DEMANGLE:
        return take_checked(PXR_OPTION_CHECK_DEMANGLE, &line->demangle, value);
    case ACTION_SHOW_BACKTRACE:
        line->has_backtrace = is_word("yes|host", value);
        return take_one_of(info->name, "yes|host|device|no", value);
    case ACTION_REPORT_API_ERRORS:
        line->has_api_errors = strcmp(value, "no") != 0;
        if (strcmp(value, "all") == 0)
            complain("--report-api-errors all has no effect here: frees, copies and fills that are "
                     "refused are told, other errors are not");
        return take_one_of(info->name, "all|explicit|no", value);
    default:
        return take_unsupported(info, value);
    }
}

/* ---- the command line ---- */

static const struct option_info *find(const char *text)
{
    bool is_long = strncmp(text, "--", 2) == 0;
    size_t len = strcspn(text + 2 * is_long, "=");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct option_info *info = &table[i];
        if (is_long ? strlen(info->name) == len && strncmp(info->name, text + 2, len) == 0
                    : info->letter && text[1] == info->letter && !text[2])
            return info;
    }
    return NULL;
}

static void print_help(void)
{
    puts("usage: ptxrun-sanitizer [options] program [arguments]\n\n"
         "Takes the command line of NVIDIA's compute-sanitizer, and checks the program on this "
         "machine's\n"
         "CPUs. Options, with what is usual in brackets:");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct option_info *info = &table[i];
        bool is_unsupported = info->action == ACTION_REFUSED || info->action == ACTION_NO_EFFECT;
        const char *what = info->action == ACTION_REFUSED ? "not supported" : "no effect";
        printf("  --%s", info->name);
        if (*info->usual)
            printf(" [%s]", info->usual);
        if (is_unsupported)
            printf(": %s, as %s", what, info->why);
        putchar('\n');
    }
}

/* The value of the option at argv[0]; *taken: words it took. NULL after a message. */
static const char *value_of(char **argv, const struct option_info *info, int *taken)
{
    const char *equals = strncmp(argv[0], "--", 2) == 0 ? strchr(argv[0], '=') : NULL;
    const char *value = equals ? equals + 1 : argv[1];
    *taken = equals ? 1 : 2;
    if (info->value == VALUE_SWITCH) {
        const char *word = as_switch(value);
        if (!word && !equals) {
            *taken = 1;
            return "yes";
        }
        value = word;
    }
    if (!value)
        complain("option '%s' needs a value", argv[0]);
    return value;
}

enum outcome { GO_ON, END, FAIL };

/* The option at argv[0]. */
static enum outcome take(char **argv, struct command_line *line, int *taken)
{
    const struct option_info *info = find(argv[0]);
    *taken = 1;
    if (!info) {
        complain("unknown option '%s'; see ptxrun-sanitizer --help", argv[0]);
        return FAIL;
    }
    if (info->action == ACTION_HELP) {
        print_help();
        return END;
    }
    if (info->action == ACTION_VERSION) {
        puts("ptxrun-sanitizer " PTXRUN_VERSION);
        return END;
    }
    const char *value = value_of(argv, info, taken);
    return value && take_value(line, info, value) ? GO_ON : FAIL;
}

static enum outcome parse(char **argv, struct command_line *line)
{
    *line = (struct command_line){.check = "memory",
                                  .error_exitcode = "0",
                                  .print_limit = "100",
                                  .demangle = "full",
                                  .prefix = "=========",
                                  .has_backtrace = true,
                                  .unused_percent = "0",
                                  .has_api_errors = true};
    char **at = argv + 1;
    while (*at && (*at)[0] == '-' && strcmp(*at, "--") != 0) {
        int taken;
        enum outcome outcome = take(at, line, &taken);
        if (outcome != GO_ON)
            return outcome;
        at += taken;
    }
    line->program = at + (*at && strcmp(*at, "--") == 0);
    if (!*line->program) {
        complain("no program given; see ptxrun-sanitizer --help");
        return FAIL;
    }
    if (line->is_xml != (line->save != NULL)) {
        complain(line->is_xml
                     ? "--xml needs --save FILE"
                     : "--save needs --xml yes: other sessions are compute-sanitizer's own");
        return FAIL;
    }
    return GO_ON;
}

/* ---- ptxrun ---- */

#define OPTIONS_MAX 16

struct arguments {
    char **all;
    int count;
};

static void add(struct arguments *arguments, const char *format, const char *value)
{
    if (asprintf(&arguments->all[arguments->count], format, value) >= 0)
        arguments->count++;
}

static void add_options(struct arguments *arguments, const struct command_line *line)
{
    add(arguments, "--check=%s", line->check);
    add(arguments, "--check-style=%s", "sanitizer");
    add(arguments, "--error-exitcode=%s", line->error_exitcode);
    add(arguments, "--check-limit=%s", line->print_limit);
    add(arguments, "--check-demangle=%s", line->demangle);
    add(arguments, "--check-prefix=%s", line->prefix);
    add(arguments, "--check-backtrace=%s", line->has_backtrace ? "yes" : "no");
    if (*line->kernels)
        add(arguments, "--check-kernels=%s", line->kernels);
    if (*line->log_file)
        add(arguments, "--check-log=%s", line->log_file);
    if (line->is_xml) {
        add(arguments, "--check-format=%s", "xml");
        add(arguments, "--check-report=%s", line->save);
    }
    if (line->suppressions)
        add(arguments, "--suppressions=%s", line->suppressions);
    if (line->has_leak_check)
        add(arguments, "%s", "--leak-check");
    if (line->tells_unused) /* of 0 nothing would be told */
        add(arguments, "--unused-memory=%s",
            strcmp(line->unused_percent, "0") == 0 ? "1" : line->unused_percent);
    if (!line->has_api_errors)
        add(arguments, "--check-ignore=%s",
            "api-out-of-bounds,api-use-after-free,double-free,invalid-free");
}

/* ptxrun lies beside this program. */
static bool find_ptxrun(char path[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[len > 0 ? len : 0] = '\0';
    char *name = strrchr(path, '/');
    if (!name || (size_t)(name + sizeof "/ptxrun" - path) > PATH_MAX)
        return false;
    strcpy(name, "/ptxrun");
    return true;
}

static int start(const struct command_line *line)
{
    char path[PATH_MAX];
    int words = 0;
    while (line->program[words])
        words++;
    struct arguments arguments = {
        .all = calloc((size_t)words + OPTIONS_MAX + 3, sizeof *arguments.all)};
    if (!arguments.all || !find_ptxrun(path)) {
        complain("cannot find ptxrun");
        return 125;
    }
    add(&arguments, "%s", path);
    add_options(&arguments, line);
    add(&arguments, "%s", "--");
    memcpy(arguments.all + arguments.count, line->program, (size_t)words * sizeof *line->program);
    execv(path, arguments.all);
    complain("cannot run '%s': %s", path, strerror(errno));
    return 125;
}

/* What compute-sanitizer begins with. */
static bool print_head(const struct command_line *line)
{
    FILE *file = *line->log_file ? fopen(line->log_file, "w") : stdout;
    bool is_written =
        file && fprintf(file, "%s COMPUTE-SANITIZER\n", line->prefix) > 0 && fflush(file) == 0;
    if (!is_written)
        complain("cannot write '%s': %s", line->log_file, strerror(errno));
    if (file && file != stdout)
        fclose(file);
    return is_written;
}

int main(int argc, char **argv)
{
    struct command_line line;
    enum outcome outcome = argc < 1 ? FAIL : parse(argv, &line);
    if (outcome != GO_ON)
        return outcome == FAIL ? 2 : 0;
    return print_head(&line) ? start(&line) : 125;
}
