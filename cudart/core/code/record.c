/* SPDX-License-Identifier: Apache-2.0
 *
 * See record.h. A line is written when code is asked for the first time, so that a process that is
 * killed has said so, and another one with the number of launches when the process ends.
 */
#include "cudart/core/code/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/recording.h"
#include "ptx/joined.h"
#include "ptx/source.h"
#include "util/log.h"

/* One more than a kernel can have variants. */
#define LINES_MAX JIT_VARIANTS_MAX

/* The name under which a kernel is known here: the key of the image and its own name. */
struct name {
    struct cache_key image;
    char kernel[];
};

/* A kernel, in whatever libraries: programs may load the same image again and again. */
struct crt_recorded {
    struct jit_variants variants; /* of struct crt_recorded_launch */
    struct crt_recorded_launch launches[LINES_MAX];
    unsigned count;
    UT_hash_handle hh;
    struct name name; /* the last: it has no fixed length */
};

/* once: path. The rest is guarded by lock. */
static struct {
    pthread_once_t once;
    char *path; /* NULL: off */
    pthread_mutex_t lock;
    struct crt_recorded *kernels;
} recorder = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Programs may change their directory. */
static void find_path(void)
{
    const char *file = pxr_options_get()->record;
    char *here = *file && *file != '/' ? getcwd(NULL, 0) : NULL;
    if (*file && asprintf(&recorder.path, "%s%s%s", here ? here : "", here ? "/" : "", file) < 0)
        recorder.path = NULL;
    free(here);
}

bool crt_record_is_on(void)
{
    pthread_once(&recorder.once, find_path);
    return recorder.path != NULL;
}

/* ---- PTX ---- */

void crt_record_key(const void *bytes, size_t count, struct cache_key *key)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "ptx");
    cache_hash_bytes(&hash, bytes, count);
    *key = cache_hash_key(&hash);
}

/* The texts of an image, and their number. */
struct texts {
    struct ptx_joined joined;
    char *first; /* malloc */
    size_t first_bytes;
    uint32_t count;
};

static enum pxr_status add_text(void *user, struct pxr_str text, const char *label,
                                struct pxr_error *err)
{
    struct texts *texts = user;
    const struct ptx_span span = {(const uint8_t *)text.ptr, text.len};
    if (texts->count++ == 0) {
        texts->first = strndup(text.ptr, text.len);
        texts->first_bytes = texts->first ? strlen(texts->first) : 0;
    }
    return ptx_joined_add(&texts->joined, span, label, err);
}

/* A single text is kept as it is, several as a joined image. */
static void keep_texts(const struct texts *texts, struct crt_library *library)
{
    bool is_single = texts->count == 1;
    const void *bytes = is_single ? (const void *)texts->first : texts->joined.bytes;
    size_t count = is_single ? texts->first_bytes : texts->joined.len;
    if (!bytes)
        return;
    crt_record_key(bytes, count, &library->recorded);
    library->is_recorded = crt_code_cache_keep_ptx(&library->recorded, library->name, bytes, count);
    if (!library->is_recorded)
        pxr_log_once(library->name,
                     "the PTX of %s cannot be kept in the cache, so its launches are not recorded",
                     library->name);
}

void crt_record_library(struct crt_library *library)
{
    struct texts texts = {0};
    if (!crt_record_is_on())
        return;
    enum pxr_status status = ptx_source_visit(library->source, add_text, &texts, NULL);
    if (status == PXR_OK && texts.count > 0)
        keep_texts(&texts, library);
    free(texts.first);
    ptx_joined_fini(&texts.joined);
}

/* ---- launches ---- */

/* Each line is a single write, so that processes may add to the same file. */
static void write_line(const struct crt_recorded_launch *launch)
{
    char *line = crt_recorded_launch_line(launch);
    size_t len = line ? strlen(line) : 0;
    int fd = open(recorder.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    errno = fd < 0 ? errno : ENOSPC;
    if (len && (fd < 0 || write(fd, line, len) != (ssize_t)len))
        pxr_log_once(&recorder, "launches cannot be recorded in %s: %s", recorder.path,
                     strerror(errno));
    if (fd >= 0)
        close(fd);
    free(line);
}

/* The row of a kernel, or NULL when out of memory. */
static struct crt_recorded *find_row(const struct crt_kernel *kernel)
{
    const char *kernel_name = crt_kernel_name(kernel);
    size_t name_bytes = sizeof(struct name) + strlen(kernel_name) + 1;
    struct crt_recorded *made = calloc(1, sizeof *made + name_bytes);
    struct crt_recorded *known;
    if (!made)
        return NULL;
    made->name.image = kernel->library->recorded;
    strcpy(made->name.kernel, kernel_name);
    HASH_FIND(hh, recorder.kernels, &made->name, name_bytes, known);
    if (known) {
        free(made);
        return known;
    }
    HASH_ADD(hh, recorder.kernels, name, name_bytes, made);
    return made;
}

/* The launch's code, planned and noted at the first need. */
static struct crt_recorded_launch *find_launch(struct crt_recorded *row,
                                               const struct tr_facts *facts)
{
    struct crt_recorded_launch *known = jit_variants_pick(&row->variants, facts);
    if (known || row->count == LINES_MAX)
        return known;
    struct tr_facts planned;
    jit_variants_plan(&row->variants, (enum pxr_mode)pxr_options_get()->mode, facts, &planned);
    struct crt_recorded_launch *made = &row->launches[row->count++];
    *made = (struct crt_recorded_launch){
        .image = row->name.image,
        .capability = (unsigned)crt_architecture_get()->capability,
        .kernel = row->name.kernel,
        .skip = (char *)(uintptr_t)pxr_options_get()->skip,
        .variant = crt_variant_key(&planned),
    };
    jit_variants_add(&row->variants, &planned, made);
    write_line(made);
    return made;
}

void crt_record_launch(struct crt_kernel *kernel, const struct jit_launch *launch)
{
    struct tr_facts facts;
    if (!crt_record_is_on() || !kernel->library->is_recorded)
        return;
    jit_variants_facts((enum pxr_mode)pxr_options_get()->mode, launch, &facts);
    /* Quick code is the same for all launches. */
    if (pxr_options_get()->tier == PXR_TIER_QUICK)
        memset(&facts, 0, sizeof facts);
    pthread_mutex_lock(&recorder.lock);
    if (!kernel->recorded)
        kernel->recorded = find_row(kernel);
    struct crt_recorded_launch *noted =
        kernel->recorded ? find_launch(kernel->recorded, &facts) : NULL;
    if (noted)
        noted->launches++;
    pthread_mutex_unlock(&recorder.lock);
}

/* A child of fork has its parent's counts, and launches nothing. */
__attribute__((destructor)) static void write_at_exit(void)
{
    if (!recorder.path || crt_is_forked())
        return;
    pthread_mutex_lock(&recorder.lock);
    for (const struct crt_recorded *row = recorder.kernels; row; row = row->hh.next)
        for (unsigned i = 0; i < row->count; i++)
            write_line(&row->launches[i]);
    pthread_mutex_unlock(&recorder.lock);
}
