/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads fat binary containers: a 16-byte header, then entries of a header and a payload each.
 * All integers are little endian and are fetched with memcpy, as images may lie at any address.
 */
#include "ptx/fatbin.h"

#include <stdio.h>
#include <stdlib.h>

#include "ptx/text.h"

enum {
    CONTAINER_HEADER_BYTES = 16,
    ENTRY_HEADER_BYTES = 64,
    CONTAINER_VERSION = 1,
    CONTAINER_ALIGN = 8,
    ELF_HEADER_BYTES = 64,
    ELF_MACHINE_CUDA = 190,
    ELF_ABI_SM_IN_SECOND_BYTE = 8 /* EI_ABIVERSION from which e_flags holds the SM in bits 8-15 */
};

static uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* A string inside an entry's header. It only informs, so one that lies outside counts as absent. */
static struct pxr_str header_string(struct ptx_span header, uint32_t offset, uint32_t len)
{
    if (offset == 0 || offset > header.len || len > header.len - offset)
        return (struct pxr_str){"", 0};
    return (struct pxr_str){(const char *)header.ptr + offset, len};
}

/* The options record: offset and length of a string, at an offset of its own. */
static struct pxr_str options_string(struct ptx_span header)
{
    uint32_t record = get_u32(header.ptr + 0x14);
    if (record == 0 || record > header.len || header.len - record < 8)
        return (struct pxr_str){"", 0};
    return header_string(header, get_u32(header.ptr + record), get_u32(header.ptr + record + 4));
}

static enum ptx_packing packing_of(uint64_t flags, uint32_t compressed_bytes)
{
    bool lz4 = (flags & PTX_FATBIN_FLAG_LZ4) != 0;
    bool zstd = (flags & PTX_FATBIN_FLAG_ZSTD) != 0;
    if (lz4 && zstd)
        return PTX_PACKING_UNKNOWN;
    if (lz4)
        return PTX_PACKING_LZ4;
    if (zstd)
        return PTX_PACKING_ZSTD;
    return compressed_bytes ? PTX_PACKING_UNKNOWN : PTX_PACKING_NONE;
}

static char suffix_of(uint64_t flags)
{
    if (flags & PTX_FATBIN_FLAG_ARCH_SPECIFIC)
        return 'a';
    return (flags & PTX_FATBIN_FLAG_FAMILY) ? 'f' : 0;
}

/* Checks the sizes in the header at the start of rest against the remaining bytes of the
 * container. */
static enum pxr_status check_entry_sizes(struct ptx_span rest, const char *label,
                                         const struct ptx_fatbin_entry *entry,
                                         struct pxr_error *err)
{
    if (rest.len < ENTRY_HEADER_BYTES)
        return pxr_fail(err, PXR_BAD_IMAGE,
                        "%s: entry %u at offset 0x%zx is cut off: %zu bytes left of a 64-byte "
                        "header",
                        label, entry->index, entry->offset, rest.len);
    uint32_t header_bytes = get_u32(rest.ptr + 0x04);
    uint64_t stored_bytes = get_u64(rest.ptr + 0x08);
    if (header_bytes < ENTRY_HEADER_BYTES || header_bytes > rest.len)
        return pxr_fail(err, PXR_BAD_IMAGE,
                        "%s: entry %u at offset 0x%zx has a header size of %u with %zu bytes left",
                        label, entry->index, entry->offset, header_bytes, rest.len);
    if (stored_bytes > rest.len - header_bytes)
        return pxr_fail(err, PXR_BAD_IMAGE,
                        "%s: entry %u at offset 0x%zx claims a payload of %llu bytes with %zu left",
                        label, entry->index, entry->offset, (unsigned long long)stored_bytes,
                        rest.len - header_bytes);
    return PXR_OK;
}

