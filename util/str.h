/* SPDX-License-Identifier: Apache-2.0
 *
 * String view: a pointer and a length into text owned by another object; not NUL-terminated.
 */
#ifndef PTXRUN_UTIL_STR_H
#define PTXRUN_UTIL_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct pxr_str {
    const char *ptr;
    size_t len;
};

/* For printf("%.*s", PXR_STR_ARG(s)). */
#define PXR_STR_ARG(s) (int)(s).len, (s).ptr

static inline struct pxr_str pxr_str_from(const char *text)
{
    return (struct pxr_str){text, text ? strlen(text) : 0};
}

static inline bool pxr_str_equal(struct pxr_str a, struct pxr_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool pxr_str_is(struct pxr_str a, const char *text)
{
    return pxr_str_equal(a, pxr_str_from(text));
}

#endif
