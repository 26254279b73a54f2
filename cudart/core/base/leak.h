/* SPDX-License-Identifier: Apache-2.0
 *
 * --leak-check: the objects that the program has made and not given back, and where it made each,
 * which --check tells, too. Costs only a test when both are off. Thread-safe; calls nothing of the
 * project's but options.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_LEAK_H
#define PTXRUN_CUDART_CORE_BASE_LEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cudart/core/base/host_frames.h"

#define CRT_NOUN_DEVICE_MEMORY "device memory"

/* Notes an object that the calling thread makes for the program. noun: a literal, as in "device
 * memory"; size_bytes: 0 for objects that are no memory. */
void crt_leak_note(const char *noun, const void *address, size_t size_bytes);

/* Call it for an object that has been given back, or is the library's own affair. Unknown addresses
 * are ignored. */
void crt_leak_forget(const void *address);

/* The calls that have made the object; false: it is not known. */
bool crt_leak_frames(const void *address, struct crt_frames *frames);

/* All that is live, in the order in which it was made. The function makes and ends no objects. */
typedef void (*crt_leak_fn)(const char *noun, const void *address, size_t size_bytes,
                            const struct crt_frames *frames);
void crt_leak_each(crt_leak_fn each);

/* Writes the report that is made at exit; returns the number of objects it lists. */
size_t crt_leak_report(FILE *out);

#endif
