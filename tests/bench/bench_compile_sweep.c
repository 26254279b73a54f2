/* SPDX-License-Identifier: Apache-2.0
 *
 * What compiling costs of kernels that are larger than any that people write, one family for each
 * thing that a compiler's time may explode on (tests/support/big_kernels.h):
 *   bench_compile_sweep [--collapse NAMES] [--family NAMES] [--size N] [--limit SECONDS]
 *                       [--tier quick|best] [--memory MB] [--write DIR] [--dump DIR]
 * NAMES have commas in between. Each kernel is compiled in a process of its own, which may take
 * that much CPU time and memory (120 s, 6000 MB): what explodes is a row and not the end. Times are
 * CPU time. --write only writes the texts; --dump writes the last IR and the assembly of each. Exit
 * status 1: something was not compiled.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jit/jit.h"
#include "tests/support/big_kernels.h"

struct sweep {
    const char *collapses;
    const char *families; /* NULL: all */
    uint32_t size;        /* 0: those of the family */
    unsigned limit_s;
    unsigned memory_mb;
    const char *write_dir;
    const char *dump_dir; /* NULL: nothing is dumped */
    bool is_quick;        /* code of the quick tier */
    int failures;
};

/* What the process that compiles says of it. */
struct outcome {
    unsigned instructions; /* of PTX, in all functions */
    double parse_s;
    double translate_s; /* and everything before LLVM's passes */
    double optimise_s;
    double codegen_s;
    size_t code_bytes;
    char text[128]; /* what became of it, or why nothing did */
    char budget[128];
};

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const struct jit_compiler *open_compiler(void)
{
    void *library = dlopen(PTXRUN_COMPILE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "bench_compile_sweep: %s\n", dlerror());
        return NULL;
    }
    jit_compiler_entry_fn entry =
        (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY);
    return entry ? entry() : NULL;
}

/* ---- in the process that compiles ---- */

/* The line of an explanation that begins with `compile budget`. */
static void find_budget(const char *explanation, char text[128])
{
    static const char mark[] = "compile budget: ";
    const char *line = explanation ? strstr(explanation, mark) : NULL;
    text[0] = '\0';
    if (line) {
        line += sizeof mark - 1;
        snprintf(text, 128, "%.*s", (int)strcspn(line, "\n"), line);
    }
}

static enum pxr_status compile(const struct sweep *sweep, const struct jit_compiler *compiler,
                               const struct ptx_module *module, enum pxr_collapse collapse,
                               struct outcome *outcome, struct pxr_error *err)
{
    const struct ptx_func *kernel = ptx_find_func(module, "big");
    struct ptx_kernel_layout layout;
    enum pxr_status status = ptx_layout_kernel(module, kernel, &layout, err);
    if (status != PXR_OK)
        return status;
    struct jit_request request = {.module = module,
                                  .kernel = kernel,
                                  .layout = &layout,
                                  .variant = {.collapse = collapse, .is_quick = sweep->is_quick},
                                  .dump = sweep->dump_dir ? "opt,asm" : NULL,
                                  .dump_dir = sweep->dump_dir};
    struct jit_object object = {0};
    status = compiler->compile(&request, &object, err);
    outcome->translate_s = (double)object.translate_ns * 1e-9;
    outcome->optimise_s = (double)object.optimise_ns * 1e-9;
    outcome->codegen_s = (double)object.codegen_ns * 1e-9;
    outcome->code_bytes = object.size_bytes;
    if (status != PXR_OK)
        return status;
    pxr_collapse_text(object.collapse, object.width, object.jam, outcome->text);
    find_budget(object.explanation, outcome->budget);
    return PXR_OK;
}

static unsigned count_instructions(const struct ptx_module *module)
{
    unsigned count = 0;
    for (uint32_t f = 0; f < module->func_count; f++)
        for (uint32_t i = 0; i < module->funcs[f]->stmt_count; i++)
            count += module->funcs[f]->stmts[i].kind == PTX_STMT_INST;
    return count;
}

static void report(int fd, const struct outcome *outcome)
{
    if (write(fd, outcome, sizeof *outcome) != (ssize_t)sizeof *outcome)
        _exit(2);
}

static void work(const struct sweep *sweep, const struct big_family *family, uint32_t size,
                 enum pxr_collapse collapse, int fd)
{
    rlim_t bytes = (rlim_t)sweep->memory_mb << 20;
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
    setrlimit(RLIMIT_CPU, &(struct rlimit){sweep->limit_s, sweep->limit_s + 1});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    struct outcome outcome = {0};
    struct pxr_error err = {0};
    struct ptx_module *module = NULL;
    const struct jit_compiler *compiler = open_compiler();
    char *text = big_kernel_text(family, size);
    if (!compiler || !text)
        _exit(2);
    double start_s = cpu_s();
    enum pxr_status status =
        ptx_parse((struct pxr_str){text, strlen(text)}, family->name, &module, &err);
    outcome.parse_s = cpu_s() - start_s;
    if (status == PXR_OK)
        outcome.instructions = count_instructions(module);
    if (status == PXR_OK)
        status = compile(sweep, compiler, module, collapse, &outcome, &err);
    if (status != PXR_OK)
        snprintf(outcome.text, sizeof outcome.text, "error: %.100s", err.message);
    report(fd, &outcome);
    _exit(status != PXR_OK);
}

