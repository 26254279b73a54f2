/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes fat binary containers for tests, field by field as documented, so that tests can also
 * make wrong ones.
 */
#ifndef PTXRUN_TESTS_FATBIN_BUILDER_H
#define PTXRUN_TESTS_FATBIN_BUILDER_H

#include <stdint.h>
#include <string.h>

#include "ptx/fatbin.h"

struct fatbin_builder {
    uint8_t bytes[1 << 16];
    size_t len;
};

struct entry_spec {
    uint16_t kind;
    uint32_t arch;
    uint64_t flags;
    const void *payload;
    size_t payload_len;
    uint64_t plain_bytes; /* with flags for compression */
};

static inline void builder_put(struct fatbin_builder *builder, size_t at, uint64_t value,
                               size_t size)
{
    memcpy(builder->bytes + at, &value, size);
}

static inline void builder_start(struct fatbin_builder *builder)
{
    memset(builder, 0, sizeof *builder);
    builder_put(builder, 0, PTX_FATBIN_MAGIC, 4);
    builder_put(builder, 4, 1, 2);
    builder_put(builder, 6, 16, 2);
    builder->len = 16;
}

/* Returns the offset of the entry's header. */
static inline size_t builder_add(struct fatbin_builder *builder, struct entry_spec spec)
{
    size_t at = builder->len;
    size_t stored = (spec.payload_len + 7) / 8 * 8;
    builder_put(builder, at, spec.kind, 2);
    builder_put(builder, at + 2, 0x0101, 2);
    builder_put(builder, at + 4, 64, 4);
    builder_put(builder, at + 8, stored, 8);
    if (spec.flags & (PTX_FATBIN_FLAG_LZ4 | PTX_FATBIN_FLAG_ZSTD)) {
        builder_put(builder, at + 0x10, spec.payload_len, 4);
        builder_put(builder, at + 0x38, spec.plain_bytes, 8);
    }
    builder_put(builder, at + 0x18, 5, 2);
    builder_put(builder, at + 0x1a, 8, 2);
    builder_put(builder, at + 0x1c, spec.arch, 4);
    builder_put(builder, at + 0x28, spec.flags, 8);
    memcpy(builder->bytes + at + 64, spec.payload, spec.payload_len);
    builder->len = at + 64 + stored;
    builder_put(builder, 8, builder->len - 16, 8);
    return at;
}

/* A PTX entry with a text that names its architecture. */
static inline void builder_add_ptx(struct fatbin_builder *builder, uint32_t arch, uint64_t flags)
{
    static const char TEXT[] = ".version 8.5\n.target sm_75\n.address_size 64\n";
    builder_add(builder, (struct entry_spec){.kind = PTX_FATBIN_PTX,
                                             .arch = arch,
                                             .flags = flags,
                                             .payload = TEXT,
                                             .payload_len = sizeof TEXT});
}

static inline struct ptx_span builder_span(const struct fatbin_builder *builder)
{
    return (struct ptx_span){builder->bytes, builder->len};
}

#endif
