/* SPDX-License-Identifier: Apache-2.0
 *
 * The golden file: records in the order of their names, compressed by zstd as one frame. A record
 * is a name with its NUL, the number of values, bytes per value (both 32 bits, little-endian), and
 * the values. Beside it lies a list of the results that it lacks, one by one or by rows.
 */
#include "tests/conformance/golden.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define FILE_NAME      "conformance.zst"
#define LIST_NAME      "absent.txt"
#define ROW_WORD       "row "
#define LEVEL          19
#define WINDOW_LOG     27
#define PATH_BYTES     1024
#define MAX_FILE_BYTES (UINT64_C(1) << 31)

struct conf_golden_file {
    FILE *output; /* writing: records as they come */
    uint8_t *bytes;
    size_t size_bytes;
    struct conf_golden_record *records; /* comparing: by name */
    size_t record_count;
    char (*absent)[GOLDEN_NAME_BYTES]; /* comparing: the names of the list, in their order */
    size_t absent_count;
    bool is_absent_row[PTX_OP_COUNT]; /* comparing: the list has the whole row */
};

size_t conf_golden_count(const struct conf_options *options, size_t samples)
{
    return samples < options->golden_samples ? samples : options->golden_samples;
}

size_t conf_golden_sample(const struct conf_options *options, size_t samples, size_t n)
{
    size_t count = conf_golden_count(options, samples);
    /* the odd offset keeps clear of the period of crossed edges */
    return count == samples ? n : (n * samples + (n * 7919) % samples) / count % samples;
}

/* Results in which that machine's assembler is known to be wrong, so that no engine is held to
 * them: it passes only 8 bytes of a .b128 parameter of a function. */
static bool is_excused(const char *name)
{
    return strstr(name, ".param") != NULL && strstr(name, ".b128") != NULL;
}

static void job_path(char path[PATH_BYTES], const struct conf_options *options, unsigned job)
{
    snprintf(path, PATH_BYTES, "%s/job-%u.records", options->golden_dir, job);
}

static void path_of(char path[PATH_BYTES], const struct conf_options *options, const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", options->golden_dir, name);
}

/* ---- reading ---- */

/* Appends the file's content to *bytes. */
static enum pxr_status read_more(const char *path, uint8_t **bytes, size_t *size,
                                 struct pxr_error *err)
{
    FILE *input = fopen(path, "rb");
    if (input == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "cannot open '%s': %s", path, strerror(errno));
    fseek(input, 0, SEEK_END);
    long end = ftell(input);
    rewind(input);
    uint8_t *grown = end >= 0 ? realloc(*bytes, *size + (size_t)end + 1) : NULL;
    bool is_read = grown != NULL && fread(grown + *size, 1, (size_t)end, input) == (size_t)end;
    fclose(input);
    if (grown != NULL)
        *bytes = grown;
    if (!is_read)
        return pxr_fail(err, PXR_IO, "cannot read '%s'", path);
    *size += (size_t)end;
    return PXR_OK;
}

static bool read_record(const struct conf_golden_file *file, size_t *at,
                        struct conf_golden_record *record)
{
    const char *name = (const char *)file->bytes + *at;
    size_t left = file->size_bytes - *at;
    size_t len = strnlen(name, left);
    if (len >= GOLDEN_NAME_BYTES || left < len + 9)
        return false;
    memcpy(record->name, name, len + 1);
    memcpy(&record->count, name + len + 1, 4);
    memcpy(&record->value_bytes, name + len + 5, 4);
    record->values = (const uint8_t *)name + len + 9;
    size_t size = (size_t)record->count * record->value_bytes;
    if (record->value_bytes > 4096 || size > left - len - 9)
        return false;
    *at += len + 9 + size;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct conf_golden_record *)a)->name,
                  ((const struct conf_golden_record *)b)->name);
}

/* Adds the records that begin at `from`; returns where the first bad one begins, or the end. */
static size_t index_records(struct conf_golden_file *file, size_t from, size_t *capacity)
{
    size_t at = from;
    while (at < file->size_bytes) {
        if (file->record_count == *capacity) {
            *capacity = *capacity * 2 + 1024;
            struct conf_golden_record *grown =
                realloc(file->records, *capacity * sizeof *file->records);
            if (grown == NULL)
                return at;
            file->records = grown;
        }
        if (!read_record(file, &at, &file->records[file->record_count]))
            return at;
        file->record_count++;
    }
    return at;
}

static size_t good_bytes(const struct conf_golden_file *file)
{
    struct conf_golden_record record;
    size_t at = 0;
    while (at < file->size_bytes && read_record(file, &at, &record))
        continue;
    return at;
}

static void sort_records(struct conf_golden_file *file)
{
    if (file->record_count > 0)
        qsort(file->records, file->record_count, sizeof *file->records, by_name);
}

