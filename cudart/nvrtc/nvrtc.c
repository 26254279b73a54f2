/* SPDX-License-Identifier: Apache-2.0
 *
 * libnvrtc.so.N in front of the toolkit's own, which compiles. A request for machine code becomes
 * one for PTX, and is answered with a cubin that carries that PTX (ptx/cubin.h).
 */
#include "cudart/nvrtc/nvrtc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/nvrtc/behind.h"
#include "ptx/cubin.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static void *nvrtc_behind(const char *function, const void *caller)
{
    static const char *const NAMES[] = {NVRTC_SONAME, "libnvrtc.so.13", "libnvrtc.so.12",
                                        "libnvrtc.so.11.2", NULL};
    static struct behind nvrtc = {
        .names = NAMES,
        .missing = "this program compiles CUDA C++ while it runs, and no NVRTC is installed: "
                   "install the toolkit's " NVRTC_SONAME " and name its folder in LD_LIBRARY_PATH",
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    return behind_find(&nvrtc, function, caller);
}

struct nvrtc_program {
    void *behind;
    bool wants_cubin;
    unsigned arch;
    uint8_t *cubin; /* made when it is asked for */
    size_t cubin_bytes;
};

#define OURS(name)
#define PLAIN(name, parameters, arguments)                                                         \
    EXPORT enum nvrtc_result name parameters;                                                      \
    enum nvrtc_result name parameters                                                              \
    {                                                                                              \
        enum nvrtc_result(*behind) parameters = nvrtc_behind(#name, CALLER);                       \
        return behind ? behind arguments : NVRTC_INTERNAL_ERROR;                                   \
    }
/* The program of the NVRTC behind is passed where ours is declared: both are pointers. */
#define PROGRAM(name, parameters, arguments)                                                       \
    EXPORT enum nvrtc_result name parameters;                                                      \
    enum nvrtc_result name parameters                                                              \
    {                                                                                              \
        enum nvrtc_result(*behind) parameters = nvrtc_behind(#name, CALLER);                       \
        if (!program)                                                                              \
            return NVRTC_INVALID_PROGRAM;                                                          \
        return behind ? behind arguments : NVRTC_INTERNAL_ERROR;                                   \
    }
#include "cudart/nvrtc/functions.def"
#undef PROGRAM
#undef PLAIN
#undef OURS

EXPORT const char *nvrtcGetErrorString(enum nvrtc_result result);
EXPORT enum nvrtc_result nvrtcCreateProgram(struct nvrtc_program **program, const char *source,
                                            const char *name, int header_count,
                                            const char *const *headers,
                                            const char *const *header_names);
EXPORT enum nvrtc_result nvrtcDestroyProgram(struct nvrtc_program **program);
EXPORT enum nvrtc_result nvrtcCompileProgram(struct nvrtc_program *program, int option_count,
                                             const char *const *options);
EXPORT enum nvrtc_result nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *bytes);
EXPORT enum nvrtc_result nvrtcGetCUBIN(struct nvrtc_program *program, char *image);

const char *nvrtcGetErrorString(enum nvrtc_result result)
{
    const char *(*behind)(enum nvrtc_result) = nvrtc_behind("nvrtcGetErrorString", CALLER);
    if (behind)
        return behind(result);
    return result == NVRTC_PROGRAM_CREATION_FAILURE ? "NVRTC_ERROR_PROGRAM_CREATION_FAILURE"
                                                    : "NVRTC_ERROR_INTERNAL_ERROR";
}

enum nvrtc_result nvrtcCreateProgram(struct nvrtc_program **program, const char *source,
                                     const char *name, int header_count, const char *const *headers,
                                     const char *const *header_names)
{
    enum nvrtc_result (*behind)(void **, const char *, const char *, int, const char *const *,
                                const char *const *) = nvrtc_behind("nvrtcCreateProgram", CALLER);
    if (!behind)
        return NVRTC_PROGRAM_CREATION_FAILURE;
    if (!program)
        return NVRTC_INVALID_PROGRAM;
    struct nvrtc_program *created = calloc(1, sizeof *created);
    if (!created)
        return NVRTC_OUT_OF_MEMORY;
    enum nvrtc_result result =
        behind(&created->behind, source, name, header_count, headers, header_names);
    if (result != NVRTC_SUCCESS) {
        free(created);
        created = NULL;
    }
    *program = created;
    return result;
}

enum nvrtc_result nvrtcDestroyProgram(struct nvrtc_program **program)
{
    enum nvrtc_result (*behind)(void **) = nvrtc_behind("nvrtcDestroyProgram", CALLER);
    if (!program || !*program || !behind)
        return NVRTC_INVALID_PROGRAM;
    enum nvrtc_result result = behind(&(*program)->behind);
    free((*program)->cubin);
    free(*program);
    *program = NULL;
    return result;
}

/* The architectures that the NVRTC behind has; the caller frees them. */
static int *list_supported(int *count)
{
    enum nvrtc_result (*get_count)(int *) = nvrtc_behind("nvrtcGetNumSupportedArchs", NULL);
    enum nvrtc_result (*get)(int *) = nvrtc_behind("nvrtcGetSupportedArchs", NULL);
    *count = 0;
    if (!get_count || !get || get_count(count) != NVRTC_SUCCESS || *count <= 0)
        *count = 0;
    int *list = calloc((size_t)*count + 1, sizeof *list);
    if (!list || (*count > 0 && get(list) != NVRTC_SUCCESS))
        *count = 0;
    return list;
}

enum nvrtc_result nvrtcCompileProgram(struct nvrtc_program *program, int option_count,
                                      const char *const *options)
{
    enum nvrtc_result (*behind)(void *, int, const char *const *) =
        nvrtc_behind("nvrtcCompileProgram", CALLER);
    if (!program || !behind)
        return NVRTC_INVALID_PROGRAM;
    if (option_count < 0 || (option_count > 0 && !options))
        return NVRTC_INVALID_INPUT;
    int supported_count;
    int *supported = list_supported(&supported_count);
    struct nvrtc_options made;
    enum nvrtc_result result =
        nvrtc_options_make(option_count, options, supported, supported_count, &made);
    if (result == NVRTC_SUCCESS) {
        program->wants_cubin = made.wants_cubin;
        program->arch = made.arch;
        free(program->cubin);
        program->cubin = NULL;
        program->cubin_bytes = 0;
        result = behind(program->behind, made.count, made.list);
    }
    nvrtc_options_fini(&made);
    free(supported);
    return result;
}

static enum nvrtc_result make_cubin(struct nvrtc_program *program)
{
    size_t bytes = 0;
    enum nvrtc_result result = program->cubin ? NVRTC_SUCCESS : nvrtcGetPTXSize(program, &bytes);
    if (program->cubin || result != NVRTC_SUCCESS)
        return result;
    char *text = calloc(1, bytes + 1);
    result = text ? nvrtcGetPTX(program, text) : NVRTC_OUT_OF_MEMORY;
    // Link-time code comes without PTX: then there is no cubin either.
    if (result == NVRTC_SUCCESS && *text == '\0') {
        free(text);
        return NVRTC_SUCCESS;
    }
    struct ptx_span span = {(const uint8_t *)text, text ? strlen(text) : 0};
    if (result == NVRTC_SUCCESS && ptx_cubin_make(&span, 1, program->arch, &program->cubin,
                                                  &program->cubin_bytes, NULL) != PXR_OK)
        result = NVRTC_OUT_OF_MEMORY;
    free(text);
    return result;
}

enum nvrtc_result nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *bytes)
{
    enum nvrtc_result (*behind)(void *, size_t *) = nvrtc_behind("nvrtcGetCUBINSize", CALLER);
    if (!program)
        return NVRTC_INVALID_PROGRAM;
    if (!program->wants_cubin)
        return behind ? behind(program->behind, bytes) : NVRTC_INTERNAL_ERROR;
    enum nvrtc_result result = bytes ? make_cubin(program) : NVRTC_INVALID_INPUT;
    if (result == NVRTC_SUCCESS)
        *bytes = program->cubin_bytes;
    return result;
}

enum nvrtc_result nvrtcGetCUBIN(struct nvrtc_program *program, char *image)
{
    enum nvrtc_result (*behind)(void *, char *) = nvrtc_behind("nvrtcGetCUBIN", CALLER);
    if (!program)
        return NVRTC_INVALID_PROGRAM;
    if (!program->wants_cubin)
        return behind ? behind(program->behind, image) : NVRTC_INTERNAL_ERROR;
    enum nvrtc_result result = image ? make_cubin(program) : NVRTC_INVALID_INPUT;
    if (result == NVRTC_SUCCESS && program->cubin)
        memcpy(image, program->cubin, program->cubin_bytes);
    return result;
}
