/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface references, which toolkit 12 dropped: layouts and prototypes of toolkit 11.
 */
#ifndef PTXRUN_CUDART_RUNTIME_OLDER_REFERENCES11_H
#define PTXRUN_CUDART_RUNTIME_OLDER_REFERENCES11_H

#include "cudart/runtime/cudart_texture.h"

/* The program's own variable, which says how the texture is read. */
struct textureReference {
    int normalized;
    int filterMode;
    int addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int reserved[14];
};

struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
};

#pragma GCC visibility push(default)

void __cudaRegisterTexture(void **handle, const struct textureReference *reference,
                           const void **device_address, const char *device_name, int dimensions,
                           int reads_parts, int is_external);
void __cudaRegisterSurface(void **handle, const struct surfaceReference *reference,
                           const void **device_address, const char *device_name, int dimensions,
                           int is_external);
cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference,
                            const void *memory, const struct cudaChannelFormatDesc *channels,
                            size_t bytes);
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *reference,
                              const void *memory, const struct cudaChannelFormatDesc *channels,
                              size_t width, size_t height, size_t pitch_bytes);
cudaError_t cudaBindTextureToArray(const struct textureReference *reference, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *channels);
cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *reference,
                                            cudaMipmappedArray_t mipmap,
                                            const struct cudaChannelFormatDesc *channels);
cudaError_t cudaUnbindTexture(const struct textureReference *reference);
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *reference);
cudaError_t cudaGetTextureReference(const struct textureReference **reference, const void *symbol);
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *reference, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *channels);
cudaError_t cudaGetSurfaceReference(const struct surfaceReference **reference, const void *symbol);

#pragma GCC visibility pop

#endif
