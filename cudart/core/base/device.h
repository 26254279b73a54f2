/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices: equal shares of this machine, each described as a GPU of one architecture. The
 * machine has as many as --devices says; a program sees those that CUDA_VISIBLE_DEVICES lets
 * through, in its order.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_DEVICE_H
#define PTXRUN_CUDART_CORE_BASE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

#define CRT_DEVICES_MAX           16
#define CRT_MAX_LOCAL_PER_THREAD  (512u << 10)
#define CRT_MULTIPROCESSORS_MIN   40 /* as a Tesla T4 has */
#define CRT_WARP_SIZE             32
#define CRT_MAX_THREADS_PER_BLOCK 1024
#define CRT_MAX_BLOCK_X           1024
#define CRT_MAX_BLOCK_Y           1024
#define CRT_MAX_BLOCK_Z           64
#define CRT_MAX_GRID_X            2147483647
#define CRT_MAX_GRID_Y            65535
#define CRT_MAX_GRID_Z            65535
#define CRT_SHARED_PER_BLOCK      49152
#define CRT_REGISTERS_PER_BLOCK   65536
#define CRT_REGISTERS_PER_SM      65536
#define CRT_PCI_DOMAIN            0
#define CRT_PCI_DEVICE            0
#define CRT_UUID_BYTES            16
#define CRT_UUID_TEXT_BYTES       41 /* "GPU-8-4-4-4-12" and the end */
#define CRT_BUS_ID_BYTES          16

/* Around memory that is mapped outside of the arena: the granularity of mappings. */
#define CRT_MAPPING_GUARD_BYTES ((size_t)2 << 20)

struct pxr_options;

/* The properties of an architecture; architectures.def names their sources. */
struct crt_architecture {
    int capability; /* 75 */
    int threads_per_sm;
    int blocks_per_sm;
    int shared_per_sm;
    int shared_per_block_optin; /* with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    int shared_reserved;        /* part of each block's, for the system */
    int shared_unit;            /* allocations are multiples of it */
    int double_ratio;           /* single precision operations in the time of a double one */
    int param_bytes;            /* of a kernel, at most */
    const char *example;        /* a device of the capability, and its multiprocessors */
    int example_sm_count;
};

/* Constant once described. */
struct crt_device {
    int index;  /* the program's number for it; -1: it does not see it */
    int number; /* among the machine's, before CUDA_VISIBLE_DEVICES */
    size_t memory_bytes;
    uint8_t uuid[CRT_UUID_BYTES]; /* the same in every process */
    int pci_bus;
};

CRT_API_BEGIN

/* The devices that a program sees after crt_init; NULL for an index out of range. */
int crt_device_count(void);
struct crt_device *crt_device_at(int index);

/* The machine's devices, whatever the program sees. Needs no crt_init. Thread-safe. */
int crt_machine_device_count(void);
const struct crt_device *crt_machine_device_at(int number);

/* The same for all devices: there is one kind. Its architecture is the one that
 * --compute-capability names, or the one that the program needs. */
const char *crt_device_name(void);
const struct crt_architecture *crt_architecture_get(void);

/* The one that --check=device asks about: that one, unless it names another. */
const struct crt_architecture *crt_architecture_checked(void);

/* "GPU-70747872-…" */
void crt_device_uuid_text(const struct crt_device *device, char text[CRT_UUID_TEXT_BYTES]);

/* "0000:01:00.0" */
void crt_device_bus_id(const struct crt_device *device, char text[CRT_BUS_ID_BYTES]);

/* Attribute numbers above the highest known give 0; CRT_INVALID_VALUE for other unknown ones. */
enum crt_result crt_device_attribute(const struct crt_device *device, int number, int *value);

/* Multiprocessors of each device. */
unsigned crt_device_sm_count(void);

CRT_API_END

/* Chooses the devices that are seen. visible: the text of CUDA_VISIBLE_DEVICES, NULL when it is not
 * set. CRT_NO_DEVICE when it leaves none. */
enum crt_result crt_device_init(const char *visible);

#endif
