/* SPDX-License-Identifier: Apache-2.0
 *
 * To be preloaded into a program with a shared CUDA runtime: its fat binary becomes the PTX in the
 * file that PTX_FILE names (put_defects.sh).
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
