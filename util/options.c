/* SPDX-License-Identifier: Apache-2.0
 *
 * The options table and the process's option values, read once from the environment.
 */
#include "util/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"

const struct pxr_option_info pxr_option_table[PXR_OPTION_COUNT] = {
#define OPTION(ID, name, type, field, default_text, metavar, help)                                 \
    [PXR_OPTION_##ID] = {name, "PTXRUN_" #ID, PXR_OPTION_##type, default_text, metavar, help},
#include "util/options.def"
#undef OPTION
};

/* "after:STEP" stands for every word that goes on behind the colon. */
static bool is_choice(const char *choice, size_t choice_len, const char *text, size_t len)
{
    const char *colon = memchr(choice, ':', choice_len);
    if (colon) {
        size_t prefix_len = (size_t)(colon + 1 - choice);
        return len > prefix_len && memcmp(choice, text, prefix_len) == 0;
    }
    return choice_len == len && memcmp(choice, text, len) == 0;
}

/* Index of a word of len bytes in a '|'-separated list, -1 if it is not there. */
static int choice_index(const char *choices, const char *text, size_t len)
{
    int index = 0;
    for (const char *at = choices;; at++, index++) {
        const char *end = strchrnul(at, '|');
        if (is_choice(at, (size_t)(end - at), text, len))
            return index;
        if (!*end)
            return -1;
        at = end;
    }
}

/* The first word of a comma-separated list that is not among the choices; *len is 0 if all are. */
static const char *find_stranger(const char *choices, const char *list, size_t *len)
{
    for (const char *at = list; *at; at += *len + (at[*len] == ',')) {
        *len = strcspn(at, ",");
        if (choice_index(choices, at, *len) < 0)
            return at;
    }
    *len = 0;
    return NULL;
}

/* "512M": a whole number above 0, and K, M, G or T for powers of 1024. Empty text is 0. */
static bool parse_size(const char *text, size_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    *bytes = 0;
    if (!*text)
        return true;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || value == 0)
        return false;
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end[unit != NULL] || value > (SIZE_MAX >> 2) >> shift) // sums of two stay in range
        return false;
    *bytes = (size_t)value << shift;
    return true;
}

static bool parse_unsigned(const char *text, unsigned *value)
{
    char *end;
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || parsed > UINT_MAX)
        return false;
    *value = (unsigned)parsed;
    return true;
}

/* Whether the number is in a list such as "1|2|10-20"; "N" is any. */
static bool is_allowed(const char *allowed, unsigned value)
{
    if (*allowed < '0' || *allowed > '9')
        return true;
    for (const char *at = allowed;; at++) {
        char *end;
        unsigned long low = strtoul(at, &end, 10);
        unsigned long high = *end == '-' ? strtoul(end + 1, &end, 10) : low;
        if (value >= low && value <= high)
            return true;
        if (*end != '|')
            return false;
        at = end;
    }
}

/* Of LEVEL; -1: text is none. */
static int level_of(const char *words, const char *text)
{
    if (strcmp(text, "0") == 0 || strcmp(text, "1") == 0)
        return *text - '0';
    int index = choice_index(words, text, strlen(text));
    return index < 0 ? -1 : index + 2;
}

/* Of SET; false: not all words are among them. */
static bool parse_set(const char *words, const char *text, unsigned *set)
{
    *set = 0;
    if (strcmp(text, "0") == 0)
        return true;
    if (strcmp(text, "1") == 0) {
        *set = 1;
        return true;
    }
    for (size_t len; *text; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        int index = choice_index(words, text, len);
        if (index < 0)
            return false;
        *set |= 1u << index;
    }
    return *set != 0;
}

/* Of the words of --check: "device:sm_90" is 9.0 among the choices of --compute-capability; -1:
 * none of them names a device. False: it names one that is not known, or several. */
static bool find_device(const char *words, int *choice)
{
    static const char prefix[] = "device:sm_";
    const char *capabilities = pxr_option_table[PXR_OPTION_COMPUTE_CAPABILITY].metavar;
    *choice = -1;
    for (const char *at = words; *at; at += *at == ',') {
        const char *end = strchrnul(at, ',');
        int len = (int)(end - at) - (int)strlen(prefix);
        char text[16] = "";
        if (strncmp(at, "device:", strlen("device:")) == 0) {
            if (len < 2 || strncmp(at, prefix, strlen(prefix)) != 0 || *choice >= 0)
                return false;
            snprintf(text, sizeof text, "%.*s.%c", len - 1, at + strlen(prefix), end[-1]);
            *choice = choice_index(capabilities, text, strlen(text));
            if (*choice < 0)
                return false;
        }
        at = end;
    }
    return true;
}

