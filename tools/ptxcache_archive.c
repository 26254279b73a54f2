/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxcache export and import. Nothing of an archive is a path: an entry goes to the place of its
 * key. Before anything is taken, all of the archive has been looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/admin.h"
#include "cache/archive.h"
#include "cudart/core/code/record.h"
#include "tools/ptxcache_files.h"
#include "tools/ptxcache_images.h"

/* Shorter ones can be guessed. */
#define SECRET_MIN_BYTES 16

/* The secret of --key, if there is one. */
static bool read_secret(const struct ptxcache *tool, struct cache_secret *secret,
                        const struct cache_secret **given)
{
    size_t count;
    *given = NULL;
    if (!tool->key_file)
        return true;
    char *bytes = ptxcache_read_file(tool->key_file, &count);
    if (!bytes)
        return false;
    bool is_long = count >= SECRET_MIN_BYTES;
    if (is_long)
        *secret = cache_secret_of(bytes, count);
    else
        ptxcache_complain("'%s' is too short for a key: %d bytes are the least", tool->key_file,
                          SECRET_MIN_BYTES);
    memset(bytes, 0, count);
    free(bytes);
    *given = secret;
    return is_long;
}

static bool has_one_file(const struct ptxcache *tool, const char *command)
{
    if (tool->operands.count != 1)
        ptxcache_complain("'%s' needs one file; see ptxcache --help", command);
    return tool->operands.count == 1;
}

/* ---- export ---- */

static bool add_recordings(const struct ptxcache *tool, struct cache_archive_writer *writer)
{
    bool are_right = true;
    for (size_t i = 0; i < tool->recordings.count && are_right; i++) {
        struct crt_recording recording = {0};
        struct pxr_error error;
        size_t count;
        char *text = ptxcache_read_file(tool->recordings.words[i], &count);
        if (!text)
            return false;
        are_right = crt_recording_read(text, count, tool->recordings.words[i], &recording,
                                       &error) == PXR_OK;
        if (are_right)
            cache_archive_add(writer, &(struct cache_part){.kind = CACHE_PART_RECORDING,
                                                           .bytes = (uint8_t *)text,
                                                           .count = count});
        else
            ptxcache_complain("%s", error.message);
        crt_recording_fini(&recording);
        free(text);
    }
    return are_right;
}

static bool add_entries(const struct ptxcache *tool, struct cache_archive_writer *writer)
{
    struct cache_items items;
    if (!cache_list(tool->cache, &items)) {
        ptxcache_complain("no memory for a list of the entries");
        return false;
    }
    for (size_t i = 0; i < items.count; i++) {
        struct cache_part part = {.kind = CACHE_PART_ENTRY};
        uint8_t *entry;
        /* What is damaged stays behind. */
        if (!cache_export(tool->cache, &items.items[i].key, &entry, &part.count))
            continue;
        part.bytes = entry;
        cache_archive_add(writer, &part);
        free(entry);
    }
    cache_items_fini(&items);
    return true;
}

static bool write_archive(const struct ptxcache *tool, int fd, const struct cache_secret *secret)
{
    struct cache_archive_writer writer;
    struct pxr_error error;
    char size[PTXCACHE_SIZE_BYTES];
    cache_archive_begin(&writer, fd, secret);
    if (!add_recordings(tool, &writer) || !add_entries(tool, &writer))
        return false;
    if (cache_archive_end(&writer, &error) != PXR_OK) {
        ptxcache_complain("cannot write '%s': %s", tool->operands.words[0], error.message);
        return false;
    }
    ptxcache_size_text(writer.size_bytes, size);
    printf("exported %llu parts, %s%s\n", (unsigned long long)writer.parts, size,
           secret ? ", signed" : "");
    return true;
}

enum ptxcache_exit ptxcache_export(const struct ptxcache *tool)
{
    struct cache_secret secret;
    const struct cache_secret *given;
    struct ptxcache_new_file file;
    if (!has_one_file(tool, "export"))
        return PTXCACHE_USAGE;
    if (!read_secret(tool, &secret, &given) || !ptxcache_create(tool->operands.words[0], &file))
        return PTXCACHE_FAILED;
    bool is_whole = write_archive(tool, file.fd, given);
    return ptxcache_finish(&file, is_whole) ? PTXCACHE_OK : PTXCACHE_FAILED;
}

/* ---- import ---- */

struct import {
    const struct ptxcache *tool;
    struct crt_warm_place here; /* of this machine */
    bool takes_code;
    struct crt_recording recording;
    size_t number; /* of the part, for messages */
    size_t ptx;
    size_t code;
    size_t left_out;
    size_t foreign_target;
    size_t foreign_maker;
};

