/* SPDX-License-Identifier: Apache-2.0
 *
 * cuobjdump: stands in for the program of that name as far as PTX goes. It prints the PTX of a
 * file, or lists it; machine code is not looked at.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ptx/file.h"

enum exit_code { EXIT_OK = 0, EXIT_FATAL = 255 };

enum action { DUMP, LIST, HEADS };

static const char VERSION[] = "cuobjdump: ptxrun " PTXRUN_VERSION ", in the place of cuobjdump\n"
                              "Cuda compilation tools, release 13.0, V13.0.88\n";

static const char HELP[] =
    "Usage  : cuobjdump [-ptx | -lptx] <file>\n\n"
    "--dump-ptx    (-ptx)    print the PTX\n"
    "--list-ptx    (-lptx)   list it\n"
    "--all-fatbin  (-all), --gpu-architecture (-arch) <arch>, --version (-V), --help (-h)\n\n"
    "ptxrun's cuobjdump knows PTX only: 'ptxdump' shows more of it, and extracts it.\n";

struct command_line {
    enum action action;
    const char *file;
    const char *arch; /* "sm_75", NULL: all */
};

static enum exit_code fatal(const char *what, const char *which)
{
    fprintf(stderr, "cuobjdump fatal   : %s'%s'\n", what, which);
    return EXIT_FATAL;
}

static bool is_either(const char *word, const char *long_name, const char *short_name)
{
    return strcmp(word, long_name) == 0 || strcmp(word, short_name) == 0;
}

/* The value of --gpu-architecture, in this argument or the next; NULL if it is another option. */
static const char *take_arch(char ***at)
{
    static const char *const NAMES[] = {"--gpu-architecture", "-arch"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t len = strlen(NAMES[i]);
        if (strncmp(**at, NAMES[i], len) != 0)
            continue;
        if ((**at)[len] == '=')
            return **at + len + 1;
        if ((**at)[len] == '\0' && (*at)[1])
            return *++*at;
    }
    return NULL;
}

/* EXIT_FATAL after a message. */
static enum exit_code read_command_line(char **at, struct command_line *line)
{
    static const char NO_CODE[] = "ptxrun makes no machine code and dumps PTX only (-ptx), not ";
    for (; *at; at++) {
        const char *arch;
        if ((*at)[0] != '-')
            line->file = *at;
        else if (is_either(*at, "--dump-ptx", "-ptx"))
            line->action = DUMP;
        else if (is_either(*at, "--list-ptx", "-lptx"))
            line->action = LIST;
        else if ((arch = take_arch(&at)))
            line->arch = arch;
        else if (!is_either(*at, "--all-fatbin", "-all"))
            return fatal(NO_CODE, *at);
    }
    return line->file ? EXIT_OK : fatal("No input file specified", "");
}

static void print_head(const struct ptx_fatbin_entry *entry)
{
    char suffix[2] = {entry->arch_suffix, '\0'};
    printf("\nFatbin ptx code:\n================\narch = sm_%u%s\ncode version = [%u,%u]\n"
           "host = linux\ncompile_size = 64bit\n%s",
           entry->arch, suffix, entry->version_major, entry->version_minor,
           entry->packing == PTX_PACKING_NONE ? "" : "compressed\n");
}

static enum exit_code show_entry(const struct command_line *line, const char *label,
                                 const struct ptx_fatbin_entry *entry, unsigned number)
{
    char suffix[2] = {entry->arch_suffix, '\0'};
    const char *slash = strrchr(line->file, '/');
    if (line->action == LIST) {
        printf("PTX file %4u: %s.%u.sm_%u%s.ptx\n", number, slash ? slash + 1 : line->file, number,
               entry->arch, suffix);
        return EXIT_OK;
    }
    print_head(entry);
    if (line->action == HEADS)
        return EXIT_OK;
    struct ptx_payload payload;
    struct pxr_error err;
    if (ptx_payload_expand(entry, label, &payload, &err) != PXR_OK)
        return fatal("", err.message);
    struct pxr_str text = ptx_payload_text(&payload);
    putchar('\n');
    fwrite(text.ptr, 1, text.len, stdout);
    putchar('\n');
    ptx_payload_fini(&payload);
    return EXIT_OK;
}

static bool is_wanted(const struct command_line *line, const struct ptx_fatbin_entry *entry)
{
    char name[32];
    if (entry->kind != PTX_FATBIN_PTX)
        return false;
    snprintf(name, sizeof name, "%u%.1s", entry->arch, &entry->arch_suffix);
    const char *wanted = line->arch ? strchr(line->arch, '_') : NULL;
    return !line->arch || (wanted && strcmp(wanted + 1, name) == 0);
}

static enum exit_code show(const struct command_line *line)
{
    struct ptx_file *file;
    struct pxr_error err;
    if (ptx_file_open(line->file, &file, &err) != PXR_OK) {
        fprintf(stderr, "cuobjdump fatal   : %s\n", err.message);
        return EXIT_FATAL;
    }
    enum exit_code code = EXIT_OK;
    unsigned number = 0;
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        for (uint32_t j = 0; j < container->fatbin.entry_count; j++) {
            const struct ptx_fatbin_entry *entry = &container->fatbin.entries[j];
            if (is_wanted(line, entry) && show_entry(line, container->label, entry, ++number))
                code = EXIT_FATAL;
        }
    }
    if (number == 0)
        fprintf(stderr, "cuobjdump info    : File '%s' does not contain device code in PTX\n",
                line->file);
    ptx_file_close(file);
    return code;
}

int main(int argc, char **argv)
{
    struct command_line line = {.action = HEADS};
    enum exit_code code = EXIT_OK;
    const char *first = argc > 1 ? argv[1] : "-h";
    if (is_either(first, "--version", "-V")) {
        fputs(VERSION, stdout);
    } else if (is_either(first, "--help", "-h")) {
        fputs(HELP, stdout);
    } else {
        code = read_command_line(argv + 1, &line);
        if (code == EXIT_OK)
            code = show(&line);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return fatal("cannot write the output: ", strerror(errno));
    return (int)code;
}
