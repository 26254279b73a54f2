/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for matrices. Every lane has other numbers, so an element that is taken for another
 * shows.
 */
#include <string.h>

#include "ptx/matrix.h"
#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

#define IN_WORDS (MACHINE_IN_BYTES / 4)

static bool find(const struct ptx_form *form, struct ptx_matrices *matrices)
{
    struct ptx_inst inst = {.op = form->op,
                            .type_count = (uint8_t)form->type_count,
                            .mod_count = (uint8_t)form->mod_count,
                            .groups = form->groups};
    memcpy(inst.types, form->types, sizeof form->types);
    memcpy(inst.mods, form->mods, sizeof form->mods);
    return ptx_find_matrices(&inst, matrices);
}

static const char *register_type(const struct ptx_fragment *fragment)
{
    return ptx_fragment_register_bits(fragment) == 64 ? "b64" : "b32";
}

/* "{%a0, %a1}" */
static void put_list(FILE *file, const char *name, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s%%%s%u", i == 0 ? "{" : ", ", name, i);
    fputs("}", file);
}

static void put_fragment(FILE *file, const char *name, const struct ptx_fragment *fragment)
{
    put_list(file, name, ptx_fragment_registers(fragment));
}

/* ---- numbers ---- */

/* Bits kept of each word, and bits set in it, so that numbers are neither large nor small. */
struct moderate {
    enum ptx_type type;
    uint32_t kept;
    uint32_t set;
};

static const struct moderate moderates[] = {
    {PTX_TYPE_F16, 0x8fff8fff, 0x30003000},  {PTX_TYPE_BF16, 0x81ff81ff, 0x3e003e00},
    {PTX_TYPE_TF32, 0x81ffffff, 0x3e000000}, {PTX_TYPE_F32, 0x81ffffff, 0x3e000000},
    {PTX_TYPE_F64, 0x803fffff, 0x3fc00000},  {PTX_TYPE_E4M3, 0x9f9f9f9f, 0x20202020},
    {PTX_TYPE_E5M2, 0x8f8f8f8f, 0x30303030},
};

/* Word `n` of the lane, from its input: what is not there is made of it. */
static void put_word(FILE *file, unsigned n, enum ptx_type type)
{
    fprintf(file, "ld.global.b32 %%w, [%%in+%u];\n", n % IN_WORDS * 4);
    if (n >= IN_WORDS)
        fprintf(file, "mad.lo.u32 %%w, %%w, 0x9e3779b1, %u;\n", 0x01234567u * n);
    for (size_t i = 0; type != PTX_TYPE_NONE && i < sizeof moderates / sizeof moderates[0]; i++)
        if (moderates[i].type == type)
            fprintf(file, "and.b32 %%w, %%w, 0x%x;\nor.b32 %%w, %%w, 0x%x;\n", moderates[i].kept,
                    moderates[i].set);
}

/* is_raw: any bits will do. */
static void put_numbers(FILE *file, const char *name, const struct ptx_fragment *fragment,
                        unsigned *word, bool is_raw)
{
    unsigned count = ptx_fragment_registers(fragment);
    fprintf(file, ".reg .%s %%%s<%u>;\n", register_type(fragment), name, count);
    for (unsigned i = 0; i < count; i++) {
        bool is_long = ptx_fragment_register_bits(fragment) == 64;
        put_word(file, (*word)++, is_raw || is_long ? PTX_TYPE_NONE : fragment->type);
        if (!is_long) {
            fprintf(file, "mov.b32 %%%s%u, %%w;\n", name, i);
            continue;
        }
        fputs("mov.b32 %low, %w;\n", file);
        put_word(file, (*word)++, is_raw ? PTX_TYPE_NONE : fragment->type);
        fprintf(file, "mov.b64 %%%s%u, {%%low, %%w};\n", name, i);
    }
}

static void put_results(FILE *file, const char *name, const char *type, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "st.global.%s [%%out+%u], %%%s%u;\n", type,
                i * (strcmp(type, "b64") == 0 ? 8 : 4), name, i);
}

