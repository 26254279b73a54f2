/* SPDX-License-Identifier: Apache-2.0
 *
 * Fat binary containers: reading the headers of one container into a list of entries, choosing
 * the PTX entry for a device, and undoing the compression of an entry. Where containers come from
 * (a file, an image in memory) is for ptx/file.h and ptx/image.h.
 *
 * Every field is untrusted. Nothing is read outside the span given, and no more memory is asked
 * for than a fixed multiple of the bytes really present.
 */
#ifndef PTXRUN_PTX_FATBIN_H
#define PTXRUN_PTX_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

#define PTX_FATBIN_MAGIC         UINT32_C(0xBA55ED50)
#define PTX_FATBIN_WRAPPER_MAGIC UINT32_C(0x466243B1)

/* Text of one PTX entry may not be larger than this. */
#define PTX_FATBIN_MAX_PLAIN_BYTES ((size_t)1 << 30)

/* Bytes owned by another object. */
struct ptx_span {
    const uint8_t *ptr;
    size_t len;
};

/* Kinds of entries; others exist and are kept by number. */
enum ptx_fatbin_kind { PTX_FATBIN_PTX = 1, PTX_FATBIN_CUBIN = 2, PTX_FATBIN_LTO = 8 };

enum ptx_fatbin_flag {
    PTX_FATBIN_FLAG_64_BIT = 0x1,
    PTX_FATBIN_FLAG_DEBUG = 0x2,
    PTX_FATBIN_FLAG_LINUX = 0x10,
    PTX_FATBIN_FLAG_LZ4 = 0x2000,
    PTX_FATBIN_FLAG_ZSTD = 0x8000,
    PTX_FATBIN_FLAG_LTO = 0x10000,
    PTX_FATBIN_FLAG_ARCH_SPECIFIC = 0x100000, /* sm_90a */
    PTX_FATBIN_FLAG_FAMILY = 0x200000         /* sm_100f */
};

enum ptx_packing { PTX_PACKING_NONE, PTX_PACKING_LZ4, PTX_PACKING_ZSTD, PTX_PACKING_UNKNOWN };

struct ptx_fatbin_entry {
    uint32_t index;         /* 1-based within the container */
    size_t offset;          /* of the entry's header, from the start of the container */
    unsigned kind;          /* enum ptx_fatbin_kind, or a number not known here */
    unsigned arch;          /* 75 for sm_75 */
    char arch_suffix;       /* 'a', 'f' or 0 */
    unsigned version_major; /* ISA version, for PTX */
    unsigned version_minor;
    uint64_t flags; /* enum ptx_fatbin_flag and unknown bits */
    enum ptx_packing packing;
    struct ptx_span payload; /* as stored; without the padding if compressed */
    uint64_t plain_bytes;    /* claimed size after decompression; payload.len if not compressed */
    struct pxr_str name;     /* source file, often empty */
    struct pxr_str options;  /* option line for the assembler, often empty */
};

struct ptx_fatbin {
    struct ptx_span bytes; /* header and all entries */
    struct ptx_fatbin_entry *entries;
    uint32_t entry_count;
};

/* Room for "compute_120a" or "kind 65535 arch 4294967295". */
#define PTX_FATBIN_ARCH_BYTES 40

/* Reads the container at the start of bytes, which may go on behind it. The entries point into
 * bytes. label names the container in messages. On failure nothing has to be released.
 * Errors: PXR_BAD_IMAGE, PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_fatbin_read(struct ptx_span bytes, const char *label, struct ptx_fatbin *fatbin,
                                struct pxr_error *err);

/* Position of the next container at or after `at` in a section that holds them back to back, padded
 * by the linker; bytes.len when there is none. */
size_t ptx_fatbin_next(struct ptx_span bytes, size_t at);

/* A container with one entry for bytes that come without one: PTX text or a cubin. */
enum pxr_status ptx_fatbin_wrap(struct ptx_span bytes, enum ptx_fatbin_kind kind,
                                struct ptx_fatbin *fatbin, struct pxr_error *err);

void ptx_fatbin_fini(struct ptx_fatbin *fatbin);

/* Writes the headers of a container whose one entry is this PTX text, not compressed; the text
 * follows, padded with zeros to a multiple of 8 bytes. */
#define PTX_FATBIN_TEXT_HEADER_BYTES 80
void ptx_fatbin_write_text_header(struct ptx_span text,
                                  uint8_t header[PTX_FATBIN_TEXT_HEADER_BYTES]);

/* The PTX entry for a device of this capability (75 for 7.5), NULL if there is no PTX at all.
 * The rule is explained at its definition. */
const struct ptx_fatbin_entry *ptx_fatbin_choose_ptx(const struct ptx_fatbin *fatbin,
                                                     unsigned capability);

/* "compute_90a" for PTX, "sm_90a" for cubins, "lto_90" for link-time code. */
void ptx_fatbin_arch_text(const struct ptx_fatbin_entry *entry, char text[PTX_FATBIN_ARCH_BYTES]);

/* An entry's bytes without compression. */
struct ptx_payload {
    struct ptx_span bytes;
    void *owned; /* NULL if bytes lies in the image */
};

/* Errors: PXR_BAD_IMAGE, PXR_UNSUPPORTED (unknown compression), PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_payload_expand(const struct ptx_fatbin_entry *entry, const char *label,
                                   struct ptx_payload *payload, struct pxr_error *err);
void ptx_payload_fini(struct ptx_payload *payload);

/* The payload of a PTX entry as text, without the NULs that end and pad it. */
struct pxr_str ptx_payload_text(const struct ptx_payload *payload);

/* Capability of a cubin, from the flags in its ELF header, 0 if bytes is no cubin. Reads no more
 * than an ELF header. */
unsigned ptx_cubin_arch(struct ptx_span bytes);

#endif
