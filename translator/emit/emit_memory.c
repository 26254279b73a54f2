/* SPDX-License-Identifier: Apache-2.0
 *
 * ld, ldu, st, prefetch in all state spaces.
 *
 * Weak vectors are accessed element by element, each with its natural alignment (PTX ISA "Vectors":
 * a vector access is a set of scalar accesses with no order among them). Strong accesses (volatile,
 * relaxed, acquire, release, mmio) are LLVM atomics. GPUs do a strong vector access at once, and
 * CUB relies on it: it keeps a value and its state in one vector of 16 bytes. So strong vectors are
 * accessed in pieces of up to 16 bytes where other workers can see them.
 */
#include "translator/emit/address_variable.h"
#include "translator/emit/emit.h"

/* Processors access at most so many bytes at once. */
#define MAX_PIECE_BYTES 16

struct access {
    enum ptx_type type;
    unsigned count; /* elements */
    unsigned elem_bytes;
    unsigned piece_bytes; /* accessed at once: one element or more */
    bool is_volatile;
    LLVMAtomicOrdering ordering; /* NotAtomic for weak accesses */
    LLVMValueRef pointer;
};

/* Old programs rely on volatile accesses to keep the lanes of a warp in step while they exchange
 * values through shared memory. A generic address may be in shared memory. */
static void converge_if_shared(struct tr_ctx *ctx, const struct access *access,
                               enum ptx_space space)
{
    if (space == PTX_SPACE_SHARED) {
        tr_converge(ctx);
        return;
    }
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, access->pointer, ctx->i64, "");
    LLVMBasicBlockRef converge = tr_new_block(ctx, "converge");
    LLVMBasicBlockRef converged = tr_new_block(ctx, "converged");
    LLVMBuildCondBr(ctx->builder, tr_is_in_space(ctx, address, PTX_SPACE_SHARED), converge,
                    converged);
    LLVMPositionBuilderAtEnd(ctx->builder, converge);
    tr_converge(ctx);
    LLVMBuildBr(ctx->builder, converged);
    LLVMPositionBuilderAtEnd(ctx->builder, converged);
}

static void keep_step(struct tr_ctx *ctx, const struct ptx_inst *inst, const struct access *access,
                      bool is_store)
{
    enum ptx_space space = ptx_inst_space(inst);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_NONE)
        return;
    if (tr_step_needed(ctx, is_store)) {
        converge_if_shared(ctx, access, space);
        if (space == PTX_SPACE_SHARED)
            tr_step_met(ctx, inst);
    }
    tr_step_accessed(ctx, is_store);
}

/* ".cv: don't cache and fetch again": loops that wait for the host use it. CUB, for architectures
 * without .relaxed, passes the caches of one processor with .cg instead, always by generic
 * addresses; CUDA's own functions for .cg, which promise nothing of the kind, name the space. */
static bool is_strong_by_cache(const struct ptx_inst *inst)
{
    enum ptx_mod cache = ptx_inst_mod(inst, PTX_GROUP_CACHE);
    bool passes_first_cache = cache == PTX_MOD_CG || cache == PTX_MOD_WT;
    return cache == PTX_MOD_CV || (passes_first_cache && ptx_inst_space(inst) == PTX_SPACE_NONE);
}

/* The memory of a block and of a thread is never accessed by two workers at once. */
static unsigned piece_bytes(const struct access *access, enum ptx_space space)
{
    unsigned bytes = access->count * access->elem_bytes;
    if (access->ordering == LLVMAtomicOrderingNotAtomic ||
        (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_NONE))
        return access->elem_bytes;
    return bytes < MAX_PIECE_BYTES ? bytes : MAX_PIECE_BYTES;
}

/* What a store writes, its first element lowest; NULL: more than a number holds. */
static LLVMValueRef stored_value(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                 const struct access *access)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    LLVMTypeRef type = tr_int_type(ctx, access->elem_bytes * 8);
    if (access->count * access->elem_bytes > sizeof(uint64_t) ||
        tr_vector_parts(tr_operand(inst, 1), parts) < access->count)
        return NULL;
    LLVMValueRef all = tr_const_int(ctx, 64, 0);
    for (unsigned i = 0; i < access->count; i++) {
        LLVMValueRef value = tr_bitcast(ctx, tr_operand_value(ctx, &parts[i], access->type), type);
        value = LLVMBuildShl(ctx->builder, tr_resize(ctx, value, 64, false),
                             tr_const_int(ctx, 64, (uint64_t)i * access->elem_bytes * 8), "");
        all = LLVMBuildOr(ctx->builder, all, value, "");
    }
    return all;
}

