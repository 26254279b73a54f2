/* SPDX-License-Identifier: Apache-2.0
 *
 * Images of textures and surfaces, for the bodies of both.
 */
#ifndef PTXRUN_TESTS_ORACLE_TEXTURE_H
#define PTXRUN_TESTS_ORACLE_TEXTURE_H

#include "kernel_abi/texture.h"
#include "tests/oracle/machine.h"

struct oracle_image {
    struct oracle_thread *thread;
    const struct ptx_inst *inst;
    struct rt_texture descriptor;
    enum pxr_status status; /* the first failure of oracle_image_bytes */
};

bool oracle_has(const struct ptx_inst *inst, enum ptx_mod word);

/* Reads the descriptor at this operand; a fault if it has another mark. thread and inst are set. */
enum pxr_status oracle_open_image(struct oracle_image *image, const struct ptx_operand *operand,
                                  uint32_t mark);

/* Bytes of the image; NULL after a fault. */
uint8_t *oracle_image_bytes(struct oracle_image *image, uint64_t address, unsigned bytes,
                            enum oracle_access access);

/* Four channels: numbers, or what the texture holds as it is. */
struct oracle_element {
    double number[4];
    uint32_t raw[4];
};

struct oracle_fetch {
    struct oracle_image image;
    struct rt_texture sampler;
    enum ptx_type coordinate_type;
    double at[3]; /* x, y, z */
    uint32_t slice;
    int offset[3];
    bool compares;
    double reference;
};

bool oracle_fetch_has_floats(const struct oracle_fetch *fetch);
bool oracle_fetch_is_cube(const struct oracle_fetch *fetch);
void oracle_level_sizes(const struct rt_texture_level *level, int64_t sizes[3]);

/* ---- sample.c ---- */

struct oracle_element oracle_read_element(struct oracle_fetch *fetch,
                                          const struct rt_texture_level *level, const int64_t at[3],
                                          bool is_border);

/* i = floor(x - 0.5), or i + 1 on side 1, and its weight. False: the border. */
bool oracle_linear_index(const struct oracle_fetch *fetch, unsigned i, int64_t size, unsigned side,
                         int64_t *index, double *weight);

struct oracle_element oracle_sample(struct oracle_fetch *fetch, double lod);

#endif
