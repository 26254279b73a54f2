/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the CUDA driver library as a CUDA program does and prints which one it got.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    const char *(*which)(void) = driver ? (const char *(*)(void))dlsym(driver, "which_driver") : 0;
    puts(which ? which() : "none");
    return 3;
}
