/* SPDX-License-Identifier: Apache-2.0
 *
 * AArch64 relocations (ELF for the Arm 64-bit Architecture, "Relocation").
 */
#include <elf.h>
#include <string.h>

#include "jit/reloc.h"

#define STUB_BYTES 16
#define PAGE_MASK  UINT64_C(0xfff)

/* The place of a value in an instruction or a word. */
enum form {
    FORM_NONE,
    FORM_WORD64_ABSOLUTE,
    FORM_WORD64,
    FORM_WORD32,
    FORM_BRANCH, /* bits field_bits wide at bit field_shift, in units of 4 bytes */
    FORM_ADR,    /* immhi:immlo, bytes */
    FORM_PAGE,   /* immhi:immlo, pages */
    FORM_LOW12   /* bits 10..21: low 12 bits of the target, in units of 1 << scale */
};

struct type_info {
    uint32_t type;
    enum reloc_class class;
    enum form form;
    uint8_t field_bits;
    uint8_t field_shift;
    uint8_t scale;
};

/* Code of the large model puts an address together from four instructions: known, so that it is
 * refused by name. */
static const struct type_info types[] = {
    {R_AARCH64_ABS32, RELOC_OFFSET, FORM_NONE, 0, 0, 0},
    {R_AARCH64_ABS64, RELOC_ABSOLUTE, FORM_WORD64_ABSOLUTE, 0, 0, 0},
    {R_AARCH64_MOVW_UABS_G0_NC, RELOC_ABSOLUTE, FORM_NONE, 0, 0, 0},
    {R_AARCH64_MOVW_UABS_G1_NC, RELOC_ABSOLUTE, FORM_NONE, 0, 0, 0},
    {R_AARCH64_MOVW_UABS_G2_NC, RELOC_ABSOLUTE, FORM_NONE, 0, 0, 0},
    {R_AARCH64_MOVW_UABS_G3, RELOC_ABSOLUTE, FORM_NONE, 0, 0, 0},
    {R_AARCH64_PREL64, RELOC_DIRECT, FORM_WORD64, 0, 0, 0},
    {R_AARCH64_PREL32, RELOC_DIRECT, FORM_WORD32, 0, 0, 0},
    {R_AARCH64_LD_PREL_LO19, RELOC_DIRECT, FORM_BRANCH, 19, 5, 0},
    {R_AARCH64_ADR_PREL_LO21, RELOC_DIRECT, FORM_ADR, 0, 0, 0},
    {R_AARCH64_ADR_PREL_PG_HI21, RELOC_DIRECT, FORM_PAGE, 0, 0, 0},
    {R_AARCH64_ADD_ABS_LO12_NC, RELOC_DIRECT, FORM_LOW12, 0, 0, 0},
    {R_AARCH64_LDST8_ABS_LO12_NC, RELOC_DIRECT, FORM_LOW12, 0, 0, 0},
    {R_AARCH64_LDST16_ABS_LO12_NC, RELOC_DIRECT, FORM_LOW12, 0, 0, 1},
    {R_AARCH64_LDST32_ABS_LO12_NC, RELOC_DIRECT, FORM_LOW12, 0, 0, 2},
    {R_AARCH64_LDST64_ABS_LO12_NC, RELOC_DIRECT, FORM_LOW12, 0, 0, 3},
    {R_AARCH64_LDST128_ABS_LO12_NC, RELOC_DIRECT, FORM_LOW12, 0, 0, 4},
    {R_AARCH64_TSTBR14, RELOC_DIRECT, FORM_BRANCH, 14, 5, 0},
    {R_AARCH64_CONDBR19, RELOC_DIRECT, FORM_BRANCH, 19, 5, 0},
    {R_AARCH64_JUMP26, RELOC_CALL, FORM_BRANCH, 26, 0, 0},
    {R_AARCH64_CALL26, RELOC_CALL, FORM_BRANCH, 26, 0, 0},
    {R_AARCH64_ADR_GOT_PAGE, RELOC_SLOT, FORM_PAGE, 0, 0, 0},
    {R_AARCH64_LD64_GOT_LO12_NC, RELOC_SLOT, FORM_LOW12, 0, 0, 3},
};

