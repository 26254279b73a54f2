/* SPDX-License-Identifier: Apache-2.0
 *
 * See ptxcache_images.h.
 */
#include "tools/ptxcache_images.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cudart/core/code/record.h"
#include "ptx/file.h"
#include "ptx/image.h"

/* ---- files ---- */

/* Adds what first launches of all kernels of an image will ask for. */
static enum ptxcache_exit add_image(const void *bytes, size_t count, const char *name,
                                    struct ptxcache_jobs *jobs)
{
    struct crt_library *library;
    struct pxr_error error;
    if (crt_warm_load(bytes, count, name, &library, &error) != CRT_SUCCESS) {
        ptxcache_complain("%s", error.message);
        return PTXCACHE_FAILED;
    }
    struct crt_kernel *kernel;
    for (size_t i = 0; (kernel = crt_warm_kernel_at(library, i)); i++) {
        struct jit_variant variants[CRT_WARM_VARIANTS];
        size_t wanted = crt_warm_plan(kernel, variants);
        for (size_t v = 0; v < wanted; v++) {
            const struct ptxcache_job job = {
                .kernel = kernel, .variant = variants[v], .skip = "", .image = library->name};
            if (!ptxcache_jobs_add(jobs, &job))
                return PTXCACHE_FAILED;
        }
    }
    return PTXCACHE_OK;
}

static bool has_ptx(const struct ptx_file_container *container)
{
    for (uint32_t i = 0; i < container->fatbin.entry_count; i++)
        if (container->fatbin.entries[i].kind == PTX_FATBIN_PTX)
            return true;
    return false;
}

/* Units that were compiled to be linked on the device: alone they are not whole. */
static bool is_linked_later(const struct ptx_file_container *container)
{
    return container->section && strcmp(container->section, "__nv_relfatbin") == 0;
}

/* What programs hand to the runtime for the fat binaries that are linked into them, and what it
 * goes by when it looks for what is known of a module. */
struct wrapper {
    uint32_t magic;
    uint32_t version; /* 2: there are units */
    const void *container;
    const void *const *units; /* until NULL */
};

static enum ptxcache_exit add_wrapper(const struct ptx_file *file, const void *container,
                                      const void *const *units, struct ptxcache_jobs *jobs)
{
    const struct wrapper wrapper = {.magic = PTX_FATBIN_WRAPPER_MAGIC,
                                    .version = units ? 2 : 1,
                                    .container = container,
                                    .units = units};
    return add_image(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, file->path, jobs);
}

/* The units of a program. Beside them is what the device's linker has made of them, machine code;
 * where that is missing, somebody has yet to link them. */
static enum ptxcache_exit add_units(const struct ptx_file *file, struct ptxcache_jobs *jobs)
{
    const void **units = calloc((size_t)file->container_count + 1, sizeof *units);
    const void *linked = NULL;
    size_t count = 0;
    for (uint32_t i = 0; units && i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        if (is_linked_later(container))
            units[count++] = container->fatbin.bytes.ptr;
        else if (!has_ptx(container) && !linked)
            linked = container->fatbin.bytes.ptr;
    }
    enum ptxcache_exit result = PTXCACHE_OK;
    if (count > 0 && linked)
        result = add_wrapper(file, linked, units, jobs);
    free(units);
    return result;
}

static enum ptxcache_exit add_container(const struct ptx_file *file,
                                        const struct ptx_file_container *container,
                                        struct ptxcache_jobs *jobs)
{
    if (container->section)
        return add_wrapper(file, container->fatbin.bytes.ptr, NULL, jobs);
    struct ptx_span image = file->kind == PTX_FILE_TEXT ? file->bytes : container->fatbin.bytes;
    return add_image(image.ptr, image.len, file->path, jobs);
}

/* *has_any: there was PTX. */
static enum ptxcache_exit add_containers(const struct ptx_file *file, struct ptxcache_jobs *jobs,
                                         bool *has_any)
{
    enum ptxcache_exit result = add_units(file, jobs);
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        *has_any |= has_ptx(container);
        if (has_ptx(container) && !is_linked_later(container) &&
            add_container(file, container, jobs) != PTXCACHE_OK)
            result = PTXCACHE_FAILED;
    }
    return result;
}

static enum ptxcache_exit add_file(const char *path, struct ptxcache_jobs *jobs, bool is_named)
{
    struct ptx_file *file;
    struct pxr_error error;
    if (ptx_file_open(path, &file, &error) != PXR_OK) {
        if (is_named)
            ptxcache_complain("%s", error.message);
        return is_named ? PTXCACHE_FAILED : PTXCACHE_OK;
    }
    bool has_any = false;
    enum ptxcache_exit result = add_containers(file, jobs, &has_any);
    if (!has_any && is_named) {
        ptxcache_complain("'%s' holds no PTX; 'ptxdump list' shows what it holds", path);
        result = PTXCACHE_FAILED;
    }
    ptx_file_close(file);
    return result;
}

