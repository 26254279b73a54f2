// SPDX-License-Identifier: Apache-2.0
// A shared object with a kernel and a device variable of its own; plugin_host opens and closes it.

__device__ int plugin_calls = 0;

__global__ void triple(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 3 * in[i];
    }
    if (i == 0) {
        plugin_calls++;
    }
}

// Triples n values in place; returns how often this copy of the plugin was used, or minus the error
// code.
extern "C" int plugin_triple(int *values, int n)
{
    int *in = nullptr;
    int *out = nullptr;
    int calls = 0;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, values, n * sizeof(int), cudaMemcpyHostToDevice);
    triple<<<(n + 63) / 64, 64>>>(in, out, n);
    cudaMemcpy(values, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&calls, plugin_calls, sizeof calls);
    cudaFree(in);
    cudaFree(out);
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? calls : -(int)error;
}
