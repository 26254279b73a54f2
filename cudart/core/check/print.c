/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/check/print.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cudart/core/check/reports.h"
#include "util/options.h"

/* Findings that wanted to be printed. */
static atomic_size_t printed;

static bool is_sanitizer(void)
{
    return pxr_options_get()->check_style == PXR_CHECK_STYLE_SANITIZER;
}

/* In one piece, whatever other threads and processes print. */
static void put(const char *text)
{
    const char *name = pxr_options_get()->check_log;
    FILE *log = *name ? fopen(name, "ae") : NULL;
    FILE *file = log ? log : is_sanitizer() ? stdout : stderr;
    fputs(text, file);
    fflush(file);
    if (log)
        fclose(log);
}

void crt_print_finding(const struct crt_found *found)
{
    char *text = NULL;
    size_t len;
    size_t limit = pxr_options_get()->check_limit;
    if (atomic_fetch_add(&printed, 1) >= limit && limit > 0)
        return;
    FILE *file = open_memstream(&text, &len);
    if (!file)
        return;
    if (is_sanitizer()) {
        crt_write_sanitizer_finding(file, found);
    } else {
        fputs("ptxrun: check: ", file);
        crt_write_text_finding(file, found);
    }
    if (fclose(file) == 0)
        put(text);
    free(text);
}

static void write_end(FILE *file, const struct crt_found *found, size_t count)
{
    uint64_t accesses = 0;
    for (size_t i = 0; i < count; i++)
        accesses += found[i].count;
    uint64_t suppressed = crt_findings_suppressed();
    if (count == 0)
        fputs("ptxrun: check: no errors", file);
    else
        fprintf(file, "ptxrun: check: %" PRIu64 " errors at %zu place%s", accesses, count,
                count == 1 ? "" : "s");
    if (suppressed > 0)
        fprintf(file, " (%" PRIu64 " suppressed)", suppressed);
    fputc('\n', file);
}

void crt_print_end(const struct crt_found *found, size_t count, int exit_code)
{
    char *text = NULL;
    size_t len;
    size_t limit = pxr_options_get()->check_limit;
    FILE *file = open_memstream(&text, &len);
    if (!file)
        return;
    if (is_sanitizer() && exit_code != 0)
        fprintf(file, "%s Target application returned an error\n", pxr_options_get()->check_prefix);
    if (is_sanitizer())
        crt_write_sanitizer_end(file, found, count, limit && limit < count ? limit : count);
    else
        write_end(file, found, count);
    if (fclose(file) == 0)
        put(text);
    free(text);
}
