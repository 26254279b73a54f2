// SPDX-License-Identifier: Apache-2.0
// The heap inside kernels: malloc and free, new and delete, memory that outlives the kernel, and a
// request too large for the heap, which gives a null pointer.
#include "expect.h"

struct node {
    int value;
    node *next;
};

__device__ node *lists[64];

__global__ void build(int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    node *head = nullptr;
    for (int k = 0; k < length; k++) {
        node *fresh = new node;
        fresh->value = i * 100 + k;
        fresh->next = head;
        head = fresh;
    }
    lists[i] = head;
}

__global__ void sum_and_free(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (node *here = lists[i]; here != nullptr;) {
        node *next = here->next;
        sum += here->value;
        delete here;
        here = next;
    }
    out[i] = sum;
}

__global__ void allocate_sizes(int *out)
{
    int i = threadIdx.x;
    size_t bytes = 16 + (size_t)i * 24;
    unsigned char *memory = (unsigned char *)malloc(bytes);
    int is_right = memory != nullptr && (size_t)memory % 16 == 0;
    for (size_t k = 0; is_right && k < bytes; k++) {
        memory[k] = (unsigned char)(i + k);
    }
    for (size_t k = 0; is_right && k < bytes; k++) {
        is_right = memory[k] == (unsigned char)(i + k);
    }
    free(memory);
    out[i] = is_right;
}

__global__ void ask_too_much(int *out)
{
    void *memory = malloc((size_t)1 << 40);
    *out = memory == nullptr;
    free(memory);
}

int main()
{
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    int *out = nullptr;
    int value[64];
    EXPECT_OK(cudaMalloc(&out, sizeof value));
    build<<<2, 32>>>(10);
    sum_and_free<<<2, 32>>>(out);
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        EXPECT(value[i] == i * 1000 + 45);
    }
    std::printf("lists: first %d, last %d\n", value[0], value[63]);
    allocate_sizes<<<1, 64>>>(out);
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    int right = 0;
    for (int i = 0; i < 64; i++) {
        right += value[i];
    }
    std::printf("blocks of all sizes: %d of 64\n", right);
    EXPECT(right == 64);
    ask_too_much<<<1, 1>>>(out);
    EXPECT_OK(cudaMemcpy(value, out, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("too much gives null: %d\n", value[0]);
    EXPECT(value[0] == 1);
    EXPECT_OK(cudaFree(out));
    return verdict("device_malloc");
}
