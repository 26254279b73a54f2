/* SPDX-License-Identifier: Apache-2.0
 *
 * For messages: the forms that an instruction may have. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_NEAREST_H
#define PTXRUN_PTX_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

/* Whether any row of the name has the word in some form. */
bool ptx_op_mentions(struct pxr_str name, struct pxr_str word);

/* The rows of the name that have most of the words, as ptx_op_print_syntax writes them, cut where
 * they are long, with commas between them. */
void ptx_print_nearest(struct pxr_str name, const struct pxr_str *words, unsigned word_count,
                       char *text, size_t size_bytes);

#endif
