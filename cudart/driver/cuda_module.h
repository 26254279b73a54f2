/* SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of modules, libraries, links and the functions of CUDA's first versions: what was
 * added to the file of the main header.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_MODULE_H
#define PTXRUN_CUDART_DRIVER_CUDA_MODULE_H

#include "cudart/driver/cuda_types.h"

typedef int CUoutput_mode;
typedef int CUcoredumpSettings;

enum {
    CU_COREDUMP_ENABLE_ON_EXCEPTION = 1,
    CU_COREDUMP_TRIGGER_HOST,
    CU_COREDUMP_LIGHTWEIGHT,
    CU_COREDUMP_ENABLE_USER_TRIGGER,
    CU_COREDUMP_FILE,
    CU_COREDUMP_PIPE,
    CU_COREDUMP_GENERATION_FLAGS,
    CU_COREDUMP_MAX
};

typedef enum { CU_LOG_LEVEL_ERROR = 0, CU_LOG_LEVEL_WARNING = 1 } CUlogLevel;
typedef struct crt_listener *CUlogsCallbackHandle;
typedef void (*CUlogsCallback)(void *data, int level, char *message, size_t length);
typedef unsigned CUlogIterator;

_Pragma("GCC visibility push(default)")

    /* ---- Libraries ---- */
    CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *symbol);

/* ---- The first versions of functions ---- */
CUresult cuCtxCreate(CUcontext *ctx, unsigned flags, CUdevice device);
CUresult cuCtxAttach(CUcontext *ctx, unsigned flags);
CUresult cuCtxDestroy(CUcontext ctx);
CUresult cuCtxPushCurrent(CUcontext ctx);
CUresult cuCtxPopCurrent(CUcontext *ctx);
CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device);
CUresult cuMemGetInfo(unsigned *free_bytes, unsigned *total_bytes);
CUresult cuMemAllocHost(void **pointer, unsigned bytes);
CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags);
CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state);
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned count, CUjit_option *options, void **values);
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                       CUjit_option *options, void **values);

/* ---- Launches put together piece by piece ---- */
CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z);
CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes);
CUresult cuParamSetSize(CUfunction function, unsigned bytes);
CUresult cuParamSeti(CUfunction function, int offset, unsigned value);
CUresult cuParamSetf(CUfunction function, int offset, float value);
CUresult cuParamSetv(CUfunction function, int offset, void *pointer, unsigned bytes);
CUresult cuLaunch(CUfunction function);
CUresult cuLaunchGrid(CUfunction function, int width, int height);
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream);

/* ---- Core dumps: the settings ---- */
CUresult cuCoredumpGetAttribute(CUcoredumpSettings attribute, void *value, size_t *size);
CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size);
CUresult cuCoredumpSetAttribute(CUcoredumpSettings attribute, void *value, size_t *size);
CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size);

/* ---- Messages ---- */
CUresult cuLogsRegisterCallback(CUlogsCallback callback, void *data, CUlogsCallbackHandle *handle);
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle);
CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned flags);
CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned flags);
CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned flags);

_Pragma("GCC visibility pop")

#endif
