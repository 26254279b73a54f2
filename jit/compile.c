/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of one compilation: translate, collapse, optimise, emit. Every compilation has its own
 * LLVM context, so any number may run at once.
 */
#include "jit/compile.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit/passes.h"
#include "translator/module/keep_lines.h"
#include "translator/translator.h"

#define DWARF_VERSION 5

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* LLVM's messages never reach the user's standard error. */
static void take_diagnostic(LLVMDiagnosticInfoRef info, void *argument)
{
    struct jit_unit *unit = argument;
    char *text = LLVMGetDiagInfoDescription(info);
    for (size_t len = strlen(text); len > 0 && text[len - 1] == '\n'; len--)
        text[len - 1] = '\0';
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        if (unit->diagnostic.status == PXR_OK)
            pxr_fail(&unit->diagnostic, PXR_COMPILE_FAILED, "%s", text);
    } else {
        jit_frames_note(&unit->frames, text);
    }
    LLVMDisposeMessage(text);
}

enum pxr_status jit_unit_init(struct jit_unit *unit, struct pxr_error *err)
{
    memset(unit, 0, sizeof *unit);
    enum pxr_status status = jit_target_acquire(&unit->target, err);
    if (status != PXR_OK)
        return status;
    unit->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(unit->context, take_diagnostic, unit);
    return PXR_OK;
}

void jit_unit_fini(struct jit_unit *unit)
{
    if (unit->module)
        LLVMDisposeModule(unit->module);
    if (unit->context)
        LLVMContextDispose(unit->context);
    jit_frames_fini(&unit->frames);
    jit_target_release(unit->target);
}

void jit_unit_dump(const struct jit_unit *unit, const char *kind, const char *suffix)
{
    if (!jit_dump_wants(&unit->dump, kind))
        return;
    char *text = LLVMPrintModuleToString(unit->module);
    jit_dump_write(&unit->dump, suffix, text, strlen(text));
    LLVMDisposeMessage(text);
}

/* NULL: there is none. */
static LLVMTargetMachineRef machine_for(const struct jit_unit *unit)
{
    return unit->budget.effort < TR_EFFORT_SHORT ? unit->target->machine
                                                 : jit_target_quick(unit->target);
}

static enum pxr_status emit(struct jit_unit *unit, LLVMModuleRef module, LLVMCodeGenFileType type,
                            LLVMMemoryBufferRef *buffer, struct pxr_error *err)
{
    char *message = NULL;
    LLVMTargetMachineRef machine = machine_for(unit);
    if (!machine)
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot make code for this CPU");
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &message, buffer)) {
        enum pxr_status status =
            pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot emit code: %s", message);
        LLVMDisposeMessage(message);
        return status;
    }
    if (unit->diagnostic.status != PXR_OK) {
        LLVMDisposeMemoryBuffer(*buffer);
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot emit code: %s",
                        unit->diagnostic.message);
    }
    return PXR_OK;
}

/* Emitting changes a module, so the assembly is made from a copy. */
static enum pxr_status dump_asm(struct jit_unit *unit, struct pxr_error *err)
{
    if (!jit_dump_wants(&unit->dump, "asm"))
        return PXR_OK;
    LLVMModuleRef copy = LLVMCloneModule(unit->module);
    LLVMMemoryBufferRef buffer;
    if (machine_for(unit))
        LLVMSetTargetMachineAsmVerbosity(machine_for(unit), 1);
    enum pxr_status status = emit(unit, copy, LLVMAssemblyFile, &buffer, err);
    if (status == PXR_OK) {
        jit_dump_write(&unit->dump, "s", LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
    }
    LLVMDisposeModule(copy);
    return status;
}

static enum pxr_status emit_object(struct jit_unit *unit, struct jit_object *object,
                                   struct pxr_error *err)
{
    LLVMMemoryBufferRef buffer;
    enum pxr_status status = emit(unit, unit->module, LLVMObjectFile, &buffer, err);
    if (status != PXR_OK)
        return status;
    object->size_bytes = LLVMGetBufferSize(buffer);
    object->bytes = malloc(object->size_bytes);
    if (object->bytes)
        memcpy(object->bytes, LLVMGetBufferStart(buffer), object->size_bytes);
    else
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for compiled code of %zu bytes",
                          object->size_bytes);
    LLVMDisposeMemoryBuffer(buffer);
    return status;
}

