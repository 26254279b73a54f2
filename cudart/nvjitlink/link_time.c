/* SPDX-License-Identifier: Apache-2.0
 *
 * Code for link-time optimisation, of which only NVIDIA's compiler knows what it means: the
 * nvJitLink that is installed makes PTX of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cudart/nvjitlink/nvjitlink.h"
#include "cudart/nvrtc/behind.h"

#define NEWEST_ARCHITECTURE 200

static void *find(const char *function)
{
    static const char *const NAMES[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", NULL};
    static struct behind nvjitlink = {
        .names = NAMES,
        .missing = "this program links code for link-time optimisation while it runs, which needs "
                   "the toolkit's libnvJitLink, and none is installed: install it and name its "
                   "folder in LD_LIBRARY_PATH, or compile without -dlto",
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    return behind_find(&nvjitlink, function, (void *)(uintptr_t)nvjitlink_add_link_time);
}

/* The caller's options, with this architecture, for PTX. The caller frees the list and its first
 * item. */
static const char **make_options(const struct nvjitlink_options *options, const char *arch,
                                 uint32_t *count)
{
    const char **list = calloc((size_t)options->count + 2, sizeof *list);
    char *first = NULL;
    if (!list || asprintf(&first, "-arch=%s", arch) < 0) {
        free(list);
        return NULL;
    }
    list[0] = first;
    *count = 1;
    for (uint32_t i = 0; i < options->count; i++)
        if (strncmp(options->given[i], "-arch=", 6) != 0 && strcmp(options->given[i], "-ptx") != 0)
            list[(*count)++] = options->given[i];
    list[(*count)++] = "-ptx";
    return list;
}

static enum nvjitlink_result create_for(struct nvjitlink *link, const char *arch)
{
    enum nvjitlink_result (*create)(void **, uint32_t, const char *const *) =
        find("nvJitLinkCreate");
    uint32_t count;
    const char **list = make_options(&link->options, arch, &count);
    if (!list || !create) {
        if (list)
            free((void *)list[0]);
        free(list);
        return NVJITLINK_INTERNAL;
    }
    enum nvjitlink_result result = create(&link->behind, count, list);
    free((void *)list[0]);
    free(list);
    if (result != NVJITLINK_SUCCESS)
        nvjitlink_destroy_link_time(link);
    return result;
}

static bool is_about_architecture(enum nvjitlink_result result)
{
    return result == NVJITLINK_UNRECOGNIZED_ARCH || result == NVJITLINK_UNSUPPORTED_ARCH;
}

/* Unless it is known already; numbers that no architecture has are passed over. */
static enum nvjitlink_result try_number(struct nvjitlink *link, unsigned number,
                                        enum nvjitlink_result known)
{
    char name[24];
    struct ptx_architecture arch;
    snprintf(name, sizeof name, "compute_%u", number);
    if (!is_about_architecture(known) || ptx_architecture_read(name, &arch, NULL) != PXR_OK)
        return known;
    return create_for(link, name);
}

/* For the architecture itself, or the next older one that the library has, or the next newer. */
static enum nvjitlink_result create(struct nvjitlink *link)
{
    unsigned wanted = link->options.arch.number;
    enum nvjitlink_result result = create_for(link, link->options.arch.name);
    for (unsigned number = wanted; number > 0; number--)
        result = try_number(link, number, result);
    for (unsigned number = wanted + 1; number <= NEWEST_ARCHITECTURE; number++)
        result = try_number(link, number, result);
    return result;
}

/* What the library says. */
static void take_log(struct nvjitlink *link)
{
    enum nvjitlink_result (*get_size)(void *, size_t *) = find("nvJitLinkGetErrorLogSize");
    enum nvjitlink_result (*get)(void *, char *) = find("nvJitLinkGetErrorLog");
    size_t bytes = 0;
    if (!get_size || !get || get_size(link->behind, &bytes) != NVJITLINK_SUCCESS || bytes == 0)
        return;
    char *text = calloc(1, bytes + 1);
    if (text && get(link->behind, text) == NVJITLINK_SUCCESS)
        nvjitlink_log_add(&link->errors, "%s", text);
    free(text);
}

enum nvjitlink_result nvjitlink_add_link_time(struct nvjitlink *link,
                                              enum nvjitlink_input_type type, struct ptx_span input,
                                              const char *name)
{
    if (!link->options.wants_link_time) {
        nvjitlink_log_add(&link->errors,
                          "ERROR: LTO-IR input cannot be used without LTO enabled (-lto)\n");
        return NVJITLINK_LTO_NOT_ENABLED;
    }
    enum nvjitlink_result (*add)(void *, enum nvjitlink_input_type, const void *, size_t,
                                 const char *) = find("nvJitLinkAddData");
    enum nvjitlink_result result = link->behind ? NVJITLINK_SUCCESS : create(link);
    if (!add || result != NVJITLINK_SUCCESS) {
        nvjitlink_log_add(&link->errors,
                          "ERROR: %s: the toolkit's libnvJitLink, which code for link-time "
                          "optimisation needs, %s\n",
                          name, add ? "refuses the options" : "is not installed");
        return add ? result : NVJITLINK_NVVM_COMPILE;
    }
    result = add(link->behind, type, input.ptr, input.len, name);
    if (result != NVJITLINK_SUCCESS)
        take_log(link);
    return result;
}

enum nvjitlink_result nvjitlink_complete_link_time(struct nvjitlink *link, char **ptx,
                                                   size_t *bytes)
{
    enum nvjitlink_result (*complete)(void *) = find("nvJitLinkComplete");
    enum nvjitlink_result (*get_size)(void *, size_t *) = find("nvJitLinkGetLinkedPtxSize");
    enum nvjitlink_result (*get)(void *, char *) = find("nvJitLinkGetLinkedPtx");
    *ptx = NULL;
    if (!complete || !get_size || !get)
        return NVJITLINK_INTERNAL;
    enum nvjitlink_result result = complete(link->behind);
    if (result == NVJITLINK_SUCCESS)
        result = get_size(link->behind, bytes);
    if (result == NVJITLINK_SUCCESS) {
        *ptx = calloc(1, *bytes + 1);
        result = *ptx ? get(link->behind, *ptx) : NVJITLINK_INTERNAL;
    }
    if (result != NVJITLINK_SUCCESS)
        take_log(link);
    return result;
}

void nvjitlink_destroy_link_time(struct nvjitlink *link)
{
    enum nvjitlink_result (*destroy)(void **) = link->behind ? find("nvJitLinkDestroy") : NULL;
    if (destroy)
        destroy(&link->behind);
    link->behind = NULL;
}
