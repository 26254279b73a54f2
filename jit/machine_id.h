/* SPDX-License-Identifier: Apache-2.0
 *
 * All that decides for what CPU code is made on this machine, as the machine itself says it: raw
 * bytes without a meaning, the same as long as the machine is. What the compile library makes of it
 * (jit_compiler_target) can so be remembered.
 */
#ifndef PTXRUN_JIT_MACHINE_ID_H
#define PTXRUN_JIT_MACHINE_ID_H

#include <stddef.h>

typedef void (*jit_machine_id_fn)(void *argument, const void *bytes, size_t count);

void jit_machine_id(jit_machine_id_fn put, void *argument);

#endif
