/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation that went wrong, with its operands, for people: "100 / 0".
 */
#ifndef PTXRUN_CUDART_CORE_CODE_NUMBER_TEXT_H
#define PTXRUN_CUDART_CORE_CODE_NUMBER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define CRT_NUMBER_TEXT_BYTES 192

/* As code tells it (kernel_abi/numbers.h). is_division: of an integer by zero, which is all of
 * first_two. */
void crt_number_text(uint32_t origin, uint64_t first_two, uint32_t third, bool is_division,
                     char text[CRT_NUMBER_TEXT_BYTES]);

#endif
