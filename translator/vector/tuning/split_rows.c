/* SPDX-License-Identifier: Apache-2.0
 *
 * One row of threads that the program takes for several: `tid / 32` is the row of a tile, `tid %
 * 32` the place in it. Along all of the row neither grows by equal steps, and what they lead to
 * would be gathered. The loop becomes two, over rows and along them, so that the quotient is the
 * outer counter and the remainder the inner one:
 *
 *     for (t = 0; t < 1024; t++)      for (y = 0; y < 32; y++)
 *         …                               for (x = 0; x < 32; x++)
 *                                             t = 32 * y + x …
 *
 * The order of the threads stays. Rows have the length, a power of two, that makes the most
 * addresses grow by equal steps. If nothing is gained by others, all of the row stays one; so do
 * rows of blocks that have several, where `16 * y + x` is taken apart.
 */
#include "translator/module/marks.h"
#include "translator/module/walk.h"
#include "translator/vector/tuning/number_bits.h"
#include "translator/vector/tuning/tuning.h"

#define LENGTH_LOG_MIN 3 /* shorter rows fill no vector */

/* ---- what an address is made of ---- */

/* How a value grows along rows. The worse of two is the greater. */
enum growth {
    EVENLY,       /* it does not, or by equal steps along all of the row that there is */
    EVENLY_APART, /* by equal steps along each row once they are apart */
    UNEVENLY
};

struct split {
    struct tr_nest *nest;
    struct tr_graph graph; /* of the loop's body */
    uint32_t threads;
    struct tr_number_bits number;
    enum growth *growth;      /* by value */
    enum growth *rest_growth; /* by value, of rests */
};

static enum growth growth_of_bits(const struct split *split, const struct tr_bits *bits,
                                  int length_log)
{
    uint64_t inner = tr_bits_places(bits, 0, length_log);
    uint64_t outer = tr_bits_places(bits, length_log, split->number.length);
    bool has_all = bits->shift >= 0 && (bits->mask & inner) == inner;
    if (has_all && (bits->mask & outer) == outer)
        return bits->is_cut ? EVENLY_APART : EVENLY;
    return has_all || (bits->mask & inner) == 0 ? EVENLY_APART : UNEVENLY;
}

static enum growth worse(enum growth a, enum growth b)
{
    return a > b ? a : b;
}

static enum growth growth_at(const enum growth *growth, uint32_t number)
{
    return number == TR_NONE ? EVENLY : growth[number];
}

static enum growth growth_of_rest(const struct split *split, uint32_t number)
{
    if (!split->number.bits[number].has_rest)
        return EVENLY;
    return worse(growth_at(split->rest_growth, tr_bits_source(&split->number, number)),
                 growth_at(split->growth, tr_bits_added(&split->number, number)));
}

static enum growth growth_of(const struct split *split, uint32_t number, int length_log)
{
    const struct tr_value *value = &split->graph.values[number];
    const struct tr_bits *bits = &split->number.bits[number];
    if (bits->are_known)
        return worse(growth_of_bits(split, bits, length_log), split->rest_growth[number]);
    enum growth growth = EVENLY;
    for (uint32_t i = 0; i < value->operand_count; i++)
        growth = worse(growth, growth_at(split->growth, value->operands[i]));
    bool is_elsewhere = value->opcode == LLVMLoad || value->opcode == LLVMCall;
    return is_elsewhere && growth != EVENLY ? UNEVENLY : growth;
}

/* How many addresses grow by equal steps only if rows have this length. */
static uint32_t count_gains(struct split *split, int length_log)
{
    uint32_t count = split->graph.value_count;
    for (uint32_t v = 0; v < count; v++)
        split->growth[v] = split->rest_growth[v] = EVENLY;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t v = 0; v < count; v++) {
            if (split->number.bits[v].are_known)
                split->rest_growth[v] = worse(split->rest_growth[v], growth_of_rest(split, v));
            enum growth growth = growth_of(split, v, length_log);
            is_changed |= growth > split->growth[v];
            split->growth[v] = worse(growth, split->growth[v]);
        }
    }
    uint32_t gains = 0;
    for (uint32_t v = 0; v < count; v++) {
        uint32_t address = tr_accessed_address(&split->graph.values[v]);
        gains += address != TR_NONE && split->growth[address] == EVENLY_APART;
    }
    return gains;
}

