/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that a device program may call without defining them: vprintf, malloc, free and
 * __assertfail, as the CUDA programming guide describes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/machine.h"

#define MAX_STRING_BYTES 4096
#define MAX_FIELD_BYTES  512
#define MAX_HEAP_BYTES   (UINT64_C(64) << 20) /* of one allocation */

/* ---- arguments and results ---- */

static uint64_t argument(struct oracle_thread *thread, const struct ptx_inst *inst, uint32_t i)
{
    const struct ptx_operand *operand = &inst->call->args[i];
    uint64_t value = 0;
    uint64_t size_bytes;

    if (operand->kind != PTX_OPERAND_VAR || operand->var->space != PTX_SPACE_PARAM)
        return oracle_read_operand(thread, operand, PTX_TYPE_B64).u64;
    size_bytes = operand->var->size_bytes < 8 ? operand->var->size_bytes : 8;
    memcpy(&value, thread->local + oracle_var_address(thread, operand->var), size_bytes);
    return value;
}

static void give_result(struct oracle_thread *thread, const struct ptx_inst *inst, uint64_t value)
{
    const struct ptx_operand *operand;
    uint64_t size_bytes;

    if (inst->call->ret_count == 0)
        return;
    operand = &inst->call->rets[0];
    if (operand->kind != PTX_OPERAND_VAR || operand->var->space != PTX_SPACE_PARAM) {
        oracle_write_operand(thread, operand, PTX_TYPE_B64, (union oracle_value){.u64 = value});
        return;
    }
    size_bytes = operand->var->size_bytes < 8 ? operand->var->size_bytes : 8;
    memcpy(thread->local + oracle_var_address(thread, operand->var), &value, size_bytes);
}

/* ---- reading what pointers point to ---- */

static enum pxr_status load(struct oracle_thread *thread, const struct ptx_inst *inst,
                            uint64_t address, unsigned size_bytes, uint64_t *value)
{
    uint8_t *host;
    enum pxr_status status =
        oracle_resolve(thread, inst, PTX_SPACE_NONE, address, size_bytes, ORACLE_LOAD, &host, NULL);

    *value = 0;
    if (status == PXR_OK)
        memcpy(value, host, size_bytes);
    return status;
}

/* At most MAX_STRING_BYTES with the NUL that is always put behind. */
static enum pxr_status load_string(struct oracle_thread *thread, const struct ptx_inst *inst,
                                   uint64_t address, char *text)
{
    for (unsigned i = 0; i < MAX_STRING_BYTES - 1; i++) {
        uint64_t value;
        enum pxr_status status = load(thread, inst, address + i, 1, &value);

        text[i] = (char)value;
        if (status != PXR_OK || value == 0)
            return status;
    }
    text[MAX_STRING_BYTES - 1] = '\0';
    return PXR_OK;
}

/* ---- vprintf ---- */

static bool append_log(struct oracle *oracle, const char *text, size_t size_bytes)
{
    if (oracle->log_bytes + size_bytes + 1 > oracle->log_capacity) {
        size_t capacity = (oracle->log_bytes + size_bytes + 1) * 2;
        char *grown = realloc(oracle->log, capacity);

        if (!grown)
            return false;
        oracle->log = grown;
        oracle->log_capacity = capacity;
    }
    memcpy(oracle->log + oracle->log_bytes, text, size_bytes);
    oracle->log_bytes += size_bytes;
    oracle->log[oracle->log_bytes] = '\0';
    return true;
}

/* One conversion of a format. */
struct field {
    char flags[32];  /* from the percent sign up to the length modifier, '*' replaced */
    bool is_long;    /* 8 bytes instead of 4 for an integer */
    char conversion; /* 0 at the end of the text */
};

/* The argument buffer: each argument at its natural alignment, integers and characters in 4 bytes
 * unless long, floating point as double, pointers in 8. */
struct printer {
    struct oracle_thread *thread;
    const struct ptx_inst *inst;
    uint64_t args;
    int32_t count;
};

static enum pxr_status next_argument(struct printer *printer, unsigned size_bytes, uint64_t *value)
{
    printer->args = (printer->args + size_bytes - 1) / size_bytes * size_bytes;
    printer->args += size_bytes;
    printer->count++;
    return load(printer->thread, printer->inst, printer->args - size_bytes, size_bytes, value);
}

static void add_char(struct field *field, char c)
{
    size_t len = strlen(field->flags);

    if (len + 1 < sizeof(field->flags))
        field->flags[len] = c;
}

/* field = "%" ("-" | "+" | " " | "#" | "0" | digit | "." | "*")* ("h" | "l" | …)* conversion */
static enum pxr_status parse_field(struct printer *printer, const char **cur, struct field *field)
{
    *field = (struct field){.flags = "%"};
    for ((*cur)++; **cur && strchr("-+ #0123456789.*", **cur); (*cur)++) {
        char number[16];
        uint64_t value;
        enum pxr_status status;

        if (**cur != '*') {
            add_char(field, **cur);
            continue;
        }
        status = next_argument(printer, 4, &value);
        if (status != PXR_OK)
            return status;
        snprintf(number, sizeof(number), "%d", (int32_t)value);
        for (const char *c = number; *c; c++)
            add_char(field, *c);
    }
    for (; **cur && strchr("hljztL", **cur); (*cur)++)
        field->is_long |= **cur != 'h' && **cur != 'L';
    field->conversion = **cur;
    if (**cur)
        (*cur)++;
    return PXR_OK;
}

