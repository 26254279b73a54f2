/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel launches.
 */
#include "cudart/core/code/launch.h"
#include "cudart/core/code/cluster.h"
#include "cudart/core/code/device_report.h"
#include "cudart/core/code/launch_report.h"

#include "cudart/core/code/module.h"
#include "cudart/core/streams/context_report.h"
#include "cudart/driver/internal.h"

/* A function of a module belongs to the context of that; a kernel of a library can be launched in
 * any. */
static bool is_foreign(CUfunction function, CUstream stream)
{
    return crt_kernel_is_valid(function) && function->library->home &&
           function->library->home != stream->ctx;
}

static CUresult launch_in(CUfunction function, CUstream handle, struct crt_launch_config *config,
                          void **params, void **extra)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (is_foreign(function, stream)) {
        crt_report_wrong_context("kernel", function->library->home, stream->ctx);
        return CRT_INVALID_HANDLE;
    }
    /* Here it works; devices refuse it. */
    if (stream->ctx != crt_context_get_current())
        crt_report_wrong_context("stream", stream->ctx, crt_context_get_current());
    if (crt_kernel_is_valid(function) && !crt_cluster_scale_grid(function, config->grid))
        return CRT_INVALID_VALUE;
    return crt_launch_kernel(function, stream, config, params, extra);
}

static CUresult launch(CUfunction function, CUstream handle, struct crt_launch_config *config,
                       void **params, void **extra)
{
    CUresult result = launch_in(function, handle, config, params, extra);
    if (result == CRT_SUCCESS)
        crt_report_device(function, config);
    else
        crt_report_launch(function, config, result);
    return result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra)
{
    struct crt_launch_config config = {.grid = {grid_x, grid_y, grid_z},
                                       .block = {block_x, block_y, block_z},
                                       .dynamic_shared_bytes = shared_bytes};
    return launch(function, stream, &config, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void **params)
{
    struct crt_launch_config config = {.grid = {grid_x, grid_y, grid_z},
                                       .block = {block_x, block_y, block_z},
                                       .dynamic_shared_bytes = shared_bytes,
                                       .is_cooperative = true};
    return launch(function, stream, &config, params, NULL);
}

/* Attributes that change what a launch means are obeyed; hints are ignored. Programmatic stream
 * serialization is one: it allows a grid to begin before the one before it has ended. */
static void read_attribute(const CUlaunchAttribute *attribute, struct crt_launch_config *config)
{
    const CUlaunchAttributeValue *value = &attribute->value;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        config->is_cooperative = value->cooperative != 0;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        config->cluster[0] = value->clusterDim.x;
        config->cluster[1] = value->clusterDim.y;
        config->cluster[2] = value->clusterDim.z;
    }
}

/* Events that a launch records: when all blocks have begun, or have said so. A grid's end is not
 * before that. */
static CUresult record_events(const CUlaunchConfig *config, CUstream stream)
{
    CUresult result = CRT_SUCCESS;
    for (unsigned i = 0; i < config->numAttrs && result == CRT_SUCCESS; i++) {
        int id = config->attrs[i].id;
        if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
            id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            result = cuEventRecord(config->attrs[i].value.event, stream);
    }
    return result;
}

static CUresult launch_configured(const CUlaunchConfig *config, CUstream stream,
                                  CUfunction function, void **params, void **extra)
{
    struct crt_launch_config own = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared_bytes = config->sharedMemBytes};
    if (config->numAttrs && !config->attrs)
        return CRT_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++)
        read_attribute(&config->attrs[i], &own);
    CUresult result = launch(function, stream, &own, params, extra);
    return result == CRT_SUCCESS ? record_events(config, stream) : result;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!config)
        return CRT_INVALID_VALUE;
    return launch_configured(config, config->hStream, function, params, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **params,
                               void **extra)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!config)
        return CRT_INVALID_VALUE;
    CUstream stream = config->hStream ? config->hStream : CU_STREAM_PER_THREAD;
    return launch_configured(config, stream, function, params, extra);
}
