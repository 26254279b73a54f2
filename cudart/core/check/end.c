/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a process with checks: the last line, the report, the exit code.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/base/process.h"
#include "cudart/core/check/api_errors.h"
#include "cudart/core/check/call_finding.h"
#include "cudart/core/check/end.h"
#include "cudart/core/check/print.h"
#include "cudart/core/check/report_file.h"
#include "cudart/core/check/suppress.h"
#include "util/options.h"

/* The code the program ends with: it calls exit, or returns from main. */
static int exit_code;

static void note_exit_code(int code, void *unused)
{
    (void)unused;
    exit_code = code;
}

void crt_check_begin(void)
{
    if (!crt_check_is_on())
        return;
    on_exit(note_exit_code, NULL);
    crt_suppressions_load();
}

/* Objects that are no memory have no size. */
static void add_leak(const char *noun, const void *address, size_t size_bytes,
                     const struct crt_frames *frames)
{
    char access[128];
    char where[64];
    bool is_sanitizer = pxr_options_get()->check_style == PXR_CHECK_STYLE_SANITIZER;
    if (size_bytes == 0 && is_sanitizer) /* which knows leaks of memory only */
        return;
    if (size_bytes > 0)
        snprintf(access, sizeof access, "%zu bytes of %s", size_bytes, noun);
    else
        snprintf(access, sizeof access, "%s", noun);
    snprintf(where, sizeof where, "address 0x%zx", (size_t)(uintptr_t)address);
    crt_call_finding_add(&(struct crt_finding){.kind = CRT_FINDING_LEAK,
                                               .access = access,
                                               .where = where,
                                               .address = (uint64_t)(uintptr_t)address,
                                               .bytes = size_bytes,
                                               .block_base = (uint64_t)(uintptr_t)address,
                                               .block_bytes = size_bytes},
                         frames);
}

__attribute__((destructor(CRT_CHECK_SUM))) static void end(void)
{
    const struct pxr_options *options = pxr_options_get();
    if (crt_check_ready() != CRT_SUCCESS || !crt_check_is_on())
        return;
    crt_api_errors_end(exit_code);
    if (options->leak_check)
        crt_leak_each(add_leak);
    size_t count;
    const struct crt_found *found = crt_findings(&count);
    crt_print_end(found, count, exit_code);
    crt_report_write(found, count);
    if (*options->print_suppressions)
        crt_report_write_file(options->print_suppressions, "ae", crt_suppressions_write, found,
                              count);
    if (count == 0 || exit_code != 0 || options->error_exitcode == 0)
        return;
    fflush(NULL);
    _exit((int)options->error_exitcode);
}
