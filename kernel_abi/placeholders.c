/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_abi/placeholders.h"

#include <string.h>

/* The list of parameters without its parentheses, each as its type. */
#define LIST(...)                __VA_ARGS__
#define VOID                     RT_TYPE_VOID
#define THREAD                   RT_TYPE_THREAD
#define U32(name)                RT_TYPE_U32
#define U64(name)                RT_TYPE_U64
#define POINTER(name)            RT_TYPE_POINTER
#define MODE(name)               RT_TYPE_MODE
#define MASK(name)               RT_TYPE_MASK
#define SITE(name)               RT_TYPE_SITE
#define CODE(name)               RT_TYPE_CODE

#define ARRIVE_NONE(name)        NULL
#define ARRIVE_BARRIER(name)     "rt_arrive_" #name
#define ARRIVE_BARRIER_RED(name) "rt_arrive_" #name
#define ARRIVE_WARP(name)        "rt_arrive_" #name
#define ARRIVE_LINE_UP(name)     "rt_arrive_" #name
#define ARRIVE_CLUSTER(name)     "rt_arrive_" #name
#define ARRIVE_OTHER(name)       "rt_arrive_" #name

const struct rt_placeholder_info rt_placeholders[RT_PLACEHOLDER_COUNT] = {
    [RT_CALL_NONE] = {.name = "", .effect = RT_EFFECT_ANY},
#define PLACEHOLDER(ID, id, where, gives, takes, sync_points, waits_for, does, looks, ...)         \
    [RT_CALL_##ID] = {                                                                             \
        .name = "rt_" #id,                                                                         \
        .arrive = ARRIVE_##sync_points(id),                                                        \
        .name_len = sizeof "rt_" #id - 1,                                                          \
        .home = RT_HOME_##where,                                                                   \
        .result = RT_TYPE_##gives,                                                                 \
        .parameters = {LIST takes},                                                                \
        .sync = RT_SYNC_##sync_points,                                                             \
        .waits = RT_WAITS_##waits_for,                                                             \
        .effect = RT_EFFECT_##does,                                                                \
        .shape = RT_SHAPE_##looks,                                                                 \
    },
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
};

/* Lengths differ for most: few names are looked at. */
enum rt_placeholder rt_find_placeholder(const char *name, size_t len)
{
    if (len < 3 || memcmp(name, "rt_", 3) != 0)
        return RT_CALL_NONE;
    for (unsigned i = RT_CALL_NONE + 1; i < RT_PLACEHOLDER_COUNT; i++)
        if (rt_placeholders[i].name_len == len && memcmp(rt_placeholders[i].name, name, len) == 0)
            return (enum rt_placeholder)i;
    return RT_CALL_NONE;
}

int rt_find_parameter(enum rt_placeholder placeholder, enum rt_type type)
{
    const enum rt_type *types = rt_placeholders[placeholder].parameters;
    for (int i = 0; types[i] != RT_TYPE_VOID; i++)
        if (types[i] == type)
            return i;
    return -1;
}
