/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads frame sizes from LLVM's "warn-stack-size" diagnostics. The C interface offers no other way
 * to learn them.
 */
#include "jit/frames.h"

#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define RETURN_ADDRESS_BYTES 8
#define UNKNOWN              UINT32_MAX

enum walk_state { WALK_ACTIVE, WALK_DONE };

struct jit_frame {
    UT_hash_handle hh;
    uint32_t size_bytes;
    char name[];
};

/* One function during the walk. */
struct walk_node {
    UT_hash_handle hh;
    LLVMValueRef fn;
    enum walk_state state;
    uint32_t depth_bytes;
};

struct walk {
    const struct jit_frames *frames;
    struct walk_node *nodes;
};

void jit_frames_request(LLVMModuleRef module)
{
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(ctx, "warn-stack-size", 15, "0", 1);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn))
            LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, attribute);
}

static void add_frame(struct jit_frames *frames, const char *name, size_t len, uint32_t size_bytes)
{
    struct jit_frame *frame = NULL;
    HASH_FIND(hh, frames->by_name, name, len, frame);
    if (frame)
        return;
    frame = calloc(1, sizeof *frame + len + 1);
    if (!frame) {
        frames->is_incomplete = true;
        return;
    }
    memcpy(frame->name, name, len);
    frame->size_bytes = size_bytes;
    HASH_ADD(hh, frames->by_name, name, len, frame);
    if (!frame->hh.tbl) {
        frames->is_incomplete = true;
        free(frame);
    }
}

bool jit_frames_note(struct jit_frames *frames, const char *diagnostic)
{
    static const char size_words[] = "stack frame size (";
    static const char name_words[] = " in function '";
    const char *size = strstr(diagnostic, size_words);
    const char *name = size ? strstr(size, name_words) : NULL;
    const char *end = name ? strrchr(name, '\'') : NULL;
    if (!name)
        return false;
    name += sizeof name_words - 1;
    if (end <= name) {
        frames->is_incomplete = true;
        return true;
    }
    unsigned long long size_bytes = strtoull(size + sizeof size_words - 1, NULL, 10);
    if (size_bytes >= UNKNOWN)
        frames->is_incomplete = true;
    else
        add_frame(frames, name, (size_t)(end - name), (uint32_t)size_bytes);
    return true;
}

static uint32_t frame_of(const struct jit_frames *frames, LLVMValueRef fn)
{
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    struct jit_frame *frame = NULL;
    HASH_FIND(hh, frames->by_name, name, len, frame);
    return (frame ? frame->size_bytes : 0) + RETURN_ADDRESS_BYTES;
}

static uint32_t walk_function(struct walk *walk, LLVMValueRef fn);

/* Depth of functions that the call passes on, for others to call on the same stack. */
static uint32_t walk_arguments(struct walk *walk, LLVMValueRef call)
{
    uint32_t deepest = 0;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef fn = LLVMGetOperand(call, i);
        if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn))
            continue;
        uint32_t depth = walk_function(walk, fn);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

/* Depth below one instruction; 0 if it calls no function with a body here. */
static uint32_t walk_instruction(struct walk *walk, LLVMValueRef inst)
{
    if (!LLVMIsACallInst(inst))
        return 0;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee))
        return 0;
    if (!LLVMIsAFunction(callee))
        return UNKNOWN;
    return LLVMIsDeclaration(callee) ? walk_arguments(walk, inst) : walk_function(walk, callee);
}

static uint32_t deepest_callee(struct walk *walk, LLVMValueRef fn)
{
    uint32_t deepest = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst;
             inst = LLVMGetNextInstruction(inst)) {
            uint32_t depth = walk_instruction(walk, inst);
            if (depth > deepest)
                deepest = depth;
        }
    }
    return deepest;
}

/* UNKNOWN is the largest value, so that it wins every maximum. */
static uint32_t walk_function(struct walk *walk, LLVMValueRef fn)
{
    struct walk_node *node = NULL;
    HASH_FIND_PTR(walk->nodes, &fn, node);
    if (node)
        return node->state == WALK_ACTIVE ? UNKNOWN : node->depth_bytes;
    node = calloc(1, sizeof *node);
    if (!node)
        return UNKNOWN;
    node->fn = fn;
    node->state = WALK_ACTIVE;
    HASH_ADD_PTR(walk->nodes, fn, node);
    if (!node->hh.tbl) {
        free(node);
        return UNKNOWN;
    }
    uint32_t below = deepest_callee(walk, fn);
    uint32_t own = frame_of(walk->frames, fn);
    node->depth_bytes = below >= UNKNOWN - own ? UNKNOWN : below + own;
    node->state = WALK_DONE;
    return node->depth_bytes;
}

uint32_t jit_frames_depth(const struct jit_frames *frames, LLVMValueRef entry)
{
    if (frames->is_incomplete)
        return 0;
    struct walk walk = {.frames = frames};
    uint32_t depth = walk_function(&walk, entry);
    struct walk_node *node, *next;
    HASH_ITER(hh, walk.nodes, node, next)
    {
        HASH_DEL(walk.nodes, node);
        free(node);
    }
    return depth == UNKNOWN ? 0 : depth;
}

void jit_frames_fini(struct jit_frames *frames)
{
    struct jit_frame *frame, *next;
    HASH_ITER(hh, frames->by_name, frame, next)
    {
        HASH_DEL(frames->by_name, frame);
        free(frame);
    }
}
