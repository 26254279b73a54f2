/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxrun: starts a CUDA program so that it finds our CUDA driver library. It turns options into
 * PTXRUN_* variables, sets the loader's search path and replaces itself by the program; the
 * program's exit status and signals are therefore its own.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/launch_env.h"
#include "tools/target_package.h"
#include "tools/target_program.h"
#include "translator/step_names.h"
#include "util/options.h"

/* Besides those of the program itself; as env, nohup and timeout have them. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_USAGE = 2,
    EXIT_TOOL_FAILED = 125,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127
};

struct command_line {
    const char *values[PXR_OPTION_COUNT]; /* NULL where not given */
    bool print_env;
    bool show_help;
    bool show_version;
    char **program; /* NULL-terminated; program[0] is NULL if none is given */
};

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ptxrun: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* How much of the text fits a line of so many columns: up to a blank, or its first word. */
static size_t line_length(const char *text, size_t columns)
{
    size_t fits = strcspn(text, " ");
    while (text[fits]) {
        size_t next = fits + 1 + strcspn(text + fits + 1, " ");
        if (next > columns)
            break;
        fits = next;
    }
    return fits;
}

/* An entry of the help, in two columns; text that is too long for the left one gets a line of its
 * own, and that on the right is filled. */
static void print_help_line(const char *left, const char *right)
{
    enum { LEFT_WIDTH = 30, RIGHT_WIDTH = 66 };
    bool is_beside = strlen(left) < LEFT_WIDTH;
    if (!is_beside)
        printf("  %s\n", left);
    const char *first = is_beside ? left : "";
    do {
        size_t length = line_length(right, RIGHT_WIDTH);
        printf("  %-*s%.*s\n", LEFT_WIDTH, first, (int)length, right);
        right += length + (right[length] == ' ');
        first = "";
    } while (*right);
}

static void print_option_help(enum pxr_option_id id)
{
    const struct pxr_option_info *info = &pxr_option_table[id];
    char left[128];
    char right[512];
    bool is_switch = pxr_option_is_switch(id);
    bool has_words = is_switch && *info->metavar;
    snprintf(left, sizeof left, "--%s%s%s%s", info->name,
             has_words   ? "[="
             : is_switch ? ""
                         : " ",
             info->metavar, has_words ? "]" : "");
    bool show_default = !is_switch && *info->default_text;
    snprintf(right, sizeof right, "%s%s%s%s", info->help, show_default ? " [" : "",
             show_default ? info->default_text : "", show_default ? "]" : "");
    print_help_line(left, right);
}

static void print_help(void)
{
    puts(
        "usage: ptxrun [options] [--] program [arguments]\n"
        "\n"
        "Runs a CUDA program on this machine's CPUs. The program may be a script or start others.\n"
        "\n"
        "Options (in brackets: the default). Each is also a variable of the environment, such as\n"
        "PTXRUN_THREADS=4 for --threads 4, or PTXRUN_LEAK_CHECK=1 for --leak-check:");
    for (int id = 0; id < PXR_OPTION_COUNT; id++)
        print_option_help((enum pxr_option_id)id);
    puts("");
    print_help_line("--print-env", "print the variables for a shell instead of running a program:");
    print_help_line("", "eval \"$(ptxrun --print-env)\"");
    print_help_line("--help, -h", "print this");
    print_help_line("--version, -V", "print the version");
    puts("\n"
         "Exit status: the program's; 2 for wrong options, 125 if ptxrun itself fails,\n"
         "126 if the program cannot be executed, 127 if it is not found.");
}

/* Handles options that are not in the table; false if text is none of them. */
static bool take_own_option(const char *text, struct command_line *line)
{
    if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)
        line->show_help = true;
    else if (strcmp(text, "--version") == 0 || strcmp(text, "-V") == 0)
        line->show_version = true;
    else if (strcmp(text, "--print-env") == 0)
        line->print_env = true;
    else
        return false;
    return true;
}

static enum pxr_status check_value(enum pxr_option_id id, const char *value, struct pxr_error *err)
{
    enum pxr_status status = pxr_option_check(id, value, err);
    if (status == PXR_OK && id == PXR_OPTION_SKIP)
        status = tr_check_skip(value, err);
    if (status == PXR_OK && id == PXR_OPTION_DUMP)
        status = tr_check_dump(value, err);
    return status;
}

/* An option of the table: "--name value", "--name=value", or "--name" alone for a switch. Returns
 * how many arguments it took, 0 after a message. */
