/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings: which code programs have asked for, as text, so that it can be compiled ahead
 * (docs/cache.md has the format). Each process adds lines; lines about the same code are one.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RECORDING_H
#define PTXRUN_CUDART_CORE_CODE_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"
#include "cudart/core/base/result.h"
#include "jit/jit.h"

/* A kernel and code for some of its launches. */
struct crt_recorded_launch {
    struct cache_key image; /* the entry with the PTX (record.h) */
    unsigned capability;    /* of the device for which the PTX was chosen: 75 */
    char *kernel;           /* malloc */
    char *skip;             /* malloc; steps left out */
    struct jit_variant variant;
    uint64_t launches; /* how many ran with it, as far as processes lived to say so */
};

struct crt_recording {
    struct crt_recorded_launch *launches; /* in the order of their first lines */
    size_t count;
    size_t room;
    struct crt_recording_index *index;
};

/* A line (malloc) with its newline; NULL: no memory. */
char *crt_recorded_launch_line(const struct crt_recorded_launch *launch);

CRT_API_BEGIN

/* Adds the lines of a text to a recording, which starts as all zero. name: of the file, for
 * messages. Errors: PXR_INVALID_ARGUMENT, with the line; PXR_OUT_OF_MEMORY. */
enum pxr_status crt_recording_read(const char *text, size_t len, const char *name,
                                   struct crt_recording *recording, struct pxr_error *err);
void crt_recording_fini(struct crt_recording *recording);

CRT_API_END

#endif
