/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the command ptxcache share.
 */
#ifndef PTXRUN_TOOLS_PTXCACHE_H
#define PTXRUN_TOOLS_PTXCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cudart/core/code/warm.h"

enum ptxcache_exit { PTXCACHE_OK = 0, PTXCACHE_FAILED = 1, PTXCACHE_USAGE = 2 };

/* What is given more than once. */
struct ptxcache_words {
    char **words;
    size_t count;
};

/* The command line, and what it is about. */
struct ptxcache {
    struct crt_warm_place place;
    struct cache *cache;
    struct ptxcache_words recordings; /* --from */
    struct ptxcache_words operands;   /* behind the command */
    const char *key_file;             /* NULL: none */
    unsigned jobs;                    /* 0: one for each CPU */
    bool is_json;
    bool is_trusted;
    bool removes;
    bool is_verbose;
    bool tunes;
};

typedef enum ptxcache_exit (*ptxcache_command)(const struct ptxcache *tool);

/* A line on standard error. */
void ptxcache_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "1.5 MiB" */
#define PTXCACHE_SIZE_BYTES 16
void ptxcache_size_text(uint64_t bytes, char text[PTXCACHE_SIZE_BYTES]);

/* ptxcache_show.c */
enum ptxcache_exit ptxcache_show_stats(const struct ptxcache *tool);
enum ptxcache_exit ptxcache_zero_stats(const struct ptxcache *tool);
enum ptxcache_exit ptxcache_list(const struct ptxcache *tool);
enum ptxcache_exit ptxcache_verify(const struct ptxcache *tool);

/* ptxcache_warm.c */
enum ptxcache_exit ptxcache_warm(const struct ptxcache *tool);

/* ptxcache_tune.c */
enum ptxcache_exit ptxcache_tune(const struct ptxcache *tool);

/* ptxcache_archive.c */
enum ptxcache_exit ptxcache_export(const struct ptxcache *tool);
enum ptxcache_exit ptxcache_import(const struct ptxcache *tool);

#endif
