/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to vectors under a mask. Behind shared memory there is a guard, as near as can be, so in
 * a vector of `t < n - 1 ? s[t + 1] : 0` the last lane, which is off, may have an address without a
 * page. A processor takes more than a thousand cycles to find that nothing is to be loaded from it,
 * or stored to it. So vectors on two pages are accessed element by element, and so are those of
 * which no lane is on, as in `if (t < 3) s[t + 256] = v`: they may lie behind the guard's
 * beginning.
 *
 * CPUs that have no instruction for a load under a mask load all of the vector: of a page from
 * which one lane may load, all others may. Short elements are stored by a loop.
 *
 * Where storing under a mask takes long, or there is no instruction for it, a vector in shared
 * memory is loaded, changed and stored whole: blocks of a cluster run on one worker, so nobody
 * writes to the other elements meanwhile.
 */
#include <stddef.h>
#include <string.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/address.h"
#include "translator/vector/memory/load_store.h"

#define PAGE_BYTES 4096 /* the smallest that there are */

/* Vectors of one function that are asked where they are. Each takes some 2 ms to compile, and where
 * there are many, as in a sort whose steps are all unrolled, more. */
#define MOST_ASKED 128

static const char elements_name[] = "elements";

/* ---- where ---- */

static LLVMValueRef object_of(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) != NULL)
        address = LLVMGetOperand(address, 0);
    return address;
}

/* How many vectors are asked so far: each has a variable. */
static uint32_t count_asked(const struct tr_widen *widen)
{
    uint32_t count = 0;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(widen->function);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(entry); LLVMIsAAllocaInst(inst) != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        size_t length = 0;
        const char *name = LLVMGetValueName2(inst, &length);
        count += strncmp(name, elements_name, sizeof elements_name - 1) == 0;
    }
    return count;
}

static LLVMValueRef address_of(const struct tr_widen *widen, const struct tr_under_mask *access)
{
    LLVMValueRef inst = widen->iteration->graph.values[access->fields->place].llvm;
    return LLVMGetOperand(inst, LLVMIsAStoreInst(inst) != NULL ? 1 : 0);
}

static bool is_instruction(const struct tr_widen *widen, const struct tr_under_mask *access)
{
    const struct tr_target *target = widen->iteration->target;
    uint64_t bytes = LLVMABISizeOfType(widen->layout, LLVMGetElementType(access->type));
    return target->masks_all || (target->masks_words && bytes >= 4);
}

static bool may_be_at_guard(const struct tr_widen *widen, const struct tr_under_mask *access)
{
    return is_instruction(widen, access) &&
           tr_plan_is_in_shared_memory(address_of(widen, access)) &&
           count_asked(widen) < MOST_ASKED;
}

static bool may_be_by_element(const struct tr_widen *widen, const struct tr_under_mask *access)
{
    uint64_t bytes = LLVMABISizeOfType(widen->layout, LLVMGetElementType(access->type));
    return !is_instruction(widen, access) && bytes < 4 && count_asked(widen) < MOST_ASKED;
}

/* LLVM knows how long its own variables are, and need not load what is behind one. */
static bool may_be_whole(const struct tr_widen *widen, const struct tr_under_mask *access)
{
    return !is_instruction(widen, access) &&
           LLVMIsAAllocaInst(object_of(address_of(widen, access))) == NULL &&
           count_asked(widen) < MOST_ASKED;
}

static bool may_be_rewritten(const struct tr_widen *widen, const struct tr_under_mask *access)
{
    uint32_t bytes = (uint32_t)LLVMABISizeOfType(widen->layout, LLVMGetElementType(access->type));
    return tr_plan_is_better_rewritten(widen->iteration->target, address_of(widen, access),
                                       bytes) &&
           count_asked(widen) < MOST_ASKED;
}

static LLVMValueRef is_on_two_pages(struct tr_widen *widen, const struct tr_under_mask *access)
{
    LLVMBuilderRef b = widen->builder;
    uint64_t bytes = LLVMABISizeOfType(widen->layout, access->type);
    LLVMValueRef address = LLVMBuildPtrToInt(b, access->pointer, widen->i64, "");
    LLVMValueRef in_page =
        LLVMBuildAnd(b, address, LLVMConstInt(widen->i64, PAGE_BYTES - 1, false), "");
    return LLVMBuildICmp(b, LLVMIntUGT, in_page,
                         LLVMConstInt(widen->i64, PAGE_BYTES - bytes, false), "");
}

