/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracle: a plain interpreter of checked PTX, written from the manual and sharing no code with
 * the translator. Tests compare the product's results with the oracle's.
 *
 * Not thread-safe: one owner at a time. Several oracles are independent of each other.
 */
#ifndef PTXRUN_TESTS_ORACLE_ORACLE_H
#define PTXRUN_TESTS_ORACLE_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "util/error.h"

struct oracle;

/* Gives the module's variables memory and their initial values. The module must outlive the
 * oracle. Errors: PXR_OUT_OF_MEMORY, PXR_UNSUPPORTED (32-bit addresses). */
enum pxr_status oracle_create(const struct ptx_module *module, struct oracle **oracle,
                              struct pxr_error *err);
void oracle_destroy(struct oracle *oracle);

/* Host memory that kernels may touch; a global address is the host address. A base that was given
 * before gets the size given now. Should memory run out here, the next oracle_run says so. */
void oracle_allow(struct oracle *oracle, void *base, size_t size_bytes);

/* Takes away all that oracle_allow has given. */
void oracle_forbid_all(struct oracle *oracle);

/* Memory of a .global or .const variable, or NULL. size_bytes may be NULL. */
void *oracle_var(struct oracle *oracle, const char *name, size_t *size_bytes);

struct oracle_launch {
    const char *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    const void *params; /* the kernel's parameter block, ptx_func.param_bytes long */
    uint64_t seed; /* 0: threads take turns. Otherwise a random schedule, and another pattern in
                      registers and memory that nothing has written: results of a race-free kernel
                      depend on neither */
    uint64_t max_steps; /* instructions of all threads together; 0: no limit */
};

/* Runs a grid to its end. Variables and printed text stay from launch to launch.
 * Errors: PXR_FAULT_… where the product has them, PXR_UNSUPPORTED by the instruction's name,
 * PXR_NOT_FOUND, PXR_INVALID_ARGUMENT, PXR_OUT_OF_MEMORY, and PXR_OUT_OF_RESOURCES when max_steps
 * were not enough. */
enum pxr_status oracle_run(struct oracle *oracle, const struct oracle_launch *launch,
                           struct pxr_error *err);

/* What kernels have printed with vprintf so far, NUL-terminated. */
const char *oracle_log(const struct oracle *oracle);

#endif
