/* SPDX-License-Identifier: Apache-2.0
 *
 * See device_report.h. What no device takes is refused by the launch itself (crt_launch_check), for
 * the capability that devices report: here are the limits of another one, and those that only bind
 * GPUs.
 */
#include "cudart/core/code/device_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/check/call_finding.h"
#include "cudart/core/code/cluster.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "ptx/image.h"
#include "ptx/registers.h"
#include "util/options.h"
#include "util/readable_name.h"

#define CONSTANT_BYTES 65536

/* Registers are given to warps in units of 256, 8 for each thread. */
#define REGISTER_UNIT 8
#define REGISTERS_MAX 255

/* Otherwise it is the one that devices report, whose limits are checked by launches, and which runs
 * PTX of any. */
static bool is_named(void)
{
    return pxr_option_checked_device() >= 0;
}

struct looking {
    struct crt_kernel *kernel;
    const struct crt_launch_config *config;
    const struct crt_architecture *device;
    const struct ptx_kernel_needs *needs;
    uint32_t threads; /* of a block */
};

/* reason: behind "sm_90: ". */
static void add_finding(const struct looking *l, enum crt_finding_kind kind, const char *reason)
{
    char what[512];
    char where[512];
    struct crt_frames frames;
    const char *name = crt_kernel_name(l->kernel);
    char *readable = pxr_readable_name(name);
    crt_frames_take(&frames);
    snprintf(what, sizeof what, "launch of %s", readable ? readable : name);
    snprintf(where, sizeof where, "sm_%d: %s", l->device->capability, reason);
    crt_call_finding_add(&(struct crt_finding){.kind = kind, .access = what, .where = where},
                         &frames);
    free(readable);
}

/* ---- shared memory ---- */

static void look_at_shared(const struct looking *l)
{
    char reason[256];
    uint64_t fixed = crt_static_shared(l->needs);
    uint64_t dynamic = l->config->dynamic_shared_bytes;
    uint64_t limit = (uint64_t)l->device->shared_per_block_optin;
    if (fixed > CRT_SHARED_PER_BLOCK)
        snprintf(reason, sizeof reason,
                 "a block has %" PRIu64 " bytes of static shared memory, and no device gives it "
                 "more than %d",
                 fixed, CRT_SHARED_PER_BLOCK);
    else if (fixed + dynamic > limit)
        snprintf(reason, sizeof reason,
                 "a block has %" PRIu64 " bytes of static and %" PRIu64
                 " bytes of dynamic shared memory, and can have %" PRIu64,
                 fixed, dynamic, limit);
    else
        return;
    add_finding(l, CRT_FINDING_DEVICE_SHARED, reason);
}

/* ---- registers ---- */

/* An estimate; 0: nobody knows. */
static uint32_t registers_of(struct crt_kernel *kernel)
{
    struct jit_request request = {0};
    uint32_t registers = atomic_load_explicit(&kernel->registers, memory_order_relaxed);
    if (registers == 0 && crt_kernel_open(kernel, &request, NULL) == PXR_OK) {
        registers = ptx_estimate_registers(request.kernel, request.layout);
        atomic_store_explicit(&kernel->registers, registers, memory_order_relaxed);
    }
    return registers;
}

/* Where the PTX bounds threads or registers, compilers keep within the register file. */
static void look_at_registers(const struct looking *l)
{
    char reason[256];
    const struct ptx_func *func = l->kernel->func;
    uint32_t threads = (l->threads + CRT_WARP_SIZE - 1) / CRT_WARP_SIZE * CRT_WARP_SIZE;
    uint32_t limit = CRT_REGISTERS_PER_BLOCK / threads / REGISTER_UNIT * REGISTER_UNIT;
    if (func->max_threads[0] || func->required_threads[0] || limit >= REGISTERS_MAX)
        return;
    uint32_t registers = registers_of(l->kernel);
    if (func->max_registers && func->max_registers < registers)
        registers = func->max_registers;
    if (registers <= limit)
        return;
    snprintf(reason, sizeof reason,
             "its %" PRIu32 " threads need about %" PRIu32
             " registers each, by an estimate from the PTX, and there are %" PRIu32
             " for each; __launch_bounds__ would make the compiler keep to that",
             l->threads, registers, limit);
    add_finding(l, CRT_FINDING_DEVICE_REGISTERS, reason);
}

/* ---- what is on the device at a time ---- */

