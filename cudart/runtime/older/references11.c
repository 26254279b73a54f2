/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface references of toolkit 11: the program's variables by their addresses, and
 * images that are bound to them through the driver's references.
 */
#include "cudart/runtime/older/references11.h"

#include <pthread.h>
#include <stdlib.h>
#include <uthash.h>

#include "cudart/runtime/runtime.h"

#define OVERRIDE_FORMAT 1u
#define IMAGE_ALIGN     512u

/* What is known of a reference besides its variable; kept for good. */
struct known {
    const void *host;
    bool is_texture;
    bool reads_parts;    /* integers as parts of 1 */
    size_t offset_bytes; /* of the last image that was bound */
    UT_hash_handle hh;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct known *all;
} references = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- registration ---- */

static void add_reference(void **handle, const void *host, const char *name, bool is_texture,
                          bool reads_parts)
{
    struct known *known = NULL;
    __cudaRegisterVar(handle, (char *)(uintptr_t)host, NULL, name, 0, sizeof(uint64_t), 0, 0);
    pthread_mutex_lock(&references.lock);
    HASH_FIND_PTR(references.all, &host, known);
    if (!known && (known = calloc(1, sizeof *known)) != NULL) {
        known->host = host;
        HASH_ADD_PTR(references.all, host, known);
    }
    if (known) {
        known->is_texture = is_texture;
        known->reads_parts = reads_parts;
        known->offset_bytes = 0;
    }
    pthread_mutex_unlock(&references.lock);
}

void __cudaRegisterTexture(void **handle, const struct textureReference *reference,
                           const void **device_address, const char *device_name, int dimensions,
                           int reads_parts, int is_external)
{
    (void)device_address, (void)dimensions, (void)is_external;
    add_reference(handle, reference, device_name, true, reads_parts != 0);
}

void __cudaRegisterSurface(void **handle, const struct surfaceReference *reference,
                           const void **device_address, const char *device_name, int dimensions,
                           int is_external)
{
    (void)device_address, (void)dimensions, (void)is_external;
    add_reference(handle, reference, device_name, false, false);
}

static struct known *find(const void *host, bool is_texture)
{
    struct known *known = NULL;
    pthread_mutex_lock(&references.lock);
    HASH_FIND_PTR(references.all, &host, known);
    pthread_mutex_unlock(&references.lock);
    return known && known->is_texture == is_texture ? known : NULL;
}

/* The driver's reference; its image is loaded for that. */
static cudaError_t open_reference(const struct known *known, CUtexref *reference)
{
    CUlibrary library;
    CUmodule module;
    const char *name;
    if (!known)
        return cudaErrorInvalidTexture;
    cudaError_t error = crt_enter() ?: crt_variable_source(known->host, &library, &name)
                                    ?: cuLibraryGetModule(&module, library);
    if (error)
        return error;
    error = known->is_texture ? cuModuleGetTexRef(reference, module, name)
                              : cuModuleGetSurfRef(reference, module, name);
    return error == cudaErrorSymbolNotFound ? cudaErrorInvalidTexture : error;
}

/* ---- how a texture is read ---- */

static unsigned flags_of(const struct known *known, const struct textureReference *from)
{
    return (known->reads_parts ? 0 : CRT_SAMPLING_AS_INTEGER) |
           (from->normalized ? CRT_SAMPLING_NORMALISED : 0) | (from->sRGB ? CRT_SAMPLING_SRGB : 0) |
           (from->disableTrilinearOptimization ? CRT_SAMPLING_NO_TRILINEAR : 0);
}

static cudaError_t set_sampling(const struct known *known, CUtexref to)
{
    const struct textureReference *from = known->host;
    cudaError_t error = cuTexRefSetFlags(to, flags_of(known, from))
                            ?: cuTexRefSetFilterMode(to, from->filterMode)
                            ?: cuTexRefSetMipmapFilterMode(to, from->mipmapFilterMode)
                            ?: cuTexRefSetMipmapLevelBias(to, from->mipmapLevelBias)
                            ?: cuTexRefSetMipmapLevelClamp(to, from->minMipmapLevelClamp,
                                                           from->maxMipmapLevelClamp)
                            ?: cuTexRefSetMaxAnisotropy(to, from->maxAnisotropy);
    for (int i = 0; i < 3 && !error; i++)
        error = cuTexRefSetAddressMode(to, i, from->addressMode[i]);
    return error;
}