static enum pxr_status read_golden(const char *path, struct conf_golden_file *file,
                                   struct pxr_error *err)
{
    uint8_t *packed = NULL;
    size_t packed_bytes = 0;
    enum pxr_status status = read_more(path, &packed, &packed_bytes, err);
    if (status == PXR_OK) {
        unsigned long long size = ZSTD_getFrameContentSize(packed, packed_bytes);
        if (size < MAX_FILE_BYTES)
            file->bytes = malloc((size_t)size + 1);
        if (file->bytes != NULL)
            file->size_bytes = ZSTD_decompress(file->bytes, (size_t)size, packed, packed_bytes);
        size_t capacity = 0;
        if (file->bytes == NULL || ZSTD_isError(file->size_bytes) ||
            index_records(file, 0, &capacity) != file->size_bytes)
            status = pxr_fail(err, PXR_BAD_IMAGE, "'%s' is damaged", path);
        else
            sort_records(file);
    }
    free(packed);
    return status;
}

const struct conf_golden_record *conf_golden_find(const struct conf_golden_file *golden,
                                                  const char *name)
{
    struct conf_golden_record key;
    snprintf(key.name, sizeof key.name, "%s", name);
    return golden->record_count == 0
               ? NULL
               : bsearch(&key, golden->records, golden->record_count, sizeof key, by_name);
}

/* ---- what the file lacks ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool add_absent(struct conf_golden_file *file, const char *name)
{
    size_t bytes = (file->absent_count + 1) * sizeof *file->absent;
    char (*grown)[GOLDEN_NAME_BYTES] = realloc(file->absent, bytes);
    if (grown == NULL)
        return false;
    file->absent = grown;
    snprintf(file->absent[file->absent_count++], GOLDEN_NAME_BYTES, "%s", name);
    return true;
}

/* False: there is no such row, or it is there twice. */
static bool add_absent_row(struct conf_golden_file *file, const char *name)
{
    for (int op = 0; op < PTX_OP_COUNT; op++) {
        const char *row = conf_row_name((enum ptx_op)op);
        if (row != NULL && strcmp(row, name) == 0 && !file->is_absent_row[op])
            return file->is_absent_row[op] = true;
    }
    return false;
}

static enum pxr_status read_line(const char *line, const char *path, struct conf_golden_file *file,
                                 struct pxr_error *err)
{
    size_t word = strlen(ROW_WORD);
    if (line[0] == '#' || line[0] == '\0')
        return PXR_OK;
    if (strncmp(line, ROW_WORD, word) != 0)
        return add_absent(file, line)
                   ? PXR_OK
                   : pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for '%s'", path);
    return add_absent_row(file, line + word)
               ? PXR_OK
               : pxr_fail(err, PXR_INVALID_ARGUMENT, "'%s': no row, or one twice: %s", path, line);
}

/* A name on each line that is not a comment. */
static enum pxr_status read_absent(const char *path, struct conf_golden_file *file,
                                   struct pxr_error *err)
{
    char line[GOLDEN_NAME_BYTES + 2];
    enum pxr_status status = PXR_OK;
    FILE *input = fopen(path, "r");
    if (input == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "cannot open '%s': %s", path, strerror(errno));
    while (status == PXR_OK && fgets(line, sizeof line, input) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        status = read_line(line, path, file, err);
    }
    fclose(input);
    if (file->absent_count > 0)
        qsort(file->absent, file->absent_count, sizeof *file->absent, compare_names);
    return status;
}

/* Each result that is named is lacking, and named once. */
static enum pxr_status check_absent(const struct conf_golden_file *file, struct pxr_error *err)
{
    for (size_t i = 0; i < file->absent_count; i++) {
        if (conf_golden_find(file, file->absent[i]) != NULL)
            return pxr_fail(err, PXR_INVALID_ARGUMENT,
                            "'%s' is in the golden file, and in the list of what it lacks",
                            file->absent[i]);
        if (i > 0 && strcmp(file->absent[i - 1], file->absent[i]) == 0)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "'%s' is twice in the list",
                            file->absent[i]);
    }
    return PXR_OK;
}

void conf_golden_note_present(const struct conf_golden_file *golden, struct conf_row *row,
                              enum ptx_op op, const char *name)
{
    if (golden->is_absent_row[op])
        conf_note(row, "%s: in the golden file, and its row in the list of what it lacks", name);
}

void conf_golden_note_absent(const struct conf_golden_file *golden, struct conf_row *row,
                             enum ptx_op op, const char *name)
{
    if (golden->is_absent_row[op])
        return;
    bool is_listed =
        golden->absent_count > 0 && bsearch(name, golden->absent, golden->absent_count,
                                            sizeof *golden->absent, compare_names) != NULL;
    row->absent += is_listed;
    if (is_listed)
        return;
    printf("not in the golden file: %s\n", name);
    fflush(stdout); /* the job ends without doing so */
    conf_note(row, "%s: not in the golden file", name);
}

