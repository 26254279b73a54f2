// SPDX-License-Identifier: Apache-2.0
// CUB's device and block primitives against plain host code, with items of 1 to 16 bytes. Their
// kernels look back at what other blocks have done, through aligned words of up to 16 bytes that
// hold a value and its state and have to be read and written at once.
//
//     cub_primitives [ROUNDS [PART...]]     PART: the beginning of the name of a case
#include <cub/cub.cuh>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.h"

#define COUNT       10000
#define BLOCK_ITEMS 1024
#define BINS        64

// Items of 12 and 16 bytes; arithmetic is by parts and wraps.
struct twelve {
    uint32_t a, b, c;
    __host__ __device__ bool operator==(const twelve &o) const
    {
        return a == o.a && b == o.b && c == o.c;
    }
    __host__ __device__ bool operator!=(const twelve &o) const
    {
        return !(*this == o);
    }
};

struct sixteen {
    uint64_t a, b;
    __host__ __device__ bool operator==(const sixteen &o) const
    {
        return a == o.a && b == o.b;
    }
    __host__ __device__ bool operator!=(const sixteen &o) const
    {
        return !(*this == o);
    }
};

struct add {
    template <typename T> __host__ __device__ T operator()(T x, T y) const
    {
        return (T)(x + y);
    }
    __host__ __device__ twelve operator()(twelve x, twelve y) const
    {
        return {x.a + y.a, x.b + y.b, x.c + y.c};
    }
    __host__ __device__ sixteen operator()(sixteen x, sixteen y) const
    {
        return {x.a + y.a, x.b + y.b};
    }
};

struct less {
    template <typename T> __host__ __device__ bool operator()(T x, T y) const
    {
        return x < y;
    }
    __host__ __device__ bool operator()(twelve x, twelve y) const
    {
        return x.a != y.a ? x.a < y.a : x.b != y.b ? x.b < y.b : x.c < y.c;
    }
    __host__ __device__ bool operator()(sixteen x, sixteen y) const
    {
        return x.a != y.a ? x.a < y.a : x.b < y.b;
    }
};

// Some are true and some are not.
struct is_chosen {
    template <typename T> __host__ __device__ bool operator()(T x) const
    {
        return x % 3 != 0;
    }
    __host__ __device__ bool operator()(twelve x) const
    {
        return x.a % 3 != 0;
    }
    __host__ __device__ bool operator()(sixteen x) const
    {
        return x.b % 3 != 0;
    }
};

template <typename T> static T item_of(uint64_t n)
{
    return (T)n;
}

template <> twelve item_of<twelve>(uint64_t n)
{
    return {(uint32_t)n, (uint32_t)(n >> 7), (uint32_t)(3 * n)};
}

template <> sixteen item_of<sixteen>(uint64_t n)
{
    return {n >> 3, ~n};
}

static uint64_t mix(uint64_t n)
{
    n = (n ^ (n >> 31)) * 0x7fb5d329728ea185u;
    n = (n ^ (n >> 27)) * 0x81dadef4bc2dd44du;
    return n ^ (n >> 33);
}

