/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGetProcAddress, and the exported symbols.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/driver/entry_point.h"
#include "driver_fixture.h"

static const struct {
    const char *name;
    int version;
    unsigned flags;
    const char *symbol;
} requests[] = {
    {"cuInit", 2000, 0, "cuInit"},
    {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
    {"cuGetProcAddress", 13000, 0, "cuGetProcAddress_v2"},
    {"cuCtxCreate", 3020, 0, "cuCtxCreate_v2"},
    {"cuCtxGetDevice", 2000, 0, "cuCtxGetDevice"},
    {"cuCtxGetDevice", 12090, 0, "cuCtxGetDevice"},
    {"cuCtxGetDevice", 13000, 0, "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", 13000, 0, "cuCtxSynchronize_v2"},
    {"cuMemAdvise", 8000, 0, "cuMemAdvise"},
    {"cuMemAdvise", 12020, 0, "cuMemAdvise_v2"},
    {"cuEventElapsedTime", 12080, 0, "cuEventElapsedTime_v2"},
    {"cuDevicePrimaryCtxRelease", 7000, 0, "cuDevicePrimaryCtxRelease"},
    {"cuDevicePrimaryCtxReset", 7000, 0, "cuDevicePrimaryCtxReset"},
    {"cuDevicePrimaryCtxSetFlags", 11000, 0, "cuDevicePrimaryCtxSetFlags_v2"},
    {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
    {"cuMemcpyHtoD", 3020, 0, "cuMemcpyHtoD_v2"},
    {"cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds"},
    {"cuMemcpyAsync", 7000, 2, "cuMemcpyAsync_ptsz"},
    {"cuMemPrefetchAsync", 8000, 2, "cuMemPrefetchAsync_ptsz"},
    {"cuMemPrefetchAsync", 12020, 2, "cuMemPrefetchAsync_v2_ptsz"},
    {"cuLaunchKernel", 4000, 0, "cuLaunchKernel"},
    {"cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz"},
    {"cuLaunchKernel", 13000, 1, "cuLaunchKernel"},
    {"cuEventQuery", 13000, 2, "cuEventQuery"},
    {"cuTensorMapEncodeTiled", 12000, 0, "cuTensorMapEncodeTiled"},
    {"cuTensorMapEncodeIm2colWide", 12080, 0, "cuTensorMapEncodeIm2colWide"},
};

Test(entry_points, a_request_gets_the_newest_form_not_newer_than_its_version)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        void *function = NULL;
        CUdriverProcAddressQueryResult status;
        CUresult result = cuGetProcAddress_v2(requests[i].name, &function, requests[i].version,
                                              requests[i].flags, &status);
        cr_expect_eq(result, CRT_SUCCESS, "%s", requests[i].name);
        cr_expect_eq(status, CU_GET_PROC_ADDRESS_SUCCESS);
        cr_expect_eq(function, api_address(requests[i].symbol), "%s@%d flags %u", requests[i].name,
                     requests[i].version, requests[i].flags);
    }
}

Test(entry_points, what_is_not_there_is_said_to_be_so)
{
    void *function = &function;
    CUdriverProcAddressQueryResult status;
    EXPECT(CRT_NOT_FOUND, cuGetProcAddress_v2("cuNoSuchThing", &function, 13000, 0, &status));
    cr_expect_null(function);
    cr_expect_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT(CRT_NOT_FOUND, cuGetProcAddress_v2("", &function, 0, 0, NULL));
    EXPECT(CRT_NOT_FOUND, cuGetProcAddress_v2("cuLaunchKernelEx", &function, 4000, 0, &status));
    cr_expect_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT(CRT_INVALID_VALUE, cuGetProcAddress_v2("cuInit", NULL, 2000, 0, NULL));
    EXPECT(CRT_INVALID_VALUE, cuGetProcAddress_v2("cuInit", &function, 2000, 4, NULL));
}

/* Look-up is a binary search: every row must be found. */
Test(entry_points, every_row_of_the_table_is_found)
{
    static const struct {
        const char *name;
        int version;
        int is_per_thread;
    } rows[] = {
#define ENTRY(name, version, is_per_thread, symbol) {#name, version, is_per_thread},
#include "cudart/driver/entry_points.def"
#undef ENTRY
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *function;
        cr_expect_eq(entry_point_find(rows[i].name, rows[i].version, rows[i].is_per_thread ? 2 : 0,
                                      &function),
                     CU_GET_PROC_ADDRESS_SUCCESS, "%s", rows[i].name);
        cr_expect_not_null(function);
    }
}

/* Programs that look for all functions by name do without a driver that lacks those of graphics,
 * which they may never call. */
Test(entry_points, functions_for_graphics_can_be_looked_up)
{
    static const char *const names[] = {"cuGraphicsGLRegisterBuffer", "cuGLGetDevices",
                                        "cuGraphicsEGLRegisterImage", "cuVDPAUGetDevice"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *function = NULL;
        OK(cuGetProcAddress(names[i], &function, 13000, 0));
        cr_expect_not_null(function, "%s", names[i]);
    }
}

Test(entry_points, what_is_missing_is_not_supported)
{
    void *function;
    OK(cuGetProcAddress("cuMulticastCreate", &function, 13000, 0));
    CUresult (*create)(void) = (CUresult (*)(void))(uintptr_t)function;
    EXPECT(CRT_NOT_SUPPORTED, create());
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The library exports the names of the table, no more and no fewer, but for the one that our
 * libcudart asks for. */
Test(entry_points, the_library_exports_exactly_the_symbols_of_the_table)
{
    static const char *names[] = {
#define IMPLEMENTED(name) #name,
#define MISSING(name)     #name,
#include "cudart/driver/symbols.def"
#undef IMPLEMENTED
#undef MISSING
        "ptxrun_driver_functions",
    };
    size_t count = sizeof names / sizeof names[0];
    qsort(names, count, sizeof names[0], compare_text);
    FILE *listing =
        popen("LC_ALL=C nm -D --defined-only " PTXRUN_LIBCUDA " | LC_ALL=C sort -k3", "r");
    cr_assert_not_null(listing);
    size_t seen = 0;
    char name[256];
    while (fscanf(listing, "%*s %*s %255s", name) == 1) {
        cr_assert_lt(seen, count, "%s is one too many", name);
        cr_expect_str_eq(name, names[seen]);
        seen++;
    }
    pclose(listing);
    cr_expect_eq(seen, count);
    cr_expect_eq(count, 672 + 1);
}
