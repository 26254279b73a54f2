/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point instructions for f32 and f64 (PTX ISA "Floating Point Instructions"). Round to
 * nearest is LLVM's own arithmetic, without fast-math flags and never contracted; other modes, .ftz
 * and .sat are helpers (rt/float.c, rt/approx.c). 16-bit types: emit_half.c.
 */
#include "translator/emit/emit_float.h"
#include "translator/module/walk.h"

enum rt_round tr_round_mode(enum ptx_mod mod)
{
    switch (mod) {
    case PTX_MOD_RZ:
    case PTX_MOD_RZI:
        return RT_ROUND_ZERO;
    case PTX_MOD_RM:
    case PTX_MOD_RMI:
        return RT_ROUND_DOWN;
    case PTX_MOD_RP:
    case PTX_MOD_RPI:
        return RT_ROUND_UP;
    case PTX_MOD_RNA:
        return RT_ROUND_AWAY;
    default:
        return RT_ROUND_NEAREST;
    }
}

static enum rt_round mode_of(const struct ptx_inst *inst)
{
    return tr_round_mode(ptx_inst_mod(inst, PTX_GROUP_ROUND));
}

static LLVMValueRef constant(struct tr_ctx *ctx, uint32_t value)
{
    return tr_const_int(ctx, 32, value);
}

/* Pairs of f32 in 64 bits: each half by itself. */
static bool is_pair(const struct ptx_inst *inst)
{
    return inst->types[0] == PTX_TYPE_F32X2;
}

/* The type of one value. */
static enum ptx_type value_type(const struct ptx_inst *inst)
{
    return is_pair(inst) ? PTX_TYPE_F32 : inst->types[0];
}

static bool flushes(const struct ptx_inst *inst)
{
    return ptx_inst_has(inst, PTX_GROUP_FTZ) && value_type(inst) == PTX_TYPE_F32;
}

/* Where the CPU flushes by itself, too: LLVM may make x of x * 1.0. What is left of this when it
 * has done so is seen at the end (module/flushes.c). */
LLVMValueRef tr_ftz_f32(struct tr_ctx *ctx, LLVMValueRef value)
{
    if (ctx->options->flushes)
        return tr_intrinsic(ctx, "llvm.canonicalize", &ctx->f32, 1, &value, 1);
    return tr_helper(ctx, "rt_ftz_f32", ctx->f32, value);
}

/* PTX ISA "Mixed Precision Floating Point Instructions": all sources but the last have the
 * second type, and are converted. */
static bool is_converted(const struct ptx_inst *inst, unsigned index)
{
    return inst->type_count == 2 && tr_is_half(inst->types[1]) && index + 1 < inst->operand_count;
}

/* Source operand `index`, or half `part` of it, as it is. */
static LLVMValueRef unflushed_part(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                                   unsigned part)
{
    if (is_converted(inst, index))
        return tr_half_source_f32(ctx, inst, index, inst->types[1], 0);
    LLVMValueRef value = tr_value(ctx, inst, index, inst->types[0]);
    if (is_pair(inst)) {
        LLVMValueRef shift = tr_const_int(ctx, 64, 32 * part);
        value = LLVMBuildLShr(ctx->builder, value, shift, "");
        value = tr_bitcast(ctx, tr_resize(ctx, value, 32, false), ctx->f32);
    }
    return value;
}

/* The same, flushed if the instruction says so. */
static LLVMValueRef source(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index)
{
    LLVMValueRef value = unflushed_part(ctx, inst, index, 0);
    return flushes(inst) ? tr_ftz_f32(ctx, value) : value;
}

LLVMValueRef tr_cpu_source_f32(struct tr_ctx *ctx, LLVMValueRef value)
{
    bool is_left = ctx->options->flushes && !LLVMIsConstant(value);
    return is_left ? value : tr_ftz_f32(ctx, value);
}

/* The same for arithmetic that the CPU does. */
static LLVMValueRef cpu_source_part(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                                    unsigned part)
{
    LLVMValueRef value = unflushed_part(ctx, inst, index, part);
    return flushes(inst) ? tr_cpu_source_f32(ctx, value) : value;
}

static LLVMValueRef cpu_source(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index)
{
    return cpu_source_part(ctx, inst, index, 0);
}

/* Flushes and saturates a result. */
static LLVMValueRef finish_value(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                 LLVMValueRef value)
{
    if (flushes(inst))
        value = tr_ftz_f32(ctx, value);
    if (ptx_inst_has(inst, PTX_GROUP_SAT)) {
        if (inst->types[0] != PTX_TYPE_F32)
            tr_unsupported(ctx, inst, ".sat applies to .f32 only");
        else
            value = tr_helper(ctx, "rt_sat_f32", ctx->f32, value);
    }
    return value;
}

