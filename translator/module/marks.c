/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/marks.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

static const char *const names[TR_MARK_COUNT] = {
#define MARK(ID, name, meaning) [TR_MARK_##ID] = name,
#include "translator/module/marks.def"
#undef MARK
};

const char *tr_mark_name(enum tr_mark mark)
{
    return names[mark];
}

static LLVMContextRef context_of(LLVMValueRef inst)
{
    return LLVMGetTypeContext(LLVMTypeOf(inst));
}

static unsigned kind_of(LLVMContextRef llvm, const char *name)
{
    return LLVMGetMDKindIDInContext(llvm, name, (unsigned)strlen(name));
}

unsigned tr_mark_kind(LLVMContextRef llvm, enum tr_mark mark)
{
    return kind_of(llvm, names[mark]);
}

static void set(LLVMValueRef inst, const char *name, LLVMMetadataRef with)
{
    LLVMContextRef llvm = context_of(inst);
    LLVMMetadataRef node = LLVMMDNodeInContext2(llvm, &with, with != NULL);
    LLVMSetMetadata(inst, kind_of(llvm, name), LLVMMetadataAsValue(llvm, node));
}

void tr_mark(LLVMValueRef inst, enum tr_mark mark)
{
    set(inst, names[mark], NULL);
}

void tr_mark_with(LLVMValueRef inst, enum tr_mark mark, LLVMMetadataRef with)
{
    set(inst, names[mark], with);
}

LLVMValueRef tr_marked_node(LLVMValueRef inst, enum tr_mark mark)
{
    if (!LLVMHasMetadata(inst))
        return NULL;
    return LLVMGetMetadata(inst, kind_of(context_of(inst), names[mark]));
}

bool tr_is_marked(LLVMValueRef inst, enum tr_mark mark)
{
    return tr_marked_node(inst, mark) != NULL;
}

void tr_unmark(LLVMValueRef inst, enum tr_mark mark)
{
    LLVMSetMetadata(inst, kind_of(context_of(inst), names[mark]), NULL);
}

void tr_mark_invariant(LLVMValueRef load)
{
    set(load, "invariant.load", NULL);
}

/* ---- loops over threads ---- */

static unsigned loop_kind(LLVMContextRef llvm)
{
    return kind_of(llvm, "llvm.loop");
}

/* Name, axis and, unless it is 0, the row of a block. */
#define PROPERTY_PARTS 3

static LLVMMetadataRef make_property(LLVMContextRef llvm, char axis, uint32_t block_row)
{
    const char *name = names[TR_MARK_THREADS];
    LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(llvm), block_row, false);
    LLVMMetadataRef parts[PROPERTY_PARTS] = {LLVMMDStringInContext2(llvm, name, strlen(name)),
                                             LLVMMDStringInContext2(llvm, &axis, 1),
                                             LLVMValueAsMetadata(number)};
    return LLVMMDNodeInContext2(llvm, parts, block_row == 0 ? 2 : PROPERTY_PARTS);
}

void tr_mark_threads(LLVMBasicBlockRef latch, char axis, uint32_t block_row)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(latch);
    LLVMContextRef llvm = context_of(terminator);
    LLVMValueRef old = LLVMGetMetadata(terminator, loop_kind(llvm));
    unsigned count = old == NULL ? 1 : LLVMGetMDNodeNumOperands(old);
    LLVMValueRef *values = calloc(count, sizeof *values);
    LLVMMetadataRef *parts = calloc(count + 1, sizeof *parts);
    if (values == NULL || parts == NULL)
        goto done; /* it stays an ordinary loop */
    if (old != NULL)
        LLVMGetMDNodeOperands(old, values);
    /* A loop's node names itself first, so that no two are equal. */
    LLVMMetadataRef self = LLVMTemporaryMDNode(llvm, NULL, 0);
    parts[0] = self;
    for (unsigned i = 1; i < count; i++)
        parts[i] = LLVMValueAsMetadata(values[i]);
    parts[count] = make_property(llvm, axis, block_row);
    LLVMMetadataRef loop = LLVMMDNodeInContext2(llvm, parts, count + 1);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    LLVMSetMetadata(terminator, loop_kind(llvm), LLVMMetadataAsValue(llvm, loop));
done:
    free(values);
    free(parts);
}

static bool is_string(LLVMValueRef metadata, const char *text)
{
    unsigned len = 0;
    const char *is = metadata == NULL ? NULL : LLVMGetMDString(metadata, &len);
    return is != NULL && len == strlen(text) && memcmp(is, text, len) == 0;
}

/* What the loop property says; axis 0: it is another property. */
static struct tr_thread_loop read_property(LLVMValueRef property)
{
    LLVMValueRef parts[PROPERTY_PARTS] = {0};
    struct tr_thread_loop loop = {.axis = 0, .block_row = 0};
    unsigned count = property != NULL && LLVMIsAMDNode(property) != NULL
                         ? (unsigned)LLVMGetMDNodeNumOperands(property)
                         : 0;
    if (count < 2 || count > PROPERTY_PARTS)
        return loop;
    LLVMGetMDNodeOperands(property, parts);
    if (!is_string(parts[0], names[TR_MARK_THREADS]))
        return loop;
    loop.axis = is_string(parts[1], "x") ? 'x' : is_string(parts[1], "y") ? 'y' : 0;
    if (parts[2] != NULL)
        loop.block_row = (uint32_t)LLVMConstIntGetZExtValue(parts[2]);
    return loop;
}

char tr_thread_axis(LLVMValueRef terminator)
{
    return tr_thread_loop_of(terminator).axis;
}

struct tr_thread_loop tr_thread_loop_of(LLVMValueRef terminator)
{
    LLVMValueRef loop = NULL;
    if (LLVMHasMetadata(terminator))
        loop = LLVMGetMetadata(terminator, loop_kind(context_of(terminator)));
    struct tr_thread_loop found = {.axis = 0, .block_row = 0};
    if (loop == NULL)
        return found;
    unsigned count = LLVMGetMDNodeNumOperands(loop);
    LLVMValueRef *parts = calloc(count + 1, sizeof *parts);
    if (parts != NULL)
        LLVMGetMDNodeOperands(loop, parts);
    for (unsigned i = 1; parts != NULL && i < count && found.axis == 0; i++)
        found = read_property(parts[i]);
    free(parts);
    return found;
}
