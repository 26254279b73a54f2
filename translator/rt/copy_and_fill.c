/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies whose source may be shorter than their destination.
 */
#include "translator/rt/copy_and_fill.h"

void rt_copy_and_fill(uint8_t *target, const uint8_t *source, uint32_t source_bytes, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t value = 0;
        if (i < source_bytes)
            value = source[i];
        target[i] = value;
    }
}
