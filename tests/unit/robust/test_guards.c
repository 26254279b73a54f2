/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies around each kind of memory that kernels get the address of: nothing that they could
 * reach, whatever else the process maps. The kernel of the operating system is asked, as it refuses
 * to read from or write to what is inaccessible.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "cudart/driver/cuda_driver.h"
#include "util/pages.h"

#define PAGE    pxr_page_bytes()
#define KIB     ((size_t)1024)
#define GRANULE ((size_t)2 << 20)
#define MARGIN  (64 * KIB) /* around device memory, can be read, and written by kernels */

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .b8 first[4096];\n"
                          ".visible .const .align 4 .b8 constants[4096];\n"
                          ".visible .entry store(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 1; ret;\n}\n";

static int channel[2]; /* a pipe */

static bool can_read(uintptr_t address)
{
    char byte;
    if (write(channel[1], (const void *)address, 1) != 1)
        return false;
    CHECK(read(channel[0], &byte, 1) == 1);
    return true;
}

static bool can_write(uintptr_t address)
{
    char byte = 0;
    CHECK(write(channel[1], &byte, 1) == 1);
    if (read(channel[0], (void *)address, 1) == 1)
        return true;
    CHECK(read(channel[0], &byte, 1) == 1);
    return false;
}

/* Nothing is in reach within so many bytes of either end; margin_bytes around it can be read. */
static void check_ends(const char *what, uintptr_t base, size_t size_bytes, size_t margin_bytes,
                       size_t guard_bytes)
{
    uintptr_t end = base + size_bytes;
    CHECK(can_read(base) && can_read(end - 1));
    for (size_t step = 1; step <= guard_bytes; step *= 2) {
        uintptr_t behind = end + margin_bytes + step - 1;
        if (can_read(base - margin_bytes - step) || can_write(base - step) || can_read(behind)) {
            printf("%s: %zu bytes from an end can be accessed\n", what, step);
            exit(1);
        }
    }
    CHECK(!can_write(end) && !can_write(end + margin_bytes / 2));
}

static sem_t has_begun;

static void *wait_for_ever(void *arg)
{
    sem_post(&has_begun);
    pause();
    return arg;
}

/* Puts something into every gap that the system would fill next. */
static void fill_gaps(void)
{
    for (int i = 0; i < 64; i++) {
        char *memory = mmap(NULL, (size_t)(i % 8 + 1) * 64 * KIB, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED);
        memory[0] = 1;
        pthread_t thread;
        if (i % 8 != 0)
            continue;
        /* A thread that begins maps memory of its own. */
        CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
        CHECK(sem_wait(&has_begun) == 0);
    }
}

/* Executable memory that has no file, before there is any kernel: an emulator may have some. */
static uintptr_t others[8];
static int other_count;

static bool is_other(uintptr_t begin)
{
    int i = 0;
    while (i < other_count && others[i] != begin)
        i++;
    return i < other_count;
}

/* Calls visit with the bounds of each piece of executable memory that has no file; returns how
 * many. */
static int each_code(void (*visit)(uintptr_t begin, uintptr_t end))
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        unsigned long inode;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &begin, &end, rights, &inode) != 4 ||
            rights[2] != 'x' || inode != 0 || strchr(line, '[') || is_other(begin))
            continue;
        found++;
        visit(begin, end);
    }
    fclose(maps);
    return found;
}

static void note_other(uintptr_t begin, uintptr_t end)
{
    (void)end;
    CHECK(other_count < 8);
    others[other_count++] = begin;
}

static void check_piece(uintptr_t begin, uintptr_t end)
{
    CHECK(!can_read(begin - 1) && !can_read(begin - 64 * KIB));
    CHECK(!can_write(begin) && !can_write(end));
}

/* The code and the data beside it, of the kernel that ran last. */
static void check_code(void)
{
    CHECK(each_code(check_piece) > 0);
}

static CUmodule load(void)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, ptx));
    return module;
}

static void check_variable(CUmodule module, const char *name)
{
    CUdeviceptr address;
    size_t bytes;
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, name));
    /* Variables of a module lie together. */
    uintptr_t page = (uintptr_t)address & ~(PAGE - 1);
    CHECK(!can_read(page - 16 * PAGE) && !can_read(page + 4 * PAGE));
}

/* Addresses from `hint` on, with one granule of memory. */
static CUdeviceptr map_granule(CUmemGenericAllocationHandle handle, CUdeviceptr hint)
{
    CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = 3};
    CUdeviceptr base;
    OK(cuMemAddressReserve(&base, GRANULE, 0, hint, 0));
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    OK(cuMemSetAccess(base, GRANULE, &access, 1));
    return base;
}

static void free_granule(CUdeviceptr base)
{
    OK(cuMemUnmap(base, GRANULE));
    OK(cuMemAddressFree(base, GRANULE));
}

static void check_reservations(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = 1, .id = 0}};
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    CUdeviceptr base = map_granule(handle, 0);
    fill_gaps();
    check_ends("mapped memory", base, GRANULE, 0, 1 << 20);
    free_granule(base);

    void *hole = mmap(NULL, 16 * GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(munmap(hole, 16 * GRANULE) == 0);
    CUdeviceptr wanted = ((CUdeviceptr)(uintptr_t)hole / GRANULE + 8) * GRANULE;
    base = map_granule(handle, wanted);
    CHECK(base == wanted);

    /* A vector that grows asks for what follows, and gets it although a guard is there. */
    CUdeviceptr next = map_granule(handle, base + GRANULE);
    CHECK(next == base + GRANULE);
    fill_gaps();
    CHECK(can_write(next));
    check_ends("grown memory", base, 2 * GRANULE, 0, 1 << 20);
    free_granule(next);
    check_ends("what is left", base, GRANULE, 0, 4 * KIB);
    free_granule(base);
    OK(cuMemRelease(handle));
}

int main(void)
{
    CUcontext ctx;
    CUdeviceptr device, managed;
    void *host;
    CHECK(pipe(channel) == 0);
    CHECK(sem_init(&has_begun, 0, 0) == 0);
    each_code(note_other);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuMemAlloc_v2(&device, PAGE));
    fill_gaps();
    check_ends("the first allocation", device, PAGE, MARGIN, 1 << 20);
    OK(cuMemAlloc_v2(&device, 3 * PAGE));
    check_ends("device memory", device, 3 * PAGE, MARGIN, 64 * KIB);
    OK(cuMemAllocManaged(&managed, PAGE, 1));
    check_ends("managed memory", managed, PAGE, MARGIN, 64 * KIB);
    OK(cuMemHostAlloc(&host, 2 * PAGE, 0));
    OK(cuMemAlloc_v2(&device, PAGE));
    check_ends("page-locked memory", (uintptr_t)host, 2 * PAGE, 0, 64 * KIB);
    check_reservations();

    CUmodule module = load();
    CUfunction kernel;
    void *params[] = {&device};
    OK(cuModuleGetFunction(&kernel, module, "store"));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    fill_gaps();
    check_variable(module, "first");
    check_variable(module, "constants");
    check_code();
    puts("nothing is in reach");
    return 0;
}
