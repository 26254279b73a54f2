/* SPDX-License-Identifier: Apache-2.0
 *
 * libnvJitLink.so.N: links made while a program runs. Inputs are linked as PTX; the cubin that
 * comes out carries it (ptx/cubin.h).
 */
#include "cudart/nvjitlink/nvjitlink.h"

#include <stdlib.h>

#include "ptx/cubin.h"
#include "ptx/source.h"
#include "util/read_file.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT enum nvjitlink_result nvJitLinkCreate(struct nvjitlink **link, uint32_t count,
                                             const char *const *options);
EXPORT enum nvjitlink_result nvJitLinkDestroy(struct nvjitlink **link);
EXPORT enum nvjitlink_result nvJitLinkAddData(struct nvjitlink *link,
                                              enum nvjitlink_input_type type, const void *data,
                                              size_t bytes, const char *name);
EXPORT enum nvjitlink_result nvJitLinkAddFile(struct nvjitlink *link,
                                              enum nvjitlink_input_type type, const char *path);
EXPORT enum nvjitlink_result nvJitLinkComplete(struct nvjitlink *link);
EXPORT enum nvjitlink_result nvJitLinkGetLinkedCubinSize(struct nvjitlink *link, size_t *bytes);
EXPORT enum nvjitlink_result nvJitLinkGetLinkedCubin(struct nvjitlink *link, void *cubin);
EXPORT enum nvjitlink_result nvJitLinkGetLinkedPtxSize(struct nvjitlink *link, size_t *bytes);
EXPORT enum nvjitlink_result nvJitLinkGetLinkedPtx(struct nvjitlink *link, char *ptx);
EXPORT enum nvjitlink_result nvJitLinkGetErrorLogSize(struct nvjitlink *link, size_t *bytes);
EXPORT enum nvjitlink_result nvJitLinkGetErrorLog(struct nvjitlink *link, char *text);
EXPORT enum nvjitlink_result nvJitLinkGetInfoLogSize(struct nvjitlink *link, size_t *bytes);
EXPORT enum nvjitlink_result nvJitLinkGetInfoLog(struct nvjitlink *link, char *text);
EXPORT enum nvjitlink_result nvJitLinkVersion(unsigned *major, unsigned *minor);

/* The names that the headers of each version of the toolkit call. */
#define NAME(name, version)                                                                        \
    extern EXPORT __typeof__(name) __##name##_##version __attribute__((alias(#name)));
#define PLAIN(name)
#define VERSIONED(name)                                                                            \
    NAME(name, 12_0)                                                                               \
    NAME(name, 12_1)                                                                               \
    NAME(name, 12_2)                                                                               \
    NAME(name, 12_3)                                                                               \
    NAME(name, 12_4)                                                                               \
    NAME(name, 12_5)                                                                               \
    NAME(name, 12_6)                                                                               \
    NAME(name, 12_7)                                                                               \
    NAME(name, 12_8)                                                                               \
    NAME(name, 12_9)                                                                               \
    NAME(name, 13_0)                                                                               \
    NAME(name, 13_1)
#include "cudart/nvjitlink/functions.def"
#undef VERSIONED
#undef PLAIN

/* What a link without inputs gives. */
static const char EMPTY[] = ".version 6.0\n.target sm_50\n.address_size 64\n";

enum nvjitlink_result nvJitLinkCreate(struct nvjitlink **link, uint32_t count,
                                      const char *const *options)
{
    if (!link)
        return NVJITLINK_NULL_INPUT;
    /* It is there for its log also where the options are wrong. */
    *link = calloc(1, sizeof **link);
    if (!*link)
        return NVJITLINK_INTERNAL;
    return nvjitlink_options_read(count, options, &(*link)->options, &(*link)->errors);
}

enum nvjitlink_result nvJitLinkDestroy(struct nvjitlink **link)
{
    if (!link || !*link)
        return NVJITLINK_NULL_INPUT;
    nvjitlink_destroy_link_time(*link);
    nvjitlink_options_fini(&(*link)->options);
    ptx_joined_fini(&(*link)->inputs);
    free((*link)->errors.text);
    free((*link)->cubin);
    free((*link)->ptx);
    free(*link);
    *link = NULL;
    return NVJITLINK_SUCCESS;
}