/* ---- products ---- */

/* Of the numbers only the sign remains: they become the largest or the smallest. */
static void put_limits(FILE *file, const char *name, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "shr.s32 %%%s%u, %%%s%u, 31;\nxor.b32 %%%s%u, %%%s%u, 0x7fffffff;\n", name, i,
                name, i, name, i, name, i);
}

/* Scales near 1, or any; which bytes and lanes count differs from block to block. */
static void put_scales(struct piece *piece, const struct ptx_matrices *matrices, unsigned word)
{
    bool is_e8m0 = matrices->scale_a.type == PTX_TYPE_UE8M0;
    static const char *const names[] = {"a", "b"};
    for (unsigned i = 0; i < 2; i++) {
        fprintf(piece->body, ".reg .b32 %%s%s;\n.reg .b16 %%b%s, %%t%s;\n", names[i], names[i],
                names[i]);
        put_word(piece->body, word + i, PTX_TYPE_NONE);
        if (piece->n != 1)
            fprintf(piece->body, "and.b32 %%w, %%w, 0x%x;\nadd.u32 %%w, %%w, 0x%x;\n",
                    is_e8m0 ? 0x07070707 : 0x1f1f1f1f, is_e8m0 ? 0x7c7c7c7c : 0x28282828);
        fprintf(piece->body,
                "mov.b32 %%s%s, %%w;\nshr.u32 %%w, %%block, %u;\nand.b32 %%low, %%w, %u;\n"
                "cvt.u16.u32 %%t%s, %%low;\nmul.lo.u32 %%w, %%w, %u;\nand.b32 %%w, %%w, %u;\n"
                "cvt.u16.u32 %%b%s, %%w;\n",
                names[i], i, i == 0 ? 1u : 3u, names[i], matrices->blocks == 2 ? 2u : 1u,
                4 - matrices->blocks, names[i]);
    }
}

/* Metadata that the manual gives a meaning, four bits each: of two places of four, of one of two.
 */
#define ORDERED_PAIRS 0xe4edc984u
#define ANY_PAIRS     0xe4b76321u
#define ONE_OF_TWO    0xe4ee4e44u

static uint32_t meanings_of(const struct piece *piece, const struct ptx_matrices *matrices)
{
    if (matrices->a.bits == 32)
        return ONE_OF_TWO;
    return machine_has_word(piece->form, "sp") ? ANY_PAIRS : ORDERED_PAIRS;
}

/* Any metadata, four bits by four. */
static void put_metadata(struct piece *piece, const struct ptx_matrices *matrices, unsigned word)
{
    fputs(".reg .b32 %meta;\nmov.b32 %meta, 0;\n", piece->body);
    put_word(piece->body, word, PTX_TYPE_NONE);
    fputs("mul.lo.u32 %w, %w, 0x9e3779b1;\n", piece->body);
    for (unsigned bit = 0; bit < 32; bit += 4)
        fprintf(piece->body,
                "shr.u32 %%low, %%w, %u;\nand.b32 %%low, %%low, 7;\nshl.b32 %%low, %%low, 2;\n"
                "shr.u32 %%low, 0x%x, %%low;\nbfi.b32 %%meta, %%low, %%meta, %u, 4;\n",
                bit, meanings_of(piece, matrices), bit);
}

/* The last operands: metadata and selector, scales. */
static void put_further_operands(struct piece *piece, const struct ptx_matrices *matrices,
                                 unsigned selector)
{
    if (matrices->metadata.row != NULL)
        fprintf(piece->body, ", %%meta, %u", selector);
    fputs(matrices->blocks != 0 ? ", %sa, {%ba, %ta}, %sb, {%bb, %tb};\n" : ";\n", piece->body);
}

enum variant { PLAIN, ANY_BITS, IN_PLACE, AT_LIMITS, OTHER_SELECTOR };

static const char *const variant_labels[] = {NULL, "any bits", "sum in place", "at the limits",
                                             "another selector"};

