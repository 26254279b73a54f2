/* SPDX-License-Identifier: Apache-2.0
 *
 * The `print` command of ptxdump: PTX as the parser understands it.
 */
#include "tools/ptxdump_print.h"

#include <stdio.h>

#include "ptx/print.h"

static enum pxr_status print_text(struct pxr_str text, const char *label, bool is_normal,
                                  struct pxr_error *err)
{
    struct ptx_module *module;
    enum pxr_status status = ptx_parse(text, label, &module, err);

    if (status != PXR_OK)
        return status;
    status = ptx_print(module, is_normal ? PTX_PRINT_NORMAL : PTX_PRINT_AS_WRITTEN, stdout, err);
    ptx_module_destroy(module);
    return status;
}

static enum pxr_status print_entry(const struct ptx_file_container *container,
                                   const struct ptx_fatbin_entry *entry, bool is_normal,
                                   struct pxr_error *err)
{
    struct ptx_payload payload;
    char arch[PTX_FATBIN_ARCH_BYTES];
    char label[256];
    enum pxr_status status = ptx_payload_expand(entry, container->label, &payload, err);

    if (status != PXR_OK)
        return status;
    ptx_fatbin_arch_text(entry, arch);
    snprintf(label, sizeof label, "%s, entry %u, %s", container->label, entry->index, arch);
    status = print_text(ptx_payload_text(&payload), label, is_normal, err);
    ptx_payload_fini(&payload);
    return status;
}

/* A file name may hold anything; a comment ends with its line. */
static void print_title(const char *label, unsigned index)
{
    fputs("// ", stdout);
    for (; *label; label++)
        putchar((unsigned char)*label < 0x20 ? '?' : *label);
    printf(", entry %u\n", index);
}

unsigned ptxdump_print(const struct ptx_file *file, bool is_normal, bool *is_damaged)
{
    unsigned count = 0;

    *is_damaged = false;
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];

        for (uint32_t j = 0; j < container->fatbin.entry_count; j++) {
            const struct ptx_fatbin_entry *entry = &container->fatbin.entries[j];
            struct pxr_error err;

            if (entry->kind != PTX_FATBIN_PTX)
                continue;
            count++;
            if (file->kind != PTX_FILE_TEXT)
                print_title(container->label, entry->index);
            if (print_entry(container, entry, is_normal, &err) == PXR_OK)
                continue;
            fprintf(stderr, "ptxdump: %s\n", err.message);
            *is_damaged = true;
        }
    }
    return count;
}
