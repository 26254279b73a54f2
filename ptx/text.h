/* SPDX-License-Identifier: Apache-2.0
 *
 * A glance at PTX text without parsing it: is it PTX, for which target, which functions does it
 * define. Works on text that the parser would refuse; the truth about a module is ptx_parse's.
 */
#ifndef PTXRUN_PTX_TEXT_H
#define PTXRUN_PTX_TEXT_H

#include <stdbool.h>

#include "util/str.h"

struct ptx_text_header {
    bool is_ptx; /* the first directive is .version */
    unsigned version_major;
    unsigned version_minor;
    unsigned target;    /* 75 for sm_75, 0 if not given */
    char target_suffix; /* 'a', 'f' or 0 */
};

struct ptx_text_header ptx_text_read_header(struct pxr_str text);

/* Position in a text; start with {.text = text}. */
struct ptx_text_scan {
    struct pxr_str text;
    size_t position;
};

struct ptx_text_function {
    struct pxr_str name;
    bool is_entry; /* .entry, otherwise .func */
    bool has_body;
};

/* The next function declared or defined at module level; false at the end of the text. */
bool ptx_text_next_function(struct ptx_text_scan *scan, struct ptx_text_function *function);

/* Whether this is the device runtime library (libcudadevrt), which gets linked into programs but
 * is provided natively: known by the functions it defines, which programs only declare. */
bool ptx_text_is_device_runtime(struct pxr_str text);

#endif
