/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxcache warm.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ptxcache_files.h"
#include "tools/ptxcache_images.h"

/* Reads all recordings into one. */
static enum ptxcache_exit read_recordings(const struct ptxcache_words *files,
                                          struct crt_recording *recording)
{
    for (size_t i = 0; i < files->count; i++) {
        struct pxr_error error;
        size_t count;
        char *text = ptxcache_read_file(files->words[i], &count);
        if (!text)
            return PTXCACHE_FAILED;
        enum pxr_status status =
            crt_recording_read(text, count, files->words[i], recording, &error);
        free(text);
        if (status != PXR_OK) {
            ptxcache_complain("%s", error.message);
            return PTXCACHE_FAILED;
        }
    }
    return PTXCACHE_OK;
}

enum ptxcache_exit ptxcache_warm_recording(const struct ptxcache *tool,
                                           const struct crt_recording *recording)
{
    struct ptxcache_jobs jobs = {0};
    enum ptxcache_exit added = ptxcache_add_recording(tool, recording, &jobs);
    for (size_t i = 0; i < tool->operands.count; i++)
        if (ptxcache_add_path(tool->operands.words[i], &jobs) != PTXCACHE_OK)
            added = PTXCACHE_FAILED;
    enum ptxcache_exit done = ptxcache_jobs_run(&jobs, tool);
    ptxcache_jobs_fini(&jobs);
    return added == PTXCACHE_OK ? done : added;
}

bool ptxcache_can_compile(void)
{
    struct crt_warm_place place;
    struct pxr_error error = {0};
    crt_warm_find_place(true, &place, &error);
    if (!place.target)
        ptxcache_complain("nothing can be compiled: %s", error.message);
    return place.target != NULL;
}

enum ptxcache_exit ptxcache_warm(const struct ptxcache *tool)
{
    struct crt_recording recording = {0};
    if (tool->tunes)
        return ptxcache_tune(tool);
    if (tool->operands.count == 0 && tool->recordings.count == 0) {
        ptxcache_complain("'warm' needs a path, or --from and a recording; see ptxcache --help");
        return PTXCACHE_USAGE;
    }
    enum ptxcache_exit result = read_recordings(&tool->recordings, &recording);
    if (result == PTXCACHE_OK && !ptxcache_can_compile())
        result = PTXCACHE_FAILED;
    if (result == PTXCACHE_OK)
        result = ptxcache_warm_recording(tool, &recording);
    crt_recording_fini(&recording);
    return result;
}
