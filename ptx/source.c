/* SPDX-License-Identifier: Apache-2.0
 *
 * See source.h. Chooses PTX, expands it, leaves out the device runtime, parses and links.
 */
#include "ptx/source.h"

#include <stdio.h>
#include <stdlib.h>

#include "ptx/containers.h"
#include "ptx/grid_calls.h"
#include "ptx/ptx.h"
#include "ptx/text.h"
#include "ptx/unresolved.h"

/* The PTX chosen from one container. */
struct chosen {
    uint32_t number; /* of the container, 1 for the first */
    struct ptx_fatbin_entry entry;
};

struct ptx_source {
    char *name;
    enum ptx_image_kind kind;
    struct ptx_image_summary summary; /* for the message that there is no PTX */
    bool is_partial;                  /* some container has code, but no PTX */
    struct chosen *chosen;
    uint32_t count;
    uint8_t *owned; /* the payloads one after the other, or NULL: they lie in the image */
};

static void choose(const struct ptx_containers *image, unsigned capability,
                   struct ptx_source *source)
{
    for (uint32_t i = 0; i < image->fatbin_count; i++) {
        const struct ptx_fatbin *fatbin = &image->fatbins[i];
        const struct ptx_fatbin_entry *entry = ptx_fatbin_choose_ptx(fatbin, capability);
        source->is_partial |= !entry && fatbin->entry_count > 0;
        if (!entry)
            continue;
        struct chosen *chosen = &source->chosen[source->count++];
        *chosen = (struct chosen){.number = i + 1, .entry = *entry};
        chosen->entry.name = chosen->entry.options = (struct pxr_str){0};
    }
}

enum pxr_status ptx_source_open(const void *at, size_t size_bytes, unsigned capability,
                                const char *source_name, struct ptx_source **source,
                                struct pxr_error *err)
{
    struct ptx_containers image;
    enum pxr_status status = ptx_containers_open(at, size_bytes, source_name, &image, err);
    if (status)
        return status;
    struct ptx_source *opened = calloc(1, sizeof *opened);
    if (opened) {
        opened->name = strdup(image.source_name);
        opened->kind = image.kind;
        opened->chosen = calloc((size_t)image.fatbin_count + 1, sizeof *opened->chosen);
    }
    if (opened && opened->name && opened->chosen) {
        choose(&image, capability, opened);
        ptx_containers_summarise(&image, &opened->summary);
        *source = opened;
    } else {
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", image.source_name);
        ptx_source_close(opened);
    }
    ptx_containers_close(&image);
    return status;
}

void ptx_source_close(struct ptx_source *source)
{
    if (!source)
        return;
    free(source->owned);
    free(source->chosen);
    free(source->name);
    free(source);
}

bool ptx_source_has_ptx(const struct ptx_source *source)
{
    return source->count > 0;
}

/* ---- identity ---- */

void ptx_source_identify(const struct ptx_source *source, ptx_fingerprint_fn put, void *argument)
{
    const uint64_t head[] = {source->kind, source->is_partial, source->count};
    put(argument, head, sizeof head);
    for (uint32_t i = 0; i < source->count; i++) {
        const struct ptx_fatbin_entry *entry = &source->chosen[i].entry;
        const uint64_t numbers[] = {source->chosen[i].number,    entry->index,   entry->arch,
                                    (uint8_t)entry->arch_suffix, entry->packing, entry->plain_bytes,
                                    entry->payload.len};
        put(argument, numbers, sizeof numbers);
        put(argument, entry->payload.ptr, entry->payload.len);
    }
}

enum pxr_status ptx_source_own(struct ptx_source *source, struct pxr_error *err)
{
    size_t bytes = 0;
    if (source->owned)
        return PXR_OK;
    for (uint32_t i = 0; i < source->count; i++)
        bytes += source->chosen[i].entry.payload.len;
    uint8_t *at = malloc(bytes + 1);
    if (!at)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", source->name);
    source->owned = at;
    for (uint32_t i = 0; i < source->count; i++) {
        struct ptx_span *payload = &source->chosen[i].entry.payload;
        memcpy(at, payload->ptr, payload->len);
        payload->ptr = at;
        at += payload->len;
    }
    return PXR_OK;
}

