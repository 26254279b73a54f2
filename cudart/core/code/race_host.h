/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program's own threads do with managed and page-locked memory, for --check=race: heard of
 * where the processor has protection keys, else not at all.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RACE_HOST_H
#define PTXRUN_CUDART_CORE_CODE_RACE_HOST_H

/* Once, before there is memory and workers. */
void crt_race_watch_host(void);

#endif
