/* SPDX-License-Identifier: Apache-2.0
 *
 * See code_cache.h. A key is made of everything that decides code, and of nothing that differs from
 * one process to the next or between machines for which the same code is made:
 *
 * - the kernel and what it reaches (the digest of ptx/fingerprint.h);
 * - the variant asked for, steps left out, and whose lines the code is to tell;
 * - what the compile library is (its build id) and for what it makes code (jit_compiler_target).
 *
 * To know the last one without opening the compile library, what it says of this machine is itself
 * kept in the cache, under a key of what the machine says of itself (jit/machine_id.h).
 */
#include "cudart/core/code/code_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/process.h"
#include "cudart/core/code/cached_object.h"
#include "cudart/core/code/tally.h"
#include "jit/machine_id.h"
#include "util/log.h"

/* For another process that compiles the same. Most kernels take less; nobody is worse off. */
#define PATIENCE_MS 10000

/* ---- the process's cache ---- */

/* Written once under `once`, then constant. */
static struct {
    pthread_once_t once;
    struct cache *cache; /* NULL: there is none */
} process = {.once = PTHREAD_ONCE_INIT};

const char *crt_code_cache_path(void)
{
    const char *given = pxr_options_get()->cache_dir;
    return *given ? given : crt_environment_get()->cache_path;
}

static bool is_switched_on(void)
{
    switch ((enum pxr_cache)pxr_options_get()->cache) {
    case PXR_CACHE_ON:
        return true;
    case PXR_CACHE_OFF:
        return false;
    case PXR_CACHE_AUTO:
        break;
    }
    return !crt_environment_get()->cache_is_disabled;
}

static void open_cache(void)
{
    struct pxr_error error = {0};
    const char *path = crt_code_cache_path();
    if (!is_switched_on() || !path)
        return;
    enum pxr_status status =
        cache_open(path, crt_environment_get()->cache_max_bytes, &process.cache, &error);
    if (status != PXR_OK)
        pxr_log(status == PXR_INVALID_ARGUMENT ? PXR_LOG_WARNING : PXR_LOG_INFO,
                "compiled code is not kept: %s", error.message);
}

struct cache *crt_code_cache(void)
{
    pthread_once(&process.once, open_cache);
    return process.cache;
}

/* Dumps, times and checks of steps are about compiling; debuggers look for the PTX that a dump has
 * written; a limit of steps counts those of the whole process. */
static struct cache *cache_for(const struct jit_request *request)
{
    bool is_about_compiling = (request->dump && *request->dump) || request->is_debugged ||
                              request->step_limit != 0 || request->times_steps ||
                              request->verifies_steps;
    return is_about_compiling ? NULL : crt_code_cache();
}

/* ---- what code is made for ---- */

#define ABOUT_BYTES  64
#define ABOUT_DIGITS 8 /* bytes of hashes that people are shown */

/* Written once under `once`, then constant. */
static struct {
    pthread_once_t once;
    bool is_known;
    struct jit_build_id compiler;
    char *text;             /* jit_compiler_target */
    struct pxr_error error; /* if it is not known */
    /* For struct cache_about: */
    char about[ABOUT_BYTES];
    char maker[2 * ABOUT_DIGITS + 1];
} target = {.once = PTHREAD_ONCE_INIT};

static void add_bytes(void *hash, const void *bytes, size_t count)
{
    cache_hash_bytes(hash, bytes, count);
}

static struct cache_key machine_key(const struct jit_build_id *compiler)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "machine");
    cache_hash_bytes(&hash, compiler->bytes, compiler->count);
    cache_hash_text(&hash, pxr_option_cpu());
    jit_machine_id(add_bytes, &hash);
    return cache_hash_key(&hash);
}

/* Stores something of which target.about and target.maker are true. */
static bool put(const struct cache_key *key, const char *kind, const char *name, const void *bytes,
                size_t count)
{
    const struct cache_about about = {
        .kind = kind, .name = name, .target = target.about, .maker = target.maker};
    return cache_put_about(process.cache, key, &about, bytes, count);
}

/* What the cache has is a text without its zero. */
static char *get_text(const struct cache_key *key)
{
    uint8_t *bytes;
    size_t count;
    if (!cache_get(process.cache, key, &bytes, &count))
        return NULL;
    char *text = strndup((const char *)bytes, count);
    free(bytes);
    return text;
}

