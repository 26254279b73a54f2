/* SPDX-License-Identifier: Apache-2.0
 *
 * See numa.h. The two calls of the system are made without libnuma, of which nothing else is
 * needed.
 */
#include "cudart/core/memory/numa.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/log.h"
#include "util/options.h"

#define NODES_MAX     1024
#define BITS_PER_WORD (8 * sizeof(unsigned long))

void crt_numa_place(void *base, size_t size_bytes)
{
    unsigned long nodes[NODES_MAX / BITS_PER_WORD] = {0};
    if (pxr_options_get()->numa != PXR_NUMA_INTERLEAVE)
        return;
    if (syscall(SYS_get_mempolicy, NULL, nodes, (unsigned long)NODES_MAX, NULL,
                MPOL_F_MEMS_ALLOWED) != 0 ||
        syscall(SYS_mbind, base, size_bytes, MPOL_INTERLEAVE, nodes, (unsigned long)NODES_MAX, 0) !=
            0)
        pxr_log(PXR_LOG_WARNING, "--numa=interleave is not possible here: %s", strerror(errno));
}
