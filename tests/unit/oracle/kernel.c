/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing, launching with several seeds, and comparing what they leave.
 */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 12

static struct ptx_module *parse(const char *text)
{
    size_t size_bytes = strlen(HEADER) + strlen(text) + 1;
    char *whole = malloc(size_bytes);
    struct ptx_module *module = NULL;
    struct pxr_error err = {0};

    snprintf(whole, size_bytes, "%s%s", HEADER, text);
    cr_assert_eq(ptx_parse(pxr_str_from(whole), "test", &module, &err), PXR_OK, "%s", err.message);
    free(whole);
    return module;
}

static uint32_t at_least_one(uint32_t count)
{
    return count ? count : 1;
}

static enum pxr_status run_once(struct kernel_run *run, const struct ptx_module *module,
                                void *buffer, uint64_t seed)
{
    struct oracle *oracle = NULL;
    struct oracle_launch launch = {
        .kernel = "k",
        .grid = {at_least_one(run->blocks), 1, 1},
        .block = {at_least_one(run->threads), at_least_one(run->threads_y),
                  at_least_one(run->threads_z)},
        .dynamic_shared_bytes = run->dynamic_shared_bytes,
        .params = &buffer,
        .seed = seed,
        .max_steps = run->max_steps ? run->max_steps : 10000000,
    };
    enum pxr_status status = oracle_create(module, &oracle, &run->err);

    cr_assert_eq(status, PXR_OK, "%s", run->err.message);
    oracle_allow(oracle, buffer, run->out_bytes);
    status = oracle_run(oracle, &launch, &run->err);
    if (run->log)
        snprintf(run->log, 256, "%s", oracle_log(oracle));
    oracle_destroy(oracle);
    return status;
}

enum pxr_status run_kernel(struct kernel_run *run)
{
    struct ptx_module *module = parse(run->text);
    uint8_t *first = aligned_alloc(256, (run->out_bytes + 256) / 256 * 256);
    uint8_t *buffer = aligned_alloc(256, (run->out_bytes + 256) / 256 * 256);
    enum pxr_status status;

    memcpy(first, run->out, run->out_bytes);
    status = run_once(run, module, first, 0);
    for (uint64_t seed = 1; status == PXR_OK && seed <= SEEDS; seed++) {
        memcpy(buffer, run->out, run->out_bytes);
        status = run_once(run, module, buffer, seed);
        cr_assert_eq(status, PXR_OK, "seed %d: %s", (int)seed, run->err.message);
        cr_assert_eq(memcmp(buffer, first, run->out_bytes), 0, "seed %d gives other bytes",
                     (int)seed);
    }
    memcpy(run->out, first, run->out_bytes);
    free(first);
    free(buffer);
    ptx_module_destroy(module);
    return status;
}

void expect_words(const char *text, uint32_t threads, const uint32_t *expected, size_t count)
{
    uint32_t *words = calloc(count, sizeof(*words));
    struct kernel_run run = {
        .text = text, .threads = threads, .out = words, .out_bytes = count * sizeof(*words)};
    enum pxr_status status = run_kernel(&run);

    cr_assert_eq(status, PXR_OK, "%s", run.err.message);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(words[i], expected[i], "word %d is 0x%x, not 0x%x", (int)i, words[i],
                     expected[i]);
    free(words);
}

enum pxr_status status_of(const char *text, uint32_t threads, struct pxr_error *err)
{
    uint32_t words[64] = {0};
    struct kernel_run run = {
        .text = text, .threads = threads, .out = words, .out_bytes = sizeof(words)};
    enum pxr_status status = run_kernel(&run);

    *err = run.err;
    return status;
}
