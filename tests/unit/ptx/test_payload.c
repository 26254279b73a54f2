/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompression of entries: both encodings, claims that are not true, damage.
 */
#include <criterion/criterion.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "fatbin_builder.h"

static struct fatbin_builder builder;
static struct ptx_fatbin fatbin;
static struct ptx_payload payload;
static struct pxr_error err;

static char plain[20000];
static uint8_t packed[30000];

static size_t make_plain(void)
{
    size_t len = 0;
    for (int i = 0; len + 40 < sizeof plain; i++)
        len += (size_t)sprintf(plain + len, "add.s32 %%r%d, %%r%d, %d;\n", i, i * 7 % 13, i);
    return len + 1; // with its NUL, as the compiler stores it
}

static struct entry_spec packed_spec(uint64_t flag, size_t plain_len)
{
    size_t len =
        flag == PTX_FATBIN_FLAG_ZSTD
            ? ZSTD_compress(packed, sizeof packed, plain, plain_len, 3)
            : (size_t)LZ4_compress_default(plain, (char *)packed, (int)plain_len, sizeof packed);
    return (struct entry_spec){PTX_FATBIN_PTX, 75, 0x11 | flag, packed, len, plain_len};
}

static enum pxr_status expand_first(void)
{
    cr_assert_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_OK);
    enum pxr_status status = ptx_payload_expand(&fatbin.entries[0], "t", &payload, &err);
    ptx_fatbin_fini(&fatbin);
    return status;
}

static void expect_round_trip(uint64_t flag)
{
    size_t len = make_plain();
    builder_start(&builder);
    builder_add(&builder, packed_spec(flag, len));
    cr_assert_eq(expand_first(), PXR_OK, "%s", err.message);
    struct pxr_str text = ptx_payload_text(&payload);
    cr_expect_eq(text.len, len - 1, "the final NUL is not text");
    cr_expect_eq(memcmp(text.ptr, plain, len - 1), 0);
    ptx_payload_fini(&payload);
}

Test(payload, zstd_round_trip)
{
    expect_round_trip(PTX_FATBIN_FLAG_ZSTD);
}

Test(payload, lz4_round_trip)
{
    expect_round_trip(PTX_FATBIN_FLAG_LZ4);
}

Test(payload, plain_text_loses_only_its_padding)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 75, 0x11);
    cr_assert_eq(expand_first(), PXR_OK);
    struct pxr_str text = ptx_payload_text(&payload);
    cr_expect_eq(text.ptr[text.len - 1], '\n');
    cr_expect_null(payload.owned);
    ptx_payload_fini(&payload);
}

Test(payload, claimed_sizes_that_cannot_be_are_refused_before_allocating)
{
    static const uint64_t CLAIMS[] = {0, 1ull << 31, 1ull << 40, UINT64_MAX, UINT64_MAX - 63};
    static const uint64_t FLAGS[] = {PTX_FATBIN_FLAG_LZ4, PTX_FATBIN_FLAG_ZSTD};
    size_t len = make_plain();
    for (size_t i = 0; i < sizeof CLAIMS / sizeof *CLAIMS; i++) {
        for (size_t j = 0; j < 2; j++) {
            builder_start(&builder);
            struct entry_spec spec = packed_spec(FLAGS[j], len);
            spec.plain_bytes = CLAIMS[i];
            builder_add(&builder, spec);
            cr_expect_eq(expand_first(), PXR_BAD_IMAGE);
        }
    }
}

Test(payload, claim_smaller_than_the_text_is_refused)
{
    size_t len = make_plain();
    builder_start(&builder);
    struct entry_spec spec = packed_spec(PTX_FATBIN_FLAG_ZSTD, len);
    spec.plain_bytes = len / 2;
    builder_add(&builder, spec);
    cr_expect_eq(expand_first(), PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "zstd"), "%s", err.message);
}

Test(payload, unknown_compression_is_unsupported)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 75, 0x11);
    builder_put(&builder, 16 + 0x10, 8, 4); // a compressed size without a flag
    cr_expect_eq(expand_first(), PXR_UNSUPPORTED);
}

static void expect_flips_harmless(uint64_t flag)
{
    size_t len = make_plain();
    builder_start(&builder);
    builder_add(&builder, packed_spec(flag, len));
    for (size_t byte = 0; byte < builder.len; byte++) {
        uint8_t saved = builder.bytes[byte];
        builder.bytes[byte] ^= (uint8_t)(1u << (byte % 8));
        uint8_t *copy = malloc(builder.len);
        memcpy(copy, builder.bytes, builder.len);
        struct ptx_span span = {copy, builder.len};
        if (ptx_fatbin_read(span, "t", &fatbin, &err) == PXR_OK) {
            for (uint32_t i = 0; i < fatbin.entry_count; i++) {
                if (ptx_payload_expand(&fatbin.entries[i], "t", &payload, &err) == PXR_OK)
                    ptx_payload_fini(&payload);
            }
            ptx_fatbin_fini(&fatbin);
        }
        free(copy);
        builder.bytes[byte] = saved;
    }
}

Test(payload, flipped_bits_never_crash)
{
    expect_flips_harmless(PTX_FATBIN_FLAG_ZSTD);
    expect_flips_harmless(PTX_FATBIN_FLAG_LZ4);
}
