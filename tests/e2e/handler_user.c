/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the program with handlers of its own (tests/unit/robust) as programs come: the driver is
 * opened when it is first needed.
 */
#include "tests/unit/robust/handler_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void find(const char *name, void *pointer)
{
    void *function = dlsym(library, name);
    if (!function) {
        printf("no %s\n", name);
        exit(1);
    }
    memcpy(pointer, &function, sizeof function);
}

int main(int argc, char **argv)
{
    struct driver_functions driver;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        puts(dlerror());
        return 1;
    }
    find("cuInit", &driver.init);
    find("cuDevicePrimaryCtxRetain", &driver.retain);
    find("cuDevicePrimaryCtxReset_v2", &driver.reset);
    find("cuCtxSetCurrent", &driver.set_current);
    find("cuModuleLoadData", &driver.load);
    find("cuModuleGetFunction", &driver.get_function);
    find("cuMemHostAlloc", &driver.host_alloc);
    find("cuLaunchKernel", &driver.launch);
    find("cuCtxSynchronize", &driver.synchronize);
    return handler_program(&driver, argc > 1 ? argv[1] : "all");
}