/* ---- parsing ---- */

/* The modules parsed from the texts. */
struct module_list {
    struct ptx_module **modules;
    size_t count;
};

static void destroy_modules(struct module_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ptx_module_destroy(list->modules[i]);
    free(list->modules);
}

/* "app (fat binary 2, entry 1, compute_75)" */
static void module_label(const struct ptx_source *source, const struct chosen *chosen,
                         char label[PTX_LABEL_BYTES])
{
    char arch[PTX_FATBIN_ARCH_BYTES];
    ptx_fatbin_arch_text(&chosen->entry, arch);
    if (source->kind == PTX_IMAGE_TEXT)
        snprintf(label, PTX_LABEL_BYTES, "%s", source->name);
    else
        snprintf(label, PTX_LABEL_BYTES, "%s (fat binary %u, entry %u, %s)", source->name,
                 chosen->number, chosen->entry.index, arch);
}

static enum pxr_status visit_chosen(const struct ptx_source *source, const struct chosen *chosen,
                                    ptx_source_text_fn visit, void *user, struct pxr_error *err)
{
    const struct ptx_containers named = {.kind = source->kind, .source_name = source->name};
    char label[PTX_LABEL_BYTES];
    ptx_containers_label(&named, chosen->number, label);
    struct ptx_payload payload;
    enum pxr_status status = ptx_payload_expand(&chosen->entry, label, &payload, err);
    if (status)
        return status;
    struct pxr_str text = ptx_payload_text(&payload);
    if (!ptx_text_is_device_runtime(text)) {
        module_label(source, chosen, label);
        status = visit(user, text, label, err);
    }
    ptx_payload_fini(&payload);
    return status;
}

enum pxr_status ptx_source_visit(const struct ptx_source *source, ptx_source_text_fn visit,
                                 void *user, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    for (uint32_t i = 0; status == PXR_OK && i < source->count; i++)
        status = visit_chosen(source, &source->chosen[i], visit, user, err);
    return status;
}

/* Parses a text into the next place of the list. */
static enum pxr_status parse_text(void *user, struct pxr_str text, const char *label,
                                  struct pxr_error *err)
{
    struct module_list *list = user;
    enum pxr_status status = ptx_parse(text, label, &list->modules[list->count], err);
    if (status == PXR_OK)
        list->count++;
    return status;
}

/* What grids' barriers need, where a text calls them and none has them. */
static enum pxr_status add_grid_calls(struct module_list *list, struct pxr_error *err)
{
    bool is_needed = false;
    for (size_t i = 0; i < list->count; i++)
        is_needed |= ptx_needs_grid_calls(list->modules[i]);
    if (!is_needed)
        return PXR_OK;
    enum pxr_status status = ptx_parse_grid_calls(&list->modules[list->count], err);
    if (status == PXR_OK)
        list->count++;
    return status;
}

static enum pxr_status link_modules(const struct ptx_source *source, struct module_list *list,
                                    struct ptx_module **module, struct pxr_error *err)
{
    if (list->count == 1) {
        *module = list->modules[0];
        list->count = 0;
        return PXR_OK;
    }
    return ptx_link((const struct ptx_module *const *)list->modules, list->count, source->name,
                    module, err);
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

enum pxr_status ptx_source_parse(const struct ptx_source *source, struct ptx_module **module,
                                 struct pxr_error *err)
{
    *module = NULL;
    struct module_list list = {.modules = calloc((size_t)source->count + 1, sizeof *list.modules)};
    if (!list.modules)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", source->name);
    enum pxr_status status = ptx_source_visit(source, parse_text, &list, err);
    if (status == PXR_OK && list.count == 0)
        status = ptx_image_explain_no_ptx(&source->summary, source->name, NULL, err);
    if (status == PXR_OK && !source->is_partial)
        status = add_grid_calls(&list, err);
    if (status == PXR_OK)
        status = link_modules(source, &list, module, err);
    if (status == PXR_OK && !source->is_partial)
        status = check_resolved(module, err);
    destroy_modules(&list);
    return status;
}