bool pxr_option_is_switch(enum pxr_option_id id)
{
    enum pxr_option_type type = pxr_option_table[id].type;
    return type == PXR_OPTION_FLAG || type == PXR_OPTION_LEVEL || type == PXR_OPTION_SET;
}

enum pxr_status pxr_option_check(enum pxr_option_id id, const char *text, struct pxr_error *err)
{
    const struct pxr_option_info *info = &pxr_option_table[id];
    const char *stranger;
    unsigned number;
    size_t size;
    int device;
    switch (info->type) {
    case PXR_OPTION_FLAG:
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "--%s (%s) is 0 or 1, not '%s'", info->name,
                            info->variable, text);
        return PXR_OK;
    case PXR_OPTION_UINT:
        if (!parse_unsigned(text, &number))
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "--%s (%s) takes a whole number, not '%s'",
                            info->name, info->variable, text);
        if (!is_allowed(info->metavar, number))
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "--%s (%s) is one of %s, not '%s'",
                            info->name, info->variable, info->metavar, text);
        return PXR_OK;
    case PXR_OPTION_SIZE:
        if (!parse_size(text, &size))
            return pxr_fail(err, PXR_INVALID_ARGUMENT,
                            "--%s (%s) takes a size such as 512M or 8G, not '%s'", info->name,
                            info->variable, text);
        return PXR_OK;
    case PXR_OPTION_LIST:
        stranger = find_stranger(info->metavar, text, &size);
        if (stranger)
            return pxr_fail(err, PXR_INVALID_ARGUMENT,
                            "--%s (%s) takes words out of %s with commas between, not '%.*s'",
                            info->name, info->variable, info->metavar, (int)size, stranger);
        return PXR_OK;
    case PXR_OPTION_CHOICE:
        if (choice_index(info->metavar, text, strlen(text)) < 0)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "--%s (%s) is one of %s, not '%s'",
                            info->name, info->variable, info->metavar, text);
        return PXR_OK;
    case PXR_OPTION_LEVEL:
        if (level_of(info->metavar, text) < 0)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "--%s (%s) is one of 0|1|%s, not '%s'",
                            info->name, info->variable, info->metavar, text);
        return PXR_OK;
    case PXR_OPTION_SET:
        if (!parse_set(info->metavar, text, &number))
            return pxr_fail(err, PXR_INVALID_ARGUMENT,
                            "--%s (%s) is 0, 1, or words out of %s with commas between, not '%s'",
                            info->name, info->variable, info->metavar, text);
        if (id == PXR_OPTION_CHECK && !find_device(text, &device))
            return pxr_fail(err, PXR_INVALID_ARGUMENT,
                            "--%s (%s) takes one device, such as sm_75 or sm_100, not '%s'",
                            info->name, info->variable, text);
        return PXR_OK;
    case PXR_OPTION_TEXT:
        return PXR_OK;
    }
    return pxr_fail(err, PXR_INVALID_ARGUMENT, "unknown option type");
}

enum pxr_option_id pxr_option_find(const char *name, size_t len)
{
    for (int id = 0; id < PXR_OPTION_COUNT; id++) {
        const char *candidate = pxr_option_table[id].name;
        if (strlen(candidate) == len && memcmp(candidate, name, len) == 0)
            return (enum pxr_option_id)id;
    }
    return PXR_OPTION_COUNT;
}

/* The variable's text if it is set and legal, else the default. */
static const char *value_text(enum pxr_option_id id)
{
    const struct pxr_option_info *info = &pxr_option_table[id];
    const char *text = getenv(info->variable);
    if (!text || !*text)
        return info->default_text;
    struct pxr_error err;
    if (pxr_option_check(id, text, &err) != PXR_OK) {
        pxr_log(PXR_LOG_WARNING, "%s; using '%s'", err.message, info->default_text);
        return info->default_text;
    }
    return text;
}

static bool read_FLAG(enum pxr_option_id id)
{
    return strcmp(value_text(id), "1") == 0;
}

static unsigned read_UINT(enum pxr_option_id id)
{
    unsigned value = 0;
    parse_unsigned(value_text(id), &value);
    return value;
}

