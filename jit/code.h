/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded code as the loaders see it; jit.h has what others may know.
 */
#ifndef PTXRUN_JIT_CODE_H
#define PTXRUN_JIT_CODE_H

#include "jit/jit.h"
#include "jit/lines.h"
#include "util/guard.h"

/* Immutable once loaded, but for the pace. */
struct jit_code {
    struct pxr_area area; /* text | constants and the like */
    size_t text_bytes;    /* executable part, whole pages */
    jit_kernel_fn entry;
    struct jit_lines lines;
    const struct jit_compiler *compiler; /* whose ORC has linked it; */
    struct jit_linked *linked;           /* NULL: none, it is the loader's without LLVM */
    bool is_fused;                       /* entry is an rt_fused_fn */
    bool may_wait;
    bool hands_over;
    bool flushes;
    uint64_t frame_fixed_bytes;
    uint64_t frame_warp_bytes;
    uint64_t frame_thread_bytes;
    _Atomic(uint32_t) pace;
};

#endif
