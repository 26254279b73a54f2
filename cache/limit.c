/* SPDX-License-Identifier: Apache-2.0
 *
 * The limit that a person has set for a directory, in the file `limit`: a number and a newline.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/admin.h"
#include "cache/store.h"

#define TEXT_BYTES 32

uint64_t cache_limit_read(int directory)
{
    struct stat status;
    bool is_strange;
    char text[TEXT_BYTES] = "";
    int fd = cache_file_open(directory, CACHE_LIMIT_FILE, O_RDONLY, &status, &is_strange);
    if (fd < 0)
        return CACHE_LIMIT_DEFAULT;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    char *end = text;
    errno = 0;
    uint64_t bytes = got > 0 && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return end > text && *end == '\n' && errno == 0 ? bytes : CACHE_LIMIT_DEFAULT;
}

enum pxr_status cache_set_limit(struct cache *cache, uint64_t limit_bytes, struct pxr_error *err)
{
    struct stat status;
    bool is_strange;
    char text[TEXT_BYTES];
    int len = snprintf(text, sizeof text, "%llu\n", (unsigned long long)limit_bytes);
    int fd = cache_file_open(cache_directory(cache), CACHE_LIMIT_FILE, O_WRONLY | O_CREAT, &status,
                             &is_strange);
    bool is_written = fd >= 0 && cache_may_write((size_t)len) &&
                      write(fd, text, (size_t)len) == len && ftruncate(fd, (off_t)len) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (!is_written)
        return pxr_fail(err, PXR_IO, "'%s/" CACHE_LIMIT_FILE "': %s", cache->path,
                        is_strange ? "no file of this user's alone" : strerror(reason));
    cache->limit_bytes = limit_bytes;
    return PXR_OK;
}

uint64_t cache_limit(const struct cache *cache)
{
    return cache->limit_bytes;
}