/* Of sparse matrices there is a case for each sparsity selector, too. */
static bool find_variant(const struct piece *piece, const struct ptx_matrices *matrices,
                         enum variant *variant, unsigned *selector)
{
    unsigned choices = matrices->metadata.row != NULL ? ptx_choice_count(&matrices->metadata) : 1;
    unsigned variants = matrices->c.type == matrices->d.type ? AT_LIMITS : IN_PLACE;
    if (matrices->c.type == PTX_TYPE_S32)
        variants = OTHER_SELECTOR;
    *variant = piece->n < variants ? piece->n : OTHER_SELECTOR;
    *selector = piece->n % choices;
    return piece->n < variants || piece->n < choices;
}

static bool make_mma(struct piece *piece)
{
    struct ptx_matrices matrices;
    enum variant variant;
    unsigned word = 0;
    unsigned selector;
    if (!find(piece->form, &matrices) || !find_variant(piece, &matrices, &variant, &selector))
        return false;
    bool is_in_place = variant == IN_PLACE;
    bool is_raw = variant == ANY_BITS;
    piece->label = variant_labels[variant];
    fputs(".reg .b32 %w, %low;\nbar.warp.sync 0xffffffff;\n", piece->body);
    put_numbers(piece->body, "a", &matrices.a, &word, is_raw);
    put_numbers(piece->body, "b", &matrices.b, &word, is_raw);
    put_numbers(piece->body, "c", &matrices.c, &word, is_raw);
    if (variant == AT_LIMITS)
        put_limits(piece->body, "c", ptx_fragment_registers(&matrices.c));
    if (matrices.metadata.row != NULL)
        put_metadata(piece, &matrices, word++);
    if (matrices.blocks != 0)
        put_scales(piece, &matrices, word);
    fprintf(piece->body, ".reg .%s %%r<%u>;\n%s ", register_type(&matrices.d),
            ptx_fragment_registers(&matrices.d), piece->form->text);
    put_fragment(piece->body, is_in_place ? "c" : "r", &matrices.d);
    fputs(", ", piece->body);
    put_fragment(piece->body, "a", &matrices.a);
    fputs(", ", piece->body);
    put_fragment(piece->body, "b", &matrices.b);
    fputs(", ", piece->body);
    put_fragment(piece->body, "c", &matrices.c);
    put_further_operands(piece, &matrices, selector);
    put_results(piece->body, is_in_place ? "c" : "r", register_type(&matrices.d),
                ptx_fragment_registers(&matrices.d));
    return true;
}

/* ---- wgmma: matrices anywhere in the 2048 bytes of shared memory, one over the other ---- */

/* What a case tries, from the number of its columns: any will do. */
struct wgmma_case {
    struct ptx_matrices matrices;
    bool is_a_in_memory;
    bool has_signs; /* imm-scale-a, imm-scale-b */
    bool can_transpose;
    bool is_outside;
    unsigned bits;
};

static void put_shared_numbers(struct piece *piece, enum ptx_type type)
{
    for (unsigned i = 0; i < 8; i++) {
        put_word(piece->body, i, type);
        fprintf(piece->body, "st.shared.b32 [%%shared+%u], %%w;\n", 4 * i);
    }
    fputs("bar.sync 0;\n", piece->body);
}

/* Start, leading and stride offsets, base offset and swizzle. */
static void put_descriptor(struct piece *piece, const struct wgmma_case *wgmma, const char *name,
                           unsigned bits)
{
    uint64_t leading = 1 + bits % 3;
    uint64_t stride = wgmma->is_outside ? 0x3fff : 1 + bits / 4 % 2;
    uint64_t rest =
        leading << 16 | stride << 32 | (uint64_t)(bits / 8 % 8) << 49 | (uint64_t)(bits % 4) << 62;
    fprintf(piece->body,
            ".reg .b64 %%%s;\nmov.u64 %%%s, s_data;\nshr.u64 %%%s, %%%s, 4;\n"
            "or.b64 %%%s, %%%s, 0x%llx;\n",
            name, name, name, name, name, name, (unsigned long long)rest);
}

