/* SPDX-License-Identifier: Apache-2.0
 *
 * What tells one compile library, and one machine, from another.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/build_id.h"
#include "jit/jit.h"
#include "jit/machine_id.h"

/* ---- build ids ---- */

Test(build_id, of_a_file_is_that_of_the_library)
{
    struct jit_build_id file;
    struct jit_build_id loaded;
    cr_assert(jit_build_id_of_file(PTXRUN_COMPILE_LIBRARY, &file));
    cr_expect_eq(file.count, 20u);
    void *library = dlopen(PTXRUN_COMPILE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library, "%s", dlerror());
    cr_assert(jit_build_id_of_address(dlsym(library, JIT_COMPILER_ENTRY), &loaded));
    cr_expect(jit_build_id_equal(&file, &loaded));
    loaded.bytes[19] ^= 1;
    cr_expect_not(jit_build_id_equal(&file, &loaded));
}

Test(build_id, of_what_is_no_library)
{
    struct jit_build_id id;
    int on_stack = 0;
    cr_expect_not(jit_build_id_of_file("/dev/null", &id));
    cr_expect_not(jit_build_id_of_file("/nowhere", &id));
    cr_expect_not(jit_build_id_of_file(__FILE__, &id));
    cr_expect_not(jit_build_id_of_address(&on_stack, &id));
}

/* The first pages, cut off and changed at any byte: an id, or none, and nothing else. */
Test(build_id, of_a_damaged_file)
{
    enum { BYTES = 1024 };
    char path[] = "/tmp/ptxrun-build-id-XXXXXX";
    uint8_t bytes[BYTES];
    struct jit_build_id whole;
    struct jit_build_id id;
    FILE *library = fopen(PTXRUN_COMPILE_LIBRARY, "rb");
    cr_assert_not_null(library);
    cr_assert_eq(fread(bytes, 1, BYTES, library), (size_t)BYTES);
    fclose(library);
    cr_assert(jit_build_id_of_file(PTXRUN_COMPILE_LIBRARY, &whole));
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    for (int i = 0; i < BYTES; i++) {
        bytes[i] ^= 0xff;
        cr_assert_eq(pwrite(fd, bytes, BYTES, 0), BYTES);
        id.count = 1;
        if (jit_build_id_of_file(path, &id))
            cr_expect(id.count > 0 && id.count <= JIT_BUILD_ID_BYTES);
        bytes[i] ^= 0xff;
    }
    for (int i = 0; i < BYTES; i++) {
        cr_assert_eq(ftruncate(fd, i), 0);
        if (jit_build_id_of_file(path, &id))
            cr_expect(jit_build_id_equal(&id, &whole));
    }
    close(fd);
    unlink(path);
}

/* ---- the machine ---- */

struct text {
    uint8_t bytes[65536];
    size_t count;
};

static void append(void *argument, const void *bytes, size_t count)
{
    struct text *text = argument;
    cr_assert_leq(count, sizeof text->bytes - text->count);
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
}

/* Whichever core asks. */
Test(machine_id, is_the_same_on_all_cores)
{
    static struct text first;
    jit_machine_id(append, &first);
    cr_expect_gt(first.count, 0u);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        static struct text text;
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            continue;
        text.count = 0;
        jit_machine_id(append, &text);
        cr_expect_eq(text.count, first.count);
        cr_expect_eq(memcmp(text.bytes, first.bytes, first.count), 0, "CPU %d", cpu);
    }
}
