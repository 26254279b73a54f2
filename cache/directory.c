/* SPDX-License-Identifier: Apache-2.0
 *
 * See directory.h.
 */
#include "cache/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

struct cache_place cache_place_of(const struct cache_key *key)
{
    static const char digits[] = "0123456789abcdef";
    struct cache_place place = {0};
    char text[2 * CACHE_KEY_BYTES];
    for (int i = 0; i < CACHE_KEY_BYTES; i++) {
        text[2 * i] = digits[key->bytes[i] >> 4];
        text[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    memcpy(place.folder, text, CACHE_FOLDER_BYTES - 1);
    memcpy(place.name, text + CACHE_FOLDER_BYTES - 1, CACHE_NAME_BYTES - 1);
    return place;
}

static bool is_ours(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & OTHERS_WRITE) == 0;
}

/* Makes the directories on the way that do not exist. What goes wrong shows when it is opened. */
static void make_parents(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, S_IRWXU);
        *at = '/';
    }
}

/* A slash at the end would make the system follow a link. */
static bool copy_path(const char *path, char copy[PATH_MAX])
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len == 0 || len >= PATH_MAX)
        return false;
    memcpy(copy, path, len);
    copy[len] = '\0';
    return true;
}

enum pxr_status cache_directory_open(const char *path, int *directory, struct pxr_error *err)
{
    char copy[PATH_MAX];
    struct stat status;
    if (!copy_path(path, copy))
        return pxr_fail(err, PXR_IO, "the path of the cache is empty or too long");
    make_parents(copy);
    mkdir(copy, S_IRWXU);
    int fd = open(copy, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && lstat(copy, &status) == 0 && !S_ISDIR(status.st_mode))
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "'%s' is no directory", copy);
    if (fd < 0)
        return pxr_fail(err, PXR_IO, "'%s': %s", copy, strerror(errno));
    if (fstat(fd, &status) != 0 || !is_ours(&status)) {
        close(fd);
        return pxr_fail(err, PXR_INVALID_ARGUMENT,
                        "'%s' is another user's or others may write in it", copy);
    }
    *directory = fd;
    return PXR_OK;
}

int cache_folder_open(int directory, const char *name, bool makes_it)
{
    if (makes_it)
        mkdirat(directory, name, S_IRWXU);
    int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) != 0 || !is_ours(&status))) {
        close(fd);
        return -1;
    }
    return fd;
}

int cache_file_open(int folder, const char *name, int flags, struct stat *status, bool *is_strange)
{
    /* Not to block on a pipe. */
    flags |= O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = openat(folder, name, flags, S_IRUSR | S_IWUSR);
    *is_strange = fd < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO);
    if (fd < 0)
        return -1;
    if (fstat(fd, status) == 0 && S_ISREG(status->st_mode) && is_ours(status))
        return fd;
    *is_strange = true;
    close(fd);
    return -1;
}