/* The image is bound last, so that nothing in between is. */
static cudaError_t begin(const struct known *known, CUtexref *to)
{
    return open_reference(known, to) ?: cuTexRefSetAddress_v2(NULL, *to, 0, 0)
                                     ?: set_sampling(known, *to);
}

/* ---- textures ---- */

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference,
                            const void *memory, const struct cudaChannelFormatDesc *channels,
                            size_t bytes)
{
    struct known *known = find(reference, true);
    CUDA_ARRAY3D_DESCRIPTOR format;
    CUtexref to;
    size_t beyond = 0;
    if (!memory || !channels)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_channel_format(channels, &format) ?: begin(known, &to)
        ?: cuTexRefSetFormat(to, format.Format, (int)format.NumChannels)
        ?: cuTexRefSetAddress_v2(offset ? &beyond : NULL, to, (uintptr_t)memory, bytes);
    if (!error)
        known->offset_bytes = beyond;
    if (!error && offset)
        *offset = beyond;
    return crt_done(error);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *reference,
                              const void *memory, const struct cudaChannelFormatDesc *channels,
                              size_t width, size_t height, size_t pitch_bytes)
{
    struct known *known = find(reference, true);
    CUDA_ARRAY3D_DESCRIPTOR format;
    CUtexref to;
    size_t beyond = (uintptr_t)memory % IMAGE_ALIGN;
    if (!memory || !channels || (beyond && !offset))
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_channel_format(channels, &format) ?: begin(known, &to);
    if (error)
        return crt_done(error);
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = width,
                                   .Height = height,
                                   .Format = format.Format,
                                   .NumChannels = format.NumChannels};
    error = cuTexRefSetAddress2D_v3(to, &shape, (uintptr_t)memory - beyond, pitch_bytes);
    if (!error)
        known->offset_bytes = beyond;
    if (!error && offset)
        *offset = beyond;
    return crt_done(error);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *reference, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *channels)
{
    CUtexref to;
    (void)channels; /* the array's own, or it would be an error */
    return crt_done(begin(find(reference, true), &to)
                        ?: cuTexRefSetArray(to, array, OVERRIDE_FORMAT));
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *reference,
                                            cudaMipmappedArray_t mipmap,
                                            const struct cudaChannelFormatDesc *channels)
{
    CUtexref to;
    (void)channels;
    return crt_done(begin(find(reference, true), &to)
                        ?: cuTexRefSetMipmappedArray(to, mipmap, OVERRIDE_FORMAT));
}

cudaError_t cudaUnbindTexture(const struct textureReference *reference)
{
    CUtexref to;
    return crt_done(open_reference(find(reference, true), &to)
                        ?: cuTexRefSetAddress_v2(NULL, to, 0, 0));
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *reference)
{
    const struct known *known = find(reference, true);
    if (!known || !offset)
        return crt_done(known ? cudaErrorInvalidValue : cudaErrorInvalidTexture);
    *offset = known->offset_bytes;
    return cudaSuccess;
}

cudaError_t cudaGetTextureReference(const struct textureReference **reference, const void *symbol)
{
    if (!reference || !find(symbol, true))
        return crt_done(cudaErrorInvalidTexture);
    *reference = symbol;
    return cudaSuccess;
}

/* ---- surfaces ---- */

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *reference, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *channels)
{
    const struct known *known = find(reference, false);
    CUsurfref to;
    (void)channels;
    if (!known)
        return crt_done(cudaErrorInvalidSurface);
    return crt_done(open_reference(known, &to) ?: cuSurfRefSetArray(to, array, 0));
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **reference, const void *symbol)
{
    if (!reference || !find(symbol, false))
        return crt_done(cudaErrorInvalidSurface);
    *reference = symbol;
    return cudaSuccess;
}
