/* SPDX-License-Identifier: Apache-2.0
 *
 * Links modules into one: decides which declarations of a name are one object and which of them
 * is the definition (PTX ISA, "Linking Directives"), then copies.
 */
#include "ptx/link_modules.h"

#include "ptx/function_handles.h"
#include "ptx/hash.h"
#include "ptx/list.h"
#include "ptx/short_address.h"

/* A name with external linkage. */
struct link_symbol {
    const char *name;
    struct ptx_var *var; /* one of the two */
    struct ptx_func *func;
    UT_hash_handle hh;
};

/* An object of the result and where its definition is. */
struct link_object {
    struct ptx_var *var;
    struct ptx_func *func;
    const struct ptx_var *from_var;
    const struct ptx_func *from_func;
    size_t input;
};

struct linker {
    struct ptx_module *module;
    struct ptx_link_input *inputs;
    size_t input_count;
    struct link_symbol *symbols;
    struct ptx_list vars;  /* struct link_object, by index in the result */
    struct ptx_list funcs; /* likewise */
    struct pxr_arena scratch;
    struct pxr_error *err;
};

static enum pxr_status fail_memory(const struct linker *linker)
{
    return pxr_fail(linker->err, PXR_OUT_OF_MEMORY, "not enough memory to link '%.200s'",
                    linker->module->source_name);
}

static enum pxr_status fail_conflict(const struct linker *linker, const char *name,
                                     const char *problem, size_t input)
{
    return pxr_fail(linker->err, PXR_BAD_PTX, "cannot link '%.200s': '%.200s' %s in '%.200s'",
                    linker->module->source_name, name, problem,
                    linker->inputs[input].module->source_name);
}

static struct link_symbol *find_symbol(const struct linker *linker, const char *name)
{
    struct link_symbol *symbol = NULL;

    HASH_FIND_STR(linker->symbols, name, symbol);
    return symbol;
}

static bool add_symbol(struct linker *linker, const char *name, struct ptx_var *var,
                       struct ptx_func *func)
{
    struct pxr_arena *hash_arena = &linker->scratch;
    bool hash_failed = false;
    struct link_symbol *symbol = pxr_arena_alloc(&linker->scratch, sizeof(*symbol));

    if (!symbol)
        return false;
    *symbol = (struct link_symbol){.name = name, .var = var, .func = func};
    HASH_ADD_KEYPTR(hh, linker->symbols, symbol->name, strlen(symbol->name), symbol);
    return !hash_failed;
}

/* ---- which definition wins ---- */

enum winner { WINNER_OLD, WINNER_NEW, WINNER_NONE };

/* Chooses between two definitions: a strong one beats weak and common ones; of equals the first
 * stays. */
static enum winner choose(enum ptx_linkage old, enum ptx_linkage again)
{
    bool old_yields = old == PTX_LINKAGE_WEAK || old == PTX_LINKAGE_COMMON;
    bool new_yields = again == PTX_LINKAGE_WEAK || again == PTX_LINKAGE_COMMON;

    if (new_yields)
        return WINNER_OLD;
    return old_yields ? WINNER_NEW : WINNER_NONE;
}

static enum winner choose_var(const struct ptx_var *old, const struct ptx_var *again)
{
    if (again->linkage == PTX_LINKAGE_EXTERN)
        return WINNER_OLD;
    if (old->linkage == PTX_LINKAGE_EXTERN)
        return WINNER_NEW;
    if (old->linkage == PTX_LINKAGE_COMMON && again->linkage == PTX_LINKAGE_COMMON)
        return again->size_bytes > old->size_bytes ? WINNER_NEW : WINNER_OLD;
    return choose(old->linkage, again->linkage);
}

static enum winner choose_func(const struct ptx_func *old, const struct ptx_func *again)
{
    if (!again->has_body)
        return WINNER_OLD;
    if (!old->has_body)
        return WINNER_NEW;
    return choose(old->linkage, again->linkage);
}

/* ---- variables ---- */

/* Overwrites the result's description of the variable, except its identity. */
static bool define_var(struct linker *linker, struct ptx_var *var, const struct ptx_var *from,
                       size_t input)
{
    struct link_object *object = ptx_list_at(&linker->vars, var->index, sizeof(*object));
    uint32_t index = var->index;
    uint32_t align_bytes = var->align_bytes;

    *var = *from;
    var->written = NULL;
    var->index = index;
    if (align_bytes > var->align_bytes)
        var->align_bytes = align_bytes;
    var->line += linker->inputs[input].first_line;
    var->name = pxr_arena_strndup(&linker->module->arena, from->name, strlen(from->name));
    *object = (struct link_object){.var = var, .from_var = from, .input = input};
    return var->name != NULL;
}

