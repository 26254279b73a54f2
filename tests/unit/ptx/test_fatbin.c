/* SPDX-License-Identifier: Apache-2.0
 *
 * Containers: headers, choice of the PTX entry, damaged and hostile values.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "fatbin_builder.h"

static struct fatbin_builder builder;
static struct ptx_fatbin fatbin;
static struct pxr_error err;

static unsigned chosen_arch(unsigned capability)
{
    cr_assert_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_OK, "%s",
                 err.message);
    const struct ptx_fatbin_entry *entry = ptx_fatbin_choose_ptx(&fatbin, capability);
    unsigned arch = entry ? entry->arch * 256 + (unsigned char)entry->arch_suffix : 0;
    ptx_fatbin_fini(&fatbin);
    return arch;
}

Test(fatbin, empty_container_has_no_entries)
{
    builder_start(&builder);
    cr_assert_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_OK);
    cr_expect_eq(fatbin.entry_count, 0);
    cr_expect_eq(fatbin.bytes.len, 16);
    cr_expect_null(ptx_fatbin_choose_ptx(&fatbin, 75));
    ptx_fatbin_fini(&fatbin);
}

Test(fatbin, container_ends_where_its_header_says)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 75, 0x11);
    size_t len = builder.len;
    memset(builder.bytes + len, 0xee, 100);
    struct ptx_span longer = {builder.bytes, len + 100};
    cr_assert_eq(ptx_fatbin_read(longer, "t", &fatbin, &err), PXR_OK);
    cr_expect_eq(fatbin.bytes.len, len);
    cr_expect_eq(fatbin.entry_count, 1);
    cr_expect_eq(fatbin.entries[0].version_major, 8);
    cr_expect_eq(fatbin.entries[0].version_minor, 5);
    ptx_fatbin_fini(&fatbin);
}

Test(fatbin, choice_takes_highest_arch_not_above_device)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 60, 0x11);
    builder_add_ptx(&builder, 75, 0x11);
    builder_add_ptx(&builder, 90, 0x11);
    cr_expect_eq(chosen_arch(75), 75 * 256);
    cr_expect_eq(chosen_arch(89), 75 * 256);
    cr_expect_eq(chosen_arch(120), 90 * 256);
    cr_expect_eq(chosen_arch(70), 60 * 256);
}

Test(fatbin, choice_takes_lowest_above_when_nothing_suits)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 121, 0x11);
    builder_add_ptx(&builder, 120, 0x11);
    cr_expect_eq(chosen_arch(75), 120 * 256);
}

Test(fatbin, choice_of_specific_targets_follows_their_rule)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 90, PTX_FATBIN_FLAG_ARCH_SPECIFIC);
    builder_add_ptx(&builder, 100, PTX_FATBIN_FLAG_FAMILY);
    builder_add_ptx(&builder, 75, 0x11);
    cr_expect_eq(chosen_arch(90), 90 * 256 + 'a');
    cr_expect_eq(chosen_arch(89), 75 * 256);
    cr_expect_eq(chosen_arch(103), 100 * 256 + 'f');
    cr_expect_eq(chosen_arch(110), 75 * 256, "100f is not for another family");
    cr_expect_eq(chosen_arch(121), 75 * 256);
}

Test(fatbin, choice_prefers_plain_target_when_none_suits)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 90, PTX_FATBIN_FLAG_ARCH_SPECIFIC);
    builder_add_ptx(&builder, 120, 0x11);
    cr_expect_eq(chosen_arch(75), 120 * 256);
}

Test(fatbin, choice_ignores_cubins_and_unknown_kinds)
{
    builder_start(&builder);
    builder_add(&builder, (struct entry_spec){PTX_FATBIN_CUBIN, 75, 0x11, "x", 1, 0});
    builder_add(&builder, (struct entry_spec){77, 75, 0x11, "x", 1, 0});
    cr_expect_eq(chosen_arch(75), 0);
    builder_add_ptx(&builder, 90, 0x11);
    cr_expect_eq(chosen_arch(75), 90 * 256);
}

Test(fatbin, hostile_sizes_are_refused)
{
    static const uint64_t HUGE_SIZES[] = {UINT64_MAX, UINT64_MAX - 63, INT64_MAX, 1ull << 32, 4096};
    for (size_t i = 0; i < sizeof HUGE_SIZES / sizeof *HUGE_SIZES; i++) {
        builder_start(&builder);
        builder_add_ptx(&builder, 75, 0x11);
        builder_put(&builder, 16 + 8, HUGE_SIZES[i], 8); // payload size
        cr_expect_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_BAD_IMAGE);
        builder_start(&builder);
        builder_add_ptx(&builder, 75, 0x11);
        builder_put(&builder, 8, HUGE_SIZES[i], 8); // container size
        cr_expect_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_BAD_IMAGE);
    }
    for (uint32_t header = 0; header < 64; header++) {
        builder_start(&builder);
        builder_add_ptx(&builder, 75, 0x11);
        builder_put(&builder, 16 + 4, header, 4);
        cr_expect_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_BAD_IMAGE,
                     "a header of %u bytes would never end", header);
    }
}

Test(fatbin, strings_outside_the_header_count_as_absent)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 75, 0x11);
    builder_put(&builder, 16 + 0x14, 0xfffffff8, 4);
    builder_put(&builder, 16 + 0x20, 60, 4);
    builder_put(&builder, 16 + 0x24, 5, 4);
    cr_assert_eq(ptx_fatbin_read(builder_span(&builder), "t", &fatbin, &err), PXR_OK);
    cr_expect_eq(fatbin.entries[0].name.len, 0);
    cr_expect_eq(fatbin.entries[0].options.len, 0);
    ptx_fatbin_fini(&fatbin);
}

Test(fatbin, messages_name_container_entry_and_offset)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 75, 0x11);
    size_t second = builder.len;
    builder_add_ptx(&builder, 80, 0x11);
    builder_put(&builder, second + 8, 1 << 20, 8);
    cr_assert_eq(ptx_fatbin_read(builder_span(&builder), "app: fat binary 3", &fatbin, &err),
                 PXR_BAD_IMAGE);
    char place[64];
    snprintf(place, sizeof place, "app: fat binary 3: entry 2 at offset 0x%zx", second);
    cr_expect_not_null(strstr(err.message, place), "%s", err.message);
}

Test(fatbin, every_truncation_is_refused)
{
    builder_start(&builder);
    builder_add_ptx(&builder, 75, 0x11);
    builder_add_ptx(&builder, 80, 0x11);
    for (size_t len = 0; len < builder.len; len++) {
        uint8_t *copy = malloc(len ? len : 1); // its own block, so that a sanitizer sees overreads
        memcpy(copy, builder.bytes, len);
        struct ptx_span cut = {copy, len};
        cr_expect_eq(ptx_fatbin_read(cut, "t", &fatbin, &err), PXR_BAD_IMAGE, "%zu bytes", len);
        free(copy);
    }
}
