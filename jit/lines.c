/* SPDX-License-Identifier: Apache-2.0
 *
 * The line number program (DWARF 5, section 6.2), as far as addresses and lines go: files, columns
 * and the other registers are skipped. A row with a discriminator has a line of some source, and
 * the discriminator is its line of PTX (translator/emit/source_lines.h).
 */
#include "jit/lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX     ((size_t)1 << 24)
#define LEB128_BYTES 10

enum standard_opcode {
    LNS_EXTENDED,
    LNS_COPY,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNS_NEGATE_STMT,
    LNS_SET_BASIC_BLOCK,
    LNS_CONST_ADD_PC,
    LNS_FIXED_ADVANCE_PC
};

enum extended_opcode { LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS = 2, LNE_SET_DISCRIMINATOR = 4 };

/* Reading position; a read beyond the end gives zeros and sets is_bad. */
struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_bad;
};

/* The program's parameters from the header of a unit. */
struct unit {
    uint8_t min_inst_bytes;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    uint8_t operand_counts[256]; /* by standard opcode */
};

struct builder {
    struct jit_lines *lines;
    size_t capacity;
    uint64_t low;
    uint64_t high;
    uint64_t address; /* registers of the line number state machine */
    uint32_t line;
    uint32_t discriminator;
    bool is_out_of_memory;
};

static uint64_t read_fixed(struct cursor *cursor, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->is_bad = true;
        cursor->at = cursor->end;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)cursor->at[i] << (8 * i);
    cursor->at += bytes;
    return value;
}

static uint64_t read_uleb(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < LEB128_BYTES; i++) {
        uint64_t byte = read_fixed(cursor, 1);
        value |= (byte & 0x7f) << (7 * i);
        if (!(byte & 0x80))
            return value;
    }
    cursor->is_bad = true;
    return 0;
}

static int64_t read_sleb(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < LEB128_BYTES; i++) {
        uint64_t byte = read_fixed(cursor, 1);
        value |= (byte & 0x7f) << (7 * i);
        if (!(byte & 0x80)) {
            unsigned bits = 7 * (i + 1);
            if ((byte & 0x40) && bits < 64)
                value |= UINT64_MAX << bits;
            return (int64_t)value;
        }
    }
    cursor->is_bad = true;
    return 0;
}

/* Takes a part of the remaining bytes out of the cursor. */
static struct cursor take(struct cursor *cursor, uint64_t bytes)
{
    if (bytes > (uint64_t)(cursor->end - cursor->at)) {
        cursor->is_bad = true;
        bytes = 0;
    }
    struct cursor part = {.at = cursor->at, .end = cursor->at + bytes};
    cursor->at += bytes;
    return part;
}

/* The line of PTX; a row uses the discriminator up. */
static uint32_t take_line(struct builder *builder)
{
    uint32_t line = builder->discriminator ? builder->discriminator : builder->line;
    builder->discriminator = 0;
    return line;
}

static void add_row(struct builder *builder, uint32_t line)
{
    struct jit_lines *lines = builder->lines;
    if (builder->address < builder->low || builder->address > builder->high ||
        builder->is_out_of_memory)
        return;
    if (lines->count == builder->capacity) {
        size_t capacity = builder->capacity ? 2 * builder->capacity : 64;
        struct jit_line *rows =
            capacity <= ROWS_MAX ? realloc(lines->rows, capacity * sizeof *rows) : NULL;
        if (!rows) {
            builder->is_out_of_memory = true;
            return;
        }
        lines->rows = rows;
        builder->capacity = capacity;
    }
    lines->rows[lines->count] = (struct jit_line){
        .address = builder->address, .line = line, .order = (uint32_t)lines->count};
    lines->count++;
}

static void reset_registers(struct builder *builder)
{
    builder->address = 0;
    builder->line = 1;
    builder->discriminator = 0;
}

static void run_extended(struct builder *builder, struct cursor *cursor)
{
    struct cursor operands = take(cursor, read_uleb(cursor));
    switch (read_fixed(&operands, 1)) {
    case LNE_END_SEQUENCE:
        add_row(builder, 0);
        reset_registers(builder);
        break;
    case LNE_SET_ADDRESS:
        builder->address = read_fixed(&operands, 8);
        break;
    case LNE_SET_DISCRIMINATOR:
        builder->discriminator = (uint32_t)read_uleb(&operands);
        break;
    default:
        break;
    }
    cursor->is_bad |= operands.is_bad;
}

static uint64_t special_advance(const struct unit *unit, unsigned opcode)
{
    unsigned adjusted = opcode - unit->opcode_base;
    return (uint64_t)(adjusted / unit->line_range) * unit->min_inst_bytes;
}

static void run_special(struct builder *builder, const struct unit *unit, unsigned opcode)
{
    unsigned adjusted = opcode - unit->opcode_base;
    builder->address += special_advance(unit, opcode);
    builder->line += (uint32_t)(unit->line_base + (int)(adjusted % unit->line_range));
    add_row(builder, take_line(builder));
}

