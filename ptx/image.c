/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions about an image, and the way from an image to one parsed and linked module.
 */
#include "ptx/image.h"

#include <stdio.h>

#include "ptx/containers.h"
#include "ptx/source.h"

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

void ptx_containers_summarise(const struct ptx_containers *image, struct ptx_image_summary *summary)
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
    struct ptx_containers image;
    enum pxr_status status = ptx_containers_open(at, size_bytes, source_name, &image, err);
    if (status)
        return status;
    ptx_containers_summarise(&image, summary);
    ptx_containers_close(&image);
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

enum pxr_status ptx_image_load(const void *at, size_t size_bytes, unsigned capability,
                               const char *source_name, struct ptx_module **module,
                               struct pxr_error *err)
{
    *module = NULL;
    struct ptx_source *source;
    enum pxr_status status = ptx_source_open(at, size_bytes, capability, source_name, &source, err);
    if (status)
        return status;
    status = ptx_source_parse(source, module, err);
    ptx_source_close(source);
    return status;
}
