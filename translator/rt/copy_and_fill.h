/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for instructions that move memory.
 */
#ifndef PTXRUN_TRANSLATOR_RT_COPY_AND_FILL_H
#define PTXRUN_TRANSLATOR_RT_COPY_AND_FILL_H

#include <stdint.h>

/* Writes bytes, reads source_bytes of them; the rest becomes 0. */
void rt_copy_and_fill(uint8_t *target, const uint8_t *source, uint32_t source_bytes,
                      uint32_t bytes);

#endif
