/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading: what an object may hold, what is refused, and that damage never gets far.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <pthread.h>
#include <string.h>

#include "fixture.h"
#include "jit/elf_object.h"
#include "jit/jit.h"
#include "jit/reloc.h"
#include "jit/symbols.h"
#include "kernel_abi/placeholders.h"
#include "rt_stub.h"
#include "tests/support/emulated.h"
#include "tests/support/leaks.h"
#include "util/pages.h"

#define GOOD_BARRIER_LINE 54

static struct jit_code *load(const char *fixture, const struct jit_symbol *extra, size_t count,
                             struct pxr_error *err)
{
    struct jit_object object = read_fixture(fixture);
    cr_assert_not_null(object.bytes, "fixture %s is missing", fixture);
    struct jit_code *code = NULL;
    enum pxr_status status = jit_load(
        &object,
        &(struct jit_loading){.kernel = "kernel_name", .extra = extra, .extra_count = count}, &code,
        err);
    jit_object_fini(&object);
    cr_assert_eq(status == PXR_OK, code != NULL);
    return code;
}

static struct jit_code *load_good(void)
{
    struct pxr_error err = {0};
    struct jit_code *code = load("good", NULL, 0, &err);
    cr_assert_not_null(code, "%s", err.message);
    return code;
}

Test(loader, loaded_code_runs_with_its_constants_and_calls)
{
    struct jit_code *code = load_good();
    uint8_t copied[16] = {0};
    struct rt_thread thread = {.lane = 3, .poll_budget = 16, .stack_limit = copied};
    thread.lane = 3;
    jit_code_entry(code)(&thread);
    cr_expect_eq(thread.tid[0], 9);
    cr_expect_eq(thread.tid[1], 12);
    cr_expect_eq(thread.warp, 14); // choose: tid[1] + 2
    cr_expect_eq(rt_stub.bar_sync_calls, 2);
    cr_expect_eq(rt_stub.bar_sync_id, 5);
    cr_expect_eq(rt_stub.bar_sync_count, 64);
    cr_expect_eq(copied[12], 9);
    cr_expect_eq((uintptr_t)thread.block, (uintptr_t)rt_bar_arrive);
    jit_unload(code);
}

Test(loader, code_of_every_fused_collapse_is_for_blocks)
{
    for (int collapse = PXR_COLLAPSE_PRECISE; collapse < PXR_COLLAPSE_COUNT; collapse++) {
        struct jit_object object = read_fixture("good");
        object.collapse = (enum pxr_collapse)collapse;
        object.frame_thread_bytes = 8;
        struct jit_code *code = NULL;
        cr_assert_eq(jit_load(&object, &(struct jit_loading){.kernel = "kernel_name"}, &code, NULL),
                     PXR_OK);
        bool is_fused = collapse != PXR_COLLAPSE_PRECISE;
        cr_expect_eq(jit_code_fused(code) != NULL, is_fused, "%d", collapse);
        cr_expect_eq(jit_code_entry(code) != NULL, !is_fused, "%d", collapse);
        cr_expect_eq(jit_code_frame_bytes(code, 33), is_fused ? 512 : 0, "%d", collapse);
        jit_unload(code);
        jit_object_fini(&object);
    }
}

Test(loader, every_case_of_a_jump_table_is_reached)
{
    struct jit_code *code = load_good();
    static const uint32_t expected[8] = {7, 17, 12, 14, 3, 3, 99, 99};
    for (uint32_t lane = 0; lane < 8; lane++) {
        struct rt_thread thread = {.lane = lane, .tid = {0, 0, 7}, .warp = 0};
        jit_code_entry(code)(&thread);
        cr_expect_eq(thread.warp, expected[lane], "lane %u: %u", lane, thread.warp);
    }
    jit_unload(code);
}

Test(loader, return_address_of_a_call_has_its_source_line)
{
    struct jit_code *code = load_good();
    struct rt_thread thread = {.lane = 2};
    jit_code_entry(code)(&thread);
    cr_expect_eq(jit_code_line(code, rt_stub.return_address - 1), GOOD_BARRIER_LINE);
    cr_expect_eq(jit_code_line(code, (uintptr_t)&thread), 0);
    cr_expect_eq(jit_code_line(code, 0), 0);
    jit_unload(code);
}

