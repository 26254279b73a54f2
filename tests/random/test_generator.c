/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator and the reducer, without running any kernel.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "ptx/flush.h"
#include "ptx/ptx.h"
#include "tests/random/generator.h"
#include "tests/random/reduce.h"
#include "tests/shapes/case.h"

#define SEEDS 200

static struct text make(struct generator_config config)
{
    struct text text = {0};
    generator_make(&config, &text);
    return text;
}

static struct text text_of(uint64_t seed)
{
    return make(generator_config_from_seed(seed));
}

static struct text small_text_of(uint64_t seed)
{
    return make(generator_config_small(seed));
}

static struct text leavers_text_of(uint64_t seed)
{
    return make(generator_config_leavers(seed));
}

static struct text rows_text_of(uint64_t seed)
{
    return make(generator_config_rows(seed));
}

static struct text clusters_text_of(uint64_t seed)
{
    return make(generator_config_clusters(seed));
}

static struct text matrices_text_of(uint64_t seed)
{
    return make(generator_config_matrices(seed));
}

static struct text stencil_text_of(uint64_t seed)
{
    return make(generator_config_stencils(seed));
}

static struct text strides_text_of(uint64_t seed)
{
    return make(generator_config_strides(seed));
}

Test(generator, a_seed_stands_for_one_text)
{
    struct text first = text_of(5);
    struct text again = text_of(5);
    struct text other = text_of(6);
    cr_assert_str_eq(first.bytes, again.bytes);
    cr_assert_str_neq(first.bytes, other.bytes);
    text_fini(&first);
    text_fini(&again);
    text_fini(&other);
}

static void require_module(const struct text *text, int seed)
{
    struct pxr_error err = {0};
    struct ptx_case c;
    struct ptx_module *module;
    struct pxr_str view = {text->bytes, text->len};
    cr_assert_eq(case_parse("case", text->bytes, &c, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(ptx_parse(view, "module", &module, &err), PXR_OK, "seed %d: %s", seed,
                 err.message);
    cr_assert_eq(ptx_find_entry(module, "random")->param_count, c.arg_count);
    ptx_module_destroy(module);
    case_fini(&c);
}

Test(generator, every_text_is_a_case_and_a_module)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = text_of(seed);
        struct text small = small_text_of(seed);
        struct text leavers = leavers_text_of(seed);
        struct text rows = rows_text_of(seed);
        require_module(&text, (int)seed);
        require_module(&small, (int)seed);
        require_module(&leavers, (int)seed);
        struct text stencil = stencil_text_of(seed);
        struct text clusters = clusters_text_of(seed);
        struct text matrices = matrices_text_of(seed);
        require_module(&clusters, (int)seed);
        require_module(&matrices, (int)seed);
        text_fini(&clusters);
        text_fini(&matrices);
        require_module(&rows, (int)seed);
        struct text strides = strides_text_of(seed);
        require_module(&stencil, (int)seed);
        require_module(&strides, (int)seed);
        text_fini(&strides);
        text_fini(&stencil);
        text_fini(&text);
        text_fini(&small);
        text_fini(&leavers);
        text_fini(&rows);
    }
}

Test(generator, small_kernels_are_less_text_with_every_kind_of_statement)
{
    static const char *const kinds[] = {"bra.uni", "brx.idx", "call",     "shfl.sync",  "vote.sync",
                                        "barrier", "bar.red", "red.",     "atom.",      "ld.local",
                                        "exit;",   "fma.",    "ld.const", "mov.u64 %tl"};
    bool is_seen[sizeof kinds / sizeof *kinds] = {0};
    size_t large_bytes = 0;
    size_t small_bytes = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = text_of(seed);
        struct text small = small_text_of(seed);
        large_bytes += text.len;
        small_bytes += small.len;
        for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
            is_seen[n] |= strstr(small.bytes, kinds[n]) != NULL;
        text_fini(&text);
        text_fini(&small);
    }
    cr_assert_leq(small_bytes, large_bytes * 3 / 5);
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        cr_assert(is_seen[n], "%s", kinds[n]);
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned count = 0;
    while ((text = strstr(text, word)) != NULL) {
        count++;
        text += strlen(word);
    }
    return count;
}

