/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice, prefetches and their attributes. Where all memory is the host's nothing moves: what a
 * program says is checked and remembered.
 */
#include "cudart/core/memory/managed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cudart/driver/internal.h"

static bool is_host(const CUmemLocation *location)
{
    return location->type == CRT_LOCATION_HOST || location->type == CRT_LOCATION_HOST_NUMA ||
           location->type == CRT_LOCATION_HOST_NUMA_CURRENT;
}

/* Node 0 exists everywhere, also without NUMA. */
static bool has_node(int node)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
    return node == 0 || (node > 0 && access(path, F_OK) == 0);
}

static CUresult check_location(const CUmemLocation *location)
{
    switch (location->type) {
    case CRT_LOCATION_DEVICE:
        return check_device(location->id);
    case CRT_LOCATION_HOST:
    case CRT_LOCATION_HOST_NUMA_CURRENT:
        return CRT_SUCCESS;
    case CRT_LOCATION_HOST_NUMA:
        return has_node(location->id) ? CRT_SUCCESS : CRT_INVALID_VALUE;
    default:
        return CRT_INVALID_VALUE;
    }
}

/* The location that a device ordinal means in the older functions. */
static CUmemLocation location_of(CUdevice device)
{
    if (device == CU_DEVICE_CPU)
        return (CUmemLocation){.type = CRT_LOCATION_HOST};
    return (CUmemLocation){.type = CRT_LOCATION_DEVICE, .id = device};
}

/* As it is told when it is asked for: the id of the host is 0. */
static struct crt_location remembered(const CUmemLocation *location)
{
    bool has_id = location->type == CRT_LOCATION_DEVICE || location->type == CRT_LOCATION_HOST_NUMA;
    return (struct crt_location){location->type, has_id ? location->id : 0};
}

/* ---- advice ---- */

struct advice {
    CUmem_advise what;
    CUmemLocation location;
};

static void apply_advice(struct crt_range_state *state, const void *arg)
{
    const struct advice *advice = arg;
    uint32_t bit =
        UINT32_C(1) << (is_host(&advice->location) ? CRT_ACCESSED_BY_HOST : advice->location.id);
    switch (advice->what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        state->is_read_mostly = advice->what == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        state->preferred = remembered(&advice->location);
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        state->preferred = (struct crt_location){CRT_LOCATION_NONE, 0};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        state->accessed_by |= bit;
        break;
    default:
        state->accessed_by &= ~bit;
        break;
    }
}

/* "The location argument is ignored" for some advice; for access it must be a device or the host.
 */
static CUresult check_advice(const struct advice *advice)
{
    switch (advice->what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        return CRT_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        return check_location(&advice->location);
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        if (is_host(&advice->location) && advice->location.type != CRT_LOCATION_HOST)
            return CRT_INVALID_VALUE;
        return check_location(&advice->location);
    default:
        return CRT_INVALID_VALUE;
    }
}

CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise what,
                        CUmemLocation location)
{
    struct advice advice = {.what = what, .location = location};
    CUresult result = check_context();
    if (result == CRT_SUCCESS)
        result = check_advice(&advice);
    if (result != CRT_SUCCESS)
        return result;
    bool has_location =
        what == CU_MEM_ADVISE_SET_ACCESSED_BY || what == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (!has_location && what != CU_MEM_ADVISE_SET_PREFERRED_LOCATION)
        advice.location = (CUmemLocation){.type = CRT_LOCATION_HOST};
    return crt_managed_change((uintptr_t)pointer, bytes, apply_advice, &advice);
}

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device)
{
    return cuMemAdvise_v2(pointer, bytes, advice, location_of(device));
}

/* ---- prefetching ---- */

static void apply_prefetch(struct crt_range_state *state, const void *arg)
{
    state->prefetched = remembered(arg);
}

static CUresult prefetch(CUdeviceptr pointer, size_t bytes, const CUmemLocation *location)
{
    return crt_managed_change((uintptr_t)pointer, bytes, apply_prefetch, location);
}

/* "The last location to which the range was prefetched … gives no indication of whether the
 * prefetch operation has completed or even begun": so there is nothing to put into the stream. */
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result == CRT_SUCCESS)
        result = flags ? CRT_INVALID_VALUE : check_location(&location);
    if (result == CRT_SUCCESS)
        result = crt_managed_check((uintptr_t)pointer, bytes, true);
    if (result == CRT_SUCCESS)
        result = crt_managed_check_stream(stream);
    return result == CRT_SUCCESS ? prefetch(pointer, bytes, &location) : result;
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync_v2(pointer, bytes, location_of(device), 0, stream);
}

/* ---- batches ---- */

struct batch {
    const CUdeviceptr *pointers;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *locations; /* NULL: nothing is prefetched */
    const size_t *firsts;           /* the first range that each location is for */
    size_t location_count;
    unsigned long long flags;
};