static int take_table_option(char **argv, struct command_line *line)
{
    const char *name = argv[0] + 2;
    size_t name_len = strcspn(name, "=");
    enum pxr_option_id id = PXR_OPTION_COUNT;
    if (strncmp(argv[0], "--", 2) == 0)
        id = pxr_option_find(name, name_len);
    if (id == PXR_OPTION_COUNT) {
        complain("unknown option '%s'; see ptxrun --help", argv[0]);
        return 0;
    }
    int taken = 1;
    const char *value = "1";
    if (name[name_len] == '=') {
        value = name + name_len + 1;
    } else if (!pxr_option_is_switch(id)) {
        value = argv[1];
        taken = 2;
        if (!value) {
            complain("option '%s' needs a value: %s", argv[0], pxr_option_table[id].metavar);
            return 0;
        }
    }
    struct pxr_error err;
    if (check_value(id, value, &err) != PXR_OK) {
        complain("%s", err.message);
        return 0;
    }
    line->values[id] = value;
    return taken;
}

static bool parse_command_line(char **argv, struct command_line *line)
{
    *line = (struct command_line){0};
    char **at = argv + 1;
    while (*at && (*at)[0] == '-' && (*at)[1]) {
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        int taken = take_own_option(*at, line) ? 1 : take_table_option(at, line);
        if (taken == 0)
            return false;
        at += taken;
    }
    line->program = at;
    return true;
}

static bool set_variable(const char *name, const char *value, bool print)
{
    if (!value || setenv(name, value, 1) != 0) {
        complain("cannot set %s: out of memory", name);
        return false;
    }
    if (print)
        launch_print_export(name, value);
    return true;
}

/* Our stand-ins for NVIDIA's programs come before those of the machine. */
static bool set_path(const char *tools, bool print)
{
    const char *old = getenv("PATH");
    if (!tools || !old)
        return true;
    char *path = launch_library_path(tools, old, NULL);
    bool is_set = set_variable("PATH", path, print);
    free(path);
    return is_set;
}

/* Where compilers of kernels and packages of Python look for the driver and for NVIDIA's tools: in
 * our directory, unless the person says otherwise. */
static bool set_stack_variables(const struct launch_dirs *dirs, bool print)
{
    static const struct {
        const char *variable;
        const char *file; /* NULL: the directory of the driver */
        bool is_tool;
    } VARIABLES[] = {
        {"TRITON_PTXAS_PATH", "ptxas", true},
        {"TRITON_PTXAS_BLACKWELL_PATH", "ptxas", true},
        {"TRITON_CUOBJDUMP_PATH", "cuobjdump", true},
        {"TRITON_NVDISASM_PATH", "nvdisasm", true},
        {"TRITON_LIBCUDA_PATH", NULL, false},
        {"NUMBA_CUDA_DRIVER", "libcuda.so.1", false},
    };
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *directory = VARIABLES[i].is_tool ? dirs->tools : dirs->driver;
        const char *file = VARIABLES[i].file;
        char *value = NULL;
        if (!directory || getenv(VARIABLES[i].variable))
            continue;
        if (asprintf(&value, "%s%s%s", directory, file ? "/" : "", file ? file : "") < 0)
            value = NULL;
        bool is_set = set_variable(VARIABLES[i].variable, value, print);
        free(value);
        if (!is_set)
            return false;
    }
    return true;
}

/* Packages of Python bring an older libcudart to a place that only their own libraries look at: it
 * must not be hidden from them by one for plugins that may not even exist. */
static void find_wanted_older(const struct target *target, bool wanted[LAUNCH_OLDER_COUNT])
{
    bool has_package[TARGET_OLDER_COUNT] = {false};
    bool lacks_any = false;
    for (int i = 0; i < LAUNCH_OLDER_COUNT; i++)
        lacks_any |= target->lacks_older[i];
    if (lacks_any && !target->names_cudart)
        target_find_packages(target->elf_path, has_package);
    for (int i = 0; i < LAUNCH_OLDER_COUNT; i++)
        wanted[i] = target->lacks_older[i] && !has_package[i];
}

/* Checks of the API hear of errors from our own runtime only. */
static bool wants_own_runtime(const struct command_line *line)
{
    const char *check = line->values[PXR_OPTION_CHECK];
    if (!check)
        check = getenv(pxr_option_table[PXR_OPTION_CHECK].variable);
    return check && (pxr_list_contains(check, "api") || pxr_list_contains(check, "all"));
}

static char *with_first(const char *directory, char *path)
{
    char *longer = path && directory ? launch_library_path(directory, path, NULL) : NULL;
    if (longer)
        free(path);
    return longer ? longer : path;
}

