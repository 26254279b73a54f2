/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxrun-ptxas: stands in for NVIDIA's assembler where programs make PTX while they run and start
 * it. It checks PTX and puts it into a cubin (ptx/cubin.h), which ptxrun's driver loads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/architecture.h"
#include "ptx/cubin.h"
#include "ptx/ptx.h"
#include "tools/ptxas/options.h"
#include "tools/ptxas/resources.h"
#include "util/read_file.h"

enum exit_code { EXIT_OK = 0, EXIT_FATAL = 255 };

#define DEFAULT_ARCHITECTURE "sm_75"
#define DEFAULT_OUTPUT       "elf.o"
#define STRING_NAME          "application ptx input"

/* Callers look for "release" and for V with three numbers, and choose the version of PTX by them:
 * that of the newest PTX that is known. */
static const char VERSION[] =
    "ptxas: ptxrun " PTXRUN_VERSION ", in the place of the PTX optimizing assembler\n"
    "Cuda compilation tools, release 13.0, V13.0.88\n";

/* The texts of one run, and what is made of them. */
struct assembly {
    const struct ptxas_options *options;
    struct ptx_architecture arch;
    size_t count;
    struct ptx_span *texts;
    struct ptx_module **modules;
};

static enum exit_code fatal(const struct pxr_error *err)
{
    fprintf(stderr, "ptxas fatal   : %s\n", err->message);
    return EXIT_FATAL;
}

static enum exit_code aborted(void)
{
    fputs("ptxas fatal   : Ptx assembly aborted due to errors\n", stderr);
    return EXIT_FATAL;
}

/* The parser's "name:line:column: error: …" in ptxas' form; excerpts are left out, as callers
 * expect a line for each error. */
static void print_errors(const char *name, const struct pxr_error *err)
{
    size_t name_len = strnlen(name, 200);
    bool has_position = false;
    for (const char *line = err->message; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        int number, column, end = 0;
        if (strncmp(line, name, name_len) != 0 ||
            sscanf(line + name_len, ":%d:%d: error: %n", &number, &column, &end) != 2 || end == 0)
            continue;
        const char *text = line + name_len + end;
        fprintf(stderr, "ptxas %s, line %d; error   : %.*s\n", name, number,
                (int)strcspn(text, "\n"), text);
        has_position = true;
    }
    if (!has_position)
        fprintf(stderr, "ptxas error   : %s\n", err->message);
}

/* The whole of a file; NULL after a message. */
static char *read_input(const char *path, size_t *len)
{
    char *text = strcmp(path, "-") == 0 ? pxr_read_stream(stdin, len) : pxr_read_file(path, len);
    if (!text)
        fprintf(stderr, "ptxas fatal   : Input file '%s' could not be opened\n", path);
    return text;
}

/* Checks one text, whose bytes are kept. */
static bool take_text(struct assembly *assembly, const char *name, char *text, size_t len)
{
    struct pxr_error err;
    assembly->texts[assembly->count] = (struct ptx_span){(const uint8_t *)text, len};
    struct ptx_module **module = &assembly->modules[assembly->count++];
    if (ptx_parse((struct pxr_str){text, len}, name, module, &err) == PXR_OK)
        return true;
    print_errors(name, &err);
    return false;
}

static bool take_texts(struct assembly *assembly)
{
    const struct ptxas_words *inputs = &assembly->options->inputs;
    const struct ptxas_words *strings = &assembly->options->strings;
    bool is_good = true;
    for (size_t i = 0; i < inputs->count; i++) {
        size_t len;
        char *text = read_input(inputs->at[i], &len);
        is_good = text && take_text(assembly, inputs->at[i], text, len) && is_good;
    }
    for (size_t i = 0; i < strings->count; i++) {
        char *text = strdup(strings->at[i]);
        is_good = text && take_text(assembly, STRING_NAME, text, strlen(text)) && is_good;
    }
    return is_good;
}

/* What the texts have to be besides well-formed: for this architecture, with these kernels, and
 * without two definitions of one name. */