static LLVMValueRef has_no_lane(struct tr_widen *widen, const struct tr_under_mask *access)
{
    LLVMValueRef bits = tr_memory_bits(widen, access->mask);
    return LLVMBuildICmp(widen->builder, LLVMIntEQ, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

static LLVMValueRef is_by_element(struct tr_widen *widen, const struct tr_under_mask *access)
{
    LLVMValueRef on_two_pages = is_on_two_pages(widen, access);
    /* No `or`: without lanes the address may mean nothing. */
    LLVMValueRef no_lane = has_no_lane(widen, access);
    LLVMValueRef yes = LLVMConstInt(LLVMTypeOf(no_lane), 1, false);
    return LLVMBuildSelect(widen->builder, no_lane, yes, on_two_pages, "");
}

/* ---- on one page, in one piece ---- */

static LLVMValueRef load_whole(struct tr_widen *widen, const struct tr_under_mask *access)
{
    LLVMValueRef loaded = LLVMBuildLoad2(widen->builder, access->type, access->pointer, "");
    LLVMSetAlignment(loaded, access->align);
    tr_memory_keep_hints(widen, access->fields, loaded);
    return loaded;
}

static LLVMValueRef load(struct tr_widen *widen, const struct tr_under_mask *access)
{
    LLVMTypeRef types[] = {access->type, LLVMTypeOf(access->pointer)};
    LLVMValueRef operands[] = {access->pointer, access->mask, LLVMGetPoison(access->type)};
    LLVMValueRef loaded = tr_memory_call(widen, "llvm.masked.load", types, 2, operands, 3);
    tr_memory_set_align(widen, loaded, 0, access->align);
    tr_memory_keep_hints(widen, access->fields, loaded);
    return loaded;
}

static void store(struct tr_widen *widen, const struct tr_under_mask *access, LLVMValueRef value)
{
    LLVMTypeRef types[] = {access->type, LLVMTypeOf(access->pointer)};
    LLVMValueRef operands[] = {value, access->pointer, access->mask};
    LLVMValueRef stored = tr_memory_call(widen, "llvm.masked.store", types, 2, operands, 3);
    tr_memory_set_align(widen, stored, 1, access->align);
    tr_memory_keep_hints(widen, access->fields, stored);
}

static void store_whole(struct tr_widen *widen, const struct tr_under_mask *access,
                        LLVMValueRef value)
{
    LLVMValueRef old = load_whole(widen, access);
    LLVMSetVolatile(old, true); /* or LLVM makes a store under a mask of it again */
    LLVMValueRef all = LLVMBuildSelect(widen->builder, access->mask, value, old, "");
    LLVMValueRef stored = LLVMBuildStore(widen->builder, all, access->pointer);
    LLVMSetAlignment(stored, access->align);
}

/* ---- on two pages, element by element ---- */

/* Copies an element from a vector in memory to another one. */
static void copy_element(struct tr_widen *widen, const struct tr_under_mask *access,
                         LLVMValueRef from, LLVMValueRef to, LLVMValueRef number)
{
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef type = LLVMGetElementType(access->type);
    uint32_t bytes = (uint32_t)LLVMABISizeOfType(widen->layout, type);
    uint32_t align = access->align < bytes ? access->align : bytes;
    LLVMValueRef element =
        LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, type, from, &number, 1, ""), "");
    LLVMSetAlignment(element, align);
    LLVMValueRef stored = LLVMBuildStore(b, element, LLVMBuildGEP2(b, type, to, &number, 1, ""));
    LLVMSetAlignment(stored, align);
}

/* A loop over the elements that are on, and then to `end`: few instructions, and seldom run. */
static void copy_elements(struct tr_widen *widen, const struct tr_under_mask *access,
                          LLVMValueRef from, LLVMValueRef to, LLVMBasicBlockRef end)
{
    LLVMBuilderRef b = widen->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef head = tr_widen_new_block(widen, "more_elements");
    LLVMBasicBlockRef body = tr_widen_new_block(widen, "element");
    LLVMValueRef all = tr_memory_bits(widen, access->mask);
    LLVMTypeRef type = LLVMTypeOf(all);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef bits = LLVMBuildPhi(b, type, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, LLVMConstNull(type), ""), end, body);
    LLVMPositionBuilderAtEnd(b, body);
    copy_element(widen, access, from, to, tr_memory_lowest(widen, bits));
    LLVMValueRef below = LLVMBuildSub(b, bits, LLVMConstInt(type, 1, false), "");
    LLVMValueRef others = LLVMBuildAnd(b, bits, below, "");
    LLVMBuildBr(b, head);
    LLVMAddIncoming(bits, (LLVMValueRef[]){all, others}, (LLVMBasicBlockRef[]){before, body}, 2);
}

