/* SPDX-License-Identifier: Apache-2.0
 *
 * mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"). What an
 * object holds is opaque; here it is the manual's list of what it keeps track of. Where there is
 * none (any more), operations count all the same. Threads run one instruction at a time, so orders
 * and scopes mean nothing.
 */
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* "The valid range of each of the counts": 0 or 1 to 2^20 - 1; of the tx-count, to both sides. */
#define MAX_COUNT ((INT64_C(1) << 20) - 1)

/* No program of a test asks as often before something changes. */
#define MAX_VAIN_ASKS 1000000

struct object {
    unsigned phase : 1;
    unsigned is_valid : 1;
    unsigned pending : 20;  /* arrivals of the current phase */
    unsigned expected : 20; /* arrivals of the next phase */
    int tx_count : 21;
};

/* Of an object and of a state: 64 bits. */
static uint64_t to_bits(struct object object)
{
    uint64_t tx_bits = (uint32_t)object.tx_count & 0x1fffff;

    return tx_bits | (uint64_t)object.pending << 21 | (uint64_t)object.expected << 41 |
           (uint64_t)object.is_valid << 61 | (uint64_t)object.phase << 62;
}

static struct object from_bits(uint64_t bits)
{
    return (struct object){
        .tx_count = (int)((int64_t)(bits << 43) >> 43),
        .pending = (unsigned)(bits >> 21 & MAX_COUNT),
        .expected = (unsigned)(bits >> 41 & MAX_COUNT),
        .is_valid = (unsigned)(bits >> 61 & 1),
        .phase = (unsigned)(bits >> 62 & 1),
    };
}

/* The memory of the object at an address operand; a generic address must be one of shared memory.
 */
static enum pxr_status resolve(struct oracle_thread *thread, const struct ptx_inst *inst,
                               unsigned operand, enum ptx_space space, uint8_t **host)
{
    bool is_shared = false;
    enum pxr_status status =
        oracle_resolve(thread, inst, space, oracle_address_of(thread, &inst->operands[operand]), 8,
                       ORACLE_STORE, host, &is_shared);

    if (status == PXR_OK && !is_shared)
        return oracle_fail(thread, inst, PXR_FAULT_ADDRESS,
                           "an mbarrier object is in shared memory");
    return status;
}

static enum pxr_status load(struct oracle_thread *thread, const struct ptx_inst *inst,
                            unsigned operand, enum ptx_space space, uint8_t **host,
                            struct object *object)
{
    enum pxr_status status = resolve(thread, inst, operand, space, host);
    uint64_t bits = 0;

    if (status != PXR_OK)
        return status;
    memcpy(&bits, *host, sizeof(bits));
    *object = from_bits(bits);
    return PXR_OK;
}

static void store(struct oracle_thread *thread, uint8_t *host, struct object object)
{
    uint64_t bits = to_bits(object);

    thread->block->cluster->vain_asks = 0;
    memcpy(host, &bits, sizeof(bits));
}

/* ---- mbarrier.init, inval ---- */

/* "Current phase 0, expected and pending arrivals count, tx-count 0." */
enum pxr_status oracle_mbarrier_init(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint32_t count = oracle_read(thread, inst, 1, PTX_TYPE_U32).u32;
    uint8_t *host;
    enum pxr_status status = resolve(thread, inst, 0, ptx_inst_space(inst), &host);

    if (status != PXR_OK)
        return status;
    if (count == 0 || count > MAX_COUNT)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "a count of %u", count);
    store(thread, host,
          (struct object){
              .is_valid = 1, .pending = count & MAX_COUNT, .expected = count & MAX_COUNT});
    return PXR_OK;
}

enum pxr_status oracle_mbarrier_inval(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct object object;
    uint8_t *host;
    enum pxr_status status = load(thread, inst, 0, ptx_inst_space(inst), &host, &object);

    if (status != PXR_OK)
        return status;
    object.is_valid = 0;
    store(thread, host, object);
    return PXR_OK;
}

/* ---- phases ---- */

/* "The current phase is complete when pending arrivals and tx-count have reached zero": then the
 * object becomes that of the next. */
static bool is_complete(const struct object *object)
{
    return object->pending == 0 && object->tx_count == 0;
}

static void complete(struct object *object)
{
    object->phase ^= 1;
    object->pending = object->expected;
}

/* "expect-tx increases the tx-count, complete-tx decreases it." */
static enum pxr_status change_tx(struct oracle_thread *thread, const struct ptx_inst *inst,
                                 struct object *object, int64_t change)
{
    int64_t tx_count = object->tx_count + change;

    bool is_in_range = change <= MAX_COUNT && change >= -MAX_COUNT && tx_count <= MAX_COUNT &&
                       tx_count >= -MAX_COUNT;

    if (object->is_valid && !is_in_range)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "a tx-count out of range");
    object->tx_count = (int)tx_count;
    return PXR_OK;
}

enum pxr_status oracle_complete_tx(struct oracle_thread *thread, const struct ptx_inst *inst,
                                   unsigned operand, enum ptx_space space, uint32_t bytes)
{
    struct object object;
    uint8_t *host;
    enum pxr_status status = load(thread, inst, operand, space, &host, &object);

    if (status == PXR_OK)
        status = change_tx(thread, inst, &object, -(int64_t)bytes);
    if (status != PXR_OK)
        return status;
    if (is_complete(&object))
        complete(&object);
    store(thread, host, object);
    return PXR_OK;
}

