/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that ptxcache reads and writes as a whole; failures are said on standard error.
 */
#ifndef PTXRUN_TOOLS_PTXCACHE_FILES_H
#define PTXRUN_TOOLS_PTXCACHE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of a plain file (malloc), with a zero behind it; NULL when it cannot be read. No more is
 * allocated than the file has, which must not be more than an archive may have. */
char *ptxcache_read_file(const char *path, size_t *count);

/* A file that becomes the one of that path when all of it has been written. */
struct ptxcache_new_file {
    const char *path;
    char *temporary; /* malloc */
    int fd;
};

bool ptxcache_create(const char *path, struct ptxcache_new_file *file);
/* is_whole: it is to take the place of what was there; else nothing is left of it. */
bool ptxcache_finish(struct ptxcache_new_file *file, bool is_whole);

#endif
