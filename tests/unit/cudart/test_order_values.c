/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory operations of streams: values that streams write and wait for.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "stream_fixture.h"

enum { GEQ, EQ, AND, NOR };

#define FLUSH (1u << 30)

static CUdeviceptr address_of(const void *word)
{
    return (uintptr_t)word;
}

static bool is_pending(CUstream stream)
{
    sleep_ms(5);
    CUresult result = cuStreamQuery(stream);
    cr_assert(result == CRT_SUCCESS || result == CRT_NOT_READY, "%d", (int)result);
    return result == CRT_NOT_READY;
}

Test(values, a_stream_waits_until_the_host_writes, .init = make_context, .timeout = 60)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *words = make_words(2);
    OK(cuStreamWaitValue32(stream, address_of(&words[0]), 5, GEQ));
    launch_put(stream, &words[1], 1);
    cr_expect(is_pending(stream));
    words[0] = 4;
    cr_expect(is_pending(stream));
    cr_expect_eq(words[1], 0);
    words[0] = 6;
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(words[1], 1);
}

/* The condition with a value of 32 bits that holds for one word and not for another. */
static void expect_condition(unsigned condition, unsigned value, unsigned no, unsigned yes)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *words = make_words(1);
    words[0] = no;
    OK(cuStreamWaitValue32_v2(stream, address_of(words), value, condition));
    cr_expect(is_pending(stream), "condition %u", condition);
    words[0] = yes;
    OK(cuStreamSynchronize(stream));
}

static void expect_wide_condition(unsigned condition, uint64_t value, uint64_t no, uint64_t yes)
{
    CUstream stream = make_stream(1);
    _Atomic(uint64_t) *word = (_Atomic(uint64_t) *)make_words(2);
    *word = no;
    OK(cuStreamWaitValue64_v2(stream, address_of(word), value, condition));
    cr_expect(is_pending(stream), "condition %u", condition);
    *word = yes;
    OK(cuStreamSynchronize(stream));
}

Test(values, conditions_are_those_of_the_documentation, .init = make_context, .timeout = 60)
{
    const uint64_t high = UINT64_C(1) << 40;
    expect_condition(GEQ, 5, 4, 5);
    expect_condition(GEQ | FLUSH, 0xfffffff0, 0x7ffffff0, 0x10); /* cyclic */
    expect_condition(EQ, 5, 6, 5);
    expect_condition(AND, 6, 9, 10);
    expect_condition(NOR, 0xf, 0xfffffff0, 0xfffffe00);
    expect_wide_condition(GEQ, high, high - 1, high + 1);
    expect_wide_condition(EQ, high, high | 1, high);
    expect_wide_condition(AND, high, ~high, high);
    expect_wide_condition(NOR, high, ~high, 0);
}

Test(values, a_wait_holds_up_no_other_stream, .init = make_context, .timeout = 60)
{
    enum { WAITERS = 64 }; /* more than workers */
    CUstream waiters[WAITERS];
    CUstream worker = make_stream(1);
    _Atomic(unsigned) *words = make_words(2);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = make_stream(1);
        OK(cuStreamWaitValue32(waiters[i], address_of(&words[0]), 1, EQ));
    }
    launch_put(worker, &words[1], 3);
    OK(cuLaunchHostFunc(worker, note, "h"));
    OK(cuStreamSynchronize(worker));
    cr_expect_eq(words[1], 3);
    cr_expect_str_eq(history, "h");
    words[0] = 1;
    OK(cuCtxSynchronize());
}

Test(values, a_kernel_can_write_what_a_stream_waits_for, .init = make_context, .timeout = 60)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(1);
    CUdeviceptr flag;
    _Atomic(unsigned) *words = make_words(1);
    OK(cuMemAlloc_v2(&flag, 4));
    OK(cuMemsetD32_v2(flag, 0, 1));
    OK(cuStreamWaitValue32(second, flag, 8, EQ));
    launch_put(second, &words[0], 1);
    launch_put(first, (void *)(uintptr_t)flag, 8);
    OK(cuStreamSynchronize(second));
    cr_expect_eq(words[0], 1);
}

