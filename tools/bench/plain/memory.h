/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a machine, for `ptxbench limits`.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_MEMORY_H
#define PTXRUN_TOOLS_BENCH_PLAIN_MEMORY_H

#include "tools/bench/plain/plain.h"

/* buffer[0]: a ring of pointers; n[0] steps. */
table_plain memory_latency;
/* buffer[0]: n[1] bytes, read n[0] times. */
table_plain memory_read;

/* buffer[0]: n[1] bytes. 16 lines of each page are read, one page after the other: without and with
 * prefetches. */
table_plain memory_pages;
table_plain memory_pages_ahead;

/* buffer[1]: 8 pages; n[0] times. A load of what was just stored, at once and in two halves; a load
 * behind a store to another place, and to the same place of another page. */
table_plain memory_forward;
table_plain memory_forward_parts;
table_plain memory_apart;
table_plain memory_aliased;

#endif