enum pxr_status oracle_mbarrier_tx(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    int32_t count = (int32_t)oracle_read(thread, inst, 1, PTX_TYPE_U32).u32;
    struct object object;
    uint8_t *host;
    enum pxr_status status;

    if (ptx_inst_has_word(inst, PTX_MOD_COMPLETE_TX))
        return oracle_complete_tx(thread, inst, 0, ptx_inst_space(inst), (uint32_t)count);
    status = load(thread, inst, 0, ptx_inst_space(inst), &host, &object);
    if (status == PXR_OK)
        status = change_tx(thread, inst, &object, count);
    if (status != PXR_OK)
        return status;
    if (is_complete(&object))
        complete(&object);
    store(thread, host, object);
    return PXR_OK;
}

/* "arrive-on: decrements the pending count". */
static enum pxr_status arrive(struct oracle_thread *thread, const struct ptx_inst *inst,
                              struct object *object, uint32_t count)
{
    if (object->is_valid && (count == 0 || count > object->pending))
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "%u arrivals, %u are pending",
                           count, object->pending);
    object->pending -= count & MAX_COUNT;
    if (!is_complete(object))
        return PXR_OK;
    if (object->is_valid && ptx_inst_has_word(inst, PTX_MOD_NOCOMPLETE))
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "the phase completes");
    complete(object);
    return PXR_OK;
}

enum pxr_status oracle_mbarrier_arrive(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    bool has_tx = ptx_inst_has_word(inst, PTX_MOD_EXPECT_TX);
    uint32_t number = inst->operand_count > 2 ? oracle_read(thread, inst, 2, PTX_TYPE_U32).u32 : 1;
    uint32_t count = has_tx ? 1 : number;
    struct object object;
    union oracle_value state = {0};
    uint8_t *host;
    enum pxr_status status = load(thread, inst, 1, ptx_inst_space(inst), &host, &object);

    if (status != PXR_OK)
        return status;
    state.u64 = to_bits(object);
    if (has_tx)
        status = change_tx(thread, inst, &object, (int32_t)number);
    /* "decrements the expected arrival count" of later phases, then arrives */
    if (status == PXR_OK && ptx_inst_has_word(inst, PTX_MOD_ARRIVE_DROP)) {
        if (object.is_valid && count > object.expected)
            return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "%u dropped of %u", count,
                               object.expected);
        object.expected -= count & MAX_COUNT;
    }
    if (status == PXR_OK)
        status = arrive(thread, inst, &object, count);
    if (status != PXR_OK)
        return status;
    store(thread, host, object);
    oracle_write(thread, inst, 0, PTX_TYPE_B64, state);
    return PXR_OK;
}

/* PTX ISA, "cp.async.mbarrier.arrive": an arrive-on when the thread's copies are complete, which
 * they are. Without .noinc the pending count is incremented for it first. */
enum pxr_status oracle_cp_async_mbarrier(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct object object;
    uint8_t *host;
    enum pxr_status status = load(thread, inst, 0, ptx_inst_space(inst), &host, &object);

    if (status != PXR_OK)
        return status;
    if (!ptx_inst_has_word(inst, PTX_MOD_NOINC)) {
        if (object.is_valid && object.pending == MAX_COUNT)
            return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "too many arrivals");
        object.pending++;
    }
    status = arrive(thread, inst, &object, 1);
    if (status == PXR_OK)
        store(thread, host, object);
    return status;
}

/* ---- waiting ---- */

/* Whether the phase of a state, or the one that a parity names, is complete: it is the current one
 * or the one before. Whoever is told that it is not lets others run. */
enum pxr_status oracle_mbarrier_wait(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    union oracle_value result = {0};
    struct object object;
    unsigned phase;
    uint8_t *host;
    enum pxr_status status = load(thread, inst, 1, ptx_inst_space(inst), &host, &object);

    if (status != PXR_OK)
        return status;
    if (ptx_inst_has_word(inst, PTX_MOD_PARITY))
        phase = oracle_read(thread, inst, 2, PTX_TYPE_U32).u32 & 1;
    else
        phase = from_bits(oracle_read(thread, inst, 2, PTX_TYPE_B64).u64).phase;
    result.u64 = object.phase != phase;
    thread->yields = object.phase == phase;
    thread->block->cluster->vain_asks = thread->yields ? thread->block->cluster->vain_asks + 1 : 0;
    if (thread->block->cluster->vain_asks > MAX_VAIN_ASKS)
        return oracle_fail(thread, inst, PXR_FAULT_DEADLOCK, "nobody completes the phase");
    oracle_write(thread, inst, 0, PTX_TYPE_PRED, result);
    return PXR_OK;
}

enum pxr_status oracle_mbarrier_pending_count(struct oracle_thread *thread,
                                              const struct ptx_inst *inst)
{
    union oracle_value result = {0};

    result.u64 = from_bits(oracle_read(thread, inst, 1, PTX_TYPE_B64).u64).pending;
    oracle_write(thread, inst, 0, PTX_TYPE_U32, result);
    return PXR_OK;
}
