/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: the configuration stack behind <<<>>>, and every function that starts a kernel or puts
 * a host function into a stream.
 */
#include "cudart/runtime/runtime.h"

#define NESTED_CONFIGURATIONS_MAX 32

struct configuration {
    struct cuda_dim3 grid;
    struct cuda_dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
};

/* Arguments of a launch may themselves launch: a stack. */
static _Thread_local struct {
    struct configuration entries[NESTED_CONFIGURATIONS_MAX];
    unsigned count;
} configurations;

/* Returns 0 when the compiler-made stub shall be called. */
unsigned __cudaPushCallConfiguration(struct cuda_dim3 grid, struct cuda_dim3 block,
                                     size_t shared_bytes, cudaStream_t stream)
{
    if (configurations.count == NESTED_CONFIGURATIONS_MAX)
        return (unsigned)crt_done(cudaErrorInvalidConfiguration);
    configurations.entries[configurations.count++] = (struct configuration){
        .grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(struct cuda_dim3 *grid, struct cuda_dim3 *block,
                                       size_t *shared_bytes, void *stream)
{
    if (configurations.count == 0)
        return crt_done(cudaErrorMissingConfiguration);
    const struct configuration *top = &configurations.entries[--configurations.count];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/* The driver calls every bad number an invalid value; the runtime names a bad shape. */
static cudaError_t check_shape(struct cuda_dim3 grid, struct cuda_dim3 block)
{
    const struct crt_launch_limits *limits = crt_launch_limits_get();
    bool is_empty = !grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z;
    bool is_block_too_large = block.x > limits->block[0] || block.y > limits->block[1] ||
                              block.z > limits->block[2] ||
                              (uint64_t)block.x * block.y * block.z > limits->threads;
    bool is_grid_too_large =
        grid.x > limits->grid[0] || grid.y > limits->grid[1] || grid.z > limits->grid[2];
    return is_empty || is_block_too_large || is_grid_too_large ? cudaErrorInvalidConfiguration
                                                               : cudaSuccess;
}

static cudaError_t prepare(const void *stub, struct cuda_dim3 grid, struct cuda_dim3 block,
                           size_t shared_bytes, CUkernel *kernel)
{
    if (shared_bytes > UINT32_MAX)
        return cudaErrorInvalidValue;
    cudaError_t error = crt_enter() ?: crt_kernel_of(stub, kernel);
    cudaError_t shape = error ? cudaSuccess : check_shape(grid, block);
    if (shape)
        crt_tell_refused(*kernel, grid, block, shared_bytes, shape);
    return error ?: shape;
}

cudaError_t cudaLaunchKernel(const void *stub, struct cuda_dim3 grid, struct cuda_dim3 block,
                             void **args, size_t shared_bytes, cudaStream_t stream)
{
    CUkernel kernel = NULL;
    return crt_done(prepare(stub, grid, block, shared_bytes, &kernel)
                        ?: cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x,
                                          block.y, block.z, (unsigned)shared_bytes, stream, args,
                                          NULL));
}

/* kernel: what __cudaGetKernel returned. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, struct cuda_dim3 grid, struct cuda_dim3 block,
                               void **args, size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, struct cuda_dim3 grid,
                                        struct cuda_dim3 block, void **args, size_t shared_bytes,
                                        cudaStream_t stream)
{
    CUkernel kernel = NULL;
    return crt_done(prepare(stub, grid, block, shared_bytes, &kernel)
                        ?: cuLaunchCooperativeKernel((CUfunction)kernel, grid.x, grid.y, grid.z,
                                                     block.x, block.y, block.z,
                                                     (unsigned)shared_bytes, stream, args));
}

static cudaError_t driver_config(const struct cudaLaunchConfig *config, CUlaunchConfig *result)
{
    if (!config || config->dynamicSmemBytes > UINT32_MAX || (config->numAttrs && !config->attrs))
        return cudaErrorInvalidValue;
    *result = (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = config->attrs,
        .numAttrs = config->numAttrs,
    };
    return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const struct cudaLaunchConfig *config, const void *stub,
                                void **args)
{
    CUlaunchConfig description;
    CUkernel kernel = NULL;
    return crt_done(driver_config(config, &description)
                        ?: prepare(stub, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                   &kernel)
                        ?: cuLaunchKernelEx(&description, (CUfunction)kernel, args, NULL));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user_data)
{
    return crt_done(crt_enter() ?: cuLaunchHostFunc(stream, function, user_data));
}