static enum pxr_status print_string(struct printer *printer, const struct field *field, char *text)
{
    char format[sizeof(field->flags) + 4];
    char string[MAX_STRING_BYTES];
    uint64_t address;
    enum pxr_status status = next_argument(printer, 8, &address);

    if (status == PXR_OK)
        status = load_string(printer->thread, printer->inst, address, string);
    if (status != PXR_OK)
        return status;
    snprintf(format, sizeof(format), "%ss", field->flags);
    snprintf(text, MAX_STRING_BYTES, format, string);
    return PXR_OK;
}

static enum pxr_status print_number(struct printer *printer, const struct field *field, char *text)
{
    bool is_float = strchr("aAeEfFgG", field->conversion) != NULL;
    bool is_wide = is_float || field->is_long || field->conversion == 'p';
    char format[sizeof(field->flags) + 4];
    union oracle_value value = {0};
    enum pxr_status status = next_argument(printer, is_wide ? 8 : 4, &value.u64);

    if (status != PXR_OK)
        return status;
    snprintf(format, sizeof(format), "%s%s%c", field->flags,
             is_wide && !is_float && field->conversion != 'p' ? "ll" : "", field->conversion);
    if (is_float)
        snprintf(text, MAX_STRING_BYTES, format, value.f64);
    else if (field->conversion == 'p')
        snprintf(text, MAX_STRING_BYTES, format, (void *)(uintptr_t)value.u64);
    else if (is_wide)
        snprintf(text, MAX_STRING_BYTES, format, value.u64);
    else
        snprintf(text, MAX_STRING_BYTES, format, value.u32);
    return PXR_OK;
}

static enum pxr_status print_field(struct printer *printer, const struct field *field, char *text)
{
    text[0] = '\0';
    if (field->conversion == '%')
        strcpy(text, "%");
    else if (field->conversion == 's')
        return print_string(printer, field, text);
    else if (field->conversion && strchr("diouxXcpaAeEfFgG", field->conversion))
        return print_number(printer, field, text);
    return PXR_OK;
}

static enum pxr_status print_format(struct printer *printer, const char *format)
{
    struct oracle *oracle = printer->thread->oracle;

    while (*format) {
        size_t plain = strcspn(format, "%");
        char text[MAX_STRING_BYTES];
        struct field field;
        enum pxr_status status;

        if (!append_log(oracle, format, plain))
            return PXR_OUT_OF_MEMORY;
        format += plain;
        if (!*format)
            break;
        status = parse_field(printer, &format, &field);
        if (status == PXR_OK)
            status = print_field(printer, &field, text);
        if (status == PXR_OK && !append_log(oracle, text, strlen(text)))
            status = PXR_OUT_OF_MEMORY;
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status call_vprintf(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct printer printer = {thread, inst, argument(thread, inst, 1), 0};
    char format[MAX_STRING_BYTES];
    enum pxr_status status = load_string(thread, inst, argument(thread, inst, 0), format);

    if (status == PXR_OK)
        status = print_format(&printer, format);
    if (status == PXR_OUT_OF_MEMORY)
        return oracle_fail(thread, inst, status, "not enough memory for printed text");
    give_result(thread, inst, (uint32_t)printer.count);
    return status;
}

/* ---- the heap ---- */

/* Allocations are 16 bytes aligned; 0 when there is no memory. */
static enum pxr_status call_malloc(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct oracle *oracle = thread->oracle;
    uint64_t size_bytes = argument(thread, inst, 0);
    void *memory = NULL;

    if (size_bytes <= MAX_HEAP_BYTES)
        memory = aligned_alloc(16, (size_bytes + 16) / 16 * 16);
    if (memory && !oracle_add_range(oracle, (struct oracle_range){.base = (uintptr_t)memory,
                                                                  .size_bytes = size_bytes,
                                                                  .is_heap = true})) {
        free(memory);
        memory = NULL;
    }
    if (memory)
        oracle_fill_pattern(oracle, memory, size_bytes);
    give_result(thread, inst, (uint64_t)(uintptr_t)memory);
    return PXR_OK;
}

static enum pxr_status call_free(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint64_t address = argument(thread, inst, 0);

    if (address == 0)
        return PXR_OK;
    if (!oracle_remove_heap_range(thread->oracle, address))
        return oracle_fail(thread, inst, PXR_FAULT_ADDRESS, "0x%llx was not allocated",
                           (unsigned long long)address);
    free((void *)(uintptr_t)address);
    return PXR_OK;
}

/* __assertfail(message, file, line, function, bytes of a character) */
static enum pxr_status call_assertfail(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    char message[MAX_STRING_BYTES];
    enum pxr_status status = load_string(thread, inst, argument(thread, inst, 0), message);

    if (status != PXR_OK)
        return status;
    return oracle_fail(thread, inst, PXR_FAULT_ASSERT, "assertion '%.*s' failed", MAX_FIELD_BYTES,
                       message);
}

/* ---- the list ---- */

enum pxr_status oracle_call_external(struct oracle_thread *thread, const struct ptx_inst *inst,
                                     const struct ptx_func *func)
{
    static const struct {
        const char *name;
        uint32_t arg_count;
        enum pxr_status (*call)(struct oracle_thread *thread, const struct ptx_inst *inst);
    } functions[] = {
        {"vprintf", 2, call_vprintf},
        {"malloc", 1, call_malloc},
        {"free", 1, call_free},
        {"__assertfail", 5, call_assertfail},
    };

    for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(func->name, functions[i].name) == 0 &&
            inst->call->arg_count == functions[i].arg_count)
            return functions[i].call(thread, inst);
    return oracle_fail(thread, inst, PXR_UNSUPPORTED, "function '%s' has no body", func->name);
}
