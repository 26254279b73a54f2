/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 1 from kernel to module: functions, their blocks, and the walk over the instructions, each
 * of which goes to the emitter named by its row in ptx/ops.def.
 */
#include "translator/emit/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>

#include "translator/emit/emission.h"
#include "translator/emit/matrix_order.h"
#include "translator/emit/matrix_residents.h"
#include "translator/emit/matrix_run.h"
#include "translator/module/walk.h"

static const tr_emit_fn emitters[PTX_OP_COUNT] = {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity)                               \
    [PTX_OP_##ID] = tr_emit_##emitter,
#include "ptx/ops.def"
#undef OP
};

/* ---- the module ---- */

static void init_types(struct tr_ctx *ctx)
{
    LLVMContextRef llvm = ctx->llvm;
    ctx->void_type = LLVMVoidTypeInContext(llvm);
    ctx->i1 = LLVMInt1TypeInContext(llvm);
    ctx->i8 = LLVMInt8TypeInContext(llvm);
    ctx->i16 = LLVMInt16TypeInContext(llvm);
    ctx->i32 = LLVMInt32TypeInContext(llvm);
    ctx->i64 = LLVMInt64TypeInContext(llvm);
    ctx->i128 = LLVMInt128TypeInContext(llvm);
    ctx->f32 = LLVMFloatTypeInContext(llvm);
    ctx->f64 = LLVMDoubleTypeInContext(llvm);
    ctx->ptr = LLVMPointerTypeInContext(llvm, 0);
}

static void add_module_flag(struct tr_ctx *ctx, const char *name, unsigned value)
{
    LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(ctx->i32, value, false));
    LLVMAddModuleFlag(ctx->module, LLVMModuleFlagBehaviorWarning, name, strlen(name), number);
}

static void init_debug(struct tr_ctx *ctx)
{
    add_module_flag(ctx, "Dwarf Version", 5);
    add_module_flag(ctx, "Debug Info Version", LLVMDebugMetadataVersion());
    ctx->debug = LLVMCreateDIBuilder(ctx->module);
    const struct tr_options *options = ctx->options;
    const char *file = options->source_file ? options->source_file : ctx->ptx->source_name;
    const char *dir = options->source_dir ? options->source_dir : "";
    ctx->debug_file = LLVMDIBuilderCreateFile(ctx->debug, file, strlen(file), dir, strlen(dir));
    LLVMDIBuilderCreateCompileUnit(ctx->debug, LLVMDWARFSourceLanguageC, ctx->debug_file, "ptxrun",
                                   6, true, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, false, false,
                                   "", 0, "", 0);
}

static enum pxr_status init_ctx(struct tr_ctx *ctx)
{
    pxr_arena_init(&ctx->arena, 0);
    ctx->functions =
        pxr_arena_alloc_array(&ctx->arena, ctx->ptx->func_count, sizeof *ctx->functions);
    ctx->pending = tr_set_make(&ctx->arena, ctx->ptx->func_count);
    if (ctx->functions == NULL || ctx->pending.words == NULL)
        return pxr_fail(ctx->err, PXR_OUT_OF_MEMORY, "out of memory translating kernel '%s'",
                        ctx->kernel->name);
    init_types(ctx);
    ctx->module = LLVMModuleCreateWithNameInContext(ctx->kernel->name, ctx->llvm);
    LLVMSetTarget(ctx->module, ctx->options->triple);
    LLVMSetDataLayout(ctx->module, ctx->options->data_layout);
    ctx->builder = LLVMCreateBuilderInContext(ctx->llvm);
    ctx->entry_builder = LLVMCreateBuilderInContext(ctx->llvm);
    init_debug(ctx);
    if (ctx->options->flushes)
        tr_note_flush_mode(ctx->module);
    return PXR_OK;
}