static bool can_have_length(const struct split *split, int length_log)
{
    uint32_t length = UINT32_C(1) << length_log;
    return length_log == split->number.length ||
           (split->nest->y.header == NULL && 2 * length <= split->threads &&
            split->threads % length == 0);
}

/* The length of rows, as a power of two, by which the most is gained; that of the number: all of
 * the row stays one; 0: nothing is gained. Rows that do not fill a vector are worth less. */
static int choose_length(struct split *split, uint32_t width)
{
    int best = 0;
    uint32_t most = 1;
    for (int log = LENGTH_LOG_MIN; log <= split->number.length; log++) {
        uint32_t length = UINT32_C(1) << log;
        uint32_t gains = can_have_length(split, log) ? count_gains(split, log) : 0;
        gains *= length < width ? length : width;
        best = gains >= most ? log : best;
        most = gains >= most ? gains : most;
    }
    return best;
}

/* Whether any value has only some of the number's bits, or may grow evenly although that is not
 * seen. */
static bool has_parts(const struct split *split)
{
    for (uint32_t v = 0; v < split->graph.value_count; v++) {
        const struct tr_bits *bits = &split->number.bits[v];
        uint64_t all = tr_bits_places(bits, 0, split->number.length);
        if (bits->are_known && ((bits->mask & all) != all || bits->is_cut))
            return true;
    }
    return false;
}

/* ---- two loops in place of one ---- */

static void set_successor(LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        if (LLVMGetSuccessor(terminator, i) == from)
            LLVMSetSuccessor(terminator, i, to);
}

/* All of the latch but its end becomes a block of its own, which control comes to instead. */
static LLVMBasicBlockRef part_latch(LLVMBuilderRef builder, LLVMBasicBlockRef latch)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(latch);
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
    LLVMBasicBlockRef row = LLVMInsertBasicBlockInContext(llvm, latch, "row");
    LLVMPositionBuilderAtEnd(builder, row);
    LLVMValueRef inst = LLVMGetFirstInstruction(latch);
    while (inst != LLVMGetBasicBlockTerminator(latch)) {
        LLVMValueRef next = LLVMGetNextInstruction(inst);
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(builder, inst);
        inst = next;
    }
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        if (block != row)
            set_successor(block, latch, row);
    return row;
}

static LLVMValueRef build_counter(LLVMBuilderRef builder, LLVMBasicBlockRef header,
                                  const char *name)
{
    LLVMValueRef first = LLVMGetFirstInstruction(header);
    if (first == NULL)
        LLVMPositionBuilderAtEnd(builder, header);
    else
        LLVMPositionBuilderBefore(builder, first);
    return LLVMBuildPhi(builder, LLVMInt32TypeInContext(LLVMGetBuilderContext(builder)), name);
}

static LLVMValueRef build_sum(LLVMBuilderRef builder, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = LLVMBuildNUWAdd(builder, a, b, "");
    if (LLVMIsAInstruction(sum) != NULL)
        LLVMSetNSW(sum, true);
    return sum;
}

/* Ends the loop: counts, and goes on while the counter is less than the count. */
static void close_loop(LLVMBuilderRef builder, const struct tr_counted *loop)
{
    LLVMTypeRef i32 = LLVMTypeOf(loop->counter);
    LLVMPositionBuilderAtEnd(builder, loop->latch);
    LLVMValueRef next = build_sum(builder, loop->counter, LLVMConstInt(i32, 1, false));
    LLVMValueRef goes_on = LLVMBuildICmp(builder, LLVMIntULT, next, loop->count, "");
    LLVMBuildCondBr(builder, goes_on, loop->header, loop->after);
    LLVMValueRef values[2] = {LLVMConstInt(i32, 0, false), next};
    LLVMBasicBlockRef blocks[2] = {loop->before, loop->latch};
    LLVMAddIncoming(loop->counter, values, blocks, 2);
}

/* The inner loop keeps the old one's properties, and its axis. */
static void move_properties(LLVMValueRef from, LLVMValueRef to)
{
    static const char name[] = "llvm.loop";
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(from));
    unsigned kind = LLVMGetMDKindIDInContext(llvm, name, sizeof name - 1);
    LLVMSetMetadata(to, kind, LLVMGetMetadata(from, kind));
}