/* Before the access. */
static void tell_races(struct tr_ctx *ctx, const struct ptx_inst *inst, const struct access *access,
                       bool is_store)
{
    if (!ctx->options->checks_races)
        return;
    bool is_strong = access->ordering != LLVMAtomicOrderingNotAtomic ||
                     (!is_store && tr_race_is_guess(ctx, tr_operand(inst, 1)));
    unsigned what = is_store ? RT_ACCESS_WRITE : RT_ACCESS_READ;
    tr_race_access(ctx, access->pointer, ptx_inst_space(inst),
                   tr_const_int(ctx, 64, (uint64_t)access->elem_bytes * access->count),
                   is_strong ? what | RT_RACE_STRONG : what,
                   is_store ? stored_value(ctx, inst, access) : NULL);
    if (is_store && is_strong)
        tr_race_release(ctx, access->pointer, access->ordering == LLVMAtomicOrderingRelease);
}

/* What has been written of a thread's own array is asked wherever its address is seen to lead
 * there.
 */
static enum ptx_space known_space(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                  unsigned address_index)
{
    enum ptx_space space = ptx_inst_space(inst);
    if (!ctx->options->checks_written || space != PTX_SPACE_NONE)
        return space;
    const struct ptx_var *var = tr_variable_of(ctx, tr_operand(inst, address_index));
    return var != NULL && var->space == PTX_SPACE_LOCAL ? PTX_SPACE_LOCAL : space;
}

static struct access describe_access(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                     unsigned address_index, bool is_store)
{
    struct access access = {
        .type = inst->types[0],
        .count = ptx_inst_vector_len(inst),
        .elem_bytes = ptx_type_bytes(inst->types[0]),
        .ordering = LLVMAtomicOrderingNotAtomic,
    };
    switch (ptx_inst_mod(inst, PTX_GROUP_SEM)) {
    case PTX_MOD_VOLATILE:
    case PTX_MOD_MMIO:
        /* "ld.volatile has the same memory synchronization semantics as ld.relaxed.sys" */
        access.is_volatile = true;
        access.ordering = LLVMAtomicOrderingMonotonic;
        break;
    case PTX_MOD_RELAXED:
        access.ordering = LLVMAtomicOrderingMonotonic;
        break;
    case PTX_MOD_ACQUIRE:
        access.ordering = LLVMAtomicOrderingAcquire;
        break;
    case PTX_MOD_RELEASE:
        access.ordering = LLVMAtomicOrderingRelease;
        break;
    default:
        if (is_strong_by_cache(inst))
            access.ordering = LLVMAtomicOrderingMonotonic;
        break;
    }
    access.piece_bytes = piece_bytes(&access, ptx_inst_space(inst));
    if (access.ordering != LLVMAtomicOrderingNotAtomic && !is_store)
        tr_poll(ctx);
    access.pointer = tr_access_address(ctx, tr_operand(inst, address_index), ptx_inst_space(inst),
                                       access.elem_bytes * access.count);
    tr_check(ctx, tr_operand(inst, address_index), access.pointer, ptx_inst_space(inst),
             access.elem_bytes * access.count, is_store ? RT_ACCESS_WRITE : RT_ACCESS_READ);
    if (access.is_volatile)
        keep_step(ctx, inst, &access, is_store);
    tell_races(ctx, inst, &access, is_store);
    return access;
}

static void set_memory_flags(const struct access *access, LLVMValueRef memory_inst)
{
    LLVMSetAlignment(memory_inst, access->piece_bytes);
    LLVMSetVolatile(memory_inst, access->is_volatile);
    if (access->ordering != LLVMAtomicOrderingNotAtomic)
        LLVMSetOrdering(memory_inst, access->ordering);
}

static LLVMValueRef piece_pointer(struct tr_ctx *ctx, const struct access *access, unsigned piece)
{
    if (piece == 0)
        return access->pointer;
    LLVMValueRef offset = tr_const_int(ctx, 64, (uint64_t)piece * access->piece_bytes);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, access->pointer, &offset, 1, "");
}

static unsigned elements_in_piece(const struct access *access)
{
    return access->piece_bytes / access->elem_bytes;
}

/* The LLVM type of a piece: a number up to 8 bytes, like the elements of others, or a vector;
 * numbers of 16 bytes are slow to compile where they become parts of vectors. Code generation knows
 * no atomic vectors (whole_accesses.c). */
static LLVMTypeRef piece_type(struct tr_ctx *ctx, const struct access *access)
{
    unsigned count = elements_in_piece(access);
    return count > 1 && access->piece_bytes == MAX_PIECE_BYTES
               ? LLVMVectorType(tr_int_type(ctx, access->elem_bytes * 8), count)
               : tr_int_type(ctx, access->piece_bytes * 8);
}

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

/* The distance in bits of an element from the first one in its piece, as a number of the piece's
 * width. */
