/* SPDX-License-Identifier: Apache-2.0
 *
 * From a module image in memory to one parsed and linked module: tells the kind of image by its
 * first bytes, collects its containers, chooses and expands PTX, leaves out the device runtime.
 */
#include "ptx/image.h"

#include <stdio.h>
#include <stdlib.h>

#include "ptx/fatbin.h"
#include "ptx/joined.h"
#include "ptx/ptx.h"
#include "ptx/readable.h"
#include "ptx/text.h"
#include "ptx/unresolved.h"

enum {
    WRAPPER_VERSION_PLAIN = 1,
    WRAPPER_VERSION_LINKED = 2,
    MAX_LINKED_CONTAINERS = 65536,
    MAGIC_BYTES = 4,
    LABEL_BYTES = 512
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

/* The containers of an image; a cubin or text is wrapped as one. */
struct image {
    enum ptx_image_kind kind;
    const char *source_name;
    struct ptx_fatbin *fatbins;
    uint32_t fatbin_count;
};

static struct ptx_span span_at(const void *at, size_t size_bytes)
{
    size_t to_end = UINTPTR_MAX - (uintptr_t)at;
    size_t len = size_bytes;
    if (size_bytes == PTX_IMAGE_SIZE_UNKNOWN) {
        /* Headers may claim anything. */
        len = ptx_readable_bytes(at);
        if (len > MAX_IMAGE_BYTES)
            len = MAX_IMAGE_BYTES;
    }
    return (struct ptx_span){at, len < to_end ? len : to_end};
}

/* "app (fat binary 2)" */
static void container_label(const struct image *image, uint32_t number, char label[LABEL_BYTES])
{
    if (image->kind == PTX_IMAGE_TEXT || image->kind == PTX_IMAGE_CUBIN)
        snprintf(label, LABEL_BYTES, "%s", image->source_name);
    else
        snprintf(label, LABEL_BYTES, "%s (fat binary %u)", image->source_name, number);
}

static struct ptx_fatbin *append_fatbin(struct image *image)
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
    struct image *image = user;
    struct ptx_fatbin *fatbin = append_fatbin(image);
    if (!fatbin)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", image->source_name);
    char label[LABEL_BYTES];
    container_label(image, image->fatbin_count, label);
    return ptx_fatbin_read(bytes, label, fatbin, err);
}

/* The container of a device-linked wrapper holds the linked machine code; the PTX is in those of
 * the array, which the program's start-up code has filled in. */
