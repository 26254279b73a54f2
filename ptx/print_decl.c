/* SPDX-License-Identifier: Apache-2.0
 *
 * The printer: declarations of variables and heads of functions.
 */
#include <inttypes.h>

#include "ptx/printer.h"

/* ---- qualifiers ---- */

static const char *const space_names[] = {
    [PTX_SPACE_NONE] = "",        [PTX_SPACE_REG] = ".reg",       [PTX_SPACE_GLOBAL] = ".global",
    [PTX_SPACE_CONST] = ".const", [PTX_SPACE_SHARED] = ".shared", [PTX_SPACE_LOCAL] = ".local",
    [PTX_SPACE_PARAM] = ".param",
};

/* written: NULL if that is not known. A definition may have its linkage from a declaration. */
static void print_linkage(const struct ptx_printer *p, enum ptx_linkage linkage,
                          const struct pxr_str *written)
{
    static const char *const names[] = {
        [PTX_LINKAGE_INTERNAL] = "",         [PTX_LINKAGE_EXTERN] = ".extern ",
        [PTX_LINKAGE_VISIBLE] = ".visible ", [PTX_LINKAGE_WEAK] = ".weak ",
        [PTX_LINKAGE_COMMON] = ".common ",
    };

    if (!written || p->is_normal)
        fputs(names[linkage], p->out);
    else if (ptx_print_written(p, *written))
        fputc(' ', p->out);
}

/* The qualifiers that the values need, in the usual order, as in struct ptx_var_text. */
static uint32_t usual_order(const struct ptx_var *var)
{
    uint64_t natural_bytes = (uint64_t)ptx_type_bytes(var->type) * var->vector_len;
    const bool is_there[PTX_QUALIFIER_COUNT] = {
        [PTX_QUALIFIER_SPACE] = true,
        [PTX_QUALIFIER_ATTRIBUTE] = var->is_managed,
        [PTX_QUALIFIER_ALIGN] = var->align_bytes != natural_bytes,
        [PTX_QUALIFIER_VECTOR] = var->vector_len > 1,
        [PTX_QUALIFIER_TYPE] = true,
        [PTX_QUALIFIER_PTR] = var->is_pointer,
    };
    uint32_t order = 0;
    unsigned place = 0;

    for (uint32_t i = PTX_QUALIFIER_NONE + 1; i < PTX_QUALIFIER_COUNT; i++) {
        if (!is_there[i])
            continue;
        order |= i << place;
        place += 4;
    }
    return order;
}

static void print_number(const struct ptx_printer *p, uint64_t number, struct pxr_str written)
{
    if (!ptx_print_written(p, written))
        fprintf(p->out, "%" PRIu64, number);
}

static void print_pointer(const struct ptx_printer *p, const struct ptx_var *var,
                          const struct ptx_var_text *written)
{
    fputs(".ptr", p->out);
    if (var->pointee_space != PTX_SPACE_NONE)
        fprintf(p->out, " %s", space_names[var->pointee_space]);
    if (var->pointee_align_bytes > 0) {
        fputs(" .align ", p->out);
        print_number(p, var->pointee_align_bytes, written->ptr_align);
    }
}

static void print_qualifier(const struct ptx_printer *p, const struct ptx_var *var,
                            const struct ptx_var_text *written, enum ptx_qualifier qualifier)
{
    switch (qualifier) {
    case PTX_QUALIFIER_SPACE:
        if (!ptx_print_written(p, written->space))
            fputs(space_names[var->space], p->out);
        break;
    case PTX_QUALIFIER_ATTRIBUTE:
        fputs(".attribute", p->out);
        if (!ptx_print_written(p, written->attribute))
            fputs("(.managed)", p->out);
        break;
    case PTX_QUALIFIER_ALIGN:
        fputs(".align ", p->out);
        print_number(p, var->align_bytes, written->align);
        break;
    case PTX_QUALIFIER_VECTOR:
        fprintf(p->out, ".v%u", var->vector_len);
        break;
    case PTX_QUALIFIER_TYPE:
        fprintf(p->out, ".%s", ptx_type_table[var->type].name);
        break;
    case PTX_QUALIFIER_PTR:
        print_pointer(p, var, written);
        break;
    case PTX_QUALIFIER_NONE:
    case PTX_QUALIFIER_COUNT:
        break;
    }
}

