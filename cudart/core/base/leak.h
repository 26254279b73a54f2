/* SPDX-License-Identifier: Apache-2.0
 *
 * --leak-check: the objects that the program has made and not given back, and where it made each,
 * which --check tells, too. Costs only a test when both are off. Thread-safe; calls nothing of the
 * project's but options.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_LEAK_H
#define PTXRUN_CUDART_CORE_BASE_LEAK_H

#include <stddef.h>
#include <stdio.h>

/* Notes an object that the calling thread makes for the program. noun: a literal, as in "device
 * memory"; size_bytes: 0 for objects that are no memory. */
void crt_leak_note(const char *noun, const void *address, size_t size_bytes);

/* Call it for an object that has been given back, or is the library's own affair. Unknown addresses
 * are ignored. */
void crt_leak_forget(const void *address);

/* The functions of the host that have made the object, from the API function upwards: a line each.
 * malloc; NULL: it is not known. */
char *crt_leak_frames(const void *address);

/* Writes the report that is made at exit; returns the number of objects it lists. */
size_t crt_leak_report(FILE *out);

#endif
