/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling and linking of one variant as ORC has it: a symbol that is materialised when it is
 * looked up.
 */
#ifndef PTXRUN_JIT_ORC_LINK_H
#define PTXRUN_JIT_ORC_LINK_H

#include "jit/jit.h"

/* jit_compiler.link and .unlink. */
enum pxr_status orc_link(const struct jit_link *link, struct jit_linked **linked, uint64_t *address,
                         struct pxr_error *err);
void orc_unlink(struct jit_linked *linked);

#endif
