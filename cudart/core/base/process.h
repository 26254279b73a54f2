/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the process that belongs to no context: the environment, fork, exit, workers, numbers.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_PROCESS_H
#define PTXRUN_CUDART_CORE_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

#define CRT_DRIVER_VERSION 13000

/* Initial-exec: a launch of a small grid takes no longer than some look-ups. */
#define CRT_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* Environment of CUDA itself, read once. */
struct crt_environment {
    bool launches_block;      /* CUDA_LAUNCH_BLOCKING */
    bool loads_eagerly;       /* CUDA_MODULE_LOADING=EAGER */
    bool jit_is_disabled;     /* CUDA_DISABLE_PTX_JIT */
    bool cache_is_disabled;   /* CUDA_CACHE_DISABLE */
    uint64_t cache_max_bytes; /* CUDA_CACHE_MAXSIZE; UINT64_MAX when it is not set */
    char *cache_path;         /* CUDA_CACHE_PATH, else where users' caches are; NULL: nowhere */
};

CRT_API_BEGIN

/* CRT_SUCCESS between a successful crt_init and a fork. Costs two loads. */
enum crt_result crt_check_ready(void);

const struct crt_environment *crt_environment_get(void);

/* Number for launches and objects, rising from 1. */
uint64_t crt_next_number(void);

CRT_API_END

/* The two ends of crt_init (init.h), each called once: reads the environment and sees to forks and
 * to the exit; and says that everything is there. */
void crt_process_prepare(void);
void crt_process_set_ready(void);

/* Whether this is the child of a process that had initialised: any lock may be held for ever. */
bool crt_is_forked(void);

/* Whether the program's exit handlers run. Objects that the runtime gives back then are neither
 * waited for nor freed: the process ends at once, as with a GPU, also when a kernel never would. */
bool crt_is_exiting(void);

/* Starts the workers if they do not run yet. */
enum crt_result crt_start_workers(void);

/* The first of count numbers in a row, of those that crt_next_number gives. */
uint64_t crt_next_numbers(uint64_t count);

uint64_t crt_now_ns(void); /* CLOCK_MONOTONIC */

#endif