/* PTX vouches for itself: its key is made of nothing else. */
static bool is_ptx(const struct cache_key *key, const uint8_t *payload, size_t payload_bytes)
{
    struct cache_key own;
    crt_record_key(payload, payload_bytes, &own);
    return memcmp(&own, key, sizeof own) == 0;
}

static void count_code(struct import *import, const struct cache_about *about)
{
    import->code++;
    if (import->here.target && strcmp(about->target, import->here.target) != 0)
        import->foreign_target++;
    if (import->here.maker && strcmp(about->maker, import->here.maker) != 0)
        import->foreign_maker++;
}

static bool store(const struct import *import, const struct cache_part *part)
{
    bool is_stored = cache_import(import->tool->cache, part);
    if (!is_stored)
        ptxcache_complain("part %zu cannot be stored in %s: it cannot be written, is full, or its "
                          "limit is too low",
                          import->number, import->tool->place.path);
    return is_stored;
}

/* is_dry: only looks at it. */
static bool take_entry(struct import *import, const struct cache_part *part, bool is_dry)
{
    struct cache_key key;
    struct cache_about about;
    uint8_t *payload;
    size_t payload_bytes;
    const char *why;
    if (!cache_part_open(part, &key, &about, &payload, &payload_bytes, &why)) {
        ptxcache_complain("part %zu: %s", import->number, why);
        return false;
    }
    bool is_text = is_ptx(&key, payload, payload_bytes);
    free(payload);
    if (is_dry)
        return true;
    if (!is_text && !import->takes_code) {
        import->left_out++;
        return true;
    }
    if (is_text)
        import->ptx++;
    else
        count_code(import, &about);
    return store(import, part);
}

static bool take_recording(struct import *import, const struct cache_part *part, bool is_dry)
{
    struct pxr_error error;
    char name[32];
    snprintf(name, sizeof name, "part %zu", import->number);
    if (!is_dry || crt_recording_read((const char *)part->bytes, part->count, name,
                                      &import->recording, &error) == PXR_OK)
        return true;
    ptxcache_complain("%s", error.message);
    return false;
}

static bool walk(struct import *import, struct cache_archive archive, bool is_dry)
{
    struct cache_part part;
    import->number = 0;
    while (cache_archive_next(&archive, &part)) {
        import->number++;
        bool is_taken = part.kind == CACHE_PART_ENTRY ? take_entry(import, &part, is_dry)
                                                      : take_recording(import, &part, is_dry);
        if (!is_taken)
            return false;
    }
    return true;
}

static void print_import(const struct import *import)
{
    printf("took the PTX of %zu images, %zu entries of compiled code, %zu recorded launches\n",
           import->ptx, import->code, import->recording.count);
    if (import->left_out)
        printf("left out %zu entries of compiled code: --trust takes them, or --key\n",
               import->left_out);
    if (import->foreign_maker)
        ptxcache_complain("of no use here, as another build of ptxrun has made them: %zu entries",
                          import->foreign_maker);
    if (import->foreign_target)
        ptxcache_complain("of no use here, as they are for another CPU than %s: %zu entries",
                          import->here.target, import->foreign_target);
}

/* What recordings ask for and is not there is compiled here. */
static enum ptxcache_exit take_all(struct import *import, const struct cache_archive *archive)
{
    if (!walk(import, *archive, true)) {
        ptxcache_complain("nothing was taken");
        return PTXCACHE_FAILED;
    }
    if (import->takes_code)
        crt_warm_find_place(true, &import->here, NULL);
    if (!walk(import, *archive, false))
        return PTXCACHE_FAILED;
    print_import(import);
    if (import->recording.count == 0)
        return PTXCACHE_OK;
    struct ptxcache warm = *import->tool;
    warm.operands.count = 0;
    return ptxcache_can_compile() ? ptxcache_warm_recording(&warm, &import->recording)
                                  : PTXCACHE_FAILED;
}

enum ptxcache_exit ptxcache_import(const struct ptxcache *tool)
{
    struct cache_secret secret;
    const struct cache_secret *given;
    struct cache_archive archive;
    struct pxr_error error;
    size_t count;
    if (!has_one_file(tool, "import"))
        return PTXCACHE_USAGE;
    const char *path = tool->operands.words[0];
    if (!read_secret(tool, &secret, &given))
        return PTXCACHE_FAILED;
    char *bytes = ptxcache_read_file(path, &count);
    if (!bytes)
        return PTXCACHE_FAILED;
    struct import import = {.tool = tool, .takes_code = given || tool->is_trusted};
    enum ptxcache_exit result = PTXCACHE_FAILED;
    if (cache_archive_open((uint8_t *)bytes, count, given, &archive, &error) == PXR_OK)
        result = take_all(&import, &archive);
    else
        ptxcache_complain("'%s': %s; nothing was taken", path, error.message);
    crt_recording_fini(&import.recording);
    free(bytes);
    return result;
}
