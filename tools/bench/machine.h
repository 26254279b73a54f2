/* SPDX-License-Identifier: Apache-2.0
 *
 * On what was measured.
 */
#ifndef PTXRUN_TOOLS_BENCH_MACHINE_H
#define PTXRUN_TOOLS_BENCH_MACHINE_H

/* "AMD EPYC 9654 96-Core Processor". Stays. */
const char *machine_cpu(void);

/* CPUs that this process may use. */
unsigned machine_cpus(void);

#endif