static enum pxr_status check_modules(const struct assembly *assembly, struct pxr_error *err)
{
    const struct ptxas_words *entries = &assembly->options->entries;
    enum pxr_status status = PXR_OK;
    for (size_t i = 0; i < assembly->count && status == PXR_OK; i++)
        status = ptx_architecture_check(assembly->modules[i], &assembly->arch, err);
    for (size_t i = 0; i < entries->count && status == PXR_OK; i++) {
        bool is_found = false;
        for (size_t j = 0; j < assembly->count; j++)
            is_found |= ptx_find_entry(assembly->modules[j], entries->at[i]) != NULL;
        if (!is_found)
            status = pxr_fail(err, PXR_NOT_FOUND, "Unknown function %s", entries->at[i]);
    }
    struct ptx_module *linked = NULL;
    if (status == PXR_OK && assembly->count > 1)
        status = ptx_link((const struct ptx_module *const *)assembly->modules, assembly->count,
                          "ptxas", &linked, err);
    ptx_module_destroy(linked);
    return status;
}

static enum exit_code write_cubin(const struct assembly *assembly)
{
    const char *path = assembly->options->values[PTXAS_OUTPUT];
    uint8_t *cubin;
    size_t len;
    struct pxr_error err;
    if (ptx_cubin_make(assembly->texts, assembly->count, assembly->arch.number, &cubin, &len, &err))
        return fatal(&err);
    path = path ? path : DEFAULT_OUTPUT;
    FILE *file = fopen(path, "we");
    bool is_written = file && fwrite(cubin, 1, len, file) == len;
    if (file && fclose(file) != 0)
        is_written = false;
    free(cubin);
    if (is_written)
        return EXIT_OK;
    pxr_fail(&err, PXR_IO, "Output file '%s' could not be opened", path);
    return fatal(&err);
}

static enum exit_code assemble(struct assembly *assembly)
{
    struct pxr_error err;
    if (!take_texts(assembly))
        return aborted();
    if (check_modules(assembly, &err) != PXR_OK)
        return fatal(&err);
    for (size_t i = 0; i < assembly->count && assembly->options->values[PTXAS_VERBOSE]; i++)
        ptxas_print_resources(assembly->modules[i], assembly->arch.name);
    return assembly->arch.is_virtual ? EXIT_OK : write_cubin(assembly);
}

static enum exit_code run(const struct ptxas_options *options)
{
    const char *name = options->values[PTXAS_ARCH];
    struct pxr_error err;
    struct assembly assembly = {.options = options};
    if (ptx_architecture_read(name ? name : DEFAULT_ARCHITECTURE, &assembly.arch, &err))
        return fatal(&err);
    size_t count = options->inputs.count + options->strings.count;
    assembly.texts = calloc(count, sizeof *assembly.texts);
    assembly.modules = calloc(count, sizeof *assembly.modules);
    enum exit_code code = EXIT_FATAL;
    if (assembly.texts && assembly.modules)
        code = assemble(&assembly);
    for (size_t i = 0; i < assembly.count; i++) {
        ptx_module_destroy(assembly.modules[i]);
        free((void *)assembly.texts[i].ptr);
    }
    free(assembly.texts);
    free(assembly.modules);
    return code;
}

static void print_help(void)
{
    puts(
        "\nUsage  : ptxas [options] <ptx file>,...\n\n"
        "Checks PTX and puts it into a cubin that ptxrun's driver loads. Options that only matter\n"
        "to machine code are taken and change nothing.\n\nOptions\n=======\n");
    ptxas_options_print();
}

static void print_versions(void)
{
    static const unsigned char LAST_MINOR[] = {[1] = 5, 3, 2, 3, 1, 5, 8, 8, 0};
    for (unsigned major = 1; major <= PTX_NEWEST_VERSION / 10; major++) {
        for (unsigned minor = 0; minor <= LAST_MINOR[major]; minor++)
            printf("%u.%u\n", major, minor);
    }
}

int main(int argc, char **argv)
{
    struct ptxas_options options;
    struct pxr_error err;
    enum exit_code code = EXIT_OK;
    if (argc < 1)
        return EXIT_FATAL;
    if (ptxas_options_read(argv + 1, &options, &err) != PXR_OK)
        code = fatal(&err);
    else if (options.values[PTXAS_VERSION])
        fputs(VERSION, stdout);
    else if (options.values[PTXAS_LIST_VERSION])
        print_versions();
    else if (options.values[PTXAS_HELP] || options.inputs.count + options.strings.count == 0)
        print_help();
    else
        code = run(&options);
    ptxas_options_fini(&options);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "ptxas fatal   : cannot write the output: %s\n", strerror(errno));
        return EXIT_FATAL;
    }
    return (int)code;
}