static size_t read_SIZE(enum pxr_option_id id)
{
    size_t bytes = 0;
    parse_size(value_text(id), &bytes);
    return bytes;
}

static const char *read_TEXT(enum pxr_option_id id)
{
    return value_text(id);
}

const char *pxr_option_text(enum pxr_option_id id)
{
    return value_text(id);
}

const char *pxr_option_cpu(void)
{
    const char *name = pxr_option_text(PXR_OPTION_CPU);
    return strcmp(name, "native") == 0 ? "" : name;
}

static const char *read_LIST(enum pxr_option_id id)
{
    return value_text(id);
}

static unsigned read_LEVEL(enum pxr_option_id id)
{
    int level = level_of(pxr_option_table[id].metavar, value_text(id));
    return level < 0 ? 0 : (unsigned)level;
}

static unsigned read_SET(enum pxr_option_id id)
{
    unsigned set = 0;
    parse_set(pxr_option_table[id].metavar, value_text(id), &set);
    return set;
}

static unsigned read_CHOICE(enum pxr_option_id id)
{
    const char *text = value_text(id);
    int index = choice_index(pxr_option_table[id].metavar, text, strlen(text));
    return index < 0 ? 0 : (unsigned)index;
}

/* Written once under pthread_once, constant afterwards. */
static struct pxr_options process_options;

/* A schedule is an order of threads with stacks of their own, and one worker can repeat it. */
static void take_schedules(struct pxr_options *options)
{
    if (options->schedules == 0)
        return;
    options->threads = 1;
    options->collapse = PXR_COLLAPSE_PRECISE;
    options->tier = PXR_TIER_QUICK;
    if (!(options->check & (1u << PXR_CHECK_RACE | 1u << PXR_CHECK_ALL)))
        pxr_log(PXR_LOG_WARNING, "--schedules does nothing without --check=race");
}

static void read_options(void)
{
#define OPTION(ID, name, type, field, default_text, metavar, help)                                 \
    process_options.field = read_##type(PXR_OPTION_##ID);
#include "util/options.def"
#undef OPTION
    pxr_log_set_level((enum pxr_log_level)process_options.log);
    take_schedules(&process_options);
}

const struct pxr_options *pxr_options_get(void)
{
    static pthread_once_t is_read = PTHREAD_ONCE_INIT;
    pthread_once(&is_read, read_options);
    return &process_options;
}

bool pxr_option_checks(enum pxr_check what)
{
    unsigned wanted = 1u << what | 1u << PXR_CHECK_ALL;
    if (what == PXR_CHECK_DEVICE)
        wanted |= 1u << PXR_CHECK_DEVICE_NAMED;
    return (pxr_options_get()->check & wanted) != 0;
}

int pxr_option_checked_device(void)
{
    int device = -1;
    find_device(value_text(PXR_OPTION_CHECK), &device);
    return device;
}

const char *pxr_collapse_name(enum pxr_collapse collapse)
{
    static const char *const names[PXR_COLLAPSE_COUNT] = {
        [PXR_COLLAPSE_AUTO] = "auto",     [PXR_COLLAPSE_PRECISE] = "precise",
        [PXR_COLLAPSE_FLAT] = "flat",     [PXR_COLLAPSE_HIERARCHICAL] = "hierarchical",
        [PXR_COLLAPSE_VECTOR] = "vector",
    };
    return (unsigned)collapse < PXR_COLLAPSE_COUNT ? names[collapse] : "unknown";
}

bool pxr_collapse_is_fused(enum pxr_collapse collapse)
{
    return collapse == PXR_COLLAPSE_FLAT || collapse == PXR_COLLAPSE_HIERARCHICAL ||
           collapse == PXR_COLLAPSE_VECTOR;
}

void pxr_collapse_text(enum pxr_collapse collapse, uint32_t width, uint32_t jam,
                       char text[PXR_COLLAPSE_TEXT_BYTES])
{
    const char *name = pxr_collapse_name(collapse);
    if (width)
        snprintf(text, PXR_COLLAPSE_TEXT_BYTES, "%s %ux%u", name, width, jam);
    else
        snprintf(text, PXR_COLLAPSE_TEXT_BYTES, "%s", name);
}

bool pxr_list_contains(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; at && *at;) {
        const char *end = strchrnul(at, ',');
        if ((size_t)(end - at) == len && memcmp(at, word, len) == 0)
            return true;
        at = *end ? end + 1 : end;
    }
    return false;
}
