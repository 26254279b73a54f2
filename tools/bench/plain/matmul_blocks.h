/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix product by blocks, for one type of elements: included once for each, after ELEMENT,
 * VECTOR (of ELEMENTs), MATMUL(name) and MULTIPLY_ADD(sum, a, b) have been defined: a VECTOR, an
 * ELEMENT, a VECTOR. No include guard.
 *
 * A part of B, BLOCK_DEPTH rows, is repacked into strips two vectors wide, so that the innermost
 * loop reads it in order; a block of C, BLOCK_ROWS by a strip, stays in registers.
 */
#define LANES          (sizeof(VECTOR) / sizeof(ELEMENT))
#define MULTIPLY_BLOCK MATMUL(multiply_block)
#define PACK_STRIP     MATMUL(pack_strip)

/* c += a * strip; a and c have the pitches of whole matrices. */
static void MULTIPLY_BLOCK(const ELEMENT *a, size_t depth, const VECTOR *strip, ELEMENT *c,
                           size_t pitch)
{
    VECTOR left[BLOCK_ROWS], right[BLOCK_ROWS];
    for (size_t row = 0; row < BLOCK_ROWS; row++) {
        left[row] = *(VECTOR *)(c + row * pitch);
        right[row] = *(VECTOR *)(c + row * pitch + LANES);
    }
    for (size_t k = 0; k < BLOCK_DEPTH; k++)
        for (size_t row = 0; row < BLOCK_ROWS; row++) {
            left[row] = MULTIPLY_ADD(left[row], a[row * depth + k], strip[2 * k]);
            right[row] = MULTIPLY_ADD(right[row], a[row * depth + k], strip[2 * k + 1]);
        }
    for (size_t row = 0; row < BLOCK_ROWS; row++) {
        *(VECTOR *)(c + row * pitch) = left[row];
        *(VECTOR *)(c + row * pitch + LANES) = right[row];
    }
}

static void PACK_STRIP(const ELEMENT *b, VECTOR *strip, size_t pitch)
{
    for (size_t k = 0; k < BLOCK_DEPTH; k++) {
        strip[2 * k] = *(const VECTOR *)(b + k * pitch);
        strip[2 * k + 1] = *(const VECTOR *)(b + k * pitch + LANES);
    }
}

/* c = a * b: a has `depth` columns, c `size` rows and columns. Sizes are multiples of
 * BLOCK_DEPTH. args: for the number of threads. */
static void MATMUL(multiply_blocks)(const ELEMENT *a, const ELEMENT *b, ELEMENT *c, size_t size,
                                    size_t depth, const struct table_args *args)
{
    size_t strips = size / (2 * LANES);
    VECTOR *packed = aligned_alloc(sizeof(VECTOR), BLOCK_DEPTH * size * sizeof(ELEMENT));
    if (!packed)
        return;
#pragma omp parallel num_threads(args->threads)
    for (size_t k = 0; k < depth; k += BLOCK_DEPTH) {
#pragma omp for
        for (size_t strip = 0; strip < strips; strip++)
            PACK_STRIP(b + k * size + strip * 2 * LANES, packed + strip * 2 * BLOCK_DEPTH, size);
#pragma omp for
        for (size_t row = 0; row < size; row += BLOCK_ROWS) {
            if (k == 0)
                memset(c + row * size, 0, BLOCK_ROWS * size * sizeof(ELEMENT));
            for (size_t strip = 0; strip < strips; strip++)
                MULTIPLY_BLOCK(a + row * depth + k, depth, packed + strip * 2 * BLOCK_DEPTH,
                               c + row * size + strip * 2 * LANES, size);
        }
    }
    free(packed);
}

#undef LANES
#undef MULTIPLY_BLOCK
#undef PACK_STRIP
