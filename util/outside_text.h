/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that comes from outside: names of kernels, arguments of programs.
 */
#ifndef PTXRUN_UTIL_OUTSIDE_TEXT_H
#define PTXRUN_UTIL_OUTSIDE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Reads a character and gives its bytes: 1 to 4. What is not UTF-8 is one byte each and reads as
 * U+FFFD, the character for such. The text does not end here. */
size_t text_character(const char *text, uint32_t *character);

/* At most so many characters, the last one of them "…" if something was cut off. malloc. */
char *text_shortened(const char *text, size_t characters);

#endif
