/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over a module's calls. Functions of the device runtime have no body anywhere: they are
 * served by the translator, or refused by name when a kernel that calls them is launched.
 */
#include "ptx/unresolved.h"

/* System calls, and all names that begin as those of the runtime for launches by kernels do. */
static bool is_of_runtime(const char *name)
{
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
    static const char *const prefixes[] = {"cuda", "__cuda", "cnp"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static const struct ptx_func *unresolved_callee(const struct ptx_stmt *stmt)
{
    const struct ptx_func *callee;

    if (stmt->kind != PTX_STMT_INST || !stmt->inst.call ||
        stmt->inst.call->callee.kind != PTX_OPERAND_FUNC)
        return NULL;
    callee = stmt->inst.call->callee.func;
    return callee->has_body || is_of_runtime(callee->name) ? NULL : callee;
}

enum pxr_status ptx_check_resolved(const struct ptx_module *module, struct pxr_error *err)
{
    for (uint32_t i = 0; i < module->func_count; i++) {
        const struct ptx_func *func = module->funcs[i];

        for (uint32_t j = 0; j < func->stmt_count; j++) {
            const struct ptx_func *callee = unresolved_callee(&func->stmts[j]);
            const struct ptx_inst *inst = &func->stmts[j].inst;

            if (callee)
                return pxr_fail_at(err, PXR_BAD_PTX, inst->line, inst->column,
                                   "%s:%d:%d: error: Unresolved extern function '%s', called by "
                                   "'%s'",
                                   module->source_name, inst->line, inst->column, callee->name,
                                   func->name);
        }
    }
    return PXR_OK;
}