/* Links are not followed: they lead to files that have a name of their own, or elsewhere. */
static enum ptxcache_exit add_directory(const char *path, struct ptxcache_jobs *jobs)
{
    char *const paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    enum ptxcache_exit result = PTXCACHE_OK;
    FTSENT *entry;
    while (walk && (entry = fts_read(walk))) {
        bool is_unreadable = entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR;
        if (is_unreadable)
            ptxcache_complain("%s: %s", entry->fts_path, strerror(entry->fts_errno));
        if (is_unreadable ||
            (entry->fts_info == FTS_F && add_file(entry->fts_path, jobs, false) != PTXCACHE_OK))
            result = PTXCACHE_FAILED;
    }
    if (walk)
        fts_close(walk);
    return result;
}

enum ptxcache_exit ptxcache_add_path(const char *path, struct ptxcache_jobs *jobs)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return add_directory(path, jobs);
    return add_file(path, jobs, true);
}

/* ---- recordings ---- */

/* The images of a recording; few, as programs have few. */
struct image {
    struct cache_key key;
    unsigned capability;
    struct crt_library *library; /* NULL: it could not be loaded */
    struct image *next;
};

/* What the key names, if it is what the key says. */
static bool get_ptx(const struct ptxcache *tool, const struct cache_key *key, uint8_t **bytes,
                    size_t *count)
{
    struct cache_key found;
    if (!cache_get(tool->cache, key, bytes, count))
        return false;
    crt_record_key(*bytes, *count, &found);
    if (memcmp(&found, key, sizeof found) == 0)
        return true;
    free(*bytes);
    return false;
}

static void load_image(const struct ptxcache *tool, const char *kernel, struct image *image)
{
    struct pxr_error error;
    uint8_t *bytes;
    size_t count;
    char name[40];
    snprintf(name, sizeof name, "PTX %02x%02x%02x%02x", image->key.bytes[0], image->key.bytes[1],
             image->key.bytes[2], image->key.bytes[3]);
    if (!get_ptx(tool, &image->key, &bytes, &count)) {
        ptxcache_complain("the cache has no %s, of kernel '%s', any more: record again, or import "
                          "an archive that has it",
                          name, kernel);
        return;
    }
    if (crt_warm_load(bytes, count, name, &image->library, &error) != CRT_SUCCESS) {
        ptxcache_complain("%s (recorded with --compute-capability %u.%u)", error.message,
                          image->capability / 10, image->capability % 10);
        image->library = NULL;
    }
    free(bytes);
}

static struct crt_library *find_library(const struct ptxcache *tool, struct image **images,
                                        const struct crt_recorded_launch *launch)
{
    for (struct image *image = *images; image; image = image->next)
        if (memcmp(&image->key, &launch->image, sizeof image->key) == 0)
            return image->library;
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->key = launch->image;
    image->capability = launch->capability;
    load_image(tool, launch->kernel, image);
    image->next = *images;
    *images = image;
    return image->library;
}

static enum ptxcache_exit add_launch(struct crt_library *library,
                                     const struct crt_recorded_launch *launch,
                                     struct ptxcache_jobs *jobs)
{
    struct ptxcache_job job = {
        .variant = launch->variant, .skip = launch->skip, .image = library->name};
    if (crt_library_get_kernel(library, launch->kernel, &job.kernel) != CRT_SUCCESS) {
        ptxcache_complain("%s: there is no kernel '%s'", library->name, launch->kernel);
        return PTXCACHE_FAILED;
    }
    return ptxcache_jobs_add(jobs, &job) ? PTXCACHE_OK : PTXCACHE_FAILED;
}

enum ptxcache_exit ptxcache_add_recording(const struct ptxcache *tool,
                                          const struct crt_recording *recording,
                                          struct ptxcache_jobs *jobs)
{
    enum ptxcache_exit result = PTXCACHE_OK;
    struct image *images = NULL;
    for (size_t i = 0; i < recording->count; i++) {
        struct crt_library *library = find_library(tool, &images, &recording->launches[i]);
        if (!library || add_launch(library, &recording->launches[i], jobs) != PTXCACHE_OK)
            result = PTXCACHE_FAILED;
    }
    while (images) {
        struct image *next = images->next;
        free(images);
        images = next;
    }
    return result;
}