size_t conf_golden_absent_count(const struct conf_golden_file *golden)
{
    return golden->absent_count;
}

/* ---- writing ---- */

static bool write_record(FILE *output, const struct conf_golden_record *record)
{
    size_t size = (size_t)record->count * record->value_bytes;
    return fwrite(record->name, 1, strlen(record->name) + 1, output) > 0 &&
           fwrite(&record->count, 4, 1, output) == 1 &&
           fwrite(&record->value_bytes, 4, 1, output) == 1 &&
           fwrite(record->values, 1, size, output) == size;
}

void conf_golden_put(struct conf_golden_file *golden, const char *name, const uint8_t *values,
                     size_t count, size_t value_bytes)
{
    if (is_excused(name))
        return;
    struct conf_golden_record record = {
        .count = (uint32_t)count, .value_bytes = (uint32_t)value_bytes, .values = values};
    snprintf(record.name, sizeof record.name, "%s", name);
    write_record(golden->output, &record); /* an error stays with the stream */
    fflush(golden->output); /* a job that hangs in a driver is killed, and keeps its results so
                               far */
}

static enum pxr_status write_packed(const char *path, const void *bytes, size_t size,
                                    struct pxr_error *err)
{
    size_t bound = ZSTD_compressBound(size);
    uint8_t *packed = malloc(bound);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (packed == NULL || context == NULL) {
        free(packed);
        ZSTD_freeCCtx(context);
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to write '%s'", path);
    }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, WINDOW_LOG);
    size_t packed_bytes = ZSTD_compress2(context, packed, bound, bytes, size);
    ZSTD_freeCCtx(context);
    FILE *output = ZSTD_isError(packed_bytes) ? NULL : fopen(path, "wb");
    bool is_written = output != NULL && fwrite(packed, 1, packed_bytes, output) == packed_bytes;
    if (output != NULL && fclose(output) != 0)
        is_written = false;
    free(packed);
    return is_written ? PXR_OK : pxr_fail(err, PXR_IO, "cannot write '%s'", path);
}

static enum pxr_status write_sorted(const char *path, const struct conf_golden_file *file,
                                    struct pxr_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&bytes, &size);
    if (memory == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to write '%s'", path);
    bool is_complete = true;
    for (size_t i = 0; i < file->record_count; i++)
        is_complete = write_record(memory, &file->records[i]) && is_complete;
    is_complete = fclose(memory) == 0 && is_complete;
    enum pxr_status status = is_complete
                                 ? write_packed(path, bytes, size, err)
                                 : pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for '%s'", path);
    free(bytes);
    return status;
}

enum pxr_status conf_golden_merge(const struct conf_options *options, struct pxr_error *err)
{
    struct conf_golden_file file = {0};
    char path[PATH_BYTES];
    enum pxr_status status = PXR_OK;
    for (unsigned i = 0; i < options->jobs && status == PXR_OK; i++) {
        job_path(path, options, i);
        status = read_more(path, &file.bytes, &file.size_bytes, err);
        /* a job that was killed leaves half a record */
        if (status == PXR_OK)
            file.size_bytes = good_bytes(&file);
    }
    size_t capacity = 0;
    index_records(&file, 0, &capacity);
    sort_records(&file);
    path_of(path, options, FILE_NAME);
    if (status == PXR_OK)
        status = write_sorted(path, &file, err);
    for (unsigned i = 0; i < options->jobs && status == PXR_OK; i++) {
        job_path(path, options, i);
        unlink(path);
    }
    free(file.bytes);
    free(file.records);
    return status;
}

/* ---- opening ---- */

enum pxr_status conf_golden_open(const struct conf_options *options, unsigned job,
                                 struct conf_golden_file **golden, struct pxr_error *err)
{
    char path[PATH_BYTES];
    struct conf_golden_file *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for golden files");
    *golden = opened;
    if (options->golden == CONF_GOLDEN_COMPARE) {
        path_of(path, options, FILE_NAME);
        enum pxr_status status = read_golden(path, opened, err);
        path_of(path, options, LIST_NAME);
        if (status == PXR_OK)
            status = read_absent(path, opened, err);
        return status == PXR_OK ? check_absent(opened, err) : status;
    }
    job_path(path, options, job);
    opened->output = fopen(path, "wb");
    return opened->output != NULL
               ? PXR_OK
               : pxr_fail(err, PXR_IO, "cannot write '%s': %s", path, strerror(errno));
}

enum pxr_status conf_golden_close(struct conf_golden_file *golden, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    if (golden->output != NULL) {
        bool is_bad = ferror(golden->output) != 0;
        if (fclose(golden->output) != 0 || is_bad)
            status = pxr_fail(err, PXR_IO, "cannot write records");
    }
    free(golden->bytes);
    free(golden->records);
    free(golden->absent);
    free(golden);
    return status;
}
