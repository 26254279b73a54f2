/* SPDX-License-Identifier: Apache-2.0
 *
 * The validity check: published values of its parts.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cudart/driver/handshake.h"

static const char *hex(const uint8_t digest[MD2_BYTES])
{
    static char text[2 * MD2_BYTES + 1];
    for (int i = 0; i < MD2_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

/* RFC 1319, appendix A.5. */
Test(handshake, md2_gives_the_values_of_its_rfc)
{
    static const struct {
        const char *message;
        const char *digest;
    } cases[] = {
        {"", "8350e5a3e24c153df2275c9f80692773"},
        {"a", "32ec01ec4a6dac72c0ab96fb34c0b5d1"},
        {"abc", "da853b0d3f88d99b30283a69e6ded6bb"},
        {"message digest", "ab4f496bfb2a530b219ff33031fe06b0"},
        {"abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t digest[MD2_BYTES];
        handshake_md2((const uint8_t *)cases[i].message, strlen(cases[i].message), digest);
        cr_expect_str_eq(hex(digest), cases[i].digest);
    }
}

Test(handshake, the_keyed_hash_has_its_known_values)
{
    static const uint8_t zeros[76];
    uint8_t digest[MD2_BYTES];
    handshake_hash(zeros, 48, digest);
    cr_expect_str_eq(hex(digest), "355edb3cc5dbe40c2c90de171b572d41");
    handshake_hash(zeros, 76, digest);
    cr_expect_str_eq(hex(digest), "760b83c33516941255ca2c5411588edc");
}

Test(handshake, versions_ending_in_0_and_1_get_constants)
{
    struct handshake_tables tables = {0};
    uint64_t answer[2] = {0};
    handshake_answer(&tables, 13000, 5, answer);
    cr_expect_eq(answer[0], UINT64_C(0x3341181C03CB675C));
    cr_expect_eq(answer[1], UINT64_C(0x8ED383AA1F4CD1E8));
    handshake_answer(&tables, 13001, 6, answer);
    cr_expect_eq(answer[0], UINT64_C(0x1841181C03CB675C));
    cr_expect_eq(answer[1], UINT64_C(0x8ED383AA1F4CD1E8));
}

Test(handshake, the_session_answer_depends_on_time_and_tables)
{
    struct handshake_tables tables = {0};
    uint64_t first[2];
    uint64_t again[2];
    uint64_t later[2];
    uint64_t moved[2];
    handshake_answer(&tables, 13002, 100, first);
    handshake_answer(&tables, 13002, 100, again);
    handshake_answer(&tables, 13002, 101, later);
    tables.validity_table = &tables;
    handshake_answer(&tables, 13002, 100, moved);
    cr_expect_arr_eq(first, again, sizeof first);
    cr_expect_arr_neq(first, later, sizeof first);
    cr_expect_arr_neq(first, moved, sizeof first);
}
