/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens files of all kinds as lists of containers. Containers are found by walking sections from
 * container to container, so the wrappers and their relocations are not needed.
 */
#include "ptx/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx/elf.h"
#include "ptx/text.h"

enum {
    /* An empty container is 16 bytes and our record of it ten times that; real files have at most
     * one container per translation unit. */
    MAX_CONTAINERS = 1 << 20
};

static enum pxr_status fail_memory(const struct ptx_file *file, struct pxr_error *err)
{
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", file->path);
}

/* Labels use the container's number over the whole file. */
static char *make_label(const struct ptx_file *file, const char *section, const char *member)
{
    char *label = NULL;
    int len = section
                  ? asprintf(&label, "%s%s%s: fat binary %u in %s", file->path, member ? ": " : "",
                             member ? member : "", file->container_count, section)
                  : asprintf(&label, "%s", file->path);
    return len < 0 ? NULL : label;
}

/* A new last container, labelled, NULL when out of memory. */
static struct ptx_file_container *append_container(struct ptx_file *file, const char *section,
                                                   const char *member)
{
    void *grown =
        reallocarray(file->containers, (size_t)file->container_count + 1, sizeof *file->containers);
    if (!grown)
        return NULL;
    file->containers = grown;
    struct ptx_file_container *container = &file->containers[file->container_count++];
    *container = (struct ptx_file_container){.section = section};
    container->label = make_label(file, section, member);
    container->member = member ? strdup(member) : NULL;
    if (!container->label || (member && !container->member))
        return NULL;
    return container;
}

static enum pxr_status read_section(void *user, const struct ptx_elf_section *section,
                                    struct pxr_error *err)
{
    struct ptx_file *file = user;
    for (size_t at = ptx_fatbin_next(section->bytes, 0); at < section->bytes.len;) {
        if (file->container_count == MAX_CONTAINERS)
            return pxr_fail(err, PXR_BAD_IMAGE, "%s: more than %d fat binaries", file->path,
                            MAX_CONTAINERS);
        struct ptx_file_container *container =
            append_container(file, section->name, section->member);
        if (!container)
            return fail_memory(file, err);
        container->offset = section->offset + at;
        struct ptx_span rest = {section->bytes.ptr + at, section->bytes.len - at};
        enum pxr_status status = ptx_fatbin_read(rest, container->label, &container->fatbin, err);
        if (status)
            return status;
        at = ptx_fatbin_next(section->bytes, at + container->fatbin.bytes.len);
    }
    return PXR_OK;
}

static enum pxr_status read_carried(void *user, const struct ptx_elf_section *section,
                                    struct pxr_error *err)
{
    struct ptx_file *file = user;
    struct ptx_file_container *container = append_container(file, NULL, NULL);
    if (!container)
        return fail_memory(file, err);
    container->offset = section->offset;
    return ptx_fatbin_wrap(section->bytes, PTX_FATBIN_PTX, &container->fatbin, err);
}

/* A file that is one container, or one payload without a container. */
static enum pxr_status read_single(struct ptx_file *file, enum ptx_file_kind kind,
                                   struct pxr_error *err)
{
    file->kind = kind;
    struct ptx_file_container *container = append_container(file, NULL, NULL);
    if (!container)
        return fail_memory(file, err);
    if (kind == PTX_FILE_FATBIN)
        return ptx_fatbin_read(file->bytes, container->label, &container->fatbin, err);
    enum ptx_fatbin_kind entry_kind = kind == PTX_FILE_CUBIN ? PTX_FATBIN_CUBIN : PTX_FATBIN_PTX;
    return ptx_fatbin_wrap(file->bytes, entry_kind, &container->fatbin, err);
}

/* A container for each text that it carries, or one for the machine code. */
static enum pxr_status read_cubin(struct ptx_file *file, struct pxr_error *err)
{
    file->kind = PTX_FILE_CUBIN;
    enum pxr_status status = ptx_elf_visit_ptx(file->bytes, file->path, read_carried, file, err);
    if (status == PXR_OK && file->container_count == 0)
        status = read_single(file, PTX_FILE_CUBIN, err);
    return status;
}