/* Registers of D are more than the record holds: further ones are added, times another number. */
static void put_folded(struct piece *piece, unsigned count)
{
    unsigned kept = MACHINE_OUT_BYTES / 4;
    for (unsigned i = kept; i < count; i++)
        fprintf(piece->body, "mad.lo.u32 %%r%u, %%r%u, 0x01000193, %%r%u;\n", i % kept, i % kept,
                i);
    put_results(piece->body, "r", "b32", count < kept ? count : kept);
}

static void put_wgmma(struct piece *piece, const struct wgmma_case *wgmma, unsigned count)
{
    const struct ptx_matrices *matrices = &wgmma->matrices;
    unsigned bits = wgmma->bits;
    fprintf(piece->body, "%s ", piece->form->text);
    put_list(piece->body, "r", count);
    fputs(", ", piece->body);
    if (wgmma->is_a_in_memory)
        fputs("%da", piece->body);
    else
        put_fragment(piece->body, "a", &matrices->a);
    fputs(", %db", piece->body);
    if (matrices->metadata.row != NULL)
        fprintf(piece->body, ", %%meta, %u", bits % ptx_choice_count(&matrices->metadata));
    fputs(", %p", piece->body);
    if (wgmma->has_signs)
        fprintf(piece->body, ", %d, %d", bits & 1 ? -1 : 1, bits & 2 ? -1 : 1);
    if (wgmma->can_transpose && wgmma->is_a_in_memory)
        fprintf(piece->body, ", %u", bits >> 6 & 1);
    if (wgmma->can_transpose)
        fprintf(piece->body, ", %u", bits >> 7 & 1);
    fputs(";\n", piece->body);
}

/* Of many columns, each number with some of the types: code differs only in their count. */
static bool is_wanted(const struct ptx_form *form, const struct ptx_matrices *matrices)
{
    unsigned share = matrices->a.bits == 8 ? 12 : 4;
    unsigned types = form->types[0] + 3 * form->types[1] + 5 * form->types[2] + form->mod_count;
    return matrices->groups <= 4 || (matrices->groups + types) % share == 0;
}

/* The first shapes have A in memory and in registers; then integers begin at their limits.
 * A descriptor that leads out of shared memory is a fault. */
static bool make_wgmma(struct piece *piece)
{
    static const char *const labels[] = {NULL, "A in registers", "outside"};
    struct wgmma_case wgmma = {0};
    unsigned word = 8;
    if (piece->n > 2 || !find(piece->form, &wgmma.matrices) ||
        !is_wanted(piece->form, &wgmma.matrices) ||
        (piece->n > 0 && wgmma.matrices.groups > (piece->n == 1 ? 2 : 1)))
        return false;
    const struct ptx_matrices *matrices = &wgmma.matrices;
    unsigned count = matrices->groups * ptx_fragment_registers(&matrices->d);
    bool is_any = matrices->groups % 4 == 3;
    wgmma.bits = matrices->groups * 0x9e3779b1u >> 24;
    wgmma.is_outside = piece->is_fault = piece->is_alone = piece->n == 2;
    wgmma.is_a_in_memory = piece->n != 1 && (matrices->groups <= 2 || (wgmma.bits & 4) != 0);
    wgmma.has_signs = ptx_type_is_float(matrices->a.type);
    wgmma.can_transpose = matrices->a.bits == 16;
    piece->label = labels[piece->n];
    fputs(".reg .b32 %w, %low;\n.reg .pred %p;\nand.b32 %w, %block, 1;\nsetp.eq.u32 %p, %w, 0;\n",
          piece->body);
    put_shared_numbers(piece, is_any ? PTX_TYPE_NONE : matrices->a.type);
    if (wgmma.is_a_in_memory)
        put_descriptor(piece, &wgmma, "da", wgmma.bits >> 1);
    else
        put_numbers(piece->body, "a", &matrices->a, &word, is_any);
    put_descriptor(piece, &wgmma, "db", wgmma.bits);
    if (matrices->metadata.row != NULL)
        put_metadata(piece, matrices, word++);
    fprintf(piece->body, ".reg .b32 %%r<%u>;\n", count);
    for (unsigned i = 0; i < count; i++) {
        put_word(piece->body, word++, is_any ? PTX_TYPE_NONE : matrices->d.type);
        fprintf(piece->body, "mov.b32 %%r%u, %%w;\n", i);
    }
    if (matrices->d.type == PTX_TYPE_S32 && piece->n == 1)
        put_limits(piece->body, "r", count);
    fputs("wgmma.fence.sync.aligned;\n", piece->body);
    put_wgmma(piece, &wgmma, count);
    fputs("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n", piece->body);
    put_folded(piece, count);
    fputs("bar.sync 0;\n", piece->body);
    return true;
}

