/* SPDX-License-Identifier: Apache-2.0
 *
 * Outlines say of a module what the module says, and nothing can be done with bytes that are none.
 */
#include "parse_helper.h"

#include "ptx/outline.h"

static const char text[] =
    HEADER ".visible .func (.reg .b32 %out) f (.reg .b32 %in) { add.u32 %out, %in, 1; ret; }\n"
           ".visible .func g() { ret; }\n"
           ".visible .global .align 16 .b32 numbers[100] = {1, 2, 3};\n"
           ".visible .const .align 4 .f32 factor = 0f3f800000;\n"
           ".global .align 8 .u64 pointers[3] = {numbers, generic(numbers)+8, 0};\n"
           ".global .align 8 .u64 functions[2] = {g, f};\n"
           ".visible .global .attribute(.managed) .align 8 .b64 managed;\n"
           ".extern .global .align 4 .b32 elsewhere;\n"
           ".extern .shared .align 16 .b8 dynamic[];\n"
           ".shared .align 4 .b8 tile[640];\n"
           ".visible .entry plain(.param .u64 a, .param .align 8 .b8 s[24], .param .f32 x)\n"
           " .maxntid 128, 2, 1 .minnctapersm 3\n"
           "{ .reg .b32 %r<4>; .local .align 8 .b8 frame[48]; mov.u32 %r1, tile; ret; }\n"
           ".entry second() .reqntid 32, 4 .explicitcluster .reqnctapercluster 2\n"
           "{ .reg .b32 %r<4>; call (%r1), f, (%r2); ret; }\n";

static enum pxr_status number_digest(const struct ptx_module *module, const struct ptx_func *kernel,
                                     const struct ptx_kernel_layout *layout,
                                     uint8_t digest[PTX_DIGEST_BYTES], struct pxr_error *err)
{
    (void)module, (void)layout, (void)err;
    memset(digest, (int)kernel->index + 1, PTX_DIGEST_BYTES);
    return PXR_OK;
}

static uint8_t *bytes_of(const struct ptx_module *module, size_t *count)
{
    uint8_t *bytes;
    cr_assert_eq(ptx_outline_write(module, "test", number_digest, &bytes, count, NULL), PXR_OK);
    return bytes;
}

static struct ptx_outline *outline_of(const struct ptx_module *module)
{
    size_t count;
    struct ptx_outline *outline = NULL;
    uint8_t *bytes = bytes_of(module, &count);
    cr_assert(ptx_outline_read(bytes, count, &outline));
    return outline;
}

/* ---- what it says ---- */

static void expect_same_init(const struct ptx_var *a, const struct ptx_var *b)
{
    for (uint64_t i = 0; i < a->size_bytes && (a->init_bytes || b->init_bytes); i++) {
        uint8_t first = a->init_bytes ? a->init_bytes[i] : 0;
        uint8_t second = b->init_bytes ? b->init_bytes[i] : 0;
        cr_expect_eq(first, second, "%s, byte %d", a->name, (int)i);
    }
    cr_assert_eq(a->reloc_count, b->reloc_count);
    for (uint32_t i = 0; i < a->reloc_count; i++) {
        const struct ptx_reloc *one = &a->relocs[i];
        const struct ptx_reloc *two = &b->relocs[i];
        int64_t handle = one->func ? ptx_func_handle(NULL, one->func) : 0;
        cr_expect_eq(one->offset_bytes, two->offset_bytes);
        cr_expect_eq(one->size_bytes, two->size_bytes);
        cr_expect_eq(one->shift_bits, two->shift_bits);
        cr_expect_eq(one->is_generic, two->is_generic);
        cr_expect_eq(one->addend + handle, two->addend);
        cr_expect_null(two->func);
        cr_assert_eq(one->var == NULL, two->var == NULL);
        if (one->var)
            cr_expect_eq(one->var->index, two->var->index);
    }
}