/* The loader's line table reads this version only. */
static void require_dwarf_version(const struct jit_unit *unit)
{
    static const char name[] = "Dwarf Version";
    if (LLVMGetModuleFlag(unit->module, name, sizeof name - 1))
        return;
    LLVMTypeRef type = LLVMInt32TypeInContext(unit->context);
    LLVMMetadataRef version = LLVMValueAsMetadata(LLVMConstInt(type, DWARF_VERSION, 0));
    LLVMAddModuleFlag(unit->module, LLVMModuleFlagBehaviorWarning, name, sizeof name - 1, version);
}

/* A fused kernel runs its step function below itself, through rt_block_mix. */
static uint32_t frame_bytes(const struct jit_unit *unit, LLVMValueRef entry)
{
    uint32_t bytes = jit_frames_depth(&unit->frames, entry);
    LLVMValueRef step = LLVMGetNamedFunction(unit->module, TR_STEP_NAME);
    if (bytes == 0 || !step)
        return bytes;
    uint32_t step_bytes = jit_frames_depth(&unit->frames, step);
    return step_bytes == 0 || step_bytes > UINT32_MAX - bytes ? 0 : bytes + step_bytes;
}

enum pxr_status jit_unit_emit(struct jit_unit *unit, struct jit_object *object,
                              struct pxr_error *err)
{
    uint64_t start_ns = thread_cpu_ns();
    jit_target_prepare(unit->target, unit->module);
    jit_frames_request(unit->module);
    require_dwarf_version(unit);
    tr_lines_mark(unit->module);
    enum pxr_status status = jit_run_passes(unit->module, object->collapse, unit->budget.effort,
                                            unit->target->machine, err);
    tr_lines_restore(unit->module);
    if (status != PXR_OK)
        return status;
    if (object->collapse == PXR_COLLAPSE_VECTOR)
        tr_mend_one_lane_stores(unit->module);
    tr_lower_whole_accesses(unit->module, unit->target->has_whole_loads);
    uint64_t optimised_ns = thread_cpu_ns();
    object->optimise_ns = optimised_ns - start_ns;
    jit_unit_dump(unit, "opt", "opt.ll");
    status = dump_asm(unit, err);
    if (status != PXR_OK)
        return status;
    LLVMValueRef entry = LLVMGetNamedFunction(unit->module, JIT_KERNEL_SYMBOL);
    if (!entry || LLVMIsDeclaration(entry))
        return pxr_fail(err, PXR_COMPILE_FAILED, "the translated module has no kernel");
    uint64_t codegen_start_ns = thread_cpu_ns();
    status = emit_object(unit, object, err);
    if (status != PXR_OK)
        return status;
    object->frame_bytes = frame_bytes(unit, entry);
    object->codegen_ns = thread_cpu_ns() - codegen_start_ns;
    return PXR_OK;
}

static enum pxr_status translate(struct jit_unit *unit, const struct jit_request *request,
                                 struct pxr_error *err)
{
    /* `precise` is the collapse that results are judged by, so it checks what a GPU checks. */
    struct tr_options options = {.check_alignment = true,
                                 .triple = unit->target->triple,
                                 .data_layout = unit->target->data_layout,
                                 .budget = &unit->budget};
    unit->kernel = request->kernel;
    enum pxr_status status = tr_translate_kernel(request->module, request->kernel, request->layout,
                                                 &options, unit->context, &unit->module, err);
    if (status != PXR_OK)
        return status;
    jit_unit_dump(unit, "ir", "ll");
    return PXR_OK;
}

enum pxr_status jit_compile_request(const struct jit_request *request, struct jit_object *object,
                                    struct pxr_error *err)
{
    struct jit_unit unit;
    enum pxr_status status = jit_unit_init(&unit, err);
    if (status != PXR_OK)
        return status;
    unit.dump = (struct jit_dump){
        .kinds = request->dump, .dir = request->dump_dir, .kernel = request->kernel->name};
    if (jit_dump_wants(&unit.dump, "ptx"))
        jit_dump_write(&unit.dump, "ptx", request->module->text.ptr, request->module->text.len);
    uint64_t start_ns = thread_cpu_ns();
    status = translate(&unit, request, err);
    if (status == PXR_OK)
        status = jit_unit_collapse(&unit, &request->variant, NULL, object, err);
    object->translate_ns = thread_cpu_ns() - start_ns;
    if (status == PXR_OK) {
        status = jit_unit_emit(&unit, object, err);
        if (status != PXR_OK)
            pxr_error_prefix(err, "kernel '%s'", request->kernel->name);
    }
    jit_unit_fini(&unit);
    return status;
}

enum pxr_status jit_check_request(const struct jit_request *request, struct pxr_error *err)
{
    struct jit_unit unit;
    enum pxr_status status = jit_unit_init(&unit, err);
    if (status != PXR_OK)
        return status;
    status = translate(&unit, request, err);
    jit_unit_fini(&unit);
    return status;
}
