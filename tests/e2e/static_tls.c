/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens libraries in the order of its arguments. As a library
 * (TAKEN_BYTES), takes so much of what the loader has set aside for the initial-exec variables of
 * libraries that are opened later.
 */
#ifdef TAKEN_BYTES

__attribute__((tls_model("initial-exec"))) _Thread_local char static_tls_taken[TAKEN_BYTES];
char *static_tls_take(void);
char *static_tls_take(void)
{
    return static_tls_taken;
}

#else

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!dlopen(argv[i], RTLD_NOW)) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    return 0;
}

#endif
