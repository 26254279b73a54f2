/* SPDX-License-Identifier: Apache-2.0
 *
 * The one device: this machine's CPUs, described as a device of compute capability 7.5.
 */
#ifndef PTXRUN_CUDART_CORE_DEVICE_H
#define PTXRUN_CUDART_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/result.h"

#define CRT_CAPABILITY             75
#define CRT_MULTIPROCESSORS_MIN    40 /* as a Tesla T4 has */
#define CRT_WARP_SIZE              32
#define CRT_MAX_THREADS_PER_BLOCK  1024
#define CRT_MAX_BLOCK_X            1024
#define CRT_MAX_BLOCK_Y            1024
#define CRT_MAX_BLOCK_Z            64
#define CRT_MAX_GRID_X             2147483647
#define CRT_MAX_GRID_Y             65535
#define CRT_MAX_GRID_Z             65535
#define CRT_SHARED_PER_BLOCK       49152
#define CRT_SHARED_PER_BLOCK_OPTIN 65536
#define CRT_SHARED_PER_SM          65536
#define CRT_REGISTERS_PER_BLOCK    65536
#define CRT_REGISTERS_PER_SM       65536
#define CRT_THREADS_PER_SM         1024
#define CRT_BLOCKS_PER_SM          16
#define CRT_PCI_DOMAIN             0
#define CRT_PCI_BUS                1
#define CRT_PCI_DEVICE             0
#define CRT_UUID_BYTES             16

struct pxr_options;

CRT_API_BEGIN

const char *crt_device_name(void);
const uint8_t *crt_device_uuid(void); /* CRT_UUID_BYTES, the same in every process */
size_t crt_device_memory_bytes(void);

/* Attribute numbers above the highest known give 0; CRT_INVALID_VALUE for other unknown ones. */
enum crt_result crt_device_attribute(int number, int *value);

CRT_API_END

/* Finds out about the machine and reserves the address space. */
enum crt_result crt_device_init(const struct pxr_options *options);

/* Whether a CUDA_VISIBLE_DEVICES list lets the device be seen. */
bool crt_device_is_listed(const char *list);

/* Workers that run blocks: the device's multiprocessors. */
unsigned crt_device_sm_count(void);

#endif
