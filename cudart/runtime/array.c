/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays. Programs describe channels by their bits and kind; the driver knows formats.
 */
#include "cudart/runtime/runtime.h"

#define FORMAT_NV12        0xb0
#define FORMAT_UNORM8X1    0xc0
#define FORMAT_SNORM16X4   0xcb
#define FORMAT_BC1         0x91
#define FORMAT_BC7_SRGB    0x9e
#define BLOCK_SIDE         4u
#define FORMAT_BC7_SRGB    0x9e
#define BLOCK_SIDE         4u
#define FORMAT_1010102     0x50
#define SIMPLE_FORMATS     8
#define ARRAY_FLAG_LAYERED 1u
#define ARRAY_FLAG_CUBEMAP 4u

/* Formats whose number of channels is open. */
static const struct {
    int kind;
    int bits;
    CUarray_format format;
} simple_formats[SIMPLE_FORMATS] = {
    {cudaChannelFormatKindUnsigned, 8, 0x01},  {cudaChannelFormatKindUnsigned, 16, 0x02},
    {cudaChannelFormatKindUnsigned, 32, 0x03}, {cudaChannelFormatKindSigned, 8, 0x08},
    {cudaChannelFormatKindSigned, 16, 0x09},   {cudaChannelFormatKindSigned, 32, 0x0a},
    {cudaChannelFormatKindFloat, 16, 0x10},    {cudaChannelFormatKindFloat, 32, 0x20},
};

/* Channels of a description: each as wide as the first, without gaps. 0: it makes no sense. */
static unsigned count_channels(const struct cudaChannelFormatDesc *channels)
{
    const int bits[4] = {channels->x, channels->y, channels->z, channels->w};
    unsigned count = 0;
    while (count < 4 && bits[count] == bits[0] && bits[0] > 0)
        count++;
    for (unsigned i = count; i < 4; i++)
        if (bits[i])
            return 0;
    return count;
}

/* BC1 to BC7; signed and sRGB ones are as the others. */
static const struct cudaChannelFormatDesc block_channels[] = {{.x = 8, .y = 8, .z = 8, .w = 8},
                                                              {.x = 8, .y = 8, .z = 8, .w = 8},
                                                              {.x = 8, .y = 8, .z = 8, .w = 8},
                                                              {.x = 8},
                                                              {.x = 8, .y = 8},
                                                              {.x = 16, .y = 16, .z = 16},
                                                              {.x = 8, .y = 8, .z = 8, .w = 8}};

static bool is_blocks(int format)
{
    return format >= FORMAT_BC1 && format <= FORMAT_BC7_SRGB;
}

static int block_kind(int format)
{
    return (format - FORMAT_BC1) / 2;
}

/* 1, 2 or 4 channels of the formats whose kind says so. */
static unsigned fixed_channels(int index)
{
    return 1u << index % 3;
}

cudaError_t crt_channel_format(const struct cudaChannelFormatDesc *channels,
                               CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    int kind = channels->f;
    if (kind >= cudaChannelFormatKindUnsignedNormalized8X1 &&
        kind <= cudaChannelFormatKindSignedNormalized16X4) {
        int index = kind - cudaChannelFormatKindUnsignedNormalized8X1;
        int bits = index % 6 < 3 ? 8 : 16;
        descriptor->Format = FORMAT_UNORM8X1 + index;
        descriptor->NumChannels = fixed_channels(index);
        bool is_so = channels->x == bits && count_channels(channels) == fixed_channels(index);
        return is_so ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
    }
    if (kind == cudaChannelFormatKindUnsignedNormalized1010102 ||
        kind == cudaChannelFormatKindNV12) {
        bool is_packed = kind != cudaChannelFormatKindNV12;
        descriptor->Format = is_packed ? FORMAT_1010102 : FORMAT_NV12;
        descriptor->NumChannels = is_packed ? 4 : 3;
        return cudaSuccess;
    }
    if (kind >= cudaChannelFormatKindUnsignedBlockCompressed1 &&
        kind <= cudaChannelFormatKindUnsignedBlockCompressed7SRGB) {
        descriptor->Format = FORMAT_BC1 + kind - cudaChannelFormatKindUnsignedBlockCompressed1;
        descriptor->NumChannels = count_channels(&block_channels[block_kind(descriptor->Format)]);
        return cudaSuccess;
    }
    descriptor->NumChannels = count_channels(channels);
    for (int i = 0; i < SIMPLE_FORMATS; i++) {
        if (simple_formats[i].kind == kind && simple_formats[i].bits == channels->x) {
            descriptor->Format = simple_formats[i].format;
            bool is_known = descriptor->NumChannels && descriptor->NumChannels != 3;
            return is_known ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
        }
    }
    return cudaErrorInvalidChannelDescriptor;
}

static struct cudaChannelFormatDesc spread(int bits, unsigned channels, int kind)
{
    return (struct cudaChannelFormatDesc){.x = bits,
                                          .y = channels > 1 ? bits : 0,
                                          .z = channels > 2 ? bits : 0,
                                          .w = channels > 3 ? bits : 0,
                                          .f = kind};
}

