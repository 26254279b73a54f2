/* SPDX-License-Identifier: Apache-2.0
 *
 * See recording.h. A line is a list of words with tabs between: a version, and fields NAME=VALUE. A
 * field with its usual value is left out.
 */
#include "cudart/core/code/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "kernel_abi/image_shape.h"

#define VERSION        "v1"
#define LINE_MAX_BYTES ((size_t)64 << 10)
#define LAUNCHES_MAX   ((size_t)1 << 20)

/* ---- writing ---- */

static const struct jit_variant plain;

static void put_number(FILE *out, const char *name, uint64_t number, uint64_t usual)
{
    if (number != usual)
        fprintf(out, "\t%s=%llu", name, (unsigned long long)number);
}

static void put_shape(FILE *out, const char *name, const uint32_t shape[3])
{
    if (shape[0] | shape[1] | shape[2])
        fprintf(out, "\t%s=%ux%ux%u", name, shape[0], shape[1], shape[2]);
}

static void put_param(FILE *out, unsigned number, const struct tr_param_fact *fact)
{
    if (fact->image_shape)
        fprintf(out, "\ttexture%u=%u", number, fact->image_shape);
    if (fact->max_log2 | fact->align_log2 | fact->is_distinct)
        fprintf(out, "\tparam%u=%u,%u,%u", number, fact->max_log2, fact->align_log2,
                fact->is_distinct);
}

static void put_facts(FILE *out, const struct tr_facts *facts)
{
    put_shape(out, "block", facts->block);
    put_number(out, "warps", facts->has_whole_warps, 0);
    put_shape(out, "grid", facts->grid_max);
    if (facts->has_dynamic_shared)
        fprintf(out, "\tshared=%u", facts->dynamic_shared_bytes);
    put_number(out, "inside", facts->begins_inside, 0);
    for (unsigned i = 0; i < TR_FACTS_PARAMS; i++)
        put_param(out, i, &facts->params[i]);
}

/* All that tells code from other code. */
static void put_code(FILE *out, const struct crt_recorded_launch *launch)
{
    fputs("\timage=", out);
    for (int i = 0; i < CACHE_KEY_BYTES; i++)
        fprintf(out, "%02x", launch->image.bytes[i]);
    fprintf(out, "\tkernel=%s\tcapability=%u", launch->kernel, launch->capability);
    if (*launch->skip)
        fprintf(out, "\tskip=%s", launch->skip);
    if (launch->variant.collapse != plain.collapse)
        fprintf(out, "\tcollapse=%s", pxr_collapse_name(launch->variant.collapse));
    put_number(out, "width", launch->variant.width, 0);
    put_number(out, "jam", launch->variant.jam, 0);
    put_number(out, "quick", launch->variant.is_quick, 0);
    put_number(out, "fast_matrices", launch->variant.has_fast_matrices, 0);
    put_facts(out, &launch->variant.facts);
}

