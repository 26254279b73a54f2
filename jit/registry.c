/* SPDX-License-Identifier: Apache-2.0
 *
 * All loaded code, to find whose a program counter is.
 */
#include <pthread.h>
#include <utlist.h>

#include "jit/code.h"

/* Few hundred entries at most, searched only when a kernel has failed. */
static struct {
    pthread_rwlock_t lock;
    struct jit_code *head; /* guarded by lock, as are the links */
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

void jit_registry_add(struct jit_code *code)
{
    pthread_rwlock_wrlock(&registry.lock);
    DL_APPEND(registry.head, code);
    pthread_rwlock_unlock(&registry.lock);
}

void jit_registry_remove(struct jit_code *code)
{
    pthread_rwlock_wrlock(&registry.lock);
    DL_DELETE(registry.head, code);
    pthread_rwlock_unlock(&registry.lock);
}

const struct jit_code *jit_find_code(uintptr_t pc)
{
    pthread_rwlock_rdlock(&registry.lock);
    const struct jit_code *found = NULL;
    struct jit_code *code;
    DL_FOREACH(registry.head, code)
    {
        if (pc - (uintptr_t)code->map < code->text_bytes) {
            found = code;
            break;
        }
    }
    pthread_rwlock_unlock(&registry.lock);
    return found;
}
