/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the oracle with the code under test.
 */
#include "tests/random/compare.h"

#include <string.h>

/* Seed 0 is round robin; each other one is a random schedule, with other contents of what nothing
 * has written. */
static const uint32_t tested_seed = 3;

static enum verdict judge_status(enum pxr_status status, const struct backend *backend)
{
    if (status == PXR_OK)
        return VERDICT_SAME;
    if (status == PXR_UNSUPPORTED || (status == PXR_BAD_PTX && backend == &backend_driver))
        return VERDICT_UNSUPPORTED;
    return backend == &backend_oracle ? VERDICT_INVALID : VERDICT_DIFFERENT;
}

static enum verdict run_on(const struct ptx_case *c, const struct backend *backend, uint32_t seed,
                           struct case_memory *memory, struct pxr_error *err)
{
    if (!case_memory_init(c, memory)) {
        pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
        return VERDICT_INVALID;
    }
    enum verdict verdict = judge_status(backend->run(backend, c, memory, seed, err), backend);
    if (verdict != VERDICT_SAME)
        pxr_error_prefix(err, "%s", backend->name);
    return verdict;
}

/* Finds the first difference between two memories; false: there is none. */
static bool find_difference(const struct ptx_case *c, const struct case_memory *want,
                            const struct case_memory *got, struct pxr_error *err)
{
    for (size_t n = 0; n < c->arg_count; n++) {
        const struct case_arg *arg = &c->args[n];
        if (!arg->is_buffer || memcmp(want->bytes[n], got->bytes[n], arg->bytes) == 0)
            continue;
        size_t at = 0;
        while (want->bytes[n][at] == got->bytes[n][at])
            at++;
        at = at / 4 * 4;
        uint32_t words[2];
        memcpy(&words[0], want->bytes[n] + at, 4);
        memcpy(&words[1], got->bytes[n] + at, 4);
        pxr_fail(err, PXR_INVALID_ARGUMENT, "argument %zu, byte %zu: 0x%08x is not 0x%08x", n, at,
                 words[0], words[1]);
        return true;
    }
    return false;
}

/* The oracle says the same every time. */
static enum verdict compare_schedules(const struct ptx_case *c, unsigned schedules,
                                      const struct case_memory *first, struct pxr_error *err)
{
    enum verdict verdict = VERDICT_SAME;
    for (uint32_t seed = 1; seed < schedules && verdict == VERDICT_SAME; seed++) {
        struct case_memory second = {0};
        verdict = run_on(c, &backend_oracle, seed, &second, err);
        if (verdict == VERDICT_SAME && find_difference(c, first, &second, err)) {
            verdict = VERDICT_INVALID;
            pxr_error_prefix(err, "two schedules of the oracle");
        }
        case_memory_fini(&second);
    }
    return verdict;
}

static enum verdict compare_with(const struct ptx_case *c, const struct backend *tested,
                                 const struct case_memory *first, struct pxr_error *err)
{
    struct case_memory second = {0};
    enum verdict verdict = run_on(c, tested, tested_seed, &second, err);
    if (verdict == VERDICT_SAME && find_difference(c, first, &second, err)) {
        verdict = VERDICT_DIFFERENT;
        pxr_error_prefix(err, "oracle and %s", tested->name);
    }
    case_memory_fini(&second);
    return verdict;
}

void compare_case(const struct ptx_case *c, const struct backend_list *tested, unsigned schedules,
                  struct comparison *comparison)
{
    *comparison = (struct comparison){0};
    struct pxr_error *err = &comparison->err;
    struct case_memory *first = &comparison->memory;
    comparison->verdict = run_on(c, &backend_oracle, 0, first, err);
    if (comparison->verdict == VERDICT_SAME)
        comparison->verdict = compare_schedules(c, schedules, first, err);
    for (size_t n = 0; n < tested->count && comparison->verdict == VERDICT_SAME; n++) {
        const struct backend *backend = tested->backends[n];
        comparison->verdict = compare_with(c, backend, first, err);
        if (backend_is_build(backend)) {
            struct runner_made *made = &comparison->made[backend - backend_builds];
            *made = backend_made(backend);
            made->explanation = NULL;
        }
        if (comparison->verdict != VERDICT_SAME)
            comparison->backend = backend;
    }
}

void comparison_fini(struct comparison *comparison)
{
    case_memory_fini(&comparison->memory);
}
