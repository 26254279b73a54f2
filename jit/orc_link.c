/* SPDX-License-Identifier: Apache-2.0
 *
 * See orc_link.h. ORC may call `materialize` of any variant on any thread that looks something up.
 * It only notes who is responsible: the thread that wants the variant compiles it, outside of ORC,
 * so that nobody waits for another's compilation and an LLVM fatal error cannot tear ORC apart.
 */
#include "jit/orc_link.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "jit/orc_session.h"

struct jit_linked {
    const struct jit_link *link; /* while it is being linked */
    struct orc_library *library;
    LLVMOrcResourceTrackerRef tracker;
    bool is_in_orc; /* ORC may still call; if the work has ended nevertheless, it was torn off by an
                       LLVM fatal error */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by lock: what ORC has said. */
    LLVMOrcMaterializationResponsibilityRef responsibility; /* not yet taken */
    bool is_found;
    uint64_t address;       /* 0: not found, */
    struct pxr_error error; /* … for this reason */
};

/* The variant whose object this thread has given to ORC. */
static _Thread_local struct {
    struct jit_linked *linked;
    struct pxr_error *err;
} emitting;

/* ---- what the session asks for ---- */

LLVMErrorRef orc_transform(void *context, LLVMMemoryBufferRef *object)
{
    (void)context;
    const struct jit_link *link = emitting.linked->link;
    uint8_t *bytes = NULL;
    size_t size_bytes;
    LLVMDisposeMemoryBuffer(*object);
    *object = NULL;
    enum pxr_status status = link->admit(link->host_argument, &bytes, &size_bytes, emitting.err);
    if (status == PXR_OK)
        *object =
            LLVMCreateMemoryBufferWithMemoryRangeCopy((char *)bytes, size_bytes, link->symbol);
    free(bytes);
    return *object ? NULL : LLVMCreateStringError("the object is refused");
}

void *orc_memory_begin(void *context)
{
    (void)context;
    return emitting.linked;
}

/* The memory is the host's. */
void orc_memory_end(void *context)
{
    (void)context;
}

uint8_t *orc_memory_text(void *memory, uintptr_t size_bytes, unsigned alignment, unsigned number,
                         const char *section)
{
    (void)number;
    const struct jit_link *link = ((struct jit_linked *)memory)->link;
    return link->allocate(link->host_argument, section, size_bytes, alignment, true);
}

/* Whether a section may be written has been decided when the object was admitted. */
uint8_t *orc_memory_data(void *memory, uintptr_t size_bytes, unsigned alignment, unsigned number,
                         const char *section, LLVMBool is_read_only)
{
    (void)number;
    (void)is_read_only;
    const struct jit_link *link = ((struct jit_linked *)memory)->link;
    return link->allocate(link->host_argument, section, size_bytes, alignment, false);
}

LLVMBool orc_memory_protect(void *memory, char **message)
{
    const struct jit_link *link = ((struct jit_linked *)memory)->link;
    if (link->protect(link->host_argument))
        return false;
    *message = strdup("the system does not allow compiled code to be made executable");
    return true;
}

/* ---- what ORC says ---- */

static void materialize(void *context, LLVMOrcMaterializationResponsibilityRef responsibility)
{
    struct jit_linked *linked = context;
    pthread_mutex_lock(&linked->lock);
    linked->responsibility = responsibility;
    pthread_cond_signal(&linked->changed);
    pthread_mutex_unlock(&linked->lock);
}

/* There are no second definitions of a variant. */
static void discard(void *context, LLVMOrcJITDylibRef dylib, LLVMOrcSymbolStringPoolEntryRef symbol)
{
    (void)context;
    (void)dylib;
    (void)symbol;
}

/* The variant outlives its unit. */
static void destroy_unit(void *context)
{
    (void)context;
}

static void take_result(LLVMErrorRef error, LLVMOrcCSymbolMapPairs pairs, size_t count,
                        void *context)
{
    struct jit_linked *linked = context;
    pthread_mutex_lock(&linked->lock);
    if (error)
        orc_fail(error, &linked->error);
    else
        linked->address = count > 0 ? pairs[0].Sym.Address : 0;
    linked->is_found = true;
    pthread_cond_signal(&linked->changed);
    pthread_mutex_unlock(&linked->lock);
}

/* ---- one variant ---- */

static enum pxr_status define_variant(struct jit_linked *linked,
                                      LLVMOrcSymbolStringPoolEntryRef name, struct pxr_error *err)
{
    LLVMOrcRetainSymbolStringPoolEntry(name);
    LLVMOrcCSymbolFlagsMapPair symbol = {
        .Name = name,
        .Flags = {.GenericFlags =
                      LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable}};
    LLVMOrcMaterializationUnitRef unit = LLVMOrcCreateCustomMaterializationUnit(
        linked->link->symbol, linked, &symbol, 1, NULL, materialize, discard, destroy_unit);
    return orc_library_define(linked->library, unit, &linked->tracker, err);
}

