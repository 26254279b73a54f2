/* SPDX-License-Identifier: Apache-2.0
 *
 * --leak-check: what the program has made and not given back, with the place it was made at.
 * Costs nothing but a test when it is off. Thread-safe; calls nothing of the project's but options.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_LEAK_H
#define PTXRUN_CUDART_CORE_BASE_LEAK_H

#include <stddef.h>
#include <stdio.h>

/* Notes what the calling thread makes for the program. noun: a literal, as in "device memory";
 * size_bytes: 0 for what is no memory. */
void crt_leak_note(const char *noun, const void *address, size_t size_bytes);

/* It has been given back, or is the library's own affair. Unknown addresses are ignored. */
void crt_leak_forget(const void *address);

/* Writes the report that is made at exit; returns how many things it lists. */
size_t crt_leak_report(FILE *out);

#endif
