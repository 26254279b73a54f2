/* SPDX-License-Identifier: Apache-2.0
 *
 * Backends run a case: the product through its C API, the oracle, a CUDA driver, which may be a
 * GPU's, or the product's parts in this process with a collapse and a mode of the caller's choice.
 */
#ifndef PTXRUN_TESTS_SHAPES_BACKEND_H
#define PTXRUN_TESTS_SHAPES_BACKEND_H

#include "tests/shapes/case.h"
#include "tests/support/runner.h"
#include "util/options.h"

struct backend {
    const char *name;
    /* Runs the case once on memory. seed: 0, or a random order of threads. Returns PXR_OK,
     * PXR_UNSUPPORTED (an instruction is refused by name), a PXR_FAULT_… of the kernel, or another
     * error. */
    enum pxr_status (*run)(const struct backend *self, const struct ptx_case *c,
                           const struct case_memory *memory, uint32_t seed, struct pxr_error *err);
    enum pxr_collapse collapse; /* of builds */
    bool has_facts;             /* of builds: the launch's configuration is a fact */
    bool hands_over;            /* … and quick code begins, which hands over in the middle */
};

/* Collapse and mode of `product` are those of the environment (PTXRUN_COLLAPSE, PTXRUN_MODE). Width
 * and jam of vectors are the environment's for all (PTXRUN_WIDTH, PTXRUN_JAM). */
extern const struct backend backend_product;
extern const struct backend backend_oracle;
extern const struct backend backend_driver; /* by the variable PTXRUN_TEST_LIBCUDA, or the loader */

/* "<collapse>-normal" and "<collapse>-jit" for every collapse. */
#define BACKEND_BUILD_COUNT 11
extern const struct backend backend_builds[BACKEND_BUILD_COUNT];
bool backend_is_build(const struct backend *backend);

/* A set of backends. */
#define BACKEND_MAX (BACKEND_BUILD_COUNT + 3)
struct backend_list {
    const struct backend *backends[BACKEND_MAX];
    size_t count;
};

/* Adds those of a comma-separated list of names; "all": every build; the name of a collapse: in
 * both modes. False: a name is not known. */
bool backend_list_add(struct backend_list *list, const char *names);
bool backend_list_has(const struct backend_list *list, const struct backend *backend);

/* The outcome for the kernel that a build ran last; PRECISE if it ran none. */
struct runner_made backend_made(const struct backend *build);

/* Runs the case's kernel on a runner of tests/support. */
enum pxr_status backend_run_case(struct runner *runner, const struct ptx_case *c,
                                 const struct case_memory *memory, struct pxr_error *err);

/* PXR_FAULT_…, whichever. */
bool backend_status_is_fault(enum pxr_status status);

#endif