static void fini_ctx(struct tr_ctx *ctx)
{
    if (ctx->debug != NULL)
        LLVMDisposeDIBuilder(ctx->debug);
    if (ctx->builder != NULL)
        LLVMDisposeBuilder(ctx->builder);
    if (ctx->entry_builder != NULL)
        LLVMDisposeBuilder(ctx->entry_builder);
    pxr_arena_fini(&ctx->arena);
}

/* ---- functions ---- */

LLVMTypeRef tr_function_type(struct tr_ctx *ctx, const struct ptx_func *func)
{
    unsigned count = 1 + (func->is_entry ? 0 : func->ret_count + func->param_count);
    LLVMTypeRef *types = pxr_arena_alloc_array(&ctx->arena, count, sizeof *types);
    if (types == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, func->line, "out of memory");
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        types[i] = ctx->ptr;
    return LLVMFunctionType(ctx->void_type, types, count, false);
}

/* Names that start so belong to CUDA: launches, streams and graphs from within kernels. */
static bool is_device_runtime_name(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

static void fail_undefined(struct tr_ctx *ctx, const struct ptx_func *func, int line)
{
    if (is_device_runtime_name(func->name))
        tr_fail(ctx, PXR_UNSUPPORTED, line,
                "function '%s' of CUDA's device runtime is not supported", func->name);
    else
        tr_fail(ctx, PXR_NOT_FOUND, line,
                "function '%s' is declared extern and not defined in any linked module",
                func->name);
}

LLVMValueRef tr_function(struct tr_ctx *ctx, const struct ptx_func *func, int line)
{
    if (ctx->functions[func->index] != NULL)
        return ctx->functions[func->index];
    if (!func->has_body) {
        fail_undefined(ctx, func, line);
        return NULL;
    }
    char name[256];
    snprintf(name, sizeof name, "ptx.%s", func->name);
    LLVMTypeRef type = tr_function_type(ctx, func);
    if (type == NULL)
        return NULL;
    bool is_kernel = func == ctx->kernel;
    LLVMValueRef function = LLVMAddFunction(ctx->module, is_kernel ? TR_KERNEL_NAME : name, type);
    if (!is_kernel)
        LLVMSetLinkage(function, LLVMInternalLinkage);
    tr_add_attribute(ctx, function, "nounwind", 0);
    ctx->functions[func->index] = function;
    tr_set_add(&ctx->pending, func->index);
    return function;
}

LLVMBasicBlockRef tr_label_block(struct tr_ctx *ctx, const struct ptx_label *label)
{
    LLVMBasicBlockRef *block = &ctx->labels[label->index];
    if (*block == NULL)
        *block = LLVMAppendBasicBlockInContext(ctx->llvm, ctx->function, label->name);
    return *block;
}

/* ---- debug information ---- */

static void begin_subprogram(struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(ctx->debug, ctx->debug_file, NULL, 0, LLVMDIFlagZero);
    size_t len = strlen(func->name);
    ctx->subprogram =
        LLVMDIBuilderCreateFunction(ctx->debug, ctx->debug_file, func->name, len, func->name, len,
                                    ctx->debug_file, (unsigned)func->line, type, !func->is_entry,
                                    true, (unsigned)func->line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(ctx->function, ctx->subprogram);
}

static void set_location(struct tr_ctx *ctx, int line, int column)
{
    LLVMMetadataRef location = LLVMDIBuilderCreateDebugLocation(
        ctx->llvm, (unsigned)line, (unsigned)column, ctx->subprogram, NULL);
    LLVMSetCurrentDebugLocation2(ctx->builder, location);
    LLVMSetCurrentDebugLocation2(ctx->entry_builder, location);
}

/* ---- a function's body ---- */

static void emit_bare(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (ctx->options->checks_numbers)
        tr_number_emit(ctx, inst, emitters[inst->op]);
    else
        emitters[inst->op](ctx, inst);
}

/* @p inst: puts a branch around it. */
static void emit_guarded(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (inst->guard == NULL) {
        emit_bare(ctx, inst);
        return;
    }
    struct ptx_operand guard = {
        .kind = PTX_OPERAND_REG, .var = inst->guard, .is_negated = inst->guard_negated};
    bool is_in_run = tr_is_in_run(ctx);
    LLVMBasicBlockRef guarded = tr_new_block(ctx, "guarded");
    LLVMBasicBlockRef after = tr_new_block(ctx, "after");
    LLVMValueRef condition = tr_operand_value(ctx, &guard, PTX_TYPE_PRED);
    tr_number_decides(ctx, &guard);
    LLVMBuildCondBr(ctx->builder, condition, guarded, after);
    LLVMPositionBuilderAtEnd(ctx->builder, guarded);
    emit_bare(ctx, inst);
    if (!is_in_run)
        tr_end_run(ctx);
    if (LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(ctx->builder)) == NULL)
        LLVMBuildBr(ctx->builder, after);
    LLVMPositionBuilderAtEnd(ctx->builder, after);
}

/* The instruction that the emitter gets instead when a test seeds a fault. */
static const struct ptx_inst *rewritten(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (ctx->options->rewrite == NULL)
        return inst;
    struct ptx_inst *copy = pxr_arena_alloc_array(&ctx->arena, 1, sizeof *copy);
    if (copy == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, inst->line, "out of memory");
        return inst;
    }
    *copy = *inst;
    ctx->options->rewrite(ctx->options->rewrite_data, copy);
    return copy;
}

