// SPDX-License-Identifier: Apache-2.0
// Programs that use memory that nobody has written, each with a twin that is right:
//   init_defects CASE wrong|right
// A line that is wrong ends in the case's name and the rule that --check=init finds broken (tests/e2e/check_defects.sh).
// Without arguments: the names of all cases.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <mma.h>

#define THREADS 128
#define COUNT   256
#define BLOCKS  (COUNT / THREADS)

static int *out; // COUNT, all written

static int *device_ints(size_t count = COUNT)
{
    int *memory;
    cudaMalloc(&memory, count * sizeof *memory);
    return memory;
}

__device__ unsigned place()
{
    return blockIdx.x * THREADS + threadIdx.x;
}

// ---- global memory ----

__global__ void doubled(int *to, const int *from)
{
    to[place()] = 2 * from[place()]; // never_written uninitialized
}

static void never_written(bool right)
{
    int *x = device_ints();
    if (right)
        cudaMemset(x, 1, COUNT * sizeof *x);
    doubled<<<BLOCKS, THREADS>>>(out, x);
    cudaFree(x);
}

__global__ void sum_of_all(int *to, const int *from, int count)
{
    int sum = 0;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += from[i]; // fill_too_short uninitialized
    to[threadIdx.x] = sum;
}

static void fill_too_short(bool right)
{
    int *x = device_ints(1000);
    cudaMemset(x, 0, right ? 4000 : 1000);
    sum_of_all<<<1, THREADS>>>(out, x, 1000);
    cudaFree(x);
}

__global__ void last_of_all(int *to, const int *from)
{
    to[threadIdx.x] = from[COUNT - 1] + 1; // one_byte_too_few uninitialized
}

static void one_byte_too_few(bool right)
{
    int *x = device_ints();
    cudaMemset(x, 0, COUNT * sizeof *x - (right ? 0 : 1));
    last_of_all<<<1, THREADS>>>(out, x);
    cudaFree(x);
}

__global__ void decide(int *to, const int *flag)
{
    int value = *flag; // decides_branch uninitialized
    if (value)
        to[threadIdx.x] = 7;
}

static void decides_branch(bool right)
{
    int *x = device_ints(1);
    if (right)
        cudaMemset(x, 0, sizeof *x);
    decide<<<1, THREADS>>>(out, x);
    cudaFree(x);
}

__global__ void scatter(int *to, const unsigned *index)
{
    to[index[place()] % COUNT] = 1; // decides_address uninitialized
}

static void decides_address(bool right)
{
    int *x = device_ints();
    if (right)
        cudaMemset(x, 0, COUNT * sizeof *x);
    scatter<<<BLOCKS, THREADS>>>(out, (unsigned *)x);
    cudaFree(x);
}

__global__ void write_even(int *to)
{
    to[2 * threadIdx.x] = threadIdx.x;
}

__global__ void neighbours(int *to, const int *from, bool right)
{
    int i = 2 * threadIdx.x;
    to[threadIdx.x] = from[i] + from[right ? i : i + 1]; // every_other_written uninitialized
}

static void every_other_written(bool right)
{
    int *x = device_ints(2 * THREADS);
    write_even<<<1, THREADS>>>(x);
    neighbours<<<1, THREADS>>>(out, x, right);
    cudaFree(x);
}

__global__ void write_corner(int *to)
{
    to[0] = 1;
}

__global__ void norm(float *to, const float4 *from)
{
    float4 v = from[0]; // part_of_vector uninitialized
    to[threadIdx.x] = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
}

static void part_of_vector(bool right)
{
    int *x = device_ints(4);
    if (right)
        cudaMemset(x, 0, 16);
    else
        cudaMemset(x, 0, 12);
    write_corner<<<1, 1>>>(x);
    norm<<<1, THREADS>>>((float *)out, (float4 *)x);
    cudaFree(x);
}

__global__ void part_by_thread(int *to, int count)
{
    if (place() < count)
        to[place()] = 1;
}

__global__ void tripled(int *to, const int *from)
{
    to[place()] = 3 * from[place()]; // written_by_some uninitialized
}

static void written_by_some(bool right)
{
    int *x = device_ints();
    part_by_thread<<<BLOCKS, THREADS>>>(x, right ? COUNT : COUNT - 3);
    tripled<<<BLOCKS, THREADS>>>(out, x);
    cudaFree(x);
}

