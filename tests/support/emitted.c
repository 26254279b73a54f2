/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of modules, as bitcode, and their objects.
 */
#include "tests/support/emitted.h"
#include "tests/support/emitting.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS     8
#define MAX_BYTES (4u << 20) /* of a module that is kept */

struct emitted {
    enum pxr_collapse collapse;
    enum tr_effort effort;
    LLVMMemoryBufferRef module; /* NULL: free */
    uint8_t *bytes;
    size_t size_bytes;
    uint32_t frame_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct emitted ring[SLOTS];
static unsigned next_slot;

static bool is_same(LLVMMemoryBufferRef a, LLVMMemoryBufferRef b)
{
    size_t size_bytes = LLVMGetBufferSize(a);
    return size_bytes == LLVMGetBufferSize(b) &&
           memcmp(LLVMGetBufferStart(a), LLVMGetBufferStart(b), size_bytes) == 0;
}

static uint8_t *copy_of(const uint8_t *bytes, size_t size_bytes)
{
    uint8_t *copy = malloc(size_bytes);
    if (copy)
        memcpy(copy, bytes, size_bytes);
    return copy;
}

static bool find(LLVMMemoryBufferRef module, enum tr_effort effort, struct jit_object *object)
{
    bool is_found = false;
    pthread_mutex_lock(&lock);
    for (size_t n = 0; n < SLOTS && !is_found; n++) {
        const struct emitted *slot = &ring[n];
        if (!slot->module || slot->collapse != object->collapse || slot->effort != effort ||
            !is_same(slot->module, module))
            continue;
        object->bytes = copy_of(slot->bytes, slot->size_bytes);
        object->size_bytes = slot->size_bytes;
        object->frame_bytes = slot->frame_bytes;
        is_found = object->bytes != NULL;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

/* Takes the module. */
static void keep(LLVMMemoryBufferRef module, enum tr_effort effort, const struct jit_object *object)
{
    struct emitted kept = {object->collapse,
                           effort,
                           module,
                           copy_of(object->bytes, object->size_bytes),
                           object->size_bytes,
                           object->frame_bytes};
    if (!kept.bytes) {
        LLVMDisposeMemoryBuffer(module);
        return;
    }
    pthread_mutex_lock(&lock);
    struct emitted *slot = &ring[next_slot++ % SLOTS];
    if (slot->module)
        LLVMDisposeMemoryBuffer(slot->module);
    free(slot->bytes);
    *slot = kept;
    pthread_mutex_unlock(&lock);
}

static enum pxr_status emit(struct jit_unit *unit, struct jit_object *object, struct pxr_error *err)
{
    LLVMTargetMachineRef machine = unit->target->machine;
    unit->target->machine = emitting_machine(unit->target);
    enum pxr_status status = jit_unit_emit(unit, object, err);
    unit->target->machine = machine;
    return status;
}

enum pxr_status emitted_get(struct jit_unit *unit, struct jit_object *object, struct pxr_error *err)
{
    LLVMMemoryBufferRef module = LLVMWriteBitcodeToMemoryBuffer(unit->module);
    enum tr_effort effort = unit->budget.effort;
    if (find(module, effort, object)) {
        LLVMDisposeMemoryBuffer(module);
        return PXR_OK;
    }
    enum pxr_status status = emit(unit, object, err);
    if (status == PXR_OK && LLVMGetBufferSize(module) <= MAX_BYTES)
        keep(module, effort, object);
    else
        LLVMDisposeMemoryBuffer(module);
    return status;
}