template <typename T> static std::vector<T> random_items()
{
    std::vector<T> items(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        items[i] = item_of<T>(mix(i));
    return items;
}

// Runs of 1 to 12 equal items.
template <typename T> static std::vector<T> runs_of_items()
{
    std::vector<T> items;
    for (uint64_t run = 0; items.size() < COUNT; run++)
        for (uint64_t k = 0; k <= mix(run) % 12 && items.size() < COUNT; k++)
            items.push_back(item_of<T>(run));
    return items;
}

// ---- memory ----

static int rounds = 1;

template <typename T> struct device_items {
    T *data;
    size_t count;
    explicit device_items(size_t count) : count(count)
    {
        EXPECT_OK(cudaMalloc((void **)&data, count * sizeof(T)));
    }
    explicit device_items(const std::vector<T> &items) : device_items(items.size())
    {
        EXPECT_OK(cudaMemcpy(data, items.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    device_items(const device_items &) = delete;
    ~device_items()
    {
        cudaFree(data);
    }
    void spoil()
    {
        EXPECT_OK(cudaMemsetAsync(data, 0xa5, count * sizeof(T)));
    }
    bool begins_with(const std::vector<T> &wanted) const
    {
        std::vector<T> got(wanted.size());
        EXPECT_OK(cudaMemcpy(got.data(), data, wanted.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return wanted.empty() || memcmp(got.data(), wanted.data(), wanted.size() * sizeof(T)) == 0;
    }
};

// call(temporary, bytes): asks for the size first, as all device primitives do. check() compares
// what one round has left.
template <typename Call, typename Check>
static void repeat(const char *name, Call call, Check check)
{
    size_t bytes = 0;
    EXPECT_OK(call(nullptr, bytes));
    device_items<char> temporary(bytes + 1);
    for (int round = 0; round < rounds; round++) {
        EXPECT_OK(call(temporary.data, bytes));
        EXPECT_OK(cudaDeviceSynchronize());
        if (check())
            continue;
        std::printf("%s: wrong in round %d\n", name, round);
        broken_expectations++;
        return;
    }
}

// ---- device primitives ----

template <typename T> static void scan(const char *name)
{
    std::vector<T> items = random_items<T>(), wanted(COUNT);
    T sum{};
    for (size_t i = 0; i < COUNT; i++)
        wanted[i] = sum = add()(sum, items[i]);
    device_items<T> in(items), out(COUNT);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil();
            return cub::DeviceScan::InclusiveScan(temporary, bytes, in.data, out.data, add(),
                                                  COUNT);
        },
        [&] { return out.begins_with(wanted); });
}

template <typename T> static void reduce(const char *name)
{
    std::vector<T> items = random_items<T>();
    T sum{};
    for (const T &item : items)
        sum = add()(sum, item);
    device_items<T> in(items), out(1);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil();
            return cub::DeviceReduce::Reduce(temporary, bytes, in.data, out.data, COUNT, add(),
                                             T{});
        },
        [&] { return out.begins_with({sum}); });
}

template <typename K, typename T> static void reduce_by_key(const char *name)
{
    std::vector<K> keys = runs_of_items<K>(), unique;
    std::vector<T> items = random_items<T>(), sums;
    for (size_t i = 0; i < COUNT; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            unique.push_back(keys[i]);
            sums.push_back(items[i]);
        } else {
            sums.back() = add()(sums.back(), items[i]);
        }
    }
    device_items<K> in_keys(keys), out_keys(COUNT);
    device_items<T> in(items), out(COUNT);
    device_items<int> count(1);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out_keys.spoil(), out.spoil(), count.spoil();
            return cub::DeviceReduce::ReduceByKey(temporary, bytes, in_keys.data, out_keys.data,
                                                  in.data, out.data, count.data, add(), COUNT);
        },
        [&] {
            return count.begins_with({(int)unique.size()}) && out_keys.begins_with(unique) &&
                   out.begins_with(sums);
        });
}

template <typename T> static void run_length(const char *name)
{
    std::vector<T> items = runs_of_items<T>(), unique;
    std::vector<int> lengths;
    for (size_t i = 0; i < COUNT; i++) {
        if (i == 0 || items[i] != items[i - 1]) {
            unique.push_back(items[i]);
            lengths.push_back(0);
        }
        lengths.back()++;
    }
    device_items<T> in(items), out(COUNT);
    device_items<int> counts(COUNT), count(1);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil(), counts.spoil(), count.spoil();
            return cub::DeviceRunLengthEncode::Encode(temporary, bytes, in.data, out.data,
                                                      counts.data, count.data, COUNT);
        },
        [&] {
            return count.begins_with({(int)unique.size()}) && out.begins_with(unique) &&
                   counts.begins_with(lengths);
        });
}

template <typename T> static void select(const char *name)
{
    std::vector<T> items = random_items<T>(), chosen;
    for (const T &item : items)
        if (is_chosen()(item))
            chosen.push_back(item);
    device_items<T> in(items), out(COUNT);
    device_items<int> count(1);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil(), count.spoil();
            return cub::DeviceSelect::If(temporary, bytes, in.data, out.data, count.data, COUNT,
                                         is_chosen());
        },
        [&] { return count.begins_with({(int)chosen.size()}) && out.begins_with(chosen); });
}

// The rest comes behind the chosen, in the opposite order.
template <typename T> static void partition(const char *name)
{
    std::vector<T> items = random_items<T>(), wanted;
    for (const T &item : items)
        if (is_chosen()(item))
            wanted.push_back(item);
    int chosen = (int)wanted.size();
    for (size_t i = COUNT; i-- > 0;)
        if (!is_chosen()(items[i]))
            wanted.push_back(items[i]);
    device_items<T> in(items), out(COUNT);
    device_items<int> count(1);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil(), count.spoil();
            return cub::DevicePartition::If(temporary, bytes, in.data, out.data, count.data, COUNT,
                                            is_chosen());
        },
        [&] { return count.begins_with({chosen}) && out.begins_with(wanted); });
}

