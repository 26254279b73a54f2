/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a plugin and runs it: plugin_host PLUGIN. Knows nothing of CUDA.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*run)(void) = plugin ? (int (*)(void))(uintptr_t)dlsym(plugin, "run_plugin") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: plugin_host PLUGIN");
        return 1;
    }
    return run();
}
