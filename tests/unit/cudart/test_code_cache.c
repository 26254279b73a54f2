/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of compiled code, and the bytes it is kept as.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/cached_object.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/summary.h"

/* ---- keys ---- */

static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry k(.param .u64 a) { ret; }\n"
                           ".visible .entry l(.param .u64 a) { ret; }\n";

struct subject {
    struct ptx_module *module;
    const struct ptx_func *kernel;
    struct ptx_kernel_layout layout;
    struct jit_request request;
    struct jit_build_id compiler;
    const char *target;
    enum crt_cached_kind kind;
};

static void open_subject(struct subject *subject)
{
    memset(subject, 0, sizeof *subject);
    cr_assert_eq(ptx_parse(pxr_str_from(text), "test", &subject->module, NULL), PXR_OK);
    subject->kernel = ptx_find_entry(subject->module, "k");
    cr_assert_eq(ptx_layout_kernel(subject->module, subject->kernel, &subject->layout, NULL),
                 PXR_OK);
    subject->compiler = (struct jit_build_id){.count = 20, .bytes = {1, 2, 3}};
    subject->target = "a target";
}

static void close_subject(struct subject *subject)
{
    ptx_layout_fini(&subject->layout);
    ptx_module_destroy(subject->module);
}

static struct cache_key key_of(const struct subject *subject)
{
    uint8_t digest[PTX_DIGEST_BYTES];
    cr_assert_eq(
        crt_kernel_digest(subject->module, subject->kernel, &subject->layout, digest, NULL),
        PXR_OK);
    return crt_code_key(subject->kind, &subject->request, digest, &subject->compiler,
                        subject->target);
}

