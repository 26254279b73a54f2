/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), which code hosts
 * show beside the source.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/core/check/reports.h"
#include "util/json.h"

static void write_rules(struct json *json)
{
    json_open_array(json, "rules");
    for (int kind = 0; kind < CRT_FINDING_KINDS; kind++) {
        json_open_object(json, NULL);
        json_text(json, "id", crt_finding_table[kind].rule);
        json_open_object(json, "shortDescription");
        json_text(json, "text", crt_finding_table[kind].help);
        json_close_object(json);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_driver(struct json *json)
{
    json_open_object(json, "tool");
    json_open_object(json, "driver");
    json_text(json, "name", "ptxrun");
    json_text(json, "version", PTXRUN_VERSION);
    write_rules(json);
    json_close_object(json);
    json_close_object(json);
}

static void write_message(struct json *json, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    char text[1024];
    char thread[CRT_THREAD_TEXT_BYTES];
    snprintf(text, sizeof text, "%s %s, %s: %s (%" PRIu64 " times)", finding->access,
             crt_finding_table[finding->kind].title, crt_report_thread(found, thread),
             finding->where, found->count);
    json_open_object(json, "message");
    json_text(json, "text", text);
    json_close_object(json);
}

/* Services look for a file below the folder that was checked out, which is where they run programs.
 * The caller frees it; NULL: out of memory. */
static char *uri_of(const char *path)
{
    char *uri = NULL;
    size_t len;
    char *folder = getcwd(NULL, 0);
    size_t folder_len = folder ? strlen(folder) : 0;
    FILE *out = open_memstream(&uri, &len);
    if (out) {
        bool is_below = folder && strncmp(path, folder, folder_len) == 0 && path[folder_len] == '/';
        fputs(is_below || *path != '/' ? "" : "file://", out);
        for (const char *at = is_below ? path + folder_len + 1 : path; *at; at++)
            if (isalnum((unsigned char)*at) || strchr("-._~/", *at))
                fputc(*at, out);
            else
                fprintf(out, "%%%02X", (unsigned char)*at);
        fclose(out);
    }
    free(folder);
    return uri;
}

/* Lines begin at 1. */
static void write_location(struct json *json, const struct crt_finding *finding)
{
    uint32_t line = crt_report_line(finding);
    char *uri = uri_of(crt_report_file(finding));
    json_open_array(json, "locations");
    json_open_object(json, NULL);
    json_open_object(json, "physicalLocation");
    json_open_object(json, "artifactLocation");
    json_text(json, "uri", uri ? uri : "");
    json_close_object(json);
    json_open_object(json, "region");
    json_count(json, "startLine", line > 0 ? line : 1);
    json_close_object(json);
    json_close_object(json);
    json_close_object(json);
    json_close_array(json);
    free(uri);
}

static void write_result(struct json *json, const struct crt_found *found)
{
    json_open_object(json, NULL);
    json_text(json, "ruleId", crt_finding_table[found->first.kind].rule);
    json_text(json, "level", "error");
    write_message(json, found);
    write_location(json, &found->first);
    json_count(json, "occurrenceCount", found->count);
    json_close_object(json);
}

void crt_write_sarif_report(FILE *file, const struct crt_found *found, size_t count)
{
    struct json json = {.file = file};
    json_open_object(&json, NULL);
    json_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&json, "version", "2.1.0");
    json_open_array(&json, "runs");
    json_open_object(&json, NULL);
    write_driver(&json);
    json_open_array(&json, "results");
    for (size_t i = 0; i < count; i++)
        write_result(&json, &found[i]);
    json_close_array(&json);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
}
