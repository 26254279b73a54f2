/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of closed libraries.
 */
#include "util/vendor.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* is_family: further names begin with the stem. One row, one name: libraries that always come
 * together are told once. */
static const struct vendor {
    const char *stem; /* the file's name up to ".so" */
    const char *name;
    bool is_family;
} vendors[] = {
    {"libcublas", "cuBLAS", true},     {"libnvblas", "NVBLAS", false},
    {"libcufft", "cuFFT", true},       {"libcurand", "cuRAND", false},
    {"libcusolver", "cuSOLVER", true}, {"libcusparse", "cuSPARSE", true},
    {"libcudnn", "cuDNN", true},       {"libcutensor", "cuTENSOR", true},
    {"libcudss", "cuDSS", true},       {"libnpp", "NPP", true},
    {"libnvjpeg", "nvJPEG", true},     {"libnccl", "NCCL", false},
    {"libnvinfer", "TensorRT", true},  {"libnvgraph", "nvGRAPH", false},
    {"libnvcomp", "nvCOMP", true},     {"libcufile", "cuFile", true},
    {"libnvshmem", "NVSHMEM", true},
};

static bool matches(const struct vendor *vendor, const char *file)
{
    size_t len = strlen(vendor->stem);
    if (strncmp(file, vendor->stem, len) != 0)
        return false;
    return vendor->is_family ? strstr(file + len, ".so") != NULL
                             : strncmp(file + len, ".so", 3) == 0;
}

const char *pxr_vendor_library(const char *path)
{
    if (!path)
        return NULL;
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++)
        if (matches(&vendors[i], file))
            return vendors[i].name;
    return NULL;
}