Test(values, streams_hand_a_token_to_and_fro, .init = make_context, .timeout = 60)
{
    enum { ROUNDS = 100 };
    CUstream ping = make_stream(1);
    CUstream pong = make_stream(1);
    _Atomic(unsigned) *words = make_words(3);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        OK(cuStreamWriteValue32(ping, address_of(&words[0]), i, 0));
        OK(cuStreamWaitValue32(ping, address_of(&words[1]), i, GEQ));
        OK(cuStreamWaitValue32_v2(pong, address_of(&words[0]), i, GEQ));
        OK(cuStreamWriteValue32_v2(pong, address_of(&words[1]), i, 0));
    }
    launch_put(ping, &words[2], 1);
    OK(cuStreamSynchronize(ping));
    OK(cuStreamSynchronize(pong));
    cr_expect_eq(words[0], ROUNDS);
    cr_expect_eq(words[1], ROUNDS);
    cr_expect_eq(words[2], 1);
}

Test(values, a_write_comes_after_the_work_before_it, .init = make_context)
{
    CUstream stream = make_stream(1);
    _Atomic(uint64_t) *word = (_Atomic(uint64_t) *)make_words(2);
    OK(cuLaunchHostFunc(stream, wait_gate, "x"));
    OK(cuStreamWriteValue64(stream, address_of(word), UINT64_C(1) << 33, 0));
    OK(cuStreamWriteValue32(stream, address_of(word), 7, 1));
    sleep_ms(5);
    cr_expect_eq(*word, 0);
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(*word, (UINT64_C(1) << 33) + 7);
}

/* A batch: write a, wait for b, write c. */
static void fill_batch(CUstreamBatchMemOpParams *ops, const _Atomic(unsigned) *words)
{
    memset(ops, 0, 4 * sizeof *ops);
    ops[0].writeValue.operation = 2;
    ops[0].writeValue.address = address_of(&words[0]);
    ops[0].writeValue.value = 11;
    ops[1].waitValue.operation = 1;
    ops[1].waitValue.address = address_of(&words[1]);
    ops[1].waitValue.value = 12;
    ops[1].waitValue.flags = EQ;
    ops[2].flushRemoteWrites.operation = 3;
    ops[3].writeValue.operation = 5;
    ops[3].writeValue.address = address_of(&words[2]);
    ops[3].writeValue.value64 = 13;
}

Test(values, a_batch_is_done_in_its_order, .init = make_context, .timeout = 60)
{
    CUresult (*const calls[])(CUstream, unsigned, CUstreamBatchMemOpParams *,
                              unsigned) = {cuStreamBatchMemOp, cuStreamBatchMemOp_v2,
                                           cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp_v2_ptsz};
    for (int i = 0; i < 4; i++) {
        CUstreamBatchMemOpParams ops[4];
        CUstream stream = i < 2 ? make_stream(1) : CU_STREAM_PER_THREAD;
        _Atomic(unsigned) *words = make_words(4);
        fill_batch(ops, words);
        OK(calls[i](i < 2 ? stream : NULL, 4, ops, 0));
        memset(ops, 0xff, sizeof ops); /* was copied at the call */
        cr_expect(is_pending(stream));
        cr_expect_eq(words[0], 11);
        cr_expect_eq(words[2], 0);
        words[1] = 12;
        OK(cuStreamSynchronize(stream));
        cr_expect_eq(words[2], 13);
    }
}

Test(values, captured_operations_are_done_at_each_launch_of_the_graph, .init = make_context,
     .timeout = 60)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *words = make_words(4);
    CUstreamBatchMemOpParams ops[4];
    CUgraph graph;
    CUgraphExec exec;
    fill_batch(ops, words);
    OK(cuStreamBeginCapture(stream));
    OK(cuStreamBatchMemOp_v2(stream, 4, ops, 0));
    launch_put(stream, &words[3], 14);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 4; j++)
            words[j] = 0;
        OK(cuGraphLaunch(exec, stream));
        cr_expect(is_pending(stream));
        cr_expect_eq(words[0], 11);
        cr_expect_eq(words[3], 0);
        words[1] = 12;
        OK(cuStreamSynchronize(stream));
        cr_expect_eq(words[2], 13);
        cr_expect_eq(words[3], 14);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

Test(values, a_barrier_exists_in_the_second_version_only, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUstreamBatchMemOpParams op = {.memoryBarrier = {.operation = 6, .flags = 1}};
    EXPECT(CRT_INVALID_VALUE, cuStreamBatchMemOp(stream, 1, &op, 0));
    OK(cuStreamBatchMemOp_v2(stream, 1, &op, 0));
    OK(cuStreamSynchronize(stream));
}

