/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxdump: shows the contents of a file's fat binaries, writes their PTX to files or prints it as
 * parsed, and lists the instructions.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx/file.h"
#include "ptx/text.h"
#include "tools/ptxdump_ops.h"
#include "tools/ptxdump_print.h"

enum exit_code { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum { KERNELS_IN_TABLE = 3 };

static const char HELP[] =
    "usage: ptxdump list [--kernels] FILE...\n"
    "       ptxdump extract [-o DIR] FILE...\n"
    "       ptxdump print [--normal] FILE...\n"
    "       ptxdump ops [--markdown | --json]\n"
    "\n"
    "FILE is an executable, shared object, object file, static archive, .fatbin, .cubin or .ptx.\n"
    "\n"
    "  list        table of all entries: kind, architecture, PTX version, sizes, kernels\n"
    "    --kernels   one line for each kernel instead of the first few names\n"
    "  extract     write each PTX entry to <name>.<number>.sm_<arch>.ptx\n"
    "    -o DIR      directory to write to, created if it does not exist; default: .\n"
    "  print       parse each PTX entry and print it again, with one form of layout\n"
    "    --normal    one form of numbers and declarations too\n"
    "  ops         table of all PTX instructions: types, versions, what is supported\n"
    "\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 success, 1 a file is damaged or holds no PTX to extract or print, 2 wrong "
    "usage.\n";

struct command_line {
    const char *directory;
    bool all_kernels;
    bool is_normal;
    char **files;
    int file_count;
};

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ptxdump: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static const char *packing_name(enum ptx_packing packing)
{
    static const char *const NAMES[] = {
        [PTX_PACKING_NONE] = "plain",
        [PTX_PACKING_LZ4] = "lz4",
        [PTX_PACKING_ZSTD] = "zstd",
        [PTX_PACKING_UNKNOWN] = "unknown",
    };
    return NAMES[packing];
}

static void kind_text(const struct ptx_fatbin_entry *entry, char text[16])
{
    switch (entry->kind) {
    case PTX_FATBIN_PTX:
        snprintf(text, 16, "ptx");
        break;
    case PTX_FATBIN_CUBIN:
        snprintf(text, 16, "cubin");
        break;
    case PTX_FATBIN_LTO:
        snprintf(text, 16, "lto");
        break;
    default:
        snprintf(text, 16, "kind-%u", entry->kind);
    }
}

/* Names come from the file; control characters would reach the terminal. */
static void print_untrusted(struct pxr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        putchar(c < 0x20 || c == 0x7f ? '?' : c);
    }
}

static struct pxr_str trim(struct pxr_str text)
{
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == 0))
        text.len--;
    while (text.len > 0 && text.ptr[0] == ' ') {
        text.ptr++;
        text.len--;
    }
    return text;
}

/* The flags worth a word; which compression it is has its own column. */
static void print_flags(const struct ptx_fatbin_entry *entry)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } FLAGS[] = {
        {PTX_FATBIN_FLAG_64_BIT, "64-bit"},
        {PTX_FATBIN_FLAG_DEBUG, "debug"},
        {PTX_FATBIN_FLAG_LINUX, "linux"},
        {PTX_FATBIN_FLAG_LTO, "lto"},
    };
    uint64_t rest =
        entry->flags & ~(uint64_t)(PTX_FATBIN_FLAG_LZ4 | PTX_FATBIN_FLAG_ZSTD |
                                   PTX_FATBIN_FLAG_ARCH_SPECIFIC | PTX_FATBIN_FLAG_FAMILY);
    const char *separator = "";
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        if (rest & FLAGS[i].bit) {
            printf("%s%s", separator, FLAGS[i].name);
            separator = ",";
        }
        rest &= ~FLAGS[i].bit;
    }
    if (rest) {
        printf("%s0x%llx", separator, (unsigned long long)rest);
        separator = ",";
    }
    if (!*separator)
        putchar('-');
}

static void print_kernels(struct pxr_str text, bool all)
{
    struct ptx_text_scan scan = {.text = text};
    struct ptx_text_function function;
    unsigned count = 0;
    while (ptx_text_next_function(&scan, &function)) {
        if (!function.is_entry || !function.has_body)
            continue;
        count++;
        if (all) {
            fputs("\n        ", stdout);
            print_untrusted(function.name);
        } else if (count <= KERNELS_IN_TABLE) {
            fputs(count == 1 ? "  " : ", ", stdout);
            print_untrusted(function.name);
        }
    }
    if (!all && count > KERNELS_IN_TABLE)
        printf(", ... (%u kernels)", count);
}

