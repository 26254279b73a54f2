/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of functions that the CUDA runtime asks for by UUID, next to the public API. Tables
 * are constants with one address each: addresses are part of the validity check.
 */
#include <string.h>

#include "cudart/core/check/api_errors.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/launch_report.h"
#include "cudart/driver/check_table.h"
#include "cudart/driver/internal.h"
#ifdef PTXRUN_HANDSHAKE
#include "cudart/driver/handshake.h"
#endif

/* Slot 0 of most tables: the table's size in bytes. */
#define TABLE_SIZE(slots) ((const void *)(sizeof(void *) * (slots)))

static CUresult unused_slot(void)
{
    static const char name[] = "an internal function of the CUDA runtime";
    return crt_not_supported(name);
}

#define UNUSED ((const void *)unused_slot)

/* ---- functions for the runtime ---- */

/* The primary context's handle, without activating it. */
static CUresult runtime_primary_context(CUcontext *ctx, CUdevice device)
{
    CUresult result = check_device(device);
    if (result == CRT_SUCCESS)
        *ctx = crt_primary_get(crt_device_at(device));
    return result;
}

static CUresult runtime_load_module(CUmodule *module, const void *wrapper)
{
    return cuModuleLoadData(module, wrapper);
}

static CUresult runtime_load_module_ex(CUmodule *module, const void *wrapper, void *a, void *b,
                                       unsigned c)
{
    (void)a;
    (void)b;
    (void)c;
    return cuModuleLoadData(module, wrapper);
}

static CUresult runtime_load_container(const void *container, CUmodule *module, void *a, void *b,
                                       unsigned c)
{
    (void)a;
    (void)b;
    (void)c;
    return cuModuleLoadData(module, container);
}

static void runtime_note_size(size_t size)
{
    (void)size;
}

static CUresult runtime_preload_compiler(void)
{
    return CRT_SUCCESS;
}

#define RUNTIME_SLOTS 13
static const void *const runtime_table[RUNTIME_SLOTS] = {
    TABLE_SIZE(RUNTIME_SLOTS),
    (const void *)runtime_load_module,
    (const void *)runtime_primary_context,
    UNUSED,
    UNUSED,
    UNUSED,
    (const void *)runtime_load_module_ex,
    (const void *)runtime_note_size,
    (const void *)runtime_load_container,
    UNUSED,
    UNUSED,
    UNUSED,
    (const void *)runtime_preload_compiler,
};

/* ---- switches of profiler callbacks: none is ever on ---- */

#define CALLBACK_WORDS 4096
#define CALLBACK_COUNT 2048

static uint32_t api_switches[CALLBACK_WORDS];
static uint32_t other_switches[CALLBACK_WORDS];

static CUresult callback_api_switches(uint32_t **flags, size_t *count)
{
    *flags = api_switches;
    *count = CALLBACK_COUNT;
    return CRT_SUCCESS;
}

static CUresult callback_other_switches(uint32_t **flags, size_t *count)
{
    *flags = other_switches;
    *count = CALLBACK_COUNT;
    return CRT_SUCCESS;
}

#define CALLBACK_SLOTS 7
static const void *const callback_table[CALLBACK_SLOTS] = {
    TABLE_SIZE(CALLBACK_SLOTS),
    UNUSED,
    (const void *)callback_api_switches,
    UNUSED,
    UNUSED,
    UNUSED,
    (const void *)callback_other_switches,
};

/* ---- thread-local storage of tools ---- */

static CUresult tools_storage_get(void **value, void *key)
{
    (void)key;
    *value = NULL;
    return CRT_SUCCESS;
}

#define TOOLS_SLOTS 4
static const void *const tools_table[TOOLS_SLOTS] = {TABLE_SIZE(TOOLS_SLOTS), UNUSED,
                                                     (const void *)tools_storage_get, UNUSED};

/* ---- context-local storage; this table has no size ---- */

static CUresult storage_put(CUcontext ctx, void *key, void *value, crt_storage_dtor dtor)
{
    return crt_storage_put(ctx, key, value, dtor);
}

static CUresult storage_remove(CUcontext ctx, void *key)
{
    return crt_storage_remove(ctx, key);
}

static CUresult storage_get(void **value, CUcontext ctx, void *key)
{
    return crt_storage_get(ctx, key, value);
}

static const void *const storage_table[] = {(const void *)storage_put, (const void *)storage_remove,
                                            (const void *)storage_get, NULL};

/* ---- state of a context ---- */

static CUresult context_check(CUcontext ctx, uint32_t *state, void **detail)
{
    (void)ctx;
    (void)detail;
    *state = 0;
    return CRT_SUCCESS;
}

static CUresult context_ready(void)
{
    return CRT_SUCCESS;
}

#define CONTEXT_SLOTS 4
static const void *const context_table[CONTEXT_SLOTS] = {
    TABLE_SIZE(CONTEXT_SLOTS), UNUSED, (const void *)context_check, (const void *)context_ready};

/* ---- what our own runtime tells --check=api ---- */

static void check_error(uint32_t error)
{
    crt_api_error(error);
}

static void check_error_asked(void)
{
    crt_api_error_asked();
}

static void check_error_named(uint32_t error)
{
    crt_api_error_named(error);
}

static void check_launch_refused(void *kernel, const unsigned grid[3], const unsigned block[3],
                                 size_t shared_bytes, uint32_t error)
{
    struct crt_launch_config config = {.grid = {grid[0], grid[1], grid[2]},
                                       .block = {block[0], block[1], block[2]},
                                       .dynamic_shared_bytes = shared_bytes};
    crt_report_launch(kernel, &config, error);
}

static const struct cuda_check_table check_table = {.size_bytes = sizeof check_table,
                                                    .error = check_error,
                                                    .error_asked = check_error_asked,
                                                    .error_named = check_error_named,
                                                    .launch_refused = check_launch_refused};

/* ---- the validity check ---- */

#ifdef PTXRUN_HANDSHAKE
static CUresult validity_answer(uint32_t version, uint64_t unix_time, uint64_t answer[2]);

#define VALIDITY_SLOTS 3
static const void *const validity_table[VALIDITY_SLOTS] = {TABLE_SIZE(VALIDITY_SLOTS),
                                                           (const void *)validity_answer, UNUSED};

static CUresult validity_answer(uint32_t version, uint64_t unix_time, uint64_t answer[2])
{
    struct handshake_tables tables = {.runtime_table = runtime_table,
                                      .validity_table = validity_table,
                                      .validity_function = (const void *)validity_answer};
    return handshake_answer(&tables, version, unix_time, answer);
}
#endif

struct export_table {
    uint8_t id[16];
    const void *const *table;
};

static const struct export_table tables[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d,
      0xf9},
     runtime_table},
    {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a,
      0x66},
     callback_table},
    {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec,
      0xdc},
     tools_table},
    {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95,
      0x93},
     storage_table},
    {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa,
      0x7e},
     context_table},
    {CUDA_CHECK_TABLE_ID, (const void *const *)&check_table},
#ifdef PTXRUN_HANDSHAKE
    {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1,
      0xf2},
     validity_table},
#endif
};

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    if (!table || !id)
        return CRT_INVALID_VALUE;
    *table = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (memcmp(tables[i].id, id->bytes, sizeof id->bytes) == 0) {
            *table = (const void *)tables[i].table;
            return CRT_SUCCESS;
        }
    }
    return CRT_INVALID_VALUE;
}
