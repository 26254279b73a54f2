/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON, with the commas where they belong.
 */
#ifndef PTXRUN_UTIL_JSON_H
#define PTXRUN_UTIL_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *file;
    unsigned depth;
    bool has_item; /* in the innermost object or array */
};

/* Keys are NULL in arrays and at the top. Objects of arrays, and what stands in the outermost
 * object, begin a line. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

void json_text(struct json *json, const char *key, const char *text);
/* null if it is not finite. */
void json_number(struct json *json, const char *key, double number);
void json_count(struct json *json, const char *key, uint64_t count);
void json_bool(struct json *json, const char *key, bool is_true);
void json_null(struct json *json, const char *key);

#endif
