/* SPDX-License-Identifier: Apache-2.0
 *
 * To be preloaded into a program with a shared CUDA runtime, for put_defects.sh: its fat binary
 * becomes the PTX in the file that PTX_FILE names; the allocation with the number FREE_EARLY is
 * freed behind the next launch; and the file that SEEN_FILE names says at the end how many
 * allocations there were, and what copies have brought to the host, as one number.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/fatbin.h"

enum { CONTAINER_HEADER = 16, ENTRY_HEADER = 64 };

/* What the program hands to its runtime. */
struct wrapper {
    uint32_t magic;
    uint32_t version;
    const void *container;
    void *file;
};

void **__cudaRegisterFatBinary(struct wrapper *wrapper);

static void put(uint8_t *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size);
}

/* A container with one entry, PTX as it is; tests/unit/ptx/fatbin_builder.h has all fields. */
static const void *make_container(FILE *file)
{
    fseek(file, 0, SEEK_END);
    size_t bytes = (size_t)ftell(file);
    size_t stored = (bytes + 8) / 8 * 8;
    uint8_t *container = calloc(1, CONTAINER_HEADER + ENTRY_HEADER + stored);
    uint8_t *entry = container + CONTAINER_HEADER;
    rewind(file);
    if (!container || fread(entry + ENTRY_HEADER, 1, bytes, file) != bytes)
        abort();
    put(container, PTX_FATBIN_MAGIC, 4);
    put(container + 4, 1, 2);
    put(container + 6, CONTAINER_HEADER, 2);
    put(container + 8, ENTRY_HEADER + stored, 8);
    put(entry, PTX_FATBIN_PTX, 2);
    put(entry + 2, 0x0101, 2);
    put(entry + 4, ENTRY_HEADER, 4);
    put(entry + 8, stored, 8);
    put(entry + 0x18, 5, 2);
    put(entry + 0x1a, 8, 2);
    put(entry + 0x1c, 60, 4); /* any device takes it */
    return container;
}

void **__cudaRegisterFatBinary(struct wrapper *wrapper)
{
    void **(*next)(struct wrapper *) =
        (void **(*)(struct wrapper *))(uintptr_t)dlsym(RTLD_NEXT, "__cudaRegisterFatBinary");
    const char *name = getenv("PTX_FILE");
    FILE *file = name ? fopen(name, "rb") : NULL;
    if (file) {
        wrapper = memcpy(malloc(sizeof *wrapper), wrapper, sizeof *wrapper);
        wrapper->container = make_container(file);
        fclose(file);
    }
    return next(wrapper);
}

/* ---- what the program asks for ---- */

enum { DEVICE_TO_HOST = 2 };

struct shape {
    unsigned x, y, z;
};

int cudaMalloc(void **address, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int __cudaLaunchKernel(const void *kernel, struct shape grid, struct shape block, void **arguments,
                       size_t shared_bytes, void *stream);

static unsigned allocations;
static void *freed_early; /* by the next launch */
static uint64_t brought = UINT64_C(0xcbf29ce484222325);

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int cudaMalloc(void **address, size_t bytes)
{
    int (*next)(void **, size_t) = (int (*)(void **, size_t))(uintptr_t)next_of("cudaMalloc");
    const char *number = getenv("FREE_EARLY");
    int result = next(address, bytes);
    if (result == 0 && ++allocations == (number ? strtoul(number, NULL, 10) : 0))
        freed_early = *address;
    return result;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    int (*next)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))(uintptr_t)next_of("cudaMemcpy");
    int result = next(to, from, bytes, kind);
    for (size_t i = 0; result == 0 && kind == DEVICE_TO_HOST && i < bytes; i++)
        brought = (brought ^ ((const uint8_t *)to)[i]) * UINT64_C(0x100000001b3);
    return result;
}

int __cudaLaunchKernel(const void *kernel, struct shape grid, struct shape block, void **arguments,
                       size_t shared_bytes, void *stream)
{
    int (*next)(const void *, struct shape, struct shape, void **, size_t, void *) =
        (int (*)(const void *, struct shape, struct shape, void **, size_t, void *))(
            uintptr_t)next_of("__cudaLaunchKernel");
    int (*give_back)(void *) = (int (*)(void *))(uintptr_t)next_of("cudaFree");
    int result = next(kernel, grid, block, arguments, shared_bytes, stream);
    if (freed_early)
        give_back(freed_early);
    freed_early = NULL;
    return result;
}

/* Not of processes around the program, which end later. */
static __attribute__((destructor)) void tell(void)
{
    const char *name = getenv("SEEN_FILE");
    FILE *file = name && allocations > 0 ? fopen(name, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%u %016llx\n", allocations, (unsigned long long)brought);
    fclose(file);
}
