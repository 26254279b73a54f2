/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults inside kernels end their grid and nothing else; faults elsewhere are not ours.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"
#include "util/pages.h"

/* The sanitizers' own checks would see some of these accesses before the processor does. */
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

static UNCHECKED uint32_t load(const volatile uint32_t *pointer)
{
    return *pointer;
}

static volatile uint32_t *hole(void)
{
    static void *page;
    if (!page)
        page = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (volatile uint32_t *)((uint8_t *)page + 48);
}

static atomic_uint finished;

static void load_in_one_thread(struct rt_thread *thread)
{
    const uint32_t *at = thread->block->ctaid;
    if (at[0] == 2 && at[1] == 1 && thread->tid[0] == 37)
        load(data(thread));
    rt_bar_sync(thread, 0, 0);
    atomic_fetch_add(&finished, 1);
}

Test(fault, bad_address_is_reported_with_block_thread_and_address)
{
    volatile uint32_t *bad = hole();
    for (unsigned i = 0; i < 20; i++) {
        sch_set_chaos(i);
        struct sch_fault fault = run_grid((struct run){
            .entry = load_in_one_thread, .grid = {5, 3}, .block = {64}, .data = (void *)bad});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
        cr_assert_eq(fault.address, (uintptr_t)bad);
        cr_assert_eq(fault.ctaid[0], 2);
        cr_assert_eq(fault.ctaid[1], 1);
        cr_assert_eq(fault.ctaid[2], 0);
        cr_assert(fault.has_thread);
        cr_assert_eq(fault.tid[0], 37);
        cr_assert_neq(fault.pc, 0);
        cr_assert_not_null(fault.launch);
    }
    RUN_OK({.entry = load_in_one_thread, .grid = {2}, .block = {64}});
}

static void load_everywhere(struct rt_thread *thread)
{
    load(data(thread));
}

Test(fault, in_every_thread_of_a_large_grid_ends_it_at_once)
{
    struct sch_fault fault = run_grid((struct run){.entry = load_everywhere,
                                                   .grid = {1u << 30, 60000, 60000},
                                                   .block = {256},
                                                   .data = (void *)hole()});
    cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
}

static void explicit_fault(struct rt_thread *thread)
{
    if (tid(thread) == 3 && thread->block->ctaid[0] == 1)
        rt_fault(thread, PXR_FAULT_TRAP, 0x1234);
    rt_bar_sync(thread, 0, 0);
}

Test(fault, raised_by_the_kernel_carries_status_and_address)
{
    for (unsigned i = 0; i < 20; i++) {
        sch_set_chaos(i);
        struct sch_fault fault =
            run_grid((struct run){.entry = explicit_fault, .grid = {4}, .block = {48}});
        cr_assert_eq(fault.status, PXR_FAULT_TRAP);
        cr_assert_eq(fault.address, 0x1234);
        cr_assert_eq(fault.tid[0], 3);
        cr_assert_eq(fault.ctaid[0], 1);
        cr_assert_neq(fault.pc, 0);
    }
}

static UNCHECKED uint32_t recurse(uint32_t depth, volatile uint8_t *outer)
{
    volatile uint8_t frame[512];
    frame[0] = (uint8_t)(outer[0] + 1);
    if (depth == 0)
        return frame[0];
    return recurse(depth - 1, frame) + frame[0];
}

static void overflow(struct rt_thread *thread)
{
    volatile uint8_t start = (uint8_t)thread->tid[0];
    recurse(*(uint32_t *)data(thread), &start);
}

Test(fault, stack_overflow_is_told_apart)
{
    static uint32_t depth = 100000;
    for (int i = 0; i < 5; i++) {
        struct sch_fault fault =
            run_grid((struct run){.entry = overflow, .grid = {4}, .block = {32}, .data = &depth});
        cr_assert_eq(fault.status, PXR_FAULT_STACK, "%s", pxr_status_name(fault.status));
    }
}

