/* SPDX-License-Identifier: Apache-2.0
 *
 * Directories and files of a cache, all by descriptors of directories that were looked at: owned by
 * this user, writable by nobody else, reached through no symbolic link. Internal to cache/.
 */
#ifndef PTXRUN_CACHE_DIRECTORY_H
#define PTXRUN_CACHE_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cache/key.h"
#include "util/error.h"

/* "a1", and the other digits. */
#define CACHE_FOLDER_BYTES 3
#define CACHE_NAME_BYTES   (2 * CACHE_KEY_BYTES - 1)

/* Where the entry of a key is. */
struct cache_place {
    char folder[CACHE_FOLDER_BYTES];
    char name[CACHE_NAME_BYTES];
};

struct cache_place cache_place_of(const struct cache_key *key);

/* Opens the directory of a cache, and makes it if need be, with all above it. PXR_IO when it cannot
 * be had, PXR_INVALID_ARGUMENT when it is not safe to use. */
enum pxr_status cache_directory_open(const char *path, int *directory, struct pxr_error *err);

/* A directory inside; -1 when there is none or it is not safe. */
int cache_folder_open(int directory, const char *name, bool makes_it);

/* Opens a file inside that is a plain file of this user's alone; -1 when there is none, or with
 * *is_strange set when there is something else. flags: as of open; what is made is for its owner.
 */
int cache_file_open(int folder, const char *name, int flags, struct stat *status, bool *is_strange);

#endif