static void write_digits(const uint8_t bytes[ABOUT_DIGITS], char digits[2 * ABOUT_DIGITS + 1])
{
    for (int i = 0; i < ABOUT_DIGITS; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
}

/* The CPU's name or family, and some digits that stand for all that is said of it. */
static void describe_target(void)
{
    struct cache_hash hash;
    char digits[2 * ABOUT_DIGITS + 1];
    const char *named = pxr_option_cpu();
    const char *family = strstr(target.text, " family ");
    cache_hash_init(&hash, "target");
    cache_hash_text(&hash, target.text);
    struct cache_key key = cache_hash_key(&hash);
    write_digits(key.bytes, digits);
    family = family ? family + strlen(" family ") : "";
    snprintf(target.about, sizeof target.about, "%.*s %s",
             *named ? 40 : (int)strcspn(family, " \n"), *named ? named : family, digits);
    write_digits(target.compiler.bytes, target.maker);
}

/* What the library that is open says is not kept for the one in the file, should they differ. */
static void ask_compiler(const struct cache_key *key)
{
    struct jit_build_id opened;
    if (jit_compiler_target(&target.text, &target.error) != PXR_OK)
        return;
    describe_target();
    if (jit_compiler_id(&opened) && jit_build_id_equal(&opened, &target.compiler))
        put(key, "machine", "", target.text, strlen(target.text));
}

static void find_target(void)
{
    if (!jit_compiler_id(&target.compiler)) {
        pxr_fail(&target.error, PXR_NO_COMPILER, "the compiler has no build id");
        pxr_log(PXR_LOG_INFO, "compiled code is not kept: the compiler has no build id");
        return;
    }
    struct cache_key key = machine_key(&target.compiler);
    target.text = get_text(&key);
    if (target.text)
        describe_target();
    else
        ask_compiler(&key);
    target.is_known = target.text != NULL;
}

bool crt_code_cache_target(const char **about, const char **maker, struct pxr_error *err)
{
    pthread_once(&process.once, open_cache);
    if (process.cache)
        pthread_once(&target.once, find_target);
    else
        pxr_fail(&target.error, PXR_IO, "the cache cannot be opened");
    if (!target.is_known) {
        if (err)
            *err = target.error;
        return false;
    }
    *about = target.about;
    *maker = target.maker;
    return true;
}

/* ---- keys ---- */

static void add_facts(struct cache_hash *hash, const struct tr_facts *facts)
{
    for (int d = 0; d < 3; d++) {
        cache_hash_number(hash, facts->block[d]);
        cache_hash_number(hash, facts->grid_max[d]);
    }
    cache_hash_number(hash, facts->has_whole_warps);
    cache_hash_number(hash, facts->has_dynamic_shared);
    cache_hash_number(hash, facts->dynamic_shared_bytes);
    cache_hash_number(hash, facts->begins_inside);
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++) {
        cache_hash_number(hash, facts->params[i].max_log2);
        cache_hash_number(hash, facts->params[i].align_log2);
        cache_hash_number(hash, facts->params[i].is_distinct);
        cache_hash_number(hash, facts->params[i].image_shape);
    }
}

static void add_variant(struct cache_hash *hash, const struct jit_variant *variant)
{
    cache_hash_number(hash, variant->collapse);
    cache_hash_number(hash, variant->width);
    cache_hash_number(hash, variant->jam);
    cache_hash_number(hash, variant->is_quick);
    cache_hash_number(hash, variant->has_fast_matrices);
    add_facts(hash, &variant->facts);
}

struct cache_key crt_code_key(enum crt_cached_kind kind, const struct jit_request *request,
                              const uint8_t digest[PTX_DIGEST_BYTES],
                              const struct jit_build_id *compiler, const char *target_text)
{
    static const char *const kinds[] = {
        [CRT_CACHED_CODE] = "code", [CRT_CACHED_CHECK] = "check", [CRT_CACHED_CHOICE] = "choice"};
    struct cache_hash hash;
    cache_hash_init(&hash, kinds[kind]);
    cache_hash_number(&hash, CRT_CACHED_OBJECT_FORMAT);
    cache_hash_number(&hash, JIT_COMPILER_ABI);
    cache_hash_bytes(&hash, compiler->bytes, compiler->count);
    cache_hash_text(&hash, target_text);
    cache_hash_text(&hash, request->skip ? request->skip : "");
    cache_hash_number(&hash, request->tells_source_lines);
    cache_hash_number(&hash, request->checks_memory);
    cache_hash_number(&hash, request->checks_races);
    cache_hash_number(&hash, request->checks_meetings);
    cache_hash_number(&hash, request->checks_written);
    cache_hash_number(&hash, request->checks_numbers);
    add_variant(&hash, &request->variant);
    cache_hash_bytes(&hash, digest, PTX_DIGEST_BYTES);
    return cache_hash_key(&hash);
}

/* ---- one request ---- */

static bool get_object(struct cache *cache, const struct cache_key *key, struct jit_object *object)
{
    uint8_t *bytes;
    size_t count;
    if (!cache_get(cache, key, &bytes, &count))
        return false;
    bool is_right = crt_object_from_bytes(bytes, count, object);
    free(bytes);
    return is_right;
}

