/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules: storage for a library's variables in one context, with their initial values.
 */
#include "cudart/core/code/module.h"

#include "cudart/core/check/findings.h"
#include "cudart/core/memory/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/reference.h"
#include "cudart/core/streams/context.h"

#define VARIABLE_ALIGN 16

/* Guards the lists of modules of all libraries and contexts. Taken last. */
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;

bool crt_module_is_valid(const struct crt_module *module)
{
    return crt_object_is(module, CRT_KIND_MODULE);
}

/* With --check variables lie so far apart that an access beyond one does not reach the next. */
#define CHECKED_GAP_BYTES 256

static bool needs_storage(const struct ptx_var *var)
{
    return (var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST) && !var->is_managed &&
           !var->is_unsized && var->linkage != PTX_LINKAGE_EXTERN;
}

static size_t align_up(size_t value, size_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* Places every variable: slots get offsets into the storage, returns the storage's size. */
static size_t place_variables(const struct ptx_outline *outline, void **slots)
{
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < outline->var_count; i++) {
        const struct ptx_var *var = outline->vars[i];
        if (!needs_storage(var))
            continue;
        size_t align = var->align_bytes > VARIABLE_ALIGN ? var->align_bytes : VARIABLE_ALIGN;
        size_bytes = align_up(size_bytes, align);
        slots[var->index] = (void *)size_bytes;
        size_bytes += var->size_bytes + (crt_check_is_on() ? CHECKED_GAP_BYTES : 0);
    }
    return size_bytes;
}

/* What kernels may access is each variable, not what lies between them. */
static void open_variables(const struct crt_module *module, size_t size_bytes)
{
    const struct ptx_outline *outline = module->library->outline;
    crt_shadow_close(module->storage, size_bytes);
    for (uint32_t i = 0; i < outline->var_count; i++)
        if (needs_storage(outline->vars[i]))
            crt_shadow_open((uintptr_t)module->slots[i], outline->vars[i]->size_bytes);
}

static uint64_t reloc_value(const struct crt_module *module, const struct ptx_reloc *reloc)
{
    uint64_t value = 0;
    if (reloc->var)
        value = (uint64_t)(uintptr_t)module->slots[reloc->var->index];
    return (value + (uint64_t)reloc->addend) >> reloc->shift_bits;
}

static void initialise_variable(const struct crt_module *module, const struct ptx_var *var)
{
    uint8_t *bytes = module->slots[var->index];
    if (var->init_bytes)
        memcpy(bytes, var->init_bytes, var->size_bytes);
    for (uint32_t i = 0; i < var->reloc_count; i++) {
        const struct ptx_reloc *reloc = &var->relocs[i];
        uint64_t value = reloc_value(module, reloc);
        if (reloc->size_bytes <= sizeof value && reloc->offset_bytes <= var->size_bytes &&
            reloc->size_bytes <= var->size_bytes - reloc->offset_bytes)
            memcpy(bytes + reloc->offset_bytes, &value, reloc->size_bytes);
    }
}

/* Managed variables are the library's, the same in every context. */
static enum crt_result bind_managed(struct crt_module *module)
{
    struct crt_library *library = module->library;
    for (uint32_t i = 0; i < library->outline->var_count; i++) {
        const struct ptx_var *var = library->outline->vars[i];
        uintptr_t address;
        size_t size_bytes;
        if (!var->is_managed)
            continue;
        enum crt_result result = crt_library_get_managed(library, var->name, &address, &size_bytes);
        if (result != CRT_SUCCESS)
            return result;
        module->slots[var->index] = (void *)address;
    }
    return CRT_SUCCESS;
}

static enum crt_result fill_module(struct crt_module *module)
{
    const struct ptx_outline *outline = module->library->outline;
    module->slots = calloc(outline->var_count + 1, sizeof module->slots[0]);
    if (!module->slots)
        return CRT_OUT_OF_MEMORY;
    size_t size_bytes = place_variables(outline, module->slots);
    enum crt_result result = bind_managed(module);
    if (result == CRT_SUCCESS && size_bytes)
        result = crt_arena_alloc(size_bytes, CRT_MEMORY_MODULE, 0, module->ctx, &module->storage);
    if (result != CRT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < outline->var_count; i++)
        if (needs_storage(outline->vars[i]))
            module->slots[i] = (void *)(module->storage + (uintptr_t)module->slots[i]);
    open_variables(module, size_bytes);
    for (uint32_t i = 0; i < outline->var_count; i++)
        if (needs_storage(outline->vars[i]))
            initialise_variable(module, outline->vars[i]);
    return CRT_SUCCESS;
}

static void destroy_module(struct crt_module *module)
{
    crt_reference_end(NULL, module);
    if (module->storage)
        crt_arena_free(module->storage, CRT_MEMORY_MODULE);
    free(module->slots);
    crt_object_destroy(CRT_KIND_MODULE, module);
}

static struct crt_module *find_module_locked(struct crt_library *library,
                                             const struct crt_context *ctx)
{
    struct crt_module *module = library->modules;
    while (module && module->ctx != ctx)
        module = module->next_in_library;
    return module;
}

static struct crt_module *find_module(struct crt_library *library, const struct crt_context *ctx)
{
    pthread_mutex_lock(&lists_lock);
    struct crt_module *module = find_module_locked(library, ctx);
    pthread_mutex_unlock(&lists_lock);
    return module;
}

