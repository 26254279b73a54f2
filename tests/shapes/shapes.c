/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs case files on the product and on the oracle, several times each with different orders of
 * threads, and compares the memory with what the file says. --backend: product, oracle or driver.
 *
 *   shapes [--backend NAME] [--seeds N] [--verbose] FILE…
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/shapes/backend.h"

#define DEFAULT_SEEDS 4

struct options {
    const char *backend; /* NULL: all */
    unsigned seeds;
    bool is_verbose;
};

static bool run_once(const struct ptx_case *c, const struct backend *backend, uint32_t seed,
                     struct pxr_error *err)
{
    struct case_memory memory;
    if (!case_memory_init(c, &memory)) {
        pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
        return false;
    }
    enum pxr_status status = backend->run(c, &memory, seed, err);
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
    for (uint32_t seed = 0; seed < options->seeds; seed++) {
        if (!run_once(c, backend, seed, &err)) {
            printf("FAIL %s on the %s, seed %u: %s\n", c->path, backend->name, seed, err.message);
            return 1;
        }
    }
    return 0;
}

/* The oracle's lanes are independent: it does not run programs that need more than PTX promises.
 * A driver is asked only by name. */
static bool is_wanted(const struct ptx_case *c, const struct backend *backend,
                      const struct options *options)
{
    if (c->needs_lock_step && backend == &backend_oracle)
        return false;
    if (!options->backend)
        return backend != &backend_driver;
    return strcmp(options->backend, backend->name) == 0;
}

static unsigned run_file(const char *path, const struct options *options)
{
    static const struct backend *const backends[] = {&backend_product, &backend_oracle,
                                                     &backend_driver};
    struct ptx_case c;
    struct pxr_error err = {0};
    unsigned failures = 0;
    if (case_load(path, &c, &err) != PXR_OK) {
        printf("FAIL %s\n", err.message);
        failures++;
    }
    for (size_t n = 0; n < sizeof backends / sizeof *backends && !failures; n++)
        if (is_wanted(&c, backends[n], options))
            failures += run_backend(&c, backends[n], options);
    if (options->is_verbose && !failures)
        printf("ok   %s\n", path);
    fflush(stdout);
    case_fini(&c);
    return failures;
}

int main(int argc, char **argv)
{
    struct options options = {.seeds = DEFAULT_SEEDS};
    unsigned failures = 0;
    unsigned files = 0;
    for (int n = 1; n < argc; n++) {
        if (strcmp(argv[n], "--backend") == 0 && n + 1 < argc) {
            options.backend = argv[++n];
        } else if (strcmp(argv[n], "--seeds") == 0 && n + 1 < argc) {
            options.seeds = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--verbose") == 0) {
            options.is_verbose = true;
        } else {
            failures += run_file(argv[n], &options);
            files++;
        }
    }
    printf("%u files, %u failed\n", files, failures);
    return failures || !files;
}