__global__ void freed_sum(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 5; // allocated_again uninitialized
}

static void allocated_again(bool right)
{
    for (int i = 0; i < 3; i++) {
        int *x = device_ints();
        if (i == 0 || right)
            cudaMemset(x, 0, COUNT * sizeof *x);
        freed_sum<<<1, THREADS>>>(out, x);
        cudaFree(x);
    }
}

__global__ void pool_sum(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 5; // pool_block_again uninitialized
}

static void pool_block_again(bool right)
{
    for (int i = 0; i < 3; i++) {
        int *x;
        cudaMallocAsync(&x, COUNT * sizeof *x, 0);
        if (i == 0 || right)
            cudaMemsetAsync(x, 0, COUNT * sizeof *x, 0);
        pool_sum<<<1, THREADS>>>(out, x);
        cudaFreeAsync(x, 0);
    }
    cudaDeviceSynchronize();
}

// ---- atomic operations ----

__global__ void count_up(unsigned *counter)
{
    atomicAdd(counter, 1); // counter_not_zeroed uninitialized
}

static void counter_not_zeroed(bool right)
{
    int *x = device_ints(1);
    if (right)
        cudaMemset(x, 0, sizeof *x);
    count_up<<<BLOCKS, THREADS>>>((unsigned *)x);
    cudaFree(x);
}

__global__ void exchange(int *to, int *memory, bool right)
{
    int old = atomicExch(memory + threadIdx.x, 1); // exchanged_value uninitialized
    if (!right)
        to[threadIdx.x] = old + 1;
}

static void exchanged_value(bool right)
{
    int *x = device_ints();
    if (right)
        cudaMemset(x, 0, COUNT * sizeof *x);
    exchange<<<1, THREADS>>>(out, x, right);
    cudaFree(x);
}

// ---- copies: what is only copied need not have been written ----

struct padded {
    char tag;
    int value;
};

__global__ void copy_structs(padded *to, const padded *from)
{
    reinterpret_cast<unsigned long long *>(to)[place()] = reinterpret_cast<const unsigned long long *>(from)[place()];
}

__global__ void fill_structs(padded *to)
{
    to[place()].tag = 'x';
    to[place()].value = place();
}

__global__ void use_structs(int *to, const padded *from, bool right)
{
    const padded *own = from + place();
    int value = own->value + own->tag;
    if (!right)
        value += reinterpret_cast<const unsigned char *>(own)[1]; // padding_of_struct uninitialized
    to[place()] = value;
}

static void padding_of_struct(bool right)
{
    padded *x, *y;
    cudaMalloc(&x, COUNT * sizeof *x);
    cudaMalloc(&y, COUNT * sizeof *y);
    fill_structs<<<BLOCKS, THREADS>>>(x);
    copy_structs<<<BLOCKS, THREADS>>>(y, x);
    use_structs<<<BLOCKS, THREADS>>>(out, y, right);
    cudaFree(x);
    cudaFree(y);
}

struct fields {
    unsigned long long id : 31;
    unsigned long long done : 1;
    unsigned long long node : 32;
};

/* A field is set by reading the others beside it, which nobody has written yet. */
__global__ void fill_fields(fields *to, const int *from, bool right)
{
    fields *own = to + place();
    own->id = place();
    if (from[place()] == 0 && right) {
        own->node = 1;
        own->done = 0;
    }
}

__global__ void use_fields(int *to, const fields *from)
{
    to[place()] = from[place()].node + from[place()].id; // fields_of_bits uninitialized
}

static void fields_of_bits(bool right)
{
    fields *x;
    cudaMalloc(&x, COUNT * sizeof *x);
    fill_fields<<<BLOCKS, THREADS>>>(x, out, right);
    use_fields<<<BLOCKS, THREADS>>>(out, x);
    cudaFree(x);
}

__global__ void plain_copy(int *to, const int *from)
{
    to[place()] = from[place()];
}

__global__ void use_copy(int *to, const int *from)
{
    to[place()] = from[place()] / 3; // copied_by_kernel uninitialized
}

static void copied_by_kernel(bool right)
{
    int *x = device_ints();
    int *y = device_ints();
    if (right)
        cudaMemset(x, 0, COUNT * sizeof *x);
    cudaMemset(y, 0, COUNT * sizeof *y);
    plain_copy<<<BLOCKS, THREADS>>>(y, x);
    use_copy<<<BLOCKS, THREADS>>>(out, y);
    cudaFree(x);
    cudaFree(y);
}