static enum pxr_status read_contents(struct ptx_file *file, struct pxr_error *err)
{
    static const enum ptx_file_kind KINDS[] = {
        [PTX_ELF_EXECUTABLE] = PTX_FILE_EXECUTABLE,
        [PTX_ELF_SHARED] = PTX_FILE_SHARED_OBJECT,
        [PTX_ELF_OBJECT] = PTX_FILE_OBJECT,
        [PTX_ELF_ARCHIVE] = PTX_FILE_ARCHIVE,
    };
    struct ptx_span bytes = file->bytes;
    uint32_t magic = 0;
    memcpy(&magic, bytes.ptr, bytes.len < sizeof magic ? bytes.len : sizeof magic);
    if (magic == PTX_FATBIN_MAGIC)
        return read_single(file, PTX_FILE_FATBIN, err);
    if (ptx_cubin_arch(bytes) != 0)
        return read_cubin(file, err);
    enum ptx_elf_type type = ptx_elf_type(bytes);
    if (type != PTX_ELF_NONE) {
        file->kind = KINDS[type];
        return ptx_elf_visit_fatbins(bytes, file->path, read_section, file, err);
    }
    if (ptx_text_read_header((struct pxr_str){(const char *)bytes.ptr, bytes.len}).is_ptx)
        return read_single(file, PTX_FILE_TEXT, err);
    return pxr_fail(err, PXR_BAD_IMAGE,
                    "%s: not an ELF file, archive, fat binary, cubin or PTX text", file->path);
}

static enum pxr_status map_file(struct ptx_file *file, struct pxr_error *err)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pxr_fail(err, errno == ENOENT || errno == ENOTDIR ? PXR_NOT_FOUND : PXR_IO,
                        "cannot open '%s': %s", file->path, strerror(errno));
    struct stat info;
    enum pxr_status status = PXR_OK;
    if (fstat(fd, &info) != 0)
        status = pxr_fail(err, PXR_IO, "cannot examine '%s': %s", file->path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = pxr_fail(err, PXR_INVALID_ARGUMENT, "'%s' is not a regular file", file->path);
    else if (info.st_size == 0)
        status = pxr_fail(err, PXR_BAD_IMAGE, "'%s' is empty", file->path);
    if (status == PXR_OK) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
            status = pxr_fail(err, PXR_IO, "cannot map '%s': %s", file->path, strerror(errno));
        else
            file->bytes = (struct ptx_span){map, (size_t)info.st_size};
    }
    close(fd);
    return status;
}

enum pxr_status ptx_file_open(const char *path, struct ptx_file **file, struct pxr_error *err)
{
    *file = NULL;
    struct ptx_file *opened = calloc(1, sizeof *opened);
    if (!opened || !(opened->path = strdup(path))) {
        free(opened);
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    enum pxr_status status = map_file(opened, err);
    if (status == PXR_OK)
        status = read_contents(opened, err);
    if (status) {
        ptx_file_close(opened);
        return status;
    }
    *file = opened;
    return PXR_OK;
}

void ptx_file_close(struct ptx_file *file)
{
    if (!file)
        return;
    for (uint32_t i = 0; i < file->container_count; i++) {
        ptx_fatbin_fini(&file->containers[i].fatbin);
        free(file->containers[i].label);
        free(file->containers[i].member);
    }
    free(file->containers);
    if (file->bytes.ptr)
        munmap((void *)(uintptr_t)file->bytes.ptr, file->bytes.len);
    free(file->path);
    free(file);
}

const char *ptx_file_kind_name(enum ptx_file_kind kind)
{
    static const char *const NAMES[PTX_FILE_KIND_COUNT] = {
        [PTX_FILE_EXECUTABLE] = "executable",
        [PTX_FILE_SHARED_OBJECT] = "shared object or position-independent executable",
        [PTX_FILE_OBJECT] = "object file",
        [PTX_FILE_ARCHIVE] = "archive",
        [PTX_FILE_FATBIN] = "fat binary",
        [PTX_FILE_CUBIN] = "cubin",
        [PTX_FILE_TEXT] = "PTX text",
    };
    return NAMES[kind];
}
