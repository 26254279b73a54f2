/* SPDX-License-Identifier: Apache-2.0
 *
 * Places of the source that PTX was made of, as .loc and .file tell them (PTX ISA, "Debugging
 * Directives").
 */
#ifndef PTXRUN_PTX_PLACE_H
#define PTXRUN_PTX_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

struct ptx_place {
    struct pxr_str folder; /* of file, where it is told apart; or empty */
    struct pxr_str file;   /* both point into the module */
    uint32_t line;
    uint32_t column; /* 0: not known */
};

/* The place of a line of the module's text: that of the last .loc at or before it in its function,
 * innermost where code was inlined. False: there is none, or its file has no name. */
bool ptx_find_place(const struct ptx_module *module, int line, struct ptx_place *place);

/* Where the function was called whose code that is, if it was inlined: at depth 1; at depth 2 where
 * the function was called that calls it, as far as lines before tell. */
bool ptx_find_caller(const struct ptx_module *module, int line, unsigned depth,
                     struct ptx_place *place);

#define PTX_PLACE_TEXT_BYTES 256

/* "folder/file:line"; cut off if it is longer. */
void ptx_place_text(const struct ptx_place *place, char text[PTX_PLACE_TEXT_BYTES]);

#endif