static enum pxr_status merge_var(struct linker *linker, struct ptx_var *var,
                                 const struct ptx_var *from, size_t input)
{
    if (!var || var->space != from->space)
        return fail_conflict(linker, from->name, "is declared differently", input);
    switch (choose_var(var, from)) {
    case WINNER_NONE:
        return fail_conflict(linker, from->name, "is defined a second time", input);
    case WINNER_NEW:
        if (!define_var(linker, var, from, input))
            return fail_memory(linker);
        break;
    case WINNER_OLD:
        if (from->align_bytes > var->align_bytes)
            var->align_bytes = from->align_bytes;
        break;
    }
    linker->inputs[input].vars[from->index] = var;
    return PXR_OK;
}

static enum pxr_status add_var(struct linker *linker, const struct ptx_var *from, size_t input)
{
    bool is_shared_name = from->linkage != PTX_LINKAGE_INTERNAL;
    struct link_symbol *symbol = is_shared_name ? find_symbol(linker, from->name) : NULL;
    struct link_object *object;
    struct ptx_var *var;

    if (symbol)
        return merge_var(linker, symbol->var, from, input);
    object = ptx_list_push(&linker->vars, sizeof(*object));
    var = pxr_arena_alloc(&linker->module->arena, sizeof(*var));
    if (!object || !var)
        return fail_memory(linker);
    var->index = (uint32_t)(linker->vars.count - 1);
    if (!define_var(linker, var, from, input) ||
        (is_shared_name && !add_symbol(linker, var->name, var, NULL)))
        return fail_memory(linker);
    linker->inputs[input].vars[from->index] = var;
    return PXR_OK;
}

/* ---- functions ---- */

static bool define_func(struct linker *linker, struct ptx_func *func, const struct ptx_func *from,
                        size_t input)
{
    struct link_object *object = ptx_list_at(&linker->funcs, func->index, sizeof(*object));
    uint32_t index = func->index;
    bool is_address_taken = func->is_address_taken;

    *func = *from;
    func->written = NULL;
    func->index = index;
    func->is_address_taken |= is_address_taken;
    func->line += linker->inputs[input].first_line;
    func->name = pxr_arena_strndup(&linker->module->arena, from->name, strlen(from->name));
    *object = (struct link_object){.func = func, .from_func = from, .input = input};
    return func->name != NULL;
}

static bool same_signature(const struct ptx_func *a, const struct ptx_func *b)
{
    if (a->is_entry != b->is_entry || a->param_count != b->param_count ||
        a->ret_count != b->ret_count)
        return false;
    for (uint32_t i = 0; i < a->param_count; i++)
        if (a->params[i]->size_bytes != b->params[i]->size_bytes)
            return false;
    for (uint32_t i = 0; i < a->ret_count; i++)
        if (a->rets[i]->size_bytes != b->rets[i]->size_bytes)
            return false;
    return true;
}

/* `func` still has the parameters of the declaration that made it, in its input. */
static enum pxr_status merge_func(struct linker *linker, struct ptx_func *func,
                                  const struct ptx_func *from, size_t input)
{
    if (!func || !same_signature(func, from))
        return fail_conflict(linker, from->name, "is declared differently", input);
    switch (choose_func(func, from)) {
    case WINNER_NONE:
        return fail_conflict(linker, from->name, "is defined a second time", input);
    case WINNER_NEW:
        if (!define_func(linker, func, from, input))
            return fail_memory(linker);
        break;
    case WINNER_OLD:
        func->is_address_taken |= from->is_address_taken;
        break;
    }
    linker->inputs[input].funcs[from->index] = func;
    return PXR_OK;
}

static enum pxr_status add_func(struct linker *linker, const struct ptx_func *from, size_t input)
{
    /* a function without a body is defined elsewhere, whatever its linkage says */
    bool is_shared_name = from->linkage != PTX_LINKAGE_INTERNAL || !from->has_body;
    struct link_symbol *symbol = is_shared_name ? find_symbol(linker, from->name) : NULL;
    struct link_object *object;
    struct ptx_func *func;

    if (symbol)
        return merge_func(linker, symbol->func, from, input);
    object = ptx_list_push(&linker->funcs, sizeof(*object));
    func = pxr_arena_alloc(&linker->module->arena, sizeof(*func));
    if (!object || !func)
        return fail_memory(linker);
    func->index = (uint32_t)(linker->funcs.count - 1);
    if (!define_func(linker, func, from, input) ||
        (is_shared_name && !add_symbol(linker, func->name, NULL, func)))
        return fail_memory(linker);
    linker->inputs[input].funcs[from->index] = func;
    return PXR_OK;
}

/* ---- the result ---- */

