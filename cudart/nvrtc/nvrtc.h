/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of NVRTC, and options about architectures.
 */
#ifndef PTXRUN_CUDART_NVRTC_H
#define PTXRUN_CUDART_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

/* As NVRTC numbers them. */
enum nvrtc_result {
    NVRTC_SUCCESS = 0,
    NVRTC_OUT_OF_MEMORY = 1,
    NVRTC_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_INVALID_INPUT = 3,
    NVRTC_INVALID_PROGRAM = 4,
    NVRTC_INTERNAL_ERROR = 11
};

/* The options of a compilation with virtual architectures in the place of real ones, and with the
 * next older one in the place of those that this NVRTC does not have. */
struct nvrtc_options {
    const char **list;
    char **owned;
    int count;
    unsigned arch;    /* of the last option about it; 0: none */
    bool wants_cubin; /* it was a real one */
};

/* supported: what this NVRTC has, in ascending order; may be empty. */
enum nvrtc_result nvrtc_options_make(int count, const char *const *given, const int *supported,
                                     int supported_count, struct nvrtc_options *options);
void nvrtc_options_fini(struct nvrtc_options *options);

#endif
