/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters behind --stats and --stats-file: launches, compile times and copies, written when the
 * process ends.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_STATS_H
#define PTXRUN_CUDART_CORE_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_object;
struct jit_variant;

enum crt_copy_kind { CRT_COPY_TO_DEVICE, CRT_COPY_TO_HOST, CRT_COPY_ON_DEVICE, CRT_COPY_KINDS };

/* While off (the default) the other functions do nothing. Thread-safe.
 * are_printed: as a table on standard error; file: as lines added to that file, unless it is "". */
void crt_stats_init(bool are_printed, const char *file);
bool crt_stats_are_on(void);

void crt_stats_kernel(const char *name, uint64_t time_ns);
/* Counts a compiled variant of the kernel: the options asked for, and the outcome. */
void crt_stats_compile(const char *name, const struct jit_variant *wanted,
                       const struct jit_object *made, uint64_t time_ns);
/* Of a kernel that goes from quick code to the best: for so long it has run quick code; and what
 * the code that has been made now costs or will cost as best code. cpu_ns: 0 for quick code, and
 * for code out of the cache. */
void crt_stats_quick(const char *name, uint64_t ran_ns);
void crt_stats_tier(const char *name, bool is_quick, uint64_t price_ns, uint64_t cpu_ns);
/* What measuring the kernel's code has shown so far; the last text is printed. */
void crt_stats_tried(const char *name, const char *text);
/* Code, or the summary of a module, was looked for in the cache. */
void crt_stats_cache(bool is_hit);
void crt_stats_summary(bool is_hit);
void crt_stats_copy(enum crt_copy_kind kind, size_t size_bytes, uint64_t time_ns);

#endif