static enum pxr_status add_linked(struct image *image, const void *const *linked,
                                  struct pxr_error *err)
{
    size_t readable = linked ? ptx_readable_bytes(linked) / sizeof *linked : 0;
    size_t limit = readable < MAX_LINKED_CONTAINERS ? readable : MAX_LINKED_CONTAINERS;
    for (uint32_t i = 0; linked; i++) {
        if (i == limit)
            return pxr_fail(err, PXR_BAD_IMAGE,
                            "%s: the wrapper's list of fat binaries at %p has no end within %zu",
                            image->source_name, (const void *)linked, limit);
        if (!linked[i])
            break;
        enum pxr_status status =
            add_container(image, span_at(linked[i], PTX_IMAGE_SIZE_UNKNOWN), err);
        if (status)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status add_wrapper(struct image *image, struct ptx_span bytes,
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
        add_container(image, span_at(wrapper.container, PTX_IMAGE_SIZE_UNKNOWN), err);
    if (status == PXR_OK && wrapper.version == WRAPPER_VERSION_LINKED)
        status = add_linked(image, wrapper.linked, err);
    return status;
}

static enum pxr_status add_single(struct image *image, struct ptx_span bytes,
                                  enum ptx_fatbin_kind kind, struct pxr_error *err)
{
    struct ptx_fatbin *fatbin = append_fatbin(image);
    if (!fatbin)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", image->source_name);
    return ptx_fatbin_wrap(bytes, kind, fatbin, err);
}

static bool has_magic(struct ptx_span bytes, uint32_t magic)
{
    // None of the magics has a zero byte, so a short text is not read beyond its end.
    return strnlen((const char *)bytes.ptr, bytes.len < MAGIC_BYTES ? bytes.len : MAGIC_BYTES) ==
               MAGIC_BYTES &&
           memcmp(bytes.ptr, &magic, MAGIC_BYTES) == 0;
}

static enum pxr_status read_image(struct image *image, const void *at, size_t size_bytes,
                                  struct pxr_error *err)
{
    static const uint32_t ELF_MAGIC = UINT32_C(0x464c457f);
    struct ptx_span bytes = span_at(at, size_bytes);
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
        if (ptx_cubin_arch(bytes) == 0)
            return pxr_fail(err, PXR_BAD_IMAGE, "%s: an ELF file, but no cubin",
                            image->source_name);
        return add_single(image, bytes, PTX_FATBIN_CUBIN, err);
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

static void close_image(struct image *image)
{
    for (uint32_t i = 0; i < image->fatbin_count; i++)
        ptx_fatbin_fini(&image->fatbins[i]);
    free(image->fatbins);
}

/* On failure there is nothing to close. */
static enum pxr_status open_image(const void *at, size_t size_bytes, const char *source_name,
                                  struct image *image, struct pxr_error *err)
{
    *image = (struct image){.source_name = source_name ? source_name : "module image"};
    if (!at)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: no image given", image->source_name);
    enum pxr_status status = read_image(image, at, size_bytes, err);
    if (status)
        close_image(image);
    return status;
}

/* Appends an architecture to a comma-separated list unless it is there; a full list ends "...". */
static void list_arch(char *list, size_t list_bytes, const struct ptx_fatbin_entry *entry)
{
    char arch[PTX_FATBIN_ARCH_BYTES];
    ptx_fatbin_arch_text(entry, arch);
    size_t arch_len = strlen(arch);
    size_t len = strlen(list);
    for (const char *at = strstr(list, arch); at; at = strstr(at + 1, arch)) {
        if (at[arch_len] == 0 || at[arch_len] == ',')
            return;
    }
    if (len + 2 + arch_len + 5 < list_bytes)
        snprintf(list + len, list_bytes - len, "%s%s", len ? ", " : "", arch);
    else if (len < 3 || strcmp(list + len - 3, "...") != 0)
        snprintf(list + len, list_bytes - len, ", ...");
}

static void summarise_entry(struct ptx_image_summary *summary, const struct ptx_fatbin_entry *entry)
{
    switch (entry->kind) {
    case PTX_FATBIN_PTX:
        summary->ptx_count++;
        list_arch(summary->ptx_archs, sizeof summary->ptx_archs, entry);
        break;
    case PTX_FATBIN_CUBIN:
        summary->cubin_count++;
        list_arch(summary->cubin_archs, sizeof summary->cubin_archs, entry);
        if (summary->lowest_cubin_arch == 0 || entry->arch < summary->lowest_cubin_arch)
            summary->lowest_cubin_arch = entry->arch;
        break;
    case PTX_FATBIN_LTO:
        summary->lto_count++;
        break;
    default:
        break;
    }
}

static void summarise(const struct image *image, struct ptx_image_summary *summary)
{
    *summary = (struct ptx_image_summary){.kind = image->kind};
    if (image->kind != PTX_IMAGE_CUBIN && image->kind != PTX_IMAGE_TEXT)
        summary->container_count = image->fatbin_count;
    for (uint32_t i = 0; i < image->fatbin_count; i++) {
        for (uint32_t j = 0; j < image->fatbins[i].entry_count; j++)
            summarise_entry(summary, &image->fatbins[i].entries[j]);
    }
}

enum pxr_status ptx_image_query(const void *at, size_t size_bytes, const char *source_name,
                                struct ptx_image_summary *summary, struct pxr_error *err)
{
    *summary = (struct ptx_image_summary){0};
    struct image image;
    enum pxr_status status = open_image(at, size_bytes, source_name, &image, err);
    if (status)
        return status;
    summarise(&image, summary);
    close_image(&image);
    return PXR_OK;
}

enum pxr_status ptx_image_explain_no_ptx(const struct ptx_image_summary *summary,
                                         const char *source_name, const char *kernel,
                                         struct pxr_error *err)
{
    char subject[256];
    if (kernel)
        snprintf(subject, sizeof subject, "no PTX for kernel '%.200s'", kernel);
    else
        snprintf(subject, sizeof subject, "no PTX");
    const char *source = source_name ? source_name : "module image";
    if (summary->cubin_count > 0)
        return pxr_fail(err, PXR_NO_PTX,
                        "%s: %s in this program, only machine code for %s; rebuild with -gencode "
                        "arch=compute_%u,code=compute_%u or without code=sm_%u",
                        source, subject, summary->cubin_archs, summary->lowest_cubin_arch,
                        summary->lowest_cubin_arch, summary->lowest_cubin_arch);
    if (summary->lto_count > 0)
        return pxr_fail(err, PXR_NO_PTX,
                        "%s: %s in this program, only code for link-time optimisation; rebuild "
                        "without -dlto",
                        source, subject);
    return pxr_fail(err, PXR_NO_PTX, "%s: %s in this program; its fat binary is empty", source,
                    subject);
}

/* The modules parsed from an image's containers. */
struct module_list {
    struct ptx_module **modules;
    size_t count;
    bool is_partial; /* some container has code, but no PTX */
};

static void destroy_modules(struct module_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ptx_module_destroy(list->modules[i]);
    free(list->modules);
}

/* "app (fat binary 2, entry 1, compute_75)" */
static void module_label(const struct image *image, uint32_t number,
                         const struct ptx_fatbin_entry *entry, char label[LABEL_BYTES])
{
    char arch[PTX_FATBIN_ARCH_BYTES];
    ptx_fatbin_arch_text(entry, arch);
    if (image->kind == PTX_IMAGE_TEXT)
        snprintf(label, LABEL_BYTES, "%s", image->source_name);
    else
        snprintf(label, LABEL_BYTES, "%s (fat binary %u, entry %u, %s)", image->source_name, number,
                 entry->index, arch);
}

/* Parses the container's PTX for the device, if it has any, into the next place of the list. */
static enum pxr_status parse_container(const struct image *image, uint32_t number,
                                       unsigned capability, struct module_list *list,
                                       struct pxr_error *err)
{
    const struct ptx_fatbin_entry *entry =
        ptx_fatbin_choose_ptx(&image->fatbins[number - 1], capability);
    list->is_partial |= !entry && image->fatbins[number - 1].entry_count > 0;
    if (!entry)
        return PXR_OK;
    char label[LABEL_BYTES];
    container_label(image, number, label);
    struct ptx_payload payload;
    enum pxr_status status = ptx_payload_expand(entry, label, &payload, err);
    if (status)
        return status;
    struct pxr_str text = ptx_payload_text(&payload);
    if (!ptx_text_is_device_runtime(text)) {
        module_label(image, number, entry, label);
        status = ptx_parse(text, label, &list->modules[list->count], err);
        if (status == PXR_OK)
            list->count++;
    }
    ptx_payload_fini(&payload);
    return status;
}

static enum pxr_status link_modules(const struct image *image, struct module_list *list,
                                    struct ptx_module **module, struct pxr_error *err)
{
    if (list->count == 1) {
        *module = list->modules[0];
        list->count = 0;
        return PXR_OK;
    }
    return ptx_link((const struct ptx_module *const *)list->modules, list->count,
                    image->source_name, module, err);
}

static enum pxr_status check_resolved(struct ptx_module **module, struct pxr_error *err)
{
    enum pxr_status status = ptx_check_resolved(*module, err);
    if (status) {
        ptx_module_destroy(*module);
        *module = NULL;
    }
    return status;
}

enum pxr_status ptx_image_load_sized(const void *at, size_t size_bytes, unsigned capability,
                                     const char *source_name, struct ptx_module **module,
                                     struct pxr_error *err)
{
    *module = NULL;
    struct image image;
    enum pxr_status status = open_image(at, size_bytes, source_name, &image, err);
    if (status)
        return status;
    struct module_list list = {.modules = calloc(image.fatbin_count, sizeof *list.modules)};
    if (!list.modules) {
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", image.source_name);
        goto close_image;
    }
    for (uint32_t number = 1; status == PXR_OK && number <= image.fatbin_count; number++)
        status = parse_container(&image, number, capability, &list, err);
    if (status == PXR_OK && list.count == 0) {
        struct ptx_image_summary summary;
        summarise(&image, &summary);
        status = ptx_image_explain_no_ptx(&summary, image.source_name, NULL, err);
    }
    if (status == PXR_OK)
        status = link_modules(&image, &list, module, err);
    if (status == PXR_OK && !list.is_partial)
        status = check_resolved(module, err);
    destroy_modules(&list);
close_image:
    close_image(&image);
    return status;
}

enum pxr_status ptx_image_load(const void *image, unsigned capability, const char *source_name,
                               struct ptx_module **module, struct pxr_error *err)
{
    return ptx_image_load_sized(image, PTX_IMAGE_SIZE_UNKNOWN, capability, source_name, module,
                                err);
}
