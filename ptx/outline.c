/* SPDX-License-Identifier: Apache-2.0
 *
 * See outline.h. One description of the bytes serves both directions: each code_… function writes
 * its argument, or fills it in from what it reads. Numbers are written seven bits to a byte, texts
 * with their length and a zero, lists behind their count.
 */
#include "ptx/outline.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096

struct codec {
    bool is_writing;
    bool is_bad; /* no memory, or what is read is no outline */
    uint8_t *bytes;
    size_t len; /* written, or all there are */
    size_t cap;
    size_t at; /* the next to be read */
    struct pxr_arena *arena;
    struct ptx_var *vars; /* the outline's, while it is read */
    uint32_t var_count;
};

/* ---- bytes, numbers, texts ---- */

static uint8_t *make_room(struct codec *c, size_t count)
{
    if (c->is_bad || count > SIZE_MAX / 2 - c->len)
        c->is_bad = true;
    if (!c->is_bad && c->len + count > c->cap) {
        size_t cap = (c->len + count) * 2 + FIRST_BYTES;
        uint8_t *grown = realloc(c->bytes, cap);
        c->is_bad = !grown;
        c->bytes = grown ? grown : c->bytes;
        c->cap = grown ? cap : c->cap;
    }
    if (c->is_bad)
        return NULL;
    c->len += count;
    return c->bytes + c->len - count;
}

/* Bytes that are read stay where they are. */
static void code_bytes(struct codec *c, const uint8_t **bytes, size_t count)
{
    if (c->is_writing) {
        uint8_t *room = make_room(c, count);
        if (room && count > 0)
            memcpy(room, *bytes, count);
        return;
    }
    c->is_bad |= count > c->len - c->at;
    if (c->is_bad)
        return;
    *bytes = c->bytes + c->at;
    c->at += count;
}

static void write_number(struct codec *c, uint64_t number)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[count++] = (uint8_t)(number | 0x80);
    bytes[count++] = (uint8_t)number;
    code_bytes(c, &(const uint8_t *){bytes}, count);
}

static uint64_t read_number(struct codec *c)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->len; shift += 7) {
        uint8_t byte = c->bytes[c->at++];
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    c->is_bad = true;
    return 0;
}

/* Returns the number, or 0 if one is read that is larger than max. */
static uint64_t code_number(struct codec *c, uint64_t number, uint64_t max)
{
    if (c->is_writing) {
        write_number(c, number);
        return number;
    }
    number = read_number(c);
    c->is_bad |= number > max;
    return c->is_bad ? 0 : number;
}

#define NUMBER(c, field, max)                                                                      \
    ((field) = (__typeof__(field))code_number(c, (uint64_t)(field), (uint64_t)(max)))
#define FLAG(c, field)   NUMBER(c, field, 1)
#define BITS32(c, field) NUMBER(c, field, UINT32_MAX)
#define BITS64(c, field) NUMBER(c, field, UINT64_MAX)

/* Of things of which each takes at least one byte. */
static void code_count(struct codec *c, uint32_t *count)
{
    NUMBER(c, *count, c->is_writing ? UINT32_MAX : c->len - c->at);
}

static void code_text(struct codec *c, const char **text)
{
    const uint8_t *bytes = (const uint8_t *)(*text ? *text : "");
    uint64_t len = c->is_writing ? strlen((const char *)bytes) : 0;
    BITS64(c, len);
    c->is_bad |= !c->is_writing && len >= c->len - c->at;
    if (c->is_bad)
        return;
    code_bytes(c, &bytes, (size_t)len + 1);
    c->is_bad |= bytes[len] != '\0';
    *text = (const char *)bytes;
}

/* Zeroed memory of the outline; NULL for none. */
static void *new_array(struct codec *c, size_t count, size_t size_bytes)
{
    void *array = c->is_bad ? NULL : pxr_arena_alloc_array(c->arena, count, size_bytes);
    c->is_bad |= !array;
    return array;
}

static void code_triple(struct codec *c, uint32_t numbers[3])
{
    for (int i = 0; i < 3; i++)
        BITS32(c, numbers[i]);
}

