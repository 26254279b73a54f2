/* SPDX-License-Identifier: Apache-2.0
 *
 * libFuzzer target for everything before the parser: ELF files and archives, containers, entries,
 * decompression, joined images, the glance at PTX text. Corpus: tests/data/fatbin.
 */
#include "ptx/elf.h"
#include "ptx/fatbin.h"
#include "ptx/image.h"
#include "ptx/joined.h"
#include "ptx/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void expand_all(const struct ptx_fatbin *fatbin)
{
    ptx_fatbin_choose_ptx(fatbin, 75);
    for (uint32_t i = 0; i < fatbin->entry_count; i++) {
        struct ptx_payload payload;
        if (ptx_payload_expand(&fatbin->entries[i], "fuzz", &payload, NULL) != PXR_OK)
            continue;
        struct pxr_str text = ptx_payload_text(&payload);
        struct ptx_text_scan scan = {.text = text};
        struct ptx_text_function function;
        while (ptx_text_next_function(&scan, &function))
            ;
        ptx_text_read_header(text);
        ptx_payload_fini(&payload);
    }
}

static enum pxr_status read_section(void *user, const struct ptx_elf_section *section,
                                    struct pxr_error *err)
{
    (void)user;
    struct ptx_fatbin fatbin;
    if (ptx_fatbin_read(section->bytes, "fuzz", &fatbin, err) == PXR_OK) {
        expand_all(&fatbin);
        ptx_fatbin_fini(&fatbin);
    }
    return PXR_OK;
}

/* What can be added to a link can be read back. */
static void join(struct ptx_span input)
{
    struct ptx_joined joined = {0};
    struct ptx_image_summary summary;
    struct pxr_error err;
    if (ptx_joined_add(&joined, input, "fuzz", &err) == PXR_OK &&
        ptx_image_query(joined.bytes, joined.len, "fuzz", &summary, &err) != PXR_OK)
        __builtin_trap();
    ptx_joined_fini(&joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct ptx_span span = {bytes, len};
    struct pxr_error err;
    struct ptx_fatbin fatbin;
    if (ptx_fatbin_read(span, "fuzz", &fatbin, &err) == PXR_OK) {
        expand_all(&fatbin);
        ptx_fatbin_fini(&fatbin);
    }
    struct ptx_image_summary summary;
    ptx_image_query(bytes, len, "fuzz", &summary, &err);
    if (ptx_elf_type(span) != PTX_ELF_NONE)
        ptx_elf_visit_fatbins(span, "fuzz", read_section, NULL, &err);
    join(span);
    return 0;
}
