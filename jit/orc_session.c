/* SPDX-License-Identifier: Apache-2.0
 *
 * See orc_session.h. Of LLJIT, the only way to a session that LLVM's C interface has, only the
 * session and the layer in front of the linker are used.
 */
#include "jit/orc_session.h"

#include <llvm-c/Error.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/OrcEE.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "jit/cpu.h"
#include "jit/llvm_target.h"
#include "util/log.h"

/* Guards all that is below, and what is defined in libraries. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct orc_session session; /* execution == NULL: none yet */
    struct orc_library *libraries;
    unsigned library_count;
} all;

enum pxr_status orc_fail(LLVMErrorRef error, struct pxr_error *err)
{
    char *text = LLVMGetErrorMessage(error);
    pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot link the code: %s", text);
    LLVMDisposeErrorMessage(text);
    return PXR_COMPILE_FAILED;
}

/* ---- the session ---- */

/* What ORC cannot tell whoever has asked; they learn that it failed. */
static void report(void *context, LLVMErrorRef error)
{
    (void)context;
    char *text = LLVMGetErrorMessage(error);
    pxr_log(PXR_LOG_DEBUG, "ORC: %s", text);
    LLVMDisposeErrorMessage(text);
}

static LLVMOrcObjectLayerRef make_linker(void *context, LLVMOrcExecutionSessionRef session,
                                         const char *triple)
{
    (void)triple;
    const bool *writes_jitdump = context;
    LLVMOrcObjectLayerRef linker =
        LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
            session, NULL, orc_memory_begin, orc_memory_end, orc_memory_text, orc_memory_data,
            orc_memory_protect, orc_memory_end);
    LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(linker,
                                                            LLVMCreateGDBRegistrationListener());
    if (*writes_jitdump)
        LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(linker,
                                                                LLVMCreatePerfJITEventListener());
    return linker;
}

/* LLJIT wants to know the target, though it compiles nothing here: any CPU does. It makes two
 * machines more of it, for each of which LLVM would read the long list of features. */
static enum pxr_status describe_target(LLVMOrcJITTargetMachineBuilderRef *description,
                                       struct pxr_error *err)
{
    struct jit_target *target;
    enum pxr_status status = jit_target_acquire(&target, err);
    if (status != PXR_OK)
        return status;
    LLVMTargetMachineRef machine = jit_cpu_machine("", "", target->triple, LLVMCodeGenLevelNone);
    jit_target_release(target);
    if (!machine)
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot make code for this CPU");
    *description = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine);
    return PXR_OK;
}

static enum pxr_status make_session(bool writes_jitdump, struct pxr_error *err)
{
    LLVMOrcJITTargetMachineBuilderRef description;
    enum pxr_status status = describe_target(&description, err);
    if (status != PXR_OK)
        return status;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, description);
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_linker, &writes_jitdump);
    LLVMOrcLLJITRef jit;
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit, builder);
    if (error)
        return orc_fail(error, err);
    all.session.execution = LLVMOrcLLJITGetExecutionSession(jit);
    LLVMOrcExecutionSessionSetErrorReporter(all.session.execution, report, NULL);
    LLVMOrcObjectTransformLayerRef transform = LLVMOrcLLJITGetObjTransformLayer(jit);
    LLVMOrcObjectTransformLayerSetTransform(transform, orc_transform, NULL);
    /* It is an object layer, and nothing else; C has no conversion. */
    all.session.layer = (LLVMOrcObjectLayerRef)transform;
    return PXR_OK;
}

