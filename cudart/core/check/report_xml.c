/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings as the XML that compute-sanitizer saves: a record for each place.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/reports.h"
#include "util/options.h"

static void write_text(FILE *file, const char *name, const char *text)
{
    if (!text)
        return;
    fprintf(file, "<%s>", name);
    crt_write_xml_text(file, text);
    fprintf(file, "</%s>", name);
}

static void write_number(FILE *file, const char *name, const char *format, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, format, number);
    write_text(file, name, text);
}

static void write_index(FILE *file, const char *name, const uint32_t index[3])
{
    fprintf(file, "<%s><x>%" PRIu32 "</x><y>%" PRIu32 "</y><z>%" PRIu32 "</z></%s>", name, index[0],
            index[1], index[2], name);
}

static void write_what(FILE *file, const struct crt_finding *finding)
{
    char text[512];
    char space[32];
    snprintf(text, sizeof text, "%s %s: %s", finding->access,
             crt_finding_table[finding->kind].title, finding->where);
    fputs("  <what>", file);
    write_text(file, "text", text);
    if (finding->kernel && finding->space && finding->verb) {
        snprintf(space, sizeof space, "__%s__", finding->space);
        write_text(file, "space", space);
        write_text(file, "direction", finding->verb);
    }
    if (finding->bytes)
        write_number(file, "size", "%" PRIu64, finding->bytes);
    write_text(file, "error", crt_finding_table[finding->kind].rule);
    write_number(file, "accessAddress", "0x%" PRIx64, finding->address);
    fputs("</what>\n", file);
}

static void write_where(FILE *file, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    const char *kernel = found->readable ? found->readable : finding->kernel;
    fputs("  <where>", file);
    write_text(file, "func", kernel ? kernel : finding->function);
    write_text(file, "path", finding->file);
    if (finding->file)
        write_number(file, "line", "%" PRIu64, finding->line);
    if (kernel)
        write_number(file, "pc", "0x%" PRIx64, finding->ptx_line);
    fputs("</where>\n", file);
}

/* A line as host_frames.h has it: "main in app.cu:12 [0x1234] in app". */
static void write_frame(FILE *file, char *line)
{
    char *offset = strstr(line, " [0x");
    char *module = offset ? strstr(offset, "] in ") : NULL;
    if (!module)
        return;
    *offset = '\0';
    *module = '\0';
    char *source = strstr(line, " in ");
    char *number = source ? strrchr(source, ':') : NULL;
    if (number) {
        *source = '\0';
        *number = '\0';
    }
    fputs("<frame>", file);
    write_text(file, "func", line);
    write_text(file, "path", number ? source + 4 : NULL);
    write_text(file, "line", number ? number + 1 : NULL);
    write_text(file, "module", module + 5);
    write_text(file, "pc", offset + 2);
    fputs("</frame>", file);
}

static void write_stack(FILE *file, const struct crt_finding *finding)
{
    const char *frames = finding->call ? finding->call : finding->frames;
    char *copy = frames ? strdup(frames) : NULL;
    char *rest = copy;
    if (!copy || pxr_options_get()->check_backtrace == PXR_CHECK_BACKTRACE_NO) {
        free(copy);
        return;
    }
    fputs("  <hostStack>", file);
    write_text(file, "saveLocation", crt_report_when(finding));
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        write_frame(file, line);
    fputs("</hostStack>\n", file);
    free(copy);
}

static void write_record(FILE *file, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    const char *other = finding->kind == CRT_FINDING_LEAK ? "Leak" : "Api";
    fprintf(file, " <record>\n  <kind>%s</kind>\n  <level>Error</level>\n",
            finding->kernel ? "Precise" : other);
    if (finding->kernel) {
        fputs("  <who>", file);
        write_index(file, "threadIdx", finding->thread);
        write_index(file, "blockIdx", finding->block);
        fputs("</who>\n", file);
    }
    write_what(file, finding);
    write_where(file, found);
    write_stack(file, finding);
    fputs(" </record>\n", file);
}

void crt_write_sanitizer_xml(FILE *file, const struct crt_found *found, size_t count)
{
    fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>\n", file);
    for (size_t i = 0; i < count; i++)
        write_record(file, &found[i]);
    fputs("</ComputeSanitizerOutput>\n", file);
}
