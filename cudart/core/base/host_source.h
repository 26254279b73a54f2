/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions and lines of the program's own code, from its symbols and its DWARF, if it has them.
 * They are read by libdw (elfutils), which is opened when the first message needs it; without it
 * nothing is known. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_HOST_SOURCE_H
#define PTXRUN_CUDART_CORE_BASE_HOST_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* Texts live as long as the process; NULL: not known. */
struct crt_host_place {
    const char *function; /* as its source has it */
    const char *file;
    uint32_t line;
    /* Of the call of what was inlined there, the innermost; NULL: nothing was. */
    const char *call_file;
    uint32_t call_line;
};

/* Of a return address: that of the call. Code of headers of the system and of the toolkit counts as
 * the code that it was inlined into. */
struct crt_host_place crt_host_place_of(const void *return_address);

/* Whether a function is what the compiler makes to launch a kernel. A function with the name and
 * the line of the kernel calls it. */
bool crt_host_is_stub(const char *function);

/* Whether a file is such a header. */
bool crt_host_file_is_foreign(const char *file);

#endif
