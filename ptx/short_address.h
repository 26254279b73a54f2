/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PTXRUN_PTX_SHORT_ADDRESS_H
#define PTXRUN_PTX_SHORT_ADDRESS_H

#include "ptx/ptx.h"

/* Spaces of which 32-bit registers can hold addresses, and that are not so small here. */
bool ptx_is_widened_space(enum ptx_space space);

/* Whether some function of the module puts an address of such a space into a 32-bit register.
 * Programs that do may extend it with zeros before they use it. Others, nearly all, need not pay
 * for that. Goes through all instructions: module->makes_short_addresses is its result. */
bool ptx_makes_short_addresses(const struct ptx_module *module);

#endif
