/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the just-in-time compiler: only the log buffers have an effect.
 */
#ifndef PTXRUN_CUDART_DRIVER_JIT_OPTIONS_H
#define PTXRUN_CUDART_DRIVER_JIT_OPTIONS_H

#include "cudart/driver/internal.h"
#include "util/error.h"

/* Where the caller wants its logs. Sizes are passed in the option array itself, and what was
 * written is stored there. */
struct jit_log {
    char *error_text;
    size_t error_cap;
    void **error_len;
    void **info_len;
};

/* CRT_INVALID_VALUE for an option that does not exist. */
CUresult jit_log_init(struct jit_log *log, unsigned count, const CUjit_option *options,
                      void **values);

/* Writes the error's sentence, if there is one. */
void jit_log_finish(const struct jit_log *log, const struct pxr_error *error);

#endif
