/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a block's shared memory that belongs to the system: what the special registers
 * %reserved_smem_offset_... tell. Cooperative groups of several warps keep their barriers and up to
 * 288 bytes of what they exchange in the second item. As on GPUs, it lies in front of the program's
 * variables and counts for none of their sizes; kernels that read none of the registers have none.
 */
#ifndef PTX_RESERVED_SHARED_H
#define PTX_RESERVED_SHARED_H

#define PTX_RESERVED_SHARED_BYTES 1024
#define PTX_RESERVED_SHARED_ALIGN 16

/* Where the n-th item begins. */
#define PTX_RESERVED_SHARED_ITEM(n) ((n) * (PTX_RESERVED_SHARED_BYTES / 2))

#endif
