/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields of structures: several numbers of an element that lie side by side, at an index of 32 bits
 * that is a multiple of the element's.
 */
#include "tests/random/gen.h"

#define FIELDS_MAX 5

/* Where fields are: all behind the first one's address, or each at an index of its own. */
struct fields {
    uint32_t count; /* from element to element */
    uint32_t bytes;
    bool is_apart;
    bool is_signed;
    char address[NAME_BYTES]; /* of the first field */
};

static struct fields draw_fields(struct gen *g, uint32_t count, uint32_t bytes)
{
    struct fields fields = {.count = count, .bytes = bytes};
    fields.is_apart = dice_chance(&g->dice, 30);
    fields.is_signed = dice_chance(&g->dice, 50);
    return fields;
}

/* The address of the element's field. */
static void gen_field_address(struct gen *g, const struct fields *fields, const char *base,
                              const char *index, uint32_t field, char address[NAME_BYTES])
{
    char place[NAME_BYTES];
    char sign = fields->is_signed ? 's' : 'u';
    gen_temp(g, 32, place);
    gen_temp(g, 64, address);
    if (dice_chance(&g->dice, 50)) {
        gen_line(g, "mad.lo.u32 %s, %s, %u, %u;", place, index, fields->count, field);
        gen_line(g, "mad.wide.%c32 %s, %s, %u, %s;", sign, address, place, fields->bytes, base);
    } else {
        gen_line(g, "mul.lo.u32 %s, %s, %u;", place, index, fields->count * fields->bytes);
        gen_line(g, "add.u32 %s, %s, %u;", place, place, field * fields->bytes);
        gen_line(g, "cvt.%c64.%c32 %s, %s;", sign, sign, address, place);
        gen_line(g, "add.u64 %s, %s, %s;", address, address, base);
    }
}

/* The field's address is the first one's and an offset. */
static uint32_t find_field(struct gen *g, struct fields *fields, const char *base,
                           const char *index, uint32_t field)
{
    if (fields->is_apart || field == 0 || fields->address[0] == '\0') {
        gen_field_address(g, fields, base, index, fields->is_apart ? field : 0, fields->address);
        return fields->is_apart ? 0 : field * fields->bytes;
    }
    return field * fields->bytes;
}

void gen_fields_load(struct gen *g, const char *index)
{
    static const char *const types[] = {"u8", "u16", "", "u32"};
    uint32_t bytes = 1u << dice_below(&g->dice, 3);
    struct fields fields = draw_fields(g, 2 + dice_below(&g->dice, FIELDS_MAX - 1), bytes);
    gen_open(g);
    for (uint32_t field = 0; field < fields.count; field++) {
        char to[NAME_BYTES];
        if (dice_chance(&g->dice, 25))
            continue;
        uint32_t offset = find_field(g, &fields, "%tab", index, field);
        gen_pool(g, 32, to);
        gen_line(g, "ld.global.%s %s, [%s+%u];", types[bytes - 1], to, fields.address, offset);
    }
    gen_close(g);
}

void gen_fields_store(struct gen *g, const char *index, uint32_t words, const char *guard)
{
    struct fields fields = draw_fields(g, words, 4);
    gen_open(g);
    for (uint32_t field = 0; field < words; field++) {
        char from[NAME_BYTES];
        if (dice_chance(&g->dice, 25))
            continue;
        uint32_t offset = find_field(g, &fields, "%out", index, field);
        gen_pool(g, 32, from);
        gen_line(g, "%sst.global.u32 [%s+%u], %s;", guard, fields.address, offset, from);
    }
    gen_close(g);
}
