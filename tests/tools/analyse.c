/* SPDX-License-Identifier: Apache-2.0
 *
 * analyse FILE.ll: prints what translator/analysis finds out about the functions in a module.
 * Threads may stop at calls of functions called rt_bar…, rt_warp_sync and the like, as in kernels.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/analysis/analysis.h"
#include "translator/collapse/collapse.h"

struct options {
    const char *file;
    const char *function; /* NULL: all */
    struct tr_shape_facts facts;
};

static void usage(void)
{
    fputs("usage: analyse [--block X,Y,Z] [--function NAME] FILE.ll\n", stderr);
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    static const struct option table[] = {
        {"block", required_argument, NULL, 'b'}, {"function", required_argument, NULL, 'f'}, {0}};
    uint32_t *block = options->facts.block;
    int letter;
    while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (letter == 'f')
            options->function = optarg;
        else if (letter != 'b' || sscanf(optarg, "%u,%u,%u", &block[0], &block[1], &block[2]) != 3)
            return false;
    }
    if (optind + 1 != argc)
        return false;
    options->file = argv[optind];
    return true;
}

static bool print_function(const struct options *options, LLVMValueRef function)
{
    size_t len = 0;
    const char *name = LLVMGetValueName2(function, &len);
    if (LLVMIsDeclaration(function) ||
        (options->function != NULL && strcmp(name, options->function) != 0))
        return true;
    char *text = tr_analysis_text(function, tr_is_sync_point, &options->facts);
    if (text == NULL)
        return false;
    fputs(text, stdout);
    free(text);
    return true;
}

static bool print_functions(const struct options *options, LLVMModuleRef module)
{
    bool ok = true;
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL && ok; function = LLVMGetNextFunction(function))
        ok = print_function(options, function);
    return ok;
}

static bool print_file(const struct options *options, LLVMContextRef context)
{
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef module = NULL;
    char *message = NULL;
    bool ok = !LLVMCreateMemoryBufferWithContentsOfFile(options->file, &buffer, &message) &&
              !LLVMParseIRInContext2(context, buffer, &module, &message);
    if (ok)
        ok = print_functions(options, module);
    else
        fprintf(stderr, "analyse: %s\n", message);
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
        usage();
        return 2;
    }
    LLVMContextRef context = LLVMContextCreate();
    bool ok = print_file(&options, context);
    LLVMContextDispose(context);
    return ok ? 0 : 1;
}