static char *text_of(const struct crt_recorded_launch *launch, bool is_line)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *out = open_memstream(&text, &text_bytes);
    if (!out)
        return NULL;
    if (is_line)
        fprintf(out, VERSION "\tlaunches=%llu", (unsigned long long)launch->launches);
    put_code(out, launch);
    if (is_line)
        fputc('\n', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *crt_recorded_launch_line(const struct crt_recorded_launch *launch)
{
    return text_of(launch, true);
}

/* ---- reading a value ---- */

/* A number of digits at *at, at most `most`; moves behind it. */
static bool get_number(const char **at, uint64_t most, uint64_t *number)
{
    const char *start = *at;
    *number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (digit > most || *number > (most - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return *at > start;
}

static bool take_number(const char *value, uint64_t most, uint64_t *number)
{
    return get_number(&value, most, number) && *value == '\0';
}

/* Three numbers with a letter between them. */
static bool take_three(const char *value, char separator, const uint32_t most[3],
                       uint32_t numbers[3])
{
    for (int d = 0; d < 3; d++) {
        uint64_t number;
        if (d > 0 && *value++ != separator)
            return false;
        if (!get_number(&value, most[d], &number))
            return false;
        numbers[d] = (uint32_t)number;
    }
    return *value == '\0';
}

static bool take_launches(const char *value, struct crt_recorded_launch *launch)
{
    return take_number(value, UINT64_MAX, &launch->launches);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_image(const char *value, struct crt_recorded_launch *launch)
{
    if (strlen(value) != 2 * (size_t)CACHE_KEY_BYTES)
        return false;
    for (int i = 0; i < CACHE_KEY_BYTES; i++) {
        int high = digit(value[2 * i]);
        int low = digit(value[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        launch->image.bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Texts are shown on terminals. */
static bool take_text(const char *value, char **text)
{
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    free(*text);
    *text = strdup(value);
    return *text && **text;
}

static bool take_kernel(const char *value, struct crt_recorded_launch *launch)
{
    return take_text(value, &launch->kernel);
}

static bool take_skip(const char *value, struct crt_recorded_launch *launch)
{
    return take_text(value, &launch->skip);
}

static bool take_capability(const char *value, struct crt_recorded_launch *launch)
{
    uint64_t number;
    bool is_right = take_number(value, 999, &number);
    launch->capability = (unsigned)number;
    return is_right;
}

static bool take_collapse(const char *value, struct crt_recorded_launch *launch)
{
    for (int i = 0; i < PXR_COLLAPSE_COUNT; i++) {
        launch->variant.collapse = (enum pxr_collapse)i;
        if (strcmp(value, pxr_collapse_name(launch->variant.collapse)) == 0)
            return true;
    }
    return false;
}

static bool take_width(const char *value, struct crt_recorded_launch *launch)
{
    uint64_t number;
    bool is_right = take_number(value, 64, &number) && number >= 2 && (number & (number - 1)) == 0;
    launch->variant.width = (uint32_t)number;
    return is_right;
}

static bool take_jam(const char *value, struct crt_recorded_launch *launch)
{
    uint64_t number;
    bool is_right = take_number(value, 32, &number) && number > 0;
    launch->variant.jam = (uint32_t)number;
    return is_right;
}

static bool take_quick(const char *value, struct crt_recorded_launch *launch)
{
    launch->variant.is_quick = true;
    return strcmp(value, "1") == 0;
}

static bool take_fast_matrices(const char *value, struct crt_recorded_launch *launch)
{
    launch->variant.has_fast_matrices = true;
    return strcmp(value, "1") == 0;
}

static bool take_block(const char *value, struct crt_recorded_launch *launch)
{
    static const uint32_t most[3] = {TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_Z};
    uint32_t *block = launch->variant.facts.block;
    if (!take_three(value, 'x', most, block))
        return false;
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++)
        threads *= block[d] ? block[d] : 1;
    return threads <= TR_BLOCK_MAX_THREADS;
}

static bool take_grid(const char *value, struct crt_recorded_launch *launch)
{
    static const uint32_t most[3] = {TR_GRID_MAX_X, TR_GRID_MAX_YZ, TR_GRID_MAX_YZ};
    return take_three(value, 'x', most, launch->variant.facts.grid_max);
}

static bool take_shared(const char *value, struct crt_recorded_launch *launch)
{
    uint64_t number;
    bool is_right = take_number(value, UINT32_MAX, &number);
    launch->variant.facts.has_dynamic_shared = true;
    launch->variant.facts.dynamic_shared_bytes = (uint32_t)number;
    return is_right;
}

static bool take_warps(const char *value, struct crt_recorded_launch *launch)
{
    launch->variant.facts.has_whole_warps = true;
    return strcmp(value, "1") == 0;
}

static bool take_inside(const char *value, struct crt_recorded_launch *launch)
{
    launch->variant.facts.begins_inside = true;
    return strcmp(value, "1") == 0;
}

/* What follows "param": "3=10,4,1". */
static bool take_param(const char *rest, struct crt_recorded_launch *launch)
{
    static const uint32_t most[3] = {64, 63, 1};
    uint64_t number;
    uint32_t fact[3];
    if (!get_number(&rest, TR_FACTS_PARAMS - 1, &number) || *rest++ != '=' ||
        !take_three(rest, ',', most, fact))
        return false;
    struct tr_param_fact *param = &launch->variant.facts.params[number];
    param->max_log2 = (uint8_t)fact[0];
    param->align_log2 = (uint8_t)fact[1];
    param->is_distinct = fact[2] != 0;
    return true;
}

/* What follows "texture": "3=42240". */
static bool take_texture(const char *rest, struct crt_recorded_launch *launch)
{
    uint64_t number;
    uint64_t shape;
    if (!get_number(&rest, TR_FACTS_PARAMS - 1, &number) || *rest++ != '=' ||
        !take_number(rest, UINT16_MAX, &shape) || !rt_is_shape((uint32_t)shape))
        return false;
    launch->variant.facts.params[number].image_shape = (uint16_t)shape;
    return true;
}

/* ---- reading a line ---- */

static const struct {
    const char *name; /* with what comes before the value */
    bool (*take)(const char *value, struct crt_recorded_launch *launch);
} fields[] = {
    {"launches=", take_launches}, {"image=", take_image},
    {"kernel=", take_kernel},     {"capability=", take_capability},
    {"skip=", take_skip},         {"collapse=", take_collapse},
    {"width=", take_width},       {"jam=", take_jam},
    {"quick=", take_quick},       {"fast_matrices=", take_fast_matrices},
    {"block=", take_block},       {"grid=", take_grid},
    {"shared=", take_shared},     {"inside=", take_inside},
    {"warps=", take_warps},       {"param", take_param},
    {"texture", take_texture},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static bool take_field(const char *word, struct crt_recorded_launch *launch)
{
    for (int i = 0; i < FIELDS; i++) {
        size_t len = strlen(fields[i].name);
        if (strncmp(word, fields[i].name, len) == 0)
            return fields[i].take(word + len, launch);
    }
    return false;
}

/* The line is taken apart. NULL, or what is wrong with it. */
static const char *take_line(char *line, struct crt_recorded_launch *launch)
{
    char *rest = line;
    const char *version = strsep(&rest, "\t");
    if (strcmp(version, VERSION) != 0)
        return "it has the format of another version, or is no line of a recording";
    launch->skip = strdup("");
    while (rest)
        if (!take_field(strsep(&rest, "\t"), launch))
            return "a field is not known, or its value is not possible";
    static const struct cache_key none;
    if (!launch->kernel || memcmp(&launch->image, &none, sizeof none) == 0)
        return "it has no image or no kernel";
    return launch->skip ? NULL : "there is no memory for it";
}

static void fini_launch(struct crt_recorded_launch *launch)
{
    free(launch->kernel);
    free(launch->skip);
}

/* ---- recordings ---- */

/* By the text about the code. */
struct crt_recording_index {
    char *text;
    size_t number; /* in launches */
    UT_hash_handle hh;
};

static bool make_room(struct crt_recording *recording)
{
    if (recording->count < recording->room)
        return true;
    size_t room = recording->room ? 2 * recording->room : 64;
    void *grown = realloc(recording->launches, room * sizeof *recording->launches);
    if (!grown || room > LAUNCHES_MAX)
        return false;
    recording->launches = grown;
    recording->room = room;
    return true;
}

static uint64_t saturated_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Takes the launch over in any case. False: no memory. */
static bool add_launch(struct crt_recording *recording, struct crt_recorded_launch *launch)
{
    struct crt_recording_index *known = NULL;
    char *text = text_of(launch, false);
    if (text)
        HASH_FIND_STR(recording->index, text, known);
    if (known) {
        uint64_t *launches = &recording->launches[known->number].launches;
        *launches = saturated_sum(*launches, launch->launches);
        fini_launch(launch);
        free(text);
        return true;
    }
    known = text && make_room(recording) ? calloc(1, sizeof *known) : NULL;
    if (!known) {
        fini_launch(launch);
        free(text);
        return false;
    }
    *known = (struct crt_recording_index){.text = text, .number = recording->count};
    HASH_ADD_KEYPTR(hh, recording->index, known->text, strlen(known->text), known);
    recording->launches[recording->count++] = *launch;
    return true;
}

static enum pxr_status read_line(const char *text, size_t len, const char *place,
                                 struct crt_recording *recording, struct pxr_error *err)
{
    struct crt_recorded_launch launch = {0};
    char *line = len < LINE_MAX_BYTES && !memchr(text, 0, len) ? strndup(text, len) : NULL;
    const char *why = line ? take_line(line, &launch) : "it is no line of text";
    free(line);
    if (why) {
        fini_launch(&launch);
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: %s", place, why);
    }
    return add_launch(recording, &launch)
               ? PXR_OK
               : pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: no memory for so many launches", place);
}

/* Empty lines and those that begin with a '#' say nothing. What a process that was killed has begun
 * to write has no newline. */
enum pxr_status crt_recording_read(const char *text, size_t len, const char *name,
                                   struct crt_recording *recording, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    unsigned long number = 1;
    const char *end = len ? memchr(text, '\n', len) : NULL;
    for (; end && status == PXR_OK; number++) {
        size_t line_bytes = (size_t)(end - text);
        char place[512];
        snprintf(place, sizeof place, "%.400s, line %lu", name, number);
        if (line_bytes > 0 && *text != '#')
            status = read_line(text, line_bytes, place, recording, err);
        len -= line_bytes + 1;
        text = end + 1;
        end = len ? memchr(text, '\n', len) : NULL;
    }
    return status;
}

void crt_recording_fini(struct crt_recording *recording)
{
    struct crt_recording_index *row;
    struct crt_recording_index *next;
    HASH_ITER(hh, recording->index, row, next)
    {
        HASH_DEL(recording->index, row);
        free(row->text);
        free(row);
    }
    for (size_t i = 0; i < recording->count; i++)
        fini_launch(&recording->launches[i]);
    free(recording->launches);
    *recording = (struct crt_recording){0};
}