__global__ void swap_halves(int *memory, bool right)
{
    unsigned i = threadIdx.x;
    int low = memory[i];
    int high = memory[i + THREADS];
    memory[i] = high;
    memory[i + THREADS] = low;
    int used = right ? i + THREADS : i;
    __syncthreads();
    int value = memory[used]; // swapped_halves uninitialized
    if (value == 3)
        memory[used] = 4;
}

static void swapped_halves(bool right)
{
    int *x = device_ints();
    cudaMemset(x, 0, THREADS * sizeof *x);
    swap_halves<<<1, THREADS>>>(x, right);
    cudaFree(x);
}

__global__ void copy_one_of_two(int *to, const int *a, const int *b, int turns)
{
    int value = a[place()];
    for (int i = 0; i < turns; i++)
        if (i % 3 == 1)
            value = b[place()];
    to[place()] = value;
}

__global__ void use_one_of_two(int *to, const int *from)
{
    to[place()] = from[place()] ^ 5; // one_of_two uninitialized
}

static void one_of_two(bool right)
{
    int *x = device_ints();
    int *y = device_ints();
    int *z = device_ints();
    cudaMemset(x, 0, COUNT * sizeof *x);
    copy_one_of_two<<<BLOCKS, THREADS>>>(z, x, y, right ? 1 : 4);
    use_one_of_two<<<BLOCKS, THREADS>>>(out, z);
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
}

__global__ void use_copy_of_api(int *to, const int *from)
{
    to[place()] = from[place()] + 2; // copied_by_api uninitialized
}

static void copied_by_api(bool right)
{
    int *x = device_ints(COUNT + 1);
    int *y = device_ints();
    cudaMemset(x, 0, 100);
    if (right)
        cudaMemset(x, 0, (COUNT + 1) * sizeof *x);
    cudaMemcpy(y, x + 1, COUNT * sizeof *x, cudaMemcpyDeviceToDevice);
    use_copy_of_api<<<BLOCKS, THREADS>>>(out, y);
    cudaFree(x);
    cudaFree(y);
}

__global__ void use_rows(int *to, const char *from, size_t pitch, int columns)
{
    int sum = 0;
    for (int i = 0; i < columns; i++)
        sum += reinterpret_cast<const int *>(from + threadIdx.x % 8 * pitch)[i]; // columns_of_rows uninitialized
    to[threadIdx.x] = sum;
}

static void columns_of_rows(bool right)
{
    int host[8][20] = {};
    char *x;
    size_t pitch;
    cudaMallocPitch(&x, &pitch, 30 * sizeof(int), 8);
    cudaMemcpy2D(x, pitch, host, sizeof host[0], sizeof host[0], 8, cudaMemcpyHostToDevice);
    use_rows<<<1, THREADS>>>(out, x, pitch, right ? 20 : 21);
    cudaFree(x);
}

static void to_host(bool right)
{
    int host[COUNT];
    int *x = device_ints();
    cudaMemset(x, 0, right ? sizeof host : sizeof host - 40);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost); // to_host api-uninitialized
    cudaFree(x);
}

static void to_host_in_stream(bool right)
{
    cudaStream_t stream;
    int *host;
    int *x = device_ints(1 << 20);
    cudaStreamCreate(&stream);
    cudaMallocHost(&host, 4 << 20);
    cudaMemsetAsync(x, 0, right ? 4 << 20 : 1 << 20, stream);
    cudaMemcpyAsync(host, x, 4 << 20, cudaMemcpyDeviceToHost, stream); // to_host_in_stream api-uninitialized
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
    cudaFree(x);
}

struct with_holes {
    char small;
    long large;
    char last;
};

__global__ void fill_members(struct with_holes *to, bool right)
{
    to[place()].small = 1;
    if (right)
        to[place()].large = 2;
    to[place()].last = 3;
}

// What belongs to no member need not be written.
static void member_to_host(bool right)
{
    static struct with_holes host[COUNT];
    struct with_holes *x;
    cudaMalloc(&x, sizeof host);
    fill_members<<<BLOCKS, THREADS>>>(x, right);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost); // member_to_host api-uninitialized
    cudaFree(x);
}

// ---- variables of modules are zero ----

__device__ int counters[COUNT];

__global__ void use_pointer(int *to, const int *from)
{
    to[place()] = from[place()] + counters[place()]; // variable_or_memory uninitialized
}