Test(fault, a_larger_stack_can_be_asked_for)
{
    static uint32_t depth = 1000;
    RUN_OK({.entry = overflow, .grid = {4}, .block = {64}, .stack_bytes = 1000000, .data = &depth});
}

static UNCHECKED void call_nothing(struct rt_thread *thread)
{
    void (*volatile function)(void);
    void *target = data(thread);
    memcpy((void *)&function, &target, sizeof function);
    function();
}

Test(fault, jump_to_a_bad_address_is_told_apart)
{
    struct sch_fault fault = run_grid((struct run){.entry = call_nothing, .data = (void *)hole()});
    cr_assert_eq(fault.status, PXR_FAULT_PC);
}

static void illegal(struct rt_thread *thread)
{
    (void)thread;
#if defined(__x86_64__)
    __asm__ volatile("ud2");
#else
    __asm__ volatile("udf #0");
#endif
}

Test(fault, illegal_instruction_is_told_apart)
{
    cr_assert_eq(run_grid((struct run){.entry = illegal}).status, PXR_FAULT_INSTRUCTION);
}

static uint8_t *behind_shared(const struct rt_thread *thread)
{
    return thread->block->shared + thread->block->launch->shared_bytes + 128;
}

static void write_behind_shared(struct rt_thread *thread)
{
    *(volatile uint8_t *)behind_shared(thread) = 1;
}

static void read_behind_shared(struct rt_thread *thread)
{
    load((uint32_t *)(void *)behind_shared(thread));
}

/* As far as a vector or one more turn of a loop reaches, reads are let pass. */
Test(fault, writing_past_shared_memory_is_caught)
{
    static const uint32_t sizes[] = {0, 128, 1000, 49152, 233472};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sch_fault fault =
            run_grid((struct run){.entry = write_behind_shared, .shared_bytes = sizes[i]});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
        fault = run_grid((struct run){.entry = read_behind_shared, .shared_bytes = sizes[i]});
        cr_assert_eq(fault.status, sizes[i] > 0 ? PXR_OK : PXR_FAULT_ADDRESS);
    }
}

/* Accesses shared memory at an offset from its first byte. */
static void shared_at(struct rt_thread *thread)
{
    load((uint32_t *)(void *)(thread->block->shared + *(ptrdiff_t *)data(thread)));
}

static void expect_shared_fault(uint32_t shared_bytes, ptrdiff_t offset)
{
    struct sch_fault fault =
        run_grid((struct run){.entry = shared_at, .shared_bytes = shared_bytes, .data = &offset});
    cr_assert_eq(fault.status, PXR_FAULT_ADDRESS, "%u bytes, offset %td", shared_bytes, offset);
}

/* What so many bytes leave of their last page. */
static ptrdiff_t spare(ptrdiff_t bytes)
{
    return (ptrdiff_t)pxr_round_to_pages((size_t)bytes) - bytes;
}

/* The small sizes come after large ones: what those have left must not be in reach. */
Test(fault, guards_are_on_both_sides_of_shared_memory)
{
    static const uint32_t sizes[] = {0, 233472, 1, 128, 49152, 1000, 4096, 4097};
    const ptrdiff_t far = (ptrdiff_t)PXR_AREA_GUARD_BYTES / 2 - 64;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ptrdiff_t used = (sizes[i] + 127) & ~127;
        /* In front, can be read: at least as much as the widest vector; behind: a page. */
        ptrdiff_t in_page = sizes[i] > 0 ? spare(used + 64) + 64 : 0;
        ptrdiff_t page = sizes[i] > 0 ? (ptrdiff_t)pxr_page_bytes() : 0;
        expect_shared_fault(sizes[i], used + page);
        expect_shared_fault(sizes[i], used + far);
        expect_shared_fault(sizes[i], -in_page - 4);
        expect_shared_fault(sizes[i], -in_page - 1024);
        expect_shared_fault(sizes[i], -in_page - far);
    }
}

