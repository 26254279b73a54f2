/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings as JUnit's XML, which every CI service shows as tests.
 */
#include <inttypes.h>

#include "cudart/core/check/reports.h"
#include "util/outside_text.h"

void crt_write_xml_text(FILE *file, const char *text)
{
    while (*text) {
        uint32_t character;
        size_t length = text_character(text, &character);
        if (character == '<' || character == '>' || character == '&' || character == '"' ||
            character == '\n' || character == '\t')
            fprintf(file, "&#%" PRIu32 ";", character);
        else if (character < ' ' || (character == 0xfffd && length == 1))
            fputc('?', file);
        else
            fwrite(text, 1, length, file);
        text += length;
    }
}

static void write_attribute(FILE *file, const char *name, const char *text)
{
    fprintf(file, " %s=\"", name);
    crt_write_xml_text(file, text);
    fputc('"', file);
}

static void write_found(FILE *file, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    char text[1024];
    char thread[CRT_THREAD_TEXT_BYTES];
    fputs("  <testcase classname=\"ptxrun.check\"", file);
    snprintf(text, sizeof text, "%s: %s:%" PRIu32, crt_finding_table[finding->kind].rule,
             crt_report_file(finding), crt_report_line(finding));
    write_attribute(file, "name", text);
    fputs(">\n    <failure", file);
    snprintf(text, sizeof text, "%s %s", finding->access, crt_finding_table[finding->kind].title);
    write_attribute(file, "message", text);
    write_attribute(file, "type", crt_finding_table[finding->kind].rule);
    fputc('>', file);
    snprintf(text, sizeof text, "%s\n%s\n%" PRIu64 " times", crt_report_thread(found, thread),
             finding->where, found->count);
    crt_write_xml_text(file, text);
    fputs("</failure>\n  </testcase>\n", file);
}

void crt_write_junit_report(FILE *file, const struct crt_found *found, size_t count)
{
    size_t tests = count > 0 ? count : 1;
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"ptxrun.check\" tests=\"%zu\" failures=\"%zu\">\n",
            tests, count);
    for (size_t i = 0; i < count; i++)
        write_found(file, &found[i]);
    if (count == 0)
        fputs("  <testcase classname=\"ptxrun.check\" name=\"no errors\"/>\n", file);
    fputs("</testsuite>\n", file);
}