/* Where the request would be; NULL when it is not looked for. */
static struct cache *find_place(enum crt_cached_kind kind, const struct jit_request *request,
                                const uint8_t digest[PTX_DIGEST_BYTES], struct crt_cached *cached)
{
    struct cache *cache = cache_for(request);
    *cached = (struct crt_cached){
        .claim.fd = -1, .kernel = request->kernel->name, .is_quick = request->variant.is_quick};
    if (!cache)
        return NULL;
    pthread_once(&target.once, find_target);
    cached->is_wanted = target.is_known;
    if (target.is_known)
        cached->key = crt_code_key(kind, request, digest, &target.compiler, target.text);
    return cached->is_wanted ? cache : NULL;
}

/* Waits for others that make it. */
static bool get_or_claim(struct cache *cache, struct crt_cached *cached, struct jit_object *object)
{
    if (get_object(cache, &cached->key, object))
        return true;
    return cache_claim(cache, &cached->key, PATIENCE_MS, &cached->claim) == CACHE_CLAIM_PRESENT &&
           get_object(cache, &cached->key, object);
}

/* object: what was found, or NULL. */
static void tally(const struct crt_cached *cached, const struct jit_object *object)
{
    crt_tally_look(cached->is_quick ? CACHE_KIND_QUICK : CACHE_KIND_BEST, object != NULL);
    if (object)
        crt_tally_saved(object);
}

bool crt_code_cache_find(const struct jit_request *request, const uint8_t digest[PTX_DIGEST_BYTES],
                         struct jit_object *object, struct crt_cached *cached)
{
    struct cache *cache = find_place(CRT_CACHED_CODE, request, digest, cached);
    if (!cache)
        return false;
    bool is_hit = get_or_claim(cache, cached, object);
    tally(cached, is_hit ? object : NULL);
    return is_hit;
}

bool crt_code_cache_look(const struct jit_request *request, const uint8_t digest[PTX_DIGEST_BYTES],
                         struct jit_object *object, struct crt_cached *cached)
{
    struct cache *cache = find_place(CRT_CACHED_CODE, request, digest, cached);
    bool is_hit = cache && get_object(cache, &cached->key, object);
    /* Who only looks has something else in mind if there is nothing. */
    if (is_hit)
        tally(cached, object);
    return is_hit;
}

/* Whether this process's compiler is the one that the key names: its file may have been replaced
 * since the id was read. */
static bool may_keep(const struct crt_cached *cached)
{
    struct jit_build_id compiler;
    return cached->is_wanted && jit_compiler_id(&compiler) &&
           jit_build_id_equal(&compiler, &target.compiler);
}

bool crt_code_cache_keep(struct crt_cached *cached, const struct jit_object *object)
{
    uint8_t *bytes;
    size_t count;
    bool is_kept = false;
    if (object && cached->is_wanted)
        crt_tally_spent(object);
    if (object && may_keep(cached) && crt_object_to_bytes(object, &bytes, &count)) {
        is_kept =
            put(&cached->key, cached->is_quick ? "quick" : "best", cached->kernel, bytes, count);
        free(bytes);
    }
    cache_release(&cached->claim);
    return is_kept;
}

bool crt_code_cache_keep_ptx(const struct cache_key *key, const char *name, const void *bytes,
                             size_t count)
{
    const struct cache_about about = {.kind = "ptx", .name = name};
    uint8_t *known;
    size_t known_bytes;
    pthread_once(&process.once, open_cache);
    if (!process.cache)
        return false;
    if (!cache_get(process.cache, key, &known, &known_bytes))
        return cache_put_about(process.cache, key, &about, bytes, count);
    free(known);
    return true;
}

bool crt_code_cache_find_check(const struct jit_request *request,
                               const uint8_t digest[PTX_DIGEST_BYTES], struct crt_cached *cached)
{
    uint8_t *bytes;
    size_t count;
    struct cache *cache = find_place(CRT_CACHED_CHECK, request, digest, cached);
    if (!cache)
        return false;
    bool is_hit = cache_get(cache, &cached->key, &bytes, &count);
    crt_tally_look(CACHE_KIND_CHECK, is_hit);
    if (is_hit)
        free(bytes);
    return is_hit;
}

void crt_code_cache_keep_check(const struct crt_cached *cached)
{
    if (may_keep(cached))
        put(&cached->key, "check", cached->kernel, "", 0);
}

bool crt_code_cache_find_choice(const struct jit_request *request,
                                const uint8_t digest[PTX_DIGEST_BYTES], uint8_t **bytes,
                                size_t *count)
{
    struct crt_cached cached;
    struct cache *cache = find_place(CRT_CACHED_CHOICE, request, digest, &cached);
    return cache && cache_get(cache, &cached.key, bytes, count);
}

void crt_code_cache_keep_choice(const struct jit_request *request,
                                const uint8_t digest[PTX_DIGEST_BYTES], const uint8_t *bytes,
                                size_t count)
{
    struct crt_cached cached;
    if (find_place(CRT_CACHED_CHOICE, request, digest, &cached) && may_keep(&cached))
        put(&cached.key, "choice", cached.kernel, bytes, count);
}
