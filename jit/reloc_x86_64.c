/* SPDX-License-Identifier: Apache-2.0
 *
 * x86-64 relocations (System V ABI, AMD64 supplement, "Relocation Types").
 */
#include <elf.h>
#include <string.h>

#include "jit/reloc.h"

/* Prefixed (REX2) form of GOTPCRELX; newer than some systems' elf.h. */
#define TYPE_CODE_4_GOTPCRELX 43

#define STUB_BYTES            8

static enum reloc_class classify(uint32_t type)
{
    switch (type) {
    case R_X86_64_32:
        return RELOC_OFFSET;
    case R_X86_64_64:
        return RELOC_ABSOLUTE;
    case R_X86_64_PC32:
    case R_X86_64_PC64:
        return RELOC_DIRECT;
    case R_X86_64_PLT32:
        return RELOC_CALL;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
    case TYPE_CODE_4_GOTPCRELX:
        return RELOC_SLOT;
    default:
        return RELOC_UNKNOWN;
    }
}

static size_t width(uint32_t type)
{
    return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
}

static bool apply(uint32_t type, uint8_t *at, uint64_t place, uint64_t target)
{
    uint64_t value = type == R_X86_64_64 ? target : target - place;
    if (width(type) == 8) {
        memcpy(at, &value, 8);
        return true;
    }
    int32_t narrow = (int32_t)value;
    if ((uint64_t)(int64_t)narrow != value)
        return false;
    memcpy(at, &narrow, 4);
    return true;
}

/* jmp *slot(%rip), padded with int3. */
static void write_stub(uint8_t *at, uint64_t place, uint64_t slot)
{
    static const uint8_t jump[STUB_BYTES] = {0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc};
    memcpy(at, jump, sizeof jump);
    apply(R_X86_64_PC32, at + 2, place + 2, slot - 4);
}

const struct reloc_arch reloc_arch_x86_64 = {.machine = EM_X86_64,
                                             .stub_bytes = STUB_BYTES,
                                             .classify = classify,
                                             .width = width,
                                             .apply = apply,
                                             .write_stub = write_stub};

#if defined(__x86_64__)
const struct reloc_arch *reloc_arch_host(void)
{
    return &reloc_arch_x86_64;
}
#endif
