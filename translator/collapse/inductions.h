/* SPDX-License-Identifier: Apache-2.0
 *
 * Loop variables whose threads differ only in where they start. Private to translator/collapse.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_INDUCTIONS_H
#define PTXRUN_TRANSLATOR_COLLAPSE_INDUCTIONS_H

#include "translator/collapse/collapse.h"

/* Around sync points, p = phi(start, p + step) with a step that the group has in common becomes
 * start + u with u = phi(0, u + step): u is kept once per group, and start can be computed again,
 * where p had to be saved by every thread. Returns whether the function was changed: then `kernel`
 * is out of date, good for tr_kernel_fini only. */
bool tr_split_inductions(struct tr_kernel *kernel);

#endif
