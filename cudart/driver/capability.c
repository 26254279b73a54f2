/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices can do, beyond the numbered attributes.
 */
#include <string.h>

#include "cudart/driver/internal.h"

#define LUID_BYTES                 8
#define ATTRIBUTE_TEXTURE1D_LINEAR 69

/* Contexts that get only some of the multiprocessors do not exist. */
CUresult cuDeviceGetExecAffinitySupport(int *is_supported, CUexecAffinityType type, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_supported || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_COUNT)
        return CRT_INVALID_VALUE;
    *is_supported = 0;
    return CRT_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!affinity || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_COUNT)
        return CRT_INVALID_VALUE;
    return CRT_UNSUPPORTED_EXEC_AFFINITY;
}

/* Locally unique: the device's number, and one node. */
CUresult cuDeviceGetLuid(char *luid, unsigned *node_mask, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!luid || !node_mask)
        return CRT_INVALID_VALUE;
    memset(luid, 0, LUID_BYTES);
    luid[0] = (char)(crt_device_at(device)->number + 1);
    *node_mask = 1;
    return CRT_SUCCESS;
}

/* Bytes of one channel of the formats that linear textures may have; 0 for others. */
static unsigned channel_bytes(CUarray_format format)
{
    switch (format) {
    case 0x01: /* unsigned and signed 8-bit integers */
    case 0x08:
        return 1;
    case 0x02: /* 16 bits, and half */
    case 0x09:
    case 0x10:
        return 2;
    case 0x03: /* 32 bits, and float */
    case 0x0a:
    case 0x20:
        return 4;
    default:
        return 0;
    }
}

/* The width is in elements, whatever their size. */
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format, unsigned channels,
                                            CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    bool is_count = channels == 1 || channels == 2 || channels == 4;
    if (!width || !is_count || !channel_bytes(format))
        return CRT_INVALID_VALUE;
    int elements = 0;
    crt_device_attribute(crt_device_at(device), ATTRIBUTE_TEXTURE1D_LINEAR, &elements);
    *width = (size_t)elements;
    return CRT_SUCCESS;
}

/* Bits of CUatomicOperationCapability that hold for an operation on host or peer memory: memory is
 * one, so it is what kernels can do anywhere. */
static CUresult list_atomics(unsigned *capabilities, const CUatomicOperation *operations,
                             unsigned count)
{
    const unsigned any_integer = 1u << 0 | 1u << 1; /* signed and unsigned */
    const unsigned reduction = 1u << 2;
    const unsigned scalars = 1u << 3 | 1u << 4; /* of 32 and 64 bits */
    const unsigned scalar_32 = 1u << 3;
    const unsigned kinds[CU_ATOMIC_OPERATION_COUNT] = {
        [0] = any_integer | reduction | scalars,
        [1] = any_integer | reduction | scalars,
        [2] = any_integer | reduction | scalars,
        [3] = 1u << 1 | reduction | scalar_32,
        [4] = 1u << 1 | reduction | scalar_32,
        [5] = any_integer | reduction | scalars,
        [6] = any_integer | reduction | scalars,
        [7] = any_integer | reduction | scalars,
        [8] = any_integer | scalars,
        [9] = any_integer | scalars,
        [10] = reduction | scalars,
        [11] = 0,
        [12] = 0,
    };
    if (!capabilities || !operations || !count)
        return CRT_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (operations[i] < 0 || operations[i] >= CU_ATOMIC_OPERATION_COUNT)
            return CRT_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        capabilities[i] = kinds[operations[i]];
    return CRT_SUCCESS;
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned *capabilities,
                                           const CUatomicOperation *operations, unsigned count,
                                           CUdevice device)
{
    CUresult result = check_device(device);
    return result == CRT_SUCCESS ? list_atomics(capabilities, operations, count) : result;
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities,
                                          const CUatomicOperation *operations, unsigned count,
                                          CUdevice source, CUdevice target)
{
    CUresult result = check_device(source);
    if (result == CRT_SUCCESS)
        result = check_device(target);
    if (result != CRT_SUCCESS)
        return result;
    return source == target ? CRT_INVALID_DEVICE : list_atomics(capabilities, operations, count);
}
