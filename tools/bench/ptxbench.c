/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxbench: what programs and kernels take. Each command has a file of its own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/compare.h"
#include "tools/bench/limits.h"
#include "tools/bench/programs.h"
#include "tools/bench/table.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0]: the name */
    const char *help;
} commands[] = {
    {"compare", compare_main, "your own program in many settings of ptxrun"},
    {"limits", limits_main, "what operations and memory take on this machine"},
    {"programs", programs_main, "two settings of ptxrun, over the programs of a list"},
    {"table", table_main, "kernels of ptxrun's own against C and against the machine"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *file)
{
    fputs("usage: ptxbench COMMAND …; ptxbench COMMAND --help says more\n", file);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(file, "  %-9s %s\n", commands[i].name, commands[i].help);
}

int main(int argc, char **argv)
{
    for (int i = 0; argc > 1 && i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    bool is_help = argc > 1 && strcmp(argv[1], "--help") == 0;
    print_usage(is_help ? stdout : stderr);
    return is_help ? 0 : 2;
}
