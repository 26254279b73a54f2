/* SPDX-License-Identifier: Apache-2.0
 *
 * Loop variables in which threads differ only by the first value. Private to translator/collapse.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_INDUCTIONS_H
#define PTXRUN_TRANSLATOR_COLLAPSE_INDUCTIONS_H

#include "translator/collapse/collapse.h"

/* Around sync points, p = phi(start, p + step) with a step that is the same in the group becomes
 * start + u with u = phi(0, u + step): u is kept once per group, and start can be computed again,
 * whereas every thread would have to save p.
 *
 * for_vectors: in other loops, too,
 *  - if start contains an index of 32 bits, extended, that grows along the row: threads' addresses
 *    are neighbours where it does not wrap, which can be asked of start
 * (vector/plan/narrow_index.c) and not of p;
 *  - if start is a pointer, or an address that a parameter is part of: what is accessed is then
 * that pointer and indices (addresses.c), of which it is known how far they are apart.
 *
 * Returns whether the function was changed: then `kernel` is out of date, good for tr_kernel_fini
 * only. */
bool tr_split_inductions(struct tr_kernel *kernel, bool for_vectors);

#endif
