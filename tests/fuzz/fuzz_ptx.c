/* SPDX-License-Identifier: Apache-2.0
 *
 * libFuzzer target for PTX text: any bytes give a module or an error; a module is printed with the
 * tokens that it was parsed from, and can be laid out and linked. Corpus: tests/ptx.
 */
#include <stdlib.h>

#include "tests/unit/ptx/print_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void use(const struct ptx_module *module)
{
    struct ptx_kernel_layout layout;
    struct ptx_module *linked;

    for (uint32_t i = 0; i < module->func_count; i++)
        if (ptx_find_entry(module, module->funcs[i]->name) == module->funcs[i] &&
            ptx_layout_kernel(module, module->funcs[i], &layout, NULL) == PXR_OK)
            ptx_layout_fini(&layout);
    if (ptx_link(&module, 1, "linked", &linked, NULL) == PXR_OK)
        ptx_module_destroy(linked);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const struct pxr_str text = {(const char *)bytes, len};
    struct ptx_module *module;
    struct pxr_error why = {0};

    switch (print_check(text, "fuzz", &why)) {
    case PRINT_CHECK_OK:
        if (ptx_parse(text, "fuzz", &module, &why) == PXR_OK) {
            use(module);
            ptx_module_destroy(module);
        }
        break;
    case PRINT_CHECK_NO_PTX:
        if (why.message[0] == '\0')
            abort();
        break;
    case PRINT_CHECK_BROKEN:
        puts(why.message);
        fflush(stdout);
        abort();
    }
    return 0;
}
