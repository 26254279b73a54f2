/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes CSV.
 */
#include "tools/bench/csv.h"

#include <string.h>

static void begin_field(struct csv *csv)
{
    if (csv->fields++ > 0)
        fputc(',', csv->file);
}

/* In quotes, which are doubled, if it could be taken for anything else. */
void csv_text(struct csv *csv, const char *text)
{
    begin_field(csv);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, csv->file);
        return;
    }
    fputc('"', csv->file);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, csv->file);
    fputc('"', csv->file);
}

void csv_number(struct csv *csv, double number)
{
    begin_field(csv);
    fprintf(csv->file, "%.6g", number);
}

void csv_end_line(struct csv *csv)
{
    fputc('\n', csv->file);
    csv->fields = 0;
}
