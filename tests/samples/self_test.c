/* SPDX-License-Identifier: Apache-2.0
 *
 * What self_test.sh runs in place of samples: does what the name that it is started by says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A vendor's library, as a program that is linked with one names it, or nothing. */
#ifndef NAMED_LIBRARY
#define NAMED_LIBRARY ""
#endif

static int act(const char *name, int argc, char **argv)
{
    if (strncmp(name, "passes", strlen("passes")) == 0) {
        puts("no errors: 0 FAILED, Result = PASS");
        return 0;
    }
    if (strcmp(name, "argument") == 0)
        return argc == 2 && strcmp(argv[1], "wanted") == 0 ? 0 : 3;
    if (strcmp(name, "own_directory") == 0)
        return access("own_directory", X_OK) == 0 ? 0 : 1;
    if (strcmp(name, "fails") == 0) {
        puts("some progress\nCUDA error at line 7: <\"invalid\"> & more\nand the end");
        return 1;
    }
    if (strcmp(name, "says_failed") == 0) {
        puts("Test FAILED");
        return 0;
    }
    if (strcmp(name, "crashes") == 0)
        abort();
    if (strcmp(name, "hangs") == 0)
        for (;;)
            pause();
    if (strcmp(name, "waived") == 0) {
        puts("two devices are required, waived");
        return 2;
    }
    if (strcmp(name, "unsupported") == 0) {
        fputs("ptxrun: warning: cuExample is not supported\n", stderr);
        return 1;
    }
    return 4;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : argv[0];

    puts(NAMED_LIBRARY);
    return act(name, argc, argv);
}
