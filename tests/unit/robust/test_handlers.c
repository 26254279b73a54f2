/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers that a program installs before, while and after kernels run: they get the program's
 * faults and none of a kernel's. The program is a library of its own here, as its calls must not be
 * our own. Arguments: the library and what handler_program is told.
 */
#include "handler_program.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"

static const struct driver_functions driver = {
    cuInit,          cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxReset_v2,
    cuCtxSetCurrent, cuModuleLoadData,         cuModuleGetFunction,
    cuMemHostAlloc,  cuLaunchKernel,           cuCtxSynchronize,
};

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library)
        puts(dlerror());
    CHECK(library != NULL);
    int (*run)(const struct driver_functions *, const char *);
    void *found = dlsym(library, "handler_program");
    CHECK(found != NULL);
    memcpy(&run, &found, sizeof run);
    return run(&driver, argv[2]);
}