// std::sort without its header: a merge of halves.
template <typename T> static void sort_on_host(std::vector<T> &items)
{
    std::vector<T> merged(items.size());
    for (size_t width = 1; width < items.size(); width *= 2) {
        for (size_t low = 0; low < items.size(); low += 2 * width) {
            size_t middle = low + width < items.size() ? low + width : items.size();
            size_t end = low + 2 * width < items.size() ? low + 2 * width : items.size();
            for (size_t i = low, left = low, right = middle; i < end; i++) {
                bool is_right =
                    left == middle || (right < end && less()(items[right], items[left]));
                merged[i] = is_right ? items[right++] : items[left++];
            }
        }
        items.swap(merged);
    }
}

template <typename T> static void sort_by_digits(const char *name)
{
    std::vector<T> items = random_items<T>(), sorted = items;
    sort_on_host(sorted);
    device_items<T> in(items), out(COUNT);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil();
            return cub::DeviceRadixSort::SortKeys(temporary, bytes, in.data, out.data, COUNT);
        },
        [&] { return out.begins_with(sorted); });
}

template <typename T> static void sort_by_merging(const char *name)
{
    std::vector<T> items = random_items<T>(), sorted = items;
    sort_on_host(sorted);
    device_items<T> in(items), out(COUNT);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            out.spoil();
            return cub::DeviceMergeSort::SortKeysCopy(temporary, bytes, in.data, out.data, COUNT,
                                                      less());
        },
        [&] { return out.begins_with(sorted); });
}

template <typename T> static void histogram(const char *name)
{
    std::vector<T> items(COUNT);
    std::vector<int> wanted(BINS, 0);
    for (size_t i = 0; i < COUNT; i++) {
        items[i] = (T)(mix(i) % (2 * BINS - 8));
        if ((int)items[i] / 2 < BINS)
            wanted[(int)items[i] / 2]++;
    }
    device_items<T> in(items);
    device_items<int> counts(BINS);
    repeat(
        name,
        [&](void *temporary, size_t &bytes) {
            counts.spoil();
            return cub::DeviceHistogram::HistogramEven(temporary, bytes, in.data, counts.data,
                                                       BINS + 1, (T)0, (T)(2 * BINS), COUNT);
        },
        [&] { return counts.begins_with(wanted); });
}

// ---- block primitives ----

// Each block scans its items in one direction and reduces them; out gets the scan, sums the sum.
template <typename T> __global__ void scan_blocks(const T *in, T *out, T *sums)
{
    using load = cub::BlockLoad<T, 128, 8, cub::BLOCK_LOAD_TRANSPOSE>;
    using scan = cub::BlockScan<T, 128>;
    using store = cub::BlockStore<T, 128, 8, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using reduce = cub::BlockReduce<T, 128>;
    __shared__ union {
        typename load::TempStorage load;
        typename scan::TempStorage scan;
        typename store::TempStorage store;
        typename reduce::TempStorage reduce;
    } shared;
    T items[8], scanned[8];
    load(shared.load).Load(in + blockIdx.x * BLOCK_ITEMS, items);
    __syncthreads();
    scan(shared.scan).InclusiveScan(items, scanned, add());
    __syncthreads();
    store(shared.store).Store(out + blockIdx.x * BLOCK_ITEMS, scanned);
    __syncthreads();
    T sum = reduce(shared.reduce).Reduce(items, add());
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

template <typename T> static void blocks(const char *name)
{
    constexpr int count = COUNT / BLOCK_ITEMS;
    std::vector<T> items = random_items<T>(), wanted, sums;
    for (int block = 0; block < count; block++) {
        T sum{};
        for (int i = 0; i < BLOCK_ITEMS; i++)
            wanted.push_back(sum = add()(sum, items[block * BLOCK_ITEMS + i]));
        sums.push_back(sum);
    }
    device_items<T> in(items), out(COUNT), out_sums(count);
    repeat(
        name,
        [&](void *, size_t &) {
            out.spoil(), out_sums.spoil();
            scan_blocks<<<count, 128>>>(in.data, out.data, out_sums.data);
            return cudaGetLastError();
        },
        [&] { return out.begins_with(wanted) && out_sums.begins_with(sums); });
}

__global__ void sort_blocks(const uint32_t *in, uint32_t *out)
{
    using sort = cub::BlockRadixSort<uint32_t, 128, 8>;
    __shared__ typename sort::TempStorage shared;
    uint32_t items[8];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * BLOCK_ITEMS, items);
    sort(shared).SortBlockedToStriped(items);
    cub::StoreDirectStriped<128>(threadIdx.x, out + blockIdx.x * BLOCK_ITEMS, items);
}