static void emit_inst(struct tr_ctx *ctx, const struct ptx_inst *written)
{
    const struct ptx_inst *inst = rewritten(ctx, written);
    tr_leave_run(ctx, inst);
    ctx->inst = inst;
    set_location(ctx, inst->line, inst->column);
    if (LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(ctx->builder)) != NULL)
        LLVMPositionBuilderAtEnd(ctx->builder, tr_new_block(ctx, "unreached"));
    tr_keep_uniform(ctx, inst);
    emit_guarded(ctx, inst);
}

static void emit_label(struct tr_ctx *ctx, const struct ptx_label *label)
{
    tr_end_run(ctx);
    LLVMBasicBlockRef block = tr_label_block(ctx, label);
    LLVMBasicBlockRef current = LLVMGetInsertBlock(ctx->builder);
    if (LLVMGetBasicBlockTerminator(current) == NULL)
        LLVMBuildBr(ctx->builder, block);
    LLVMMoveBasicBlockAfter(block, LLVMGetLastBasicBlock(ctx->function));
    LLVMPositionBuilderAtEnd(ctx->builder, block);
    ctx->region++;
}

/* Other memory is made where it is first used, which may be in an inner block. */
static void emit_declaration(struct tr_ctx *ctx, const struct ptx_var *var)
{
    if (var->space == PTX_SPACE_PARAM && ctx->block_depth > 0)
        ctx->vars[var->index] = tr_passing_memory(ctx, var->size_bytes, var->align_bytes);
}

static void emit_statement(struct tr_ctx *ctx, const struct ptx_stmt *stmt)
{
    switch (stmt->kind) {
    case PTX_STMT_INST:
        emit_inst(ctx, &stmt->inst);
        break;
    case PTX_STMT_LABEL:
        emit_label(ctx, stmt->label);
        break;
    case PTX_STMT_VAR:
        emit_declaration(ctx, stmt->var);
        break;
    case PTX_STMT_BLOCK_BEGIN:
        tr_begin_text_block(ctx);
        break;
    case PTX_STMT_BLOCK_END:
        tr_end_text_block(ctx);
        break;
    case PTX_STMT_RANGE:
    case PTX_STMT_DIRECTIVE:
        break;
    }
}

static void emit_body(struct tr_ctx *ctx)
{
    const uint32_t *order = tr_matrix_order(ctx);
    tr_make_residents(ctx, order);
    for (uint32_t i = 0; i < ctx->func->stmt_count && ctx->status == PXR_OK; i++)
        emit_statement(ctx, &ctx->func->stmts[order != NULL ? order[i] : i]);
    tr_end_run(ctx);
    /* Falling off the end is returning. */
    if (ctx->status == PXR_OK &&
        LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(ctx->builder)) == NULL)
        tr_emit_ret(ctx, NULL);
}

