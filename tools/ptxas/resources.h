/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptxas -v` says of a module: memory, stack, barriers, registers.
 */
#ifndef PTXRUN_TOOLS_PTXAS_RESOURCES_H
#define PTXRUN_TOOLS_PTXAS_RESOURCES_H

#include "ptx/ptx.h"

/* arch: "sm_90a". Prints to standard error, as ptxas does. */
void ptxas_print_resources(const struct ptx_module *module, const char *arch);

#endif