/* ---- variables ---- */

static size_t length_without_zeros(const uint8_t *bytes, size_t count)
{
    while (bytes && count > 0 && bytes[count - 1] == 0)
        count--;
    return bytes ? count : 0;
}

/* Zeros at the end are left out: large arrays often have nothing else. */
static void code_init(struct codec *c, struct ptx_var *var)
{
    const uint8_t *bytes = var->init_bytes;
    uint64_t kept = length_without_zeros(bytes, (size_t)var->size_bytes);
    NUMBER(c, kept, var->size_bytes);
    code_bytes(c, &bytes, (size_t)kept);
    if (c->is_writing || kept == 0 || c->is_bad)
        return;
    if (kept < var->size_bytes) {
        uint8_t *all = new_array(c, 1, (size_t)var->size_bytes);
        if (!all)
            return;
        memcpy(all, bytes, (size_t)kept);
        bytes = all;
    }
    var->init_bytes = bytes;
}

/* The address of a function is its handle, a number. */
static void code_reloc(struct codec *c, struct ptx_reloc *reloc)
{
    uint64_t target = reloc->var ? (uint64_t)reloc->var->index + 1 : 0;
    if (reloc->func) {
        reloc->addend =
            (int64_t)((uint64_t)reloc->addend + (uint64_t)ptx_func_handle(NULL, reloc->func));
        reloc->func = NULL;
    }
    BITS64(c, reloc->offset_bytes);
    BITS32(c, reloc->size_bytes);
    NUMBER(c, reloc->shift_bits, 63);
    FLAG(c, reloc->is_generic);
    BITS64(c, reloc->addend);
    NUMBER(c, target, c->var_count);
    if (!c->is_writing && target > 0)
        reloc->var = &c->vars[target - 1];
}

static void code_relocs(struct codec *c, struct ptx_var *var)
{
    code_count(c, &var->reloc_count);
    struct ptx_reloc *relocs = NULL;
    if (!c->is_writing && var->reloc_count > 0)
        relocs = new_array(c, var->reloc_count, sizeof *relocs);
    for (uint32_t i = 0; i < var->reloc_count && !c->is_bad; i++) {
        struct ptx_reloc copy = c->is_writing ? var->relocs[i] : (struct ptx_reloc){0};
        code_reloc(c, &copy);
        if (relocs)
            relocs[i] = copy;
    }
    if (relocs)
        var->relocs = relocs;
}

static void code_var(struct codec *c, struct ptx_var *var)
{
    code_text(c, &var->name);
    NUMBER(c, var->space, PTX_SPACE_PARAM);
    NUMBER(c, var->type, PTX_TYPE_COUNT - 1);
    NUMBER(c, var->vector_len, 8);
    BITS64(c, var->elem_count);
    FLAG(c, var->is_array);
    FLAG(c, var->is_unsized);
    FLAG(c, var->is_managed);
    FLAG(c, var->is_module_scope);
    FLAG(c, var->is_input_param);
    FLAG(c, var->is_pointer);
    NUMBER(c, var->pointee_space, PTX_SPACE_PARAM);
    BITS32(c, var->pointee_align_bytes);
    NUMBER(c, var->linkage, PTX_LINKAGE_COMMON);
    BITS32(c, var->align_bytes);
    c->is_bad |= (var->align_bytes & (var->align_bytes - 1)) != 0;
    BITS64(c, var->size_bytes);
    BITS32(c, var->index);
    BITS32(c, var->param_offset_bytes);
    code_init(c, var);
    code_relocs(c, var);
}