/* Nothing is left to wait for; what the threads have stays. */
static bool make_wgmma_wait(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    fprintf(piece->body, "%s%s;\nst.global.b64 [%%out], %%d0;\n", piece->form->text,
            machine_has_word(piece->form, "wait_group") ? " 0" : "");
    return true;
}

/* ---- wmma.load, wmma.store ---- */

/* The elements of a line; lines with a distance of their own are 16 bytes apart. */
static unsigned distance_of(const struct ptx_form *form, const struct ptx_fragment *fragment)
{
    const char *along = machine_has_word(form, "row") ? fragment->column : fragment->row;
    return (1u << strlen(along)) + 128 / fragment->bits;
}

static void put_distance(struct piece *piece, const struct ptx_fragment *fragment)
{
    unsigned distance = distance_of(piece->form, fragment);
    if (piece->n == 1)
        fprintf(piece->body, ", %u;\n", distance);
    else
        fputs(piece->n == 0 ? ";\n" : ", %w;\n", piece->body);
}

static bool begin_wmma(struct piece *piece, struct ptx_matrices *matrices)
{
    static const char *const labels[] = {NULL, "lines apart", "distance in a register"};
    if (piece->n > 2 || !find(piece->form, matrices))
        return false;
    piece->label = labels[piece->n];
    fprintf(piece->body, ".reg .b64 %%at;\n.reg .b32 %%w, %%low;\nmov.b32 %%w, %u;\n",
            distance_of(piece->form, ptx_moved_fragment(matrices)));
    return true;
}

static bool is_shared(const struct ptx_form *form)
{
    return machine_has_word(form, "shared") || machine_has_word(form, "shared::cta");
}

static bool make_wmma_load(struct piece *piece)
{
    struct ptx_matrices matrices;
    if (!begin_wmma(piece, &matrices))
        return false;
    const struct ptx_fragment *fragment = ptx_moved_fragment(&matrices);
    unsigned count = ptx_fragment_registers(fragment);
    if (is_shared(piece->form)) {
        piece_put_pattern(piece->body, ".shared", "%shared");
        fputs("bar.sync 0;\nmov.u64 %at, s_data;\n", piece->body);
    } else {
        fputs("mul.wide.u32 %at, %lane, 64;\nsub.s64 %at, %in, %at;\n", piece->body);
    }
    fprintf(piece->body, ".reg .%s %%r<%u>;\n%s ", register_type(fragment), count,
            piece->form->text);
    put_fragment(piece->body, "r", fragment);
    fputs(", [%at]", piece->body);
    put_distance(piece, fragment);
    put_results(piece->body, "r", register_type(fragment), count);
    fputs("bar.sync 0;\n", piece->body);
    return true;
}

