/* SPDX-License-Identifier: Apache-2.0
 *
 * What qemu's emulator of programs does not do as a machine would, which a few tests need: it
 * accepts limits of address space and data without setting them, and joins neighbouring mappings in
 * /proc/self/maps.
 */
#ifndef PTXRUN_TESTS_SUPPORT_EMULATED_H
#define PTXRUN_TESTS_SUPPORT_EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

/* The preset aarch64 sets this for all tests. */
static inline bool is_emulated(void)
{
    return getenv("QEMU_LD_PREFIX") != NULL;
}

#endif
