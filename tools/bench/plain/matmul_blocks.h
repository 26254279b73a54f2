/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix product by blocks, for one type of elements: included once for each, after ELEMENT,
 * VECTOR (of ELEMENTs) and MATMUL(name) have been defined. No include guard.
 *
 * A part of B, BLOCK_DEPTH rows, is repacked into strips two vectors wide, so that the innermost
 * loop reads it in order; a block of C, BLOCK_ROWS by a strip, stays in registers.
 */
#define LANES          (sizeof(VECTOR) / sizeof(ELEMENT))
#define MULTIPLY_BLOCK MATMUL(multiply_block)
#define PACK_STRIP     MATMUL(pack_strip)

/* c += a * strip; a and c have the pitch of a whole matrix. */
static void MULTIPLY_BLOCK(const ELEMENT *a, const VECTOR *strip, ELEMENT *c, size_t pitch)
{
    VECTOR left[BLOCK_ROWS], right[BLOCK_ROWS];
    for (size_t row = 0; row < BLOCK_ROWS; row++) {
        left[row] = *(VECTOR *)(c + row * pitch);
        right[row] = *(VECTOR *)(c + row * pitch + LANES);
    }
    for (size_t k = 0; k < BLOCK_DEPTH; k++)
        for (size_t row = 0; row < BLOCK_ROWS; row++) {
            left[row] += a[row * pitch + k] * strip[2 * k];
            right[row] += a[row * pitch + k] * strip[2 * k + 1];
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

/* Sizes are multiples of BLOCK_DEPTH. */
void MATMUL(tuned_matmul)(const struct table_args *args)
{
    const ELEMENT *a = args->buffer[0], *b = args->buffer[1];
    ELEMENT *c = args->buffer[2];
    size_t size = args->n[0], strips = size / (2 * LANES);
    VECTOR *packed = aligned_alloc(sizeof(VECTOR), BLOCK_DEPTH * size * sizeof(ELEMENT));
    if (!packed)
        return;
#pragma omp parallel num_threads(args->threads)
    for (size_t k = 0; k < size; k += BLOCK_DEPTH) {
#pragma omp for
        for (size_t strip = 0; strip < strips; strip++)
            PACK_STRIP(b + k * size + strip * 2 * LANES, packed + strip * 2 * BLOCK_DEPTH, size);
#pragma omp for
        for (size_t row = 0; row < size; row += BLOCK_ROWS) {
            if (k == 0)
                memset(c + row * size, 0, BLOCK_ROWS * size * sizeof(ELEMENT));
            for (size_t strip = 0; strip < strips; strip++)
                MULTIPLY_BLOCK(a + row * size + k, packed + strip * 2 * BLOCK_DEPTH,
                               c + row * size + strip * 2 * LANES, size);
        }
    }
    free(packed);
}

#undef LANES
#undef MULTIPLY_BLOCK
#undef PACK_STRIP
