/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that misbehave: each gives its CUDA code and a report that says where, the process goes
 * on, and after a reset of the device everything works again; a hundred times without a leak.
 * Writes a little outside of an allocation are only told.
 * Arguments: the collapse; `precise` names the thread too. With `kept` code is compiled the first
 * time only, and comes from a cache after that.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "cudart/driver/cuda_driver.h"
#include "tests/support/emulated.h"

#define CYCLES  100
#define SETTLED 40 /* cycles after which nothing may grow any more */
#define PAGE    4096
#define MARGIN  65536 /* around an allocation */

#define HEAD    ".version 9.0\n.target sm_75\n.address_size 64\n"

/* The faulty instruction of every kernel is on line 10 of its text. */
#define KERNEL(body)                                                                               \
    HEAD ".visible .entry faulty(.param .u64 p)\n{\n.reg .pred %p; .reg .b32 %r<4>;\n"             \
         ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n\n" body "\nret;\n}\n"

/* The same in a cluster of two blocks. */
#define CLUSTER_KERNEL(body)                                                                       \
    ".version 9.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry faulty(.param .u64 p) .blocksareclusters .reqnctapercluster 2 .reqntid 1\n"   \
    "{\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 tile[1024];\n"      \
    "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p, %r1, 0; mov.u32 %r2, tile;\n"                  \
    "mapa.shared::cluster.u32 %r2, %r2, 0; @%p bra leave;\n\n" body "\nleave: ret;\n}\n"

#define PARTING                                                                                    \
    "setp.lt.u32 %p, %r1, 32; @%p bra there; bar.sync 1, 64; bra over;\n"                          \
    "there: bar.sync 2, 64; over:"

#define RECURSIVE                                                                                  \
    HEAD ".visible .func deeper(.param .u64 n)\n{\n.reg .b64 %rd<3>; .local .b8 frame[512];\n"     \
         "ld.param.u64 %rd1, [n]; st.local.u64 [frame], %rd1;\n"                                   \
         "{ .param .u64 a; st.param.u64 [a], %rd1; call deeper, (a); }\n"                          \
         "ld.local.u64 %rd2, [frame]; st.u64 [%rd2], %rd1; ret;\n}\n"                              \
         ".visible .entry faulty(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"  \
         "{ .param .u64 a; st.param.u64 [a], %rd1; call deeper, (a); }\nret;\n}\n"

/* Stores at an offset from the first block that malloc gives. */
#define HEAP_KERNEL(size, offset)                                                                  \
    HEAD ".extern .func (.param .b64 r) malloc (.param .b64 n);\n"                                 \
         ".visible .entry faulty(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n{ .param .b64 a; .param "   \
         ".b64 b;\n"                                                                               \
         "st.param.b64 [a], " size "; call (b), malloc, (a); ld.param.b64 %rd1, [b]; }\n"          \
         "st.u32 [%rd1+" offset "], 1;\nret;\n}\n"

struct fault {
    const char *name;
    const char *ptx;
    unsigned threads;
    int64_t offset; /* of the argument from the allocation's first byte, unless it is absolute */
    uint64_t address;
    enum crt_result code;
    const char *report; /* part of the line on standard error */
    const char *thread; /* another, where the collapse knows the thread; NULL: nothing */
};

/* Of an address that no memory can have AArch64 ignores the upper 8 bits, and an emulator reports
 * nothing. */
#if defined(__x86_64__)
#define NOT_CANONICAL(report) report
#else
#define NOT_CANONICAL(report) "invalid memory access in kernel 'faulty'"
#endif

