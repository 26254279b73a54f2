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

static LLVMMetadataRef make_property(LLVMContextRef llvm, char axis)
{
    const char *name = names[TR_MARK_THREADS];
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(llvm, name, strlen(name)),
                                LLVMMDStringInContext2(llvm, &axis, 1)};
    return LLVMMDNodeInContext2(llvm, parts, 2);
}

void tr_mark_threads(LLVMBasicBlockRef latch, char axis)
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
    parts[count] = make_property(llvm, axis);
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

/* The axis of the loop property; 0: another property. */
static char axis_of_property(LLVMValueRef property)
{
    LLVMValueRef parts[2] = {0};
    if (property == NULL || LLVMIsAMDNode(property) == NULL ||
        LLVMGetMDNodeNumOperands(property) != 2)
        return 0;
    LLVMGetMDNodeOperands(property, parts);
    if (!is_string(parts[0], names[TR_MARK_THREADS]))
        return 0;
    return is_string(parts[1], "x") ? 'x' : is_string(parts[1], "y") ? 'y' : 0;
}

char tr_thread_axis(LLVMValueRef terminator)
{
    LLVMValueRef loop = NULL;
    if (LLVMHasMetadata(terminator))
        loop = LLVMGetMetadata(terminator, loop_kind(context_of(terminator)));
    unsigned count = loop == NULL ? 0 : LLVMGetMDNodeNumOperands(loop);
    LLVMValueRef *parts = calloc(count + 1, sizeof *parts);
    char axis = 0;
    if (parts != NULL && count > 0)
        LLVMGetMDNodeOperands(loop, parts);
    for (unsigned i = 1; parts != NULL && i < count && axis == 0; i++)
        axis = axis_of_property(parts[i]);
    free(parts);
    return axis;
}
