/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of --dump. A file is replaced as a whole, so that several threads compiling kernels of one
 * name never leave a mixture.
 */
#include "jit/dump.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llvm-c/Core.h>

#include "util/log.h"
#include "util/options.h"

#define NAME_BYTES_MAX 200 /* leaves room for suffixes within NAME_MAX (255) */

bool jit_dump_wants(const struct jit_dump *dump, const char *kind)
{
    return dump->kinds && dump->kinds[0] && pxr_list_contains(dump->kinds, kind);
}

/* FNV-1a: tells names apart that were cut; no protection against intent is needed. */
static uint32_t hash_text(const char *text)
{
    uint32_t hash = UINT32_C(2166136261);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
    return hash;
}

/* The kernel's name as a file name: no slash, no leading dot, not too long. */
static void file_stem(char stem[NAME_BYTES_MAX + 16], const char *kernel)
{
    size_t len = strlen(kernel);
    if (len <= NAME_BYTES_MAX)
        snprintf(stem, NAME_BYTES_MAX + 16, "%s", kernel);
    else
        snprintf(stem, NAME_BYTES_MAX + 16, "%.*s-%08x", NAME_BYTES_MAX, kernel, hash_text(kernel));
    for (char *c = stem; *c; c++)
        if (*c == '/' || (*c == '.' && c == stem))
            *c = '_';
}

/* path ends in XXXXXX, which is replaced. */
static bool write_temporary(char *path, const char *text, size_t len)
{
    int fd = mkstemp(path);
    if (fd < 0)
        return false;
    fchmod(fd, 0644);
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        return false;
    }
    bool is_written = fwrite(text, 1, len, file) == len;
    return fclose(file) == 0 && is_written;
}

void jit_dump_name(const struct jit_dump *dump, const char *suffix, char name[JIT_DUMP_NAME_BYTES])
{
    char stem[NAME_BYTES_MAX + 16];
    file_stem(stem, dump->kernel ? dump->kernel : "kernel");
    snprintf(name, JIT_DUMP_NAME_BYTES, "%s.%s", stem, suffix);
}

void jit_dump_write(const struct jit_dump *dump, const char *suffix, const char *text, size_t len)
{
    const char *dir = dump->dir && dump->dir[0] ? dump->dir : ".";
    char name[JIT_DUMP_NAME_BYTES];
    jit_dump_name(dump, suffix, name);
    char path[PATH_MAX];
    char temporary[PATH_MAX];
    int path_len = snprintf(path, sizeof path, "%s/%s", dir, name);
    int temporary_len = snprintf(temporary, sizeof temporary, "%s/.ptxrun-dump-XXXXXX", dir);
    if (path_len >= (int)sizeof path || temporary_len >= (int)sizeof temporary) {
        pxr_log(PXR_LOG_WARNING, "cannot write the dump of '%s': the path is too long", name);
        return;
    }
    mkdir(dir, 0777); /* if it fails although the directory does not exist, so will writing */
    if (!write_temporary(temporary, text, len) || rename(temporary, path) != 0) {
        pxr_log(PXR_LOG_WARNING, "cannot write the dump '%s': %s", path, strerror(errno));
        unlink(temporary);
    }
}

void jit_dump_module(const struct jit_dump *dump, LLVMModuleRef module, const char *suffix)
{
    char *text = LLVMPrintModuleToString(module);
    jit_dump_write(dump, suffix, text, strlen(text));
    LLVMDisposeMessage(text);
}