/* The end of a loop, and how it was decided unless that is used elsewhere. */
static void erase_end(LLVMValueRef end)
{
    LLVMValueRef goes_on = LLVMGetCondition(end);
    LLVMInstructionEraseFromParent(end);
    if (LLVMGetFirstUse(goes_on) != NULL)
        return;
    LLVMValueRef next = LLVMGetOperand(goes_on, 0);
    LLVMInstructionEraseFromParent(goes_on);
    if (LLVMGetFirstUse(next) == NULL && LLVMIsABinaryOperator(next) != NULL)
        LLVMInstructionEraseFromParent(next);
}

/* Unused phis of the header, and the old counter, whose uses become `number`. */
static void drop_phis(LLVMBasicBlockRef header, LLVMValueRef old, LLVMValueRef kept,
                      LLVMValueRef number)
{
    LLVMReplaceAllUsesWith(old, number);
    LLVMValueRef inst = LLVMGetFirstInstruction(header);
    while (inst != NULL && LLVMIsAPHINode(inst) != NULL) {
        LLVMValueRef next = LLVMGetNextInstruction(inst);
        if (inst != kept)
            LLVMInstructionEraseFromParent(inst);
        inst = next;
    }
}

/* Rewrites the loop, and the nest accordingly. */
static void part_loop(LLVMBuilderRef builder, struct tr_nest *nest, uint32_t threads,
                      int length_log)
{
    struct tr_counted old = nest->x;
    LLVMTypeRef i32 = LLVMTypeOf(old.counter);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(old.latch);
    LLVMBasicBlockRef row = part_latch(builder, old.latch);
    LLVMBasicBlockRef header = old.header == old.latch ? row : old.header;
    LLVMBasicBlockRef rows =
        LLVMInsertBasicBlockInContext(LLVMGetBuilderContext(builder), header, "rows");
    nest->x = (struct tr_counted){
        .before = rows,
        .header = header,
        .latch = row,
        .after = old.latch,
        .counter = build_counter(builder, header, "x"),
        .count = LLVMConstInt(i32, UINT64_C(1) << length_log, false),
    };
    nest->y = (struct tr_counted){
        .before = old.before,
        .header = rows,
        .latch = old.latch,
        .after = old.after,
        .counter = build_counter(builder, rows, "y"),
        .count = LLVMConstInt(i32, threads >> length_log, false),
    };
    LLVMBuildBr(builder, header);
    LLVMPositionBuilderBefore(builder, tr_first_behind_phis(header));
    LLVMValueRef first = LLVMBuildShl(builder, nest->y.counter,
                                      LLVMConstInt(i32, (unsigned long long)length_log, false), "");
    LLVMSetNUW(first, true);
    LLVMSetNSW(first, true);
    LLVMValueRef number = build_sum(builder, first, nest->x.counter);
    set_successor(old.before, header, rows);
    drop_phis(header, old.counter, nest->x.counter, number);
    close_loop(builder, &nest->x);
    move_properties(end, LLVMGetBasicBlockTerminator(row));
    erase_end(end);
    close_loop(builder, &nest->y);
    tr_mark_threads(nest->y.latch, 'y', 0);
}

/* ---- parts of the number ---- */

/* The counter moved by so many places, of which those of the mask are left. all: the places that it
 * can have. */
static LLVMValueRef place(LLVMBuilderRef builder, LLVMValueRef counter, LLVMTypeRef type, int shift,
                          uint64_t mask, uint64_t all)
{
    LLVMValueRef part = counter;
    LLVMValueRef by = LLVMConstInt(type, (unsigned long long)(shift < 0 ? -shift : shift), false);
    if (LLVMTypeOf(counter) != type) {
        part = LLVMBuildZExt(builder, counter, type, "");
        LLVMSetNNeg(part, true);
    }
    if (shift < 0) {
        part = LLVMBuildLShr(builder, part, by, "");
    } else if (shift > 0) {
        part = LLVMBuildShl(builder, part, by, "");
        LLVMSetNUW(part, all >> (LLVMGetIntTypeWidth(type) - 1) <= 1);
    }
    if ((mask & all) != all)
        part = LLVMBuildAnd(builder, part, LLVMConstInt(type, mask, false), "");
    return part;
}