/* A list of variables; returns the new one when it is read. */
static struct ptx_var *code_vars(struct codec *c, const struct ptx_var *const **list,
                                 uint32_t *count, bool are_the_modules)
{
    code_count(c, count);
    const struct ptx_var **pointers = NULL;
    struct ptx_var *vars = NULL;
    if (!c->is_writing) {
        pointers = new_array(c, *count, sizeof *pointers);
        vars = new_array(c, *count, sizeof *vars);
    }
    if (are_the_modules) {
        c->vars = vars;
        c->var_count = *count;
    }
    for (uint32_t i = 0; i < *count && !c->is_bad; i++) {
        struct ptx_var copy = c->is_writing ? *(*list)[i] : (struct ptx_var){0};
        code_var(c, &copy);
        if (c->is_writing)
            continue;
        c->is_bad |= are_the_modules && copy.index != i;
        vars[i] = copy;
        pointers[i] = &vars[i];
    }
    if (!c->is_writing)
        *list = pointers;
    return vars;
}

/* ---- kernels ---- */

/* Launches copy parameters into a block of param_bytes. */
static bool fit_params(const struct ptx_func *head)
{
    for (uint32_t i = 0; i < head->param_count; i++) {
        const struct ptx_var *param = head->params[i];
        if (param->size_bytes > head->param_bytes ||
            param->param_offset_bytes > head->param_bytes - param->size_bytes)
            return false;
    }
    return true;
}

static void code_head(struct codec *c, struct ptx_func *head)
{
    code_text(c, &head->name);
    NUMBER(c, head->linkage, PTX_LINKAGE_COMMON);
    BITS32(c, head->index);
    FLAG(c, head->is_noreturn);
    FLAG(c, head->is_address_taken);
    BITS64(c, head->handle);
    code_vars(c, &head->params, &head->param_count, false);
    BITS32(c, head->param_bytes);
    code_triple(c, head->max_threads);
    code_triple(c, head->required_threads);
    BITS32(c, head->min_blocks_per_sm);
    BITS32(c, head->max_blocks_per_sm);
    BITS32(c, head->max_registers);
    FLAG(c, head->needs_cluster);
    FLAG(c, head->is_explicit_cluster);
    FLAG(c, head->has_block_clusters);
    code_triple(c, head->cluster_blocks);
    BITS32(c, head->max_cluster_blocks);
    NUMBER(c, head->line, INT32_MAX);
    c->is_bad |= !c->is_writing && !c->is_bad && !fit_params(head);
}

static void code_needs(struct codec *c, struct ptx_kernel_needs *needs)
{
    BITS32(c, needs->shared_reserved_bytes);
    BITS32(c, needs->shared_static_bytes);
    BITS32(c, needs->shared_align);
    BITS32(c, needs->local_static_bytes);
    BITS32(c, needs->local_bytes);
    BITS32(c, needs->local_least_bytes);
    FLAG(c, needs->has_recursion);
    FLAG(c, needs->calls_runtime);
}

static void code_kernel(struct codec *c, struct ptx_outline_kernel *kernel)
{
    const uint8_t *digest = kernel->digest;
    code_head(c, &kernel->head);
    FLAG(c, kernel->has_needs);
    code_needs(c, &kernel->needs);
    code_bytes(c, &digest, sizeof kernel->digest);
    if (c->is_writing || c->is_bad)
        return;
    memcpy(kernel->digest, digest, sizeof kernel->digest);
    kernel->head.is_entry = kernel->head.has_body = true;
}

/* ---- writing ---- */

/* Lays the kernel out, for what it needs and for the digest. */
static enum pxr_status describe(const struct ptx_module *module, const struct ptx_func *func,
                                ptx_digest_fn digest, struct ptx_outline_kernel *kernel,
                                struct pxr_error *err)
{
    struct ptx_kernel_layout layout;
    *kernel = (struct ptx_outline_kernel){.head = *func};
    enum pxr_status status = ptx_layout_kernel(module, func, &layout, err);
    if (status != PXR_OK)
        return status == PXR_OUT_OF_MEMORY ? status : PXR_OK;
    kernel->has_needs = true;
    kernel->needs = (struct ptx_kernel_needs){.shared_reserved_bytes = layout.shared_reserved_bytes,
                                              .shared_static_bytes = layout.shared_static_bytes,
                                              .shared_align = layout.shared_align,
                                              .local_static_bytes = layout.local_static_bytes,
                                              .local_bytes = layout.local_bytes,
                                              .local_least_bytes = layout.local_least_bytes,
                                              .has_recursion = layout.has_recursion,
                                              .calls_runtime = layout.calls_runtime};
    if (digest)
        status = digest(module, func, &layout, kernel->digest, err);
    ptx_layout_fini(&layout);
    return status;
}

