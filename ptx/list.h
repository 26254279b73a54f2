/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing array for lists whose length is known only at their end. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_LIST_H
#define PTXRUN_PTX_LIST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ptx_list {
    void *items;
    size_t count;
    size_t capacity;
};

/* A zeroed item at the end, or NULL when memory is exhausted. Earlier items may move. */
static inline void *ptx_list_push(struct ptx_list *list, size_t item_bytes)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        void *items;

        if (capacity > SIZE_MAX / item_bytes)
            return NULL;
        items = realloc(list->items, capacity * item_bytes);
        if (!items)
            return NULL;
        list->items = items;
        list->capacity = capacity;
    }
    return memset((char *)list->items + list->count++ * item_bytes, 0, item_bytes);
}

static inline void *ptx_list_at(const struct ptx_list *list, size_t index, size_t item_bytes)
{
    return (char *)list->items + index * item_bytes;
}

static inline void ptx_list_fini(struct ptx_list *list)
{
    free(list->items);
    *list = (struct ptx_list){0};
}

#endif
