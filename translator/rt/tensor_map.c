/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of tensor maps. The field is a constant at every call.
 */
#include "translator/rt/tensor.h"

static inline uint8_t narrow(uint64_t value)
{
    return value > UINT8_MAX ? UINT8_MAX : (uint8_t)value;
}

void rt_tensor_replace(struct rt_tensor_map *map, uint32_t field, uint32_t ordinal, uint64_t value)
{
    switch (field) {
    case RT_TENSOR_FIELD_ADDRESS:
        map->address = value;
        break;
    case RT_TENSOR_FIELD_RANK: /* "one less than the desired rank" */
        map->rank = narrow((uint64_t)(uint32_t)value + 1);
        break;
    case RT_TENSOR_FIELD_BOX:
        map->box[ordinal] = (uint32_t)value;
        break;
    case RT_TENSOR_FIELD_SIZE:
        map->last[ordinal] = (uint32_t)value - 1;
        break;
    case RT_TENSOR_FIELD_STRIDE:
        map->strides[ordinal] = value;
        break;
    case RT_TENSOR_FIELD_STEP:
        map->steps[ordinal] = narrow((uint32_t)value);
        break;
    case RT_TENSOR_FIELD_TYPE:
        map->type = narrow(value);
        break;
    case RT_TENSOR_FIELD_INTERLEAVE:
        map->interleave = narrow(value);
        break;
    case RT_TENSOR_FIELD_SWIZZLE:
        map->swizzle = narrow(value);
        break;
    case RT_TENSOR_FIELD_ATOMICITY:
        map->atomicity = narrow(value);
        break;
    default:
        map->fill = narrow(value);
        break;
    }
}
