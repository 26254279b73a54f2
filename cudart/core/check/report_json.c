/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings as JSON: one object for each place.
 */
#include "cudart/core/check/reports.h"
#include "util/json.h"

static void write_text(struct json *json, const char *key, const char *text)
{
    if (text)
        json_text(json, key, text);
    else
        json_null(json, key);
}

static void write_place(struct json *json, const char *key, const uint32_t place[3])
{
    json_open_array(json, key);
    for (int d = 0; d < 3; d++)
        json_count(json, NULL, place[d]);
    json_close_array(json);
}

static void write_found(struct json *json, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    json_open_object(json, NULL);
    json_text(json, "rule", crt_finding_table[finding->kind].rule);
    json_text(json, "title", crt_finding_table[finding->kind].title);
    write_text(json, "access", finding->access);
    write_text(json, "kernel", found->readable ? found->readable : finding->kernel);
    write_text(json, "symbol", finding->kernel);
    write_text(json, "ptx", finding->ptx);
    json_count(json, "ptx_line", finding->ptx_line);
    write_text(json, "file", finding->file);
    json_count(json, "line", finding->line);
    write_text(json, "function", finding->function);
    if (finding->kernel) {
        write_place(json, "block", finding->block);
        write_place(json, "thread", finding->thread);
    }
    write_text(json, "where", finding->where);
    write_text(json, "call_frames", finding->call);
    write_text(json, "host_frames", finding->frames);
    json_count(json, "count", found->count);
    json_close_object(json);
}

void crt_write_json_report(FILE *file, const struct crt_found *found, size_t count)
{
    struct json json = {.file = file};
    json_open_object(&json, NULL);
    json_text(&json, "tool", "ptxrun " PTXRUN_VERSION);
    json_open_array(&json, "findings");
    for (size_t i = 0; i < count; i++)
        write_found(&json, &found[i]);
    json_close_array(&json);
    json_close_object(&json);
}