static enum pxr_status finish(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef value)
{
    tr_set(ctx, inst, 0, inst->types[0], finish_value(ctx, inst, value));
    return PXR_OK;
}

/* The helper of the instruction's type; names: f32, f64. */
static const char *named(const struct ptx_inst *inst, const char *f32, const char *f64)
{
    return value_type(inst) == PTX_TYPE_F32 ? f32 : f64;
}

static LLVMValueRef llvm_unary(struct tr_ctx *ctx, const char *name, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    return tr_intrinsic(ctx, name, &type, 1, &x, 1);
}

/* ---- add, sub, mul, fma ---- */

/* x op y in the instruction's mode: LLVM's operation, or the helper of that name. */
static LLVMValueRef operate(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMOpcode op,
                            const char *helper, LLVMValueRef x, LLVMValueRef y)
{
    enum rt_round mode = mode_of(inst);
    if (mode == RT_ROUND_NEAREST)
        return LLVMBuildBinOp(ctx->builder, op, x, y, "");
    return tr_helper(ctx, helper, LLVMTypeOf(x), x, y, constant(ctx, mode));
}

/* One result of an instruction from its sources. */
typedef LLVMValueRef (*compute_fn)(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                   const LLVMValueRef *args);

static LLVMValueRef compute_part(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                 compute_fn compute, unsigned source_count, unsigned part)
{
    LLVMValueRef args[3];
    for (unsigned i = 0; i < source_count; i++)
        args[i] = cpu_source_part(ctx, inst, i + 1, part);
    return finish_value(ctx, inst, compute(ctx, inst, args));
}

static enum pxr_status compute_all(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                   compute_fn compute, unsigned source_count)
{
    LLVMValueRef value = compute_part(ctx, inst, compute, source_count, 0);
    if (is_pair(inst)) {
        LLVMValueRef high = compute_part(ctx, inst, compute, source_count, 1);
        high = tr_resize(ctx, tr_bitcast(ctx, high, ctx->i32), 64, false);
        high = LLVMBuildShl(ctx->builder, high, tr_const_int(ctx, 64, 32), "");
        value = tr_resize(ctx, tr_bitcast(ctx, value, ctx->i32), 64, false);
        value = LLVMBuildOr(ctx->builder, high, value, "");
    }
    tr_set(ctx, inst, 0, inst->types[0], value);
    return PXR_OK;
}

static LLVMValueRef compute_add(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                const LLVMValueRef *args)
{
    const char *name = named(inst, "rt_add_f32", "rt_add_f64");
    return operate(ctx, inst, LLVMFAdd, name, args[0], args[1]);
}

static LLVMValueRef compute_sub(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                const LLVMValueRef *args)
{
    if (mode_of(inst) == RT_ROUND_NEAREST)
        return LLVMBuildFSub(ctx->builder, args[0], args[1], "");
    const char *name = named(inst, "rt_add_f32", "rt_add_f64");
    LLVMValueRef negated = LLVMBuildFNeg(ctx->builder, args[1], "");
    return operate(ctx, inst, LLVMFAdd, name, args[0], negated);
}

static LLVMValueRef compute_mul(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                const LLVMValueRef *args)
{
    const char *name = named(inst, "rt_mul_f32", "rt_mul_f64");
    return operate(ctx, inst, LLVMFMul, name, args[0], args[1]);
}

/* LLVM 22 takes a sum of constants in place of the CPU, and does not flush them. */
static LLVMValueRef compute_fma(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                const LLVMValueRef *args)
{
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    enum rt_round mode = mode_of(inst);
    LLVMValueRef copies[] = {args[0], args[1], args[2]};
    if (mode == RT_ROUND_NEAREST) {
        LLVMValueRef sum = tr_intrinsic(ctx, "llvm.fma", &type, 1, copies, 3);
        if (ctx->options->flushes && flushes(inst))
            tr_keep_call(sum);
        return sum;
    }
    const char *name = named(inst, "rt_fma_f32", "rt_fma_f64");
    return tr_helper(ctx, name, type, args[0], args[1], args[2], constant(ctx, mode));
}

enum pxr_status tr_emit_add_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_arithmetic(ctx, inst, "rt_half_add", 2);
    return compute_all(ctx, inst, compute_add, 2);
}

enum pxr_status tr_emit_sub_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_arithmetic(ctx, inst, "rt_half_sub", 2);
    return compute_all(ctx, inst, compute_sub, 2);
}

enum pxr_status tr_emit_mul_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_arithmetic(ctx, inst, "rt_half_mul", 2);
    return compute_all(ctx, inst, compute_mul, 2);
}