enum nvjitlink_result nvJitLinkAddData(struct nvjitlink *link, enum nvjitlink_input_type type,
                                       const void *data, size_t bytes, const char *name)
{
    if (!link)
        return NVJITLINK_NULL_INPUT;
    if (!data || !bytes)
        return NVJITLINK_INVALID_INPUT;
    return nvjitlink_add(link, type, (struct ptx_span){data, bytes},
                         name && *name ? name : "link input");
}

enum nvjitlink_result nvJitLinkAddFile(struct nvjitlink *link, enum nvjitlink_input_type type,
                                       const char *path)
{
    size_t bytes;
    if (!link || !path)
        return NVJITLINK_NULL_INPUT;
    char *data = pxr_read_file(path, &bytes);
    if (!data) {
        nvjitlink_log_add(&link->errors, "no such file: %s\n", path);
        return NVJITLINK_INVALID_INPUT;
    }
    enum nvjitlink_result result = nvJitLinkAddData(link, type, data, bytes, path);
    free(data);
    return result;
}

struct texts {
    struct ptx_span *list; /* copies */
    size_t count;
};

static enum pxr_status keep_text(void *user, struct pxr_str text, const char *label,
                                 struct pxr_error *err)
{
    struct texts *texts = user;
    struct ptx_span *longer = realloc(texts->list, (texts->count + 1) * sizeof *longer);
    if (longer)
        texts->list = longer;
    uint8_t *copy = longer ? malloc(text.len + 1) : NULL;
    if (!copy)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", label);
    memcpy(copy, text.ptr, text.len);
    texts->list[texts->count++] = (struct ptx_span){copy, text.len};
    return PXR_OK;
}

static enum pxr_status make_cubin(struct nvjitlink *link, const struct ptx_source *source,
                                  struct pxr_error *err)
{
    struct texts texts = {0};
    enum pxr_status status = ptx_source_visit(source, keep_text, &texts, err);
    if (status == PXR_OK)
        status = ptx_cubin_make(texts.list, texts.count, link->options.arch.number, &link->cubin,
                                &link->cubin_bytes, err);
    for (size_t i = 0; i < texts.count; i++)
        free((void *)texts.list[i].ptr);
    free(texts.list);
    return status;
}

static enum pxr_status link_inputs(struct nvjitlink *link, struct pxr_error *err)
{
    struct ptx_source *source;
    struct ptx_module *module = NULL;
    enum pxr_status status =
        ptx_source_open(link->inputs.bytes, link->inputs.len, link->options.arch.number,
                        "linked image", &source, err);
    if (status != PXR_OK)
        return status;
    status = ptx_source_parse(source, &module, err);
    ptx_module_destroy(module);
    if (status == PXR_OK)
        status = make_cubin(link, source, err);
    ptx_source_close(source);
    return status;
}

/* Before the rest: the PTX of code for link-time optimisation becomes one more input. */
static enum nvjitlink_result take_link_time(struct nvjitlink *link)
{
    char *ptx;
    size_t bytes;
    enum nvjitlink_result result = nvjitlink_complete_link_time(link, &ptx, &bytes);
    if (result == NVJITLINK_SUCCESS && link->options.wants_ptx) {
        link->ptx = ptx;
        link->ptx_bytes = bytes;
        return NVJITLINK_SUCCESS;
    }
    struct pxr_error err = {0};
    if (result == NVJITLINK_SUCCESS &&
        ptx_joined_add(&link->inputs, (struct ptx_span){(const uint8_t *)ptx, bytes},
                       "code for link-time optimisation", &err) != PXR_OK) {
        nvjitlink_log_add(&link->errors, "error   : %s\n", err.message);
        result = NVJITLINK_INTERNAL;
    }
    free(ptx);
    return result;
}