static bool is_kernel(const struct ptx_func *func)
{
    return func->is_entry && func->has_body;
}

static enum pxr_status write_kernels(struct codec *c, const struct ptx_module *module,
                                     ptx_digest_fn digest, struct pxr_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->func_count; i++)
        count += is_kernel(module->funcs[i]);
    code_count(c, &count);
    enum pxr_status status = PXR_OK;
    for (uint32_t i = 0; i < module->func_count && status == PXR_OK; i++) {
        struct ptx_outline_kernel kernel;
        if (!is_kernel(module->funcs[i]))
            continue;
        status = describe(module, module->funcs[i], digest, &kernel, err);
        if (status == PXR_OK)
            code_kernel(c, &kernel);
    }
    return status;
}

/* What comes before the kernels. */
static void code_module(struct codec *c, struct ptx_outline *outline)
{
    code_text(c, &outline->source_suffix);
    BITS32(c, outline->version);
    BITS32(c, outline->target);
    code_vars(c, &outline->vars, &outline->var_count, true);
}

static const char *suffix_of(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 ? text + len : "";
}

enum pxr_status ptx_outline_write(const struct ptx_module *module, const char *image_name,
                                  ptx_digest_fn digest, uint8_t **bytes, size_t *size_bytes,
                                  struct pxr_error *err)
{
    struct codec c = {.is_writing = true};
    struct ptx_outline outline = {.source_suffix = suffix_of(module->source_name, image_name),
                                  .version = module->version,
                                  .target = module->target,
                                  .vars = module->vars,
                                  .var_count = module->var_count};
    code_module(&c, &outline);
    enum pxr_status status = write_kernels(&c, module, digest, err);
    if (status == PXR_OK && c.is_bad)
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for the outline of a module");
    if (status != PXR_OK)
        free(c.bytes);
    *bytes = status == PXR_OK ? c.bytes : NULL;
    *size_bytes = status == PXR_OK ? c.len : 0;
    return status;
}

/* ---- reading ---- */

static void read_kernels(struct codec *c, struct ptx_outline *outline)
{
    code_count(c, &outline->kernel_count);
    struct ptx_outline_kernel *kernels =
        new_array(c, outline->kernel_count, sizeof outline->kernels[0]);
    for (uint32_t i = 0; i < outline->kernel_count && !c->is_bad; i++)
        code_kernel(c, &kernels[i]);
    outline->kernels = kernels;
}

bool ptx_outline_read(uint8_t *bytes, size_t size_bytes, struct ptx_outline **outline)
{
    struct ptx_outline *made = calloc(1, sizeof *made);
    if (!made)
        return false;
    pxr_arena_init(&made->arena, 0);
    struct codec c = {.bytes = bytes, .len = size_bytes, .arena = &made->arena};
    code_module(&c, made);
    read_kernels(&c, made);
    if (c.is_bad || c.at != c.len) {
        ptx_outline_destroy(made);
        return false;
    }
    made->owned = bytes;
    *outline = made;
    return true;
}

void ptx_outline_destroy(struct ptx_outline *outline)
{
    if (!outline)
        return;
    pxr_arena_fini(&outline->arena);
    free(outline->owned);
    free(outline);
}

const struct ptx_outline_kernel *ptx_outline_find_kernel(const struct ptx_outline *outline,
                                                         const char *name)
{
    for (uint32_t i = 0; i < outline->kernel_count; i++)
        if (strcmp(outline->kernels[i].head.name, name) == 0)
            return &outline->kernels[i];
    return NULL;
}

const struct ptx_var *ptx_outline_find_var(const struct ptx_outline *outline, const char *name)
{
    for (uint32_t i = 0; i < outline->var_count; i++)
        if (strcmp(outline->vars[i]->name, name) == 0)
            return outline->vars[i];
    return NULL;
}
