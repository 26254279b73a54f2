/* SPDX-License-Identifier: Apache-2.0
 *
 * What the runtime tells --check=api (cudart/driver/check_table.h).
 */
#include <pthread.h>

#include "cudart/driver/check_table.h"
#include "cudart/runtime/runtime.h"
#include "util/options.h"

/* Written once under `once`, then constant. */
static struct {
    pthread_once_t once;
    const struct cuda_check_table *table;
} check = {.once = PTHREAD_ONCE_INIT};

static void find_table(void)
{
    static const CUuuid id = {CUDA_CHECK_TABLE_ID};
    const void *table;
    if (cuGetExportTable(&table, &id) == 0)
        check.table = table;
}

/* NULL: nobody checks. */
static const struct cuda_check_table *find(void)
{
    if (!pxr_option_checks(PXR_CHECK_API))
        return NULL;
    pthread_once(&check.once, find_table);
    return check.table;
}

void crt_tell_error(cudaError_t error)
{
    const struct cuda_check_table *table = find();
    if (table)
        table->error((uint32_t)error);
}

void crt_tell_asked(void)
{
    const struct cuda_check_table *table = find();
    if (table)
        table->error_asked();
}

void crt_tell_named(cudaError_t error)
{
    const struct cuda_check_table *table = find();
    if (table)
        table->error_named((uint32_t)error);
}

void crt_tell_refused(CUkernel kernel, struct cuda_dim3 grid, struct cuda_dim3 block,
                      size_t shared_bytes, cudaError_t error)
{
    const struct cuda_check_table *table = find();
    const unsigned grids[3] = {grid.x, grid.y, grid.z};
    const unsigned blocks[3] = {block.x, block.y, block.z};
    if (table)
        table->launch_refused(kernel, grids, blocks, shared_bytes, (uint32_t)error);
}
