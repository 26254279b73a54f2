/* SPDX-License-Identifier: Apache-2.0
 *
 * The `ops` command of ptxdump.
 */
#ifndef PTXRUN_TOOLS_PTXDUMP_OPS_H
#define PTXRUN_TOOLS_PTXDUMP_OPS_H

#include <stdbool.h>

/* Prints every row of the op table to standard output, by family. */
void ptxdump_ops(bool is_markdown);

#endif
