/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for the libcudart of toolkit 12 or 11 while older_cudart.c is linked: only its name, its
 * functions' names and their version count. It is never loaded.
 */
#define STUB(name)                                                                                 \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return 1;                                                                                  \
    }

STUB(cudaRuntimeGetVersion)
STUB(cudaGetDeviceProperties)
STUB(cudaMalloc)
STUB(cudaFree)
STUB(cudaMallocManaged)
STUB(cudaMemAdvise)
STUB(cudaMemcpy)
STUB(cudaPointerGetAttributes)
STUB(cudaThreadSynchronize)
STUB(cudaGraphCreate)
STUB(cudaGraphAddEmptyNode)
STUB(cudaGraphAddDependencies)
STUB(cudaGraphGetEdges)
STUB(cudaGraphInstantiate)
STUB(cudaGraphExecUpdate)
STUB(cudaStreamCreate)
STUB(cudaStreamGetAttribute)
STUB(cudaStreamGetCaptureInfo_v2)
STUB(cudaGetDriverEntryPoint)
STUB(cudaFuncGetAttributes)
STUB(cudaLaunchKernel)
STUB(__cudaRegisterFatBinary)
STUB(__cudaRegisterFatBinaryEnd)
STUB(__cudaUnregisterFatBinary)
STUB(__cudaRegisterFunction)
STUB(__cudaPushCallConfiguration)
STUB(__cudaPopCallConfiguration)
#if TOOLKIT == 11
STUB(__cudaRegisterTexture)
STUB(__cudaRegisterSurface)
STUB(cudaBindTexture)
STUB(cudaUnbindTexture)
STUB(cudaGetTextureReference)
STUB(cudaBindTextureToArray)
STUB(cudaBindSurfaceToArray)
STUB(cudaMallocArray)
STUB(cudaMemcpyToArray)
#endif
#if TOOLKIT == 12
STUB(cudaGetDeviceProperties_v2)
STUB(cudaGraphGetEdges_v2)
#endif