static void sorted_blocks(const char *name)
{
    constexpr int count = COUNT / BLOCK_ITEMS;
    std::vector<uint32_t> items = random_items<uint32_t>(), wanted;
    for (int block = 0; block < count; block++) {
        auto begin = items.begin() + block * BLOCK_ITEMS;
        std::vector<uint32_t> part(begin, begin + BLOCK_ITEMS);
        sort_on_host(part);
        wanted.insert(wanted.end(), part.begin(), part.end());
    }
    device_items<uint32_t> in(items), out(COUNT);
    repeat(
        name,
        [&](void *, size_t &) {
            out.spoil();
            sort_blocks<<<count, 128>>>(in.data, out.data);
            return cudaGetLastError();
        },
        [&] { return out.begins_with(wanted); });
}

// ---- all of them ----

static const struct {
    const char *name;
    void (*run)(const char *name);
} cases[] = {
    {"scan_1", scan<uint8_t>},
    {"scan_2", scan<uint16_t>},
    {"scan_4", scan<uint32_t>},
    {"scan_8", scan<uint64_t>},
    {"scan_12", scan<twelve>},
    {"scan_16", scan<sixteen>},
    {"reduce_1", reduce<uint8_t>},
    {"reduce_2", reduce<uint16_t>},
    {"reduce_4", reduce<uint32_t>},
    {"reduce_8", reduce<uint64_t>},
    {"reduce_12", reduce<twelve>},
    {"reduce_16", reduce<sixteen>},
    {"by_key_1", reduce_by_key<uint32_t, uint8_t>},
    {"by_key_2", reduce_by_key<uint64_t, uint16_t>},
    {"by_key_4", reduce_by_key<uint32_t, uint32_t>},
    {"by_key_8", reduce_by_key<uint64_t, uint64_t>},
    {"by_key_12", reduce_by_key<uint32_t, twelve>},
    {"by_key_16", reduce_by_key<sixteen, sixteen>},
    {"run_length_1", run_length<uint8_t>},
    {"run_length_2", run_length<uint16_t>},
    {"run_length_4", run_length<uint32_t>},
    {"run_length_8", run_length<uint64_t>},
    {"run_length_12", run_length<twelve>},
    {"run_length_16", run_length<sixteen>},
    {"select_1", select<uint8_t>},
    {"select_2", select<uint16_t>},
    {"select_4", select<uint32_t>},
    {"select_8", select<uint64_t>},
    {"select_12", select<twelve>},
    {"select_16", select<sixteen>},
    {"partition_1", partition<uint8_t>},
    {"partition_2", partition<uint16_t>},
    {"partition_4", partition<uint32_t>},
    {"partition_8", partition<uint64_t>},
    {"partition_12", partition<twelve>},
    {"partition_16", partition<sixteen>},
    {"sort_1", sort_by_digits<uint8_t>},
    {"sort_2", sort_by_digits<uint16_t>},
    {"sort_4", sort_by_digits<uint32_t>},
    {"sort_8", sort_by_digits<uint64_t>},
    {"sort_12", sort_by_merging<twelve>},
    {"sort_16", sort_by_merging<sixteen>},
    {"histogram_1", histogram<uint8_t>},
    {"histogram_2", histogram<uint16_t>},
    {"histogram_4", histogram<uint32_t>},
    {"blocks_1", blocks<uint8_t>},
    {"blocks_2", blocks<uint16_t>},
    {"blocks_4", blocks<uint32_t>},
    {"blocks_8", blocks<uint64_t>},
    {"blocks_12", blocks<twelve>},
    {"blocks_16", blocks<sixteen>},
    {"blocks_sorted", sorted_blocks},
};

static bool is_wanted(const char *name, int argc, char **argv)
{
    bool is_named = argc <= 2;
    for (int i = 2; i < argc; i++)
        is_named |= strncmp(name, argv[i], strlen(argv[i])) == 0;
    return is_named;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (const auto &entry : cases)
        if (is_wanted(entry.name, argc, argv))
            entry.run(entry.name);
    return verdict("cub_primitives");
}
