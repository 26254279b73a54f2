/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes and reads joined images.
 */
#include "ptx/joined.h"

#include <stdlib.h>

#include "ptx/elf.h"
#include "ptx/text.h"

enum { HEADER_BYTES = 16, VERSION = 1, ALIGN = 8 };

/* The image being made and the input it grows by. */
struct addition {
    struct ptx_joined *joined;
    const char *name;
    uint32_t container_count;
};

static enum pxr_status fail_memory(const char *name, struct pxr_error *err)
{
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", name);
}

/* Room for more bytes, zeroed up to the next multiple of 8; NULL when out of memory. */
static uint8_t *grow(struct ptx_joined *joined, size_t more)
{
    size_t wanted = (joined->len + more + ALIGN - 1) / ALIGN * ALIGN;
    if (wanted > joined->capacity) {
        size_t capacity = wanted + wanted / 2;
        uint8_t *bytes = realloc(joined->bytes, capacity);
        if (!bytes)
            return NULL;
        joined->bytes = bytes;
        joined->capacity = capacity;
    }
    uint8_t *place = joined->bytes + joined->len;
    memset(place, 0, wanted - joined->len);
    joined->len = wanted;
    return place;
}

static enum pxr_status add_container(struct addition *addition, struct ptx_span container,
                                     struct pxr_error *err)
{
    uint8_t *place = grow(addition->joined, container.len);
    if (!place)
        return fail_memory(addition->name, err);
    memcpy(place, container.ptr, container.len);
    addition->container_count++;
    return PXR_OK;
}

/* The containers of a section, back to back. */
static enum pxr_status add_section(void *user, const struct ptx_elf_section *section,
                                   struct pxr_error *err)
{
    struct addition *addition = user;
    for (size_t at = ptx_fatbin_next(section->bytes, 0); at < section->bytes.len;) {
        struct ptx_span rest = {section->bytes.ptr + at, section->bytes.len - at};
        struct ptx_fatbin fatbin;
        enum pxr_status status = ptx_fatbin_read(rest, addition->name, &fatbin, err);
        if (status)
            return status;
        size_t len = fatbin.bytes.len;
        ptx_fatbin_fini(&fatbin);
        status = add_container(addition, (struct ptx_span){rest.ptr, len}, err);
        if (status)
            return status;
        at = ptx_fatbin_next(section->bytes, at + len);
    }
    return PXR_OK;
}

static enum pxr_status add_text(struct addition *addition, struct ptx_span text,
                                struct pxr_error *err)
{
    text.len = strnlen((const char *)text.ptr, text.len);
    uint8_t *place = grow(addition->joined, PTX_FATBIN_TEXT_HEADER_BYTES + text.len);
    if (!place)
        return fail_memory(addition->name, err);
    ptx_fatbin_write_text_header(text, place);
    memcpy(place + PTX_FATBIN_TEXT_HEADER_BYTES, text.ptr, text.len);
    addition->container_count++;
    return PXR_OK;
}

static enum pxr_status add_carried(void *user, const struct ptx_elf_section *section,
                                   struct pxr_error *err)
{
    return add_text(user, section->bytes, err);
}

/* The texts that it carries, if any. */
static enum pxr_status add_cubin(struct addition *addition, struct ptx_span cubin,
                                 struct pxr_error *err)
{
    enum pxr_status status = ptx_elf_visit_ptx(cubin, addition->name, add_carried, addition, err);
    if (status == PXR_OK && addition->container_count == 0)
        status =
            pxr_fail(err, PXR_NO_PTX, "%s: only machine code, which cannot be run; link the PTX",
                     addition->name);
    return status;
}

static enum pxr_status add_input(struct addition *addition, struct ptx_span input,
                                 struct pxr_error *err)
{
    uint32_t magic = 0;
    memcpy(&magic, input.ptr, input.len < sizeof magic ? input.len : sizeof magic);
    if (ptx_cubin_arch(input) != 0)
        return add_cubin(addition, input, err);
    if (ptx_elf_type(input) != PTX_ELF_NONE)
        return ptx_elf_visit_fatbins(input, addition->name, add_section, addition, err);
    if (magic == PTX_FATBIN_MAGIC) {
        struct ptx_elf_section whole = {.bytes = input};
        return add_section(addition, &whole, err);
    }
    if (ptx_text_read_header((struct pxr_str){(const char *)input.ptr, input.len}).is_ptx)
        return add_text(addition, input, err);
    return pxr_fail(err, PXR_BAD_IMAGE,
                    "%s: neither PTX text (which begins with .version) nor a fat binary, an object "
                    "file or a library",
                    addition->name);
}

static void write_header(struct ptx_joined *joined)
{
    uint32_t words[2] = {PTX_JOINED_MAGIC, VERSION};
    uint64_t size = joined->len;
    memcpy(joined->bytes, words, sizeof words);
    memcpy(joined->bytes + sizeof words, &size, sizeof size);
}

enum pxr_status ptx_joined_add(struct ptx_joined *joined, struct ptx_span input, const char *name,
                               struct pxr_error *err)
{
    struct addition addition = {.joined = joined, .name = name};
    size_t len_before = joined->len;
    if (joined->len == 0 && !grow(joined, HEADER_BYTES))
        return fail_memory(name, err);
    enum pxr_status status = add_input(&addition, input, err);
    if (status == PXR_OK && addition.container_count == 0)
        status = pxr_fail(err, PXR_NO_PTX, "%s: no device code in it", name);
    if (status != PXR_OK)
        joined->len = len_before;
    if (joined->len > 0)
        write_header(joined);
    return status;
}

void ptx_joined_fini(struct ptx_joined *joined)
{
    free(joined->bytes);
    *joined = (struct ptx_joined){0};
}

enum pxr_status ptx_joined_visit(struct ptx_span bytes, const char *label,
                                 enum pxr_status (*visit)(void *user, struct ptx_span container,
                                                          struct pxr_error *err),
                                 void *user, struct pxr_error *err)
{
    uint32_t words[2] = {0};
    uint64_t size = 0;
    if (bytes.len >= HEADER_BYTES) {
        memcpy(words, bytes.ptr, sizeof words);
        memcpy(&size, bytes.ptr + sizeof words, sizeof size);
    }
    if (words[1] != VERSION || size < HEADER_BYTES || size > bytes.len)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: linked image is damaged or cut off", label);
    bytes.len = (size_t)size;
    for (size_t at = ptx_fatbin_next(bytes, HEADER_BYTES); at < bytes.len;) {
        struct ptx_span rest = {bytes.ptr + at, bytes.len - at};
        struct ptx_fatbin fatbin;
        enum pxr_status status = ptx_fatbin_read(rest, label, &fatbin, err);
        if (status)
            return status;
        rest.len = fatbin.bytes.len;
        ptx_fatbin_fini(&fatbin);
        status = visit(user, rest, err);
        if (status)
            return status;
        at = ptx_fatbin_next(bytes, at + rest.len);
    }
    return PXR_OK;
}