static CUresult check_locations(const struct batch *batch)
{
    if (!batch->locations || !batch->firsts || !batch->location_count ||
        batch->location_count > batch->count)
        return CRT_INVALID_VALUE;
    CUresult result = CRT_SUCCESS;
    for (size_t i = 0; result == CRT_SUCCESS && i < batch->location_count; i++) {
        bool is_first = i == 0 ? batch->firsts[0] == 0 : batch->firsts[i] > batch->firsts[i - 1];
        if (!is_first || batch->firsts[i] >= batch->count)
            return CRT_INVALID_VALUE;
        result = check_location(&batch->locations[i]);
    }
    return result;
}

static CUresult check_batch(const struct batch *batch, bool has_locations, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (stream->is_null || !batch->pointers || !batch->sizes || !batch->count || batch->flags)
        return CRT_INVALID_VALUE;
    if (has_locations)
        result = check_locations(batch);
    for (size_t i = 0; result == CRT_SUCCESS && i < batch->count; i++)
        result = crt_managed_check((uintptr_t)batch->pointers[i], batch->sizes[i], true);
    if (result == CRT_SUCCESS)
        result = crt_managed_check_stream(stream);
    return result;
}

static CUresult prefetch_batch(const struct batch *batch, CUstream stream)
{
    CUresult result = check_batch(batch, true, stream);
    size_t at = 0;
    for (size_t i = 0; result == CRT_SUCCESS && i < batch->count; i++) {
        if (at + 1 < batch->location_count && batch->firsts[at + 1] == i)
            at++;
        result = prefetch(batch->pointers[i], batch->sizes[i], &batch->locations[at]);
    }
    return result;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                 CUmemLocation *locations, size_t *firsts, size_t location_count,
                                 unsigned long long flags, CUstream stream)
{
    struct batch batch = {pointers, sizes, count, locations, firsts, location_count, flags};
    return prefetch_batch(&batch, stream);
}

CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                      CUmemLocation *locations, size_t *firsts,
                                      size_t location_count, unsigned long long flags,
                                      CUstream stream)
{
    return cuMemPrefetchBatchAsync(pointers, sizes, count, locations, firsts, location_count, flags,
                                   own_stream(stream));
}

/* What a discarded range reads as is indeterminate: what it held is as good as anything. */
CUresult cuMemDiscardBatchAsync(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                unsigned long long flags, CUstream stream)
{
    struct batch batch = {.pointers = pointers, .sizes = sizes, .count = count, .flags = flags};
    return check_batch(&batch, false, stream);
}

CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                     unsigned long long flags, CUstream stream)
{
    return cuMemDiscardBatchAsync(pointers, sizes, count, flags, own_stream(stream));
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                           CUmemLocation *locations, size_t *firsts,
                                           size_t location_count, unsigned long long flags,
                                           CUstream stream)
{
    struct batch batch = {pointers, sizes, count, locations, firsts, location_count, flags};
    return prefetch_batch(&batch, stream);
}

CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                                CUmemLocation *locations, size_t *firsts,
                                                size_t location_count, unsigned long long flags,
                                                CUstream stream)
{
    return cuMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, locations, firsts,
                                             location_count, flags, own_stream(stream));
}

/* ---- attributes ---- */

/* The device, CU_DEVICE_CPU, or CU_DEVICE_INVALID when it is none of both. */
static int ordinal_of(const struct crt_location *location)
{
    if (location->type == CRT_LOCATION_DEVICE)
        return location->id;
    return location->type == CRT_LOCATION_HOST ? CU_DEVICE_CPU : CU_DEVICE_INVALID;
}

static int value_of(const struct crt_range_state *state, CUmem_range_attribute attribute)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        return state->is_read_mostly;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        return ordinal_of(&state->preferred);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        return ordinal_of(&state->prefetched);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        return state->preferred.type;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        return state->preferred.id;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        return state->prefetched.type;
    default:
        return state->prefetched.id;
    }
}

static void store_accessors(const struct crt_range_state *state, int *list, size_t count)
{
    size_t used = 0;
    for (int bit = 0; bit < 32 && used < count; bit++)
        if (state->accessed_by & UINT32_C(1) << bit)
            list[used++] = bit == CRT_ACCESSED_BY_HOST ? CU_DEVICE_CPU : bit;
    while (used < count)
        list[used++] = CU_DEVICE_INVALID;
}

static bool is_attribute(CUmem_range_attribute attribute, size_t bytes)
{
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return bytes && bytes % sizeof(int) == 0;
    return attribute >= CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
           attribute <= CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID && bytes == sizeof(int);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *bytes, CUmem_range_attribute *attributes,
                                 size_t count, CUdeviceptr pointer, size_t range_bytes)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!data || !bytes || !attributes || !count)
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!data[i] || !is_attribute(attributes[i], bytes[i]))
            return CRT_INVALID_VALUE;
    struct crt_range_state state;
    result = crt_managed_query((uintptr_t)pointer, range_bytes, &state);
    for (size_t i = 0; result == CRT_SUCCESS && i < count; i++) {
        int value = value_of(&state, attributes[i]);
        if (attributes[i] == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
            store_accessors(&state, data[i], bytes[i] / sizeof(int));
        else
            memcpy(data[i], &value, sizeof value);
    }
    return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t bytes, CUmem_range_attribute attribute,
                                CUdeviceptr pointer, size_t range_bytes)
{
    return cuMemRangeGetAttributes(&data, &bytes, &attribute, 1, pointer, range_bytes);
}
