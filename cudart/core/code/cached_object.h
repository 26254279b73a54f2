/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled code as bytes that another process can read. Internal to cudart/core/code.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CACHED_OBJECT_H
#define PTXRUN_CUDART_CORE_CODE_CACHED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/jit.h"

/* Of the bytes; part of every key. */
#define CRT_CACHED_OBJECT_FORMAT 6u

/* All but the times of the compiler's steps. malloc; false when there is no memory. */
bool crt_object_to_bytes(const struct jit_object *object, uint8_t **bytes, size_t *count);

/* The caller ends *object with jit_object_fini. False if that is not what crt_object_to_bytes has
 * made, or when there is no memory. */
bool crt_object_from_bytes(const uint8_t *bytes, size_t count, struct jit_object *object);

#endif
