/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the host, as they were and as people read them.
 */
#include "cudart/core/base/host_frames.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

/* Frames printed, from the API function upwards. */
#define FRAMES_PRINTED 12

void crt_frames_take(struct crt_frames *frames)
{
    frames->count = backtrace(frames->at, CRT_FRAMES);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The return addresses of a frame lie behind the call: one back is inside it. */
static bool describe(void *frame, Dl_info *info)
{
    return dladdr((const char *)frame - 1, info) != 0 && info->dli_fname;
}

static bool is_library(const char *path, const char *name)
{
    return strncmp(file_name(path), name, strlen(name)) == 0;
}

void crt_frames_take_at(struct crt_frames *frames, const void *pc)
{
    Dl_info info;
    int first = 0;
    crt_frames_take(frames);
    while (first < frames->count && frames->at[first] != pc)
        first++;
    if (first < frames->count)
        frames->at[first] = (char *)frames->at[first] + 1; /* as if it had been a call */
    while (first < frames->count && describe(frames->at[first], &info) &&
           is_library(info.dli_fname, "libc.so"))
        first++;
    if (first == frames->count)
        return;
    frames->count -= first;
    memmove(frames->at, frames->at + first, (size_t)frames->count * sizeof *frames->at);
}

/* Index of the first frame to print: the API function, which is the outermost frame in the library
 * of the driver API, or else the first one that is not in this library. All of them when the
 * program is linked with this library's code. */
static int first_frame(const struct crt_frames *frames)
{
    static const char here;
    Dl_info self;
    Dl_info info;
    int first = 0;
    if (!dladdr(&here, &self))
        return 0;
    for (int i = 0; i < frames->count; i++) {
        if (!describe(frames->at[i], &info))
            continue;
        if (info.dli_fbase == self.dli_fbase)
            first = i + 1;
        else if (is_library(info.dli_fname, "libcuda.so"))
            first = i;
        else
            return is_library(info.dli_fname, "libc.so") ? 0 : first;
    }
    return 0;
}

/* Of the runtime inside of the program, whose functions have names but no source. */
static bool is_in_static_runtime(const char *function)
{
    return strncmp(function, "libcudart_static_", 17) == 0;
}

/* Whether a frame is CUDA's; its function, if it is one that programs call. */
static bool is_api(const void *frame, const Dl_info *info, const char **function)
{
    *function = NULL;
    if (is_library(info->dli_fname, "libcuda.so") || is_library(info->dli_fname, "libcudart.so")) {
        *function = info->dli_sname;
        return true;
    }
    struct crt_host_place place = crt_host_place_of(frame);
    if (!place.function || place.file)
        return false;
    if (is_in_static_runtime(place.function))
        return true;
    if (strncmp(place.function, "cuda", 4) != 0 || strchr(place.function, '('))
        return false;
    *function = place.function;
    return true;
}

static void write_frame(FILE *out, const char *prefix, const void *frame, const Dl_info *info)
{
    struct crt_host_place place = crt_host_place_of(frame);
    const char *name = info->dli_sname ? info->dli_sname : "?";
    if (place.function && is_in_static_runtime(place.function))
        return;
    fprintf(out, "%s%s", prefix, place.function ? place.function : name);
    if (place.file)
        fprintf(out, " in %s:%u", place.file, place.line);
    uintptr_t offset = (uintptr_t)frame - (uintptr_t)info->dli_fbase;
    fprintf(out, " [0x%zx] in %s\n", (size_t)offset, file_name(info->dli_fname));
}

void crt_frames_write(FILE *out, const char *prefix, const struct crt_frames *frames)
{
    int first = first_frame(frames);
    for (int i = first; i < frames->count && i < first + FRAMES_PRINTED; i++) {
        Dl_info info;
        if (!describe(frames->at[i], &info))
            continue;
        if (is_library(info.dli_fname, "libc.so"))
            return; /* the caller of main */
        if (!info.dli_sname && is_library(info.dli_fname, "libcudart.so"))
            continue; /* inside of a runtime */
        write_frame(out, prefix, frames->at[i], &info);
    }
}

char *crt_frames_text(const struct crt_frames *frames)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    crt_frames_write(out, "", frames);
    fclose(out);
    return text;
}

struct crt_host_place crt_frames_source(const struct crt_frames *frames)
{
    bool is_behind_stub = false;
    for (int i = first_frame(frames); i < frames->count; i++) {
        Dl_info info;
        const char *function;
        if (!describe(frames->at[i], &info))
            continue;
        if (is_library(info.dli_fname, "libc.so"))
            break; /* the caller of main, of whose sources a debugger may have brought megabytes */
        if (is_api(frames->at[i], &info, &function))
            continue;
        struct crt_host_place place = crt_host_place_of(frames->at[i]);
        if (is_behind_stub) { /* the kernel's name, or where that was inlined */
            place.file = place.call_file;
            place.line = place.call_line;
        }
        is_behind_stub = crt_host_is_stub(place.function);
        if (place.file && !crt_host_file_is_foreign(place.file))
            return place;
    }
    return (struct crt_host_place){0};
}

const char *crt_frames_function(const struct crt_frames *frames)
{
    const char *name = NULL;
    for (int i = first_frame(frames); i < frames->count; i++) {
        Dl_info info;
        if (!describe(frames->at[i], &info))
            continue;
        const char *function;
        if (!is_api(frames->at[i], &info, &function))
            break;
        if (function)
            name = function;
    }
    return name ? name : "a function of CUDA";
}