static void variable_or_memory(bool right)
{
    int *x = device_ints();
    void *variable;
    cudaGetSymbolAddress(&variable, counters);
    use_pointer<<<BLOCKS, THREADS>>>(out, right ? (int *)variable : x);
    cudaFree(x);
}

// ---- shared memory ----

__global__ void stencil(int *to, bool right)
{
    __shared__ int tile[THREADS + 1];
    tile[threadIdx.x] = threadIdx.x;
    if (right && threadIdx.x == 0)
        tile[THREADS] = 0;
    __syncthreads();
    to[place()] = tile[threadIdx.x] + tile[threadIdx.x + 1]; // border_of_tile shared-uninitialized
}

static void border_of_tile(bool right)
{
    stencil<<<BLOCKS, THREADS>>>(out, right);
}

__global__ void reduce(int *to, const int *from, int count, bool right)
{
    __shared__ int part[THREADS];
    unsigned t = threadIdx.x;
    if (t < count)
        part[t] = from[t];
    else if (right)
        part[t] = 0;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half]; // rest_of_reduction shared-uninitialized
        __syncthreads();
    }
    if (t == 0)
        *to = part[0];
}

static void rest_of_reduction(bool right)
{
    reduce<<<1, THREADS>>>(out, out, 100, right);
}

__global__ void histogram(unsigned *to, bool right)
{
    extern __shared__ unsigned bins[];
    if (right && threadIdx.x < 64)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 64], 1); // bins_not_zeroed shared-uninitialized
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&to[threadIdx.x], bins[threadIdx.x]);
}

static void bins_not_zeroed(bool right)
{
    histogram<<<4 * BLOCKS, THREADS, 64 * sizeof(unsigned)>>>((unsigned *)out, right);
}

__device__ __noinline__ double sum_of(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i]; // generic_address shared-uninitialized
    return sum;
}

__global__ void through_pointers(double *to, bool right)
{
    __shared__ double values[THREADS + 2];
    values[threadIdx.x] = threadIdx.x;
    if (right && threadIdx.x < 2)
        values[THREADS + threadIdx.x] = 0;
    __syncthreads();
    to[threadIdx.x] = sum_of(threadIdx.x == 500 ? to : values + threadIdx.x, 3);
}

static void generic_address(bool right)
{
    through_pointers<<<1, THREADS>>>((double *)out, right);
}

__global__ void by_async_copies(int *to, const int *from, bool right)
{
    __shared__ int tile[THREADS];
    unsigned target = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    if (right || threadIdx.x != 77)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(target), "l"(from + threadIdx.x) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x ^ 1] * 3; // copied_asynchronously shared-uninitialized
}

static void copied_asynchronously(bool right)
{
    by_async_copies<<<1, THREADS>>>(out, out, right);
}

__global__ void of_source(int *to, const int *from)
{
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = tile[(threadIdx.x + 7) % THREADS] - 1; // source_of_tile shared-uninitialized
}

static void source_of_tile(bool right)
{
    int *x = device_ints();
    cudaMemset(x, 0, right ? THREADS * 4 : THREADS * 4 - 8);
    of_source<<<1, THREADS>>>(out, x);
    cudaFree(x);
}

__global__ void product(float *to, bool right)
{
    using namespace nvcuda::wmma;
    __shared__ __half a_tile[16 * 16];
    for (unsigned i = threadIdx.x; i < (right ? 256 : 240); i += 32)
        a_tile[i] = __float2half(1);
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    load_matrix_sync(a, a_tile, 16); // tile_of_matrix shared-uninitialized
    fill_fragment(b, __float2half(2));
    fill_fragment(c, 0);
    mma_sync(c, a, b, c);
    store_matrix_sync(to, c, 16, mem_row_major);
}

static void tile_of_matrix(bool right)
{
    product<<<1, 32>>>((float *)out, right);
}

// ---- arrays of a thread ----

__global__ void sort_few(int *to, const int *from, int count, int used)
{
    int values[32];
    for (int i = 0; i < count; i++)
        values[(i * 5) % 32] = from[i];
    int sum = 0;
    for (int i = 0; i < used; i++)
        sum += values[(from[i] + i * 5) % 32]; // array_of_thread local-uninitialized
    to[threadIdx.x] = sum;
}

