/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/check/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/options.h"

bool crt_filter_is_kernel(const char *pattern, const struct crt_found *found)
{
    const char *symbol = found->first.kernel;
    if (!symbol)
        return false;
    if (fnmatch(pattern, symbol, 0) == 0)
        return true;
    if (!found->readable)
        return false;
    char *name = strndup(found->readable, strcspn(found->readable, "("));
    bool is_same =
        fnmatch(pattern, found->readable, 0) == 0 || (name && fnmatch(pattern, name, 0) == 0);
    free(name);
    return is_same;
}

/* A list without patterns that want something lets all kernels pass that none leaves out. */
static bool is_wanted_kernel(char *patterns, const struct crt_found *found)
{
    bool wants_some = false;
    bool is_named = false;
    char *rest = patterns;
    for (char *each = strsep(&rest, ","); each; each = strsep(&rest, ",")) {
        bool is_same = crt_filter_is_kernel(each + (*each == '!'), found);
        if (*each == '!' && is_same)
            return false;
        wants_some = wants_some || *each != '!';
        is_named = is_named || (*each != '!' && is_same);
    }
    return is_named || !wants_some;
}

bool crt_filter_lets_pass(const struct crt_found *found)
{
    const struct pxr_options *options = pxr_options_get();
    if (pxr_list_contains(options->check_ignore, crt_finding_table[found->first.kind].rule))
        return false;
    if (!*options->check_kernels || !found->first.kernel)
        return true;
    char *patterns = strdup(options->check_kernels);
    bool is_wanted = !patterns || is_wanted_kernel(patterns, found);
    free(patterns);
    return is_wanted;
}