static const struct type_info *find_type(uint32_t type)
{
    static const struct type_info unknown = {0, RELOC_UNKNOWN, FORM_NONE, 0, 0, 0};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type)
            return &types[i];
    return &unknown;
}

static enum reloc_class classify(uint32_t type)
{
    return find_type(type)->class;
}

static size_t width(uint32_t type)
{
    enum form form = find_type(type)->form;
    return form == FORM_WORD64 || form == FORM_WORD64_ABSOLUTE ? 8 : 4;
}

static bool fits(int64_t value, unsigned bits)
{
    int64_t limit = INT64_C(1) << (bits - 1);
    return value >= -limit && value < limit;
}

/* Replaces `bits` bits at `shift` of the instruction at `at`. */
static void put_field(uint8_t *at, unsigned shift, unsigned bits, uint64_t value)
{
    uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1) << shift;
    uint32_t word;
    memcpy(&word, at, 4);
    word = (word & ~mask) | ((uint32_t)value << shift & mask);
    memcpy(at, &word, 4);
}

/* ADR and ADRP split a 21-bit value: two low bits at 29, the others at 5. */
static bool put_adr(uint8_t *at, int64_t value)
{
    if (!fits(value, 21))
        return false;
    put_field(at, 29, 2, (uint64_t)value & 3);
    put_field(at, 5, 19, (uint64_t)value >> 2);
    return true;
}

static bool put_low12(uint8_t *at, unsigned scale, uint64_t target)
{
    uint64_t low = target & PAGE_MASK;
    if (low & ((UINT64_C(1) << scale) - 1))
        return false;
    put_field(at, 10, 12, low >> scale);
    return true;
}

static bool apply(uint32_t type, uint8_t *at, uint64_t place, uint64_t target)
{
    const struct type_info *info = find_type(type);
    int64_t distance = (int64_t)(target - place);
    int32_t narrow = (int32_t)distance;
    switch (info->form) {
    case FORM_WORD64_ABSOLUTE:
        memcpy(at, &target, 8);
        return true;
    case FORM_WORD64:
        memcpy(at, &distance, 8);
        return true;
    case FORM_WORD32:
        memcpy(at, &narrow, 4);
        return narrow == distance;
    case FORM_BRANCH:
        put_field(at, info->field_shift, info->field_bits, (uint64_t)distance >> 2);
        return (distance & 3) == 0 && fits(distance / 4, info->field_bits);
    case FORM_ADR:
        return put_adr(at, distance);
    case FORM_PAGE:
        return put_adr(at, (int64_t)((target & ~PAGE_MASK) - (place & ~PAGE_MASK)) / 4096);
    case FORM_LOW12:
        return put_low12(at, info->scale, target);
    case FORM_NONE:
        break;
    }
    return false;
}

/* adrp x16, slot; ldr x16, [x16, :lo12:slot]; br x16; brk #1 */
static void write_stub(uint8_t *at, uint64_t place, uint64_t slot)
{
    static const uint32_t code[STUB_BYTES / 4] = {0x90000010, 0xf9400210, 0xd61f0200, 0xd4200020};
    memcpy(at, code, sizeof code);
    apply(R_AARCH64_ADR_GOT_PAGE, at, place, slot);
    apply(R_AARCH64_LD64_GOT_LO12_NC, at + 4, place + 4, slot);
}

const struct reloc_arch reloc_arch_aarch64 = {.machine = EM_AARCH64,
                                              .stub_bytes = STUB_BYTES,
                                              .classify = classify,
                                              .width = width,
                                              .apply = apply,
                                              .write_stub = write_stub};

#if defined(__aarch64__)
const struct reloc_arch *reloc_arch_host(void)
{
    return &reloc_arch_aarch64;
}
#endif