enum pxr_status orc_session_get(bool writes_jitdump, const struct orc_session **session,
                                struct pxr_error *err)
{
    pthread_mutex_lock(&lock);
    enum pxr_status status = all.session.execution ? PXR_OK : make_session(writes_jitdump, err);
    *session = &all.session;
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- libraries ---- */

void orc_tracker_remove(LLVMOrcResourceTrackerRef tracker)
{
    LLVMConsumeError(LLVMOrcResourceTrackerRemove(tracker));
    LLVMOrcReleaseResourceTracker(tracker);
}

/* Takes the unit. C defines only under the library's default tracker, which is empty before and
 * after. */
static enum pxr_status define_locked(struct orc_library *library,
                                     LLVMOrcMaterializationUnitRef unit,
                                     LLVMOrcResourceTrackerRef *tracker, struct pxr_error *err)
{
    LLVMErrorRef error = LLVMOrcJITDylibDefine(library->dylib, unit);
    if (error) {
        LLVMOrcDisposeMaterializationUnit(unit);
        return orc_fail(error, err);
    }
    *tracker = LLVMOrcJITDylibCreateResourceTracker(library->dylib);
    /* Not released: LLVM 22 counts no reference for the caller, whatever its header says. */
    LLVMOrcResourceTrackerTransferTo(LLVMOrcJITDylibGetDefaultResourceTracker(library->dylib),
                                     *tracker);
    return PXR_OK;
}

static size_t add_pairs(LLVMOrcExecutionSessionRef session, const struct jit_symbol *symbols,
                        size_t count, LLVMOrcCSymbolMapPair *pairs)
{
    for (size_t i = 0; i < count; i++)
        pairs[i] = (LLVMOrcCSymbolMapPair){
            .Name = LLVMOrcExecutionSessionIntern(session, symbols[i].name),
            .Sym = {.Address = (uintptr_t)symbols[i].address,
                    .Flags = {.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                              LLVMJITSymbolGenericFlagsCallable}}};
    return count;
}

/* Every name that code of the library may use and does not bring. */
static enum pxr_status define_whitelist(LLVMOrcExecutionSessionRef session,
                                        struct orc_library *library, const struct jit_link *link,
                                        struct pxr_error *err)
{
    LLVMOrcCSymbolMapPair *pairs = calloc(link->whitelist_count + link->extra_count, sizeof *pairs);
    if (!pairs)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    /* Of two with one name the later holds. */
    size_t count = add_pairs(session, link->extra, link->extra_count, pairs);
    count += add_pairs(session, link->whitelist, link->whitelist_count, pairs + count);
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, count);
    free(pairs);
    return define_locked(library, unit, &library->whitelist, err);
}

static struct orc_library *new_library(const struct orc_session *session)
{
    struct orc_library *library = calloc(1, sizeof *library);
    if (!library)
        return NULL;
    char name[32];
    snprintf(name, sizeof name, "module %u", ++all.library_count);
    library->dylib = LLVMOrcExecutionSessionCreateBareJITDylib(session->execution, name);
    library->next = all.libraries;
    all.libraries = library;
    return library;
}

static struct orc_library *find_library(const void *owner)
{
    struct orc_library *empty = NULL;
    for (struct orc_library *library = all.libraries; library; library = library->next) {
        if (library->users > 0 && owner && library->owner == owner)
            return library;
        if (library->users == 0)
            empty = library;
    }
    return empty;
}

enum pxr_status orc_library_acquire(const struct orc_session *session, const struct jit_link *link,
                                    struct orc_library **library, struct pxr_error *err)
{
    pthread_mutex_lock(&lock);
    enum pxr_status status = PXR_OK;
    struct orc_library *found = find_library(link->owner);
    if (!found)
        found = new_library(session);
    if (!found) {
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    } else if (found->users == 0) {
        found->owner = link->owner;
        status = define_whitelist(session->execution, found, link, err);
    }
    if (status == PXR_OK)
        found->users++;
    pthread_mutex_unlock(&lock);
    *library = found;
    return status;
}

void orc_library_release(struct orc_library *library)
{
    pthread_mutex_lock(&lock);
    if (--library->users == 0)
        orc_tracker_remove(library->whitelist);
    pthread_mutex_unlock(&lock);
}

enum pxr_status orc_library_define(struct orc_library *library, LLVMOrcMaterializationUnitRef unit,
                                   LLVMOrcResourceTrackerRef *tracker, struct pxr_error *err)
{
    pthread_mutex_lock(&lock);
    enum pxr_status status = define_locked(library, unit, tracker, err);
    pthread_mutex_unlock(&lock);
    return status;
}
