/* SPDX-License-Identifier: Apache-2.0
 *
 * Between two barriers nothing orders the accesses of different threads of a block: where one
 * writes memory that another reads or writes, and no atomic or volatile access is involved, the
 * program has a race (PTX ISA, "Memory Consistency Model"). So no iteration of a loop over threads
 * depends on an earlier one, and LLVM's vectoriser need not compare addresses to find that out.
 */
#include "translator/collapse/prepare.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

static void set_metadata(const struct tr_fuse *fuse, LLVMValueRef inst, const char *kind,
                         LLVMMetadataRef node)
{
    LLVMSetMetadata(inst, LLVMGetMDKindIDInContext(fuse->llvm, kind, (unsigned)strlen(kind)),
                    LLVMMetadataAsValue(fuse->llvm, node));
}

static bool accesses_memory(LLVMValueRef inst)
{
    return LLVMIsALoadInst(inst) != NULL || LLVMIsAStoreInst(inst) != NULL;
}

LLVMMetadataRef tr_make_loop(LLVMContextRef llvm, LLVMMetadataRef property)
{
    LLVMMetadataRef self = LLVMTemporaryMDNode(llvm, NULL, 0);
    LLVMMetadataRef parts[2] = {self, property};
    LLVMMetadataRef loop = LLVMMDNodeInContext2(llvm, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    return loop;
}

void tr_mark_parallel(const struct tr_fuse *fuse, LLVMBasicBlockRef first, LLVMBasicBlockRef latch)
{
    static const char name[] = "llvm.loop.parallel_accesses";
    LLVMMetadataRef group = LLVMMDNodeInContext2(fuse->llvm, NULL, 0);
    for (LLVMBasicBlockRef block = first; block != NULL; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            if (accesses_memory(inst))
                set_metadata(fuse, inst, "llvm.access.group", group);
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(fuse->llvm, name, sizeof name - 1), group};
    LLVMMetadataRef property = LLVMMDNodeInContext2(fuse->llvm, parts, 2);
    set_metadata(fuse, LLVMGetBasicBlockTerminator(latch), "llvm.loop",
                 tr_make_loop(fuse->llvm, property));
}