/* Inverse of crt_channel_format, for what an array can have. */
struct cudaChannelFormatDesc crt_format_channels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    int format = descriptor->Format;
    if (format >= FORMAT_UNORM8X1 && format <= FORMAT_SNORM16X4) {
        int index = format - FORMAT_UNORM8X1;
        return spread(index % 6 < 3 ? 8 : 16, fixed_channels(index),
                      cudaChannelFormatKindUnsignedNormalized8X1 + index);
    }
    if (format == FORMAT_1010102)
        return (struct cudaChannelFormatDesc){10, 10, 10, 2,
                                              cudaChannelFormatKindUnsignedNormalized1010102};
    if (is_blocks(format)) {
        struct cudaChannelFormatDesc channels = block_channels[block_kind(format)];
        channels.f = cudaChannelFormatKindUnsignedBlockCompressed1 + format - FORMAT_BC1;
        return channels;
    }
    if (format == FORMAT_NV12)
        return spread(8, 3, cudaChannelFormatKindNV12);
    for (int i = 0; i < SIMPLE_FORMATS; i++)
        if (simple_formats[i].format == format)
            return spread(simple_formats[i].bits, descriptor->NumChannels, simple_formats[i].kind);
    return spread(0, 0, cudaChannelFormatKindNone);
}

static cudaError_t describe(const struct cudaChannelFormatDesc *channels, struct cudaExtent extent,
                            unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    return crt_channel_format(channels, descriptor);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *channels,
                              struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    cudaError_t error = array && channels ? crt_enter() : cudaErrorInvalidValue;
    return crt_done(error ?: describe(channels, extent, flags, &descriptor)
                        ?: cuArray3DCreate_v2(array, &descriptor));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *channels,
                            size_t width, size_t height, unsigned flags)
{
    if (flags & (ARRAY_FLAG_LAYERED | ARRAY_FLAG_CUBEMAP))
        return crt_done(cudaErrorInvalidValue);
    return cudaMalloc3DArray(array, channels, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    cudaError_t error = crt_enter();
    if (!error && array)
        error = cuArrayDestroy(array);
    return crt_done(error);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap,
                                     const struct cudaChannelFormatDesc *channels,
                                     struct cudaExtent extent, unsigned levels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    cudaError_t error = mipmap && channels ? crt_enter() : cudaErrorInvalidValue;
    return crt_done(error ?: describe(channels, extent, flags, &descriptor)
                        ?: cuMipmappedArrayCreate(mipmap, &descriptor, levels));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap)
{
    cudaError_t error = crt_enter();
    if (!error && mipmap)
        error = cuMipmappedArrayDestroy(mipmap);
    return crt_done(error);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_t mipmap,
                                       unsigned level)
{
    return crt_done(crt_enter() ?: cuMipmappedArrayGetLevel(array, mipmap, level));
}

/* Each place may be NULL. */
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channels, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    cudaError_t error = crt_enter() ?: cuArray3DGetDescriptor_v2(&descriptor, array);
    if (error)
        return crt_done(error);
    if (channels)
        *channels = crt_format_channels(&descriptor);
    if (extent)
        *extent = (struct cudaExtent){descriptor.Width, descriptor.Height, descriptor.Depth};
    if (flags)
        *flags = descriptor.Flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channels, cudaArray_t array)
{
    if (!channels)
        return crt_done(cudaErrorInvalidValue);
    return cudaArrayGetInfo(channels, NULL, NULL, array);
}

cudaError_t cudaArrayGetPlane(cudaArray_t *plane, cudaArray_t array, unsigned index)
{
    return crt_done(crt_enter() ?: cuArrayGetPlane(plane, array, index));
}

static cudaError_t check_device(int device)
{
    return crt_enter() ?: (crt_is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                           cudaArray_t array, int device)
{
    return crt_done(check_device(device)
                        ?: cuArrayGetMemoryRequirements(requirements, array, crt_device(device)));
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                                    cudaMipmappedArray_t mipmap, int device)
{
    return crt_done(
        check_device(device)
            ?: cuMipmappedArrayGetMemoryRequirements(requirements, mipmap, crt_device(device)));
}

cudaError_t cudaArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                         cudaArray_t array)
{
    return crt_done(crt_enter() ?: cuArrayGetSparseProperties(properties, array));
}

cudaError_t cudaMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                                  cudaMipmappedArray_t mipmap)
{
    return crt_done(crt_enter() ?: cuMipmappedArrayGetSparseProperties(properties, mipmap));
}

cudaError_t crt_array_elements(cudaArray_t array, struct crt_array_elements *elements)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    cudaError_t error = cuArray3DGetDescriptor_v2(&descriptor, array);
    if (error)
        return error;
    struct cudaChannelFormatDesc bits = crt_format_channels(&descriptor);
    *elements = (struct crt_array_elements){
        .bytes = (size_t)(bits.x + bits.y + bits.z + bits.w) / 8,
        .columns = descriptor.Width,
        .side = 1,
    };
    if (descriptor.Format == FORMAT_NV12)
        elements->bytes = 1; /* rows of brightness, then of colours */
    if (is_blocks(descriptor.Format)) {
        int kind = block_kind(descriptor.Format);
        elements->side = BLOCK_SIDE;
        elements->columns = (descriptor.Width + BLOCK_SIDE - 1) / BLOCK_SIDE;
        elements->bytes = kind == 0 || kind == 3 ? 8 : 16; /* BC1 and BC4, the others */
    }
    return cudaSuccess;
}
