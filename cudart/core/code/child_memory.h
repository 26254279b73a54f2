/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills that kernels launch, in the order of their streams. Called aside
 * (sch_call_aside). Errors as in children.h.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CHILD_MEMORY_H
#define PTXRUN_CUDART_CORE_CODE_CHILD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct rt_thread;

/* Row y of slice z begins at base + z * slice_bytes + y * pitch_bytes. */
struct crt_box {
    uintptr_t base;
    size_t pitch_bytes;
    size_t slice_bytes;
};

struct crt_box_work {
    struct crt_box dst;
    struct crt_box src; /* base 0: every byte becomes `value` */
    size_t width_bytes;
    size_t height;
    size_t depth;
    uint8_t value;
};

uint32_t crt_child_box(struct rt_thread *thread, const struct crt_box_work *work, uint64_t stream);

#endif
