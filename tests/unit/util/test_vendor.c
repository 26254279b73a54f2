/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "util/vendor.h"

Test(vendor, closed_libraries_are_known_by_the_names_of_their_files)
{
    static const struct {
        const char *path;
        const char *name;
    } rows[] = {
        {"libcublas.so.13", "cuBLAS"},  {"/usr/local/cuda/lib64/libcublasLt.so.13.1.0", "cuBLAS"},
        {"libcudnn_ops.so.9", "cuDNN"}, {"libnppial.so.13", "NPP"},
        {"./libnccl.so", "NCCL"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_str_eq(pxr_vendor_library(rows[i].path), rows[i].name, "%s", rows[i].path);
}

Test(vendor, other_libraries_are_not_taken_for_them)
{
    static const char *const paths[] = {
        "libcuda.so.1",   "libcudart.so.13",      "libnccl-tuner.so.1",
        "libcublas",      "/libcublas.so.13/app", "",
        "libnvrtc.so.13", "libnvToolsExt.so.1",   "mylibcublas.so"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        cr_expect_null(pxr_vendor_library(paths[i]), "%s", paths[i]);
    cr_expect_null(pxr_vendor_library(NULL));
    cr_expect_eq(pxr_vendor_library("libcublas.so.1"), pxr_vendor_library("libcublasLt.so.1"),
                 "libraries that come together are one");
}
