/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings as text: what is written is read, and what no process writes is refused.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/recording.h"

#define IMAGE "image=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct crt_recorded_launch example(void)
{
    struct crt_recorded_launch launch = {.image.bytes = {1, 35, 255},
                                         .capability = 75,
                                         .kernel = (char *)(uintptr_t)"_Z6kernelPf",
                                         .skip = (char *)(uintptr_t)"unroll,prefetch",
                                         .variant = {.collapse = PXR_COLLAPSE_VECTOR,
                                                     .width = 16,
                                                     .jam = 4,
                                                     .is_quick = true,
                                                     .has_fast_matrices = true},
                                         .launches = 7};
    launch.variant.facts = (struct tr_facts){
        .block = {0, 2, 1},
        .has_whole_warps = true,
        .grid_max = {1024, 0, 65535},
        .has_dynamic_shared = true,
        .begins_inside = true,
        .params = {[0] = {10, 0, 0, 0}, [3] = {0, 0, 0, 0xa008}, [31] = {0, 4, 1, 0xa056}}};
    return launch;
}

static void expect_equal(const struct crt_recorded_launch *a, const struct crt_recorded_launch *b)
{
    cr_expect_eq(memcmp(&a->image, &b->image, sizeof a->image), 0);
    cr_expect_eq(a->capability, b->capability);
    cr_expect_str_eq(a->kernel, b->kernel);
    cr_expect_str_eq(a->skip, b->skip);
    cr_expect_eq(a->variant.collapse, b->variant.collapse);
    cr_expect_eq(a->variant.width, b->variant.width);
    cr_expect_eq(a->variant.jam, b->variant.jam);
    cr_expect_eq(a->variant.is_quick, b->variant.is_quick);
    cr_expect_eq(a->variant.has_fast_matrices, b->variant.has_fast_matrices);
    cr_expect_eq(memcmp(&a->variant.facts, &b->variant.facts, sizeof a->variant.facts), 0);
    cr_expect_eq(a->launches, b->launches);
}

Test(recording, is_read_as_it_was_written)
{
    struct crt_recorded_launch launches[] = {
        example(), {.image.bytes = {9}, .kernel = launches[0].kernel, .skip = (char *)""}};
    struct crt_recording recording = {0};
    for (int i = 0; i < 2; i++) {
        char *line = crt_recorded_launch_line(&launches[i]);
        cr_assert_not_null(line);
        cr_expect_eq(line[strlen(line) - 1], '\n');
        cr_assert_eq(crt_recording_read(line, strlen(line), "file", &recording, NULL), PXR_OK);
        cr_assert_eq(recording.count, (size_t)i + 1);
        expect_equal(&recording.launches[i], &launches[i]);
        free(line);
    }
    crt_recording_fini(&recording);
}

Test(recording, adds_up_the_launches_of_all_processes)
{
    static const char text[] =
        "# a comment\n"
        "v1\tlaunches=0\t" IMAGE "\tkernel=k\tblock=1x1x1\n"
        "v1\tlaunches=3\t" IMAGE "\tkernel=l\tblock=1x1x1\n"
        "\n"
        "v1\tblock=1x1x1\tlaunches=5\tkernel=k\t" IMAGE "\n"
        "v1\tlaunches=18446744073709551615\t" IMAGE "\tkernel=l\tblock=1x1x1\n"
        "v1\tlaunches=1\t" IMAGE "\tker";
    struct crt_recording recording = {0};
    cr_assert_eq(crt_recording_read(text, strlen(text), "file", &recording, NULL), PXR_OK);
    cr_assert_eq(recording.count, 2, "a line that is not whole is none");
    cr_expect_str_eq(recording.launches[0].kernel, "k");
    cr_expect_eq(recording.launches[0].launches, 5);
    cr_expect_eq(recording.launches[1].launches, UINT64_MAX);
    crt_recording_fini(&recording);
}

static const char *const wrong_lines[] = {
    "hello",
    "v2\tlaunches=1\t" IMAGE "\tkernel=k",
    "v1",
    "v1\tkernel=k",
    "v1\t" IMAGE,
    "v1\timage=0123\tkernel=k",
    "v1\t" IMAGE "\tkernel=",
    "v1\t" IMAGE "\tkernel=\x1b[2J",
    "v1\t" IMAGE "\tkernel=k\tfuture=1",
    "v1\t" IMAGE "\tkernel=k\tlaunches=18446744073709551616",
    "v1\t" IMAGE "\tkernel=k\tlaunches=-1",
    "v1\t" IMAGE "\tkernel=k\tblock=1025x1x1",
    "v1\t" IMAGE "\tkernel=k\tblock=64x64x1",
    "v1\t" IMAGE "\tkernel=k\tblock=1x1",
    "v1\t" IMAGE "\tkernel=k\tblock=1x1x1x1",
    "v1\t" IMAGE "\tkernel=k\tgrid=1x65536x1",
    "v1\t" IMAGE "\tkernel=k\tshared=4294967296",
    "v1\t" IMAGE "\tkernel=k\tparam32=1,1,1",
    "v1\t" IMAGE "\tkernel=k\tparam1=65,0,0",
    "v1\t" IMAGE "\tkernel=k\tparam1=1,0",
    "v1\t" IMAGE "\tkernel=k\tparam=1,0,0",
    "v1\t" IMAGE "\tkernel=k\ttexture1=1",
    "v1\t" IMAGE "\tkernel=k\ttexture32=40968",
    "v1\t" IMAGE "\tkernel=k\ttexture=40968",
    "v1\t" IMAGE "\tkernel=k\twidth=3",
    "v1\t" IMAGE "\tkernel=k\tjam=33",
    "v1\t" IMAGE "\tkernel=k\tquick=2",
    "v1\t" IMAGE "\tkernel=k\tcollapse=unknown",
    "v1\t" IMAGE "\tkernel=k\t",
};

Test(recording, refuses_what_no_process_writes)
{
    for (size_t i = 0; i < sizeof wrong_lines / sizeof wrong_lines[0]; i++) {
        struct crt_recording recording = {0};
        struct pxr_error error = {0};
        char text[512];
        int len = snprintf(text, sizeof text, "#\n%s\n", wrong_lines[i]);
        cr_expect_eq(crt_recording_read(text, (size_t)len, "file", &recording, &error),
                     PXR_INVALID_ARGUMENT, "%s", wrong_lines[i]);
        cr_expect_not_null(strstr(error.message, "file, line 2"), "%s", error.message);
        crt_recording_fini(&recording);
    }
}

Test(recording, survives_any_byte_changed)
{
    struct crt_recorded_launch launch = example();
    char *line = crt_recorded_launch_line(&launch);
    size_t len = strlen(line);
    for (size_t i = 0; i < len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct crt_recording recording = {0};
            line[i] = (char)(line[i] ^ 1 << bit);
            crt_recording_read(line, len, "file", &recording, NULL);
            crt_recording_fini(&recording);
            line[i] = (char)(line[i] ^ 1 << bit);
        }
    }
    free(line);
}