static bool alloc_function_state(struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    ctx->vars = pxr_arena_alloc_array(&ctx->arena, func->var_count, sizeof *ctx->vars);
    ctx->labels = pxr_arena_alloc_array(&ctx->arena, func->label_count, sizeof *ctx->labels);
    ctx->label_stmts =
        pxr_arena_alloc_array(&ctx->arena, func->label_count, sizeof *ctx->label_stmts);
    ctx->alignments = pxr_arena_alloc_array(&ctx->arena, func->var_count, sizeof *ctx->alignments);
    ctx->constants = pxr_arena_alloc_array(&ctx->arena, func->var_count, sizeof *ctx->constants);
    if (ctx->options->checks_numbers)
        ctx->origins = pxr_arena_alloc_array(&ctx->arena, func->var_count, sizeof *ctx->origins);
    ctx->block_depth = 0;
    ctx->taken_passing = NULL;
    memset(ctx->free_passing, 0, sizeof ctx->free_passing);
    ctx->params = NULL;
    ctx->rets = NULL;
    if (!func->is_entry) {
        ctx->params = pxr_arena_alloc_array(&ctx->arena, func->param_count, sizeof *ctx->params);
        ctx->rets = pxr_arena_alloc_array(&ctx->arena, func->ret_count, sizeof *ctx->rets);
    }
    for (uint32_t i = 0; ctx->label_stmts != NULL && i < func->stmt_count; i++)
        if (func->stmts[i].kind == PTX_STMT_LABEL)
            ctx->label_stmts[func->stmts[i].label->index] = i;
    return ctx->vars != NULL && ctx->labels != NULL && ctx->label_stmts != NULL &&
           ctx->alignments != NULL && ctx->constants != NULL &&
           (!ctx->options->checks_numbers || ctx->origins != NULL) &&
           (func->is_entry || (ctx->params != NULL && ctx->rets != NULL));
}

/* Generic addresses count: they may turn out to be shared. */
static bool has_volatile_shared(const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];
        if (stmt->kind != PTX_STMT_INST ||
            ptx_inst_mod(&stmt->inst, PTX_GROUP_SEM) != PTX_MOD_VOLATILE)
            continue;
        enum ptx_space space = ptx_inst_space(&stmt->inst);
        if (space == PTX_SPACE_SHARED || space == PTX_SPACE_NONE)
            return true;
    }
    return false;
}

/* Binds the caller's pointers; the pointer of a .reg parameter serves as the register. */
static void bind_params(struct tr_ctx *ctx)
{
    if (ctx->func->is_entry)
        return;
    unsigned index = 1;
    for (uint32_t i = 0; i < ctx->func->ret_count; i++)
        ctx->rets[i] = LLVMGetParam(ctx->function, index++);
    for (uint32_t i = 0; i < ctx->func->param_count; i++)
        ctx->params[i] = LLVMGetParam(ctx->function, index++);
}

static enum pxr_status define_function(struct tr_ctx *ctx, const struct ptx_func *func)
{
    ctx->func = func;
    ctx->function = ctx->functions[func->index];
    ctx->thread = LLVMGetParam(ctx->function, 0);
    LLVMSetValueName2(ctx->thread, "ctx", 3);
    ctx->launch = NULL;
    ctx->shared_base = NULL;
    ctx->words_base = NULL;
    ctx->run = NULL;
    ctx->lane_words = NULL;
    ctx->param_base = NULL;
    ctx->inst = NULL;
    ctx->region++;
    ctx->keeps_step = has_volatile_shared(func);
    tr_measure_text(ctx, func);
    if (ctx->budget->effort == TR_EFFORT_LINEAR)
        LLVMContextSetDiscardValueNames(ctx->llvm, true);
    if (!alloc_function_state(ctx))
        return tr_fail(ctx, PXR_OUT_OF_MEMORY, func->line, "out of memory");
    bind_params(ctx);
    ctx->table_fence = tr_find_table_fence(ctx);