static void look_at_residency(const struct looking *l)
{
    char reason[256];
    const uint32_t *grid = l->config->grid;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    size_t shared = crt_static_shared(l->needs) + l->config->dynamic_shared_bytes;
    uint64_t per_sm = crt_blocks_per_sm(l->device, l->threads, shared);
    uint64_t resident = per_sm * (uint64_t)l->device->example_sm_count;
    if (!l->config->is_cooperative || blocks <= resident || !is_named())
        return;
    snprintf(reason, sizeof reason,
             "%" PRIu64 " blocks are to be on the device at a time; a multiprocessor takes %" PRIu64
             ", a %s, with %d of them, %" PRIu64,
             blocks, per_sm, l->device->example, l->device->example_sm_count, resident);
    add_finding(l, CRT_FINDING_DEVICE_COOPERATIVE, reason);
}

static void look_at_cluster(const struct looking *l)
{
    struct crt_cluster cluster;
    if (crt_cluster_of(l->kernel, l->config, &cluster) == CRT_SUCCESS && cluster.is_explicit &&
        l->device->capability < CRT_CAPABILITY_OF_CLUSTERS)
        add_finding(l, CRT_FINDING_DEVICE_CLUSTER, "it has no clusters of blocks");
}

/* ---- the program ---- */

static void look_at_parameters(const struct looking *l)
{
    char reason[256];
    uint32_t bytes = l->kernel->func->param_bytes;
    if (bytes <= (uint32_t)l->device->param_bytes)
        return;
    snprintf(reason, sizeof reason,
             "the kernel has %" PRIu32 " bytes of parameters, and can have %d", bytes,
             l->device->param_bytes);
    add_finding(l, CRT_FINDING_DEVICE_PARAMETERS, reason);
}

static void look_at_constants(const struct looking *l)
{
    char reason[256];
    int bytes = crt_library_const_bytes(l->kernel->library);
    if (bytes <= CONSTANT_BYTES)
        return;
    snprintf(reason, sizeof reason,
             "the module has %d bytes of constant memory, and no device has more than %d", bytes,
             CONSTANT_BYTES);
    add_finding(l, CRT_FINDING_DEVICE_CONSTANTS, reason);
}

static void look_at_code(const struct looking *l)
{
    char reason[512];
    if (l->kernel->library->foreign_code[0] == '\0')
        return;
    snprintf(reason, sizeof reason, "there is no code that it could run, only %s",
             l->kernel->library->foreign_code);
    add_finding(l, CRT_FINDING_DEVICE_CODE, reason);
}

void crt_report_device(struct crt_kernel *kernel, const struct crt_launch_config *config)
{
    const uint32_t *block = config->block;
    if (!crt_checks_device())
        return;
    struct looking l = {.kernel = kernel,
                        .config = config,
                        .device = crt_architecture_checked(),
                        .threads = block[0] * block[1] * block[2]};
    if (crt_kernel_needs(kernel, &l.needs) != CRT_SUCCESS)
        return;
    look_at_code(&l);
    look_at_shared(&l);
    look_at_registers(&l);
    look_at_residency(&l);
    look_at_cluster(&l);
    look_at_parameters(&l);
    look_at_constants(&l);
}

/* ---- images ---- */

/* "compute_90a" or "sm_80" at the beginning of a list; where the next one begins. */
static const char *read_target(const char *at, int *capability, char *suffix)
{
    const char *digits = strchr(at, '_') + 1;
    char *end;
    *capability = (int)strtol(digits, &end, 10);
    *suffix = *end == 'a' || *end == 'f' ? *end++ : '\0';
    return end + strspn(end, ", ");
}

/* PTX goes to all later devices, machine code to those of the same generation; what is made for an
 * architecture (a) only to that, for a family (f) to its generation. */
static bool has_code(const char *targets, bool is_ptx, int device)
{
    bool is_found = false;
    while (strchr(targets, '_') && !is_found) {
        int capability;
        char suffix;
        targets = read_target(targets, &capability, &suffix);
        bool is_same_generation = capability / 10 == device / 10;
        is_found = capability == device || (suffix != 'a' && capability < device &&
                                            (is_same_generation || (is_ptx && suffix == '\0')));
    }
    return is_found;
}

void crt_look_for_device_code(struct crt_library *library)
{
    struct ptx_image_summary summary;
    int device = crt_architecture_checked()->capability;
    if (!is_named() || ptx_image_query(library->image, library->image_bytes, library->name,
                                       &summary, NULL) != PXR_OK)
        return;
    if (summary.kind == PTX_IMAGE_TEXT)
        snprintf(summary.ptx_archs, sizeof summary.ptx_archs, "compute_%u",
                 library->outline->target);
    if (has_code(summary.ptx_archs, true, device) || has_code(summary.cubin_archs, false, device))
        return;
    snprintf(library->foreign_code, sizeof library->foreign_code, "%s%s%s", summary.ptx_archs,
             summary.cubin_count ? ", " : "", summary.cubin_archs);
}