static void look_up(LLVMOrcExecutionSessionRef session, struct jit_linked *linked,
                    LLVMOrcSymbolStringPoolEntryRef name)
{
    LLVMOrcCJITDylibSearchOrderElement where = {
        .JD = linked->library->dylib,
        .JDLookupFlags = LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
    LLVMOrcRetainSymbolStringPoolEntry(name);
    LLVMOrcCLookupSetElement what = {.Name = name,
                                     .LookupFlags = LLVMOrcSymbolLookupFlagsRequiredSymbol};
    LLVMOrcExecutionSessionLookup(session, LLVMOrcLookupKindStatic, &where, 1, &what, 1,
                                  take_result, linked);
}

/* NULL: the lookup has ended without. */
static LLVMOrcMaterializationResponsibilityRef await_responsibility(struct jit_linked *linked)
{
    pthread_mutex_lock(&linked->lock);
    while (!linked->responsibility && !linked->is_found)
        pthread_cond_wait(&linked->changed, &linked->lock);
    LLVMOrcMaterializationResponsibilityRef taken = linked->responsibility;
    linked->responsibility = NULL;
    pthread_mutex_unlock(&linked->lock);
    return taken;
}

static enum pxr_status await_result(struct jit_linked *linked, uint64_t *address,
                                    struct pxr_error *err)
{
    pthread_mutex_lock(&linked->lock);
    while (!linked->is_found)
        pthread_cond_wait(&linked->changed, &linked->lock);
    pthread_mutex_unlock(&linked->lock);
    *address = linked->address;
    if (*address)
        return PXR_OK;
    return pxr_fail(err, PXR_COMPILE_FAILED, "%s", linked->error.message);
}

static enum pxr_status compile_variant(void *argument, struct pxr_error *err)
{
    const struct jit_link *link = argument;
    return jit_compile_request(link->request, link->object, err);
}

/* Makes good on the responsibility. */
static enum pxr_status produce(const struct orc_session *session, struct jit_linked *linked,
                               LLVMOrcMaterializationResponsibilityRef responsibility,
                               struct pxr_error *err)
{
    const struct jit_link *link = linked->link;
    enum pxr_status status = PXR_OK;
    if (link->request)
        status = jit_catch_fatal(compile_variant, (void *)link, err);
    if (status != PXR_OK) {
        LLVMOrcMaterializationResponsibilityFailMaterialization(responsibility);
        LLVMOrcDisposeMaterializationResponsibility(responsibility);
        return status;
    }
    LLVMMemoryBufferRef object = LLVMCreateMemoryBufferWithMemoryRange(
        (char *)link->object->bytes, link->object->size_bytes, link->symbol, false);
    struct pxr_error refused = {0};
    emitting.linked = linked;
    emitting.err = &refused;
    LLVMOrcObjectLayerEmit(session->layer, responsibility, object);
    emitting.linked = NULL;
    return refused.status == PXR_OK ? PXR_OK : pxr_fail(err, refused.status, "%s", refused.message);
}

static enum pxr_status make_variant(const struct orc_session *session, struct jit_linked *linked,
                                    uint64_t *address, struct pxr_error *err)
{
    LLVMOrcSymbolStringPoolEntryRef name =
        LLVMOrcExecutionSessionIntern(session->execution, linked->link->symbol);
    linked->is_in_orc = true;
    enum pxr_status status = define_variant(linked, name, err);
    if (status == PXR_OK) {
        look_up(session->execution, linked, name);
        LLVMOrcMaterializationResponsibilityRef responsibility = await_responsibility(linked);
        if (responsibility)
            status = produce(session, linked, responsibility, err);
        struct pxr_error unfound = {0};
        enum pxr_status found = await_result(linked, address, &unfound);
        if (status == PXR_OK && found != PXR_OK)
            status = pxr_fail(err, found, "%s", unfound.message);
    }
    linked->is_in_orc = false;
    LLVMOrcReleaseSymbolStringPoolEntry(name);
    return status;
}

struct work {
    const struct jit_link *link;
    struct jit_linked *linked;
    uint64_t *address;
};

static enum pxr_status run_link(void *argument, struct pxr_error *err)
{
    struct work *work = argument;
    const struct jit_link *link = work->link;
    const struct orc_session *session;
    enum pxr_status status = orc_session_get(link->writes_jitdump, &session, err);
    if (status == PXR_OK)
        status = orc_library_acquire(session, link, &work->linked->library, err);
    if (status == PXR_OK)
        status = make_variant(session, work->linked, work->address, err);
    return status;
}

enum pxr_status orc_link(const struct jit_link *link, struct jit_linked **linked, uint64_t *address,
                         struct pxr_error *err)
{
    *linked = NULL;
    struct jit_linked *made = calloc(1, sizeof *made);
    if (!made)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    made->link = link;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    struct work work = {.link = link, .linked = made, .address = address};
    jit_guard_fn guard = link->request ? link->request->guard : NULL;
    enum pxr_status status = jit_run_work(run_link, &work, guard, err);
    made->link = NULL;
    if (status == PXR_OK)
        *linked = made;
    else if (!made->is_in_orc)
        orc_unlink(made);
    return status;
}

void orc_unlink(struct jit_linked *linked)
{
    if (linked->tracker)
        orc_tracker_remove(linked->tracker);
    if (linked->library)
        orc_library_release(linked->library);
    pthread_cond_destroy(&linked->changed);
    pthread_mutex_destroy(&linked->lock);
    free(linked);
}
