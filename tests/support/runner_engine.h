/* SPDX-License-Identifier: Apache-2.0
 *
 * What an engine behind tests/support/runner.h provides. Private to tests/support.
 */
#ifndef PTXRUN_TESTS_SUPPORT_RUNNER_ENGINE_H
#define PTXRUN_TESTS_SUPPORT_RUNNER_ENGINE_H

#include <stdbool.h>

#include "tests/support/runner.h"

#define RUNNER_MAX_BUFFERS 64

struct runner_engine {
    enum pxr_status (*load)(struct runner *runner, const char *ptx_text, struct pxr_error *err);
    enum pxr_status (*launch)(struct runner *runner, const struct runner_launch *launch,
                              struct pxr_error *err);
    void (*unload)(struct runner *runner); /* nothing loaded: does nothing */
    void (*close)(struct runner *runner);  /* frees the runner too */
};

/* First member of every engine's own struct. */
struct runner {
    const struct runner_engine *engine;
    char *text; /* of the loaded module; NULL: none is */
};

/* Drops the loaded module. */
void runner_unload(struct runner *runner);

struct ptx_func;

static inline bool runner_is_value(const struct runner_launch *launch, size_t parameter)
{
    return (launch->values >> parameter & 1) != 0;
}

/* The kernel's parameter block with addresses of host memory, malloc. */
enum pxr_status runner_make_params(const struct ptx_func *kernel,
                                   const struct runner_launch *launch, uint8_t **params,
                                   struct pxr_error *err);

#endif