enum nvjitlink_result nvJitLinkComplete(struct nvjitlink *link)
{
    struct pxr_error err = {0};
    if (!link)
        return NVJITLINK_NULL_INPUT;
    if (link->cubin || link->ptx)
        return NVJITLINK_SUCCESS;
    if (link->options.wants_ptx && (!link->behind || link->inputs.len > 0)) {
        nvjitlink_log_add(&link->errors, "ERROR: -ptx requires that all inputs have LTOIR\n");
        return NVJITLINK_INCORRECT_INPUT_TYPE;
    }
    enum nvjitlink_result result = link->behind ? take_link_time(link) : NVJITLINK_SUCCESS;
    if (result != NVJITLINK_SUCCESS || link->ptx)
        return result;
    enum pxr_status status = PXR_OK;
    if (link->inputs.len == 0)
        status = ptx_joined_add(&link->inputs,
                                (struct ptx_span){(const uint8_t *)EMPTY, sizeof EMPTY - 1},
                                "empty link", &err);
    if (status == PXR_OK)
        status = link_inputs(link, &err);
    if (status == PXR_OK)
        return NVJITLINK_SUCCESS;
    nvjitlink_log_add(&link->errors, "error   : %s\n", err.message);
    return NVJITLINK_INTERNAL;
}

enum nvjitlink_result nvJitLinkGetLinkedCubinSize(struct nvjitlink *link, size_t *bytes)
{
    if (!link || !bytes)
        return NVJITLINK_NULL_INPUT;
    if (!link->cubin)
        return NVJITLINK_INTERNAL;
    *bytes = link->cubin_bytes;
    return NVJITLINK_SUCCESS;
}

enum nvjitlink_result nvJitLinkGetLinkedCubin(struct nvjitlink *link, void *cubin)
{
    if (!link || !cubin)
        return NVJITLINK_NULL_INPUT;
    if (!link->cubin)
        return NVJITLINK_INTERNAL;
    memcpy(cubin, link->cubin, link->cubin_bytes);
    return NVJITLINK_SUCCESS;
}

static enum nvjitlink_result check_has_ptx(const struct nvjitlink *link)
{
    if (link->ptx)
        return NVJITLINK_SUCCESS;
    return link->options.wants_ptx ? NVJITLINK_INTERNAL : NVJITLINK_INVALID_INPUT;
}

enum nvjitlink_result nvJitLinkGetLinkedPtxSize(struct nvjitlink *link, size_t *bytes)
{
    if (!link || !bytes)
        return NVJITLINK_NULL_INPUT;
    enum nvjitlink_result result = check_has_ptx(link);
    if (result == NVJITLINK_SUCCESS)
        *bytes = link->ptx_bytes;
    return result;
}

enum nvjitlink_result nvJitLinkGetLinkedPtx(struct nvjitlink *link, char *ptx)
{
    if (!link || !ptx)
        return NVJITLINK_NULL_INPUT;
    enum nvjitlink_result result = check_has_ptx(link);
    if (result == NVJITLINK_SUCCESS)
        memcpy(ptx, link->ptx, link->ptx_bytes);
    return result;
}

/* With the NUL behind the text; 0 where there is none. */
enum nvjitlink_result nvJitLinkGetErrorLogSize(struct nvjitlink *link, size_t *bytes)
{
    if (!link || !bytes)
        return NVJITLINK_NULL_INPUT;
    *bytes = link->errors.text ? link->errors.len + 1 : 0;
    return NVJITLINK_SUCCESS;
}

enum nvjitlink_result nvJitLinkGetErrorLog(struct nvjitlink *link, char *text)
{
    if (!link || !text)
        return NVJITLINK_NULL_INPUT;
    if (link->errors.text)
        memcpy(text, link->errors.text, link->errors.len + 1);
    return NVJITLINK_SUCCESS;
}

/* Registers and the like of machine code that there is not. */
enum nvjitlink_result nvJitLinkGetInfoLogSize(struct nvjitlink *link, size_t *bytes)
{
    if (!link || !bytes)
        return NVJITLINK_NULL_INPUT;
    *bytes = 0;
    return NVJITLINK_SUCCESS;
}

enum nvjitlink_result nvJitLinkGetInfoLog(struct nvjitlink *link, char *text)
{
    return link && text ? NVJITLINK_SUCCESS : NVJITLINK_NULL_INPUT;
}

enum nvjitlink_result nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return NVJITLINK_NULL_INPUT;
    *major = NVJITLINK_MAJOR;
    *minor = NVJITLINK_MAJOR == 12 ? 9 : 0;
    return NVJITLINK_SUCCESS;
}
