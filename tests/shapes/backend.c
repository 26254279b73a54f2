/* SPDX-License-Identifier: Apache-2.0
 *
 * Backends by name.
 */
#include "tests/shapes/backend.h"

#include <string.h>

bool backend_is_build(const struct backend *backend)
{
    return backend >= backend_builds && backend < backend_builds + BACKEND_BUILD_COUNT;
}

bool backend_status_is_fault(enum pxr_status status)
{
    return status >= PXR_FAULT_ADDRESS && status <= PXR_FAULT_DEADLOCK;
}

bool backend_list_has(const struct backend_list *list, const struct backend *backend)
{
    for (size_t n = 0; n < list->count; n++)
        if (list->backends[n] == backend)
            return true;
    return false;
}

/* Whether the backend goes by the name, which has len characters. */
static bool is_called(const struct backend *backend, const char *name, size_t len)
{
    bool is_build = backend_is_build(backend);
    if (is_build && len == 3 && strncmp(name, "all", len) == 0)
        return true;
    return strncmp(backend->name, name, len) == 0 &&
           (backend->name[len] == '\0' || (is_build && backend->name[len] == '-'));
}

static bool add_one(struct backend_list *list, const struct backend *backend, const char *name,
                    size_t len)
{
    if (!is_called(backend, name, len))
        return false;
    if (!backend_list_has(list, backend))
        list->backends[list->count++] = backend;
    return true;
}

bool backend_list_add(struct backend_list *list, const char *names)
{
    static const struct backend *const single[] = {&backend_product, &backend_oracle,
                                                   &backend_driver};
    for (size_t len; *names != '\0'; names += len + (names[len] == ',')) {
        len = strcspn(names, ",");
        bool is_known = false;
        for (size_t n = 0; n < sizeof single / sizeof *single; n++)
            is_known |= add_one(list, single[n], names, len);
        for (size_t n = 0; n < BACKEND_BUILD_COUNT; n++)
            is_known |= add_one(list, &backend_builds[n], names, len);
        if (!is_known)
            return false;
    }
    return true;
}
