/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings for people.
 */
#include <inttypes.h>
#include <string.h>

#include "cudart/core/check/reports.h"
#include "util/options.h"

static void write_frames(FILE *file, const char *frames)
{
    if (pxr_options_get()->check_backtrace == PXR_CHECK_BACKTRACE_NO)
        return;
    for (const char *at = frames; at && *at;) {
        size_t len = strcspn(at, "\n");
        fprintf(file, "    %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static void write_place(FILE *file, const struct crt_finding *finding)
{
    if (finding->file && !finding->ptx)
        fprintf(file, "  at %s:%" PRIu32 "\n", finding->file, finding->line);
    else if (finding->file)
        fprintf(file, "  at %s:%" PRIu32 " (PTX line %" PRIu32 " of %s)\n", finding->file,
                finding->line, finding->ptx_line, finding->ptx);
    else if (finding->ptx && finding->ptx_line == 0)
        fprintf(file, "  at a line of %s that is not known\n", finding->ptx);
    else if (finding->ptx)
        fprintf(file, "  at PTX line %" PRIu32 " of %s\n", finding->ptx_line, finding->ptx);
}

void crt_write_text_finding(FILE *file, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    const struct crt_finding_info *info = &crt_finding_table[finding->kind];
    char thread[CRT_THREAD_TEXT_BYTES];
    fprintf(file, "%s %s [%s]\n", finding->access, info->title, info->rule);
    write_place(file, finding);
    write_frames(file, finding->call);
    if (finding->kernel)
        fprintf(file, "  %s\n", crt_report_thread(found, thread));
    fprintf(file, "  %s\n", finding->where);
    write_frames(file, finding->frames);
}

void crt_write_text_report(FILE *file, const struct crt_found *found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        crt_write_text_finding(file, &found[i]);
        fprintf(file, "  %" PRIu64 " times\n\n", found[i].count);
    }
    fprintf(file, "%zu places\n", count);
}
