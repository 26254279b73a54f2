/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices report if the program has PTX: its own fat binaries are here. The first runs from
 * 7.5 on, the second from 8.0 on; the third has no PTX.
 */
#include <stdint.h>
#include <stdlib.h>

#include "driver_fixture.h"

#include "ptx/fatbin.h"

/* An entry without options whose stored bytes are a word. */
struct entry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t stored_bytes;
    uint64_t unused;
    uint16_t isa_minor, isa_major;
    uint32_t arch;
    uint32_t names[2];
    uint64_t flags;
    uint64_t more[2];
    char stored[8];
};

struct container {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t entries_bytes;
};

#define CONTAINER(count)                                                                           \
    {.magic = PTX_FATBIN_MAGIC,                                                                    \
     .version = 1,                                                                                 \
     .header_bytes = 16,                                                                           \
     .entries_bytes = (count) * sizeof(struct entry)}
#define ENTRY(kind_, arch_)                                                                        \
    {.kind = (kind_),                                                                              \
     .header_bytes = 64,                                                                           \
     .stored_bytes = 8,                                                                            \
     .isa_minor = 0,                                                                               \
     .isa_major = 8,                                                                               \
     .arch = (arch_),                                                                              \
     .flags = PTX_FATBIN_FLAG_64_BIT | PTX_FATBIN_FLAG_LINUX,                                      \
     .stored = "//"}

static const struct {
    struct container first;
    struct entry of_first[2];
    struct container second;
    struct entry of_second[2];
    struct container third;
    struct entry of_third[1];
} fat_binaries __attribute__((used, section(".nv_fatbin"))) = {
    CONTAINER(2), {ENTRY(PTX_FATBIN_PTX, 90), ENTRY(PTX_FATBIN_PTX, 75)},
    CONTAINER(2), {ENTRY(PTX_FATBIN_CUBIN, 75), ENTRY(PTX_FATBIN_PTX, 80)},
    CONTAINER(1), {ENTRY(PTX_FATBIN_CUBIN, 100)},
};

static void expect_capability(const char *option, int capability)
{
    int major = 0;
    int minor = 0;
    setenv("PTXRUN_COMPUTE_CAPABILITY", option, 1);
    OK(cuInit(0));
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    cr_expect_eq(major * 10 + minor, capability, "%s: %d.%d", option, major, minor);
}

Test(architecture_of_program, the_least_that_runs_all_of_it)
{
    expect_capability("auto", 80);
}

Test(architecture_of_program, an_option_goes_first)
{
    expect_capability("7.5", 75);
}
