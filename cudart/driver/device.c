/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisation, and what devices are.
 */
#include <stdio.h>
#include <string.h>

#include "cudart/core/api/init.h"
#include "cudart/core/code/module.h"
#include "cudart/driver/internal.h"

CUresult cuInit(unsigned flags)
{
    crt_vendor_note(__builtin_return_address(0));
    return crt_init(flags);
}

CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return CRT_INVALID_VALUE;
    *version = CRT_DRIVER_VERSION;
    return CRT_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = check_device_output(ordinal, device);
    if (result != CRT_SUCCESS)
        return result;
    *device = ordinal;
    return CRT_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!count)
        return CRT_INVALID_VALUE;
    *count = crt_device_count();
    return CRT_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!name || len <= 0)
        return CRT_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", crt_device_name());
    return CRT_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult result = check_device_output(device, uuid);
    if (result != CRT_SUCCESS)
        return result;
    memcpy(uuid->bytes, crt_device_at(device)->uuid, sizeof uuid->bytes);
    return CRT_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = check_device_output(device, bytes);
    if (result != CRT_SUCCESS)
        return result;
    *bytes = crt_device_at(device)->memory_bytes;
    return CRT_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    return value ? crt_device_attribute(crt_device_at(device), attribute, value)
                 : CRT_INVALID_VALUE;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!major || !minor)
        return CRT_INVALID_VALUE;
    *major = crt_architecture_get()->capability / 10;
    *minor = crt_architecture_get()->capability % 10;
    return CRT_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device)
{
    CUresult result = check_device_output(device, properties);
    if (result != CRT_SUCCESS)
        return result;
    const struct {
        int attribute;
        int *value;
    } fields[] = {
        {1, &properties->maxThreadsPerBlock},  {2, &properties->maxThreadsDim[0]},
        {3, &properties->maxThreadsDim[1]},    {4, &properties->maxThreadsDim[2]},
        {5, &properties->maxGridSize[0]},      {6, &properties->maxGridSize[1]},
        {7, &properties->maxGridSize[2]},      {8, &properties->sharedMemPerBlock},
        {9, &properties->totalConstantMemory}, {10, &properties->SIMDWidth},
        {11, &properties->memPitch},           {12, &properties->regsPerBlock},
        {13, &properties->clockRate},          {14, &properties->textureAlign},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        crt_device_attribute(crt_device_at(device), fields[i].attribute, fields[i].value);
    return CRT_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!id || len <= 0)
        return CRT_INVALID_VALUE;
    char text[CRT_BUS_ID_BYTES];
    crt_device_bus_id(crt_device_at(device), text);
    snprintf(id, (size_t)len, "%s", text);
    return CRT_SUCCESS;
}

/* Accepts domain:bus:device.function, domain:bus:device and bus:device.function. */
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!device || !id)
        return CRT_INVALID_VALUE;
    unsigned domain = CRT_PCI_DOMAIN;
    unsigned bus;
    unsigned slot;
    if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = CRT_PCI_DOMAIN;
        if (sscanf(id, "%x:%x", &bus, &slot) != 2)
            return CRT_INVALID_VALUE;
    }
    for (int i = 0; i < crt_device_count(); i++) {
        if (domain != CRT_PCI_DOMAIN || slot != CRT_PCI_DEVICE ||
            bus != (unsigned)crt_device_at(i)->pci_bus)
            continue;
        *device = i;
        return CRT_SUCCESS;
    }
    return CRT_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult result = check_device(device);
    if (result == CRT_SUCCESS)
        result = check_device(peer);
    if (result != CRT_SUCCESS)
        return result;
    if (!can)
        return CRT_INVALID_VALUE;
    *can = device != peer;
    return CRT_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice target)
{
    CUresult result = check_device(source);
    if (result == CRT_SUCCESS)
        result = check_device(target);
    if (result != CRT_SUCCESS)
        return result;
    if (source == target)
        return CRT_INVALID_DEVICE;
    /* Rank of the connection: all are as good. Access, atomics, access to arrays, atomics of which
     * some only partly: memory is one. */
    static const int values[] = {[1] = 0, [2] = 1, [3] = 1, [4] = 1, [5] = 0};
    if (!value || attribute < 1 || attribute >= (int)(sizeof values / sizeof values[0]))
        return CRT_INVALID_VALUE;
    *value = values[attribute];
    return CRT_SUCCESS;
}