static int count_lines(struct pxr_str text)
{
    int lines = 1;

    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

/* The texts one after the other, each from a line of its own. */
static bool join_texts(struct linker *linker)
{
    size_t len = 0;
    int line = 0;
    char *text;

    for (size_t i = 0; i < linker->input_count; i++)
        len += linker->inputs[i].module->text.len + 1;
    text = pxr_arena_alloc(&linker->module->arena, len + 1);
    if (!text)
        return false;
    linker->module->text = (struct pxr_str){text, len};
    for (size_t i = 0; i < linker->input_count; i++) {
        struct ptx_link_input *input = &linker->inputs[i];

        memcpy(text, input->module->text.ptr, input->module->text.len);
        input->text = text;
        input->first_line = line;
        text += input->module->text.len;
        *text++ = '\n';
        line += count_lines(input->module->text);
    }
    return true;
}

static enum pxr_status prepare(struct linker *linker, const struct ptx_module *const *modules,
                               size_t module_count)
{
    linker->inputs = pxr_arena_alloc_array(&linker->scratch, module_count, sizeof(*linker->inputs));
    if (!linker->inputs)
        return fail_memory(linker);
    linker->input_count = module_count;
    for (size_t i = 0; i < module_count; i++) {
        struct ptx_link_input *input = &linker->inputs[i];

        input->module = modules[i];
        input->vars = pxr_arena_alloc_array(&linker->scratch, modules[i]->var_count,
                                            sizeof(struct ptx_var *));
        input->funcs = pxr_arena_alloc_array(&linker->scratch, modules[i]->func_count,
                                             sizeof(struct ptx_func *));
        if (!input->vars || !input->funcs)
            return fail_memory(linker);
        if (modules[i]->address_bits != modules[0]->address_bits)
            return pxr_fail(linker->err, PXR_BAD_PTX,
                            "cannot link '%.200s': its parts have different address sizes",
                            linker->module->source_name);
        if (modules[i]->version > linker->module->version)
            linker->module->version = modules[i]->version;
        if (modules[i]->target > linker->module->target) {
            linker->module->target = modules[i]->target;
            linker->module->target_suffix = modules[i]->target_suffix;
        }
        linker->module->is_debug |= modules[i]->is_debug;
    }
    linker->module->address_bits = modules[0]->address_bits;
    return join_texts(linker) ? PXR_OK : fail_memory(linker);
}

static enum pxr_status merge_all(struct linker *linker)
{
    for (size_t i = 0; i < linker->input_count; i++) {
        const struct ptx_module *module = linker->inputs[i].module;
        enum pxr_status status = PXR_OK;

        for (uint32_t k = 0; k < module->var_count && status == PXR_OK; k++)
            status = add_var(linker, module->vars[k], i);
        for (uint32_t k = 0; k < module->func_count && status == PXR_OK; k++)
            status = add_func(linker, module->funcs[k], i);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status copy_all(struct linker *linker)
{
    struct ptx_module *module = linker->module;
    struct link_object *vars = linker->vars.items;
    struct link_object *funcs = linker->funcs.items;
    struct ptx_var **var_list =
        pxr_arena_alloc_array(&module->arena, linker->vars.count, sizeof(*var_list));
    struct ptx_func **func_list =
        pxr_arena_alloc_array(&module->arena, linker->funcs.count, sizeof(*func_list));

    if (!var_list || !func_list)
        return fail_memory(linker);
    for (size_t i = 0; i < linker->vars.count; i++) {
        var_list[i] = vars[i].var;
        if (!ptx_link_copy_init(&module->arena, &linker->inputs[vars[i].input], vars[i].from_var,
                                vars[i].var))
            return fail_memory(linker);
    }
    for (size_t i = 0; i < linker->funcs.count; i++) {
        func_list[i] = funcs[i].func;
        if (!ptx_link_copy_func(&module->arena, &linker->inputs[funcs[i].input], funcs[i].from_func,
                                funcs[i].func))
            return fail_memory(linker);
    }
    ptx_number_handles(func_list, linker->funcs.count);
    module->vars = (const struct ptx_var *const *)var_list;
    module->var_count = (uint32_t)linker->vars.count;
    module->funcs = (const struct ptx_func *const *)func_list;
    module->func_count = (uint32_t)linker->funcs.count;
    module->makes_short_addresses = ptx_makes_short_addresses(module);
    return PXR_OK;
}

enum pxr_status ptx_link(const struct ptx_module *const *modules, size_t module_count,
                         const char *source_name, struct ptx_module **linked, struct pxr_error *err)
{
    struct linker linker = {.err = err, .module = calloc(1, sizeof(struct ptx_module))};
    enum pxr_status status;

    *linked = NULL;
    if (module_count == 0) {
        free(linker.module);
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "there are no modules to link");
    }
    if (!linker.module)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory to link '%.200s'", source_name);
    pxr_arena_init(&linker.module->arena, 0);
    pxr_arena_init(&linker.scratch, 0);
    linker.module->source_name =
        pxr_arena_strndup(&linker.module->arena, source_name, strlen(source_name));
    status =
        linker.module->source_name ? prepare(&linker, modules, module_count) : PXR_OUT_OF_MEMORY;
    if (status == PXR_OK)
        status = merge_all(&linker);
    if (status == PXR_OK)
        status = copy_all(&linker);
    if (status == PXR_OK)
        *linked = linker.module;
    else
        ptx_module_destroy(linker.module);
    ptx_list_fini(&linker.vars);
    ptx_list_fini(&linker.funcs);
    pxr_arena_fini(&linker.scratch);
    return status;
}