/* The details that only PTX entries have: options for the assembler, and kernels. */
static enum exit_code print_ptx_details(const struct ptx_file_container *container,
                                        const struct ptx_fatbin_entry *entry, bool all_kernels)
{
    struct pxr_str options = trim(entry->options);
    if (options.len > 0) {
        fputs("  [", stdout);
        print_untrusted(options);
        putchar(']');
    }
    struct ptx_payload payload;
    struct pxr_error err;
    if (ptx_payload_expand(entry, container->label, &payload, &err) != PXR_OK) {
        fputs("  damaged", stdout);
        complain("%s", err.message);
        return EXIT_FAILED;
    }
    print_kernels(ptx_payload_text(&payload), all_kernels);
    ptx_payload_fini(&payload);
    return EXIT_OK;
}

static enum exit_code print_entry(const struct ptx_file_container *container, uint32_t number,
                                  const struct ptx_fatbin_entry *entry, bool all_kernels)
{
    char kind[16];
    char arch[PTX_FATBIN_ARCH_BYTES];
    char place[24];
    char version[16] = "-";
    kind_text(entry, kind);
    ptx_fatbin_arch_text(entry, arch);
    snprintf(place, sizeof place, "%u.%u", number, entry->index);
    if (entry->kind == PTX_FATBIN_PTX)
        snprintf(version, sizeof version, "%u.%u", entry->version_major, entry->version_minor);
    printf("  %-6s %-6s %-13s %-5s %-7s %9zu %9llu  ", place, kind, arch, version,
           packing_name(entry->packing), entry->payload.len,
           (unsigned long long)entry->plain_bytes);
    print_flags(entry);
    enum exit_code result = EXIT_OK;
    if (entry->kind == PTX_FATBIN_PTX)
        result = print_ptx_details(container, entry, all_kernels);
    putchar('\n');
    return result;
}

static enum exit_code list_file(const struct ptx_file *file, const struct command_line *line)
{
    enum exit_code result = EXIT_OK;
    printf("%s: %s", file->path, ptx_file_kind_name(file->kind));
    bool is_host_file = file->kind != PTX_FILE_FATBIN && file->kind != PTX_FILE_CUBIN &&
                        file->kind != PTX_FILE_TEXT;
    if (is_host_file && file->container_count == 0)
        printf(", no CUDA device code");
    else if (is_host_file)
        printf(", %u fat binar%s", file->container_count, file->container_count == 1 ? "y" : "ies");
    putchar('\n');
    if (file->container_count > 0)
        printf("  %-6s %-6s %-13s %-5s %-7s %9s %9s  %s\n", "entry", "kind", "arch", "isa",
               "packing", "stored", "size", "flags, kernels");
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        if (container->section)
            printf("  fat binary %u in %s%s%s at 0x%zx%s\n", i + 1,
                   container->member ? container->member : "", container->member ? " " : "",
                   container->section, container->offset,
                   container->fatbin.entry_count ? "" : ": empty");
        for (uint32_t j = 0; j < container->fatbin.entry_count; j++) {
            if (print_entry(container, i + 1, &container->fatbin.entries[j], line->all_kernels))
                result = EXIT_FAILED;
        }
    }
    return result;
}

static bool write_text(const char *path, struct pxr_str text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        complain("cannot create '%s': %s", path, strerror(errno));
        return false;
    }
    bool is_written = true;
    while (is_written && text.len > 0) {
        ssize_t len = write(fd, text.ptr, text.len);
        if (len < 0 && errno == EINTR)
            continue;
        is_written = len > 0;
        text.ptr += len > 0 ? len : 0;
        text.len -= len > 0 ? (size_t)len : 0;
    }
    if (close(fd) != 0)
        is_written = false;
    if (!is_written)
        complain("cannot write '%s': %s", path, strerror(errno));
    return is_written;
}

static enum exit_code extract_entry(const struct ptx_file *file,
                                    const struct ptx_file_container *container,
                                    const struct ptx_fatbin_entry *entry, unsigned number,
                                    const char *directory)
{
    struct ptx_payload payload;
    struct pxr_error err;
    if (ptx_payload_expand(entry, container->label, &payload, &err) != PXR_OK) {
        complain("%s", err.message);
        return EXIT_FAILED;
    }
    const char *slash = strrchr(file->path, '/');
    char suffix[2] = {entry->arch_suffix, 0};
    char *path = NULL;
    enum exit_code result = EXIT_FAILED;
    if (asprintf(&path, "%s/%s.%u.sm_%u%s.ptx", directory, slash ? slash + 1 : file->path, number,
                 entry->arch, suffix) < 0) {
        complain("out of memory");
    } else if (write_text(path, ptx_payload_text(&payload))) {
        puts(path);
        result = EXIT_OK;
    }
    free(path);
    ptx_payload_fini(&payload);
    return result;
}

