/* SPDX-License-Identifier: Apache-2.0
 *
 * Where something has happened, as all reports say it.
 */
#include <errno.h>

#include "cudart/core/check/reports.h"

const char *crt_report_file(const struct crt_finding *finding)
{
    if (finding->file)
        return finding->file;
    return finding->ptx ? finding->ptx : program_invocation_short_name;
}

uint32_t crt_report_line(const struct crt_finding *finding)
{
    return finding->file ? finding->line : finding->ptx_line;
}

const char *crt_report_thread(const struct crt_found *found, char text[CRT_THREAD_TEXT_BYTES])
{
    const struct crt_finding *finding = &found->first;
    const char *kernel = found->readable ? found->readable : finding->kernel;
    if (kernel)
        snprintf(text, CRT_THREAD_TEXT_BYTES, "in %s, block (%u,%u,%u), thread (%u,%u,%u)", kernel,
                 finding->block[0], finding->block[1], finding->block[2], finding->thread[0],
                 finding->thread[1], finding->thread[2]);
    else
        snprintf(text, CRT_THREAD_TEXT_BYTES, "in %s",
                 finding->function ? finding->function : "the program");
    return text;
}

const char *crt_report_when(const struct crt_finding *finding)
{
    if (finding->call && finding->kind != CRT_FINDING_LEAK &&
        finding->kind != CRT_FINDING_UNUSED_MEMORY)
        return "error";
    return finding->kind == CRT_FINDING_USE_AFTER_FREE ? "free time" : "allocation time";
}
