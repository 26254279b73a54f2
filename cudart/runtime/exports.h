/* SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of the exported functions that are implemented, by the file that holds them. The
 * others are listed in symbols.def.
 */
#ifndef PTXRUN_CUDART_RUNTIME_EXPORTS_H
#define PTXRUN_CUDART_RUNTIME_EXPORTS_H

#include "cudart/runtime/cuda_runtime_types.h"

#pragma GCC visibility push(default)

/* registry.c */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *device_name, int thread_limit, void *tid, void *bid,
                            void *block_size, void *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
                       const char *device_name, int is_external, size_t size_bytes, int is_constant,
                       int is_global);
void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_address,
                              const char *device_name, int is_external, size_t size_bytes,
                              int is_constant, int is_global);
char __cudaInitModule(void **handle);
void __cudaUnregisterFatBinary(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);

/* launch.c */
unsigned __cudaPushCallConfiguration(struct cuda_dim3 grid, struct cuda_dim3 block,
                                     size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(struct cuda_dim3 *grid, struct cuda_dim3 *block,
                                       size_t *shared_bytes, void *stream);
cudaError_t cudaLaunchKernel(const void *stub, struct cuda_dim3 grid, struct cuda_dim3 block,
                             void **args, size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, struct cuda_dim3 grid, struct cuda_dim3 block,
                               void **args, size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *stub, struct cuda_dim3 grid,
                                        struct cuda_dim3 block, void **args, size_t shared_bytes,
                                        cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const struct cudaLaunchConfig *config, const void *stub,
                                void **args);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user_data);

/* function.c */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *result, const void *stub);
cudaError_t cudaFuncSetAttribute(const void *stub, int attribute, int value);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t handle, int attribute, int value,
                                            int device);
cudaError_t cudaFuncSetCacheConfig(const void *stub, int config);
cudaError_t cudaFuncSetSharedMemConfig(const void *stub, int config);
cudaError_t cudaFuncGetName(const char **name, const void *stub);
cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset,
                                 size_t *size_bytes);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub);
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
                                                                   int block_size,
                                                                   size_t shared_bytes,
                                                                   unsigned flags);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub,
                                                          int block_size, size_t shared_bytes);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, const void *stub,
                                                      int blocks, int block_size);

/* device.c */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wish);
cudaError_t cudaSetValidDevices(int *devices, int count);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetLimit(int limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, int limit);
cudaError_t cudaDeviceSetCacheConfig(int config);
cudaError_t cudaDeviceGetCacheConfig(int *config);
cudaError_t cudaDeviceSetSharedMemConfig(int config);
cudaError_t cudaDeviceGetSharedMemConfig(int *config);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned *flags);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id);
cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int source, int destination);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

/* device_properties.c */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *result, int device);
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device);

/* memory.c */
cudaError_t cudaMalloc(void **result, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocManaged(void **result, size_t bytes, unsigned flags);
cudaError_t cudaMallocPitch(void **result, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *result, struct cudaExtent extent);
cudaError_t cudaHostAlloc(void **result, size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void **result, size_t bytes);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaHostGetDevicePointer(void **result, void *pointer, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned flags);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *result, const void *pointer);

/* memcpy.c */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaGetSymbolAddress(void **result, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *size_bytes, const void *symbol);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *box, cudaStream_t stream);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *box);
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *box, cudaStream_t stream);
cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *box);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream);
cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent);

/* stream.c */
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, CUstreamCallback callback, void *user_data,
                                  unsigned flags);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

/* library.c */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, CUjit_option *jit_options,
                                void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                void **values, unsigned count);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                    CUjit_option *jit_options, void **jit_values,
                                    unsigned jit_count, CUlibraryOption *options, void **values,
                                    unsigned count);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count,
                                        cudaLibrary_t library);
cudaError_t cudaLibraryGetGlobal(void **result, size_t *size_bytes, cudaLibrary_t library,
                                 const char *name);
cudaError_t cudaLibraryGetManaged(void **result, size_t *size_bytes, cudaLibrary_t library,
                                  const char *name);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, int *status);
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *status);
cudaError_t cudaGetExportTable(const void **table, const CUuuid *id);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);

/* api_error.c */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* per_thread.c */
cudaError_t cudaLaunchKernel_ptsz(const void *stub, struct cuda_dim3 grid, struct cuda_dim3 block,
                                  void **args, size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, struct cuda_dim3 grid,
                                    struct cuda_dim3 block, void **args, size_t shared_bytes,
                                    cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *stub, struct cuda_dim3 grid,
                                             struct cuda_dim3 block, void **args,
                                             size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC_ptsz(const struct cudaLaunchConfig *config, const void *stub,
                                     void **args);
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, void (*function)(void *), void *user_data);
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                 cudaStream_t stream);
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, enum cudaMemcpyKind kind,
                                   cudaStream_t stream);
cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *box, cudaStream_t stream);
cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *box);
cudaError_t cudaMemcpy3DPeerAsync_ptsz(const struct cudaMemcpy3DPeerParms *box,
                                       cudaStream_t stream);
cudaError_t cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *box);
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t bytes,
                                         size_t offset, enum cudaMemcpyKind kind,
                                         cudaStream_t stream);
cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream);
cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind);
cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset_ptds(void *to, int value, size_t bytes);
cudaError_t cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream);
cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                                   cudaStream_t stream);
cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr to, int value, struct cudaExtent extent);
cudaError_t cudaMallocAsync_ptsz(void **result, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *pointer, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync_ptsz(void **result, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_ptsz(const void *pointer, size_t bytes, CUmemLocation location,
                                      unsigned flags, cudaStream_t stream);
cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *pointer, size_t bytes,
                                          unsigned flags);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, CUstreamCallback callback,
                                       void *user_data, unsigned flags);
cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned *flags);
cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *id);
cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int *device);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status);
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **function,
                                                  unsigned version, unsigned long long flags,
                                                  int *status);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **function,
                                         unsigned long long flags, int *status);

#pragma GCC visibility pop

#include "cudart/runtime/cudart_device.h"
#include "cudart/runtime/cudart_external.h"
#include "cudart/runtime/cudart_graph.h"
#include "cudart/runtime/cudart_ipc.h"
#include "cudart/runtime/cudart_memory.h"
#include "cudart/runtime/cudart_module.h"
#include "cudart/runtime/cudart_stream.h"
#include "cudart/runtime/cudart_texture.h"

#endif
