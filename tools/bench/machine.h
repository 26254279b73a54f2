/* SPDX-License-Identifier: Apache-2.0
 *
 * On what was measured.
 */
#ifndef PTXRUN_TOOLS_BENCH_MACHINE_H
#define PTXRUN_TOOLS_BENCH_MACHINE_H

#include <stddef.h>

/* "AMD EPYC 9654 96-Core Processor". Stays. */
const char *machine_cpu(void);

/* "L1 32K, L2 1024K, L3 32768K": the first CPU's, for data; "unknown" if the system does not say.
 * Stays. */
const char *machine_caches(void);

/* 0: the system does not say. */
size_t machine_cache_bytes(int level);

/* CPUs that this process may use. */
unsigned machine_cpus(void);

#endif
