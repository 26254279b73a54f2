/* SPDX-License-Identifier: Apache-2.0
 *
 * The promises of the printer, for any text that parses.
 */
#ifndef PTXRUN_TESTS_PRINT_CHECK_H
#define PTXRUN_TESTS_PRINT_CHECK_H

#include "ptx/print.h"

enum print_check {
    PRINT_CHECK_OK,
    PRINT_CHECK_NO_PTX, /* the text does not parse; why is the parser's message */
    PRINT_CHECK_BROKEN
};

/* As written: the same tokens. Normal: the same module, so that its normal form is the same text.
 * The text need not end with a NUL. */
enum print_check print_check(struct pxr_str text, const char *name, struct pxr_error *why);

/* The module's text, to be freed; *len without the NUL. */
char *print_module(const struct ptx_module *module, enum ptx_print_style style, size_t *len);

#endif
