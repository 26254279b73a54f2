/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of placeholders (placeholders.def, which explains the columns) as data, for everything
 * that makes, transforms or loads code that calls them.
 */
#ifndef PTXRUN_KERNEL_ABI_PLACEHOLDERS_H
#define PTXRUN_KERNEL_ABI_PLACEHOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rt_placeholder {
    RT_CALL_NONE, /* no placeholder is called */
#define PLACEHOLDER(ID, ...) RT_CALL_##ID,
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
    RT_PLACEHOLDER_COUNT
};

enum rt_home { RT_HOME_SCHEDULER, RT_HOME_HOST, RT_HOME_CODE, RT_HOME_NATIVE };

enum rt_type {
    RT_TYPE_VOID,
    RT_TYPE_THREAD,
    RT_TYPE_S32,
    RT_TYPE_U32,
    RT_TYPE_U64,
    RT_TYPE_PAIR,
    RT_TYPE_QUAD,
    RT_TYPE_POINTER,
    RT_TYPE_MODE,
    RT_TYPE_MASK,
    RT_TYPE_SITE,
    RT_TYPE_CODE
};

enum rt_sync {
    RT_SYNC_NONE,
    RT_SYNC_BARRIER,
    RT_SYNC_BARRIER_RED,
    RT_SYNC_WARP,
    RT_SYNC_LINE_UP,
    RT_SYNC_CLUSTER,
    RT_SYNC_OTHER
};

enum rt_waits { RT_WAITS_NOBODY, RT_WAITS_BLOCK, RT_WAITS_ANYBODY };

enum rt_effect { RT_EFFECT_NONE, RT_EFFECT_ORDER, RT_EFFECT_ANY, RT_EFFECT_END, RT_EFFECT_FAULT };

enum rt_shape {
    RT_SHAPE_VARYING,
    RT_SHAPE_BLOCK,
    RT_SHAPE_LANES,
    RT_SHAPE_ALL,
    RT_SHAPE_COMING,
    RT_SHAPE_CLOCK
};

/* A bit of rt_fault's status. */
#define RT_FAULT_LOCAL    (UINT32_C(1) << 31)

#define RT_PARAMETERS_MAX 10

struct rt_placeholder_info {
    const char *name;   /* rt_… */
    const char *arrive; /* of a sync point: the name of its arrive form; otherwise NULL */
    size_t name_len;
    enum rt_home home;
    enum rt_type result;
    enum rt_type parameters[RT_PARAMETERS_MAX + 1]; /* VOID behind the last */
    enum rt_sync sync;
    enum rt_waits waits;
    enum rt_effect effect;
    enum rt_shape shape;
};

/* By enumerator; RT_CALL_NONE has no name, and its effect is RT_EFFECT_ANY. */
extern const struct rt_placeholder_info rt_placeholders[RT_PLACEHOLDER_COUNT];

/* RT_CALL_NONE if it is none of them. */
enum rt_placeholder rt_find_placeholder(const char *name, size_t len);

/* The number of the first parameter of the type; -1: none has it. */
int rt_find_parameter(enum rt_placeholder placeholder, enum rt_type type);

/* Whether the thread ends there. */
static inline bool rt_is_end(enum rt_placeholder placeholder)
{
    enum rt_effect effect = rt_placeholders[placeholder].effect;
    return effect == RT_EFFECT_END || effect == RT_EFFECT_FAULT;
}

#endif
