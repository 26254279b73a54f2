/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of memory operands, read from instructions. Each was assembled by hand of the manual's
 * tables, as an assembler would do it.
 */
#include <string.h>

#include "scheduler/operand.h"
#include "support.h"

#if defined(__x86_64__)

/* Registers hold 0x1000 times their number plus one, so that every address shows what it is made
 * of. */
static ucontext_t make_context(const uint8_t *code)
{
    static const int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15};
    ucontext_t context = {.uc_flags = 0};
    for (int i = 0; i < 16; i++)
        context.uc_mcontext.gregs[places[i]] = (i + 1) * 0x1000;
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)code;
    return context;
}

struct instruction {
    const char *text;
    const uint8_t *code;
    enum sch_operand kind;
    uint64_t address;
};

#define CODE(...) ((const uint8_t[16]){__VA_ARGS__})

Test(operand, addresses_are_read_from_instructions)
{
    const struct instruction cases[] = {
        {"mov eax, [rcx]", CODE(0x8b, 0x01), SCH_OPERAND_MEMORY, 0x2000},
        {"mov [rcx+8], eax", CODE(0x89, 0x41, 0x08), SCH_OPERAND_MEMORY, 0x2008},
        {"mov dword [rbp-4], 1", CODE(0xc7, 0x45, 0xfc, 1), SCH_OPERAND_MEMORY, 0x5ffc},
        {"mov rax, [r9+r10*8]", CODE(0x4b, 0x8b, 0x04, 0xd1), SCH_OPERAND_MEMORY, 0x62000},
        {"mov eax, [rsp]", CODE(0x8b, 0x04, 0x24), SCH_OPERAND_MEMORY, 0x5000},
        {"mov eax, [r12]", CODE(0x41, 0x8b, 0x04, 0x24), SCH_OPERAND_MEMORY, 0xd000},
        {"mov eax, [rax+r12]", CODE(0x42, 0x8b, 0x04, 0x20), SCH_OPERAND_MEMORY, 0xe000},
        {"mov eax, [rcx*4+0x10]", CODE(0x8b, 0x04, 0x8d, 0x10), SCH_OPERAND_MEMORY, 0x8010},
        {"mov eax, [rdx-0x1000]", CODE(0x8b, 0x82, 0x00, 0xf0, 0xff, 0xff), SCH_OPERAND_MEMORY,
         0x2000},
        {"movzx eax, word [rdx]", CODE(0x0f, 0xb7, 0x02), SCH_OPERAND_MEMORY, 0x3000},
        {"lock xadd [rdi], eax", CODE(0xf0, 0x0f, 0xc1, 0x07), SCH_OPERAND_MEMORY, 0x8000},
        {"movaps xmm0, [rsi]", CODE(0x0f, 0x28, 0x06), SCH_OPERAND_MEMORY, 0x7000},
        {"movss [rcx+4], xmm0", CODE(0xf3, 0x0f, 0x11, 0x41, 4), SCH_OPERAND_MEMORY, 0x2004},
        {"crc32 eax, dword [rdx]", CODE(0xf2, 0x0f, 0x38, 0xf1, 0x02), SCH_OPERAND_MEMORY, 0x3000},
        {"vmovups ymm0, [rcx+8]", CODE(0xc5, 0xfc, 0x10, 0x41, 0x08), SCH_OPERAND_MEMORY, 0x2008},
        {"vmovups xmm0, [r9+r10]", CODE(0xc4, 0x81, 0x78, 0x10, 0x04, 0x11), SCH_OPERAND_MEMORY,
         0x15000},
        {"vmovups zmm0, [rcx+64]", CODE(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x41, 0x01),
         SCH_OPERAND_MEMORY, 0x2040},
        {"vmovss [rcx+4], xmm16", CODE(0x62, 0xe1, 0x7e, 0x08, 0x11, 0x41, 0x01),
         SCH_OPERAND_MEMORY, 0x2004},
        {"vaddps zmm0, zmm0, [rcx]", CODE(0x62, 0xf1, 0x7c, 0x48, 0x58, 0x01), SCH_OPERAND_MEMORY,
         0x2000},
        {"vaddps zmm0, zmm0, [rcx+64]", CODE(0x62, 0xf1, 0x7c, 0x48, 0x58, 0x41, 0x01),
         SCH_OPERAND_UNKNOWN, 0},
        {"vpgatherdd ymm0, [rax+ymm1*4], ymm2", CODE(0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88),
         SCH_OPERAND_UNKNOWN, 0},
        {"mov eax, fs:[rax]", CODE(0x64, 0x8b, 0x00), SCH_OPERAND_UNKNOWN, 0},
        {"mov eax, [rip+16]", CODE(0x8b, 0x05, 0x10), SCH_OPERAND_UNKNOWN, 0},
        {"add eax, ecx", CODE(0x01, 0xc8), SCH_OPERAND_UNKNOWN, 0},
        {"rep stosq", CODE(0xf3, 0x48, 0xab), SCH_OPERAND_MEMORY, 0x8000},
        {"rep movsb", CODE(0xf3, 0xa4), SCH_OPERAND_MEMORY, 0x8000},
        {"call r11", CODE(0x41, 0xff, 0xd3), SCH_OPERAND_TARGET, 0xc000},
        {"jmp rax", CODE(0xff, 0xe0), SCH_OPERAND_TARGET, 0x1000},
        {"call [rax]", CODE(0xff, 0x10), SCH_OPERAND_MEMORY, 0x1000},
        {"hlt", CODE(0xf4), SCH_OPERAND_UNKNOWN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ucontext_t context = make_context(cases[i].code);
        uint64_t address = 0;
        enum sch_operand kind = sch_operand_find(&context, &address);
        cr_assert_eq(kind, cases[i].kind, "%s", cases[i].text);
        cr_assert(kind == SCH_OPERAND_UNKNOWN || address == cases[i].address, "%s: 0x%lx",
                  cases[i].text, (unsigned long)address);
    }
}

Test(operand, the_source_of_a_copy_is_named_if_it_is_to_blame)
{
    ucontext_t context = make_context(CODE(0xf3, 0xa4));
    context.uc_mcontext.gregs[REG_RSI] = INT64_C(0x4141414141414141);
    uint64_t address;
    cr_assert_eq(sch_operand_find(&context, &address), SCH_OPERAND_MEMORY);
    cr_assert_eq(address, 0x4141414141414141);
}

Test(operand, a_jump_into_nowhere_is_told_from_an_access)
{
    ucontext_t context = make_context(NULL);
    context.uc_mcontext.gregs[REG_RIP] = INT64_C(0x4141414141414141);
    uint64_t address;
    cr_assert_eq(sch_operand_find(&context, &address), SCH_OPERAND_TARGET);
    cr_assert_eq(address, 0x4141414141414141);
}

#endif

Test(operand, some_addresses_are_not_canonical)
{
    cr_assert(sch_is_canonical(0));
    cr_assert(sch_is_canonical(UINT64_C(0x7fffffffffff)));
#if defined(__x86_64__)
    cr_assert(!sch_is_canonical(UINT64_C(0x800000000000)));
    cr_assert(!sch_is_canonical(UINT64_C(0x4141414141414141)));
    cr_assert(sch_is_canonical(UINT64_C(0xffff800000000000)));
#endif
}
