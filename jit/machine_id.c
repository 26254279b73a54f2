/* SPDX-License-Identifier: Apache-2.0
 *
 * See machine_id.h. Left out is what differs from one core of a machine to the next, such as the
 * number of the core.
 */
#include "jit/machine_id.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX = 1, EBX = 2, ECX = 4, EDX = 8 };

/* Vendor, model and features, all leaves that LLVM's host detection reads and a few more. */
static const struct {
    uint32_t leaf;
    uint32_t subleaf;
    unsigned registers;
} leaves[] = {
    {0, 0, EAX | EBX | ECX | EDX},
    {1, 0, EAX | ECX | EDX},
    {7, 0, EAX | EBX | ECX | EDX},
    {7, 1, EAX | EBX | ECX | EDX},
    {7, 2, EAX | EBX | ECX | EDX},
    {0xd, 1, EAX},
    {0x14, 0, EAX | EBX | ECX},
    {0x19, 0, EAX | EBX | ECX},
    {0x1e, 1, EAX},
    {0x21, 0, EBX | ECX | EDX},
    {0x24, 0, EBX},
    {0x29, 0, EBX},
    {0x80000001, 0, EAX | EBX | ECX | EDX},
    {0x80000007, 0, EAX | EBX | ECX | EDX},
    {0x80000008, 0, EBX},
    {0x80000021, 0, EAX},
};

#define OSXSAVE (UINT32_C(1) << 27)

/* Which registers the operating system keeps. */
static uint64_t saved_state(void)
{
    uint32_t a, b, c, d;
    uint32_t low = 0;
    uint32_t high = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & OSXSAVE))
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* In virtual machines the instruction takes microseconds: it is not asked more than once how far
 * the leaves go. */
static void put_processor(jit_machine_id_fn put, void *argument)
{
    const uint32_t largest[2] = {__get_cpuid_max(0, NULL),
                                 __get_cpuid_max(UINT32_C(1) << 31, NULL)};
    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        uint32_t words[4] = {0};
        if (leaves[i].leaf <= largest[leaves[i].leaf >> 31])
            __cpuid_count(leaves[i].leaf, leaves[i].subleaf, words[0], words[1], words[2],
                          words[3]);
        for (int r = 0; r < 4; r++)
            if (!(leaves[i].registers & 1u << r))
                words[r] = 0;
        put(argument, words, sizeof words);
    }
    uint64_t state = saved_state();
    put(argument, &state, sizeof state);
}
#else
/* LLVM reads implementer and part of all cores there. */
static void put_processor(jit_machine_id_fn put, void *argument)
{
    static const char *const wanted[] = {"CPU ", "Features", "isa", "cpu", "uarch", "processor"};
    char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                put(argument, line, strlen(line));
    if (file)
        fclose(file);
}
#endif

void jit_machine_id(jit_machine_id_fn put, void *argument)
{
    const uint64_t numbers[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2),
                                (uint64_t)sysconf(_SC_LEVEL3_CACHE_SIZE),
                                (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    put_processor(put, argument);
    put(argument, numbers, sizeof numbers);
}