static void run_standard(struct builder *builder, const struct unit *unit, unsigned opcode,
                         struct cursor *cursor)
{
    switch (opcode) {
    case LNS_COPY:
        add_row(builder, take_line(builder));
        break;
    case LNS_ADVANCE_PC:
        builder->address += read_uleb(cursor) * unit->min_inst_bytes;
        break;
    case LNS_ADVANCE_LINE:
        builder->line += (uint32_t)read_sleb(cursor);
        break;
    case LNS_CONST_ADD_PC:
        builder->address += special_advance(unit, 255);
        break;
    case LNS_FIXED_ADVANCE_PC:
        builder->address += read_fixed(cursor, 2);
        break;
    default:
        for (unsigned i = 0; i < unit->operand_counts[opcode]; i++)
            read_uleb(cursor);
        break;
    }
}

static void run_program(struct builder *builder, const struct unit *unit, struct cursor *cursor)
{
    reset_registers(builder);
    while (cursor->at < cursor->end && !cursor->is_bad) {
        unsigned opcode = (unsigned)read_fixed(cursor, 1);
        if (opcode >= unit->opcode_base)
            run_special(builder, unit, opcode);
        else if (opcode == LNS_EXTENDED)
            run_extended(builder, cursor);
        else
            run_standard(builder, unit, opcode, cursor);
    }
}

/* The unit's header; the cursor then stands at its program. */
static bool read_header(struct unit *unit, struct cursor *cursor, size_t offset_bytes)
{
    uint64_t version = read_fixed(cursor, 2);
    uint64_t address_bytes = read_fixed(cursor, 1);
    uint64_t selector_bytes = read_fixed(cursor, 1);
    struct cursor header = take(cursor, read_fixed(cursor, offset_bytes));
    unit->min_inst_bytes = (uint8_t)read_fixed(&header, 1);
    read_fixed(&header, 1); /* maximum_operations_per_instruction */
    read_fixed(&header, 1); /* default_is_stmt */
    unit->line_base = (int8_t)read_fixed(&header, 1);
    unit->line_range = (uint8_t)read_fixed(&header, 1);
    unit->opcode_base = (uint8_t)read_fixed(&header, 1);
    for (unsigned i = 1; i < unit->opcode_base; i++)
        unit->operand_counts[i] = (uint8_t)read_fixed(&header, 1);
    return !cursor->is_bad && !header.is_bad && version == 5 && address_bytes == 8 &&
           selector_bytes == 0 && unit->line_range != 0 && unit->opcode_base != 0;
}

static bool run_unit(struct builder *builder, struct cursor *cursor)
{
    size_t offset_bytes = 4;
    uint64_t unit_bytes = read_fixed(cursor, 4);
    if (unit_bytes == UINT32_MAX) { // the 64-bit format
        offset_bytes = 8;
        unit_bytes = read_fixed(cursor, 8);
    }
    struct cursor part = take(cursor, unit_bytes);
    struct unit unit = {0};
    if (cursor->is_bad || !read_header(&unit, &part, offset_bytes))
        return false;
    run_program(builder, &unit, &part);
    return !part.is_bad;
}

/* By address; where a sequence ends and another begins, the end comes first and is then dropped. */
static int compare_rows(const void *a, const void *b)
{
    const struct jit_line *x = a;
    const struct jit_line *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if ((x->line == 0) != (y->line == 0))
        return x->line == 0 ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Of several rows with one address the last holds. */
static void drop_shadowed(struct jit_lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (i + 1 == lines->count || lines->rows[i].address != lines->rows[i + 1].address)
            lines->rows[kept++] = lines->rows[i];
    lines->count = kept;
}

enum pxr_status jit_lines_init(struct jit_lines *lines, const uint8_t *section, size_t size_bytes,
                               uint64_t low, uint64_t high, struct pxr_error *err)
{
    *lines = (struct jit_lines){0};
    struct builder builder = {.lines = lines, .low = low, .high = high};
    struct cursor cursor = {.at = section, .end = section + size_bytes};
    enum pxr_status status = PXR_OK;
    while (cursor.at < cursor.end && status == PXR_OK)
        if (!run_unit(&builder, &cursor))
            status = pxr_fail(err, PXR_COMPILE_FAILED, "the line table of the code is damaged");
    if (status == PXR_OK && builder.is_out_of_memory)
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for the line table of the code");
    if (status != PXR_OK) {
        jit_lines_fini(lines);
        return status;
    }
    if (lines->count > 0) {
        qsort(lines->rows, lines->count, sizeof *lines->rows, compare_rows);
        drop_shadowed(lines);
    }
    return PXR_OK;
}

void jit_lines_fini(struct jit_lines *lines)
{
    free(lines->rows);
    *lines = (struct jit_lines){0};
}

uint32_t jit_lines_find(const struct jit_lines *lines, uint64_t address)
{
    size_t first = 0;
    size_t end = lines->count; // the answer is the row before the first one above address
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (lines->rows[middle].address <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first > 0 ? lines->rows[first - 1].line : 0;
}