Test(loader, a_line_is_found_only_in_the_code_it_belongs_to)
{
    struct jit_code *first = load_good();
    struct jit_code *second = load_good();
    uintptr_t pc = (uintptr_t)jit_code_entry(second);
    cr_expect_neq(jit_code_line(second, pc), 0);
    cr_expect_eq(jit_code_line(first, pc), 0);
    jit_unload(second);
    jit_unload(first);
    jit_unload(NULL);
}

Test(loader, no_byte_of_loaded_code_is_writable_and_executable)
{
    if (is_emulated())
        cr_skip_test("an emulator joins mappings");
    struct jit_code *code = load_good();
    uintptr_t pc = (uintptr_t)jit_code_entry(code);
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    char line[512];
    int found = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3)
            continue;
        if (pc >= start && pc < end) {
            cr_expect_str_eq(rights, "r-xp");
            found++;
        } else if (start == (pc | (pxr_page_bytes() - 1)) + 1) {
            cr_expect_str_eq(rights, "r--p");
            found++;
        }
    }
    fclose(maps);
    cr_expect_eq(found, 2);
    jit_unload(code);
}

Test(loader, library_calls_of_plain_processors_are_known)
{
    struct pxr_error err = {0};
    struct jit_code *code = load("library_calls", NULL, 0, &err);
    cr_assert_not_null(code, "%s", err.message);
    jit_unload(code);
}

Test(loader, function_outside_the_whitelist_is_refused_by_name)
{
    struct pxr_error err = {0};
    cr_assert_null(load("outsider", NULL, 0, &err));
    cr_expect_eq(err.status, PXR_COMPILE_FAILED);
    cr_expect_not_null(strstr(err.message, "'outside_function'"));
    cr_expect_not_null(strstr(err.message, "'kernel_name'"));
}

static int outside_calls;

static void outside_function(void)
{
    outside_calls++;
}

Test(loader, extra_symbols_extend_the_whitelist)
{
    struct pxr_error err = {0};
    struct jit_symbol extra[] = {{"something_else", NULL},
                                 {"outside_function", (void *)(uintptr_t)outside_function}};
    struct jit_code *code = load("outsider", extra, 2, &err);
    cr_assert_not_null(code, "%s", err.message);
    struct rt_thread thread = {0};
    jit_code_entry(code)(&thread);
    cr_expect_eq(outside_calls, 1);
    cr_expect_eq(thread.lane, 21);
    jit_unload(code);
}

Test(loader, writable_data_is_refused)
{
    struct pxr_error err = {0};
    cr_assert_null(load("writable", NULL, 0, &err));
    cr_expect_eq(err.status, PXR_COMPILE_FAILED);
    cr_expect_not_null(strstr(err.message, ".data"), "%s", err.message);
}

Test(loader, absolute_address_in_text_is_refused)
{
    struct pxr_error err = {0};
    cr_assert_null(load("absolute", NULL, 0, &err));
    cr_expect_not_null(strstr(err.message, "absolute address"), "%s", err.message);
}

Test(loader, object_without_kernel_is_refused)
{
    struct pxr_error err = {0};
    cr_assert_null(load("no_kernel", NULL, 0, &err));
    cr_expect_not_null(strstr(err.message, JIT_KERNEL_SYMBOL), "%s", err.message);
}

/* LLVM's linker would take it for a symbol that somebody has asked for. */
Test(loader, object_that_shows_more_than_the_kernel_is_refused)
{
    struct pxr_error err = {0};
    cr_assert_null(load("shows_more", NULL, 0, &err));
    cr_expect_not_null(strstr(err.message, "'helper'"), "%s", err.message);
}

Test(loader, code_for_another_processor_is_refused)
{
    struct pxr_error err = {0};
    const char *other = reloc_arch_host()->machine == EM_X86_64 ? "good_aarch64" : "good_x86_64";
    cr_assert_null(load(other, NULL, 0, &err));
    cr_expect_not_null(strstr(err.message, "another processor"), "%s", err.message);
}