/* A thread that leaves ends before the last line of the kernel. (Those who part may all go on,
 * too.)
 */
Test(generator, leavers_leave_between_barriers_and_have_little_else)
{
    static const char *const kinds[] = {" bar.sync",     "barrier.sync", "bar.arrive",
                                        ".red.popc.u32", ".red.and",     "vote.sync.ballot",
                                        "exit;",         "%warp, 0;",    "%thread, 0;"};
    bool is_seen[sizeof kinds / sizeof *kinds] = {0};
    size_t small_bytes = 0;
    size_t bytes = 0;
    unsigned leaving = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = leavers_text_of(seed);
        struct text small = small_text_of(seed);
        const char *entry = strstr(text.bytes, ".entry");
        bytes += text.len;
        small_bytes += small.len;
        leaving += count_of(entry, "exit;") + count_of(entry, "ret;") >= 2;
        cr_assert_geq(count_of(entry, " bar.") + count_of(entry, " barrier."), 2, "%d", (int)seed);
        for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
            is_seen[n] |= strstr(entry, kinds[n]) != NULL;
        text_fini(&text);
        text_fini(&small);
    }
    cr_assert_geq(leaving, SEEDS * 9 / 10);
    cr_assert_leq(bytes, small_bytes * 3 / 4);
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        cr_assert(is_seen[n], "%s", kinds[n]);
}

Test(generator, barriers_and_warp_operations_can_be_left_out)
{
    struct generator_config config = generator_config_from_seed(3);
    config.statements = 60;
    config.has_barriers = config.has_warp_ops = config.has_exits = false;
    struct text text = {0};
    generator_make(&config, &text);
    cr_assert_null(strstr(text.bytes, " bar."));
    cr_assert_null(strstr(text.bytes, " barrier."));
    cr_assert_null(strstr(text.bytes, ".sync"));
    text_fini(&text);
}

/* The fault needs both of these lines, and at least one thread too many. */
static int needs_two_lines(const char *bytes)
{
    const char *first = strstr(bytes, "first;");
    return first && strstr(first, "second 17;") ? 1 : 0;
}

static bool is_flushed(struct generator_config config)
{
    struct text text = make(config);
    struct ptx_module *module;
    struct pxr_error err = {0};
    struct pxr_str view = {text.bytes, text.len};
    cr_assert_eq(ptx_parse(view, "module", &module, &err), PXR_OK, "%s", err.message);
    const struct ptx_func *kernel = ptx_find_entry(module, "random");
    struct ptx_kernel_layout layout = {0};
    cr_assert_eq(ptx_layout_kernel(module, kernel, &layout, &err), PXR_OK);
    bool is = ptx_is_flushed(kernel, &layout, true);
    ptx_layout_fini(&layout);
    ptx_module_destroy(module);
    text_fini(&text);
    return is;
}

Test(generator, some_kernels_want_no_subnormals)
{
    unsigned flushed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct generator_config config = generator_config_small(seed);
        config.has_matrices = false;
        flushed += is_flushed(config);
    }
    cr_expect_gt(flushed, SEEDS / 16);
}

Test(reducer, only_what_the_fault_needs_is_left)
{
    struct text text = {0};
    text_add(&text, "// launch: grid 2 block 7 1 1\n// buffer: u32 x 1 = 0\n{\n");
    for (int n = 0; n < 100; n++)
        text_add(&text, "//<\n    add %d;\n%s//>\n", n,
                 n == 40   ? "    first;\n"
                 : n == 80 ? "    @%p0 second 17;\n"
                           : "");
    text_add(&text, "}\n");
    struct reducer reducer = {
        .judge = needs_two_lines, .candidate = "no such file", .max_checks = 10000, .wanted = 1};
    reduce_text(&reducer, &text);
    cr_assert_str_eq(text.bytes, "// launch: grid 1 block 1 1 1\n// buffer: u32 x 1 = 0\n"
                                 "    first;\n    @%p0 second 17;\n");
    text_fini(&text);
}

