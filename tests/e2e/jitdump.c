/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a jitdump file as perf does (tools/perf/Documentation/jitdump-specification.txt of Linux)
 * and says what is in it, one line for each piece of code:
 *     jitdump FILE
 *     NAME BYTES LINES LAST-FILE
 * Fails where a record is not what the format allows.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4A695444u

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct file_header {
    uint32_t magic, version, total_size, elf_mach, pad, pid;
    uint64_t timestamp, flags;
};

struct record {
    uint32_t id, total_size;
    uint64_t timestamp;
};

struct code_load {
    uint32_t pid, tid;
    uint64_t vma, code_addr, code_size, code_index;
};

struct debug_info {
    uint64_t code_addr, entry_count;
};

struct debug_entry {
    uint64_t addr;
    uint32_t line, discriminator;
};

/* Of the debug information that comes before the code it is for. */
struct lines {
    uint64_t code_addr;
    uint64_t count;
    char file[4096];
};

static void fail(const char *what)
{
    fprintf(stderr, "jitdump: %s\n", what);
    exit(1);
}

/* A terminated string inside of the record. */
static const char *text(const uint8_t *at, const uint8_t *end)
{
    if (!memchr(at, '\0', (size_t)(end - at)))
        fail("a name without an end");
    return (const char *)at;
}

static void read_debug_info(const uint8_t *at, const uint8_t *end, struct lines *lines)
{
    struct debug_info info;
    if ((size_t)(end - at) < sizeof info)
        fail("debug information is cut off");
    memcpy(&info, at, sizeof info);
    at += sizeof info;
    *lines = (struct lines){.code_addr = info.code_addr};
    for (; lines->count < info.entry_count; lines->count++) {
        struct debug_entry entry;
        if ((size_t)(end - at) < sizeof entry)
            fail("a line is cut off");
        memcpy(&entry, at, sizeof entry);
        const char *file = text(at + sizeof entry, end);
        if (entry.line != 0)
            snprintf(lines->file, sizeof lines->file, "%s", file);
        at += sizeof entry + strlen(file) + 1;
    }
}

static void read_code(const uint8_t *at, const uint8_t *end, const struct lines *lines)
{
    struct code_load load;
    if ((size_t)(end - at) < sizeof load)
        fail("code is cut off");
    memcpy(&load, at, sizeof load);
    const char *name = text(at + sizeof load, end);
    if (load.code_size != (uint64_t)(end - at) - sizeof load - strlen(name) - 1)
        fail("the code has another size than it says");
    bool has_lines = lines->code_addr == load.code_addr;
    printf("%s %llu %llu %s\n", name, (unsigned long long)load.code_size,
           (unsigned long long)(has_lines ? lines->count : 0), has_lines ? lines->file : "-");
}

static void read_records(const uint8_t *at, const uint8_t *end)
{
    struct lines lines = {0};
    while (at < end) {
        struct record record;
        if ((size_t)(end - at) < sizeof record)
            fail("a record is cut off");
        memcpy(&record, at, sizeof record);
        if (record.total_size < sizeof record || record.total_size > (size_t)(end - at))
            fail("a record goes on behind the end");
        const uint8_t *body = at + sizeof record;
        at += record.total_size;
        if (record.id == CODE_DEBUG_INFO)
            read_debug_info(body, at, &lines);
        else if (record.id == CODE_LOAD)
            read_code(body, at, &lines);
        else if (record.id > CODE_UNWINDING_INFO)
            fail("an unknown record");
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        fail("no file");
    fseek(file, 0, SEEK_END);
    size_t size_bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size_bytes + 1);
    if (!bytes || fread(bytes, 1, size_bytes, file) != size_bytes)
        fail("cannot be read");
    fclose(file);
    struct file_header header;
    if (size_bytes < sizeof header)
        fail("no header");
    memcpy(&header, bytes, sizeof header);
    if (header.magic != MAGIC || header.version != 1 || header.total_size < sizeof header ||
        header.total_size > size_bytes)
        fail("another header");
    read_records(bytes + header.total_size, bytes + size_bytes);
    free(bytes);
    return 0;
}