/* Reads the entry at the start of rest; *entry_bytes is its distance to the next one. */
static enum pxr_status read_entry(struct ptx_span rest, const char *label,
                                  struct ptx_fatbin_entry *entry, size_t *entry_bytes,
                                  struct pxr_error *err)
{
    enum pxr_status status = check_entry_sizes(rest, label, entry, err);
    if (status)
        return status;
    struct ptx_span header = {rest.ptr, get_u32(rest.ptr + 0x04)};
    size_t stored_bytes = (size_t)get_u64(rest.ptr + 0x08);
    uint32_t compressed_bytes = get_u32(rest.ptr + 0x10);

    entry->kind = get_u16(rest.ptr);
    entry->version_minor = get_u16(rest.ptr + 0x18);
    entry->version_major = get_u16(rest.ptr + 0x1a);
    entry->arch = get_u32(rest.ptr + 0x1c);
    entry->flags = get_u64(rest.ptr + 0x28);
    entry->arch_suffix = suffix_of(entry->flags);
    entry->packing = packing_of(entry->flags, compressed_bytes);
    entry->payload = (struct ptx_span){rest.ptr + header.len, stored_bytes};
    entry->plain_bytes = stored_bytes;
    entry->name = header_string(header, get_u32(rest.ptr + 0x20), get_u32(rest.ptr + 0x24));
    entry->options = options_string(header);

    if (entry->packing != PTX_PACKING_NONE) {
        if (compressed_bytes == 0 || compressed_bytes > stored_bytes)
            return pxr_fail(err, PXR_BAD_IMAGE,
                            "%s: entry %u at offset 0x%zx claims %u compressed bytes in %zu stored",
                            label, entry->index, entry->offset, compressed_bytes, stored_bytes);
        entry->payload.len = compressed_bytes;
        entry->plain_bytes = get_u64(rest.ptr + 0x38);
    }
    *entry_bytes = header.len + stored_bytes;
    return PXR_OK;
}

/* A zeroed entry at the end of the list, NULL when out of memory. */
static struct ptx_fatbin_entry *append_entry(struct ptx_fatbin *fatbin, uint32_t *capacity)
{
    if (fatbin->entry_count == *capacity) {
        uint32_t wanted = *capacity ? *capacity * 2 : 8;
        void *grown = reallocarray(fatbin->entries, wanted, sizeof *fatbin->entries);
        if (!grown)
            return NULL;
        fatbin->entries = grown;
        *capacity = wanted;
    }
    struct ptx_fatbin_entry *entry = &fatbin->entries[fatbin->entry_count++];
    memset(entry, 0, sizeof *entry);
    entry->index = fatbin->entry_count;
    return entry;
}

static bool all_zero(struct ptx_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i])
            return false;
    }
    return true;
}

/* Checks the container's own header and cuts fatbin->bytes to its extent. */
static enum pxr_status read_container_header(struct ptx_span bytes, const char *label,
                                             struct ptx_fatbin *fatbin, size_t *first_entry,
                                             struct pxr_error *err)
{
    if (bytes.len < CONTAINER_HEADER_BYTES)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: fat binary header is cut off after %zu bytes",
                        label, bytes.len);
    if (get_u32(bytes.ptr) != PTX_FATBIN_MAGIC)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: not a fat binary: it begins with 0x%08x", label,
                        get_u32(bytes.ptr));
    unsigned version = get_u16(bytes.ptr + 4);
    unsigned header_bytes = get_u16(bytes.ptr + 6);
    uint64_t entry_bytes = get_u64(bytes.ptr + 8);
    if (version != CONTAINER_VERSION)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: fat binary of version %u; only 1 is known", label,
                        version);
    if (header_bytes < CONTAINER_HEADER_BYTES || header_bytes > bytes.len ||
        entry_bytes > bytes.len - header_bytes)
        return pxr_fail(err, PXR_BAD_IMAGE,
                        "%s: fat binary claims %u + %llu bytes, but only %zu are there", label,
                        header_bytes, (unsigned long long)entry_bytes, bytes.len);
    fatbin->bytes = (struct ptx_span){bytes.ptr, header_bytes + (size_t)entry_bytes};
    *first_entry = header_bytes;
    return PXR_OK;
}

