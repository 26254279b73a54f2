/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of GPU core dumps. They can be set and read back; no dump is ever written, which is
 * said once when one is switched on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/driver/internal.h"

#define TEXT_BYTES 1024
#define NAME_BYTES 256

/* One set of settings; index by CUcoredumpSettings. */
struct settings {
    bool switches[CU_COREDUMP_MAX];
    unsigned flags;
    char file[TEXT_BYTES];
    char pipe[TEXT_BYTES];
};

/* What contexts of their own have set is kept as the context's storage with this key. */
static char storage_key;

/* Guarded by lock, as are the settings of contexts. */
static struct {
    pthread_mutex_t lock;
    bool is_filled;
    struct settings settings;
} global = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct settings *global_locked(void)
{
    if (!global.is_filled) {
        char host[NAME_BYTES] = "";
        gethostname(host, sizeof host - 1);
        snprintf(global.settings.file, TEXT_BYTES, "core.cuda.%s.%d", host, (int)getpid());
        snprintf(global.settings.pipe, TEXT_BYTES, "corepipe.cuda.%s.%d", host, (int)getpid());
        global.settings.switches[CU_COREDUMP_TRIGGER_HOST] = true;
        global.is_filled = true;
    }
    return &global.settings;
}

static char *text_of(struct settings *settings, CUcoredumpSettings attribute)
{
    if (attribute == CU_COREDUMP_FILE)
        return settings->file;
    return attribute == CU_COREDUMP_PIPE ? settings->pipe : NULL;
}

/* The size that a value of this attribute may have. */
static size_t size_of(CUcoredumpSettings attribute)
{
    if (attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE)
        return TEXT_BYTES;
    return attribute == CU_COREDUMP_GENERATION_FLAGS ? sizeof(unsigned) : sizeof(bool);
}

static CUresult read_setting(struct settings *settings, CUcoredumpSettings attribute, void *value,
                             size_t *size)
{
    const char *text = text_of(settings, attribute);
    size_t bytes = text ? strlen(text) + 1 : size_of(attribute);
    if (*size < bytes)
        return CRT_INVALID_VALUE;
    if (text)
        memcpy(value, text, bytes);
    else if (attribute == CU_COREDUMP_GENERATION_FLAGS)
        memcpy(value, &settings->flags, bytes);
    else
        memcpy(value, &settings->switches[attribute], bytes);
    *size = bytes;
    return CRT_SUCCESS;
}

static CUresult write_setting(struct settings *settings, CUcoredumpSettings attribute,
                              const void *value, size_t size)
{
    char *text = text_of(settings, attribute);
    if (text) {
        size_t len = strnlen(value, size);
        if (len == 0 || len >= TEXT_BYTES)
            return CRT_INVALID_VALUE;
        memcpy(text, value, len);
        text[len] = '\0';
        return CRT_SUCCESS;
    }
    if (size < size_of(attribute))
        return CRT_INVALID_VALUE;
    if (attribute == CU_COREDUMP_GENERATION_FLAGS)
        memcpy(&settings->flags, value, sizeof settings->flags);
    else
        settings->switches[attribute] = *(const unsigned char *)value != 0;
    if (attribute == CU_COREDUMP_ENABLE_ON_EXCEPTION && settings->switches[attribute])
        crt_not_supported("a GPU core dump (cuCoredumpSetAttribute)");
    return CRT_SUCCESS;
}

static CUresult check(CUcoredumpSettings attribute, void *value, size_t *size)
{
    if (attribute < CU_COREDUMP_ENABLE_ON_EXCEPTION || attribute >= CU_COREDUMP_MAX || !size)
        return CRT_INVALID_VALUE;
    if (!value)
        *size = size_of(attribute);
    return CRT_SUCCESS;
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size)
{
    CUresult result = crt_check_ready();
    if (result == CRT_SUCCESS)
        result = check(attribute, value, size);
    if (result != CRT_SUCCESS || !value)
        return result;
    pthread_mutex_lock(&global.lock);
    result = read_setting(global_locked(), attribute, value, size);
    pthread_mutex_unlock(&global.lock);
    return result;
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size)
{
    CUresult result = crt_check_ready();
    if (result == CRT_SUCCESS)
        result = check(attribute, value, size);
    if (result != CRT_SUCCESS || !value)
        return result;
    pthread_mutex_lock(&global.lock);
    result = write_setting(global_locked(), attribute, value, *size);
    pthread_mutex_unlock(&global.lock);
    return result;
}

static void free_settings(CUcontext ctx, void *key, void *value)
{
    (void)ctx;
    (void)key;
    free(value);
}

CUresult cuCoredumpGetAttribute(CUcoredumpSettings attribute, void *value, size_t *size)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result == CRT_SUCCESS)
        result = check(attribute, value, size);
    if (result != CRT_SUCCESS || !value)
        return result;
    void *own = NULL;
    pthread_mutex_lock(&global.lock);
    if (crt_storage_get(ctx, &storage_key, &own) != CRT_SUCCESS)
        own = global_locked();
    result = read_setting(own, attribute, value, size);
    pthread_mutex_unlock(&global.lock);
    return result;
}

/* The settings of a context, made from the global ones at the first change. */
static CUresult own_settings_locked(CUcontext ctx, struct settings **settings)
{
    void *own = NULL;
    if (crt_storage_get(ctx, &storage_key, &own) == CRT_SUCCESS) {
        *settings = own;
        return CRT_SUCCESS;
    }
    struct settings *made = malloc(sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    *made = *global_locked();
    CUresult result = crt_storage_put(ctx, &storage_key, made, free_settings);
    if (result != CRT_SUCCESS)
        free(made);
    else
        *settings = made;
    return result;
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings attribute, void *value, size_t *size)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result == CRT_SUCCESS)
        result = check(attribute, value, size);
    if (result != CRT_SUCCESS || !value)
        return result;
    /* These two are the process's alone. */
    if (attribute == CU_COREDUMP_ENABLE_USER_TRIGGER || attribute == CU_COREDUMP_PIPE)
        return CRT_NOT_PERMITTED;
    struct settings *settings = NULL;
    pthread_mutex_lock(&global.lock);
    result = own_settings_locked(ctx, &settings);
    if (result == CRT_SUCCESS)
        result = write_setting(settings, attribute, value, *size);
    pthread_mutex_unlock(&global.lock);
    return result;
}
