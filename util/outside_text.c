/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that comes from outside.
 */
#include "util/outside_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffd

/* By the first byte; 0: none that a character begins with. */
static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t text_character(const char *text, uint32_t *character)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = length_of((unsigned char)*text);
    uint32_t read = (unsigned char)*text & first_bits[length];
    for (size_t i = 1; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0) != 0x80)
            length = 0; // ends the loop
        read = read << 6 | (byte & 0x3f);
    }
    bool is_surrogate = read >= 0xd800 && read < 0xe000;
    if (length == 0 || read < smallest[length] || is_surrogate || read > 0x10ffff) {
        *character = REPLACEMENT;
        return 1;
    }
    *character = read;
    return length;
}

char *text_shortened(const char *text, size_t characters)
{
    static const char ellipsis[] = "…";
    size_t count = 0, size = 0, fits = 0;
    uint32_t character;
    while (text[size]) {
        if (++count == characters)
            fits = size; // what stands before the last one
        size += text_character(text + size, &character);
    }
    if (count <= characters)
        return strdup(text);
    char *shortened = malloc(fits + sizeof ellipsis);
    memcpy(shortened, text, fits);
    memcpy(shortened + fits, ellipsis, sizeof ellipsis);
    return shortened;
}