enum pxr_status ptx_fatbin_read(struct ptx_span bytes, const char *label, struct ptx_fatbin *fatbin,
                                struct pxr_error *err)
{
    *fatbin = (struct ptx_fatbin){0};
    size_t offset = 0;
    enum pxr_status status = read_container_header(bytes, label, fatbin, &offset, err);
    if (status)
        return status;

    uint32_t capacity = 0;
    while (offset < fatbin->bytes.len) {
        struct ptx_span rest = {fatbin->bytes.ptr + offset, fatbin->bytes.len - offset};
        if (rest.len < ENTRY_HEADER_BYTES && all_zero(rest))
            break;
        struct ptx_fatbin_entry *entry = append_entry(fatbin, &capacity);
        if (!entry) {
            status = pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory for %u entries", label,
                              fatbin->entry_count);
            goto free_entries;
        }
        entry->offset = offset;
        size_t entry_bytes = 0;
        status = read_entry(rest, label, entry, &entry_bytes, err);
        if (status)
            goto free_entries;
        offset += entry_bytes;
    }
    return PXR_OK;

free_entries:
    ptx_fatbin_fini(fatbin);
    return status;
}

size_t ptx_fatbin_next(struct ptx_span bytes, size_t at)
{
    static const uint8_t ZEROS[CONTAINER_ALIGN];
    at = (at + CONTAINER_ALIGN - 1) / CONTAINER_ALIGN * CONTAINER_ALIGN;
    while (at < bytes.len) {
        size_t left = bytes.len - at;
        if (memcmp(bytes.ptr + at, ZEROS, left < CONTAINER_ALIGN ? left : CONTAINER_ALIGN) != 0)
            return at;
        at += CONTAINER_ALIGN;
    }
    return bytes.len;
}

static void put(uint8_t *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size);
}

void ptx_fatbin_write_text_header(struct ptx_span text,
                                  uint8_t header[PTX_FATBIN_TEXT_HEADER_BYTES])
{
    struct ptx_text_header target =
        ptx_text_read_header((struct pxr_str){(const char *)text.ptr, text.len});
    uint64_t flags = PTX_FATBIN_FLAG_64_BIT | PTX_FATBIN_FLAG_LINUX;
    if (target.target_suffix == 'a')
        flags |= PTX_FATBIN_FLAG_ARCH_SPECIFIC;
    if (target.target_suffix == 'f')
        flags |= PTX_FATBIN_FLAG_FAMILY;
    size_t stored_bytes = (text.len + CONTAINER_ALIGN - 1) / CONTAINER_ALIGN * CONTAINER_ALIGN;
    uint8_t *entry = header + CONTAINER_HEADER_BYTES;
    memset(header, 0, PTX_FATBIN_TEXT_HEADER_BYTES);
    put(header, PTX_FATBIN_MAGIC, 4);
    put(header + 4, CONTAINER_VERSION, 2);
    put(header + 6, CONTAINER_HEADER_BYTES, 2);
    put(header + 8, ENTRY_HEADER_BYTES + stored_bytes, 8);
    put(entry, PTX_FATBIN_PTX, 2);
    put(entry + 0x04, ENTRY_HEADER_BYTES, 4);
    put(entry + 0x08, stored_bytes, 8);
    put(entry + 0x18, target.version_minor, 2);
    put(entry + 0x1a, target.version_major, 2);
    put(entry + 0x1c, target.target, 4);
    put(entry + 0x28, flags, 8);
}

enum pxr_status ptx_fatbin_wrap(struct ptx_span bytes, enum ptx_fatbin_kind kind,
                                struct ptx_fatbin *fatbin, struct pxr_error *err)
{
    *fatbin = (struct ptx_fatbin){.bytes = bytes};
    uint32_t capacity = 0;
    struct ptx_fatbin_entry *entry = append_entry(fatbin, &capacity);
    if (!entry)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory for a fat binary entry");
    entry->kind = kind;
    entry->payload = bytes;
    entry->plain_bytes = bytes.len;
    entry->name = entry->options = (struct pxr_str){"", 0};
    if (kind == PTX_FATBIN_CUBIN) {
        entry->arch = ptx_cubin_arch(bytes);
    } else {
        struct ptx_text_header header =
            ptx_text_read_header((struct pxr_str){(const char *)bytes.ptr, bytes.len});
        entry->arch = header.target;
        entry->arch_suffix = header.target_suffix;
        entry->version_major = header.version_major;
        entry->version_minor = header.version_minor;
    }
    return PXR_OK;
}