Test(generator, rows_have_many_meetings_of_all_kinds)
{
    static const char *const kinds[] = {"bar.red",   "barrier",     "bar.sync", "shfl.sync",
                                        "vote.sync", "ld.shared.u", "bra.uni"};
    bool is_seen[sizeof kinds / sizeof *kinds] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = rows_text_of(seed);
        const char *entry = strstr(text.bytes, ".entry");
        unsigned meetings = count_of(entry, " bar.") + count_of(entry, " barrier.") +
                            count_of(entry, ".sync.") + count_of(entry, ".sync ");
        cr_assert_geq(meetings, 20, "%d", (int)seed);
        for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
            is_seen[n] |= strstr(entry, kinds[n]) != NULL;
        text_fini(&text);
    }
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        cr_assert(is_seen[n], "%s", kinds[n]);
}

/* What rows of neighbouring blocks need, in order to run as one. */
Test(generator, stencils_have_no_loops_and_no_memory_but_global)
{
    static const char *const absent[] = {"shared.", "local.", "atom.", "red.", "bar", "shfl"};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = stencil_text_of(seed);
        const char *entry = strstr(text.bytes, ".entry");
        for (size_t n = 0; n < sizeof absent / sizeof *absent; n++)
            cr_assert_eq(count_of(entry, absent[n]), 0, "%d has %s", (int)seed, absent[n]);
        text_fini(&text);
    }
}

#define KINDS_MAX 16

/* Each text has the mark, and no early exit; each kind is in some of them. */
static void expect_kinds(struct text (*text_of)(uint64_t seed), const char *mark,
                         const char *const *kinds, size_t count)
{
    bool is_seen[KINDS_MAX] = {0};
    cr_assert_leq(count, KINDS_MAX);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = text_of(seed);
        cr_assert_not_null(strstr(text.bytes, mark));
        cr_assert_eq(count_of(text.bytes, "exit;"), 0);
        for (size_t n = 0; n < count; n++)
            is_seen[n] |= strstr(text.bytes, kinds[n]) != NULL;
        text_fini(&text);
    }
    for (size_t n = 0; n < count; n++)
        cr_assert(is_seen[n], "%s", kinds[n]);
}

Test(generator, strides_have_loops_tiles_and_words_side_by_side)
{
    static const char *const kinds[] = {"bar.sync", "st.shared",    "shfl.sync",    "red.global",
                                        "div.u32",  "ld.global.v4", "ld.global.v2", "st.global.v4",
                                        ".nc",      "min.s32",      "setp.ge.s32",  "mad.lo.s64"};
    expect_kinds(strides_text_of, "nctaid.x", kinds, sizeof kinds / sizeof *kinds);
}

Test(generator, blocks_of_clusters_meet_and_reach_each_other)
{
    static const char *const kinds[] = {"arrive.relaxed",
                                        "arrive.aligned",
                                        "wait.acquire",
                                        "mapa.u64",
                                        "ld.shared::c",
                                        "st.shared::c",
                                        "atom.shared::cluster",
                                        "st.async",
                                        "red.add",
                                        "@%tp",
                                        "arrive.release.cluster.shared::cluster"};
    expect_kinds(clusters_text_of, ".reqnctapercluster", kinds, sizeof kinds / sizeof *kinds);
}

/* Of each kind there is something, although nine of ten kernels are spare. */
Test(generator, matrices_are_multiplied_moved_and_multiplied_again)
{
    static const char *const kinds[] = {"mma.sync", "mma.sp",    "wmma.mma",       "ldmatrix",
                                        "stmatrix", "movmatrix", "cvt.rna",        "add.cc",
                                        "@%tp",     "bra.uni",   ".reg .b16 %h<5>"};
    bool is_seen[sizeof kinds / sizeof *kinds] = {0};
    size_t small_bytes = 0;
    size_t bytes = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = matrices_text_of(seed);
        struct text small = small_text_of(seed);
        bytes += text.len;
        small_bytes += small.len;
        cr_assert_eq(count_of(text.bytes, "exit;"), 0);
        cr_assert(strstr(text.bytes, "mma") || strstr(text.bytes, "matrix"), "%d", (int)seed);
        for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
            is_seen[n] |= strstr(text.bytes, kinds[n]) != NULL;
        text_fini(&text);
        text_fini(&small);
    }
    cr_assert_leq(bytes, small_bytes);
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        cr_assert(is_seen[n], "%s", kinds[n]);
}
