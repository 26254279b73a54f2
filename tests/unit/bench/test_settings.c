/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <criterion/criterion.h>

#include "tools/bench/settings.h"

static const struct settings_axis *axis_of(const struct settings_axes *axes,
                                           enum pxr_option_id option)
{
    for (unsigned i = 0; i < axes->count; i++)
        if (axes->axes[i].option == option)
            return &axes->axes[i];
    return NULL;
}

Test(settings, defaults_are_what_the_table_of_options_has)
{
    struct settings_axes axes;
    settings_default_axes(&axes, 6);
    const struct settings_axis *mode = axis_of(&axes, PXR_OPTION_MODE);
    cr_assert(mode && mode->count == 2);
    cr_expect_str_eq(mode->values[0], "jit");
    cr_expect_str_eq(mode->values[1], "normal");
    struct pxr_error err;
    for (unsigned i = 0; i < axes.count; i++)
        for (unsigned j = 0; j < axes.axes[i].count; j++)
            cr_expect_eq(pxr_option_check(axes.axes[i].option, axes.axes[i].values[j], &err),
                         PXR_OK);
    const struct settings_axis *threads = axis_of(&axes, PXR_OPTION_THREADS);
    cr_assert(threads && threads->count == 4);
    cr_expect_str_eq(threads->values[2], "4");
    cr_expect_str_eq(threads->values[3], "6");
    settings_free_axes(&axes);
}

/* Modes jit and normal, widths 4 and 8, nothing else. */
static void make_axes(struct settings_axes *axes)
{
    struct pxr_error err;
    settings_default_axes(axes, 1);
    cr_assert_eq(settings_set_axis(axes, PXR_OPTION_TIER, "", &err), PXR_OK);
    cr_assert_eq(settings_set_axis(axes, PXR_OPTION_COLLAPSE, "", &err), PXR_OK);
    cr_assert_eq(settings_set_axis(axes, PXR_OPTION_THREADS, "", &err), PXR_OK);
    cr_assert_eq(settings_set_axis(axes, PXR_OPTION_WIDTH, "4,8", &err), PXR_OK);
    cr_assert_eq(axes->count, 2);
}

Test(settings, one_value_is_changed_at_a_time)
{
    static const char *const labels[] = {"default", "--mode=jit", "--mode=normal", "--width=4",
                                         "--width=8"};
    struct settings_axes axes;
    make_axes(&axes);
    struct settings settings = settings_of(&axes, false);
    cr_assert_eq(settings.count, 5);
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(settings.settings[i].label, labels[i]);
    settings_free(&settings);
    settings_free_axes(&axes);
}

Test(settings, or_all_are_combined)
{
    struct settings_axes axes;
    make_axes(&axes);
    struct settings settings = settings_of(&axes, true);
    cr_assert_eq(settings.count, 9);
    cr_expect_str_eq(settings.settings[0].label, "default");
    cr_expect_str_eq(settings.settings[8].label, "--mode=normal --width=8");
    int single = settings_find(&settings, 1, "8");
    cr_assert_geq(single, 0);
    cr_expect_str_eq(settings.settings[single].label, "--width=8");
    cr_expect_eq(settings_find(&settings, 0, NULL), 0);
    cr_expect_eq(settings_find(&settings, 0, "auto"), -1);
    settings_free(&settings);
    settings_free_axes(&axes);
}

Test(settings, wrong_values_are_refused)
{
    struct settings_axes axes;
    struct pxr_error err;
    make_axes(&axes);
    cr_expect_neq(settings_set_axis(&axes, PXR_OPTION_MODE, "jit,fast", &err), PXR_OK);
    cr_expect(strstr(err.message, "fast"));
    cr_expect_neq(settings_set_axis(&axes, PXR_OPTION_WIDTH, "3", &err), PXR_OK);
    cr_expect_eq(axis_of(&axes, PXR_OPTION_MODE)->count, 2, "it stays as it was");
    settings_free_axes(&axes);
}
