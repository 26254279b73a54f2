/* SPDX-License-Identifier: Apache-2.0
 *
 * The linker's hash over all of a library (the note .note.gnu.build-id): whether two libraries are
 * the same, without comparing them.
 */
#ifndef PTXRUN_JIT_BUILD_ID_H
#define PTXRUN_JIT_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_BUILD_ID_BYTES 32

struct jit_build_id {
    size_t count; /* never 0 */
    uint8_t bytes[JIT_BUILD_ID_BYTES];
};

/* Of a file, of which only the first pages are read. False if it has none. */
bool jit_build_id_of_file(const char *path, struct jit_build_id *id);

/* Of the loaded library that an address is in. */
bool jit_build_id_of_address(const void *address, struct jit_build_id *id);

bool jit_build_id_equal(const struct jit_build_id *a, const struct jit_build_id *b);

#endif
