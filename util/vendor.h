/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA's closed libraries, whose kernels are for GPUs: recognised by the names of their files.
 */
#ifndef PTXRUN_UTIL_VENDOR_H
#define PTXRUN_UTIL_VENDOR_H

/* "cuBLAS" for the file "/usr/lib/libcublas.so.13"; NULL for any other library. The result is
 * static storage, one string per library. path may be NULL. */
const char *pxr_vendor_library(const char *path);

#endif
