/* SPDX-License-Identifier: Apache-2.0
 *
 * Result codes: names, sentences, and the translation from pxr_status.
 */
#include "cudart/core/base/result.h"

#include <stddef.h>
#include <string.h>

#include "util/log.h"
#include "util/refusal.h"

static const enum crt_result from_status[PXR_STATUS_COUNT] = {
    [PXR_OK] = CRT_SUCCESS,
    [PXR_OUT_OF_MEMORY] = CRT_OUT_OF_MEMORY,
    [PXR_INVALID_ARGUMENT] = CRT_INVALID_VALUE,
    [PXR_NOT_FOUND] = CRT_NOT_FOUND,
    [PXR_IO] = CRT_OPERATING_SYSTEM,
    [PXR_BAD_IMAGE] = CRT_INVALID_IMAGE,
    [PXR_BAD_PTX] = CRT_INVALID_PTX,
    [PXR_NEWER_PTX] = CRT_UNSUPPORTED_PTX_VERSION,
    [PXR_NO_PTX] = CRT_NO_BINARY_FOR_GPU,
    [PXR_UNSUPPORTED] = CRT_NOT_SUPPORTED,
    [PXR_OUT_OF_RESOURCES] = CRT_LAUNCH_OUT_OF_RESOURCES,
    [PXR_COMPILE_FAILED] = CRT_UNKNOWN,
    [PXR_NO_COMPILER] = CRT_JIT_COMPILER_NOT_FOUND,
    [PXR_FAULT_ADDRESS] = CRT_ILLEGAL_ADDRESS,
    [PXR_FAULT_MISALIGNED] = CRT_MISALIGNED_ADDRESS,
    [PXR_FAULT_TRAP] = CRT_LAUNCH_FAILED,
    [PXR_FAULT_ASSERT] = CRT_ASSERT,
    [PXR_FAULT_INSTRUCTION] = CRT_ILLEGAL_INSTRUCTION,
    [PXR_FAULT_PC] = CRT_INVALID_PC,
    [PXR_FAULT_STACK] = CRT_LAUNCH_FAILED,
    [PXR_FAULT_DEADLOCK] = CRT_LAUNCH_TIMEOUT,
    [PXR_FAULT_TIMEOUT] = CRT_LAUNCH_TIMEOUT,
};

struct result_info {
    int number;
    const char *name;
    const char *text;
};

#define NAME_0(ID) "CUDA_ERROR_" #ID
static const struct result_info results[] = {
#define RESULT(ID, number, text) {number, (number) ? NAME_0(ID) : "CUDA_SUCCESS", text},
#include "cudart/core/base/result.def"
#undef RESULT
};

static const struct result_info *find_result(int number)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].number == number)
            return &results[i];
    return NULL;
}

enum crt_result crt_result_from_status(enum pxr_status status)
{
    return (unsigned)status < PXR_STATUS_COUNT ? from_status[status] : CRT_UNKNOWN;
}

const char *crt_result_name(int result)
{
    const struct result_info *info = find_result(result);
    return info ? info->name : NULL;
}

const char *crt_result_text(int result)
{
    const struct result_info *info = find_result(result);
    return info ? info->text : NULL;
}

/* The subjects of groups of functions. */
static const struct {
    const char *prefix;
    const char *feature;
} features[] = {
    {"cuTexRef", "texture references"},           {"cuGraphics", "graphics interoperation"},
    {"cuMulticast", "multicast objects"},         {"cuGreenCtx", "green contexts"},
    {"cuCheckpoint", "checkpoints of processes"}, {"cuExternalMemory", "images in external memory"},
    {"cuGL", "graphics interoperation"},          {"cuEGL", "graphics interoperation"},
    {"cuVDPAU", "graphics interoperation"},
};

static const char *feature_of(const char *symbol)
{
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (strncmp(symbol, features[i].prefix, strlen(features[i].prefix)) == 0)
            return features[i].feature;
    return NULL;
}

enum crt_result crt_not_supported(const char *symbol)
{
    const char *feature = feature_of(symbol);
    if (feature)
        pxr_refusal_note("%s (%s)", feature, symbol);
    else
        pxr_refusal_note("%s", symbol);
    pxr_log_once(symbol, "%s is not supported; it returns CUDA_ERROR_NOT_SUPPORTED", symbol);
    return CRT_NOT_SUPPORTED;
}