static void array_of_thread(bool right)
{
    cudaMemset(out, 0, COUNT * sizeof *out);
    sort_few<<<1, THREADS>>>(out + THREADS, out, right ? 32 : 30, 32);
}

// printf gets the address of what it prints, which lies beside the array.
__global__ void sort_and_print(int *to, const int *from, int count)
{
    int values[32];
    for (int i = 0; i < count; i++)
        values[(i * 5) % 32] = from[i];
    int sum = 0;
    for (int i = 0; i < 32; i++)
        sum += values[(from[i] + i * 5) % 32]; // array_beside_printf local-uninitialized
    to[threadIdx.x] = sum;
    if (sum < 0)
        printf("%d at %d\n", sum, (int)threadIdx.x);
}

static void array_beside_printf(bool right)
{
    cudaMemset(out, 0, COUNT * sizeof *out);
    sort_and_print<<<1, THREADS>>>(out + THREADS, out, right ? 32 : 30);
}

// One array of two, which a pointer leads to.
__global__ void choose_array(int *to, const int *from, int count)
{
    int a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = from[i];
    for (int i = 0; i < count; i++)
        b[(i * 5) % 16] = from[i];
    const int *chosen = from[threadIdx.x] > 0 ? a : b;
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += chosen[(from[i] + i * 5) % 16]; // array_of_two local-uninitialized
    to[threadIdx.x] = sum;
}

static void array_of_two(bool right)
{
    cudaMemset(out, 0, COUNT * sizeof *out);
    choose_array<<<1, THREADS>>>(out + THREADS, out, right ? 16 : 13);
}

// ---- the kernels' heap ----

// A block that has been given back is nobody's when it comes again.
__global__ void block_of_heap(int *to, int rounds)
{
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        int *block = (int *)malloc(25 * sizeof *block);
        for (int k = 0; i < rounds && k < 25; k++)
            block[k * 7 % 25] = k;
        for (int k = 0; k < 25; k++)
            sum += block[(k * 3 + i) % 25]; // heap_again uninitialized
        free(block);
    }
    to[threadIdx.x] = sum;
}

static void heap_again(bool right)
{
    block_of_heap<<<1, THREADS>>>(out, right ? 2 : 1);
}

struct link {
    int value;
    struct link *next;
};

__global__ void end_of_list(int *to, bool right)
{
    struct link *first = NULL;
    for (int i = 0; i < 3; i++) {
        struct link *link = (struct link *)malloc(sizeof *link);
        link->value = i;
        if (right || i > 0)
            link->next = first;
        first = link;
    }
    int sum = 0;
    for (int i = 0; i < 3 && first; i++) {
        sum += first->value;
        first = first->next; // list_without_end uninitialized
    }
    to[threadIdx.x] = sum;
}

static void list_without_end(bool right)
{
    end_of_list<<<1, THREADS>>>(out, right);
}

#define CASES(X)                                                                                                       \
    X(never_written) X(fill_too_short) X(one_byte_too_few) X(decides_branch) X(decides_address)                        \
    X(every_other_written) X(part_of_vector) X(written_by_some) X(allocated_again) X(pool_block_again)                 \
    X(counter_not_zeroed) X(exchanged_value) X(padding_of_struct) X(copied_by_kernel) X(swapped_halves)                \
    X(one_of_two) X(copied_by_api) X(columns_of_rows) X(to_host) X(to_host_in_stream) X(member_to_host)                \
    X(variable_or_memory)                                                                                              \
    X(border_of_tile) X(rest_of_reduction) X(bins_not_zeroed) X(generic_address) X(copied_asynchronously)              \
    X(source_of_tile) X(tile_of_matrix) X(array_of_thread) X(array_beside_printf) X(array_of_two) X(heap_again)        \
    X(list_without_end) X(fields_of_bits)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(name) puts(#name);
        CASES(NAME)
        return 0;
    }
    bool right = strcmp(argv[2], "right") == 0;
    cudaMalloc(&out, 4 * COUNT * sizeof *out);
    cudaMemset(out, 0, 4 * COUNT * sizeof *out);
    bool is_known = false;
#define RUN(name)                                                                                                      \
    if (strcmp(argv[1], #name) == 0) {                                                                                 \
        name(right);                                                                                                   \
        is_known = true;                                                                                               \
    }
    CASES(RUN)
    if (!is_known) {
        fprintf(stderr, "no case '%s'\n", argv[1]);
        return 2;
    }
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return result != cudaSuccess;
}
