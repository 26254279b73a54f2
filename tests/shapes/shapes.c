/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs case files on the product, on the oracle and on every build (collapse and mode), several
 * times each with different orders of threads, and compares the memory with what the file says.
 *
 *   shapes [--backend NAME,…] [--seeds N] [--verbose] FILE…
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/shapes/backend.h"

#define DEFAULT_BACKENDS "oracle,product,all"
#define DEFAULT_SEEDS    4
#define CASE_SECONDS     240 /* for all runs of a case on one backend */

struct options {
    struct backend_list tested;
    unsigned seeds;
    bool is_verbose;
};

/* The current run, for the handler. */
static char current[512];

static void report_hang(int signal)
{
    (void)signal;
    _exit(write(STDOUT_FILENO, current, strlen(current)) < 0 ? 4 : 3);
}

static bool run_once(const struct ptx_case *c, const struct backend *backend, uint32_t seed,
                     struct pxr_error *err)
{
    struct case_memory memory;
    if (!case_memory_init(c, &memory)) {
        pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
        return false;
    }
    enum pxr_status status = backend->run(backend, c, &memory, seed, err);
    bool is_good = status == PXR_OK;
    if (c->expects_fault) {
        is_good = backend_status_is_fault(status);
        if (status == PXR_OK)
            pxr_fail(err, PXR_INVALID_ARGUMENT, "a fault was expected");
    }
    is_good = is_good && case_memory_check(c, &memory, err);
    case_memory_fini(&memory);
    return is_good;
}

static unsigned run_backend(const struct ptx_case *c, const struct backend *backend,
                            const struct options *options)
{
    struct pxr_error err = {0};
    snprintf(current, sizeof current, "FAIL %s on %s: no end or a crash\n", c->path, backend->name);
    alarm(CASE_SECONDS);
    for (uint32_t seed = 0; seed < options->seeds; seed++) {
        if (!run_once(c, backend, seed, &err)) {
            printf("FAIL %s on %s, seed %u: %s\n", c->path, backend->name, seed, err.message);
            return 1;
        }
    }
    return 0;
}

static void print_made(const struct backend *build)
{
    char text[PXR_COLLAPSE_TEXT_BYTES];
    struct runner_made made = backend_made(build);
    pxr_collapse_text(made.collapse, made.width, made.jam, text);
    printf("     %s is %s\n", build->name, text);
}

static unsigned run_file(const char *path, const struct options *options)
{
    struct ptx_case c;
    struct pxr_error err = {0};
    unsigned failures = 0;
    if (case_load(path, &c, &err) != PXR_OK) {
        printf("FAIL %s\n", err.message);
        case_fini(&c);
        return 1;
    }
    for (size_t n = 0; n < options->tested.count; n++) {
        const struct backend *backend = options->tested.backends[n];
        /* The oracle's lanes are independent: it does not run programs that need more than PTX
         * promises. */
        if (!c.needs_lock_step || backend != &backend_oracle)
            failures += run_backend(&c, backend, options);
        if (options->is_verbose && backend_is_build(backend))
            print_made(backend);
    }
    if (options->is_verbose && !failures)
        printf("ok   %s\n", path);
    fflush(stdout);
    case_fini(&c);
    return failures != 0;
}

static int usage(void)
{
    fputs("shapes [--backend NAME,...] [--seeds N] [--verbose] FILE...\n"
          "  NAME: oracle, product, driver, all (every collapse and mode), precise, flat,\n"
          "        hierarchical, vector, auto; with -normal or -jit in one mode only\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct options options = {.seeds = DEFAULT_SEEDS};
    unsigned failures = 0;
    unsigned files = 0;
    signal(SIGALRM, report_hang);
    signal(SIGABRT, report_hang);
    for (int n = 1; n < argc; n++) {
        if (strcmp(argv[n], "--backend") == 0 && n + 1 < argc) {
            if (!backend_list_add(&options.tested, argv[++n]))
                return usage();
        } else if (strcmp(argv[n], "--seeds") == 0 && n + 1 < argc) {
            options.seeds = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--verbose") == 0) {
            options.is_verbose = true;
        } else {
            if (options.tested.count == 0)
                backend_list_add(&options.tested, DEFAULT_BACKENDS);
            failures += run_file(argv[n], &options);
            files++;
        }
    }
    printf("%u files, %u failed\n", files, failures);
    return failures || !files;
}
