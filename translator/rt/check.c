/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of accesses: what nearly all of them need, inline. rt_check stands for it until threads
 * have become loops and vectors (module/link_checks.c).
 */
#include "translator/rt/check.h"

#include "translator/rt/grains.h"

void rt_checked(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                uint64_t size_bytes, const char *shadow, const char *accesses, const char *variable)
{
    bool is_inside = rt_is_inside((uint64_t)address, bytes, begin, size_bytes);
    if (bytes == 0 ||
        (is_inside && (shadow == 0 || rt_are_grains_whole((const uint8_t *)shadow,
                                                          (uint64_t)address - begin, bytes))))
        return;
    rt_check_failed(thread, address, bytes, accesses, begin, size_bytes, variable);
}