static struct ptx_var_text written_of(const struct ptx_var *var)
{
    return var->written ? *var->written : (struct ptx_var_text){0};
}

void ptx_print_var_head(const struct ptx_printer *p, const struct ptx_var *var)
{
    const struct ptx_var_text written = written_of(var);
    uint32_t order = p->is_normal || written.order == 0 ? usual_order(var) : written.order;

    print_linkage(p, var->linkage, var->written ? &var->written->linkage : NULL);
    for (; order; order >>= 4) {
        print_qualifier(p, var, &written, (enum ptx_qualifier)(order & 15));
        fputc(' ', p->out);
    }
}

/* ---- initial values ---- */

static void print_reloc(const struct ptx_printer *p, const struct ptx_reloc *reloc,
                        size_t item_bytes)
{
    bool is_masked = reloc->size_bytes < item_bytes || item_bytes == 1;

    if (is_masked)
        fprintf(p->out, "0x%" PRIx64 "(", UINT64_C(0xff) << reloc->shift_bits);
    fprintf(p->out, reloc->is_generic ? "generic(%s)" : "%s",
            reloc->var ? reloc->var->name : reloc->func->name);
    if (reloc->addend != 0)
        fprintf(p->out, "%+" PRId64, reloc->addend);
    if (is_masked)
        fputc(')', p->out);
}

/* *reloc is the next address that is to come; they stand in the order of their places. */
static void print_scalar(const struct ptx_printer *p, const struct ptx_var *var, uint64_t index,
                         uint32_t *reloc)
{
    size_t item_bytes = ptx_type_bytes(var->type);
    uint64_t bits = 0;

    if (*reloc < var->reloc_count && var->relocs[*reloc].offset_bytes == index * item_bytes) {
        print_reloc(p, &var->relocs[(*reloc)++], item_bytes);
        return;
    }
    memcpy(&bits, var->init_bytes + index * item_bytes, item_bytes < 8 ? item_bytes : 8);
    if (!ptx_type_is_float(var->type))
        fprintf(p->out, "%" PRIu64, bits);
    else if (item_bytes == 4)
        fprintf(p->out, "0f%08" PRIX64, bits);
    else
        fprintf(p->out, "0d%016" PRIX64, bits);
}

/* The bytes up to the last that is not zero, in whole scalars. */
static uint64_t count_values(const struct ptx_var *var)
{
    uint64_t item_bytes = ptx_type_bytes(var->type);
    uint64_t len = var->size_bytes;
    uint64_t reloc_end =
        var->reloc_count ? var->relocs[var->reloc_count - 1].offset_bytes + item_bytes : 0;

    while (len > reloc_end && var->init_bytes[len - 1] == 0)
        len--;
    return (len + item_bytes - 1) / item_bytes;
}

static void print_values(const struct ptx_printer *p, const struct ptx_var *var)
{
    uint64_t count = count_values(var);
    bool is_list = var->is_array || var->vector_len > 1;
    uint32_t reloc = 0;

    fputs(is_list ? " = {" : " = ", p->out);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            fputs(", ", p->out);
        print_scalar(p, var, i, &reloc);
    }
    if (is_list)
        fputc('}', p->out);
}

/* Properties of textures are known only as text. */
static void print_init(const struct ptx_printer *p, const struct ptx_var *var,
                       const struct ptx_var_text *written)
{
    bool is_opaque = ptx_type_table[var->type].class == PTX_CLASS_OPAQUE;

    if (written->init.len > 0 && (is_opaque || !p->is_normal)) {
        fputs(" = ", p->out);
        ptx_print_text(p, written->init);
    } else if (var->init_bytes) {
        print_values(p, var);
    }
}

