/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the just-in-time compiler: the log buffers and the time that was taken have an
 * effect; all others are accepted.
 */
#ifndef PTXRUN_CUDART_DRIVER_JIT_OPTIONS_H
#define PTXRUN_CUDART_DRIVER_JIT_OPTIONS_H

#include "cudart/driver/internal.h"
#include "util/error.h"

/* Room for the lines of an information log. */
#define JIT_INFO_BYTES 16384

/* A buffer of the caller. Its size is passed in the option array itself, and what was written is
 * stored there. */
struct jit_buffer {
    char *text;
    size_t cap;
    size_t used;
    void **len;
};

/* Where the caller wants its logs, and when the work began. */
struct jit_log {
    struct jit_buffer error;
    struct jit_buffer info;
    void **wall_time; /* holds a float afterwards: milliseconds */
    uint64_t start_ns;
};

/* CRT_INVALID_VALUE for an option that does not exist or has a value it cannot have. */
CUresult jit_log_init(struct jit_log *log, unsigned count, const CUjit_option *options,
                      void **values);

/* Adds a line, which may be one of several, to a buffer; what does not fit is left out. */
void jit_log_add(struct jit_buffer *buffer, const char *text);

/* Fills the information log with what a library holds that was parsed and nobody else knows yet. */
void jit_log_describe(struct jit_log *log, CUlibrary library);

/* Adds the error's sentence, if there is one, and stores lengths and time. A link ends its log
 * after each step. */
void jit_log_finish(struct jit_log *log, const struct pxr_error *error);

#endif