static void expect_same_var(const struct ptx_var *a, const struct ptx_var *b)
{
    cr_expect_str_eq(a->name, b->name);
    cr_expect_eq(a->space, b->space);
    cr_expect_eq(a->type, b->type);
    cr_expect_eq(a->vector_len, b->vector_len);
    cr_expect_eq(a->elem_count, b->elem_count);
    cr_expect_eq(a->is_array, b->is_array);
    cr_expect_eq(a->is_unsized, b->is_unsized);
    cr_expect_eq(a->is_managed, b->is_managed);
    cr_expect_eq(a->is_module_scope, b->is_module_scope);
    cr_expect_eq(a->is_input_param, b->is_input_param);
    cr_expect_eq(a->is_pointer, b->is_pointer);
    cr_expect_eq(a->pointee_space, b->pointee_space);
    cr_expect_eq(a->pointee_align_bytes, b->pointee_align_bytes);
    cr_expect_eq(a->linkage, b->linkage);
    cr_expect_eq(a->align_bytes, b->align_bytes);
    cr_expect_eq(a->size_bytes, b->size_bytes);
    cr_expect_eq(a->index, b->index);
    cr_expect_eq(a->param_offset_bytes, b->param_offset_bytes);
    expect_same_init(a, b);
}

static void expect_same_head(const struct ptx_func *a, const struct ptx_func *b)
{
    cr_expect_str_eq(a->name, b->name);
    cr_expect(b->is_entry && b->has_body);
    cr_expect_eq(a->linkage, b->linkage);
    cr_expect_eq(a->index, b->index);
    cr_assert_eq(a->param_count, b->param_count);
    for (uint32_t i = 0; i < a->param_count; i++)
        expect_same_var(a->params[i], b->params[i]);
    cr_expect_eq(a->param_bytes, b->param_bytes);
    cr_expect_arr_eq(a->max_threads, b->max_threads, sizeof a->max_threads);
    cr_expect_arr_eq(a->required_threads, b->required_threads, sizeof a->required_threads);
    cr_expect_eq(a->min_blocks_per_sm, b->min_blocks_per_sm);
    cr_expect_eq(a->needs_cluster, b->needs_cluster);
    cr_expect_eq(a->is_explicit_cluster, b->is_explicit_cluster);
    cr_expect_arr_eq(a->cluster_blocks, b->cluster_blocks, sizeof a->cluster_blocks);
    cr_expect_eq(a->line, b->line);
    cr_expect_null(b->stmts);
}

static void expect_same_needs(const struct ptx_module *module, const struct ptx_func *kernel,
                              const struct ptx_kernel_needs *needs)
{
    struct ptx_kernel_layout layout;
    cr_assert_eq(ptx_layout_kernel(module, kernel, &layout, NULL), PXR_OK);
    cr_expect_eq(layout.shared_static_bytes, needs->shared_static_bytes);
    cr_expect_eq(layout.local_static_bytes, needs->local_static_bytes);
    cr_expect_eq(layout.local_bytes, needs->local_bytes);
    cr_expect_eq(layout.local_least_bytes, needs->local_least_bytes);
    cr_expect_eq(layout.has_recursion, needs->has_recursion);
    cr_expect_eq(layout.calls_runtime, needs->calls_runtime);
    ptx_layout_fini(&layout);
}

Test(outline, says_what_the_module_says)
{
    struct ptx_module *module = parse_text(text);
    struct ptx_outline *outline = outline_of(module);
    cr_expect_str_eq(outline->source_suffix, ".ptx");
    cr_expect_eq(outline->version, module->version);
    cr_expect_eq(outline->target, module->target);
    cr_assert_eq(outline->var_count, module->var_count);
    for (uint32_t i = 0; i < module->var_count; i++)
        expect_same_var(module->vars[i], outline->vars[i]);
    static const char *const names[] = {"plain", "second"};
    cr_assert_eq(outline->kernel_count, 2);
    for (int i = 0; i < 2; i++) {
        const struct ptx_func *kernel = ptx_find_entry(module, names[i]);
        const struct ptx_outline_kernel *known = ptx_outline_find_kernel(outline, names[i]);
        cr_assert_not_null(known);
        expect_same_head(kernel, &known->head);
        cr_expect(known->has_needs);
        expect_same_needs(module, kernel, &known->needs);
        cr_expect_eq(known->digest[31], kernel->index + 1);
    }
    cr_expect_null(ptx_outline_find_kernel(outline, "f"));
    cr_expect_eq(ptx_outline_find_var(outline, "managed")->index,
                 ptx_find_var(module, "managed")->index);
    cr_expect_null(ptx_outline_find_var(outline, "plain"));
    ptx_module_destroy(module); /* it needs nothing of it */
    cr_expect_str_eq(outline->kernels[0].head.params[1]->name, "s");
    ptx_outline_destroy(outline);
}