/* A masked load that begins in front of shared memory is slow if there is no page. */
static void look_in_front(struct rt_thread *thread)
{
    unsigned char in_memory;
    uint8_t *page = (uint8_t *)((uintptr_t)(thread->block->shared - 64) & ~(uintptr_t)4095);
    if (mincore(page, 4096, &in_memory) != 0 || !(in_memory & 1))
        rt_fault(thread, PXR_FAULT_ADDRESS, (uint64_t)(uintptr_t)page);
}

Test(fault, a_page_is_in_front_of_shared_memory)
{
    for (uint32_t bytes = 128; bytes <= 3 * 4096; bytes += 64)
        for (uint32_t blocks = 1; blocks <= 2; blocks++)
            RUN_OK({.entry = look_in_front,
                    .grid = {2},
                    .block = {32},
                    .cluster = {blocks},
                    .shared_bytes = bytes});
}

static void frame_at(struct rt_block *block, uint32_t count)
{
    (void)count;
    ptrdiff_t *offset;
    memcpy(&offset, block->launch->params, sizeof offset);
    load((uint32_t *)(void *)(block->frame + *offset));
}

Test(fault, guards_are_on_both_sides_of_a_frame)
{
    static const uint64_t sizes[] = {4096, 1 << 20, 3 << 16, 64};
    const ptrdiff_t far = (ptrdiff_t)PXR_AREA_GUARD_BYTES - 64;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ptrdiff_t size = (ptrdiff_t)sizes[i];
        ptrdiff_t in_page = spare(size);
        ptrdiff_t offsets[] = {size, size + far, -in_page - 4, -in_page - far};
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
            struct sch_fault fault = run_grid(
                (struct run){.fused = frame_at, .frame_bytes = sizes[i], .data = &offsets[k]});
            cr_assert_eq(fault.status, PXR_FAULT_ADDRESS, "%td of %td", offsets[k], size);
        }
    }
}

/* Above the stack of one of the threads, all of which have one: farther than those begin apart. */
static void above_stack(struct rt_thread *thread)
{
    rt_bar_sync(thread, 0, 0);
    if (tid(thread) == *(uint32_t *)data(thread))
        load((uint32_t *)(void *)(thread->stack_base + 8192));
}

Test(fault, a_guard_is_above_every_stack)
{
    for (uint32_t chosen = 0; chosen < 64; chosen++) {
        struct sch_fault fault =
            run_grid((struct run){.entry = above_stack, .block = {64}, .data = &chosen});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS, "thread %u", chosen);
    }
}

static void store_shared(struct rt_thread *thread)
{
    uint32_t bytes = thread->block->launch->shared_bytes;
    if ((uintptr_t)thread->block->shared % 128 != 0)
        rt_fault(thread, PXR_FAULT_MISALIGNED, 0);
    for (uint32_t i = tid(thread); i < bytes; i += block_threads(thread))
        thread->block->shared[i] = (uint8_t)i;
}

Test(fault, none_within_shared_memory)
{
    RUN_OK({.entry = store_shared, .grid = {9}, .block = {32}, .shared_bytes = 233472});
    RUN_OK({.entry = store_shared, .grid = {9}, .block = {32}, .shared_bytes = 1});
}

static void fault_while_others_wait(struct rt_thread *thread)
{
    if (thread->block->ctaid[0] == 0 && tid(thread) == 0) {
        for (int i = 0; i < 50; i++)
            rt_nanosleep(thread, 1);
        load((uint32_t *)(uintptr_t)hole());
    }
    for (;;)
        poll(thread);
}

Test(fault, ends_blocks_that_poll_for_ever)
{
    for (unsigned i = 0; i < 4; i++) {
        sch_set_chaos(i);
        struct sch_fault fault =
            run_grid((struct run){.entry = fault_while_others_wait, .grid = {8}, .block = {33}});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
    }
}

