/* SPDX-License-Identifier: Apache-2.0
 *
 * The C of the rows, made for a CPU: a library for each compiler (plain/build.sh).
 */
#include "tools/bench/table_plain.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *command;
    const char *library; /* for this machine; "": there is no such compiler */
} compilers[TABLE_COMPILERS] = {
    [TABLE_CC] = {PTXRUN_BENCH_CC, PTXRUN_BENCH_PLAIN_CC},
    [TABLE_GCC] = {PTXRUN_BENCH_GCC, PTXRUN_BENCH_PLAIN_GCC},
};

/* Written by table_plain_open. */
static void *libraries[TABLE_COMPILERS];

extern char **environ;

static bool build(const char *library, const char *cpu, const char *compiler)
{
    const char *arguments[] = {
        "sh", PTXRUN_BENCH_BUILD_PLAIN, library, cpu, PTXRUN_BENCH_OPENMP, compiler, NULL};
    pid_t child;
    int status = -1;
    return posix_spawnp(&child, "sh", NULL, NULL, (char **)(uintptr_t)arguments, environ) == 0 &&
           waitpid(child, &status, 0) == child && status == 0;
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "ptxbench: %s\n", dlerror());
    return library;
}

static void *build_and_load(const char *cpu, const char *compiler)
{
    char folder[] = "/tmp/ptxbench-XXXXXX";
    char path[sizeof folder + sizeof "/plain.so"];
    if (!mkdtemp(folder))
        return NULL;
    snprintf(path, sizeof path, "%s/plain.so", folder);
    void *library = build(path, cpu, compiler) ? load(path) : NULL;
    if (!library)
        fprintf(stderr, "ptxbench: no C by %s for CPU '%s'\n", compiler, cpu);
    unlink(path);
    rmdir(folder);
    return library;
}

bool table_plain_open(const char *cpu)
{
    for (int i = 0; i < TABLE_COMPILERS; i++)
        if (compilers[i].library[0])
            libraries[i] =
                cpu[0] ? build_and_load(cpu, compilers[i].command) : load(compilers[i].library);
    if (!libraries[TABLE_CC])
        fputs("ptxbench: without this C there is nothing to compare with: `ptxbench table` runs in "
              "a tree that\n"
              "ptxbench: ptxrun was built in, and needs a C compiler for --cpu (`ptxbench compare` "
              "needs neither)\n",
              stderr);
    return libraries[TABLE_CC] != NULL;
}

static void *find_symbol(const char *name, enum table_compiler compiler)
{
    if (!name || !libraries[compiler])
        return NULL;
    void *symbol = dlsym(libraries[compiler], name);
    if (!symbol) {
        fprintf(stderr, "ptxbench: no C function '%s'\n", name);
        exit(2);
    }
    return symbol;
}

table_plain_fn table_plain_find(const char *name, enum table_compiler compiler)
{
    return (table_plain_fn)(uintptr_t)find_symbol(name, compiler);
}

size_t table_plain_vector_bytes(void)
{
    return *(const size_t *)find_symbol("limit_vector_bytes", TABLE_CC);
}

const char *table_plain_compiler(enum table_compiler compiler)
{
    return find_symbol("plain_compiler", compiler);
}