static enum exit_code extract_file(const struct ptx_file *file, const struct command_line *line)
{
    enum exit_code result = EXIT_OK;
    unsigned number = 0;
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        for (uint32_t j = 0; j < container->fatbin.entry_count; j++) {
            const struct ptx_fatbin_entry *entry = &container->fatbin.entries[j];
            if (entry->kind != PTX_FATBIN_PTX)
                continue;
            if (extract_entry(file, container, entry, ++number, line->directory))
                result = EXIT_FAILED;
        }
    }
    if (number == 0) {
        complain("'%s' holds no PTX; 'ptxdump list' shows what it holds", file->path);
        result = EXIT_FAILED;
    }
    return result;
}

static enum exit_code print_file(const struct ptx_file *file, const struct command_line *line)
{
    bool is_damaged;
    if (ptxdump_print(file, line->is_normal, &is_damaged) == 0) {
        complain("'%s' holds no PTX; 'ptxdump list' shows what it holds", file->path);
        return EXIT_FAILED;
    }
    return is_damaged ? EXIT_FAILED : EXIT_OK;
}

struct command {
    const char *name;
    enum exit_code (*run)(const struct ptx_file *file, const struct command_line *line);
};

static const struct command COMMANDS[] = {
    {"list", list_file}, {"extract", extract_file}, {"print", print_file}};

/* Parses the arguments behind the command's name; false after a message. */
static bool parse_arguments(const struct command *command, int argc, char **argv,
                            struct command_line *line)
{
    int at = 2;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (command->run == extract_file && strcmp(argv[at], "-o") == 0 && at + 1 < argc) {
            line->directory = argv[++at];
        } else if (command->run == list_file && strcmp(argv[at], "--kernels") == 0) {
            line->all_kernels = true;
        } else if (command->run == print_file && strcmp(argv[at], "--normal") == 0) {
            line->is_normal = true;
        } else {
            complain("'%s' is not an option of '%s', or lacks its argument; see ptxdump --help",
                     argv[at], command->name);
            return false;
        }
    }
    line->files = argv + at;
    line->file_count = argc - at;
    if (line->file_count <= 0)
        complain("'%s' needs a file; see ptxdump --help", command->name);
    return line->file_count > 0;
}

static enum exit_code run_command(const struct command *command, int argc, char **argv)
{
    struct command_line line = {.directory = "."};
    if (!parse_arguments(command, argc, argv, &line))
        return EXIT_USAGE;
    if (command->run == extract_file && mkdir(line.directory, 0777) != 0 && errno != EEXIST) {
        complain("cannot create '%s': %s", line.directory, strerror(errno));
        return EXIT_FAILED;
    }
    enum exit_code result = EXIT_OK;
    for (int i = 0; i < line.file_count; i++) {
        struct ptx_file *file;
        struct pxr_error err;
        if (ptx_file_open(line.files[i], &file, &err) != PXR_OK) {
            complain("%s", err.message);
            result = EXIT_FAILED;
            continue;
        }
        if (command->run(file, &line))
            result = EXIT_FAILED;
        ptx_file_close(file);
    }
    return result;
}

static enum exit_code run_ops(int argc, char **argv)
{
    const char *option = argc == 3 ? argv[2] : "";
    enum ptxdump_format format = PTXDUMP_TEXT;
    if (strcmp(option, "--markdown") == 0)
        format = PTXDUMP_MARKDOWN;
    else if (strcmp(option, "--json") == 0)
        format = PTXDUMP_JSON;
    if (argc > 3 || (argc == 3 && format == PTXDUMP_TEXT)) {
        complain("'ops' takes no arguments but --markdown or --json; see ptxdump --help");
        return EXIT_USAGE;
    }
    ptxdump_ops(format);
    return EXIT_OK;
}

static enum exit_code dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs(HELP, stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(HELP, stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("ptxdump " PTXRUN_VERSION);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "ops") == 0)
        return run_ops(argc, argv);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (strcmp(argv[1], COMMANDS[i].name) == 0)
            return run_command(&COMMANDS[i], argc, argv);
    }
    complain("'%s' is not a command; see ptxdump --help", argv[1]);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    enum exit_code result = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("cannot write the output: %s", strerror(errno));
        return EXIT_FAILED;
    }
    return (int)result;
}
