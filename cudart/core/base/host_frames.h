/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of the host that have led to an API function, for messages. Thread-safe; calls nothing
 * of the project's but util.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_HOST_FRAMES_H
#define PTXRUN_CUDART_CORE_BASE_HOST_FRAMES_H

#include <stdio.h>

#include "cudart/core/base/host_source.h"

#define CRT_FRAMES 24

struct crt_frames {
    int count;
    void *at[CRT_FRAMES]; /* return addresses, the innermost first */
};

/* Those of the calling thread. It takes locks of the loader. */
void crt_frames_take(struct crt_frames *frames);

/* Those that have led to the instruction at which a signal has interrupted the thread: the
 * innermost is the program's, though it may have called libc. */
void crt_frames_take_at(struct crt_frames *frames, const void *pc);

/* From the API function upwards, a line each: "main in app.cu:12 [0x1234] in app". */
void crt_frames_write(FILE *out, const char *prefix, const struct crt_frames *frames);

/* The same as a text. malloc; NULL: out of memory. */
char *crt_frames_text(const struct crt_frames *frames);

/* The innermost call of the program's own that has a source; its file is NULL if none has. */
struct crt_host_place crt_frames_source(const struct crt_frames *frames);

/* The API function that the program has called, as it has called it; a text of its library's. */
const char *crt_frames_function(const struct crt_frames *frames);

#endif
