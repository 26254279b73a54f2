/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON, with the commas where they belong.
 */
#include "util/json.h"

#include <inttypes.h>
#include <math.h>

#include "util/outside_text.h"

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        uint32_t character;
        size_t length = text_character(text, &character);
        if (character == '"' || character == '\\')
            fprintf(file, "\\%c", (int)character);
        else if (character < ' ' || (character == 0xfffd && length == 1))
            fprintf(file, "\\u%04x", (unsigned)character);
        else
            fwrite(text, 1, length, file);
        text += length;
    }
    fputc('"', file);
}

static void begin_item(struct json *json, const char *key, bool is_row)
{
    bool begins_line = json->depth == 1 || is_row;
    if (json->has_item)
        fputs(begins_line ? "," : ", ", json->file);
    if (begins_line && (json->has_item || is_row))
        fputc('\n', json->file);
    if (key) {
        write_string(json->file, key);
        fputs(": ", json->file);
    }
    json->has_item = true;
}

static void open_item(struct json *json, const char *key, char bracket)
{
    begin_item(json, key, bracket == '{' && !key && json->depth > 0);
    fputc(bracket, json->file);
    json->depth++;
    json->has_item = false;
}

static void close_item(struct json *json, char bracket)
{
    fputc(bracket, json->file);
    json->has_item = true;
    if (--json->depth == 0)
        fputc('\n', json->file);
}

void json_open_object(struct json *json, const char *key)
{
    open_item(json, key, '{');
}

void json_close_object(struct json *json)
{
    close_item(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
    open_item(json, key, '[');
}

void json_close_array(struct json *json)
{
    close_item(json, ']');
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin_item(json, key, false);
    write_string(json->file, text);
}

void json_number(struct json *json, const char *key, double number)
{
    if (!isfinite(number)) {
        json_null(json, key);
        return;
    }
    begin_item(json, key, false);
    fprintf(json->file, "%.6g", number);
}

void json_count(struct json *json, const char *key, uint64_t count)
{
    begin_item(json, key, false);
    fprintf(json->file, "%" PRIu64, count);
}

void json_bool(struct json *json, const char *key, bool is_true)
{
    begin_item(json, key, false);
    fputs(is_true ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    begin_item(json, key, false);
    fputs("null", json->file);
}
