/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing text and random numbers.
 */
#include "tests/random/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (8U << 20)

static void reserve(struct text *text, size_t more)
{
    if (text->len + more < text->capacity)
        return;
    text->capacity = (text->len + more + 1) * 2;
    text->bytes = realloc(text->bytes, text->capacity);
    if (!text->bytes) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
}

void text_add_bytes(struct text *text, const char *bytes, size_t len)
{
    reserve(text, len + 1);
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof line) {
        fputs("a line is too long\n", stderr);
        exit(2);
    }
    text_add_bytes(text, line, (size_t)len);
}

void text_fini(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

bool text_read_file(struct text *text, const char *path)
{
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    size_t count;
    if (!file)
        return false;
    text_add_bytes(text, "", 0);
    while (text->len < MAX_FILE_BYTES && (count = fread(chunk, 1, sizeof chunk, file)) > 0)
        text_add_bytes(text, chunk, count);
    fclose(file);
    return true;
}

bool text_write_file(const char *bytes, size_t len, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool is_written = fwrite(bytes, 1, len, file) == len;
    return fclose(file) == 0 && is_written;
}

uint64_t dice_next(struct dice *dice)
{
    dice->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = dice->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t dice_below(struct dice *dice, uint32_t n)
{
    return (uint32_t)((dice_next(dice) >> 32) * n >> 32);
}

bool dice_chance(struct dice *dice, uint32_t percent)
{
    return dice_below(dice, 100) < percent;
}
