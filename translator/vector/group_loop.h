/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop over groups of lanes (plan/groups.h) while it is still code of one thread. Private to
 * translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_GROUP_LOOP_H
#define PTXRUN_TRANSLATOR_VECTOR_GROUP_LOOP_H

#include "translator/vector/plan/groups.h"

/* Puts the loop around all that control comes to from the quotients only, and before the iteration
 * ends, or that of the loop around it. False: it has several ends; nothing has changed. The
 * iteration is stale then, *x is not. */
bool tr_build_groups(const struct tr_iteration *iteration, const struct tr_groups *groups,
                     struct tr_counted *x);

/* Makes straight code of the loop again, if there is one. The iteration is stale then. */
void tr_drop_groups(const struct tr_iteration *iteration);

#endif
