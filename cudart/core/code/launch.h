/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel launches.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_LAUNCH_H
#define PTXRUN_CUDART_CORE_CODE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "cudart/core/code/children.h"
#include "cudart/core/streams/work.h"
#include "jit/jit.h"
#include "kernel_abi/rt.h"
#include "scheduler/scheduler.h"

struct crt_children;
struct crt_context;
struct crt_frames;
struct crt_kernel;
struct crt_module;
struct crt_stream;
struct crt_variant;
struct sch_op;

/* Text that a kernel has printed, in its order; sorted by block when it is written out. */
struct crt_print_record {
    struct crt_print_record *next;
    uint64_t block;
    size_t len;
    char text[];
};

/* What the barrier of a cooperative grid takes (rt_launch.grid_workspace). */
#define CRT_WORKSPACE_BYTES 64

/* A launch in flight; freed when the grid has ended. */
struct crt_launch {
    struct crt_kernel *kernel;
    struct crt_context *ctx;
    const struct crt_variant *variant; /* that it began with */
    struct tr_facts facts;             /* for better code, if that is quick */
    uint32_t block_threads;
    struct sch_op *previous; /* the stream's operation before; for statistics */
    uint64_t number;         /* order of launches */
    uint64_t submit_ns;
    uint64_t *workspace;                 /* of a cooperative grid's barrier */
    struct crt_print_record *printed;    /* newest first; guarded by the lock in printf.c */
    struct crt_print_record *assertions; /* messages of failed assertions, likewise */
    size_t printed_bytes;
    atomic_uint late_blocks;    /* that have been reported */
    atomic_uint overruns;       /* margins of allocations that were opened for it … */
    struct sch_fault overrun;   /* … the first */
    struct crt_child child;     /* of the kernel that has launched it */
    _Atomic uint32_t race_work; /* its number in races/works.h, once a block has begun */
    struct crt_frames *calls;   /* that have asked for it, for --check=race; NULL: not known */
    void *graph_run;            /* of a graph's launch, for launches of graphs from it, or NULL */
    unsigned depth;             /* in a tree of launches; the host's have 0 */
    _Atomic(struct crt_children *) children; /* what it has launched; NULL: it never asked */
    void *memory;                  /* what is freed; NULL: it belongs to a launch of a graph */
    _Alignas(16) uint8_t params[]; /* rt_launch.params points here */
};

CRT_API_BEGIN

/* Launches kernel in stream. Parameters come from params (a pointer for each), or from extra
 * (the buffer form of cuLaunchKernel); they are copied before it returns.
 * CRT_LAUNCH_OUT_OF_RESOURCES, CRT_INVALID_VALUE, or what compiling the kernel gave. */
enum crt_result crt_launch_kernel(struct crt_kernel *kernel, struct crt_stream *stream,
                                  const struct crt_launch_config *config, void *const *params,
                                  void *const *extra);

/* Copies a launch's parameters into a block of the kernel's param_bytes. */
enum crt_result crt_launch_copy_params(const struct crt_kernel *kernel, void *const *params,
                                       void *const *extra, uint8_t *block);

/* Makes a launch as work, with copies of the parameters. */
enum crt_result crt_work_launch(struct crt_kernel *kernel, const struct crt_launch_config *config,
                                void *const *params, void *const *extra, struct crt_work *work);

CRT_API_END

/* ---- the steps of a launch, for graphs, which take them at different times ---- */

struct sch_grid;

/* Whether the kernel can be launched so, whatever its parameters. */
enum crt_result crt_launch_check(struct crt_kernel *kernel, const struct crt_launch_config *config);

/* Finds or compiles the code for the launch's kernel and parameters. */
enum crt_result crt_launch_find_code(struct crt_launch *launch,
                                     const struct crt_launch_config *config);

/* A launch without parameters and code; the workspace of a cooperative grid is made with it. What
 * was not submitted has to be destroyed. */
enum crt_result crt_launch_create(struct crt_kernel *kernel, bool is_cooperative,
                                  struct crt_launch **launch);
void crt_launch_destroy(struct crt_launch *launch);

/* Fills in the grid of a launch that has its code. slots: of the kernel's module. */
void crt_launch_describe(const struct crt_launch *launch, void *const *slots,
                         const struct crt_launch_config *config, struct sch_grid *grid);

/* Appends a launch that has its code to the stream; on failure it is still the caller's. */
enum crt_result crt_launch_submit(struct crt_launch *launch, struct crt_module *module,
                                  struct crt_stream *stream,
                                  const struct crt_launch_config *config);

/* Takes better code for a grid so described, if there is any by now. */
void crt_launch_renew(struct crt_launch *launch, struct sch_grid *grid);

/* The workspace for the barrier of a cooperative grid, from malloc; NULL: out of memory. */
uint64_t *crt_launch_create_workspace(void);

/* The done function of the launch's operation: the grid has ended, with or without a fault. */
void crt_launch_finish(void *launch, const struct sch_fault *fault);

/* Parameters have at least malloc's alignment; tensor maps ask for more. */
#define CRT_PARAMS_ALIGN     ((size_t)16)
#define CRT_PARAMS_ALIGN_MAX ((size_t)128)

static inline size_t crt_params_align(const struct ptx_func *func)
{
    size_t align = CRT_PARAMS_ALIGN;
    for (uint32_t i = 0; i < func->param_count; i++)
        if (func->params[i]->align_bytes > align)
            align = func->params[i]->align_bytes;
    return align < CRT_PARAMS_ALIGN_MAX ? align : CRT_PARAMS_ALIGN_MAX;
}

/* How far behind the address the launch begins, so that its parameters are aligned. */
static inline size_t crt_launch_padding(const struct ptx_func *func, uintptr_t address)
{
    return -(address + offsetof(struct crt_launch, params)) & (crt_params_align(func) - 1);
}

/* The launch that a running block belongs to. */
static inline struct crt_launch *crt_launch_of(const struct rt_launch *launch)
{
    return (struct crt_launch *)(uintptr_t)(launch->params - offsetof(struct crt_launch, params));
}

/* Reports a fault on standard error: kernel, block, PTX line, address, nearest allocation. */
void crt_report_fault(const struct crt_launch *launch, const struct sch_fault *fault);

/* sch_grid.refused of launches: goes on with a write a little before or behind an allocation, which
 * crt_report_overrun tells of when the grid has ended. */
bool crt_launch_overruns(void *launch, const struct sch_fault *fault);
void crt_report_overrun(struct crt_launch *launch);

/* sch_grid.late of launches: says where a block of a kernel stands that takes too long. */
void crt_report_late(void *launch, const struct sch_fault *fault);

#endif