static void load_and_drop(const struct jit_object *object)
{
    struct jit_code *code = NULL;
    struct pxr_error err = {0};
    if (jit_load(object, &(struct jit_loading){.kernel = "k"}, &code, &err) == PXR_OK) {
        jit_code_line(code, (uintptr_t)jit_code_entry(code));
        jit_unload(code);
    } else {
        cr_assert_null(code);
        cr_assert_neq(err.message[0], '\0');
    }
}

Test(loader, truncated_object_is_refused, .timeout = 600)
{
    struct jit_object good = read_fixture("good");
    for (size_t len = 0; len < good.size_bytes; len++) {
        /* A copy of exactly this size lets a sanitizer see reads beyond it. */
        struct jit_object cut = {.bytes = malloc(len + (len == 0)), .size_bytes = len};
        memcpy(cut.bytes, good.bytes, len);
        struct jit_code *code = NULL;
        cr_assert_neq(jit_load(&cut, &(struct jit_loading){.kernel = "k"}, &code, NULL), PXR_OK,
                      "%zu bytes", len);
        jit_object_fini(&cut);
    }
    jit_object_fini(&good);
}

/* LLVM's linker believes what has passed the rules. It takes longer, so fewer go through it. */
static bool is_by_orc(void)
{
    return pxr_options_get()->loader == PXR_LOADER_ORC;
}

Test(loader, object_with_any_damaged_byte_loads_or_is_refused, .timeout = 600)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct jit_object object = read_fixture("good");
    size_t count = is_by_orc() ? 1 : sizeof values;
    if (is_by_orc())
        forgive_leaks();
    for (size_t i = 0; i < object.size_bytes; i++) {
        uint8_t before = object.bytes[i];
        for (size_t v = 0; v < count; v++) {
            object.bytes[i] = values[(i + v) % sizeof values];
            load_and_drop(&object);
        }
        object.bytes[i] = before;
    }
    jit_object_fini(&object);
}

Test(loader, object_with_many_damaged_bytes_loads_or_is_refused, .timeout = 600)
{
    struct jit_object good = read_fixture("good");
    struct jit_object object = {.bytes = malloc(good.size_bytes), .size_bytes = good.size_bytes};
    uint64_t random = 88172645463325252;
    unsigned rounds = is_by_orc() ? 1000 : 20000;
    if (is_by_orc())
        forgive_leaks();
    for (unsigned round = 0; round < rounds; round++) {
        memcpy(object.bytes, good.bytes, good.size_bytes);
        for (unsigned i = 0; i < 1 + round % 6; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            object.bytes[random % good.size_bytes] = (uint8_t)(random >> 40);
        }
        load_and_drop(&object);
    }
    jit_object_fini(&object);
    jit_object_fini(&good);
}

static void *load_many(void *argument)
{
    for (int i = 0; i < 50; i++) {
        struct jit_code *code = load_good();
        struct rt_thread thread = {.lane = 1};
        jit_code_entry(code)(&thread);
        cr_assert_eq(thread.tid[1], 12);
        jit_unload(code);
    }
    return argument;
}

Test(loader, threads_load_and_unload_at_once)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, load_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

Test(load, whitelist_is_what_the_scheduler_provides)
{
    for (unsigned i = RT_CALL_NONE + 1; i < RT_PLACEHOLDER_COUNT; i++) {
        const struct rt_placeholder_info *row = &rt_placeholders[i];
        bool is_listed = jit_symbol_address(row->name) != NULL;
        cr_expect_eq(is_listed, row->home == RT_HOME_SCHEDULER || row->home == RT_HOME_NATIVE, "%s",
                     row->name);
        if (row->arrive != NULL)
            cr_expect_not_null(jit_symbol_address(row->arrive), "%s", row->arrive);
    }
    cr_expect_not_null(jit_symbol_address("rt_block_mix"));
    cr_expect_null(jit_symbol_address("rt_arrive_exit"));
    cr_expect_null(jit_symbol_address("system"));
}