/* Also mad, which is fma on every target since sm_20. */
enum pxr_status tr_emit_fma(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_arithmetic(ctx, inst, NULL, 3);
    return compute_all(ctx, inst, compute_fma, 3);
}

/* ---- division and roots ---- */

/* x / y in the instruction's mode. */
static LLVMValueRef divide(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef x,
                           LLVMValueRef y)
{
    return operate(ctx, inst, LLVMFDiv, named(inst, "rt_div_f32", "rt_div_f64"), x, y);
}

enum pxr_status tr_emit_div_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = cpu_source(ctx, inst, 1);
    return finish(ctx, inst, divide(ctx, inst, x, cpu_source(ctx, inst, 2)));
}

/* "div.full: a maximum ulp error of 2 across the full range": plain division. */
enum pxr_status tr_emit_div_approx(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = cpu_source(ctx, inst, 1);
    LLVMValueRef y = cpu_source(ctx, inst, 2);
    if (ptx_inst_mod(inst, PTX_GROUP_APPROX) == PTX_MOD_FULL)
        return finish(ctx, inst, LLVMBuildFDiv(ctx->builder, x, y, ""));
    return finish(ctx, inst, tr_helper(ctx, "rt_div_approx_f32", ctx->f32, x, y));
}

enum pxr_status tr_emit_rcp(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = cpu_source(ctx, inst, 1);
    LLVMValueRef value = divide(ctx, inst, LLVMConstReal(LLVMTypeOf(x), 1.0), x);
    if (flushes(inst) && mode_of(inst) != RT_ROUND_NEAREST)
        value = tr_helper(ctx, "rt_flush_reciprocal_f32", ctx->f32, value, x);
    return finish(ctx, inst, value);
}

/* f32: the nearest value is within the bound of 1 ulp. f64 exists as .approx.ftz only. */
enum pxr_status tr_emit_rcp_approx(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = cpu_source(ctx, inst, 1);
    if (inst->types[0] == PTX_TYPE_F64) {
        if (!ptx_inst_has(inst, PTX_GROUP_FTZ))
            return tr_unsupported(ctx, inst, ".approx.f64 needs .ftz");
        return finish(ctx, inst, tr_helper(ctx, "rt_rcp_ftz_f64", ctx->f64, x));
    }
    LLVMValueRef one = LLVMConstReal(ctx->f32, 1.0);
    return finish(ctx, inst, LLVMBuildFDiv(ctx->builder, one, x, ""));
}

/* LLVM 22 takes the root of a constant in place of the CPU, and does not flush it. */
enum pxr_status tr_emit_sqrt(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = source(ctx, inst, 1);
    enum rt_round mode = mode_of(inst);
    if (mode == RT_ROUND_NEAREST)
        return finish(ctx, inst, llvm_unary(ctx, "llvm.sqrt", x));
    const char *name = named(inst, "rt_sqrt_f32", "rt_sqrt_f64");
    return finish(ctx, inst, tr_helper(ctx, name, LLVMTypeOf(x), x, constant(ctx, mode)));
}

enum pxr_status tr_emit_sqrt_approx(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return finish(ctx, inst, llvm_unary(ctx, "llvm.sqrt", source(ctx, inst, 1)));
}

/* ---- approximations ---- */

static enum pxr_status approximate(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                   const char *name)
{
    LLVMValueRef x = source(ctx, inst, 1);
    return finish(ctx, inst, tr_helper(ctx, name, LLVMTypeOf(x), x));
}

enum pxr_status tr_emit_rsqrt(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    bool is_gross = inst->types[0] == PTX_TYPE_F64 && ptx_inst_has(inst, PTX_GROUP_FTZ);
    const char *name = named(inst, "rt_rsqrt_f32", is_gross ? "rt_rsqrt_ftz_f64" : "rt_rsqrt_f64");
    return approximate(ctx, inst, name);
}

enum pxr_status tr_emit_sin(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return approximate(ctx, inst, "rt_sin_f32");
}

enum pxr_status tr_emit_cos(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return approximate(ctx, inst, "rt_cos_f32");
}

enum pxr_status tr_emit_lg2(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return approximate(ctx, inst, "rt_lg2_f32");
}

/* The same as tr_ftz_f32, of a value that is not negative. */
static LLVMValueRef flush_positive(struct tr_ctx *ctx, LLVMValueRef value)
{
    if (ctx->options->flushes)
        return tr_ftz_f32(ctx, value);
    LLVMValueRef least = LLVMConstReal(ctx->f32, 0x1p-126);
    LLVMValueRef is_tiny = LLVMBuildFCmp(ctx->builder, LLVMRealOLT, value, least, "");
    return LLVMBuildSelect(ctx->builder, is_tiny, LLVMConstReal(ctx->f32, 0.0), value, "");
}