static LLVMValueRef shift_of(struct tr_ctx *ctx, const struct access *access, unsigned place)
{
    return tr_const_int(ctx, access->piece_bytes * 8, (uint64_t)place * access->elem_bytes * 8);
}

/* place: the element's, in the piece. */
static LLVMValueRef element_of(struct tr_ctx *ctx, const struct access *access, LLVMValueRef piece,
                               unsigned place)
{
    if (elements_in_piece(access) == 1)
        return piece;
    if (is_vector(LLVMTypeOf(piece)))
        return LLVMBuildExtractElement(ctx->builder, piece, tr_const_int(ctx, 32, place), "");
    LLVMValueRef low = LLVMBuildLShr(ctx->builder, piece, shift_of(ctx, access, place), "");
    return LLVMBuildTrunc(ctx->builder, low, tr_int_type(ctx, access->elem_bytes * 8), "");
}

/* Adds an element to the piece; the first one comes first. */
static LLVMValueRef put_element(struct tr_ctx *ctx, const struct access *access, LLVMValueRef piece,
                                LLVMValueRef element, unsigned place)
{
    LLVMTypeRef type = piece_type(ctx, access);
    if (elements_in_piece(access) == 1)
        return element;
    if (is_vector(type))
        return LLVMBuildInsertElement(ctx->builder, place == 0 ? LLVMGetPoison(type) : piece,
                                      element, tr_const_int(ctx, 32, place), "");
    element = LLVMBuildZExt(ctx->builder, element, type, "");
    if (place == 0)
        return element;
    element = LLVMBuildShl(ctx->builder, element, shift_of(ctx, access, place), "");
    return LLVMBuildOr(ctx->builder, piece, element, "");
}

/* Joins these operands to a piece. */
static LLVMValueRef join_elements(struct tr_ctx *ctx, const struct access *access,
                                  const struct ptx_operand *parts)
{
    LLVMTypeRef type = tr_int_type(ctx, access->elem_bytes * 8);
    LLVMValueRef piece = NULL;
    for (unsigned i = 0; i < elements_in_piece(access); i++) {
        LLVMValueRef value = tr_operand_value(ctx, &parts[i], access->type);
        piece = put_element(ctx, access, piece, tr_bitcast(ctx, value, type), i);
    }
    return piece;
}

enum pxr_status tr_emit_ld(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct access access = describe_access(ctx, inst, 1, false);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 0), parts) < access.count)
        return tr_unsupported(ctx, inst, "fewer destinations than elements");

    LLVMValueRef pieces[TR_MAX_VECTOR];
    unsigned in_piece = elements_in_piece(&access);
    /* Nothing writes to constants and kernel parameters while the grid runs. */
    bool is_invariant =
        ptx_inst_space(inst) == PTX_SPACE_CONST || tr_is_kernel_param(ctx, tr_operand(inst, 1));
    /* All loads come before the first write: a destination may be the address register. */
    for (unsigned i = 0; i < access.count / in_piece; i++) {
        pieces[i] = LLVMBuildLoad2(ctx->builder, piece_type(ctx, &access),
                                   piece_pointer(ctx, &access, i), "");
        set_memory_flags(&access, pieces[i]);
        if (is_invariant)
            tr_mark_invariant(pieces[i]);
        else
            pieces[i] = tr_read_value(ctx, pieces[i], piece_pointer(ctx, &access, i),
                                      known_space(ctx, inst, 1), access.piece_bytes);
    }
    if (access.ordering != LLVMAtomicOrderingNotAtomic)
        tr_race_acquire(ctx, access.pointer, access.ordering == LLVMAtomicOrderingAcquire);
    for (unsigned i = 0; i < access.count; i++) {
        LLVMValueRef value = element_of(ctx, &access, pieces[i / in_piece], i % in_piece);
        tr_set_operand(ctx, &parts[i], access.type,
                       tr_bitcast(ctx, value, tr_type(ctx, access.type)));
    }
    return PXR_OK;
}

enum pxr_status tr_emit_st(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct access access = describe_access(ctx, inst, 0, true);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 1), parts) < access.count)
        return tr_unsupported(ctx, inst, "fewer sources than elements");

    unsigned in_piece = elements_in_piece(&access);
    for (unsigned i = 0; i < access.count / in_piece; i++) {
        LLVMValueRef value = join_elements(ctx, &access, parts + i * in_piece);
        LLVMValueRef pointer = piece_pointer(ctx, &access, i);
        value = tr_write_value(ctx, value, pointer, known_space(ctx, inst, 0), access.piece_bytes);
        value = LLVMBuildStore(ctx->builder, value, pointer);
        set_memory_flags(&access, value);
    }
    return PXR_OK;
}

/* A hint: results do not depend on it. */
enum pxr_status tr_emit_prefetch(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)ctx;
    (void)inst;
    return PXR_OK;
}
