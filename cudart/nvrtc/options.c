/* SPDX-License-Identifier: Apache-2.0
 *
 * See nvrtc.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/nvrtc/nvrtc.h"

/* What follows the option's name, "" where the value is in the next one; NULL: another option. */
static const char *value_of(const char *option)
{
    static const char *const NAMES[] = {"--gpu-architecture", "-arch"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t len = strlen(NAMES[i]);
        if (strncmp(option, NAMES[i], len) == 0 && (option[len] == '=' || option[len] == '\0'))
            return option + len + (option[len] == '=');
    }
    return NULL;
}

/* The architecture to ask for: the number itself, or the next older one that there is, or the
 * oldest. */
static unsigned nearest(unsigned number, const int *supported, int count)
{
    unsigned best = count > 0 ? (unsigned)supported[0] : number;
    for (int i = 0; i < count; i++) {
        if ((unsigned)supported[i] <= number)
            best = (unsigned)supported[i];
    }
    return best;
}

/* "compute_90a" for "sm_90a"; NULL where it is no architecture, or no memory is left. */
static char *virtual_name(const char *value, const int *supported, int count,
                          struct nvrtc_options *options)
{
    unsigned number;
    int end = 0;
    bool is_real = sscanf(value, "sm_%u%n", &number, &end) == 1;
    if (!is_real && sscanf(value, "compute_%u%n", &number, &end) != 1)
        return NULL;
    unsigned chosen = nearest(number, supported, count);
    char *name = NULL;
    if (asprintf(&name, "compute_%u%s", chosen, chosen == number ? value + end : "") < 0)
        return NULL;
    options->arch = number;
    options->wants_cubin = is_real;
    return name;
}

static enum nvrtc_result put(struct nvrtc_options *options, char *text)
{
    options->owned[options->count] = text;
    options->list[options->count++] = text;
    return text ? NVRTC_SUCCESS : NVRTC_OUT_OF_MEMORY;
}

/* An option about the architecture, whose value may be the next option. */
static enum nvrtc_result put_architecture(struct nvrtc_options *options, const char *option,
                                          const char *value, const int *supported, int count)
{
    char *name = virtual_name(value, supported, count, options);
    char *text = NULL;
    if (value != option && name && asprintf(&text, "--gpu-architecture=%s", name) < 0)
        text = NULL;
    else if (!name || value == option)
        text = strdup(name ? name : option);
    free(name);
    return put(options, text);
}

enum nvrtc_result nvrtc_options_make(int count, const char *const *given, const int *supported,
                                     int supported_count, struct nvrtc_options *options)
{
    *options = (struct nvrtc_options){
        .list = calloc((size_t)count + 1, sizeof *options->list),
        .owned = calloc((size_t)count + 1, sizeof *options->owned),
    };
    if (!options->list || !options->owned)
        return NVRTC_OUT_OF_MEMORY;
    enum nvrtc_result result = NVRTC_SUCCESS;
    for (int i = 0; i < count && result == NVRTC_SUCCESS; i++) {
        if (!given[i])
            return NVRTC_INVALID_INPUT;
        const char *value = value_of(given[i]);
        bool is_apart = value && !*value && i + 1 < count && given[i + 1];
        if (is_apart) {
            result = put(options, strdup(given[i++]));
            value = given[i];
        }
        if (result == NVRTC_SUCCESS && value)
            result = put_architecture(options, given[i], value, supported, supported_count);
        else if (result == NVRTC_SUCCESS)
            result = put(options, strdup(given[i]));
    }
    return result;
}

void nvrtc_options_fini(struct nvrtc_options *options)
{
    for (int i = 0; i < options->count; i++)
        free(options->owned[i]);
    free(options->owned);
    free(options->list);
}
