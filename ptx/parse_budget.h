/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that reading one PTX text may take. A text says little about its cost: a few
 * compressed bytes can stand for a gigabyte, and a table of equal numbers is one of the texts that
 * compress so. So the result is limited, by the memory that the machine can spend.
 */
#ifndef PTXRUN_PTX_PARSE_BUDGET_H
#define PTXRUN_PTX_PARSE_BUDGET_H

#include <stddef.h>

/* A compressed entry does not expand to more, on any machine. */
#define PTX_BUDGET_MAX_TEXT_BYTES ((size_t)256 << 20)

/* Sets how much memory the process may use; until then it is the machine's. Thread-safe. */
void ptx_budget_set_memory(size_t bytes);

/* Bytes for the parser's lists, and again for each of its two arenas. */
size_t ptx_budget(void);

#endif
