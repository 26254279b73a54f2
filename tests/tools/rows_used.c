/* SPDX-License-Identifier: Apache-2.0
 *
 * rows_used FILE…: the rows of the op table that PTX files use, one name per line.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"

static const char *const ROW_NAMES[] = {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity) #ID,
#include "ptx/ops.def"
#undef OP
};

static void mark_rows(const struct ptx_module *module, bool used[PTX_OP_COUNT])
{
    for (uint32_t i = 0; i < module->func_count; i++) {
        const struct ptx_func *func = module->funcs[i];
        for (uint32_t k = 0; k < func->stmt_count; k++)
            if (func->stmts[k].kind == PTX_STMT_INST)
                used[func->stmts[k].inst.op] = true;
    }
}

static bool mark_file(const char *path, bool used[PTX_OP_COUNT])
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = fopen(path, "rb");
    if (!file || getdelim(&text, &len, '\0', file) < 0) {
        fprintf(stderr, "rows_used: cannot read '%s'\n", path);
        return false;
    }
    fclose(file);
    struct ptx_module *module;
    struct pxr_error err;
    bool is_good = ptx_parse(pxr_str_from(text), path, &module, &err) == PXR_OK;
    if (is_good) {
        mark_rows(module, used);
        ptx_module_destroy(module);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    free(text);
    return is_good;
}

int main(int argc, char **argv)
{
    bool used[PTX_OP_COUNT] = {0};
    bool is_good = true;
    for (int i = 1; i < argc; i++)
        is_good &= mark_file(argv[i], used);
    for (int op = 0; op < PTX_OP_COUNT; op++)
        if (used[op])
            puts(ROW_NAMES[op]);
    return is_good ? 0 : 1;
}
