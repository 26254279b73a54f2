/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels with the same fingerprint have the same code: texts are changed at random, and where the
 * fingerprint stays, code is compared. A part of a kernel that code depends on and the fingerprint
 * does not have would show here, and would be wrong code out of the cache.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "jit/jit.h"
#include "ptx/fingerprint.h"
#include "tests/unit/robust/mutate.h"

#define ROUNDS 80

/* A kernel of a text, or nothing if the text is no good. */
struct subject {
    struct ptx_module *module;
    const struct ptx_func *kernel;
    struct ptx_kernel_layout layout;
    uint8_t *print;
    size_t print_bytes;
};

static void append(void *argument, const void *bytes, size_t count)
{
    struct subject *subject = argument;
    subject->print = realloc(subject->print, subject->print_bytes + count + 1);
    memcpy(subject->print + subject->print_bytes, bytes, count);
    subject->print_bytes += count;
}

static const struct ptx_func *first_kernel(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->func_count; i++)
        if (module->funcs[i]->is_entry && module->funcs[i]->has_body)
            return module->funcs[i];
    return NULL;
}

static bool open_subject(struct pxr_str text, struct subject *subject)
{
    *subject = (struct subject){0};
    if (ptx_parse(text, "test.ptx", &subject->module, NULL) != PXR_OK)
        return false;
    subject->kernel = first_kernel(subject->module);
    if (!subject->kernel ||
        ptx_layout_kernel(subject->module, subject->kernel, &subject->layout, NULL) != PXR_OK) {
        ptx_module_destroy(subject->module);
        return false;
    }
    cr_assert_eq(
        ptx_fingerprint(subject->module, subject->kernel, &subject->layout, append, subject, NULL),
        PXR_OK);
    return true;
}

static void close_subject(struct subject *subject)
{
    free(subject->print);
    ptx_layout_fini(&subject->layout);
    ptx_module_destroy(subject->module);
}

struct work {
    struct jit_request request;
    struct jit_object object;
};

static enum pxr_status compile_work(void *argument, struct pxr_error *err)
{
    struct work *work = argument;
    return jit_compile_request(&work->request, &work->object, err);
}

/* Empty if the kernel cannot be compiled. */
static struct jit_object compile(const struct subject *subject)
{
    struct work work = {.request = {.module = subject->module,
                                    .kernel = subject->kernel,
                                    .layout = &subject->layout}};
    if (jit_run_work(compile_work, &work, NULL, NULL) != PXR_OK)
        return (struct jit_object){0};
    return work.object;
}

static bool are_equal(const struct jit_object *a, const struct jit_object *b)
{
    return a->size_bytes == b->size_bytes && a->collapse == b->collapse && a->width == b->width &&
           a->jam == b->jam && a->frame_bytes == b->frame_bytes &&
           a->frame_fixed_bytes == b->frame_fixed_bytes &&
           a->frame_warp_bytes == b->frame_warp_bytes &&
           a->frame_thread_bytes == b->frame_thread_bytes && a->may_wait == b->may_wait &&
           memcmp(a->bytes, b->bytes, a->size_bytes) == 0;
}

/* One other character somewhere, and every other time also larger changes. */
static void change(struct mutant *mutant, unsigned round)
{
    static const char letters[] = "0123456789 abcdefsuvxyzLr.,;[]%";
    if (round % 4 == 0)
        mutant_damage_text(mutant);
    else
        mutant->bytes[mutant_below(mutant, mutant->len)] =
            (uint8_t)letters[mutant_below(mutant, sizeof letters - 1)];
}

/* How many changed texts had the same fingerprint. */
static unsigned change_text(const char *path, struct pxr_str text)
{
    struct subject original;
    unsigned same = 0;
    cr_assert(open_subject(text, &original), "%s", path);
    struct jit_object code = compile(&original);
    cr_assert_not_null(code.bytes, "%s", path);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct mutant mutant;
        struct subject changed;
        mutant_init(&mutant, text.ptr, text.len, round + 1);
        change(&mutant, round);
        struct pxr_str changed_text = {(const char *)mutant.bytes, mutant.len};
        bool is_good = open_subject(changed_text, &changed);
        if (is_good && changed.print_bytes == original.print_bytes &&
            memcmp(changed.print, original.print, original.print_bytes) == 0) {
            struct jit_object other = compile(&changed);
            cr_expect(other.bytes && are_equal(&code, &other), "%s, round %u:\n%.*s", path, round,
                      (int)mutant.len, mutant.bytes);
            jit_object_fini(&other);
            same++;
        }
        if (is_good)
            close_subject(&changed);
        mutant_fini(&mutant);
    }
    jit_object_fini(&code);
    close_subject(&original);
    return same;
}

Test(fingerprint, that_is_equal_means_equal_code)
{
    static const char *const names[] = {
        "shapes/module_variables", "shapes/call_indirect", "shapes/shared_static_dynamic",
        "shapes/brx_dense",        "shapes/local_array",   "shapes/warp_ops_three_arms"};
    unsigned same = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        static char text[1 << 16];
        snprintf(path, sizeof path, PTXRUN_PTX_DIR "/%s.ptx", names[i]);
        FILE *file = fopen(path, "r");
        cr_assert_not_null(file, "%s", path);
        size_t len = fread(text, 1, sizeof text, file);
        fclose(file);
        same += change_text(path, (struct pxr_str){text, len});
    }
    cr_expect_geq(same, 10u, "%u texts", same);
}
