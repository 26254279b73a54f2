/* SPDX-License-Identifier: Apache-2.0
 *
 * See architecture.h.
 */
#include "ptx/architecture.h"

#include <stdlib.h>

/* Older and newer ones than any one version of ptxas knows. */
static const unsigned NUMBERS[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80, 86,
                                   87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

static bool is_known(unsigned number)
{
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        if (NUMBERS[i] == number)
            return true;
    }
    return false;
}

static bool is_suffix_allowed(unsigned number, const char *suffix)
{
    return suffix[0] == '\0' || (suffix[1] == '\0' && ((suffix[0] == 'a' && number >= 90) ||
                                                       (suffix[0] == 'f' && number >= 100)));
}

enum pxr_status ptx_architecture_read(const char *name, struct ptx_architecture *arch,
                                      struct pxr_error *err)
{
    const char *digits = strchr(name, '_');
    size_t prefix = digits ? (size_t)(digits - name) : 0;
    bool is_real = prefix == 2 && memcmp(name, "sm", 2) == 0;
    bool is_virtual = (prefix == 7 && memcmp(name, "compute", 7) == 0) ||
                      (prefix == 3 && memcmp(name, "lto", 3) == 0);
    char *end = NULL;
    unsigned long number = digits ? strtoul(digits + 1, &end, 10) : 0;
    if ((!is_real && !is_virtual) || number > 1000 || !is_known((unsigned)number) ||
        !is_suffix_allowed((unsigned)number, end))
        return pxr_fail(err, PXR_INVALID_ARGUMENT,
                        "Value '%s' is not defined for option 'gpu-name'", name);
    *arch = (struct ptx_architecture){
        .name = name, .number = (unsigned)number, .suffix = *end, .is_virtual = is_virtual};
    return PXR_OK;
}

enum pxr_status ptx_architecture_check(const struct ptx_module *module,
                                       const struct ptx_architecture *arch, struct pxr_error *err)
{
    char suffix[2] = {module->target_suffix, '\0'};
    if (module->target > arch->number)
        return pxr_fail(
            err, PXR_INVALID_ARGUMENT,
            "SM version specified by .target is higher than default SM version assumed");
    if (module->target_suffix == 'a' && module->target != arch->number)
        return pxr_fail(err, PXR_INVALID_ARGUMENT,
                        "Program with .target 'sm_%u%s' cannot be compiled to future architecture",
                        module->target, suffix);
    if (module->target_suffix == 'a' && arch->suffix != 'a')
        return pxr_fail(err, PXR_INVALID_ARGUMENT,
                        "PTX with .target 'sm_%u%s' cannot be compiled for architecture '%s'",
                        module->target, suffix, arch->name);
    if (module->target_suffix == 'f' && module->target / 10 != arch->number / 10)
        return pxr_fail(err, PXR_INVALID_ARGUMENT,
                        "Program with .target 'sm_%u%s' cannot be compiled to different SM-family "
                        "architecture",
                        module->target, suffix);
    return PXR_OK;
}
