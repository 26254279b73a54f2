/* SPDX-License-Identifier: Apache-2.0
 *
 * See containers.h. Tells the kind of image by its first bytes and reads the headers of all that is
 * in it.
 */
#include "ptx/containers.h"

#include <stdio.h>
#include <stdlib.h>

#include "ptx/elf.h"
#include "ptx/joined.h"
#include "ptx/text.h"

enum {
    WRAPPER_VERSION_PLAIN = 1,
    WRAPPER_VERSION_LINKED = 2,
    MAX_LINKED_CONTAINERS = 65536,
    MAGIC_BYTES = 4
};

/* The most that is believed of an image of unknown length. */
#define MAX_IMAGE_BYTES ((size_t)1 << 36)

/* 24 bytes in .nvFatBinSegment, made by the compiler and patched by the loader. */
struct wrapper {
    uint32_t magic;
    uint32_t version;
    const void *container;
    const void *const *linked; /* version 2: NULL-terminated array, one per translation unit */
};

static struct ptx_span span_at(struct ptx_containers *image, const void *at, size_t size_bytes)
{
    size_t to_end = UINTPTR_MAX - (uintptr_t)at;
    size_t len = size_bytes;
    if (size_bytes == PTX_IMAGE_SIZE_UNKNOWN) {
        /* Headers may claim anything. */
        len = ptx_readable_bytes(&image->mappings, at);
        if (len > MAX_IMAGE_BYTES)
            len = MAX_IMAGE_BYTES;
    }
    return (struct ptx_span){at, len < to_end ? len : to_end};
}

void ptx_containers_label(const struct ptx_containers *image, uint32_t number,
                          char label[PTX_LABEL_BYTES])
{
    if (image->kind == PTX_IMAGE_TEXT || image->kind == PTX_IMAGE_CUBIN)
        snprintf(label, PTX_LABEL_BYTES, "%s", image->source_name);
    else
        snprintf(label, PTX_LABEL_BYTES, "%s (fat binary %u)", image->source_name, number);
}

static struct ptx_fatbin *append_fatbin(struct ptx_containers *image)
{
    void *grown =
        reallocarray(image->fatbins, (size_t)image->fatbin_count + 1, sizeof *image->fatbins);
    if (!grown)
        return NULL;
    image->fatbins = grown;
    struct ptx_fatbin *fatbin = &image->fatbins[image->fatbin_count++];
    *fatbin = (struct ptx_fatbin){0};
    return fatbin;
}

static enum pxr_status add_container(void *user, struct ptx_span bytes, struct pxr_error *err)
{
    struct ptx_containers *image = user;
    struct ptx_fatbin *fatbin = append_fatbin(image);
    if (!fatbin)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", image->source_name);
    char label[PTX_LABEL_BYTES];
    ptx_containers_label(image, image->fatbin_count, label);
    return ptx_fatbin_read(bytes, label, fatbin, err);
}

/* The container of a device-linked wrapper holds the linked machine code; the PTX is in those of
 * the array, which the program's start-up code has filled in. */
static enum pxr_status add_linked(struct ptx_containers *image, const void *const *linked,
                                  struct pxr_error *err)
{
    size_t readable = linked ? ptx_readable_bytes(&image->mappings, linked) / sizeof *linked : 0;
    size_t limit = readable < MAX_LINKED_CONTAINERS ? readable : MAX_LINKED_CONTAINERS;
    for (uint32_t i = 0; linked; i++) {
        if (i == limit)
            return pxr_fail(err, PXR_BAD_IMAGE,
                            "%s: the wrapper's list of fat binaries at %p has no end within %zu",
                            image->source_name, (const void *)linked, limit);
        if (!linked[i])
            break;
        enum pxr_status status =
            add_container(image, span_at(image, linked[i], PTX_IMAGE_SIZE_UNKNOWN), err);
        if (status)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status add_wrapper(struct ptx_containers *image, struct ptx_span bytes,
                                   struct pxr_error *err)
{
    struct wrapper wrapper;
    if (bytes.len < sizeof wrapper)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: fat binary wrapper cut off after %zu bytes",
                        image->source_name, bytes.len);
    memcpy(&wrapper, bytes.ptr, sizeof wrapper);
    if (wrapper.version != WRAPPER_VERSION_PLAIN && wrapper.version != WRAPPER_VERSION_LINKED)
        return pxr_fail(err, PXR_BAD_IMAGE,
                        "%s: fat binary wrapper of version %u; 1 and 2 are known",
                        image->source_name, wrapper.version);
    if (!wrapper.container)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: fat binary wrapper without a fat binary",
                        image->source_name);
    enum pxr_status status =
        add_container(image, span_at(image, wrapper.container, PTX_IMAGE_SIZE_UNKNOWN), err);
    if (status == PXR_OK && wrapper.version == WRAPPER_VERSION_LINKED)
        status = add_linked(image, wrapper.linked, err);
    return status;
}

