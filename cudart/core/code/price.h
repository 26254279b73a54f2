/* SPDX-License-Identifier: Apache-2.0
 *
 * What the best code of a kernel costs, and when quick code has earned it: the arithmetic of
 * docs/tiers.md. Pure functions; times are CPU time in ns.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_PRICE_H
#define PTXRUN_CUDART_CORE_CODE_PRICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of compiling the best code of a kernel with so many instructions of PTX, whose quick code is an
 * object of so many bytes that has taken quick_ns, as measured over many kernels. 0: what quick
 * code has taken says nothing of the kernel, or of the machine. */
uint64_t crt_price_predict(uint32_t instructions, size_t quick_bytes, uint64_t quick_ns);

/* The same here and now: compilations that should have taken predicted_ns together took took_ns. */
uint64_t crt_price_correct(uint64_t price_ns, uint64_t predicted_ns, uint64_t took_ns);

/* What the rest of a grid will take if its blocks are like those that have ended, which took
 * grid_ns. */
uint64_t crt_price_promise(uint64_t grid_ns, uint64_t blocks_done, uint64_t blocks_left);

/* Whether best code is to be bought after quick code has run for ran_ns. */
bool crt_price_is_earned(uint64_t price_ns, uint64_t ran_ns, uint64_t promised_ns);

#endif
