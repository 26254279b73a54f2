/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes an x86-64 instruction as far as its memory operand needs. Where it is not certain
 * (gathers, scaled displacements of rare vector instructions, segments) it gives no answer.
 */
#include "scheduler/operand.h"

#if defined(__x86_64__)

#define MAP_ONE_BYTE 0
#define MAP_0F       1
#define MAP_0F38     2

struct decoder {
    const uint8_t *at; /* the next byte; the whole instruction is readable */
    const greg_t *registers;
    unsigned reg_x; /* 8 or 0, to be added to the index … */
    unsigned reg_b; /* … and to the base */
    bool is_vex;    /* VEX or EVEX */
    unsigned map;
    unsigned prefix; /* VEX and EVEX: 0 none, 1 66, 2 F3, 3 F2 */
    bool is_wide;    /* W */
    bool is_evex;
    unsigned vector_bytes; /* EVEX */
    uint8_t opcode;
};

static uint64_t read_register(const struct decoder *decoder, unsigned number)
{
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
    return (uint64_t)decoder->registers[places[number & 15]];
}

static uint64_t read_offset(struct decoder *decoder)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)*decoder->at++ << (8 * i);
    return (uint64_t)(int64_t)(int32_t)value;
}

/* False for prefixes that change what an address means. */
static bool skip_prefixes(struct decoder *decoder)
{
    for (;; decoder->at++) {
        switch (*decoder->at) {
        case 0x66:
        case 0xf2:
        case 0xf3:
        case 0xf0:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x26:
            continue;
        case 0x64: /* fs, gs, addresses of 32 bits */
        case 0x65:
        case 0x67:
            return false;
        default:
            return true;
        }
    }
}

static void read_vex(struct decoder *decoder)
{
    bool is_short = *decoder->at++ == 0xc5;
    uint8_t first = *decoder->at++;
    uint8_t last = is_short ? first : *decoder->at++;
    decoder->is_vex = true;
    decoder->map = is_short ? MAP_0F : first & 0x1f;
    decoder->reg_x = is_short || (first & 0x40) ? 0 : 8;
    decoder->reg_b = is_short || (first & 0x20) ? 0 : 8;
    decoder->prefix = last & 3;
    decoder->is_wide = !is_short && (last & 0x80);
}

static void read_evex(struct decoder *decoder)
{
    uint8_t bytes[3];
    decoder->at++;
    for (int i = 0; i < 3; i++)
        bytes[i] = *decoder->at++;
    decoder->is_vex = true;
    decoder->is_evex = true;
    decoder->map = bytes[0] & 7;
    decoder->reg_x = bytes[0] & 0x40 ? 0 : 8;
    decoder->reg_b = bytes[0] & 0x20 ? 0 : 8;
    decoder->prefix = bytes[1] & 3;
    decoder->is_wide = bytes[1] & 0x80;
    decoder->vector_bytes = 16u << (bytes[2] >> 5 & 3);
}

static void read_legacy(struct decoder *decoder)
{
    if ((*decoder->at & 0xf0) == 0x40) {
        decoder->reg_x = *decoder->at & 2 ? 8 : 0;
        decoder->reg_b = *decoder->at & 1 ? 8 : 0;
        decoder->at++;
    }
    if (*decoder->at != 0x0f)
        return;
    decoder->at++;
    decoder->map = MAP_0F;
    if (*decoder->at == 0x38 || *decoder->at == 0x3a)
        decoder->map = *decoder->at++ == 0x38 ? MAP_0F38 : 3;
}

static void read_opcode(struct decoder *decoder)
{
    if (*decoder->at == 0xc4 || *decoder->at == 0xc5)
        read_vex(decoder);
    else if (*decoder->at == 0x62)
        read_evex(decoder);
    else
        read_legacy(decoder);
    decoder->opcode = *decoder->at++;
}

/* Whether a ModRM byte follows that names memory. */
static bool has_operand(const struct decoder *decoder)
{
    uint8_t opcode = decoder->opcode;
    if (decoder->is_vex || decoder->map > MAP_0F)
        return true;
    if (decoder->map == MAP_0F)
        return (opcode >= 0x10 && opcode < 0x30) || (opcode >= 0x38 && opcode < 0x77) ||
               (opcode >= 0x78 && opcode < 0x80) || (opcode >= 0x90 && opcode < 0xa0) ||
               (opcode >= 0xa3 && opcode < 0xa6) || (opcode >= 0xab && opcode < 0xc8) ||
               opcode >= 0xd0;
    return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 ||
           opcode == 0x6b || (opcode >= 0x80 && opcode < 0x90) || opcode == 0xc0 ||
           opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
           (opcode >= 0xd0 && opcode < 0xd4) || (opcode >= 0xd8 && opcode < 0xe0) ||
           opcode == 0xf6 || opcode == 0xf7 || opcode >= 0xfe;
}