static enum pxr_status add_single(struct ptx_containers *image, struct ptx_span bytes,
                                  enum ptx_fatbin_kind kind, struct pxr_error *err)
{
    struct ptx_fatbin *fatbin = append_fatbin(image);
    if (!fatbin)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", image->source_name);
    return ptx_fatbin_wrap(bytes, kind, fatbin, err);
}

static enum pxr_status add_carried(void *user, const struct ptx_elf_section *section,
                                   struct pxr_error *err)
{
    struct ptx_span text = section->bytes;
    text.len = strnlen((const char *)text.ptr, text.len);
    return add_single(user, text, PTX_FATBIN_PTX, err);
}

/* A cubin counts as the PTX that it carries, if it does. */
static enum pxr_status add_cubin(struct ptx_containers *image, struct ptx_span bytes,
                                 struct pxr_error *err)
{
    if (ptx_cubin_arch(bytes) == 0)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: an ELF file, but no cubin", image->source_name);
    enum pxr_status status = ptx_elf_visit_ptx(bytes, image->source_name, add_carried, image, err);
    if (status != PXR_OK)
        return status;
    if (image->fatbin_count == 0)
        return add_single(image, bytes, PTX_FATBIN_CUBIN, err);
    image->kind = image->fatbin_count == 1 ? PTX_IMAGE_TEXT : PTX_IMAGE_JOINED;
    return PXR_OK;
}

static bool has_magic(struct ptx_span bytes, uint32_t magic)
{
    // None of the magics has a zero byte, so a short text is not read beyond its end.
    return strnlen((const char *)bytes.ptr, bytes.len < MAGIC_BYTES ? bytes.len : MAGIC_BYTES) ==
               MAGIC_BYTES &&
           memcmp(bytes.ptr, &magic, MAGIC_BYTES) == 0;
}

static enum pxr_status read_image(struct ptx_containers *image, const void *at, size_t size_bytes,
                                  struct pxr_error *err)
{
    static const uint32_t ELF_MAGIC = UINT32_C(0x464c457f);
    struct ptx_span bytes = span_at(image, at, size_bytes);
    if (has_magic(bytes, PTX_FATBIN_WRAPPER_MAGIC)) {
        image->kind = PTX_IMAGE_WRAPPER;
        if (size_bytes != PTX_IMAGE_SIZE_UNKNOWN)
            return pxr_fail(err, PXR_BAD_IMAGE, "%s: a fat binary wrapper has to be in memory",
                            image->source_name);
        return add_wrapper(image, bytes, err);
    }
    if (has_magic(bytes, PTX_FATBIN_MAGIC)) {
        image->kind = PTX_IMAGE_CONTAINER;
        return add_container(image, bytes, err);
    }
    if (has_magic(bytes, PTX_JOINED_MAGIC)) {
        image->kind = PTX_IMAGE_JOINED;
        return ptx_joined_visit(bytes, image->source_name, add_container, image, err);
    }
    if (has_magic(bytes, ELF_MAGIC)) {
        image->kind = PTX_IMAGE_CUBIN;
        return add_cubin(image, bytes, err);
    }
    image->kind = PTX_IMAGE_TEXT;
    size_t limit = bytes.len < PTX_FATBIN_MAX_PLAIN_BYTES ? bytes.len : PTX_FATBIN_MAX_PLAIN_BYTES;
    bytes.len = strnlen(at, limit);
    if (!ptx_text_read_header((struct pxr_str){at, bytes.len}).is_ptx)
        return pxr_fail(err, PXR_BAD_IMAGE,
                        "%s: neither a fat binary nor a cubin nor PTX text (which begins with "
                        ".version)",
                        image->source_name);
    return add_single(image, bytes, PTX_FATBIN_PTX, err);
}

void ptx_containers_close(struct ptx_containers *image)
{
    for (uint32_t i = 0; i < image->fatbin_count; i++)
        ptx_fatbin_fini(&image->fatbins[i]);
    free(image->fatbins);
}

enum pxr_status ptx_containers_open(const void *at, size_t size_bytes, const char *source_name,
                                    struct ptx_containers *image, struct pxr_error *err)
{
    *image = (struct ptx_containers){.source_name = source_name ? source_name : "module image"};
    if (!at)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: no image given", image->source_name);
    enum pxr_status status = read_image(image, at, size_bytes, err);
    ptx_mappings_forget(&image->mappings);
    if (status)
        ptx_containers_close(image);
    return status;
}