/* One warp stores, so that two do not race in shared memory. */
static bool make_wmma_store(struct piece *piece)
{
    struct ptx_matrices matrices;
    unsigned word = 0;
    if (!begin_wmma(piece, &matrices))
        return false;
    put_numbers(piece->body, "r", &matrices.d, &word, true);
    fprintf(piece->body, "mov.b32 %%w, %u;\n", distance_of(piece->form, &matrices.d));
    if (is_shared(piece->form)) {
        piece_put_pattern(piece->body, ".shared", "%shared");
        fputs("bar.sync 0;\n.reg .pred %p;\nsetp.gt.u32 %p, %thread, 31;\n@%p bra SKIP;\n"
              "mov.u64 %at, s_data;\n",
              piece->body);
    } else {
        fputs("mul.wide.u32 %at, %lane, 96;\nsub.s64 %at, %out, %at;\n", piece->body);
    }
    fprintf(piece->body, "%s [%%at], ", piece->form->text);
    put_fragment(piece->body, "r", &matrices.d);
    put_distance(piece, &matrices.d);
    if (is_shared(piece->form)) {
        fputs("SKIP:\nbar.sync 0;\n", piece->body);
        piece_put_dump(piece->body, ".shared", "%shared", 0);
        fputs("bar.sync 0;\n", piece->body);
    }
    return true;
}

/* ---- ldmatrix, stmatrix: rows of 16 bytes anywhere in the shared memory of the warp ---- */

static void put_row_address(struct piece *piece)
{
    piece_put_pattern(piece->body, ".shared", "%shared");
    fprintf(piece->body,
            "bar.sync 0;\n.reg .b64 %%at;\n.reg .b32 %%w, %%low;\n"
            "mad.lo.u32 %%w, %%lane, %u, 9;\nand.b32 %%w, %%w, 31;\nmul.wide.u32 %%at, %%w, 32;\n"
            "shr.u32 %%w, %%thread, 5;\nmul.lo.u32 %%w, %%w, 1024;\n.reg .b64 %%warp;\n"
            "cvt.u64.u32 %%warp, %%w;\nadd.s64 %%at, %%at, %%warp;\nadd.s64 %%at, %%at, %%d9;\n",
            piece->n == 0 ? 1u : 11u);
}

static void begin_rows(struct piece *piece)
{
    fputs(".reg .b64 %d9;\nmov.u64 %d9, s_data;\n", piece->body);
    if (!is_shared(piece->form))
        fputs("cvta.shared.u64 %d9, %d9;\n", piece->body);
    put_row_address(piece);
    piece->label = piece->n == 0 ? NULL : "rows in another order";
}

static bool make_ldmatrix(struct piece *piece)
{
    struct ptx_matrices matrices;
    if (piece->n > 1 || !find(piece->form, &matrices))
        return false;
    unsigned count = matrices.count * ptx_fragment_registers(&matrices.d);
    begin_rows(piece);
    fprintf(piece->body, ".reg .b32 %%r<%u>;\n%s ", count, piece->form->text);
    put_list(piece->body, "r", count);
    fputs(", [%at];\n", piece->body);
    put_results(piece->body, "r", "b32", count);
    fputs("bar.sync 0;\n", piece->body);
    return true;
}

static bool make_stmatrix(struct piece *piece)
{
    struct ptx_matrices matrices;
    if (piece->n > 1 || !find(piece->form, &matrices))
        return false;
    unsigned count = matrices.count * ptx_fragment_registers(&matrices.d);
    begin_rows(piece);
    fprintf(piece->body, ".reg .b32 %%r<%u>;\n", count);
    for (unsigned i = 0; i < count; i++)
        fprintf(piece->body, "ld.global.b32 %%r%u, [%%in+%u];\n", i, 4 * i);
    fprintf(piece->body, "%s [%%at], ", piece->form->text);
    put_list(piece->body, "r", count);
    fputs(";\nbar.sync 0;\n", piece->body);
    piece_put_dump(piece->body, ".shared", "%shared", 0);
    fputs("bar.sync 0;\n", piece->body);
    return true;
}

/* ---- the table ---- */

const struct template matrix_templates[] = {
    {"mma", make_mma},           {"wmma.mma", make_mma},        {"wgmma.mma_async", make_wgmma},
    {"wgmma", make_wgmma_wait},  {"wmma.load", make_wmma_load}, {"wmma.store", make_wmma_store},
    {"ldmatrix", make_ldmatrix}, {"stmatrix", make_stmatrix},   {NULL, NULL},
};
