/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in a kernel something was found.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_FINDING_PLACE_H
#define PTXRUN_CUDART_CORE_CODE_FINDING_PLACE_H

#include "cudart/core/check/findings.h"
#include "kernel_abi/rt.h"
#include "ptx/place.h"

struct crt_kernel;

/* A finding, and the texts that its place points to. */
struct crt_placed_finding {
    struct crt_finding finding;
    char file[PTX_PLACE_TEXT_BYTES];
    char ptx[256];
};

/* Of what this thread does in that line of its kernel's PTX: all about where, but for the source.
 */
void crt_name_place(struct crt_placed_finding *placed, const struct rt_thread *thread,
                    uint32_t ptx_line);

/* The line of the source, if the PTX tells it. Slow. */
void crt_find_place(struct crt_placed_finding *placed, const struct rt_thread *thread);

/* The line of the source, "file.cu:12", or of the PTX if that does not tell it. */
void crt_kernel_place_text(struct crt_kernel *kernel, uint32_t ptx_line, char *text, size_t cap);
void crt_place_text(const struct rt_thread *thread, uint32_t ptx_line, char *text, size_t cap);

#endif