enum pxr_status tr_emit_ex2(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_arithmetic(ctx, inst, "rt_half_ex2", 1);
    /* Of a subnormal it is 1, flushed or not: expf() has one .ftz here and none elsewhere. */
    LLVMValueRef x = unflushed_part(ctx, inst, 1, 0);
    LLVMValueRef value = tr_helper(ctx, "rt_ex2_f32", ctx->f32, x);
    tr_set(ctx, inst, 0, PTX_TYPE_F32, flushes(inst) ? flush_positive(ctx, value) : value);
    return PXR_OK;
}

enum pxr_status tr_emit_tanh(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_arithmetic(ctx, inst, "rt_half_tanh", 1);
    return approximate(ctx, inst, "rt_tanh_f32");
}

/* ---- signs, minimum and maximum, tests ---- */

enum pxr_status tr_emit_abs_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_sign(ctx, inst, LLVMAnd, 0x7fff);
    return finish(ctx, inst, llvm_unary(ctx, "llvm.fabs", source(ctx, inst, 1)));
}

enum pxr_status tr_emit_neg_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_is_half(inst->types[0]))
        return tr_half_sign(ctx, inst, LLVMXor, 0x8000);
    return finish(ctx, inst, LLVMBuildFNeg(ctx->builder, source(ctx, inst, 1), ""));
}

/* .xorsign comes with .abs, in any order; with three sources .abs comes alone. */
static uint32_t sign_flags(const struct ptx_inst *inst)
{
    uint32_t flags = 0;
    for (unsigned i = 0; i < inst->mod_count; i++) {
        flags |= inst->mods[i] == PTX_MOD_XORSIGN ? RT_MINMAX_XORSIGN : 0;
        flags |= inst->mods[i] == PTX_MOD_ABS ? RT_MINMAX_ABS : 0;
    }
    return flags;
}

static enum pxr_status minmax(struct tr_ctx *ctx, const struct ptx_inst *inst, uint32_t flags)
{
    flags |= ptx_inst_has(inst, PTX_GROUP_NAN) ? RT_MINMAX_NAN : 0;
    flags |= sign_flags(inst);
    if (tr_is_half(inst->types[0]))
        return tr_half_minmax(ctx, inst, flags);
    if (inst->types[0] == PTX_TYPE_F64 && (flags & ~(uint32_t)RT_MINMAX_MAX) != 0)
        return tr_unsupported(ctx, inst, ".f64 takes no .NaN and no .xorsign");
    LLVMValueRef value = source(ctx, inst, 1);
    const char *name = named(inst, "rt_minmax_f32", "rt_minmax_f64");
    for (unsigned i = 2; i < inst->operand_count; i++)
        value = tr_helper(ctx, name, LLVMTypeOf(value), value, source(ctx, inst, i),
                          constant(ctx, flags));
    return finish(ctx, inst, value);
}

enum pxr_status tr_emit_min_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return minmax(ctx, inst, 0);
}

enum pxr_status tr_emit_max_float(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return minmax(ctx, inst, RT_MINMAX_MAX);
}

static enum rt_testp test_of(enum ptx_mod mod)
{
    switch (mod) {
    case PTX_MOD_FINITE:
        return RT_TESTP_FINITE;
    case PTX_MOD_INFINITE:
        return RT_TESTP_INFINITE;
    case PTX_MOD_NUMBER:
        return RT_TESTP_NUMBER;
    case PTX_MOD_NOTANUMBER:
        return RT_TESTP_NOTANUMBER;
    case PTX_MOD_NORMAL:
        return RT_TESTP_NORMAL;
    default:
        return RT_TESTP_SUBNORMAL;
    }
}

enum pxr_status tr_emit_testp(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = tr_value(ctx, inst, 1, inst->types[0]);
    LLVMValueRef test = constant(ctx, test_of(ptx_inst_mod(inst, PTX_GROUP_TESTP)));
    LLVMValueRef value =
        tr_helper(ctx, named(inst, "rt_testp_f32", "rt_testp_f64"), ctx->i32, x, test);
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, LLVMBuildTrunc(ctx->builder, value, ctx->i1, ""));
    return PXR_OK;
}

/* "copysign: copies the sign bit of a into the value of b". */
enum pxr_status tr_emit_copysign(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef args[] = {tr_value(ctx, inst, 2, type), tr_value(ctx, inst, 1, type)};
    LLVMTypeRef llvm_type = LLVMTypeOf(args[0]);
    tr_set(ctx, inst, 0, type, tr_intrinsic(ctx, "llvm.copysign", &llvm_type, 1, args, 2));
    return PXR_OK;
}