Test(outline, of_a_large_array_with_few_values_is_small)
{
    struct ptx_module *module = parse_text(HEADER ".global .b32 a[4000000] = {5, 0, 7};\n");
    size_t count;
    struct ptx_outline *outline;
    uint8_t *bytes = bytes_of(module, &count);
    cr_expect_lt(count, 200);
    cr_assert(ptx_outline_read(bytes, count, &outline));
    expect_same_var(module->vars[0], outline->vars[0]);
    ptx_outline_destroy(outline);
    ptx_module_destroy(module);
}

Test(outline, of_a_kernel_that_cannot_be_laid_out_says_so)
{
    struct ptx_module *module =
        parse_text(HEADER ".entry k() { .reg .b32 %r<2>;\n"
                          " .shared .b8 a[3000000000]; .shared .b8 b[3000000000];\n"
                          " mov.u32 %r0, a; mov.u32 %r1, b; ret; }\n"
                          ".entry l() { ret; }\n");
    struct ptx_outline *outline = outline_of(module);
    cr_expect_not(ptx_outline_find_kernel(outline, "k")->has_needs);
    cr_expect(ptx_outline_find_kernel(outline, "l")->has_needs);
    ptx_outline_destroy(outline);
    ptx_module_destroy(module);
}

/* ---- bytes that are no outline ---- */

static uint8_t *copy_of(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count + 1);
    memcpy(copy, bytes, count);
    return copy;
}

Test(outline, is_not_taken_when_it_is_cut_off_or_goes_on)
{
    struct ptx_module *module = parse_text(text);
    struct ptx_outline *outline;
    size_t count;
    uint8_t *bytes = bytes_of(module, &count);
    for (size_t cut = 0; cut < count; cut++) {
        uint8_t *copy = copy_of(bytes, cut);
        cr_expect_not(ptx_outline_read(copy, cut, &outline), "%zu bytes", cut);
        free(copy);
    }
    bytes[count] = 0; /* there is room: the buffer is larger than needed */
    cr_expect_not(ptx_outline_read(bytes, count + 1, &outline));
    free(bytes);
    ptx_module_destroy(module);
}

/* What launches do with it: reads beyond its end are for the address sanitizer to find. */
static size_t touch(const struct ptx_outline *outline)
{
    size_t sum = strlen(outline->source_suffix);
    for (uint32_t i = 0; i < outline->var_count; i++) {
        const struct ptx_var *var = outline->vars[i];
        sum += strlen(var->name) + var->space + var->index;
        cr_assert_eq(var->index, i);
        if (var->init_bytes && var->size_bytes > 0)
            sum += var->init_bytes[0] + var->init_bytes[var->size_bytes - 1];
        for (uint32_t r = 0; r < var->reloc_count; r++)
            if (var->relocs[r].var)
                sum += strlen(var->relocs[r].var->name);
    }
    for (uint32_t i = 0; i < outline->kernel_count; i++) {
        const struct ptx_func *head = &outline->kernels[i].head;
        sum += strlen(head->name);
        for (uint32_t p = 0; p < head->param_count; p++) {
            const struct ptx_var *param = head->params[p];
            sum += strlen(param->name);
            cr_assert_leq(param->param_offset_bytes + param->size_bytes, head->param_bytes);
        }
    }
    return sum;
}

Test(outline, with_any_byte_changed_is_refused_or_harmless)
{
    struct ptx_module *module = parse_text(text);
    size_t count;
    uint8_t *bytes = bytes_of(module, &count);
    static const uint8_t changes[] = {0x01, 0x02, 0x40, 0x7f, 0x80, 0xff};
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < sizeof changes; i++) {
            struct ptx_outline *outline;
            uint8_t *copy = copy_of(bytes, count);
            copy[at] ^= changes[i];
            if (ptx_outline_read(copy, count, &outline)) {
                cr_expect_gt(touch(outline), 0);
                ptx_outline_destroy(outline);
            } else {
                free(copy);
            }
        }
    }
    free(bytes);
    ptx_module_destroy(module);
}