/* The caller frees it; NULL when out of memory. */
static char *library_path(const struct command_line *line, const struct launch_dirs *dirs,
                          const struct target *target)
{
    bool wanted[LAUNCH_OLDER_COUNT];
    find_wanted_older(target, wanted);
    const char *old = getenv("LD_LIBRARY_PATH");
    const char *cudart = target->lacks_cudart ? dirs->cudart : NULL;
    char *path = launch_library_path(dirs->driver, old, cudart);
    for (int i = 0; i < LAUNCH_OLDER_COUNT && path; i++) {
        if (!dirs->older[i] || !wanted[i])
            continue;
        char *with_older = launch_library_path(dirs->driver, path, dirs->older[i]);
        free(path);
        path = with_older;
    }
    return wants_own_runtime(line) ? with_first(dirs->cudart, path) : path;
}

/* Sets the variables for the target, and prints them if asked to. */
static bool set_environment(const struct command_line *line, const struct launch_dirs *dirs,
                            const struct target *target)
{
    bool print = line->print_env;
    char *path = library_path(line, dirs, target);
    bool is_set = set_variable("LD_LIBRARY_PATH", path, print);
    free(path);
    if (is_set && target->other_driver) {
        // A library that is loaded already is found by its name whatever DT_RPATH says.
        char *library = NULL;
        char *preload = NULL;
        if (asprintf(&library, "%s/libcuda.so.1", dirs->driver) >= 0)
            preload = launch_preload(library, getenv("LD_PRELOAD"));
        is_set = set_variable("LD_PRELOAD", preload, print);
        free(library);
        free(preload);
    }
    if (is_set) {
        char *tunables = launch_tunables(getenv("GLIBC_TUNABLES"));
        is_set = set_variable("GLIBC_TUNABLES", tunables, print);
        free(tunables);
    }
    is_set = is_set && set_stack_variables(dirs, print);
    for (int id = 0; is_set && id < PXR_OPTION_COUNT; id++) {
        if (line->values[id])
            is_set = set_variable(pxr_option_table[id].variable, line->values[id], print);
    }
    return is_set;
}

static enum exit_code start(const char *path, char **program)
{
    // Starts files without a first line for the kernel with the shell, as shells do.
    execvp(path, program);
    int reason = errno;
    complain("cannot run '%s': %s", path, strerror(reason));
    return reason == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Finds and examines the program; EXIT_OK if it can be started. */
static enum exit_code prepare_target(const char *program, const struct launch_dirs *dirs,
                                     char **path, struct target *target)
{
    struct pxr_error err;
    enum pxr_status status = target_find(program, path, &err);
    if (status) {
        complain("%s", err.message);
        return status == PXR_NOT_FOUND ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    }
    if (target_inspect(*path, dirs->cudart, target, &err) != PXR_OK) {
        complain("%s", err.message);
        return EXIT_NOT_EXECUTABLE;
    }
    if (target->warning)
        complain("warning: %s", target->warning);
    if (!target->other_driver)
        return EXIT_OK;
    if (strchr(dirs->driver, ' ')) { // LD_PRELOAD would end there
        complain("the DT_RPATH of '%s' leads to %s, and ptxrun's own cannot be preloaded: install "
                 "ptxrun where the path has no blank",
                 *path, target->other_driver);
        return EXIT_NOT_EXECUTABLE;
    }
    complain("note: the DT_RPATH of '%s' leads to %s; ptxrun's own is preloaded instead", *path,
             target->other_driver);
    return EXIT_OK;
}

static enum exit_code run(const struct command_line *line)
{
    struct launch_dirs dirs;
    struct pxr_error err;
    struct target target = {.lacks_cudart = true};
    char *path = NULL;
    enum exit_code code = EXIT_OK;
    if (launch_dirs_find(&dirs, &err) != PXR_OK) {
        complain("%s", err.message);
        code = EXIT_TOOL_FAILED;
    }
    if (code == EXIT_OK && !set_path(dirs.tools, line->print_env))
        code = EXIT_TOOL_FAILED;
    if (code == EXIT_OK && line->program[0])
        code = prepare_target(line->program[0], &dirs, &path, &target);
    if (code == EXIT_OK && !set_environment(line, &dirs, &target))
        code = EXIT_TOOL_FAILED;
    if (code == EXIT_OK && !line->print_env)
        code = start(path, line->program);
    free(path);
    target_fini(&target);
    launch_dirs_fini(&dirs);
    return code;
}

int main(int argc, char **argv)
{
    struct command_line line;
    if (argc < 1 || !parse_command_line(argv, &line))
        return EXIT_USAGE;
    enum exit_code code = EXIT_OK;
    if (line.show_help) {
        print_help();
    } else if (line.show_version) {
        puts("ptxrun " PTXRUN_VERSION);
    } else if (!line.program[0] && !line.print_env) {
        complain("no program given; see ptxrun --help");
        code = EXIT_USAGE;
    } else {
        code = run(&line);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("cannot write the output: %s", strerror(errno));
        return EXIT_TOOL_FAILED;
    }
    return (int)code;
}
