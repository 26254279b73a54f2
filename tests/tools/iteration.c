/* SPDX-License-Identifier: Apache-2.0
 *
 * iteration [--passes LIST] FILE.ll: prints the loops over threads (those with the property
 * "ptxrun.threads") that translator/vector finds in a module, their iterations, and the units that
 * it would make vectors of. --passes: LLVM passes to run first.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "translator/vector/plan/plan.h"

struct options {
    const char *file;
    const char *passes; /* NULL: none */
};

static bool parse_options(int argc, char **argv, struct options *options)
{
    static const struct option table[] = {{"passes", required_argument, NULL, 'p'}, {0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (letter != 'p')
            return false;
        options->passes = optarg;
    }
    if (optind + 1 != argc)
        return false;
    options->file = argv[optind];
    return true;
}

static bool run_passes(LLVMModuleRef module, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error == NULL)
        return true;
    char *message = LLVMGetErrorMessage(error);
    fprintf(stderr, "iteration: %s\n", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static bool print_functions(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function)) {
        if (LLVMIsDeclaration(function))
            continue;
        char *text = tr_plan_text(function);
        if (text == NULL)
            return false;
        fputs(text, stdout);
        free(text);
    }
    return true;
}

static bool print_file(const struct options *options, LLVMContextRef context)
{
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef module = NULL;
    char *message = NULL;
    bool ok = !LLVMCreateMemoryBufferWithContentsOfFile(options->file, &buffer, &message) &&
              !LLVMParseIRInContext2(context, buffer, &module, &message);
    if (!ok)
        fprintf(stderr, "iteration: %s\n", message);
    if (ok && options->passes != NULL)
        ok = run_passes(module, options->passes);
    if (ok)
        ok = print_functions(module);
    LLVMDisposeMessage(message);
    if (module != NULL)
        LLVMDisposeModule(module);
    if (buffer != NULL)
        LLVMDisposeMemoryBuffer(buffer);
    return ok;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    if (!parse_options(argc, argv, &options)) {
        fputs("usage: iteration [--passes LIST] FILE.ll\n", stderr);
        return 2;
    }
    LLVMContextRef context = LLVMContextCreate();
    bool ok = print_file(&options, context);
    LLVMContextDispose(context);
    return ok ? 0 : 1;
}
