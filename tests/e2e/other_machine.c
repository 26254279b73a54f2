/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded, it makes the machine another one of the same CPU, with more cache and more cores.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

long sysconf(int name);

__attribute__((visibility("default"))) long sysconf(int name)
{
    long (*real)(int) = (long (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "sysconf");
    long value = real(name);
    return name == _SC_LEVEL3_CACHE_SIZE  ? 5L << 20
           : name == _SC_NPROCESSORS_ONLN ? value + 1
                                          : value;
}
