/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of one compilation: translate, collapse, optimise, emit. Every compilation has its own
 * LLVM context, so any number may run at once.
 */
#include "jit/compile.h"

#include <limits.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit/observe.h"
#include "ptx/flush.h"
#include "ptx/kernel_survey.h"
#include "translator/pipeline.h"
#include "translator/step_names.h"

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

/* Writes the module as <kernel>.<suffix> if --dump asks for this kind. */
static void dump_module(const struct jit_unit *unit, const char *kind, const char *suffix)
{
    if (jit_dump_wants(&unit->watch.dump, kind))
        jit_dump_module(&unit->watch.dump, unit->module, suffix);
}

/* NULL: there is none. */
static LLVMTargetMachineRef machine_for(const struct jit_unit *unit)
{
    return tr_effort_is_good(unit->budget.effort) ? unit->target->machine
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
    if (!jit_dump_wants(&unit->watch.dump, "asm"))
        return PXR_OK;
    LLVMModuleRef copy = LLVMCloneModule(unit->module);
    LLVMMemoryBufferRef buffer;
    if (machine_for(unit))
        LLVMSetTargetMachineAsmVerbosity(machine_for(unit), 1);
    enum pxr_status status = emit(unit, copy, LLVMAssemblyFile, &buffer, err);
    if (status == PXR_OK) {
        jit_dump_write(&unit->watch.dump, "s", LLVMGetBufferStart(buffer),
                       LLVMGetBufferSize(buffer));
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

/* One stage of translator/pipeline.def. */
static struct tr_compilation begin_stage(struct jit_unit *unit)
{
    return (struct tr_compilation){.module = unit->module,
                                   .kernel = unit->kernel,
                                   .budget = &unit->budget,
                                   .machine = unit->target->machine,
                                   .lacks_halves = !unit->target->cpu.converts_halves,
                                   .lacks_multiply_adds = !unit->target->cpu.has_fused,
                                   .has_roundings = unit->target->cpu.has_roundings,
                                   .has_whole_loads = unit->target->has_whole_loads,
                                   .places = unit->places,
                                   .observer = jit_observer(&unit->watch)};
}

static void end_stage(struct jit_unit *unit, struct tr_compilation *compilation)
{
    unit->module = compilation->module;
    tr_compilation_fini(compilation);
}

enum pxr_status jit_unit_emit(struct jit_unit *unit, struct jit_object *object,
                              struct pxr_error *err)
{
    uint64_t start_ns = thread_cpu_ns();
    jit_target_prepare(unit->target, unit->module);
    jit_frames_request(unit->module);
    require_dwarf_version(unit);
    struct tr_compilation compilation = begin_stage(unit);
    enum pxr_status status = tr_make_code(&compilation, object->collapse, err);
    end_stage(unit, &compilation);
    if (status != PXR_OK)
        return status;
    uint64_t optimised_ns = thread_cpu_ns();
    object->optimise_ns = optimised_ns - start_ns;
    dump_module(unit, "opt", "opt.ll");
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
    /* With the step function, which the kernel passes on. */
    object->frame_bytes = jit_frames_depth(&unit->frames, entry);
    object->codegen_ns = thread_cpu_ns() - codegen_start_ns;
    return PXR_OK;
}

/* ---- the stages before ---- */

enum pxr_status jit_unit_translate(struct jit_unit *unit, const struct tr_source *source,
                                   struct pxr_error *err)
{
    struct tr_compilation compilation = begin_stage(unit);
    enum pxr_status status = tr_make_thread(&compilation, source, err);
    unit->kernel = source->kernel;
    end_stage(unit, &compilation);
    if (status == PXR_OK)
        dump_module(unit, "ir", "ll");
    return status;
}

static const char *dump_dir(const struct jit_request *request)
{
    return request->dump_dir && request->dump_dir[0] ? request->dump_dir : ".";
}

bool jit_unit_flushes(const struct jit_unit *unit, const struct ptx_func *kernel,
                      const struct ptx_kernel_layout *layout)
{
    return unit->target->flushes_as_ptx &&
           ptx_is_flushed(kernel, layout, unit->target->cpu.converts_halves);
}

/* The file has the kernel's name, whatever the program is called, so that one kernel gives one
 * object. */
static enum pxr_status translate(struct jit_unit *unit, const struct jit_request *request,
                                 struct pxr_error *err)
{
    char file[JIT_DUMP_NAME_BYTES];
    jit_dump_name(&(struct jit_dump){.kernel = request->kernel->name}, "ptx", file);
    char dir[PATH_MAX];
    bool has_dir = request->is_debugged && realpath(dump_dir(request), dir);
    /* Results are compared with those of `precise`, so it checks what a GPU checks. */
    struct tr_options options = {
        .check_alignment = true,
        .flushes = jit_unit_flushes(unit, request->kernel, request->layout),
        .begins_inside = !request->variant.is_quick && request->variant.facts.begins_inside,
        .checks_memory = request->checks_memory,
        .checks_races = request->checks_races,
        .checks_meetings = request->checks_meetings,
        .checks_written = request->checks_written,
        .checks_numbers = request->checks_numbers,
        .has_fused = unit->target->cpu.has_fused,
        .is_quick = request->variant.is_quick,
        .dots_bf16 = request->variant.has_fast_matrices && unit->target->cpu.gains_bf16_dots,
        .vector_bits = unit->target->cpu.vector_bits,
        .triple = unit->target->triple,
        .data_layout = unit->target->data_layout,
        .source_file = file,
        .source_dir = has_dir ? dir : NULL,
        .budget = &unit->budget};
    struct tr_source source = {.ptx = request->module,
                               .kernel = request->kernel,
                               .layout = request->layout,
                               .options = &options,
                               .context = unit->context};
    return jit_unit_translate(unit, &source, err);
}

/* .reqntid (PTX ISA "Performance-Tuning Directives"): launches with another shape are refused, so
 * it is a fact of all of them. */
static void add_required_shape(struct tr_facts *facts, const struct ptx_func *kernel)
{
    for (int d = 0; kernel && kernel->required_threads[0] && d < 3; d++)
        facts->block[d] = kernel->required_threads[d] ? kernel->required_threads[d] : 1;
}

static void take_collapsed(struct jit_object *object, const struct tr_collapsed *collapsed)
{
    object->collapse = collapsed->collapse;
    object->width = collapsed->width;
    object->jam = collapsed->jam;
    object->frame_fixed_bytes = collapsed->frame_fixed_bytes;
    object->frame_warp_bytes = collapsed->frame_warp_bytes;
    object->frame_thread_bytes = collapsed->frame_thread_bytes;
    object->may_wait = collapsed->may_wait;
    object->waits_again = collapsed->waits_again;
    object->hands_over = collapsed->hands_over;
    object->explanation = collapsed->explanation;
}

enum pxr_status jit_unit_collapse(struct jit_unit *unit, const struct jit_variant *wanted,
                                  struct jit_seed *seed, struct jit_object *object,
                                  struct pxr_error *err)
{
    /* Code of the quick tier is made once, for all launches. */
    struct tr_facts facts = {0};
    if (!wanted->is_quick)
        facts = wanted->facts;
    add_required_shape(&facts, unit->kernel);
    struct tr_collapse_options options = {
        .collapse = wanted->collapse,
        .width = wanted->width,
        .jam = wanted->jam,
        .target = &unit->target->cpu,
    };
    if (seed) {
        options.seed = seed->kind;
        options.seed_site = seed->site;
        options.keeps_loops = seed->keeps_loops;
    }
    struct tr_collapsed collapsed;
    struct tr_compilation compilation = begin_stage(unit);
    enum pxr_status status = tr_make_block(&compilation, &facts, &options, &collapsed, err);
    end_stage(unit, &compilation);
    if (status != PXR_OK) {
        free(collapsed.explanation);
        return status;
    }
    take_collapsed(object, &collapsed);
    object->flushes = tr_has_flush_mode(unit->module);
    if (seed)
        seed->sites = collapsed.seed_sites;
    dump_module(unit, "collapse", "collapse.ll");
    return PXR_OK;
}

/* ---- all of it ---- */

enum pxr_status jit_compile_request(const struct jit_request *request, struct jit_object *object,
                                    struct pxr_error *err)
{
    struct jit_unit unit;
    enum pxr_status status = tr_check_skip(request->skip, err);
    if (status == PXR_OK)
        status = tr_check_dump(request->dump, err);
    if (status == PXR_OK)
        status = jit_unit_init(&unit, err);
    if (status != PXR_OK)
        return status;
    unit.places = request->tells_source_lines ? request->module : NULL;
    struct jit_watch *watch = &unit.watch;
    watch->dump = (struct jit_dump){
        .kinds = request->dump, .dir = request->dump_dir, .kernel = request->kernel->name};
    watch->skip = request->skip;
    watch->step_limit = request->step_limit;
#ifdef NDEBUG
    watch->verifies = request->verifies_steps;
#else
    watch->verifies = true;
#endif
    watch->times = request->times_steps ? &object->steps : NULL;
    if (request->is_debugged || jit_dump_wants(&watch->dump, "ptx"))
        jit_dump_write(&watch->dump, "ptx", request->module->text.ptr, request->module->text.len);
    tr_budget_begin(&unit.budget, request->variant.is_quick ? TR_EFFORT_QUICK : TR_EFFORT_FULL);
    static atomic_bool has_compiled;
    object->is_warm = atomic_exchange(&has_compiled, true);
    object->instructions = ptx_count_instructions(request->kernel, request->layout);
    object->has_float_atomics = ptx_has_float_atomics(request->kernel, request->layout);
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
