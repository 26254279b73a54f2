/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes the compression of fat binary entries: zstd frames and raw LZ4 blocks.
 */
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

#include "ptx/fatbin.h"
#include "ptx/parse_budget.h"

enum {
    /* Encoders differ in whether the final NUL counts; the decoder's own size is what holds. */
    LZ4_EXTRA_BYTES = 64
};

/* Fails with the entry's place in front of the reason. */
static enum pxr_status fail_entry(const struct ptx_fatbin_entry *entry, const char *label,
                                  enum pxr_status status, const char *reason, struct pxr_error *err)
{
    char arch[PTX_FATBIN_ARCH_BYTES];
    ptx_fatbin_arch_text(entry, arch);
    return pxr_fail(err, status,
                    "%s: entry %u (%s) at offset 0x%zx, %zu bytes that claim to expand to %llu: %s",
                    label, entry->index, arch, entry->offset, entry->payload.len,
                    (unsigned long long)entry->plain_bytes, reason);
}

/* Both decoders return the number of bytes written to out, 0 on failure. */
static size_t expand_lz4(struct ptx_span in, void *out, size_t capacity)
{
    if (in.len > INT_MAX || capacity > INT_MAX)
        return 0;
    int len = LZ4_decompress_safe((const char *)in.ptr, out, (int)in.len, (int)capacity);
    return len > 0 ? (size_t)len : 0;
}

static size_t expand_zstd(struct ptx_span in, void *out, size_t capacity)
{
    size_t len = ZSTD_decompress(out, capacity, in.ptr, in.len);
    return ZSTD_isError(len) ? 0 : len;
}

/* The claim is not compared with the compressed size: the text of a table of equal numbers can be
 * ten thousand times as long. A claim that is not true costs nothing, because memory is only taken
 * as the decoder writes to it. */
static enum pxr_status check_claim(const struct ptx_fatbin_entry *entry, const char *label,
                                   struct pxr_error *err)
{
    if (entry->plain_bytes == 0)
        return fail_entry(entry, label, PXR_BAD_IMAGE, "that size cannot be right", err);
    if (entry->plain_bytes > PTX_BUDGET_MAX_TEXT_BYTES)
        return fail_entry(entry, label, PXR_BAD_IMAGE,
                          "more than any text may have (268435456 bytes)", err);
    if (entry->plain_bytes > ptx_budget())
        return fail_entry(entry, label, PXR_OUT_OF_MEMORY,
                          "more than may be spent of this machine's memory", err);
    return PXR_OK;
}

enum pxr_status ptx_payload_expand(const struct ptx_fatbin_entry *entry, const char *label,
                                   struct ptx_payload *payload, struct pxr_error *err)
{
    *payload = (struct ptx_payload){.bytes = entry->payload};
    if (entry->packing == PTX_PACKING_NONE)
        return PXR_OK;
    if (entry->packing == PTX_PACKING_UNKNOWN)
        return fail_entry(entry, label, PXR_UNSUPPORTED,
                          "compressed in a way that is neither LZ4 nor zstd", err);
    enum pxr_status status = check_claim(entry, label, err);
    if (status)
        return status;
    bool is_lz4 = entry->packing == PTX_PACKING_LZ4;
    size_t capacity = (size_t)entry->plain_bytes + (is_lz4 ? LZ4_EXTRA_BYTES : 0);
    void *out = malloc(capacity);
    if (!out)
        return fail_entry(entry, label, PXR_OUT_OF_MEMORY, "out of memory", err);
    size_t len = is_lz4 ? expand_lz4(entry->payload, out, capacity)
                        : expand_zstd(entry->payload, out, capacity);
    if (len == 0) {
        free(out);
        return fail_entry(entry, label, PXR_BAD_IMAGE,
                          is_lz4 ? "damaged LZ4 data" : "damaged zstd data", err);
    }
    *payload = (struct ptx_payload){.bytes = {out, len}, .owned = out};
    return PXR_OK;
}

void ptx_payload_fini(struct ptx_payload *payload)
{
    free(payload->owned);
    *payload = (struct ptx_payload){0};
}

struct pxr_str ptx_payload_text(const struct ptx_payload *payload)
{
    size_t len = payload->bytes.len;
    while (len > 0 && payload->bytes.ptr[len - 1] == 0)
        len--;
    return (struct pxr_str){(const char *)payload->bytes.ptr, len};
}
