/* SPDX-License-Identifier: Apache-2.0
 *
 * The `print` command of ptxdump.
 */
#ifndef PTXRUN_TOOLS_PTXDUMP_PRINT_H
#define PTXRUN_TOOLS_PTXDUMP_PRINT_H

#include <stdbool.h>

#include "ptx/file.h"

/* Parses every PTX entry of the file and prints it to standard output; entries are told apart by a
 * comment line. Returns how many entries there are, and tells each that is damaged or no PTX by a
 * message to standard error and in *is_damaged. */
unsigned ptxdump_print(const struct ptx_file *file, bool is_normal, bool *is_damaged);

#endif