    begin_subprogram(ctx);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ctx->llvm, ctx->function, "entry");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(ctx->llvm, ctx->function, "body");
    LLVMPositionBuilderAtEnd(ctx->entry_builder, entry);
    LLVMPositionBuilderAtEnd(ctx->builder, body);
    set_location(ctx, func->line, 0);
    ctx->carry = tr_alloca(ctx, ctx->i1, 0, "carry");
    LLVMBuildStore(ctx->entry_builder, tr_const_int(ctx, 1, 0), ctx->carry);
    tr_check_stack(ctx);
    tr_leave_out_first_threads(ctx);
    tr_leave_first_lane(ctx);
    emit_body(ctx);
    LLVMBuildBr(ctx->entry_builder, body);
    return ctx->status;
}

/* ---- functions that may never be called ---- */

/* The reason as a string in the module. */
static LLVMValueRef reason_text(struct tr_ctx *ctx, const char *reason)
{
    LLVMValueRef text =
        LLVMConstStringInContext2(ctx->llvm, reason, strlen(reason), false /* with a NUL */);
    LLVMValueRef global = LLVMAddGlobal(ctx->module, LLVMTypeOf(text), "ptx.refusal");
    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    return global;
}

/* Replaces a function that was begun by one that only refuses. */
static void replace_by_refusal(struct tr_ctx *ctx, const struct ptx_func *func, const char *reason)
{
    int line = ctx->inst != NULL ? ctx->inst->line : func->line;
    LLVMValueRef begun = ctx->functions[func->index];
    tr_forget_registers(ctx, begun);
    ctx->function = LLVMAddFunction(ctx->module, "", LLVMGlobalGetValueType(begun));
    LLVMReplaceAllUsesWith(begun, ctx->function);
    LLVMDeleteFunction(begun);
    ctx->functions[func->index] = ctx->function;
    LLVMSetLinkage(ctx->function, LLVMInternalLinkage);
    tr_add_attribute(ctx, ctx->function, "nounwind", 0);
    begin_subprogram(ctx);
    LLVMPositionBuilderAtEnd(ctx->builder,
                             LLVMAppendBasicBlockInContext(ctx->llvm, ctx->function, "entry"));
    set_location(ctx, line, 0);
    ctx->thread = LLVMGetParam(ctx->function, 0);
    tr_placeholder(ctx, RT_CALL_UNSUPPORTED, ctx->thread, reason_text(ctx, reason));
    LLVMBuildUnreachable(ctx->builder);
}

/* A kernel that calls through handles may reach every function whose address is taken, but rarely
 * does: one that cannot be translated is no reason to refuse the kernel. Calling it is a fault that
 * says why. */
static enum pxr_status define_reachable(struct tr_ctx *ctx, const struct ptx_func *func)
{
    struct pxr_error *err = ctx->err;
    struct pxr_error reason = {0};
    ctx->err = &reason;
    define_function(ctx, func);
    ctx->err = err;
    if (ctx->status == PXR_UNSUPPORTED || ctx->status == PXR_NOT_FOUND) {
        ctx->status = PXR_OK;
        pxr_error_prefix(&reason, "function '%s' cannot be called", func->name);
        replace_by_refusal(ctx, func, reason.message);
    } else if (ctx->status != PXR_OK && err != NULL) {
        *err = reason;
    }
    return ctx->status;
}

/* Everything that is called directly has been found when the table of handles is made. */
static bool is_only_reachable(const struct tr_ctx *ctx)
{
    return ctx->handle_table != NULL && LLVMGetInitializer(ctx->handle_table) != NULL;
}

/* Fused kernels are two functions (kernel_abi/rt.h). The second exists from the beginning, empty,
 * for the sake of its debug information. */