void ptx_print_var_name(const struct ptx_printer *p, const struct ptx_var *var)
{
    const struct ptx_var_text written = written_of(var);

    fputs(var->name, p->out);
    if (ptx_print_written(p, written.dims) || !var->is_array)
        ;
    else if (var->is_unsized)
        fputs("[]", p->out);
    else
        fprintf(p->out, "[%" PRIu64 "]", var->elem_count);
    print_init(p, var, &written);
}

void ptx_print_range_name(const struct ptx_printer *p, const struct ptx_var_range *range)
{
    fputs(range->model.name, p->out);
    if (!ptx_print_written(p, written_of(&range->model).dims))
        fprintf(p->out, "<%" PRIu64 ">", range->count);
}

/* ---- functions ---- */

static void print_params(const struct ptx_printer *p, const struct ptx_var *const *params,
                         uint32_t count)
{
    fputc('(', p->out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? ",\n\t" : "\n\t", p->out);
        ptx_print_var_head(p, params[i]);
        ptx_print_var_name(p, params[i]);
    }
    fputs(count > 0 ? "\n)" : ")", p->out);
}

static void print_triple(const struct ptx_printer *p, const char *word, const uint32_t triple[3])
{
    if (triple[0] > 0)
        fprintf(p->out, "\n%s %" PRIu32 ", %" PRIu32 ", %" PRIu32, word, triple[0], triple[1],
                triple[2]);
}

static void print_tuning_number(const struct ptx_printer *p, const char *word, bool is_there,
                                uint32_t number)
{
    if (is_there)
        fprintf(p->out, "\n%s %" PRIu32, word, number);
}

static void print_tuning(const struct ptx_printer *p, const struct ptx_func *func)
{
    print_triple(p, ".maxntid", func->max_threads);
    print_triple(p, ".reqntid", func->required_threads);
    print_triple(p, ".reqnctapercluster", func->cluster_blocks);
    print_tuning_number(p, ".minnctapersm", func->min_blocks_per_sm > 0, func->min_blocks_per_sm);
    print_tuning_number(p, ".maxnctapersm", func->max_blocks_per_sm > 0, func->max_blocks_per_sm);
    print_tuning_number(p, ".maxnreg", func->max_registers > 0, func->max_registers);
    print_tuning_number(p, ".maxclusterrank", func->max_cluster_blocks > 0,
                        func->max_cluster_blocks);
    print_tuning_number(p, ".abi_preserve", func->has_abi_preserve, func->abi_preserve);
    print_tuning_number(p, ".abi_preserve_control", func->has_abi_preserve_control,
                        func->abi_preserve_control);
    fputs(func->is_explicit_cluster ? "\n.explicitcluster" : "", p->out);
    fputs(func->has_block_clusters ? "\n.blocksareclusters" : "", p->out);
    fputs(func->is_noreturn ? "\n.noreturn" : "", p->out);
}

void ptx_print_func_head(const struct ptx_printer *p, const struct ptx_func *func)
{
    const struct ptx_func_text usual = {
        .has_ret_list = func->ret_count > 0, .has_param_list = true, .has_semicolon = true};
    const struct ptx_func_text *written = func->written && !p->is_normal ? func->written : &usual;

    print_linkage(p, func->linkage, func->written ? &func->written->linkage : NULL);
    fputs(func->is_entry ? ".entry " : ".func ", p->out);
    if (ptx_print_written(p, written->before))
        fputc(' ', p->out);
    if (written->has_ret_list) {
        print_params(p, func->rets, func->ret_count);
        fputc(' ', p->out);
    }
    fputs(func->name, p->out);
    if (written->has_param_list)
        print_params(p, func->params, func->param_count);
    if (written == &usual) {
        print_tuning(p, func);
    } else if (written->tuning.len > 0) {
        fputc('\n', p->out);
        ptx_print_text(p, written->tuning);
    }
    if (!func->has_body && written->has_semicolon)
        fputc(';', p->out);
    fputc('\n', p->out);
}