/* Gathers and scatters: the index is a vector. */
static bool has_vector_index(const struct decoder *decoder)
{
    uint8_t opcode = decoder->opcode;
    return decoder->is_vex && decoder->map == MAP_0F38 &&
           ((opcode & 0xfc) == 0x90 || (opcode & 0xfc) == 0xa0 || opcode == 0xc6 || opcode == 0xc7);
}

/* The unit of a displacement of one byte; 0: not known. Moves only. */
static unsigned displacement_unit(const struct decoder *decoder)
{
    if (!decoder->is_evex)
        return 1;
    uint8_t opcode = decoder->opcode;
    if (decoder->map != MAP_0F)
        return 0;
    bool is_scalar = (opcode == 0x10 || opcode == 0x11) && decoder->prefix >= 2;
    if (is_scalar)
        return decoder->prefix == 3 ? 8 : 4;
    bool is_move = opcode == 0x10 || opcode == 0x11 || opcode == 0x28 || opcode == 0x29 ||
                   opcode == 0x2b || opcode == 0x6f || opcode == 0x7f || opcode == 0xe7;
    return is_move ? decoder->vector_bytes : 0;
}

static bool read_memory(struct decoder *decoder, uint8_t modrm, uint64_t *address)
{
    unsigned mode = modrm >> 6;
    unsigned base = modrm & 7;
    uint64_t sum = 0;
    if (has_vector_index(decoder) || (base == 5 && mode == 0)) /* the latter: beside the code */
        return false;
    if (base == 4) {
        uint8_t sib = *decoder->at++;
        unsigned index = (sib >> 3 & 7) | decoder->reg_x;
        base = sib & 7;
        if (index != 4)
            sum = read_register(decoder, index) << (sib >> 6);
    }
    if (base == 5 && mode == 0) {
        *address = sum + read_offset(decoder);
        return true;
    }
    sum += read_register(decoder, base | decoder->reg_b);
    if (mode == 2) {
        sum += read_offset(decoder);
    } else if (mode == 1) {
        int64_t offset = (int8_t)*decoder->at++;
        unsigned unit = displacement_unit(decoder);
        if (unit == 0 && offset != 0)
            return false;
        sum += (uint64_t)(offset * (int64_t)unit);
    }
    *address = sum;
    return true;
}

/* Instructions with addresses in rsi and rdi. */
static enum sch_operand read_string(const struct decoder *decoder, uint64_t *address)
{
    uint64_t from = (uint64_t)decoder->registers[REG_RSI];
    uint64_t to = (uint64_t)decoder->registers[REG_RDI];
    uint8_t kind = decoder->opcode & 0xfe;
    bool has_from = kind == 0xa4 || kind == 0xa6 || kind == 0xac;
    bool has_to = kind == 0xa4 || kind == 0xa6 || kind == 0xaa || kind == 0xae;
    if (!has_from && !has_to)
        return SCH_OPERAND_UNKNOWN;
    *address = has_from && (!has_to || !sch_is_canonical(from)) ? from : to;
    return SCH_OPERAND_MEMORY;
}

enum sch_operand sch_operand_find(const ucontext_t *context, uint64_t *address)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)registers[REG_RIP];
    *address = pc;
    if (!sch_is_canonical(pc))
        return SCH_OPERAND_TARGET;
    struct decoder decoder = {.at = (const uint8_t *)pc, .registers = registers};
    if (!skip_prefixes(&decoder))
        return SCH_OPERAND_UNKNOWN;
    read_opcode(&decoder);
    bool is_plain = !decoder.is_vex && decoder.map == MAP_ONE_BYTE;
    if (is_plain && (decoder.opcode == 0xc3 || decoder.opcode == 0xc2)) {
        *address = *(const uint64_t *)registers[REG_RSP]; /* it has been read already */
        return SCH_OPERAND_TARGET;
    }
    if (!has_operand(&decoder))
        return is_plain ? read_string(&decoder, address) : SCH_OPERAND_UNKNOWN;
    uint8_t modrm = *decoder.at++;
    unsigned extension = modrm >> 3 & 7;
    bool is_jump = is_plain && decoder.opcode == 0xff && (extension == 2 || extension == 4);
    if (modrm >> 6 == 3) {
        *address = read_register(&decoder, (modrm & 7) | decoder.reg_b);
        return is_jump ? SCH_OPERAND_TARGET : SCH_OPERAND_UNKNOWN;
    }
    return read_memory(&decoder, modrm, address) ? SCH_OPERAND_MEMORY : SCH_OPERAND_UNKNOWN;
}

bool sch_operand_is_missing(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && info->si_addr == NULL;
}

bool sch_is_canonical(uint64_t address)
{
    return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

#else

bool sch_operand_is_missing(const siginfo_t *info)
{
    (void)info;
    return false;
}

enum sch_operand sch_operand_find(const ucontext_t *context, uint64_t *address)
{
    (void)context;
    (void)address;
    return SCH_OPERAND_UNKNOWN;
}

bool sch_is_canonical(uint64_t address)
{
    (void)address;
    return true;
}

#endif
