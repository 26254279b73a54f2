/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs a case: the product (translator, compiler and scheduler), the oracle, or a CUDA driver,
 * which may be a GPU's.
 */
#ifndef PTXRUN_TESTS_SHAPES_BACKEND_H
#define PTXRUN_TESTS_SHAPES_BACKEND_H

#include "tests/shapes/case.h"

/* Runs the case once on memory. seed: 0, or a random order of threads. Returns PXR_OK,
 * PXR_UNSUPPORTED (an instruction is refused by name), a PXR_FAULT_… of the kernel, or another
 * error. */
typedef enum pxr_status (*backend_run_fn)(const struct ptx_case *c,
                                          const struct case_memory *memory, uint32_t seed,
                                          struct pxr_error *err);

struct backend {
    const char *name;
    backend_run_fn run;
};

extern const struct backend backend_product;
extern const struct backend backend_oracle;
extern const struct backend backend_driver; /* by the variable PTXRUN_TEST_LIBCUDA, or the loader */

/* PXR_FAULT_…, whichever. */
bool backend_status_is_fault(enum pxr_status status);

#endif
