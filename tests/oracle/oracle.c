/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and destroying an oracle, its errors and the small services that every part uses.
 */
#include "tests/oracle/oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/machine.h"

/* ---- services ---- */

/* xorshift64* */
uint64_t oracle_random(struct oracle *oracle)
{
    uint64_t x = oracle->random;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    oracle->random = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

void oracle_fill_pattern(const struct oracle *oracle, void *memory, size_t size_bytes)
{
    if (size_bytes > 0)
        memset(memory, (int)(oracle->launch->seed * 0x9d & 0xff), size_bytes);
}

bool oracle_grow(void *array, uint32_t *capacity, uint32_t needed, size_t item_bytes)
{
    void **items = array;
    uint64_t wanted = *capacity ? *capacity : 16;
    void *grown;

    if (needed <= *capacity)
        return true;
    while (wanted < needed)
        wanted *= 2;
    if (wanted > UINT32_MAX)
        return false;
    grown = realloc(*items, wanted * item_bytes);
    if (!grown)
        return false;
    *items = grown;
    *capacity = (uint32_t)wanted;
    return true;
}

/* ---- errors ---- */

enum pxr_status oracle_fail(struct oracle_thread *thread, const struct ptx_inst *inst,
                            enum pxr_status status, const char *format, ...)
{
    const struct oracle *oracle = thread->oracle;
    const uint32_t *ctaid = thread->block->ctaid;
    char message[PXR_ERROR_MESSAGE_BYTES / 2];
    struct pxr_str text = inst ? inst->text : pxr_str_from("(end)");
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return pxr_fail_at(oracle->err, status, inst ? inst->line : 0, inst ? inst->column : 0,
                       "kernel '%s', line %d, '%.*s', block (%u,%u,%u), thread (%u,%u,%u): %s",
                       oracle->kernel->name, inst ? inst->line : 0, PXR_STR_ARG(text), ctaid[0],
                       ctaid[1], ctaid[2], thread->tid[0], thread->tid[1], thread->tid[2], message);
}

enum pxr_status oracle_refuse(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_fail(thread, inst, PXR_UNSUPPORTED, "the oracle has no body for '%.*s'",
                       PXR_STR_ARG(inst->text));
}

/* ---- life ---- */

static bool number_handles(struct oracle *oracle)
{
    const struct ptx_module *module = oracle->module;

    oracle->handle_funcs = calloc(module->func_count + 1U, sizeof(*oracle->handle_funcs));
    if (!oracle->handle_funcs)
        return false;
    for (uint32_t i = 0; i < module->func_count; i++) {
        int64_t handle = ptx_func_handle(module, module->funcs[i]);
        uint64_t place = ((uint64_t)handle - PTX_FUNC_HANDLE_BASE) / PTX_FUNC_HANDLE_STEP;

        if (handle < 0 || place >= module->func_count)
            continue;
        oracle->handle_funcs[place] = module->funcs[i];
        if (place >= oracle->handle_count)
            oracle->handle_count = (uint32_t)place + 1;
    }
    return true;
}

enum pxr_status oracle_create(const struct ptx_module *module, struct oracle **oracle,
                              struct pxr_error *err)
{
    struct oracle *made = calloc(1, sizeof(*made));
    enum pxr_status status;

    *oracle = NULL;
    if (!made)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory for an oracle");
    made->module = module;
    made->codes = calloc(module->func_count + 1U, sizeof(struct oracle_code *));
    made->vars = calloc(module->var_count + 1U, sizeof(uint8_t *));
    made->module_places = calloc(module->var_count + 1U, sizeof(uint32_t));
    if (!made->codes || !made->vars || !made->module_places || !number_handles(made))
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory for an oracle");
    else if (module->address_bits != 64)
        status = pxr_fail(err, PXR_UNSUPPORTED, "the oracle has 64-bit addresses only");
    else
        status = oracle_init_vars(made, err);
    if (status != PXR_OK) {
        oracle_destroy(made);
        return status;
    }
    *oracle = made;
    return PXR_OK;
}

void oracle_destroy(struct oracle *oracle)
{
    if (!oracle)
        return;
    for (uint32_t i = 0; i < oracle->module->func_count; i++)
        if (oracle->codes)
            oracle_code_destroy(oracle->codes[i]);
    for (uint32_t i = 0; i < oracle->module->var_count; i++)
        if (oracle->vars)
            free(oracle->vars[i]);
    for (uint32_t i = 0; i < oracle->range_count; i++)
        if (oracle->ranges[i].is_heap)
            free((void *)(uintptr_t)oracle->ranges[i].base);
    free(oracle->codes);
    free(oracle->handle_funcs);
    free(oracle->vars);
    free(oracle->module_places);
    free(oracle->ranges);
    free(oracle->log);
    free(oracle);
}

void oracle_allow(struct oracle *oracle, void *base, size_t size_bytes)
{
    struct oracle_range range = {.base = (uint64_t)(uintptr_t)base, .size_bytes = size_bytes};

    for (uint32_t i = 0; i < oracle->range_count; i++) {
        if (oracle->ranges[i].is_allowed && oracle->ranges[i].base == range.base) {
            oracle->ranges[i].size_bytes = size_bytes;
            return;
        }
    }
    range.is_allowed = true;
    if (!oracle_add_range(oracle, range))
        oracle->is_out_of_memory = true;
}

void oracle_forbid_all(struct oracle *oracle)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < oracle->range_count; i++)
        if (!oracle->ranges[i].is_allowed)
            oracle->ranges[kept++] = oracle->ranges[i];
    oracle->range_count = kept;
}

void *oracle_var(struct oracle *oracle, const char *name, size_t *size_bytes)
{
    const struct ptx_var *var = ptx_find_var(oracle->module, name);

    if (!var || !oracle->vars[var->index])
        return NULL;
    if (size_bytes)
        *size_bytes = var->size_bytes;
    return oracle->vars[var->index];
}

const char *oracle_log(const struct oracle *oracle)
{
    return oracle->log ? oracle->log : "";
}
