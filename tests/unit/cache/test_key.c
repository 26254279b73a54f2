/* SPDX-License-Identifier: Apache-2.0 */
#include "cache_fixture.h"

#include <stdlib.h>
#include <string.h>

#define PARTS 6

/* A key of some parts, one of them changed; PARTS: none. */
static struct cache_key make_key(int changed)
{
    struct cache_hash hash;
    cache_hash_init(&hash, changed == 0 ? "other kind" : "kind");
    cache_hash_number(&hash, changed == 1 ? 8 : 7);
    cache_hash_text(&hash, changed == 2 ? "texu" : "text");
    cache_hash_bytes(&hash, changed == 3 ? "a\0c" : "a\0b", 3);
    cache_hash_number(&hash, changed == 4 ? UINT64_C(1) << 63 : 0);
    cache_hash_bytes(&hash, NULL, 0);
    if (changed == 5)
        cache_hash_bytes(&hash, NULL, 0);
    return cache_hash_key(&hash);
}

Test(key, depends_on_every_part)
{
    struct cache_key key = make_key(PARTS);
    struct cache_key again = make_key(PARTS);
    cr_expect_eq(memcmp(&key, &again, sizeof key), 0);
    for (int i = 0; i < PARTS; i++) {
        struct cache_key other = make_key(i);
        cr_expect_neq(memcmp(&key, &other, sizeof key), 0, "part %d", i);
    }
}

Test(key, says_where_parts_end)
{
    struct cache_hash hash;
    struct cache_key keys[2];
    for (int i = 0; i < 2; i++) {
        cache_hash_init(&hash, "kind");
        cache_hash_text(&hash, i ? "ab" : "a");
        cache_hash_text(&hash, i ? "c" : "bc");
        keys[i] = cache_hash_key(&hash);
    }
    cr_expect_neq(memcmp(&keys[0], &keys[1], sizeof keys[0]), 0);
}

/* BLAKE3 of the eight zeros that stand for a kind of no text, from another implementation: entries
 * of one machine are read by another. */
Test(key, is_the_same_everywhere)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "");
    struct cache_key key = cache_hash_key(&hash);
    static const uint8_t expected[] = {0x71, 0xe0, 0xa9, 0x91, 0x73, 0x56, 0x49, 0x31,
                                       0xc0, 0xb8, 0xac, 0xc5, 0x2d, 0x26, 0x85, 0xa8,
                                       0xe3, 0x9c, 0x64, 0xdc, 0x52, 0xe3, 0xd0, 0x23,
                                       0x90, 0xfd, 0xac, 0x2a, 0x12, 0xb1, 0x55, 0xcb};
    cr_expect_arr_eq(key.bytes, expected, sizeof expected);
}

/* Long parts take the wide code of whatever this CPU has. */
Test(key, does_not_depend_on_how_parts_come)
{
    enum { BYTES = 100000 };
    uint8_t *bytes = malloc(BYTES);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 7);
    struct cache_hash hash;
    cache_hash_init(&hash, "");
    cache_hash_bytes(&hash, bytes, BYTES);
    struct cache_key key = cache_hash_key(&hash);
    struct cache_key again = cache_hash_key(&hash);
    cr_expect_eq(memcmp(&key, &again, sizeof key), 0);
    bytes[BYTES - 1] ^= 1;
    cache_hash_init(&hash, "");
    cache_hash_bytes(&hash, bytes, BYTES);
    again = cache_hash_key(&hash);
    cr_expect_neq(memcmp(&key, &again, sizeof key), 0);
    free(bytes);
}