static sigjmp_buf resume;
static volatile int caught;

static void on_signal(int number)
{
    caught = number;
    siglongjmp(resume, 1);
}

/* Raises a fault on the calling thread; true if the application's handler got it. */
static bool application_catches(void)
{
    caught = 0;
    if (sigsetjmp(resume, 1) == 0)
        load((uint32_t *)(uintptr_t)hole());
    return caught == SIGSEGV;
}

Test(fault, outside_of_kernels_goes_to_the_handler_before)
{
    signal(SIGSEGV, on_signal);
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert(application_catches());
        cr_assert_eq(
            run_grid((struct run){.entry = load_everywhere, .data = (void *)hole()}).status,
            PXR_FAULT_ADDRESS);
    }
}

Test(fault, handler_is_put_back_when_the_application_installs_its_own)
{
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    for (int i = 0; i < 20; i++) {
        signal(SIGSEGV, on_signal);
        cr_assert_eq(
            run_grid((struct run){.entry = load_everywhere, .data = (void *)hole()}).status,
            PXR_FAULT_ADDRESS);
        cr_assert(application_catches());
    }
}

static struct sigaction replaced;

static void on_signal_passing_back(int number, siginfo_t *info, void *context)
{
    replaced.sa_sigaction(number, info, context);
}

Test(fault, handlers_that_pass_back_to_each_other_do_not_recurse)
{
    signal(SIGSEGV, on_signal);
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    struct sigaction action = {.sa_sigaction = on_signal_passing_back, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, &replaced);
    sch_fault_handler_check();
    cr_assert(application_catches());
    cr_assert_eq(run_grid((struct run){.entry = load_everywhere, .data = (void *)hole()}).status,
                 PXR_FAULT_ADDRESS);
    cr_assert(application_catches());
}

static void one_thread(struct rt_thread *thread)
{
    (void)thread;
}

Test(fault, an_impossible_launch_is_refused)
{
    cr_assert_eq(run_grid((struct run){.entry = one_thread, .block = {1025}}).status,
                 PXR_OUT_OF_RESOURCES);
    cr_assert_eq(run_grid((struct run){.entry = one_thread, .block = {1u << 16, 1u << 16}}).status,
                 PXR_OUT_OF_RESOURCES);
    cr_assert_eq(run_grid((struct run){.entry = one_thread, .stack_bytes = UINT32_MAX}).status,
                 PXR_OUT_OF_RESOURCES);
}

static void unsupported(struct rt_thread *thread)
{
    if (thread->tid[0] == 5)
        rt_unsupported(thread, "a test of what is not supported");
}

Test(fault, what_is_not_supported_is_an_illegal_instruction)
{
    struct sch_fault fault = run_grid((struct run){.entry = unsupported, .block = {48}});
    cr_assert_eq(fault.status, PXR_FAULT_INSTRUCTION);
    cr_assert_eq(fault.tid[0], 5);
    cr_assert_neq(fault.pc, 0);
}

#define LOCAL_WORDS 3000

/* Module-scope local variables: below the limit, each thread's own, apart from its stack. */
static void use_locals(struct rt_thread *thread)
{
    uint32_t *locals = (uint32_t *)(void *)(thread->stack_limit - LOCAL_WORDS * sizeof(uint32_t));
    for (uint32_t i = 0; i < LOCAL_WORDS; i++)
        locals[i] = tid(thread) + i;
    rt_bar_sync(thread, 0, 0);
    for (uint32_t i = 0; i < LOCAL_WORDS; i++)
        if (locals[i] != tid(thread) + i)
            rt_fault(thread, PXR_FAULT_TRAP, 0);
}

Test(fault, no_thread_touches_the_local_variables_of_another)
{
    for (int i = 0; i < 3; i++)
        RUN_OK({.entry = use_locals,
                .grid = {3},
                .block = {100},
                .local_bytes = LOCAL_WORDS * sizeof(uint32_t)});
}