/* ---- either ---- */

struct ways {
    LLVMBasicBlockRef of_one; /* page */
    LLVMBasicBlockRef of_two;
    LLVMBasicBlockRef meet;
};

static struct ways part(struct tr_widen *widen, LLVMValueRef by_element)
{
    struct ways ways = {.of_one = tr_widen_new_block(widen, "of_one_page"),
                        .of_two = tr_widen_new_block(widen, "of_two_pages"),
                        .meet = tr_widen_new_block(widen, "meet")};
    LLVMBuildCondBr(widen->builder, by_element, ways.of_two, ways.of_one);
    return ways;
}

/* is_whole: from one page as if there were no mask. */
static LLVMValueRef load_parted(struct tr_widen *widen, const struct tr_under_mask *access,
                                bool is_whole)
{
    LLVMBuilderRef b = widen->builder;
    struct ways ways = part(widen, is_by_element(widen, access));
    LLVMBasicBlockRef copied = tr_widen_new_block(widen, "copied");
    LLVMValueRef vector = tr_memory_variable(widen, access->type, elements_name);
    LLVMPositionBuilderAtEnd(b, ways.of_one);
    LLVMValueRef loaded = is_whole ? load_whole(widen, access) : load(widen, access);
    LLVMBuildBr(b, ways.meet);
    LLVMPositionBuilderAtEnd(b, ways.of_two);
    copy_elements(widen, access, access->pointer, vector, copied);
    LLVMPositionBuilderAtEnd(b, copied);
    LLVMValueRef elements = LLVMBuildLoad2(b, access->type, vector, "");
    LLVMBuildBr(b, ways.meet);
    LLVMPositionBuilderAtEnd(b, ways.meet);
    LLVMValueRef phi = LLVMBuildPhi(b, access->type, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){loaded, elements},
                    (LLVMBasicBlockRef[]){ways.of_one, copied}, 2);
    return phi;
}

static void store_parted(struct tr_widen *widen, const struct tr_under_mask *access,
                         LLVMValueRef value, bool is_whole)
{
    LLVMBuilderRef b = widen->builder;
    struct ways ways = part(widen, is_by_element(widen, access));
    LLVMValueRef vector = tr_memory_variable(widen, access->type, elements_name);
    LLVMPositionBuilderAtEnd(b, ways.of_one);
    if (is_whole)
        store_whole(widen, access, value);
    else
        store(widen, access, value);
    LLVMBuildBr(b, ways.meet);
    LLVMPositionBuilderAtEnd(b, ways.of_two);
    LLVMBuildStore(b, value, vector);
    copy_elements(widen, access, vector, access->pointer, ways.meet);
    LLVMPositionBuilderAtEnd(b, ways.meet);
}

/* LLVM would write out a branch, an extraction and a store for each lane. */
static void store_by_element(struct tr_widen *widen, const struct tr_under_mask *access,
                             LLVMValueRef value)
{
    LLVMValueRef vector = tr_memory_variable(widen, access->type, elements_name);
    LLVMBasicBlockRef end = tr_widen_new_block(widen, "stored");
    LLVMBuildStore(widen->builder, value, vector);
    copy_elements(widen, access, vector, access->pointer, end);
    LLVMPositionBuilderAtEnd(widen->builder, end);
}

LLVMValueRef tr_memory_load_under_mask(struct tr_widen *widen, const struct tr_under_mask *access)
{
    bool is_whole = may_be_whole(widen, access);
    return is_whole || may_be_at_guard(widen, access) ? load_parted(widen, access, is_whole)
                                                      : load(widen, access);
}

void tr_memory_store_under_mask(struct tr_widen *widen, const struct tr_under_mask *access,
                                LLVMValueRef value)
{
    bool is_whole = may_be_rewritten(widen, access);
    if (is_whole || may_be_at_guard(widen, access))
        store_parted(widen, access, value, is_whole);
    else if (may_be_by_element(widen, access))
        store_by_element(widen, access, value);
    else
        store(widen, access, value);
}
