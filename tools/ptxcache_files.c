/* SPDX-License-Identifier: Apache-2.0
 *
 * See ptxcache_files.h.
 */
#include "tools/ptxcache_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/archive.h"
#include "tools/ptxcache.h"

/* *count becomes what was read: the file may change meanwhile. */
static bool read_bytes(int fd, char *bytes, size_t *count)
{
    size_t have = 0;
    while (have < *count) {
        ssize_t got = read(fd, bytes + have, *count - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    *count = have;
    bytes[have] = '\0';
    return true;
}

static char *read_open(int fd, size_t *count)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return NULL;
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > CACHE_ARCHIVE_MAX_BYTES) {
        errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    *count = (size_t)status.st_size;
    char *bytes = malloc(*count + 1);
    if (bytes && !read_bytes(fd, bytes, count)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

char *ptxcache_read_file(const char *path, size_t *count)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *bytes = fd < 0 ? NULL : read_open(fd, count);
    if (!bytes)
        ptxcache_complain("cannot read '%s': %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return bytes;
}

bool ptxcache_create(const char *path, struct ptxcache_new_file *file)
{
    *file = (struct ptxcache_new_file){.path = path, .fd = -1};
    if (asprintf(&file->temporary, "%s.XXXXXX", path) < 0)
        file->temporary = NULL;
    if (file->temporary)
        file->fd = mkostemp(file->temporary, O_CLOEXEC);
    if (file->fd < 0) {
        ptxcache_complain("cannot write '%s': %s", path, strerror(errno));
        free(file->temporary);
    }
    return file->fd >= 0;
}

bool ptxcache_finish(struct ptxcache_new_file *file, bool is_whole)
{
    bool is_closed = close(file->fd) == 0;
    bool is_there = is_whole && is_closed && rename(file->temporary, file->path) == 0;
    if (is_whole && !is_there)
        ptxcache_complain("cannot write '%s': %s", file->path, strerror(errno));
    if (!is_there)
        unlink(file->temporary);
    free(file->temporary);
    return is_there;
}