static enum crt_result create_module(struct crt_library *library, struct crt_context *ctx,
                                     struct crt_module **module)
{
    struct crt_module *created = crt_object_create(CRT_KIND_MODULE, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->library = library;
    created->ctx = ctx;
    enum crt_result result = fill_module(created);
    if (result != CRT_SUCCESS) {
        destroy_module(created);
        return result;
    }
    /* Two threads may both have made one: the first to be listed is the module. */
    pthread_mutex_lock(&lists_lock);
    struct crt_module *listed = find_module_locked(library, ctx);
    if (!listed) {
        created->next_in_library = library->modules;
        library->modules = created;
        created->next_in_ctx = ctx->modules;
        ctx->modules = created;
    }
    pthread_mutex_unlock(&lists_lock);
    if (listed)
        destroy_module(created);
    *module = listed ? listed : created;
    return CRT_SUCCESS;
}

enum crt_result crt_module_get(struct crt_library *library, struct crt_context *ctx,
                               struct crt_module **module)
{
    struct crt_module *found = find_module(library, ctx);
    if (found) {
        *module = found;
        return CRT_SUCCESS;
    }
    enum crt_result result = crt_library_open(library);
    return result == CRT_SUCCESS ? create_module(library, ctx, module) : result;
}

enum crt_result crt_module_get_global(struct crt_module *module, const char *name,
                                      uintptr_t *address, size_t *size_bytes)
{
    const struct ptx_var *var = ptx_outline_find_var(module->library->outline, name);
    if (!var || !module->slots[var->index])
        return CRT_NOT_FOUND;
    *address = (uintptr_t)module->slots[var->index];
    *size_bytes = var->size_bytes;
    return CRT_SUCCESS;
}

enum crt_result crt_module_get_reference(struct crt_module *module, uint32_t mark, const char *name,
                                         struct crt_reference **reference)
{
    const struct ptx_var *var = ptx_outline_find_var(module->library->outline, name);
    enum ptx_type type = mark == RT_TEXTURE_MARK ? PTX_TYPE_TEXREF : PTX_TYPE_SURFREF;
    if (!var || var->type != type || !module->slots[var->index])
        return CRT_NOT_FOUND;
    return crt_reference_get(module->ctx, mark, module->slots[var->index], module, reference);
}

static void unlink_from_library(struct crt_module *module)
{
    struct crt_module **link = &module->library->modules;
    while (*link && *link != module)
        link = &(*link)->next_in_library;
    if (*link)
        *link = module->next_in_library;
}

static void unlink_from_context(struct crt_module *module)
{
    struct crt_module **link = &module->ctx->modules;
    while (*link && *link != module)
        link = &(*link)->next_in_ctx;
    if (*link)
        *link = module->next_in_ctx;
}

/* One module after the other, each whole with the lock held: the library and the context of a
 * module may end at the same time, and neither may find it half gone. */
void crt_module_destroy_all(struct crt_context *ctx)
{
    for (;;) {
        pthread_mutex_lock(&lists_lock);
        struct crt_module *module = ctx->modules;
        struct crt_library *private_library = NULL;
        if (module) {
            ctx->modules = module->next_in_ctx;
            unlink_from_library(module);
            /* A library made by cuModuleLoad has no other owner. */
            if (module->library->is_private)
                private_library = module->library;
            destroy_module(module);
        }
        pthread_mutex_unlock(&lists_lock);
        if (!module)
            return;
        if (private_library)
            crt_library_unload(private_library);
    }
}

enum crt_result crt_module_wait_idle(struct crt_library *library)
{
    for (size_t n = 0;; n++) {
        pthread_mutex_lock(&lists_lock);
        struct crt_module *module = library->modules;
        for (size_t i = 0; module && i < n; i++)
            module = module->next_in_library;
        struct crt_context *ctx = module ? module->ctx : NULL;
        if (ctx)
            crt_context_hold(ctx); /* which cannot end before its module has gone from the list */
        pthread_mutex_unlock(&lists_lock);
        if (!ctx)
            return CRT_SUCCESS;
        enum crt_result result = crt_context_wait(ctx);
        crt_context_let_go(ctx);
        /* Other results tell of kernels that have ended badly: they have ended. */
        if (result == CRT_OUT_OF_MEMORY || result == CRT_NOT_PERMITTED)
            return result;
    }
}

void crt_module_destroy_library(struct crt_library *library)
{
    for (;;) {
        pthread_mutex_lock(&lists_lock);
        struct crt_module *module = library->modules;
        if (module) {
            library->modules = module->next_in_library;
            unlink_from_context(module);
            destroy_module(module);
        }
        pthread_mutex_unlock(&lists_lock);
        if (!module)
            return;
    }
}

const struct ptx_var *crt_module_nearest(struct crt_library *library, const struct crt_context *ctx,
                                         uintptr_t address, uintptr_t *base)
{
    const struct crt_module *module = find_module(library, ctx);
    const struct ptx_var *nearest = NULL;
    for (uint32_t i = 0; module && i < library->outline->var_count; i++) {
        uintptr_t begin = (uintptr_t)module->slots[i];
        if (needs_storage(library->outline->vars[i]) && begin <= address &&
            (!nearest || begin > *base)) {
            nearest = library->outline->vars[i];
            *base = begin;
        }
    }
    return nearest;
}
