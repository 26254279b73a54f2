/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary: a line per form, sorted by form, the same for the same results.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/sweep.h"

#define LINE_BYTES 512

static const char header[] =
    "# Forms with one source of 32 bits against the oracle; 4294967296 inputs are all there are,\n"
    "# fewer are spread evenly. Made by: sh tests/conformance/sweep.sh BUILD_DIR [--stride 4096]\n"
    "#\n"
    "# unspecified: results that differ from the oracle's where the manual leaves them open\n"
    "# error/bound: the largest error of an approximate form where it is not the correctly "
    "rounded\n"
    "#     result, and the bound there, in the bound's unit; - for forms with exact results\n"
    "# fingerprint: of the translation and of the oracle's answers\n"
    "#\n";

#define COLUMNS "%-38s %10s %8s %11s  %-26s %-16s%s\n"

static void put_line(FILE *file, const struct sweep_line *line)
{
    const struct sweep_result *result = &line->result;
    char inputs[24], failures[24], unspecified[24], error[64] = "-", fingerprint[24];
    char first[96] = "";
    snprintf(inputs, sizeof inputs, "%" PRIu64, result->inputs);
    snprintf(failures, sizeof failures, "%" PRIu64, result->failures);
    snprintf(unspecified, sizeof unspecified, "%" PRIu64, result->unspecified);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, line->fingerprint);
    if (result->bound > 0)
        snprintf(error, sizeof error, "%.6g/%.6g", result->error, result->bound);
    if (result->failures > 0)
        snprintf(first, sizeof first, " first 0x%08" PRIx32 " want 0x%" PRIx64 " got 0x%" PRIx64,
                 result->first, result->want, result->got);
    fprintf(file, COLUMNS, line->form, inputs, failures, unspecified, error, fingerprint, first);
}

static bool parse_line(const char *text, struct sweep_line *line)
{
    struct sweep_result *result = &line->result;
    char error[64];
    int used = 0;
    *line = (struct sweep_line){0};
    _Static_assert(CONF_NAME_BYTES == 192, "the width below");
    if (sscanf(text, "%191s %" SCNu64 " %" SCNu64 " %" SCNu64 " %63s %" SCNx64 "%n", line->form,
               &result->inputs, &result->failures, &result->unspecified, error, &line->fingerprint,
               &used) != 6)
        return false;
    sscanf(error, "%lg/%lg", &result->error, &result->bound);
    sscanf(text + used, " first %" SCNx32 " want %" SCNx64 " got %" SCNx64, &result->first,
           &result->want, &result->got);
    return true;
}

enum pxr_status sweep_summary_read(struct sweep_summary *summary, const char *path,
                                   struct pxr_error *err)
{
    char text[LINE_BYTES];
    *summary = (struct sweep_summary){0};
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return PXR_OK;
    enum pxr_status status = PXR_OK;
    while (status == PXR_OK && fgets(text, sizeof text, file) != NULL) {
        struct sweep_line line;
        if (text[0] != '#' && parse_line(text, &line) && !sweep_summary_put(summary, &line))
            status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for the summary");
    }
    fclose(file);
    return status;
}

static int by_form(const void *a, const void *b)
{
    return strcmp(((const struct sweep_line *)a)->form, ((const struct sweep_line *)b)->form);
}

/* Written by way of another file, so that an interrupted run leaves a whole one. */
enum pxr_status sweep_summary_write(const struct sweep_summary *summary, const char *path,
                                    struct pxr_error *err)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.new", path);
    FILE *file = fopen(other, "w");
    if (file == NULL)
        return pxr_fail(err, PXR_IO, "cannot write %s", other);
    if (summary->count > 0)
        qsort(summary->lines, summary->count, sizeof *summary->lines, by_form);
    fputs(header, file);
    fprintf(file, COLUMNS, "# form", "inputs", "failures", "unspecified", "error/bound",
            "fingerprint", "");
    for (size_t i = 0; i < summary->count; i++)
        put_line(file, &summary->lines[i]);
    bool is_written = ferror(file) == 0;
    if (fclose(file) != 0 || !is_written || rename(other, path) != 0)
        return pxr_fail(err, PXR_IO, "cannot write %s", path);
    return PXR_OK;
}

void sweep_summary_free(struct sweep_summary *summary)
{
    free(summary->lines);
    *summary = (struct sweep_summary){0};
}

struct sweep_line *sweep_summary_find(const struct sweep_summary *summary, const char *form)
{
    for (size_t i = 0; i < summary->count; i++)
        if (strcmp(summary->lines[i].form, form) == 0)
            return &summary->lines[i];
    return NULL;
}

bool sweep_summary_put(struct sweep_summary *summary, const struct sweep_line *line)
{
    struct sweep_line *old = sweep_summary_find(summary, line->form);
    if (old != NULL) {
        if (old->fingerprint != line->fingerprint || old->result.inputs < line->result.inputs)
            *old = *line;
        return true;
    }
    struct sweep_line *grown =
        realloc(summary->lines, (summary->count + 1) * sizeof *summary->lines);
    if (grown == NULL)
        return false;
    grown[summary->count++] = *line;
    summary->lines = grown;
    return true;
}
