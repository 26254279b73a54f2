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
#include "ptx/parse_budget.h"

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

/* Puts a zstd frame of `head` and `count` times the byte: 131,072 of them take four bytes. */
static size_t pack_repeated(uint8_t *out, const char *head, uint8_t byte, uint64_t count)
{
    enum { BLOCK_BYTES = 131072, RAW = 0, RLE = 1 };
    uint64_t plain_bytes = strlen(head) + count;
    const uint32_t magic = 0xFD2FB528;
    const uint8_t descriptors[2] = {0xC0, 0x50}; /* size in 8 bytes; window of 1 MiB */
    uint32_t block = (uint32_t)strlen(head) << 3 | RAW << 1;
    size_t len = 0;

    memcpy(out, &magic, 4);
    memcpy(out + 4, descriptors, 2);
    memcpy(out + 6, &plain_bytes, 8);
    memcpy(out + 14, &block, 3);
    memcpy(out + 17, head, strlen(head));
    len = 17 + strlen(head);
    while (count > 0) {
        uint32_t part = count < BLOCK_BYTES ? (uint32_t)count : BLOCK_BYTES;

        count -= part;
        block = part << 3 | RLE << 1 | (count == 0);
        memcpy(out + len, &block, 3);
        out[len + 3] = byte;
        len += 4;
    }
    return len;
}

/* A frame that decoders skip makes the compressed bytes any number. */
static size_t pad_with_skippable(uint8_t *out, size_t len, uint32_t pad_bytes)
{
    const uint32_t magic = 0x184D2A50;

    memcpy(out + len, &magic, 4);
    memcpy(out + len + 4, &pad_bytes, 4);
    memset(out + len + 8, 0, pad_bytes);
    return len + 8 + pad_bytes;
}

#define HEADER "\n.version 8.0\n.target sm_75\n.address_size 64\n"

static void expand_repeated(uint64_t count, uint32_t pad_bytes, enum pxr_status want)
{
    static uint8_t bytes[60000];
    size_t len = pack_repeated(bytes, HEADER, ';', count);

    if (pad_bytes > 0)
        len = pad_with_skippable(bytes, len, pad_bytes);
    builder_start(&builder);
    builder_add(&builder, (struct entry_spec){PTX_FATBIN_PTX, 75, 0x11 | PTX_FATBIN_FLAG_ZSTD,
                                              bytes, len, strlen(HEADER) + count});
    cr_assert_eq(expand_first(), want, "%s", err.message);
}

Test(payload, a_thousand_million_semicolons_are_refused_at_once)
{
    expand_repeated(1000000000, 0, PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "more than any text may have"), "%s", err.message);
    expand_repeated(1000000000, 20000, PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "more than any text may have"), "%s", err.message);
}

Test(payload, what_the_machine_can_spend_is_a_bound)
{
    ptx_budget_set_memory((size_t)1 << 30);
    expand_repeated(200000000, 0, PXR_OUT_OF_MEMORY);
    cr_expect_not_null(strstr(err.message, "of this machine's memory"), "%s", err.message);
    expand_repeated(1000000, 0, PXR_OK);
    ptx_payload_fini(&payload);
}

Test(payload, text_ten_thousand_times_as_long_is_expanded)
{
    expand_repeated(50000000, 0, PXR_OK);
    cr_expect_eq(ptx_payload_text(&payload).len, 50000000 + strlen(HEADER));
    ptx_payload_fini(&payload);
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