Test(values, per_thread_forms_use_the_threads_own_stream, .init = make_context)
{
    _Atomic(uint64_t) *word = (_Atomic(uint64_t) *)make_words(2);
    CUdeviceptr address = address_of(word);
    OK(cuStreamWriteValue32_ptsz(NULL, address, 3, 0));
    OK(cuStreamWaitValue32_ptsz(NULL, address, 3, EQ));
    OK(cuStreamWriteValue32_v2_ptsz(NULL, address, 4, 0));
    OK(cuStreamWaitValue32_v2_ptsz(NULL, address, 4, EQ));
    OK(cuStreamWriteValue64_ptsz(NULL, address, 5, 0));
    OK(cuStreamWaitValue64_ptsz(NULL, address, 5, EQ));
    OK(cuStreamWriteValue64_v2_ptsz(NULL, address, 6, 0));
    OK(cuStreamWaitValue64_v2_ptsz(NULL, address, 6, EQ));
    OK(cuStreamWaitValue64(CU_STREAM_PER_THREAD, address, 6, EQ));
    OK(cuStreamWriteValue64_v2(CU_STREAM_PER_THREAD, address, 7, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    cr_expect_eq(*word, 7);
}

Test(values, a_fault_ends_the_waits_of_its_context, .init = make_context, .timeout = 60)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *words = make_words(1);
    void *none[1];
    OK(cuStreamWaitValue32(stream, address_of(words), 1, EQ));
    OK(launch_one(get_kernel("stop"), NULL, none));
    cr_expect_neq(cuStreamSynchronize(NULL), CRT_SUCCESS);
    cr_expect_neq(cuCtxSynchronize(), CRT_SUCCESS);
    OK(cuDevicePrimaryCtxReset_v2(0));
}

Test(values, a_destroyed_stream_goes_on_waiting, .init = make_context, .timeout = 60)
{
    CUstream stream = make_stream(0);
    _Atomic(unsigned) *words = make_words(2);
    OK(cuStreamWaitValue32(stream, address_of(&words[0]), 1, EQ));
    launch_put(stream, &words[1], 2);
    OK(cuStreamDestroy_v2(stream));
    cr_expect(is_pending(NULL));
    words[0] = 1;
    OK(cuStreamSynchronize(NULL));
    cr_expect_eq(words[1], 2);
}

/* ---- memory that goes while it is waited for ---- */

static _Atomic(unsigned) *map_page(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(page, MAP_FAILED);
    OK(cuMemHostRegister_v2(page, 4096, 0));
    return page;
}

Test(values, unregistering_what_is_waited_for_is_an_illegal_address, .init = make_context,
     .timeout = 60)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *page = map_page();
    OK(cuStreamWaitValue32(stream, address_of(page), 5, GEQ));
    cr_expect(is_pending(stream));
    OK(cuMemHostUnregister((void *)page));
    EXPECT(CRT_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

Test(values, unmapping_what_is_waited_for_is_an_illegal_address, .init = make_context,
     .timeout = 60)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *page = map_page();
    OK(cuStreamWaitValue32(stream, address_of(page), 5, GEQ));
    cr_expect(is_pending(stream));
    munmap((void *)page, 4096); /* still registered */
    EXPECT(CRT_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

Test(values, writing_where_no_memory_is_any_more_is_an_illegal_address, .init = make_context,
     .timeout = 60)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *page = map_page();
    OK(cuLaunchHostFunc(stream, wait_gate, "a"));
    OK(cuStreamWriteValue32(stream, address_of(page), 5, 0));
    munmap((void *)page, 4096);
    atomic_store(&gate, 1);
    EXPECT(CRT_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

/* What was freed in a stream is there for what came before, in that stream or in others. */
Test(values, memory_freed_later_in_the_stream_can_be_waited_for, .init = make_context,
     .timeout = 60)
{
    CUstream stream = make_stream(1);
    CUstream other = make_stream(1);
    CUdeviceptr word;
    OK(cuMemAllocAsync(&word, 4, stream));
    OK(cuMemsetD32Async(word, 0, 1, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamWaitValue32(stream, word, 5, GEQ));
    OK(cuMemFreeAsync(word, stream));
    cr_expect(is_pending(stream));
    launch_put(other, (const void *)(uintptr_t)word, 5);
    OK(cuStreamSynchronize(stream));
}
