/* SPDX-License-Identifier: Apache-2.0
 *
 * In which settings `ptxbench compare` runs a program.
 */
#include "tools/bench/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

static struct settings_axis *find_axis(struct settings_axes *axes, enum pxr_option_id option)
{
    for (unsigned i = 0; i < axes->count; i++)
        if (axes->axes[i].option == option)
            return &axes->axes[i];
    return NULL;
}

/* Takes the text, a list with this separator. False: too many values. */
static bool fill_axis(struct settings_axis *axis, enum pxr_option_id option, char *text,
                      const char *separator)
{
    *axis = (struct settings_axis){.option = option, .text = text};
    char *rest = NULL;
    for (char *word = strtok_r(text, separator, &rest); word;
         word = strtok_r(NULL, separator, &rest)) {
        if (axis->count == SETTINGS_MAX_VALUES)
            return false;
        axis->values[axis->count++] = word;
    }
    return true;
}

/* All values that the table has but the one that is used anyway. */
static void add_choices(struct settings_axes *axes, enum pxr_option_id option)
{
    const struct pxr_option_info *info = &pxr_option_table[option];
    struct settings_axis *axis = &axes->axes[axes->count++];
    fill_axis(axis, option, strdup(info->metavar), "|");
    unsigned count = 0;
    for (unsigned i = 0; i < axis->count; i++)
        if (strcmp(axis->values[i], info->default_text) != 0)
            axis->values[count++] = axis->values[i];
    axis->count = count;
}

static void add_threads(struct settings_axes *axes, unsigned cpus)
{
    char text[128];
    size_t length = 0;
    for (unsigned i = 1; i < cpus && length + 16 < sizeof text; i *= 2)
        length += (size_t)snprintf(text + length, sizeof text - length, "%u,", i);
    snprintf(text + length, sizeof text - length, "%u", cpus);
    fill_axis(&axes->axes[axes->count++], PXR_OPTION_THREADS, strdup(text), ",");
}

void settings_default_axes(struct settings_axes *axes, unsigned cpus)
{
    static const enum pxr_option_id chosen[] = {PXR_OPTION_MODE, PXR_OPTION_TIER,
                                                PXR_OPTION_COLLAPSE, PXR_OPTION_WIDTH};
    *axes = (struct settings_axes){0};
    for (unsigned i = 0; i < sizeof chosen / sizeof chosen[0]; i++)
        add_choices(axes, chosen[i]);
    add_threads(axes, cpus);
}

static void remove_axis(struct settings_axes *axes, struct settings_axis *axis)
{
    free(axis->text);
    size_t behind = (size_t)(&axes->axes[axes->count] - (axis + 1));
    memmove(axis, axis + 1, behind * sizeof *axis);
    axes->count--;
}

enum pxr_status settings_set_axis(struct settings_axes *axes, enum pxr_option_id option,
                                  const char *list, struct pxr_error *err)
{
    struct settings_axis *axis = find_axis(axes, option);
    if (!*list) {
        if (axis)
            remove_axis(axes, axis);
        return PXR_OK;
    }
    if (!axis && axes->count == SETTINGS_MAX_AXES)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "at most %d options can be compared",
                        SETTINGS_MAX_AXES);
    struct settings_axis filled;
    bool fits = fill_axis(&filled, option, strdup(list), ",");
    enum pxr_status status = PXR_OK;
    if (!fits)
        status = pxr_fail(err, PXR_INVALID_ARGUMENT, "--%s has at most %d values",
                          pxr_option_table[option].name, SETTINGS_MAX_VALUES);
    for (unsigned i = 0; i < filled.count && status == PXR_OK; i++)
        status = pxr_option_check(option, filled.values[i], err);
    if (status != PXR_OK) {
        free(filled.text);
        return status;
    }
    if (axis)
        free(axis->text);
    else
        axis = &axes->axes[axes->count++];
    *axis = filled;
    return PXR_OK;
}

void settings_free_axes(struct settings_axes *axes)
{
    while (axes->count > 0)
        remove_axis(axes, &axes->axes[axes->count - 1]);
}

/* ---- settings ---- */

static char *label_of(const struct setting *setting, const struct settings_axes *axes)
{
    char *label = NULL;
    size_t size;
    FILE *stream = open_memstream(&label, &size);
    const char *between = "";
    for (unsigned i = 0; i < axes->count; i++)
        if (setting->values[i]) {
            fprintf(stream, "%s--%s=%s", between, pxr_option_table[axes->axes[i].option].name,
                    setting->values[i]);
            between = " ";
        }
    if (!*between)
        fputs("default", stream);
    fclose(stream);
    return label;
}

static void add_setting(struct settings *settings, const struct setting *setting,
                        const struct settings_axes *axes)
{
    settings->settings =
        realloc(settings->settings, (settings->count + 1) * sizeof settings->settings[0]);
    struct setting *added = &settings->settings[settings->count++];
    *added = *setting;
    added->label = label_of(setting, axes);
}

static void add_singles(struct settings *settings, const struct settings_axes *axes)
{
    add_setting(settings, &(struct setting){0}, axes);
    for (unsigned i = 0; i < axes->count; i++)
        for (unsigned j = 0; j < axes->axes[i].count; j++) {
            struct setting single = {0};
            single.values[i] = axes->axes[i].values[j];
            add_setting(settings, &single, axes);
        }
}

/* All combinations of the axes from `axis` on, with those before it as they are in *setting. */
static void add_crossed(struct settings *settings, struct setting *setting, unsigned axis,
                        const struct settings_axes *axes)
{
    if (axis == axes->count) {
        add_setting(settings, setting, axes);
        return;
    }
    setting->values[axis] = NULL;
    add_crossed(settings, setting, axis + 1, axes);
    for (unsigned i = 0; i < axes->axes[axis].count; i++) {
        setting->values[axis] = axes->axes[axis].values[i];
        add_crossed(settings, setting, axis + 1, axes);
    }
}

struct settings settings_of(const struct settings_axes *axes, bool is_crossed)
{
    struct settings settings = {0};
    struct setting none = {0};
    if (is_crossed)
        add_crossed(&settings, &none, 0, axes);
    else
        add_singles(&settings, axes);
    return settings;
}

void settings_free(struct settings *settings)
{
    for (unsigned i = 0; i < settings->count; i++)
        free(settings->settings[i].label);
    free(settings->settings);
    *settings = (struct settings){0};
}

/* Whether the setting leaves all axes as they are but perhaps this one. */
static bool is_single(const struct setting *setting, unsigned axis)
{
    for (unsigned i = 0; i < SETTINGS_MAX_AXES; i++)
        if (i != axis && setting->values[i])
            return false;
    return true;
}

int settings_find(const struct settings *settings, unsigned axis, const char *value)
{
    for (unsigned i = 0; i < settings->count; i++) {
        const char *its = settings->settings[i].values[axis];
        bool is_equal = value ? its && strcmp(its, value) == 0 : !its;
        if (is_equal && is_single(&settings->settings[i], axis))
            return (int)i;
    }
    return -1;
}
