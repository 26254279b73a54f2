/* SPDX-License-Identifier: Apache-2.0
 *
 * The system's pages: 4096 bytes on x86-64, and as the system was built on AArch64, up to 65536.
 */
#ifndef PTXRUN_UTIL_PAGES_H
#define PTXRUN_UTIL_PAGES_H

#include <stddef.h>
#include <unistd.h>

static inline size_t pxr_page_bytes(void)
{
    return (size_t)getpagesize();
}

/* The least multiple of a page that is not below it. */
static inline size_t pxr_round_to_pages(size_t bytes)
{
    size_t page_bytes = pxr_page_bytes();
    return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

/* The greatest multiple of a page that is not above it. */
static inline size_t pxr_round_down_to_pages(size_t bytes)
{
    return bytes & ~(pxr_page_bytes() - 1);
}

#endif
