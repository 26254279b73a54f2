/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked into every unit test, also when that is not started by ctest: tests compile what they run,
 * and leave the cache of whoever runs them alone. Those about the cache name one of their own. What
 * they expect is the best code, from the first launch on, and the same in each run; those about
 * tiers and measured choice ask for others.
 */
#include <stdlib.h>

__attribute__((constructor)) static void use_no_cache(void)
{
    setenv("PTXRUN_CACHE", "off", 0);
    setenv("PTXRUN_TIER", "best", 0);
    setenv("PTXRUN_CHOOSE", "estimate", 0);
}
