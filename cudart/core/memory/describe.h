/* SPDX-License-Identifier: Apache-2.0
 *
 * What an address is, for messages of --check: how it lies to the allocation that was meant, and
 * where that was made.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_DESCRIBE_H
#define PTXRUN_CUDART_CORE_MEMORY_DESCRIBE_H

#include <stdbool.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/memory/device_arena.h"

#define CRT_WHERE_BYTES 1024

/* The allocation that was meant, most likely, as long as the program has asked for; its base is 0
 * if none is near. */
struct crt_allocation crt_find_near(uint64_t address);

/* Of some bytes: "address 0x7f…: 4 bytes after the 400-byte block at 0x7f…". */
void crt_describe_near(uint64_t address, uint64_t bytes, const struct crt_allocation *near,
                       char where[CRT_WHERE_BYTES]);

/* The same for memory that was given back, with the calls that have done it, as far as they are
 * known; false if none is remembered there. */
bool crt_describe_freed(uint64_t address, char where[CRT_WHERE_BYTES], struct crt_frames *frames);

/* Adds ", allocated at main.cu:31", or what was done by these calls. They as a text, a line each,
 * for free; NULL if there are none. */
char *crt_describe_calls(const struct crt_frames *frames, const char *what,
                         char where[CRT_WHERE_BYTES]);

#endif
