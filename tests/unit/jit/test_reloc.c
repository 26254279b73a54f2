/* SPDX-License-Identifier: Apache-2.0
 *
 * Relocations of both processors, on any of them. Expected bytes are those a linker writes.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <string.h>

#include "fixture.h"
#include "jit/elf_object.h"
#include "jit/reloc.h"

static uint32_t patch(const struct reloc_arch *arch, uint32_t type, uint32_t word, uint64_t place,
                      uint64_t target)
{
    uint8_t bytes[4];
    memcpy(bytes, &word, 4);
    cr_assert(arch->apply(type, bytes, place, target));
    memcpy(&word, bytes, 4);
    return word;
}

static bool reaches(const struct reloc_arch *arch, uint32_t type, uint64_t place, uint64_t target)
{
    uint8_t bytes[8] = {0};
    return arch->apply(type, bytes, place, target);
}

Test(reloc, x86_64_distances_are_32_bits)
{
    const struct reloc_arch *arch = &reloc_arch_x86_64;
    cr_expect_eq(patch(arch, R_X86_64_PC32, 0, 0x1000, 0x0ffc), 0xfffffffc);
    cr_expect_eq(patch(arch, R_X86_64_PLT32, 0, 0x1000, 0x80000fff), 0x7fffffff);
    cr_expect_not(reaches(arch, R_X86_64_PC32, 0x1000, 0x80001000));
    cr_expect_not(reaches(arch, R_X86_64_PC32, 0x80001001, 0x1000));
    cr_expect(reaches(arch, R_X86_64_PC64, 0x80001001, 0x1000));
}

Test(reloc, x86_64_stub_jumps_through_its_slot)
{
    uint8_t stub[8];
    reloc_arch_x86_64.write_stub(stub, 0x1000, 0x2000);
    static const uint8_t expected[8] = {0xff, 0x25, 0xfa, 0x0f, 0, 0, 0xcc, 0xcc};
    cr_expect_eq(memcmp(stub, expected, 8), 0);
}

Test(reloc, aarch64_calls_reach_128_mib)
{
    const struct reloc_arch *arch = &reloc_arch_aarch64;
    cr_expect_eq(patch(arch, R_AARCH64_CALL26, 0x94000000, 0x1000, 0x1010), 0x94000004);
    cr_expect_eq(patch(arch, R_AARCH64_JUMP26, 0x14000000, 0x1000, 0x0ffc), 0x17ffffff);
    cr_expect(reaches(arch, R_AARCH64_CALL26, 0, 0x7fffffc));
    cr_expect_not(reaches(arch, R_AARCH64_CALL26, 0, 0x8000000));
    cr_expect_not(reaches(arch, R_AARCH64_CALL26, 0, 2));
}

Test(reloc, aarch64_page_and_low_bits_make_an_address)
{
    const struct reloc_arch *arch = &reloc_arch_aarch64;
    /* adrp x0, +3 pages; adrp x0, -1 page */
    cr_expect_eq(patch(arch, R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x1ffc, 0x4010), 0xf0000000);
    cr_expect_eq(patch(arch, R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x1ffc, 0x0010), 0xf0ffffe0);
    /* add x0, x0, #0x10; ldr x1, [x0, #0x10]; ldr q0, [x0, #0x10] */
    cr_expect_eq(patch(arch, R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0, 0x4010), 0x91004000);
    cr_expect_eq(patch(arch, R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400001, 0, 0x4010), 0xf9400801);
    cr_expect_eq(patch(arch, R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0, 0x4010), 0x3dc00400);
    cr_expect_not(reaches(arch, R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x4012));
}

Test(reloc, aarch64_stub_jumps_through_its_slot)
{
    uint32_t stub[4];
    reloc_arch_aarch64.write_stub((uint8_t *)stub, 0x1000, 0x3018);
    cr_expect_eq(stub[0], 0xd0000010); // adrp x16, +2 pages
    cr_expect_eq(stub[1], 0xf9400e10); // ldr x16, [x16, #0x18]
    cr_expect_eq(stub[2], 0xd61f0200); // br x16
}

static enum pxr_status count_known(void *argument, uint32_t section, const struct elf_reloc *reloc,
                                   struct pxr_error *err)
{
    (void)section;
    (void)err;
    unsigned *count = argument;
    cr_expect_neq(reloc_arch_aarch64.classify(reloc->type), RELOC_UNKNOWN, "type %u", reloc->type);
    (*count)++;
    return PXR_OK;
}

Test(reloc, every_relocation_of_aarch64_code_is_known)
{
    struct jit_object fixture = read_fixture("good_aarch64");
    struct elf_object object;
    cr_assert_eq(elf_object_init(&object, fixture.bytes, fixture.size_bytes, NULL), PXR_OK);
    unsigned count = 0;
    for (uint32_t i = 1; i < object.section_count; i++)
        if ((object.sections[i].sh_flags & SHF_ALLOC) &&
            strcmp(elf_section_name(&object, i), ".eh_frame") != 0)
            cr_expect_eq(elf_each_reloc(&object, i, count_known, &count, NULL), PXR_OK);
    cr_expect_gt(count, 5);
    elf_object_fini(&object);
    jit_object_fini(&fixture);
}
