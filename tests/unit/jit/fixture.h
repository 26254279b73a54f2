/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that the build made out of fixtures/.
 */
#ifndef PTXRUN_TESTS_JIT_FIXTURE_H
#define PTXRUN_TESTS_JIT_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "jit/jit.h"

/* The bytes of fixtures/<name>.o; bytes == NULL if it cannot be read. jit_object_fini frees. */
static inline struct jit_object read_fixture(const char *name)
{
    struct jit_object object = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.o", PTXRUN_FIXTURE_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return object;
    fseek(file, 0, SEEK_END);
    object.size_bytes = (size_t)ftell(file);
    rewind(file);
    object.bytes = malloc(object.size_bytes);
    if (object.bytes && fread(object.bytes, 1, object.size_bytes, file) != object.size_bytes) {
        free(object.bytes);
        object.bytes = NULL;
    }
    fclose(file);
    return object;
}

#endif
