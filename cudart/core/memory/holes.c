/* SPDX-License-Identifier: Apache-2.0
 *
 * Holes: a tree by address. Their nodes are made beforehand, because giving a range back must not
 * fail.
 */
#include "cudart/core/memory/holes.h"

#include <stdlib.h>

/* There is a range in use between two holes. Taking a range out of a hole leaves up to two, and
 * giving one back makes one. */
bool crt_holes_make_room(struct crt_holes *holes, size_t ranges_in_use)
{
    while (holes->node_count < ranges_in_use + 2) {
        struct crt_range *node = malloc(sizeof *node);
        if (!node)
            return false;
        node->child[0] = holes->spare;
        holes->spare = node;
        holes->node_count++;
    }
    return true;
}

static void add_node(struct crt_holes *holes, uintptr_t begin, uintptr_t end)
{
    struct crt_range *hole = holes->spare;
    holes->spare = hole->child[0];
    *hole = (struct crt_range){.begin = begin, .size_bytes = end - begin};
    crt_range_insert(&holes->tree, hole);
}

static void remove_node(struct crt_holes *holes, struct crt_range *hole)
{
    crt_range_remove(&holes->tree, hole);
    hole->child[0] = holes->spare;
    holes->spare = hole;
}

void crt_holes_add(struct crt_holes *holes, uintptr_t begin, uintptr_t end)
{
    struct crt_range *before = crt_range_floor(&holes->tree, begin);
    struct crt_range *behind = crt_range_above(&holes->tree, begin);
    if (behind && behind->begin == end) {
        end = crt_range_end(behind);
        remove_node(holes, behind);
    }
    if (before && crt_range_end(before) == begin)
        crt_range_change(&holes->tree, before, before->begin, end - before->begin);
    else
        add_node(holes, begin, end);
}

uintptr_t crt_holes_find(const struct crt_holes *holes, size_t span)
{
    const struct crt_range *hole = crt_range_floor(&holes->tree, holes->cursor);
    if (hole && crt_range_end(hole) >= holes->cursor && crt_range_end(hole) - holes->cursor >= span)
        return holes->cursor;
    hole = crt_range_fit(&holes->tree, holes->cursor, span);
    if (!hole)
        hole = crt_range_fit(&holes->tree, 0, span);
    return hole ? hole->begin : 0;
}

void crt_holes_take(struct crt_holes *holes, uintptr_t begin, size_t span)
{
    struct crt_range *hole = crt_range_floor(&holes->tree, begin);
    uintptr_t hole_begin = hole->begin;
    uintptr_t hole_end = crt_range_end(hole);
    uintptr_t end = begin + span;
    if (hole_begin < begin)
        crt_range_change(&holes->tree, hole, hole_begin, begin - hole_begin);
    else if (end < hole_end)
        crt_range_change(&holes->tree, hole, end, hole_end - end);
    else
        remove_node(holes, hole);
    if (hole_begin < begin && end < hole_end)
        add_node(holes, end, hole_end);
    holes->cursor = end;
}

const struct crt_range *crt_holes_at(const struct crt_holes *holes, uintptr_t address)
{
    return crt_range_floor(&holes->tree, address);
}
