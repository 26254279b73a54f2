/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded code, and which way it is loaded.
 */
#include "jit/code.h"

#include <stdlib.h>
#include <string.h>

#include "jit/loader.h"
#include "jit/provider.h"
#include "util/options.h"

static void copy_properties(struct jit_code *code, const struct jit_object *object)
{
    code->is_fused = pxr_collapse_is_fused(object->collapse);
    code->may_wait = object->may_wait;
    code->hands_over = object->hands_over;
    code->flushes = object->flushes;
    code->frame_fixed_bytes = object->frame_fixed_bytes;
    code->frame_warp_bytes = object->frame_warp_bytes;
    code->frame_thread_bytes = object->frame_thread_bytes;
}

/* ORC for an object that is at hand: where it costs no opening of LLVM, and for who wants to look
 * into the code. */
static bool prefers_orc(const struct pxr_options *options)
{
    return jit_provider_is_open() || options->debug != PXR_DEBUG_NONE ||
           options->profile != PXR_PROFILE_NONE;
}

static bool uses_orc(bool is_fresh)
{
    const struct pxr_options *options = pxr_options_get();
    return options->loader == PXR_LOADER_ORC ||
           (options->loader == PXR_LOADER_AUTO && (is_fresh || prefers_orc(options)));
}

/* request: what to compile into *object first; NULL: it is there. */
static enum pxr_status load(const struct jit_compiler *compiler, const struct jit_loading *loading,
                            const struct jit_request *request, struct jit_object *object,
                            struct jit_code **code, struct pxr_error *err)
{
    *code = NULL;
    struct jit_code *loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    enum pxr_status status = compiler
                                 ? jit_orc_load(compiler, loading, request, object, loaded, err)
                                 : jit_loader_load(loading, object, loaded, err);
    if (status != PXR_OK) {
        jit_unload(loaded);
        return status;
    }
    copy_properties(loaded, object);
    *code = loaded;
    return PXR_OK;
}

enum pxr_status jit_load(const struct jit_object *object, const struct jit_loading *loading,
                         struct jit_code **code, struct pxr_error *err)
{
    *code = NULL;
    const struct jit_compiler *compiler = NULL;
    enum pxr_status status = PXR_OK;
    if (uses_orc(false))
        status = jit_provider_get(&compiler, err);
    struct jit_object given = *object; // only read
    return status == PXR_OK ? load(compiler, loading, NULL, &given, code, err) : status;
}

/* As two steps that know nothing of each other. */
static enum pxr_status compile_and_load(const struct jit_request *request,
                                        const struct jit_loading *loading,
                                        struct jit_object *object, struct jit_code **code,
                                        struct pxr_error *err)
{
    enum pxr_status status = jit_compile(request, object, err);
    if (status != PXR_OK)
        return status;
    if (loading->keep)
        loading->keep(loading->keep_argument, object);
    return load(NULL, loading, NULL, object, code, err);
}

enum pxr_status jit_make(const struct jit_request *request, const struct jit_loading *loading,
                         struct jit_object *object, struct jit_code **code, struct pxr_error *err)
{
    *code = NULL;
    memset(object, 0, sizeof *object);
    const struct jit_compiler *compiler;
    enum pxr_status status = jit_provider_get(&compiler, err);
    if (status == PXR_OK)
        status = uses_orc(true) ? load(compiler, loading, request, object, code, err)
                                : compile_and_load(request, loading, object, code, err);
    if (status != PXR_OK)
        jit_object_fini(object);
    return status;
}

void jit_unload(struct jit_code *code)
{
    if (!code)
        return;
    if (code->linked)
        code->compiler->unlink(code->linked);
    pxr_area_unmap(&code->area);
    jit_lines_fini(&code->lines);
    free(code);
}

jit_kernel_fn jit_code_entry(const struct jit_code *code)
{
    return code->is_fused ? NULL : code->entry;
}

rt_fused_fn jit_code_fused(const struct jit_code *code)
{
    return code->is_fused ? (rt_fused_fn)(void (*)(void))code->entry : NULL;
}

uint64_t jit_code_frame_bytes(const struct jit_code *code, uint32_t threads)
{
    if (!code->is_fused)
        return 0;
    uint64_t warps = (threads + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
    return code->frame_fixed_bytes +
           warps * (code->frame_warp_bytes + RT_WARP_SIZE * code->frame_thread_bytes);
}

_Atomic(uint32_t) *jit_code_pace(struct jit_code *code)
{
    return &code->pace;
}

bool jit_code_may_wait(const struct jit_code *code)
{
    return code->may_wait;
}

bool jit_code_hands_over(const struct jit_code *code)
{
    return code->hands_over;
}

bool jit_code_flushes(const struct jit_code *code)
{
    return code->flushes;
}

uintptr_t jit_code_text(const struct jit_code *code)
{
    return (uintptr_t)code->area.base;
}

size_t jit_code_text_bytes(const struct jit_code *code)
{
    return code->text_bytes;
}

int jit_code_line(const struct jit_code *code, uintptr_t pc)
{
    if (pc - jit_code_text(code) >= code->text_bytes)
        return 0;
    return (int)jit_lines_find(&code->lines, pc);
}