static void add_step_function(struct tr_ctx *ctx)
{
    LLVMTypeRef types[2] = {ctx->ptr, ctx->i32};
    ctx->func = ctx->kernel;
    ctx->function =
        LLVMAddFunction(ctx->module, TR_STEP_NAME, LLVMFunctionType(ctx->i32, types, 2, false));
    tr_add_attribute(ctx, ctx->function, "nounwind", 0);
    begin_subprogram(ctx);
    LLVMPositionBuilderAtEnd(ctx->builder,
                             LLVMAppendBasicBlockInContext(ctx->llvm, ctx->function, "entry"));
    LLVMSetCurrentDebugLocation2(ctx->builder, NULL);
    LLVMBuildRet(ctx->builder, tr_const_int(ctx, 32, RT_ENTRY_EXITED));
}

static enum pxr_status define(struct tr_ctx *ctx, const struct ptx_func *func)
{
    tr_set_remove(&ctx->pending, func->index);
    return is_only_reachable(ctx) ? define_reachable(ctx, func) : define_function(ctx, func);
}

/* Defines the kernel and every function that gets declared on the way, in rounds through the
 * module.
 */
static enum pxr_status define_functions(struct tr_ctx *ctx)
{
    if (tr_function(ctx, ctx->kernel, ctx->kernel->line) == NULL)
        return ctx->status;
    bool again = true;
    while (again) {
        again = false;
        uint32_t i = tr_set_next(&ctx->pending, 0);
        for (; i != TR_NONE; i = tr_set_next(&ctx->pending, i + 1)) {
            enum pxr_status status = define(ctx, ctx->ptx->funcs[i]);
            if (status != PXR_OK)
                return status;
            again = true;
        }
        if (!again)
            again = tr_define_handle_table(ctx);
        if (ctx->status != PXR_OK)
            return ctx->status;
    }
    return PXR_OK;
}

static enum pxr_status verify(struct tr_ctx *ctx)
{
    char *message = NULL;
    enum pxr_status status = PXR_OK;
    if (LLVMVerifyModule(ctx->module, LLVMReturnStatusAction, &message))
        status = pxr_fail(ctx->err, PXR_COMPILE_FAILED,
                          "kernel '%s' (%s): the translation is defective: %s", ctx->kernel->name,
                          ctx->ptx->source_name, message);
    LLVMDisposeMessage(message);
    return status;
}

enum pxr_status tr_emit_module(const struct tr_source *source, struct tr_ctx **emission,
                               LLVMModuleRef *module, struct pxr_error *err)
{
    struct tr_ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    *ctx = (struct tr_ctx){.ptx = source->ptx,
                           .kernel = source->kernel,
                           .layout = source->layout,
                           .options = source->options,
                           .err = err,
                           .budget = source->options->budget,
                           .llvm = source->context};
    *emission = ctx;
    enum pxr_status status = init_ctx(ctx);
    tr_find_uniform_warps(ctx);
    if (status == PXR_OK)
        status = define_functions(ctx);
    if (status == PXR_OK) {
        tr_leave_cluster_barrier(ctx);
        tr_meet_ends(ctx);
    }
    *module = ctx->module;
    if (status != PXR_OK)
        return status;
    add_step_function(ctx);
    LLVMDIBuilderFinalize(ctx->debug);
    return verify(ctx);
}

void tr_end_emission(struct tr_ctx *emission)
{
    if (emission == NULL)
        return;
    fini_ctx(emission);
    free(emission);
}

/* A register read before it is written is undefined for LLVM, which may then take a different value
 * at every use. Here it becomes 0. (Storing 0 to every register first would do the same, but
 * makes the search for places of phis quadratic.) */
static void define_in_function(LLVMValueRef function)
{
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        unsigned count = (unsigned)LLVMGetNumOperands(inst);
        for (unsigned i = 0; i < count; i++) {
            LLVMValueRef operand = LLVMGetOperand(inst, i);
            if (LLVMIsUndef(operand) || LLVMIsPoison(operand))
                LLVMSetOperand(inst, i, LLVMConstNull(LLVMTypeOf(operand)));
        }
    }
}

void tr_define_undefined(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        define_in_function(f);
}
