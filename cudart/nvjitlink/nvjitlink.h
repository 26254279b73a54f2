/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of libnvJitLink.so.N share: a link, its options, its inputs, its log.
 */
#ifndef PTXRUN_CUDART_NVJITLINK_H
#define PTXRUN_CUDART_NVJITLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/architecture.h"
#include "ptx/joined.h"

/* As nvJitLink numbers them. */
enum nvjitlink_result {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_MISSING_ARCH = 2,
    NVJITLINK_INVALID_INPUT = 3,
    NVJITLINK_PTX_COMPILE = 4,
    NVJITLINK_NVVM_COMPILE = 5,
    NVJITLINK_INTERNAL = 6,
    NVJITLINK_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_NULL_INPUT = 10,
    NVJITLINK_INCOMPATIBLE_OPTIONS = 11,
    NVJITLINK_INCORRECT_INPUT_TYPE = 12,
    NVJITLINK_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_UNSUPPORTED_ARCH = 17,
    NVJITLINK_LTO_NOT_ENABLED = 18
};

enum nvjitlink_input_type {
    NVJITLINK_INPUT_NONE,
    NVJITLINK_INPUT_CUBIN,
    NVJITLINK_INPUT_PTX,
    NVJITLINK_INPUT_LTOIR,
    NVJITLINK_INPUT_FATBIN,
    NVJITLINK_INPUT_OBJECT,
    NVJITLINK_INPUT_LIBRARY,
    NVJITLINK_INPUT_INDEX,
    NVJITLINK_INPUT_ANY = 10
};

/* Lines for the caller. */
struct nvjitlink_log {
    char *text; /* NULL: none */
    size_t len;
};

void nvjitlink_log_add(struct nvjitlink_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct nvjitlink_options {
    char **given; /* copies */
    uint32_t count;
    struct ptx_architecture arch;
    bool has_arch;
    bool wants_link_time; /* -lto */
    bool wants_ptx;
};

/* The caller calls nvjitlink_options_fini in any case. */
enum nvjitlink_result nvjitlink_options_read(uint32_t count, const char *const *given,
                                             struct nvjitlink_options *options,
                                             struct nvjitlink_log *log);
void nvjitlink_options_fini(struct nvjitlink_options *options);

/* One thread at a time. */
struct nvjitlink {
    struct nvjitlink_options options;
    struct nvjitlink_log errors;
    struct ptx_joined inputs; /* all that have PTX */
    void *behind;             /* the toolkit's link of the others, NULL: there are none */
    uint8_t *cubin;           /* made by nvJitLinkComplete … */
    size_t cubin_bytes;
    char *ptx; /* … or this, with -ptx */
    size_t ptx_bytes;
};

/* inputs.c */
enum nvjitlink_result nvjitlink_add(struct nvjitlink *link, enum nvjitlink_input_type type,
                                    struct ptx_span input, const char *name);

/* link_time.c: code for link-time optimisation, by the toolkit's library. Where there is none, one
 * line says so. caller: whoever calls nvJitLink. */
enum nvjitlink_result nvjitlink_add_link_time(struct nvjitlink *link,
                                              enum nvjitlink_input_type type, struct ptx_span input,
                                              const char *name);
/* Its PTX, with a NUL behind; the caller frees it. */
enum nvjitlink_result nvjitlink_complete_link_time(struct nvjitlink *link, char **ptx,
                                                   size_t *bytes);
void nvjitlink_destroy_link_time(struct nvjitlink *link);

#endif
