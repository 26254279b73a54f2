/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptxrun --explain` has said, kernel by kernel.
 */
#ifndef PTXRUN_TOOLS_BENCH_EXPLANATIONS_H
#define PTXRUN_TOOLS_BENCH_EXPLANATIONS_H

#include <stdbool.h>

/* All that the text, a standard error, says of the kernel of this readable name, without ptxrun's
 * name before each line. malloc. */
char *explanation_of(const char *text, const char *kernel);

/* Whether it says that the kernel has shuffles, votes or the like. */
bool explanation_has_warps(const char *explanation);

#endif
