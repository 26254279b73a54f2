/* SPDX-License-Identifier: Apache-2.0
 *
 * Links the helpers of translator/rt, embedded as bitcode, into a module: only the functions it
 * calls (and those that they need), internal, to be inlined.
 */
#include "translator/module/link_rt.h"

#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>

#include "translator/module/rt_bitcode.h"

static enum pxr_status read_family(LLVMModuleRef module, const struct tr_rt_bitcode *family,
                                   LLVMModuleRef *source, struct pxr_error *err)
{
    size_t size = (size_t)(family->end - family->begin);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange((const char *)family->begin,
                                                                       size, family->name, false);
    /* Lazy: bodies are read when the linker takes them. The module owns the buffer. */
    if (LLVMGetBitcodeModuleInContext2(LLVMGetModuleContext(module), buffer, source) != 0)
        return pxr_fail(err, PXR_COMPILE_FAILED, "helper bitcode '%s' cannot be read",
                        family->name);
    LLVMSetTarget(*source, LLVMGetTarget(module));
    LLVMSetDataLayout(*source, LLVMGetDataLayoutStr(module));
    return PXR_OK;
}

/* Helpers take on the target of the function they are inlined in. */
static void strip_target(LLVMValueRef function)
{
    static const char *const names[] = {"target-cpu",
                                        "target-features",
                                        "tune-cpu",
                                        "min-legal-vector-width",
                                        "frame-pointer",
                                        "no-trapping-math",
                                        "stack-protector-buffer-size"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         names[i], (unsigned)strlen(names[i]));
}

static void inline_always(LLVMValueRef function)
{
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned noinline_kind = LLVMGetEnumAttributeKindForName("noinline", 8);
    unsigned always_kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    if (LLVMGetEnumAttributeAtIndex(function, index, noinline_kind) != NULL)
        return;
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(context, always_kind, 0));
}

/* Whether the module calls a function of the family. Reading the bitcode to find out would cost
 * more than translating a small kernel. */
static bool is_needed(LLVMModuleRef module, const struct tr_rt_bitcode *family)
{
    for (const char *name = family->names; *name != '\0';) {
        size_t len = strcspn(name, "\n");
        LLVMValueRef wanted = LLVMGetNamedFunctionWithLength(module, name, len);
        if (wanted != NULL && LLVMIsDeclaration(wanted) && LLVMGetFirstUse(wanted) != NULL)
            return true;
        name += len + (name[len] == '\n');
    }
    return false;
}

/* Makes all definitions optional: the linker takes only those that are needed. */
static void make_optional(LLVMModuleRef source)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(source); f != NULL; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage)
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
}

/* Takes the linked helpers in: they are recognised by the target they were compiled for. */
static void adopt_helpers(LLVMModuleRef module)
{
    static const char target[] = "target-cpu";
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) ||
            !LLVMGetStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                           target, sizeof target - 1))
            continue;
        strip_target(f);
        inline_always(f);
        LLVMSetLinkage(f, LLVMInternalLinkage);
        LLVMSetVisibility(f, LLVMDefaultVisibility);
    }
}

/* The special registers of collapse `precise`. */
static bool is_sregs(const struct tr_rt_bitcode *family)
{
    return strcmp(family->name, "precise") == 0;
}

const char *tr_find_unlinked(LLVMModuleRef module)
{
    for (size_t i = 0; i < tr_rt_family_count; i++)
        if (!is_sregs(&tr_rt_families[i]) && is_needed(module, &tr_rt_families[i]))
            return tr_rt_families[i].name;
    return NULL;
}

static enum pxr_status link_family(LLVMModuleRef module, const struct tr_rt_bitcode *family,
                                   struct pxr_error *err)
{
    LLVMModuleRef source = NULL;
    enum pxr_status status = read_family(module, family, &source, err);
    if (status != PXR_OK)
        return status;
    make_optional(source);
    if (LLVMLinkModules2(module, source)) /* consumes source */
        return pxr_fail(err, PXR_COMPILE_FAILED, "helper bitcode '%s' cannot be linked",
                        family->name);
    return PXR_OK;
}

enum pxr_status tr_link_rt(LLVMModuleRef module, bool sregs, struct pxr_error *err)
{
    bool again = true;
    while (again) { /* a helper may call one of another family */
        again = false;
        for (size_t i = 0; i < tr_rt_family_count; i++) {
            const struct tr_rt_bitcode *family = &tr_rt_families[i];
            if (is_sregs(family) != sregs || !is_needed(module, family))
                continue;
            enum pxr_status status = link_family(module, family, err);
            if (status != PXR_OK)
                return status;
            again = true;
        }
    }
    adopt_helpers(module);
    return PXR_OK;
}