void ptx_fatbin_fini(struct ptx_fatbin *fatbin)
{
    free(fatbin->entries);
    *fatbin = (struct ptx_fatbin){0};
}

/* Whether a device of this capability may run PTX made for the entry's target: plain targets on
 * every later device, family targets on later devices of the same major number, and
 * architecture-specific targets on that one device only. */
static bool suits(const struct ptx_fatbin_entry *entry, unsigned capability)
{
    switch (entry->arch_suffix) {
    case 'a':
        return entry->arch == capability;
    case 'f':
        return entry->arch <= capability && entry->arch / 10 == capability / 10;
    default:
        return entry->arch <= capability;
    }
}

static unsigned suffix_rank(char suffix)
{
    return suffix == 0 ? 0 : suffix == 'f' ? 1 : 2;
}

/* Whether entry a is to be preferred to b. */
static bool is_better(const struct ptx_fatbin_entry *a, const struct ptx_fatbin_entry *b,
                      unsigned capability)
{
    bool a_suits = suits(a, capability);
    if (a_suits != suits(b, capability))
        return a_suits;
    unsigned a_rank = suffix_rank(a->arch_suffix);
    unsigned b_rank = suffix_rank(b->arch_suffix);
    if (a_suits)
        return a->arch != b->arch ? a->arch > b->arch : a_rank < b_rank;
    return a_rank != b_rank ? a_rank < b_rank : a->arch < b->arch;
}

/* Among the entries that suit the device the highest architecture wins, as in the driver; of
 * several for one architecture the plain one, which asks for the fewest special instructions.
 * If none suits, the program can only run from PTX that was made for another device: then plain
 * targets come before family ones and these before architecture-specific ones, and the lowest
 * architecture wins. Of equals the first wins. */
const struct ptx_fatbin_entry *ptx_fatbin_choose_ptx(const struct ptx_fatbin *fatbin,
                                                     unsigned capability)
{
    const struct ptx_fatbin_entry *best = NULL;
    for (uint32_t i = 0; i < fatbin->entry_count; i++) {
        const struct ptx_fatbin_entry *entry = &fatbin->entries[i];
        if (entry->kind != PTX_FATBIN_PTX)
            continue;
        if (!best || is_better(entry, best, capability))
            best = entry;
    }
    return best;
}

void ptx_fatbin_arch_text(const struct ptx_fatbin_entry *entry, char text[PTX_FATBIN_ARCH_BYTES])
{
    char suffix[2] = {entry->arch_suffix, 0};
    const char *prefix = entry->kind == PTX_FATBIN_PTX     ? "compute"
                         : entry->kind == PTX_FATBIN_CUBIN ? "sm"
                         : entry->kind == PTX_FATBIN_LTO   ? "lto"
                                                           : NULL;
    if (prefix)
        snprintf(text, PTX_FATBIN_ARCH_BYTES, "%s_%u%s", prefix, entry->arch, suffix);
    else
        snprintf(text, PTX_FATBIN_ARCH_BYTES, "kind %u arch %u", entry->kind, entry->arch);
}

unsigned ptx_cubin_arch(struct ptx_span bytes)
{
    static const uint8_t ELF_MAGIC[4] = {0x7f, 'E', 'L', 'F'};
    if (bytes.len < ELF_HEADER_BYTES || memcmp(bytes.ptr, ELF_MAGIC, sizeof ELF_MAGIC) != 0 ||
        get_u16(bytes.ptr + 18) != ELF_MACHINE_CUDA)
        return 0;
    uint32_t flags = get_u32(bytes.ptr + 48);
    bool second_byte = bytes.ptr[8] >= ELF_ABI_SM_IN_SECOND_BYTE;
    return second_byte ? (flags >> 8) & 0xff : flags & 0xff;
}