static const struct fault faults[] = {
    {"wild address", KERNEL("st.global.u32 [%rd1], 1;"), 1, 0, 0xdead000000, CRT_ILLEGAL_ADDRESS,
     ", PTX line 10: address 0xdead000000", "block (0,0,0), thread (0,0,0)"},
    {"non-canonical address", KERNEL("st.global.u32 [%rd1], 1;"), 1, 0, 0x1234567812345678,
     CRT_ILLEGAL_ADDRESS,
     NOT_CANONICAL("PTX line 10: address 0x1234567812345678, which is not canonical"),
     "thread (0,0,0)"},
    {"non-canonical address with an offset, of a vector",
     KERNEL("st.global.v4.u32 [%rd1+64], {%r1, %r1, %r1, %r1};"), 1, 0, 0x4141414141414140,
     CRT_ILLEGAL_ADDRESS, NOT_CANONICAL("PTX line 10: address 0x4141414141414180,"), NULL},
    {"atomic at a non-canonical address", KERNEL("atom.global.add.u32 %r2, [%rd1+4], 1;"), 1, 0,
     0x4141414141414140, CRT_ILLEGAL_ADDRESS,
     NOT_CANONICAL("PTX line 10: address 0x4141414141414144,"), NULL},
    {"one non-canonical address of many",
     KERNEL("setp.eq.u32 %p, %r1, 17; @%p mov.u64 %rd1, 0x8000000000000000;\n"
            "st.global.u32 [%rd1], %r1;"),
     64, 0, 0, CRT_ILLEGAL_ADDRESS, NOT_CANONICAL("not canonical"), "thread (17,0,0)"},
    {"call of a non-canonical address", KERNEL("proto: .callprototype _ (); call %rd1, (), proto;"),
     1, 0, 0x4141414141414140, CRT_INVALID_PC,
     "call through an invalid function pointer in kernel 'faulty'", NULL},
    {"null", KERNEL("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+4], %r2;"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "PTX line 10: address 0x0", NULL},
    {"behind an allocation's margin", KERNEL("st.global.u32 [%rd1], 1;"), 1, PAGE + MARGIN, 0,
     CRT_ILLEGAL_ADDRESS, "65536 bytes after the nearest allocation", NULL},
    {"before an allocation's margin", KERNEL("st.global.u32 [%rd1], 1;"), 1, -MARGIN - 4, 0,
     CRT_ILLEGAL_ADDRESS, "65540 bytes before the nearest allocation", NULL},
    {"one thread of many, others in the margin",
     KERNEL("mul.wide.u32 %rd2, %r1, 17408; add.u64 %rd3, %rd1, %rd2; st.u32 [%rd3], 1;"), 5, 0, 0,
     CRT_ILLEGAL_ADDRESS, "PTX line 10", "thread (4,0,0)"},
    {"misaligned", KERNEL("st.global.u32 [%rd1], 1;"), 1, 2, 0, CRT_MISALIGNED_ADDRESS,
     "PTX line 10: address", "thread (0,0,0)"},
    {"misaligned vector",
     KERNEL("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];\n"
            "st.global.u32 [%rd1], %r3;"),
     1, 4, 0, CRT_MISALIGNED_ADDRESS, "PTX line 10", NULL},
    {"misaligned in local memory",
     KERNEL(
         ".local .align 8 .b8 own[64]; mov.u64 %rd2, own; ld.global.u8 %r2, [%rd1];\n"
         "st.local.v2.u32 [%rd2], {1, 2}; mad.wide.u32 %rd3, %r2, 4, %rd2; st.local.u32 [%rd3], "
         "3;\n"
         "mad.wide.u32 %rd3, %r1, 2, %rd2; ld.local.u32 %r2, [%rd3]; st.global.u32 [%rd1], %r2;"),
     3, 0, 0, CRT_MISALIGNED_ADDRESS, ", in local memory", "thread (1,0,0), PTX line 12"},
    {"misaligned in local memory that is kept across a barrier",
     KERNEL(".local .align 8 .b8 own[64]; mov.u64 %rd2, own; st.local.u32 [%rd2], %r1;\n"
            "bar.sync 0; mul.wide.u32 %rd3, %r1, 2; add.u64 %rd3, %rd2, %rd3;\n"
            "st.local.u32 [%rd3], 1; ld.local.u32 %r2, [%rd2]; st.global.u32 [%rd1], %r2;"),
     2, 0, 0, CRT_MISALIGNED_ADDRESS, ", in local memory", "PTX line 12"},
    {"misaligned in shared memory",
     KERNEL(".shared .align 8 .b8 tile[1024]; cvt.u32.u64 %r2, %rd1; and.b32 %r2, %r2, 1;\n"
            "mov.u32 %r3, tile; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2+6], 1;"),
     1, 0, 0, CRT_MISALIGNED_ADDRESS, ", 6 bytes inside the block's 1024 bytes of shared memory",
     "PTX line 11"},
    {"misaligned in the shared memory of another block",
     CLUSTER_KERNEL("st.shared::cluster.u32 [%r2+6], %r1; barrier.cluster.arrive;\n"
                    "barrier.cluster.wait;"),
     1, 0, 0, CRT_MISALIGNED_ADDRESS, ", 6 bytes inside another block's 1024 bytes of shared",
     "block (1,0,0)"},
    {"shared, far out", KERNEL("st.shared.u32 [%rd1], 1;"), 1, 0, 0x7ff00000, CRT_ILLEGAL_ADDRESS,
     "in kernel 'faulty'", NULL},
    {"behind shared memory",
     KERNEL(".shared .align 4 .b8 tile[1024]; st.shared.u32 [tile+1036], 1;"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "12 bytes after the block's 1024 bytes of shared memory", NULL},
    {"in front of shared memory",
     KERNEL(".shared .align 4 .b8 tile[4096]; st.shared.u32 [tile+-4], 1;"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "4 bytes before the block's 4096 bytes of shared memory", NULL},
    {"in front of shared memory, loaded through a register",
     KERNEL(".shared .align 4 .b8 tile[8192]; mov.u32 %r2, tile; sub.u32 %r2, %r2, 5120;\n"
            "ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3;"),
     1, 0, 0, CRT_ILLEGAL_ADDRESS, "5120 bytes before the block's 8192 bytes of shared memory",
     NULL},
    {"far behind shared memory",
     KERNEL(".shared .align 4 .b8 tile[1024]; st.shared.u32 [tile+233472], 1;"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "232448 bytes after the block's 1024 bytes of shared memory", NULL},
    {"far in front of shared memory",
     KERNEL(".shared .align 4 .b8 tile[1024]; st.shared.u32 [tile+-233472], 1;"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "233472 bytes before the block's 1024 bytes of shared memory", NULL},
    {"shared memory where there is none", KERNEL("mov.u32 %r2, -4; st.shared.u32 [%r2], 1;"), 1, 0,
     0, CRT_ILLEGAL_ADDRESS, "4 bytes before the block's 0 bytes of shared memory", NULL},
    {"atomic", KERNEL("atom.global.add.u32 %r2, [%rd1], 1;"), 1, 0, 0x10, CRT_ILLEGAL_ADDRESS,
     "PTX line 10: address 0x10", NULL},
    {"in front of a block of the device's heap", HEAP_KERNEL("64", "-4"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "PTX line 10", NULL},
    {"behind a large block of the device's heap", HEAP_KERNEL("1048576", "1048576"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "PTX line 10", NULL},
    {"in front of a large block of the device's heap", HEAP_KERNEL("1048576", "-4"), 1, 0, 0,
     CRT_ILLEGAL_ADDRESS, "PTX line 10", NULL},
    {"trap", KERNEL("trap;"), 1, 0, 0, CRT_LAUNCH_FAILED, "PTX line 10", NULL},
    {"endless recursion", RECURSIVE, 1, 0, 0, CRT_LAUNCH_FAILED,
     "stack overflow in kernel 'faulty'", NULL},
    {"bad function pointer", KERNEL("proto: .callprototype _ (); call %rd1, (), proto;"), 1, 0,
     0x1230, CRT_INVALID_PC, "call through an invalid function pointer in kernel 'faulty'", NULL},
    {"threads that wait for each other", KERNEL(PARTING), 64, 0, 0, CRT_LAUNCH_TIMEOUT,
     "deadlock: every thread of the block waits for another in kernel 'faulty'", NULL},
    {"a block of the cluster that has ended",
     CLUSTER_KERNEL("barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r3, "
                    "[%r2+8]; st.shared.u32 [tile], %r3;"),
     1, 0, 0, CRT_ILLEGAL_ADDRESS,
     ", in the shared memory of another block of the cluster, which has ended", "block (1,0,0)"},
    {"behind the shared memory of another block",
     CLUSTER_KERNEL("st.shared::cluster.u32 [%r2+1028], %r1;"), 1, 0, 0, CRT_ILLEGAL_ADDRESS,
     "4 bytes after another block's 1024 bytes of shared memory", "block (1,0,0)"},
    {"an mbarrier in another block that nobody completes",
     CLUSTER_KERNEL("mbarrier.init.shared.b64 [tile], 1;\n"
                    "wait: mbarrier.test_wait.parity.shared.b64 %p, [tile], 0; @!%p bra wait;"),
     1, 0, 0, CRT_LAUNCH_TIMEOUT,
     "deadlock: every thread of the block's cluster waits for another in kernel 'faulty'",
     "PTX line 11"},
    {"a rank that no block has", CLUSTER_KERNEL("mapa.shared::cluster.u32 %r2, %r2, 2;"), 1, 0, 0,
     CRT_ILLEGAL_INSTRUCTION, "PTX line 10", "block (1,0,0)"},
};

/* 64 threads store their numbers. */
static const char row_ptx[] =
    KERNEL("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;");

static const char good_ptx[] = HEAD ".visible .entry good(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n"
                                    "ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 77; ret;\n}\n";

static void make_context(void)
{
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr pointer;
    OK(cuMemAlloc_v2(&pointer, PAGE));
    return pointer;
}

static void launch(const char *ptx, const char *name, unsigned threads, CUdeviceptr argument)
{
    CUmodule module;
    CUfunction kernel;
    void *params[] = {&argument};
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, name));
    OK(cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
}

static void use_device(void)
{
    CUdeviceptr pointer = allocate();
    unsigned value = 0;
    launch(good_ptx, "good", 1, pointer);
    OK(cuMemcpyDtoH_v2(&value, pointer, sizeof value));
    EXPECT(77, value);
    OK(cuMemFree_v2(pointer));
}

/* Standard error goes here. */
static int log_file;
static bool knows_thread;

static void clear_log(void)
{
    if (ftruncate(log_file, 0) != 0)
        exit(1);
}

static void check_report(const char *name, const char *part)
{
    char text[4096] = "";
    if (pread(log_file, text, sizeof text - 1, 0) <= 0 || !strstr(text, part)) {
        printf("%s: no '%s' in: %s\n", name, part, text);
        exit(1);
    }
}

/* Errors of a context that a kernel has ruined are those of every call, until the reset. */
static void try_fault(const struct fault *fault)
{
    CUdeviceptr allocation = allocate();
    CUdeviceptr argument = fault->address;
    unsigned value;
    if (fault->offset)
        argument = allocation + (CUdeviceptr)fault->offset;
    else if (!fault->address && strcmp(fault->name, "null") != 0)
        argument = allocation;
    clear_log();
    launch(fault->ptx, "faulty", fault->threads, argument);
    CUresult result = cuCtxSynchronize();
    if (result != fault->code) {
        printf("%s: gave %d, not %d\n", fault->name, (int)result, (int)fault->code);
        exit(1);
    }
    check_report(fault->name, fault->report);
    if (knows_thread && fault->thread)
        check_report(fault->name, fault->thread);
    EXPECT(fault->code, cuMemcpyDtoH_v2(&value, allocation, sizeof value));
    EXPECT(fault->code, cuMemAlloc_v2(&allocation, PAGE));
    OK(cuDevicePrimaryCtxReset_v2(0));
    make_context();
    use_device();
}

/* A row that sticks out of an allocation by half is written as on a GPU, and that is said once. */
static void try_overrun(const char *name, int64_t offset, unsigned first, const char *report)
{
    CUdeviceptr allocation = allocate();
    unsigned inside[32];
    clear_log();
    launch(row_ptx, "faulty", 64, allocation + (CUdeviceptr)offset);
    OK(cuCtxSynchronize());
    check_report(name, "write outside of an allocation in kernel 'faulty'");
    check_report(name, ", block (0,0,0), PTX line 10: address");
    check_report(name, report);
    OK(cuMemcpyDtoH_v2(inside, allocation + (CUdeviceptr)(offset < 0 ? 0 : offset), sizeof inside));
    for (unsigned i = 0; i < 32; i++)
        EXPECT(first + i, inside[i]);
    clear_log();
    launch(row_ptx, "faulty", 64, allocation + (CUdeviceptr)offset);
    OK(cuCtxSynchronize());
    EXPECT(0, (int)lseek(log_file, 0, SEEK_END));
    OK(cuMemFree_v2(allocation));
}

static size_t count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t count = 0;
    char line[1024];
    while (file && fgets(line, sizeof line, file))
        count++;
    if (file)
        fclose(file);
    return count;
}

static size_t resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t total = 0;
    size_t resident = 0;
    if (file && fscanf(file, "%zu %zu", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * 4;
}

static bool is_sanitized(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

/* A cache of this process's own. */
static void keep_code(char *directory)
{
    if (!mkdtemp(directory))
        exit(1);
    setenv("PTXRUN_CACHE", "on", 1);
    setenv("PTXRUN_CACHE_DIR", directory, 1);
}

static void drop_code(const char *directory)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    EXPECT(0, system(command));
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/ptxrun-faults-XXXXXX";
    const char *collapse = argc > 1 ? argv[1] : "precise";
    bool is_kept = argc > 2 && strcmp(argv[2], "kept") == 0;
    setenv("PTXRUN_COLLAPSE", collapse, 1);
    if (is_kept)
        keep_code(directory);
    setenv("PTXRUN_COMPUTE_CAPABILITY", "9.0", 1);
    knows_thread = strcmp(collapse, "precise") == 0;
    size_t mappings = 0;
    size_t resident = 0;
    int cycles = is_sanitized() || is_emulated() ? CYCLES / 5 : CYCLES;
    log_file = memfd_create("log", MFD_CLOEXEC);
    if (log_file < 0 || dup2(log_file, STDERR_FILENO) < 0)
        return 1;
    fcntl(STDERR_FILENO, F_SETFL, O_APPEND);
    OK(cuInit(0));
    make_context();
    for (int cycle = 0; cycle < cycles; cycle++) {
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            try_fault(&faults[i]);
        if (cycle % 10 == 0) {
            try_overrun("overrun", PAGE - 128, 0, " bytes after the nearest allocation at");
            try_overrun("underrun", -128, 32, " bytes before the nearest allocation at");
        }
        if (cycle == SETTLED) {
            mappings = count_lines("/proc/self/maps");
            resident = resident_kib();
        }
    }
    printf("%zu mappings, then %zu; %zu KiB, then %zu\n", mappings, count_lines("/proc/self/maps"),
           resident, resident_kib());
    if (!is_sanitized() && !is_emulated()) {
        CHECK(count_lines("/proc/self/maps") <= mappings + 20);
        CHECK(resident_kib() <= resident + (8 << 10));
    }
    if (is_kept)
        drop_code(directory);
    puts("every fault was reported, and the device works");
    return 0;
}
