/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a link. Most are about machine code or code for link-time optimisation: they are
 * checked for their names, as the genuine library does, and handed on to it where it is asked.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/nvjitlink/nvjitlink.h"

/* "-name=" takes a value, "-name" takes none. */
static const char *const KNOWN[] = {
    "-arch=",
    "-maxrregcount=",
    "-time",
    "-verbose",
    "-lto",
    "-ptx",
    "-O0",
    "-O3",
    "-g",
    "-lineinfo",
    "-ftz=",
    "-prec-div=",
    "-prec-sqrt=",
    "-fma=",
    "-kernels-used=",
    "-variables-used=",
    "-optimize-unused-variables",
    "-Xptxas=",
    "-Xnvvm=",
    "-split-compile=",
    "-split-compile-extended=",
    "-jump-table-density=",
    "-no-cache",
    "-device-stack-protector",
};

/* What follows the name, "" for options without a value; NULL: it is not this option. */
static const char *value_of(const char *option, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(option, name, len) != 0 || (name[len - 1] != '=' && option[len]))
        return NULL;
    return option + len;
}

static enum nvjitlink_result read_architecture(const char *value, struct nvjitlink_options *options,
                                               struct nvjitlink_log *log)
{
    options->has_arch = true;
    if (ptx_architecture_read(value, &options->arch, NULL) == PXR_OK)
        return NVJITLINK_SUCCESS;
    nvjitlink_log_add(
        log, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (%s)\n", value);
    return NVJITLINK_UNRECOGNIZED_ARCH;
}

static enum nvjitlink_result read_option(const char *option, struct nvjitlink_options *options,
                                         struct nvjitlink_log *log)
{
    const char *value = value_of(option, "-arch=");
    if (value)
        return read_architecture(value, options, log);
    options->wants_link_time |= strcmp(option, "-lto") == 0;
    options->wants_ptx |= strcmp(option, "-ptx") == 0;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (value_of(option, KNOWN[i]))
            return NVJITLINK_SUCCESS;
    if (strncmp(option, "-O", 2) == 0 && option[2])
        nvjitlink_log_add(log, "unsupported value of -O: %s. Only 0 and 3 are supported.\n",
                          option + 2);
    else
        nvjitlink_log_add(log, "unrecognized option: %s\n", option);
    return NVJITLINK_UNRECOGNIZED_OPTION;
}

static enum nvjitlink_result check_together(const struct nvjitlink_options *options,
                                            struct nvjitlink_log *log)
{
    if (!options->has_arch)
        return NVJITLINK_MISSING_ARCH;
    const char *error = NULL;
    if (options->wants_ptx && !options->wants_link_time)
        error = "-ptx requires -lto";
    else if (options->arch.is_virtual && !options->wants_ptx)
        error = "virtual arch requires -ptx";
    if (!error)
        return NVJITLINK_SUCCESS;
    nvjitlink_log_add(log, "ERROR: %s\n", error);
    return NVJITLINK_INCOMPATIBLE_OPTIONS;
}

enum nvjitlink_result nvjitlink_options_read(uint32_t count, const char *const *given,
                                             struct nvjitlink_options *options,
                                             struct nvjitlink_log *log)
{
    *options = (struct nvjitlink_options){.given = calloc((size_t)count + 1, sizeof(char *))};
    if (!options->given || (count > 0 && !given))
        return options->given ? NVJITLINK_NULL_INPUT : NVJITLINK_INTERNAL;
    enum nvjitlink_result result = NVJITLINK_SUCCESS;
    while (options->count < count && result == NVJITLINK_SUCCESS) {
        const char *option = given[options->count];
        char *copy = option ? strdup(option) : NULL;
        if (!copy)
            return option ? NVJITLINK_INTERNAL : NVJITLINK_NULL_INPUT;
        options->given[options->count++] = copy;
        result = read_option(copy, options, log);
    }
    return result == NVJITLINK_SUCCESS ? check_together(options, log) : result;
}

void nvjitlink_options_fini(struct nvjitlink_options *options)
{
    for (uint32_t i = 0; i < options->count; i++)
        free(options->given[i]);
    free(options->given);
}