/* Whether a subject has another key than it had before a change. */
#define EXPECT_OTHER_KEY(change)                                                                   \
    do {                                                                                           \
        struct subject changed_ = subject;                                                         \
        struct jit_variant *variant = &changed_.request.variant;                                   \
        struct tr_facts *facts = &variant->facts;                                                  \
        (void)facts;                                                                               \
        change;                                                                                    \
        struct cache_key other_ = key_of(&changed_);                                               \
        cr_expect_neq(memcmp(&key, &other_, sizeof key), 0, "%s", #change);                        \
    } while (0)

Test(code_key, depends_on_all_that_decides_code)
{
    struct subject subject;
    open_subject(&subject);
    struct cache_key key = key_of(&subject);
    EXPECT_OTHER_KEY(changed_.kernel = ptx_find_entry(subject.module, "l"));
    EXPECT_OTHER_KEY(changed_.kind = CRT_CACHED_CHECK);
    EXPECT_OTHER_KEY(changed_.target = "a targeu");
    EXPECT_OTHER_KEY(changed_.compiler.bytes[19] = 1);
    EXPECT_OTHER_KEY(changed_.compiler.count = 16);
    EXPECT_OTHER_KEY(changed_.request.skip = "unroll");
    EXPECT_OTHER_KEY(variant->collapse = PXR_COLLAPSE_FLAT);
    EXPECT_OTHER_KEY(variant->width = 8);
    EXPECT_OTHER_KEY(variant->jam = 8);
    EXPECT_OTHER_KEY(variant->is_quick = true);
    EXPECT_OTHER_KEY(variant->has_fast_matrices = true);
    EXPECT_OTHER_KEY(facts->has_whole_warps = true);
    EXPECT_OTHER_KEY(facts->has_dynamic_shared = true);
    EXPECT_OTHER_KEY(facts->dynamic_shared_bytes = 8);
    EXPECT_OTHER_KEY(facts->begins_inside = true);
    for (int d = 0; d < 3; d++) {
        EXPECT_OTHER_KEY(facts->block[d] = 8);
        EXPECT_OTHER_KEY(facts->grid_max[d] = 8);
    }
    for (int i = 0; i < TR_FACTS_PARAMS; i++) {
        EXPECT_OTHER_KEY(facts->params[i].max_log2 = 8);
        EXPECT_OTHER_KEY(facts->params[i].align_log2 = 8);
        EXPECT_OTHER_KEY(facts->params[i].is_distinct = 1);
        EXPECT_OTHER_KEY(facts->params[i].image_shape = 0xa008);
    }
    close_subject(&subject);
}

/* Bytes between fields, what only says more, and where the module lies. */
Test(code_key, depends_on_nothing_else)
{
    struct subject subject;
    struct subject again;
    open_subject(&subject);
    open_subject(&again);
    struct cache_key key = key_of(&subject);
    memset(&again.request.variant, 0xff, sizeof again.request.variant);
    again.request.variant.collapse = PXR_COLLAPSE_AUTO;
    again.request.variant.width = again.request.variant.jam = 0;
    again.request.variant.is_quick = again.request.variant.has_fast_matrices = false;
    struct tr_facts *facts = &again.request.variant.facts;
    memset(facts->block, 0, sizeof facts->block);
    memset(facts->grid_max, 0, sizeof facts->grid_max);
    memset(facts->params, 0, sizeof facts->params);
    facts->dynamic_shared_bytes = 0;
    facts->has_whole_warps = facts->has_dynamic_shared = facts->begins_inside = false;
    again.request.skip = "";
    again.request.dump_dir = "elsewhere";
    again.request.is_talkative = true;
    struct cache_key other = key_of(&again);
    cr_expect_eq(memcmp(&key, &other, sizeof key), 0);
    close_subject(&again);
    close_subject(&subject);
}

/* ---- bytes ---- */

static struct jit_object example(void)
{
    struct jit_object object = {.bytes = malloc(300),
                                .size_bytes = 300,
                                .translate_ns = 7,
                                .optimise_ns = UINT64_C(1) << 40,
                                .codegen_ns = 9,
                                .frame_bytes = 0x89abcdef,
                                .collapse = PXR_COLLAPSE_VECTOR,
                                .width = 16,
                                .jam = 3,
                                .frame_fixed_bytes = UINT64_C(0x0123456789abcdef),
                                .frame_warp_bytes = 5,
                                .frame_thread_bytes = UINT64_MAX,
                                .may_wait = true,
                                .waits_again = true,
                                .hands_over = true,
                                .is_warm = true,
                                .instructions = UINT32_MAX,
                                .explanation = strdup("vector: why\nand more")};
    for (size_t i = 0; i < object.size_bytes; i++)
        object.bytes[i] = (uint8_t)(i * 31);
    return object;
}

static void expect_equal(const struct jit_object *a, const struct jit_object *b)
{
    cr_assert_eq(a->size_bytes, b->size_bytes);
    cr_expect_eq(memcmp(a->bytes, b->bytes, a->size_bytes), 0);
    cr_expect_eq(a->frame_bytes, b->frame_bytes);
    cr_expect_eq(a->collapse, b->collapse);
    cr_expect_eq(a->width, b->width);
    cr_expect_eq(a->jam, b->jam);
    cr_expect_eq(a->frame_fixed_bytes, b->frame_fixed_bytes);
    cr_expect_eq(a->frame_warp_bytes, b->frame_warp_bytes);
    cr_expect_eq(a->frame_thread_bytes, b->frame_thread_bytes);
    cr_expect_eq(a->may_wait, b->may_wait);
    cr_expect_eq(a->waits_again, b->waits_again);
    cr_expect_eq(a->hands_over, b->hands_over);
    cr_expect_eq(a->is_warm, b->is_warm);
    cr_expect_eq(a->translate_ns, b->translate_ns);
    cr_expect_eq(a->optimise_ns, b->optimise_ns);
    cr_expect_eq(a->codegen_ns, b->codegen_ns);
    cr_expect_eq(a->instructions, b->instructions);
    cr_assert_eq(a->explanation == NULL, b->explanation == NULL);
    if (a->explanation)
        cr_expect_str_eq(a->explanation, b->explanation);
}

Test(cached_object, comes_back_as_it_was)
{
    static const char *const explanations[] = {"vector: why\nand more", "", NULL};
    for (int i = 0; i < 3; i++) {
        struct jit_object object = example();
        struct jit_object read;
        uint8_t *bytes;
        size_t count;
        free(object.explanation);
        object.explanation = explanations[i] ? strdup(explanations[i]) : NULL;
        cr_assert(crt_object_to_bytes(&object, &bytes, &count));
        cr_assert(crt_object_from_bytes(bytes, count, &read));
        expect_equal(&object, &read);
        jit_object_fini(&read);
        jit_object_fini(&object);
        free(bytes);
    }
}

Test(cached_object, is_refused_when_it_cannot_be)
{
    struct jit_object object = example();
    struct jit_object read;
    uint8_t *bytes;
    size_t count;
    cr_assert(crt_object_to_bytes(&object, &bytes, &count));
    for (size_t cut = 0; cut < count; cut++)
        cr_expect_not(crt_object_from_bytes(bytes, cut, &read), "%zu bytes", cut);
    /* Any size that a damaged one may have: never more is read than there is. */
    for (size_t at = 0; at < 16; at++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t before = bytes[at];
            bytes[at] = (uint8_t)value;
            bool is_taken = crt_object_from_bytes(bytes, count, &read);
            cr_expect_eq(is_taken, value == before);
            if (is_taken)
                jit_object_fini(&read);
            bytes[at] = before;
        }
    }
    free(bytes);
    jit_object_fini(&object);
}
