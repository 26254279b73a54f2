/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that may still be allocated: all that the system has left, less memory that was
 * promised and not touched.
 */
#include "cudart/core/memory/memory_budget.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cudart/core/base/memory_limit.h"

/* Asking the system for its free memory costs some tens of microseconds. After one answer, a part
 * of the room may be allocated without another, for a while. */
#define CREDIT_PART  8
#define CREDIT_BYTES ((size_t)256 << 20)
#define CREDIT_NS    UINT64_C(50000000)

/* Bytes that take memory of the system; of anonymous memory, all that the process has. */
static size_t resident_bytes(int file)
{
    struct stat status;
    if (file >= 0)
        return fstat(file, &status) == 0 ? (size_t)status.st_blocks * 512 : 0;
    long all = 0;
    long resident = 0;
    long shared = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%ld %ld %ld", &all, &resident, &shared) != 3)
        resident = shared;
    if (statm)
        fclose(statm);
    return (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

size_t crt_budget_room(const struct crt_budget *budget, int file)
{
    size_t available = crt_memory_available();
    size_t resident = resident_bytes(file);
    size_t untouched = budget->promised_bytes > resident ? budget->promised_bytes - resident : 0;
    return available > untouched ? available - untouched : 0;
}

static uint64_t coarse_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool crt_budget_take(struct crt_budget *budget, int file, size_t bytes)
{
    uint64_t now_ns = coarse_ns();
    if (now_ns < budget->credit_end_ns && bytes <= budget->credit_bytes) {
        budget->credit_bytes -= bytes;
        return true;
    }
    size_t room = crt_budget_room(budget, file);
    if (bytes > room)
        return false;
    size_t credit = (room - bytes) / CREDIT_PART;
    budget->credit_bytes = credit < CREDIT_BYTES ? credit : CREDIT_BYTES;
    budget->credit_end_ns = now_ns + CREDIT_NS;
    return true;
}
