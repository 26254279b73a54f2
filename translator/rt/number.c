/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers: nearly always nothing is wrong. rt_number stands for it until threads have
 * become loops and vectors (module/checks.c).
 */
#include "translator/rt/number.h"

void rt_number_checked(struct rt_thread *thread, uint32_t is_wrong, uint32_t origin,
                       uint64_t first_two, uint32_t third, uint32_t use)
{
    if (__builtin_expect(is_wrong != 0, 0))
        rt_number_wrong(thread, origin, first_two, third, use);
}