/* ---- in the other ---- */

static void print_row(const struct sweep *sweep, const struct big_family *family, uint32_t size,
                      enum pxr_collapse collapse, const struct outcome *outcome, int status,
                      const struct rusage *usage)
{
    double total_s = (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec * 1e-6 +
                     (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec * 1e-6;
    double each_us = outcome->instructions ? total_s * 1e6 / outcome->instructions : 0;
    printf("%-20s %7u %-12s %7u %6.1f %7.2f %6.2f %7.2f %7.2f %7.2f %6ld %9zu ", family->name,
           (unsigned)size, pxr_collapse_name(collapse), outcome->instructions, each_us, total_s,
           outcome->parse_s, outcome->translate_s, outcome->optimise_s, outcome->codegen_s,
           usage->ru_maxrss / 1024, outcome->code_bytes);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        printf("more than %u s\n", sweep->limit_s);
    else if (WIFSIGNALED(status))
        printf("killed by signal %d (out of memory?)\n", WTERMSIG(status));
    else
        printf("%s%s%s\n", outcome->text, outcome->budget[0] ? "; " : "", outcome->budget);
    fflush(stdout);
}

/* Whether it was compiled. */
static int measure(struct sweep *sweep, const struct big_family *family, uint32_t size,
                   enum pxr_collapse collapse)
{
    int ends[2];
    struct outcome outcome = {0};
    if (pipe(ends) != 0)
        return 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work(sweep, family, size, collapse, ends[1]);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &outcome, sizeof outcome) != (ssize_t)sizeof outcome)
        memset(&outcome, 0, sizeof outcome);
    close(ends[0]);
    int status = 0;
    struct rusage usage = {0};
    while (child > 0 && wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    print_row(sweep, family, size, collapse, &outcome, status, &usage);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void write_text(const struct sweep *sweep, const struct big_family *family, uint32_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s_%u.ptx", sweep->write_dir, family->name, (unsigned)size);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    family->write(file, size);
    fclose(file);
}

/* Larger ones are not tried where one was not compiled. */
static void sweep_family(struct sweep *sweep, const struct big_family *family,
                         enum pxr_collapse collapse)
{
    for (unsigned i = 0; i < BIG_SIZES; i++) {
        uint32_t size = sweep->size && i == 0 ? sweep->size : family->sizes[i];
        if (size == 0 || (sweep->size && i > 0))
            return;
        if (sweep->write_dir) {
            write_text(sweep, family, size);
        } else if (!measure(sweep, family, size, collapse)) {
            sweep->failures++;
            return;
        }
    }
}

static int is_named(const char *list, const char *name)
{
    return !list || pxr_list_contains(list, name);
}

static void sweep_all(struct sweep *sweep)
{
    for (size_t f = 0; f < big_family_count; f++)
        for (unsigned c = 0; c < PXR_COLLAPSE_COUNT; c++)
            if (is_named(sweep->families, big_families[f].name) &&
                is_named(sweep->collapses, pxr_collapse_name((enum pxr_collapse)c)))
                sweep_family(sweep, &big_families[f], (enum pxr_collapse)c);
}

static int parse(struct sweep *sweep, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value)
            return 0;
        if (strcmp(argv[i], "--collapse") == 0)
            sweep->collapses = value;
        else if (strcmp(argv[i], "--family") == 0)
            sweep->families = value;
        else if (strcmp(argv[i], "--size") == 0)
            sweep->size = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--limit") == 0)
            sweep->limit_s = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--memory") == 0)
            sweep->memory_mb = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--write") == 0)
            sweep->write_dir = value;
        else if (strcmp(argv[i], "--dump") == 0)
            sweep->dump_dir = value;
        else if (strcmp(argv[i], "--tier") == 0)
            sweep->is_quick = strcmp(value, "quick") == 0;
        else
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct sweep sweep = {.collapses = "auto,precise", .limit_s = 120, .memory_mb = 6000};
    if (!parse(&sweep, argc, argv)) {
        fprintf(stderr,
                "usage: bench_compile_sweep [--collapse NAMES] [--family NAMES] [--size N]\n"
                "           [--tier quick|best] [--limit SECONDS] [--memory MB] [--write DIR] "
                "[--dump DIR]\n");
        return 2;
    }
    if (!sweep.write_dir)
        printf("%-20s %7s %-12s %7s %6s %7s %6s %7s %7s %7s %6s %9s %s\n", "family", "size",
               "asked", "instr.", "us", "total s", "parse", "transl.", "optim.", "codegen", "MB",
               "bytes", "made");
    sweep_all(&sweep);
    return sweep.failures > 0;
}
