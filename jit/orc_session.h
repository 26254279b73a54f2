/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's one session of LLVM's ORC, inside libptxrun-compile.so, made when the first code is
 * linked, and its libraries: one for each owner of code, in which no name is found but what is
 * defined there. Nothing of it is ever destroyed but what unloaded code leaves behind.
 */
#ifndef PTXRUN_JIT_ORC_SESSION_H
#define PTXRUN_JIT_ORC_SESSION_H

#include <llvm-c/Orc.h>

#include "jit/jit.h"

struct orc_session {
    LLVMOrcExecutionSessionRef execution;
    LLVMOrcObjectLayerRef layer; /* an object that it emits goes through orc_transform first */
};

/* What the session asks for while an object is linked (orc_link.c). */
LLVMErrorRef orc_transform(void *context, LLVMMemoryBufferRef *object);
void *orc_memory_begin(void *context);
void orc_memory_end(void *context);
uint8_t *orc_memory_text(void *memory, uintptr_t size_bytes, unsigned alignment, unsigned number,
                         const char *section);
uint8_t *orc_memory_data(void *memory, uintptr_t size_bytes, unsigned alignment, unsigned number,
                         const char *section, LLVMBool is_read_only);
LLVMBool orc_memory_protect(void *memory, char **message);

/* Errors: PXR_COMPILE_FAILED. */
enum pxr_status orc_session_get(bool writes_jitdump, const struct orc_session **session,
                                struct pxr_error *err);

struct orc_library {
    LLVMOrcJITDylibRef dylib;
    struct orc_library *next;
    const void *owner;
    unsigned users;                      /* codes in it, and to come */
    LLVMOrcResourceTrackerRef whitelist; /* while it has users */
};

/* The library of the owner, with the whitelist defined; made if need be. */
enum pxr_status orc_library_acquire(const struct orc_session *session, const struct jit_link *link,
                                    struct orc_library **library, struct pxr_error *err);
/* The last user leaves it empty, for another owner. */
void orc_library_release(struct orc_library *library);

/* Adds the unit to the library, under a tracker of its own. Takes the unit. */
enum pxr_status orc_library_define(struct orc_library *library, LLVMOrcMaterializationUnitRef unit,
                                   LLVMOrcResourceTrackerRef *tracker, struct pxr_error *err);

/* Removes all that is under the tracker, and the tracker. */
void orc_tracker_remove(LLVMOrcResourceTrackerRef tracker);

/* Takes the error, of which a text goes into *err. */
enum pxr_status orc_fail(LLVMErrorRef error, struct pxr_error *err);

#endif