/* The value, made of the counters. */
static LLVMValueRef of_counters(LLVMBuilderRef builder, struct split *split, uint32_t number,
                                int length_log)
{
    const struct tr_nest *nest = split->nest;
    const struct tr_bits *bits = &split->number.bits[number];
    LLVMValueRef value = split->graph.values[number].llvm;
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef i32 = LLVMTypeOf(nest->x.counter);
    LLVMTypeRef wide = LLVMGetIntTypeWidth(type) < 32 ? i32 : type;
    uint64_t inner = tr_bits_places(bits, 0, length_log);
    uint64_t outer = tr_bits_places(bits, length_log, split->number.length);
    LLVMValueRef rest = tr_bits_build_rest(builder, &split->number, number);
    LLVMPositionBuilderBefore(builder, LLVMIsAPHINode(value) == NULL
                                           ? value
                                           : tr_first_behind_phis(LLVMGetInstructionParent(value)));
    LLVMValueRef sum = LLVMConstInt(wide, bits->ones, false);
    if (rest != NULL)
        sum = LLVMBuildNUWAdd(builder, LLVMBuildIntCast2(builder, rest, wide, false, ""), sum, "");
    if ((bits->mask & outer) != 0)
        sum = LLVMBuildNUWAdd(builder, sum,
                              place(builder, nest->y.counter, wide, bits->shift + length_log,
                                    bits->mask & outer, outer),
                              "");
    if ((bits->mask & inner) != 0)
        sum = LLVMBuildNUWAdd(builder, sum,
                              place(builder, nest->x.counter, wide, bits->shift, inner, inner), "");
    return wide == type ? sum : LLVMBuildTrunc(builder, sum, type, "");
}

static void replace_parts(LLVMBuilderRef builder, struct split *split, int length_log)
{
    for (uint32_t v = 0; v < split->graph.value_count; v++) {
        LLVMValueRef value = split->graph.values[v].llvm;
        const struct tr_bits *bits = &split->number.bits[v];
        if (!bits->are_known || growth_of_bits(split, bits, length_log) != EVENLY_APART)
            continue;
        LLVMReplaceAllUsesWith(value, of_counters(builder, split, v, length_log));
        LLVMInstructionEraseFromParent(value);
    }
}

/* ---- the step ---- */

static int log_of(uint32_t count)
{
    int log = 0;
    while ((UINT32_C(1) << log) < count)
        log++;
    return log;
}

static enum pxr_status build_graph(struct split *split, struct pxr_error *err)
{
    const struct tr_counted *x = &split->nest->x;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(x->latch);
    struct tr_edge cut = {.terminator = end,
                          .successor = LLVMGetSuccessor(end, 0) == x->after ? 0 : 1};
    struct tr_part part = {.entry = x->header,
                           .cuts = &cut,
                           .cut_count = 1,
                           .arguments = &x->counter,
                           .argument_count = 1};
    enum pxr_status status =
        tr_graph_build_part(&split->graph, LLVMGetBasicBlockParent(x->header), &part, err);
    if (status != PXR_OK)
        return status;
    struct pxr_arena *arena = &split->graph.arena;
    uint32_t count = split->graph.value_count;
    split->growth = pxr_arena_alloc_array(arena, count, sizeof *split->growth);
    split->rest_growth = pxr_arena_alloc_array(arena, count, sizeof *split->rest_growth);
    if (split->growth == NULL || split->rest_growth == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    return tr_number_bits_find(&split->graph, x->counter, log_of(split->threads), &split->number,
                               err);
}

enum pxr_status tr_split_rows(struct tr_nest *nest, uint32_t width, struct pxr_error *err)
{
    bool is_known = nest->obstacle == NULL && nest->x.block_row == 0 &&
                    LLVMIsAConstantInt(nest->x.count) != NULL;
    uint32_t threads = is_known ? (uint32_t)LLVMConstIntGetZExtValue(nest->x.count) : 0;
    if (threads < UINT32_C(2) << LENGTH_LOG_MIN)
        return PXR_OK;
    struct split split = {.nest = nest, .threads = threads};
    enum pxr_status status = build_graph(&split, err);
    int length_log = status == PXR_OK && has_parts(&split) ? choose_length(&split, width) : 0;
    if (length_log != 0) {
        LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(nest->x.counter));
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
        if (length_log < split.number.length)
            part_loop(builder, nest, threads, length_log);
        replace_parts(builder, &split, length_log);
        LLVMDisposeBuilder(builder);
    }
    tr_graph_fini(&split.graph);
    return status;
}
