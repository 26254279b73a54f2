/* SPDX-License-Identifier: Apache-2.0
 *
 * See cached_object.h. The numbers of a struct jit_object, 64 bits each with the lowest byte first,
 * then its code, then the explanation.
 */
#include "cudart/core/code/cached_object.h"

#include <stdlib.h>
#include <string.h>

enum number {
    CODE_BYTES,
    EXPLANATION_BYTES, /* 0: there is none; else one more than its length */
    FRAME_BYTES,
    COLLAPSE,
    WIDTH,
    JAM,
    FRAME_FIXED_BYTES,
    FRAME_WARP_BYTES,
    FRAME_THREAD_BYTES,
    MAY_WAIT,
    WAITS_AGAIN,
    HANDS_OVER,
    FLUSHES,
    TRANSLATE_NS,
    OPTIMISE_NS,
    CODEGEN_NS,
    IS_WARM,
    INSTRUCTIONS,
    HAS_FLOAT_ATOMICS,
    NUMBERS
};

#define HEAD_BYTES (NUMBERS * sizeof(uint64_t))

static void put_numbers(const uint64_t numbers[NUMBERS], uint8_t *bytes)
{
    for (size_t i = 0; i < HEAD_BYTES; i++)
        bytes[i] = (uint8_t)(numbers[i / 8] >> 8 * (i % 8));
}

static void get_numbers(const uint8_t *bytes, uint64_t numbers[NUMBERS])
{
    memset(numbers, 0, HEAD_BYTES);
    for (size_t i = 0; i < HEAD_BYTES; i++)
        numbers[i / 8] |= (uint64_t)bytes[i] << 8 * (i % 8);
}

bool crt_object_to_bytes(const struct jit_object *object, uint8_t **bytes, size_t *count)
{
    size_t text_bytes = object->explanation ? strlen(object->explanation) : 0;
    const uint64_t numbers[NUMBERS] = {
        [CODE_BYTES] = object->size_bytes,
        [EXPLANATION_BYTES] = object->explanation ? text_bytes + 1 : 0,
        [FRAME_BYTES] = object->frame_bytes,
        [COLLAPSE] = object->collapse,
        [WIDTH] = object->width,
        [JAM] = object->jam,
        [FRAME_FIXED_BYTES] = object->frame_fixed_bytes,
        [FRAME_WARP_BYTES] = object->frame_warp_bytes,
        [FRAME_THREAD_BYTES] = object->frame_thread_bytes,
        [MAY_WAIT] = object->may_wait,
        [WAITS_AGAIN] = object->waits_again,
        [HANDS_OVER] = object->hands_over,
        [FLUSHES] = object->flushes,
        [TRANSLATE_NS] = object->translate_ns,
        [OPTIMISE_NS] = object->optimise_ns,
        [CODEGEN_NS] = object->codegen_ns,
        [IS_WARM] = object->is_warm,
        [INSTRUCTIONS] = object->instructions,
        [HAS_FLOAT_ATOMICS] = object->has_float_atomics,
    };
    *count = HEAD_BYTES + object->size_bytes + text_bytes;
    *bytes = malloc(*count);
    if (!*bytes)
        return false;
    put_numbers(numbers, *bytes);
    memcpy(*bytes + HEAD_BYTES, object->bytes, object->size_bytes);
    if (text_bytes > 0)
        memcpy(*bytes + HEAD_BYTES + object->size_bytes, object->explanation, text_bytes);
    return true;
}

static bool are_possible(const uint64_t numbers[NUMBERS], size_t rest_bytes)
{
    uint64_t text_bytes = numbers[EXPLANATION_BYTES] ? numbers[EXPLANATION_BYTES] - 1 : 0;
    return numbers[CODE_BYTES] > 0 && numbers[CODE_BYTES] <= rest_bytes &&
           text_bytes == rest_bytes - numbers[CODE_BYTES] && numbers[FRAME_BYTES] <= UINT32_MAX &&
           numbers[COLLAPSE] != PXR_COLLAPSE_AUTO && numbers[COLLAPSE] < PXR_COLLAPSE_COUNT &&
           numbers[WIDTH] <= UINT32_MAX && numbers[JAM] <= UINT32_MAX && numbers[MAY_WAIT] <= 1 &&
           numbers[WAITS_AGAIN] <= 1 && numbers[HANDS_OVER] <= 1 && numbers[FLUSHES] <= 1 &&
           numbers[IS_WARM] <= 1 && numbers[INSTRUCTIONS] <= UINT32_MAX &&
           numbers[HAS_FLOAT_ATOMICS] <= 1;
}

bool crt_object_from_bytes(const uint8_t *bytes, size_t count, struct jit_object *object)
{
    uint64_t numbers[NUMBERS];
    memset(object, 0, sizeof *object);
    if (count < HEAD_BYTES)
        return false;
    get_numbers(bytes, numbers);
    if (!are_possible(numbers, count - HEAD_BYTES))
        return false;
    size_t code_bytes = (size_t)numbers[CODE_BYTES];
    object->bytes = malloc(code_bytes);
    if (numbers[EXPLANATION_BYTES])
        object->explanation = strndup((const char *)bytes + HEAD_BYTES + code_bytes,
                                      (size_t)numbers[EXPLANATION_BYTES] - 1);
    if (!object->bytes || (numbers[EXPLANATION_BYTES] && !object->explanation)) {
        jit_object_fini(object);
        return false;
    }
    memcpy(object->bytes, bytes + HEAD_BYTES, code_bytes);
    object->size_bytes = code_bytes;
    object->frame_bytes = (uint32_t)numbers[FRAME_BYTES];
    object->collapse = (enum pxr_collapse)numbers[COLLAPSE];
    object->width = (uint32_t)numbers[WIDTH];
    object->jam = (uint32_t)numbers[JAM];
    object->frame_fixed_bytes = numbers[FRAME_FIXED_BYTES];
    object->frame_warp_bytes = numbers[FRAME_WARP_BYTES];
    object->frame_thread_bytes = numbers[FRAME_THREAD_BYTES];
    object->may_wait = numbers[MAY_WAIT] != 0;
    object->waits_again = numbers[WAITS_AGAIN] != 0;
    object->hands_over = numbers[HANDS_OVER] != 0;
    object->flushes = numbers[FLUSHES] != 0;
    object->translate_ns = numbers[TRANSLATE_NS];
    object->optimise_ns = numbers[OPTIMISE_NS];
    object->codegen_ns = numbers[CODEGEN_NS];
    object->is_warm = numbers[IS_WARM] != 0;
    object->instructions = (uint32_t)numbers[INSTRUCTIONS];
    object->has_float_atomics = numbers[HAS_FLOAT_ATOMICS] != 0;
    return true;
}
